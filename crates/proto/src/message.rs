//! Everything that directory and nodes tell each other.
//!
//! Every message may be lost, doubled and overtaken. Each names the view and the tick that it
//! belongs to, so that it changes nothing anywhere else, and is sent again until what it is for
//! has happened.

use crate::groups::GroupId;
use crate::input::{GatewayId, Input, Inputs, Source};
use crate::loose::Letter;
use crate::object::{NodeId, Object, ObjectId};
use crate::time::{Span, Tick, Time};
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
        /// By its own clock.
        sent: Time,
    },
    /// Directory to node: you will not be left out before this has passed since you sent that.
    Lease {
        /// What it answers.
        sent: Time,
        /// How long, by the directory's clock.
        span: Span,
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
    /// A source to the leader: what is to happen.
    Inputs(Inputs),
    /// Gateway to directory and members: I follow this world.
    Follow(Follow),
    /// Leader to gateway: a tick that will never be taken back.
    Published(Commit),
    /// Member to gateway: my part of the world.
    Share(Share),
    /// Member to member of an unsynchronised group.
    Loose(Letter),
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
    /// Of all objects that it owns, before anything is done to them.
    pub digest: u64,
}

/// What holds for a tick.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The group whose world it is.
    pub group: GroupId,
    /// The view.
    pub epoch: Epoch,
    /// The tick.
    pub tick: Tick,
    /// All pairs that touch, sorted.
    pub touches: Vec<Touch>,
    /// What happens besides, in this order.
    pub inputs: Vec<Input>,
    /// How far the group has come with its sources, this tick's inputs included; sorted.
    pub heard: Vec<(Source, u64)>,
    /// Of all objects at this tick, before anything is done to them.
    pub digest: u64,
    /// How long ticks take now, for each thousand of what they should: a group that has too much
    /// to do slows its world down and says so; it never leaves a tick out.
    pub dilation: u32,
}

impl Commit {
    /// How far the group has come with a source.
    #[must_use]
    pub fn heard_of(&self, source: Source) -> u64 {
        let at = self.heard.binary_search_by_key(&source, |&(source, _)| source);
        at.ok().and_then(|at| self.heard.get(at)).map_or(0, |&(_, number)| number)
    }
}

/// Somebody follows the world without computing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follow {
    /// Who.
    pub from: GatewayId,
    /// The newest view that it has seen.
    pub epoch: Epoch,
    /// The last tick that it holds. None if it needs to be told the whole world.
    pub have: Option<Tick>,
}

/// What one member owns after a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The view.
    pub epoch: Epoch,
    /// The tick.
    pub tick: Tick,
    /// Who.
    pub from: NodeId,
    /// How many members there are: so many shares are the world.
    pub members: u32,
    /// Its objects.
    pub objects: Vec<Object>,
    /// How far the group had come with its sources.
    pub heard: Vec<(Source, u64)>,
}

/// A direction along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Toward {
    /// 0, 1 or 2; anything else is no direction.
    pub axis: u8,
    /// To larger coordinates?
    pub up: bool,
}

/// Two objects that touch, and what that does to their velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Touch {
    /// The one with the smaller id.
    pub a: ObjectId,
    /// The one with the larger id.
    pub b: ObjectId,
    /// From `a` to `b` along the axis on which they overlap least.
    pub toward: Toward,
    /// Added to the velocity of `a`.
    pub kick_a: [i16; 3],
    /// Added to the velocity of `b`.
    pub kick_b: [i16; 3],
}
