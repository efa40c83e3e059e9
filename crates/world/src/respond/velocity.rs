//! What becomes of velocities when two bodies meet.

use super::VelocityResponse;
use crate::body::{Mobility, Velocity};
use crate::world::World;
use glam::DVec3;
use jostle_geom::{Pair, Pose};

/// A spin moves the point of contact along the normal only if by more than this part of its speed;
/// less is rounding (balls turn without moving anything along their normals).
const SPIN_MIN: f64 = 1e-9;

/// How fast, as part of the relative speed, bodies in continuous motion part at least. Without
/// this, rounding would make a body that slides along another meet it again and again.
const PART: f64 = 1e-6;

/// Two bodies that ran into each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    pub(crate) slots: [u32; 2],
    /// Of the face that was hit; from the second body towards the first, of length 1.
    pub(crate) normal: DVec3,
    /// Where, on each of them.
    pub(crate) points: [DVec3; 2],
    /// From the origins of the bodies to these points.
    arms: [DVec3; 2],
}

/// One of the bodies of a meeting.
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

    /// The velocity that the other one feels. The spin of a body that bounces answers for itself;
    /// counted here too it would add speed out of nothing.
    fn felt(&self) -> DVec3 {
        let spin = if self.restitution().is_some() { DVec3::ZERO } else { self.swing() };
        self.velocity.linear + spin
    }

    /// The velocity that the spin gives to the point of contact.
    fn swing(&self) -> DVec3 {
        self.velocity.angular.cross(self.arm)
    }

    /// Turns the spin round if it brings the point closer to the other body, which is opposite to
    /// `away`.
    fn turn_spin(&mut self, away: DVec3) {
        let Some(restitution) = self.restitution() else { return };
        let speed = self.velocity.angular.length() * self.arm.length();
        if self.swing().dot(away) < -SPIN_MIN * speed {
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

impl World {
    /// The meeting of two bodies that touch.
    ///
    /// The normal is that of the closest points at the last free poses, if they were free then. Of
    /// the faces that touch now some may well be at the side of what was hit; but two convex bodies
    /// without spin that were apart along a direction can only have met by approaching along it.
    /// (With the normals of faces that touch, bodies in a crowd get stuck.)
    pub(super) fn meeting(&self, a: u32, b: u32) -> Option<Meeting> {
        let free = [a, b].map(|slot| self.members.at(slot).free_pose);
        if let Some(meeting) = self.meeting_at([a, b], free) {
            return Some(meeting);
        }
        let [first, second] = [a, b].map(|slot| &self.members.at(slot).body);
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
        Some(Meeting { slots: [a, b], normal, points, arms })
    }

    /// The meeting of two bodies just before they touch; `None` if they do.
    pub(crate) fn meeting_at(&self, slots: [u32; 2], poses: [Pose; 2]) -> Option<Meeting> {
        let [a, b] = slots.map(|slot| &self.members.at(slot).body.shape);
        let contact = Pair::new(a, &poses[0], b, &poses[1]).closest_contact()?;
        let arms = [0, 1].map(|i| contact.points[i] - poses[i].translation());
        Some(Meeting { slots, normal: contact.normal, points: contact.points, arms })
    }

    /// What the bodies of a meeting do about their velocities. Says whose changed.
    pub(crate) fn exchange(&mut self, meeting: &Meeting) -> [bool; 2] {
        let mut sides = self.sides(meeting);
        let normal = meeting.normal;
        let closing = (sides[0].felt() - sides[1].felt()).dot(normal);
        if closing < 0.0 {
            push(&mut sides, normal * closing);
        }
        sides[0].turn_spin(normal);
        sides[1].turn_spin(-normal);
        self.set_sides(meeting, &sides)
    }

    /// The bodies of a meeting go back the way they came.
    pub(crate) fn turn_round(&mut self, meeting: &Meeting) {
        let mut sides = self.sides(meeting);
        let closing = sides[0].felt() - sides[1].felt();
        push(&mut sides, closing);
        for side in &mut sides {
            if let Some(restitution) = side.restitution() {
                side.velocity.angular *= -restitution;
            }
        }
        self.set_sides(meeting, &sides);
    }

    /// Makes sure that bodies that bounced move apart by more than rounding.
    pub(crate) fn part(&mut self, meeting: &Meeting) {
        let mut sides = self.sides(meeting);
        let normal = meeting.normal;
        let relative = sides[0].felt() - sides[1].felt();
        let lack = PART * relative.length() - relative.dot(normal);
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
        self.set_sides(meeting, &sides);
    }

    fn sides(&self, meeting: &Meeting) -> [Side; 2] {
        let [a, b] = meeting.slots;
        let side = |slot: u32, other: u32, arm: DVec3| {
            let body = &self.members.at(slot).body;
            let still = body.mobility == Mobility::Fixed;
            let velocity = if still { Velocity::default() } else { body.velocity };
            let responds = self.responds(slot, other);
            let response = if responds { self.response(slot) } else { None };
            Side { velocity, arm, response: response.map(|response| response.velocity) }
        };
        [side(a, b, meeting.arms[0]), side(b, a, meeting.arms[1])]
    }

    /// Gives the bodies their velocities, after those that stop have stopped.
    fn set_sides(&mut self, meeting: &Meeting, sides: &[Side; 2]) -> [bool; 2] {
        let mut changed = [false; 2];
        for (i, side) in sides.iter().enumerate() {
            let slot = meeting.slots[i];
            let velocity = match side.response {
                None | Some(VelocityResponse::Keep) => continue,
                Some(VelocityResponse::Bounce { .. }) => side.velocity,
                Some(VelocityResponse::Stop) => Velocity::default(),
            };
            if velocity != self.members.at(slot).body.velocity && velocity.is_finite() {
                self.members.at_mut(slot).body.velocity = velocity;
                self.note_activity(crate::BodyId(self.members.key(slot)));
                changed[i] = true;
            }
        }
        changed
    }
}
