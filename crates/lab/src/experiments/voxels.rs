//! `jostle lab voxels`: points of one surface against voxels of another (Zachmann 2000, 3.6.1), and
//! how often that is wrong.

use super::args::VoxelsArgs;
use super::clock::Clock;
use super::plot::{Figure, Line, Scale};
use super::table::{Share, Table};
use super::{Results, check_writable};
use crate::bench::oriented;
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use crate::{Fineness, NearContact, VoxelRow, voxel_row};
use glam::DQuat;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

/// How right a grid and a cloud were.
#[derive(Debug, Serialize)]
struct Row {
    solid: &'static str,
    triangles: usize,
    voxels: usize,
    /// Half the diagonal of a voxel.
    error: f64,
    /// How near some point of the cloud is.
    radius: f64,
    /// How far around the surface voxels are set.
    reach: f64,
    points: usize,
    thesis_points: f64,
    bytes: usize,
    questions: usize,
    wrong_yes: f64,
    farthest_yes: f64,
    promised: f64,
    wrong_no: f64,
    microseconds: f64,
    exact_microseconds: f64,
}

pub(crate) fn run(args: &VoxelsArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let approach = NearContact::new(args.turns);
    let mut progress = Progress::new(args.solid.len() * args.voxels.len() * 2, true);
    let mut rows = Vec::new();
    for solid in &args.solid {
        let mesh = oriented(&solid.mesh(args.triangles)?, DQuat::IDENTITY)?;
        for &voxels in &args.voxels {
            // Solids are as wide as 2.
            let radius = args.radius * 3f64.sqrt() / voxels as f64;
            for reach in [0.0, radius] {
                let fineness = Fineness { voxels, radius, reach };
                let reader = Clock::ThreadCpu.reader();
                let row = voxel_row(&mesh, &approach, fineness, &mut || reader());
                rows.push(Row::new(solid.name(), mesh.triangle_count(), &row));
                progress.done(rows.len());
            }
        }
    }
    drop(progress);
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)
}

impl Row {
    fn new(solid: &'static str, triangles: usize, row: &VoxelRow) -> Row {
        let questions = row.questions.max(1) as f64;
        let each = |time: Duration| time.as_secs_f64() * 1e6 / questions;
        Row {
            solid,
            triangles,
            voxels: row.fineness.voxels,
            error: row.error,
            radius: row.fineness.radius,
            reach: row.fineness.reach,
            points: row.points,
            thesis_points: row.thesis_points,
            bytes: row.bytes,
            questions: row.questions,
            wrong_yes: row.wrong_yes as f64 / questions,
            farthest_yes: row.farthest_yes,
            promised: row.promised,
            wrong_no: row.wrong_no as f64 / questions,
            microseconds: each(row.time),
            exact_microseconds: each(row.exact_time),
        }
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "solid",
        "voxels",
        "error",
        "reach",
        "points",
        "thesis",
        "kB",
        "wrong yes",
        "farthest",
        "promised",
        "wrong no",
        "µs",
        "exact µs",
    ]);
    for row in rows {
        table.row(&[
            &row.solid,
            &format!("{}³", row.voxels),
            &row.error,
            &row.reach,
            &row.points,
            &row.thesis_points,
            &row.bytes.div_ceil(1000),
            &Share(row.wrong_yes),
            &row.farthest_yes,
            &row.promised,
            &Share(row.wrong_no),
            &row.microseconds,
            &row.exact_microseconds,
        ]);
    }
    let kept = rows.iter().all(|row| row.farthest_yes <= row.promised);
    let missed = rows.iter().any(|row| row.reach > 0.0 && row.wrong_no > 0.0);
    table.note(format!(
        "no yes was further off than promised: {}; with reach no contact was missed: {}",
        if kept { "yes" } else { "NO" },
        if missed { "NO" } else { "yes" }
    ));
    if let Some(row) = rows.first() {
        table.note(format!(
            "two copies of {} triangles, {} questions around contact; error: √3·s/(2n); thesis: \
             its number of points for the same distance; exact: our hierarchy; times: {}",
            row.triangles,
            row.questions,
            Clock::ThreadCpu.name()
        ));
    }
    table
}

fn figure(rows: &[Row]) -> Figure {
    let (mut wrong, mut times) = (Vec::new(), Vec::new());
    for row in rows {
        let kind = if row.reach > 0.0 { "with reach" } else { "as proposed" };
        let name = format!("{}, {kind}", row.solid);
        let x = row.voxels as f64;
        Line::extend(&mut wrong, &name, [x, (row.wrong_yes + row.wrong_no) * 100.0]);
        Line::extend(&mut times, &name, [x, row.microseconds]);
        // Both kinds were measured beside the exact answer; one line of it is enough.
        if row.reach > 0.0 {
            Line::extend(&mut times, &format!("{}, exact", row.solid), [x, row.exact_microseconds]);
        }
    }
    let panels = [("Wrong answers", "percent", wrong), ("Time of a question", "µs", times)];
    Figure::over("voxels along a side", "Points against voxels", Scale::Logarithmic, panels)
}
