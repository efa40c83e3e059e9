//! Reasons for which connections are rejected and closed, as the peer and the operator read them.

use crate::manifest::PROTOCOL;
use std::time::Duration;

/// Why a connection is rejected.
#[derive(Debug, thiserror::Error)]
pub(super) enum Rejection {
    #[error("protocol version {found} is not supported: this server speaks version {PROTOCOL}")]
    Protocol { found: u32 },
    #[error("unauthorized: this server requires --token ({0})")]
    Token(TokenProblem),
    #[error("unauthorized: this server requires {0}")]
    Node(String),
    #[error("unauthorized: this server has no --node-token, but one was sent: join without it")]
    NeedlessToken,
    #[error(
        "this server is not known as {}: reach it under its address or as localhost, or start it \
         with --web-host NAME", quoted(.0)
    )]
    Host(String),
    #[error(
        "pages from {} may not use this server: start it with --web-host NAME if they are trusted",
        quoted(.0)
    )]
    Origin(String),
    #[error("too many connections")]
    Full,
    #[error("too many connections wait: this one, the oldest of its host, gave way to a new one")]
    Displaced,
    #[error("too many connections from this host")]
    HostFull,
    #[error("too many handshakes from this host: try again later")]
    TooOften,
    #[error("handshake timed out ({} s)", .0.as_secs_f64())]
    Late(Duration),
    #[error("TLS handshake failed: {0}")]
    Tls(String),
    #[error("malformed handshake: {0}")]
    Unreadable(String),
    #[error("{0}")]
    Work(String),
    #[error("this is a replica of the directory: clients connect to the serving process")]
    Replica,
    #[error("this is a recording or a scene of one process: it has no avatars and no nodes")]
    Recording,
    #[error("this server does not show the world")]
    Unseen,
}

/// What is wrong with the token that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TokenProblem {
    #[error("none was sent")]
    Missing,
    #[error("the token sent is not valid")]
    Invalid,
}

impl TokenProblem {
    pub(super) fn of(token: &str) -> TokenProblem {
        if token.is_empty() { TokenProblem::Missing } else { TokenProblem::Invalid }
    }
}

/// Why an accepted connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Disconnect {
    #[error("no message for {} s", .0.as_secs_f64())]
    Silent(Duration),
    #[error("flood: far more messages than the rate limit allows")]
    Flood,
    #[error("too many malformed messages")]
    Malformed,
    #[error("malformed request for content")]
    Content,
    #[error("malformed question")]
    Question,
    #[error("message too long")]
    TooLong,
    #[error("not a WebSocket message")]
    NotWebSocket,
}

/// Quotes a name that a peer sent, shortened.
fn quoted(name: &str) -> String {
    format!("{:?}", one_line(name).chars().take(100).collect::<String>())
}

/// Replaces control characters: parts of the text may come from a peer, and a log entry is one
/// line.
pub(super) fn one_line(text: &str) -> String {
    text.chars()
        .map(|character| if character.is_control() { '?' } else { character })
        .take(300)
        .collect()
}
