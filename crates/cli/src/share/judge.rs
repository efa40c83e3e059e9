//! `jostle judge`: the referees of the simulator over what real processes have said.

use super::args::JudgeArgs;
use super::failed;
use crate::error::CliError;
use jostle_net::recording::{Replay, Step};
use jostle_net::witness::{Seen, events};
use jostle_proto::{Object, Span, Time};
use jostle_sim::Court;
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct Output {
    events: usize,
    ticks: u64,
    collisions: u64,
    /// Of replicas of the directory.
    answers: u64,
    violations: Vec<String>,
    /// Groups that could not go on when the events end.
    halted: Vec<Halted>,
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

/// Fails if a rule was broken.
pub(crate) fn run(args: &JudgeArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    let mut replay = Replay::open(&args.recording).map_err(failed)?;
    let Some(Step::World(tick)) = replay.step().map_err(failed)? else {
        return Err(failed("the recording has no world at its start"));
    };
    let objects: Vec<Object> = replay.objects().values().copied().collect();
    let mut court = Court::new(&objects, tick, replay.shapes(), replay.rate());
    let seen = events(&args.files).map_err(failed)?;
    let (mut newest, mut last, mut longest, mut answers) = (tick, None, 0, 0);
    for seen in &seen {
        match seen {
            Seen::Sent { at, from, to, message } => court.sent(*at, *from, *to, message),
            Seen::Answered { at, asked, index } => {
                answers += 1;
                court.answered(*at, Time(asked.0.saturating_sub(CLOCKS.0)), *index);
            }
            Seen::Published { at, commit } => {
                if commit.tick > newest {
                    newest = commit.tick;
                    let gap = last.replace(*at).map_or(0, |last| (*at - last).0);
                    longest = longest.max(gap);
                }
                court.published(*at, commit);
            }
        }
    }
    let (ticks, collisions) = (court.ticks().saturating_sub(tick.0), court.collisions());
    let halted = court.halted().map(|(group, lost)| Halted {
        group: group.0,
        lost: lost.iter().map(|node| node.0).collect(),
    });
    let halted = halted.collect();
    let violations = court.verdict().violations;
    let output = Output {
        events: seen.len(),
        ticks,
        collisions,
        answers,
        violations: violations.iter().map(|it| format!("{}: {}", it.rule, it.what)).collect(),
        halted,
        longest_gap_ms: longest as f64 / 1000.0,
    };
    if args.json {
        serde_json::to_writer(&mut *out, &output)?;
        writeln!(out)?;
    } else {
        let Output { events, ticks, collisions, longest_gap_ms, .. } = &output;
        writeln!(out, "{events} events, {ticks} ticks, {collisions} collisions")?;
        writeln!(out, "longest gap between ticks: {longest_gap_ms:.0} ms")?;
        for Halted { group, lost } in &output.halted {
            writeln!(
                out,
                "group {group} stands still: no living node has the objects of nodes {lost:?}"
            )?;
        }
        for violation in &output.violations {
            writeln!(out, "VIOLATION {violation}")?;
        }
        if output.violations.is_empty() {
            writeln!(out, "no rule violated")?;
        }
    }
    Ok(!output.violations.is_empty())
}
