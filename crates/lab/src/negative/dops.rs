//! 18-DOPs whose offsets may change: what grow-shrink trees and link trees are made of.
//!
//! [`crate::dop::DopTrees`] has them too, in `f32`, packed and fixed. Here volumes are `f64`, are
//! joined in the common frame, and are fitted again node by node. Both are brought into another
//! frame by the same sums of three offsets ([`GenericDop::row`]).

use crate::Count;
use crate::dop::{GenericDop, NormalSet, Row};
use crate::frames::Frames;
use crate::traverse::reach;
use crate::tree::{Guide, SplitRule, Splitting, TreeShape};
use glam::DVec3;
use jostle_geom::Mesh;
use std::sync::OnceLock;

/// Slabs: k = 18 planes.
pub(crate) const SLABS: usize = 9;

/// Klosowski's directions: along x, y, z and the diagonals between two of them.
fn generic() -> &'static (NormalSet, GenericDop) {
    static GENERIC: OnceLock<(NormalSet, GenericDop)> = OnceLock::new();
    GENERIC.get_or_init(|| {
        let normals = NormalSet::klosowski();
        let generic = GenericDop::new(&normals);
        (normals, generic)
    })
}

/// Directions of the slabs, of length 1.
fn normals() -> &'static [DVec3] {
    generic().0.half()
}

/// Bounds along nine directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dop {
    pub(crate) low: [f64; SLABS],
    pub(crate) high: [f64; SLABS],
}

impl Dop {
    pub(crate) const EMPTY: Dop =
        Dop { low: [f64::INFINITY; SLABS], high: [f64::NEG_INFINITY; SLABS] };

    pub(crate) fn of_triangles(mesh: &Mesh, triangles: &[u32]) -> Dop {
        let mut dop = Dop::EMPTY;
        for &triangle in triangles {
            for vertex in mesh.triangles()[triangle as usize] {
                let p = mesh.vertices()[vertex as usize].as_dvec3();
                for (i, normal) in normals().iter().enumerate() {
                    let along = normal.dot(p);
                    dop.low[i] = dop.low[i].min(along);
                    dop.high[i] = dop.high[i].max(along);
                }
            }
        }
        dop
    }

    pub(crate) fn joined(&self, other: &Dop) -> Dop {
        let mut dop = *self;
        for i in 0..SLABS {
            dop.low[i] = dop.low[i].min(other.low[i]);
            dop.high[i] = dop.high[i].max(other.high[i]);
        }
        dop
    }

    /// Do two volumes overlap if one of them is grown by `by` on all sides? Slab by slab, as far
    /// as needed.
    pub(crate) fn meets(&self, other: &Dop, by: f64, count: &mut Count) -> bool {
        count.volume_tests += 1;
        (0..SLABS).all(|i| {
            count.comparisons += 2;
            self.low[i] <= other.high[i] + by && other.low[i] <= self.high[i] + by
        })
    }
}

/// A binary tree over a mesh with one triangle to a leaf, and a volume for each node.
#[derive(Clone, Debug)]
pub(crate) struct DopTree {
    pub(crate) shape: TreeShape,
    pub(crate) dops: Vec<Dop>,
    reach: f64,
}

impl DopTree {
    pub(crate) fn new(mesh: &Mesh) -> DopTree {
        let measure = |triangles: &[u32]| {
            let dop = Dop::of_triangles(mesh, triangles);
            (0..3).map(|i| dop.high[i] - dop.low[i]).product()
        };
        let guide = Guide { measure: &measure, normals: &generic().0 };
        let splitting = Splitting::single(SplitRule::AlternatingEnds);
        let shape = TreeShape::build(mesh, splitting, &guide);
        let dops = shape.bottom_up(|leaf| Dop::of_triangles(mesh, leaf), Dop::joined);
        DopTree { shape, dops, reach: reach(mesh) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.dops.is_empty()
    }

    /// How far the mesh reached from its zero when the tree was built.
    pub(crate) fn reach(&self) -> f64 {
        self.reach
    }

    pub(crate) fn bytes(&self) -> usize {
        self.shape.bytes() + self.dops.capacity() * size_of::<Dop>()
    }
}

/// Brings volumes of the second tree into the frame of the first: for a whole question.
#[derive(Clone, Debug)]
pub(crate) struct Alignment {
    /// By slab: how it is bounded, and by how much the frames are shifted along it.
    rows: Vec<(Row, f64)>,
    /// By how much one of two volumes in the common frame has to be grown.
    pub(crate) slack: f64,
}

impl Alignment {
    /// What three directions leave over of a fourth moves a point by at most that, times the
    /// length of a question.
    pub(crate) fn new(frames: &Frames) -> Alignment {
        let row = |&normal: &DVec3| {
            let row = generic().1.row(frames.to_b.turn(normal));
            (row, normal.dot(frames.to_a.shift))
        };
        let rows: Vec<(Row, f64)> = normals().iter().map(row).collect();
        let left_over = rows.iter().map(|(row, _)| row.left_over).fold(0.0, f64::max);
        // Offsets round by three products and two sums where they are made, here by another
        // three and three, all of numbers below 2L; factors add up to less than 2.
        Alignment { rows, slack: frames.slack(24) + left_over * frames.length() }
    }

    pub(crate) fn align(&self, dop: &Dop, count: &mut Count) -> Dop {
        count.alignments += 1;
        count.operations += 6 * 2 * SLABS as u64;
        let mut aligned = Dop::EMPTY;
        for (i, (row, shift)) in self.rows.iter().enumerate() {
            let [mut low, mut high] = [*shift; 2];
            for (plane, factor) in row.planes.into_iter().zip(row.c) {
                // The upper half of the planes are the others turned round.
                let (from, to) = match plane.checked_sub(SLABS) {
                    None => (dop.low[plane], dop.high[plane]),
                    Some(slab) => (-dop.high[slab], -dop.low[slab]),
                };
                low += factor * from;
                high += factor * to;
            }
            (aligned.low[i], aligned.high[i]) = (low, high);
        }
        aligned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use jostle_geom::{Pose, solids};

    /// Never below what points say, and for a turn that maps the directions to themselves exact.
    #[test]
    fn an_aligned_volume_holds_all_points() {
        let ball = solids::sphere(1.0, 0.05).expect("a ball");
        let triangles: Vec<u32> = (0..ball.triangle_count() as u32).step_by(7).collect();
        let dop = Dop::of_triangles(&ball, &triangles);
        let mut loosest = 0.0f64;
        for i in 0..200 {
            let at = f64::from(i);
            let turn = match i % 10 {
                0 => DQuat::from_xyzw(0.0, 0.0, 1.0, f64::from(i / 10 % 2)),
                _ => DQuat::from_xyzw(at.sin(), (2.1 * at).sin(), (3.7 * at).cos(), 0.3),
            };
            let pose = Pose::new(turn, DVec3::new(at, 1.0, -2.0)).expect("finite");
            let frames = Frames::new([2.0, 2.0], &Pose::IDENTITY, &pose);
            let alignment = Alignment::new(&frames);
            let aligned = alignment.align(&dop, &mut Count::default());
            for (slab, normal) in normals().iter().enumerate() {
                let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
                for &t in &triangles {
                    for v in ball.triangles()[t as usize] {
                        let along = normal.dot(pose.transform_point(ball.vertices()[v as usize]));
                        (low, high) = (low.min(along), high.max(along));
                    }
                }
                let (under, over) = (low - aligned.low[slab], aligned.high[slab] - high);
                assert!(under >= -alignment.slack && over >= -alignment.slack, "{i} {slab}");
                if i % 10 == 0 {
                    assert!(under.max(over) < 1e-12, "{i} {slab}: {under} {over}");
                }
                loosest = loosest.max(under).max(over);
            }
        }
        assert!(loosest < 0.4, "{loosest}");
    }
}
