//! Membership changes for the log: one line when a node joins, leaves or dies.

use super::StatusGroup;
use jostle_proto::{Span, Time};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

/// A node that is in no group's view but was heard within this time may be changing groups. Shorter
/// than the lease, after which the directory declares a node dead.
const CHANGES: Span = Span::from_ms(900);

/// Admissions and goodbyes that wait for the view, at most.
const WAITING_MAX: usize = 1024;

/// A membership change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// With the address that it was admitted from and how long that took, if it was admitted here.
    Joined {
        node: u32,
        admitted: Option<(SocketAddr, Span)>,
    },
    /// It was declared dead, and has come back.
    Rejoined {
        node: u32,
    },
    /// It announced that it stops.
    Left {
        node: u32,
    },
    Dead {
        node: u32,
        silent: Span,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Change::Joined { node, admitted: None } => write!(out, "node {node} joined"),
            Change::Joined { node, admitted: Some((address, took)) } => {
                write!(out, "node {node} joined ({address}), {} ms", took.0 / 1000)
            }
            Change::Rejoined { node } => write!(out, "node {node} joined again"),
            Change::Left { node } => write!(out, "node {node} left: its process was stopped"),
            Change::Dead { node, silent } => {
                let seconds = silent.0 as f64 / 1e6;
                write!(out, "node {node} dead: no message for {seconds:.1} s")
            }
        }
    }
}

impl Change {
    pub(super) fn log(&self) {
        match self {
            Change::Dead { .. } => tracing::warn!("{self}"),
            Change::Joined { .. } | Change::Rejoined { .. } | Change::Left { .. } => {
                tracing::info!("{self}");
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    life: u32,
    /// When the directory last heard it.
    heard: Time,
}

/// Members as they were last seen.
#[derive(Debug, Default)]
pub(super) struct MembershipLog {
    /// `None` before the first report: members that it lists have not just joined.
    known: Option<BTreeMap<u32, Seen>>,
    admitted: BTreeMap<u32, (Time, SocketAddr)>,
    leaving: BTreeMap<u32, u32>,
}

impl MembershipLog {
    /// A node was admitted.
    pub(super) fn admit(&mut self, now: Time, node: u32, from: SocketAddr) {
        if self.admitted.len() < WAITING_MAX {
            self.admitted.insert(node, (now, from));
        }
    }

    /// A node announces that it stops.
    pub(super) fn leave(&mut self, (node, life): (u32, u32)) {
        if self.leaving.len() < WAITING_MAX {
            self.leaving.insert(node, life);
        }
    }

    /// Compares the views with the last ones and returns the changes.
    pub(super) fn follow(&mut self, now: Time, groups: &[StatusGroup]) -> Vec<Change> {
        let members = groups.iter().flat_map(|group| &group.members).map(|member| {
            let silent = Span((member.silent_ms.max(0.0) * 1000.0) as u64);
            let heard = Time(now.0.saturating_sub(silent.0));
            (member.node, Seen { life: member.life, heard })
        });
        let mut newest: BTreeMap<u32, Seen> = members.collect();
        let Some(known) = self.known.take() else {
            self.known = Some(newest);
            return Vec::new();
        };
        let mut changes = Vec::new();
        for (&node, seen) in &newest {
            match known.get(&node) {
                None => {
                    let admitted = self.admitted.remove(&node);
                    let admitted = admitted.map(|(since, address)| (address, now - since));
                    changes.push(Change::Joined { node, admitted });
                }
                Some(old) if old.life < seen.life => changes.push(Change::Rejoined { node }),
                Some(_) => {}
            }
        }
        for (node, seen) in known {
            if newest.contains_key(&node) {
                continue;
            }
            if self.leaving.get(&node).is_some_and(|life| *life >= seen.life) {
                self.leaving.remove(&node);
                changes.push(Change::Left { node });
            } else if now - seen.heard >= CHANGES {
                changes.push(Change::Dead { node, silent: now - seen.heard });
            } else {
                newest.insert(node, seen);
            }
        }
        self.known = Some(newest);
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::StatusMember;

    fn ms(ms: u64) -> Time {
        Time(0) + Span::from_ms(ms)
    }

    /// One group with these nodes: number, incarnation, and time of silence in milliseconds.
    fn group(members: &[(u32, u32, f64)]) -> [StatusGroup; 1] {
        let member = |&(node, life, silent_ms): &(u32, u32, f64)| StatusMember {
            node,
            life,
            objects: 0,
            silent_ms,
            region: None,
            delays_ms: BTreeMap::new(),
        };
        let members = members.iter().map(member).collect();
        [StatusGroup {
            group: 0,
            view: 1,
            stable: true,
            leader: None,
            backups: 2,
            halt: None,
            members,
            failing_links: Vec::new(),
        }]
    }

    fn lines(changes: &[Change]) -> Vec<String> {
        changes.iter().map(Change::to_string).collect()
    }

    #[test]
    fn a_node_that_joins_leaves_or_dies_is_one_line_with_the_reason() {
        let mut membership = MembershipLog::default();
        assert_eq!(membership.follow(ms(0), &group(&[(0, 1, 0.0)])), []);
        membership.admit(ms(100), 1, "127.0.0.1:7449".parse().expect("an address"));
        let two = group(&[(0, 1, 20.0), (1, 1, 0.0)]);
        let joined = membership.follow(ms(112), &two);
        assert_eq!(lines(&joined), ["node 1 joined (127.0.0.1:7449), 12 ms"]);
        assert_eq!(membership.follow(ms(300), &two), []);
        // Two more, not admitted here.
        let four = group(&[(0, 1, 0.0), (1, 1, 0.0), (2, 1, 0.0), (3, 1, 0.0)]);
        assert_eq!(lines(&membership.follow(ms(400), &four)), ["node 2 joined", "node 3 joined"]);
        // Node 2 announces that it stops, node 3 does not.
        membership.leave((2, 1));
        let silent = group(&[(0, 1, 0.0), (1, 1, 0.0), (2, 1, 900.0), (3, 1, 900.0)]);
        assert_eq!(membership.follow(ms(1300), &silent), []);
        let gone = membership.follow(ms(1900), &two);
        let expected =
            ["node 2 left: its process was stopped", "node 3 dead: no message for 1.5 s"];
        assert_eq!(lines(&gone), expected);
        assert_eq!(membership.follow(ms(2000), &two), []);
        let again = membership.follow(ms(2100), &group(&[(0, 1, 0.0), (1, 2, 0.0)]));
        assert_eq!(lines(&again), ["node 1 joined again"]);
    }

    #[test]
    fn a_node_between_two_groups_is_not_dead() {
        let mut membership = MembershipLog::default();
        let two = group(&[(0, 1, 0.0), (1, 1, 0.0)]);
        membership.follow(ms(0), &two);
        assert_eq!(membership.follow(ms(200), &group(&[(0, 1, 0.0)])), []);
        assert_eq!(membership.follow(ms(400), &two), []);
        assert_eq!(membership.follow(ms(600), &group(&[(0, 1, 0.0)])), []);
        let dead = membership.follow(ms(1400), &group(&[(0, 1, 0.0)]));
        assert_eq!(lines(&dead), ["node 1 dead: no message for 1.0 s"]);
    }
}
