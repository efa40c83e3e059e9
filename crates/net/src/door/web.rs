//! The door for browsers and small tools: pages over HTTP, and where WebSockets begin.
//!
//! Connections are taken here and not by a framework, because there is a limit to how many wait
//! and for how long.

use super::{House, No, hosts, json, page, web_letters, web_view};
use crate::charter::{Knock, PROTOCOL, Purpose};
use crate::waiting::{NoRoom, Waiting};
use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, http};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use jostle_proto::Content;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// A message on a WebSocket, at most.
const MESSAGE_MAX: usize = 4 << 10;

/// What a machine holds for a reader who is slow: little, for a newer glimpse is better.
const SEND_BUFFER: u32 = 128 << 10;

/// Connections that the machine holds until they are taken.
const BACKLOG: u32 = 1024;

/// An HTTP connection ends after this, whatever it does. A WebSocket is none any more.
const LIFE: Duration = Duration::from_secs(60);

/// After something went wrong with the socket itself.
const PAUSE: Duration = Duration::from_millis(50);

/// Who has a connection, for those who answer on it.
#[derive(Clone)]
pub(super) struct Visitor {
    pub(super) remote: SocketAddr,
    /// The address at which it has arrived.
    local: SocketAddr,
    /// A place among those who wait, while somebody holds it.
    pub(super) waiting: Arc<Waiting>,
}

/// Opens the socket.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Lets in who comes, for as long as there is a door.
pub(super) async fn serve(
    house: Arc<House>,
    listener: TcpListener,
    tls: Option<Arc<rustls::ServerConfig>>,
) {
    let router = router(house.clone());
    let tls = tls.map(TlsAcceptor::from);
    loop {
        let Ok((stream, remote)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        match house.guests.web.enter(remote) {
            Ok(waiting) => {
                // Not known of a connection that has ended already.
                let Ok(local) = stream.local_addr() else { continue };
                let visitor = Visitor { remote, local, waiting: Arc::new(waiting) };
                let (house, router, tls) = (house.clone(), router.clone(), tls.clone());
                tokio::spawn(async move {
                    let waiting = visitor.waiting.clone();
                    tokio::select! {
                        () = waiting.displaced() => house.refused(remote, &No::Displaced),
                        () = connection(house.clone(), router, (stream, tls), visitor) => {}
                    }
                });
            }
            Err(NoRoom) => house.refused(remote, &No::Full),
        }
    }
}

async fn connection(
    house: Arc<House>,
    router: Router,
    (stream, tls): (TcpStream, Option<TlsAcceptor>),
    visitor: Visitor,
) {
    // A letter is not held back until there are more.
    let _ = stream.set_nodelay(true);
    let handshake = house.limits.handshake;
    let Some(tls) = tls else { return requests(house, router, stream, visitor).await };
    if !matches!(timeout(handshake, stream.peek(&mut [0])).await, Ok(Ok(1..))) {
        return house.unused(visitor.remote);
    }
    match timeout(handshake, tls.accept(stream)).await {
        Ok(Ok(stream)) => requests(house, router, stream, visitor).await,
        Ok(Err(error)) => {
            house.refused(visitor.remote, &No::Tls(error.to_string()));
        }
        Err(_) => house.refused(visitor.remote, &No::Late(handshake)),
    }
}

async fn requests<Stream>(house: Arc<House>, router: Router, stream: Stream, visitor: Visitor)
where
    Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let remote = visitor.remote;
    let handshake = house.limits.handshake;
    // Browsers open connections in advance, and may never use them.
    let mut stream = BufReader::new(stream);
    let is_used = matches!(timeout(handshake, stream.fill_buf()).await, Ok(Ok([_, ..])));
    if !is_used {
        return house.unused(remote);
    }
    let answered = Arc::new(AtomicBool::new(false));
    let answer = {
        let (house, answered) = (house.clone(), answered.clone());
        service_fn(move |mut request: http::Request<Incoming>| {
            answered.store(true, Ordering::Relaxed);
            let refused = refusal(&house, &visitor, &request);
            request.extensions_mut().insert(visitor.clone());
            let router = router.clone();
            async move {
                if let Some(refused) = refused {
                    return Ok(page::guarded(refused));
                }
                let answer: Result<Response, Infallible> =
                    router.oneshot(request.map(Body::new)).await;
                answer.map(page::guarded)
            }
        })
    };
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(handshake)
        .max_buf_size(16 << 10)
        .serve_connection(TokioIo::new(stream), answer)
        .with_upgrades();
    match timeout(LIFE, served).await {
        // It is kept for another request, which does not come.
        Ok(Err(error)) if error.is_timeout() && answered.load(Ordering::Relaxed) => {}
        Ok(Err(error)) if error.is_timeout() => house.refused(remote, &No::Late(handshake)),
        Ok(Err(error)) if error.is_parse() => {
            house.refused(remote, &No::Unreadable(format!("not HTTP: {error}")));
        }
        // The other side went away, or all is said.
        Ok(_) | Err(_) => {}
    }
}

/// The answer to a request that goes no further.
fn refusal<B>(house: &House, visitor: &Visitor, request: &http::Request<B>) -> Option<Response> {
    if !house.guests.request(visitor.remote) {
        return Some(StatusCode::TOO_MANY_REQUESTS.into_response());
    }
    let asked = (request.uri(), request.headers());
    let no = hosts::check(&house.hosts, visitor.local, asked).err()?;
    house.refused(visitor.remote, &no);
    let status = match no {
        No::Origin(_) => StatusCode::FORBIDDEN,
        _ => StatusCode::MISDIRECTED_REQUEST,
    };
    Some((status, format!("{no}\n")).into_response())
}

fn router(house: Arc<House>) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/metrics", get(metrics))
        .route("/status", get(status))
        .route("/form/{name}", get(form))
        .route("/mesh/{name}", get(mesh))
        .route("/ws", get(letters))
        .route("/view", get(view))
        .fallback(page::file)
        .with_state(house)
}

type Asked = Query<HashMap<String, String>>;

async fn metrics(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    asked: Asked,
    headers: HeaderMap,
) -> Response {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let shown = || ([(header::CONTENT_TYPE, kind)], (house.lobby.metrics)()).into_response();
    unauthorized(&house, &visitor, &asked, &headers).unwrap_or_else(shown)
}

async fn status(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    asked: Asked,
    headers: HeaderMap,
) -> Response {
    let kind = "application/json";
    let shown = || ([(header::CONTENT_TYPE, kind)], (house.lobby.status)()).into_response();
    unauthorized(&house, &visitor, &asked, &headers).unwrap_or_else(shown)
}

/// The answer to a request without the token, if there is one: as `Authorization: Bearer`, or in
/// the query, where the address of a page has it.
fn unauthorized(
    house: &House,
    visitor: &Visitor,
    asked: &Asked,
    headers: &HeaderMap,
) -> Option<Response> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
    let token = bearer.or(asked.get("token").map(String::as_str)).unwrap_or_default().to_string();
    let knock = Knock { protocol: PROTOCOL, token, purpose: Purpose::Status };
    let no = house.judge(&knock, super::Proof::Nothing).err()?;
    house.refused(visitor.remote, &no);
    let bearer = [(header::WWW_AUTHENTICATE, "Bearer")];
    Some((StatusCode::UNAUTHORIZED, bearer, format!("{no}\n")).into_response())
}

/// Bytes by their content: they can never be others.
async fn form(State(house): State<Arc<House>>, Path(name): Path<String>) -> Response {
    let bytes = content(&name).and_then(|content| house.lobby.contents.get(content)).cloned();
    for_ever(bytes.map(Bytes::from_owner))
}

/// The same triangles as a page wants them.
async fn mesh(State(house): State<Arc<House>>, Path(name): Path<String>) -> Response {
    let grown = |content| house.lobby.view.as_ref()?.mesh(content);
    let known = |content| house.meshes.get(content).or_else(|| grown(content));
    for_ever(content(&name).and_then(known))
}

fn for_ever(bytes: Option<Bytes>) -> Response {
    match bytes {
        Some(bytes) => {
            let kind = (header::CONTENT_TYPE, "application/octet-stream");
            let keep = (header::CACHE_CONTROL, page::FOR_EVER);
            ([kind, keep], bytes).into_response()
        }
        None => (StatusCode::NOT_FOUND, "no such content\n").into_response(),
    }
}

fn content(name: &str) -> Option<Content> {
    let (sum, length) = name.split_once('-')?;
    let read = |text: &str| u64::from_str_radix(text, 16).ok();
    Some(Content { sum: read(sum)?, length: read(length)? })
}

/// The name of a content in an address.
pub(crate) fn content_name(content: Content) -> String {
    format!("{:016x}-{:x}", content.sum, content.length)
}

async fn letters(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    Query(asked): Asked,
    request: Request,
) -> Response {
    use axum::extract::FromRequest;
    let upgrade = match WebSocketUpgrade::from_request(request, &()).await {
        Ok(upgrade) => upgrade.max_message_size(MESSAGE_MAX).max_frame_size(MESSAGE_MAX),
        Err(rejection) => return rejection.into_response(),
    };
    match asked.get("format").map(String::as_str) {
        None | Some("binary") => {
            upgrade.on_upgrade(move |socket| web_letters::talk(house, socket, visitor))
        }
        Some("json") => upgrade.on_upgrade(move |socket| json::talk(house, socket, visitor)),
        Some(_) => (StatusCode::BAD_REQUEST, "format is binary or json\n").into_response(),
    }
}

/// Those who watch.
async fn view(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    request: Request,
) -> Response {
    use axum::extract::FromRequest;
    let upgrade = match WebSocketUpgrade::from_request(request, &()).await {
        Ok(upgrade) => upgrade.max_message_size(MESSAGE_MAX).max_frame_size(MESSAGE_MAX),
        Err(rejection) => return rejection.into_response(),
    };
    upgrade.on_upgrade(move |socket| web_view::talk(house, socket, visitor))
}
