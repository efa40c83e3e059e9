//! The bodies of a world: which slots are taken, which bodies take part, and which changed since
//! the last step.

use crate::body::Body;
use crate::error::WorldError;
use crate::id::{BodyId, Entry, Slots};

/// A body and its place in the step.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) body: Body,
    pub(crate) state: State,
    /// The pairs of this body are compared in the next step.
    pub(crate) changed: bool,
}

/// Whether a body takes part in comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Enabled,
    Disabled { moved: bool },
}

/// All bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bodies {
    members: Slots<Member>,
    /// Slots of the members that are marked `changed`. A slot may be listed twice, or be free.
    changed: Vec<u32>,
    /// A body was removed or disabled since the last step, so its contacts have to end.
    gone: bool,
}

impl Bodies {
    /// As they were when [`Self::entries`] was read.
    pub(crate) fn from_entries(entries: Vec<Entry<Member>>, gone: bool) -> Bodies {
        let members = Slots::from_entries(entries);
        let changed = members.iter().filter(|(_, member)| member.changed);
        Bodies { changed: changed.map(|(key, _)| key.slot).collect(), members, gone }
    }

    /// All slots, taken or free: the ids that will be given depend on both.
    pub(crate) fn entries(&self) -> &[Entry<Member>] {
        self.members.entries()
    }

    pub(crate) fn insert(&mut self, body: Body) -> BodyId {
        let member = Member { body, state: State::Enabled, changed: false };
        let id = BodyId(self.members.insert(member));
        self.mark_changed(id.slot());
        id
    }

    pub(crate) fn remove(&mut self, id: BodyId) -> Result<Body, WorldError> {
        let member = self.members.remove(id.0).ok_or(WorldError::UnknownBody(id))?;
        self.gone = true;
        if self.changed.len() > 2 * self.len() + 64 {
            // Bodies are inserted and removed without a step between.
            self.changed.retain(|&slot| self.members.is_taken(slot));
            self.changed.sort_unstable();
            self.changed.dedup();
        }
        Ok(member.body)
    }

    pub(crate) fn get(&self, id: BodyId) -> Result<&Body, WorldError> {
        self.member(id).map(|member| &member.body)
    }

    pub(crate) fn get_mut(&mut self, id: BodyId) -> Result<&mut Body, WorldError> {
        let member = self.members.get_mut(id.0).ok_or(WorldError::UnknownBody(id))?;
        Ok(&mut member.body)
    }

    pub(crate) fn member(&self, id: BodyId) -> Result<&Member, WorldError> {
        self.members.get(id.0).ok_or(WorldError::UnknownBody(id))
    }

    pub(crate) fn has(&self, id: BodyId) -> bool {
        self.members.get(id.0).is_some()
    }

    /// The body in a slot that is known to be taken, as are all slots below.
    pub(crate) fn body(&self, slot: u32) -> &Body {
        &self.members.at(slot).body
    }

    pub(crate) fn body_mut(&mut self, slot: u32) -> &mut Body {
        &mut self.members.at_mut(slot).body
    }

    pub(crate) fn id(&self, slot: u32) -> BodyId {
        BodyId(self.members.key(slot))
    }

    pub(crate) fn is_enabled(&self, slot: u32) -> bool {
        self.members.at(slot).state == State::Enabled
    }

    /// Whether a body is in this world and takes part in comparisons.
    pub(crate) fn takes_part(&self, id: BodyId) -> bool {
        self.members.get(id.0).is_some_and(|member| member.state == State::Enabled)
    }

    /// All bodies with their ids, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (BodyId, &Body)> {
        self.members.iter().map(|(key, member)| (BodyId(key), &member.body))
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// The pairs of a body are compared in the next step.
    pub(crate) fn mark_changed(&mut self, slot: u32) {
        let member = self.members.at_mut(slot);
        match &mut member.state {
            State::Disabled { moved } => *moved = true,
            State::Enabled if member.changed => {}
            State::Enabled => {
                member.changed = true;
                self.changed.push(slot);
            }
        }
    }

    /// Returns whether the body took part until now.
    pub(crate) fn disable(&mut self, id: BodyId) -> Result<bool, WorldError> {
        let member = self.members.get_mut(id.0).ok_or(WorldError::UnknownBody(id))?;
        if member.state != State::Enabled {
            return Ok(false);
        }
        member.state = State::Disabled { moved: member.changed };
        member.changed = false;
        self.gone = true;
        Ok(true)
    }

    /// Returns whether the body changed while it was disabled.
    pub(crate) fn enable(&mut self, id: BodyId) -> Result<bool, WorldError> {
        let member = self.members.get_mut(id.0).ok_or(WorldError::UnknownBody(id))?;
        let State::Disabled { moved } = member.state else { return Ok(false) };
        member.state = State::Enabled;
        self.mark_changed(id.slot());
        Ok(moved)
    }

    /// Slots of the bodies that changed since the last step, in no order.
    pub(crate) fn changed_slots(&self) -> impl Iterator<Item = u32> {
        self.changed.iter().copied().filter(|&slot| self.is_changed(slot))
    }

    /// Whether the body in a slot changed since the last step; false for a free slot.
    pub(crate) fn is_changed(&self, slot: u32) -> bool {
        self.members.is_taken(slot) && self.members.at(slot).changed
    }

    /// The bodies that changed since the last step, which from now on have not.
    pub(crate) fn take_changed(&mut self) -> Changed {
        let mut slots = std::mem::take(&mut self.changed);
        slots.sort_unstable();
        slots.dedup();
        slots.retain(|&slot| self.is_changed(slot));
        for &slot in &slots {
            self.members.at_mut(slot).changed = false;
        }
        Changed::new(slots)
    }

    /// Whether a body was removed or disabled since this was last called.
    pub(crate) fn take_gone(&mut self) -> bool {
        std::mem::take(&mut self.gone)
    }

    /// Whether a body was removed or disabled since the last step.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Whether there is anything that a step would look at.
    #[cfg(feature = "detector")]
    pub(crate) fn has_changes(&self) -> bool {
        self.gone || !self.changed.is_empty()
    }
}

/// The bodies that changed before a step.
#[derive(Debug)]
pub(crate) struct Changed {
    /// Sorted.
    pub(crate) slots: Vec<u32>,
    /// A bit for each slot up to the last one that changed.
    bits: Vec<u64>,
}

impl Changed {
    pub(crate) fn new(slots: Vec<u32>) -> Changed {
        let mut bits = vec![0; slots.last().map_or(0, |&last| last as usize / 64 + 1)];
        slots.iter().for_each(|&slot| bits[slot as usize / 64] |= 1 << (slot % 64));
        Changed { slots, bits }
    }

    pub(crate) fn has(&self, slot: u32) -> bool {
        self.bits.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_geom::{Pose, Shape};

    fn body() -> Body {
        Body::moving(Shape::sphere(1.0).expect("a radius"), Pose::IDENTITY)
    }

    #[test]
    fn a_body_is_reported_as_changed_once_and_not_after_its_removal() {
        let mut bodies = Bodies::default();
        let ids = [0; 4].map(|_| bodies.insert(body()));
        bodies.mark_changed(ids[2].slot());
        bodies.remove(ids[1]).expect("it is there");
        assert_eq!(bodies.take_changed().slots, [0, 2, 3]);
        assert!(bodies.take_gone() && !bodies.take_gone());
        assert!(bodies.take_changed().slots.is_empty());
        bodies.mark_changed(3);
        let changed = bodies.take_changed();
        assert!(changed.has(3) && !changed.has(2) && !changed.has(900));
    }

    #[test]
    fn a_disabled_body_does_not_change_but_remembers_that_it_did() {
        let mut bodies = Bodies::default();
        let ids = [0; 2].map(|_| bodies.insert(body()));
        bodies.take_changed();
        for (id, moves) in [(ids[0], true), (ids[1], false)] {
            assert_eq!(bodies.disable(id), Ok(true));
            assert_eq!(bodies.disable(id), Ok(false));
            if moves {
                bodies.mark_changed(id.slot());
            }
            assert!(!bodies.is_changed(id.slot()) && !bodies.takes_part(id));
            assert_eq!(bodies.enable(id), Ok(moves));
        }
        assert_eq!(bodies.take_changed().slots, [0, 1]);
    }

    #[test]
    fn bodies_that_come_and_go_without_a_step_do_not_fill_the_list_of_changes() {
        let mut bodies = Bodies::default();
        for _ in 0..1000 {
            let id = bodies.insert(body());
            bodies.remove(id).expect("it is there");
        }
        assert!(bodies.changed.len() <= 65, "{}", bodies.changed.len());
    }
}
