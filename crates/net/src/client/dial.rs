//! From an address to a door that has answered, and what can be fetched there.

use super::{ClientError, ClientOptions, Trust, trust};
use crate::Secret;
use crate::charter::{Answer, Begin, Charter, Knock, PROTOCOL, Place, Purpose, ReplicaChange};
use crate::founding::Founding;
use crate::parcel::{self, ParcelError};
use jostle_proto::{Content, Library, Span};
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, RecvStream, SendStream, VarInt};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::time::timeout;

/// A door that takes longer to answer is none.
const PATIENCE: Duration = Duration::from_secs(5);

/// And for something long.
const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of a charter or a status, at most.
const ANSWER_MAX: usize = 16 << 20;

/// Bytes of a content, at most.
const CONTENT_MAX: u64 = 1 << 30;

/// Bytes around a content in an answer, at most.
const AROUND: usize = 16;

/// Libraries are filled here and not by asking around.
const RESEND: Span = Span::from_ms(50);

/// Sockets to connect from.
#[derive(Clone)]
pub(super) struct Dialler {
    four: Endpoint,
    six: Option<Endpoint>,
}

/// An open line to a door.
pub(super) struct Line {
    pub(super) door: SocketAddr,
    pub(super) connection: Connection,
    pub(super) charter: Charter,
    stream: Stream,
}

/// The stream of questions and answers.
struct Stream {
    door: SocketAddr,
    send: SendStream,
    receive: RecvStream,
}

impl Dialler {
    /// Inside a runtime.
    pub(super) fn new() -> Result<Dialler, ClientError> {
        let four =
            Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into()).map_err(ClientError::Local)?;
        // Not every machine has it.
        let six = Endpoint::client((Ipv6Addr::UNSPECIFIED, 0).into()).ok();
        Ok(Dialler { four, six })
    }

    /// The first of the doors that lets it in.
    pub(super) async fn dial_any(&self, options: &ClientOptions) -> Result<Line, ClientError> {
        let mut result = Err(ClientError::NoDoor);
        for &door in &options.doors {
            result = self.dial(options, door).await;
            if result.is_ok() {
                break;
            }
        }
        result
    }

    /// A line to play on.
    pub(super) async fn dial(
        &self,
        options: &ClientOptions,
        door: SocketAddr,
    ) -> Result<Line, ClientError> {
        let config = trust::configuration(&options.trust)?;
        let knock = knock(options.token.as_ref(), Purpose::Play);
        match self.knock(config, door, &knock).await? {
            (connection, stream, Answer::Charter(charter)) => {
                Ok(Line { door, connection, charter, stream })
            }
            (_, _, other) => Err(unexpected(door, &other)),
        }
    }

    /// Connects and knocks.
    async fn knock(
        &self,
        config: ClientConfig,
        door: SocketAddr,
        knock: &Knock,
    ) -> Result<(Connection, Stream, Answer), ClientError> {
        let unreachable = |why: String| ClientError::Unreachable { door, why };
        let endpoint = match &self.six {
            Some(six) if door.is_ipv6() => six,
            _ => &self.four,
        };
        let answered = async {
            let connecting = endpoint
                .connect_with(config, door, &door.ip().to_string())
                .map_err(|error| unreachable(error.to_string()))?;
            let connection = connecting.await.map_err(|error| unreachable(explained(&error)))?;
            let (send, receive) =
                connection.open_bi().await.map_err(|error| unreachable(explained(&error)))?;
            let mut stream = Stream { door, send, receive };
            let heard = match stream.say(knock).await {
                Ok(()) => stream.hear(ANSWER_MAX).await,
                Err(error) => Err(error),
            };
            match (heard, connection.close_reason()) {
                (Ok(Answer::Refused(why)), _) => Err(ClientError::Refused { door, why }),
                (Ok(answer), _) => Ok((connection, stream, answer)),
                // A server looks at the certificate of a node after the handshake.
                (Err(_), Some(reason)) => Err(unreachable(explained(&reason))),
                (Err(error), None) => Err(error),
            }
        };
        match timeout(PATIENCE, answered).await {
            Ok(result) => result,
            Err(_) => Err(unreachable(format!("timed out ({} s)", PATIENCE.as_secs()))),
        }
    }
}

/// Why a connection ended, in words for those who set up certificates.
fn explained(error: &ConnectionError) -> String {
    let text = error.to_string();
    match error {
        ConnectionError::TransportError(_) if text.contains("invalid peer certificate") => {
            format!("the server's certificate is not one of ca.pem in the --tls folder ({text})")
        }
        ConnectionError::ConnectionClosed(_) if text.contains("cryptographic handshake") => {
            format!("the server does not accept node.pem in the --tls folder ({text})")
        }
        _ => text,
    }
}

/// Doors that send on to others: so many in a row.
const ON: usize = 4;

impl Dialler {
    /// The same at other doors, if the first one sends it there. Of those the first one counts that
    /// lets it in.
    async fn knock_around(
        &self,
        config: ClientConfig,
        door: SocketAddr,
        knock: &Knock,
    ) -> Result<(SocketAddr, Connection, Stream, Answer), ClientError> {
        let mut doors = vec![door];
        for _ in 0..ON {
            let mut failed = ClientError::NoDoor;
            let mut told = None;
            for door in doors {
                match self.knock(config.clone(), door, knock).await {
                    Ok((_, _, Answer::Elsewhere(others))) if !others.is_empty() => {
                        told = Some(others);
                        break;
                    }
                    Ok((connection, stream, answer)) => {
                        return Ok((door, connection, stream, answer));
                    }
                    Err(error) => failed = error,
                }
            }
            doors = told.ok_or(failed)?;
        }
        Err(ClientError::NoDoor)
    }
}

fn knock(token: Option<&Secret>, purpose: Purpose) -> Knock {
    let token = token.map(|token| token.reveal().to_string()).unwrap_or_default();
    Knock { protocol: PROTOCOL, token, purpose }
}

fn unexpected(door: SocketAddr, answer: &Answer) -> ClientError {
    let what = match answer {
        Answer::Refused(_) => "a refusal",
        Answer::Charter(_) => "a world manifest",
        Answer::Place(..) => "a place",
        Answer::Status(_) => "a status",
        Answer::Content(_) => "a content",
        Answer::Elsewhere(_) => "other addresses",
        Answer::Founding(_) => "a founding record",
        Answer::Changed => "a change",
    };
    ClientError::Unexpected { door, what: format!("{what}, which was not asked for") }
}

impl Stream {
    fn broken(&self, error: ParcelError) -> ClientError {
        match error {
            ParcelError::Ended(_) | ParcelError::Unwritable(_) => {
                ClientError::Unreachable { door: self.door, why: error.to_string() }
            }
            ParcelError::Long { .. } | ParcelError::Unreadable { .. } => {
                ClientError::Unexpected { door: self.door, what: error.to_string() }
            }
        }
    }

    async fn say<Message: serde::Serialize>(
        &mut self,
        message: &Message,
    ) -> Result<(), ClientError> {
        parcel::send(&mut self.send, message).await.map_err(|error| self.broken(error))
    }

    async fn hear(&mut self, most: usize) -> Result<Answer, ClientError> {
        parcel::receive(&mut self.receive, most).await.map_err(|error| self.broken(error))
    }

    /// Bytes by their content.
    async fn fetch(&mut self, content: Content) -> Result<Vec<u8>, ClientError> {
        let door = self.door;
        let wrong = |what: String| ClientError::Unexpected { door, what };
        if content.length > CONTENT_MAX {
            return Err(wrong(format!("a shape of {} bytes, which is too large", content.length)));
        }
        self.say(&content).await?;
        let asked = self.hear(content.length as usize + AROUND);
        let answer = timeout(LONG_PATIENCE, asked).await;
        match answer.map_err(|_| wrong("timed out".to_string()))?? {
            Answer::Content(Some(bytes)) if Content::of(&bytes) == content => Ok(bytes),
            Answer::Content(Some(_)) => Err(wrong("other bytes than asked for".to_string())),
            Answer::Content(None) => Err(wrong(format!("it has no content {:016x}", content.sum))),
            other => Err(unexpected(door, &other)),
        }
    }

    async fn fetch_forms(&mut self, charter: &Charter) -> Result<Library, ClientError> {
        let mut library = Library::awaiting(charter.forms.clone(), RESEND);
        while let Some(content) = library.missing() {
            library.put(self.fetch(content).await?);
        }
        Ok(library)
    }
}

impl Line {
    /// All forms of the world.
    pub(super) async fn fetch_forms(&mut self) -> Result<Library, ClientError> {
        self.stream.fetch_forms(&self.charter).await
    }
}

/// All is said.
const DONE: VarInt = VarInt::from_u32(0);

/// On a thread of its own, so that it may be called from anywhere.
fn blocking<Value: Send>(
    work: impl AsyncFnOnce(Dialler) -> Result<Value, ClientError> + Send,
) -> Result<Value, ClientError> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(ClientError::Local)?;
            runtime.block_on(async { work(Dialler::new()?).await })
        });
        let panicked = |_| ClientError::Local(std::io::Error::other("the thread panicked"));
        thread.join().map_err(panicked)?
    })
}

/// How a world is, as JSON. Waits for it.
///
/// # Errors
/// See [`ClientError`].
pub fn fetch_status(
    address: SocketAddr,
    token: Option<&Secret>,
    trust: &Trust,
) -> Result<String, ClientError> {
    let config = trust::configuration(trust)?;
    let knock = knock(token, Purpose::Status);
    blocking(async |dialler| match dialler.knock(config, address, &knock).await? {
        (connection, _, Answer::Status(status)) => {
            connection.close(DONE, b"");
            Ok(status)
        }
        (_, _, other) => Err(unexpected(address, &other)),
    })
}

/// Asks to work as a node, with a name that the process has drawn and so many followers; fetches
/// all forms and what [`Place::scenery`] names. Asks at other doors if it is told to. Waits for it.
///
/// # Errors
/// See [`ClientError`].
pub fn ask_for_work(
    address: SocketAddr,
    node_token: Option<&Secret>,
    trust: &Trust,
    name: u64,
    followers: u32,
) -> Result<(Charter, Place, Library), ClientError> {
    let config = trust::configuration(trust)?;
    let knock = knock(node_token, Purpose::Work { name, followers });
    blocking(async |dialler| {
        let (door, connection, mut stream, answer) =
            dialler.knock_around(config, address, &knock).await?;
        let Answer::Place(charter, place) = answer else { return Err(unexpected(door, &answer)) };
        let mut library = stream.fetch_forms(&charter).await?;
        if library.get(place.scenery).is_none() {
            library.put(stream.fetch(place.scenery).await?);
        }
        connection.close(DONE, b"");
        Ok((*charter, place, library))
    })
}

/// A replica does not wait longer for another one to answer, who may be gone.
const QUICK: Duration = Duration::from_millis(2000);

/// Asks how a world began whose directory has replicas, perhaps to begin as one of them; fetches
/// all of it. Waits for it.
pub(crate) fn ask_for_founding(
    address: SocketAddr,
    node_token: Option<&Secret>,
    trust: &Trust,
    begin: Option<Begin>,
) -> Result<(Founding, Library), ClientError> {
    let config = trust::configuration(trust)?;
    let knock = knock(node_token, Purpose::Replicate { begin });
    blocking(async |dialler| {
        let unreachable =
            |_| ClientError::Unreachable { door: address, why: "timed out".to_string() };
        let knocked = timeout(QUICK, dialler.knock(config, address, &knock)).await;
        let (connection, mut stream, answer) = knocked.map_err(unreachable)??;
        let Answer::Founding(content) = answer else { return Err(unexpected(address, &answer)) };
        let bytes = stream.fetch(content).await?;
        let founding: Founding = parcel::open(&bytes).map_err(|error| stream.broken(error))?;
        let mut library = stream.fetch_forms(&founding.charter).await?;
        if library.get(founding.scenery).is_none() {
            library.put(stream.fetch(founding.scenery).await?);
        }
        library.put(bytes);
        connection.close(DONE, b"");
        Ok((founding, library))
    })
}

/// Asks the leader of the directory's replicas to add one, or to remove one: at any of their doors.
/// Waits until it is under way.
///
/// # Errors
/// See [`ClientError`].
pub fn ask_to_change(
    address: SocketAddr,
    node_token: Option<&Secret>,
    trust: &Trust,
    change: ReplicaChange,
) -> Result<(), ClientError> {
    let config = trust::configuration(trust)?;
    let knock = knock(node_token, Purpose::Change(change));
    blocking(async |dialler| match dialler.knock_around(config, address, &knock).await? {
        (_, connection, _, Answer::Changed) => {
            connection.close(DONE, b"");
            Ok(())
        }
        (door, _, _, other) => Err(unexpected(door, &other)),
    })
}
