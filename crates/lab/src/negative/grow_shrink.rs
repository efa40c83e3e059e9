//! The grow-shrink tree (Zachmann 2000, 3.7.1): a tree over a deforming mesh whose volumes grow
//! by themselves, and are fitted again only where a question comes by.
//!
//! A volume that was exact when the mesh had moved by T in all holds its triangles as long as it
//! is grown by what the mesh has moved since. Zachmann assumes a bound per frame; here the largest
//! motion of a vertex is measured when vertices are set, so the assumption cannot fail. Growing
//! is a number to compare with, not work: in any direction of length 1 a volume grows alike.
//!
//! On the way back from the leaves a node becomes the union of its children if these are newer. It
//! is then as old as the older of the two (the thesis compares with the frame, which never
//! holds).

use super::dops::{Alignment, Dop, DopTree};
use crate::deform::{Deforming, Which, face_pairs, placed};
use crate::frames::Frames;
use crate::traverse::Node;
use crate::{Contender, Count};
use glam::Vec3;
use jostle_geom::triangle::triangles_touch;
use jostle_geom::{FacePair, Mesh, MeshError, Pose};

/// Sums of motions round; this much more than they say covers 2^20 frames.
const MORE: f64 = 1.0 + 1.0 / (1u64 << 30) as f64;

/// Two deforming meshes in 18-DOP trees that grow and shrink.
#[derive(Clone, Debug)]
pub struct GrowShrink {
    sides: [Side; 2],
}

#[derive(Clone, Debug)]
struct Side {
    mesh: Mesh,
    tree: DopTree,
    /// How far the mesh had moved when each node was exact, or all below it were.
    exact_at: Vec<f64>,
    /// How far any vertex can have moved by now, all frames added up.
    moved: f64,
    /// How far the mesh reaches from its own zero, now or ever before.
    reach: f64,
}

impl GrowShrink {
    /// Builds both trees.
    #[must_use]
    pub fn new(a: &Mesh, b: &Mesh) -> GrowShrink {
        GrowShrink { sides: [Side::new(a), Side::new(b)] }
    }

    fn ask(&mut self, pose_a: &Pose, pose_b: &Pose, all: bool) -> (Vec<(u32, u32)>, Count) {
        let reach = self.sides.each_ref().map(|side| side.reach);
        let frames = Frames::new(reach, pose_a, pose_b);
        let mut walk = Walk {
            sides: &mut self.sides,
            poses: [pose_a, pose_b],
            alignment: Alignment::new(&frames),
            all,
            found: Vec::new(),
            count: Count::default(),
        };
        if !walk.sides.iter().any(|side| side.tree.is_empty()) {
            let root = walk.aligned(0);
            walk.pair(0, 0, &root);
        }
        (walk.found, walk.count)
    }
}

impl Contender for GrowShrink {
    fn name(&self) -> String {
        "grow-shrink".to_owned()
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        let (found, count) = self.ask(pose_a, pose_b, false);
        (!found.is_empty(), count)
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        let (found, count) = self.ask(pose_a, pose_b, true);
        let [a, b] = self.sides.each_ref().map(|side| &side.mesh);
        (face_pairs(a, b, &found), count)
    }

    fn bytes(&self) -> usize {
        let of = |side: &Side| side.tree.bytes() + side.exact_at.capacity() * size_of::<f64>();
        self.sides.iter().map(of).sum()
    }
}

impl Deforming for GrowShrink {
    fn set_vertices(&mut self, which: Which, positions: &[Vec3]) -> Result<Count, MeshError> {
        let side = &mut self.sides[which.index()];
        let before = side.mesh.vertices().to_vec();
        side.mesh.set_vertices(positions)?;
        let after = side.mesh.vertices();
        let step = |(x, y): (&Vec3, &Vec3)| x.as_dvec3().distance(y.as_dvec3());
        let most = before.iter().zip(after).map(step).fold(0.0, f64::max);
        side.moved = (side.moved + most * MORE) * MORE;
        side.reach = side.reach.max(crate::traverse::reach(&side.mesh));
        Ok(Count::default())
    }
}

impl Side {
    fn new(mesh: &Mesh) -> Side {
        let tree = DopTree::new(mesh);
        Side {
            mesh: mesh.clone(),
            exact_at: vec![0.0; tree.dops.len()],
            moved: 0.0,
            reach: tree.reach(),
            tree,
        }
    }

    /// By how much a node's volume has to be grown now.
    fn growth(&self, node: u32) -> f64 {
        self.moved - self.exact_at[node as usize]
    }

    /// Fits a node to its triangles, or to its children if these are newer.
    fn shrink(&mut self, node: u32) {
        let at = node as usize;
        match self.tree.shape.node(node) {
            Node::Empty => {}
            Node::Leaf(triangles) => {
                if self.exact_at[at] < self.moved {
                    self.tree.dops[at] = Dop::of_triangles(&self.mesh, triangles);
                    self.exact_at[at] = self.moved;
                }
            }
            Node::Inner([low, high]) => {
                let (low, high) = (low as usize, high as usize);
                let older = self.exact_at[low].min(self.exact_at[high]);
                if older > self.exact_at[at] {
                    self.tree.dops[at] = self.tree.dops[low].joined(&self.tree.dops[high]);
                    self.exact_at[at] = older;
                }
            }
        }
    }
}

/// An aligned volume, and by how much it had to be grown when it was aligned: the node may be
/// fitted again while pairs with this volume are still looked at.
#[derive(Clone, Copy)]
struct Aligned {
    dop: Dop,
    growth: f64,
}

struct Walk<'w> {
    sides: &'w mut [Side; 2],
    poses: [&'w Pose; 2],
    alignment: Alignment,
    all: bool,
    found: Vec<(u32, u32)>,
    count: Count,
}

impl Walk<'_> {
    fn aligned(&mut self, b: u32) -> Aligned {
        let side = &self.sides[1];
        let dop = self.alignment.align(&side.tree.dops[b as usize], &mut self.count);
        Aligned { dop, growth: side.growth(b) }
    }

    fn overlap(&mut self, a: u32, b: &Aligned) -> bool {
        let grow = (self.sides[0].growth(a) + b.growth) * MORE + self.alignment.slack;
        self.sides[0].tree.dops[a as usize].meets(&b.dop, grow, &mut self.count)
    }

    /// True if all is done.
    fn pair(&mut self, a: u32, b: u32, aligned: &Aligned) -> bool {
        self.count.visits += 1;
        if !self.overlap(a, aligned) {
            return false;
        }
        let shapes = self.sides.each_ref().map(|side| &side.tree.shape);
        let below_a = match shapes[0].node(a) {
            Node::Inner(children) => Some(children),
            _ => None,
        };
        let below_b = match shapes[1].node(b) {
            Node::Inner(children) => Some(children),
            _ => None,
        };
        if below_a.is_none() && below_b.is_none() {
            return self.leaves(a, b);
        }
        let mut done = false;
        'children: for &child_b in below_b.as_ref().map_or(&[b][..], |both| both) {
            let volume = if child_b == b { *aligned } else { self.aligned(child_b) };
            for &child_a in below_a.as_ref().map_or(&[a][..], |both| both) {
                done = self.pair(child_a, child_b, &volume);
                if done {
                    break 'children;
                }
            }
        }
        self.sides[0].shrink(a);
        self.sides[1].shrink(b);
        done
    }

    fn leaves(&mut self, a: u32, b: u32) -> bool {
        self.sides[0].shrink(a);
        self.sides[1].shrink(b);
        let aligned = self.aligned(b);
        if !self.overlap(a, &aligned) {
            return false;
        }
        let [one, other] = self.sides.each_ref();
        let (Node::Leaf(some_a), Node::Leaf(some_b)) =
            (one.tree.shape.node(a), other.tree.shape.node(b))
        else {
            return false;
        };
        for &x in some_a {
            for &y in some_b {
                self.count.triangle_tests += 1;
                let first = placed(&one.mesh, x, self.poses[0]);
                if triangles_touch(&first, &placed(&other.mesh, y, self.poses[1])) {
                    self.found.push((x, y));
                    if !self.all {
                        return true;
                    }
                }
            }
        }
        false
    }
}
