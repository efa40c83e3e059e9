//! What members of a free-running group send each other.
//!
//! Every message names the era (or the view) that it belongs to and changes nothing in another.
//! Ghosts are sent and forgotten; everything else is repeated until it is answered. What members
//! and gateways send each other is here too.

use super::record::{Episode, Nudge, Record, Token};
use crate::input::GatewayId;
use crate::object::{NodeId, Object, ObjectId};
use crate::time::Tick;
use crate::view::{Epoch, Member};
use serde::{Deserialize, Serialize};

/// A message between members of a free-running group, or of a gateway to one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FreeRunningMessage {
    /// Holder to owner of the region: it is yours, with this token.
    Transfer {
        /// Of all tokens that count.
        era: Epoch,
        /// Who hands it over.
        from: NodeId,
        /// The object.
        record: Box<Record>,
    },
    /// It arrived, and the receiver's backups have it too.
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
        /// The nudge.
        nudge: Nudge,
    },
    /// It has happened, and the holder's backups know.
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
    /// Member to each of its backups: what I hold.
    Backup(Backup),
    /// The backup has everything up to this number.
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
    /// Member to leader of a view that has lost a member: every copy that I have.
    Copies {
        /// The new view.
        epoch: Epoch,
        /// The sender.
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
        /// Those of the members whose backup the receiver is; each is of the owner of its place.
        kept: Vec<Record>,
    },
    /// Member to leader: as far as I am concerned, the view may hold.
    Ready {
        /// The view.
        epoch: Epoch,
        /// The sender.
        from: Member,
    },
    /// Leader to member: the view holds.
    Settled {
        /// The view.
        epoch: Epoch,
        /// Of all tokens that count in it.
        era: Epoch,
    },
    /// Holder to members: these have left the world. Have you anything older of them?
    Buried {
        /// Of all tokens that count.
        era: Epoch,
        /// Who asks.
        from: NodeId,
        /// Which, and under which tokens.
        tombstones: Vec<(ObjectId, Token)>,
    },
    /// No, nor has any backup.
    Clean {
        /// Of all tokens that count.
        era: Epoch,
        /// Who has nothing.
        from: NodeId,
        /// Of these.
        tombstones: Vec<(ObjectId, Token)>,
    },
    /// Gateway to member: these come into the world with you.
    Enter(Entry),
    /// Member to those who follow the world: what is here, as the backups have it too.
    Shown(Shown),
}

/// What a gateway brings into the world. It goes to one member in one of its incarnations and to no
/// other, so that it enters once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Where it enters.
    pub to: Member,
    /// Who brings it.
    pub from: GatewayId,
    /// Those of this gateway up to this id are in, or were given up: none of them enters any more.
    pub over: ObjectId,
    /// The objects.
    pub objects: Vec<Object>,
}

/// A part of what a member has. All parts of a round together name everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Of all tokens that count.
    pub era: Epoch,
    /// Who has it.
    pub from: Member,
    /// Rises.
    pub round: u64,
    /// Which part of the round, from 0.
    pub part: u32,
    /// How many there are, in the last one.
    pub parts: Option<u32>,
    /// Objects.
    pub sights: Vec<Sight>,
}

/// An object as those see it who follow the world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sight {
    /// What it was.
    pub ghost: Ghost,
    /// The last input of its client that it has followed.
    pub heard: u64,
    /// What it touches, of the pairs that it decides about.
    pub touching: Vec<ObjectId>,
}

impl FreeRunningMessage {
    /// Is it about copies at a backup? That changes nothing in the world.
    #[must_use]
    pub fn is_of_copies(&self) -> bool {
        matches!(self, FreeRunningMessage::Backup(_) | FreeRunningMessage::BackupAck { .. })
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

/// What changed at a member since this backup last acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// In which the numbers count.
    pub era: Epoch,
    /// The sender.
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
