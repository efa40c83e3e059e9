//! Groups that cannot go on: one log line when a group halts and one when it continues, with what
//! is missing and what the operator can do.

use jostle_proto::{GroupId, Halt, Member, NodeId, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Shorter halts are not logged.
const PATIENCE: Span = Span::from_ms(2000);

/// A group that was not reported as halted for so long has continued.
const FORGOTTEN: Span = Span::from_ms(2000);

/// Why a group cannot go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StatusHalt {
    /// Nodes whose objects no living node has.
    lost: Vec<u32>,
    /// All silent nodes of the group.
    silent: Vec<u32>,
    seconds: f64,
    /// The group cannot continue by itself.
    for_good: bool,
    pub(super) text: String,
}

impl From<(GroupId, &Halt)> for StatusHalt {
    fn from((group, halt): (GroupId, &Halt)) -> StatusHalt {
        let nodes = |members: &[Member]| members.iter().map(|it| it.node.0).collect();
        let lost: Vec<NodeId> = halt.lost.iter().map(|member| member.node).collect();
        StatusHalt {
            lost: nodes(&halt.lost),
            silent: nodes(&halt.silent),
            seconds: halt.since.0 as f64 / 1e6,
            for_good: halt.for_good,
            text: text(group, &lost, halt.for_good),
        }
    }
}

/// What is missing, and what to do about it.
pub(crate) fn text(group: GroupId, lost: &[NodeId], for_good: bool) -> String {
    let names: Vec<String> = lost.iter().map(|node| node.0.to_string()).collect();
    let names = names.join(", ");
    let (nodes, their) = if lost.len() == 1 { ("node", "its") } else { ("nodes", "their") };
    let hope = match for_good {
        true => "They were started again and have forgotten their objects",
        false => "It goes on by itself if one of them was only paused or cut off. Otherwise",
    };
    let what = "stop all processes and start `jostle serve --store` again to restore the world \
                from its store (without a store the world is lost)";
    let so = if for_good { ": " } else { ", " };
    format!(
        "group {} cannot go on: {nodes} {names} and all {their} backups are dead or unreachable, \
         so no node has {their} objects. {hope}{so}{what}",
        group.0
    )
}

#[derive(Clone, Debug)]
struct Seen {
    first: Time,
    last: Time,
    logged: bool,
}

/// When each halted group was first and last reported.
#[derive(Debug, Default)]
pub(super) struct HaltLog(BTreeMap<u32, Seen>);

impl HaltLog {
    /// Reports a halted group. Returns whether to log it now.
    pub(super) fn report(&mut self, now: Time, group: GroupId) -> bool {
        let fresh = Seen { first: now, last: now, logged: false };
        let seen = self.0.entry(group.0).or_insert(fresh);
        if now - seen.last > FORGOTTEN {
            (seen.first, seen.logged) = (now, false);
        }
        seen.last = now;
        let log = !seen.logged && now - seen.first >= PATIENCE;
        seen.logged |= log;
        log
    }

    /// Groups that were logged as halted and have continued.
    pub(super) fn ended(&mut self, now: Time) -> Vec<GroupId> {
        let over = |seen: &Seen| now - seen.last > FORGOTTEN;
        let logged = self.0.iter().filter(|(_, seen)| over(seen) && seen.logged);
        let ended = logged.map(|(&group, _)| GroupId(group)).collect();
        self.0.retain(|_, seen| !over(seen));
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_stops_is_logged_once_and_once_more_when_it_goes_on() {
        let (mut halts, group) = (HaltLog::default(), GroupId(3));
        let at = |ms: u64| Time(ms * 1000);
        let logged = (0..30).filter(|tenth| halts.report(at(tenth * 100), group)).count();
        assert_eq!((logged, halts.ended(at(3000))), (1, vec![]));
        assert_eq!(halts.ended(at(5000)), [group]);
        assert!(halts.ended(at(9000)).is_empty());
        // Short halts are not logged.
        assert!(!halts.report(at(9000), group) && !halts.report(at(10_500), group));
        assert!(halts.ended(at(13_000)).is_empty());
    }

    #[test]
    fn the_text_names_the_nodes_and_the_way_out() {
        let text = text(GroupId(0), &[NodeId(2), NodeId(5)], false);
        for part in ["group 0 cannot go on", "nodes 2, 5", "jostle serve --store", "paused"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
