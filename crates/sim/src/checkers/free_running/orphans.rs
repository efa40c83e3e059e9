//! A5: no object is lost. Whenever all members of the newest view know it to be stable, and in the
//! end, every object has a holder. (In between it may be with backups only, as long as the
//! directory takes to hear of a death and to make a view from which no node is missing that is
//! needed; in the end nothing has failed for as long as the fault campaign lasted, and three
//! seconds more.)

use super::Violations;
use super::sight::Sight;
use jostle_proto::{Epoch, ObjectId, View};

pub(super) struct Orphans {
    objects: Vec<ObjectId>,
    /// The last view that all its members knew to be stable.
    whole: Option<Epoch>,
    settled: bool,
}

impl Orphans {
    pub(super) fn new(objects: impl Iterator<Item = ObjectId>) -> Orphans {
        Orphans { objects: objects.collect(), whole: None, settled: false }
    }

    /// Do all members know that the newest view is stable?
    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    /// `avatars` came into the world later.
    pub(super) fn saw(
        &mut self,
        view: Option<&View>,
        avatars: impl Iterator<Item = ObjectId>,
        sight: &Sight,
        violations: &mut Violations,
    ) {
        self.settled = view.is_some_and(|view| {
            view.ring.iter().all(|member| {
                let seen = sight.nodes.get(&member.node);
                seen.is_some_and(|n| n.member == *member && n.settled == Some(view.epoch))
            })
        });
        let epoch = view.map(|view| view.epoch);
        if self.settled && self.whole != epoch {
            self.whole = epoch;
            self.end(avatars, sight, violations);
        }
    }

    pub(super) fn end(
        &self,
        avatars: impl Iterator<Item = ObjectId>,
        sight: &Sight,
        violations: &mut Violations,
    ) {
        for id in self.objects.iter().copied().chain(avatars) {
            if sight.copies(id).next().is_none() {
                violations.push(("A5", format!("no node has object {}", id.0)));
            }
        }
    }
}
