//! Which kind of frame a message travels in, and what stands in it.
//!
//! A message is what postcard makes of it, unless it is one of those that go out in every tick:
//! contacts are columns of bits, and bundles are deltas, which need to know what was sent before
//! (`link`). Their kinds hold nothing else.

use super::WireError;
use super::frame::{Kind, take};
use super::touches::{read_touches, write_touches};
use crate::free_running::FreeRunningMessage;
use crate::groups::GroupId;
use crate::input::{Input, Source};
use crate::message::{Commit, Done, Message, RemoteKick};
use crate::object::NodeId;
use crate::time::Tick;
use crate::view::Epoch;
use serde::{Deserialize, Serialize};

/// The kind of a message. This is all that a new message needs.
pub(super) fn kind(message: &Message) -> Kind {
    match message {
        Message::Join(_) => Kind::Join,
        Message::Reset { .. } => Kind::Reset,
        Message::Alive { .. } | Message::Lease { .. } => Kind::Lease,
        Message::View(_) => Kind::View,
        Message::Stable { .. } | Message::StableKept(_) => Kind::Stable,
        Message::Flush(_) | Message::Resume(_) => Kind::Flush,
        Message::Bundle(_) => Kind::Bundle,
        Message::Done(_) => Kind::Done,
        Message::Commit(_) => Kind::Commit,
        Message::Inputs(_) => Kind::Inputs,
        Message::Follow(_) | Message::Where { .. } | Message::Here { .. } => Kind::Follow,
        Message::Published(_) => Kind::Event,
        Message::Share(_) => Kind::Share,
        Message::FreeRunning(FreeRunningMessage::Shown(_)) => Kind::Share,
        Message::FreeRunning(_) => Kind::Transfer,
        Message::FromClient(_) => Kind::Input,
        Message::ToClient(_) => Kind::World,
        Message::Ping { .. } | Message::Pong { .. } => Kind::Ping,
        Message::Delays(_) | Message::Links(_) | Message::Probe(_) => Kind::Lease,
        Message::Peers(_) | Message::Halted { .. } => Kind::View,
        Message::VoteRequest { .. } | Message::VoteCall(_) => Kind::Vote,
        Message::Vote(_) | Message::VoteClosed(_) => Kind::Vote,
        Message::MayLeave(_) | Message::Leave { .. } => Kind::Stable,
        Message::Greet(_) => Kind::HomeState,
        Message::Heard { .. } => Kind::Decide,
    }
}

/// A commit without its contacts, which follow.
#[derive(Serialize, Deserialize)]
struct CommitHead {
    group: GroupId,
    epoch: Epoch,
    tick: Tick,
    kicks: Vec<RemoteKick>,
    inputs: Vec<Input>,
    heard: Vec<(Source, u64)>,
    digest: [u8; 8],
    dilation: u32,
}

/// The same of what a member found.
#[derive(Serialize, Deserialize)]
struct DoneHead {
    epoch: Epoch,
    tick: Tick,
    from: NodeId,
    kicks: Vec<RemoteKick>,
    digest: [u8; 8],
}

/// The bytes of a message of any kind but a bundle.
pub(super) fn write(message: &Message) -> Result<Vec<u8>, WireError> {
    match message {
        Message::Commit(commit) | Message::Published(commit) => {
            let head = CommitHead {
                group: commit.group,
                epoch: commit.epoch,
                tick: commit.tick,
                kicks: commit.kicks.clone(),
                inputs: commit.inputs.clone(),
                heard: commit.heard.clone(),
                digest: commit.digest.to_le_bytes(),
                dilation: commit.dilation,
            };
            let mut bytes = plain(&head)?;
            write_touches(&commit.touches, &mut bytes);
            Ok(bytes)
        }
        Message::Done(done) => {
            let digest = done.digest.to_le_bytes();
            let Done { epoch, tick, from, .. } = *done;
            let kicks = done.kicks.clone();
            let mut bytes = plain(&DoneHead { epoch, tick, from, kicks, digest })?;
            write_touches(&done.touches, &mut bytes);
            Ok(bytes)
        }
        _ => plain(message),
    }
}

/// What postcard makes of something.
pub(super) fn plain<Part: Serialize>(part: &Part) -> Result<Vec<u8>, WireError> {
    postcard::to_allocvec(part).map_err(|_| WireError::Unwritable)
}

/// What [`write`] wrote in a frame of this kind.
pub(super) fn read(of: Kind, bytes: &[u8]) -> Result<Message, WireError> {
    match of {
        Kind::Commit => Ok(Message::Commit(read_commit(bytes)?.into())),
        Kind::Event => Ok(Message::Published(read_commit(bytes)?.into())),
        Kind::Done => {
            let (DoneHead { epoch, tick, from, kicks, digest }, rest) = take(bytes)?;
            let (touches, digest) = (read_touches(rest)?, u64::from_le_bytes(digest));
            Ok(Message::Done(Done { epoch, tick, from, touches, kicks, digest }))
        }
        _ => match take::<Message>(bytes)? {
            (message, []) if kind(&message) == of => Ok(message),
            (_, []) => Err(WireError::Malformed("a message of another kind")),
            (_, rest) => Err(WireError::Trailing { extra: rest.len() }),
        },
    }
}

fn read_commit(bytes: &[u8]) -> Result<Commit, WireError> {
    let (head, rest) = take(bytes)?;
    let CommitHead { group, epoch, tick, kicks, inputs, heard, digest, dilation } = head;
    let (touches, digest) = (read_touches(rest)?, u64::from_le_bytes(digest));
    Ok(Commit { group, epoch, tick, touches, kicks, inputs, heard, digest, dilation })
}
