//! What goes with an object wherever it goes: its token, its contacts, and what it still owes.

use crate::detect::Certainty;
use crate::normal::{Normal, strike};
use crate::object::{NodeId, Object, ObjectId};
use crate::time::Tick;
use crate::view::Epoch;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Says whose word about an object counts: the one with the largest.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Token {
    /// The view in which everything was last granted anew, because a member was lost.
    pub era: Epoch,
    /// How often the object was handed over since.
    pub hop: u64,
}

impl Token {
    /// The one that a hand-over makes.
    #[must_use]
    pub fn next(self) -> Token {
        Token { hop: self.hop + 1, ..self }
    }
}

/// Names a contact of a pair. Later ones are larger, whichever node finds them: token and tick of
/// the object that decides about the pair, when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Episode {
    /// Under which token.
    pub token: Token,
    /// The object's own tick.
    pub tick: Tick,
}

/// Which end of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Edge {
    /// They touch.
    Begin,
    /// They do not touch any more.
    End,
}

/// What is published about a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Event {
    /// The one with the smaller id.
    pub a: ObjectId,
    /// The one with the larger id.
    pub b: ObjectId,
    /// Which contact of theirs.
    pub episode: Episode,
    /// Its beginning or its end.
    pub edge: Edge,
    /// A beginning may be assumed, if there was no time to look closer; an end is exact.
    pub certainty: Certainty,
}

/// What a contact does to the object that does not decide about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nudge {
    /// The object that decides.
    pub lead: ObjectId,
    /// The other one, to which this happens.
    pub object: ObjectId,
    /// By which contact.
    pub episode: Episode,
    /// Added to its velocity.
    pub kick: [i16; 3],
    /// From the object to the lead: an avatar cannot go on there.
    pub toward: Normal,
    /// The backups have it, so it may be sent.
    pub ready: bool,
}

impl Nudge {
    /// Does it to the object, as in a synchronised group.
    pub(super) fn apply(&self, object: &mut Object) {
        strike(object, self.kick, self.toward);
    }
}

/// A contact that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// Its name.
    pub episode: Episode,
    /// For so many ticks nothing was heard of the other one.
    pub unseen: u16,
}

/// An object and all that must not be lost with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The object.
    pub object: Object,
    /// Whose word counts.
    pub token: Token,
    /// How often it was moved since the world began. It counts on wherever the object goes, so of
    /// two copies with one token the larger tick is the later.
    pub tick: Tick,
    /// What it touches, of the pairs that it decides about.
    pub contacts: BTreeMap<ObjectId, Contact>,
    /// What is not published yet, in its order.
    pub owed: Vec<Event>,
    /// What others have not taken yet, in its order.
    pub nudges: Vec<Nudge>,
    /// The last contact that nudged it, by the object that decided.
    pub taken: BTreeMap<ObjectId, Episode>,
    /// The nodes that were last sent it: the next holder notifies those that need not know it any
    /// more.
    pub ghosts_at: Vec<NodeId>,
    /// How often it was nudged from elsewhere.
    pub nudged: u64,
    /// The number of the last input of its client that it has followed.
    pub heard: u64,
    /// It has left the world. The record stays until no node has an older one, from which it could
    /// come back.
    pub over: bool,
}

impl Record {
    /// An object that the world begins with.
    #[must_use]
    pub(super) fn new(object: Object) -> Record {
        Record {
            object,
            token: Token::default(),
            tick: Tick(0),
            contacts: BTreeMap::new(),
            owed: Vec::new(),
            nudges: Vec::new(),
            taken: BTreeMap::new(),
            ghosts_at: Vec::new(),
            nudged: 0,
            heard: 0,
            over: false,
        }
    }

    /// Has it left the world, and owes nothing any more?
    pub(super) fn is_settled(&self) -> bool {
        let owes = !(self.contacts.is_empty() && self.owed.is_empty() && self.nudges.is_empty());
        self.over && !owes
    }

    /// Of two copies the one with the larger age knows more.
    pub(super) fn age(&self) -> (Token, Tick) {
        (self.token, self.tick)
    }
}
