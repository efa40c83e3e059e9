//! Letters over a WebSocket: a knock, an answer, then frames as they would be datagrams.

use super::guests::{Guests, Outlet, Seat};
use super::mailbox::Mailbox;
use super::turnstile::{Turnstile, Verdict};
use super::web::Visitor;
use super::{Disconnect, House, No, Proof, count};
use crate::charter::{Answer, Knock, Purpose};
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use jostle_proto::GatewaySays;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep_until, timeout};

/// Who cannot take a message within this time is gone, or as good as gone.
const SLOW: Duration = Duration::from_secs(5);

/// Says something, unless the other side is too slow for it.
pub(super) async fn say(socket: &mut WebSocket, message: Message) -> bool {
    matches!(timeout(SLOW, socket.send(message)).await, Ok(Ok(())))
}

/// Says why this is the end.
pub(super) async fn close(socket: &mut WebSocket, why: &str) {
    let frame = CloseFrame { code: close_code::POLICY, reason: why.into() };
    say(socket, Message::Close(Some(frame))).await;
}

async fn answer(socket: &mut WebSocket, answer: &Answer) -> bool {
    match postcard::to_allocvec(answer) {
        Ok(bytes) => say(socket, Message::Binary(bytes.into())).await,
        Err(_) => false,
    }
}

/// The first message, if it comes in time.
pub(super) async fn first(
    house: &House,
    socket: &mut WebSocket,
    visitor: &Visitor,
) -> Result<Message, No> {
    let message = tokio::select! {
        () = visitor.waiting.displaced() => return Err(No::Displaced),
        message = timeout(house.limits.knock, socket.recv()) => message,
    };
    match message {
        Ok(Some(Ok(message))) => Ok(message),
        Ok(Some(Err(error))) => Err(No::Unreadable(error.to_string())),
        Ok(None) => Err(No::Unreadable("the connection was closed".to_string())),
        Err(_) => Err(No::Late(house.limits.knock)),
    }
}

/// One connection, from its knock to its end.
pub(super) async fn talk(house: Arc<House>, mut socket: WebSocket, visitor: Visitor) {
    let remote = visitor.remote;
    let mailbox = Arc::new(Mailbox::default());
    let entered = match enter(&house, &mut socket, &visitor).await {
        Ok(Purpose::Status) => {
            answer(&mut socket, &Answer::Status((house.lobby.status)())).await;
            return close(&mut socket, "done").await;
        }
        Ok(Purpose::Work { .. } | Purpose::Replicate { .. } | Purpose::Change(_)) => {
            Err(No::Work("nodes connect by QUIC".to_string()))
        }
        Ok(Purpose::Play) => Guests::seat(&house.guests, remote, Outlet::Mailbox(mailbox.clone())),
        Err(no) => Err(no),
    };
    let seat = match entered {
        Ok(seat) => seat,
        Err(no) => {
            house.refused(remote, &no);
            answer(&mut socket, &Answer::Refused(no.to_string())).await;
            return close(&mut socket, &no.to_string()).await;
        }
    };
    drop(visitor.waiting);
    if !answer(&mut socket, &Answer::Charter(house.lobby.charter.clone())).await {
        return;
    }
    if let Some(why) = letters(&house, &mut socket, &seat, &mailbox).await {
        let why = why.to_string();
        house.put_out(remote, &why);
        close(&mut socket, &why).await;
    }
}

async fn enter(house: &House, socket: &mut WebSocket, visitor: &Visitor) -> Result<Purpose, No> {
    let Message::Binary(bytes) = first(house, socket, visitor).await? else {
        return Err(No::Unreadable("the first message must be binary".to_string()));
    };
    let knock: Knock = House::read_knock(&bytes)?;
    house.guests.knock(visitor.remote)?;
    house.judge(&knock, Proof::Nothing)?;
    Ok(knock.purpose)
}

/// What becomes of a connection after a message.
pub(super) enum Next {
    On,
    /// It has ended.
    Over,
    Out(Disconnect),
}

/// Letters both ways, until the connection ends; with a reason if it must.
async fn letters(
    house: &House,
    socket: &mut WebSocket,
    seat: &Seat,
    mailbox: &Mailbox,
) -> Option<Disconnect> {
    let mut turnstile = Turnstile::new(Instant::now(), &house.limits);
    let mut heard = tokio::time::Instant::now();
    loop {
        let next = tokio::select! {
            says = mailbox.next() => tell(house, socket, &says).await,
            message = socket.recv() => {
                heard = tokio::time::Instant::now();
                hear(house, seat, &mut turnstile, message)
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

async fn tell(house: &House, socket: &mut WebSocket, says: &GatewaySays) -> Next {
    let Ok(frame) = says.write() else {
        count(&house.tally.lost, 1);
        return Next::On;
    };
    let bytes = frame.len();
    if !say(socket, Message::Binary(frame.into())).await {
        count(&house.tally.lost, 1);
        return Next::Over;
    }
    house.sent(bytes);
    if matches!(says, GatewaySays::Kicked { .. }) {
        close(socket, "too many rejected inputs").await;
        return Next::Over;
    }
    Next::On
}

fn hear(
    house: &House,
    seat: &Seat,
    turnstile: &mut Turnstile,
    message: Option<Result<Message, axum::Error>>,
) -> Next {
    let verdict = match message {
        None | Some(Ok(Message::Close(_))) => return Next::Over,
        Some(Err(error)) => return broken(house, &error),
        Some(Ok(Message::Binary(frame))) => house.letter(seat, turnstile, &frame),
        Some(Ok(Message::Ping(bytes) | Message::Pong(bytes))) => house.pass(turnstile, bytes.len()),
        Some(Ok(Message::Text(text))) => match house.pass(turnstile, text.len()) {
            Verdict::Take => house.garbage(turnstile),
            verdict => verdict,
        },
    };
    match verdict {
        Verdict::Take | Verdict::Drop => Next::On,
        Verdict::Out(why) => Next::Out(why),
    }
}

/// The line was cut, or what came is no message of a WebSocket, or too long for one.
pub(super) fn broken(house: &House, error: &axum::Error) -> Next {
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(error) = cause {
        if error.is::<std::io::Error>() {
            return Next::Over;
        }
        cause = error.source();
    }
    let words = error.to_string();
    if words.contains("without closing handshake") {
        return Next::Over;
    }
    count(&house.tally.garbage, 1);
    if words.contains("Space limit exceeded") {
        Next::Out(Disconnect::TooLong)
    } else {
        Next::Out(Disconnect::NotWebSocket)
    }
}
