//! The task of a connection: letters both ways, and a new line when the old one breaks.

use super::dial::{Dialler, Line};
use super::{ClientOptions, Shared};
use jostle_proto::client::Refusal;
use jostle_proto::{Address, ClientSays, GatewaySays, Message, Output, Time};
use quinn::{Connection, VarInt};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// The first pause before another try, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// A line on which no letter came for so long is left for another one.
const SILENCE: Duration = Duration::from_secs(3);

/// Bytes of a letter, at most.
const LETTER_MAX: usize = 8 << 10;

/// The last letter leaves within this, or not at all.
const LAST_LETTER: Duration = Duration::from_millis(50);

const BYE: VarInt = VarInt::from_u32(0);

/// How a client goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parting {
    /// It will not come back.
    Bye,
    /// Perhaps it will.
    Silent,
}

/// Why a line is no more.
enum End {
    /// The user wants it so.
    Left,
    /// Somebody else has the avatar now; both would take it from each other for ever.
    Replaced,
    /// By itself.
    Lost(String),
}

/// Until the user has enough.
pub(super) async fn run(
    shared: Arc<Shared>,
    dialler: Dialler,
    options: ClientOptions,
    mut line: Line,
) {
    let mut pause = PAUSES.0;
    let charter = line.charter.clone();
    // Which of the doors.
    let mut at = options.doors.iter().position(|door| *door == line.door).unwrap_or(0);
    loop {
        shared.lock().statistics.new_line();
        let (end, welcomed) = Talk::new(&shared, &line.connection).talk().await;
        match end {
            End::Left => return,
            End::Replaced => {
                let words = "somebody else came with the same credential";
                shared.lock().last_words = Some(words.to_string());
                line.connection.close(BYE, b"");
                return;
            }
            End::Lost(why) => {
                line.connection.close(BYE, b"");
                shared.lock().last_words = Some(why);
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
            let Some(&door) = options.doors.get(at % options.doors.len().max(1)) else { return };
            match dialler.dial(&options, door).await {
                Ok(line)
                    if (&line.charter.world, &line.charter.forms)
                        == (&charter.world, &charter.forms) =>
                {
                    break line;
                }
                Ok(_) => shared.lock().last_words = Some(format!("{door} has another world now")),
                Err(error) => shared.lock().last_words = Some(error.to_string()),
            }
            at += 1;
        };
    }
}

/// Waits; false if the user does not want to any more.
async fn wait(shared: &Shared, pause: Duration) -> bool {
    let end = Instant::now() + pause;
    loop {
        if shared.lock().parting.is_some() {
            return false;
        }
        tokio::select! {
            () = sleep_until(end) => return true,
            () = shared.changed.notified() => {}
        }
    }
}

/// What is said on one line.
struct Talk<'a> {
    shared: &'a Shared,
    connection: &'a Connection,
    heard: Instant,
    welcomed: bool,
}

/// The next letter that was too long for a datagram.
async fn long_letter(connection: Connection) -> Option<Vec<u8>> {
    let mut stream = connection.accept_uni().await.ok()?;
    Some(stream.read_to_end(LETTER_MAX).await.unwrap_or_default())
}

impl<'a> Talk<'a> {
    fn new(shared: &'a Shared, connection: &'a Connection) -> Talk<'a> {
        Talk { shared, connection, heard: Instant::now(), welcomed: false }
    }

    /// Until the line ends; and whether the gateway has been heard on it.
    async fn talk(mut self) -> (End, bool) {
        let mut long = Box::pin(long_letter(self.connection.clone()));
        let end = loop {
            let parting = self.shared.lock().parting;
            if let Some(parting) = parting {
                break self.part(parting).await;
            }
            let wake = self.wake();
            let ended = tokio::select! {
                letter = self.connection.read_datagram() => match letter {
                    Ok(letter) => self.hear(&letter),
                    Err(error) => Some(End::Lost(error.to_string())),
                },
                letter = &mut long => match letter {
                    Some(letter) => {
                        long.set(long_letter(self.connection.clone()));
                        self.hear(&letter)
                    }
                    None => Some(End::Lost("the connection ended".to_string())),
                },
                () = sleep_until(wake) => None,
                () = sleep_until(self.heard + SILENCE) => {
                    Some(End::Lost("the gateway is silent".to_string()))
                }
                () = self.shared.changed.notified() => None,
            };
            if let Some(end) = ended {
                break end;
            }
        };
        (end, self.welcomed)
    }

    /// Says what is to be said now; gives the time for the next.
    fn wake(&self) -> Instant {
        let now = self.shared.now();
        let mut inner = self.shared.lock();
        let mut out = Vec::new();
        inner.client.wake(now, &mut out);
        let next = inner.client.wake_at();
        drop(inner);
        self.say(now, out);
        Instant::now() + Duration::from_micros((next - now).0)
    }

    fn say(&self, now: Time, out: Vec<Output>) {
        for output in out {
            if let Output::Send(_, Message::Asked(says)) = output {
                self.say_one(now, &says);
            }
        }
    }

    fn say_one(&self, now: Time, says: &ClientSays) {
        let Ok(frame) = says.write() else { return };
        self.shared.lock().statistics.said(now, says, frame.len());
        // What does not get through is said again.
        let _ = self.connection.send_datagram(frame.into());
    }

    fn hear(&mut self, letter: &[u8]) -> Option<End> {
        let says = GatewaySays::read(letter).ok()?;
        self.heard = Instant::now();
        let now = self.shared.now();
        let mut out = Vec::new();
        let mut inner = self.shared.lock();
        inner.statistics.heard(now, &says, letter.len());
        let wire = self.connection.stats();
        inner.statistics.wire_in = wire.udp_rx.bytes;
        inner.statistics.wire_out = wire.udp_tx.bytes;
        inner.statistics.round_trip = wire.path.rtt;
        let current = says.attempt() == inner.client.attempt();
        match &says {
            GatewaySays::Welcome(_) => self.welcomed = true,
            GatewaySays::Refused { why: Refusal::Replaced, .. } if current => {
                return Some(End::Replaced);
            }
            GatewaySays::Refused { why, .. } => {
                inner.last_words = Some(format!("refused: {why:?}"));
            }
            GatewaySays::Kicked { reason, .. } => {
                inner.last_words = Some(format!("kicked: {reason:?}"));
            }
            GatewaySays::Correct { .. } | GatewaySays::Glimpse(_) => {}
        }
        let from = Address::Gate(inner.client.gate());
        inner.client.receive(now, from, says, &mut out);
        drop(inner);
        self.say(now, out);
        None
    }

    async fn part(&self, parting: Parting) -> End {
        if parting == Parting::Bye {
            let mut out = Vec::new();
            let room = self.connection.datagram_send_buffer_space();
            self.shared.lock().client.bye(&mut out);
            self.say(self.shared.now(), out);
            // It is gone when there is as much room as before.
            let gone = async {
                while self.connection.datagram_send_buffer_space() < room {
                    sleep(Duration::from_millis(1)).await;
                }
            };
            let _ = timeout(LAST_LETTER, gone).await;
        }
        self.connection.close(BYE, b"bye");
        // The packet that says so leaves with the next turn of the socket's task.
        sleep(Duration::from_millis(1)).await;
        End::Left
    }
}
