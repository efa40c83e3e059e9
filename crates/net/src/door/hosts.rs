//! Under which names, and from which pages, the web listener may be used.
//!
//! A browser connects wherever a page tells it to, and a name may lead anywhere: by DNS rebinding
//! a foreign page reaches a listener on loopback as if it were its own. So requests must name a
//! host that is known here (`Host`), and pages must be our own or of a known host (`Origin`). What
//! is not a browser sends no `Origin` and names the address that it connects to.

use super::reasons::No;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// A name under which the web listener may be used: of a host, or of a proxy in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebHost {
    name: String,
    /// None stands for any.
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
        // What stands before `@` is not the host; what stands behind the last colon is the port.
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

/// Is the request for a host that is known here, and from a page that may send it? `local` is the
/// address at which it has arrived.
pub(super) fn check(
    hosts: &[WebHost],
    local: SocketAddr,
    (uri, headers): (&Uri, &HeaderMap),
) -> Result<(), No> {
    let text = |name| {
        let mut values = headers.get_all(name).iter();
        let value = values.next().map(|value: &axum::http::HeaderValue| value.to_str());
        match (value, values.next()) {
            (None, _) => Ok(None),
            (Some(Ok(value)), None) => Ok(Some(value)),
            // Twice, or not in ASCII: nothing that a browser sends.
            (Some(_), _) => Err(()),
        }
    };
    let unreadable = || No::Host("it cannot be read".to_string());
    let named = text(header::HOST).map_err(|()| unreadable())?;
    let mut host = None;
    for name in [uri.authority().map(Authority::as_str), named].into_iter().flatten() {
        let found = WebHost::read(name).ok_or_else(unreadable)?;
        if !is_known(hosts, local, &found) {
            return Err(No::Host(found.name));
        }
        host = Some(found);
    }
    let origin = text(header::ORIGIN).map_err(|()| No::Origin("unreadable".to_string()))?;
    let Some(origin) = origin else { return Ok(()) };
    let page = origin.split_once("://").and_then(|(_, page)| WebHost::read(page));
    match page {
        Some(page) if host.as_ref() == Some(&page) => Ok(()),
        Some(page) if hosts.iter().any(|known| known.covers(&page)) => Ok(()),
        Some(page) => Err(No::Origin(page.name)),
        // `null`: a page without a host, such as a file.
        None => Err(No::Origin("null".to_string())),
    }
}

fn is_known(hosts: &[WebHost], local: SocketAddr, host: &WebHost) -> bool {
    // Loopback also when the connection came in elsewhere: a port may have been forwarded.
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
        // Not a browser.
        assert!(asked(&[], "/", None, None));
    }

    #[test]
    fn only_our_own_and_known_pages_may_send() {
        let from = |origin| asked(&["world.example"], "/", Some("localhost:7448"), Some(origin));
        assert!(from("http://localhost:7448") && from("https://world.example"));
        for origin in [
            "http://evil.example",
            // Another program of this machine.
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
