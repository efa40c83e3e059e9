//! `jostle lab bsp`: the BSP narrow phase of Storey's thesis, cut off at different depths (2006,
//! 4.3.2.3; row S22). The thesis says that each level halves the work and that close objects are
//! then taken as touching; it prints no figures.

use super::args::{OutputArgs, SolidsArgs};
use super::clock::Clock;
use super::plot::{Figure, Line, Scale};
use super::table::{Share, Table};
use super::{Results, check_writable};
use crate::bsp::{BspTrees, Detail};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use crate::{Contender, Ours, Verdict};
use clap::Args;
use jostle_geom::{Mesh, Pose, Quality};
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

pub(crate) const EXAMPLES: &str = "\
Examples:
  jostle lab bsp
  jostle lab bsp --solid torus --triangles 10000 --depth 8,16,24 --svg bsp.svg";

#[derive(Debug, Args)]
pub(crate) struct BspArgs {
    #[command(flatten)]
    pub(crate) solids: SolidsArgs,
    /// Depths at which the walk is cut off, beside one that is not; both trees count
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=100),
        value_name = "LIST", default_value = "8,16,24,32")]
    pub(crate) depth: Vec<u32>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Serialize)]
struct Row {
    solid: &'static str,
    triangles: usize,
    /// None: to the end.
    depth: Option<u32>,
    questions: usize,
    /// Of all questions.
    touching: f64,
    /// Of the questions about copies that do not touch: not separated.
    false_contacts: f64,
    visits: f64,
    triangle_tests: f64,
    microseconds: f64,
    microseconds_ours: f64,
    bytes: usize,
}

pub(crate) fn run(args: &BspArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let solids = &args.solids;
    let mut depths: Vec<Option<u32>> = args.depth.iter().copied().map(Some).collect();
    depths.push(None);
    let mut progress = Progress::new(solids.solid.len() * depths.len(), true);
    let mut rows = Vec::new();
    for &solid in &solids.solid {
        let (mesh, poses) = solids.near_contact(solid)?;
        let (right, ours) = answers(&mesh, &poses);
        let mut trees = BspTrees::new(&mesh, &mesh);
        for &depth in &depths {
            let mut row = measure(&mut trees, depth, &poses, &right)?;
            (row.solid, row.triangles) = (solid.name(), mesh.triangle_count());
            row.microseconds_ours = micros(ours, poses.len());
            rows.push(row);
            progress.done(rows.len());
        }
    }
    drop(progress);
    Results { rows: &rows, table: table(&rows), figure: figure(&rows) }.show(&args.output, out)
}

/// Those of the default hierarchy, and how long they took.
fn answers(mesh: &Mesh, poses: &[Pose]) -> (Vec<bool>, Duration) {
    let mut ours = Ours::new(mesh, mesh, Quality::Default);
    let now = Clock::ThreadCpu.reader();
    let begin = now();
    let right = poses.iter().map(|pose| ours.touches(&Pose::IDENTITY, pose).0).collect();
    (right, now().saturating_sub(begin))
}

fn measure(
    trees: &mut BspTrees,
    depth: Option<u32>,
    poses: &[Pose],
    right: &[bool],
) -> Result<Row, LabError> {
    let detail = Detail { depth, ..Detail::FIRST_CONTACT };
    let now = Clock::ThreadCpu.reader();
    let (mut visits, mut tests, mut time, mut wrong) = (0, 0, Duration::ZERO, 0);
    for (question, (pose, &touch)) in poses.iter().zip(right).enumerate() {
        let begin = now();
        let (found, count) = trees.contacts(&Pose::IDENTITY, pose, detail);
        time += now().saturating_sub(begin);
        (visits, tests) = (visits + count.visits, tests + count.triangle_tests);
        let verdict = found.verdict();
        let bad = match verdict {
            Verdict::Touch => !touch,
            Verdict::Apart => touch,
            Verdict::MayTouch => depth.is_none(),
        };
        if bad {
            return Err(LabError::Disagrees { method: "BSP trees", question });
        }
        wrong += usize::from(verdict != Verdict::Apart && !touch);
    }
    let touching = right.iter().filter(|&&touch| touch).count();
    let per_question = |sum: u64| sum as f64 / poses.len().max(1) as f64;
    Ok(Row {
        solid: "",
        triangles: 0,
        depth,
        questions: poses.len(),
        touching: touching as f64 / poses.len().max(1) as f64,
        false_contacts: wrong as f64 / (poses.len() - touching).max(1) as f64,
        visits: per_question(visits),
        triangle_tests: per_question(tests),
        microseconds: micros(time, poses.len()),
        microseconds_ours: 0.0,
        bytes: trees.bytes(),
    })
}

fn micros(time: Duration, questions: usize) -> f64 {
    time.as_secs_f64() * 1e6 / questions.max(1) as f64
}

fn depth_name(depth: Option<u32>) -> String {
    depth.map_or_else(|| "all".to_owned(), |depth| depth.to_string())
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "solid",
        "triangles",
        "depth",
        "false contacts",
        "visits",
        "triangle tests",
        "µs",
        "µs ours",
        "kB",
    ]);
    for row in rows {
        table.row(&[
            &row.solid,
            &row.triangles,
            &depth_name(row.depth),
            &Share(row.false_contacts),
            &row.visits,
            &row.triangle_tests,
            &row.microseconds,
            &row.microseconds_ours,
            &(row.bytes / 1000),
        ]);
    }
    if let Some(row) = rows.first() {
        table.note(format!(
            "means of {} questions around contact; false contacts: of copies that do not touch; \
             times: {}",
            row.questions,
            Clock::ThreadCpu.name()
        ));
    }
    table
}

fn figure(rows: &[Row]) -> Figure {
    let by_solid = |y: fn(&Row) -> f64| {
        let cut = rows.iter().filter_map(|row| Some((row, f64::from(row.depth?))));
        Line::through(cut, |(row, depth)| (row.solid.to_owned(), [depth, y(row)]))
    };
    Figure::over(
        "depth",
        "BSP trees, cut off at a depth",
        Scale::OverTime,
        [
            ("False contacts", "%", by_solid(|row| 100.0 * row.false_contacts)),
            ("A question", "µs", by_solid(|row| row.microseconds)),
        ],
    )
}
