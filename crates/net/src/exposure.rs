//! One rule for all listeners: an address that other machines can reach requires authentication, or
//! an operator who explicitly allows anyone.

use std::fmt;
use std::net::SocketAddr;

/// A kind of listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    /// The transport between nodes, over TCP or QUIC.
    Nodes,
    /// The edge server for clients, joining nodes and status, over QUIC.
    Clients,
    /// The page, WebSockets, status and metrics, over HTTP.
    Web,
}

/// A listener that other machines can reach, without authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "listening for {listener} on {address}, which is not a loopback address, requires {}: without, \
     any machine that reaches it could {}", .listener.requires(), .listener.risk()
)]
pub struct Unguarded {
    /// The kind of listener.
    pub listener: Listener,
    /// Its address.
    pub address: SocketAddr,
}

impl Listener {
    /// What lifts the restriction to loopback. The transport between nodes cannot be opened to
    /// anyone: a node writes the world, and `serve --tls` makes certificates by itself.
    fn requires(self) -> &'static str {
        match self {
            Listener::Nodes => "--node-token or --tls",
            Listener::Clients | Listener::Web => "--token or --allow-anyone",
        }
    }

    fn risk(self) -> &'static str {
        match self {
            Listener::Nodes => "join as a node",
            Listener::Clients => "enter the world and read its status",
            Listener::Web => "watch the world, use its controls and read its metrics",
        }
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Listener::Nodes => "nodes",
            Listener::Clients => "clients",
            Listener::Web => "the page",
        })
    }
}

/// Checks one listener. `guarded`: peers must authenticate, or the operator has allowed anyone.
pub(crate) fn check(
    listener: Listener,
    address: SocketAddr,
    guarded: bool,
) -> Result<(), Unguarded> {
    match guarded || address.ip().to_canonical().is_loopback() {
        true => Ok(()),
        false => Err(Unguarded { listener, address }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_need_no_authentication() {
        for address in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            let address = address.parse().expect("an address");
            assert_eq!(check(Listener::Web, address, false), Ok(()), "{address}");
        }
        for address in ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "[::ffff:192.0.2.1]:1"] {
            let address = address.parse().expect("an address");
            for listener in [Listener::Nodes, Listener::Clients, Listener::Web] {
                let refused = check(listener, address, false).expect_err("not loopback");
                assert_eq!(refused, Unguarded { listener, address });
                let text = refused.to_string();
                assert!(text.contains(&address.to_string()) && text.contains("token"), "{text}");
                assert_eq!(check(listener, address, true), Ok(()), "{address}");
            }
        }
    }
}
