//! Where processes listen, with real ones: nothing beyond loopback without a token, nothing for
//! foreign names, and idle connections keep no client out.

mod share;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use share::{Ground, Host, Running, free_address};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The answer to a request, head and all.
fn ask(address: &str, path: &str, lines: &[&str]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    let request = format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{lines}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // Who is refused may be cut off.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// The address of the page, from the line that a process prints about it.
fn page(line: &str) -> String {
    let address = line.trim().strip_prefix("http://").unwrap_or(line);
    address.split('/').next().unwrap_or_default().to_string()
}

const SCENE: &str = "#VRML V2.0 utf8\nDEF A Shape { geometry Box {} }\n";

/// A regression: `serve --web 0.0.0.0:…` and the pages of other commands accepted any client,
/// without a token and without a warning.
#[test]
fn no_command_listens_beyond_this_machine_without_a_token() {
    let ground = Ground::new();
    std::fs::write(ground.path("a.wrl"), SCENE).unwrap();
    let any = "0.0.0.0:0";
    let local = "127.0.0.1:0";
    for (args, who) in [
        (&["serve", "--listen", local, "--web", any, "--store", "st"][..], "the page"),
        (&["serve", "--listen", any, "--web", "none", "--store", "st"], "nodes"),
        (&["serve", "--listen", any, "--node-token", "t", "--store", "st"], "clients"),
        (&["serve", "--listen", any, "--tls", "certificates", "--store", "st"], "clients"),
        (&["node", "--join", "127.0.0.1:9", "--listen-clients", any], "clients"),
        (&["node", "--join", "127.0.0.1:9", "--listen-clients", local, "--web", any], "the page"),
        (&["directory", "--store", "st", "--listen", any], "clients"),
        (&["directory", "--store", "st", "--web", any], "the page"),
        (&["demo", "--listen", any, "--no-open"], "clients"),
        (&["run", "a.wrl", "--view", "--no-open", "--listen", any], "the page"),
        (&["check", "a.wrl", "--view", "--no-open", "--listen", any], "the page"),
        (&["replay", "none", "--view", "--no-open", "--listen", any], "the page"),
    ] {
        let output = ground.run(&Host::default(), args);
        let sent = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {sent}");
        let expected = format!("listening for {who} on 0.0.0.0:0, which is not a loopback address");
        assert!(sent.contains(&expected), "{args:?}: {sent}");
        let way = if who == "nodes" { "--node-token or --tls" } else { "--allow-anyone" };
        assert!(sent.contains(way), "{args:?}: {sent}");
    }
    // Before anything was written.
    assert!(!ground.path("st").exists() && !ground.path("certificates").exists());
}

#[test]
fn pages_beyond_this_machine_need_the_token_or_the_word_of_the_operator() {
    let ground = Ground::new();
    let serve = |name: &str, more: &[&str]| {
        let args = ["serve", "--generate", "balls,5", "--listen", "127.0.0.1:0"];
        let args = [&args[..], &["--web", "0.0.0.0:0"], more].concat();
        let mut process = ground.start(&Host::default(), name, &args);
        let web = page(&process.message("web:"));
        (process, web)
    };
    let (open, web) = serve("open", &["--allow-anyone"]);
    let host = format!("Host: {web}");
    assert!(ask(&web, "/metrics", &[&host]).starts_with("HTTP/1.1 200"));
    open.end();
    let (closed, web) = serve("closed", &["--token", "sesame"]);
    let host = format!("Host: {web}");
    for path in ["/metrics", "/status"] {
        let refused = ask(&web, path, &[&host]);
        assert!(refused.starts_with("HTTP/1.1 401"), "{path}: {refused}");
        let bearer = ask(&web, path, &[&host, "Authorization: Bearer sesame"]);
        assert!(bearer.starts_with("HTTP/1.1 200"), "{path}: {bearer}");
        let page = ask(&web, &format!("{path}?token=sesame"), &[&host]);
        assert!(page.starts_with("HTTP/1.1 200"), "{path}: {page}");
    }
    closed.end();
}

/// The story: by DNS rebinding a page killed a node of the demo.
#[test]
fn a_foreign_page_cannot_use_the_controls_of_the_demo() {
    let ground = Ground::new();
    let args = ["demo", "--no-open", "--listen", "127.0.0.1:0", "--bodies", "50", "--bots", "0"];
    let more = ["--web-host", "lab.example"];
    let mut demo = ground.start(&Host::default(), "demo", &[&args[..], &more[..]].concat());
    let web = page(&demo.message("  http://"));
    let upgrade = [
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    for (host, origin, expected) in [
        ("rebound.example:7448", "http://rebound.example:7448", "421"),
        (&web, "http://elsewhere.example", "403"),
        (&web, &format!("http://{web}"), "101"),
        ("lab.example", "http://lab.example", "101"),
    ] {
        let (host, origin) = (format!("Host: {host}"), format!("Origin: {origin}"));
        let mut stream = TcpStream::connect(&web).unwrap();
        let lines = [&[&*host, &*origin, "Connection: Upgrade"][..], &upgrade].concat();
        let request = format!("GET /view HTTP/1.1\r\n{}\r\n\r\n", lines.join("\r\n"));
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        assert_eq!(String::from_utf8_lossy(&head), format!("HTTP/1.1 {expected}"), "{host}");
    }
    let log = demo.log();
    assert!(log.contains("--web-host"), "{log}");
    demo.end();
}

/// Idle connections from some addresses of this machine; those that are closed are opened again.
struct NodeLoad {
    stop: Arc<AtomicBool>,
    count: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl NodeLoad {
    fn new(to: &str, count: usize, addresses: u8) -> NodeLoad {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
        let to: SocketAddr = to.parse().unwrap();
        let (stop, open) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let thread = std::thread::spawn({
            let (stop, open) = (stop.clone(), open.clone());
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.unwrap();
                let mut streams: Vec<TcpStream> = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    streams.retain_mut(is_open);
                    while streams.len() < count && !stop.load(Ordering::Relaxed) {
                        let number = (streams.len() % usize::from(addresses)) as u8;
                        streams.extend(runtime.block_on(idle(to, 1 + number)));
                    }
                    open.store(streams.len(), Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        });
        let load = NodeLoad { stop, count: open, thread: Some(thread) };
        let until = Instant::now() + Duration::from_secs(60);
        while load.count.load(Ordering::Relaxed) < count {
            assert!(Instant::now() < until, "the crowd does not come");
            std::thread::sleep(Duration::from_millis(10));
        }
        load
    }
}

impl Drop for NodeLoad {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// From the address with this last number; none if it was refused at once.
async fn idle(to: SocketAddr, from: u8) -> Option<TcpStream> {
    let socket = tokio::net::TcpSocket::new_v4().ok()?;
    socket.bind(([127, 0, 0, from], 0).into()).ok()?;
    socket.connect(to).await.ok()?.into_std().ok()
}

fn is_open(stream: &mut TcpStream) -> bool {
    matches!(stream.read(&mut [0; 64]), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

/// A node takes part.
fn joins(ground: &Ground, name: &str, address: &str) -> Running {
    let mut node = ground.start(&Host::default(), name, &["node", "--join", address]);
    node.message("joined");
    node
}

/// The story: 1,024 idle HTTP connections from four addresses locked out every new client, node
/// and status request.
#[test]
fn a_thousand_idle_http_connections_lock_nobody_out() {
    let ground = Ground::new();
    let (address, web) = (free_address(), free_address());
    let args = ["serve", "--generate", "balls,20", "--one-group", "--listen", &address];
    let args = [&args[..], &["--web", &web]].concat();
    let mut serve = ground.start(&Host::default(), "serve", &args);
    serve.message("serving");
    let load = NodeLoad::new(&web, 1024, 4);
    let host = format!("Host: {web}");
    for _ in 0..10 {
        let status = ask(&web, "/status", &[&host]);
        assert!(status.starts_with("HTTP/1.1 200"), "{status}");
    }
    for _ in 0..3 {
        let status = ground.json(&Host::default(), &["status", "--join", &address, "--json"]);
        assert!(status["world"].is_string(), "{status}");
    }
    let bots = ["bots", "--join", &address, "--avatars", "2", "--seconds", "2", "--json"];
    ground.json(&Host::default(), &bots);
    let node = joins(&ground, "node", &address);
    drop(load);
    node.end();
    serve.end();
}

/// The story: 2,000 idle TCP connections at the nodes' port kept nodes out.
#[test]
fn two_thousand_idle_connections_at_the_port_of_nodes_keep_no_node_out() {
    let ground = Ground::new();
    let address = free_address();
    let args = ["serve", "--generate", "balls,20", "--one-group", "--listen", &address];
    let args = [&args[..], &["--web", "none"]].concat();
    let mut serve = ground.start(&Host::default(), "serve", &args);
    serve.message("serving");
    let load = NodeLoad::new(&address, 2000, 4);
    let nodes = ["one", "two"].map(|name| joins(&ground, name, &address));
    drop(load);
    for node in nodes {
        node.end();
    }
    serve.end();
}
