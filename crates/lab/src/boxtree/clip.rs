//! Two BoxTrees by clipping (Zachmann 2000, 3.5.5): of the twelve edges of each box, the part
//! that lies in the other box.
//!
//! Two boxes share a point exactly if some edge of one has a part in the other: the common part of
//! two boxes is a polytope, and each of its corners lies on an edge of one of the two. That
//! includes a box inside another, all of whose edges are inside. Zachmann's rule, that boxes are
//! apart if all parts of *one* of them are empty, is wrong: a small box that pierces a face of a
//! large one has parts, the large one has none. Both must be empty.
//!
//! When a box is split, the parts of its own edges are kept, except four new edges in the plane
//! of the cut, and those of the other box's edges are shortened at the plane. That takes 57
//! multiplications and 79 additions, 12 of them for rounding that errs towards overlap; Zachmann
//! counts at most 72 and 72. They are products of entries that belong to edges, so no error
//! gathers on the way down.

use super::{BoxTree, BoxTreeSettings, Child};
use crate::frames::{Bounds, Frames, Map};
use crate::{Contender, Count, Surfaces};
use glam::DVec3;
use jostle_geom::{FacePair, Mesh, Pose};

/// Multiplications and additions of a split: 6 products and 12 sums for where twelve edges start,
/// 12 products and 12 + 12 sums (and 4) for where they meet the plane, from below and from above;
/// 15 products and 15 sums for where four new edges start, 24 and 24 for where they meet six
/// planes.
const OPERATIONS: u64 = (6 + 12 + 15 + 24) + (12 + 24 + 4 + 15 + 24);

/// Comparisons of a split: a part is shortened 24 times for edges of the other box, 24 times for
/// new edges, and 24 parts of each child are asked whether they are empty.
const COMPARISONS: u64 = 24 + 24 + 48;

/// Two meshes in BoxTrees whose children are partitions, walked by clipping.
#[derive(Clone, Debug)]
pub struct ClippedBoxTrees<'a> {
    trees: [BoxTree; 2],
    surfaces: Surfaces<'a>,
}

impl<'a> ClippedBoxTrees<'a> {
    /// Builds both trees.
    #[must_use]
    pub fn new(a: &'a Mesh, b: &'a Mesh, settings: &BoxTreeSettings) -> ClippedBoxTrees<'a> {
        let trees = [BoxTree::partition(a, settings), BoxTree::partition(b, settings)];
        ClippedBoxTrees { trees, surfaces: Surfaces::new(a, b) }
    }

    fn walk(&mut self, pose_a: &Pose, pose_b: &Pose, all: bool) -> (Vec<(u32, u32)>, Count) {
        let [a, b] = &self.trees;
        let (mut count, mut found) = (Count::default(), Vec::new());
        if a.root == Child::Empty || b.root == Child::Empty {
            return (found, count);
        }
        self.surfaces.pose(pose_a, pose_b);
        let clip = Clip::new([a, b], pose_a, pose_b);
        let mut waiting = Vec::new();
        let roots = clip.roots([a.bounds, b.bounds]);
        count.volume_tests += 1;
        count.alignments += 1;
        if overlap(&roots) {
            waiting.push(([a.root, b.root], roots));
        }
        while let Some((slots, pair)) = waiting.pop() {
            count.visits += 1;
            let side = match slots {
                [Child::Leaf(x), Child::Leaf(y)] => {
                    let pairs = a.members(x).flat_map(|x| b.members(y).map(move |y| (x, y)));
                    for (x, y) in pairs {
                        count.triangle_tests += 1;
                        if self.surfaces.touch(x, y) {
                            found.push((x, y));
                            if !all {
                                return (found, count);
                            }
                        }
                    }
                    continue;
                }
                [Child::Leaf(_), _] => 1,
                [_, Child::Leaf(_)] => 0,
                // The larger one.
                _ => usize::from(pair[1].size() > pair[0].size()),
            };
            let Child::Node(node) = slots[side] else { continue };
            let node = &self.trees[side].nodes[node as usize];
            count.operations += OPERATIONS;
            count.comparisons += COMPARISONS;
            let halves = clip.split(&pair, side, node.axis(), f64::from(node.cuts[0]));
            for (child, half) in node.children().into_iter().zip(halves).rev() {
                count.volume_tests += u64::from(child != Child::Empty);
                if child != Child::Empty && overlap(&half) {
                    let mut slots = slots;
                    slots[side] = child;
                    waiting.push((slots, half));
                }
            }
        }
        (found, count)
    }
}

impl Contender for ClippedBoxTrees<'_> {
    fn name(&self) -> String {
        "BoxTree, clipped".to_owned()
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        let (found, count) = self.walk(pose_a, pose_b, false);
        (!found.is_empty(), count)
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        let (found, count) = self.walk(pose_a, pose_b, true);
        (self.surfaces.face_pairs(&found), count)
    }

    fn bytes(&self) -> usize {
        self.trees.iter().map(BoxTree::bytes).sum()
    }
}

/// Part of an edge: from where to where, as the coordinate along it. Empty if that is backwards.
type Part = [f64; 2];

const EMPTY: Part = [f64::INFINITY, f64::NEG_INFINITY];

/// A box and what of its edges lies in the other box.
#[derive(Clone, Copy, Debug)]
struct Edges {
    bounds: Bounds,
    /// By the axis i that edges are along; four of them, bit 0 of which is set if they are at
    /// the high side of axis i + 1, bit 1 of axis i + 2.
    parts: [[Part; 4]; 3],
}

impl Edges {
    fn size(&self) -> f64 {
        self.bounds.extent().length_squared()
    }
}

/// Do two boxes share a point? If some edge of one of them has a part in the other.
fn overlap(pair: &[Edges; 2]) -> bool {
    pair.iter().flat_map(|edges| edges.parts.as_flattened()).any(|part| part[0] <= part[1])
}

/// What is the same for a whole walk.
struct Clip {
    /// From the frame of each box into that of the other.
    maps: [Map; 2],
    /// One over the entries of the rotations; not finite for edges that are parallel to planes.
    inverse: [[DVec3; 3]; 2],
    /// By how much the other box is grown when edges of this one are clipped.
    ///
    /// With s from [`Frames::slack`] and what triangles reach out of their boxes: triangles that
    /// touch are in boxes A and B such that A meets B grown by s. Then an edge of A meets B grown
    /// by s, or an edge of B grown by s meets A. A point of the latter is within √3·s of the edge
    /// of B itself, which so meets A grown by 2s. Where an edge meets a plane is rounded by a few
    /// parts of 2^53 of the way in the other frame, whatever the angle, so room in the plane's
    /// position covers it.
    grow: [f64; 2],
}

impl Clip {
    fn new(trees: [&BoxTree; 2], pose_a: &Pose, pose_b: &Pose) -> Clip {
        let frames = Frames::new(trees.map(|tree| tree.bounds.reach()), pose_a, pose_b);
        let maps = [frames.to_b, frames.to_a];
        let grow = frames.slack(64) + 2.0 * (trees[0].delta + trees[1].delta);
        let inverse = maps.map(|map| map.rows.map(DVec3::recip));
        Clip { maps, inverse, grow: [grow, 2.0 * grow] }
    }

    fn roots(&self, bounds: [Bounds; 2]) -> [Edges; 2] {
        let edges = |side: usize| {
            let own = bounds[side];
            let part = |axis: usize, corner: usize| {
                let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
                let pick = |bit: usize, axis: usize| match corner >> bit & 1 {
                    0 => own.low[axis],
                    _ => own.high[axis],
                };
                let mut start = DVec3::ZERO;
                (start[j], start[k]) = (pick(0, j), pick(1, k));
                self.clipped(side, axis, start, [own.low[axis], own.high[axis]], &bounds[1 - side])
            };
            let parts = [0, 1, 2].map(|axis| [0, 1, 2, 3].map(|corner| part(axis, corner)));
            Edges { bounds: own, parts }
        };
        [edges(0), edges(1)]
    }

    /// What of an edge along `axis` through `start` (where its coordinate along itself is 0) lies
    /// in the other box.
    fn clipped(
        &self,
        side: usize,
        axis: usize,
        start: DVec3,
        mut part: Part,
        other: &Bounds,
    ) -> Part {
        let start = self.maps[side].point(start);
        let grow = self.grow[side];
        for m in 0..3 {
            let (low, high) = (other.low[m] - grow, other.high[m] + grow);
            if self.maps[side].rows[m][axis] == 0.0 {
                if start[m] < low || start[m] > high {
                    return EMPTY;
                }
                continue;
            }
            let inverse = self.inverse[side][m][axis];
            let (first, last) = ((low - start[m]) * inverse, (high - start[m]) * inverse);
            part = [part[0].max(first.min(last)), part[1].min(first.max(last))];
        }
        part
    }

    /// Splits the box of a side at a plane: the low half and the high half, each with the other
    /// box.
    fn split(&self, pair: &[Edges; 2], side: usize, axis: usize, cut: f64) -> [[Edges; 2]; 2] {
        let mut halves = [*pair; 2];
        halves[0][side].bounds.high[axis] = cut;
        halves[1][side].bounds.low[axis] = cut;
        self.shorten_others(&mut halves, 1 - side, axis, cut);
        // Own edges across the plane.
        for corner in 0..4 {
            let part = pair[side].parts[axis][corner];
            halves[0][side].parts[axis][corner] = [part[0], part[1].min(cut)];
            halves[1][side].parts[axis][corner] = [part[0].max(cut), part[1]];
        }
        // New edges in the plane: two along each of the other axes. They are at the high side of
        // the low half and at the low side of the high half; the rest stays.
        let own = &pair[side].bounds;
        for along in [(axis + 1) % 3, (axis + 2) % 3] {
            // Which bit of a corner is its side of the split axis, and which is the third axis.
            let (bit, third) = match (along + 1) % 3 == axis {
                true => (0, (along + 2) % 3),
                false => (1, (along + 1) % 3),
            };
            let range = [own.low[along], own.high[along]];
            for (at_high, position) in [own.low[third], own.high[third]].into_iter().enumerate() {
                let mut start = DVec3::ZERO;
                (start[axis], start[third]) = (cut, position);
                let part = self.clipped(side, along, start, range, &pair[1 - side].bounds);
                let corner = |high: usize| high << bit | at_high << (1 - bit);
                halves[0][side].parts[along][corner(1)] = part;
                halves[1][side].parts[along][corner(0)] = part;
            }
        }
        halves
    }

    /// Edges of the box that is not split end at the plane, grown towards overlap.
    fn shorten_others(&self, halves: &mut [[Edges; 2]; 2], side: usize, axis: usize, cut: f64) {
        let bounds = halves[0][side].bounds;
        let row = self.maps[side].rows[axis];
        let shift = self.maps[side].shift[axis];
        let sides = [row * bounds.low, row * bounds.high];
        let (to_low, to_high) = (cut - shift + self.grow[side], cut - shift - self.grow[side]);
        for along in 0..3 {
            let (j, k) = ((along + 1) % 3, (along + 2) % 3);
            let inverse = self.inverse[side][axis][along];
            for corner in 0..4 {
                let start = sides[corner & 1][j] + sides[corner >> 1][k];
                let [low, high] =
                    halves.each_mut().map(|half| &mut half[side].parts[along][corner]);
                if row[along] == 0.0 {
                    // Parallel to the plane: on one side of it as a whole, or near it on both.
                    if start > to_low {
                        *low = EMPTY;
                    }
                    if start < to_high {
                        *high = EMPTY;
                    }
                    continue;
                }
                let (end, begin) = ((to_low - start) * inverse, (to_high - start) * inverse);
                match inverse > 0.0 {
                    true => (low[1], high[0]) = (low[1].min(end), high[0].max(begin)),
                    false => (low[0], high[1]) = (low[0].max(end), high[1].min(begin)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    /// Boxes along the axes of their own frames, as trees without triangles.
    fn boxes_overlap(a: Bounds, b: Bounds, pose_b: &Pose) -> bool {
        let empty = Mesh::from_triangles(Vec::new(), Vec::new()).expect("an empty mesh");
        let mut trees = [a, b].map(|bounds| {
            let mut tree = BoxTree::partition(&empty, &BoxTreeSettings::default());
            tree.bounds = bounds;
            tree
        });
        let whole = [a, b].map(|bounds| bounds.grown(1.0));
        let clip = Clip::new([&trees[0], &trees[1]], &Pose::IDENTITY, pose_b);
        let direct = overlap(&clip.roots([a, b]));
        // The same boxes, cut out of larger ones plane by plane.
        trees.iter_mut().zip(whole).for_each(|(tree, whole)| tree.bounds = whole);
        let clip = Clip::new([&trees[0], &trees[1]], &Pose::IDENTITY, pose_b);
        let mut pair = clip.roots(whole);
        for axis in 0..3 {
            for (side, target) in [a, b].into_iter().enumerate() {
                pair = clip.split(&pair, side, axis, target.low[axis])[1];
                pair = clip.split(&pair, side, axis, target.high[axis])[0];
            }
        }
        assert_eq!([pair[0].bounds, pair[1].bounds], [a, b]);
        assert_eq!(overlap(&pair), direct, "{a:?} {b:?} {pose_b:?}");
        direct
    }

    fn cube(half: f64) -> Bounds {
        Bounds { low: DVec3::splat(-half), high: DVec3::splat(half) }
    }

    #[test]
    fn contained_piercing_and_touching_boxes_overlap() {
        let at = |x: f64| Pose::from_translation(DVec3::new(x, 0.0, 0.0)).expect("finite");
        let turned = |x: f64| {
            let turn = DQuat::from_xyzw(0.1, 0.2, 0.3, 1.0);
            Pose::new(turn, DVec3::new(x, 0.0, 0.0)).expect("finite")
        };
        // Inside, either way round.
        assert!(boxes_overlap(cube(5.0), cube(1.0), &turned(0.5)));
        assert!(boxes_overlap(cube(1.0), cube(5.0), &turned(0.5)));
        // Through a face, so that only one of the two has edges in the other.
        let needle = Bounds { low: DVec3::new(-3.0, -0.1, -0.1), high: DVec3::new(3.0, 0.1, 0.1) };
        assert!(boxes_overlap(needle, cube(5.0), &turned(6.0)));
        assert!(boxes_overlap(cube(5.0), needle, &turned(6.0)));
        // Face to face, and flat boxes in one plane.
        assert!(boxes_overlap(cube(1.0), cube(1.0), &at(2.0)));
        assert!(!boxes_overlap(cube(1.0), cube(1.0), &at(2.000001)));
        let flat = Bounds { low: DVec3::new(-1.0, -1.0, 0.0), high: DVec3::new(1.0, 1.0, 0.0) };
        assert!(boxes_overlap(flat, flat, &at(2.0)));
        assert!(!boxes_overlap(flat, flat, &at(2.000001)));
        assert!(!boxes_overlap(cube(1.0), cube(1.0), &turned(4.0)));
    }

    /// The test of fifteen axes (Gottschalk) is the slow twin.
    #[test]
    fn clipping_equals_fifteen_axes() {
        let mut state = 11u64;
        let mut next = || jostle_dice::part(&mut state) - 0.5;
        let mut seen = [0; 2];
        for case in 0..4000 {
            let [a, b] = [0, 1].map(|_| {
                let low = DVec3::new(next(), next(), next()) * 2.0;
                let extent = DVec3::new(next(), next(), next()).abs() * 5.0;
                Bounds { low, high: low + extent }
            });
            let turn = match case % 3 {
                0 => DQuat::IDENTITY,
                1 => DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0 + f64::from(case % 2)),
                _ => DQuat::from_xyzw(next(), next(), next(), next() + 0.6),
            };
            let shift = DVec3::new(next(), next(), next()) * 2.0;
            let pose = Pose::new(turn, shift).expect("finite");
            let expected = fifteen_axes(&a, &b, &pose);
            assert_eq!(boxes_overlap(a, b, &pose), expected, "case {case}: {a:?} {b:?} {pose:?}");
            seen[usize::from(expected)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 800), "both answers occur: {seen:?}");
    }

    fn fifteen_axes(a: &Bounds, b: &Bounds, pose_b: &Pose) -> bool {
        let own = [DVec3::X, DVec3::Y, DVec3::Z];
        let turned = own.map(|axis| pose_b.transform_vector(axis));
        let crossed = own.into_iter().flat_map(|x| turned.map(|y| x.cross(y)));
        let corners = |bounds: &Bounds| {
            let (low, high) = (bounds.low, bounds.high);
            [0, 1, 2, 3, 4, 5, 6, 7].map(|i| {
                let pick = |axis: usize| if i >> axis & 1 == 0 { low[axis] } else { high[axis] };
                DVec3::new(pick(0), pick(1), pick(2))
            })
        };
        let (ours, theirs) = (corners(a), corners(b).map(|p| pose_b.transform_point(p)));
        let spread = |points: &[DVec3; 8], axis: DVec3| {
            let along = points.map(|p| p.dot(axis));
            [along.into_iter().fold(f64::MAX, f64::min), along.into_iter().fold(f64::MIN, f64::max)]
        };
        own.into_iter().chain(turned).chain(crossed).all(|axis| {
            let (x, y) = (spread(&ours, axis), spread(&theirs, axis));
            x[0] <= y[1] && y[0] <= x[1]
        })
    }
}
