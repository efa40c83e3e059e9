//! `jostle judge`: the checkers of the simulator over what real processes have said.
//!
//! Three things may be wrong, and each has a verdict and an exit code of its own: a rule is broken;
//! the world stood still (no rule is broken by doing nothing); the event log of a process is
//! missing, so that what is broken may only look so.

use super::args::JudgeArgs;
use super::failed;
use crate::error::CliError;
use jostle_net::event_log::{LoggedEvent, read_event_logs};
use jostle_net::recording::{self, Step};
use jostle_proto::{Address, GroupId, Message, NodeId, Object, Span, Time};
use jostle_sim::RecordingChecker;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// The result of judging event logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// No rule was violated, and the world progressed.
    Kept,
    /// A rule was violated.
    Broken,
    /// No rule was violated, but the world stalled.
    Stalled,
    /// The event log of a process is missing: no verdict is possible.
    Incomplete,
}

impl Verdict {
    /// The exit code; 2 is for errors, as everywhere.
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
    /// Answers of directory replicas.
    answers: u64,
    violations: Vec<String>,
    /// Groups that were halted when the events end.
    halted: Vec<Halted>,
    /// When and for how long the world stalled.
    stalls: Vec<String>,
    /// Processes that others send messages to, but whose event log is missing.
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

/// Clock difference of two replicas, at most; closer events count as simultaneous.
const CLOCKS: Span = Span::from_ms(1);

/// Tick times of groups, and the senders of messages.
#[derive(Default)]
struct Progress {
    /// The last tick of each group, and when it was published.
    last: BTreeMap<GroupId, (u64, Time)>,
    first: Option<Time>,
    end: Time,
    longest: Span,
    stalls: Vec<String>,
    senders: BTreeMap<NodeId, Time>,
    addressed: BTreeSet<NodeId>,
    directory: bool,
}

impl Progress {
    fn see(&mut self, seen: &LoggedEvent, limit: Span) {
        let at = seen.at();
        self.first.get_or_insert(at);
        self.end = self.end.max(at);
        match seen {
            LoggedEvent::Sent { from, to, message, .. } => {
                match from {
                    Address::Node(node) => drop(self.senders.insert(*node, at)),
                    Address::Directory | Address::Replica(_) => self.directory = true,
                    _ => {}
                }
                // Only members of one view send each other these messages.
                if let (Address::Node(node), true) = (to, is_between_members(message)) {
                    self.addressed.insert(*node);
                }
            }
            LoggedEvent::Published { commit, .. } => {
                let tick = commit.tick.0;
                let last = self.last.get(&commit.group).copied();
                if last.is_none_or(|(known, _)| tick > known) {
                    if let Some((known, before)) = last {
                        self.gap(commit.group, known, before, at, limit);
                    }
                    self.last.insert(commit.group, (tick, at));
                }
            }
            LoggedEvent::Answered { .. } => {}
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

    /// The first group lasts as long as the world; others may end.
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
            let silent = self.senders.iter().map(|(node, at)| (end - *at, node.0)).max();
            if let Some((since, node)) = silent.filter(|(since, _)| *since > limit) {
                let seconds = since.0 as f64 / 1e6;
                let last = format!("the last message of node {node} is {seconds:.1} s older");
                self.stalls.push(format!("{last} than the last event"));
            }
        }
    }

    fn missing(&self) -> Vec<String> {
        let silent = self.addressed.iter().filter(|node| !self.senders.contains_key(node));
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
    let mut checker = RecordingChecker::new(&objects, tick, replay.shapes(), replay.rate());
    let seen = read_event_logs(&args.files).map_err(failed)?;
    let limit = Span(u64::from(args.stalled_after) * 1_000_000);
    let (mut progress, mut answers) = (Progress::default(), 0);
    for seen in &seen {
        progress.see(seen, limit);
        match seen {
            LoggedEvent::Sent { at, from, to, message } => checker.sent(*at, *from, *to, message),
            LoggedEvent::Answered { at, asked, index } => {
                answers += 1;
                checker.answered(*at, Time(asked.0.saturating_sub(CLOCKS.0)), *index);
            }
            LoggedEvent::Published { at, commit } => checker.published(*at, commit),
        }
    }
    progress.end(limit);
    let missing = progress.missing();
    let (ticks, collisions) = (checker.ticks().saturating_sub(tick.0), checker.collisions());
    let halted = checker.halted().map(|(group, lost)| Halted {
        group: group.0,
        lost: lost.iter().map(|node| node.0).collect(),
    });
    let halted = halted.collect();
    let violations = checker.verdict().violations;
    let verdict = match (&missing[..], &violations[..], &progress.stalls[..]) {
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
        stalls: progress.stalls,
        missing,
        longest_gap_ms: progress.longest.0 as f64 / 1000.0,
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

    fn tick(at: u64, group: u32, tick: u64) -> LoggedEvent {
        let commit = Commit { group: GroupId(group), tick: Tick(tick), ..Commit::default() };
        LoggedEvent::Published { at: second(at), commit: Arc::new(commit) }
    }

    fn sent(at: u64, from: Address, to: u32, message: Message) -> LoggedEvent {
        LoggedEvent::Sent { at: second(at), from, to: Address::Node(NodeId(to)), message }
    }

    fn progress(seen: &[LoggedEvent]) -> Progress {
        let mut progress = Progress::default();
        seen.iter().for_each(|seen| progress.see(seen, LIMIT));
        progress.end(LIMIT);
        progress
    }

    /// Issue 19: after 80 s without a tick `judge` reported that all rules were kept.
    #[test]
    fn a_stalled_world_is_reported() {
        let reset = |at| sent(at, Address::Directory, 1, Message::Reset { life: 1 });
        let whole = progress(&[reset(0), tick(1, 0, 1), tick(9, 0, 2), reset(12)]);
        assert_eq!((whole.stalls.len(), whole.longest), (0, Span::from_ms(8000)));
        let between = progress(&[reset(0), tick(1, 0, 1), tick(81, 0, 2), reset(82)]);
        assert_eq!(between.stalls, ["group 0: no tick for 80.0 s after tick 1"]);
        // An empty group of a new node has ticks; the world does not.
        let end = [reset(0), tick(1, 0, 7), tick(1, 1, 1), tick(9, 1, 2), tick(18, 1, 3)];
        let end = progress(&[&end[..], &[reset(20)]].concat());
        assert_eq!(end.stalls, ["group 0: no tick for 19.0 s after tick 7"]);
        let never = progress(&[reset(0), reset(40)]);
        assert_eq!(never.stalls, ["group 0: no tick at all in 40.0 s"]);
    }

    #[test]
    fn a_missing_event_log_is_not_a_violated_rule() {
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
        let all = progress(&[sent(0, zero, 1, bundle.clone())]);
        assert_eq!(all.missing(), ["the directory", "node 1"]);
        let one = Address::Node(NodeId(1));
        let answered = [
            sent(0, zero, 1, bundle),
            sent(0, one, 0, stable),
            sent(0, Address::Directory, 1, Message::Reset { life: 1 }),
        ];
        assert!(progress(&answered).missing().is_empty());
    }
}
