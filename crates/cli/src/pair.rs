//! `jostle pair`: one question about two models, for one pose or many.

use crate::args::{FailOn, PairArgs};
use crate::error::CliError;
use crate::input::{open, open_poses};
use crate::progress::Progress;
use crate::query::{Answer, Query};
use cpu_time::ThreadTime;
use jostle_geom::{Model, Pair, Pose};
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

/// Queries between two looks at the clock: few enough for a bar that moves, many enough that
/// reading the clock (a system call) costs nothing.
const BATCH: usize = 64;

#[derive(Debug, Serialize)]
struct Output {
    results: Vec<Answer>,
    summary: Summary,
}

#[derive(Debug, Serialize)]
struct Summary {
    query: &'static str,
    queries: usize,
    /// Poses that touch, or come as close as asked.
    hits: usize,
    /// Touching face pairs of all poses together; 0 unless asked for.
    pairs: usize,
    /// Sum of all distances; 0 unless asked for.
    distance_sum: f64,
    /// Processor time of this thread per query, in microseconds, without reading and printing.
    mean_us: f64,
}

/// True if `--fail-on` says that the answer is a failure.
pub(crate) fn run(args: &PairArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    check_fail_on(args)?;
    let poses = match &args.poses {
        Some(file) => open_poses(file)?,
        None => vec![args.pose_b.unwrap_or(Pose::IDENTITY)],
    };
    let a = open(&args.a, &args.model)?.model;
    let b = open(&args.b, &args.model)?.model;
    let pose_a = args.pose_a.unwrap_or(Pose::IDENTITY);
    let (results, time) = ask_all(args.query, [&a, &b], &pose_a, &poses);
    let summary = summarise(args.query, &results, time);
    let failed = args.fail_on.is_some() && summary.hits > 0;
    let output = Output { results, summary };
    if args.model.json {
        serde_json::to_writer(&mut *out, &output)?;
        writeln!(out)?;
    } else {
        print_table(&output, args.poses.is_some(), out)?;
    }
    Ok(failed)
}

fn check_fail_on(args: &PairArgs) -> Result<(), CliError> {
    let query = args.query.name();
    let (fail_on, instead) = match (args.fail_on, args.query) {
        (Some(FailOn::Touch), Query::Within(_)) => ("touch", "ask --fail-on clearance"),
        (Some(FailOn::Clearance), Query::Within(_)) | (Some(FailOn::Touch) | None, _) => {
            return Ok(());
        }
        (Some(FailOn::Clearance), _) => ("clearance", "ask --query within=D"),
    };
    Err(CliError::FailOn { fail_on, query, instead })
}

fn ask_all(
    query: Query,
    [a, b]: [&Model; 2],
    pose_a: &Pose,
    poses: &[Pose],
) -> (Vec<Answer>, Duration) {
    let mut answers = Vec::with_capacity(poses.len());
    let mut progress = Progress::new(poses.len());
    let mut time = Duration::ZERO;
    for batch in poses.chunks(BATCH) {
        let start = ThreadTime::now();
        answers.extend(batch.iter().map(|pose_b| query.ask(&Pair::new(a, pose_a, b, pose_b))));
        time += start.elapsed();
        progress.done(answers.len());
    }
    (answers, time)
}

fn summarise(query: Query, results: &[Answer], time: Duration) -> Summary {
    Summary {
        query: query.name(),
        queries: results.len(),
        hits: results.iter().filter(|answer| answer.is_hit()).count(),
        pairs: results.iter().map(Answer::pair_count).sum(),
        distance_sum: results.iter().map(Answer::distance).sum(),
        mean_us: time.as_secs_f64() * 1e6 / results.len().max(1) as f64,
    }
}

fn print_table(output: &Output, is_many: bool, out: &mut dyn Write) -> Result<(), CliError> {
    for (pose, answer) in output.results.iter().enumerate() {
        if is_many {
            write!(out, "{pose:>6}  ")?;
        }
        writeln!(out, "{answer}")?;
    }
    let summary = &output.summary;
    if is_many {
        writeln!(out, "{} queries, {} hits", summary.queries, summary.hits)?;
        match output.results.first() {
            Some(Answer::Pairs { .. }) => writeln!(out, "{} pairs", summary.pairs)?,
            Some(Answer::Distance { .. }) => {
                writeln!(out, "{} distance in all", summary.distance_sum)?;
            }
            _ => {}
        }
    }
    writeln!(out, "{:.2} µs per query", summary.mean_us)?;
    Ok(())
}
