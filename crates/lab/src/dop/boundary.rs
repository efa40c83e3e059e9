//! The vertices of every node's DOP, for the re-alignment of Klosowski and Ohlenburg (2003, 3.2.3
//! to 3.2.5): all are turned, and the new DOP is enclosed around them.
//!
//! **Why nothing gets lost.** Let L be the reach of the mesh. All planes are moved out by
//! δ = 2⁻¹⁸·L before the vertices are computed. Take a point p of the DOP and any direction u.
//! Around p + u·δ/2, a disc of radius δ/2 across u is inside the moved planes. Follow u from its
//! points to the boundary: one of the k polygons gets a k-th of the disc or more, a convex piece
//! that holds a circle of radius δ/4k (area by perimeter). In the middle y of that circle all other
//! planes, which are at least ten degrees steeper, are more than 2⁻³⁰·L away. So y is in the
//! polygon that clipping makes, because planes are off by 2⁻⁵⁰·L at most there (see `faces.rs`); so
//! some vertex is as far along u as y, which is δ/2 = 2⁻¹⁹·L farther than p. Rounding to `f32`
//! takes back 2⁻²⁵ of numbers up to 8L, merging of near vertices 2⁻²⁴·L, each times √3: less than
//! 2⁻²⁰·L.

use super::faces::Faces;
use super::{DopTree, NormalSet};
use crate::traverse::Node;
use glam::Vec3;

/// How the boundary of a node is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundaryWay {
    /// Its k polygons are clipped by its k planes.
    Own,
    /// That of the node above, with the one plane moved in that cuts off most. Quicker to build and
    /// less tight (Ohlenburg 2003, figure 3.9; he cuts along the split axis).
    FromAbove,
}

/// The vertices of all nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Boundary {
    vertices: Vec<Vec3>,
    /// Where the vertices of each node begin; one more for the end of the last. A node without
    /// vertices has no bound: its DOP reaches beyond what `f32` can hold.
    starts: Vec<u32>,
}

impl Boundary {
    pub(super) fn new(tree: &DopTree, reach: f64, way: BoundaryWay) -> Boundary {
        let nodes = tree.shape.node_count();
        let mut of_node: Vec<Vec<Vec3>> = vec![Vec::new(); nodes];
        let out = Outward { reach, normals: &tree.normals };
        match way {
            BoundaryWay::Own => {
                for (node, corners) in (0..).zip(&mut of_node) {
                    *corners = out.corners(&out.faces(tree.offsets(node)));
                }
            }
            BoundaryWay::FromAbove if nodes > 0 => {
                let mut open = vec![(0, out.faces(tree.offsets(0)))];
                while let Some((node, faces)) = open.pop() {
                    of_node[node as usize] = out.corners(&faces);
                    let Node::Inner(children) = tree.shape.node(node) else { continue };
                    for child in children {
                        let mut faces = faces.clone();
                        out.cut(&mut faces, tree.offsets(child));
                        open.push((child, faces));
                    }
                }
            }
            BoundaryWay::FromAbove => {}
        }
        let mut boundary = Boundary { vertices: Vec::new(), starts: vec![0] };
        for corners in of_node {
            boundary.vertices.extend(corners);
            boundary.starts.push(boundary.vertices.len() as u32);
        }
        boundary
    }

    pub(super) fn of(&self, node: u32) -> &[Vec3] {
        let node = node as usize;
        &self.vertices[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    pub(super) fn replace_root(&mut self, vertices: &[Vec3]) {
        let Some(&end) = self.starts.get(1) else { return };
        self.vertices.splice(..end as usize, vertices.iter().copied());
        for start in &mut self.starts[1..] {
            *start = *start - end + vertices.len() as u32;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.vertices[..]) + size_of_val(&self.starts[..])
    }
}

/// Planes moved out by δ.
struct Outward<'a> {
    reach: f64,
    normals: &'a NormalSet,
}

impl Outward<'_> {
    fn delta(&self) -> f64 {
        self.reach * 2f64.powi(-18)
    }

    fn faces(&self, offsets: &[f32]) -> Faces {
        let moved: Vec<f64> =
            offsets.iter().map(|&offset| f64::from(offset) + self.delta()).collect();
        // No offset is more than the reach, so no vertex is further than the reach times that of
        // the set.
        Faces::new(self.normals, &moved, 2.0 * NormalSet::REACH_MAX * self.reach)
    }

    /// By the plane that cuts off most. Hardly anything is not worth a cut, and rounding could
    /// then decide what is left.
    fn cut(&self, faces: &mut Faces, offsets: &[f32]) {
        let moved = |i: usize| f64::from(offsets[i]) + self.delta();
        let less = |i: &usize| faces.offset(*i) - moved(*i);
        let most = (0..self.normals.k()).max_by(|i, j| less(i).total_cmp(&less(j)));
        if let Some(i) = most.filter(|i| less(i) > self.delta()) {
            faces.cut(self.normals, i, moved(i));
        }
    }

    /// None if one of them is beyond `f32`.
    fn corners(&self, faces: &Faces) -> Vec<Vec3> {
        let near = self.reach * 2f64.powi(-24);
        let corners: Vec<Vec3> = faces.corners(near).iter().map(|c| c.as_vec3()).collect();
        if corners.iter().all(|corner| corner.is_finite()) { corners } else { Vec::new() }
    }
}
