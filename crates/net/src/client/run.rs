//! The task of a connection: messages both ways, and reconnecting when it breaks.

use super::dial::{Dialler, ServerLink};
use super::{ClientOptions, Shared};
use jostle_proto::client::Refusal;
use jostle_proto::{Address, ClientMessage, GatewayMessage, Message, Output, Time};
use quinn::{Connection, VarInt};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// First and longest pause before reconnecting.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// A connection without a message for so long is replaced.
const SILENCE: Duration = Duration::from_secs(3);

/// Bytes of a message, at most.
const MESSAGE_MAX: usize = 8 << 10;

/// Timeout for the bye message.
const LAST_MESSAGE: Duration = Duration::from_millis(50);

const BYE: VarInt = VarInt::from_u32(0);

/// How a client disconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Departure {
    /// For good: the avatar is removed.
    Leave,
    /// The avatar may be resumed.
    Detach,
}

/// Why a connection ended.
enum LinkEnd {
    /// The user closed it.
    Left,
    /// Another connection took over the avatar. Reconnecting would take it back, forever.
    Replaced,
    /// The connection broke.
    Lost(String),
}

/// Runs until the user disconnects.
pub(super) async fn run(
    shared: Arc<Shared>,
    dialler: Dialler,
    options: ClientOptions,
    mut line: ServerLink,
) {
    let mut pause = PAUSES.0;
    let manifest = line.manifest.clone();
    // Index of the current server.
    let mut at = options.servers.iter().position(|server| *server == line.server).unwrap_or(0);
    loop {
        shared.lock().statistics.new_link();
        let (end, welcomed) = LinkTask::new(&shared, &line.connection).run_link().await;
        match end {
            LinkEnd::Left => return,
            LinkEnd::Replaced => {
                let reason = "another connection uses the same credential";
                shared.lock().last_error = Some(reason.to_string());
                line.connection.close(BYE, b"");
                return;
            }
            LinkEnd::Lost(why) => {
                line.connection.close(BYE, b"");
                shared.lock().last_error = Some(why);
            }
        }
        if welcomed {
            pause = PAUSES.0;
        }
        line = loop {
            if !wait(&shared, pause).await {
                return;
            }
            pause = (2 * pause).min(PAUSES.1);
            let Some(&server) = options.servers.get(at % options.servers.len().max(1)) else {
                return;
            };
            match dialler.dial(&options, server).await {
                Ok(line)
                    if (&line.manifest.world, &line.manifest.forms)
                        == (&manifest.world, &manifest.forms) =>
                {
                    break line;
                }
                Ok(_) => shared.lock().last_error = Some(format!("{server} has another world now")),
                Err(error) => shared.lock().last_error = Some(error.to_string()),
            }
            at += 1;
        };
    }
}

/// Waits; returns false if the user disconnects meanwhile.
async fn wait(shared: &Shared, pause: Duration) -> bool {
    let end = Instant::now() + pause;
    loop {
        if shared.lock().departure.is_some() {
            return false;
        }
        tokio::select! {
            () = sleep_until(end) => return true,
            () = shared.changed.notified() => {}
        }
    }
}

/// The exchange on one connection.
struct LinkTask<'a> {
    shared: &'a Shared,
    connection: &'a Connection,
    received: Instant,
    welcomed: bool,
}

/// The next message that was too large for a datagram.
async fn stream_message(connection: Connection) -> Option<Vec<u8>> {
    let mut stream = connection.accept_uni().await.ok()?;
    Some(stream.read_to_end(MESSAGE_MAX).await.unwrap_or_default())
}

impl<'a> LinkTask<'a> {
    fn new(shared: &'a Shared, connection: &'a Connection) -> LinkTask<'a> {
        LinkTask { shared, connection, received: Instant::now(), welcomed: false }
    }

    /// Runs until the connection ends; also returns whether the gateway has accepted the client on
    /// it.
    async fn run_link(mut self) -> (LinkEnd, bool) {
        let mut long = Box::pin(stream_message(self.connection.clone()));
        let end = loop {
            let departure = self.shared.lock().departure;
            if let Some(departure) = departure {
                break self.part(departure).await;
            }
            let wake = self.wake();
            let ended = tokio::select! {
                message = self.connection.read_datagram() => match message {
                    Ok(message) => self.receive(&message),
                    Err(error) => Some(LinkEnd::Lost(error.to_string())),
                },
                message = &mut long => match message {
                    Some(message) => {
                        long.set(stream_message(self.connection.clone()));
                        self.receive(&message)
                    }
                    None => Some(LinkEnd::Lost("the connection ended".to_string())),
                },
                () = sleep_until(wake) => None,
                () = sleep_until(self.received + SILENCE) => {
                    Some(LinkEnd::Lost("the gateway is silent".to_string()))
                }
                () = self.shared.changed.notified() => None,
            };
            if let Some(end) = ended {
                break end;
            }
        };
        (end, self.welcomed)
    }

    /// Sends what is due; returns when the next message is due.
    fn wake(&self) -> Instant {
        let now = self.shared.now();
        let mut inner = self.shared.lock();
        let mut out = Vec::new();
        inner.client.wake(now, &mut out);
        let next = inner.client.wake_at();
        drop(inner);
        self.send(now, out);
        Instant::now() + Duration::from_micros((next - now).0)
    }

    fn send(&self, now: Time, out: Vec<Output>) {
        for output in out {
            if let Output::Send(_, Message::FromClient(message)) = output {
                self.send_one(now, &message);
            }
        }
    }

    fn send_one(&self, now: Time, message: &ClientMessage) {
        let Ok(frame) = message.write() else { return };
        self.shared.lock().statistics.sent(now, message, frame.len());
        // Lost datagrams are repaired by resending.
        let _ = self.connection.send_datagram(frame.into());
    }

    fn receive(&mut self, frame: &[u8]) -> Option<LinkEnd> {
        let message = GatewayMessage::read(frame).ok()?;
        self.received = Instant::now();
        let now = self.shared.now();
        let mut out = Vec::new();
        let mut inner = self.shared.lock();
        inner.statistics.received(now, &message, frame.len());
        let wire = self.connection.stats();
        inner.statistics.udp_received = wire.udp_rx.bytes;
        inner.statistics.udp_sent = wire.udp_tx.bytes;
        inner.statistics.round_trip = wire.path.rtt;
        let current = message.attempt() == inner.client.attempt();
        match &message {
            GatewayMessage::Welcome(_) => self.welcomed = true,
            GatewayMessage::Refused { why: Refusal::Replaced, .. } if current => {
                return Some(LinkEnd::Replaced);
            }
            GatewayMessage::Refused { why, .. } => {
                inner.last_error = Some(format!("refused: {why:?}"));
            }
            GatewayMessage::Kicked { reason, .. } => {
                inner.last_error = Some(format!("kicked: {reason:?}"));
            }
            GatewayMessage::Correct { .. } | GatewayMessage::StateUpdate(_) => {}
        }
        let from = Address::Gate(inner.client.gate());
        inner.client.receive(now, from, message, &mut out);
        drop(inner);
        self.send(now, out);
        None
    }

    async fn part(&self, departure: Departure) -> LinkEnd {
        if departure == Departure::Leave {
            let mut out = Vec::new();
            let room = self.connection.datagram_send_buffer_space();
            self.shared.lock().client.bye(&mut out);
            self.send(self.shared.now(), out);
            // Sent when the buffer has as much space as before.
            let gone = async {
                while self.connection.datagram_send_buffer_space() < room {
                    sleep(Duration::from_millis(1)).await;
                }
            };
            let _ = timeout(LAST_MESSAGE, gone).await;
        }
        self.connection.close(BYE, b"bye");
        // The close frame is sent when the socket's task runs next.
        sleep(Duration::from_millis(1)).await;
        LinkEnd::Left
    }
}
