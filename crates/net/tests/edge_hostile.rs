//! Hostile clients: wrong tokens, foreign avatars, replays, noise, silence, floods. The world is
//! unaffected, other clients do not notice, and the log names address and reason.

#[path = "server/log.rs"]
mod log;
mod server;
#[path = "server/web.rs"]
mod web;

use jostle_net::Secret;
use jostle_net::client::{ClientError, ClientOptions, Connection};
use jostle_net::edge::{EdgeLimits, EdgeSettings};
use jostle_net::manifest::{EdgeResponse, Handshake, PROTOCOL, Purpose};
use jostle_proto::client::{Credential, Report, StateUpdate};
use jostle_proto::{
    Allowance, ClientId, ClientInput, ClientMessage, Content, GatewayMessage, GroupId, State, Tick,
};
use log::{log, logged, until_logged};
use serde_json::json;
use server::{
    METRE, STATIC_OBJECTS, TOKEN, TestServer, edge_settings, gateway_settings, until_true,
};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};

use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;
use web::{Binary, Tool, answer, handshake, next, socket};

fn guest(server: &TestServer) -> Connection {
    let connection = Connection::open(ClientOptions::to(server.quic())).unwrap();
    assert!(connection.wait_until_active(Duration::from_secs(8)), "{:?}", connection.last_error());
    connection
}

/// Checks that a client still receives the world.
fn is_served(connection: &Connection) {
    let before = connection.statistics().updates;
    until_true("more state updates", || connection.statistics().updates > before + 10);
    assert_eq!(connection.statistics().links, 1);
}

fn is_still(state: Option<State>) {
    let state = state.unwrap();
    assert_eq!((state.position[0], state.velocity), (0, [0; 3]));
}

struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        self.0 >> 24
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let count = self.next() % most;
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// A QUIC endpoint without the client's rules.
struct Raw {
    runtime: tokio::runtime::Runtime,
    endpoint: quinn::Endpoint,
}

impl Raw {
    fn new() -> Raw {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let inside = runtime.enter();
        let endpoint = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
        drop(inside);
        Raw { runtime, endpoint }
    }

    fn connect(&self, edge: SocketAddr) -> quinn::Connection {
        let config = rough::configuration();
        self.runtime.block_on(async {
            self.endpoint.connect_with(config, edge, "localhost").unwrap().await.unwrap()
        })
    }

    /// Writes these bytes as the first stream and returns the response, if there is one.
    fn send(&self, connection: &quinn::Connection, bytes: &[u8]) -> Option<EdgeResponse> {
        self.runtime.block_on(async {
            let (mut send, mut receive) = connection.open_bi().await.ok()?;
            send.write_all(bytes).await.ok()?;
            let mut length = [0; 4];
            receive.read_exact(&mut length).await.ok()?;
            let mut answer = vec![0; u32::from_le_bytes(length) as usize];
            receive.read_exact(&mut answer).await.ok()?;
            // The stream stays open as long as the connection.
            std::mem::forget((send, receive));
            postcard::from_bytes(&answer).ok()
        })
    }

    fn handshake(
        &self,
        connection: &quinn::Connection,
        handshake: &Handshake,
    ) -> Option<EdgeResponse> {
        let bytes = postcard::to_allocvec(handshake).unwrap();
        self.send(connection, &[&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat())
    }

    /// Waits until the server closes the connection.
    fn end(&self, connection: &quinn::Connection) -> String {
        self.runtime.block_on(async {
            let closed = tokio::time::timeout(Duration::from_secs(8), connection.closed()).await;
            closed.expect("the edge closes it").to_string()
        })
    }
}

/// A client configuration without verification.
mod rough {
    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::{DigitallySignedStruct, Error, SignatureScheme};
    use std::sync::Arc;

    #[derive(Debug)]
    struct Anyone;

    impl ServerCertVerifier for Anyone {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            Ok(ServerCertVerified::assertion())
        }
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }
        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }
        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ECDSA_NISTP256_SHA256, SignatureScheme::ED25519]
        }
    }

    pub(crate) fn configuration() -> quinn::ClientConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"jostle/1".to_vec()];
        let crypto = quinn::crypto::rustls::QuicClientConfig::try_from(config).unwrap();
        let mut config = quinn::ClientConfig::new(Arc::new(crypto));
        let mut transport = quinn::TransportConfig::default();
        transport.datagram_send_buffer_size(1 << 20);
        config.transport_config(Arc::new(transport));
        config
    }
}

#[test]
fn wrong_tokens_protocols_and_purposes_are_refused_and_logged() {
    log();
    let server = TestServer::guarded();
    let raw = Raw::new();
    let work = Purpose::Join { name: 1, followers: 0 };
    let handshakes = [
        (PROTOCOL, "", Purpose::Play, "requires --token (none was sent)"),
        (PROTOCOL, "a wrong word", Purpose::Play, "--token (the token sent is not valid)"),
        (PROTOCOL, "a wrong word", Purpose::Status, "--token (the token sent is not valid)"),
        (PROTOCOL, "", work.clone(), "requires --node-token (none was sent)"),
        (PROTOCOL, TOKEN, work, "--node-token (the token sent is not valid)"),
        (PROTOCOL + 1, TOKEN, Purpose::Play, "version 2 is not supported"),
    ];
    for (protocol, token, purpose, why) in handshakes {
        let handshake = Handshake { protocol, token: token.to_string(), purpose };
        let connection = raw.connect(server.quic());
        let me = raw.endpoint.local_addr().unwrap().port().to_string();
        let Some(EdgeResponse::Rejected(words)) = raw.handshake(&connection, &handshake) else {
            panic!("{why}")
        };
        assert!(words.contains(why), "{words}");
        assert!(raw.end(&connection).contains(why));
        until_logged(&["rejected: ", &me, why]);
        // The same over a WebSocket.
        let mut socket = socket(server.web(), "/ws");
        let me = socket.get_ref().local_addr().unwrap().to_string();
        let EdgeResponse::Rejected(words) = answer(&mut socket, &handshake) else {
            panic!("{why}")
        };
        assert!(words.contains(why), "{words}");
        until_logged(&["rejected: ", &me, why]);
    }
    let mut tool = Tool::open(&server, &json!({"type": "hello", "token": "a wrong word"}));
    assert!(tool.until_type("refused")["why"].as_str().unwrap().contains("token"));
    let counters = server.edge.counters();
    assert_eq!((counters.rejected.token, counters.rejected.protocol), (11, 2));
    let all = logged();
    assert!(!all.contains("a wrong word") && !all.contains(TOKEN), "{all}");
    assert_eq!(server.observed.lock().unwrap().messages, 0);
    let wrong = ClientOptions {
        token: Some(Secret::new("a wrong word")),
        ..ClientOptions::to(server.quic())
    };
    let refused = Connection::open(wrong).err();
    assert!(matches!(refused, Some(ClientError::Rejected { .. })), "{refused:?}");
}

#[test]
fn a_client_moves_no_avatar_of_another_nor_by_old_messages() {
    log();
    let server = TestServer::new();
    let victim = guest(&server);
    let avatar = victim.avatar().unwrap();
    let mut client = Binary::open(&server, "", None);
    client.until("a welcome", |client| client.client.is_active());
    let own = client.client.avatar().unwrap();
    // Its own avatar moves, and stops.
    client.client.steer(client.now(), [256, 0, 0], [0; 3]);
    client.until("a step", |_| server.state(own).is_some_and(|state| state.position[0] > 100));
    client.client.steer(client.now(), [0; 3], [0; 3]);
    client.until("a stop", |_| server.state(own).is_some_and(|state| state.velocity == [0; 3]));
    let stood = server.state(own).unwrap().position;
    // Replays all of its messages.
    let sent = client.sent.clone();
    for frame in sent.iter().rev().take(100) {
        client.socket.send(Message::Binary(frame.clone().into())).unwrap();
    }
    client.until("that they were noticed", |_| server.gateway().replays > 0);
    assert_eq!(server.state(own).unwrap().position, stood);
    // A forged credential.
    let credential = Credential { avatar, since: Tick(1), home: GroupId(0), seal: 12345 };
    let mut thief = Binary::open(&server, "", Some(credential));
    thief.until("a welcome", |client| client.client.is_active());
    assert_ne!(thief.client.avatar(), Some(avatar));
    // Inputs for another avatar are rejected until the client is disconnected.
    for number in (0..20).map(|number| 1 << 40 | number) {
        let input = ClientInput { avatar, number, velocity: [500; 3], spin: [0; 3] };
        let attempt = client.client.attempt();
        client.send(&ClientMessage::Report(Report { attempt, ack: None, input: Some(input) }));
    }
    client.until("that they were refused", |_| server.gateway().foreign >= 8);
    let me = client.socket.get_ref().local_addr().unwrap().to_string();
    until_logged(&["client disconnected: ", &me, "Foreign"]);
    is_still(server.state(avatar));
    is_served(&victim);
}

#[test]
fn noise_on_every_line_is_counted_and_put_out() {
    log();
    let server = TestServer::new();
    let good = guest(&server);
    let mut noise = Noise(7);
    let raw = Raw::new();
    // Datagrams: random, mutated and as long as possible.
    let connection = raw.connect(server.quic());
    assert!(matches!(raw.handshake(&connection, &handshake("")), Some(EdgeResponse::Manifest(_))));
    let frame = ClientMessage::Bye { attempt: 1 }.write().unwrap();
    for round in 0..120 {
        let datagram = match round % 3 {
            0 => noise.bytes(1000),
            1 => frame[..frame.len() - 1].to_vec(),
            _ => vec![0x4a; connection.max_datagram_size().unwrap()],
        };
        let _ = connection.send_datagram(datagram.into());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(raw.end(&connection).contains("malformed"));
    until_logged(&["client disconnected: too many malformed messages"]);
    assert!(server.edge.counters().malformed >= 100);
    // Streams: too long, not a handshake, empty, a malformed request.
    for bytes in [&[0xff; 64][..], &[4, 0, 0, 0, 1, 99, 99, 99], &[0; 4]] {
        let connection = raw.connect(server.quic());
        let answer = raw.send(&connection, bytes);
        assert!(matches!(answer, Some(EdgeResponse::Rejected(_))), "{answer:?}");
    }
    for _ in 0..30 {
        let connection = raw.connect(server.quic());
        let bytes = noise.bytes(200);
        raw.runtime.block_on(async {
            let (mut send, _receive) = connection.open_bi().await.unwrap();
            let _ = send.write_all(&bytes).await;
            let _ = send.finish();
        });
    }
    is_served(&good);
}

#[test]
fn noise_on_websockets_and_bare_sockets_changes_nothing() {
    log();
    let server = TestServer::new();
    let good = guest(&server);
    let mut noise = Noise(11);
    // Malformed messages, until the client is disconnected.
    let mut client = Binary::open(&server, "", None);
    let me = client.socket.get_ref().local_addr().unwrap().to_string();
    for _ in 0..120 {
        let _ = client.socket.send(Message::Binary(noise.bytes(300).into()));
    }
    until_logged(&["client disconnected: too many malformed messages", &me]);
    let hello = json!({"type": "hello"});
    let mut tool = Tool::open(&server, &hello);
    tool.until_type("welcome");
    let me = tool.socket.get_ref().local_addr().unwrap().to_string();
    for text in ["{", "[]", "{\"type\":\"steer\",\"velocity\":[1e999,0,0]}", "null"] {
        for _ in 0..30 {
            let _ = tool.socket.send(Message::text(text));
        }
    }
    until_logged(&["client disconnected: too many malformed messages", &me]);
    // A message beyond the limit.
    let mut client = Binary::open(&server, "", None);
    let me = client.socket.get_ref().local_addr().unwrap().to_string();
    let _ = client.socket.send(Message::Binary(vec![0; 5000].into()));
    until_logged(&["client disconnected: ", &me, "too long"]);
    // Noise instead of a handshake, of HTTP, and of QUIC.
    for _ in 0..20 {
        let mut socket = socket(server.web(), "/ws");
        let _ = socket.send(Message::Binary(noise.bytes(100).into()));
        let _ = next(&mut socket);
        let mut stream = TcpStream::connect(server.web()).unwrap();
        let _ = stream.write_all(&noise.bytes(2000));
    }
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    for round in 0..500 {
        let mut packet = noise.bytes(1400);
        if let Some(first) = packet.first_mut().filter(|_| round % 2 == 0) {
            // Looks like the start of a QUIC handshake.
            *first |= 0xc0;
        }
        let _ = udp.send_to(&packet, server.quic());
    }
    // An endless HTTP head.
    let mut stream = TcpStream::connect(server.web()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(6))).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nA: ").unwrap();
    let _ = stream.write_all(&vec![b'a'; 100_000]);
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    is_served(&good);
}

#[test]
fn silent_connections_keep_nobody_out() {
    log();
    let server = TestServer::new();
    let silent: Vec<TcpStream> =
        (0..150).map(|_| TcpStream::connect(server.web()).unwrap()).collect();
    let raw = Raw::new();
    let quiet: Vec<quinn::Connection> = (0..60).map(|_| raw.connect(server.quic())).collect();
    until_true("that they wait", || server.edge.counters().pending >= 150);
    let good = guest(&server);
    let mut tool = Tool::open(&server, &json!({"type": "hello"}));
    tool.until_type("welcome");
    assert!(server.get("/metrics", "").contains("jostle_up"));
    is_served(&good);
    // They are closed after the timeout.
    until_true("that they are sent away", || server.edge.counters().pending < 10);
    assert!(server.edge.counters().rejected.silent >= 150);
    for connection in quiet {
        assert!(raw.end(&connection).contains("handshake timed out (2 s)"));
    }
    drop(silent);
}

/// Sends the same message as fast as possible until stopped; returns how often.
fn flood(raw: &Raw, line: &quinn::Connection, stop: &AtomicBool) -> u64 {
    let report = Report { attempt: 1, ack: None, input: None };
    let message = bytes::Bytes::from(ClientMessage::Report(report).write().unwrap());
    let (mut sent, start) = (0, Instant::now());
    while line.close_reason().is_none() && !stop.load(Ordering::Relaxed) {
        assert!(start.elapsed() < Duration::from_secs(8), "never put out: {sent} sent");
        raw.runtime.block_on(async {
            for _ in 0..1000 {
                sent += u64::from(line.send_datagram_wait(message.clone()).await.is_ok());
            }
        });
    }
    sent
}

#[test]
fn a_flood_is_put_out_with_a_reason() {
    log();
    let server = TestServer::new();
    let good = guest(&server);
    let raw = Raw::new();
    let line = raw.connect(server.quic());
    assert!(matches!(raw.handshake(&line, &handshake("")), Some(EdgeResponse::Manifest(_))));
    flood(&raw, &line, &AtomicBool::new(false));
    let words = raw.end(&line);
    assert!(words.contains("flood"), "{words}");
    let me = format!("127.0.0.1:{}", raw.endpoint.local_addr().unwrap().port());
    until_logged(&["client disconnected: ", &me, "flood"]);
    is_served(&good);
    let counters = server.edge.counters();
    assert!(counters.excess > 0 && counters.disconnected == 1, "{counters:?}");
}

#[test]
fn while_a_flood_lasts_the_others_see_on() {
    log();
    // Without an excess limit, so that the flood lasts.
    let patience = Allowance { per_second: 1 << 40, most: 1 << 40 };
    let limits = EdgeLimits { excess: patience, ..edge_settings().limits };
    let server = TestServer::with(EdgeSettings { limits, ..edge_settings() }, gateway_settings());
    let good = guest(&server);
    let raw = Raw::new();
    let line = raw.connect(server.quic());
    assert!(matches!(raw.handshake(&line, &handshake("")), Some(EdgeResponse::Manifest(_))));
    let stop = AtomicBool::new(false);
    let before = (good.statistics().updates, Instant::now());
    std::thread::scope(|scope| {
        let flooding = scope.spawn(|| flood(&raw, &line, &stop));
        for _ in 0..5 {
            is_served(&good);
        }
        let (updates, seconds) = (good.statistics().updates - before.0, before.1.elapsed());
        stop.store(true, Ordering::Relaxed);
        let sent = flooding.join().unwrap();
        println!(
            "in {seconds:?}: {sent} messages, {} thrown away undecoded, {} to the gateway; the \
             other saw {updates} state updates",
            server.edge.counters().excess,
            server.observed.lock().unwrap().messages,
        );
    });
    assert!(server.edge.counters().excess > 1000);
}

#[test]
fn a_client_that_wants_too_much_too_often_is_kicked_with_a_reason() {
    log();
    let server = TestServer::new();
    let mut client = Binary::open(&server, "", None);
    client.until("a welcome", |client| client.client.is_active());
    let me = client.socket.get_ref().local_addr().unwrap().to_string();
    let avatar = client.client.avatar().unwrap();
    let attempt = client.client.attempt();
    for number in (0..20).map(|number| 1 << 40 | number) {
        let input = ClientInput { avatar, number, velocity: [30_000; 3], spin: [0; 3] };
        client.send(&ClientMessage::Report(Report { attempt, ack: None, input: Some(input) }));
    }
    until_logged(&["client disconnected: ", &me, "Speed"]);
    until_true("an idle edge", || server.edge.counters().connections == 0);
    // It was never faster than allowed.
    let position = server.state(avatar).unwrap().position;
    assert!(position.iter().all(|along| along.abs() < 40 * METRE), "{position:?}");
}

#[test]
fn readers_that_do_not_read_lose_and_slow_nobody() {
    log();
    let limits = EdgeLimits { idle: Duration::from_secs(3), ..edge_settings().limits };
    let server = TestServer::with(EdgeSettings { limits, ..edge_settings() }, gateway_settings());
    let good = guest(&server);
    // Connections 2 to 5, in order; none of them reads any more.
    let slow: Vec<Binary> = (0..2).map(|_| Binary::open(&server, "", None)).collect();
    let raw = Raw::new();
    let lines: Vec<quinn::Connection> = (0..2).map(|_| raw.connect(server.quic())).collect();
    for line in &lines {
        assert!(matches!(raw.handshake(line, &handshake("")), Some(EdgeResponse::Manifest(_))));
    }
    assert_eq!(server.edge.counters().connections, 5);
    let update = |tick, bytes| {
        GatewayMessage::StateUpdate(StateUpdate {
            attempt: 1,
            tick: Tick(tick),
            dilation: 1000,
            base: None,
            near: vec![0; bytes],
            far: Vec::new(),
            kinds: Vec::new(),
            followed: 0,
            followed_at: Tick(0),
            contacts: Vec::new(),
        })
    };
    let before = server.edge.counters();
    // Some fit into a datagram, some do not; not enough to fill the memory.
    for tick in 0..20_000 {
        let message = update(tick, if tick % 2 == 0 { 1000 } else { 1180 });
        for connection in 2..=5 {
            server.edge.send(ClientId { host: 0x7f00_0001, connection }, &message);
        }
    }
    let after = server.edge.counters();
    assert!(after.lost > before.lost + 10_000, "{after:?}");
    is_served(&good);
    // Without requests it is idle, and is closed.
    until_true("that they are put out", || server.edge.counters().connections == 1);
    drop(slow);
    is_served(&good);
}

#[test]
fn who_asks_for_much_is_answered_at_a_pace() {
    log();
    let server = TestServer::new();
    let raw = Raw::new();
    let line = raw.connect(server.quic());
    let content = postcard::to_allocvec(&Content::of(STATIC_OBJECTS)).unwrap();
    let content = [&(content.len() as u32).to_le_bytes()[..], &content].concat();
    let handshake = postcard::to_allocvec(&handshake("")).unwrap();
    let handshake = [&(handshake.len() as u32).to_le_bytes()[..], &handshake].concat();
    raw.runtime.block_on(async {
        let (mut send, mut receive) = line.open_bi().await.unwrap();
        send.write_all(&handshake).await.unwrap();
        let asking = async {
            for _ in 0..700 {
                send.write_all(&content).await.unwrap();
            }
            send.finish().unwrap();
        };
        let hearing = async {
            let mut answers = 0;
            let mut length = [0; 4];
            while receive.read_exact(&mut length).await.is_ok() {
                let mut answer = vec![0; u32::from_le_bytes(length) as usize];
                receive.read_exact(&mut answer).await.unwrap();
                let answer: EdgeResponse = postcard::from_bytes(&answer).unwrap();
                let right = answer == EdgeResponse::Content(Some(STATIC_OBJECTS.to_vec()));
                answers += u64::from(right);
            }
            answers
        };
        assert_eq!(tokio::join!(asking, hearing).1, 700);
    });
    assert_eq!(server.edge.counters().disconnected, 0);
}

#[test]
fn more_than_a_host_may_have_are_refused() {
    log();
    let limits = EdgeLimits { host_connections: 3, ..edge_settings().limits };
    let server = TestServer::with(EdgeSettings { limits, ..edge_settings() }, gateway_settings());
    let all: Vec<Connection> = (0..3).map(|_| guest(&server)).collect();
    let refused = Connection::open(ClientOptions::to(server.quic())).err();
    assert!(refused.unwrap().to_string().contains("from this host"));
    let mut socket = socket(server.web(), "/ws");
    assert!(matches!(answer(&mut socket, &handshake("")), EdgeResponse::Rejected(_)));
    assert_eq!(server.edge.counters().rejected.full, 2);
    drop(all);
    until_true("room again", || server.edge.counters().connections == 0);
    guest(&server);
}
