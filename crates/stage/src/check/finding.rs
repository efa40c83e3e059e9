//! A finding: two objects that touch or are too close, where, and how severe it is.

use super::FindingKind;
use jostle_world::BodyId;
use std::cmp::Ordering;

/// Two objects that touch or are too close.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The name of the first object.
    pub a: String,
    /// The name of the second object.
    pub b: String,
    /// How they are positioned relative to each other.
    pub kind: FindingKind,
    /// 0 exactly if they touch.
    pub distance: f64,
    /// A point of contact, or the closest points, in the world.
    pub points: [[f64; 3]; 2],
    /// The touching faces, or the two closest ones.
    pub faces: Vec<NamedFaces>,
    /// The bodies that `points` lie on, of `a` and of `b`. An object may consist of several.
    pub bodies: [BodyId; 2],
}

/// A face of each of two objects: the name of its shape, and its index in the shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedFaces {
    /// The face of the first object.
    pub a: (String, u32),
    /// The face of the second object.
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

    /// Merges a finding of two other bodies of the same two objects. The more severe kind is kept.
    pub(super) fn merge(&mut self, mut other: Finding, all_faces: bool) {
        if other.order(self) == Ordering::Less {
            std::mem::swap(self, &mut other);
        }
        if all_faces && self.touches() && other.touches() {
            self.faces.extend(other.faces);
        }
    }
}
