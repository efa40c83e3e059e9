//! Planes on loopback for tests, and what has arrived at them.

use jostle_net::plane::{Engine, Guard, Plane, PlaneSettings, Urgency};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(crate) const LOOPBACK: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// Names and what was sent to them.
type Inbox = Vec<(String, Vec<u8>)>;

/// A plane and what has been delivered to it.
pub(crate) struct Post {
    pub(crate) plane: Plane,
    inbox: Arc<Mutex<Inbox>>,
}

impl Post {
    pub(crate) fn open(settings: &PlaneSettings) -> Post {
        let inbox: Arc<Mutex<Inbox>> = Arc::default();
        let filled = inbox.clone();
        let deliver = move |name: &str, bytes: &[u8]| {
            filled.lock().unwrap().push((name.to_owned(), bytes.to_vec()));
        };
        let plane = Plane::open(settings, Arc::new(deliver)).unwrap();
        Post { plane, inbox }
    }

    /// Listens on loopback, and answers to a name.
    pub(crate) fn listener(engine: &Engine, guard: &Guard, name: &str) -> Post {
        let post = Post::open(&settings(engine, guard, vec![LOOPBACK], vec![]));
        post.plane.answer_to(name).unwrap();
        post
    }

    /// Joins another, listens too, and answers to a name.
    pub(crate) fn joined(engine: &Engine, guard: &Guard, other: &Post, name: &str) -> Post {
        let join = other.plane.listening();
        let post = Post::open(&settings(engine, guard, vec![LOOPBACK], join));
        post.plane.answer_to(name).unwrap();
        post
    }

    pub(crate) fn has(&self, name: &str, bytes: &[u8]) -> bool {
        self.inbox.lock().unwrap().iter().any(|(to, what)| to == name && what == bytes)
    }

    pub(crate) fn everything(&self) -> Inbox {
        self.inbox.lock().unwrap().clone()
    }

    /// Sends until it has arrived: a message may get lost, and names take a moment to be known.
    pub(crate) fn reach(&self, to: &Post, name: &str, bytes: &[u8]) {
        let sent = || {
            self.plane.send(name, bytes, Urgency::Tick);
            to.has(name, bytes)
        };
        assert!(eventually(sent), "{:?} did not reach {name}", String::from_utf8_lossy(bytes));
    }
}

pub(crate) fn settings(
    engine: &Engine,
    guard: &Guard,
    listen: Vec<SocketAddr>,
    join: Vec<SocketAddr>,
) -> PlaneSettings {
    PlaneSettings {
        world: "test".to_owned(),
        listen,
        join,
        guard: guard.clone(),
        engine: engine.clone(),
    }
}

/// Becomes true within a while that no working machine needs.
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
