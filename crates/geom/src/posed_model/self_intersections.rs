//! Where does a surface meet itself?
//!
//! The hierarchy is walked against itself, each unordered pair of places once. Faces that have a
//! corner in common are neighbours: they touch by construction and are left out (as in Zachmann's
//! self-collision test, which skips neighbours).

use super::{PosedModel, ROUNDING, used_lanes};
use crate::FacePair;
use crate::predicates::{Axis, Sign, orient2d, orient3d};
use crate::simd::Isa;
use crate::tree::overlap::{Overlap, QueryObb};
use crate::tree::{Child, Frame, Lane};
use crate::triangle::shared::{Shared, shared};
use crate::triangle::triangles_touch;
use glam::{DVec3, Mat3A, Vec3};
use std::ops::ControlFlow;

impl PosedModel<'_> {
    /// Every pair of faces of this one surface that touch although they are not neighbours;
    /// sorted, each pair once with the smaller face first. Exact for the placed triangles.
    ///
    /// Two faces are neighbours if a corner of one has the same coordinates in the mesh as a
    /// corner of the other. Neighbours are never given, also if they cross elsewhere.
    ///
    /// ```
    /// use glam::Vec3;
    /// use jostle_geom::{FacePair, Mesh, Model, PosedModel, Pose, Quality};
    ///
    /// let corner = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
    /// let floor = [corner(0.0, 0.0, 0.0), corner(4.0, 0.0, 0.0), corner(0.0, 4.0, 0.0)];
    /// let wall = [corner(1.0, 1.0, -1.0), corner(1.0, 1.0, 1.0), corner(1.0, 9.0, 0.0)];
    /// let beside = corner(-4.0, 0.0, 0.0);
    /// let vertices = vec![floor[0], floor[1], floor[2], wall[0], wall[1], wall[2], beside];
    /// let mesh = Mesh::from_triangles(vertices, vec![[0, 1, 2], [0, 2, 6], [3, 4, 5]])?;
    /// let model = Model::build(mesh, Quality::Default);
    /// let touching = PosedModel::new(&model, &Pose::IDENTITY).self_intersections();
    /// assert_eq!(touching, [FacePair { a: 0, b: 2 }]);
    /// # Ok::<(), jostle_geom::MeshError>(())
    /// ```
    #[must_use]
    pub fn self_intersections(&self) -> Vec<FacePair> {
        let mut found = Vec::new();
        // Nothing breaks it off.
        let _ = Search { placed: self }.run(&mut |i, j| {
            let (face_i, face_j) = (self.face(i), self.face(j));
            if face_i != face_j
                && !share_corner(self, i, j)
                && triangles_touch(&self.triangle(i), &self.triangle(j))
            {
                found.push(FacePair { a: face_i.min(face_j), b: face_i.max(face_j) });
            }
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        found.dedup();
        if let Some(corners) = FaceCorners::of(self) {
            found.retain(|pair| !corners.share(pair.a, pair.b));
        }
        found
    }

    /// Does the surface change sides at every triangle, almost everywhere? Not if one has no area,
    /// or if two share an area, which then may bound nothing. Exact for the placed triangles.
    pub(crate) fn all_triangles_bound(&self) -> bool {
        let count = self.model.mesh.triangles.len();
        let has_area = |t: usize| {
            let [p, q, r] = self.triangle(t);
            Axis::ALL.iter().any(|&axis| orient2d(axis, p, q, r) != Sign::Zero)
        };
        (0..count).all(has_area)
            && Search { placed: self }
                .run(&mut |i, j| {
                    let (s, t) = (self.triangle(i), self.triangle(j));
                    // Most are neighbours that are not in one plane.
                    let off_plane =
                        |p: &DVec3| !s.contains(p) && orient3d(s[0], s[1], s[2], *p) != Sign::Zero;
                    let area = !t.iter().any(off_plane)
                        && matches!(shared(&s, &t), Some(Shared::Polygon(_)));
                    if area { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })
                .is_continue()
    }
}

/// All pairs of triangles of one model that may touch.
struct Search<'s, 'a> {
    placed: &'s PosedModel<'a>,
}

impl Search<'_, '_> {
    fn run(&self, look: &mut impl FnMut(usize, usize) -> ControlFlow<()>) -> ControlFlow<()> {
        let tree = &self.placed.model.tree;
        if self.placed.root().is_none() {
            return ControlFlow::Continue(());
        }
        let mut open = vec![(Lane::ROOT, Lane::ROOT)];
        while let Some((a, b)) = open.pop() {
            let (child_a, child_b) = (tree.child(a), tree.child(b));
            if child_a.is_leaf() && child_b.is_leaf() {
                leaves(child_a, child_b, look)?;
                continue;
            }
            if a == b {
                let index = child_a.node_index();
                for i in used_lanes(&tree.nodes[index]) {
                    let lane = Lane::new(index, i);
                    open.push((lane, lane));
                    let later = self.overlaps(lane, child_a) >> i >> 1;
                    open.extend(lanes_of(later).map(|k| (lane, Lane::new(index, i + 1 + k))));
                }
                continue;
            }
            let into_b = child_a.is_leaf() || (!child_b.is_leaf() && tree.size(b) > tree.size(a));
            let (one, child) = if into_b { (a, child_b) } else { (b, child_a) };
            let met = self.overlaps(one, child);
            open.extend(lanes_of(met).map(|k| (one, Lane::new(child.node_index(), k))));
        }
        ControlFlow::Continue(())
    }

    /// What boxes may be apart although their placed triangles touch: the roundings of the box
    /// test (64 · 2^-24 of the lengths in it, counted in `pair/relative.rs`) and of placing.
    fn reach(&self, frames: [Frame; 2], shift: Vec3) -> f32 {
        let [origin, other] = frames.map(|frame| frame.origin.as_dvec3().length());
        let far = origin.max(other) + self.placed.pose.translation().length();
        let radius = f64::from(frames[0].radius.max(frames[1].radius));
        let lengths = radius + shift.as_dvec3().length();
        let tiny = f64::from(f32::from_bits(64));
        (2f64.powi(-17) * lengths + 4.0 * ROUNDING * (far + radius) + tiny) as f32
    }

    /// Which lanes below `child` may touch the box of a lane: bit k for lane k.
    fn overlaps(&self, lane: Lane, child: Child) -> u8 {
        let tree = &self.placed.model.tree;
        let frames = [tree.frame_of(lane), tree.frame(child.node_index())];
        let shift = frames[0].origin - frames[1].origin;
        let reach = self.reach(frames, shift);
        let one = QueryObb::new(&tree.obb(lane), &Mat3A::IDENTITY, shift.into(), reach);
        let node = &tree.nodes[child.node_index()];
        let used = used_lanes(node).fold(0u8, |mask, k| mask | 1 << k);
        Isa::best().run(Overlap(node, &one)) & used
    }
}

/// Calls `look` with all pairs of triangles of two leaves, or of one with itself.
fn leaves(
    a: Child,
    b: Child,
    look: &mut impl FnMut(usize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for i in a.triangles() {
        for j in b.triangles() {
            if a != b || i < j {
                look(i, j)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// Have two triangles a corner in the same place?
fn share_corner(placed: &PosedModel<'_>, i: usize, j: usize) -> bool {
    let mesh = &placed.model.mesh;
    let (a, b) = (mesh.corners(i), mesh.corners(j));
    a.iter().any(|p| b.contains(p))
}

/// The numbers of the bits that are set.
fn lanes_of(mask: u8) -> impl Iterator<Item = usize> {
    (0..8).filter(move |k| mask >> k & 1 == 1)
}

/// The corners of every face, for meshes with faces of several triangles: two of their triangles
/// may have no common corner although the faces have one.
struct FaceCorners {
    /// Sorted by face, then place.
    all: Vec<(u32, [u64; 3])>,
}

impl FaceCorners {
    /// `None` if every face is one triangle.
    fn of(placed: &PosedModel<'_>) -> Option<FaceCorners> {
        let mesh = &placed.model.mesh;
        if mesh.triangles.len() == mesh.face_count {
            return None;
        }
        let corners = mesh
            .triangles
            .iter()
            .enumerate()
            .flat_map(|(i, t)| t.map(|v| (placed.face(i), place_bits(mesh.vertices.at(v)))));
        let mut all: Vec<_> = corners.collect();
        all.sort_unstable();
        all.dedup();
        Some(FaceCorners { all })
    }

    fn corners(&self, face: u32) -> &[(u32, [u64; 3])] {
        let first = self.all.partition_point(|entry| entry.0 < face);
        let end = self.all.partition_point(|entry| entry.0 <= face);
        &self.all[first..end]
    }

    /// Have two faces a corner in the same place?
    fn share(&self, a: u32, b: u32) -> bool {
        let (few, many) = (self.corners(a), self.corners(b));
        few.iter().any(|p| many.binary_search_by_key(&p.1, |q| q.1).is_ok())
    }
}

/// A place as bits that are equal exactly if the coordinates are (−0 equals 0).
fn place_bits(p: DVec3) -> [u64; 3] {
    p.to_array().map(|x| (x + 0.0).to_bits())
}

#[cfg(test)]
mod tests {
    use crate::{Mesh, Model, Quality, solids};
    use glam::{DVec3, Vec3};

    /// A cube and more triangles, on vertices of its own.
    fn cube_with(more: &[[Vec3; 3]]) -> Model {
        let cube = solids::cuboid(DVec3::splat(2.0)).unwrap();
        let mut vertices = cube.vertices().to_vec();
        let mut faces: Vec<[u32; 3]> = cube.triangles().to_vec();
        for corners in more {
            let first = vertices.len() as u32;
            vertices.extend(corners);
            faces.push([first, first + 1, first + 2]);
        }
        Model::build(Mesh::from_triangles(vertices, faces).unwrap(), Quality::Default)
    }

    #[test]
    fn triangles_bound_unless_they_share_an_area_or_have_none() {
        let up = |x: f32, y: f32| Vec3::new(x, y, 1.0);
        let off = |x: f32, y: f32| Vec3::new(x, y, 1.0f32.next_up());
        let beside = [up(1.0, -1.0), up(1.0, 1.0), up(3.0, 0.0)];
        let through = [up(0.0, 0.0), Vec3::new(0.0, 0.5, 5.0), Vec3::new(0.5, 0.0, -5.0)];
        for more in
            [&[][..], &[beside], &[through], &[[off(0.0, 0.0), off(0.5, 0.0), off(0.0, 0.5)]]]
        {
            assert!(cube_with(more).all_triangles_bound(), "{more:?}");
        }
        let inside = [up(0.0, 0.0), up(0.5, 0.0), up(0.0, 0.5)];
        let across = [up(0.999, 0.0), up(3.0, 0.5), up(3.0, -0.5)];
        let twice = [up(5.0, 0.0), up(6.0, 0.0), up(5.0, 1.0)];
        let needle = [up(5.0, 0.0), up(6.0, 0.0), up(7.0, 0.0)];
        for more in [&[inside][..], &[across], &[twice, twice], &[needle]] {
            assert!(!cube_with(more).all_triangles_bound(), "{more:?}");
        }
    }
}
