//! What becomes of velocities when two bodies meet.

use super::VelocityResponse;
use crate::bodies::Bodies;
use crate::body::{Mobility, Velocity};
use crate::dynamics::Dynamics;
use crate::shape::{Shape, ShapeKind, ShapePair};
use glam::DVec3;
use jostle_geom::{FacePair, Pose, Witness};

/// Directions closer to a face's normal than this (in radians) are that normal: between parallel
/// faces the closest points have lost digits sideways, the normal has not, and a velocity that is
/// mirrored at a wall along an axis must be exactly that.
const SNAP: f64 = 1e-3;

/// Below this part of all lengths involved, the direction between two points has too few digits.
const DIRECTION_MIN: f64 = 1e-12;

/// A spin moves the point of contact along the normal only if by more than this part of its speed;
/// less is rounding (balls turn without moving anything along their normals).
const SPIN_MIN: f64 = 1e-9;

/// How fast, as part of the relative speed, bodies in continuous motion part at least. Without
/// this, rounding would make a body that slides along another meet it again and again.
const SEPARATION: f64 = 1e-6;

/// Where and how two bodies ran into each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Impact {
    pub(crate) slots: [u32; 2],
    /// Of the face that was hit; from the second body towards the first, of length 1.
    pub(crate) normal: DVec3,
    /// Where, on each of them.
    pub(crate) points: [DVec3; 2],
    /// From the origins of the bodies to these points.
    arms: [DVec3; 2],
}

impl Impact {
    /// The impact of two bodies in poses just before they touch; `None` if they touch there.
    pub(crate) fn between(bodies: &Bodies, slots: [u32; 2], poses: [Pose; 2]) -> Option<Impact> {
        let shapes = slots.map(|slot| &bodies.body(slot).shape);
        let pair = ShapePair::new(shapes[0], &poses[0], shapes[1], &poses[1]);
        let apart = pair.distance().filter(|apart| apart.distance > 0.0)?;
        let points = [apart.point_a, apart.point_b];
        let arms = [0, 1].map(|i| points[i] - poses[i].translation());
        let faces = face_normals(shapes, &poses, apart.faces, points);
        let first = flatter(shapes);
        let lengths = points[0].length() + points[1].length() + arms[0].length() + arms[1].length();
        let between = (points[0] - points[1]).try_normalize();
        let between = between.filter(|_| apart.distance > DIRECTION_MIN * lengths);
        let candidates = [faces[first], faces[1 - first]];
        let normal = between.map_or(candidates[0], |between| snapped(between, &candidates));
        Some(Impact { slots, normal, points, arms })
    }
}

/// One of the bodies of an impact.
struct Side {
    velocity: Velocity,
    arm: DVec3,
    response: Option<VelocityResponse>,
}

impl Side {
    fn restitution(&self) -> Option<f64> {
        match self.response {
            Some(VelocityResponse::Bounce { restitution }) => Some(restitution),
            _ => None,
        }
    }

    /// The velocity that acts on the other body. The spin of a body that bounces is reversed by
    /// itself; counted here too it would add speed out of nothing.
    fn contact_velocity(&self) -> DVec3 {
        let spin = if self.restitution().is_some() { DVec3::ZERO } else { self.spin_velocity() };
        self.velocity.linear + spin
    }

    /// The velocity that the spin gives to the point of contact.
    fn spin_velocity(&self) -> DVec3 {
        self.velocity.angular.cross(self.arm)
    }

    /// Reverses the spin if it brings the point closer to the other body, which is opposite to
    /// `away`.
    fn reverse_spin(&mut self, away: DVec3) {
        let Some(restitution) = self.restitution() else { return };
        let speed = self.velocity.angular.length() * self.arm.length();
        if self.spin_velocity().dot(away) < -SPIN_MIN * speed {
            self.velocity.angular *= -restitution;
        }
    }
}

/// Changes the velocities of two sides by `change` of the relative velocity along it, shared if
/// both bounce. With restitution e the relative velocity along it becomes −e of what it was.
fn push(sides: &mut [Side; 2], change: DVec3) {
    let [a, b] = sides;
    match (a.restitution(), b.restitution()) {
        (Some(e), Some(f)) => {
            let half = change * (0.5 * (1.0 + e.min(f)));
            a.velocity.linear -= half;
            b.velocity.linear += half;
        }
        (Some(e), None) => a.velocity.linear -= change * (1.0 + e),
        (None, Some(e)) => b.velocity.linear += change * (1.0 + e),
        (None, None) => {}
    }
}

impl Dynamics<'_> {
    /// The impact of two bodies that touch.
    ///
    /// The normal is that of the closest points at the last free poses, if they were free then. Of
    /// the faces that touch now some may well be at the side of what was hit; but two convex bodies
    /// without spin that were apart along a direction can only have met by approaching along it.
    /// (With the normals of faces that touch, bodies in a crowd get stuck.)
    pub(super) fn impact(&self, a: u32, b: u32) -> Option<Impact> {
        let free = [a, b].map(|slot| self.motion.free_pose(slot));
        if let Some(impact) = Impact::between(self.bodies, [a, b], free) {
            return Some(impact);
        }
        let bodies = [a, b].map(|slot| self.bodies.body(slot));
        let poses = bodies.map(|body| body.pose);
        let shapes = bodies.map(|body| &body.shape);
        let witness = ShapePair::new(shapes[0], &poses[0], shapes[1], &poses[1]).witness()?;
        let points = [witness.point; 2];
        let faces = face_normals(shapes, &poses, witness.faces, points);
        let normal = match (self.responds(a, b), self.responds(b, a)) {
            (true, false) => faces[1],
            (false, true) => faces[0],
            _ => faces[flatter(shapes)],
        };
        let arms = poses.map(|pose| witness.point - pose.translation());
        Some(Impact { slots: [a, b], normal, points, arms })
    }

    /// Changes the velocities of the bodies of an impact. Returns which of them changed.
    pub(crate) fn exchange_velocities(&mut self, impact: &Impact) -> [bool; 2] {
        let mut sides = self.sides(impact);
        let normal = impact.normal;
        let closing = (sides[0].contact_velocity() - sides[1].contact_velocity()).dot(normal);
        if closing < 0.0 {
            push(&mut sides, normal * closing);
        }
        sides[0].reverse_spin(normal);
        sides[1].reverse_spin(-normal);
        self.set_sides(impact, &sides)
    }

    /// Sends the bodies of an impact back the way they came.
    pub(crate) fn reverse(&mut self, impact: &Impact) {
        let mut sides = self.sides(impact);
        let closing = sides[0].contact_velocity() - sides[1].contact_velocity();
        push(&mut sides, closing);
        for side in &mut sides {
            if let Some(restitution) = side.restitution() {
                side.velocity.angular *= -restitution;
            }
        }
        self.set_sides(impact, &sides);
    }

    /// Makes bodies that bounced move apart by more than rounding.
    pub(crate) fn separate(&mut self, impact: &Impact) {
        let mut sides = self.sides(impact);
        let normal = impact.normal;
        let relative = sides[0].contact_velocity() - sides[1].contact_velocity();
        let lack = SEPARATION * relative.length() - relative.dot(normal);
        if lack <= 0.0 {
            return;
        }
        let [a, b] = &mut sides;
        match (a.restitution(), b.restitution()) {
            (Some(_), Some(_)) => {
                a.velocity.linear += normal * (0.5 * lack);
                b.velocity.linear -= normal * (0.5 * lack);
            }
            (Some(_), None) => a.velocity.linear += normal * lack,
            (None, Some(_)) => b.velocity.linear -= normal * lack,
            (None, None) => {}
        }
        self.set_sides(impact, &sides);
    }

    fn sides(&self, impact: &Impact) -> [Side; 2] {
        let [a, b] = impact.slots;
        let side = |slot: u32, other: u32, arm: DVec3| {
            let body = self.bodies.body(slot);
            let still = body.mobility == Mobility::Fixed;
            let velocity = if still { Velocity::default() } else { body.velocity };
            let responds = self.responds(slot, other);
            let response = if responds { self.response(slot) } else { None };
            Side { velocity, arm, response: response.map(|response| response.velocity) }
        };
        [side(a, b, impact.arms[0]), side(b, a, impact.arms[1])]
    }

    /// Gives the bodies their velocities; those that stop get none. Returns which of them changed.
    fn set_sides(&mut self, impact: &Impact, sides: &[Side; 2]) -> [bool; 2] {
        let mut changed = [false; 2];
        for (i, side) in sides.iter().enumerate() {
            let slot = impact.slots[i];
            let velocity = match side.response {
                None | Some(VelocityResponse::Keep) => continue,
                Some(VelocityResponse::Bounce { .. }) => side.velocity,
                Some(VelocityResponse::Stop) => Velocity::default(),
            };
            if velocity != self.bodies.body(slot).velocity && velocity.is_finite() {
                self.set_velocity(slot, velocity);
                changed[i] = true;
            }
        }
        changed
    }
}

/// The normals of the face of the first and the face of the second body at two close points. Both
/// point from the second towards the first.
fn face_normals(
    [a, b]: [&Shape; 2],
    [pose_a, pose_b]: &[Pose; 2],
    faces: FacePair,
    [on_a, on_b]: [DVec3; 2],
) -> [DVec3; 2] {
    let there = ShapePair::new(a, pose_a, b, pose_b);
    let back = ShapePair::new(b, pose_b, a, pose_a);
    let turned = FacePair { a: faces.b, b: faces.a };
    [
        -back.contact_normal(&Witness { faces: turned, point: on_a }),
        there.contact_normal(&Witness { faces, point: on_b }),
    ]
}

/// Which of two shapes is flatter where they meet, most likely: no ball, and the larger one.
fn flatter([a, b]: [&Shape; 2]) -> usize {
    let round = |shape: &Shape| matches!(shape.kind(), ShapeKind::Sphere { .. });
    match (round(a), round(b)) {
        (true, false) => 1,
        (false, true) => 0,
        _ => usize::from(b.radius() > a.radius()),
    }
}

/// One of the normals if the direction is close to it, or else the direction.
fn snapped(direction: DVec3, normals: &[DVec3; 2]) -> DVec3 {
    let close = normals.iter().find(|normal| normal.cross(direction).length() < SNAP);
    // Which side of a face is outside is decided by the points.
    close.map_or(direction, |&n| if n.dot(direction) < 0.0 { -n } else { n })
}
