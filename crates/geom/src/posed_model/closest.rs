//! Which point of the surface is closest to a given one?

use super::{LaneBox, PosedModel, usable, used_lanes};
use crate::tree::{Child, FramedNode};
use crate::triangle::{Triangle, closest_point, triangles_touch};
use glam::DVec3;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// The point of a surface that is closest to a given one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint {
    /// The point, in the world, within rounding.
    pub point: DVec3,
    /// The face that it lies on, as the caller counted them.
    pub face: u32,
    /// How far it is from the point asked about; 0 exactly if that is a point of the surface.
    pub distance: f64,
}

/// A lane that waits, with a lower bound of its distance. The largest in this order is the
/// nearest, as [`BinaryHeap`] wants it.
struct Waiting {
    distance: f64,
    child: Child,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        other.distance.total_cmp(&self.distance).then(other.child.0.cmp(&self.child.0))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PosedModel<'_> {
    /// The point of the surface closest to `p`, if there is one at a distance of at most `within`
    /// (which may be infinite). Of faces at the same (rounded) distance the one with the smallest
    /// number is given.
    ///
    /// `None` also if `within` is NaN, or `p` is not finite or has a component of 2^129 or more.
    /// Components below 2^-209 count as zero.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, PosedModel, Pose, Quality, solids};
    ///
    /// let cube = Model::build(solids::cuboid(DVec3::splat(2.0))?, Quality::Default);
    /// let placed = PosedModel::new(&cube, &Pose::IDENTITY);
    /// let closest = placed.closest_point(DVec3::new(0.5, 0.25, 4.0), 10.0).unwrap();
    /// assert_eq!((closest.point, closest.distance), (DVec3::new(0.5, 0.25, 1.0), 3.0));
    /// assert_eq!(placed.closest_point(DVec3::new(0.5, 0.25, 4.0), 2.9), None);
    /// # Ok::<(), jostle_geom::solids::SolidError>(())
    /// ```
    #[must_use]
    pub fn closest_point(&self, p: DVec3, within: f64) -> Option<ClosestPoint> {
        let p = usable(p)?;
        if within.is_nan() {
            return None;
        }
        let near = |triangle| {
            let found = self.closest_on(p, triangle);
            (found.distance <= within).then_some(found)
        };
        self.nearest(p, within, near).map(|(found, _)| found)
    }

    /// The closest to `p` of the points that `candidate` gives for triangles, and the triangle;
    /// of those at the same distance the one of the smallest face, then triangle. Triangles
    /// further than `within` need not be looked at.
    pub(super) fn nearest(
        &self,
        p: DVec3,
        within: f64,
        candidate: impl Fn(usize) -> Option<ClosestPoint>,
    ) -> Option<(ClosestPoint, usize)> {
        let (local, slack) = (self.in_tree_frame(p), self.slack_at(p));
        let bound = |node: &FramedNode<'_>, k: usize| distance_at_least(local, node, k, slack);
        self.nearest_by(bound, within, candidate)
    }

    /// As [`PosedModel::nearest`], with a lower bound for the triangles of a lane.
    pub(super) fn nearest_by(
        &self,
        bound: impl Fn(&FramedNode<'_>, usize) -> f64,
        within: f64,
        candidate: impl Fn(usize) -> Option<ClosestPoint>,
    ) -> Option<(ClosestPoint, usize)> {
        let mut best: Option<(ClosestPoint, usize)> = None;
        let mut open = BinaryHeap::with_capacity(64);
        let (root, lane) = self.root()?;
        open.push(Waiting { distance: bound(&root, lane), child: root.node.child[lane] });
        while let Some(Waiting { distance, child }) = open.pop() {
            let limit = best.map_or(within, |(b, _)| b.distance);
            if distance > limit {
                break; // and all others are further
            }
            if child.is_leaf() {
                for triangle in child.triangles() {
                    if let Some(found) = candidate(triangle)
                        && best.is_none_or(|(b, i)| {
                            (found.distance, found.face, triangle) < (b.distance, b.face, i)
                        })
                    {
                        best = Some((found, triangle));
                    }
                }
                continue;
            }
            let node = self.node(child);
            open.extend(used_lanes(node.node).filter_map(|k| {
                let distance = bound(&node, k);
                // Written so that NaN counts as near.
                if distance > limit {
                    None
                } else {
                    Some(Waiting { distance, child: node.node.child[k] })
                }
            }));
        }
        best
    }

    /// Has a triangle that holds `point`, give or take `slack`, a point closer to `to` than
    /// `limit`?
    pub(crate) fn leads_closer(&self, point: DVec3, slack: f64, to: DVec3, limit: f64) -> bool {
        let closer = |triangle: usize| {
            self.is_within(to, triangle, limit) && self.is_within(point, triangle, slack)
        };
        let mut look = |triangle| match closer(triangle) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        self.look_near(point, slack, &mut look).is_break()
    }

    /// The triangles that hold `point`, give or take `slack`.
    pub(crate) fn triangles_at(&self, point: DVec3, slack: f64) -> Vec<Triangle> {
        let mut found = Vec::new();
        let _ = self.look_near(point, slack, &mut |triangle| {
            if self.is_within(point, triangle, slack) {
                found.push(self.triangle(triangle));
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// Is one triangle this close to `p`? Exact signs are asked only where they could change the
    /// answer.
    fn is_within(&self, p: DVec3, triangle: usize, limit: f64) -> bool {
        let t = &self.triangle(triangle);
        let distance = closest_point(p, t).distance(p);
        distance <= limit
            || limit >= 0.0 && distance <= NEAR * extent(p, t) && triangles_touch(&[p; 3], t)
    }

    /// The point of one triangle closest to `p`; its distance is 0 exactly if it holds `p`.
    pub(super) fn closest_on(&self, p: DVec3, triangle: usize) -> ClosestPoint {
        let (t, face) = (&self.triangle(triangle), self.face(triangle));
        let point = closest_point(p, t);
        let distance = point.distance(p);
        if distance > NEAR * extent(p, t) {
            return ClosestPoint { point, face, distance };
        }
        if triangles_touch(&[p; 3], t) {
            return ClosestPoint { point: p, face, distance: 0.0 };
        }
        ClosestPoint { point, face, distance: distance.max(f64::MIN_POSITIVE) }
    }
}

/// A lower bound of the distance from `p`, in the frame of the tree, to the triangles of a lane.
#[inline]
pub(super) fn distance_at_least(p: DVec3, node: &FramedNode<'_>, lane: usize, slack: f64) -> f64 {
    let bounds = LaneBox::of(node, lane);
    let beyond = bounds.along(p - bounds.center).abs() - bounds.half;
    let beyond = beyond.max(DVec3::ZERO).length();
    // The Gram matrix of the stored axes is the identity up to 1.1e-4 per entry, so in their
    // coordinates a vector is longer by a factor of at most 1 + 1.7e-4; 2^-11 = 4.9e-4 covers it.
    let bound = beyond * (1.0 - super::AXIS_SLACK) - 2.0 * slack;
    if bound.is_nan() { 0.0 } else { bound }
}

/// The largest coordinate, without its sign.
fn extent(p: DVec3, t: &Triangle) -> f64 {
    t.iter().fold(p.abs(), |most, q| most.max(q.abs())).max_element()
}

/// Closer than this, relative to the coordinates involved, the exact test decides about zero.
const NEAR: f64 = 1.0 / (1u64 << 44) as f64;
