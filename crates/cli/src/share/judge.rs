//! `jostle judge`: the checkers of the simulator over what real processes have said.
//!
//! Three things may be wrong, and each has a verdict and an exit code of its own: a rule is broken;
//! the world stood still (no rule is broken by doing nothing); the event log of a process is
//! missing, so that what is broken may only look so.

use super::args::JudgeArgs;
use super::failed;
use crate::error::CliError;
use jostle_net::recording::{self, Step};
use jostle_net::witness::{Seen, events};
use jostle_proto::{Address, GroupId, Message, NodeId, Object, Span, Time};
use jostle_sim::Court;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// What the event logs come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// All rules were kept, and the world went on.
    Kept,
    /// A rule was broken.
    Broken,
    /// The rules were kept, but the world stood still.
    Stalled,
    /// The event log of a process is missing: nothing can be said for sure.
    Incomplete,
}

impl Verdict {
    /// What `jostle judge` exits with; 2 is for errors, as everywhere.
    fn exit_code(self) -> u8 {
        match self {
            Verdict::Kept => 0,
            Verdict::Broken => 1,
            Verdict::Stalled => 3,
            Verdict::Incomplete => 4,
        }
    }
}

#[derive(Serialize)]
struct Output {
    verdict: Verdict,
    events: usize,
    ticks: u64,
    collisions: u64,
    /// Of replicas of the directory.
    answers: u64,
    violations: Vec<String>,
    /// Groups that could not go on when the events end.
    halted: Vec<Halted>,
    /// When and how long the world stood still.
    stalls: Vec<String>,
    /// Processes that others speak to, and that have no event log here.
    missing: Vec<String>,
    /// The longest time without a new tick, in milliseconds.
    longest_gap_ms: f64,
}

#[derive(Serialize)]
struct Halted {
    group: u32,
    /// Nodes whose objects no living node has.
    lost: Vec<u32>,
}

/// The clocks of two replicas differ by less; what is closer together counts as at the same time.
const CLOCKS: Span = Span::from_ms(1);

/// When groups had their ticks, and who has spoken.
#[derive(Default)]
struct Watch {
    /// The last tick of each group, and when it was published.
    last: BTreeMap<GroupId, (u64, Time)>,
    first: Option<Time>,
    end: Time,
    longest: Span,
    stalls: Vec<String>,
    spoke: BTreeMap<NodeId, Time>,
    addressed: BTreeSet<NodeId>,
    directory: bool,
}

impl Watch {
    fn see(&mut self, seen: &Seen, limit: Span) {
        let at = seen.at();
        self.first.get_or_insert(at);
        self.end = self.end.max(at);
        match seen {
            Seen::Sent { from, to, message, .. } => {
                match from {
                    Address::Node(node) => drop(self.spoke.insert(*node, at)),
                    Address::Directory | Address::Replica(_) => self.directory = true,
                    _ => {}
                }
                // Only members of one view say such things to each other.
                if let (Address::Node(node), true) = (to, is_between_members(message)) {
                    self.addressed.insert(*node);
                }
            }
            Seen::Published { commit, .. } => {
                let tick = commit.tick.0;
                let last = self.last.get(&commit.group).copied();
                if last.is_none_or(|(known, _)| tick > known) {
                    if let Some((known, before)) = last {
                        self.gap(commit.group, known, before, at, limit);
                    }
                    self.last.insert(commit.group, (tick, at));
                }
            }
            Seen::Answered { .. } => {}
        }
    }

    fn gap(&mut self, group: GroupId, tick: u64, before: Time, at: Time, limit: Span) {
        let gap = at - before;
        self.longest = self.longest.max(gap);
        if gap > limit {
            let (group, seconds) = (group.0, gap.0 as f64 / 1e6);
            let what = format!("group {group}: no tick for {seconds:.1} s after tick {tick}");
            self.stalls.push(what);
        }
    }

    /// The group that a world begins with goes on for as long as the world; others may end.
    fn end(&mut self, limit: Span) {
        let (end, first) = (self.end, self.first.unwrap_or(self.end));
        let before = self.stalls.len();
        match self.last.get(&GroupId(0)).copied() {
            Some((tick, at)) => self.gap(GroupId(0), tick, at, end, limit),
            None if end - first > limit => {
                let seconds = (end - first).0 as f64 / 1e6;
                self.longest = self.longest.max(end - first);
                self.stalls.push(format!("group 0: no tick at all in {seconds:.1} s"));
            }
            None => {}
        }
        if self.stalls.len() > before {
            let silent = self.spoke.iter().map(|(node, at)| (end - *at, node.0)).max();
            if let Some((since, node)) = silent.filter(|(since, _)| *since > limit) {
                let seconds = since.0 as f64 / 1e6;
                let last = format!("the last message of node {node} is {seconds:.1} s older");
                self.stalls.push(format!("{last} than the last event"));
            }
        }
    }

    fn missing(&self) -> Vec<String> {
        let silent = self.addressed.iter().filter(|node| !self.spoke.contains_key(node));
        let directory = (!self.directory).then(|| "the directory".to_string());
        directory.into_iter().chain(silent.map(|node| format!("node {}", node.0))).collect()
    }
}

fn is_between_members(message: &Message) -> bool {
    matches!(
        message,
        Message::Flush(_)
            | Message::Resume(_)
            | Message::Bundle(_)
            | Message::Done(_)
            | Message::Commit(_)
    )
}

/// Returns the exit code, see [`Verdict`].
pub(crate) fn run(args: &JudgeArgs, out: &mut dyn Write) -> Result<u8, CliError> {
    let mut replay = recording::open(&args.recording).map_err(failed)?;
    let Some(Step::World(tick)) = replay.step().map_err(failed)? else {
        return Err(failed("the recording has no world at its start"));
    };
    let objects: Vec<Object> = replay.objects().values().copied().collect();
    let mut court = Court::new(&objects, tick, replay.shapes(), replay.rate());
    let seen = events(&args.files).map_err(failed)?;
    let limit = Span(u64::from(args.stalled_after) * 1_000_000);
    let (mut watch, mut answers) = (Watch::default(), 0);
    for seen in &seen {
        watch.see(seen, limit);
        match seen {
            Seen::Sent { at, from, to, message } => court.sent(*at, *from, *to, message),
            Seen::Answered { at, asked, index } => {
                answers += 1;
                court.answered(*at, Time(asked.0.saturating_sub(CLOCKS.0)), *index);
            }
            Seen::Published { at, commit } => court.published(*at, commit),
        }
    }
    watch.end(limit);
    let missing = watch.missing();
    let (ticks, collisions) = (court.ticks().saturating_sub(tick.0), court.collisions());
    let halted = court.halted().map(|(group, lost)| Halted {
        group: group.0,
        lost: lost.iter().map(|node| node.0).collect(),
    });
    let halted = halted.collect();
    let violations = court.verdict().violations;
    let verdict = match (&missing[..], &violations[..], &watch.stalls[..]) {
        ([_, ..], ..) => Verdict::Incomplete,
        (_, [_, ..], _) => Verdict::Broken,
        (.., [_, ..]) => Verdict::Stalled,
        _ => Verdict::Kept,
    };
    let output = Output {
        verdict,
        events: seen.len(),
        ticks,
        collisions,
        answers,
        violations: violations.iter().map(|it| format!("{}: {}", it.rule, it.what)).collect(),
        halted,
        stalls: watch.stalls,
        missing,
        longest_gap_ms: watch.longest.0 as f64 / 1000.0,
    };
    if args.json {
        serde_json::to_writer(&mut *out, &output)?;
        writeln!(out)?;
    } else {
        print(&output, out)?;
    }
    Ok(verdict.exit_code())
}

fn print(output: &Output, out: &mut dyn Write) -> Result<(), CliError> {
    let Output { events, ticks, collisions, longest_gap_ms, .. } = output;
    writeln!(out, "{events} events, {ticks} ticks, {collisions} collisions")?;
    writeln!(out, "longest gap between ticks: {longest_gap_ms:.0} ms")?;
    for process in &output.missing {
        writeln!(out, "MISSING {process}: its event log (--events) is not among these files")?;
    }
    for stall in &output.stalls {
        writeln!(out, "STALLED {stall}")?;
    }
    for Halted { group, lost } in &output.halted {
        writeln!(out, "HALTED group {group}: no living node has the objects of nodes {lost:?}")?;
    }
    for violation in &output.violations {
        writeln!(out, "VIOLATION {violation}")?;
    }
    let verdict = match output.verdict {
        Verdict::Kept => "no rule violated",
        Verdict::Broken => "a rule was violated",
        Verdict::Stalled => "the world stood still; no rule violated",
        Verdict::Incomplete => {
            "no verdict: event logs are missing, and what looks violated may not be"
        }
    };
    writeln!(out, "{verdict}")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_proto::{Bundle, Commit, Epoch, Member, Tick};
    use std::sync::Arc;

    const LIMIT: Span = Span::from_ms(10_000);

    fn second(second: u64) -> Time {
        Time(second * 1_000_000)
    }

    fn tick(at: u64, group: u32, tick: u64) -> Seen {
        let commit = Commit { group: GroupId(group), tick: Tick(tick), ..Commit::default() };
        Seen::Published { at: second(at), commit: Arc::new(commit) }
    }

    fn sent(at: u64, from: Address, to: u32, message: Message) -> Seen {
        Seen::Sent { at: second(at), from, to: Address::Node(NodeId(to)), message }
    }

    fn watch(seen: &[Seen]) -> Watch {
        let mut watch = Watch::default();
        seen.iter().for_each(|seen| watch.see(seen, LIMIT));
        watch.end(LIMIT);
        watch
    }

    /// Issue 19: after 80 s without a tick `judge` said that all rules were kept.
    #[test]
    fn a_world_that_stands_still_is_told() {
        let reset = |at| sent(at, Address::Directory, 1, Message::Reset { life: 1 });
        let whole = watch(&[reset(0), tick(1, 0, 1), tick(9, 0, 2), reset(12)]);
        assert_eq!((whole.stalls.len(), whole.longest), (0, Span::from_ms(8000)));
        let between = watch(&[reset(0), tick(1, 0, 1), tick(81, 0, 2), reset(82)]);
        assert_eq!(between.stalls, ["group 0: no tick for 80.0 s after tick 1"]);
        // A newcomer's group, in which nothing is, goes on; the world does not.
        let end = [reset(0), tick(1, 0, 7), tick(1, 1, 1), tick(9, 1, 2), tick(18, 1, 3)];
        let end = watch(&[&end[..], &[reset(20)]].concat());
        assert_eq!(end.stalls, ["group 0: no tick for 19.0 s after tick 7"]);
        let never = watch(&[reset(0), reset(40)]);
        assert_eq!(never.stalls, ["group 0: no tick at all in 40.0 s"]);
    }

    #[test]
    fn a_missing_event_log_is_told_from_a_broken_rule() {
        let member = Member { node: NodeId(0), life: 1 };
        let stable = Message::Stable { epoch: Epoch(1), from: member };
        let bundle = Message::Bundle(Bundle {
            epoch: Epoch(1),
            tick: Tick(1),
            from: NodeId(0),
            answer: false,
            transfers: Vec::new(),
            ghosts: Vec::new(),
            backup: Vec::new(),
            entrusted: Vec::new(),
        });
        let zero = Address::Node(NodeId(0));
        let all = watch(&[sent(0, zero, 1, bundle.clone())]);
        assert_eq!(all.missing(), ["the directory", "node 1"]);
        let one = Address::Node(NodeId(1));
        let answered = [
            sent(0, zero, 1, bundle),
            sent(0, one, 0, stable),
            sent(0, Address::Directory, 1, Message::Reset { life: 1 }),
        ];
        assert!(watch(&answered).missing().is_empty());
    }
}
