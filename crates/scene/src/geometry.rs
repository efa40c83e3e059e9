//! Meshes of the surfaces of geometry nodes.
//!
//! Faces keep the order of the file and turn counter-clockwise seen from outside, or the other way
//! round where `ccw` is `FALSE`. A VRML `solid TRUE` lets a browser leave out the backs of faces
//! and says nothing about an inside, so no mesh is marked as solid here.
//!
//! Only additions, multiplications, divisions and square roots make the vertices, so they are the
//! same numbers on every machine; except where an `Extrusion` has orientations, whose sines come
//! from [`crate::Rotation::quaternion`].

mod extrusion;
mod faces;
mod flat;
mod grid;
mod round;
mod spine;

use crate::error::Place;
use crate::nodes::Kind;
use crate::scene::{Node, NodeId, Scene};
use jostle_geom::solids::{DIMENSION_MAX, DIMENSION_MIN, SolidError};
use jostle_geom::{Mesh, MeshError};
use std::sync::Arc;

/// What a geometry node is for collision detection.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// A surface.
    Surface(Arc<Mesh>),
    /// Lines, which have no surface.
    Lines,
    /// Points, which have no surface.
    Points,
    /// Text, whose shape depends on the fonts of a machine.
    Letters,
    /// Nothing: no points, no faces, or an unknown node.
    Nothing,
}

/// Most triangles of a mesh that is made of a few numbers: those of a `Sphere`, and the product of
/// two lists that an `Extrusion` is. 2^22 triangles take some 200 MB while a mesh is made. Face
/// sets and elevation grids are as large as their files and need no such limit.
pub const MADE_TRIANGLES_MAX: usize = 1 << 22;

/// How far the mesh of a `Sphere`, `Cone` or `Cylinder` may be from the true surface: no point of
/// one is further from the other. This is `col_set_tolerance` of V-COLLIDE.
///
/// The default is a hundredth of the radius, so that it does not depend on the scale: some 1,000
/// triangles for a sphere, 24 sides for a cylinder.
///
/// ```
/// use jostle_scene::geometry::Tolerance;
///
/// let millimetre = Tolerance::absolute(0.001)?;
/// assert!(Tolerance::relative(0.0).is_err());
/// assert_ne!(millimetre, Tolerance::default());
/// # Ok::<(), jostle_scene::geometry::ToleranceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance(Measure);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    Absolute(f64),
    Relative(f64),
}

/// A number that is not a tolerance.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a tolerance must be finite and more than 0, found {found}")]
pub struct ToleranceError {
    /// The number.
    pub found: f64,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance(Measure::Relative(0.01))
    }
}

impl Tolerance {
    /// A distance in the units of the node: what scales it, scales its tolerance too.
    ///
    /// # Errors
    /// Zero, negative and not finite numbers.
    pub fn absolute(distance: f64) -> Result<Tolerance, ToleranceError> {
        Tolerance::check(distance).map(|distance| Tolerance(Measure::Absolute(distance)))
    }

    /// A part of the radius.
    ///
    /// # Errors
    /// Zero, negative and not finite numbers.
    pub fn relative(part: f64) -> Result<Tolerance, ToleranceError> {
        Tolerance::check(part).map(|part| Tolerance(Measure::Relative(part)))
    }

    fn check(found: f64) -> Result<f64, ToleranceError> {
        if found.is_finite() && found > 0.0 { Ok(found) } else { Err(ToleranceError { found }) }
    }

    /// In units. More than the diameter is not needed: the coarsest mesh keeps that.
    fn at_radius(self, radius: f64) -> f64 {
        let distance = match self.0 {
            Measure::Absolute(distance) => distance,
            Measure::Relative(part) => part * radius,
        };
        distance.min(2.0 * radius)
    }
}

/// Why a geometry node is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {kind}: {what}; expected {expected}")]
pub struct GeometryError {
    /// Where the node stands.
    pub place: Place,
    /// The kind of node.
    pub kind: String,
    /// What is wrong.
    pub what: String,
    /// What was expected.
    pub expected: String,
}

/// A [`GeometryError`] that does not know its node yet.
#[derive(Debug)]
struct Fault {
    what: String,
    expected: String,
}

impl Fault {
    fn new(what: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault { what: what.into(), expected: expected.into() }
    }

    fn at(self, node: &Node) -> GeometryError {
        let kind = node.kind.name().to_string();
        GeometryError { place: node.place, kind, what: self.what, expected: self.expected }
    }
}

impl From<MeshError> for Fault {
    fn from(error: MeshError) -> Fault {
        let expected = match error {
            MeshError::TooMany { most, .. } => format!("at most {most}"),
            _ => "coordinates that are finite numbers".to_string(),
        };
        Fault::new(error.to_string(), expected)
    }
}

impl From<SolidError> for Fault {
    fn from(error: SolidError) -> Fault {
        match error {
            SolidError::Mesh(error) => error.into(),
            error => Fault::new(error.to_string(), "sizes and a tolerance that fit each other"),
        }
    }
}

/// Classifies a geometry node, and makes its mesh if it has a surface.
///
/// * `Box`, `Sphere`, `Cone`, `Cylinder` (6.7, 6.43, 6.11, 6.14): closed, unless a `Cone` or
///   `Cylinder` lacks a part.
/// * `IndexedFaceSet` (6.23): each face is a polygon, concave or not, whatever `convex` says. A
///   face of one or two corners is the point or segment that it is; an end of a face without
///   corners before it is no face.
/// * `ElevationGrid` (6.17): each quadrilateral is a face. The standard leaves open how it bends:
///   here along the line from (i, j) to (i + 1, j + 1), unless that is outside of the
///   quadrilateral as seen along the axis closest to its normal.
/// * `Extrusion` (6.18): the sides from the first spine point to the last, each round the cross
///   section, then the caps. Scales of zero or less are taken as they are, as browsers do.
/// * A mesh from another format is shared, not copied.
///
/// ```
/// use jostle_scene::geometry::{Geometry, Tolerance, surface};
/// use jostle_scene::{Scene, nodes::Cylinder};
///
/// let mut scene = Scene::default();
/// let can = scene.add(Cylinder { top: false, ..Cylinder::default() });
/// let Geometry::Surface(mesh) = surface(&scene, can, Tolerance::default())? else {
///     return Ok(());
/// };
/// assert_eq!(mesh.face_count(), 24 + 1);
/// assert!(mesh.as_ref().clone().into_solid().is_err(), "it is open");
/// # Ok::<(), jostle_scene::geometry::GeometryError>(())
/// ```
///
/// # Errors
/// Sizes that are not positive, lists that do not fit each other, coordinates that are missing or
/// not finite, a tolerance that needs too many triangles, a node that is no geometry.
///
/// # Panics
/// If the id is of another scene.
pub fn surface(
    scene: &Scene,
    geometry: NodeId,
    tolerance: Tolerance,
) -> Result<Geometry, GeometryError> {
    let Some(id) = scene.through_instances(geometry) else {
        return Ok(Geometry::Nothing);
    };
    let node = scene.node(id);
    let made = match &node.kind {
        Kind::Cuboid(cuboid) => flat::cuboid(cuboid).map(Some),
        Kind::Sphere(sphere) => round::sphere(sphere, tolerance).map(Some),
        Kind::Cone(cone) => round::cone(cone, tolerance).map(Some),
        Kind::Cylinder(cylinder) => round::cylinder(cylinder, tolerance).map(Some),
        Kind::IndexedFaceSet(set) => match faces::points(scene, set.coord) {
            Ok(Some(points)) => faces::face_set(set, points).map(Some),
            Ok(None) => Ok(None),
            Err(fault) => Err(fault),
        },
        Kind::ElevationGrid(grid) => grid::elevation_grid(grid),
        Kind::Extrusion(extrusion) => extrusion::extrusion(extrusion),
        Kind::Mesh(mesh) if mesh.face_count() > 0 => return Ok(Geometry::Surface(mesh.clone())),
        Kind::IndexedLineSet(_) => return Ok(Geometry::Lines),
        Kind::PointSet(_) => return Ok(Geometry::Points),
        Kind::Text(_) => return Ok(Geometry::Letters),
        // The reader has warned about what it does not know.
        Kind::Mesh(_) | Kind::Unknown(_) => return Ok(Geometry::Nothing),
        _ => Err(Fault::new("this is no geometry", "Box, IndexedFaceSet or another geometry node")),
    };
    match made.map_err(|fault| fault.at(node))? {
        Some(mesh) if mesh.face_count() > 0 => Ok(Geometry::Surface(Arc::new(mesh))),
        _ => Ok(Geometry::Nothing),
    }
}

/// A size in `f64`, if it is one.
fn check_size(what: &str, size: f32) -> Result<f64, Fault> {
    let wide = f64::from(size);
    // NaN is in no range.
    if (DIMENSION_MIN..=DIMENSION_MAX).contains(&wide) {
        Ok(wide)
    } else {
        let expected = format!("a number from {DIMENSION_MIN:e} to {DIMENSION_MAX:e}");
        Err(Fault::new(format!("the {what} is {size}"), expected))
    }
}

fn check_triangles(triangles: f64) -> Result<(), Fault> {
    if triangles <= MADE_TRIANGLES_MAX as f64 {
        Ok(())
    } else {
        let what = format!("this would take {triangles:.0} triangles");
        Err(Fault::new(what, format!("at most {MADE_TRIANGLES_MAX}")))
    }
}

/// Faces as lists that [`Mesh::from_face_sizes`] takes.
#[derive(Default)]
struct Faces {
    sizes: Vec<u32>,
    corners: Vec<u32>,
    /// Faces are to turn the other way round.
    turned: bool,
}

impl Faces {
    fn turned_unless(ccw: bool) -> Faces {
        Faces { turned: !ccw, ..Faces::default() }
    }

    /// Adds a face; one without corners is none.
    fn push(&mut self, corners: impl IntoIterator<Item = u32>) {
        let start = self.corners.len();
        self.corners.extend(corners);
        // The lists of a file are shorter than 2^32; a cap has fewer corners than a cross section.
        let size = (self.corners.len() - start) as u32;
        if size > 0 {
            self.sizes.push(size);
        }
        // The first corner stays first, so that a quadrilateral keeps its diagonal.
        if self.turned && size > 2 {
            self.corners[start + 1..].reverse();
        }
    }

    fn into_mesh(self, vertices: Vec<glam::Vec3>) -> Result<Mesh, Fault> {
        Ok(Mesh::from_face_sizes(vertices, &self.sizes, &self.corners)?)
    }
}
