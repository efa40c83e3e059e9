//! The coordinates of a mesh: `f32`, or `f64` where a vertex needs it.
//!
//! A mesh whose vertices all fit `f32` has only these, whatever it was made from: half the memory,
//! and the same answers. Otherwise the exact coordinates stand beside the rounded ones: queries
//! work with the exact ones, and what only draws or estimates takes the others.
//!
//! **Range.** The exact decisions need coordinates that are multiples of 2^-149 and smaller than
//! 2^128 (`limits.rs`). All `f32` are; so must be what is given as `f64`. Components below 2^-97 in
//! size are rounded to such a multiple, which changes no number that `f32` has and none that a
//! length is measured in. So everything that is proved about placed vertices holds as it stands.

use super::MeshError;
use glam::{DVec3, Vec3, Vec3A};

/// All vertices of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Vertices {
    rounded: Vec<Vec3>,
    /// Empty if no vertex needs it.
    exact: Vec<DVec3>,
}

/// The grid of `f32`, 2^-149, is coarser than the last bit of numbers below this: 2^-97.
const GRID_MATTERS_BELOW: f64 = f64::from_bits((1023 - 97) << 52);

/// 2^149: one over the grid of `f32`.
const GRID_INVERSE: f64 = f64::from_bits((1023 + 149) << 52);

impl From<Vec<Vec3>> for Vertices {
    fn from(rounded: Vec<Vec3>) -> Vertices {
        Vertices { rounded, exact: Vec::new() }
    }
}

impl Vertices {
    /// Numbers that are not finite come through, to be refused with the face that uses them.
    pub(super) fn from_f64(mut positions: Vec<DVec3>) -> Result<Vertices, MeshError> {
        let mut rounded = Vec::with_capacity(positions.len());
        let mut fits = true;
        for (vertex, position) in positions.iter_mut().enumerate() {
            *position = position.map(on_grid);
            let near = position.as_vec3();
            if position.is_finite() && !near.is_finite() {
                return Err(MeshError::TooLarge { vertex, position: *position });
            }
            fits &= near.as_dvec3() == *position || !position.is_finite();
            rounded.push(near);
        }
        let exact = if fits { Vec::new() } else { positions };
        Ok(Vertices { rounded, exact })
    }

    pub(crate) fn len(&self) -> usize {
        self.rounded.len()
    }

    /// Where a vertex is.
    #[inline(always)]
    pub(crate) fn at(&self, vertex: u32) -> DVec3 {
        if self.exact.is_empty() {
            self.rounded[vertex as usize].as_dvec3()
        } else {
            self.exact[vertex as usize]
        }
    }

    /// Where a vertex is from `origin`, rounded to `f32` once.
    #[inline]
    pub(crate) fn local(&self, vertex: u32, origin: Vec3) -> Vec3A {
        if self.exact.is_empty() {
            Vec3A::from(self.rounded[vertex as usize] - origin)
        } else {
            (self.exact[vertex as usize] - origin.as_dvec3()).as_vec3a()
        }
    }

    /// Rounded to `f32`.
    pub(crate) fn rounded(&self) -> &[Vec3] {
        &self.rounded
    }

    /// The coordinates in `f64`, if `f32` does not have them all.
    pub(crate) fn exact(&self) -> Option<&[DVec3]> {
        (!self.exact.is_empty()).then_some(&*self.exact)
    }

    /// Vertex i is the old vertex `source(i)`, for as many vertices as before.
    pub(super) fn gather(&self, source: impl Fn(usize) -> u32) -> Vertices {
        let all = 0..self.len();
        if self.exact.is_empty() {
            let rounded: Vec<Vec3> =
                all.map(|vertex| self.rounded[source(vertex) as usize]).collect();
            return Vertices::from(rounded);
        }
        let exact: Vec<DVec3> = all.map(|vertex| self.exact[source(vertex) as usize]).collect();
        Vertices::from_f64(exact).expect("the coordinates are those of a mesh")
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.rounded.capacity() * size_of::<Vec3>() + self.exact.capacity() * size_of::<DVec3>()
    }
}

/// The nearest multiple of 2^-149.
fn on_grid(x: f64) -> f64 {
    if x.abs() < GRID_MATTERS_BELOW {
        (x * GRID_INVERSE).round_ties_even() / GRID_INVERSE
    } else {
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_multiples_of_the_smallest_f32_and_those_of_f32_stay() {
        let step = f64::from(f32::from_bits(1));
        for (given, expected) in [
            (step, step),
            (-step * 3.0, -step * 3.0),
            (step * 0.5, 0.0),
            (step * 1.5, step * 2.0),
            (1e-30, (1e-30 / step).round() * step),
            (1.0 + f64::EPSILON, 1.0 + f64::EPSILON),
            (GRID_MATTERS_BELOW.next_up(), GRID_MATTERS_BELOW.next_up()),
            (f64::MIN_POSITIVE, 0.0),
        ] {
            let found = on_grid(given);
            assert_eq!(found, expected, "{given:e}");
            assert_eq!(found / step, (found / step).trunc(), "{given:e}");
        }
    }

    #[test]
    fn what_fits_f32_is_f32() {
        let narrow = vec![Vec3::new(0.1, -0.0, f32::MAX), Vec3::splat(1e-45)];
        let given: Vec<DVec3> = narrow.iter().map(|v| v.as_dvec3()).collect();
        let vertices = Vertices::from_f64(given.clone()).unwrap();
        assert_eq!((vertices.exact(), vertices.rounded()), (None, &*narrow));
        let mut wide = given;
        wide[1].y = 0.1;
        let vertices = Vertices::from_f64(wide.clone()).unwrap();
        assert_eq!((vertices.exact(), vertices.at(1)), (Some(&*wide), wide[1]));
        assert!(vertices.gather(|_| 0).exact().is_none());
    }

    #[test]
    fn what_no_f32_is_near_is_refused_and_what_is_not_finite_comes_through() {
        let far = DVec3::new(0.0, 1e39, 0.0);
        let refused = Vertices::from_f64(vec![DVec3::ZERO, far]);
        assert_eq!(refused, Err(MeshError::TooLarge { vertex: 1, position: far }));
        let bad = Vertices::from_f64(vec![DVec3::splat(f64::INFINITY)]).unwrap();
        assert!(!bad.rounded()[0].is_finite());
    }
}
