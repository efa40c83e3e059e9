//! What a body does when it touches another.
//!
//! Ohlenburg's responses (2003, §3.3.1 and appendix C.2): a velocity that is mirrored or becomes
//! zero, and a way back to where nothing was touched. He sets back the translation only; a body
//! that turned into another then stays in it, with a rotation that collides wherever it is put
//! next. Here it goes back to the last free *pose*.

mod set_back;
pub(crate) mod velocity;

use crate::bodies::Changed;
use crate::contact::{Certainty, Contact};
use crate::dynamics::Dynamics;
use crate::id::BodyId;
use crate::interest::InterestTarget;
use std::collections::BTreeSet;
use velocity::Impact;

/// The response of a body to touching (Ohlenburg 2003, appendix C.2). Fixed bodies have none.
///
/// After a step every body with a response that touches another acts on it. Pairs that are asked
/// [`QueryKind::Volume`](crate::QueryKind::Volume) do not touch in this sense. The contacts of that
/// step stay in its report; they end in the next step if the response ended them.
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
/// which can be specified separately for each falling object". How they bounce is their
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

impl Dynamics<'_> {
    /// Lets bodies respond to contacts, of which at least one of the two changed. Returns how many
    /// bodies responded.
    pub(crate) fn respond(&mut self, changed: &Changed, contacts: &[Contact]) -> usize {
        if self.motion.responders().is_empty() {
            return 0;
        }
        let impacts = self.find_impacts(changed, contacts);
        let busy: BTreeSet<u32> = impacts
            .iter()
            .flat_map(|&Impact { slots: [a, b], .. }| [(a, b), (b, a)])
            .filter(|&(slot, other)| self.responds(slot, other))
            .map(|(slot, _)| slot)
            .collect();
        let turned = self.change_velocities(&impacts);
        let back = self.set_back(&impacts);
        for impact in &impacts {
            // Nothing approaches along the normals, and yet they met: they would come again in the
            // same way for ever.
            let [a, b] = &impact.slots;
            let untouched = !turned.contains(a) && !turned.contains(b);
            if untouched && (back.contains(a) || back.contains(b)) {
                self.reverse(impact);
            }
        }
        for &slot in &changed.slots {
            if !busy.contains(&slot) && !back.contains(&slot) {
                self.motion.set_free(slot, self.bodies.body(slot).pose);
            }
        }
        busy.len()
    }

    /// Contacts of which at least one body changed and at least one responds, in the order of
    /// contacts. A contact that is only assumed is looked at: a response to nothing is worse than
    /// a step that is a little late.
    fn find_impacts(&self, changed: &Changed, contacts: &[Contact]) -> Vec<Impact> {
        let mut impacts = Vec::new();
        for contact in contacts.iter().filter(|contact| contact.is_touching()) {
            let [a, b] = contact.pair().map(BodyId::slot);
            let concerns = (changed.has(a) || changed.has(b))
                && (self.responds(a, b) || self.responds(b, a))
                && (contact.certainty == Certainty::Exact || self.touch(a, b));
            if concerns {
                impacts.extend(self.impact(a, b, &contact.data));
            }
        }
        impacts
    }

    /// The impacts are worked through one after the other, not added up: of two walls in one
    /// plane the second finds the body moving away, where a sum would throw it back twice as fast.
    /// Returns the bodies whose velocity changed.
    fn change_velocities(&mut self, impacts: &[Impact]) -> BTreeSet<u32> {
        /// Enough for a body in a corner of three walls; the rest is left to the next step.
        const ROUNDS: usize = 4;
        let mut turned = BTreeSet::new();
        for _ in 0..ROUNDS {
            let mut any = false;
            for impact in impacts {
                let changed = self.exchange_velocities(impact);
                any |= changed != [false; 2];
                let slots = impact.slots.iter().zip(changed);
                turned.extend(slots.filter(|&(_, changed)| changed).map(|(slot, _)| *slot));
            }
            if !any {
                break;
            }
        }
        turned
    }
}
