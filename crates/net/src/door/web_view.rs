//! Those who watch, over a WebSocket at `/view`: docs/view-protocol.md. What is to be sent waits in
//! a mailbox, of frames only the newest; what is asked is counted before it is read.

use super::guests::{Guests, Outlet, Seat};
use super::turnstile::{Turnstile, Verdict};
use super::web::Visitor;
use super::web_letters::{Next, broken, close, first, say};
use super::{Disconnect, DoorLimits, House, No, Proof, count};
use crate::charter::{Knock, PROTOCOL, Purpose};
use crate::view::{Asks, Glance, Hub, Place, Tells, Topic, Viewer};
use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use glam::DVec3;
use jostle_geom::Ray;
use jostle_proto::ObjectId;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep_until, timeout};

/// Who cannot take a message within this time is gone. Longer than for letters: a whole world is
/// much, and nobody waits for it.
const SLOW: Duration = Duration::from_secs(20);

/// How often it is told how the world is.
const STATUS: Duration = Duration::from_secs(1);

/// A clearance that is asked for, at most, in metres.
const CLEARANCE_MAX: f64 = 5.0;

/// One connection, from its hello to its end.
pub(super) async fn talk(house: Arc<House>, mut socket: WebSocket, visitor: Visitor) {
    let remote = visitor.remote;
    let (hub, _seat, place) = match enter(&house, &mut socket, &visitor).await {
        Ok(entered) => entered,
        Err(no) => {
            house.refused(remote, &no);
            let why = no.to_string();
            say(&mut socket, Tells::Refused { why: &why }.message()).await;
            return close(&mut socket, &why).await;
        }
    };
    drop(visitor.waiting);
    if let Some(why) = watch(&house, &mut socket, &hub, &place.viewer).await {
        let why = why.to_string();
        house.put_out(remote, &why);
        close(&mut socket, &why).await;
    }
}

async fn enter(
    house: &House,
    socket: &mut WebSocket,
    visitor: &Visitor,
) -> Result<(Arc<Hub>, Seat, Place), No> {
    let Message::Text(text) = first(house, socket, visitor).await? else {
        return Err(No::Unreadable("the first message must be text".to_string()));
    };
    // What serde says about it may quote a token.
    let Ok(Asks::Hello { token }) = serde_json::from_str(&text) else {
        return Err(No::Unreadable(
            "expected {\"type\": \"hello\"} as the first message".to_string(),
        ));
    };
    house.guests.knock(visitor.remote)?;
    let token = token.unwrap_or_default();
    let knock = Knock { protocol: PROTOCOL, token, purpose: Purpose::Status };
    house.judge(&knock, Proof::Nothing)?;
    let hub = house.lobby.view.clone().ok_or(No::Unseen)?;
    let seat = Guests::seat(&house.guests, visitor.remote, Outlet::Watches)?;
    let place = hub.enter(house.limits.viewers).ok_or(No::Full)?;
    Ok((hub, seat, place))
}

/// Until the connection ends; with a reason if it must.
async fn watch(
    house: &House,
    socket: &mut WebSocket,
    hub: &Arc<Hub>,
    viewer: &Arc<Viewer>,
) -> Option<Disconnect> {
    let limits = DoorLimits { messages: house.limits.questions, ..house.limits };
    let mut turnstile = Turnstile::new(Instant::now(), &limits);
    let mut heard = tokio::time::Instant::now();
    let half = house.limits.idle / 2;
    let (mut ping, mut status) = (heard + half, heard);
    loop {
        let next = tokio::select! {
            // Who floods is heard before anything is sent to it.
            biased;
            message = socket.recv() => {
                heard = tokio::time::Instant::now();
                hear(house, hub, viewer, &mut turnstile, message)
            }
            () = sleep_until(status) => {
                status = tokio::time::Instant::now() + STATUS;
                viewer.put_news(Topic::Status, hub.status(|| (house.lobby.status)()));
                Next::On
            }
            message = viewer.next() => {
                let begin = tokio::time::Instant::now();
                let next = tell(house, socket, message).await;
                if begin.elapsed() > STATUS {
                    // It could not answer, and has read now.
                    heard = tokio::time::Instant::now();
                }
                next
            }
            // Who only looks on answers that by itself.
            () = sleep_until(ping) => {
                ping = tokio::time::Instant::now() + half;
                tell(house, socket, Message::Ping(Bytes::new())).await
            }
            () = sleep_until(heard + house.limits.idle) => {
                Next::Out(Disconnect::Silent(house.limits.idle))
            }
        };
        match next {
            Next::On => {}
            Next::Over => return None,
            Next::Out(why) => return Some(why),
        }
    }
}

async fn tell(house: &House, socket: &mut WebSocket, message: Message) -> Next {
    let bytes = match &message {
        Message::Text(text) => text.len(),
        Message::Binary(bytes) => bytes.len(),
        _ => 0,
    };
    match timeout(SLOW, socket.send(message)).await {
        Ok(Ok(())) => {
            house.sent(bytes);
            Next::On
        }
        Ok(Err(_)) => Next::Over,
        Err(_) => {
            count(&house.tally.lost, 1);
            Next::Over
        }
    }
}

fn hear(
    house: &House,
    hub: &Arc<Hub>,
    viewer: &Arc<Viewer>,
    turnstile: &mut Turnstile,
    message: Option<Result<Message, axum::Error>>,
) -> Next {
    let (bytes, text) = match message {
        None | Some(Ok(Message::Close(_))) => return Next::Over,
        Some(Err(error)) => return broken(house, &error),
        Some(Ok(Message::Text(text))) => (text.len(), Some(text)),
        Some(Ok(Message::Binary(bytes))) => (bytes.len(), None),
        Some(Ok(Message::Ping(bytes) | Message::Pong(bytes))) => {
            return match house.pass(turnstile, bytes.len()) {
                Verdict::Take | Verdict::Drop => Next::On,
                Verdict::Out(why) => Next::Out(why),
            };
        }
    };
    match house.pass(turnstile, bytes) {
        Verdict::Take => {}
        Verdict::Drop => return Next::On,
        Verdict::Out(why) => return Next::Out(why),
    }
    let asks = text.and_then(|text| serde_json::from_str(&text).ok());
    match asks.and_then(|asks| ask(hub, viewer, asks)) {
        Some(()) => Next::On,
        None => {
            house.garbage(turnstile);
            Next::Out(Disconnect::Question)
        }
    }
}

/// Ids from their text; none if one of them is no id.
fn ids(texts: &[String]) -> Option<Vec<ObjectId>> {
    texts.iter().map(|text| Some(ObjectId(text.parse().ok()?))).collect()
}

/// Passes on what is asked; none if it makes no sense.
fn ask(hub: &Arc<Hub>, viewer: &Arc<Viewer>, asks: Asks) -> Option<()> {
    match asks {
        Asks::Hello { .. } => return None,
        Asks::Pick { origin, direction, through, hidden, only } => {
            let [origin, direction] = [origin, direction].map(DVec3::from_array);
            let ray = Ray::new(origin, direction, f64::INFINITY).ok();
            let (hidden, only) = (ids(&hidden)?, ids(&only)?);
            hub.pick(viewer, ray.map(|ray| Glance { ray, through, hidden, only }));
        }
        Asks::Select { id } => {
            let selected = match id {
                Some(id) => Some(ObjectId(id.parse().ok()?)),
                None => None,
            };
            viewer.set_interest(|interest| interest.selected = selected);
            hub.interest_changed();
        }
        Asks::Clearance { metres } => {
            // A clearance of nothing is none.
            let clearance = metres.filter(|metres| *metres > 0.0);
            let clearance = clearance.map(|metres| metres.min(CLEARANCE_MAX));
            viewer.set_interest(|interest| interest.clearance = clearance);
            hub.interest_changed();
        }
        Asks::Static { clearance } => {
            let clearance = clearance.filter(|metres| *metres > 0.0);
            hub.find_static(viewer, clearance.map(|metres| metres.min(CLEARANCE_MAX)));
        }
        Asks::Hold => hub.hold(viewer),
        Asks::Release => {
            viewer.hold(None);
            hub.interest_changed();
        }
        Asks::Control(control) => hub.control(viewer, control.into()),
    }
    Some(())
}
