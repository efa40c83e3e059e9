//! Readers of 3D formats: bytes in, scene and warnings out.
//!
//! [`read()`] makes one kind of [`Scene`] of VRML97, glTF, OBJ, STL and PLY; [`Play`] runs its time
//! and its events; [`walk()`] visits its nodes; [`surface`] makes meshes of its
//! geometry. [`read_mesh`] makes one mesh of a whole file. [`load`] gives the bare polygons of OBJ,
//! STL and PLY.
//!
//! Nothing in here opens a file or fetches anything. Bytes from outside never cause a panic,
//! nor more memory use than a small multiple of their length: every count that a file declares is
//! compared with the bytes that are left before anything is reserved for it.
//!
//! ```
//! use jostle_scene::{Reading, read};
//!
//! let text = b"#VRML V2.0 utf8\nDEF BALL Transform { children Shape { geometry Sphere {} } }";
//! let opened = read("ball.wrl", text, &mut Reading::default())?;
//! assert!(opened.scene.find("BALL").is_some() && opened.warnings.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! use jostle_scene::{Format, load};
//!
//! let square = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
//! let loaded = load(square, Format::Obj)?;
//! assert_eq!(loaded.vertices.len(), 4);
//! assert_eq!(loaded.faces.iter().next(), Some(&[0, 1, 2, 3][..]));
//! let mesh = loaded.into_mesh()?;
//! assert_eq!((mesh.face_count(), mesh.triangle_count()), (1, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod flatten;
mod foreign;
mod gather;
pub mod geometry;
mod gltf;
mod names;
pub mod nodes;
mod obj;
mod placement;
mod play;
mod ply;
mod polygons;
mod read;
mod scene;
mod stl;
mod text;
mod vrml;
mod walk;
mod warning;

pub use error::{LoadError, Place};
pub use flatten::{MeshChoice, MeshFile, ReadMeshError, flatten, read_mesh};
pub use gather::{Loaded, Polygons};
pub use geometry::{Geometry, GeometryError, Tolerance, surface};
pub use names::UniqueNames;
pub use placement::Placement;
pub use play::{Changes, Drag, Event, Key, Play, PlayError, Problem, Touch};
pub use read::{Extensions, Fetch, Fetched, Frame, Opened, Reading, Up, read};
pub use scene::{
    FieldError, FieldType, Image, List, Node, NodeId, Rgb, Rotation, Route, Scene, Value,
};
pub use walk::{DEPTH_MAX, LodRule, VISITS_MAX, Viewer, Visit, WalkError, walk};
pub use warning::Warning;

/// The formats that [`load`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Wavefront OBJ: polygons of any size.
    Obj,
    /// STL, text or binary: triangles without shared vertices.
    Stl,
    /// PLY, text or binary: polygons of any size.
    Ply,
}

impl Format {
    /// The format of a file name, by its ending in upper or lower case.
    ///
    /// ```
    /// use jostle_scene::Format;
    ///
    /// assert_eq!(Format::from_name("parts/Gear.STL"), Some(Format::Stl));
    /// assert_eq!(Format::from_name("obj"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Format> {
        let (_, ending) = name.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "obj" => Some(Format::Obj),
            "stl" => Some(Format::Stl),
            "ply" => Some(Format::Ply),
            _ => None,
        }
    }
}

/// Reads the polygons of a file.
///
/// Polygons stay polygons, in the order of the file. STL vertices at the same position become
/// one vertex; vertices of the other formats stay as they are.
///
/// # Errors
/// Bytes that are not of this format, numbers that are not finite as `f32`, vertices that are
/// not there, data that ends early: with the line (text) or byte (binary) and what was expected.
pub fn load(bytes: &[u8], format: Format) -> Result<Loaded, LoadError> {
    load_parts(bytes, format, &mut |_| {})
}

/// As [`load`]; `marked` is called at each beginning of an object, group or solid.
fn load_parts(
    bytes: &[u8],
    format: Format,
    marked: &mut dyn FnMut(polygons::Mark),
) -> Result<Loaded, LoadError> {
    let mut loaded = match format {
        Format::Obj => obj::read_parts(bytes, marked)?,
        Format::Stl => stl::read_parts(bytes, marked)?,
        Format::Ply => ply::read(bytes)?,
    };
    loaded.put_rounding_in_scale();
    Ok(loaded)
}
