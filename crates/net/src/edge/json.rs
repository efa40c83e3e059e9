//! A WebSocket that speaks JSON, for small tools: the server runs the client state machine for
//! them, under the same limits as for other clients.

use super::connections::{ConnectionSlot, ConnectionTable, Outbound};
use super::json_messages::{self as messages, JsonMessage, JsonRequest};
use super::outbound::OutboundQueue;
use super::rate_limit::{ConnectionLimiter, Verdict};
use super::web::HttpPeer;
use super::websocket::{Flow, broken, close, finish, first_message, send_message};
use super::{Disconnect, EdgeState, PeerIdentity, Rejection};
use crate::manifest::{Handshake, PROTOCOL, Purpose};
use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use jostle_proto::client::{Credential, Refusal};
use jostle_proto::{
    Address, Allowance, Client, ClientSettings, GatewayMessage, Message as ProtoMessage, Output,
    RateLimiter, Span, Time,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep_until;

/// World messages per second if the tool does not ask for a rate.
const RATE: u32 = 10;

/// Error messages: fewer than the malformed messages that cause them, so that these cannot be used
/// to amplify traffic.
const ERRORS: Allowance = Allowance { per_second: 1, most: 10 };

/// What is accepted after the hello.
const EXPECTED: &str = "{\"type\": \"steer\", \"velocity\": [x, y, z], \"spin\": [x, y, z]} or \
                        {\"type\": \"bye\"}";

/// The first message of a tool.
struct Hello {
    credential: Option<Credential>,
    rate: u32,
}

/// A connection of a tool, with the client state machine that the server runs for it.
struct JsonClient<'a> {
    edge: &'a EdgeState,
    socket: &'a mut WebSocket,
    slot: &'a ConnectionSlot,
    client: Client,
    limiter: ConnectionLimiter,
    errors: RateLimiter,
    /// Interval between world messages.
    every: Span,
    next_world: Time,
}

/// Serves one connection from its hello to its end.
pub(super) async fn serve(edge: Arc<EdgeState>, mut socket: WebSocket, peer: HttpPeer) {
    let remote = peer.remote;
    let outbound = Arc::new(OutboundQueue::default());
    let entered = match hello(&edge, &mut socket, &peer).await {
        Ok(hello) => {
            ConnectionTable::register(&edge.connections, remote, Outbound::Queue(outbound.clone()))
                .map(|slot| (hello, slot))
        }
        Err(rejection) => Err(rejection),
    };
    let (hello, slot) = match entered {
        Ok(entered) => entered,
        Err(rejection) => {
            edge.reject(remote, &rejection);
            let why = rejection.to_string();
            send_json(&edge, &mut socket, &JsonMessage::Refused { why: &why }).await;
            return close(&mut socket, &why).await;
        }
    };
    drop(peer.pending);
    let gates = vec![edge.services.manifest.gate];
    let shapes = edge.services.shapes.clone();
    let client = Client::new(slot.client, gates, shapes, ClientSettings::default());
    let mut player = JsonClient {
        edge: &edge,
        socket: &mut socket,
        slot: &slot,
        client: client.with_credential(hello.credential),
        limiter: ConnectionLimiter::new(edge.now(), &edge.limits),
        errors: RateLimiter::full(edge.now(), ERRORS),
        every: Span(1_000_000 / u64::from(hello.rate.max(1))),
        next_world: Time(0),
    };
    let why = player.run(&outbound).await;
    finish(&edge, &mut socket, remote, why).await;
}

async fn hello(
    edge: &EdgeState,
    socket: &mut WebSocket,
    peer: &HttpPeer,
) -> Result<Hello, Rejection> {
    let unreadable = |why: String| Rejection::Unreadable(why);
    let Message::Text(text) = first_message(edge, socket, peer).await? else {
        return Err(unreadable("the first message must be text".to_string()));
    };
    // The error text of serde may quote a token, and this one is logged.
    let expected = "expected {\"type\": \"hello\"} as the first message";
    let wrong = |error: serde_json::Error| {
        let what = messages::problem(&error);
        unreadable(format!("{what} at column {}; {expected}", error.column()))
    };
    let JsonRequest::Hello { token, credential, rate } =
        serde_json::from_str(&text).map_err(wrong)?
    else {
        return Err(unreadable(expected.to_string()));
    };
    edge.connections.check_handshake(peer.remote)?;
    let token = token.unwrap_or_default();
    let handshake = Handshake { protocol: PROTOCOL, token, purpose: Purpose::Play };
    edge.authorize(&handshake, PeerIdentity::Anonymous)?;
    let credential = match credential {
        None => None,
        Some(text) => match messages::credential(&text) {
            None => return Err(unreadable("the credential is not one".to_string())),
            credential => credential,
        },
    };
    let most = edge.services.manifest.rate.max(1);
    Ok(Hello { credential, rate: rate.unwrap_or(RATE).clamp(1, most) })
}

async fn send_json(edge: &EdgeState, socket: &mut WebSocket, reply: &JsonMessage<'_>) -> bool {
    let Ok(text) = serde_json::to_string(reply) else { return false };
    let bytes = text.len();
    let sent_ok = send_message(socket, Message::Text(text.into())).await;
    if sent_ok {
        edge.sent(bytes);
    }
    sent_ok
}

fn until(now: Time, then: Time) -> Duration {
    Duration::from_micros((then - now).0)
}

impl JsonClient<'_> {
    /// Runs until the connection ends; returns a reason if the server has to close it.
    async fn run(&mut self, outbound: &OutboundQueue) -> Option<Disconnect> {
        let mut last_received = tokio::time::Instant::now();
        let half = self.edge.limits.idle / 2;
        let mut ping = last_received + half;
        loop {
            if !self.wake().await {
                return None;
            }
            let now = self.edge.now();
            let wake = self.client.wake_at().min(self.next_world);
            let wake = tokio::time::Instant::now() + until(now, wake);
            let silent = last_received + self.edge.limits.idle;
            let next = tokio::select! {
                message = outbound.next() => self.handle_gateway(message).await,
                message = self.socket.recv() => {
                    last_received = tokio::time::Instant::now();
                    self.handle_request(message).await
                }
                () = sleep_until(wake) => Flow::Continue,
                // A tool that sends nothing answers pings by itself.
                () = sleep_until(ping) => {
                    ping += half;
                    let sent_ok = send_message(self.socket, Message::Ping(Bytes::new())).await;
                    if sent_ok { Flow::Continue } else { Flow::Closed }
                }
                () = sleep_until(silent) => {
                    Flow::Disconnect(Disconnect::Silent(self.edge.limits.idle))
                }
            };
            if let Some(end) = next.end() {
                return end;
            }
        }
    }

    /// Sends what is due: client messages to the gateway, world and contacts to the tool.
    async fn wake(&mut self) -> bool {
        let now = self.edge.now();
        let mut out = Vec::new();
        self.client.wake(now, &mut out);
        self.forward(out);
        for change in self.client.take_contacts() {
            if !send_json(self.edge, self.socket, &messages::contact(&change)).await {
                return false;
            }
        }
        if now < self.next_world {
            return true;
        }
        self.next_world = now + self.every;
        match messages::world(&mut self.client, now).filter(|_| self.client.is_active()) {
            Some(world) => send_json(self.edge, self.socket, &world).await,
            None => true,
        }
    }

    fn forward(&self, out: Vec<Output>) {
        for output in out {
            if let Output::Send(_, ProtoMessage::FromClient(message)) = output {
                (self.edge.services.deliver)(self.slot.client, message);
            }
        }
    }

    /// Handles a message of the gateway.
    async fn handle_gateway(&mut self, message: GatewayMessage) -> Flow {
        let current = message.attempt() == self.client.attempt();
        let was_active = self.client.is_active();
        let mut out = Vec::new();
        let from = Address::Gate(self.client.gate());
        self.client.receive(self.edge.now(), from, message.clone(), &mut out);
        self.forward(out);
        if !current {
            return Flow::Continue;
        }
        let manifest = &self.edge.services.manifest;
        let (reply, next) = match &message {
            GatewayMessage::Welcome(welcome) if !was_active => {
                (messages::welcome(&manifest.world, &manifest.forms, welcome), Flow::Continue)
            }
            GatewayMessage::Correct { input, reason, .. } => {
                (messages::correct(input, *reason), Flow::Continue)
            }
            GatewayMessage::Kicked { reason, .. } => {
                (JsonMessage::Kicked { why: messages::reason(*reason) }, Flow::Closed)
            }
            // The state machine sends a new hello by itself.
            GatewayMessage::Refused { why: Refusal::Unknown, .. } => return Flow::Continue,
            GatewayMessage::Refused { why, .. } => {
                // Two connections with the same credential would take over the avatar from each
                // other forever.
                let next = if *why == Refusal::Replaced { Flow::Closed } else { Flow::Continue };
                (JsonMessage::Refused { why: messages::refusal(*why) }, next)
            }
            GatewayMessage::Welcome(_) | GatewayMessage::StateUpdate(_) => return Flow::Continue,
        };
        let sent_ok = send_json(self.edge, self.socket, &reply).await;
        if sent_ok { next } else { Flow::Closed }
    }

    /// Handles a message of the tool.
    async fn handle_request(&mut self, message: Option<Result<Message, axum::Error>>) -> Flow {
        let edge = self.edge;
        let text = match message {
            None | Some(Ok(Message::Close(_))) => return Flow::Closed,
            Some(Err(error)) => return broken(edge, &error),
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Ping(bytes) | Message::Pong(bytes))) => {
                return verdict(edge.check_rate(&mut self.limiter, bytes.len()));
            }
            Some(Ok(Message::Binary(bytes))) => {
                return match edge.check_rate(&mut self.limiter, bytes.len()) {
                    Verdict::Accept => self.malformed("a binary message; JSON is text").await,
                    passed => verdict(passed),
                };
            }
        };
        match edge.check_rate(&mut self.limiter, text.len()) {
            Verdict::Accept => {}
            passed => return verdict(passed),
        }
        match serde_json::from_str(&text) {
            Ok(JsonRequest::Steer { velocity, spin }) => {
                let (velocity, spin) = (messages::whole(velocity), messages::whole(spin));
                self.client.steer(edge.now(), velocity, spin);
                Flow::Continue
            }
            Ok(JsonRequest::Bye) => {
                let mut out = Vec::new();
                self.client.bye(&mut out);
                self.forward(out);
                Flow::Closed
            }
            Ok(JsonRequest::Hello { .. }) => self.malformed("a second hello").await,
            // The error goes to the sender only, not to the log.
            Err(error) => self.malformed(&error.to_string()).await,
        }
    }

    /// Counts a malformed message, and answers it within the limit.
    async fn malformed(&mut self, what: &str) -> Flow {
        let counted = verdict(self.edge.malformed(&mut self.limiter));
        if !matches!(counted, Flow::Continue) || !self.errors.take(self.edge.now(), 1, ERRORS) {
            return counted;
        }
        let why = messages::shortened(what);
        let sent_ok =
            send_json(self.edge, self.socket, &JsonMessage::Error { why, expected: EXPECTED })
                .await;
        if sent_ok { Flow::Continue } else { Flow::Closed }
    }
}

fn verdict(verdict: Verdict) -> Flow {
    match verdict {
        Verdict::Accept | Verdict::Drop => Flow::Continue,
        Verdict::Disconnect(why) => Flow::Disconnect(why),
    }
}
