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

impl ModelPair<'_> {
    /// The normal of a plane with one triangle on each side of it: that of the second or of the
    /// first triangle, or, for triangles that are `touching`, one through an edge of both. `None` if
    /// the two lie in one plane or pass through each other.
    pub(super) fn separating_normal(&self, a: usize, b: usize, touching: bool) -> Option<DVec3> {
        let (first, second) = (self.triangle_a(a), self.triangle_b(b));
        let [placed_a, placed_b] = self.posed();
        if let Some(side) = one_side(sides(&second, &first))
            && let Some(normal) = placed_b.normal(b)
        {
            return Some(signed(normal, side));
        }
        if let Some(side) = one_side(sides(&first, &second))
            && let Some(normal) = placed_a.normal(a)
        {
            return Some(signed(normal, side.flip()));
        }
        if !touching {
            return None;
        }
        let mut edges = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
        edges.find_map(|(i, j)| edge_normal(&first, i, &second, j))
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

/// For an edge of each in one plane, and the third corners strictly on different sides of it: the
/// normal of that plane. Exact for triangles that touch; they can only do so on these edges.
fn edge_normal(a: &Triangle, i: usize, b: &Triangle, j: usize) -> Option<DVec3> {
    let [p, q, third_a] = [0, 1, 2].map(|k| a[(i + k) % 3]);
    let [r, s, third_b] = [0, 1, 2].map(|k| b[(j + k) % 3]);
    if orient3d(p, q, r, s) != Sign::Zero {
        return None;
    }
    // The triangle p, q, s turns like the two edges, since r and s are on different sides of p q.
    // If s is on that line, r takes its place on the other side.
    let side = |corner: DVec3| match orient3d(p, q, s, corner) {
        Sign::Zero => orient3d(p, q, r, corner).flip(),
        side => side,
    };
    let (of_a, of_b) = (side(third_a), side(third_b));
    if of_a == Sign::Zero || of_a != of_b.flip() {
        return None;
    }
    let normal = unit((q - p).cross(s - r))?;
    Some(signed(normal, of_a))
}

/// The direction of a vector of any finite length.
pub(super) fn unit(v: DVec3) -> Option<DVec3> {
    // Largest component 1 first, so that squares are neither too large nor too small.
    let size = v.abs().max_element();
    (size > 0.0 && size.is_finite()).then(|| (v / size).normalize())
}
