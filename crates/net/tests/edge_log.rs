//! Connections that browsers open in advance are not logged.

#[path = "server/log.rs"]
mod log;
mod server;

use log::{log, logged, until_logged};
use server::{TestServer, until_true};
use std::io::{Read, Write};
use std::net::TcpStream;

use std::time::Duration;

/// The story: browsers open connections in advance, and each was a warning in the log.
#[test]
fn connections_that_browsers_open_in_advance_are_no_warnings() {
    log();
    let server = TestServer::new();
    let connect = || TcpStream::connect(server.web()).unwrap();
    let port = |stream: &TcpStream| stream.local_addr().unwrap().to_string();
    let (silent, closed, mut used, mut halting) = (connect(), connect(), connect(), connect());
    let quiet = [&silent, &closed, &used].map(port);
    drop(closed);
    used.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    halting.write_all(b"GET /metrics HTTP/1.1\r\nHost: ").unwrap();
    // One that begins a request and does not finish it is logged.
    until_logged(&["connection rejected: handshake timed out (2 s)", &port(&halting)]);
    for mut stream in [silent, used] {
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    }
    until_true("that they are counted", || server.edge.counters().rejected.silent >= 3);
    let all = logged();
    assert!(quiet.iter().all(|port| !all.contains(port)), "{quiet:?}: {all}");
}
