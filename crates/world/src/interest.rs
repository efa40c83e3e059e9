//! What can be asked about a pair, and about which pairs.

use crate::id::{BodyId, GroupId};

/// What is asked about a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueryKind {
    /// Do their boxes overlap? Between groups: the joined boxes of all members.
    Volume,
    /// Do they touch?
    Touch,
    /// Do they touch, and which two faces, where?
    Witness,
    /// Every pair of faces that touches.
    AllPairs,
    /// How far apart are they, however far? Asked whenever one of them moved.
    Distance,
    /// Do they touch or are they closer than this?
    Clearance(f64),
    /// The same, and where: points, normals, and how far apart or how deep in each other they are.
    /// Of bodies that overlap this takes many times as long as whether they touch.
    Contacts(f64),
}

impl QueryKind {
    /// How far the boxes of both must reach beyond the bodies.
    pub(crate) fn reach(self) -> f64 {
        match self {
            QueryKind::Clearance(distance) | QueryKind::Contacts(distance) => distance,
            _ => 0.0,
        }
    }
}

/// What a world asks about pairs without an interest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// This about every pair that collision groups, families and ignored pairs leave.
    Everything(QueryKind),
    /// Nothing: only pairs of interest exist.
    InterestsOnly,
}

/// One side of an interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InterestTarget {
    /// A body.
    Body(BodyId),
    /// All bodies in a group and in the groups inside it.
    Group(GroupId),
}

impl From<BodyId> for InterestTarget {
    fn from(id: BodyId) -> InterestTarget {
        InterestTarget::Body(id)
    }
}

impl From<GroupId> for InterestTarget {
    fn from(id: GroupId) -> InterestTarget {
        InterestTarget::Group(id)
    }
}
