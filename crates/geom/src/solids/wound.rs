//! Tori: grids wound around an axis, at any resolution.

use super::{SolidError, check_dimension, check_least, check_triangles};
use crate::Mesh;
use glam::DVec3;
use std::f64::consts::PI;

/// A torus around z whose tube swells and shrinks in waves: a body with many near contacts.
///
/// Point (u, v) has the tube radius `minor · (1 + amplitude · sin(waves · u + phase) ·
/// cos(waves · v))`, u around the axis, v around the tube. Without amplitude it is a plain torus.
///
/// ```
/// use jostle_geom::solids::BumpyTorus;
///
/// let torus = BumpyTorus::plain(1.0, 0.3, [64, 16]).mesh()?.into_solid()?;
/// assert_eq!(torus.triangle_count(), 2 * 64 * 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BumpyTorus {
    /// Distance of the middle of the tube from the axis.
    pub major: f64,
    /// Mean radius of the tube.
    pub minor: f64,
    /// Cells around the axis and around the tube.
    pub cells: [u32; 2],
    /// Height of the waves, as part of the tube radius.
    pub amplitude: f64,
    /// Number of waves in each direction. (Other than a whole number makes a step.)
    pub waves: f64,
    /// Shift of the waves, in radians.
    pub phase: f64,
}

impl BumpyTorus {
    /// A torus without waves.
    #[must_use]
    pub fn plain(major: f64, minor: f64, cells: [u32; 2]) -> BumpyTorus {
        BumpyTorus { major, minor, cells, amplitude: 0.0, waves: 0.0, phase: 0.0 }
    }

    /// The mesh. Vertex (i, j) has the number i · cells\[1\] + j; first come the triangles
    /// (i, j), (i + 1, j), (i + 1, j + 1) of all cells, then the other halves.
    ///
    /// # Errors
    /// Dimensions that are not usable numbers, a tube that reaches the axis or has no radius
    /// somewhere, fewer than 3 cells in a direction, too many cells.
    pub fn mesh(&self) -> Result<Mesh, SolidError> {
        let [around, across] = self.cells;
        self.check()?;
        let angle = |i: u32, count: u32| f64::from(i) * 2.0 * PI / f64::from(count);
        let mut vertices = Vec::with_capacity(around as usize * across as usize);
        for i in 0..around {
            let u = angle(i, around);
            let swell = self.amplitude * (self.waves * u + self.phase).sin();
            for j in 0..across {
                let v = angle(j, across);
                let tube = self.minor * (1.0 + swell * (self.waves * v).cos());
                let from_axis = self.major + tube * v.cos();
                let point = DVec3::new(from_axis * u.cos(), from_axis * u.sin(), tube * v.sin());
                vertices.push(point.as_vec3());
            }
        }
        let corners = |cell: u32| {
            let (i, j) = (cell / across, cell % across);
            let (next_i, next_j) = ((i + 1) % around, (j + 1) % across);
            let at = |i: u32, j: u32| i * across + j;
            [at(i, j), at(next_i, j), at(next_i, next_j), at(i, next_j)]
        };
        let cells = around * across;
        let first = (0..cells).map(corners).map(|[a, b, c, _]| [a, b, c]);
        let second = (0..cells).map(corners).map(|[a, _, c, d]| [a, c, d]);
        Ok(Mesh::from_triangles(vertices, first.chain(second).collect())?)
    }

    fn check(&self) -> Result<(), SolidError> {
        let [around, across] = self.cells;
        check_dimension("the major radius", self.major)?;
        check_dimension("the minor radius", self.minor)?;
        check_least("the number of cells around the axis", around, 3)?;
        check_least("the number of cells around the tube", across, 3)?;
        check_triangles(f64::from(around) * f64::from(across) * 2.0)?;
        let less = |smaller, found: f64, larger, limit: f64| {
            // Written so that NaN is refused too.
            if found < limit {
                Ok(())
            } else {
                Err(SolidError::NotLess { smaller, larger, found, limit })
            }
        };
        less("the size of the amplitude", self.amplitude.abs(), "one", 1.0)?;
        less("the size of the number of waves", self.waves.abs(), "1e6", 1e6)?;
        less("the size of the phase", self.phase.abs(), "1e6", 1e6)?;
        let thickest = self.minor * (1.0 + self.amplitude.abs());
        less("the largest tube radius", thickest, "the major radius", self.major)
    }
}
