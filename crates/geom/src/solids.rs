//! Meshes of common solids, and of the objects that collision detection is tried on.
//!
//! Round solids take a tolerance: no point of the mesh is further from the true surface, and no
//! point of the true surface is further from the mesh. The rounding of coordinates to `f32` is
//! included. Vertices lie on the true surface up to that rounding, so the mesh of a convex solid
//! is inside it.
//!
//! All meshes are centred at the origin, and closed ones turn outward (counter-clockwise seen
//! from outside) and pass [`Mesh::into_solid`]. They are not marked as solid yet.
//!
//! Cuboid, sphere, capsule, tetra-flake and grid are the same numbers on every platform. The
//! others use sine and cosine of the system's library, whose last digit differs between
//! platforms: machines that must agree should share the mesh, not the recipe. Queries are exact
//! for the mesh that was made.

use crate::{Mesh, MeshError};
use glam::{DVec2, DVec3, Vec3};

mod round;
mod wound;

pub use round::{capsule, cone, cylinder, sphere};
pub use wound::BumpyTorus;

/// Most triangles that this module makes in one mesh.
pub const TRIANGLES_MAX: u64 = 20_000_000;

/// Dimensions must be at least this, so that `f32` has all its digits.
pub const DIMENSION_MIN: f64 = 1e-30;

/// Dimensions must be at most this, so that `f32` has room for sums of them.
pub const DIMENSION_MAX: f64 = 1e30;

/// Why a solid cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolidError {
    /// A dimension is not a usable number.
    #[error("{what} must be between {DIMENSION_MIN:e} and {DIMENSION_MAX:e}, found {value:e}")]
    BadDimension {
        /// Which one.
        what: &'static str,
        /// The number found.
        value: f64,
    },
    /// A number of subdivisions is too small.
    #[error("{what} must be at least {least}, found {found}")]
    TooFew {
        /// Of what.
        what: &'static str,
        /// The smallest number that works.
        least: u32,
        /// The number found.
        found: u32,
    },
    /// The mesh would have more than [`TRIANGLES_MAX`] triangles.
    #[error("this would take {triangles:.0} triangles; the limit is {TRIANGLES_MAX}")]
    TooMany {
        /// How many triangles it would have.
        triangles: f64,
    },
    /// Coordinates in `f32` are too coarse for the tolerance.
    #[error(
        "the tolerance {tolerance} is too small for 32-bit coordinates of this size; \
             the smallest is {smallest}"
    )]
    TooPrecise {
        /// The tolerance found.
        tolerance: f64,
        /// The smallest that works.
        smallest: f64,
    },
    /// The dimensions do not fit each other.
    #[error("{smaller} must be less than {larger}, found {found} and {limit}")]
    NotLess {
        /// What must be less.
        smaller: &'static str,
        /// Than what.
        larger: &'static str,
        /// The first number.
        found: f64,
        /// The second number.
        limit: f64,
    },
    /// The mesh cannot be made of these numbers.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// A box with the given edge lengths: six quads.
///
/// ```
/// use glam::DVec3;
/// let mesh = jostle_geom::solids::cuboid(DVec3::new(1.0, 2.0, 3.0))?.into_solid()?;
/// assert_eq!((mesh.face_count(), mesh.triangle_count()), (6, 12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Lengths outside [`DIMENSION_MIN`] to [`DIMENSION_MAX`].
pub fn cuboid(size: DVec3) -> Result<Mesh, SolidError> {
    for (what, value) in [("the length", size.x), ("the width", size.y), ("the height", size.z)] {
        check_dimension(what, value)?;
    }
    let half = (size * 0.5).as_vec3();
    let sign = |corner: u32, bit: u32| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let vertices = (0..8).map(|c| half * Vec3::new(sign(c, 0), sign(c, 1), sign(c, 2))).collect();
    let faces =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    Ok(Mesh::from_polygons(vertices, faces)?)
}

/// A tetra-flake (Sierpiński's tetrahedron): a regular tetrahedron whose corners are corners of
/// the cube from −1 to 1, replaced by four of half the size in its corners, and these again, as
/// often as `depth` says. 4^(depth + 1) triangles that fill space badly: many boxes touch, few
/// triangles do. The small tetrahedra touch in their corners only; all coordinates are exact.
///
/// # Errors
/// More than [`TRIANGLES_MAX`] triangles: a depth above 11.
pub fn tetra_flake(depth: u32) -> Result<Mesh, SolidError> {
    const CORNERS: [Vec3; 4] = [
        Vec3::new(1.0, 1.0, 1.0),
        Vec3::new(1.0, -1.0, -1.0),
        Vec3::new(-1.0, 1.0, -1.0),
        Vec3::new(-1.0, -1.0, 1.0),
    ];
    check_triangles(4f64.powf(f64::from(depth) + 1.0))?;
    let mut centres = vec![Vec3::ZERO];
    let mut size = 1.0;
    for _ in 0..depth {
        size *= 0.5;
        centres = centres
            .iter()
            .flat_map(|&centre| CORNERS.map(|corner| centre + corner * size))
            .collect();
    }
    let vertices: Vec<Vec3> =
        centres.iter().flat_map(|&centre| CORNERS.map(|corner| centre + corner * size)).collect();
    let triangles = (0..centres.len() as u32)
        .flat_map(|i| {
            [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]].map(|face| face.map(|v| 4 * i + v))
        })
        .collect();
    Ok(Mesh::from_triangles(vertices, triangles)?)
}

/// A height field: `cells` of equal size over the rectangle `extent`, each of two triangles, with
/// the height above z = 0 that `height` gives for x and y. The surface is open and faces up.
///
/// ```
/// use glam::DVec2;
/// use jostle_geom::solids;
///
/// let bowl = solids::grid(DVec2::new(2.0, 2.0), [10, 20], |p| p.length_squared())?;
/// assert_eq!(bowl.triangle_count(), 400);
/// # Ok::<(), solids::SolidError>(())
/// ```
///
/// # Errors
/// A bad extent, no cells, too many cells, heights that are not finite.
pub fn grid(
    extent: DVec2,
    cells: [u32; 2],
    height: impl Fn(DVec2) -> f64,
) -> Result<Mesh, SolidError> {
    check_dimension("the extent along x", extent.x)?;
    check_dimension("the extent along y", extent.y)?;
    check_least("the number of cells along x", cells[0], 1)?;
    check_least("the number of cells along y", cells[1], 1)?;
    check_triangles(f64::from(cells[0]) * f64::from(cells[1]) * 2.0)?;
    let at = |i: u32, axis: usize| extent[axis] * (f64::from(i) / f64::from(cells[axis]) - 0.5);
    let vertices = (0..=cells[0])
        .flat_map(|i| (0..=cells[1]).map(move |j| DVec2::new(at(i, 0), at(j, 1))))
        .map(|p| p.extend(height(p)).as_vec3())
        .collect();
    let columns = cells[1] + 1;
    let triangles = (0..cells[0])
        .flat_map(|i| (0..cells[1]).map(move |j| i * columns + j))
        .flat_map(|a| {
            let (b, c, d) = (a + columns, a + columns + 1, a + 1);
            [[a, b, c], [a, c, d]]
        })
        .collect();
    Ok(Mesh::from_triangles(vertices, triangles)?)
}

fn check_dimension(what: &'static str, value: f64) -> Result<(), SolidError> {
    // NaN is in no range.
    if (DIMENSION_MIN..=DIMENSION_MAX).contains(&value) {
        Ok(())
    } else {
        Err(SolidError::BadDimension { what, value })
    }
}

fn check_least(what: &'static str, found: u32, least: u32) -> Result<(), SolidError> {
    if found < least { Err(SolidError::TooFew { what, least, found }) } else { Ok(()) }
}

fn check_triangles(triangles: f64) -> Result<(), SolidError> {
    if triangles > TRIANGLES_MAX as f64 { Err(SolidError::TooMany { triangles }) } else { Ok(()) }
}
