//! The mesh of a model as bytes, and back: all fields of the mesh, in the order in which it
//! stands, so that the same mesh comes back to the bit.
//!
//! `docs/model-file.md` has the format. What is read is checked as if a stranger had written it:
//! counts before anything is allocated, then all that the rest of the crate relies on.

use super::{Mesh, MeshError, NotClosed, Vertices, check_count, check_face, topology};
use crate::tree::bytes::u32_at;
use glam::{DVec3, Vec3};

/// Flags and four counts.
const HEADER_BYTES: usize = 20;

const SOLID: u32 = 1;
const SEAMS: u32 = 2;
const FACES: u32 = 4;
const SOURCE: u32 = 8;
const WIDE: u32 = 16;

/// Why bytes are not a mesh in the order of a hierarchy.
pub(crate) enum BadMesh {
    Malformed(&'static str),
    Numbers(MeshError),
    Open(NotClosed),
}

impl From<MeshError> for BadMesh {
    fn from(error: MeshError) -> BadMesh {
        BadMesh::Numbers(error)
    }
}

/// Appends a mesh that stands in the order of its hierarchy.
pub(crate) fn write(mesh: &Mesh, out: &mut Vec<u8>) {
    let Mesh {
        vertices,
        triangles,
        face_of_triangle,
        face_count,
        vertex_source,
        component_vertices,
        solid,
        seams,
    } = mesh;
    let flag = |yes: bool, bit: u32| if yes { bit } else { 0 };
    let flags = flag(*solid, SOLID)
        | flag(*seams, SEAMS)
        | flag(!face_of_triangle.is_empty(), FACES)
        | flag(!vertex_source.is_empty(), SOURCE)
        | flag(vertices.exact().is_some(), WIDE);
    out.extend(flags.to_le_bytes());
    for count in [vertices.len(), triangles.len(), *face_count, component_vertices.len()] {
        out.extend((count as u32).to_le_bytes());
    }
    match vertices.exact() {
        None => {
            let coordinates = vertices.rounded().iter().flat_map(|v| v.to_array());
            out.extend(coordinates.flat_map(f32::to_le_bytes));
        }
        Some(exact) => {
            let coordinates = exact.iter().flat_map(|v| v.to_array());
            out.extend(coordinates.flat_map(f64::to_le_bytes));
        }
    }
    for list in [triangles.as_flattened(), face_of_triangle, vertex_source, component_vertices] {
        out.extend(list.iter().flat_map(|number| number.to_le_bytes()));
    }
}

/// Reads a mesh from the beginning of `bytes`; gives what comes after it.
pub(crate) fn read(bytes: &[u8]) -> Result<(Mesh, &[u8]), BadMesh> {
    const CUT: BadMesh = BadMesh::Malformed("it is longer than there are bytes");
    if bytes.len() < HEADER_BYTES {
        return Err(CUT);
    }
    let (header, mut rest) = bytes.split_at(HEADER_BYTES);
    let flags = u32_at(header, 0);
    if flags >= 2 * WIDE {
        return Err(BadMesh::Malformed("it has flags that are not known"));
    }
    let [vertices, triangles, faces, components] =
        [1, 2, 3, 4].map(|k| u32_at(header, 4 * k) as usize);
    let table = |flag: u32, count: usize| if flags & flag == 0 { 0 } else { count };
    // All numbers are words of four bytes, or two of them; nothing is allocated for numbers that
    // are not there.
    let mut numbers = |count: usize, each: usize| -> Result<Vec<u32>, BadMesh> {
        let length = count.checked_mul(4 * each).filter(|&length| length <= rest.len());
        let (taken, after) = rest.split_at(length.ok_or(CUT)?);
        rest = after;
        Ok(taken.chunks_exact(4).map(|number| u32_at(number, 0)).collect())
    };
    let wide = flags & WIDE != 0;
    let vertices_read = read_vertices(&numbers(vertices, if wide { 6 } else { 3 })?, wide)?;
    let mesh = Mesh {
        vertices: vertices_read,
        triangles: numbers(triangles, 3)?.as_chunks().0.to_vec(),
        face_of_triangle: numbers(table(FACES, triangles), 1)?,
        face_count: faces,
        vertex_source: numbers(table(SOURCE, vertices), 1)?,
        component_vertices: numbers(components, 1)?,
        solid: flags & SOLID != 0,
        seams: flags & SEAMS != 0,
    };
    mesh.check()?;
    if [(FACES, mesh.face_of_triangle.len()), (SOURCE, mesh.vertex_source.len())]
        .iter()
        .any(|&(flag, length)| flags & flag != 0 && length == 0)
    {
        return Err(BadMesh::Malformed("it has a table without entries"));
    }
    Ok((mesh, rest))
}

/// Coordinates from words of four bytes, two for each number if they are `f64`.
fn read_vertices(words: &[u32], wide: bool) -> Result<Vertices, BadMesh> {
    if !wide {
        let coordinates = words.as_chunks().0.iter();
        let position = |&xyz: &[u32; 3]| Vec3::from_array(xyz.map(f32::from_bits));
        return Ok(coordinates.map(position).collect::<Vec<Vec3>>().into());
    }
    let number = |&[low, high]: &[u32; 2]| f64::from_bits(u64::from(high) << 32 | u64::from(low));
    let numbers: Vec<f64> = words.as_chunks().0.iter().map(number).collect();
    let given: Vec<DVec3> =
        numbers.as_chunks().0.iter().map(|&xyz| DVec3::from_array(xyz)).collect();
    let vertices = Vertices::from_f64(given.clone())?;
    // NaN is not equal to itself, and is refused by the checks of numbers.
    let finite = given.iter().all(|position| position.is_finite());
    if finite && vertices.exact() != Some(&*given) {
        return Err(BadMesh::Malformed("its f64 vertices all fit f32, or are too small"));
    }
    Ok(vertices)
}

impl Mesh {
    /// Everything that the crate relies on, in a mesh that stands in the order of a hierarchy.
    fn check(&self) -> Result<(), BadMesh> {
        check_count("vertices", self.vertices.len(), Mesh::VERTICES_MAX)?;
        check_count("triangles", self.triangles.len(), Mesh::TRIANGLES_MAX)?;
        // Tables before numbers, because the error for a bad number names its face.
        self.check_faces()?;
        self.check_sources()?;
        for (triangle, corners) in self.triangles.iter().enumerate() {
            let face = self.face_of(triangle as u32) as usize;
            check_face(face, corners, self.vertices.len())?;
        }
        self.check_finite(&self.vertices)?;
        let used = self.check_numbering()?;
        self.check_parts(used)
    }

    fn check_faces(&self) -> Result<(), BadMesh> {
        let (faces, triangles) = (self.face_count, self.triangles.len());
        if self.face_of_triangle.is_empty() {
            return if faces == triangles {
                Ok(())
            } else {
                Err(BadMesh::Malformed("its faces are not its triangles, and there is no table"))
            };
        }
        let mut seen = vec![false; faces.min(triangles)];
        for &face in &self.face_of_triangle {
            match seen.get_mut(face as usize) {
                Some(seen) => *seen = true,
                None => return Err(BadMesh::Malformed("a triangle has a face that is not there")),
            }
        }
        if faces > triangles || seen.contains(&false) {
            return Err(BadMesh::Malformed("a face has no triangle"));
        }
        if faces == triangles && counts_up(&self.face_of_triangle) {
            return Err(BadMesh::Malformed("its table of faces says nothing"));
        }
        Ok(())
    }

    fn check_sources(&self) -> Result<(), BadMesh> {
        let mut seen = vec![false; self.vertex_source.len()];
        for &vertex in &self.vertex_source {
            match seen.get_mut(vertex as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Err(BadMesh::Malformed(
                        "the caller's vertices are not each named once",
                    ));
                }
            }
        }
        if !seen.is_empty() && counts_up(&self.vertex_source) {
            return Err(BadMesh::Malformed("its table of vertices says nothing"));
        }
        Ok(())
    }

    /// Vertices are numbered by their first use, so those in use come first. Gives their number.
    fn check_numbering(&self) -> Result<u32, BadMesh> {
        let mut used = 0;
        for &vertex in self.triangles.as_flattened() {
            if vertex > used {
                return Err(BadMesh::Malformed("its vertices are not numbered by their first use"));
            }
            used = used.max(vertex + 1);
        }
        Ok(used)
    }

    /// A vertex of each connected part is known, and what is solid is closed. Without seams both
    /// must follow from the vertex numbers alone: places may be equal by now that were not when the
    /// mesh was made, and may part again.
    fn check_parts(&self, used: u32) -> Result<(), BadMesh> {
        let parts = &self.component_vertices;
        if !parts.is_sorted_by(|a, b| a < b) || parts.last().is_some_and(|&last| last >= used) {
            return Err(BadMesh::Malformed("the vertices of its parts are not sorted or not used"));
        }
        let place = if self.seams {
            topology::places(&self.vertices).0
        } else {
            (0..self.vertices.len() as u32).collect()
        };
        if !topology::reach_all_parts(&place, &self.triangles, parts) {
            return Err(BadMesh::Malformed("a part of it has no vertex in the list of parts"));
        }
        if self.solid {
            self.check_closed(&place).map_err(BadMesh::Open)?;
        }
        Ok(())
    }
}

/// 0, 1, 2, …
fn counts_up(numbers: &[u32]) -> bool {
    (0u32..).zip(numbers).all(|(i, &number)| i == number)
}
