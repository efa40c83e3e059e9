//! One finding: two objects that touch or are too close, where, and how severe it is.

use super::FindingKind;
use jostle_world::BodyId;
use std::cmp::Ordering;

/// Two objects that touch or are too close.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The name of the first.
    pub a: String,
    /// The name of the second.
    pub b: String,
    /// How they lie to each other.
    pub kind: FindingKind,
    /// 0 exactly if they touch.
    pub distance: f64,
    /// A point of contact, or the closest points, in the world.
    pub points: [[f64; 3]; 2],
    /// Faces that touch; or the two that are closest.
    pub faces: Vec<Pieces>,
    /// The bodies that `points` lie on, of `a` and of `b`. An object may consist of several.
    pub bodies: [BodyId; 2],
}

/// A face of each of two objects: the name of its shape, and its number there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pieces {
    /// Of the first.
    pub a: (String, u32),
    /// Of the second.
    pub b: (String, u32),
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

    /// Adds what was found about two other bodies of the same two objects. The most severe of
    /// their kinds is that of the objects.
    pub(super) fn join(&mut self, mut other: Finding, all_faces: bool) {
        if other.order(self) == Ordering::Less {
            std::mem::swap(self, &mut other);
        }
        if all_faces && self.touches() && other.touches() {
            self.faces.extend(other.faces);
        }
    }
}
