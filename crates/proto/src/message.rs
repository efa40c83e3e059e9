//! Everything that directory and nodes tell each other.
//!
//! Every message may be lost, doubled and overtaken. Each names the view and the tick that it
//! belongs to, so that it changes nothing anywhere else, and is sent again until what it is for
//! has happened.

use crate::object::{NodeId, Object, ObjectId};
use crate::time::Tick;
use crate::view::{Epoch, Member, View};
use serde::{Deserialize, Serialize};

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// Node to directory: let me in, in this life.
    Join(Member),
    /// Directory to node: your life is over; come back with a later one than this.
    Reset {
        /// The life that is over, and all before it.
        life: u32,
    },
    /// Node to directory: I am alive and have seen this view.
    Alive {
        /// Who.
        member: Member,
        /// The newest view that it has seen.
        epoch: Epoch,
    },
    /// Directory to members: a new view.
    View(View),
    /// Leader to directory: everybody in this view holds what belongs to them.
    Stable {
        /// Which view.
        epoch: Epoch,
        /// Who says so.
        from: Member,
    },
    /// Directory to leader: recorded.
    StableKept(Epoch),
    /// Member to leader: how far I am.
    Flush(Flush),
    /// Leader to member: where we go on from.
    Resume(Resume),
    /// Member to member: what you need to know of mine for a tick.
    Bundle(Bundle),
    /// Member to leader: what I found.
    Done(Done),
    /// Leader to members: what holds.
    Commit(Commit),
    /// Somebody outside to the leader: what an avatar wants.
    Want(Want),
}

/// How far a member is when a view changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flush {
    /// The new view.
    pub epoch: Epoch,
    /// Who.
    pub from: Member,
    /// The last tick that was committed to it. None for one who was not in the base view.
    pub last: Option<Commit>,
}

/// Where a view goes on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The view.
    pub epoch: Epoch,
    /// The last tick that was committed to anybody.
    pub last: Commit,
}

/// What one member tells another for a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// The view.
    pub epoch: Epoch,
    /// The tick.
    pub tick: Tick,
    /// Who tells.
    pub from: NodeId,
    /// This answers somebody who told twice. Answers are not answered.
    pub answer: bool,
    /// What the receiver owns from now on.
    pub transfers: Vec<Object>,
    /// What reaches into the receiver's regions.
    pub ghosts: Vec<Object>,
    /// All that the sender owns from now on except what comes in with this tick; for its buddy.
    pub backup: Vec<Object>,
    /// What the sender hands to somebody whose buddy the receiver is.
    pub entrusted: Vec<(NodeId, Object)>,
}

/// What a member found in a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// The view.
    pub epoch: Epoch,
    /// The tick.
    pub tick: Tick,
    /// Who.
    pub from: NodeId,
    /// Pairs that touch and whose reference point is in its regions.
    pub touches: Vec<Touch>,
}

/// What holds for a tick.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The view.
    pub epoch: Epoch,
    /// The tick.
    pub tick: Tick,
    /// All pairs that touch, sorted.
    pub touches: Vec<Touch>,
    /// What avatars want from now on, sorted, one for each.
    pub wants: Vec<Want>,
}

/// Two objects that touch, and what that does to their velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Touch {
    /// The one with the smaller id.
    pub a: ObjectId,
    /// The one with the larger id.
    pub b: ObjectId,
    /// Added to the velocity of `a`.
    pub kick_a: [i16; 3],
    /// Added to the velocity of `b`.
    pub kick_b: [i16; 3],
}

/// What an avatar wants: another velocity. Nobody can compute it, so it must not be lost once
/// somebody has seen what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Want {
    /// Which avatar.
    pub avatar: ObjectId,
    /// Numbers what it wants; older ones are forgotten.
    pub number: u64,
    /// The velocity.
    pub velocity: [i16; 3],
}
