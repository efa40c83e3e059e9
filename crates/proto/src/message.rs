//! All messages between directory, nodes, gateways and clients.
//!
//! Every message may be lost, doubled and overtaken. Each names the view and the tick that it
//! belongs to, so that it changes nothing anywhere else, and is sent again until what it is for
//! has happened.

use crate::client::{ClientMessage, GatewayMessage};
use crate::free_running::FreeRunningMessage;
use crate::groups::{GroupId, Thresholds, Vote, VoteCall, VoteClosed, VoteRequest};
use crate::input::{GatewayId, Input, Inputs, Source};
use crate::links::Links;
use crate::load::NodeLoad;
use crate::normal::Normal;
use crate::object::{NodeId, Object, ObjectId};
use crate::time::{Span, Tick, Time};
use crate::view::{Epoch, Member, View};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
        /// The sender.
        member: Member,
        /// The newest view that it has seen.
        epoch: Epoch,
        /// By its own clock.
        sent: Time,
        /// What it has to do.
        load: NodeLoad,
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
    /// Leader to directory: every member of this view holds what belongs to it.
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
    Commit(Arc<Commit>),
    /// A source to the leader: what is to happen.
    Inputs(Inputs),
    /// Gateway to directory and members: I follow this world.
    Follow(Follow),
    /// Leader to gateway: a tick that will never be taken back.
    Published(Arc<Commit>),
    /// Member to gateway: my part of the world.
    Share(Share),
    /// Client to gateway: the only thing that a client can say.
    FromClient(ClientMessage),
    /// Gateway to client.
    ToClient(GatewayMessage),
    /// Member to member of a free-running group.
    FreeRunning(FreeRunningMessage),
    /// Node to node: answer at once.
    Ping {
        /// Who asks.
        from: NodeId,
        /// Which ping.
        number: u32,
    },
    /// Node to node: the answer.
    Pong {
        /// Who answers.
        from: NodeId,
        /// Which ping.
        number: u32,
    },
    /// Node to directory: how long others take to answer me.
    Delays(Delays),
    /// Directory to node: the peers; also to followers of a group that is not there any more.
    Peers(Peers),
    /// Member to directory: call a vote about a node.
    VoteRequest {
        /// Who asks.
        from: NodeId,
        /// What for.
        request: VoteRequest,
    },
    /// Directory to member: what do you think?
    VoteCall(VoteCall),
    /// Member to directory: this.
    Vote(Vote),
    /// Directory to member: what it came to.
    VoteClosed(VoteClosed),
    /// Directory to the only member of a group: another group would take you.
    MayLeave(Epoch),
    /// The only member of a group to directory: it may end, there is nothing at home in it.
    Leave {
        /// The view that it is alone in.
        epoch: Epoch,
        /// The sender.
        from: Member,
    },
    /// Leader of one group to the leader of another: all that is at home here, as the first inputs
    /// of a group that has not been heard of yet. A receiver that knows the group already ignores
    /// it.
    Greet(Inputs),
    /// Leader of one group to the leader of another: we have taken your inputs up to this.
    Heard {
        /// Who has taken them.
        by: GroupId,
        /// The group whose inputs were taken.
        of: GroupId,
        /// The number of the last one; none before the first.
        number: Option<u64>,
    },
    /// Directory to node: your group cannot go on, or, if you have none, the world cannot.
    Halted {
        /// Which group.
        group: GroupId,
        /// The members whose objects no member has that can be heard.
        lost: Vec<NodeId>,
        /// They have come back without what they held.
        for_good: bool,
    },
    /// Gateway to the node that it stands beside: which group are you in?
    Where {
        /// Who asks.
        from: GatewayId,
        /// It knows where the node was in this view.
        epoch: Epoch,
    },
    /// Node to the gateway beside it: this one, and we go from tick to tick.
    Here {
        /// The node.
        node: NodeId,
        /// Its group.
        group: GroupId,
        /// The view that it is in.
        epoch: Epoch,
    },
    /// Node to directory: who has answered, and who has not.
    Links(Links),
    /// Directory to node: ask these nodes whether they can be reached.
    Probe(Vec<NodeId>),
}

impl Message {
    /// The view that it belongs to, if it belongs to one. A machine that has seen a newer one of
    /// the same group takes no notice of it.
    #[must_use]
    pub fn epoch(&self) -> Option<Epoch> {
        match self {
            Message::View(view) => Some(view.epoch),
            Message::StableKept(epoch) | Message::Stable { epoch, .. } => Some(*epoch),
            Message::MayLeave(epoch) | Message::Leave { epoch, .. } => Some(*epoch),
            Message::Flush(flush) => Some(flush.epoch),
            Message::Resume(resume) => Some(resume.epoch),
            Message::Bundle(bundle) => Some(bundle.epoch),
            Message::Done(done) => Some(done.epoch),
            Message::Commit(commit) => Some(commit.epoch),
            _ => None,
        }
    }
}

/// What a node has measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delays {
    /// The sender.
    pub from: Member,
    /// Half of the answers of each took no longer; only of those that were asked often enough, and
    /// at most [`PEERS_MAX`].
    pub medians: Vec<(NodeId, Span)>,
    /// It is alone in its group, and something is at home there: it cannot leave.
    pub keeps: bool,
}

/// Nodes that a node measures, and groups that it is sent.
pub const PEERS_MAX: usize = 64;

/// Who there is besides, as the directory knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peers {
    /// Counts the changes of groups; votes name it.
    pub epoch: u64,
    /// All that can be heard.
    pub nodes: Vec<NodeId>,
    /// All groups, and who leads them.
    pub groups: Vec<(GroupId, NodeId)>,
    /// No group had this number or a higher one yet: lower ones that are not listed have ended.
    pub next: GroupId,
    /// Where the receiver's group is to move its objects, if it is a node of one that is to.
    pub merge: Option<GroupId>,
    /// Who is near enough.
    pub thresholds: Thresholds,
}

/// How far a member is when a view changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flush {
    /// The new view.
    pub epoch: Epoch,
    /// The sender.
    pub from: Member,
    /// The last tick that was committed to it. None for one who was not in the base view.
    pub last: Option<Arc<Commit>>,
}

/// Where a view goes on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The view.
    pub epoch: Epoch,
    /// The last tick that was committed to any member.
    pub last: Arc<Commit>,
    /// For a member that was not in the base view, in a world of several groups: the ticks before
    /// it, as far as they fit. The leader must know what other groups have not taken yet.
    pub before: Vec<Arc<Commit>>,
}

/// What one member sends another for a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// The view.
    pub epoch: Epoch,
    /// The tick.
    pub tick: Tick,
    /// The sender.
    pub from: NodeId,
    /// This answers a bundle that arrived twice. Answers are not answered.
    pub answer: bool,
    /// What the receiver owns from now on.
    pub transfers: Vec<Object>,
    /// What reaches into the receiver's regions.
    pub ghosts: Vec<Object>,
    /// Of what the sender owns from now on, except what comes in with this tick: all when a view
    /// begins, and in a tick those whose turn it is. For its backups.
    pub backup: Vec<Object>,
    /// What the sender hands to a member whose backup the receiver is.
    pub entrusted: Vec<(NodeId, Object)>,
}

/// What a member found in a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// The view.
    pub epoch: Epoch,
    /// The tick.
    pub tick: Tick,
    /// The sender.
    pub from: NodeId,
    /// Pairs that touch and whose reference point is in its regions.
    pub touches: Vec<Touch>,
    /// What is to be done to objects of other groups.
    pub kicks: Vec<RemoteKick>,
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
    /// What this group's contacts do to objects of other groups, and what it passes on to those
    /// that its own have gone to; sorted.
    pub kicks: Vec<RemoteKick>,
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

/// What a contact that one group decides about does to an object of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RemoteKick {
    /// The group that the object's home was, as far as the sender knew. If it has moved on, that
    /// group passes the kick on to where it has gone; no other group applies it.
    pub to: GroupId,
    /// What is pushed.
    pub object: ObjectId,
    /// As in [`Touch::kick_b`].
    pub kick: [i16; 3],
}

impl Commit {
    /// How far the group has come with a source.
    #[must_use]
    pub fn heard_of(&self, source: Source) -> u64 {
        let at = self.heard.binary_search_by_key(&source, |&(source, _)| source);
        at.ok().and_then(|at| self.heard.get(at)).map_or(0, |&(_, number)| number)
    }
}

/// Requests the world, without taking part in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follow {
    /// The follower.
    pub from: GatewayId,
    /// Whose world.
    pub group: GroupId,
    /// The newest view that it has seen.
    pub epoch: Epoch,
    /// The last tick that it holds. None if it needs the whole world.
    pub have: Option<Tick>,
}

/// What one member owns after a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The view.
    pub epoch: Epoch,
    /// The tick.
    pub tick: Tick,
    /// The sender.
    pub from: NodeId,
    /// How many members there are: so many shares are the world.
    pub members: u32,
    /// Its objects.
    pub objects: Vec<Object>,
    /// How far the group had come with its sources.
    pub heard: Vec<(Source, u64)>,
}

/// Two objects that touch, and what that does to them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Touch {
    /// The one with the smaller id.
    pub a: ObjectId,
    /// The one with the larger id.
    pub b: ObjectId,
    /// The normal of the contact, from `a` to `b`.
    pub normal: Normal,
    /// One of them is an avatar, which is stopped along the normal. A contact without this that
    /// neither pushes nor sets back changes nothing.
    pub stops: bool,
    /// Added to the velocity of `a`.
    pub kick_a: [i16; 3],
    /// Added to the velocity of `b`.
    pub kick_b: [i16; 3],
    /// Added to the position of the one that moves, if the other is immovable: it is set back to
    /// where it met the other one, and slides along it from there.
    pub shift: [i16; 3],
}
