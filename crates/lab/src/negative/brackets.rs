//! Sorted brackets along three axes (Zachmann 2000, 3.7.2): the boxes of all triangles of both
//! meshes in the world, the ends of their sides kept in order on each axis.
//!
//! A sweep along an axis meets opening and closing brackets; a triangle that opens overlaps all
//! those of the other mesh that are open. Pairs are counted in a sparse matrix: made by the first
//! axis, and kept by the others only if they are there. What is counted three times overlaps.
//! Brackets are brought into order from the order of the last question, which is near if little
//! has moved.
//!
//! Boxes are those of placed vertices, as the exact test has them, so nothing here rounds.

use crate::deform::{Deforming, Which, face_pairs, placed, sort_nearly};
use crate::frames::Bounds;
use crate::{Contender, Count};
use glam::Vec3;
use jostle_geom::triangle::triangles_touch;
use jostle_geom::{FacePair, Mesh, MeshError, Pose};

/// Two deforming meshes with the brackets of their triangles in order.
#[derive(Clone, Debug)]
pub struct BracketSort {
    meshes: [Mesh; 2],
    /// By axis.
    brackets: [Vec<Bracket>; 3],
    /// The triangles of the first mesh: with which of the second they overlap so far, and along
    /// how many axes.
    matrix: Vec<Vec<(u32, u8)>>,
}

#[derive(Clone, Copy, Debug)]
struct Bracket {
    at: f64,
    end: End,
    mesh: u8,
    triangle: u32,
}

/// Opening comes first where both are at the same place: boxes that touch overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Opening,
    Closing,
}

impl BracketSort {
    /// Brackets in any order: the first question sorts them.
    #[must_use]
    pub fn new(a: &Mesh, b: &Mesh) -> BracketSort {
        let of = |mesh: u8, count: usize| {
            let ends = move |triangle| {
                [End::Opening, End::Closing].map(|end| Bracket { at: 0.0, end, mesh, triangle })
            };
            (0..count as u32).flat_map(ends)
        };
        let counts = [a.triangle_count(), b.triangle_count()];
        let brackets: Vec<Bracket> = of(0, counts[0]).chain(of(1, counts[1])).collect();
        BracketSort {
            meshes: [a.clone(), b.clone()],
            brackets: [brackets.clone(), brackets.clone(), brackets],
            matrix: vec![Vec::new(); counts[0]],
        }
    }

    fn ask(&mut self, poses: [&Pose; 2], all: bool) -> (Vec<(u32, u32)>, Count) {
        let (mut count, mut found) = (Count::default(), Vec::new());
        let boxes = [0, 1].map(|side| {
            let mesh = &self.meshes[side];
            let triangles = 0..mesh.triangle_count() as u32;
            let bounds = |t| Bounds::of(placed(mesh, t, poses[side]));
            triangles.map(bounds).collect::<Vec<Bounds>>()
        });
        count.alignments += (boxes[0].len() + boxes[1].len()) as u64;
        for axis in 0..3 {
            for bracket in &mut self.brackets[axis] {
                let own = &boxes[usize::from(bracket.mesh)][bracket.triangle as usize];
                bracket.at = match bracket.end {
                    End::Opening => own.low[axis],
                    End::Closing => own.high[axis],
                };
            }
            let key = |b: &Bracket| (b.at, b.end, b.mesh, b.triangle);
            count.comparisons += sort_nearly(&mut self.brackets[axis], key);
            self.sweep(axis, &mut count);
        }
        for (x, row) in self.matrix.iter().enumerate() {
            for &(y, _) in row {
                count.triangle_tests += 1;
                let first = placed(&self.meshes[0], x as u32, poses[0]);
                if triangles_touch(&first, &placed(&self.meshes[1], y, poses[1])) {
                    found.push((x as u32, y));
                    if !all {
                        return (found, count);
                    }
                }
            }
        }
        (found, count)
    }

    /// Goes along an axis and counts pairs that overlap on it. The first axis starts anew.
    fn sweep(&mut self, axis: usize, count: &mut Count) {
        if axis == 0 {
            self.matrix.iter_mut().for_each(Vec::clear);
        }
        let mut open: [Vec<u32>; 2] = [Vec::new(), Vec::new()];
        for bracket in &self.brackets[axis] {
            count.visits += 1;
            let (mesh, triangle) = (usize::from(bracket.mesh), bracket.triangle);
            if bracket.end == End::Closing {
                open[mesh].retain(|&other| other != triangle);
                continue;
            }
            for &other in &open[1 - mesh] {
                count.volume_tests += 1;
                let (x, y) = if mesh == 0 { (triangle, other) } else { (other, triangle) };
                let row = &mut self.matrix[x as usize];
                match row.iter_mut().find(|entry| entry.0 == y) {
                    // Missed on an axis before: never again.
                    Some(entry) if usize::from(entry.1) == axis => entry.1 += 1,
                    None if axis == 0 => row.push((y, 1)),
                    _ => {}
                }
            }
            open[mesh].push(triangle);
        }
        // What was missed on this axis need not be looked for on the next.
        self.matrix.iter_mut().for_each(|row| row.retain(|entry| usize::from(entry.1) == axis + 1));
    }
}

impl Contender for BracketSort {
    fn name(&self) -> String {
        "sorted brackets".to_owned()
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        let (found, count) = self.ask([pose_a, pose_b], false);
        (!found.is_empty(), count)
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        let (found, count) = self.ask([pose_a, pose_b], true);
        (face_pairs(&self.meshes[0], &self.meshes[1], &found), count)
    }

    fn bytes(&self) -> usize {
        let brackets = self.brackets.iter().map(|list| list.capacity() * size_of::<Bracket>());
        let rows = self.matrix.iter().map(|row| row.capacity() * size_of::<(u32, u8)>());
        brackets.chain(rows).sum::<usize>() + self.matrix.capacity() * size_of::<Vec<(u32, u8)>>()
    }
}

impl Deforming for BracketSort {
    fn set_vertices(&mut self, which: Which, positions: &[Vec3]) -> Result<Count, MeshError> {
        self.meshes[which.index()].set_vertices(positions)?;
        Ok(Count::default())
    }
}
