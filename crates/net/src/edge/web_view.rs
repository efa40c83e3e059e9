//! The WebSocket of viewers at `/view`: docs/view-protocol.md. Messages wait in the viewer's queue,
//! of frames only the newest; requests are rate-limited before they are decoded.

use super::connections::{ConnectionSlot, ConnectionTable, Outbound};
use super::rate_limit::{ConnectionLimiter, Verdict};
use super::web::HttpPeer;
use super::websocket::{Flow, broken, close, finish, first_message, send_message};
use super::{Disconnect, EdgeLimits, EdgeState, PeerIdentity, Rejection, count};
use crate::manifest::{Handshake, PROTOCOL, Purpose};
use crate::view::{RayQuery, Topic, ViewHub, ViewMessage, ViewRequest, Viewer, ViewerSlot};
use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use glam::DVec3;
use jostle_geom::Ray;
use jostle_proto::ObjectId;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep_until, timeout};

/// Write timeout. Longer than for client messages: a whole world is large, and nothing waits for
/// it.
const SLOW: Duration = Duration::from_secs(20);

/// Interval of status messages.
const STATUS: Duration = Duration::from_secs(1);

/// Largest clearance that can be queried, in metres.
const CLEARANCE_MAX: f64 = 5.0;

/// Serves one connection from its hello to its end.
pub(super) async fn serve(edge: Arc<EdgeState>, mut socket: WebSocket, peer: HttpPeer) {
    let remote = peer.remote;
    let (hub, _seat, place) = match enter(&edge, &mut socket, &peer).await {
        Ok(entered) => entered,
        Err(rejection) => {
            edge.reject(remote, &rejection);
            let why = rejection.to_string();
            send_message(&mut socket, ViewMessage::Refused { why: &why }.message()).await;
            return close(&mut socket, &why).await;
        }
    };
    drop(peer.pending);
    let why = exchange_messages(&edge, &mut socket, &hub, &place.viewer).await;
    finish(&edge, &mut socket, remote, why).await;
}

async fn enter(
    edge: &EdgeState,
    socket: &mut WebSocket,
    peer: &HttpPeer,
) -> Result<(Arc<ViewHub>, ConnectionSlot, ViewerSlot), Rejection> {
    let Message::Text(text) = first_message(edge, socket, peer).await? else {
        return Err(Rejection::Unreadable("the first message must be text".to_string()));
    };
    // The error text of serde may quote a token.
    let Ok(ViewRequest::Hello { token }) = serde_json::from_str(&text) else {
        return Err(Rejection::Unreadable(
            "expected {\"type\": \"hello\"} as the first message".to_string(),
        ));
    };
    edge.connections.check_handshake(peer.remote)?;
    let token = token.unwrap_or_default();
    let handshake = Handshake { protocol: PROTOCOL, token, purpose: Purpose::Status };
    edge.authorize(&handshake, PeerIdentity::Anonymous)?;
    let hub = edge.services.view.clone().ok_or(Rejection::Unseen)?;
    let slot = ConnectionTable::register(&edge.connections, peer.remote, Outbound::ViewOnly)?;
    let place = hub.enter(edge.limits.viewers).ok_or(Rejection::Full)?;
    Ok((hub, slot, place))
}

/// Runs until the connection ends; returns a reason if the server has to close it.
async fn exchange_messages(
    edge: &EdgeState,
    socket: &mut WebSocket,
    hub: &Arc<ViewHub>,
    viewer: &Arc<Viewer>,
) -> Option<Disconnect> {
    let limits = EdgeLimits { messages: edge.limits.questions, ..edge.limits };
    let mut limiter = ConnectionLimiter::new(edge.now(), &limits);
    let mut last_received = tokio::time::Instant::now();
    let half = edge.limits.idle / 2;
    let (mut ping, mut status) = (last_received + half, last_received);
    loop {
        let next = tokio::select! {
            // Reading comes first, so that a flood is noticed before anything is sent.
            biased;
            message = socket.recv() => {
                last_received = tokio::time::Instant::now();
                handle_message(edge, hub, viewer, &mut limiter, message)
            }
            () = sleep_until(status) => {
                status = tokio::time::Instant::now() + STATUS;
                viewer.put_news(Topic::Status, hub.status(|| (edge.services.status)()));
                Flow::Continue
            }
            message = viewer.next() => {
                let begin = tokio::time::Instant::now();
                let next = send(edge, socket, message).await;
                if begin.elapsed() > STATUS {
                    // During a slow write no pong could arrive.
                    last_received = tokio::time::Instant::now();
                }
                next
            }
            // A viewer that sends nothing answers pings by itself.
            () = sleep_until(ping) => {
                ping = tokio::time::Instant::now() + half;
                send(edge, socket, Message::Ping(Bytes::new())).await
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

async fn send(edge: &EdgeState, socket: &mut WebSocket, message: Message) -> Flow {
    let bytes = match &message {
        Message::Text(text) => text.len(),
        Message::Binary(bytes) => bytes.len(),
        _ => 0,
    };
    match timeout(SLOW, socket.send(message)).await {
        Ok(Ok(())) => {
            edge.sent(bytes);
            Flow::Continue
        }
        Ok(Err(_)) => Flow::Closed,
        Err(_) => {
            count(&edge.counters.lost, 1);
            Flow::Closed
        }
    }
}

fn handle_message(
    edge: &EdgeState,
    hub: &Arc<ViewHub>,
    viewer: &Arc<Viewer>,
    limiter: &mut ConnectionLimiter,
    message: Option<Result<Message, axum::Error>>,
) -> Flow {
    let (bytes, text) = match message {
        None | Some(Ok(Message::Close(_))) => return Flow::Closed,
        Some(Err(error)) => return broken(edge, &error),
        Some(Ok(Message::Text(text))) => (text.len(), Some(text)),
        Some(Ok(Message::Binary(bytes))) => (bytes.len(), None),
        Some(Ok(Message::Ping(bytes) | Message::Pong(bytes))) => {
            return match edge.check_rate(limiter, bytes.len()) {
                Verdict::Accept | Verdict::Drop => Flow::Continue,
                Verdict::Disconnect(why) => Flow::Disconnect(why),
            };
        }
    };
    match edge.check_rate(limiter, bytes) {
        Verdict::Accept => {}
        Verdict::Drop => return Flow::Continue,
        Verdict::Disconnect(why) => return Flow::Disconnect(why),
    }
    let request = text.and_then(|text| serde_json::from_str(&text).ok());
    match request.and_then(|request| dispatch(hub, viewer, request)) {
        Some(()) => Flow::Continue,
        None => {
            edge.malformed(limiter);
            Flow::Disconnect(Disconnect::Question)
        }
    }
}

/// Parses ids; `None` if one is malformed.
fn ids(texts: &[String]) -> Option<Vec<ObjectId>> {
    texts.iter().map(|text| Some(ObjectId(text.parse().ok()?))).collect()
}

/// Passes a request on; `None` if it is invalid.
fn dispatch(hub: &Arc<ViewHub>, viewer: &Arc<Viewer>, request: ViewRequest) -> Option<()> {
    match request {
        ViewRequest::Hello { .. } => return None,
        ViewRequest::Pick { origin, direction, through, hidden, only } => {
            let [origin, direction] = [origin, direction].map(DVec3::from_array);
            let ray = Ray::new(origin, direction, f64::INFINITY).ok();
            let (hidden, only) = (ids(&hidden)?, ids(&only)?);
            hub.pick(viewer, ray.map(|ray| RayQuery { ray, through, hidden, only }));
        }
        ViewRequest::Select { id } => {
            let selected = match id {
                Some(id) => Some(ObjectId(id.parse().ok()?)),
                None => None,
            };
            viewer.set_interest(|interest| interest.selected = selected);
            hub.interest_changed();
        }
        ViewRequest::Clearance { metres } => {
            // A clearance of zero turns the query off.
            let clearance = metres.filter(|metres| *metres > 0.0);
            let clearance = clearance.map(|metres| metres.min(CLEARANCE_MAX));
            viewer.set_interest(|interest| interest.clearance = clearance);
            hub.interest_changed();
        }
        ViewRequest::Static { clearance } => {
            let clearance = clearance.filter(|metres| *metres > 0.0);
            hub.find_static(viewer, clearance.map(|metres| metres.min(CLEARANCE_MAX)));
        }
        ViewRequest::Hold => hub.hold(viewer),
        ViewRequest::Release => {
            viewer.hold(None);
            hub.interest_changed();
        }
        ViewRequest::Control(control) => hub.control(viewer, control.into()),
    }
    Some(())
}
