//! Unauthenticated processes cannot send to a world, nor receive from it.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod transports;

use jostle_net::certificates::{self, Role};
use jostle_net::transport::{Engine, TransportAuth, Urgency};
use jostle_net::{Secret, transport::Transport};
use std::io::Write;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use transports::{LOOPBACK, Post, settings};

fn token(text: &str) -> TransportAuth {
    TransportAuth { token: Some(Secret::new(text)), certificates: None }
}

/// A directory of certificates, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("jostle-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        certificates::make(&path, &[]).unwrap();
        Directory(path)
    }

    fn guard(&self) -> TransportAuth {
        TransportAuth { token: None, certificates: Some(self.0.clone()) }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Unauthenticated processes send all the time while two authenticated ones reach each other,
/// before and after that.
fn strangers_are_not_heard(engine: &Engine, good: &TransportAuth, strangers: &[TransportAuth]) {
    let here = Post::listener(engine, good, "d");
    let join = here.transport.listening();
    let strangers: Vec<Post> = strangers
        .iter()
        .map(|guard| {
            let stranger = Post::open(&settings(engine, guard, vec![LOOPBACK], join.clone()));
            stranger.transport.answer_to("n1").unwrap();
            stranger
        })
        .collect();
    let node = Post::joined(engine, good, &here, "n1");
    for round in 0..60 {
        for stranger in &strangers {
            stranger.transport.send("d", b"strange", Urgency::Now);
            stranger.transport.send("n1", b"strange", Urgency::Now);
        }
        node.reach(&here, "d", &[round]);
        here.reach(&node, "n1", &[round]);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!here.has("d", b"strange") && !node.has("n1", b"strange"));
    for stranger in strangers {
        let heard = stranger.everything();
        assert!(heard.iter().all(|(_, bytes)| bytes == b"strange"), "a stranger heard {heard:?}");
    }
}

#[test]
fn nobody_is_heard_with_another_token_or_none() {
    let strangers = [token("wrong"), TransportAuth::default()];
    for engine in [Engine::Zenoh, Engine::Quic] {
        println!("{engine:?}");
        strangers_are_not_heard(&engine, &token("right: and\n  unusual "), &strangers);
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::copy(from, to).unwrap();
}

fn take_the_place_of_a_node(from: &Path, to: &Path) {
    copy(&Role::Client.certificate(from), &Role::Node.certificate(to));
    copy(&Role::Client.key(from), &Role::Node.key(to));
}

fn certificates_are_asked_for(engine: &Engine) {
    let ours = Directory::new(&format!("ours-{engine:?}"));
    let foreign = Directory::new(&format!("foreign-{engine:?}"));
    // A client certificate in the place of that of a node.
    let client = Directory::new(&format!("client-{engine:?}"));
    copy(
        &certificates::authority(&ours.0, Role::Node),
        &certificates::authority(&client.0, Role::Node),
    );
    take_the_place_of_a_node(&ours.0, &client.0);
    // The same, signed by the authority of nodes by mistake.
    let mistake = Directory::new(&format!("mistake-{engine:?}"));
    let ours_signs = certificates::authority(&ours.0, Role::Node);
    let signs = certificates::authority(&mistake.0, Role::Client);
    copy(&ours_signs, &certificates::authority(&mistake.0, Role::Node));
    copy(&ours_signs, &signs);
    copy(&ours_signs.with_extension("key"), &signs.with_extension("key"));
    std::fs::remove_file(Role::Client.certificate(&mistake.0)).unwrap();
    std::fs::remove_file(Role::Client.key(&mistake.0)).unwrap();
    certificates::make(&mistake.0, &[]).unwrap();
    take_the_place_of_a_node(&mistake.0, &mistake.0);
    let strangers = [
        foreign.guard(),
        client.guard(),
        mistake.guard(),
        TransportAuth::default(),
        token("right"),
    ];
    strangers_are_not_heard(engine, &ours.guard(), &strangers);
}

#[test]
fn only_who_has_the_certificate_of_a_node_is_heard() {
    for engine in [Engine::Zenoh, Engine::Quic] {
        println!("{engine:?}");
        certificates_are_asked_for(&engine);
    }
}

#[test]
fn with_certificates_and_token_both_are_asked_for() {
    for engine in [&Engine::Zenoh, &Engine::Quic] {
        let ours = Directory::new(&format!("both-{engine:?}"));
        let both = TransportAuth { token: Some(Secret::new("right")), ..ours.guard() };
        let wrong = TransportAuth { token: Some(Secret::new("wrong")), ..ours.guard() };
        strangers_are_not_heard(engine, &both, &[ours.guard(), token("right"), wrong]);
    }
}

/// Connections that send nothing, or noise.
fn connect_many(address: SocketAddr, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(address).unwrap();
        // It may have been closed already.
        let _ = stream.write_all(bytes);
        streams.push(stream);
    }
    streams
}

#[test]
fn zenoh_lets_nodes_in_past_150_silent_connections() {
    let ours = Directory::new("silent");
    for guard in [token("right"), ours.guard()] {
        let here = Post::listener(&Engine::Zenoh, &guard, "d");
        let silent = connect_many(here.transport.listening()[0], 150, b"");
        let node = Post::joined(&Engine::Zenoh, &guard, &here, "n1");
        node.reach(&here, "d", b"in");
        drop(silent);
    }
}

/// Two processes that learn of each other while a crowd of connections blocks both listeners cannot
/// connect then; zenoh does not retry by itself.
#[test]
fn on_zenoh_a_link_that_failed_is_made_later() {
    let guard = token("right");
    let third = Post::listener(&Engine::Zenoh, &guard, "d");
    let address = third.transport.listening();
    drop(third);
    let [one, other] = ["n1", "n2"].map(|name| {
        let settings = settings(&Engine::Zenoh, &guard, vec![LOOPBACK], address.clone());
        let post = Post::open(&settings);
        post.transport.answer_to(name).unwrap();
        post
    });
    let crowds = [&one, &other].map(|post| connect_many(post.transport.listening()[0], 300, b""));
    let third = Post::open(&settings(&Engine::Zenoh, &guard, address, vec![]));
    third.transport.answer_to("d").unwrap();
    one.reach(&third, "d", b"one");
    other.reach(&third, "d", b"other");
    drop(crowds);
    one.reach(&other, "n2", b"there");
    other.reach(&one, "n1", b"and back");
}

#[test]
fn zenoh_goes_on_after_300_connections_with_nonsense() {
    let ours = Directory::new("nonsense");
    for guard in [token("right"), ours.guard()] {
        let here = Post::listener(&Engine::Zenoh, &guard, "d");
        let neighbour = Post::joined(&Engine::Zenoh, &guard, &here, "n1");
        neighbour.reach(&here, "d", b"before");
        let nonsense: Vec<u8> = (0..2_000_u32).map(|at| ((at * at * 31) >> 3) as u8).collect();
        drop(connect_many(here.transport.listening()[0], 300, &nonsense));
        neighbour.reach(&here, "d", b"after");
        let node = Post::joined(&Engine::Zenoh, &guard, &here, "n2");
        node.reach(&here, "d", b"in");
    }
}

#[test]
fn quic_goes_on_after_300_packets_of_nonsense() {
    let guard = token("right");
    let here = Post::listener(&Engine::Quic, &guard, "d");
    let socket = UdpSocket::bind(LOOPBACK).unwrap();
    for at in 0..300_u32 {
        let nonsense: Vec<u8> = (0..1_250).map(|byte| ((byte * (at + 7)) >> 2) as u8).collect();
        socket.send_to(&nonsense, here.transport.listening()[0]).unwrap();
    }
    let node = Post::joined(&Engine::Quic, &guard, &here, "n1");
    node.reach(&here, "d", b"in");
}

/// Collects all log lines of any level.
struct Log(Arc<Mutex<String>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        self.0.lock().unwrap().push_str(&format!("{span:?}\n"));
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        self.0.lock().unwrap().push_str(&format!("{values:?}\n"));
    }
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        self.0.lock().unwrap().push_str(&format!("{event:?}\n"));
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn the_token_is_neither_shown_nor_logged() {
    let log = Arc::new(Mutex::new(String::new()));
    tracing::subscriber::set_global_default(Log(log.clone())).unwrap();
    for engine in [&Engine::Zenoh, &Engine::Quic] {
        let guard = token("open sesame");
        let here = Post::listener(engine, &guard, "d");
        let shown = settings(engine, &guard, vec![], here.transport.listening());
        let node = Post::joined(engine, &guard, &here, "n1");
        let stranger = Post::joined(engine, &token("shut sesame"), &here, "n2");
        node.reach(&here, "d", b"in");
        assert!(!format!("{shown:?} {:?}", here.transport).contains("sesame"));
        let unfit = settings(engine, &guard, vec![SocketAddr::from(([192, 0, 2, 1], 1))], vec![]);
        let error = Transport::open(&unfit, Arc::new(|_, _| {})).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("sesame"));
        drop(stranger);
    }
    let log = log.lock().unwrap();
    assert!(log.len() > 1_000, "nothing was logged, so that this test shows nothing");
    assert!(!log.contains("sesame"));
    // The password derived from the token is a secret as well.
    let password = log.lines().find(|line| line.contains("password: Some"));
    assert_eq!(password, None);
}

#[test]
fn certificates_are_made_once_and_keys_are_private() {
    let directory = Directory::new("made");
    let read = || {
        let mut files: Vec<(PathBuf, Vec<u8>)> = std::fs::read_dir(&directory.0)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = read();
    assert_eq!(before.len(), 10);
    certificates::make(&directory.0, &[]).unwrap();
    assert_eq!(before, read(), "what is there is kept");
    for (path, _) in &before {
        if path.extension().is_some_and(|extension| extension == "key") {
            assert_eq!(mode(path), 0o600, "{path:?}");
        }
    }
    let edge = Role::Server.certificate(&directory.0);
    let fingerprint = certificates::fingerprint(&edge).unwrap();
    assert_eq!(fingerprint.len(), 64);
    std::fs::remove_file(&edge).unwrap();
    let half = certificates::make(&directory.0, &[]).unwrap_err().to_string();
    let [key, chain] = [Role::Server.key(&directory.0), edge.clone()].map(|path| file_name(&path));
    assert!(half.contains(&key) && half.contains(&chain), "{half}");
    std::fs::remove_file(Role::Server.key(&directory.0)).unwrap();
    certificates::make(&directory.0, &["world.example".to_owned()]).unwrap();
    assert_ne!(certificates::fingerprint(&edge).unwrap(), fingerprint);
    std::fs::write(&edge, "nothing").unwrap();
    let nothing = certificates::chain(&directory.0, Role::Server).unwrap_err().to_string();
    assert!(nothing.contains(&chain) && nothing.contains("certificate"), "{nothing}");
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode(_: &Path) -> u32 {
    0o600
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}
