//! The objects that a member answers for, and the copies that it keeps for another.

use crate::input::Input;
use crate::message::{Commit, Touch, Toward};
use crate::object::{Class, NodeId, Object, ObjectId};
use crate::state::State;
use crate::time::Tick;
use crate::view::View;
use std::collections::BTreeMap;

/// Objects by id.
pub type Objects = BTreeMap<ObjectId, Object>;

/// What a member holds after a tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// Its own.
    pub(crate) mine: Objects,
    /// Those of the one whose buddy it is.
    pub(crate) backup: Objects,
}

impl Held {
    /// Applies what was committed: everybody who holds an object does the same to it.
    pub(crate) fn apply(&mut self, commit: &Commit, view: &View, me: NodeId) {
        let owner = |object: &Object| view.owner(object.state.position);
        apply(&mut self.mine, commit, |object| owner(object) == me);
        apply(&mut self.backup, commit, |object| view.buddy(owner(object)) == Some(me));
    }
}

/// Changes objects as a commit says: first what comes from outside, in its order, then what
/// collisions do. Of those that come into the world, the ones that `holds` names are taken.
pub fn apply(objects: &mut Objects, commit: &Commit, holds: impl Fn(&Object) -> bool) {
    for input in &commit.inputs {
        match input {
            Input::Enter(object) => {
                if holds(object) {
                    objects.entry(object.id).or_insert(*object);
                }
            }
            _ => {
                let id = input.object();
                if let Some(object) = objects.remove(&id)
                    && let Some(object) = input.change(object)
                {
                    objects.insert(id, object);
                }
            }
        }
    }
    collide(objects, &commit.touches);
}

/// Kicks are summed up before anything is rounded off, so their order does not matter. An avatar
/// is not kicked; it cannot go on into what it touches, whatever it wants.
pub(crate) fn collide(objects: &mut Objects, touches: &[Touch]) {
    let mut kicks: BTreeMap<ObjectId, [i32; 3]> = BTreeMap::new();
    let ours = Sieve::of(objects);
    for &Touch { a, b, toward, stops, kick_a, kick_b } in touches {
        let turned = Toward { axis: toward.axis, up: !toward.up };
        for (id, kick, toward) in [(a, kick_a, toward), (b, kick_b, turned)] {
            if (kick == [0; 3] && !stops) || !ours.may_have(id) {
                continue;
            }
            match objects.get_mut(&id) {
                Some(object) if object.class == Class::Avatar => stop(&mut object.state, toward),
                Some(object) if object.class == Class::Dynamic => {
                    let sum = kicks.entry(id).or_default();
                    for (sum, kick) in sum.iter_mut().zip(kick) {
                        *sum += i32::from(kick);
                    }
                }
                _ => {}
            }
        }
    }
    for (id, kick) in kicks {
        if let Some(object) = objects.get_mut(&id) {
            for (velocity, kick) in object.state.velocity.iter_mut().zip(kick) {
                let sum = i32::from(*velocity) + kick;
                *velocity = sum.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
            }
        }
    }
}

/// Most touches of a group are of objects that a member does not hold; this says so in one step
/// for most of them. (Looking up each took a quarter of a member's time in a tick of eight.)
struct Sieve {
    bits: Vec<u64>,
}

impl Sieve {
    fn of(objects: &Objects) -> Sieve {
        let words = (objects.len() / 8).next_power_of_two();
        let mut sieve = Sieve { bits: vec![0; words] };
        for &id in objects.keys() {
            let (word, bit) = sieve.place(id);
            sieve.bits[word] |= bit;
        }
        sieve
    }

    fn place(&self, id: ObjectId) -> (usize, u64) {
        let hash = id.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((hash >> 32) as usize & (self.bits.len() - 1), 1 << (hash >> 58))
    }

    fn may_have(&self, id: ObjectId) -> bool {
        let (word, bit) = self.place(id);
        self.bits[word] & bit != 0
    }
}

fn stop(state: &mut State, Toward { axis, up }: Toward) {
    if let Some(velocity) = state.velocity.get_mut(usize::from(axis)) {
        *velocity = if up { (*velocity).min(0) } else { (*velocity).max(0) };
    }
}

/// Moves objects from a tick to the next.
pub fn advance(objects: &mut Objects, from: Tick, rate: u32) {
    let moves = |class| !matches!(class, Class::Immovable | Class::Absent);
    for object in objects.values_mut().filter(|object| moves(object.class)) {
        object.state = object.state.moved(from, rate);
    }
}
