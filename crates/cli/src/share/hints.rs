//! Commands and URLs that a process prints for its operator: they work as they are, with all that
//! the server requires.

use super::args::{EngineArg, GuardArgs};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What the printed commands contain.
pub(super) struct Hints<'a> {
    pub(super) guard: &'a GuardArgs,
    pub(super) engine: EngineArg,
    /// Where clients and nodes connect.
    pub(super) address: SocketAddr,
}

impl Hints<'_> {
    /// `jostle node`, and other commands that require the node token.
    pub(super) fn node(&self, command: &str) -> String {
        let token = option("--node-token", self.guard.node_token.as_deref(), "JOSTLE_NODE_TOKEN");
        let engine = match self.engine {
            EngineArg::Zenoh => "",
            EngineArg::Quic => " --engine quic",
        };
        format!("{}{token}{engine}", self.join(command))
    }

    /// `jostle bots` and `jostle status`.
    pub(super) fn client(&self, command: &str) -> String {
        let token = option("--token", self.guard.token.as_deref(), "JOSTLE_TOKEN");
        format!("{}{token}", self.join(command))
    }

    fn join(&self, command: &str) -> String {
        let address = reachable(self.address);
        let trust = match &self.guard.tls {
            Some(folder) => format!(" --tls {}", quoted(&folder.display().to_string())),
            None if address.ip().is_loopback() => String::new(),
            None => " --insecure".to_string(),
        };
        format!("jostle {command} --join {address}{trust}")
    }

    /// The URL of the page. The page asks for the token unless the URL has it.
    pub(super) fn page(&self, web: SocketAddr) -> String {
        let scheme = if self.guard.tls.is_some() { "https" } else { "http" };
        page(scheme, self.guard.token.as_deref(), web)
    }
}

/// The URL of the page, with the token unless it is in the environment.
pub(super) fn page(scheme: &str, token: Option<&str>, web: SocketAddr) -> String {
    let address = reachable(web);
    match token.filter(|token| !is_set("JOSTLE_TOKEN", token)) {
        Some(token) => format!("{scheme}://{address}/?token={}", encoded(token)),
        None => format!("{scheme}://{address}/"),
    }
}

/// A token from the environment is available to a copied command, too, and is not printed.
fn option(name: &str, token: Option<&str>, variable: &str) -> String {
    match token.filter(|token| !is_set(variable, token)) {
        Some(token) => format!(" {name} {}", quoted(token)),
        None => String::new(),
    }
}

fn is_set(variable: &str, value: &str) -> bool {
    std::env::var(variable).is_ok_and(|set| set == value)
}

/// 0.0.0.0 cannot be connected to; this machine has it as its loopback address.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Encodes a value for the query of a URL.
fn encoded(value: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    value.bytes().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(token: Option<&str>, node_token: Option<&str>, tls: Option<&str>) -> GuardArgs {
        let own = |text: Option<&str>| text.map(str::to_string);
        GuardArgs { token: own(token), node_token: own(node_token), tls: own(tls).map(Into::into) }
    }

    fn hints<'a>(guard: &'a GuardArgs, address: &str) -> Hints<'a> {
        let address = address.parse().expect("an address");
        Hints { guard, engine: EngineArg::Zenoh, address }
    }

    #[test]
    fn printed_commands_have_what_the_server_requires() {
        let open = guard(None, None, None);
        let local = hints(&open, "127.0.0.1:7447");
        assert_eq!(local.node("node"), "jostle node --join 127.0.0.1:7447");
        assert_eq!(local.client("bots"), "jostle bots --join 127.0.0.1:7447");
        assert_eq!(local.page(local.address), "http://127.0.0.1:7447/");
        let closed = guard(Some("a b'c"), Some("n&1"), Some("my certs"));
        let hints = Hints { engine: EngineArg::Quic, ..hints(&closed, "0.0.0.0:7447") };
        let node = "jostle node --join 127.0.0.1:7447 --tls 'my certs' --node-token 'n&1' \
                    --engine quic";
        assert_eq!(hints.node("node"), node);
        let status = "jostle status --join 127.0.0.1:7447 --tls 'my certs' --token 'a b'\\''c'";
        assert_eq!(hints.client("status"), status);
        assert_eq!(hints.page(hints.address), "https://127.0.0.1:7447/?token=a%20b%27c");
    }

    #[test]
    fn another_machine_without_certificates_must_be_trusted() {
        let token = guard(None, Some("sesame"), None);
        let hints = hints(&token, "192.0.2.1:7447");
        let node = "jostle node --join 192.0.2.1:7447 --insecure --node-token sesame";
        assert_eq!(hints.node("node"), node);
        assert_eq!(hints.client("bots"), "jostle bots --join 192.0.2.1:7447 --insecure");
    }
}
