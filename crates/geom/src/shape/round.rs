//! Round solids as themselves: sphere, capsule, cylinder, cone at a pose.
//!
//! Each is a core and all points within a radius of it: a point or a segment with a radius, or a
//! cylinder or cone with none. A core is known by the point of it that is furthest along a
//! direction; so two kinds need no code of their own to meet. What is here is rounded: distances
//! are right to [`BOUND`] of the lengths involved, and yes or no are theirs. Only for spheres there
//! is an exact way (`sphere.rs`).

use super::sphere::PosedSphere;
use crate::Pose;
use crate::convex::{Found, Vertex, closest, expand};
use crate::triangle::{self, Triangle};
use glam::{DVec2, DVec3};

/// Distances to round shapes other than spheres are right to this part of all lengths involved.
pub(crate) const BOUND: f64 = 1e-12;

/// Bounds of a distance closer than this part of the lengths end a search.
const ENOUGH: f64 = 1e-14;

/// A solid of revolution around the z axis, with the origin in its middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Round {
    Sphere {
        radius: f64,
    },
    /// All points within `radius` of a segment of twice the length `half`.
    Capsule {
        radius: f64,
        half: f64,
    },
    Cylinder {
        radius: f64,
        half: f64,
    },
    /// With its tip up.
    Cone {
        radius: f64,
        half: f64,
    },
}

/// A round solid in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedRound {
    pub(crate) round: Round,
    pub(crate) centre: DVec3,
    /// Where z points, of length 1.
    pub(crate) axis: DVec3,
}

/// Where two cores, or a core and a triangle, are closest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreGap {
    /// 0 if they share a point.
    pub(crate) distance: f64,
    pub(crate) points: [DVec3; 2],
    /// From the first to the second, of length 1, or zero if they share a point. Along it they are
    /// `distance` apart up to rounding; the direction between two points that are rounded and
    /// close to each other proves much less.
    pub(crate) way: DVec3,
}

impl Round {
    /// No point is further from the origin. Rounded up.
    pub(crate) fn reach(self) -> f64 {
        match self {
            Round::Sphere { radius } => radius,
            Round::Capsule { radius, half } => (radius + half) * (1.0 + f64::EPSILON),
            Round::Cylinder { radius, half } | Round::Cone { radius, half } => {
                radius.hypot(half) * (1.0 + 4.0 * f64::EPSILON)
            }
        }
    }

    /// The radius around the core.
    fn swept(self) -> f64 {
        match self {
            Round::Sphere { radius } | Round::Capsule { radius, .. } => radius,
            Round::Cylinder { .. } | Round::Cone { .. } => 0.0,
        }
    }
}

impl PosedRound {
    pub(crate) fn new(round: Round, pose: &Pose) -> PosedRound {
        let axis = pose.transform_vector(DVec3::Z).normalize();
        PosedRound { round, centre: pose.translation(), axis }
    }

    /// Itself, if it is a sphere.
    #[inline]
    pub(crate) fn as_sphere(&self) -> Option<PosedSphere> {
        match self.round {
            Round::Sphere { radius } => Some(PosedSphere { centre: self.centre, radius }),
            _ => None,
        }
    }

    /// The radius around the core.
    pub(crate) fn swept(&self) -> f64 {
        self.round.swept()
    }

    pub(crate) fn reach(&self) -> f64 {
        self.round.reach()
    }

    /// The direction of a vector across the axis. In a frame: what is left of a vector near the
    /// axis without its part along it is rounding and may point anywhere, also along the axis.
    fn across(&self, v: DVec3) -> Option<DVec3> {
        let (x, y) = self.axis.any_orthonormal_pair();
        let side = DVec2::new(x.dot(v), y.dot(v)).try_normalize()?;
        Some(x * side.x + y * side.y)
    }

    /// The point of the core furthest along a direction of any length, seen from the centre.
    fn core_support(&self, along: DVec3) -> DVec3 {
        let up = self.axis.dot(along);
        // Straight along the axis any point of the rim is as far.
        let rim = |radius: f64| {
            self.across(along).unwrap_or_else(|| self.axis.any_orthonormal_vector()) * radius
        };
        match self.round {
            Round::Sphere { .. } => DVec3::ZERO,
            Round::Capsule { half, .. } => self.axis * half.copysign(up),
            Round::Cylinder { radius, half } => self.axis * half.copysign(up) + rim(radius),
            Round::Cone { radius, half } => {
                let low = rim(radius) - self.axis * half;
                let tip = self.axis * half;
                if low.dot(along) > tip.dot(along) { low } else { tip }
            }
        }
    }

    /// The point furthest along a direction of length 1, seen from the centre.
    pub(crate) fn support(&self, along: DVec3) -> DVec3 {
        self.core_support(along) + along * self.swept()
    }

    /// The ends of a core that is a segment or a point, as a triangle without area.
    fn segment(&self) -> Option<Triangle> {
        let half = match self.round {
            Round::Sphere { .. } => 0.0,
            Round::Capsule { half, .. } => half,
            Round::Cylinder { .. } | Round::Cone { .. } => return None,
        };
        let [p, q] = [self.centre - self.axis * half, self.centre + self.axis * half];
        Some([p, q, q])
    }

    /// What is rounded around here is off by no more than `BOUND` of this.
    pub(crate) fn size(&self, others: impl IntoIterator<Item = DVec3>) -> f64 {
        let far = others.into_iter().map(|p| p.distance(self.centre)).fold(0.0, f64::max);
        self.reach() + far + f64::EPSILON * self.centre.length()
    }

    /// How far the cores are apart.
    pub(crate) fn core_gap(&self, other: &PosedRound) -> CoreGap {
        if let (Some(a), Some(b)) = (self.segment(), other.segment()) {
            return segments(&a, &b);
        }
        let (offset, size) = (other.centre - self.centre, self.joint_size(other));
        let found = closest(self.difference(other), -offset, ENOUGH * size, f64::INFINITY);
        self.core_gap_of(&found, size)
    }

    /// How far core and triangle are apart.
    pub(crate) fn triangle_gap(&self, t: &Triangle) -> CoreGap {
        if let Some(own) = self.segment() {
            return segments(&own, t);
        }
        let size = self.size(*t);
        let local = t.map(|p| p - self.centre);
        let start = -(local[0] + local[1] + local[2]);
        let found = closest(self.triangle_difference(&local), start, ENOUGH * size, f64::INFINITY);
        self.core_gap_of(&found, size)
    }

    fn core_gap_of(&self, found: &Found, size: f64) -> CoreGap {
        let points = found.points.map(|p| p + self.centre);
        if found.at_most <= ENOUGH * size {
            return CoreGap { distance: 0.0, points, way: DVec3::ZERO };
        }
        CoreGap { distance: found.at_most, points, way: -found.way }
    }

    fn joint_size(&self, other: &PosedRound) -> f64 {
        self.size([other.centre]) + other.reach()
    }

    /// The difference of the cores, seen from the own centre.
    fn difference<'s>(&'s self, other: &'s PosedRound) -> impl FnMut(DVec3) -> Vertex + 's {
        let offset = other.centre - self.centre;
        move |along| {
            let (a, b) = (self.core_support(along), offset + other.core_support(-along));
            Vertex { at: a - b, a, b, corners: [0; 2] }
        }
    }

    fn triangle_difference<'s>(&'s self, t: &'s Triangle) -> impl FnMut(DVec3) -> Vertex + 's {
        move |along| {
            let far =
                t.iter().copied().reduce(|p, q| if q.dot(along) < p.dot(along) { q } else { p });
            let (a, b) = (self.core_support(along), far.unwrap_or(t[0]));
            Vertex { at: a - b, a, b, corners: [0; 2] }
        }
    }

    /// Do the insides share a point? No if that takes more than `BOUND` to show.
    pub(crate) fn overlaps(&self, other: &PosedRound) -> bool {
        let (reach, size) = (self.swept() + other.swept(), self.joint_size(other));
        if reach > 0.0 {
            // A core with no inside has no inside to share but for the radius around it.
            let solid = [self, other].iter().all(|round| round.reach() > 0.0);
            return solid && self.core_gap(other).distance < reach - BOUND * size;
        }
        let offset = other.centre - self.centre;
        self.is_deep(self.difference(other), -offset, size)
    }

    /// Does the triangle pass through the inside? No if that takes more than `BOUND` to show.
    pub(crate) fn holds_part_of(&self, t: &Triangle) -> bool {
        let size = self.size(*t);
        if self.swept() > 0.0 || self.segment().is_some() {
            return self.triangle_gap(t).distance < self.swept() - BOUND * size;
        }
        let local = t.map(|p| p - self.centre);
        let start = -(local[0] + local[1] + local[2]);
        self.is_deep(self.triangle_difference(&local), start, size)
    }

    fn is_deep(
        &self,
        mut difference: impl FnMut(DVec3) -> Vertex,
        start: DVec3,
        size: f64,
    ) -> bool {
        let limit = BOUND * size;
        let found = closest(&mut difference, start, ENOUGH * size, 0.0);
        if found.at_least > 0.0 || found.at_most > ENOUGH * size {
            return false;
        }
        let expansion = expand(difference, &found.simplex, ENOUGH * size, limit);
        expansion.is_some_and(|expansion| expansion.at_least > limit)
    }

    /// How far `p` is along the axis and away from it.
    fn along_and_beside(&self, p: DVec3) -> (f64, f64) {
        let from = p - self.centre;
        let up = self.axis.dot(from);
        (up, (from - self.axis * up).length())
    }

    /// How far `p` is outside, or below 0 how deep inside.
    pub(crate) fn height(&self, p: DVec3) -> f64 {
        let (up, beside) = self.along_and_beside(p);
        match self.round {
            Round::Sphere { radius } => self.centre.distance(p) - radius,
            Round::Capsule { radius, half } => beside.hypot((up.abs() - half).max(0.0)) - radius,
            Round::Cylinder { radius, half } => {
                let (over, out) = (up.abs() - half, beside - radius);
                if over.max(out) <= 0.0 { over.max(out) } else { over.max(0.0).hypot(out.max(0.0)) }
            }
            Round::Cone { radius, half } => {
                let [out, over] = slope(radius, half);
                let side = (beside - radius) * out + (up + half) * over;
                let below = -half - up;
                if side.max(below) <= 0.0 {
                    return side.max(below);
                }
                let slant = to_segment((beside, up), (radius, -half), (0.0, half));
                slant.min(to_segment((beside, up), (0.0, -half), (radius, -half)))
            }
        }
    }

    /// The outward normal of the surface closest to `p`, which is near it.
    pub(crate) fn normal_at(&self, p: DVec3) -> Option<DVec3> {
        let (up, beside) = self.along_and_beside(p);
        let from = p - self.centre;
        let outward = || self.across(from);
        match self.round {
            Round::Sphere { .. } => from.try_normalize(),
            Round::Capsule { half, .. } => {
                (from - self.axis * up.clamp(-half, half)).try_normalize()
            }
            Round::Cylinder { radius, half } => {
                if up.abs() - half > beside - radius {
                    Some(self.axis * up.signum())
                } else {
                    outward()
                }
            }
            Round::Cone { radius, half } => {
                let [out, over] = slope(radius, half);
                if -half - up > (beside - radius) * out + (up + half) * over {
                    return Some(-self.axis);
                }
                Some(outward()? * out + self.axis * over)
            }
        }
    }

    /// The low and the high corner of a box that holds it, rounded outward.
    pub(crate) fn bounds(&self) -> (DVec3, DVec3) {
        let along = [DVec3::X, DVec3::Y, DVec3::Z];
        let far = |sign: f64| DVec3::from([0, 1, 2].map(|k| self.support(along[k] * sign)[k]));
        let slack = 16.0 * f64::EPSILON * (self.centre.length() + self.reach());
        (self.centre + far(-1.0) - slack, self.centre + far(1.0) + slack)
    }
}

fn segments(a: &Triangle, b: &Triangle) -> CoreGap {
    let found = triangle::distance(a, b);
    let way = (found.on_b - found.on_a).normalize_or_zero();
    CoreGap { distance: found.distance, points: [found.on_a, found.on_b], way }
}

/// The normal of the side of a cone: away from the axis and up.
fn slope(radius: f64, half: f64) -> [f64; 2] {
    let length = radius.hypot(2.0 * half);
    [2.0 * half / length, radius / length]
}

/// From a point to a segment, in a plane.
fn to_segment(p: (f64, f64), a: (f64, f64), b: (f64, f64)) -> f64 {
    let (along, from) = ((b.0 - a.0, b.1 - a.1), (p.0 - a.0, p.1 - a.1));
    let t = (from.0 * along.0 + from.1 * along.1) / (along.0 * along.0 + along.1 * along.1);
    let t = t.clamp(0.0, 1.0);
    (from.0 - along.0 * t).hypot(from.1 - along.1 * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_for_the_distance_of_cores_ends_with_a_proof() {
        let mut state = 3u64;
        let mut signed = move || jostle_dice::signed(&mut state);
        let shapes = [
            Round::Cylinder { radius: 1.0, half: 1.0 },
            Round::Cylinder { radius: 2.0, half: 0.025 },
            Round::Cylinder { radius: 0.02, half: 2.5 },
            Round::Cone { radius: 1.0, half: 1.0 },
            Round::Cone { radius: 3.0, half: 0.125 },
            Round::Cone { radius: 0.1, half: 2.5 },
            Round::Capsule { radius: 0.1, half: 2.5 },
        ];
        // Aligned, and so that they nearly touch, is where digits are lost.
        let mut apart = [0; 4];
        for case in 0..4000 {
            let [a, mut b] = [0, 1].map(|k| {
                let rotation = match (case / 49 + k) % 4 {
                    0 => glam::DQuat::IDENTITY,
                    1 => glam::DQuat::from_xyzw(1.0, 0.0, 0.0, -1.0),
                    _ => glam::DQuat::from_xyzw(signed(), signed(), signed(), signed()),
                };
                let place = DVec3::new(signed(), signed(), signed()) * 3.0;
                let place = if case % 3 == 0 { place.round() } else { place };
                let pose = Pose::new(rotation, place).unwrap();
                PosedRound::new(shapes[(case / [1, 7][k]) % 7], &pose)
            });
            let search = |a: &PosedRound, b: &PosedRound| {
                let (offset, size) = (b.centre - a.centre, a.joint_size(b));
                (closest(a.difference(b), -offset, ENOUGH * size, f64::INFINITY), size)
            };
            let (first, size) = search(&a, &b);
            let kind = case % 4;
            if first.at_most > 1e-3 * size {
                let left = [1.0, 1e-5, 1e-8, 1e-11][kind] * first.at_most;
                b.centre += first.way * (first.at_most - left);
            }
            let [(found, size), (swapped, _)] = [search(&a, &b), search(&b, &a)];
            for found in [&found, &swapped] {
                let open = (found.at_most - found.at_least) / size;
                if found.at_most > ENOUGH * size {
                    assert!(open.abs() < 0.1 * BOUND, "case {case}: {open:e}");
                    apart[kind] += 1;
                }
            }
            let off = (found.at_most - swapped.at_most).abs() / size;
            assert!(off < 0.1 * BOUND, "case {case}: {off:e}");
        }
        assert!(apart.iter().all(|n| (300..1990).contains(n)), "{apart:?}");
    }

    #[test]
    fn the_furthest_point_of_a_rim_is_on_it() {
        let mut state = 5u64;
        let mut signed = move || jostle_dice::signed(&mut state);
        let coin = Round::Cylinder { radius: 2.0, half: 0.025 };
        for case in 0..1000 {
            let rotation = glam::DQuat::from_xyzw(signed(), signed(), signed(), signed());
            let coin = PosedRound::new(coin, &Pose::new(rotation, DVec3::ZERO).unwrap());
            let aside = DVec3::new(signed(), signed(), signed());
            let along = coin.axis + aside * [0.0, 1e-17, 1e-16, 1e-15, 1e-8, 1.0][case % 6];
            let (up, beside) = coin.along_and_beside(coin.core_support(along));
            assert!((up.abs() - 0.025).abs() < 1e-15, "case {case}: {up}");
            assert!((beside - 2.0).abs() < 2e-15, "case {case}: {beside}");
        }
    }
}
