//! A group whose objects move to another one: what is to go next, and when the others need nothing
//! of it any more.

use super::{Commit, GroupId, Input, ObjectId, Relay, is_home};
use crate::mutant::Mutant;
use crate::object::Class;
use crate::time::Tick;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Every so many ticks a group says of which others it has no copies.
pub(super) const CLEAR_EVERY: u64 = 16;

/// Objects that move in one tick, at most: a commit of them is as long as one with a few hundred
/// contacts.
const AT_ONCE: usize = 64;

/// How far a group has come with being empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Drain {
    /// The tick since which nothing was at home in the group, as far as was seen.
    empty: Option<u64>,
    /// Groups that have said since then that they have no copies of this one's objects: the tick
    /// in which that was taken.
    clear: BTreeMap<GroupId, u64>,
}

impl Relay {
    /// Looks at a tick of this group that its follower has come to.
    pub(super) fn watch_drain(&mut self, commit: &Commit) {
        let Some((tick, world)) = self.follower.world() else { return };
        let is_ours = |class: Class| is_home(class) || matches!(class, Class::Leaving(..));
        if world.values().any(|object| is_ours(object.class)) {
            self.drain = Drain::default();
            return;
        }
        let empty = *self.drain.empty.get_or_insert(tick.0);
        for input in &commit.inputs {
            if let Input::Clear(group, taken) = *input
                && taken >= empty
            {
                self.drain.clear.entry(group).or_insert(commit.tick.0);
            }
        }
    }

    /// Is nothing at home here, and is this group not needed any more? Then every other group knows
    /// that, none decides anything for this one, and what this one had to pass on is taken. A group
    /// that stands still is waited for.
    pub(crate) fn is_drained(&self) -> bool {
        if self.mutant == Some(Mutant::EndUnheard) {
            return self.drain.empty.is_some();
        }
        self.drain.empty.is_some()
            && self.others.iter().all(|(group, other)| {
                let clear = self.drain.clear.get(group);
                let last = self.drain.clear.values().max();
                let taken = other.taken.flatten();
                // What came with the last word is passed on in the tick after it.
                clear.is_some() && taken >= last.map(|tick| tick + 2)
            })
    }

    /// Objects that are at home here after the last tick, some of them. `kept` are the ticks that
    /// this member remembers: what is not followed yet may have left in one of them.
    pub(crate) fn at_home(&self, last: Tick, kept: &VecDeque<Arc<Commit>>) -> Vec<ObjectId> {
        let Some((tick, world)) = self.follower.world() else { return Vec::new() };
        let later: Vec<&Arc<Commit>> = kept.iter().filter(|commit| commit.tick > tick).collect();
        if later.len() as u64 != last.0.saturating_sub(tick.0) {
            return Vec::new();
        }
        let inputs = later.into_iter().flat_map(|commit| &commit.inputs);
        let left: BTreeSet<ObjectId> = inputs
            .filter_map(|input| if let Input::Depart(id, _) = input { Some(*id) } else { None })
            .collect();
        let homes = world.values().filter(|object| is_home(object.class));
        let homes = homes.map(|object| object.id).filter(|id| !left.contains(id));
        homes.take(AT_ONCE).collect()
    }

    /// Has this other group taken something of what this one says?
    pub(crate) fn is_known_to(&self, group: GroupId) -> bool {
        self.others.get(&group).is_some_and(|other| other.taken.flatten().is_some())
    }

    /// Copies of objects whose home was a group that is not there any more: they left the world
    /// before this group had heard of them.
    pub(crate) fn orphans(&self, is_over: impl Fn(GroupId) -> bool) -> Vec<ObjectId> {
        let world = self.follower.world().into_iter().flat_map(|(_, world)| world.values());
        let orphans = world.filter(|object| object.class.elsewhere().is_some_and(&is_over));
        orphans.map(|object| object.id).take(AT_ONCE).collect()
    }
}
