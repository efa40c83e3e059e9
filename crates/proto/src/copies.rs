//! What a member keeps for one whose backup it is.
//!
//! Copies are needed only when that one is lost. So they are not moved from tick to tick: what was
//! sent is put aside together with what was committed, and played back when it is needed. A member
//! sends each of its objects once in [`TURNS`] ticks, a part of them in every tick, which bounds
//! what must be kept and played back. (Sending all in every tick, the backup then keeping them up
//! to date, was a quarter of a member's work in a group of eight.)

use crate::held::{advance, apply};
use crate::message::Commit;
use crate::object::{NodeId, Object, ObjectId};
use crate::objects::Objects;
use crate::time::Tick;
use crate::view::View;
use std::collections::VecDeque;
use std::sync::Arc;

/// Ticks in which a member sends each of its objects to its backup once.
pub const TURNS: u64 = 16;

/// Is it this object's turn?
pub(crate) fn is_turn(id: ObjectId, tick: Tick) -> bool {
    id.0.wrapping_add(tick.0).is_multiple_of(TURNS)
}

/// What is kept for another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copies {
    /// All its objects when the view began; none once each was sent again.
    base: Objects,
    /// Of the ticks after that, at most [`TURNS`]: what was sent, and what was committed then.
    turns: VecDeque<(Arc<Commit>, Vec<Object>)>,
}

impl Copies {
    /// All that it has when a view begins.
    pub(crate) fn all(objects: Vec<Object>) -> Copies {
        Copies { base: objects.into_iter().collect(), turns: VecDeque::new() }
    }

    /// What was sent for a tick, before anything was done to it, and what was committed.
    pub(crate) fn add(&mut self, sent: Vec<Object>, commit: Arc<Commit>) {
        self.turns.push_back((commit, sent));
        if self.turns.len() as u64 > TURNS {
            self.turns.pop_front();
        }
        if self.turns.len() as u64 == TURNS {
            self.base = Objects::new();
        }
    }

    /// As they were a tick earlier, for a mistake on purpose.
    pub(crate) fn without_last(&self) -> Copies {
        let mut earlier = self.clone();
        earlier.turns.pop_back();
        earlier
    }

    /// What `owner` held after the last tick: bit for bit what it had itself.
    pub(crate) fn played_back(&self, owner: NodeId, view: &View, rate: u32) -> Objects {
        let mut objects = self.base.clone();
        let owns = |object: &Object| view.owner(object.state.position) == owner;
        for (commit, sent) in &self.turns {
            advance(&mut objects, Tick(commit.tick.0.saturating_sub(1)), rate);
            objects.retain(owns);
            objects.extend(sent.iter().copied());
            apply(&mut objects, commit, owns);
        }
        objects
    }
}
