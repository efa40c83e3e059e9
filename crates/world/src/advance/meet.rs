//! When do two moving bodies meet?
//!
//! [`time_of_impact`] answers it for shapes. Here is how close bodies come before they meet, and
//! what needs no search.

use glam::DVec3;
use jostle_geom::{Motion, Pair, Shape, TimeOfImpact, TimeOfImpactLimits, time_of_impact};

/// How close bodies come before they meet, as part of the radius of the smaller one. Rounding must
/// not matter at this distance: a body that slides along another at it must not meet it again.
const SKIN: f64 = 1e-6;

/// How much larger than all lengths times the rounding of `f64` the skin is at least.
const SKIN_ROUNDINGS: f64 = 1e5 * f64::EPSILON;

/// Steps of a search before it gives up.
const STEPS_MAX: u32 = 200;

/// A shape on its way from time 0 to time 1.
pub(super) struct Mover<'a> {
    pub(super) shape: &'a Shape,
    pub(super) motion: Motion,
}

/// What two moving shapes do first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meet {
    /// They pass each other, or touch already at the start.
    Never,
    /// At this time they are about to touch. They touch at no time before.
    At(f64),
    /// They touch at no time up to this one; what happens then is not known.
    Unclear(f64),
}

pub(super) fn meet(a: &Mover<'_>, b: &Mover<'_>) -> Meet {
    let skin = skin(a, b);
    if pass(a, b, skin) {
        return Meet::Never;
    }
    let triangles = a.shape.model().is_some() && b.shape.model().is_some();
    let speed = speed(a) + speed(b);
    if triangles && speed == 0.0 {
        return Meet::Never;
    }
    // The time in which they come closer by no more than the skin.
    let pause = skin / speed;
    let before = |free| if triangles { before(a, b, free, [pause, skin]) } else { free };
    let limits = TimeOfImpactLimits { time: pause.min(1e-3), distance: skin, steps_max: STEPS_MAX };
    match time_of_impact(a.shape, &a.motion, b.shape, &b.motion, &limits) {
        TimeOfImpact::Never | TimeOfImpact::AtStart => Meet::Never,
        TimeOfImpact::During { free, .. } => Meet::At(before(free)),
        TimeOfImpact::Unknown { free } => Meet::Unclear(before(free)),
    }
}

/// A time before `free` at which there is some distance left, if there is one. (Bodies that meet at
/// a small angle must go back further.)
fn before(a: &Mover<'_>, b: &Mover<'_>, free: f64, [pause, skin]: [f64; 2]) -> f64 {
    let mut back = pause;
    loop {
        let time = free - back;
        if time <= 0.0 {
            return 0.0;
        }
        let (pose_a, pose_b) = (a.motion.at(time), b.motion.at(time));
        if !Pair::new(a.shape, &pose_a, b.shape, &pose_b).within(0.5 * skin) {
            return time;
        }
        back *= 4.0;
    }
}

fn skin(a: &Mover<'_>, b: &Mover<'_>) -> f64 {
    let smaller = a.shape.radius().min(b.shape.radius());
    let reach = |m: &Mover<'_>| {
        m.shape.radius() + m.motion.start().translation().length() + way(m).length()
    };
    (SKIN * smaller).max(SKIN_ROUNDINGS * (reach(a) + reach(b)))
}

/// Do even the spheres around their origins pass each other?
fn pass(a: &Mover<'_>, b: &Mover<'_>, skin: f64) -> bool {
    let from = a.motion.start().translation() - b.motion.start().translation();
    let way = way(a) - way(b);
    let closest = -from.dot(way) / way.length_squared();
    // Also for 0 / 0, without motion.
    let closest = if closest > 0.0 { closest.min(1.0) } else { 0.0 };
    let reach = (a.shape.radius() + b.shape.radius() + skin) * (1.0 + 1e-6);
    (from + way * closest).length() > reach
}

fn way(mover: &Mover<'_>) -> DVec3 {
    mover.motion.end().translation() - mover.motion.start().translation()
}

/// No point of the shape goes further than this.
fn speed(mover: &Mover<'_>) -> f64 {
    way(mover).length() + mover.motion.turn().length() * mover.shape.radius()
}
