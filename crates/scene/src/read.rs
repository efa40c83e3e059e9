//! Reads scenes of all formats: bytes in, scene and warnings out.

use crate::error::LoadError;
use crate::scene::Scene;
use crate::warning::{Warning, Warnings};
use crate::{Format, foreign, gltf, polygons, vrml};

/// How a file is read: access to other files, and how its contents are interpreted.
///
/// Nothing here opens files: the caller does, and decides which ones.
#[derive(Default)]
pub struct Reading<'a> {
    /// Reads the files that a file names: `Inline`, EXTERNPROTO, the buffers of glTF. A file that
    /// cannot be read is left out with a warning; a buffer that surfaces or animations need is an
    /// error.
    pub fetch: Option<&'a mut Fetch<'a>>,
    /// Called from time to time with the number of bytes that have been read.
    pub progress: Option<&'a mut dyn FnMut(usize)>,
    /// Which nodes beyond the standard are known.
    pub extensions: Extensions,
    /// Unit and axes of OBJ, STL and PLY files, which have none of their own.
    pub frame: Frame,
}

/// Reads the file at an address that stands in a file; the second argument is the name of that
/// file.
pub type Fetch<'a> = dyn FnMut(&str, &str) -> Result<Fetched, String> + 'a;

/// A file that another file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its full name, the same however it was addressed: files that bring in each other in a
    /// circle are found by it.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Which nodes beyond the standard are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extensions {
    /// `CollisionObject` under its URN and by name, `CollisionInterest`, `CollisionResponse` and
    /// `KeySensor` by name, unless the file declares prototypes with these names.
    #[default]
    CollisionNodes,
    /// Only the nodes of the standard: what a browser without collision detection between objects
    /// sees, which falls back to the other addresses of an EXTERNPROTO (V-COLLIDE, section 3.2).
    None,
}

/// Unit and axes of a file whose format does not define them. VRML97 and glTF define them: metres,
/// y is up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Metres per unit of the file.
    pub unit: f32,
    /// The axis that points up in the file.
    pub up: Up,
}

impl Default for Frame {
    /// Coordinates as in the file.
    fn default() -> Frame {
        Frame { unit: 1.0, up: Up::Y }
    }
}

/// An axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Up {
    /// As in every scene here.
    Y,
    /// As in most CAD files: turned so that z becomes y, and y becomes -z.
    Z,
}

/// A scene, and warnings about its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// The scene.
    pub scene: Scene,
    /// The warnings, each kind once.
    pub warnings: Vec<Warning>,
}

/// Reads a scene. `name` is the full name of the file, for its ending and for messages.
///
/// # Errors
/// Bytes of no known format, or not valid in their format: with the position and what was expected.
pub fn read(name: &str, bytes: &[u8], reading: &mut Reading<'_>) -> Result<Opened, LoadError> {
    let (scene, warnings) = read_one(name, bytes, reading)?;
    Ok(Opened { scene, warnings: warnings.into_list() })
}

/// Reads one file: the main one, or one that another file includes.
pub(crate) fn read_one(
    name: &str,
    bytes: &[u8],
    reading: &mut Reading<'_>,
) -> Result<(Scene, Warnings), LoadError> {
    if vrml::is_vrml(name, bytes) {
        return vrml::read(name, bytes, reading);
    }
    if gltf::is_gltf(name, bytes) {
        return gltf::read(name, bytes, reading);
    }
    polygons::read(name, bytes, polygon_format(name, bytes)?, &reading.frame)
}

/// Returns true for a format that defines its unit: VRML97 or glTF.
pub(crate) fn is_scene(name: &str, bytes: &[u8]) -> bool {
    vrml::is_vrml(name, bytes) || gltf::is_gltf(name, bytes)
}

/// The format of a file that is neither VRML97 nor glTF.
pub(crate) fn polygon_format(name: &str, bytes: &[u8]) -> Result<Format, LoadError> {
    if let Some(error) = foreign::refusal(name, bytes) {
        return Err(error);
    }
    Format::from_name(name).ok_or_else(|| LoadError::NotReadable {
        what: "a format that is not known; expected VRML97 (.wrl, .wrz), glTF (.glb, .gltf), OBJ, \
               STL or PLY, by the first bytes or the ending of the name"
            .to_string(),
    })
}
