//! When do two moving shapes meet?
//!
//! Meshes are left to [`time_of_contact`]. Balls turn without changing, so only the way of their
//! centre matters: two balls meet where a straight line enters a ball, and a ball and a mesh are
//! told apart by balls that the mesh does not reach into.

use crate::shape::{Shape, ShapePair};
use glam::DVec3;
use jostle_geom::{Contact, ContactLimits, Model, Motion, Pair, Placed, time_of_contact};

/// How close bodies come before they meet, as part of the radius of the smaller one. Rounding must
/// not matter at this distance: a body that slides along another at it must not meet it again.
const SKIN: f64 = 1e-6;

/// How much larger than all lengths times the rounding of `f64` the skin is at least.
const SKIN_ROUNDINGS: f64 = 1e5 * f64::EPSILON;

/// Looks along the way before a search gives up.
const LOOKS_MAX: u32 = 200;

/// A ball that flies at a surface with more than this part of its speed gets there in a few steps
/// of its present distance.
const STEEP: f64 = 0.3;

/// A shape on its way from time 0 to time 1.
pub(super) struct Mover<'a> {
    pub(super) shape: &'a Shape,
    pub(super) motion: Motion,
    /// Axis times angle that it turns by on the way.
    pub(super) turn: DVec3,
}

/// What two moving shapes do first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meet {
    /// They pass each other, or touch already at the start.
    Never,
    /// At this time they are about to touch. They touch at no time before.
    At(f64),
    /// They touch at no time up to this one; what then is hard to say.
    Unclear(f64),
}

pub(super) fn meet(a: &Mover<'_>, b: &Mover<'_>) -> Meet {
    let (start_a, start_b) = (a.motion.start(), b.motion.start());
    let skin = skin(a, b);
    if pass(a, b, skin) {
        return Meet::Never;
    }
    match (a.shape.model(), b.shape.model()) {
        (Some(one), Some(other)) => {
            Meshes { a: one, motion_a: &a.motion, b: other, motion_b: &b.motion }
                .meet(skin, speed(a) + speed(b))
        }
        _ if ShapePair::new(a.shape, &start_a, b.shape, &start_b).touches() => Meet::Never,
        (None, None) => {
            let (from, radii) = (start_a.translation() - start_b.translation(), radii(a, b));
            balls(from, way(a) - way(b), radii, skin)
        }
        (None, Some(model)) => BallAndMesh { ball: a, mesh: b, model, skin }.meet(),
        (Some(model), None) => BallAndMesh { ball: b, mesh: a, model, skin }.meet(),
    }
}

fn radii(a: &Mover<'_>, b: &Mover<'_>) -> f64 {
    a.shape.radius() + b.shape.radius()
}

fn skin(a: &Mover<'_>, b: &Mover<'_>) -> f64 {
    let smaller = a.shape.radius().min(b.shape.radius());
    let reach = |m: &Mover<'_>| {
        m.shape.radius() + m.motion.start().translation().length() + way(m).length()
    };
    (SKIN * smaller).max(SKIN_ROUNDINGS * (reach(a) + reach(b)))
}

/// Do even the balls about their origins pass each other?
fn pass(a: &Mover<'_>, b: &Mover<'_>, skin: f64) -> bool {
    let from = a.motion.start().translation() - b.motion.start().translation();
    let way = way(a) - way(b);
    let closest = -from.dot(way) / way.length_squared();
    // Also for 0 / 0, without motion.
    let closest = if closest > 0.0 { closest.min(1.0) } else { 0.0 };
    let reach = (radii(a, b) + skin) * (1.0 + 1e-6);
    (from + way * closest).length() > reach
}

fn way(mover: &Mover<'_>) -> DVec3 {
    mover.motion.end().translation() - mover.motion.start().translation()
}

/// No point of the shape goes further than this.
fn speed(mover: &Mover<'_>) -> f64 {
    way(mover).length() + mover.turn.length() * mover.shape.radius()
}

/// Two meshes on their ways.
struct Meshes<'a> {
    a: &'a Model,
    motion_a: &'a Motion,
    b: &'a Model,
    motion_b: &'a Motion,
}

impl Meshes<'_> {
    fn meet(&self, skin: f64, speed: f64) -> Meet {
        if speed == 0.0 {
            return Meet::Never;
        }
        // The time in which they come closer by no more than the skin.
        let pause = skin / speed;
        let limits = ContactLimits { time: pause.min(1e-3), distance: skin, steps_max: LOOKS_MAX };
        match time_of_contact(self.a, self.motion_a, self.b, self.motion_b, &limits) {
            Contact::Never | Contact::AtStart => Meet::Never,
            Contact::During { free, .. } => Meet::At(self.before(free, pause, skin)),
            Contact::Unknown { free } => Meet::Unclear(self.before(free, pause, skin)),
        }
    }

    /// A time before `free` at which there is some distance left, if there is one. (Bodies that
    /// meet at a small angle must go back further.)
    fn before(&self, free: f64, pause: f64, skin: f64) -> f64 {
        let mut back = pause;
        loop {
            let time = free - back;
            if time <= 0.0 {
                return 0.0;
            }
            let (pose_a, pose_b) = (self.motion_a.at(time), self.motion_b.at(time));
            if !Pair::new(self.a, &pose_a, self.b, &pose_b).within(0.5 * skin) {
                return time;
            }
            back *= 4.0;
        }
    }
}

/// Two balls whose centres are `from` apart and move by `way` relative to each other.
fn balls(from: DVec3, way: DVec3, radii: f64, skin: f64) -> Meet {
    let closing = from.dot(way);
    // Also if they are too far away for squares of distances.
    if closing.is_nan() || closing >= 0.0 {
        return Meet::Never;
    }
    if from.length() - radii <= skin {
        return Meet::At(0.0);
    }
    let reach = radii + 0.5 * skin;
    let beyond = from.length_squared() - reach * reach;
    let depth = closing * closing - way.length_squared() * beyond;
    if depth <= 0.0 {
        return Meet::Never;
    }
    let time = beyond / (depth.sqrt() - closing);
    if time < 1.0 { Meet::At(time) } else { Meet::Never }
}

/// A ball and a mesh on their ways.
struct BallAndMesh<'a> {
    ball: &'a Mover<'a>,
    mesh: &'a Mover<'a>,
    model: &'a Model,
    skin: f64,
}

impl BallAndMesh<'_> {
    /// From time to time: how far can the ball go inside a larger ball that the mesh does not
    /// reach into? The one around the ball itself is enough on the way towards the mesh. One that
    /// is much larger and flatter lets it slide along close by.
    fn meet(&self) -> Meet {
        let mut time = 0.0;
        for _ in 0..LOOKS_MAX {
            let Some(look) = self.look(time) else { return Meet::Never };
            if look.gap <= self.skin && look.way.dot(look.up) < 0.0 {
                return Meet::At(time);
            }
            let mut safe = look.safe_within(DVec3::ZERO);
            let speed = look.way.length();
            // About the radius of the smaller one, and more for a point.
            let size = self.skin / SKIN;
            if look.way.dot(look.up) > -STEEP * speed && safe * speed < size {
                let rises = [4.0, 64.0, 1024.0, 16384.0].map(|rise| look.up * (rise * size));
                safe = rises.into_iter().map(|rise| look.safe_within(rise)).fold(safe, f64::max);
            }
            time += safe;
            if time >= 1.0 {
                return Meet::Never;
            }
        }
        Meet::Unclear(time)
    }

    fn look(&self, time: f64) -> Option<Look<'_>> {
        let pose = self.mesh.motion.at(time);
        let placed = Placed::new(self.model, &pose);
        let centre = self.ball.motion.at(time).translation();
        let closest = placed.closest_point(centre, f64::INFINITY)?;
        let up = (centre - closest.point).try_normalize()?;
        let drift = way(self.ball) - way(self.mesh);
        // In the frame of the mesh, the centre c moves with d − ω × (c − o), and its acceleration
        // is at most 2 |ω| |d| + |ω|² |c − o|.
        let arm = centre - pose.translation();
        let turning = self.mesh.turn.length();
        let bend = turning * (2.0 * drift.length() + turning * (arm.length() + drift.length()));
        let radius = self.ball.shape.radius();
        let gap = closest.distance - radius;
        let radius = radius + 0.5 * gap.min(self.skin);
        let left = 1.0 - time;
        let way = drift - self.mesh.turn.cross(arm);
        Some(Look { placed, centre, radius, gap, up, way, slack: 0.5 * bend * left, left })
    }
}

/// A ball and a mesh at one time.
struct Look<'a> {
    placed: Placed<'a>,
    centre: DVec3,
    /// Of the ball with some skin.
    radius: f64,
    /// Between the ball and the mesh.
    gap: f64,
    /// From the closest point of the mesh to the centre.
    up: DVec3,
    /// Where the centre goes in the rest of the time, per unit of time, seen from the mesh.
    way: DVec3,
    /// By how much it may miss that, per unit of time.
    slack: f64,
    left: f64,
}

impl Look<'_> {
    /// A time for which the ball stays in the largest ball around `centre + rise` that the mesh
    /// does not reach into.
    fn safe_within(&self, rise: DVec3) -> f64 {
        let middle = self.centre + rise;
        let Some(closest) = self.placed.closest_point(middle, f64::INFINITY) else { return 0.0 };
        let rounding = 64.0 * f64::EPSILON * (middle.length() + closest.distance);
        let room = closest.distance - self.radius - rounding;
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
