//! Do two triangles merely touch, or does one pass through the other? Exact.

use super::touch::{arrange, in_plane, one_sided, sides};
use super::{Triangle, flat};
use crate::predicates::{Sign, orient3d};

/// How two triangles lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TriangleRelation {
    /// No common point.
    Apart,
    /// A common point, but not as in `Crossing`.
    Touching,
    /// Both are proper triangles, in different planes, and share a point that is on no edge of
    /// either: one passes through the other.
    Crossing,
}

/// How `a` and `b` lie to each other. Exact for the coordinates given.
#[must_use]
pub fn relation(a: &Triangle, b: &Triangle) -> TriangleRelation {
    use TriangleRelation::{Apart, Crossing, Touching};
    let (sides_of_b, sides_of_a) = (sides(a, b), sides(b, a));
    if one_sided(sides_of_b) || one_sided(sides_of_a) {
        return Apart;
    }
    if in_plane(sides_of_a) || in_plane(sides_of_b) {
        return if flat::touch(a, b, [sides_of_a, sides_of_b]) { Touching } else { Apart };
    }
    let [first, second] = arrange(a, sides_of_a, b, sides_of_b);
    // The names and signs of `intervals_meet`.
    let k_minus_i = orient3d(first[0], first[1], second[0], second[1]);
    let m_minus_j = orient3d(first[0], first[2], second[0], second[2]);
    if k_minus_i == Sign::Positive || m_minus_j == Sign::Negative {
        return Apart;
    }
    // The common line runs through the inside of a triangle iff that has corners on both sides
    // of the other's plane; then the open intervals must overlap.
    let both_sides = |s: [Sign; 3]| s.contains(&Sign::Positive) && s.contains(&Sign::Negative);
    let overlap = k_minus_i == Sign::Negative && m_minus_j == Sign::Positive;
    if overlap && both_sides(sides_of_a) && both_sides(sides_of_b) { Crossing } else { Touching }
}
