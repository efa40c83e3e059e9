//! What a replicated directory needs to know: has it decided something that must not be forgotten?

use super::chain::Chain;
use super::{Directory, Known, Saved};
use crate::view::Epoch;

impl Directory {
    /// Is there anything that it must stand by and that is not in `before`? What it has only heard
    /// (when, how far, how much) is no such thing: nodes send it again and again.
    #[must_use]
    pub fn has_decided_since(&self, before: &Saved) -> bool {
        // Numbers of views are in the views; the settings never change.
        let Saved {
            extent: _,
            grouping: _,
            origin: _,
            chains,
            epoch: _,
            next_group,
            known,
            over,
            ruled,
            polls,
            grouped,
            backups,
        } = &self.kept;
        *grouped != before.grouped
            || *backups != before.backups
            || *next_group != before.next_group
            || known.len() != before.known.len()
            || chains.len() != before.chains.len()
            || *over != before.over
            || *ruled != before.ruled
            || known.iter().zip(&before.known).any(|(a, b)| a.0 != b.0 || decided(a.1, b.1))
            || chains.iter().zip(&before.chains).any(|(a, b)| a.0 != b.0 || changed(a.1, b.1))
            || polls.has_decided_since(&before.polls)
    }

    /// Views that it makes from now on have numbers above this one.
    pub fn number_above(&mut self, epoch: Epoch) {
        self.kept.epoch = self.kept.epoch.max(epoch);
    }
}

impl Saved {
    /// The same without what was only heard: nodes send it again.
    #[must_use]
    pub fn without_hearsay(mut self) -> Saved {
        for known in self.known.values_mut() {
            known.delays.clear();
            known.load.places.clear();
        }
        self
    }
}

fn decided(a: &Known, b: &Known) -> bool {
    (a.life, a.group, a.since) != (b.life, b.group, b.since)
}

fn changed(a: &Chain, b: &Chain) -> bool {
    a.current != b.current || a.stable != b.stable || a.leaving != b.leaving
}
