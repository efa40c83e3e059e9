//! `jostle pair`: one question about two models, for one pose or many, or for motions.

use crate::answer::Answer;
use crate::args::{FailOn, MotionKind, PairArgs};
use crate::error::CliError;
use crate::input::{Named, open, open_poses};
use crate::progress::Progress;
use crate::query::{Pairs, Placed, Query};
use crate::summary::{Printer, Summary};
use cpu_time::ThreadTime;
use jostle_geom::{Counters, Model, Motion, Pair, Pose, TimeOfImpactLimits, time_of_impact};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Queries between two looks at the clock: few enough for a bar that moves, many enough that
/// reading the clock (a system call) costs nothing.
const BATCH: usize = 64;

/// True if `--fail-on` says that the answer is a failure.
pub(crate) fn run(args: &PairArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    let query = wanted(args);
    check_options(args, query)?;
    let poses = match &args.place.poses {
        Some(file) => open_poses(file, args.place.first)?,
        None => vec![args.place.pose_b.unwrap_or(Pose::IDENTITY)],
    };
    let pose_a = args.place.pose_a.unwrap_or(Pose::IDENTITY);
    let motions =
        if query == Query::TimeOfImpact { motions(args, &pose_a, &poses)? } else { Vec::new() };
    let model = |path: &Path, part: &Option<String>, hierarchy: &Option<PathBuf>| {
        let (part, hierarchy) = (part.as_deref(), hierarchy.as_deref());
        Ok::<Model, CliError>(open(Named { path, part, hierarchy }, &args.model)?.model)
    };
    let a = model(&args.a, &args.part_a, &args.hierarchy_a)?;
    let b = model(&args.b, &args.part_b, &args.hierarchy_b)?;
    let run = Run {
        query,
        printer: Printer {
            json: args.model.json,
            listing: !args.summary,
            numbered: args.place.poses.is_some(),
        },
        counters: args.counters,
    };
    let summary = match query {
        Query::Placed(placed) => {
            let ask = |i: usize| {
                let swapped = Pair::new(&b, &poses[i], &a, &pose_a);
                placed.ask(&Pair::new(&a, &pose_a, &b, &poses[i]), &swapped)
            };
            run.ask_all(poses.len(), ask, out)?
        }
        Query::TimeOfImpact => {
            let limits = limits(args);
            let contact = |i: usize| {
                let [motion_a, motion_b] = &motions[i];
                let contact = time_of_impact(&a, motion_a, &b, motion_b, &limits);
                (Answer::TimeOfImpact(contact), Counters::default())
            };
            run.ask_all(motions.len(), contact, out)?
        }
    };
    Ok(args.fail_on.is_some() && (summary.hits > 0 || summary.unknown.is_some_and(|n| n > 0)))
}

/// The query with the options that change what it lists.
fn wanted(args: &PairArgs) -> Query {
    let Query::Placed(Placed::Pairs(_)) = args.query else { return args.query };
    Query::Placed(Placed::Pairs(match args.pairs.contacts_max {
        _ if args.pairs.segments => Pairs::WithSegments,
        Some(most) => Pairs::UpTo(most),
        None => Pairs::All,
    }))
}

/// Rejects options that have no effect with the query.
fn check_options(args: &PairArgs, query: Query) -> Result<(), CliError> {
    let is_within = matches!(query, Query::Placed(Placed::Within(_)));
    let is_pairs = matches!(query, Query::Placed(Placed::Pairs(_)));
    let is_toi = query == Query::TimeOfImpact;
    let (motion, pairs) = (&args.motion, &args.pairs);
    let (for_pairs, for_toi) = ("ask --query pairs", "ask --query toi");
    let fail_on = |what| args.fail_on == Some(what);
    // Whether the option was given, whether it has an effect, its name, and what to do if not.
    let options = [
        (fail_on(FailOn::Touch), !is_within, "--fail-on touch", "ask --fail-on clearance"),
        (fail_on(FailOn::Clearance), is_within, "--fail-on clearance", "ask --query within=D"),
        (pairs.segments, is_pairs, "--segments", for_pairs),
        (pairs.contacts_max.is_some(), is_pairs, "--contacts-max", for_pairs),
        (motion.pose_a_end.is_some(), is_toi, "--pose-a-end", for_toi),
        (motion.pose_b_end.is_some(), is_toi, "--pose-b-end", for_toi),
        (motion.motion.is_some(), is_toi, "--motion", for_toi),
        (motion.tolerance.is_some(), is_toi, "--tolerance", for_toi),
        (
            args.counters,
            query.is_counted(),
            "--counters",
            "ask touch, pairs without --segments, distance or within=D",
        ),
    ];
    match options.iter().find(|(given, has_effect, ..)| *given && !has_effect) {
        Some(&(_, _, option, instead)) => {
            Err(CliError::Option { option, query: query.name(), instead })
        }
        None => Ok(()),
    }
}

/// The motions of A and of B: from pose to pose of a file, or from start to end.
fn motions(args: &PairArgs, pose_a: &Pose, poses: &[Pose]) -> Result<Vec<[Motion; 2]>, CliError> {
    let kind = args.motion.motion.unwrap_or(MotionKind::Linear);
    let between = |motion, start: &Pose, end: &Pose| match kind {
        MotionKind::Linear => Ok(Motion::linear(start, end)),
        MotionKind::Screw => {
            Motion::screw(start, end).map_err(|source| CliError::Motion { motion, source })
        }
    };
    let Some(file) = &args.place.poses else {
        let end = |start, end: Option<Pose>| between(0, start, &end.unwrap_or(*start));
        let pose_b = &poses[0];
        return Ok(vec![[
            end(pose_a, args.motion.pose_a_end)?,
            end(pose_b, args.motion.pose_b_end)?,
        ]]);
    };
    if poses.len() < 2 {
        let file = file.display().to_string();
        return Err(CliError::TooFewPoses { file, found: poses.len() });
    }
    let step =
        |(i, ends): (usize, &[Pose])| Ok([Motion::still(pose_a), between(i, &ends[0], &ends[1])?]);
    poses.windows(2).enumerate().map(step).collect()
}

fn limits(args: &PairArgs) -> TimeOfImpactLimits {
    let limits = TimeOfImpactLimits::default();
    TimeOfImpactLimits { time: args.motion.tolerance.unwrap_or(limits.time), ..limits }
}

/// How questions are asked and answers printed.
struct Run {
    query: Query,
    printer: Printer,
    /// The summary has the cost of the queries.
    counters: bool,
}

impl Run {
    /// Asks `count` questions. Only the asking is timed; answers are printed and dropped batch by
    /// batch between two looks at the clock.
    fn ask_all(
        &self,
        count: usize,
        ask: impl Fn(usize) -> (Answer, Counters),
        out: &mut dyn Write,
    ) -> Result<Summary, CliError> {
        // A bar would disturb results that are listed on the terminal.
        let mut progress = Progress::new(count, !self.printer.listing || !stdout_is_terminal());
        let mut summary = Summary::new(self.query);
        let mut answers = Vec::with_capacity(BATCH.min(count));
        let mut time = Duration::ZERO;
        let mut cost = Counters::default();
        self.printer.begin(out)?;
        while summary.queries < count {
            let batch = summary.queries..count.min(summary.queries + BATCH);
            let start = ThreadTime::now();
            for index in batch {
                let (answer, counters) = ask(index);
                answers.push(answer);
                cost.box_tests += counters.box_tests;
                cost.triangle_tests += counters.triangle_tests;
                cost.unsure += counters.unsure;
            }
            time += start.elapsed();
            for answer in answers.drain(..) {
                self.printer.result(summary.queries, &answer, out)?;
                summary.add(&answer);
            }
            progress.done(summary.queries);
        }
        summary.set_time(time);
        if self.counters {
            summary.set_counters(cost);
        }
        self.printer.end(self.query, &summary, out)?;
        Ok(summary)
    }
}

fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}
