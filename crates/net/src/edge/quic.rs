//! Clients over QUIC: handshake and contents on a stream, messages as datagrams.

use super::connections::{ConnectionSlot, ConnectionTable, Outbound};
use super::rate_limit::{ConnectionLimiter, Verdict};
use super::tls::{Tls, identity};
use super::{Disconnect, EdgeError, EdgeLimits, EdgeState, Rejection, count};
use crate::envelope::{self, EnvelopeError, QUESTION_MAX};
use crate::manifest::{EdgeResponse, Handshake, NodeAssignment, Purpose};
use crate::pending::{NoRoom, PendingSlot};
use bytes::Bytes;
use jostle_proto::{Content, GatewayMessage};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{
    Connection, Endpoint, Incoming, RecvStream, SendDatagramError, SendStream, ServerConfig,
    TransportConfig, VarInt,
};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// Close code: the server shuts down.
pub(super) const CLOSING: VarInt = VarInt::from_u32(1);
/// Close code: rejected; the answer has the reason.
const REJECTED: VarInt = VarInt::from_u32(2);
/// Close code: disconnected by the server; the reason is in the close frame.
const DISCONNECTED: VarInt = VarInt::from_u32(3);
/// Close code: complete.
const DONE: VarInt = VarInt::from_u32(0);

/// Bytes of unsent datagrams: a few, because a newer state update replaces an older one.
const SEND_BUFFER: usize = 8 << 10;

/// Bytes of datagrams received and not handled yet.
const RECEIVE_BUFFER: usize = 64 << 10;

/// Flow control window of the client's stream: one request.
const STREAM_WINDOW: u32 = 2 * QUESTION_MAX as u32;

/// Time between a last message and closing the connection.
const LAST_MESSAGE: Duration = Duration::from_millis(200);

/// Timeout for a message that needs a stream of its own.
const LARGE_MESSAGE_TIMEOUT: Duration = Duration::from_secs(2);

/// Pause while a client exceeds the rate of content requests.
const PACE: Duration = Duration::from_millis(5);

/// Opens the endpoint.
pub(super) fn listen(
    address: SocketAddr,
    tls: &Tls,
    limits: &EdgeLimits,
) -> Result<Endpoint, EdgeError> {
    let crypto = QuicServerConfig::try_from(tls.quic.clone()).map_err(|error| {
        EdgeError::Certificate { place: "QUIC".to_string(), why: error.to_string() }
    })?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(Arc::new(transport(limits)));
    // A client that changes its address connects again, so that a connection belongs to one host.
    config.migration(false);
    config.max_incoming(limits.pending);
    config.incoming_buffer_size_total(4 << 20);
    Endpoint::server(config, address).map_err(|error| EdgeError::Listen { address, error })
}

fn transport(limits: &EdgeLimits) -> TransportConfig {
    let mut transport = TransportConfig::default();
    let idle = u32::try_from(limits.idle.as_millis()).unwrap_or(u32::MAX);
    transport
        .max_idle_timeout(Some(VarInt::from_u32(idle).into()))
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .receive_window(VarInt::from_u32(STREAM_WINDOW))
        .send_window(1 << 20)
        .datagram_receive_buffer_size(Some(RECEIVE_BUFFER))
        .datagram_send_buffer_size(SEND_BUFFER);
    transport
}

/// Accepts connections until the endpoint is closed.
pub(super) async fn serve(edge: Arc<EdgeState>, endpoint: Endpoint) {
    while let Some(incoming) = endpoint.accept().await {
        let remote = incoming.remote_address();
        let pending = edge.connections.quic.count();
        let unvalidated = !incoming.remote_address_validated();
        if unvalidated && incoming.may_retry() && pending >= edge.limits.unvalidated {
            // No state is kept for an unvalidated address.
            let _ = incoming.retry();
            continue;
        }
        match edge.connections.quic.enter(remote) {
            Ok(pending) => {
                tokio::spawn(serve_connection(edge.clone(), incoming, pending));
            }
            Err(NoRoom) => {
                edge.reject(remote, &Rejection::Full);
                incoming.refuse();
            }
        }
    }
}

/// Serves one connection from its first packet to its end.
async fn serve_connection(edge: Arc<EdgeState>, incoming: Incoming, pending: PendingSlot) {
    let remote = incoming.remote_address();
    let arrived = tokio::select! {
        () = pending.displaced() => return edge.reject(remote, &Rejection::Displaced),
        arrived = accept_client(&edge, incoming) => arrived,
    };
    if let Some((connection, handshake, streams)) = arrived {
        serve_purpose(&edge, &connection, handshake, streams, pending).await;
    }
}

/// TLS handshake, then our own handshake with authorization; both with timeouts.
async fn accept_client(
    edge: &EdgeState,
    incoming: Incoming,
) -> Option<(Connection, Handshake, Streams)> {
    let remote = incoming.remote_address();
    let tls_handshake = edge.limits.tls_handshake;
    let connecting = incoming.accept().ok()?;
    let connection = match timeout(tls_handshake, connecting).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => {
            edge.reject(remote, &Rejection::Tls(error.to_string()));
            return None;
        }
        Err(_) => {
            edge.reject(remote, &Rejection::Late(tls_handshake));
            return None;
        }
    };
    match timeout(edge.limits.handshake, handshake(edge, &connection)).await {
        Ok(Ok((handshake, streams))) => return Some((connection, handshake, streams)),
        Ok(Err((rejection, stream))) => {
            edge.reject(remote, &rejection);
            refuse(&connection, stream, &rejection).await;
        }
        Err(_) => {
            let late = Rejection::Late(edge.limits.handshake);
            edge.reject(remote, &late);
            connection.close(REJECTED, late.to_string().as_bytes());
        }
    }
    None
}

type Streams = (SendStream, RecvStream);

/// Receives and authorizes the handshake.
async fn handshake(
    edge: &EdgeState,
    connection: &Connection,
) -> Result<(Handshake, Streams), (Rejection, Option<SendStream>)> {
    let unreadable = |error: &dyn std::fmt::Display| Rejection::Unreadable(error.to_string());
    let (send, mut receive) =
        connection.accept_bi().await.map_err(|error| (unreadable(&error), None))?;
    let bytes = match envelope::receive_bytes(&mut receive, QUESTION_MAX).await {
        Ok(bytes) => bytes,
        Err(error) => return Err((unreadable(&error), Some(send))),
    };
    let handshake = EdgeState::read_handshake(&bytes).and_then(|handshake| {
        edge.connections.check_handshake(connection.remote_address())?;
        edge.authorize(&handshake, identity(connection))?;
        Ok(handshake)
    });
    match handshake {
        Ok(handshake) => Ok((handshake, (send, receive))),
        Err(rejection) => Err((rejection, Some(send))),
    }
}

async fn refuse(connection: &Connection, stream: Option<SendStream>, rejection: &Rejection) {
    if let Some(mut stream) = stream {
        finish(&mut stream, &EdgeResponse::Rejected(rejection.to_string())).await;
    }
    connection.close(REJECTED, rejection.to_string().as_bytes());
}

/// Sends a last answer and waits briefly for its delivery.
async fn finish(stream: &mut SendStream, answer: &EdgeResponse) {
    let last = async {
        // Delivery is not required.
        if envelope::send(stream, answer).await.is_ok() && stream.finish().is_ok() {
            let _ = stream.stopped().await;
        }
    };
    let _ = timeout(LARGE_MESSAGE_TIMEOUT, last).await;
}

async fn serve_purpose(
    edge: &Arc<EdgeState>,
    connection: &Connection,
    handshake: Handshake,
    (mut send, receive): Streams,
    pending: PendingSlot,
) {
    let remote = connection.remote_address();
    if !matches!(handshake.purpose, Purpose::Status | Purpose::Play) {
        pending.authenticated();
    }
    if let Some(answer) = replica_answer(edge, &handshake.purpose).await {
        let goes_on = matches!(answer, EdgeResponse::Bootstrap(_));
        if goes_on && envelope::send(&mut send, &answer).await.is_ok() {
            let questions = ConnectionLimiter::new(edge.now(), &edge.limits);
            let _ = contents(edge, (send, receive), questions).await;
        } else {
            finish(&mut send, &answer).await;
        }
        return connection.close(DONE, b"");
    }
    match handshake.purpose {
        Purpose::Replicate { .. } | Purpose::Change(_) => {
            let rejection =
                Rejection::Work("this world has one directory, without replicas".into());
            edge.reject(remote, &rejection);
            refuse(connection, Some(send), &rejection).await;
        }
        Purpose::Status => {
            finish(&mut send, &EdgeResponse::Status((edge.services.status)())).await;
            connection.close(DONE, b"");
        }
        Purpose::Join { name, followers } => match admit(edge, remote, name, followers).await {
            Ok(place) => {
                tracing::debug!(%remote, "node {} admitted", place.node);
                let manifest = Box::new(edge.services.manifest.clone());
                if envelope::send(&mut send, &EdgeResponse::Assigned(manifest, place)).await.is_ok()
                {
                    let questions = ConnectionLimiter::new(edge.now(), &edge.limits);
                    let _ = contents(edge, (send, receive), questions).await;
                }
                connection.close(DONE, b"");
            }
            Err(why) => {
                let rejection = Rejection::Work(why);
                edge.reject(remote, &rejection);
                refuse(connection, Some(send), &rejection).await;
            }
        },
        Purpose::Play => {
            let outbound = Outbound::Datagrams(Datagrams::new(connection.clone()));
            match ConnectionTable::register(&edge.connections, remote, outbound) {
                Ok(slot) => {
                    drop(pending);
                    serve_client(edge, connection, &slot, (send, receive)).await;
                }
                Err(rejection) => {
                    edge.reject(remote, &rejection);
                    refuse(connection, Some(send), &rejection).await;
                }
            }
        }
    }
}

/// Admits a node, on a thread that may block: its number is written to the disk.
async fn admit(
    edge: &Arc<EdgeState>,
    remote: SocketAddr,
    name: u64,
    followers: u32,
) -> Result<NodeAssignment, String> {
    let edge = edge.clone();
    let call = move || (edge.services.admit)(remote, name, followers);
    let failed = |_| "the node could not be admitted: internal error".to_string();
    tokio::task::spawn_blocking(call).await.map_err(failed)?
}

/// Answers about directory replicas, on a thread that may block.
async fn replica_answer(edge: &Arc<EdgeState>, purpose: &Purpose) -> Option<EdgeResponse> {
    let concerns_replicas =
        matches!(purpose, Purpose::Join { .. } | Purpose::Replicate { .. } | Purpose::Change(_));
    if !concerns_replicas || edge.services.replicas.is_none() {
        return None;
    }
    let (edge, purpose) = (edge.clone(), purpose.clone());
    let call = move || edge.services.replicas.as_ref().and_then(|handler| handler(&purpose));
    tokio::task::spawn_blocking(call).await.ok().flatten()
}

/// Serves an accepted client until either side closes the connection.
async fn serve_client(
    edge: &EdgeState,
    connection: &Connection,
    slot: &ConnectionSlot,
    (mut send, receive): Streams,
) {
    let remote = connection.remote_address();
    if envelope::send(&mut send, &EdgeResponse::Manifest(edge.services.manifest.clone()))
        .await
        .is_err()
    {
        return;
    }
    let questions = ConnectionLimiter::new(edge.now(), &edge.limits);
    let requests = async {
        match contents(edge, (send, receive), questions).await {
            Some(why) => why,
            // A client that closes its content stream stays connected.
            None => std::future::pending().await,
        }
    };
    let why = tokio::select! {
        why = receive_messages(edge, connection, slot) => why,
        why = requests => Some(why),
    };
    if let Some(why) = why {
        let why = why.to_string();
        edge.disconnected(remote, &why);
        connection.close(DISCONNECTED, why.as_bytes());
    }
}

/// Passes datagrams to the gateway until the connection ends, or has to be closed.
async fn receive_messages(
    edge: &EdgeState,
    connection: &Connection,
    slot: &ConnectionSlot,
) -> Option<Disconnect> {
    let mut limiter = ConnectionLimiter::new(edge.now(), &edge.limits);
    loop {
        let message = match timeout(edge.limits.idle, connection.read_datagram()).await {
            Ok(Ok(message)) => message,
            Ok(Err(_)) => return None,
            Err(_) => return Some(Disconnect::Silent(edge.limits.idle)),
        };
        if let Verdict::Disconnect(why) = edge.receive(slot, &mut limiter, &message) {
            return Some(why);
        }
    }
}

/// Serves content requests one after the other, at no more than the message rate. Returns a reason
/// if the client is to be disconnected, and `None` when the stream ends.
async fn contents(
    edge: &EdgeState,
    (mut send, mut receive): Streams,
    mut limiter: ConnectionLimiter,
) -> Option<Disconnect> {
    loop {
        let content: Content = match envelope::receive(&mut receive, QUESTION_MAX).await {
            Ok(content) => content,
            Err(EnvelopeError::Ended(_) | EnvelopeError::Unwritable(_)) => return None,
            Err(EnvelopeError::Long { .. } | EnvelopeError::Unreadable { .. }) => {
                count(&edge.counters.malformed, 1);
                return Some(Disconnect::Content);
            }
        };
        while limiter.check(edge.now(), size_of::<Content>()) != Verdict::Accept {
            tokio::time::sleep(PACE).await;
        }
        let bytes = edge.services.contents.get(content).cloned();
        if envelope::send_content(&mut send, bytes).await.is_err() {
            return None;
        }
    }
}

/// The sending side of a QUIC connection.
pub(super) struct Datagrams {
    connection: Connection,
    /// The newest message too large for a datagram, while another one is being sent.
    large: Arc<Mutex<Large>>,
}

#[derive(Default)]
struct Large {
    next: Option<Bytes>,
    busy: bool,
}

impl Datagrams {
    fn new(connection: Connection) -> Datagrams {
        Datagrams { connection, large: Arc::default() }
    }

    /// Sends a message as a datagram, or drops it. When the send buffer is full, quinn drops the
    /// oldest.
    pub(super) fn send(&self, edge: &Arc<EdgeState>, message: &GatewayMessage) {
        let Ok(frame) = message.write() else { return count(&edge.counters.lost, 1) };
        let frame = Bytes::from(frame);
        let bytes = frame.len();
        match self.connection.send_datagram(frame.clone()) {
            Ok(()) => edge.sent(bytes),
            Err(SendDatagramError::TooLarge) => self.send_large(edge, frame),
            Err(_) => count(&edge.counters.lost, 1),
        }
    }

    /// Sends a message on a stream of its own.
    fn send_large(&self, edge: &Arc<EdgeState>, frame: Bytes) {
        let mut large = self.large.lock().unwrap_or_else(PoisonError::into_inner);
        if large.next.replace(frame).is_some() {
            count(&edge.counters.lost, 1);
        }
        if std::mem::replace(&mut large.busy, true) {
            return;
        }
        drop(large);
        let (connection, large) = (self.connection.clone(), self.large.clone());
        edge.runtime.spawn(send_all_large(edge.clone(), connection, large));
    }

    /// Closes the connection after its last message has been sent.
    pub(super) fn close_soon(&self, edge: &EdgeState, why: String) {
        let connection = self.connection.clone();
        edge.runtime.spawn(async move {
            tokio::time::sleep(LAST_MESSAGE).await;
            connection.close(DISCONNECTED, why.as_bytes());
        });
    }
}

async fn send_all_large(edge: Arc<EdgeState>, connection: Connection, large: Arc<Mutex<Large>>) {
    loop {
        let next = {
            let mut large = large.lock().unwrap_or_else(PoisonError::into_inner);
            let next = large.next.take();
            large.busy = next.is_some();
            next
        };
        let Some(frame) = next else { return };
        let bytes = frame.len();
        let sent = timeout(LARGE_MESSAGE_TIMEOUT, async {
            let mut stream = connection.open_uni().await.ok()?;
            stream.write_chunk(frame).await.ok()?;
            stream.finish().ok()
        });
        match sent.await {
            Ok(Some(())) => edge.sent(bytes),
            Ok(None) | Err(_) => count(&edge.counters.lost, 1),
        }
    }
}
