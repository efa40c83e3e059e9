//! Cubic splines as straight pieces (glTF 2.0, appendix C.5).
//!
//! An interpolator goes straight from key to key, so a spline becomes keys that are close enough
//! together. How close: [`TOLERANCE`].

use glam::{DQuat, DVec4};

/// The farthest that the pieces may be from the spline: this part of the extent of the track
/// (translations and scales), this angle in radians (rotations).
pub(super) const TOLERANCE: f64 = 1e-3;

/// One stretch between two keys becomes at most 2^6 = 64 pieces.
const HALVINGS_MAX: u32 = 6;

/// The error is looked at after one and three quarters of a piece. The difference of a cubic and
/// its chord is u(1-u)(a+bu), because both ends agree. If |a+bu| is at most m at 1/4 and 3/4, it is
/// at most 2m between 0 and 1; and u(1-u) is 3/16 there and at most 1/4 anywhere. So nowhere is the
/// difference more than 2 · (1/4)/(3/16) = 8/3 of the greater of the two. (For rotations this
/// holds as far as a short piece of the path is a cubic; tests/gltf_animation.rs looks.)
const LOOKED_AT: [f64; 2] = [0.25, 0.75];
const WORST: f64 = 8.0 / 3.0;

/// What the four numbers of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A vector, and a fourth number that is 0.
    Vector,
    /// A quaternion.
    Rotation,
}

/// A stretch between two keys.
pub(super) struct Stretch {
    /// Value, and the derivative after it times the seconds of the stretch.
    pub(super) start: [DVec4; 2],
    /// Value, and the derivative before it times the seconds of the stretch.
    pub(super) end: [DVec4; 2],
}

impl Stretch {
    /// The value at a fraction of the stretch.
    fn at(&self, u: f64, sort: Sort) -> DVec4 {
        let (square, cube) = (u * u, u * u * u);
        let value = self.start[0] * (2.0 * cube - 3.0 * square + 1.0)
            + self.start[1] * (cube - 2.0 * square + u)
            + self.end[0] * (3.0 * square - 2.0 * cube)
            + self.end[1] * (cube - square);
        match sort {
            Sort::Vector => value,
            Sort::Rotation => value.normalize_or(DVec4::W),
        }
    }

    /// Points within which the stretch of vectors stays: those of the same Bézier curve.
    pub(super) fn hull(&self) -> [DVec4; 4] {
        let [start, end] = [self.start, self.end];
        [start[0], start[0] + start[1] / 3.0, end[0] - end[1] / 3.0, end[0]]
    }

    /// Gives fractions and values after the start, up to and with the end. False if the tolerance
    /// would need more pieces than the most.
    pub(super) fn cut(&self, sort: Sort, tolerance: f64, give: &mut dyn FnMut(f64, DVec4)) -> bool {
        let mut is_close = true;
        let mut left = vec![(0.0, 1.0, 0)];
        while let Some((from, to, halvings)) = left.pop() {
            if self.is_straight((from, to), sort, tolerance) || halvings == HALVINGS_MAX {
                is_close &= self.is_straight((from, to), sort, tolerance);
                give(to, self.at(to, sort));
            } else {
                let middle = 0.5 * (from + to);
                left.push((middle, to, halvings + 1));
                left.push((from, middle, halvings + 1));
            }
        }
        is_close
    }

    fn is_straight(&self, (from, to): (f64, f64), sort: Sort, tolerance: f64) -> bool {
        let ends = [self.at(from, sort), self.at(to, sort)];
        LOOKED_AT.iter().all(|&part| {
            let value = self.at(from + part * (to - from), sort);
            WORST * difference(value, between(ends, part, sort), sort) <= tolerance
        })
    }
}

/// What an interpolator gives between two keys.
fn between([from, to]: [DVec4; 2], part: f64, sort: Sort) -> DVec4 {
    match sort {
        Sort::Vector => from.lerp(to, part),
        Sort::Rotation => DVec4::from(DQuat::from_vec4(from).slerp(DQuat::from_vec4(to), part)),
    }
}

fn difference(one: DVec4, other: DVec4, sort: Sort) -> f64 {
    match sort {
        Sort::Vector => (one - other).length(),
        // The angle between two rotations; near 0, arcs of chords, as arccosines round badly.
        Sort::Rotation => {
            let chord = (one - other).length().min((one + other).length());
            4.0 * (chord / 2.0).min(1.0).asin()
        }
    }
}
