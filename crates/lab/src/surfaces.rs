//! Two meshes at two poses: the exact test at the end of every method.
//!
//! Vertices are placed when they are first needed and once per question; a counter shows what is
//! of this question, so nothing has to be cleared (Ohlenburg 2003, 3.4.3; Zachmann 2000, 3.11.2:
//! clearing flags alone took a third of the time).

use glam::DVec3;
use jostle_geom::triangle::{Triangle, triangles_touch};
use jostle_geom::{FacePair, Mesh, Pose};

/// Two meshes at two poses, with vertices that are placed as they are needed.
#[derive(Clone, Debug)]
pub struct Surfaces<'a> {
    sides: [Side<'a>; 2],
    question: u64,
}

#[derive(Clone, Debug)]
struct Side<'a> {
    mesh: &'a Mesh,
    pose: Pose,
    placed: Vec<DVec3>,
    /// The question for which each vertex was placed last.
    stamps: Vec<u64>,
}

impl<'a> Surfaces<'a> {
    /// Both at the origin.
    #[must_use]
    pub fn new(a: &'a Mesh, b: &'a Mesh) -> Surfaces<'a> {
        Surfaces { sides: [Side::new(a), Side::new(b)], question: 1 }
    }

    /// A new question, about these poses.
    pub fn pose(&mut self, pose_a: &Pose, pose_b: &Pose) {
        self.sides[0].pose = *pose_a;
        self.sides[1].pose = *pose_b;
        self.question += 1;
    }

    /// Do these two triangles share a point? Exact for the placed vertices.
    ///
    /// # Panics
    /// If one of the meshes has no such triangle.
    pub fn touch(&mut self, a: u32, b: u32) -> bool {
        let [side_a, side_b] = &mut self.sides;
        let a = side_a.triangle(a, self.question);
        let b = side_b.triangle(b, self.question);
        triangles_touch(&a, &b)
    }

    /// The faces that two triangles are of.
    ///
    /// # Panics
    /// If one of the meshes has no such triangle.
    #[must_use]
    pub fn faces(&self, a: u32, b: u32) -> FacePair {
        FacePair { a: self.sides[0].mesh.face_of(a), b: self.sides[1].mesh.face_of(b) }
    }

    /// Pairs of faces in the order of [`jostle_geom::Pair::all_pairs`], each once.
    #[must_use]
    pub fn face_pairs(&self, touching: &[(u32, u32)]) -> Vec<FacePair> {
        let mut pairs: Vec<FacePair> = touching.iter().map(|&(a, b)| self.faces(a, b)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// The first mesh.
    #[must_use]
    pub fn mesh_a(&self) -> &'a Mesh {
        self.sides[0].mesh
    }

    /// The second mesh.
    #[must_use]
    pub fn mesh_b(&self) -> &'a Mesh {
        self.sides[1].mesh
    }

    /// How many vertices this question has placed.
    #[must_use]
    pub fn placed(&self) -> usize {
        let of = |side: &Side| side.stamps.iter().filter(|&&stamp| stamp == self.question).count();
        self.sides.iter().map(of).sum()
    }
}

impl<'a> Side<'a> {
    fn new(mesh: &'a Mesh) -> Side<'a> {
        let count = mesh.vertices().len();
        Side {
            mesh,
            pose: Pose::IDENTITY,
            placed: vec![DVec3::ZERO; count],
            stamps: vec![0; count],
        }
    }

    fn triangle(&mut self, triangle: u32, question: u64) -> Triangle {
        self.mesh.triangles()[triangle as usize].map(|vertex| {
            let vertex = vertex as usize;
            if self.stamps[vertex] != question {
                self.stamps[vertex] = question;
                self.placed[vertex] = self.pose.transform_point(self.mesh.vertices()[vertex]);
            }
            self.placed[vertex]
        })
    }
}
