//! Transports on loopback for tests, with what was delivered to them.

use jostle_net::transport::{Engine, Transport, TransportAuth, TransportSettings, Urgency};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(crate) const LOOPBACK: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// Names and messages.
type Inbox = Vec<(String, Vec<u8>)>;

/// A transport and what was delivered to it.
pub(crate) struct Post {
    pub(crate) transport: Transport,
    inbox: Arc<Mutex<Inbox>>,
}

impl Post {
    pub(crate) fn open(settings: &TransportSettings) -> Post {
        let inbox: Arc<Mutex<Inbox>> = Arc::default();
        let filled = inbox.clone();
        let deliver = move |name: &str, bytes: &[u8]| {
            filled.lock().unwrap().push((name.to_owned(), bytes.to_vec()));
        };
        let transport = Transport::open(settings, Arc::new(deliver)).unwrap();
        Post { transport, inbox }
    }

    /// Listens on loopback, and subscribes to a name.
    pub(crate) fn listener(engine: &Engine, guard: &TransportAuth, name: &str) -> Post {
        let post = Post::open(&settings(engine, guard, vec![LOOPBACK], vec![]));
        post.transport.answer_to(name).unwrap();
        post
    }

    /// Joins another one, listens too, and subscribes to a name.
    pub(crate) fn joined(engine: &Engine, guard: &TransportAuth, other: &Post, name: &str) -> Post {
        let join = other.transport.listening();
        let post = Post::open(&settings(engine, guard, vec![LOOPBACK], join));
        post.transport.answer_to(name).unwrap();
        post
    }

    pub(crate) fn has(&self, name: &str, bytes: &[u8]) -> bool {
        self.inbox.lock().unwrap().iter().any(|(to, what)| to == name && what == bytes)
    }

    pub(crate) fn everything(&self) -> Inbox {
        self.inbox.lock().unwrap().clone()
    }

    /// Sends until it has arrived: messages may be lost, and subscriptions take a moment.
    pub(crate) fn reach(&self, to: &Post, name: &str, bytes: &[u8]) {
        let sent = || {
            self.transport.send(name, bytes, Urgency::Tick);
            to.has(name, bytes)
        };
        assert!(eventually(sent), "{:?} did not reach {name}", String::from_utf8_lossy(bytes));
    }
}

pub(crate) fn settings(
    engine: &Engine,
    guard: &TransportAuth,
    listen: Vec<SocketAddr>,
    join: Vec<SocketAddr>,
) -> TransportSettings {
    TransportSettings {
        world: "test".to_owned(),
        listen,
        join,
        guard: guard.clone(),
        engine: engine.clone(),
    }
}

/// Polls a condition with a generous timeout.
pub(crate) fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(9);
    while Instant::now() < deadline {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}
