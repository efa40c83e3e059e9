//! Connecting: from an address to a completed handshake, and contents that are fetched then.

use super::{ClientError, ClientOptions, Trust, trust};
use crate::Secret;
use crate::bootstrap::Bootstrap;
use crate::envelope::{self, EnvelopeError};
use crate::manifest::{
    EdgeResponse, Handshake, NodeAssignment, PROTOCOL, Purpose, ReplicaChange, ReplicaStart,
    WorldManifest,
};
use jostle_proto::{Content, Library, Span};
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, RecvStream, SendStream, VarInt};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::time::timeout;

/// Timeout of connecting and the handshake.
const PATIENCE: Duration = Duration::from_secs(5);

/// Timeout of a content.
const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of a manifest or a status, at most.
const ANSWER_MAX: usize = 16 << 20;

/// Bytes of a content, at most.
const CONTENT_MAX: u64 = 1 << 30;

/// Bytes that an answer adds to a content, at most.
const AROUND: usize = 16;

/// Not used here: the library is filled by requests to the server.
const RESEND: Span = Span::from_ms(50);

/// Sockets to connect from.
#[derive(Clone)]
pub(super) struct Dialler {
    four: Endpoint,
    six: Option<Endpoint>,
}

/// A connection to a server after the handshake.
pub(super) struct ServerLink {
    pub(super) server: SocketAddr,
    pub(super) connection: Connection,
    pub(super) manifest: WorldManifest,
    stream: Stream,
}

/// The stream of requests and responses.
struct Stream {
    server: SocketAddr,
    send: SendStream,
    receive: RecvStream,
}

impl Dialler {
    /// Must be called inside a runtime.
    pub(super) fn new() -> Result<Dialler, ClientError> {
        let four =
            Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into()).map_err(ClientError::Local)?;
        // IPv6 may be unavailable.
        let six = Endpoint::client((Ipv6Addr::UNSPECIFIED, 0).into()).ok();
        Ok(Dialler { four, six })
    }

    /// The first server that accepts the client.
    pub(super) async fn dial_any(
        &self,
        options: &ClientOptions,
    ) -> Result<ServerLink, ClientError> {
        let mut result = Err(ClientError::NoServer);
        for &server in &options.servers {
            result = self.dial(options, server).await;
            if result.is_ok() {
                break;
            }
        }
        result
    }

    /// Connects as a client.
    pub(super) async fn dial(
        &self,
        options: &ClientOptions,
        server: SocketAddr,
    ) -> Result<ServerLink, ClientError> {
        let config = trust::configuration(&options.trust)?;
        let handshake = handshake(options.token.as_ref(), Purpose::Play);
        match self.handshake(config, server, &handshake).await? {
            (connection, stream, EdgeResponse::Manifest(manifest)) => {
                Ok(ServerLink { server, connection, manifest, stream })
            }
            (_, _, other) => Err(unexpected(server, &other)),
        }
    }

    /// Connects and completes the handshake.
    async fn handshake(
        &self,
        config: ClientConfig,
        server: SocketAddr,
        handshake: &Handshake,
    ) -> Result<(Connection, Stream, EdgeResponse), ClientError> {
        let unreachable = |why: String| ClientError::Unreachable { server, why };
        let endpoint = match &self.six {
            Some(six) if server.is_ipv6() => six,
            _ => &self.four,
        };
        let answered = async {
            let connecting = endpoint
                .connect_with(config, server, &server.ip().to_string())
                .map_err(|error| unreachable(error.to_string()))?;
            let connection = connecting.await.map_err(|error| unreachable(explained(&error)))?;
            let (send, receive) =
                connection.open_bi().await.map_err(|error| unreachable(explained(&error)))?;
            let mut stream = Stream { server, send, receive };
            let received = match stream.send(handshake).await {
                Ok(()) => stream.receive(ANSWER_MAX).await,
                Err(error) => Err(error),
            };
            match (received, connection.close_reason()) {
                (Ok(EdgeResponse::Rejected(why)), _) => Err(ClientError::Rejected { server, why }),
                (Ok(answer), _) => Ok((connection, stream, answer)),
                // A server verifies the certificate of a node after the TLS handshake.
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

/// Why a connection ended, with hints about certificates.
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

/// Redirects that are followed, at most.
const ON: usize = 4;

impl Dialler {
    /// The same, following redirects. Of several addresses the first one that accepts is used.
    async fn handshake_following_redirects(
        &self,
        config: ClientConfig,
        server: SocketAddr,
        handshake: &Handshake,
    ) -> Result<(SocketAddr, Connection, Stream, EdgeResponse), ClientError> {
        let mut servers = vec![server];
        for _ in 0..ON {
            let mut failed = ClientError::NoServer;
            let mut reported = None;
            for server in servers {
                match self.handshake(config.clone(), server, handshake).await {
                    Ok((_, _, EdgeResponse::Redirect(others))) if !others.is_empty() => {
                        reported = Some(others);
                        break;
                    }
                    Ok((connection, stream, answer)) => {
                        return Ok((server, connection, stream, answer));
                    }
                    Err(error) => failed = error,
                }
            }
            servers = reported.ok_or(failed)?;
        }
        Err(ClientError::NoServer)
    }
}

fn handshake(token: Option<&Secret>, purpose: Purpose) -> Handshake {
    let token = token.map(|token| token.reveal().to_string()).unwrap_or_default();
    Handshake { protocol: PROTOCOL, token, purpose }
}

fn unexpected(server: SocketAddr, answer: &EdgeResponse) -> ClientError {
    let what = match answer {
        EdgeResponse::Rejected(_) => "a refusal",
        EdgeResponse::Manifest(_) => "a world manifest",
        EdgeResponse::Assigned(..) => "a place",
        EdgeResponse::Status(_) => "a status",
        EdgeResponse::Content(_) => "a content",
        EdgeResponse::Redirect(_) => "other addresses",
        EdgeResponse::Bootstrap(_) => "a founding record",
        EdgeResponse::Changed => "a change",
    };
    ClientError::Unexpected { server, what: format!("{what}, which was not asked for") }
}

impl Stream {
    fn broken(&self, error: EnvelopeError) -> ClientError {
        match error {
            EnvelopeError::Ended(_) | EnvelopeError::Unwritable(_) => {
                ClientError::Unreachable { server: self.server, why: error.to_string() }
            }
            EnvelopeError::Long { .. } | EnvelopeError::Unreadable { .. } => {
                ClientError::Unexpected { server: self.server, what: error.to_string() }
            }
        }
    }

    async fn send<Message: serde::Serialize>(
        &mut self,
        message: &Message,
    ) -> Result<(), ClientError> {
        envelope::send(&mut self.send, message).await.map_err(|error| self.broken(error))
    }

    async fn receive(&mut self, most: usize) -> Result<EdgeResponse, ClientError> {
        envelope::receive(&mut self.receive, most).await.map_err(|error| self.broken(error))
    }

    /// Fetches a content by its digest.
    async fn fetch(&mut self, content: Content) -> Result<Vec<u8>, ClientError> {
        let server = self.server;
        let wrong = |what: String| ClientError::Unexpected { server, what };
        if content.length > CONTENT_MAX {
            return Err(wrong(format!("a shape of {} bytes, which is too large", content.length)));
        }
        self.send(&content).await?;
        let asked = self.receive(content.length as usize + AROUND);
        let answer = timeout(LONG_PATIENCE, asked).await;
        match answer.map_err(|_| wrong("timed out".to_string()))?? {
            EdgeResponse::Content(Some(bytes)) if Content::of(&bytes) == content => Ok(bytes),
            EdgeResponse::Content(Some(_)) => Err(wrong("other bytes than asked for".to_string())),
            EdgeResponse::Content(None) => {
                Err(wrong(format!("it has no content {:016x}", content.sum)))
            }
            other => Err(unexpected(server, &other)),
        }
    }

    async fn fetch_forms(&mut self, manifest: &WorldManifest) -> Result<Library, ClientError> {
        let mut library = Library::awaiting(manifest.forms.clone(), RESEND);
        while let Some(content) = library.missing() {
            library.put(self.fetch(content).await?);
        }
        Ok(library)
    }
}

impl ServerLink {
    /// Fetches all shapes of the world.
    pub(super) async fn fetch_forms(&mut self) -> Result<Library, ClientError> {
        self.stream.fetch_forms(&self.manifest).await
    }
}

/// Close code: complete.
const DONE: VarInt = VarInt::from_u32(0);

/// Runs on a thread of its own, so that it can be called from any context.
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

/// Fetches the status of a world as JSON. Blocks.
///
/// # Errors
/// See [`ClientError`].
pub fn fetch_status(
    address: SocketAddr,
    token: Option<&Secret>,
    trust: &Trust,
) -> Result<String, ClientError> {
    let config = trust::configuration(trust)?;
    let handshake = handshake(token, Purpose::Status);
    blocking(async |dialler| match dialler.handshake(config, address, &handshake).await? {
        (connection, _, EdgeResponse::Status(status)) => {
            connection.close(DONE, b"");
            Ok(status)
        }
        (_, _, other) => Err(unexpected(address, &other)),
    })
}

/// Joins as a node, with a random name of the process and so many followers; fetches all shapes and
/// what [`NodeAssignment::static_objects`] names. Follows redirects. Blocks.
///
/// # Errors
/// See [`ClientError`].
pub fn join_as_node(
    address: SocketAddr,
    node_token: Option<&Secret>,
    trust: &Trust,
    name: u64,
    followers: u32,
) -> Result<(WorldManifest, NodeAssignment, Library), ClientError> {
    let config = trust::configuration(trust)?;
    let handshake = handshake(node_token, Purpose::Join { name, followers });
    blocking(async |dialler| {
        let (server, connection, mut stream, answer) =
            dialler.handshake_following_redirects(config, address, &handshake).await?;
        let EdgeResponse::Assigned(manifest, place) = answer else {
            return Err(unexpected(server, &answer));
        };
        let mut library = stream.fetch_forms(&manifest).await?;
        if library.get(place.static_objects).is_none() {
            library.put(stream.fetch(place.static_objects).await?);
        }
        connection.close(DONE, b"");
        Ok((*manifest, place, library))
    })
}

/// Timeout for a replica, which may be dead: another one can be asked.
const QUICK: Duration = Duration::from_millis(2000);

/// Fetches the bootstrap record of a world with a replicated directory, optionally to start as one
/// of its replicas, and the contents that it names. Blocks.
pub(crate) fn fetch_bootstrap(
    address: SocketAddr,
    node_token: Option<&Secret>,
    trust: &Trust,
    begin: Option<ReplicaStart>,
) -> Result<(Bootstrap, Library), ClientError> {
    let config = trust::configuration(trust)?;
    let handshake = handshake(node_token, Purpose::Replicate { begin });
    blocking(async |dialler| {
        let unreachable =
            |_| ClientError::Unreachable { server: address, why: "timed out".to_string() };
        let answered = timeout(QUICK, dialler.handshake(config, address, &handshake)).await;
        let (connection, mut stream, answer) = answered.map_err(unreachable)??;
        let EdgeResponse::Bootstrap(content) = answer else {
            return Err(unexpected(address, &answer));
        };
        let bytes = stream.fetch(content).await?;
        let bootstrap: Bootstrap = envelope::open(&bytes).map_err(|error| stream.broken(error))?;
        let mut library = stream.fetch_forms(&bootstrap.manifest).await?;
        if library.get(bootstrap.static_objects).is_none() {
            library.put(stream.fetch(bootstrap.static_objects).await?);
        }
        library.put(bytes);
        connection.close(DONE, b"");
        Ok((bootstrap, library))
    })
}

/// Proposes to add or remove a replica, at the address of any replica. Blocks until the change is
/// under way.
///
/// # Errors
/// See [`ClientError`].
pub fn change_replicas(
    address: SocketAddr,
    node_token: Option<&Secret>,
    trust: &Trust,
    change: ReplicaChange,
) -> Result<(), ClientError> {
    let config = trust::configuration(trust)?;
    let handshake = handshake(node_token, Purpose::Change(change));
    blocking(async |dialler| {
        match dialler.handshake_following_redirects(config, address, &handshake).await? {
            (_, connection, _, EdgeResponse::Changed) => {
                connection.close(DONE, b"");
                Ok(())
            }
            (server, _, _, other) => Err(unexpected(server, &other)),
        }
    })
}
