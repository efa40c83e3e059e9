//! The page that shows the world: the files of `web/dist` if they were there at build time,
//! otherwise a page that says how to build them.

use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// An embedded file of the page.
struct File {
    /// The path in the URL.
    path: &'static str,
    kind: &'static str,
    /// The file name contains a digest, so it may be cached forever.
    for_ever: bool,
    bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// `Cache-Control` of content that is addressed by its digest.
pub(super) const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// Only resources of this server run in the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data: blob:; font-src 'self'; \
                      connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

const PLAIN: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
<title>Jostle</title><h1>A shared world of Jostle</h1>\
<p>Exact collision detection for worlds that many machines compute together. \
This is one of its servers.</p>\
<p>The viewer is not in this program: it was built without it. To get it, install Node.js, run \
<code>cargo xtask web</code> in the sources and build again.</p>\
<ul><li><a href=\"/status\">status</a>: how the world is (needs the token, if there is one)</li>\
<li><a href=\"/metrics\">metrics</a>: counters for Prometheus</li>\
<li>/ws: binary messages; /ws?format=json: for small tools</li>\
<li>/view: for pages that show the world</li></ul></html>\n";

/// Adds the security headers.
pub(super) fn guarded(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    let set = |text| HeaderValue::from_static(text);
    headers.insert(header::CONTENT_SECURITY_POLICY, set(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, set("nosniff"));
    headers.insert(header::REFERRER_POLICY, set("no-referrer"));
    answer
}

/// The page itself.
pub(super) async fn index() -> Response {
    match find("/index.html") {
        Some(file) => answer(file),
        None => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], PLAIN).into_response(),
    }
}

/// A file of the page.
pub(super) async fn file(uri: Uri) -> Response {
    match find(uri.path()) {
        Some(file) => answer(file),
        None => (StatusCode::NOT_FOUND, "not found\n").into_response(),
    }
}

fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

fn answer(file: &'static File) -> Response {
    let keep = if file.for_ever { FOR_EVER } else { "no-cache" };
    let kind = (header::CONTENT_TYPE, file.kind);
    ([kind, (header::CACHE_CONTROL, keep)], file.bytes).into_response()
}
