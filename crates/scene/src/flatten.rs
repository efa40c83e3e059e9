//! One mesh of a whole file: every shape at its place.

use crate::error::LoadError;
use crate::geometry::{Geometry, GeometryError, Tolerance, surface};
use crate::nodes::Kind;
use crate::read::{Reading, is_scene, polygon_format, read};
use crate::scene::{NodeId, Scene};
use crate::walk::{LodRule, Viewer, WalkError, walk};
use crate::warning::Warning;
use crate::{Frame, load};
use glam::DAffine3;
use jostle_geom::{Mesh, MeshError};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Which part of a file, and how finely.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeshChoice<'a> {
    /// Only the parts with this name: a name, or names along a path such as `CAR/WHEEL`. None:
    /// everything.
    pub part: Option<&'a str>,
    /// How closely triangles approximate spheres, cones and cylinders.
    pub tolerance: Tolerance,
}

/// A file as one mesh.
#[derive(Clone, Debug)]
pub struct MeshFile {
    /// The mesh. Not solid.
    pub mesh: Mesh,
    /// The warnings, each kind once.
    pub warnings: Vec<Warning>,
    /// The format says that a unit is a metre: VRML97 and glTF do, OBJ, STL and PLY do not.
    pub is_in_metres: bool,
}

/// Why a file is not a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReadMeshError {
    /// The bytes could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The scene cannot be walked.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// A geometry node makes no surface.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// Too much for one mesh, or coordinates beyond all numbers.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Nothing has the name that was asked for.
    #[error("nothing with a surface is called \"{name}\"; {known}")]
    NoPart {
        /// The name.
        name: String,
        /// What there is instead, in words.
        known: String,
    },
}

/// Reads a file of any format as one mesh.
///
/// Faces are counted through in the order in which [`walk`] visits the shapes: that of the file.
/// OBJ, STL and PLY files keep the face and vertex numbers and the coordinates of the file, unless
/// a part is chosen or `reading` has another [`Frame`]. What a `Switch` or `LOD` hides is left out
/// (the finest level of an `LOD` is taken), and so are the proxies of `Collision` nodes. A shape
/// that stands in several places is copied to each: this takes more memory than the scene.
///
/// ```
/// use jostle_scene::{MeshChoice, Reading, read_mesh};
///
/// let text = b"#VRML V2.0 utf8
///     DEF LOW Shape { geometry Box {} }
///     Transform { translation 0 5 0 children DEF HIGH Shape { geometry Box {} } }";
/// let all = read_mesh("two.wrl", text, &mut Reading::default(), MeshChoice::default())?;
/// assert_eq!(all.mesh.face_count(), 12);
/// let choice = MeshChoice { part: Some("HIGH"), ..MeshChoice::default() };
/// let high = read_mesh("two.wrl", text, &mut Reading::default(), choice)?.mesh;
/// assert_eq!((high.face_count(), high.bounds().unwrap()[0].y), (6, 4.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`read`] and [`flatten`].
pub fn read_mesh(
    name: &str,
    bytes: &[u8],
    reading: &mut Reading<'_>,
    choice: MeshChoice<'_>,
) -> Result<MeshFile, ReadMeshError> {
    let is_in_metres = is_scene(name, bytes);
    if !is_in_metres && choice.part.is_none() && reading.frame == Frame::default() {
        let loaded = load(bytes, polygon_format(name, bytes)?)?;
        let mut warnings = loaded.warnings.clone();
        warnings.extend(loaded.no_faces(bytes.len()));
        return Ok(MeshFile { mesh: loaded.into_mesh()?, warnings, is_in_metres });
    }
    let opened = read(name, bytes, reading)?;
    let mesh = flatten(&opened.scene, choice)?;
    Ok(MeshFile { mesh, warnings: opened.warnings, is_in_metres })
}

/// The shapes of a scene as one mesh, as [`read_mesh`] describes it.
///
/// # Errors
/// Scenes that contain themselves, geometry that makes no surface, more than a mesh can hold, and a
/// part that is not there.
pub fn flatten(scene: &Scene, choice: MeshChoice<'_>) -> Result<Mesh, ReadMeshError> {
    let wanted: Option<Vec<&str>> = choice.part.map(|part| part.split('/').collect());
    let mut found: Vec<(NodeId, DAffine3)> = Vec::new();
    let mut known: Vec<Arc<str>> = Vec::new();
    walk(scene, &Viewer::default(), LodRule::Finest, &mut |visit| {
        let Kind::Shape(shape) = &scene.node(visit.node()).kind else { return };
        let Some(geometry) = shape.geometry.and_then(|id| scene.through_instances(id)) else {
            return;
        };
        if !visit.active || visit.in_proxy {
            return;
        }
        let names = || visit.path.iter().filter_map(|&id| scene.node(id).name.as_ref());
        match &wanted {
            Some(wanted) if !is_called(names().map(|name| &**name), wanted) => {
                if known.len() < KNOWN_NAMED {
                    known.extend(names().next_back().filter(|name| !known.contains(name)).cloned());
                }
            }
            _ => found.push((geometry, visit.placement.affine())),
        }
    })?;
    if let (Some(name), true) = (choice.part, found.is_empty()) {
        let known: Vec<String> = known.iter().map(|name| format!("\"{name}\"")).collect();
        let known = match &known[..] {
            [] => "nothing else has a name".to_string(),
            _ if known.len() < KNOWN_NAMED => format!("there are {}", known.join(", ")),
            _ => format!("there are {} and others", known.join(", ")),
        };
        return Err(ReadMeshError::NoPart { name: name.to_string(), known });
    }
    join(scene, &found, choice.tolerance)
}

/// The number of names that an error lists.
const KNOWN_NAMED: usize = 10;

/// Returns true if the wanted names are consecutive on a path.
fn is_called<'n>(names: impl Iterator<Item = &'n str>, wanted: &[&str]) -> bool {
    let names: Vec<&str> = names.flat_map(|name| name.split('/')).collect();
    names.windows(wanted.len()).any(|window| window == wanted)
}

fn join(
    scene: &Scene,
    found: &[(NodeId, DAffine3)],
    tolerance: Tolerance,
) -> Result<Mesh, ReadMeshError> {
    let mut surfaces: HashMap<NodeId, Option<Arc<Mesh>>> = HashMap::new();
    let mut parts: Vec<(Arc<Mesh>, DAffine3)> = Vec::with_capacity(found.len());
    let mut vertices = 0;
    for &(geometry, map) in found {
        let made = match surfaces.entry(geometry) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => place.insert(match surface(scene, geometry, tolerance)? {
                Geometry::Surface(mesh) => Some(mesh),
                _ => None,
            }),
        };
        if let Some(mesh) = made {
            // Triangles have a limit; points that no triangle uses need one too.
            vertices += mesh.vertices().len();
            if vertices > 3 * Mesh::TRIANGLES_MAX {
                let (what, most) = ("vertices of all shapes together", 3 * Mesh::TRIANGLES_MAX);
                return Err(MeshError::TooMany { what, count: vertices, most }.into());
            }
            parts.push((Arc::clone(mesh), map));
        }
    }
    match &parts[..] {
        [(mesh, map)] if *map == DAffine3::IDENTITY => Ok(Mesh::clone(mesh)),
        several => Ok(Mesh::join(several.iter().map(|(mesh, map)| (&**mesh, *map)))?),
    }
}
