//! The web listener: idle connections are displaced, foreign hosts and origins are rejected.

mod server;
#[path = "server/web.rs"]
mod web;

use jostle_net::client::{ClientOptions, Connection, Trust, fetch_status};
use jostle_net::edge::{EdgeLimits, EdgeServer, EdgeSettings};
use serde_json::json;
use server::{TestServer, edge_settings, gateway_settings, until_true};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;
use web::Tool;

const WELL: &str = "{\"well\":true}";

/// An idle connection from an address of this machine.
async fn idle(from: u8, to: SocketAddr) -> tokio::net::TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::new(127, 0, 0, from), 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

/// The story: 1,024 idle HTTP connections from four addresses locked out every new client, node and
/// status request until they ended. Here the limits are lower, and nothing times out.
#[test]
fn idle_connections_from_four_addresses_keep_nobody_out() {
    let limits = EdgeLimits {
        pending: 64,
        host_pending: 16,
        tls_handshake: Duration::from_secs(600),
        handshake: Duration::from_secs(600),
        ..edge_settings().limits
    };
    let server = TestServer::with(EdgeSettings { limits, ..edge_settings() }, gateway_settings());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let address = server.web();
    let connections: Vec<_> = runtime.block_on(async {
        let mut connections = Vec::new();
        for number in 0..200 {
            connections.push(idle(1 + number % 4, address).await);
        }
        connections
    });
    until_true("a full room", || server.edge.counters().pending == 64);
    // From one of the four addresses itself.
    for _ in 0..40 {
        assert!(server.get("/status", "").ends_with(WELL));
    }
    let mut tool = Tool::open(&server, &json!({"type": "hello"}));
    tool.until_type("welcome");
    // QUIC has limits of its own.
    let status = fetch_status(server.quic(), None, &Trust::Anyone).unwrap();
    assert_eq!(status, WELL);
    let client = Connection::open(ClientOptions::to(server.quic())).unwrap();
    assert!(client.wait_until_active(Duration::from_secs(8)), "{:?}", client.last_error());
    assert!(server.edge.counters().rejected.full >= 200 - 64);
    drop(connections);
}

/// The response to a request with these header lines.
fn ask(web: SocketAddr, path: &str, lines: &[(&str, &str)]) -> String {
    let mut stream = TcpStream::connect(web).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let lines: String = lines.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let request = format!("GET {path} HTTP/1.1\r\n{lines}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let mut bytes = [0; 4096];
    // A WebSocket stays open: its head is enough.
    while !answer.windows(4).any(|four| four == b"\r\n\r\n") {
        let count = stream.read(&mut bytes).unwrap();
        if count == 0 {
            break;
        }
        answer.extend(&bytes[..count]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

const UPGRADE: [(&str, &str); 4] = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
];

fn status(answer: &str) -> &str {
    answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).unwrap_or(answer)
}

/// The story: a page whose host name resolved to 127.0.0.1 (DNS rebinding) killed a node of the
/// demo.
#[test]
fn a_page_that_was_rebound_to_this_address_reaches_nothing() {
    let server = TestServer::new();
    let own = server.web().to_string();
    let local = format!("localhost:{}", server.web().port());
    for path in ["/", "/status", "/metrics", "/mesh/1-2", "/nothing"] {
        let answer = ask(server.web(), path, &[("Host", "rebound.evil.example:7448")]);
        assert_eq!(status(&answer), "421", "{path}: {answer}");
    }
    for path in ["/ws", "/ws?format=json", "/view"] {
        let with = |host: &str, origin: Option<&str>| {
            let mut lines = vec![("Host", host)];
            lines.extend(origin.map(|origin| ("Origin", origin)));
            lines.extend(UPGRADE);
            status(&ask(server.web(), path, &lines)).to_string()
        };
        assert_eq!(with("rebound.evil.example", Some("http://rebound.evil.example")), "421");
        // Not rebound, but a page of another host, or of another program on this machine.
        for foreign in ["http://evil.example", "null", "http://localhost:3000"] {
            assert_eq!(with(&own, Some(foreign)), "403", "{path} from {foreign}");
        }
        // Our own pages, and programs that are no browsers.
        assert_eq!(with(&own, Some(&format!("http://{own}"))), "101", "{path}");
        assert_eq!(with(&local, Some(&format!("http://{local}"))), "101", "{path}");
        assert_eq!(with(&own, None), "101", "{path}");
    }
    assert!(server.edge.counters().rejected.host >= 14);
}

#[test]
fn hosts_that_are_named_in_the_settings_are_known() {
    let hosts = vec!["world.example".parse().unwrap()];
    let server = TestServer::with(EdgeSettings { hosts, ..edge_settings() }, gateway_settings());
    let ask = |host: &str, origin: &str| {
        let mut lines = vec![("Host", host), ("Origin", origin)];
        lines.extend(UPGRADE);
        status(&ask(server.web(), "/view", &lines)).to_string()
    };
    assert_eq!(ask("world.example", "https://world.example"), "101");
    // A proxy under a host name of its own.
    assert_eq!(ask(&server.web().to_string(), "https://world.example"), "101");
    assert_eq!(ask("world.example", "https://other.example"), "403");
    assert_eq!(ask("other.example", "https://world.example"), "421");
}

/// The story: an empty token is accepted from clients that send none.
#[test]
fn an_empty_token_is_refused() {
    let settings = EdgeSettings { token: Some(jostle_net::Secret::new("")), ..edge_settings() };
    let refused = EdgeServer::open(settings, server::silent_services()).err().unwrap().to_string();
    assert!(refused.contains("--token is empty"), "{refused}");
}
