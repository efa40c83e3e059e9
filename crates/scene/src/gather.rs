//! Collects vertices, polygons and warnings for every reader, and checks numbers and indices.

use crate::error::{LoadError, Place, found};
use crate::text::{loses_digits, number};
use crate::warning::{Warning, Warnings};
use glam::Vec3;
use jostle_geom::{Mesh, MeshError};

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The positions, all finite.
    pub vertices: Vec<Vec3>,
    /// The faces, in the order of the file. Every index names one of `vertices`.
    pub faces: Polygons,
    /// The warnings, each kind once.
    pub warnings: Vec<Warning>,
}

impl Loaded {
    /// The warning for a file in which nothing has a surface; `bytes` is the length of the file.
    pub(crate) fn no_faces(&self, bytes: usize) -> Option<Warning> {
        let points = self.vertices.len();
        self.faces.is_empty().then_some(Warning::NoFaces { points, bytes })
    }

    /// Adds the number of coordinates and the length of the shortest edge to the warning about
    /// rounding, which show whether it matters.
    pub(crate) fn put_rounding_in_scale(&mut self) {
        let coordinates = 3 * self.vertices.len();
        let edge = |from: u32, to: u32| {
            let [from, to] = [from, to].map(|v| self.vertices.get(v as usize).copied());
            let (from, to) = (from.unwrap_or_default(), to.unwrap_or_default());
            from.as_dvec3().distance(to.as_dvec3())
        };
        for warning in &mut self.warnings {
            if let Warning::DigitsLost { of, shortest_edge, .. } = warning {
                let edges = self.faces.iter().flat_map(|face| {
                    let next = face.iter().cycle().skip(1);
                    face.iter().zip(next).map(|(&from, &to)| edge(from, to))
                });
                *of = Some(coordinates);
                *shortest_edge = edges.filter(|&length| length > 0.0).min_by(f64::total_cmp);
            }
        }
    }

    /// The mesh of these faces.
    ///
    /// # Errors
    /// More triangles than [`Mesh::TRIANGLES_MAX`]; [`crate::load`] has refused everything else.
    pub fn into_mesh(self) -> Result<Mesh, MeshError> {
        Mesh::from_face_sizes(self.vertices, &self.faces.sizes, &self.faces.corners)
    }
}

/// Polygons as one list of vertex indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polygons {
    corners: Vec<u32>,
    sizes: Vec<u32>,
}

impl Polygons {
    /// The vertex indices of all polygons, one polygon after the other.
    #[must_use]
    pub fn corners(&self) -> &[u32] {
        &self.corners
    }

    /// The number of corners of each polygon, at least one. Their sum is the length of
    /// [`Polygons::corners`].
    #[must_use]
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The number of polygons.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns true if there are no polygons.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// The polygons, each as its vertex indices.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = &self.corners[..];
        self.sizes.iter().map(move |&size| {
            let (polygon, after) = rest.split_at(size as usize);
            rest = after;
            polygon
        })
    }

    /// Polygons that are all triangles.
    pub(crate) fn from_triangles(corners: Vec<u32>) -> Polygons {
        debug_assert!(corners.len().is_multiple_of(3));
        let sizes = vec![3; corners.len() / 3];
        Polygons { corners, sizes }
    }
}

/// A scene under construction.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    vertices: Vec<Vec3>,
    faces: Polygons,
    corners_closed: usize,
    warnings: Warnings,
    highest: Option<Highest>,
}

/// The highest vertex that a face names. Checked at the end only, because faces may name
/// vertices that come later in the file.
#[derive(Clone, Copy, Debug)]
struct Highest {
    index: u32,
    /// How the file wrote it.
    written: i64,
    place: Place,
}

impl Gather {
    /// Makes room for vertices. The caller has compared `count` with the bytes there are.
    pub(crate) fn reserve_vertices(&mut self, count: usize) {
        self.vertices.reserve_exact(count);
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    pub(crate) fn vertex(&mut self, vertex: Vec3, place: Place) -> Result<(), LoadError> {
        if self.vertices.len() >= u32::MAX as usize {
            return Err(LoadError::TooMany { place, what: "vertices" });
        }
        self.vertices.push(vertex);
        Ok(())
    }

    /// A coordinate from a word of a text.
    pub(crate) fn coordinate(
        &mut self,
        word: Option<&[u8]>,
        place: Place,
    ) -> Result<f32, LoadError> {
        let wide = number(word, place, "a coordinate")?;
        let narrow = wide as f32;
        if !narrow.is_finite() {
            return Err(LoadError::NotFinite { place, found: found(word) });
        }
        if word.is_some_and(|word| loses_digits(word, wide, narrow)) {
            self.warnings.digits_lost(1, (wide - f64::from(narrow)).abs(), place);
        }
        Ok(narrow)
    }

    /// A coordinate from a binary number.
    pub(crate) fn coordinate_wide(&mut self, wide: f64, place: Place) -> Result<f32, LoadError> {
        let narrow = wide as f32;
        if !narrow.is_finite() {
            return Err(LoadError::NotFinite { place, found: wide.to_string() });
        }
        if f64::from(narrow) != wide {
            self.warnings.digits_lost(1, (wide - f64::from(narrow)).abs(), place);
        }
        Ok(narrow)
    }

    /// The next corner of the open face. `written` is the index as the file has it.
    pub(crate) fn corner(
        &mut self,
        index: i64,
        written: i64,
        place: Place,
    ) -> Result<(), LoadError> {
        let Ok(index) = u32::try_from(index) else {
            return Err(self.bad_index(written, place));
        };
        if self.highest.is_none_or(|h| h.index < index) {
            self.highest = Some(Highest { index, written, place });
        }
        self.faces.corners.push(index);
        Ok(())
    }

    /// Ends the open face.
    pub(crate) fn close_face(&mut self, place: Place) -> Result<(), LoadError> {
        let size = self.faces.corners.len() - self.corners_closed;
        if size == 0 {
            let expected = "a face with at least one corner".to_string();
            return Err(LoadError::Unexpected { place, expected, found: "none".to_string() });
        }
        let too_many = |what| LoadError::TooMany { place, what };
        let size = u32::try_from(size).map_err(|_| too_many("corners in one face"))?;
        if self.faces.sizes.len() >= u32::MAX as usize {
            return Err(too_many("faces"));
        }
        self.faces.sizes.push(size);
        self.corners_closed = self.faces.corners.len();
        Ok(())
    }

    pub(crate) fn ignored(&mut self, what: &str, place: Place) {
        self.warnings.ignored(what, place);
    }

    pub(crate) fn trailing(&mut self, bytes: usize, place: Place) {
        self.warnings.push(Warning::Trailing { place, bytes });
    }

    /// Checks the indices and returns the result.
    pub(crate) fn finish(self) -> Result<Loaded, LoadError> {
        if let Some(Highest { index, written, place }) = self.highest
            && index as usize >= self.vertices.len()
        {
            return Err(self.bad_index(written, place));
        }
        Ok(Loaded {
            vertices: self.vertices,
            faces: self.faces,
            warnings: self.warnings.into_list(),
        })
    }

    pub(crate) fn bad_index(&self, found: i64, place: Place) -> LoadError {
        LoadError::BadIndex { place, found, vertices: self.vertices.len() }
    }
}
