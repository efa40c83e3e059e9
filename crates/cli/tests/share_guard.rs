//! What a node must show, with real processes: every requirement of a server against every way to
//! join it. A node is admitted and takes part, or it is refused once, with the reason on both
//! sides.

mod share;

use share::{Ground, Host, Running, free_address};
use std::fs;
use std::path::Path;

/// A server, the folder with its certificates, and what it requires.
struct Server<'a> {
    ground: &'a Ground,
    process: Running,
    address: String,
    tls: bool,
    token: bool,
}

impl<'a> Server<'a> {
    fn start(ground: &'a Ground, tls: bool, token: bool) -> Server<'a> {
        let address = free_address();
        let mut args = vec!["serve", "--generate", "balls,20", "--web", "none", "--one-group"];
        args.extend(["--listen", &address]);
        args.extend(guard(tls.then_some("own"), token.then_some("sesame")));
        let mut process = ground.start(&Host::default(), &format!("serve-{tls}-{token}"), &args);
        process.message("serving");
        Server { ground, process, address, tls, token }
    }

    /// A node with these tries to join: it takes part, or this is why not.
    fn join(&self, tls: Option<&str>, token: Option<&str>) -> Result<(), String> {
        let name = format!("node-{}-{}-{tls:?}-{token:?}", self.tls, self.token);
        let mut args = vec!["node", "--join", &self.address];
        args.extend(guard(tls, token));
        let mut node = self.ground.start(&Host::default(), &name, &args);
        match node.joins_or_ends() {
            None => {
                let printed = node.end();
                assert!(printed.contains("joined"), "{name}: {printed}");
                Ok(())
            }
            Some(code) => {
                assert_eq!(code, Some(2), "{name}: {}", node.log());
                let log = node.log();
                assert_eq!(log.lines().count(), 1, "{name}: {log}");
                Err(log)
            }
        }
    }

    /// The join is refused with these words, at the node and in one line of the server's log.
    fn refuses(&self, tls: Option<&str>, token: Option<&str>, why: &str) {
        let count = || self.process.log().matches("node rejected: ").count();
        let before = count();
        let error = self.join(tls, token).expect_err(why);
        assert!(error.starts_with("jostle: cannot join: rejected by "), "{error}");
        assert!(error.trim_end().ends_with(why), "{error}, expected {why}");
        self.process.logs(&format!("node rejected: {why}"));
        assert_eq!(count(), before + 1, "{}", self.process.log());
    }

    /// Not a word of where this program was built, and none of the token.
    fn end(self) {
        let log = self.process.log();
        self.process.end();
        for word in ["/registry/", ".rs:", "sesame"] {
            assert!(!log.contains(word), "{word}: {log}");
        }
    }
}

fn guard<'a>(tls: Option<&'a str>, token: Option<&'a str>) -> Vec<&'a str> {
    let tls = tls.map(|folder| ["--tls", folder]);
    let token = token.map(|token| ["--node-token", token]);
    tls.into_iter().chain(token).flatten().collect()
}

const NO_CERTIFICATE: &str = "a node certificate (--tls; none was sent)";
const NO_TOKEN: &str = "--node-token (none was sent)";
const WRONG_TOKEN: &str = "--node-token (the token sent is not valid)";
const NEEDLESS: &str =
    "unauthorized: this server has no --node-token, but one was sent: join without it";

fn requires(what: &[&str]) -> String {
    format!("unauthorized: this server requires {}", what.join(" and "))
}

#[test]
fn a_server_with_certificates_and_token_admits_only_nodes_that_show_both() {
    let ground = Ground::new();
    let server = Server::start(&ground, true, true);
    server.refuses(None, None, &requires(&[NO_CERTIFICATE, NO_TOKEN]));
    server.refuses(Some("own"), None, &requires(&[NO_TOKEN]));
    server.refuses(None, Some("sesame"), &requires(&[NO_CERTIFICATE]));
    server.refuses(Some("own"), Some("wrong"), &requires(&[WRONG_TOKEN]));
    server.refuses(None, Some("wrong"), &requires(&[NO_CERTIFICATE, WRONG_TOKEN]));
    server.join(Some("own"), Some("sesame")).expect("it shows both");
    server.end();
}

#[test]
fn a_server_with_one_requirement_admits_nodes_that_show_it_and_nothing_else() {
    let ground = Ground::new();
    let server = Server::start(&ground, true, false);
    server.refuses(None, None, &requires(&[NO_CERTIFICATE]));
    server.refuses(Some("own"), Some("sesame"), NEEDLESS);
    server.join(Some("own"), None).expect("it shows the certificate");
    // Certificates of another authority: the node does not believe the server.
    let foreign = ground.path("foreign");
    jostle_net::certificates::make(&foreign, &[]).expect("certificates can be made");
    let error = server.join(Some("foreign"), None).expect_err("another authority");
    assert!(error.contains("the server's certificate is not one of ca.pem"), "{error}");
    // And if it does, the server does not believe the node.
    copy(&ground.path("own").join("ca.pem"), &foreign.join("ca.pem"));
    let error = server.join(Some("foreign"), None).expect_err("another authority");
    assert!(error.contains("the server does not accept node.pem"), "{error}");
    server.process.logs("connection rejected: TLS handshake failed");
    server.end();

    let server = Server::start(&ground, false, true);
    server.refuses(None, None, &requires(&[NO_TOKEN]));
    server.refuses(None, Some("wrong"), &requires(&[WRONG_TOKEN]));
    server.join(None, Some("sesame")).expect("it shows the token");
    let error = server.join(Some("own"), Some("sesame")).expect_err("no certificates there");
    assert!(error.contains("the server's certificate is not one of ca.pem"), "{error}");
    server.end();
}

fn copy(from: &Path, to: &Path) {
    fs::remove_file(to).expect("it is there");
    fs::copy(from, to).expect("it can be copied");
}

#[test]
fn an_open_server_admits_nodes_and_logs_one_line_for_each_that_joins_leaves_or_dies() {
    let ground = Ground::new();
    let server = Server::start(&ground, false, false);
    server.refuses(None, Some("sesame"), NEEDLESS);
    let start = |name: &str| {
        let join = ["node", "--join", &server.address];
        let mut node = ground.start(&Host::default(), name, &join);
        node.message("joined");
        node
    };
    let (stops, dies) = (start("stops"), start("dies"));
    let line = server.process.logs("node 1 joined (127.0.0.1:");
    assert!(line.ends_with(" ms"), "{line}");
    server.process.logs("node 2 joined (127.0.0.1:");
    stops.end();
    server.process.logs("node 1 left: its process was stopped");
    dies.kill();
    server.process.logs("node 2 dead: no message for ");
    let log = server.process.log();
    assert_eq!(log.lines().filter(|line| line.contains(" node 1 ")).count(), 2, "{log}");
    assert_eq!(log.lines().filter(|line| line.contains(" node 2 ")).count(), 2, "{log}");
    server.end();
}
