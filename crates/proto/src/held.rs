//! The objects that a member answers for, and the copies that it keeps for another.

use crate::message::Commit;
use crate::object::{Class, Object, ObjectId};
use crate::time::Tick;
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
    pub(crate) fn apply(&mut self, commit: &Commit) {
        apply(&mut self.mine, commit);
        apply(&mut self.backup, commit);
    }
}

/// Changes velocities as a commit says: first what avatars want, then what collisions do. Kicks
/// are summed up before anything is rounded off, so their order does not matter.
pub fn apply(objects: &mut Objects, commit: &Commit) {
    for want in &commit.wants {
        if let Some(object) = objects.get_mut(&want.avatar)
            && object.class == Class::Avatar
        {
            object.state.velocity = want.velocity;
        }
    }
    let mut kicks: BTreeMap<ObjectId, [i32; 3]> = BTreeMap::new();
    for touch in &commit.touches {
        for (id, kick) in [(touch.a, touch.kick_a), (touch.b, touch.kick_b)] {
            if objects.contains_key(&id) {
                let sum = kicks.entry(id).or_default();
                for axis in 0..3 {
                    sum[axis] += i32::from(kick[axis]);
                }
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

/// Moves objects from a tick to the next.
pub fn advance(objects: &mut Objects, from: Tick, rate: u32) {
    for object in objects.values_mut().filter(|object| object.class != Class::Immovable) {
        object.state = object.state.moved(from, rate);
    }
}
