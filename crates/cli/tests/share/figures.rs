//! How long a world stood still, from what its processes have written down.

use jostle_net::event_log::{LoggedEvent, read_event_logs};
use jostle_proto::{Address, Commit, Epoch, GroupId, Message, Span, Tick, Time, View};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A group that went on without one of its members.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    pub(crate) group: GroupId,
    /// When the directory made a view without them.
    pub(crate) detected: Time,
    /// When the first tick of that view, or of a later one, was published.
    pub(crate) served: Time,
}

/// What there is to say about a world's pace.
pub(crate) struct Figures {
    /// Each tick once, in the order of time.
    pub(crate) ticks: Vec<(Time, Arc<Commit>)>,
    pub(crate) recoveries: Vec<Recovery>,
}

impl Figures {
    pub(crate) fn new(files: &[PathBuf]) -> Figures {
        let mut ticks: Vec<(Time, Arc<Commit>)> = Vec::new();
        let mut newest: BTreeMap<GroupId, Tick> = BTreeMap::new();
        let mut views: BTreeMap<Epoch, (Time, View)> = BTreeMap::new();
        for seen in read_event_logs(files).unwrap() {
            match seen {
                LoggedEvent::Sent {
                    at,
                    from: Address::Directory | Address::Replica(_),
                    message: Message::View(view),
                    ..
                } => {
                    views.entry(view.epoch).or_insert((at, view));
                }
                LoggedEvent::Published { at, commit } => {
                    // A new leader publishes again what the old one may not have.
                    let last = newest.insert(commit.group, commit.tick);
                    if last.is_none_or(|last| last < commit.tick) {
                        ticks.push((at, commit));
                    }
                }
                LoggedEvent::Sent { .. } | LoggedEvent::Answered { .. } => {}
            }
        }
        let lost = views.values().filter(|(_, view)| is_smaller(view));
        let recoveries = lost.filter_map(|(detected, view)| {
            let (served, _) = ticks.iter().find(|(at, tick)| {
                tick.group == view.group && tick.epoch >= view.epoch && at >= detected
            })?;
            Some(Recovery { group: view.group, detected: *detected, served: *served })
        });
        let recoveries = recoveries.collect();
        Figures { ticks, recoveries }
    }

    /// The longest time without a tick of this group.
    pub(crate) fn longest_gap(&self, group: GroupId) -> Span {
        let times: Vec<Time> = self.of(group).map(|(at, _)| *at).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(Span(0))
    }

    /// The ticks of a group.
    pub(crate) fn of(
        &self,
        group: GroupId,
    ) -> impl DoubleEndedIterator<Item = &(Time, Arc<Commit>)> {
        self.ticks.iter().filter(move |(_, tick)| tick.group == group)
    }
}

/// Has a member been left out?
fn is_smaller(view: &View) -> bool {
    view.base_ring.iter().any(|member| !view.has(*member))
}

impl fmt::Display for Figures {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |span: Span| span.0 as f64 / 1000.0;
        let mut groups: Vec<GroupId> = self.ticks.iter().map(|(_, tick)| tick.group).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            let (ticks, gap) = (self.of(group).count(), ms(self.longest_gap(group)));
            writeln!(to, "group {}: {ticks} ticks, longest time without one {gap:.0} ms", group.0)?;
        }
        for Recovery { group, detected, served } in &self.recoveries {
            let took = ms(*served - *detected);
            writeln!(to, "group {}: {took:.0} ms from detection to the next tick", group.0)?;
        }
        Ok(())
    }
}
