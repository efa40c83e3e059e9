//! When does a moving sphere touch another moving sphere, or a moving mesh?
//!
//! A sphere that turns does not change, so only the path of its centre matters. Two spheres whose
//! centres move straight touch where a straight line enters a sphere. For everything else the
//! search goes from time to time: how far can the sphere go inside a larger one that the other
//! shape does not reach into?

use super::time_of_impact::{TimeOfImpact, TimeOfImpactLimits};
use super::{Motion, Twist};
use crate::shape::ShapeRef;
use crate::shape::sphere::PosedSphere;
use crate::{Model, Pair, PosedModel};
use glam::DVec3;

/// A distance at which rounding does not matter, as part of the radius of the smaller shape: a
/// shape that slides along another at this distance must not be found to touch it.
const SKIN: f64 = 1e-6;

/// The same, at least, as part of all lengths involved.
const SKIN_ROUNDINGS: f64 = 1e5 * f64::EPSILON;

/// A sphere that moves towards a surface with more than this part of its speed gets there in a few
/// steps of its present distance.
const STEEP: f64 = 0.3;

/// Two moving shapes, of which one is a sphere.
pub(super) struct SphereImpact<'a> {
    pub(super) shapes: [ShapeRef<'a>; 2],
    pub(super) motions: [&'a Motion; 2],
    pub(super) limits: TimeOfImpactLimits,
}

impl SphereImpact<'_> {
    pub(super) fn find(&self) -> TimeOfImpact {
        if self.pair(0.0).touches() {
            return TimeOfImpact::AtStart;
        }
        let skin = self.limits.distance.max(self.rounding_skin());
        let centres_straight = self.motions.iter().all(|motion| motion.arc == DVec3::ZERO);
        match [self.shapes[0].model(), self.shapes[1].model()] {
            [None, None] if centres_straight => self.straight_spheres(skin),
            // Either of two spheres will do as the target.
            [None, _] => Search::new(self, 0, skin).run(),
            [Some(_), _] => Search::new(self, 1, skin).run(),
        }
    }

    fn pair(&self, time: f64) -> Pair<'_> {
        let [a, b] = self.motions.map(|motion| motion.at(time));
        Pair::new(self.shapes[0], &a, self.shapes[1], &b)
    }

    /// Smaller distances count as contact, because rounding might matter.
    fn rounding_skin(&self) -> f64 {
        let reach = |i: usize| {
            let motion = self.motions[i];
            let way = motion.drift.length() + motion.arc.length();
            self.shapes[i].radius() + motion.start().translation().length() + way
        };
        SKIN_ROUNDINGS * (reach(0) + reach(1))
    }

    /// The length that a path along a surface is measured with: about the radius of the smaller
    /// shape, and more for a point.
    fn size(&self) -> f64 {
        let smaller = self.shapes[0].radius().min(self.shapes[1].radius());
        (SKIN * smaller).max(self.rounding_skin()) / SKIN
    }

    fn during(&self, free: f64) -> TimeOfImpact {
        match self.pair(free).distance() {
            Some(closest) => TimeOfImpact::During { free, contact: free, closest },
            None => TimeOfImpact::Never, // an empty mesh
        }
    }

    /// Two spheres whose centres move straight.
    fn straight_spheres(&self, skin: f64) -> TimeOfImpact {
        let [a, b] = self.motions;
        let radii = self.shapes[0].radius() + self.shapes[1].radius();
        let from = a.start().translation() - b.start().translation();
        let way = a.drift - b.drift;
        let closing = from.dot(way);
        // NaN: too far away for squares of distances.
        if closing.is_nan() || closing >= 0.0 {
            return TimeOfImpact::Never;
        }
        if from.length() - radii <= skin {
            return self.during(0.0);
        }
        let reach = radii + 0.5 * skin;
        let beyond = from.length_squared() - reach * reach;
        let depth = closing * closing - way.length_squared() * beyond;
        if depth <= 0.0 {
            return TimeOfImpact::Never;
        }
        let time = beyond / (depth.sqrt() - closing);
        if time < 1.0 { self.during(time) } else { TimeOfImpact::Never }
    }
}

/// The search for the first contact of a sphere and a target.
struct Search<'a> {
    impact: &'a SphereImpact<'a>,
    radius: f64,
    sphere: &'a Motion,
    target: Target<'a>,
    target_motion: &'a Motion,
    skin: f64,
    /// The length that rises above the surface are measured with.
    size: f64,
}

/// What a sphere moves towards.
#[derive(Clone, Copy)]
enum Target<'a> {
    Mesh(&'a Model),
    Sphere { radius: f64 },
}

/// A target at one time.
enum PosedTarget<'a> {
    Mesh(PosedModel<'a>),
    Sphere(PosedSphere),
}

impl PosedTarget<'_> {
    /// The closest point of the surface to `p`, and its distance.
    fn closest(&self, p: DVec3) -> Option<(DVec3, f64)> {
        match self {
            PosedTarget::Mesh(posed) => {
                let found = posed.closest_point(p, f64::INFINITY)?;
                Some((found.point, found.distance))
            }
            PosedTarget::Sphere(sphere) => {
                let from = p - sphere.centre;
                let apart = from.length();
                let up = from.try_normalize().unwrap_or(DVec3::Z);
                Some((sphere.centre + up * sphere.radius, (apart - sphere.radius).abs()))
            }
        }
    }
}

impl<'a> Search<'a> {
    /// The sphere is the first (0) or the second (1) shape.
    fn new(impact: &'a SphereImpact<'a>, sphere: usize, skin: f64) -> Search<'a> {
        let shape = impact.shapes[1 - sphere];
        let target = match shape.model() {
            Some(model) => Target::Mesh(model),
            None => Target::Sphere { radius: shape.radius() },
        };
        Search {
            impact,
            radius: impact.shapes[sphere].radius(),
            sphere: impact.motions[sphere],
            target,
            target_motion: impact.motions[1 - sphere],
            skin,
            size: impact.size(),
        }
    }

    /// The larger sphere around the moving one itself is enough on the way towards the target. One
    /// that is much larger and flatter lets it slide along close by.
    fn run(&self) -> TimeOfImpact {
        let mut time = 0.0;
        for _ in 0..self.impact.limits.steps_max {
            let Some(look) = self.look(time) else { return TimeOfImpact::Never };
            if look.gap <= self.skin && look.way.dot(look.up) < 0.0 {
                return self.impact.during(time);
            }
            let mut safe = look.safe_within(DVec3::ZERO);
            let speed = look.way.length();
            if look.way.dot(look.up) > -STEEP * speed && safe * speed < self.size {
                let rises = [4.0, 64.0, 1024.0, 16384.0].map(|rise| look.up * (rise * self.size));
                safe = rises.into_iter().map(|rise| look.safe_within(rise)).fold(safe, f64::max);
            }
            time += safe;
            if time >= 1.0 {
                return TimeOfImpact::Never;
            }
        }
        TimeOfImpact::Unknown { free: time }
    }

    fn look(&self, time: f64) -> Option<Look<'_>> {
        let pose = self.target_motion.at(time);
        let target = match self.target {
            Target::Mesh(model) => PosedTarget::Mesh(PosedModel::new(model, &pose)),
            Target::Sphere { radius } => {
                PosedTarget::Sphere(PosedSphere { centre: pose.translation(), radius })
            }
        };
        let centre = self.sphere.at(time).translation();
        let (point, distance) = target.closest(centre)?;
        let up = (centre - point).try_normalize()?;
        let turning = match self.target {
            Target::Mesh(_) => self.target_motion.turn,
            // Seen from a frame that does not turn, a sphere is the same.
            Target::Sphere { .. } => DVec3::ZERO,
        };
        let (sphere, target_twist) = (self.sphere.twist(time), self.target_motion.twist(time));
        let moves = Moves::new(&sphere, &target_twist, turning);
        let arm = centre - pose.translation();
        let gap = distance - self.radius;
        let radius = self.radius + 0.5 * gap.min(self.skin);
        let left = 1.0 - time;
        let way = moves.velocity - moves.turning.cross(arm);
        let slack = 0.5 * moves.acceleration(arm.length()) * left;
        Some(Look { target, centre, radius, gap, up, way, slack, left })
    }
}

/// How the centre of the sphere moves relative to the origin of the target.
struct Moves {
    /// At this time.
    velocity: DVec3,
    /// At any time, at most.
    speed: f64,
    /// Angular velocity of the target.
    turning: DVec3,
    /// What arcs of the two origins add to the acceleration.
    bend: f64,
}

impl Moves {
    fn new(sphere: &Twist, target: &Twist, turning: DVec3) -> Moves {
        let drift = sphere.drift - target.drift;
        let (s, t) = (sphere.swirl.length(), target.swirl.length());
        Moves {
            velocity: drift + sphere.swirl - target.swirl,
            speed: drift.length() + s + t,
            turning,
            bend: sphere.turning * s + target.turning * t,
        }
    }

    /// Bound on the acceleration of the centre seen from the target, for the rest of the time, with
    /// the centre `arm` away from the origin of the target now.
    ///
    /// In the frame of the target the centre c moves with d − ω × (c − o), and its acceleration is
    /// at most 2 |ω| |d| + |ω|² |c − o|, and what d changes by itself.
    fn acceleration(&self, arm: f64) -> f64 {
        let turning = self.turning.length();
        turning * (2.0 * self.speed + turning * (arm + self.speed)) + self.bend
    }
}

/// A sphere and a target at one time.
struct Look<'a> {
    target: PosedTarget<'a>,
    centre: DVec3,
    /// Of the sphere with some skin.
    radius: f64,
    /// Between the sphere and the target.
    gap: f64,
    /// From the closest point of the target to the centre.
    up: DVec3,
    /// Where the centre goes in the rest of the time, per unit of time, seen from the target.
    way: DVec3,
    /// By how much it may miss that, per unit of time.
    slack: f64,
    left: f64,
}

impl Look<'_> {
    /// A time for which the sphere stays in the largest sphere around `centre + rise` that the
    /// target does not reach into.
    fn safe_within(&self, rise: DVec3) -> f64 {
        let middle = self.centre + rise;
        let Some((_, distance)) = self.target.closest(middle) else { return 0.0 };
        let rounding = 64.0 * f64::EPSILON * (middle.length() + distance);
        let room = distance - self.radius - rounding;
        // |way·t − rise| ≤ room − slack·t
        let a = self.way.length_squared() - self.slack * self.slack;
        let b = room * self.slack - rise.dot(self.way);
        let c = rise.length_squared() - room * room;
        if room <= 0.0 || c >= 0.0 {
            return 0.0;
        }
        let last = if self.slack > 0.0 { room / self.slack } else { f64::INFINITY };
        let root = b * b - a * c;
        let time = if root < 0.0 {
            f64::INFINITY
        } else if b > 0.0 {
            -c / (b + root.sqrt())
        } else if a > 0.0 {
            (root.sqrt() - b) / a
        } else {
            f64::INFINITY
        };
        time.min(last).min(self.left) * (1.0 - 1e-12)
    }
}
