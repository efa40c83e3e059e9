//! HTTP: the page and its contents, status, metrics, and upgrades to WebSockets.
//!
//! Connections are accepted here and not by a framework, because the number of idle ones and their
//! time are limited.

use super::{EdgeState, Rejection, hosts, json, page, web_view, websocket};
use crate::manifest::{Handshake, PROTOCOL, Purpose};
use crate::pending::{NoRoom, PendingSlot};
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

/// Bytes of a WebSocket message, at most.
const MESSAGE_MAX: usize = 4 << 10;

/// Kernel buffer for a slow reader: small, because a newer state update replaces an older one.
const SEND_BUFFER: u32 = 128 << 10;

/// Connections that the kernel holds until they are accepted.
const BACKLOG: u32 = 1024;

/// Lifetime of an HTTP connection. WebSockets are not limited by it.
const LIFETIME: Duration = Duration::from_secs(60);

/// Pause after `accept` failed.
const PAUSE: Duration = Duration::from_millis(50);

/// The connection that a request arrived on, for its handler.
#[derive(Clone)]
pub(super) struct HttpPeer {
    pub(super) remote: SocketAddr,
    /// The address at which it arrived.
    local: SocketAddr,
    /// Its entry among the pending connections, while it has not authenticated.
    pub(super) pending: Arc<PendingSlot>,
}

/// Opens the socket.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections for as long as the server runs.
pub(super) async fn serve(
    edge: Arc<EdgeState>,
    listener: TcpListener,
    tls: Option<Arc<rustls::ServerConfig>>,
) {
    let router = router(edge.clone());
    let tls = tls.map(TlsAcceptor::from);
    loop {
        let Ok((stream, remote)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        match edge.connections.web.enter(remote) {
            Ok(pending) => {
                // Fails for a connection that has ended already.
                let Ok(local) = stream.local_addr() else { continue };
                let peer = HttpPeer { remote, local, pending: Arc::new(pending) };
                let (edge, router, tls) = (edge.clone(), router.clone(), tls.clone());
                tokio::spawn(async move {
                    let pending = peer.pending.clone();
                    tokio::select! {
                        () = pending.displaced() => edge.reject(remote, &Rejection::Displaced),
                        () = connection(edge.clone(), router, (stream, tls), peer) => {}
                    }
                });
            }
            Err(NoRoom) => edge.reject(remote, &Rejection::Full),
        }
    }
}

async fn connection(
    edge: Arc<EdgeState>,
    router: Router,
    (stream, tls): (TcpStream, Option<TlsAcceptor>),
    peer: HttpPeer,
) {
    // Small messages are sent at once.
    let _ = stream.set_nodelay(true);
    let tls_handshake = edge.limits.tls_handshake;
    let Some(tls) = tls else { return requests(edge, router, stream, peer).await };
    if !matches!(timeout(tls_handshake, stream.peek(&mut [0])).await, Ok(Ok(1..))) {
        return edge.unused(peer.remote);
    }
    match timeout(tls_handshake, tls.accept(stream)).await {
        Ok(Ok(stream)) => requests(edge, router, stream, peer).await,
        Ok(Err(error)) => {
            edge.reject(peer.remote, &Rejection::Tls(error.to_string()));
        }
        Err(_) => edge.reject(peer.remote, &Rejection::Late(tls_handshake)),
    }
}

async fn requests<Stream>(edge: Arc<EdgeState>, router: Router, stream: Stream, peer: HttpPeer)
where
    Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let remote = peer.remote;
    let tls_handshake = edge.limits.tls_handshake;
    // Browsers open connections in advance, and may never use them.
    let mut stream = BufReader::new(stream);
    let is_used = matches!(timeout(tls_handshake, stream.fill_buf()).await, Ok(Ok([_, ..])));
    if !is_used {
        return edge.unused(remote);
    }
    let answered = Arc::new(AtomicBool::new(false));
    let answer = {
        let (edge, answered) = (edge.clone(), answered.clone());
        service_fn(move |mut request: http::Request<Incoming>| {
            answered.store(true, Ordering::Relaxed);
            let refused = refusal(&edge, &peer, &request);
            request.extensions_mut().insert(peer.clone());
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
        .header_read_timeout(tls_handshake)
        .max_buf_size(16 << 10)
        .serve_connection(TokioIo::new(stream), answer)
        .with_upgrades();
    match timeout(LIFETIME, served).await {
        // An idle keep-alive connection.
        Ok(Err(error)) if error.is_timeout() && answered.load(Ordering::Relaxed) => {}
        Ok(Err(error)) if error.is_timeout() => {
            edge.reject(remote, &Rejection::Late(tls_handshake))
        }
        Ok(Err(error)) if error.is_parse() => {
            edge.reject(remote, &Rejection::Unreadable(format!("not HTTP: {error}")));
        }
        // The peer closed the connection, or it is complete.
        Ok(_) | Err(_) => {}
    }
}

/// The response to a request that is rejected before it is routed.
fn refusal<B>(edge: &EdgeState, peer: &HttpPeer, request: &http::Request<B>) -> Option<Response> {
    if !edge.connections.check_request(peer.remote) {
        return Some(StatusCode::TOO_MANY_REQUESTS.into_response());
    }
    let query = (request.uri(), request.headers());
    let rejection = hosts::check(&edge.hosts, peer.local, query).err()?;
    edge.reject(peer.remote, &rejection);
    let status = match rejection {
        Rejection::Origin(_) => StatusCode::FORBIDDEN,
        _ => StatusCode::MISDIRECTED_REQUEST,
    };
    Some((status, format!("{rejection}\n")).into_response())
}

fn router(edge: Arc<EdgeState>) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/metrics", get(metrics))
        .route("/status", get(status))
        .route("/form/{name}", get(form))
        .route("/mesh/{name}", get(mesh))
        .route("/ws", get(upgrade_client))
        .route("/view", get(upgrade_viewer))
        .fallback(page::file)
        .with_state(edge)
}

type QueryParameters = Query<HashMap<String, String>>;

async fn metrics(
    State(edge): State<Arc<EdgeState>>,
    Extension(peer): Extension<HttpPeer>,
    query: QueryParameters,
    headers: HeaderMap,
) -> Response {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let response = || ([(header::CONTENT_TYPE, kind)], (edge.services.metrics)()).into_response();
    unauthorized(&edge, &peer, &query, &headers).unwrap_or_else(response)
}

async fn status(
    State(edge): State<Arc<EdgeState>>,
    Extension(peer): Extension<HttpPeer>,
    query: QueryParameters,
    headers: HeaderMap,
) -> Response {
    let kind = "application/json";
    let response = || ([(header::CONTENT_TYPE, kind)], (edge.services.status)()).into_response();
    unauthorized(&edge, &peer, &query, &headers).unwrap_or_else(response)
}

/// The response to a request without a valid token, which is sent as `Authorization: Bearer`, or in
/// the query, where the URL of a page has it.
fn unauthorized(
    edge: &EdgeState,
    peer: &HttpPeer,
    query: &QueryParameters,
    headers: &HeaderMap,
) -> Option<Response> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
    let token = bearer.or(query.get("token").map(String::as_str)).unwrap_or_default().to_string();
    let handshake = Handshake { protocol: PROTOCOL, token, purpose: Purpose::Status };
    let rejection = edge.authorize(&handshake, super::PeerIdentity::Anonymous).err()?;
    edge.reject(peer.remote, &rejection);
    let bearer = [(header::WWW_AUTHENTICATE, "Bearer")];
    Some((StatusCode::UNAUTHORIZED, bearer, format!("{rejection}\n")).into_response())
}

/// A shape by its digest: immutable.
async fn form(State(edge): State<Arc<EdgeState>>, Path(name): Path<String>) -> Response {
    let bytes = content(&name).and_then(|content| edge.services.contents.get(content)).cloned();
    for_ever(bytes.map(Bytes::from_owner))
}

/// Its triangles in the format of the page.
async fn mesh(State(edge): State<Arc<EdgeState>>, Path(name): Path<String>) -> Response {
    let grown = |content| edge.services.view.as_ref()?.mesh(content);
    let known = |content| edge.meshes.get(content).or_else(|| grown(content));
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

/// The name of a content in URLs.
pub(crate) fn content_name(content: Content) -> String {
    format!("{:016x}-{:x}", content.sum, content.length)
}

async fn upgrade_client(
    State(edge): State<Arc<EdgeState>>,
    Extension(peer): Extension<HttpPeer>,
    Query(query): QueryParameters,
    request: Request,
) -> Response {
    use axum::extract::FromRequest;
    let upgrade = match WebSocketUpgrade::from_request(request, &()).await {
        Ok(upgrade) => upgrade.max_message_size(MESSAGE_MAX).max_frame_size(MESSAGE_MAX),
        Err(rejection) => return rejection.into_response(),
    };
    match query.get("format").map(String::as_str) {
        None | Some("binary") => {
            upgrade.on_upgrade(move |socket| websocket::serve(edge, socket, peer))
        }
        Some("json") => upgrade.on_upgrade(move |socket| json::serve(edge, socket, peer)),
        Some(_) => (StatusCode::BAD_REQUEST, "format is binary or json\n").into_response(),
    }
}

/// Upgrades to the WebSocket of viewers.
async fn upgrade_viewer(
    State(edge): State<Arc<EdgeState>>,
    Extension(peer): Extension<HttpPeer>,
    request: Request,
) -> Response {
    use axum::extract::FromRequest;
    let upgrade = match WebSocketUpgrade::from_request(request, &()).await {
        Ok(upgrade) => upgrade.max_message_size(MESSAGE_MAX).max_frame_size(MESSAGE_MAX),
        Err(rejection) => return rejection.into_response(),
    };
    upgrade.on_upgrade(move |socket| web_view::serve(edge, socket, peer))
}
