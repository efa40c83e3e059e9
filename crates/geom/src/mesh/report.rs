//! What is in a mesh and what is odd about it. Nothing of it is an error.

mod text;

pub use text::ReportText;

use super::topology::{self, Side, edges};
use super::{ClosingGap, Mesh};
use glam::{DVec3, Vec3};
use robust::{Coord, orient2d};

/// A face counts as not flat if a vertex is further from its plane than this part of the face's
/// size (the diagonal of its box). Coordinates rounded to `f32` bend faces by less, unless a face
/// is a thousand times smaller than its distance from the origin.
pub const NON_PLANAR_BOUND: f64 = 1e-4;

/// A triangle counts as a sliver if its height is less than this part of its longest side.
pub const SLIVER_BOUND: f64 = 1e-4;

/// How many faces a [`MeshIssue`] names.
const EXAMPLES: usize = 5;

/// How often something was found, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeshIssue {
    /// How often.
    pub count: usize,
    /// The lowest-numbered faces that have it, at most five.
    pub faces: Vec<u32>,
}

/// What a mesh consists of and what is odd about it. Edges, duplicates and parts go by the
/// coordinates of vertices, not by their numbers, so that cracks are found and seams are not.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshReport {
    /// Faces as they were given.
    pub faces: usize,
    /// Triangles that the faces became.
    pub triangles: usize,
    /// Vertices as they were given.
    pub vertices: usize,
    /// Vertices that no face uses.
    pub unused_vertices: usize,
    /// Faces that have exactly no area: points and segments.
    pub degenerate_faces: MeshIssue,
    /// Faces of one triangle that have an area, but a height of less than [`SLIVER_BOUND`] of their
    /// longest side.
    pub sliver_faces: MeshIssue,
    /// Faces with the same set of corners as a face before.
    pub duplicate_faces: MeshIssue,
    /// Polygons bent by more than [`NON_PLANAR_BOUND`].
    pub non_planar_faces: MeshIssue,
    /// Largest distance of a vertex from the plane of its face, as part of the face's size.
    pub largest_bend: f64,
    /// Edges with one triangle.
    pub open_edges: MeshIssue,
    /// Connected lines of open edges: the rims of holes, or of a surface that is open by nature.
    pub holes: usize,
    /// What would close the surface, see [`Mesh::closing_gap`].
    pub gap: Option<ClosingGap>,
    /// Edges with three triangles or more.
    pub non_manifold_edges: MeshIssue,
    /// Edges with two triangles that have it in the same direction: one of the two is inside out.
    pub misoriented_edges: MeshIssue,
    /// Connected parts of the surface.
    pub components: usize,
    /// Every edge has an even number of triangles, see [`Mesh::into_solid`].
    pub closed: bool,
    /// The mesh is marked as solid.
    pub solid: bool,
    /// Lowest and highest coordinates of the vertices in use; none if there are no faces.
    pub bounds: Option<[Vec3; 2]>,
    /// The area of all triangles together.
    pub area: f64,
    /// The enclosed volume, see [`Mesh::volume`].
    pub volume: Option<f64>,
}

impl Mesh {
    /// Looks for everything odd. Takes about as long as making the mesh, up to a few times; with a
    /// surface that is not closed longer, because welds are tried.
    ///
    /// ```
    /// use glam::Vec3;
    /// use jostle_geom::Mesh;
    ///
    /// let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X * 2.0];
    /// let report = Mesh::from_triangles(vertices, vec![[0, 1, 2], [0, 1, 3]])?.report();
    /// assert_eq!(report.degenerate_faces.faces, [1]);
    /// assert!(!report.closed);
    /// println!("{report}");
    /// # Ok::<(), jostle_geom::MeshError>(())
    /// ```
    #[must_use]
    pub fn report(&self) -> MeshReport {
        let (place, _) = topology::places(&self.vertices);
        let mut used = vec![false; self.vertices.len()];
        self.triangles.iter().flatten().for_each(|&vertex| used[vertex as usize] = true);
        let mut report = MeshReport {
            faces: self.face_count,
            triangles: self.triangles.len(),
            vertices: self.vertices.len(),
            unused_vertices: used.iter().filter(|&&used| !used).count(),
            degenerate_faces: MeshIssue::default(),
            sliver_faces: MeshIssue::default(),
            duplicate_faces: MeshIssue::default(),
            non_planar_faces: MeshIssue::default(),
            largest_bend: 0.0,
            open_edges: MeshIssue::default(),
            holes: 0,
            gap: None,
            non_manifold_edges: MeshIssue::default(),
            misoriented_edges: MeshIssue::default(),
            components: topology::component_vertices(&place, &self.triangles).len(),
            closed: true,
            solid: self.solid,
            bounds: self.bounds(),
            area: self.area(),
            volume: self.volume(),
        };
        self.look_at_faces(&place, &mut report);
        self.look_at_edges(&place, &mut report);
        if !report.closed {
            report.gap = self.closing_gap();
        }
        report
    }

    fn look_at_faces(&self, place: &[u32], report: &mut MeshReport) {
        for triangles in self.triangles_by_face().chunk_by(|a, b| a.0 == b.0) {
            let face = triangles[0].0;
            let corners = || triangles.iter().map(|&(_, triangle)| triangle);
            if corners().all(|triangle| self.has_no_area(triangle)) {
                report.degenerate_faces.add(face);
            } else if triangles.len() == 1 && self.is_sliver(triangles[0].1) {
                report.sliver_faces.add(face);
            }
            if triangles.len() > 1 {
                let bend = self.bend(corners());
                report.largest_bend = report.largest_bend.max(bend);
                if bend > NON_PLANAR_BOUND {
                    report.non_planar_faces.add(face);
                }
            }
        }
        report.duplicate_faces = duplicate_faces(self, place);
    }

    /// Face and corners of all triangles, sorted in a way that does not depend on how they are
    /// stored, so that the report does not either.
    fn triangles_by_face(&self) -> Vec<(u32, [u32; 3])> {
        let mut sorted: Vec<(u32, [u32; 3])> =
            (0u32..).zip(&self.triangles).map(|(i, &corners)| (self.face_of(i), corners)).collect();
        if !self.face_of_triangle.is_empty() {
            sorted.sort_by_cached_key(|&(face, corners)| {
                (face, corners.map(|vertex| self.caller_vertex(vertex)))
            });
        }
        sorted
    }

    /// Whether the corners of a triangle lie on one line, exactly: they do if they do in all three
    /// projections along the axes.
    fn has_no_area(&self, corners: [u32; 3]) -> bool {
        let [a, b, c] = corners.map(|vertex| self.vertices.at(vertex).to_array());
        [(0, 1), (1, 2), (2, 0)].iter().all(|&(u, v)| {
            let flat = |p: [f64; 3]| Coord { x: p[u], y: p[v] };
            orient2d(flat(a), flat(b), flat(c)) == 0.0
        })
    }

    /// Whether the height of a triangle is a tiny part of its longest side.
    fn is_sliver(&self, corners: [u32; 3]) -> bool {
        let [a, b, c] = corners.map(|vertex| self.vertices.at(vertex));
        let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
        // Twice the area is the longest side times the height.
        (b - a).cross(c - a).length() < SLIVER_BOUND * longest
    }

    /// Largest distance of a corner from the plane through the mean of the corners and across
    /// Newell's normal, as part of the size of the face. Zero for faces without area.
    fn bend(&self, triangles: impl Iterator<Item = [u32; 3]> + Clone) -> f64 {
        let corners = triangles.clone().flatten().map(|v| self.vertices.at(v));
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (mut sum, mut count) = (DVec3::ZERO, 0.0);
        for corner in corners.clone() {
            (low, high) = (low.min(corner), high.max(corner));
            sum += corner;
            count += 1.0;
        }
        let normal = triangles.fold(DVec3::ZERO, |normal, corners| {
            let [a, b, c] = corners.map(|v| self.vertices.at(v));
            normal + (b - a).cross(c - a)
        });
        let (Some(normal), size) = (normal.try_normalize(), low.distance(high)) else { return 0.0 };
        let middle = sum / count;
        corners.fold(0.0, |most: f64, corner| most.max(normal.dot(corner - middle).abs())) / size
    }

    fn look_at_edges(&self, place: &[u32], report: &mut MeshReport) {
        let sides = topology::sorted_sides(place, &self.triangles);
        let mut open = Examples::default();
        let mut non_manifold = Examples::default();
        let mut misoriented = Examples::default();
        let mut rims: Vec<[u32; 2]> = Vec::new();
        let face_at = |edge: &[Side]| edge.iter().map(|side| self.face_of(side.triangle)).min();
        for edge in edges(&sides) {
            report.closed &= edge.len() % 2 == 0;
            match edge {
                [side] => {
                    open.add(face_at(edge));
                    rims.push([side.low, side.high]);
                }
                [a, b] if a.backward == b.backward => misoriented.add(face_at(edge)),
                [_, _] => {}
                _ => non_manifold.add(face_at(edge)),
            }
        }
        report.open_edges = open.finish();
        report.holes = topology::connected_lines(place.len(), &rims);
        report.non_manifold_edges = non_manifold.finish();
        report.misoriented_edges = misoriented.finish();
    }
}

impl MeshIssue {
    /// Counts a face; they come in increasing order.
    fn add(&mut self, face: u32) {
        self.count += 1;
        if self.faces.len() < EXAMPLES {
            self.faces.push(face);
        }
    }
}

/// A finding whose faces come in any order, some several times.
#[derive(Default)]
struct Examples {
    count: usize,
    faces: Vec<u32>,
}

impl Examples {
    fn add(&mut self, face: Option<u32>) {
        self.count += 1;
        self.faces.extend(face);
    }

    fn finish(mut self) -> MeshIssue {
        self.faces.sort_unstable();
        self.faces.dedup();
        self.faces.truncate(EXAMPLES);
        MeshIssue { count: self.count, faces: self.faces }
    }
}

/// Faces with the same set of corners as a face before; `place` says which corners are the same.
pub(super) fn duplicate_faces(mesh: &Mesh, place: &[u32]) -> MeshIssue {
    let mut shapes = Shapes::default();
    for triangles in mesh.triangles_by_face().chunk_by(|a, b| a.0 == b.0) {
        let corners = triangles.iter().flat_map(|&(_, triangle)| triangle);
        shapes.push(corners.map(|vertex| place[vertex as usize]));
    }
    shapes.duplicates()
}

/// The sets of places that faces have as corners, in the order of the faces.
#[derive(Default)]
struct Shapes {
    places: Vec<u32>,
    /// Where the set of each face ends.
    ends: Vec<usize>,
}

impl Shapes {
    fn push(&mut self, places: impl Iterator<Item = u32>) {
        let start = self.places.len();
        self.places.extend(places);
        self.places[start..].sort_unstable();
        let mut kept = start;
        for i in start..self.places.len() {
            if i == start || self.places[i] != self.places[kept - 1] {
                self.places[kept] = self.places[i];
                kept += 1;
            }
        }
        self.places.truncate(kept);
        self.ends.push(kept);
    }

    /// The faces whose set an earlier face has too.
    fn duplicates(&self) -> MeshIssue {
        let set = |face: u32| {
            let start = if face == 0 { 0 } else { self.ends[face as usize - 1] };
            &self.places[start..self.ends[face as usize]]
        };
        let mut order: Vec<u32> = (0..self.ends.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| set(a).cmp(set(b)).then(a.cmp(&b)));
        let mut found = Examples::default();
        for pair in order.windows(2).filter(|pair| set(pair[0]) == set(pair[1])) {
            found.add(Some(pair[1]));
        }
        found.finish()
    }
}
