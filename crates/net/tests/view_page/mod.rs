//! A page, written independently of ours, and a world to view.

// Every test file uses a part of it.
#![allow(dead_code)]

pub(crate) mod decode;
#[path = "../hall/mod.rs"]
mod hall;

use decode::{Frame, frame};
pub(crate) use hall::METRE;
use hall::{hall, velocity};
use jostle_net::edge::EdgeLimits;
use jostle_net::serve::{InitialWorld, ServeSettings};
use jostle_proto::{Allowance, Class, Object, ObjectId, ShapeId, State};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client};

pub(crate) const RATE: u32 = 30;

/// Triangulated spheres that fly in an open box of so many metres, and one at rest on a wall's far
/// side, where nothing comes.
pub(crate) fn start(balls: u64, half: i32) -> InitialWorld {
    let half = half * METRE;
    let ball = |number: u64| {
        let wide = u64::from(half.unsigned_abs()) * 2 - 2 * METRE as u64;
        let along = |step: u64| ((number * step * 977) % wide) as i32 - half + METRE;
        let position = [along(1009), along(3571), along(7919)];
        let speed = |step: u64| ((number * step) % 1000) as i16 - 500;
        let spin = [speed(100), 0, speed(900)];
        State { position, velocity: velocity(number), spin, ..State::default() }
    };
    let mut world = hall(half, 0.05, (0..balls).map(ball));
    let position = [half + 5 * METRE, 0, 0];
    let state = State { position, ..State::default() };
    let apart = ObjectId(world.objects.len() as u64 + 1);
    world.objects.push(Object { id: apart, class: Class::Dynamic, shape: ShapeId(0), state });
    world.names = [(apart, "APART".to_string())].into();
    world
}

pub(crate) fn settings(start: InitialWorld) -> ServeSettings {
    ServeSettings {
        edge: EdgeLimits {
            host_connections: 256,
            handshakes: Allowance { per_second: 200, most: 400 },
            ..EdgeLimits::default()
        },
        ..ServeSettings::local("test", start)
    }
}

/// A WebSocket with an origin; with a small buffer for slow readers.
pub(crate) fn socket(web: SocketAddr, origin: Option<&str>, small: bool) -> WebSocket<TcpStream> {
    let stream = if small { small_stream(web) } else { TcpStream::connect(web).unwrap() };
    // A handshake cannot be resumed after a timeout.
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut request = Request::builder()
        .uri(format!("ws://{web}/view"))
        .header("Host", web.to_string())
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    if let Some(origin) = origin {
        request = request.header("Origin", origin);
    }
    let socket = client(request.body(()).unwrap(), stream).unwrap().0;
    socket.get_ref().set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    socket
}

/// A connection with small buffers.
fn small_stream(web: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(8 << 10).unwrap();
        let stream = socket.connect(web).await.unwrap().into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream
    })
}

/// A message to a page.
#[derive(Clone, Debug)]
pub(crate) enum Received {
    Text(Value),
    Frame(Frame, Vec<u8>),
    /// A held world.
    Still(Frame),
    /// Clearance, and pairs with their distances.
    Near(f32, Vec<([u64; 2], f32)>),
}

/// A viewer.
pub(crate) struct Page {
    pub(crate) socket: WebSocket<TcpStream>,
    /// The `world` message.
    pub(crate) world: Value,
    pub(crate) bytes: u64,
    /// The last position of a recording.
    replay: Value,
}

impl Page {
    pub(crate) fn open(web: SocketAddr) -> Page {
        Page::with(web, &json!({"type": "hello"}), None, false)
    }

    pub(crate) fn with(web: SocketAddr, hello: &Value, origin: Option<&str>, slow: bool) -> Page {
        let mut page = Page {
            socket: socket(web, origin, slow),
            world: Value::Null,
            bytes: 0,
            replay: Value::Null,
        };
        page.send(hello);
        page.world = match page.until("a world", |received| matches!(received, Received::Text(_))) {
            Received::Text(world) => world,
            other => panic!("{other:?}"),
        };
        page
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// The next message; `None` if there is none yet, an error at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Received>, Error> {
        let message = match self.socket.read() {
            Ok(message) => message,
            Err(Error::Io(error))
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        self.bytes += message.len() as u64;
        Ok(match message {
            Message::Text(text) => {
                let value: Value = serde_json::from_str(&text).unwrap();
                if value["type"] == "replay" {
                    self.replay = value.clone();
                }
                Some(Received::Text(value))
            }
            Message::Binary(bytes) if bytes.first() == Some(&1) => {
                Some(Received::Frame(frame(&bytes), bytes.to_vec()))
            }
            Message::Binary(bytes) if bytes.first() == Some(&3) => {
                Some(Received::Still(frame(&bytes)))
            }
            Message::Binary(bytes) => Some(near(&bytes)),
            Message::Close(_) => return Err(Error::ConnectionClosed),
            _ => None,
        })
    }

    /// The next message that fulfils a condition.
    pub(crate) fn until(
        &mut self,
        what: &str,
        mut holds: impl FnMut(&Received) -> bool,
    ) -> Received {
        let begin = Instant::now();
        loop {
            if let Some(received) = self.next().unwrap_or_else(|error| panic!("{what}: {error}"))
                && holds(&received)
            {
                return received;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "never came: {what}");
        }
    }

    pub(crate) fn until_text(&mut self, kind: &str) -> Value {
        self.until_value(kind, |value| value["type"] == kind)
    }

    pub(crate) fn until_value(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        match self.until(what, |received| matches!(received, Received::Text(value) if holds(value)))
        {
            Received::Text(value) => value,
            other => panic!("{other:?}"),
        }
    }

    /// Until a recording has a position: it may have been sent before the answer to the control.
    pub(crate) fn until_replay(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        if !holds(&self.replay) {
            self.until_value(what, &holds);
        }
        self.replay.clone()
    }

    pub(crate) fn until_frame(&mut self, what: &str, holds: impl Fn(&Frame) -> bool) -> Frame {
        match self
            .until(what, |received| matches!(received, Received::Frame(frame, _) if holds(frame)))
        {
            Received::Frame(frame, _) => frame,
            other => panic!("{other:?}"),
        }
    }

    /// Checks that it still receives frames.
    pub(crate) fn is_served(&mut self) {
        let now = self.until_frame("a frame", |_| true).tick;
        self.until_frame("more frames", |frame| frame.tick > now + 10);
    }

    /// Waits until the server closes the connection.
    pub(crate) fn end(&mut self) {
        let begin = Instant::now();
        while self.next().is_ok() {
            assert!(begin.elapsed() < Duration::from_secs(20), "was never put out");
        }
    }
}

fn near(bytes: &[u8]) -> Received {
    let mut reader = decode::Reader(bytes);
    assert_eq!(reader.u64(), 2);
    let _tick = reader.u64();
    let clearance = reader.f32();
    let count = reader.u32();
    assert!(count <= 4096);
    let pairs = (0..count).map(|_| ([reader.u64(), reader.u64()], reader.f32())).collect();
    assert!(reader.0.is_empty());
    Received::Near(clearance, pairs)
}

/// The response to a request, head and body.
pub(crate) fn get(web: SocketAddr, page: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(web).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let request = format!("GET {page} HTTP/1.1\r\nHost: {web}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    (String::from_utf8_lossy(&answer[..end]).into_owned(), answer[end + 4..].to_vec())
}
