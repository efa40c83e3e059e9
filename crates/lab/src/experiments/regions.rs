//! `jostle lab regions`: leaves that follow the population (Storey 2006, 3.2.3 and 4.3.2.2; row
//! S2). The thesis gives 4 and 6 as an example of thresholds and no figures.

use super::args::RegionsArgs;
use super::plot::{Figure, Line, Scale};
use super::table::Table;
use super::{Results, check_writable};
use crate::aura::workload::Setup;
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use crate::regions::{RegionRow, regions};
use serde::Serialize;
use std::io::Write;

pub(crate) const EXAMPLES: &str = "\
Examples:
  jostle lab regions
  jostle lab regions --objects 4000 --thresholds 4/6,6/6,16/24 --svg regions.svg";

#[derive(Debug, Serialize)]
struct Row {
    objects: u32,
    merge: usize,
    split: usize,
    frames: u32,
    leaves: f64,
    cuts: f64,
    merges: f64,
    pairs: f64,
    /// The volume of all auras as a share of the world: how crowded it is.
    coverage: f64,
    seed: u64,
}

pub(crate) fn run(args: &RegionsArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let mut progress = Progress::new(args.objects.len() * args.thresholds.len(), true);
    let mut rows = Vec::new();
    for &objects in &args.objects {
        for &[merge, split] in &args.thresholds {
            let setup = Setup::new(objects, args.coverage, args.seed);
            let RegionRow { leaves, cuts, merges, pairs, .. } =
                regions(setup, args.frames, [merge, split])?;
            let (frames, coverage, seed) = (args.frames, args.coverage, args.seed);
            rows.push(Row {
                objects,
                merge,
                split,
                frames,
                leaves,
                cuts,
                merges,
                pairs,
                coverage,
                seed,
            });
            progress.done(rows.len());
        }
    }
    drop(progress);
    Results { rows: &rows, table: table(&rows), figure: figure(&rows) }.show(&args.output, out)
}

fn table(rows: &[Row]) -> Table {
    let mut table =
        Table::new(&["objects", "merge/split", "leaves", "cuts", "merges", "pairs", "pairs/n"]);
    for row in rows {
        table.row(&[
            &row.objects,
            &format!("{}/{}", row.merge, row.split),
            &row.leaves,
            &row.cuts,
            &row.merges,
            &row.pairs,
            &(row.pairs / f64::from(row.objects)),
        ]);
    }
    if let Some(row) = rows.first() {
        table.note(format!(
            "per frame, means of {}; two leaves with fewer objects than merge become one, a leaf \
             with more than split is cut; pairs: of objects in one leaf; coverage {}",
            row.frames, row.coverage
        ));
    }
    table
}

fn figure(rows: &[Row]) -> Figure {
    let by_thresholds = |y: fn(&Row) -> f64| {
        let name = |row: &Row| format!("{}/{}", row.merge, row.split);
        Line::through(rows, |row| (name(row), [f64::from(row.objects), y(row)]))
    };
    let changes = by_thresholds(|row| row.cuts + row.merges);
    let pairs = by_thresholds(|row| row.pairs);
    Figure::over(
        "objects",
        "Leaves that follow the population",
        Scale::Logarithmic,
        [
            ("Leaves cut or merged in a frame", "leaves", changes),
            ("Pairs of objects in one leaf", "pairs", pairs),
        ],
    )
}
