//! A WebSocket for small tools: the door plays the client's part for them, with the same state
//! machine and through the same limits, and speaks JSON.

use super::guests::{Guests, Outlet, Seat};
use super::json_words::{self as words, Asks, Tells};
use super::mailbox::Mailbox;
use super::turnstile::{Bucket, Turnstile, Verdict};
use super::web::Visitor;
use super::web_letters::{Next, broken, close, first, say};
use super::{Disconnect, House, No, Proof};
use crate::charter::{Knock, PROTOCOL, Purpose};
use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use jostle_proto::client::{Credential, Refusal};
use jostle_proto::{
    Address, Allowance, Client, ClientSettings, GatewaySays, Message as Letter, Output, Span, Time,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep_until;

/// Messages about the world per second, if the tool does not say.
const RATE: u32 = 10;

/// Messages about errors: fewer than the malformed messages that they answer may be, so that
/// nothing is gained by sending those.
const ERRORS: Allowance = Allowance { per_second: 1, most: 10 };

/// What a tool may send after its hello.
const EXPECTED: &str = "{\"type\": \"steer\", \"velocity\": [x, y, z], \"spin\": [x, y, z]} or \
                        {\"type\": \"bye\"}";

/// What a tool says at first.
struct Hello {
    credential: Option<Credential>,
    rate: u32,
}

/// A tool, and the client that the door is for it.
struct Player<'a> {
    house: &'a House,
    socket: &'a mut WebSocket,
    seat: &'a Seat,
    client: Client,
    turnstile: Turnstile,
    errors: Bucket,
    /// From one message about the world to the next.
    every: Span,
    next_world: Time,
}

/// One connection, from its hello to its end.
pub(super) async fn talk(house: Arc<House>, mut socket: WebSocket, visitor: Visitor) {
    let remote = visitor.remote;
    let mailbox = Arc::new(Mailbox::default());
    let entered = match hello(&house, &mut socket, &visitor).await {
        Ok(hello) => Guests::seat(&house.guests, remote, Outlet::Mailbox(mailbox.clone()))
            .map(|seat| (hello, seat)),
        Err(no) => Err(no),
    };
    let (hello, seat) = match entered {
        Ok(entered) => entered,
        Err(no) => {
            house.refused(remote, &no);
            let why = no.to_string();
            tell(&house, &mut socket, &Tells::Refused { why: &why }).await;
            return close(&mut socket, &why).await;
        }
    };
    drop(visitor.waiting);
    let gates = vec![house.lobby.charter.gate];
    let shapes = house.lobby.shapes.clone();
    let client = Client::new(seat.client, gates, shapes, ClientSettings::default());
    let mut player = Player {
        house: &house,
        socket: &mut socket,
        seat: &seat,
        client: client.with_credential(hello.credential),
        turnstile: Turnstile::new(Instant::now(), &house.limits),
        errors: Bucket::full(Instant::now(), ERRORS),
        every: Span(1_000_000 / u64::from(hello.rate.max(1))),
        next_world: Time(0),
    };
    let why = player.play(&mailbox).await;
    if let Some(why) = why {
        let why = why.to_string();
        house.put_out(remote, &why);
        close(&mut socket, &why).await;
    }
}

async fn hello(house: &House, socket: &mut WebSocket, visitor: &Visitor) -> Result<Hello, No> {
    let unreadable = |why: String| No::Unreadable(why);
    let Message::Text(text) = first(house, socket, visitor).await? else {
        return Err(unreadable("the first message must be text".to_string()));
    };
    // What serde says about it may quote a token, and this is logged.
    let expected = "expected {\"type\": \"hello\"} as the first message";
    let wrong = |error: serde_json::Error| {
        let what = words::problem(&error);
        unreadable(format!("{what} at column {}; {expected}", error.column()))
    };
    let Asks::Hello { token, credential, rate } = serde_json::from_str(&text).map_err(wrong)?
    else {
        return Err(unreadable(expected.to_string()));
    };
    house.guests.knock(visitor.remote)?;
    let token = token.unwrap_or_default();
    let knock = Knock { protocol: PROTOCOL, token, purpose: Purpose::Play };
    house.judge(&knock, Proof::Nothing)?;
    let credential = match credential {
        None => None,
        Some(text) => match words::credential(&text) {
            None => return Err(unreadable("the credential is not one".to_string())),
            credential => credential,
        },
    };
    let most = house.lobby.charter.rate.max(1);
    Ok(Hello { credential, rate: rate.unwrap_or(RATE).clamp(1, most) })
}

async fn tell(house: &House, socket: &mut WebSocket, tells: &Tells<'_>) -> bool {
    let Ok(text) = serde_json::to_string(tells) else { return false };
    let bytes = text.len();
    let said = say(socket, Message::Text(text.into())).await;
    if said {
        house.sent(bytes);
    }
    said
}

/// So long from now.
fn until(now: Time, then: Time) -> Duration {
    Duration::from_micros((then - now).0)
}

impl Player<'_> {
    /// Until the connection ends; with a reason if it must.
    async fn play(&mut self, mailbox: &Mailbox) -> Option<Disconnect> {
        let mut heard = tokio::time::Instant::now();
        let half = self.house.limits.idle / 2;
        let mut ping = heard + half;
        loop {
            if !self.wake().await {
                return None;
            }
            let now = self.house.now();
            let wake = self.client.wake_at().min(self.next_world);
            let wake = tokio::time::Instant::now() + until(now, wake);
            let silent = heard + self.house.limits.idle;
            let next = tokio::select! {
                says = mailbox.next() => self.told(says).await,
                message = self.socket.recv() => {
                    heard = tokio::time::Instant::now();
                    self.asked(message).await
                }
                () = sleep_until(wake) => Next::On,
                // Who only looks on answers that by itself.
                () = sleep_until(ping) => {
                    ping += half;
                    let said = say(self.socket, Message::Ping(Bytes::new())).await;
                    if said { Next::On } else { Next::Over }
                }
                () = sleep_until(silent) => {
                    Next::Out(Disconnect::Silent(self.house.limits.idle))
                }
            };
            match next {
                Next::On => {}
                Next::Over => return None,
                Next::Out(why) => return Some(why),
            }
        }
    }

    /// What the client has to say goes to the gateway, what it sees to the tool.
    async fn wake(&mut self) -> bool {
        let now = self.house.now();
        let mut out = Vec::new();
        self.client.wake(now, &mut out);
        self.post(out);
        for change in self.client.take_contacts() {
            if !tell(self.house, self.socket, &words::contact(&change)).await {
                return false;
            }
        }
        if now < self.next_world {
            return true;
        }
        self.next_world = now + self.every;
        match words::world(&mut self.client, now).filter(|_| self.client.is_active()) {
            Some(world) => tell(self.house, self.socket, &world).await,
            None => true,
        }
    }

    fn post(&self, out: Vec<Output>) {
        for output in out {
            if let Output::Send(_, Letter::Asked(says)) = output {
                (self.house.lobby.letter)(self.seat.client, says);
            }
        }
    }

    /// The gateway has said something.
    async fn told(&mut self, says: GatewaySays) -> Next {
        let current = says.attempt() == self.client.attempt();
        let was_active = self.client.is_active();
        let mut out = Vec::new();
        let from = Address::Gate(self.client.gate());
        self.client.receive(self.house.now(), from, says.clone(), &mut out);
        self.post(out);
        if !current {
            return Next::On;
        }
        let charter = &self.house.lobby.charter;
        let (tells, next) = match &says {
            GatewaySays::Welcome(welcome) if !was_active => {
                (words::welcome(&charter.world, &charter.forms, welcome), Next::On)
            }
            GatewaySays::Correct { want, reason, .. } => (words::correct(want, *reason), Next::On),
            GatewaySays::Kicked { reason, .. } => {
                (Tells::Kicked { why: words::reason(*reason) }, Next::Over)
            }
            // The client says hello by itself.
            GatewaySays::Refused { why: Refusal::Unknown, .. } => return Next::On,
            GatewaySays::Refused { why, .. } => {
                // Two who want the same avatar would take it from each other for ever.
                let next = if *why == Refusal::Replaced { Next::Over } else { Next::On };
                (Tells::Refused { why: words::refusal(*why) }, next)
            }
            GatewaySays::Welcome(_) | GatewaySays::Glimpse(_) => return Next::On,
        };
        let said = tell(self.house, self.socket, &tells).await;
        if said { next } else { Next::Over }
    }

    /// The tool has said something.
    async fn asked(&mut self, message: Option<Result<Message, axum::Error>>) -> Next {
        let house = self.house;
        let text = match message {
            None | Some(Ok(Message::Close(_))) => return Next::Over,
            Some(Err(error)) => return broken(house, &error),
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Ping(bytes) | Message::Pong(bytes))) => {
                return verdict(house.pass(&mut self.turnstile, bytes.len()));
            }
            Some(Ok(Message::Binary(bytes))) => {
                return match house.pass(&mut self.turnstile, bytes.len()) {
                    Verdict::Take => self.malformed("a binary message; JSON is text").await,
                    passed => verdict(passed),
                };
            }
        };
        match house.pass(&mut self.turnstile, text.len()) {
            Verdict::Take => {}
            passed => return verdict(passed),
        }
        match serde_json::from_str(&text) {
            Ok(Asks::Steer { velocity, spin }) => {
                let (velocity, spin) = (words::whole(velocity), words::whole(spin));
                self.client.steer(house.now(), velocity, spin);
                Next::On
            }
            Ok(Asks::Bye) => {
                let mut out = Vec::new();
                self.client.bye(&mut out);
                self.post(out);
                Next::Over
            }
            Ok(Asks::Hello { .. }) => self.malformed("a second hello").await,
            // To the sender itself, and not to the log.
            Err(error) => self.malformed(&error.to_string()).await,
        }
    }

    /// What came is counted as malformed, and answered unless there were too many.
    async fn malformed(&mut self, what: &str) -> Next {
        let counted = verdict(self.house.garbage(&mut self.turnstile));
        if !matches!(counted, Next::On) || !self.errors.take(Instant::now(), 1) {
            return counted;
        }
        let why = words::shortened(what);
        let said = tell(self.house, self.socket, &Tells::Error { why, expected: EXPECTED }).await;
        if said { Next::On } else { Next::Over }
    }
}

fn verdict(verdict: Verdict) -> Next {
    match verdict {
        Verdict::Take | Verdict::Drop => Next::On,
        Verdict::Out(why) => Next::Out(why),
    }
}
