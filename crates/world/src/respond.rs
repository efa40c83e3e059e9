//! What a body does when it touches another.
//!
//! Ohlenburg's responses (2003, §3.3.1 and appendix C.2): a velocity that is mirrored or becomes
//! zero, and a way back to where nothing was touched. He sets back the translation only; a body
//! that turned into another then stays in it, with a rotation that collides wherever it is put
//! next. Here it goes back to the last free *pose*.

mod set_back;
pub(crate) mod velocity;

use crate::body::Mobility;
use crate::contact::Certainty;
use crate::id::BodyId;
use crate::interest::{InterestTarget, QueryKind};
use crate::shape::ShapePair;
use crate::step::Changed;
use crate::world::World;
use std::collections::BTreeSet;
use velocity::Meeting;

/// The response of a body to touching (Ohlenburg 2003, appendix C.2). Fixed bodies have none.
///
/// After a step every body with a response that touches another acts on it. Pairs that are asked
/// [`QueryKind::Volume`] do not touch in this sense. The contacts of that step stay in its report; they
/// end in the next step if the response ended them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// What becomes of its velocity.
    pub velocity: VelocityResponse,
    /// Whether it goes back to the last pose, at the end of a step, in which it touched nothing
    /// that it responds to. Bodies that came to where it goes back to, and would be set back
    /// themselves, go back too: so bodies that are set back never end up in each other or in what
    /// is fixed. A body stays where it is if going back would free it from nothing.
    pub set_back: bool,
}

/// What becomes of the velocity of a body that touches another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VelocityResponse {
    /// Stays.
    Keep,
    /// Mirrored at the face that was hit, if it moves towards it; 1 keeps all the speed along its
    /// normal, 0 none.
    ///
    /// The velocity relative to the other body counts. If both bounce they share the change like
    /// bodies of equal mass, with the smaller of both restitutions; otherwise the other is as hard
    /// to move as a wall. A spin that brings the point of contact closer turns round.
    Bounce {
        /// Share of the speed along the normal that is left.
        restitution: f64,
    },
    /// Becomes zero.
    Stop,
}

impl Response {
    /// What a body under gravity does that has no response of its own: it stays on the floor.
    pub const INELASTIC: Response =
        Response { velocity: VelocityResponse::Bounce { restitution: 0.0 }, set_back: true };
}

/// Under gravity, and what it does not fall through.
///
/// Zachmann (2000, §2.2.10): objects "fall in a certain direction and bounce off floor objects,
/// which can be specified separately for each falling object". How they bounce says their
/// [`Response`]; without one it is [`Response::INELASTIC`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GravityTarget {
    /// Sorted.
    pub(crate) floors: Vec<InterestTarget>,
}

impl GravityTarget {
    /// Everything is floor.
    #[must_use]
    pub fn onto_everything() -> GravityTarget {
        GravityTarget::default()
    }

    /// Only these bodies, and the members of these groups, are floor. It passes through what is
    /// not: contacts are reported and not responded to. Without any, everything is floor.
    #[must_use]
    pub fn onto(floors: impl IntoIterator<Item = impl Into<InterestTarget>>) -> GravityTarget {
        let mut floors: Vec<InterestTarget> = floors.into_iter().map(Into::into).collect();
        floors.sort_unstable();
        floors.dedup();
        GravityTarget { floors }
    }

    /// What is floor, sorted; empty for everything.
    #[must_use]
    pub fn floors(&self) -> &[InterestTarget] {
        &self.floors
    }
}

impl World {
    /// Lets bodies respond to what they touch.
    pub(crate) fn respond(&mut self, changed: &Changed) {
        if self.responders.is_empty() {
            return;
        }
        let meetings = self.find_meetings(changed);
        let busy: BTreeSet<u32> = meetings
            .iter()
            .flat_map(|&Meeting { slots: [a, b], .. }| [(a, b), (b, a)])
            .filter(|&(slot, other)| self.responds(slot, other))
            .map(|(slot, _)| slot)
            .collect();
        let turned = self.change_velocities(&meetings);
        let back = self.set_back(&meetings);
        for meeting in &meetings {
            // Nothing approaches along the normals, and yet they met: they would come again in the
            // same way for ever.
            let [a, b] = &meeting.slots;
            let untouched = !turned.contains(a) && !turned.contains(b);
            if untouched && (back.contains(a) || back.contains(b)) {
                self.turn_round(meeting);
            }
        }
        for &slot in &changed.slots {
            if !busy.contains(&slot) && !back.contains(&slot) {
                let member = self.members.at_mut(slot);
                member.free_pose = member.body.pose;
            }
        }
        self.report.counts.responses = busy.len();
    }

    /// Contacts of which at least one body changed and at least one responds, in the order of
    /// contacts. A contact that is only assumed is looked at: a response to nothing is worse than
    /// a step that is a little late.
    fn find_meetings(&self, changed: &Changed) -> Vec<Meeting> {
        let mut meetings = Vec::new();
        for contact in self.contacts.iter().filter(|contact| contact.is_touching()) {
            let [a, b] = contact.pair().map(BodyId::slot);
            let concerns = (changed.has(a) || changed.has(b))
                && (self.responds(a, b) || self.responds(b, a))
                && (contact.certainty == Certainty::Exact || self.touch(a, b));
            if concerns {
                meetings.extend(self.meeting(a, b));
            }
        }
        meetings
    }

    /// The meetings are worked through one after the other, not added up: of two walls in one
    /// plane the second finds the body moving away, where a sum would throw it back twice as fast.
    /// Returns the bodies whose velocity changed.
    fn change_velocities(&mut self, meetings: &[Meeting]) -> BTreeSet<u32> {
        /// Enough for a body in a corner of three walls; the rest is left to the next step.
        const ROUNDS: usize = 4;
        let mut turned = BTreeSet::new();
        for _ in 0..ROUNDS {
            let mut any = false;
            for meeting in meetings {
                let changed = self.exchange(meeting);
                any |= changed != [false; 2];
                let slots = meeting.slots.iter().zip(changed);
                turned.extend(slots.filter(|&(_, changed)| changed).map(|(slot, _)| *slot));
            }
            if !any {
                break;
            }
        }
        turned
    }

    /// What a body does about what it touches.
    pub(crate) fn response(&self, slot: u32) -> Option<Response> {
        let body = &self.members.at(slot).body;
        let falls = body.fall.is_some().then_some(Response::INELASTIC);
        let response = body.response.or(falls);
        response.filter(|_| body.mobility != Mobility::Fixed)
    }

    /// Does a body respond to touching another?
    pub(crate) fn responds(&self, slot: u32, other: u32) -> bool {
        self.responders.contains(&slot) && self.is_stopped_by(slot, other)
    }

    /// Is a body one that another cannot pass through?
    pub(crate) fn is_stopped_by(&self, slot: u32, other: u32) -> bool {
        let [id, other] = [slot, other].map(|slot| BodyId(self.members.key(slot)));
        let floor = match &self.members.at(slot).body.fall {
            Some(GravityTarget { floors }) if !floors.is_empty() => {
                self.parties(other).any(|party| floors.binary_search(&party).is_ok())
            }
            _ => true,
        };
        floor && self.asked(id, other).is_some_and(|ask| ask != QueryKind::Volume)
    }

    /// Do two bodies touch where they are now?
    pub(crate) fn touch(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.members.at(a).body, &self.members.at(b).body);
        ShapePair::new(&a.shape, &a.pose, &b.shape, &b.pose).touches()
    }
}
