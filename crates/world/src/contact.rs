//! What was found between two bodies, and what changed since the last step.

use crate::id::BodyId;
use jostle_geom::{Contacts, Distance, FacePair, Spacing, Witness};

/// Two bodies between which something holds that was asked about. `a` comes before `b`.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// The body with the smaller id.
    pub a: BodyId,
    /// The body with the larger id.
    pub b: BodyId,
    /// What holds.
    pub data: ContactData,
    /// Whether it was looked at to the end.
    pub certainty: Certainty,
}

/// What holds between two bodies. Faces are named as the maker of the mesh counted them.
#[derive(Clone, Debug, PartialEq)]
pub enum ContactData {
    /// Their boxes overlap; nothing more was asked.
    BoxesOverlap,
    /// They touch. Where points were asked for ([`QueryKind::Contacts`]): and it is not defined at
    /// which, because they pass through each other and are not both solid, or because nothing shows
    /// on which sides they are.
    ///
    /// [`QueryKind::Contacts`]: crate::QueryKind::Contacts
    Touching,
    /// They touch, here.
    Witness(Witness),
    /// They touch with these faces, sorted. Empty where one solid is inside the other.
    Faces(Vec<FacePair>),
    /// They do not touch but are closer than was asked for.
    TooClose,
    /// They touch or are closer than was asked for, at these points. Boxed, because few ask for it.
    Points(Box<Contacts>),
}

/// Is one of them a contact of bodies that touch?
pub(crate) fn is_touching(contacts: &Contacts) -> bool {
    contacts.points.iter().any(|contact| !matches!(contact.spacing, Spacing::Gap(_)))
}

/// How far an answer can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The exact answer.
    Exact,
    /// The time was up: not ruled out, and so reported.
    Assumed,
}

impl Event {
    pub(crate) fn pair(&self) -> [BodyId; 2] {
        [self.a, self.b]
    }
}

impl Contact {
    /// Do the bodies touch, as far as was asked and looked at?
    #[must_use]
    pub fn is_touching(&self) -> bool {
        match &self.data {
            ContactData::Touching | ContactData::Witness(_) | ContactData::Faces(_) => true,
            ContactData::Points(found) => is_touching(found),
            ContactData::BoxesOverlap | ContactData::TooClose => false,
        }
    }

    pub(crate) fn pair(&self) -> [BodyId; 2] {
        [self.a, self.b]
    }
}

/// The distance of two bodies, kept up to date on request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairDistance {
    /// The body with the smaller id.
    pub a: BodyId,
    /// The body with the larger id.
    pub b: BodyId,
    /// How far apart they are and where; 0 exactly when they touch.
    pub distance: Distance,
}

impl PairDistance {
    pub(crate) fn pair(&self) -> [BodyId; 2] {
        [self.a, self.b]
    }
}

/// What happened between two bodies in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The body with the smaller id.
    pub a: BodyId,
    /// The body with the larger id. One of an ended pair may be gone from the world.
    pub b: BodyId,
    /// What happened.
    pub change: Change,
}

/// How a contact of this step stands to the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Began,
    /// It was there before.
    Continued,
    /// It is gone.
    Ended,
}
