//! Votes about who comes and who goes: what is said, and what it comes to.
//!
//! Every vote names its ballot by epoch and number, so that one that comes late is counted nowhere
//! (the thesis has no such name, 4.3.1.5; votes were then counted in the next ballot).

use super::GroupId;
use super::delays::Measured;
use crate::object::NodeId;
use crate::time::Span;
use serde::{Deserialize, Serialize};

/// What is voted about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A machine of another group is fast enough to come in.
    Include,
    /// A member is too slow to stay.
    Reject,
}

/// What a voter thinks of the machine, whatever is voted about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Opinion {
    /// Fast enough to be let in.
    Include,
    /// Neither.
    Abstain,
    /// Too slow to stay.
    Reject,
}

/// A machine asks the directory for a vote in its own group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VoteRequest {
    /// Of the groups that it knows.
    pub epoch: u64,
    /// In or out?
    pub kind: Kind,
    /// The machine that the vote is about.
    pub subject: NodeId,
}

/// The directory asks a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VoteCall {
    /// Of the groups.
    pub epoch: u64,
    /// Never used again within an epoch.
    pub ballot: u64,
    /// In or out?
    pub kind: Kind,
    /// The machine that the vote is about.
    pub subject: NodeId,
}

/// A member answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Vote {
    /// Of the call.
    pub epoch: u64,
    /// Of the call.
    pub ballot: u64,
    /// Who votes.
    pub voter: NodeId,
    /// What it thinks.
    pub opinion: Opinion,
    /// What it thinks so from.
    pub measured: Option<Measured>,
}

/// What a ballot came to, for those who voted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VoteClosed {
    /// Of the call.
    pub epoch: u64,
    /// Of the call.
    pub ballot: u64,
    /// Whose group voted.
    pub group: GroupId,
    /// In or out?
    pub kind: Kind,
    /// The machine that the vote is about.
    pub subject: NodeId,
    /// How it was voted.
    pub tally: Tally,
    /// What it comes to.
    pub outcome: Outcome,
}

/// Votes that were counted; silent voters abstained.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Tally {
    /// For the machine.
    pub include: u32,
    /// Neither.
    pub abstain: u32,
    /// Against it.
    pub reject: u32,
}

/// What a ballot comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// The machine comes, or goes.
    Passed,
    /// Nothing changes.
    Failed,
    /// The groups changed meanwhile: nothing was decided.
    Void,
}

/// Why there is no vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// The groups are others by now.
    Epoch,
    /// The caller is in no group, or the machine it asks about.
    Caller,
    /// The machine is in no group; or in the caller's when it is to come, or not when it is to go.
    Subject,
    /// No machine moves into a smaller group than its own (Storey 2006, 3.3.9).
    Smaller,
    /// The group is as large as it may be.
    Full,
    /// Another vote about these groups is open.
    Busy,
    /// Too soon after another vote or change; again after this time.
    TooSoon {
        /// From now.
        wait: Span,
    },
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, opinion: Opinion) {
        match opinion {
            Opinion::Include => self.include += 1,
            Opinion::Abstain => self.abstain += 1,
            Opinion::Reject => self.reject += 1,
        }
    }
}

/// Does it come to what was asked for?
///
/// A machine comes in if at least one votes for it and none against it. It goes out if I + 0.5 A -
/// 2 R < 0 (Storey 2006, 4.3.1.5); but by that alone one voter of three can put out another, so two
/// of them must be against it, or what the directory itself has measured is.
///
/// ```
/// use jostle_proto::{Kind, Tally, passes};
///
/// let tally = Tally { include: 1, abstain: 0, reject: 1 };
/// assert!(!passes(Kind::Reject, &tally, false));
/// assert!(passes(Kind::Reject, &tally, true));
/// assert!(passes(Kind::Reject, &Tally { include: 3, abstain: 1, reject: 2 }, false));
/// assert!(!passes(Kind::Reject, &Tally { include: 4, abstain: 0, reject: 2 }, true));
/// ```
#[must_use]
pub fn passes(kind: Kind, tally: &Tally, corroborated: bool) -> bool {
    let [include, abstain, reject] = [tally.include, tally.abstain, tally.reject].map(u64::from);
    match kind {
        Kind::Include => include >= 1 && reject == 0,
        Kind::Reject => 2 * include + abstain < 4 * reject && (reject >= 2 || corroborated),
    }
}
