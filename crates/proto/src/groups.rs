//! Consistency groups: machines that hear each other fast enough to compute one world together.
//!
//! Storey 2006, 3.3.7 to 3.3.9, 4.3.1.4, 4.3.1.5 and 4.3.2.7: delays are measured, machines that
//! are near each other form groups, and members vote about admissions and exclusions. What the
//! thesis leaves open (voters that die, votes that come late, how often) is settled here.

mod admit;
mod clique;
mod delays;
mod form;
mod poll;
mod settle;
mod vote;

pub(crate) use admit::{Party, Room, admit};
pub use delays::{
    Matrix, Measured, PingInput, PingOutput, PingRule, Pings, SAMPLES, STRIKES, Window,
};
pub use form::{Formation, GROUP_NODES_MAX, Sizes, Thresholds, TooManyNodes, form, thresholds};
pub use poll::{PollInput, PollOutput, PollSettings, Polls};
pub use settle::{Opposing, Report, Settled, Standing, Tolerance, decider, settle, standing};
pub use vote::{
    Kind, Opinion, Outcome, Refusal, Tally, Vote, VoteCall, VoteClosed, VoteRequest, passes,
};

use serde::{Deserialize, Serialize};

/// A consistency group, for as long as it has members.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct GroupId(pub u32);
