//! Clients over QUIC: the knock and contents on a stream, letters as datagrams.

use super::guests::{Guests, Outlet, Seat};
use super::tls::{Tls, proof};
use super::turnstile::{Turnstile, Verdict};
use super::{Disconnect, DoorError, DoorLimits, House, No, count};
use crate::charter::{Answer, Knock, Purpose};
use crate::parcel::{self, ParcelError, QUESTION_MAX};
use crate::waiting::{NoRoom, Waiting};
use bytes::Bytes;
use jostle_proto::{Content, GatewaySays};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{
    Connection, Endpoint, Incoming, RecvStream, SendDatagramError, SendStream, ServerConfig,
    TransportConfig, VarInt,
};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The door closes.
pub(super) const CLOSING: VarInt = VarInt::from_u32(1);
/// Not let in; the answer says why.
const REFUSED: VarInt = VarInt::from_u32(2);
/// Put out; the reason is in the words.
const PUT_OUT: VarInt = VarInt::from_u32(3);
/// All is said.
const DONE: VarInt = VarInt::from_u32(0);

/// Letters that were not sent yet, in bytes: a handful, for a newer one is better than an old one.
const SEND_BUFFER: usize = 8 << 10;

/// Letters that were not looked at yet, in bytes.
const RECEIVE_BUFFER: usize = 64 << 10;

/// What a client may have on its way on its stream: a question.
const STREAM_WINDOW: u32 = 2 * QUESTION_MAX as u32;

/// After a last word, so long until the connection ends.
const LAST_WORD: Duration = Duration::from_millis(200);

/// A reader who takes longer for a letter than this is too slow for it.
const LARGE_LETTER: Duration = Duration::from_secs(2);

/// Who asks too often waits so long for the next answer.
const PACE: Duration = Duration::from_millis(5);

/// Opens the socket.
pub(super) fn listen(
    address: SocketAddr,
    tls: &Tls,
    limits: &DoorLimits,
) -> Result<Endpoint, DoorError> {
    let crypto = QuicServerConfig::try_from(tls.quic.clone()).map_err(|error| {
        DoorError::Certificate { place: "QUIC".to_string(), why: error.to_string() }
    })?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(Arc::new(transport(limits)));
    // Who moves to another address comes anew, so that a connection stays with its host.
    config.migration(false);
    config.max_incoming(limits.waiting);
    config.incoming_buffer_size_total(4 << 20);
    Endpoint::server(config, address).map_err(|error| DoorError::Listen { address, error })
}

fn transport(limits: &DoorLimits) -> TransportConfig {
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

/// Lets in who comes, until the endpoint is closed.
pub(super) async fn serve(house: Arc<House>, endpoint: Endpoint) {
    while let Some(incoming) = endpoint.accept().await {
        let remote = incoming.remote_address();
        let waiting = house.guests.quic.count();
        let unproven = !incoming.remote_address_validated();
        if unproven && incoming.may_retry() && waiting >= house.limits.unproven {
            // No state is kept for somebody who may not be there.
            let _ = incoming.retry();
            continue;
        }
        match house.guests.quic.enter(remote) {
            Ok(waiting) => {
                tokio::spawn(welcome(house.clone(), incoming, waiting));
            }
            Err(NoRoom) => {
                house.refused(remote, &No::Full);
                incoming.refuse();
            }
        }
    }
}

/// One connection, from its first packet to its end.
async fn welcome(house: Arc<House>, incoming: Incoming, waiting: Waiting) {
    let remote = incoming.remote_address();
    let arrived = tokio::select! {
        () = waiting.displaced() => return house.refused(remote, &No::Displaced),
        arrived = arrive(&house, incoming) => arrived,
    };
    if let Some((connection, knock, streams)) = arrived {
        serve_purpose(&house, &connection, knock, streams, waiting).await;
    }
}

/// One connection until its purpose is known and allowed.
async fn arrive(house: &House, incoming: Incoming) -> Option<(Connection, Knock, Streams)> {
    let remote = incoming.remote_address();
    let handshake = house.limits.handshake;
    let connecting = incoming.accept().ok()?;
    let connection = match timeout(handshake, connecting).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => {
            house.refused(remote, &No::Tls(error.to_string()));
            return None;
        }
        Err(_) => {
            house.refused(remote, &No::Late(handshake));
            return None;
        }
    };
    match timeout(house.limits.knock, knock(house, &connection)).await {
        Ok(Ok((knock, streams))) => return Some((connection, knock, streams)),
        Ok(Err((no, stream))) => {
            house.refused(remote, &no);
            refuse(&connection, stream, &no).await;
        }
        Err(_) => {
            let late = No::Late(house.limits.knock);
            house.refused(remote, &late);
            connection.close(REFUSED, late.to_string().as_bytes());
        }
    }
    None
}

type Streams = (SendStream, RecvStream);

/// The knock, if it is one and may be followed.
async fn knock(
    house: &House,
    connection: &Connection,
) -> Result<(Knock, Streams), (No, Option<SendStream>)> {
    let unreadable = |error: &dyn std::fmt::Display| No::Unreadable(error.to_string());
    let (send, mut receive) =
        connection.accept_bi().await.map_err(|error| (unreadable(&error), None))?;
    let bytes = match parcel::receive_bytes(&mut receive, QUESTION_MAX).await {
        Ok(bytes) => bytes,
        Err(error) => return Err((unreadable(&error), Some(send))),
    };
    let knock = House::read_knock(&bytes).and_then(|knock| {
        house.guests.knock(connection.remote_address())?;
        house.judge(&knock, proof(connection))?;
        Ok(knock)
    });
    match knock {
        Ok(knock) => Ok((knock, (send, receive))),
        Err(no) => Err((no, Some(send))),
    }
}

async fn refuse(connection: &Connection, stream: Option<SendStream>, no: &No) {
    if let Some(mut stream) = stream {
        finish(&mut stream, &Answer::Refused(no.to_string())).await;
    }
    connection.close(REFUSED, no.to_string().as_bytes());
}

/// A last answer: waits a little until it has come.
async fn finish(stream: &mut SendStream, answer: &Answer) {
    let last = async {
        // Who does not want to hear it need not.
        if parcel::send(stream, answer).await.is_ok() && stream.finish().is_ok() {
            let _ = stream.stopped().await;
        }
    };
    let _ = timeout(LARGE_LETTER, last).await;
}

async fn serve_purpose(
    house: &Arc<House>,
    connection: &Connection,
    knock: Knock,
    (mut send, receive): Streams,
    waiting: Waiting,
) {
    let remote = connection.remote_address();
    if !matches!(knock.purpose, Purpose::Status | Purpose::Play) {
        waiting.keep();
    }
    if let Some(answer) = of_replicas(house, &knock.purpose).await {
        let goes_on = matches!(answer, Answer::Founding(_));
        if goes_on && parcel::send(&mut send, &answer).await.is_ok() {
            let questions = Turnstile::new(Instant::now(), &house.limits);
            let _ = contents(house, (send, receive), questions).await;
        } else {
            finish(&mut send, &answer).await;
        }
        return connection.close(DONE, b"");
    }
    match knock.purpose {
        Purpose::Replicate { .. } | Purpose::Change(_) => {
            let no = No::Work("this world has one directory, without replicas".into());
            house.refused(remote, &no);
            refuse(connection, Some(send), &no).await;
        }
        Purpose::Status => {
            finish(&mut send, &Answer::Status((house.lobby.status)())).await;
            connection.close(DONE, b"");
        }
        Purpose::Work { name, followers } => match (house.lobby.admit)(remote, name, followers) {
            Ok(place) => {
                tracing::debug!(%remote, "node {} admitted", place.node);
                let charter = Box::new(house.lobby.charter.clone());
                if parcel::send(&mut send, &Answer::Place(charter, place)).await.is_ok() {
                    let questions = Turnstile::new(Instant::now(), &house.limits);
                    let _ = contents(house, (send, receive), questions).await;
                }
                connection.close(DONE, b"");
            }
            Err(why) => {
                let no = No::Work(why);
                house.refused(remote, &no);
                refuse(connection, Some(send), &no).await;
            }
        },
        Purpose::Play => {
            let outlet = Outlet::Datagrams(Datagrams::new(connection.clone()));
            match Guests::seat(&house.guests, remote, outlet) {
                Ok(seat) => {
                    drop(waiting);
                    play(house, connection, &seat, (send, receive)).await;
                }
                Err(no) => {
                    house.refused(remote, &no);
                    refuse(connection, Some(send), &no).await;
                }
            }
        }
    }
}

/// What there is to say about replicas of the directory. On a thread that may wait.
async fn of_replicas(house: &Arc<House>, purpose: &Purpose) -> Option<Answer> {
    let asks =
        matches!(purpose, Purpose::Work { .. } | Purpose::Replicate { .. } | Purpose::Change(_));
    if !asks || house.lobby.replicas.is_none() {
        return None;
    }
    let (house, purpose) = (house.clone(), purpose.clone());
    let asked = move || house.lobby.replicas.as_ref().and_then(|desk| desk(&purpose));
    tokio::task::spawn_blocking(asked).await.ok().flatten()
}

/// Somebody is in, until one of both has enough.
async fn play(house: &House, connection: &Connection, seat: &Seat, (mut send, receive): Streams) {
    let remote = connection.remote_address();
    if parcel::send(&mut send, &Answer::Charter(house.lobby.charter.clone())).await.is_err() {
        return;
    }
    let questions = Turnstile::new(Instant::now(), &house.limits);
    let ask = async {
        match contents(house, (send, receive), questions).await {
            Some(why) => why,
            // A client that has no more questions may stay.
            None => std::future::pending().await,
        }
    };
    let why = tokio::select! {
        why = letters(house, connection, seat) => why,
        why = ask => Some(why),
    };
    if let Some(why) = why {
        let why = why.to_string();
        house.put_out(remote, &why);
        connection.close(PUT_OUT, why.as_bytes());
    }
}

/// Letters to the gateway, until the connection ends, or must.
async fn letters(house: &House, connection: &Connection, seat: &Seat) -> Option<Disconnect> {
    let mut turnstile = Turnstile::new(Instant::now(), &house.limits);
    loop {
        let letter = match timeout(house.limits.idle, connection.read_datagram()).await {
            Ok(Ok(letter)) => letter,
            Ok(Err(_)) => return None,
            Err(_) => return Some(Disconnect::Silent(house.limits.idle)),
        };
        if let Verdict::Out(why) = house.letter(seat, &mut turnstile, &letter) {
            return Some(why);
        }
    }
}

/// Answers questions for contents, one after the other, as fast as they are read but not faster
/// than letters may come. Gives a reason to put out who asks, and nothing if the stream ended.
async fn contents(
    house: &House,
    (mut send, mut receive): Streams,
    mut turnstile: Turnstile,
) -> Option<Disconnect> {
    loop {
        let content: Content = match parcel::receive(&mut receive, QUESTION_MAX).await {
            Ok(content) => content,
            Err(ParcelError::Ended(_) | ParcelError::Unwritable(_)) => return None,
            Err(ParcelError::Long { .. } | ParcelError::Unreadable { .. }) => {
                count(&house.tally.garbage, 1);
                return Some(Disconnect::Content);
            }
        };
        while turnstile.pass(Instant::now(), size_of::<Content>()) != Verdict::Take {
            tokio::time::sleep(PACE).await;
        }
        let bytes = house.lobby.contents.get(content).cloned();
        if parcel::send_content(&mut send, bytes).await.is_err() {
            return None;
        }
    }
}

/// The way of letters to one client.
pub(super) struct Datagrams {
    connection: Connection,
    /// The newest letter that is too long for a datagram, while another one is on its way.
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

    /// Sends a letter, or loses it. When there are too many, quinn loses the oldest.
    pub(super) fn send(&self, house: &Arc<House>, says: &GatewaySays) {
        let Ok(frame) = says.write() else { return count(&house.tally.lost, 1) };
        let frame = Bytes::from(frame);
        let bytes = frame.len();
        match self.connection.send_datagram(frame.clone()) {
            Ok(()) => house.sent(bytes),
            Err(SendDatagramError::TooLarge) => self.send_large(house, frame),
            Err(_) => count(&house.tally.lost, 1),
        }
    }

    /// On a stream of its own.
    fn send_large(&self, house: &Arc<House>, frame: Bytes) {
        let mut large = self.large.lock().unwrap_or_else(PoisonError::into_inner);
        if large.next.replace(frame).is_some() {
            count(&house.tally.lost, 1);
        }
        if std::mem::replace(&mut large.busy, true) {
            return;
        }
        drop(large);
        let (connection, large) = (self.connection.clone(), self.large.clone());
        house.runtime.spawn(send_all_large(house.clone(), connection, large));
    }

    /// Ends the connection after its last letter has gone.
    pub(super) fn close_soon(&self, house: &House, why: String) {
        let connection = self.connection.clone();
        house.runtime.spawn(async move {
            tokio::time::sleep(LAST_WORD).await;
            connection.close(PUT_OUT, why.as_bytes());
        });
    }
}

async fn send_all_large(house: Arc<House>, connection: Connection, large: Arc<Mutex<Large>>) {
    loop {
        let next = {
            let mut large = large.lock().unwrap_or_else(PoisonError::into_inner);
            let next = large.next.take();
            large.busy = next.is_some();
            next
        };
        let Some(frame) = next else { return };
        let bytes = frame.len();
        let sent = timeout(LARGE_LETTER, async {
            let mut stream = connection.open_uni().await.ok()?;
            stream.write_chunk(frame).await.ok()?;
            stream.finish().ok()
        });
        match sent.await {
            Ok(Some(())) => house.sent(bytes),
            Ok(None) | Err(_) => count(&house.tally.lost, 1),
        }
    }
}
