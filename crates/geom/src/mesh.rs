//! Polygon soup, checked and triangulated once.
//!
//! A mesh keeps everything that the caller gave: duplicates, cracks, faces without area, edges
//! with one or five faces, vertices that no face uses. Nothing is dropped or welded. The only
//! refusals are numbers that are not finite and indices that point nowhere. [`Mesh::weld`] joins
//! vertices where the caller asks for it.

use glam::{DVec3, Vec3};

pub(crate) mod bytes;
mod hash;
mod join;
mod measure;
mod offset;
mod reorder;
mod report;
mod topology;
mod triangulate;
mod vertices;
mod weld;

pub use offset::{OffsetError, OffsetReport};
pub use report::{MeshIssue, MeshReport, NON_PLANAR_BOUND, ReportText, SLIVER_BOUND};
pub use weld::{ClosingGap, WeldError, WeldReport};

use triangulate::Triangulator;
pub(crate) use vertices::Vertices;

/// A polygon soup, immutable in topology.
///
/// Faces are numbered in the order in which they were given, and results of queries name these
/// faces. A face is the union of its triangles; a face without area is the segment or the point
/// that it is.
///
/// ```
/// use glam::Vec3;
/// use jostle_geom::Mesh;
///
/// let corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 0.5), (0.0, 2.0)];
/// let vertices = corners.iter().map(|&(x, y)| Vec3::new(x, y, 0.0)).collect();
/// let mesh = Mesh::from_polygons(vertices, [[0, 1, 2, 3, 4]])?;
/// assert_eq!((mesh.face_count(), mesh.triangle_count()), (1, 3));
/// assert_eq!(mesh.face_of(2), 0);
/// # Ok::<(), jostle_geom::MeshError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    pub(crate) vertices: Vertices,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The face of each triangle; empty when triangle i is face i.
    pub(crate) face_of_triangle: Vec<u32>,
    pub(crate) face_count: usize,
    /// The caller's number of each stored vertex; empty when they are the same.
    pub(crate) vertex_source: Vec<u32>,
    /// At least one vertex of each connected part of the surface. Triangles are connected that
    /// have a corner in the same place. (More than one only after a deformation that brings parts
    /// together.)
    pub(crate) component_vertices: Vec<u32>,
    pub(crate) solid: bool,
    /// Two vertices had the same place when the mesh was made, so that connections depend on
    /// positions and not on vertex numbers alone.
    seams: bool,
}

/// Why numbers are not a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// A face names a vertex that is not there.
    #[error("face {face} names vertex {vertex}, but there are only {vertices} vertices")]
    BadIndex {
        /// The face, counted from 0.
        face: usize,
        /// The index found.
        vertex: u32,
        /// The number of vertices.
        vertices: usize,
    },
    /// A face has no vertices.
    #[error("face {face} has no vertices; a face needs at least one")]
    EmptyFace {
        /// The face, counted from 0.
        face: usize,
    },
    /// A face uses a vertex with a coordinate that is NaN or infinite.
    #[error("face {face} uses vertex {vertex}, whose coordinates are not finite: {position}")]
    NotFinite {
        /// The first face that uses the vertex.
        face: usize,
        /// The vertex, counted from 0.
        vertex: usize,
        /// The coordinates found.
        position: Vec3,
    },
    /// A vertex that no face uses has a coordinate that is NaN or infinite.
    #[error("vertex {vertex} (used by no face) has coordinates that are not finite: {position}")]
    NotFiniteUnused {
        /// The vertex, counted from 0.
        vertex: usize,
        /// The coordinates found.
        position: Vec3,
    },
    /// A vertex given as `f64` has a coordinate that is too large.
    #[error(
        "vertex {vertex} has a coordinate that is larger than any `f32` (3.4e38): {position}; \
         choose a larger unit of length"
    )]
    TooLarge {
        /// The vertex, counted from 0.
        vertex: usize,
        /// The coordinates found.
        position: DVec3,
    },
    /// The face sizes do not add up to the number of indices.
    #[error("the face sizes add up to {sum}, but there are {indices} indices")]
    SizesDoNotAddUp {
        /// Sum of the face sizes.
        sum: u64,
        /// Number of indices given.
        indices: usize,
    },
    /// More vertices, faces or triangles than can be numbered.
    #[error("{count} {what} are too many; the limit is {most}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are, or at least how many.
        count: usize,
        /// The limit.
        most: usize,
    },
    /// A deformation gives another number of vertices than the mesh has.
    #[error("the mesh has {expected} vertices, but {found} new positions were given")]
    VertexCount {
        /// Vertices of the mesh.
        expected: usize,
        /// Positions given.
        found: usize,
    },
    /// A deformation tears open a mesh that is marked as solid.
    #[error("the new positions tear the solid open: {0}")]
    TornOpen(NotClosed),
}

/// Why a mesh does not enclose a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not closed: {edges} open edges (with an odd number of triangles), the first between vertices \
     {from} and {to} of face {face}"
)]
pub struct NotClosed {
    /// How many edges have an odd number of triangles.
    pub edges: usize,
    /// A face at the first such edge.
    pub face: u32,
    /// One end of this edge, in the caller's numbering.
    pub from: u32,
    /// The other end.
    pub to: u32,
}

impl Mesh {
    /// Most triangles that a mesh may have: 2^26. A hierarchy has fewer nodes than triangles, and
    /// a query numbers the eight lanes of each node with 29 bits.
    pub const TRIANGLES_MAX: usize = 1 << 26;

    /// Most vertices that a mesh may have; indices are `u32`.
    pub const VERTICES_MAX: usize = (u32::MAX - 1) as usize;

    /// A mesh of triangles. Triangle i is face i.
    ///
    /// # Errors
    /// Indices that point nowhere and numbers that are not finite.
    pub fn from_triangles(
        vertices: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
    ) -> Result<Mesh, MeshError> {
        Mesh::of_triangles(vertices.into(), triangles)
    }

    /// As [`Mesh::from_triangles`], with vertices in `f64`. Their digits are kept: queries are
    /// about the vertices as they were given. If all of them fit `f32`, the mesh is the one that
    /// [`Mesh::from_triangles`] makes, and takes no more memory. (Components smaller than 6e-30 are
    /// rounded to multiples of the smallest `f32`, 1.4e-45.)
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Mesh, Model, Pair, Pose, Quality};
    ///
    /// // Two triangles a micrometre apart, a thousand kilometres from the origin.
    /// let site = DVec3::new(1e6, 2e6, 0.0);
    /// let at = |height: f64| -> Result<Model, jostle_geom::MeshError> {
    ///     let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
    ///     let corners = corners.map(|corner| site + corner + DVec3::X * height);
    ///     let mesh = Mesh::from_triangles_f64(corners.to_vec(), vec![[0, 1, 2]])?;
    ///     Ok(Model::build(mesh, Quality::Default))
    /// };
    /// let (a, b) = (at(0.0)?, at(1.000001)?);
    /// let apart = Pair::new(&a, &Pose::IDENTITY, &b, &Pose::IDENTITY).distance().unwrap();
    /// assert!((apart.distance - 1e-6).abs() < 1e-9);
    /// # Ok::<(), jostle_geom::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Mesh::from_triangles`], and coordinates larger than any `f32`.
    pub fn from_triangles_f64(
        vertices: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
    ) -> Result<Mesh, MeshError> {
        Mesh::of_triangles(Vertices::from_f64(vertices)?, triangles)
    }

    fn of_triangles(vertices: Vertices, triangles: Vec<[u32; 3]>) -> Result<Mesh, MeshError> {
        check_count("vertices", vertices.len(), Mesh::VERTICES_MAX)?;
        check_count("triangles", triangles.len(), Mesh::TRIANGLES_MAX)?;
        for (face, triangle) in triangles.iter().enumerate() {
            check_face(face, triangle, vertices.len())?;
        }
        let face_count = triangles.len();
        Mesh::assemble(vertices, triangles, Vec::new(), face_count)
    }

    /// A mesh of polygons: each face is a list of vertex indices, in order around the polygon.
    ///
    /// Polygons may be concave, not quite flat, without area, or cross themselves. A polygon of n
    /// vertices becomes n − 2 triangles, which have exactly the area of the polygon if its edges
    /// do not cross. A face with one vertex is a point, a face with two is a segment.
    ///
    /// ```
    /// use glam::Vec3;
    /// use jostle_geom::Mesh;
    ///
    /// let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    /// let faces: Vec<Vec<u32>> = vec![vec![0, 1, 2], vec![3], vec![0, 3]];
    /// let mesh = Mesh::from_polygons(vertices, &faces)?;
    /// assert_eq!(mesh.face_count(), 3);
    /// # Ok::<(), jostle_geom::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// Indices that point nowhere, numbers that are not finite, and faces without vertices.
    pub fn from_polygons<Faces>(vertices: Vec<Vec3>, faces: Faces) -> Result<Mesh, MeshError>
    where
        Faces: IntoIterator<Item: AsRef<[u32]>>,
    {
        Mesh::of_polygons(vertices.into(), faces)
    }

    /// As [`Mesh::from_polygons`], with vertices in `f64`, see [`Mesh::from_triangles_f64`].
    ///
    /// # Errors
    /// As [`Mesh::from_polygons`], and coordinates larger than any `f32`.
    pub fn from_polygons_f64<Faces>(vertices: Vec<DVec3>, faces: Faces) -> Result<Mesh, MeshError>
    where
        Faces: IntoIterator<Item: AsRef<[u32]>>,
    {
        Mesh::of_polygons(Vertices::from_f64(vertices)?, faces)
    }

    fn of_polygons<Faces>(vertices: Vertices, faces: Faces) -> Result<Mesh, MeshError>
    where
        Faces: IntoIterator<Item: AsRef<[u32]>>,
    {
        check_count("vertices", vertices.len(), Mesh::VERTICES_MAX)?;
        let mut triangulator = Triangulator::default();
        let mut triangles = Vec::new();
        let mut face_of_triangle = Vec::new();
        let mut face_count = 0;
        for face in faces {
            let polygon = face.as_ref();
            check_face(face_count, polygon, vertices.len())?;
            let before = triangles.len();
            triangulator.push_triangles(&vertices, polygon, &mut triangles);
            check_count("triangles", triangles.len(), Mesh::TRIANGLES_MAX)?;
            let made = triangles.len() - before;
            if made != 1 && face_of_triangle.is_empty() {
                face_of_triangle.extend(0..before as u32);
            }
            if made != 1 || !face_of_triangle.is_empty() {
                face_of_triangle.extend(std::iter::repeat_n(face_count as u32, made));
            }
            face_count += 1;
        }
        Mesh::assemble(vertices, triangles, face_of_triangle, face_count)
    }

    /// As [`Mesh::from_polygons`], with all indices in one list: the first `sizes[0]` of them are
    /// the first face, and so on.
    ///
    /// # Errors
    /// As [`Mesh::from_polygons`], and sizes that do not add up to the number of indices.
    pub fn from_face_sizes(
        vertices: Vec<Vec3>,
        sizes: &[u32],
        indices: &[u32],
    ) -> Result<Mesh, MeshError> {
        Mesh::of_face_sizes(vertices.into(), sizes, indices)
    }

    /// As [`Mesh::from_face_sizes`], with vertices in `f64`, see [`Mesh::from_triangles_f64`].
    ///
    /// # Errors
    /// As [`Mesh::from_face_sizes`], and coordinates larger than any `f32`.
    pub fn from_face_sizes_f64(
        vertices: Vec<DVec3>,
        sizes: &[u32],
        indices: &[u32],
    ) -> Result<Mesh, MeshError> {
        Mesh::of_face_sizes(Vertices::from_f64(vertices)?, sizes, indices)
    }

    fn of_face_sizes(
        vertices: Vertices,
        sizes: &[u32],
        indices: &[u32],
    ) -> Result<Mesh, MeshError> {
        let sum = sizes.iter().map(|&size| u64::from(size)).sum::<u64>();
        if sum != indices.len() as u64 {
            return Err(MeshError::SizesDoNotAddUp { sum, indices: indices.len() });
        }
        let mut rest = indices;
        let faces = sizes.iter().map(|&size| {
            let (face, tail) = rest.split_at(size as usize);
            rest = tail;
            face
        });
        Mesh::of_polygons(vertices, faces)
    }

    /// Checks the numbers and fills in what follows from them.
    fn assemble(
        vertices: Vertices,
        triangles: Vec<[u32; 3]>,
        face_of_triangle: Vec<u32>,
        face_count: usize,
    ) -> Result<Mesh, MeshError> {
        let mut mesh = Mesh {
            vertices,
            triangles,
            face_of_triangle,
            face_count,
            vertex_source: Vec::new(),
            component_vertices: Vec::new(),
            solid: false,
            seams: false,
        };
        mesh.check_finite(&mesh.vertices)?;
        let (place, seams) = topology::places(&mesh.vertices);
        mesh.component_vertices = topology::component_vertices(&place, &mesh.triangles);
        mesh.seams = seams;
        mesh.triangles.shrink_to_fit();
        mesh.face_of_triangle.shrink_to_fit();
        Ok(mesh)
    }

    /// `vertices` are those to be checked, by stored number.
    fn check_finite(&self, vertices: &Vertices) -> Result<(), MeshError> {
        let position = |vertex: usize| vertices.rounded()[vertex];
        let is_bad = |vertex: usize| !position(vertex).is_finite();
        let Some(first_bad) = (0..self.vertices.len()).find(|&vertex| is_bad(vertex)) else {
            return Ok(());
        };
        // Rare, so it may be slow: the first face, by number, with such a vertex.
        let used = (0..self.triangles.len()).filter_map(|triangle| {
            let corner = self.triangles[triangle].iter().find(|&&v| is_bad(v as usize))?;
            Some((self.face_of(triangle as u32), *corner))
        });
        Err(match used.min() {
            Some((face, vertex)) => MeshError::NotFinite {
                face: face as usize,
                vertex: self.caller_vertex(vertex) as usize,
                position: position(vertex as usize),
            },
            None => MeshError::NotFiniteUnused {
                vertex: self.caller_vertex(first_bad as u32) as usize,
                position: position(first_bad),
            },
        })
    }

    /// Marks the mesh as solid: what lies inside it then counts as touching it.
    ///
    /// A mesh encloses a volume if every edge has an even number of triangles; edges are the same
    /// if their ends have the same coordinates. Then a point is inside if a ray from it crosses
    /// the surface an odd number of times, and all rays agree. So neither the orientation of the
    /// faces matters nor that several shells share an edge. Triangles without area take part: they
    /// are what closes the gap between an edge and one that is cut in two.
    ///
    /// # Errors
    /// A mesh with an edge that has an odd number of triangles.
    pub fn into_solid(mut self) -> Result<Mesh, NotClosed> {
        let (place, _) = topology::places(&self.vertices);
        self.check_closed(&place)?;
        self.solid = true;
        Ok(self)
    }

    /// Moves the vertices, given in the order in which the mesh was made. Faces and their
    /// triangles stay as they are; a polygon is not triangulated anew.
    ///
    /// # Errors
    /// Another number of vertices, numbers that are not finite, and positions that tear open a
    /// solid (possible only if some of its vertices are duplicates). The mesh is then unchanged.
    pub fn set_vertices(&mut self, positions: &[Vec3]) -> Result<(), MeshError> {
        self.check_vertex_count(positions.len())?;
        let moved = |vertex: usize| positions[self.caller_vertex(vertex as u32) as usize];
        let moved: Vec<Vec3> = (0..positions.len()).map(moved).collect();
        self.move_to(moved.into())
    }

    /// As [`Mesh::set_vertices`], with positions in `f64`, see [`Mesh::from_triangles_f64`].
    ///
    /// # Errors
    /// As [`Mesh::set_vertices`], and coordinates larger than any `f32`.
    pub fn set_vertices_f64(&mut self, positions: &[DVec3]) -> Result<(), MeshError> {
        self.check_vertex_count(positions.len())?;
        let moved = Vertices::from_f64(positions.to_vec())?;
        self.move_to(moved.gather(|vertex| self.caller_vertex(vertex as u32)))
    }

    fn check_vertex_count(&self, found: usize) -> Result<(), MeshError> {
        let expected = self.vertices.len();
        if found == expected { Ok(()) } else { Err(MeshError::VertexCount { expected, found }) }
    }

    /// By stored numbers.
    fn move_to(&mut self, vertices: Vertices) -> Result<(), MeshError> {
        self.check_finite(&vertices)?;
        // Without duplicates the vertex numbers alone decide what is connected and closed, and
        // places that become equal can only connect more.
        if self.seams {
            let (place, _) = topology::places(&vertices);
            if self.solid {
                self.check_closed(&place).map_err(MeshError::TornOpen)?;
            }
            self.component_vertices = topology::component_vertices(&place, &self.triangles);
        }
        self.vertices = vertices;
        Ok(())
    }

    /// The vertices. Building a [`crate::Model`] renumbers them; [`Mesh::caller_vertex`] knows
    /// the numbers that the caller gave. If they were given as `f64` and do not fit `f32`, these
    /// are rounded: good for drawing. [`Mesh::position`] is not.
    #[must_use]
    pub fn vertices(&self) -> &[Vec3] {
        self.vertices.rounded()
    }

    /// The vertices in `f64`, if `f32` does not have them all.
    #[must_use]
    pub fn vertices_f64(&self) -> Option<&[DVec3]> {
        self.vertices.exact()
    }

    /// Where a vertex of [`Mesh::vertices`] is: what queries are about.
    ///
    /// # Panics
    /// If there is no such vertex.
    #[inline]
    #[must_use]
    pub fn position(&self, vertex: u32) -> DVec3 {
        self.vertices.at(vertex)
    }

    /// The corners of a triangle of [`Mesh::triangles`].
    #[inline]
    pub(crate) fn corners(&self, triangle: usize) -> [DVec3; 3] {
        self.triangles[triangle].map(|vertex| self.vertices.at(vertex))
    }

    /// The triangles, as indices into [`Mesh::vertices`]. A point or a segment has an index twice
    /// or three times.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Whether some face is more than one triangle.
    pub(crate) fn has_polygons(&self) -> bool {
        self.triangles.len() != self.face_count()
    }

    /// The face, as the caller counted them, that a triangle is part of.
    ///
    /// # Panics
    /// If there is no such triangle and the mesh has polygons.
    #[inline]
    #[must_use]
    pub fn face_of(&self, triangle: u32) -> u32 {
        if self.face_of_triangle.is_empty() {
            triangle
        } else {
            self.face_of_triangle[triangle as usize]
        }
    }

    /// The number that the caller gave to a vertex.
    ///
    /// # Panics
    /// If there is no such vertex and the mesh was renumbered.
    #[inline]
    #[must_use]
    pub fn caller_vertex(&self, vertex: u32) -> u32 {
        if self.vertex_source.is_empty() { vertex } else { self.vertex_source[vertex as usize] }
    }

    /// How many faces were given.
    #[must_use]
    pub fn face_count(&self) -> usize {
        self.face_count
    }

    /// How many triangles the faces became.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// Whether the inside counts, see [`Mesh::into_solid`].
    #[must_use]
    pub fn is_solid(&self) -> bool {
        self.solid
    }

    /// Bytes of memory that the mesh takes outside of the struct itself.
    #[must_use]
    pub fn memory_usage(&self) -> usize {
        let lists = [&self.face_of_triangle, &self.vertex_source, &self.component_vertices];
        self.vertices.memory_usage()
            + self.triangles.capacity() * size_of::<[u32; 3]>()
            + lists.iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>()
    }
}

fn check_count(what: &'static str, count: usize, most: usize) -> Result<(), MeshError> {
    if count > most { Err(MeshError::TooMany { what, count, most }) } else { Ok(()) }
}

fn check_face(face: usize, polygon: &[u32], vertices: usize) -> Result<(), MeshError> {
    if polygon.is_empty() {
        return Err(MeshError::EmptyFace { face });
    }
    match polygon.iter().find(|&&vertex| vertex as usize >= vertices) {
        Some(&vertex) => Err(MeshError::BadIndex { face, vertex, vertices }),
        None => Ok(()),
    }
}
