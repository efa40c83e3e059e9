//! Classifies findings as interference or mere contact, for parts whose surfaces are closed.

use super::FindingDepth;
use jostle_geom::{Effort, Model, Pair, Pose, Relation, Shape, ShapeKind};
use std::collections::HashMap;
use std::sync::Arc;

/// How two objects are positioned relative to each other, the most severe kind first.
///
/// Parts with closed surfaces are classified as solids even without
/// [`CheckOptions::solid`](super::CheckOptions::solid): that option decides *whether* two parts
/// touch, the kind is *how*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// Interference: their volumes overlap.
    Overlap,
    /// The first lies inside the second.
    AInsideB,
    /// The second lies inside the first.
    BInsideA,
    /// They have the same triangles in the same places: a duplicate.
    Identical,
    /// They touch, and at least one of them is not closed, so that contact and interference cannot
    /// be distinguished.
    Touch,
    /// They share points of their surfaces and no volume.
    Contact,
    /// They do not touch, but are closer than the clearance.
    TooClose,
}

impl FindingKind {
    /// Every kind, the most severe first.
    pub const ALL: [FindingKind; 7] = [
        FindingKind::Overlap,
        FindingKind::AInsideB,
        FindingKind::BInsideA,
        FindingKind::Identical,
        FindingKind::Touch,
        FindingKind::Contact,
        FindingKind::TooClose,
    ];

    /// The name in files and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Overlap => "overlap",
            FindingKind::AInsideB => "a_inside_b",
            FindingKind::BInsideA => "b_inside_a",
            FindingKind::Identical => "identical",
            FindingKind::Touch => "touch",
            FindingKind::Contact => "contact",
            FindingKind::TooClose => "too_close",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<FindingKind> {
        FindingKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns true if the two have volume in common: an interference.
    #[must_use]
    pub fn overlaps(self) -> bool {
        self <= FindingKind::Identical
    }
}

/// Classifies pairs that touch. Caches the solid version of each model, so that each model is
/// tested once for being closed.
#[derive(Default)]
pub(super) struct Classifier {
    /// By the address of the model, which the world keeps alive; none if it is not closed.
    solids: HashMap<*const Model, Option<Arc<Model>>>,
}

impl Classifier {
    /// The kind of two shapes that touch.
    pub(super) fn kind(&mut self, a: (&Shape, &Pose), b: (&Shape, &Pose)) -> FindingKind {
        let (Some(solid_a), Some(solid_b)) = (self.solid(a.0), self.solid(b.0)) else {
            return FindingKind::Touch;
        };
        match Pair::new(&solid_a, a.1, &solid_b, b.1).relation() {
            Some(Relation::Identical) => FindingKind::Identical,
            Some(Relation::AInsideB) => FindingKind::AInsideB,
            Some(Relation::BInsideA) => FindingKind::BInsideA,
            Some(Relation::Crossing) => FindingKind::Overlap,
            Some(Relation::Touching | Relation::Apart) => FindingKind::Contact,
            None => FindingKind::Touch,
        }
    }

    /// How deep two shapes are in each other; none if one is not closed.
    pub(super) fn depth(&mut self, a: (&Shape, &Pose), b: (&Shape, &Pose)) -> Option<FindingDepth> {
        let (solid_a, solid_b) = (self.solid(a.0)?, self.solid(b.0)?);
        // What cannot be moved within the range of poses has no depth either.
        let found = Pair::new(&solid_a, a.1, &solid_b, b.1).separation(Effort::default()).ok()?;
        let (at_least, at_most) = (found.at_least, found.at_most);
        Some(FindingDepth { at_least, at_most, way: found.way.to_array() })
    }

    /// The solid version of a shape. All shapes of scenes are meshes, including those of `Sphere`
    /// and `Box`.
    fn solid(&mut self, shape: &Shape) -> Option<Arc<Model>> {
        let (ShapeKind::Mesh(model) | ShapeKind::ConvexHull(model)) = shape.kind() else {
            return None;
        };
        if model.mesh().is_solid() {
            return Some(Arc::clone(model));
        }
        let made = || Model::clone(model).into_solid().ok().map(Arc::new);
        self.solids.entry(Arc::as_ptr(model)).or_insert_with(made).clone()
    }
}
