//! `jostle lab bunnies`: bumpy models that bounce around in a cube, at constant density.
//!
//! V-COLLIDE (Hudson et al., 1997, §4.3) lets rabbits of 575 triangles bounce about and shows the
//! time of a frame over their number. A frame here is all that a world does: bodies move, their
//! boxes and then their triangles are compared, those that touch turn round.

use super::args::BunniesArgs;
use super::clock::{Clock, Spent, milliseconds};
use super::plot::{Figure, Line, Scale};
use super::table::{Share, Table};
use super::{Results, check_writable};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use crate::scenes::Bunnies;
use jostle_geom::ShapeKind;
use jostle_world::{Settings, Times, Workers, World};
use serde::Serialize;
use std::io::Write;

/// Frames before the first that is measured: bodies begin apart, and collide steadily after the
/// time in which they cross the room that each has (a second).
const FRAMES_BEFORE: u32 = 60;

/// What a number of models took; all but the worst time are means per frame.
#[derive(Debug, Serialize)]
struct Row {
    n: u32,
    /// Of each model.
    triangles: usize,
    frames: u32,
    seed: u64,
    threads: usize,
    /// What the times are of.
    clock: Clock,
    ms_per_frame: f64,
    worst_ms: f64,
    #[serde(flatten)]
    parts: Parts,
    broad_share: f64,
    narrow_share: f64,
    /// Pairs whose boxes overlap.
    pairs: f64,
    /// Pairs that touch, walls included.
    collisions: f64,
}

/// What a frame is made of, in milliseconds.
#[derive(Debug, Serialize)]
struct Parts {
    /// Boxes, which of them overlap, and who asks about those pairs.
    broad_ms: f64,
    /// Exact tests of triangles.
    narrow_ms: f64,
    /// What began and ended, and what bodies do about it.
    response_ms: f64,
    /// The rest: bodies move.
    motion_ms: f64,
}

pub(crate) fn run(args: &BunniesArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let work = |n: &u32| *n as usize * (FRAMES_BEFORE + args.frames) as usize;
    let mut progress = Progress::new(args.n.iter().map(work).sum(), true);
    let mut rows = Vec::new();
    let mut done = 0;
    for &n in &args.n {
        rows.push(measure(args, n, |frames| progress.done(done + n as usize * frames))?);
        done += work(&n);
    }
    drop(progress);
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)
}

/// `frame_done` hears how many frames are over.
fn measure(args: &BunniesArgs, n: u32, mut frame_done: impl FnMut(usize)) -> Result<Row, LabError> {
    let &BunniesArgs { frames, seed, threads, .. } = args;
    let clock = Clock::of_threads(threads);
    let now = clock.reader();
    let settings =
        Settings { workers: Workers::new(threads)?, stopwatch: Some(now), ..Settings::default() };
    let mut world = Bunnies { count: n as usize, seed }.world(settings);
    let (mut spent, mut stages) = (Spent::default(), Times::default());
    let (mut pairs, mut collisions) = (0, 0);
    for frame in 0..FRAMES_BEFORE + frames {
        let begin = now();
        let report = Bunnies::frame(&mut world);
        let time = now().saturating_sub(begin);
        if frame >= FRAMES_BEFORE {
            spent.add(time);
            add(&mut stages, &report.times);
            pairs += report.counts.candidates;
            collisions += report.counts.contacts;
        }
        frame_done(frame as usize + 1);
    }
    let ms_per_frame = spent.mean_ms();
    let parts = Parts::new(ms_per_frame, &stages, frames);
    let mean = |sum: usize| sum as f64 / f64::from(frames);
    Ok(Row {
        n,
        triangles: triangles(&world),
        frames,
        seed,
        threads,
        clock,
        ms_per_frame,
        worst_ms: spent.worst_ms(),
        broad_share: parts.broad_ms / ms_per_frame,
        narrow_share: parts.narrow_ms / ms_per_frame,
        parts,
        pairs: mean(pairs),
        collisions: mean(collisions),
    })
}

fn add(sum: &mut Times, times: &Times) {
    sum.volumes += times.volumes;
    sum.broad += times.broad;
    sum.filters += times.filters;
    sum.narrow += times.narrow;
    sum.events += times.events;
    sum.responses += times.responses;
}

impl Parts {
    fn new(ms_per_frame: f64, stages: &Times, frames: u32) -> Parts {
        let mean = |time| milliseconds(time) / f64::from(frames);
        Parts {
            broad_ms: mean(stages.volumes + stages.broad + stages.filters),
            narrow_ms: mean(stages.narrow),
            response_ms: mean(stages.events + stages.responses),
            motion_ms: (ms_per_frame - mean(stages.total())).max(0.0),
        }
    }
}

/// Of the models; the walls are no meshes.
fn triangles(world: &World) -> usize {
    let shapes = world.ids().filter_map(|id| world.shape(id).ok());
    let triangles = shapes.map(|shape| match shape.kind() {
        ShapeKind::Mesh(model) => model.mesh().triangle_count(),
        _ => 0,
    });
    triangles.max().unwrap_or(0)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "models",
        "ms/frame",
        "worst ms",
        "broad",
        "narrow",
        "respond",
        "move",
        "pairs/frame",
        "collisions/frame",
    ]);
    for row in rows {
        let share = |ms: f64| Share(ms / row.ms_per_frame);
        table.row(&[
            &row.n,
            &row.ms_per_frame,
            &row.worst_ms,
            &Share(row.broad_share),
            &Share(row.narrow_share),
            &share(row.parts.response_ms),
            &share(row.parts.motion_ms),
            &row.pairs,
            &row.collisions,
        ]);
    }
    if let Some(Row { triangles, frames, clock, .. }) = rows.first() {
        table.note(format!("{triangles} triangles each, {frames} frames; times: {}", clock.name()));
    }
    table
}

fn figure(rows: &[Row]) -> Figure {
    type Column = (&'static str, fn(&Row) -> f64);
    let by_name = |all: &[Column]| {
        let line = |&(name, y): &Column| Line {
            name: name.to_owned(),
            points: rows.iter().map(|row| [f64::from(row.n), y(row)]).collect(),
        };
        all.iter().map(line).collect()
    };
    let times = by_name(&[
        ("frame", |row| row.ms_per_frame),
        ("broad phase", |row| row.parts.broad_ms),
        ("exact tests", |row| row.parts.narrow_ms),
        ("responses", |row| row.parts.response_ms),
        ("motion", |row| row.parts.motion_ms),
    ]);
    let found =
        by_name(&[("pairs of boxes", |row| row.pairs), ("collisions", |row| row.collisions)]);
    let panels = [("Time of a frame", "ms", times), ("Found in a frame", "pairs", found)];
    let title = "Models bouncing in a cube, at constant density";
    Figure::over("models", title, Scale::Linear, panels)
}
