//! Clients over WebSockets, written independently of ours.

// Every test file uses a part of it.
#![allow(dead_code)]

use crate::server::{TestServer, shapes, until};
use jostle_net::manifest::{EdgeResponse, Handshake, PROTOCOL, Purpose};
use jostle_proto::client::Credential;
use jostle_proto::{
    Address, Client, ClientId, ClientMessage, ClientSettings, GatewayMessage,
    Message as ProtoMessage, Output, Time,
};
use serde_json::Value;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client};

pub(crate) type Socket = WebSocket<TcpStream>;

pub(crate) fn socket(web: SocketAddr, page: &str) -> Socket {
    let stream = TcpStream::connect(web).unwrap();
    // A handshake cannot be resumed after a timeout, and a busy machine may be slow.
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let socket = client(format!("ws://{web}{page}"), stream).unwrap().0;
    socket.get_ref().set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    socket
}

pub(crate) fn handshake(token: &str) -> Handshake {
    Handshake { protocol: PROTOCOL, token: token.to_string(), purpose: Purpose::Play }
}

/// The next message; `None` if there is none yet, an error at the end.
pub(crate) fn next(socket: &mut Socket) -> Result<Option<Message>, Error> {
    match socket.read() {
        Ok(message) => Ok(Some(message)),
        Err(Error::Io(error))
            if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The response to a handshake.
pub(crate) fn answer(socket: &mut Socket, handshake: &Handshake) -> EdgeResponse {
    socket.send(Message::Binary(postcard::to_allocvec(handshake).unwrap().into())).unwrap();
    until("an answer", || match next(socket).unwrap()? {
        Message::Binary(bytes) => Some(postcard::from_bytes(&bytes).unwrap()),
        other => panic!("{other:?}"),
    })
}

/// A client with binary frames.
pub(crate) struct Binary {
    pub(crate) socket: Socket,
    pub(crate) client: Client,
    start: Instant,
    pub(crate) updates: u64,
    /// All sent messages.
    pub(crate) sent: Vec<Vec<u8>>,
}

impl Binary {
    pub(crate) fn open(server: &TestServer, token: &str, credential: Option<Credential>) -> Binary {
        let mut socket = socket(server.web(), "/ws");
        let answer = answer(&mut socket, &handshake(token));
        let EdgeResponse::Manifest(manifest) = answer else { panic!("{answer:?}") };
        let me = ClientId { host: 0, connection: 0 };
        let settings = ClientSettings::default();
        let client =
            Client::new(me, vec![manifest.gate], shapes(), settings).with_credential(credential);
        Binary { socket, client, start: Instant::now(), updates: 0, sent: Vec::new() }
    }

    pub(crate) fn now(&self) -> Time {
        Time(self.start.elapsed().as_micros() as u64)
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &ClientMessage) {
        let frame = message.write().unwrap();
        self.sent.push(frame.clone());
        let _ = self.socket.send(Message::Binary(frame.into()));
    }

    fn post(&mut self, out: Vec<Output>) {
        for output in out {
            if let Output::Send(_, ProtoMessage::FromClient(message)) = output {
                self.send(&message);
            }
        }
    }

    /// Receives one message and sends what is due; returns what was received.
    pub(crate) fn step(&mut self) -> Option<GatewayMessage> {
        let mut out = Vec::new();
        self.client.wake(self.now(), &mut out);
        self.post(out);
        let Ok(Some(Message::Binary(frame))) = next(&mut self.socket) else { return None };
        let message = GatewayMessage::read(&frame).unwrap();
        self.updates += u64::from(matches!(message, GatewayMessage::StateUpdate(_)));
        let mut out = Vec::new();
        let from = Address::Gate(self.client.gate());
        self.client.receive(self.now(), from, message.clone(), &mut out);
        self.post(out);
        Some(message)
    }

    /// Steps until a condition holds.
    pub(crate) fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Binary) -> bool) {
        until(what, || {
            self.step();
            holds(self).then_some(())
        });
    }
}

/// A JSON tool.
pub(crate) struct Tool {
    pub(crate) socket: Socket,
    pub(crate) bytes: u64,
    pub(crate) messages: u64,
}

impl Tool {
    pub(crate) fn open(server: &TestServer, hello: &Value) -> Tool {
        Tool::open_with(server, &hello.to_string())
    }

    /// With this first message.
    pub(crate) fn open_with(server: &TestServer, first: &str) -> Tool {
        let mut socket = socket(server.web(), "/ws?format=json");
        socket.send(Message::text(first)).unwrap();
        Tool { socket, bytes: 0, messages: 0 }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    /// The next text, until the connection ends.
    pub(crate) fn next_text(&mut self) -> Option<String> {
        loop {
            match next(&mut self.socket) {
                Ok(Some(Message::Text(text))) => return Some(text.to_string()),
                Ok(Some(Message::Close(_))) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// The next message that fulfils a condition.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        until(what, || match next(&mut self.socket) {
            Ok(Some(Message::Text(text))) => {
                self.bytes += text.len() as u64;
                self.messages += 1;
                let value: Value = serde_json::from_str(&text).unwrap();
                holds(&value).then_some(value)
            }
            _ => None,
        })
    }

    pub(crate) fn until_type(&mut self, kind: &str) -> Value {
        self.until(kind, |value| value["type"] == kind)
    }
}
