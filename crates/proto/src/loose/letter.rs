//! What members of an unsynchronised group tell each other.
//!
//! Every letter names the era (or the view) that it belongs to and changes nothing in another.
//! Ghosts are told and forgotten; everything else is told again until it is answered.

use super::record::{Episode, Nudge, Record, Token};
use crate::object::{NodeId, Object, ObjectId};
use crate::time::Tick;
use crate::view::{Epoch, Member};
use serde::{Deserialize, Serialize};

/// A letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Letter {
    /// Holder to owner of the region: it is yours, with this token.
    Transfer {
        /// Of all tokens that count.
        era: Epoch,
        /// Who hands it over.
        from: NodeId,
        /// The object.
        record: Box<Record>,
    },
    /// It arrived, and the receiver's buddy has it too.
    TransferAck {
        /// Of the token.
        era: Epoch,
        /// Which object.
        object: ObjectId,
        /// With which token.
        token: Token,
    },
    /// Holder to those who may touch it: there it is. The newest counts.
    Ghosts {
        /// Of all tokens that count.
        era: Epoch,
        /// Who holds them.
        from: NodeId,
        /// Objects.
        ghosts: Vec<Ghost>,
        /// Objects that the receiver hears no more of, because they are too far away.
        away: Vec<(ObjectId, Token)>,
    },
    /// Holder of the object that decides to holder of the other: this is what you did to mine.
    Nudge {
        /// Of all tokens that count.
        era: Epoch,
        /// Who says so.
        from: NodeId,
        /// What.
        nudge: Nudge,
    },
    /// It has happened, and the holder's buddy knows.
    NudgeAck {
        /// Of all tokens that count.
        era: Epoch,
        /// Who decided.
        lead: ObjectId,
        /// To whom it happened.
        object: ObjectId,
        /// By which contact.
        episode: Episode,
        /// By one who held the lead to who holds it now; once.
        passed_on: bool,
    },
    /// Member to its buddy: what I hold.
    Backup(Backup),
    /// The buddy has everything up to this number.
    BackupAck {
        /// In which the numbers count.
        era: Epoch,
        /// Who has it.
        from: Member,
        /// Of the backup.
        stream: Epoch,
        /// Up to which.
        number: u64,
    },
    /// Member to leader of a view that has lost somebody: every copy that I have.
    Copies {
        /// The new view.
        epoch: Epoch,
        /// Who.
        from: Member,
        /// Its own, those on their way, and those it kept for the lost.
        records: Vec<Record>,
    },
    /// Leader to member: what you hold in the new view, once it is stable.
    Grants {
        /// The new view.
        epoch: Epoch,
        /// The receiver's.
        yours: Vec<Record>,
        /// Those of the member whose buddy the receiver is.
        kept: Vec<Record>,
    },
    /// Member to leader: as far as I am concerned, the view may hold.
    Ready {
        /// Which.
        epoch: Epoch,
        /// Who.
        from: Member,
    },
    /// Leader to member: the view holds.
    Settled {
        /// Which.
        epoch: Epoch,
        /// Of all tokens that count in it.
        era: Epoch,
    },
}

impl Letter {
    /// Is it about copies at a buddy? That changes nothing in the world.
    #[must_use]
    pub fn is_of_copies(&self) -> bool {
        matches!(self, Letter::Backup(_) | Letter::BackupAck { .. })
    }
}

/// An object as others see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ghost {
    /// What it was.
    pub object: Object,
    /// With which token it was held.
    pub token: Token,
    /// At which of its ticks.
    pub tick: Tick,
}

/// What changed at a member since its buddy last answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// In which the numbers count.
    pub era: Epoch,
    /// Whose.
    pub from: Member,
    /// The view in which the receiver began to keep copies for it. One who was not in a stable
    /// view forgets them with the next, and must not be taken to have them.
    pub stream: Epoch,
    /// Rises with every one.
    pub number: u64,
    /// The last one that was answered; none if this is everything.
    pub since: Option<u64>,
    /// What the member holds, or has on its way, and what changed in it.
    pub records: Vec<Record>,
    /// What it does not have any more.
    pub gone: Vec<ObjectId>,
}
