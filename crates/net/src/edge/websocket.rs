//! Client messages over a WebSocket: a handshake, an answer, then the same frames as in datagrams.

use super::connections::{ConnectionSlot, ConnectionTable, Outbound};
use super::outbound::OutboundQueue;
use super::rate_limit::{ConnectionLimiter, Verdict};
use super::web::HttpPeer;
use super::{Disconnect, EdgeState, PeerIdentity, Rejection, count};
use crate::manifest::{EdgeResponse, Handshake, Purpose};
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use jostle_proto::GatewayMessage;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep_until, timeout};

/// Write timeout, after which the peer counts as gone.
const SLOW: Duration = Duration::from_secs(5);

/// Sends a message; returns false after a timeout or an error.
pub(super) async fn send_message(socket: &mut WebSocket, message: Message) -> bool {
    matches!(timeout(SLOW, socket.send(message)).await, Ok(Ok(())))
}

/// Closes the WebSocket with a reason.
pub(super) async fn close(socket: &mut WebSocket, why: &str) {
    let frame = CloseFrame { code: close_code::POLICY, reason: why.into() };
    send_message(socket, Message::Close(Some(frame))).await;
}

async fn answer(socket: &mut WebSocket, answer: &EdgeResponse) -> bool {
    match postcard::to_allocvec(answer) {
        Ok(bytes) => send_message(socket, Message::Binary(bytes.into())).await,
        Err(_) => false,
    }
}

/// The first message, with a timeout.
pub(super) async fn first_message(
    edge: &EdgeState,
    socket: &mut WebSocket,
    peer: &HttpPeer,
) -> Result<Message, Rejection> {
    let message = tokio::select! {
        () = peer.pending.displaced() => return Err(Rejection::Displaced),
        message = timeout(edge.limits.handshake, socket.recv()) => message,
    };
    match message {
        Ok(Some(Ok(message))) => Ok(message),
        Ok(Some(Err(error))) => Err(Rejection::Unreadable(error.to_string())),
        Ok(None) => Err(Rejection::Unreadable("the connection was closed".to_string())),
        Err(_) => Err(Rejection::Late(edge.limits.handshake)),
    }
}

/// Serves one connection from its handshake to its end.
pub(super) async fn serve(edge: Arc<EdgeState>, mut socket: WebSocket, peer: HttpPeer) {
    let remote = peer.remote;
    let outbound = Arc::new(OutboundQueue::default());
    let entered = match enter(&edge, &mut socket, &peer).await {
        Ok(Purpose::Status) => {
            answer(&mut socket, &EdgeResponse::Status((edge.services.status)())).await;
            return close(&mut socket, "done").await;
        }
        Ok(Purpose::Join { .. } | Purpose::Replicate { .. } | Purpose::Change(_)) => {
            Err(Rejection::Work("nodes connect by QUIC".to_string()))
        }
        Ok(Purpose::Play) => {
            ConnectionTable::register(&edge.connections, remote, Outbound::Queue(outbound.clone()))
        }
        Err(rejection) => Err(rejection),
    };
    let slot = match entered {
        Ok(slot) => slot,
        Err(rejection) => {
            edge.reject(remote, &rejection);
            answer(&mut socket, &EdgeResponse::Rejected(rejection.to_string())).await;
            return close(&mut socket, &rejection.to_string()).await;
        }
    };
    drop(peer.pending);
    if !answer(&mut socket, &EdgeResponse::Manifest(edge.services.manifest.clone())).await {
        return;
    }
    let why = exchange_messages(&edge, &mut socket, &slot, &outbound).await;
    finish(&edge, &mut socket, remote, why).await;
}

async fn enter(
    edge: &EdgeState,
    socket: &mut WebSocket,
    peer: &HttpPeer,
) -> Result<Purpose, Rejection> {
    let Message::Binary(bytes) = first_message(edge, socket, peer).await? else {
        return Err(Rejection::Unreadable("the first message must be binary".to_string()));
    };
    let handshake: Handshake = EdgeState::read_handshake(&bytes)?;
    edge.connections.check_handshake(peer.remote)?;
    edge.authorize(&handshake, PeerIdentity::Anonymous)?;
    Ok(handshake.purpose)
}

/// What happens to a connection after a message.
pub(super) enum Flow {
    Continue,
    /// The connection has ended.
    Closed,
    Disconnect(Disconnect),
}

impl Flow {
    /// Whether the connection ends, and for which reason, if the server has to close it.
    pub(super) fn end(self) -> Option<Option<Disconnect>> {
        match self {
            Flow::Continue => None,
            Flow::Closed => Some(None),
            Flow::Disconnect(why) => Some(Some(why)),
        }
    }
}

/// Closes a connection for a reason, if there is one.
pub(super) async fn finish(
    edge: &EdgeState,
    socket: &mut WebSocket,
    remote: SocketAddr,
    why: Option<Disconnect>,
) {
    if let Some(why) = why {
        let why = why.to_string();
        edge.disconnected(remote, &why);
        close(socket, &why).await;
    }
}

/// Passes messages both ways until the connection ends; returns a reason if the server has to close
/// it.
async fn exchange_messages(
    edge: &EdgeState,
    socket: &mut WebSocket,
    slot: &ConnectionSlot,
    outbound: &OutboundQueue,
) -> Option<Disconnect> {
    let mut limiter = ConnectionLimiter::new(edge.now(), &edge.limits);
    let mut last_received = tokio::time::Instant::now();
    loop {
        let next = tokio::select! {
            message = outbound.next() => send(edge, socket, &message).await,
            message = socket.recv() => {
                last_received = tokio::time::Instant::now();
                handle_message(edge, slot, &mut limiter, message)
            }
            () = sleep_until(last_received + edge.limits.idle) => {
                Flow::Disconnect(Disconnect::Silent(edge.limits.idle))
            }
        };
        if let Some(end) = next.end() {
            return end;
        }
    }
}

async fn send(edge: &EdgeState, socket: &mut WebSocket, message: &GatewayMessage) -> Flow {
    let Ok(frame) = message.write() else {
        count(&edge.counters.lost, 1);
        return Flow::Continue;
    };
    let bytes = frame.len();
    if !send_message(socket, Message::Binary(frame.into())).await {
        count(&edge.counters.lost, 1);
        return Flow::Closed;
    }
    edge.sent(bytes);
    if matches!(message, GatewayMessage::Kicked { .. }) {
        close(socket, "too many rejected inputs").await;
        return Flow::Closed;
    }
    Flow::Continue
}

fn handle_message(
    edge: &EdgeState,
    slot: &ConnectionSlot,
    limiter: &mut ConnectionLimiter,
    message: Option<Result<Message, axum::Error>>,
) -> Flow {
    let verdict = match message {
        None | Some(Ok(Message::Close(_))) => return Flow::Closed,
        Some(Err(error)) => return broken(edge, &error),
        Some(Ok(Message::Binary(frame))) => edge.receive(slot, limiter, &frame),
        Some(Ok(Message::Ping(bytes) | Message::Pong(bytes))) => {
            edge.check_rate(limiter, bytes.len())
        }
        Some(Ok(Message::Text(text))) => match edge.check_rate(limiter, text.len()) {
            Verdict::Accept => edge.malformed(limiter),
            verdict => verdict,
        },
    };
    match verdict {
        Verdict::Accept | Verdict::Drop => Flow::Continue,
        Verdict::Disconnect(why) => Flow::Disconnect(why),
    }
}

/// The connection was cut, or a frame was malformed or too long.
pub(super) fn broken(edge: &EdgeState, error: &axum::Error) -> Flow {
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(error) = cause {
        if error.is::<std::io::Error>() {
            return Flow::Closed;
        }
        cause = error.source();
    }
    let words = error.to_string();
    if words.contains("without closing handshake") {
        return Flow::Closed;
    }
    count(&edge.counters.malformed, 1);
    if words.contains("Space limit exceeded") {
        Flow::Disconnect(Disconnect::TooLong)
    } else {
        Flow::Disconnect(Disconnect::NotWebSocket)
    }
}
