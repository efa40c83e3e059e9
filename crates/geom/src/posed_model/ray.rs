//! What does a ray meet first?
//!
//! A ray is a segment: its end is computed once, and from there on everything is exact. The
//! segment meets a triangle iff [`crate::predicates::orient3d`] says so, so it cannot slip
//! through between two triangles that share an edge or a corner. Only the place of a hit is
//! rounded.

use super::{LaneBox, PosedModel, usable, used_lanes};
use crate::limits::TRANSLATION_MIN;
use crate::predicates::{Plane, Sign, orient3d};
use crate::tree::{Child, FramedNode};
use crate::triangle::{Triangle, common, triangles_touch};
use glam::DVec3;

/// A ray is never longer than this: 2^130, so that its end is not further out than 2^131. More
/// than the diagonal of a cube that holds all `f32`.
const LENGTH_MAX: f64 = f64::from_bits((1023 + 130) << 52);

/// 2^900: brings the smallest `f64` to where it can be divided by, and 1 not to infinity.
const UP: f64 = f64::from_bits((1023 + 900) << 52);

/// Where to look: a start, a direction, and how far. Both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    origin: DVec3,
    end: DVec3,
    direction: DVec3,
    length: f64,
}

/// Why numbers are not a ray.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RayError {
    /// A point has components that are not finite, or of 2^129 and more.
    #[error("a ray needs points with components below 2^129 in size, found {point}")]
    BadPoint {
        /// The point found.
        point: DVec3,
    },
    /// The direction is zero or not finite.
    #[error("a ray needs a direction that is finite and not zero, found {direction}")]
    BadDirection {
        /// The direction found.
        direction: DVec3,
    },
    /// The length is negative or NaN.
    #[error("a ray needs a length that is not negative (it may be infinite), found {length}")]
    BadLength {
        /// The length found.
        length: f64,
    },
}

impl Ray {
    /// The ray from `origin` along `direction`, which may have any length but zero, up to the
    /// distance `length_max`, which may be infinite.
    ///
    /// The ray is the segment from `origin` to the point at that distance (or at 2^130 if that is
    /// nearer), rounded; what it meets is decided exactly for that segment. Components of a point
    /// below 2^-209 count as zero. A length of zero is allowed: the ray is then a point.
    ///
    /// # Errors
    /// A direction that is zero or not finite, an origin that is not finite or further out than
    /// 2^129, a length that is negative or NaN.
    pub fn new(origin: DVec3, direction: DVec3, length_max: f64) -> Result<Ray, RayError> {
        let start = usable(origin).ok_or(RayError::BadPoint { point: origin })?;
        let unit = unit(direction).ok_or(RayError::BadDirection { direction })?;
        if length_max.is_nan() || length_max < 0.0 {
            return Err(RayError::BadLength { length: length_max });
        }
        let length = length_max.min(LENGTH_MAX);
        let flush = |x: f64| if x.abs() < TRANSLATION_MIN { 0.0 } else { x };
        let end = start + unit * length;
        let end = DVec3::new(flush(end.x), flush(end.y), flush(end.z));
        Ok(Ray { origin: start, end, direction: unit, length })
    }

    /// The segment between two different points.
    ///
    /// # Errors
    /// Points that are equal, not finite, or further out than 2^129.
    pub fn between(from: DVec3, to: DVec3) -> Result<Ray, RayError> {
        let origin = usable(from).ok_or(RayError::BadPoint { point: from })?;
        let end = usable(to).ok_or(RayError::BadPoint { point: to })?;
        let direction = end - origin;
        let unit = unit(direction).ok_or(RayError::BadDirection { direction })?;
        Ok(Ray { origin, end, direction: unit, length: direction.length() })
    }

    /// Where it starts.
    #[must_use]
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Where it ends.
    #[must_use]
    pub fn end(&self) -> DVec3 {
        self.end
    }

    /// Its direction, of length 1.
    #[must_use]
    pub fn direction(&self) -> DVec3 {
        self.direction
    }

    /// From start to end, within rounding.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.length
    }
}

/// The direction with length 1. Scaled first, so that squares neither overflow nor vanish.
fn unit(direction: DVec3) -> Option<DVec3> {
    let largest = direction.abs().max_element();
    if !direction.is_finite() || largest == 0.0 {
        return None;
    }
    // First away from the smallest numbers, which do not have all their digits.
    let scaled = if largest < 1.0 { direction * UP } else { direction };
    let scaled = scaled / scaled.abs().max_element();
    Some(scaled / scaled.length())
}

/// The first thing that a ray meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// How far from the origin of the ray.
    pub distance: f64,
    /// Where, in the world, within rounding.
    pub point: DVec3,
    /// The face, as the caller counted them.
    pub face: u32,
    /// The normal of the triangle, of length 1, on the side from which its corners turn left;
    /// zero for a triangle without area.
    pub normal: DVec3,
}

/// A hit that may yet be beaten: of hits at the same distance, the smallest face counts, and of
/// those the first triangle.
#[derive(Clone, Copy)]
struct Found {
    distance: f64,
    face: u32,
    triangle: usize,
    point: DVec3,
}

impl Found {
    fn key(&self) -> (f64, u32, usize) {
        (self.distance, self.face, self.triangle)
    }
}

impl PosedModel<'_> {
    /// The nearest point at which the ray meets the surface; both sides of a face count, and so
    /// do its edges and corners. `None` exactly if the ray meets no face.
    ///
    /// A ray within the plane of a face hits where it enters the face. A face without area is
    /// the segment or point that it is; a ray hits it if it meets it exactly. Of faces at the same
    /// (rounded) distance the one with the smallest number is given.
    #[must_use]
    pub fn ray(&self, ray: &Ray) -> Option<RayHit> {
        let local = self.local_ray(ray.origin, ray.direction, ray.length);
        let mut best: Option<Found> = None;
        let mut open: Vec<(f64, Child)> = Vec::with_capacity(64);
        let (root, lane) = self.root()?;
        open.extend(local.entry(&root, lane).map(|entry| (entry, root.node.child[lane])));
        while let Some((entry, child)) = open.pop() {
            if best.is_some_and(|b| entry > b.distance) {
                continue;
            }
            if child.is_leaf() {
                for triangle in child.triangles() {
                    let Some(found) = self.meet(ray, triangle) else { continue };
                    if best.is_none_or(|b| found.key() < b.key()) {
                        best = Some(found);
                    }
                }
                continue;
            }
            let node = self.node(child);
            let first = open.len();
            open.extend(
                used_lanes(node.node)
                    .filter_map(|k| local.entry(&node, k).map(|entry| (entry, node.node.child[k]))),
            );
            // The nearest on top.
            open[first..].sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        }
        best.map(|found| {
            let [p, q, r] = self.triangle(found.triangle);
            let normal = (q - p).cross(r - p).normalize_or_zero();
            RayHit { distance: found.distance, point: found.point, face: found.face, normal }
        })
    }

    /// Does the ray meet the surface at all? As [`PosedModel::ray`], but quicker.
    #[must_use]
    pub fn ray_any(&self, ray: &Ray) -> bool {
        let local = self.local_ray(ray.origin, ray.direction, ray.length);
        let Some((root, lane)) = self.root() else { return false };
        let mut open: Vec<Child> = Vec::with_capacity(64);
        open.extend(local.entry(&root, lane).map(|_| root.node.child[lane]));
        while let Some(child) = open.pop() {
            if child.is_leaf() {
                let hits = |i| segment_touches(ray.origin, ray.end, &self.triangle(i));
                if child.triangles().any(hits) {
                    return true;
                }
                continue;
            }
            let node = self.node(child);
            let entered = used_lanes(node.node).filter(|&k| local.entry(&node, k).is_some());
            open.extend(entered.map(|k| node.node.child[k]));
        }
        false
    }

    fn meet(&self, ray: &Ray, triangle: usize) -> Option<Found> {
        let corners = self.triangle(triangle);
        if !segment_touches(ray.origin, ray.end, &corners) {
            return None;
        }
        // They touch, so there are common points.
        let shared = common(&[ray.origin, ray.origin, ray.end], &corners)?;
        let [p, q] = shared.ends.map(|p| ((p - ray.origin).dot(ray.direction), p));
        let (along, point) = if q.0 < p.0 { q } else { p };
        let distance = along.clamp(0.0, ray.length);
        Some(Found { distance, face: self.face(triangle), triangle, point })
    }

    /// The ray in the frame of the tree; `direction` has length 1.
    pub(super) fn local_ray(&self, origin: DVec3, direction: DVec3, length: f64) -> LocalRay {
        let start = self.in_tree_frame(origin);
        let slack = self.slack_at(origin);
        let reach = start.length() + f64::from(self.model.tree.radius) + slack;
        // Every point of the mesh is nearer than `reach`. What lies beyond does not matter, and
        // so the rounding of far away points does not matter either.
        let reach = reach * (1.0 + super::ROUNDING);
        LocalRay {
            start,
            direction: self.pose.inverse_transform_vector(direction),
            length: length.min(reach),
            slack: slack + super::ROUNDING * reach,
            length_slack: 2.0 * super::ROUNDING * reach,
        }
    }
}

/// A ray in the frame of the tree, for box tests that may err towards "meets".
pub(super) struct LocalRay {
    start: DVec3,
    direction: DVec3,
    length: f64,
    /// How much boxes must be enlarged.
    slack: f64,
    /// How much a length along the ray may be off.
    length_slack: f64,
}

impl LocalRay {
    /// Where the ray enters the box of a lane, or earlier; `None` if it does not.
    ///
    /// Slabs (Kay and Kajiya, *Ray Tracing Complex Scenes*, SIGGRAPH 1986), along axes that are
    /// not quite orthonormal: that is no loss, because the box is defined by projections on the
    /// very same axes.
    #[inline]
    pub(super) fn entry(&self, node: &FramedNode<'_>, lane: usize) -> Option<f64> {
        let bounds = LaneBox::of(node, lane);
        let start = bounds.along(self.start - bounds.center);
        let step = bounds.along(self.direction);
        let (mut enter, mut leave) = (0.0f64, self.length);
        for k in 0..3 {
            let half = bounds.half[k] + self.slack;
            // Not zero, so that nothing is divided by zero: a ray this steep stays where it is
            // for every length that matters.
            let step = if step[k].abs() < 1e-200 { 1e-200 } else { step[k] };
            let (s, t) = ((-half - start[k]) / step, (half - start[k]) / step);
            // `max` and `min` pass over NaN, so that it counts as "meets".
            enter = enter.max(s.min(t));
            leave = leave.min(s.max(t));
        }
        let early = enter - self.length_slack;
        // Written so that NaN counts as "meets".
        if early > leave + self.length_slack { None } else { Some(early) }
    }
}

/// Does the segment `pq` meet the triangle? Exact.
fn segment_touches(p: DVec3, q: DVec3, t: &Triangle) -> bool {
    let plane = Plane::through(t);
    let (side_p, side_q) = (plane.side(p, &mut 0), plane.side(q, &mut 0));
    if side_p == side_q {
        // In one plane, or the triangle has no area.
        return side_p == Sign::Zero && triangles_touch(&[p, p, q], t);
    }
    // The segment reaches the plane in one point, and that is in the triangle unless the line
    // passes two edges on different hands.
    let hands = [0, 1, 2].map(|i| orient3d(p, q, t[i], t[(i + 1) % 3]));
    !(hands.contains(&Sign::Positive) && hands.contains(&Sign::Negative))
}
