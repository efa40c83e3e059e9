//! `jostle lab ten-objects`: ten objects bounce about in a box (Ohlenburg 2003, section 3.3.2,
//! tables 3.4 to 3.6; row O11).
//!
//! He varies how many polygons a leaf of his k-DOP tree may hold (the split threshold, 1 to 20)
//! and how nodes are split (longest side, splatter, min sum). The hierarchy of worlds has leaves of
//! one or two triangles, fixed by its layout, and three ways of splitting; these are measured. With
//! `--trees` his own trees are asked about the same pairs (`ten_objects/trees.rs`).

mod scene;
mod trees;

use super::args::TenObjectsArgs;
use super::clock::{Clock, Spent, milliseconds};
use super::plot::{Figure, Line, Scale};
use super::table::Table;
use super::{Results, check_writable};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use crate::tree::Splitting;
use jostle_geom::{Quality, ShapeKind};
use jostle_scene::{Reading, read};
use jostle_stage::{HierarchyFiles, Stage, StageOptions};
use jostle_world::Workers;
pub(crate) use scene::Complexity;
use serde::Serialize;
use std::io::Write;

/// Steps before the first that is measured: the objects begin apart.
const STEPS_BEFORE: u32 = 100;

/// Seconds per step.
const STEP: f64 = 1.0 / 60.0;

/// Times of the paper in milliseconds, on its machine of 2003: the scene whose object comes
/// closest, the split threshold, and longest side, splatter and min sum.
const PAPER: [(Complexity, &str, u32, [f64; 3]); 6] = [
    (Complexity::Small, "ten_als", 10, [1.445, 1.739, 1.436]),
    (Complexity::Small, "ten_als", 1, [0.610, 0.628, 0.514]),
    (Complexity::Medium, "ten_eagles", 10, [0.821, 0.857, 0.397]),
    (Complexity::Medium, "ten_eagles", 1, [0.270, 0.228, 0.217]),
    (Complexity::Large, "ten_trees", 10, [1.881, 1.474, 1.788]),
    (Complexity::Large, "ten_trees", 4, [1.241, 1.108, 0.949]),
];

/// What a scene took with one way of splitting.
#[derive(Debug, Serialize)]
struct Row {
    scene: &'static str,
    /// The way of splitting.
    quality: String,
    /// Of each object.
    triangles: usize,
    /// Of the hierarchy and mesh that all objects share.
    kilobytes: f64,
    steps: u32,
    clock: Clock,
    /// All that the world does in a step, in the mean.
    /// None for trees that only answer what was asked.
    ms_per_step: Option<f64>,
    worst_ms: Option<f64>,
    /// Exact tests of a pair whose boxes overlap, in the mean: what the paper calls the collision
    /// detection time in close proximity.
    ms_per_pair: f64,
    /// Pairs tested exactly per step, in the mean.
    pairs: f64,
    /// Contacts that began.
    collisions: u64,
}

pub(crate) fn run(args: &TenObjectsArgs, out: &mut dyn Write) -> Result<(), LabError> {
    if let Some(folder) = &args.write {
        for complexity in Complexity::ALL {
            let path = folder.join(format!("ten-objects-{}.wrl", complexity.name()));
            let file = path.display().to_string();
            std::fs::write(&path, scene::text(complexity))
                .map_err(|source| LabError::Write { file, source })?;
        }
        return Ok(());
    }
    check_writable(&args.output)?;
    let qualities = [Quality::Fast, Quality::Default, Quality::Tight];
    let thresholds = if args.trees { &args.threshold[..] } else { &[] };
    let steps = (STEPS_BEFORE + args.steps) as usize;
    let total = args.complexity.len() * qualities.len() * steps;
    let mut progress = Progress::new(total, true);
    let (mut rows, mut played) = (Vec::new(), 0);
    for &complexity in &args.complexity {
        for quality in qualities {
            let done = (played * steps).min(total);
            played += 1;
            let mut recorded = trees::Recorded::default();
            let step_done = |step| progress.done(done + step);
            rows.push(measure(args, complexity, quality, &mut recorded, step_done)?);
            if quality == Quality::Default {
                ask_trees(&recorded, thresholds, &mut rows)?;
            }
        }
    }
    drop(progress);
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)?;
    if !args.output.json {
        write_paper(&args.complexity, out)?;
    }
    Ok(())
}

fn measure(
    args: &TenObjectsArgs,
    complexity: Complexity,
    quality: Quality,
    recorded: &mut trees::Recorded,
    mut step_done: impl FnMut(usize),
) -> Result<Row, LabError> {
    let name = complexity.name();
    let failed = |source| LabError::Stage { file: name.to_string(), source: Box::new(source) };
    let opened =
        read("ten-objects.wrl", scene::text(complexity).as_bytes(), &mut Reading::default())
            .map_err(|source| LabError::Load { file: name.to_string(), source })?;
    let clock = Clock::of_threads(args.threads);
    let now = clock.reader();
    let options = StageOptions {
        quality,
        workers: Workers::new(args.threads)?,
        stopwatch: Some(now),
        ..StageOptions::default()
    };
    let mut stage =
        Stage::new(opened.scene, options, &mut HierarchyFiles::default()).map_err(failed)?;
    let mut spent = Spent::default();
    let (mut narrow, mut pairs, mut collisions) = (0.0, 0, 0);
    for step in 0..STEPS_BEFORE + args.steps {
        stage.step(STEP).map_err(failed)?;
        step_done(step as usize);
        if step < STEPS_BEFORE {
            continue;
        }
        if quality == Quality::Default {
            recorded.record(&stage);
        }
        let report = stage.world().report();
        spent.add(report.times.total());
        narrow += milliseconds(report.times.narrow);
        pairs += report.counts.tested;
        collisions += stage.events().iter().filter(|event| event.began()).count() as u64;
    }
    let (triangles, bytes) = largest(&stage);
    Ok(Row {
        scene: name,
        quality: quality_name(quality).to_owned(),
        triangles,
        kilobytes: bytes as f64 / 1024.0,
        steps: args.steps,
        clock,
        ms_per_step: Some(spent.mean_ms()),
        worst_ms: Some(spent.worst_ms()),
        ms_per_pair: narrow / (pairs.max(1) as f64),
        pairs: pairs as f64 / f64::from(args.steps),
        collisions,
    })
}

/// The paper's trees, asked about what the default hierarchy was asked about.
fn ask_trees(
    recorded: &trees::Recorded,
    thresholds: &[usize],
    rows: &mut Vec<Row>,
) -> Result<(), LabError> {
    for &threshold in thresholds {
        for rule in trees::RULES {
            let Some(splitting) = Splitting::new(rule, threshold) else { continue };
            let (Some(asked), Some(played)) = (recorded.ask(splitting)?, rows.last()) else {
                continue;
            };
            rows.push(Row {
                scene: played.scene,
                quality: splitting.to_string(),
                triangles: played.triangles,
                kilobytes: asked.bytes as f64 / 1024.0,
                steps: played.steps,
                clock: Clock::ThreadCpu,
                ms_per_step: None,
                worst_ms: None,
                ms_per_pair: asked.ms_per_pair,
                pairs: recorded.count() as f64 / f64::from(played.steps),
                collisions: played.collisions,
            });
        }
    }
    Ok(())
}

/// Triangles and bytes of the largest model of the scene: the ring.
fn largest(stage: &Stage) -> (usize, usize) {
    let world = stage.world();
    let models = world.ids().filter_map(|id| match world.shape(id).ok()?.kind() {
        ShapeKind::Mesh(model) => Some((model.mesh().triangle_count(), model.memory_usage())),
        _ => None,
    });
    models.max().unwrap_or((0, 0))
}

fn quality_name(quality: Quality) -> &'static str {
    match quality {
        Quality::Fast => "fast",
        Quality::Default => "default",
        Quality::Tight => "tight",
    }
}

fn four(ms: Option<f64>) -> String {
    ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.4}"))
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "scene",
        "splits",
        "triangles",
        "KByte",
        "ms/step",
        "worst ms",
        "ms/pair",
        "pairs/step",
        "collisions",
    ]);
    for row in rows {
        table.row(&[
            &row.scene.to_string(),
            &row.quality,
            &row.triangles,
            &row.kilobytes,
            &four(row.ms_per_step),
            &four(row.worst_ms),
            &format!("{:.4}", row.ms_per_pair),
            &row.pairs,
            &row.collisions,
        ]);
    }
    if let Some(Row { steps, clock, .. }) = rows.first() {
        table.note(format!("{steps} steps; times: {}", clock.name()));
    }
    table
}

/// The paper's own figures, for the eye: other models, another machine.
fn write_paper(shown: &[Complexity], out: &mut dyn Write) -> Result<(), LabError> {
    let mut table = Table::new(&["paper", "threshold", "longest side", "splatter", "min sum"]);
    for (complexity, scene, threshold, times) in PAPER {
        if shown.contains(&complexity) {
            let mut cells = vec![scene.to_string(), threshold.to_string()];
            cells.extend(times.map(|ms| format!("{ms:.3} ms")));
            table.line(cells);
        }
    }
    table.note("Ohlenburg 2003, tables 3.4 to 3.6: a pair in close proximity, his models".into());
    write!(out, "\n{table}")?;
    Ok(())
}

fn figure(rows: &[Row]) -> Figure {
    let point = |row: &Row, ms| (row.quality.clone(), [row.triangles as f64, ms]);
    let pairs = Line::through(rows, |row| point(row, row.ms_per_pair));
    let stepped = rows.iter().filter_map(|row| Some((row, row.ms_per_step?)));
    let steps = Line::through(stepped, |(row, ms)| point(row, ms));
    let panels = [("Exact test of a pair", "ms", pairs), ("Step", "ms", steps)];
    let title = "Ten objects bouncing in a box";
    Figure::over("triangles per object", title, Scale::Logarithmic, panels)
}
