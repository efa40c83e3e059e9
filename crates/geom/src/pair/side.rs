//! From which side do two triangles meet? Decided by signs, exactly; the normal is a number.
//!
//! Normals point from the second triangle towards the first and have length 1.

use super::models::ModelPair;
use crate::PosedModel;
use crate::predicates::point::ExactPoint;
use crate::predicates::{Axis, Sign, orient2d, orient3d};
use crate::triangle::meet::point_of_overlap;
use crate::triangle::{Triangle, sides};
use glam::DVec3;

/// Points closer than this part of all lengths involved are one.
const SAME_PLACE: f64 = 1e-12;

/// The side of a plane on which all corners of a triangle are that are not in it, if they are on
/// one side.
fn one_side(sides: [Sign; 3]) -> Option<Sign> {
    match (sides.contains(&Sign::Positive), sides.contains(&Sign::Negative)) {
        (true, false) => Some(Sign::Positive),
        (false, true) => Some(Sign::Negative),
        _ => None,
    }
}

/// The vector itself or, for a negative sign, the opposite one.
fn signed(v: DVec3, sign: Sign) -> DVec3 {
    if sign == Sign::Negative { -v } else { v }
}

/// A plane between two triangles.
struct Plane {
    corners: Triangle,
    /// The side that the first triangle is on, seen as the corners turn.
    side: Sign,
    normal: DVec3,
}

impl ModelPair<'_> {
    /// The normals of planes that separate the two surfaces around a point at which two triangles
    /// touch, or almost do: those of the second and of the first triangle, as far as they do, or
    /// else one through an edge of both.
    ///
    /// Of the edge of a box on a floor, its sides touch the floor too, and where the floor is made
    /// of many triangles the plane of a side separates some of them from it: so all triangles at
    /// the point count.
    pub(super) fn separating_normals(&self, a: usize, b: usize, at: DVec3) -> Vec<DVec3> {
        let slack = SAME_PLACE * (at.abs().max_element() + self.a.radius() + self.b.radius());
        let around = self.posed().map(|placed| placed.triangles_at(at, slack));
        let separates = |plane: &Plane| {
            [plane.side.flip(), plane.side].into_iter().zip(&around).all(|(wrong, triangles)| {
                triangles.iter().all(|t| !sides(&plane.corners, t).contains(&wrong))
            })
        };
        let planes = self.planes_between(a, b);
        planes.into_iter().filter(separates).map(|plane| plane.normal).collect()
    }

    /// The normal of a plane that separates two triangles from each other, whatever is around them.
    pub(super) fn normal_between(&self, a: usize, b: usize) -> Option<DVec3> {
        self.planes_between(a, b).first().map(|plane| plane.normal)
    }

    /// The planes of the two triangles, or else one through an edge of both, as far as they have
    /// the triangles on different sides. None if these lie in one plane or pass through each other.
    fn planes_between(&self, a: usize, b: usize) -> Vec<Plane> {
        let (first, second) = (self.triangle_a(a), self.triangle_b(b));
        let [placed_a, placed_b] = self.posed();
        let mut planes = Vec::with_capacity(2);
        if let Some(side) = one_side(sides(&second, &first))
            && let Some(normal) = placed_b.normal(b)
        {
            planes.push(Plane { corners: second, side, normal: signed(normal, side) });
        }
        if let Some(side) = one_side(sides(&first, &second)).map(Sign::flip)
            && let Some(normal) = placed_a.normal(a)
        {
            planes.push(Plane { corners: first, side, normal: signed(normal, side) });
        }
        if planes.is_empty() {
            let mut edges = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
            planes.extend(edges.find_map(|(i, j)| edge_plane(&first, i, &second, j)));
        }
        planes
    }

    /// For two triangles that overlap in one plane: as [`between_insides`].
    pub(super) fn normal_by_inside(&self, a: usize, b: usize) -> Option<DVec3> {
        let point = self.point_of_overlap(a, b)?;
        between_insides(self.towards_inside(0, a, &point), self.towards_inside(1, b, &point))
    }

    /// A point inside what two triangles in one plane share.
    pub(super) fn point_of_overlap(&self, a: usize, b: usize) -> Option<ExactPoint> {
        point_of_overlap(&self.triangle_a(a), &self.triangle_b(b))
    }

    /// The normal of a triangle of the first (0) or second (1) model on the side of its inside, at
    /// a point of the triangle. `None` if the model is not solid.
    pub(super) fn towards_inside(
        &self,
        model: usize,
        triangle: usize,
        point: &ExactPoint,
    ) -> Option<DVec3> {
        towards_inside(&self.posed()[model], triangle, point)
    }
}

/// Between faces in one plane: away from the inside of the second, or towards the inside of the
/// first. `None` if neither is known, or if both insides are on the same side.
pub(super) fn between_insides(towards_a: Option<DVec3>, towards_b: Option<DVec3>) -> Option<DVec3> {
    match (towards_a, towards_b) {
        (Some(a), Some(b)) => (a.dot(b) < 0.0).then_some(-b),
        (a, b) => a.or(b.map(|b| -b)),
    }
}

fn towards_inside(placed: &PosedModel<'_>, triangle: usize, point: &ExactPoint) -> Option<DVec3> {
    if !placed.model().mesh().is_solid() {
        return None;
    }
    let there = placed.locate(point);
    if there.ahead == there.behind() {
        return None; // a face that is there twice bounds nothing
    }
    // `ahead` is about a direction (1, e, e²): the first component of the normal that is not zero
    // says on which of its sides that is.
    let [p, q, r] = placed.triangle(triangle);
    let mut components = Axis::ALL.into_iter().map(|axis| orient2d(axis, p, q, r));
    let ahead = components.find(|&sign| sign != Sign::Zero)?;
    let inside = if there.ahead { ahead } else { ahead.flip() };
    Some(signed(placed.normal(triangle)?, inside))
}

/// For an edge of each in one plane, and the third corners strictly on different sides of it: that
/// plane. For triangles that touch; they can only do so on these edges.
fn edge_plane(a: &Triangle, i: usize, b: &Triangle, j: usize) -> Option<Plane> {
    let [p, q, third_a] = [0, 1, 2].map(|k| a[(i + k) % 3]);
    let [r, s, third_b] = [0, 1, 2].map(|k| b[(j + k) % 3]);
    if orient3d(p, q, r, s) != Sign::Zero {
        return None;
    }
    let through = |corners: Triangle| {
        let [side, other] =
            [third_a, third_b].map(|c| orient3d(corners[0], corners[1], corners[2], c));
        if side == Sign::Zero || side != other.flip() {
            return None;
        }
        // From both edges, which is more exact than from three corners.
        let across = unit((q - p).cross(s - r))?;
        let turns = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let normal = if across.dot(turns) < 0.0 { -across } else { across };
        Some(Plane { corners, side, normal: signed(normal, side) })
    };
    // One of the ends may be on the line of the other edge.
    through([p, q, s]).or_else(|| through([p, q, r]))
}

/// The direction of a vector of any finite length.
pub(super) fn unit(v: DVec3) -> Option<DVec3> {
    // Largest component 1 first, so that squares are neither too large nor too small.
    let size = v.abs().max_element();
    (size > 0.0 && size.is_finite()).then(|| (v / size).normalize())
}
