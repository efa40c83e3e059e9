//! One finding: two objects that touch or are too close, where, and how severe it is.

#[cfg(doc)]
use super::FACES_MAX;
use super::FindingKind;
use jostle_world::BodyId;
use std::cmp::Ordering;
use std::sync::Arc;

/// Two objects that touch or are too close.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The name of the first.
    pub a: Arc<str>,
    /// The name of the second.
    pub b: Arc<str>,
    /// How they lie to each other.
    pub kind: FindingKind,
    /// 0 exactly if they touch.
    pub distance: f64,
    /// A point of contact, or the closest points, in the world.
    pub points: [[f64; 3]; 2],
    /// Faces that touch; or the two that are closest.
    pub faces: Vec<Pieces>,
    /// More faces touch than `faces` lists: a report has [`FACES_MAX`] at most.
    pub more_faces: bool,
    /// The bodies that `points` lie on, of `a` and of `b`. An object may consist of several.
    pub bodies: [BodyId; 2],
}

/// A face of each of two objects: the name of its shape, and its number there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pieces {
    /// Of the first.
    pub a: (Arc<str>, u32),
    /// Of the second.
    pub b: (Arc<str>, u32),
}

impl Finding {
    /// Returns true if the two share a point.
    #[must_use]
    pub fn touches(&self) -> bool {
        self.kind != FindingKind::TooClose
    }

    /// The order of a report: by severity, then by distance, then by name.
    #[must_use]
    pub fn order(&self, other: &Finding) -> Ordering {
        let by_kind = self.kind.cmp(&other.kind);
        let by_distance = || self.distance.total_cmp(&other.distance);
        let by_name = || (&self.a, &self.b, self.bodies).cmp(&(&other.a, &other.b, other.bodies));
        by_kind.then_with(by_distance).then_with(by_name)
    }
}
