//! What the nodes of a process spend their time on, over the last second.

use jostle_proto::{Address, Node, Span, Stages, Time};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// What is told is about so long.
const SECOND: Span = Span::from_ms(1000);

/// What a node has spent since it began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// In its machine.
    pub(crate) stages: Stages,
    /// On frames that came.
    pub(crate) unpacking: Duration,
    /// On messages that went.
    pub(crate) sending: Duration,
}

/// Of one node.
#[derive(Debug, Default)]
struct History {
    spent: VecDeque<(Time, Spent)>,
    pairs_tested: u64,
    collisions: usize,
}

/// Of all nodes of a process.
#[derive(Debug, Default)]
pub(super) struct Workload(BTreeMap<Address, History>);

impl Workload {
    /// A node says what it has spent.
    pub(super) fn see(&mut self, now: Time, node: &Node, spent: Spent) {
        let history = self.0.entry(Address::Node(node.member().node)).or_default();
        (history.pairs_tested, history.collisions) = (node.pairs_tested(), node.collisions());
        history.spent.push_back((now, spent));
        while history.spent.get(1).is_some_and(|(then, _)| now - *then >= SECOND) {
            history.spent.pop_front();
        }
    }

    /// Milliseconds per tick, by name of stage; of several nodes those of all together.
    pub(super) fn stages(&self) -> BTreeMap<&'static str, f64> {
        let mut all = BTreeMap::new();
        for history in self.0.values() {
            let (Some((_, first)), Some((_, last))) = (history.spent.front(), history.spent.back())
            else {
                continue;
            };
            let ticks = last.stages.ticks.saturating_sub(first.stages.ticks).max(1) as f64;
            let mut add = |name, of: fn(&Spent) -> Duration| {
                let ms = of(last).saturating_sub(of(first)).as_secs_f64() * 1000.0 / ticks;
                *all.entry(name).or_insert(0.0) += (ms * 1000.0).round() / 1000.0;
            };
            add("move", |spent| spent.stages.moving);
            add("bundles", |spent| spent.stages.bundles + spent.unpacking);
            add("detect", |spent| spent.stages.detect);
            add("commit", |spent| spent.stages.commit);
            add("send", |spent| spent.sending);
        }
        all
    }

    /// Pairs that the nodes compared in the last tick, and pairs that touched in the group; none if
    /// no node here has ticks that a group agrees on.
    pub(super) fn pairs(&self) -> Option<(u64, usize)> {
        let tested = self.0.values().map(|history| history.pairs_tested).sum();
        let collisions = self.0.values().map(|history| history.collisions).max()?;
        Some((tested, collisions))
    }
}
