//! What becomes of velocities when two bodies meet.

use super::VelocityResponse;
use crate::bodies::Bodies;
use crate::body::{Mobility, Velocity};
use crate::contact::ContactData;
use crate::dynamics::Dynamics;
use glam::DVec3;
use jostle_geom::{ContactPoint, Pair, Pose};

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
        let [a, b] = slots.map(|slot| &bodies.body(slot).shape);
        let contact = Pair::new(a, &poses[0], b, &poses[1]).closest_contact()?;
        let arms = [0, 1].map(|i| contact.points[i] - poses[i].translation());
        Some(Impact { slots, normal: contact.normal, points: contact.points, arms })
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
    /// (With the normals of faces that touch, bodies in a crowd get stuck.) If they were not, it is
    /// that of the deepest contact, where contacts were asked for, or else of faces that touch.
    pub(super) fn impact(&self, a: u32, b: u32, data: &ContactData) -> Option<Impact> {
        let free = [a, b].map(|slot| self.motion.free_pose(slot));
        if let Some(impact) = Impact::between(self.bodies, [a, b], free) {
            return Some(impact);
        }
        let [first, second] = [a, b].map(|slot| self.bodies.body(slot));
        if let ContactData::Points(found) = data
            && let Some(&ContactPoint { normal, points, .. }) = found.points.first()
        {
            let origins = [first, second].map(|body| body.pose.translation());
            let arms = [0, 1].map(|i| points[i] - origins[i]);
            return Some(Impact { slots: [a, b], normal, points, arms });
        }
        let pair = Pair::new(&first.shape, &first.pose, &second.shape, &second.pose);
        let witness = pair.witness()?;
        let points = [witness.point; 2];
        let normals = pair.face_normals(witness.faces, points);
        let normal = match (self.responds(a, b), self.responds(b, a)) {
            (true, false) => normals[1],
            (false, true) => normals[0],
            _ => normals[pair.flatter()],
        };
        let arms = [first, second].map(|body| witness.point - body.pose.translation());
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
