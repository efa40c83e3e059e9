//! A finding: two objects that touch or are too close, where, and how severe it is.

use super::FindingKind;
#[cfg(doc)]
use super::{DEPTHS_MAX, FACES_MAX};
use jostle_world::BodyId;
use std::cmp::Ordering;
use std::sync::Arc;

/// Two objects that touch or are too close.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The name of the first object.
    pub a: Arc<str>,
    /// The name of the second object.
    pub b: Arc<str>,
    /// How they are positioned relative to each other.
    pub kind: FindingKind,
    /// 0 exactly if they touch.
    pub distance: f64,
    /// A point of contact, or the closest points, in the world.
    pub points: [[f64; 3]; 2],
    /// The touching faces, or the two closest ones.
    pub faces: Vec<NamedFaces>,
    /// More faces touch than `faces` lists: a report has [`FACES_MAX`] at most.
    pub more_faces: bool,
    /// The bodies that `points` lie on, of `a` and of `b`. An object may consist of several.
    pub bodies: [BodyId; 2],
    /// How deep these two bodies are in each other, if they interfere: of the first
    /// [`DEPTHS_MAX`] interferences of a report.
    pub depth: Option<FindingDepth>,
}

/// How deep two bodies are in each other: the shortest move that parts them. See
/// [`Separation`](jostle_geom::Separation).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FindingDepth {
    /// No shorter move parts them.
    pub at_least: f64,
    /// The length of `way`.
    pub at_most: f64,
    /// A move of the second that parts them.
    pub way: [f64; 3],
}

/// A face of each of two objects: the name of its shape, and its index in the shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedFaces {
    /// The face of the first object.
    pub a: (Arc<str>, u32),
    /// The face of the second object.
    pub b: (Arc<str>, u32),
}

impl Finding {
    /// Returns true if the two share a point.
    #[must_use]
    pub fn touches(&self) -> bool {
        self.kind != FindingKind::TooClose
    }

    /// The order of a report: by severity, then the deepest first, then by distance, then by name.
    #[must_use]
    pub fn order(&self, other: &Finding) -> Ordering {
        let by_kind = self.kind.cmp(&other.kind);
        let depth = |finding: &Finding| finding.depth.map_or(-1.0, |depth| depth.at_most);
        let by_depth = || depth(other).total_cmp(&depth(self));
        let by_distance = || self.distance.total_cmp(&other.distance);
        let by_name = || (&self.a, &self.b, self.bodies).cmp(&(&other.a, &other.b, other.bodies));
        by_kind.then_with(by_depth).then_with(by_distance).then_with(by_name)
    }
}
