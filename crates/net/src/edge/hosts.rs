//! Checks of `Host` and `Origin` for the web listener.
//!
//! By DNS rebinding a foreign page can reach a listener on loopback as if it were its own. So
//! requests must name a known host (`Host`), and pages must be our own or of a known host
//! (`Origin`). Programs other than browsers send no `Origin`, and name the address that they
//! connect to.

use super::rejection::Rejection;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// A host name under which the web listener may be used, for instance that of a proxy in front of
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebHost {
    name: String,
    /// `None` stands for any.
    port: Option<u16>,
}

impl FromStr for WebHost {
    type Err = String;

    fn from_str(text: &str) -> Result<WebHost, String> {
        WebHost::read(text)
            .ok_or_else(|| format!("expected a host name, with or without a port, found {text:?}"))
    }
}

impl WebHost {
    fn read(text: &str) -> Option<WebHost> {
        let authority: Authority = text.parse().ok()?;
        // The part before `@` is not the host; the part behind the last colon is the port.
        let rest = text.strip_prefix(authority.host())?;
        let port = match rest.strip_prefix(':') {
            Some(port) => Some(port.parse().ok()?),
            None if rest.is_empty() => None,
            None => return None,
        };
        let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
        (!name.is_empty()).then_some(WebHost { name, port })
    }

    fn ip(&self) -> Option<IpAddr> {
        self.name.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }

    fn covers(&self, other: &WebHost) -> bool {
        self.name == other.name && (self.port.is_none() || self.port == other.port)
    }
}

/// Checks that the request names a known host and comes from a page that may send it. `local` is
/// the address at which the connection arrived.
pub(super) fn check(
    hosts: &[WebHost],
    local: SocketAddr,
    (uri, headers): (&Uri, &HeaderMap),
) -> Result<(), Rejection> {
    let text = |name| {
        let mut values = headers.get_all(name).iter();
        let value = values.next().map(|value: &axum::http::HeaderValue| value.to_str());
        match (value, values.next()) {
            (None, _) => Ok(None),
            (Some(Ok(value)), None) => Ok(Some(value)),
            // A header that occurs twice, or is not ASCII: no browser sends that.
            (Some(_), _) => Err(()),
        }
    };
    let unreadable = || Rejection::Host("it cannot be read".to_string());
    let named = text(header::HOST).map_err(|()| unreadable())?;
    let mut host = None;
    for name in [uri.authority().map(Authority::as_str), named].into_iter().flatten() {
        let found = WebHost::read(name).ok_or_else(unreadable)?;
        if !is_known(hosts, local, &found) {
            return Err(Rejection::Host(found.name));
        }
        host = Some(found);
    }
    let origin = text(header::ORIGIN).map_err(|()| Rejection::Origin("unreadable".to_string()))?;
    let Some(origin) = origin else { return Ok(()) };
    let page = origin.split_once("://").and_then(|(_, page)| WebHost::read(page));
    match page {
        Some(page) if host.as_ref() == Some(&page) => Ok(()),
        Some(page) if hosts.iter().any(|known| known.covers(&page)) => Ok(()),
        Some(page) => Err(Rejection::Origin(page.name)),
        // `null`: a page without a host, such as a file.
        None => Err(Rejection::Origin("null".to_string())),
    }
}

fn is_known(hosts: &[WebHost], local: SocketAddr, host: &WebHost) -> bool {
    // Loopback is accepted on any listener: the port may have been forwarded.
    let is_own = |ip: IpAddr| {
        let ip = ip.to_canonical();
        ip.is_loopback() || ip == local.ip().to_canonical()
    };
    host.name == "localhost"
        || host.ip().is_some_and(is_own)
        || hosts.iter().any(|known| known.covers(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn asked(hosts: &[&str], uri: &str, host: Option<&str>, origin: Option<&str>) -> bool {
        let hosts: Vec<WebHost> = hosts.iter().map(|text| text.parse().expect("a host")).collect();
        let mut headers = HeaderMap::new();
        for (name, value) in [(header::HOST, host), (header::ORIGIN, origin)] {
            if let Some(value) = value {
                headers.insert(name, HeaderValue::from_str(value).expect("a value"));
            }
        }
        let local = "192.0.2.7:7448".parse().expect("an address");
        let uri = uri.parse().expect("an address");
        check(&hosts, local, (&uri, &headers)).is_ok()
    }

    #[test]
    fn only_known_hosts_are_answered() {
        for host in [
            "192.0.2.7:7448",
            "192.0.2.7",
            "127.0.0.1:9000",
            "[::1]:7448",
            "localhost:7448",
            "LocalHost.",
        ] {
            assert!(asked(&[], "/", Some(host), None), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7448",
            "192.0.2.8:7448",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil@localhost",
            "localhost:x",
            "",
            "local host",
        ] {
            assert!(!asked(&[], "/", Some(host), None), "{host}");
        }
        assert!(asked(&["world.example"], "/", Some("World.Example:443"), None));
        assert!(!asked(&["world.example:443"], "/", Some("world.example:80"), None));
        assert!(!asked(&[], "http://evil.example/", Some("localhost"), None));
        // A program that is no browser.
        assert!(asked(&[], "/", None, None));
    }

    #[test]
    fn only_our_own_and_known_pages_may_send() {
        let from = |origin| asked(&["world.example"], "/", Some("localhost:7448"), Some(origin));
        assert!(from("http://localhost:7448") && from("https://world.example"));
        for origin in [
            "http://evil.example",
            // Another program on this machine.
            "http://localhost:3000",
            "http://127.0.0.1:7448",
            "null",
            "",
            "world.example",
            "http://world.example@evil.example",
        ] {
            assert!(!from(origin), "{origin}");
        }
    }

    #[test]
    fn what_is_no_host_name_is_not_taken_as_one() {
        for text in ["", "http://a", "a/b", "a:b", "a:70000", "user@a", "a b"] {
            assert!(text.parse::<WebHost>().is_err(), "{text:?}");
        }
        assert!("[::1]:80".parse::<WebHost>().is_ok() && "a.b".parse::<WebHost>().is_ok());
    }
}
