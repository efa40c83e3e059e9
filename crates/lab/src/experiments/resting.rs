//! `jostle lab resting`: are re-aligned volumes of the last question recognised by a counter or by
//! their placement? (Ohlenburg 2003, 3.2.5; row O21)
//!
//! He proposes the placement for objects that do not move in every frame, and prints no figures.

use super::args::{OutputArgs, SolidsArgs};
use super::clock::Clock;
use super::plot::{Figure, Line, Panel, Scale};
use super::table::{Table, short};
use super::{Results, check_writable};
use crate::dop::{DopTrees, NormalSet, Realignment};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use crate::traverse::ByTree;
use crate::tree::{SplitRule, Splitting};
use crate::{Contender, link_row};
use clap::Args;
use jostle_geom::Pose;
use serde::Serialize;
use std::io::Write;

pub(crate) const EXAMPLES: &str = "\
Examples:
  jostle lab resting
  jostle lab resting --solid torus --triangles 10000 --frames 1,10,100 --svg resting.svg";

#[derive(Debug, Args)]
pub(crate) struct RestingArgs {
    #[command(flatten)]
    pub(crate) solids: SolidsArgs,
    /// In how many frames a copy stays where it is before it moves on
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1000),
        value_name = "LIST", default_value = "1,2,5,20")]
    pub(crate) frames: Vec<u32>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// One solid and one number of frames; of both ways, by counter first.
#[derive(Debug, Serialize)]
struct Row {
    solid: &'static str,
    triangles: usize,
    frames: u32,
    questions: usize,
    alignments: [f64; 2],
    microseconds: [f64; 2],
    bytes: [usize; 2],
}

pub(crate) fn run(args: &RestingArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let solids = &args.solids;
    let mut progress = Progress::new(solids.solid.len() * args.frames.len(), true);
    let mut rows = Vec::new();
    for &solid in &solids.solid {
        let (mesh, poses) = solids.near_contact(solid)?;
        for &frames in &args.frames {
            let stay = |&pose: &Pose| std::iter::repeat_n(pose, frames as usize);
            let poses: Vec<Pose> = poses.iter().flat_map(stay).collect();
            let trees = || {
                let splitting = Splitting::single(SplitRule::Splatter);
                let normals = NormalSet::klosowski();
                DopTrees::new(&mesh, &mesh, &normals, splitting, Realignment::Affine)
            };
            let ways = [trees(), trees().with_placements()].map(|trees| {
                let mut contender = ByTree::new(&mesh, &mesh, trees);
                let reader = Clock::ThreadCpu.reader();
                let found = link_row(&mut contender, &poses, &mut || reader());
                (found, contender.bytes())
            });
            if ways[0].0.touching != ways[1].0.touching {
                let (method, question) = ("18-DOPs by placement", rows.len());
                return Err(LabError::Disagrees { method, question });
            }
            let mean = |sum: f64| sum / poses.len().max(1) as f64;
            rows.push(Row {
                solid: solid.name(),
                triangles: mesh.triangle_count(),
                frames,
                questions: poses.len(),
                alignments: [0, 1].map(|way: usize| mean(ways[way].0.count.alignments as f64)),
                microseconds: [0, 1].map(|way: usize| mean(ways[way].0.time.as_secs_f64() * 1e6)),
                bytes: [ways[0].1, ways[1].1],
            });
            progress.done(rows.len());
        }
    }
    drop(progress);
    Results { rows: &rows, table: table(&rows), figure: figure(&rows) }.show(&args.output, out)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "solid",
        "triangles",
        "frames",
        "alignments by counter",
        "by placement",
        "µs by counter",
        "by placement",
        "kB by counter",
        "by placement",
    ]);
    for row in rows {
        let mut cells =
            vec![row.solid.to_owned(), row.triangles.to_string(), row.frames.to_string()];
        cells.extend(row.alignments.map(short));
        cells.extend(row.microseconds.map(short));
        cells.extend(row.bytes.map(|bytes| (bytes / 1000).to_string()));
        table.line(cells);
    }
    table.note(format!(
        "means of a question; 18-DOPs re-aligned by sums, one triangle in a leaf; frames: as often \
         in a row the same question; times: {}",
        Clock::ThreadCpu.name()
    ));
    table
}

fn figure(rows: &[Row]) -> Figure {
    let mut lines = Vec::new();
    for row in rows {
        let ratio = row.microseconds[0] / row.microseconds[1];
        Line::extend(&mut lines, row.solid, [f64::from(row.frames), ratio]);
    }
    let panel = Panel {
        title: "Times faster by placement".to_owned(),
        x: "frames in the same place",
        y: "times faster",
        lines,
    };
    Figure {
        title: "Re-aligned volumes of objects that rest",
        columns: 1,
        scale: Scale::Logarithmic,
        panels: vec![panel],
    }
}
