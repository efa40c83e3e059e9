//! Apart, touching, crossing, inside or identical? And do the insides of two solids overlap?
//!
//! Every answer follows from exact decisions about the placed vertices; see `pieces.rs` in this
//! folder for how.

use super::models::ModelPair;
use super::pieces::{Evidence, Goal, Looked};
use crate::triangle::Triangle;
use glam::DVec3;

/// How two shapes lie to each other. Exact for the placed vertices.
///
/// For two solids this is about the points that they enclose: which triangles a surface is made of
/// does not matter, nor do faces that are there twice, since these bound nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// They share no point.
    Apart,
    /// They share points, but neither passes through the other.
    Touching,
    /// A part of one lies inside the other, which is solid, and a part outside. If not both are
    /// solid, also: a face of one passes through a face of the other.
    Crossing,
    /// The first lies inside the second, which is solid. They may touch from inside.
    AInsideB,
    /// The second lies inside the first, which is solid. They may touch from inside.
    BInsideA,
    /// They have the same triangles in the same places, or are solids that enclose the same
    /// points.
    Identical,
}

impl Relation {
    /// One word for tables and JSON.
    ///
    /// ```
    /// assert_eq!(jostle_geom::Relation::AInsideB.name(), "a-inside-b");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Relation::Apart => "apart",
            Relation::Touching => "touching",
            Relation::Crossing => "crossing",
            Relation::AInsideB => "a-inside-b",
            Relation::BInsideA => "b-inside-a",
            Relation::Identical => "identical",
        }
    }

    /// Of the second to the first.
    pub(crate) fn swapped(self) -> Relation {
        match self {
            Relation::AInsideB => Relation::BInsideA,
            Relation::BInsideA => Relation::AInsideB,
            same => same,
        }
    }
}

/// Why there is no answer to whether two insides overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverlapsError {
    /// The first model is not solid.
    #[error("only a solid has an inside: the first mesh must have passed Mesh::into_solid")]
    FirstNotSolid,
    /// The second model is not solid.
    #[error("only a solid has an inside: the second mesh must have passed Mesh::into_solid")]
    SecondNotSolid,
    /// Neither of the models is solid.
    #[error("only a solid has an inside: both meshes must have passed Mesh::into_solid")]
    NeitherSolid,
}

pub(crate) fn overlaps(pair: &ModelPair<'_>) -> Result<bool, OverlapsError> {
    match (pair.a.mesh.is_solid(), pair.b.mesh.is_solid()) {
        (true, true) => {}
        (false, true) => return Err(OverlapsError::FirstNotSolid),
        (true, false) => return Err(OverlapsError::SecondNotSolid),
        (false, false) => return Err(OverlapsError::NeitherSolid),
    }
    Ok(match Looked::at(pair, Goal::Overlap) {
        Looked::Crossing => true,
        Looked::Evidence(found) => found.overlap,
    })
}

pub(crate) fn relation(pair: &ModelPair<'_>) -> Relation {
    if identical(pair) {
        return Relation::Identical;
    }
    let found = match Looked::at(pair, Goal::Relation) {
        Looked::Crossing => return Relation::Crossing,
        Looked::Evidence(found) => found,
    };
    let apart = if found.contact { Relation::Touching } else { Relation::Apart };
    if pair.a.mesh.is_solid() && pair.b.mesh.is_solid() {
        return relation_of_solids(&found).unwrap_or(apart);
    }
    // Nothing was found inside or outside of a surface.
    match (found.inside, found.outside) {
        ([true, _], [true, _]) | ([_, true], [_, true]) => Relation::Crossing,
        ([true, _], _) => Relation::AInsideB,
        ([_, true], _) => Relation::BInsideA,
        _ => apart,
    }
}

/// `None` if no part of one is inside the other.
fn relation_of_solids(found: &Evidence) -> Option<Relation> {
    if !found.overlap && found.inside == [false; 2] {
        return None;
    }
    Some(match [0, 1].map(|i| found.sticks_out(i)) {
        [true, true] => Relation::Crossing,
        [false, true] => Relation::AInsideB,
        [true, false] => Relation::BInsideA,
        [false, false] => Relation::Identical,
    })
}

/// Do both have the same triangles in the same places, whatever their order?
fn identical(pair: &ModelPair<'_>) -> bool {
    let count = pair.a.mesh.triangles.len();
    if count == 0
        || count != pair.b.mesh.triangles.len()
        || bounds(pair, true) != bounds(pair, false)
    {
        return false;
    }
    let sorted = |placed: &dyn Fn(usize) -> Triangle| {
        let key = |p: DVec3| p.to_array().map(|x| (x + 0.0).to_bits()); // -0 is 0
        let mut all: Vec<[[u64; 3]; 3]> = (0..count)
            .map(|t| {
                let mut corners = placed(t).map(key);
                corners.sort_unstable();
                corners
            })
            .collect();
        all.sort_unstable();
        all
    };
    sorted(&|t| pair.triangle_a(t)) == sorted(&|t| pair.triangle_b(t))
}

/// The box around the placed vertices in use: quick to compare.
fn bounds(pair: &ModelPair<'_>, first: bool) -> (DVec3, DVec3) {
    let count = pair.a.mesh.triangles.len();
    let corners =
        (0..count).flat_map(|t| if first { pair.triangle_a(t) } else { pair.triangle_b(t) });
    corners.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(lo, hi), p| (lo.min(p), hi.max(p)))
}
