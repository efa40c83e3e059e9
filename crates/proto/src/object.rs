//! What shares the world: ids and classes.

use crate::gateway::AVATARS_FROM;
use crate::groups::GroupId;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// A machine that computes collisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

/// A machine that keeps a copy of the directory's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReplicaId(pub u16);

/// Something in the world, for as long as the world lasts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ObjectId(pub u64);

/// One of the forms that objects have, by its place in the table that all machines share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ShapeId(pub u32);

/// How an object moves (Storey 2006, 3.2.1; row S3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Class {
    /// Never.
    Immovable,
    /// By its velocity and what it runs into: every machine can compute it.
    Dynamic,
    /// Moved by a client: only its machine knows what comes next.
    Avatar,
    /// Not at all, and it touches nothing: an avatar whose client is gone keeps its place.
    Absent,
    /// As this other group says, which computes it; here it goes on as it went (dead reckoning).
    Foreign(GroupId),
    /// Not at all: it is on its way to this other group, which computes it as this from then on.
    Leaving(GroupId, Mobile),
}

/// How an object moves that can change its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Mobile {
    /// See [`Class::Dynamic`].
    Dynamic,
    /// See [`Class::Avatar`].
    Avatar,
    /// See [`Class::Absent`].
    Absent,
}

impl Mobile {
    /// The class of an object that moves so, in its home.
    #[must_use]
    pub fn at_home(self) -> Class {
        match self {
            Mobile::Dynamic => Class::Dynamic,
            Mobile::Avatar => Class::Avatar,
            Mobile::Absent => Class::Absent,
        }
    }
}

impl Class {
    /// What it is called in documents and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Class::Immovable => "immovable",
            Class::Dynamic => "dynamic",
            Class::Avatar => "avatar",
            Class::Absent => "absent",
            Class::Foreign(_) => "foreign",
            Class::Leaving(..) => "leaving",
        }
    }

    /// A small number, the same in every version of the protocol; groups are not part of it.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Class::Immovable => 0,
            Class::Dynamic => 1,
            Class::Avatar => 2,
            Class::Absent => 3,
            Class::Foreign(_) => 4,
            Class::Leaving(_, Mobile::Dynamic) => 5,
            Class::Leaving(_, Mobile::Avatar) => 6,
            Class::Leaving(_, Mobile::Absent) => 7,
        }
    }

    /// How an object moves in the group that holds it like this, if it is at home there.
    #[must_use]
    pub fn mobile(self) -> Option<Mobile> {
        match self {
            Class::Dynamic => Some(Mobile::Dynamic),
            Class::Avatar => Some(Mobile::Avatar),
            Class::Absent => Some(Mobile::Absent),
            Class::Immovable | Class::Foreign(_) | Class::Leaving(..) => None,
        }
    }

    /// The group that answers for an object of this class, if it is another one than that which
    /// holds it.
    #[must_use]
    pub fn elsewhere(self) -> Option<GroupId> {
        match self {
            Class::Foreign(group) | Class::Leaving(group, _) => Some(group),
            _ => None,
        }
    }
}

/// An object as machines hand it to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Object {
    /// The object.
    pub id: ObjectId,
    /// How it moves.
    pub class: Class,
    /// Its form.
    pub shape: ShapeId,
    /// Where it is and how fast it goes.
    pub state: State,
}

impl Object {
    /// The same as clients are sent it: they need not know which group answers for what.
    #[must_use]
    pub fn for_clients(&self) -> Object {
        let class = match self.class {
            Class::Foreign(_) if self.id >= AVATARS_FROM => Class::Avatar,
            Class::Foreign(_) => Class::Dynamic,
            Class::Leaving(_, mobile) => mobile.at_home(),
            class => class,
        };
        Object { class, ..*self }
    }

    /// A number of all that it is: the same on all machines that know the same about it. Those of
    /// many objects are added up, in whatever order.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let Object { id, class, shape, state } = *self;
        let State { position, rotation, velocity, spin } = state;
        let mut digest = 0;
        let mut add = |number: u64| {
            // The finisher of SplitMix64.
            let mut z = number ^ u64::rotate_left(digest, 23).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            digest = z ^ (z >> 31);
        };
        let bits = |number: i32| u64::from(number.cast_unsigned());
        let small = |parts: [i16; 3]| {
            parts.iter().fold(0, |sum, &part| sum << 16 | u64::from(part.cast_unsigned()))
        };
        add(id.0);
        add(u64::from(shape.0) << 8 | u64::from(class.number()));
        if let Some(group) = class.elsewhere() {
            add(u64::from(group.0));
        }
        add(bits(position[0]) << 32 | bits(position[1]));
        add(bits(position[2]));
        add(rotation.to_bits());
        add(small(velocity));
        add(small(spin));
        digest
    }
}

/// The digests of all of them together.
pub fn digest<'a>(objects: impl IntoIterator<Item = &'a Object>) -> u64 {
    objects.into_iter().fold(0, |sum, object| sum.wrapping_add(object.digest()))
}
