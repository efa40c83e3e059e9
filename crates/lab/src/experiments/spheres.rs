//! `jostle lab spheres`: comparisons and time of every way to find who hears whom.
//!
//! K. Storey, F. Lu, G. Morgan, *Determining Collisions between Moving Spheres for Distributed
//! Virtual Environments*, 2004, §4: graphs 1 to 4 show comparisons over the number of objects for
//! four coverages, graphs 5 to 8 the time of a frame.

use super::args::{SpheresArgs, method_name};
use super::clock::{Clock, milliseconds};
use super::plot::{Figure, Line, Panel, Scale};
use super::table::{Share, Table};
use super::{Results, check_writable};
use crate::aura::workload::Setup;
use crate::aura::{Method, experiment};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use serde::Serialize;
use std::io::Write;

/// What one method did; means per frame.
#[derive(Debug, Serialize)]
struct Row {
    method: &'static str,
    n: u32,
    coverage: f64,
    frames: u32,
    seed: u64,
    /// What the time is of.
    clock: Clock,
    comparisons: f64,
    /// The same as a share of comparing all with all; null for one object.
    share: f64,
    relations: f64,
    ms_per_frame: f64,
}

pub(crate) fn run(args: &SpheresArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let &SpheresArgs { frames, seed, .. } = args;
    let methods = if args.method.is_empty() { &Method::ALL[..] } else { &args.method };
    // Brute force decides how long a run takes, if it is there.
    let work = |n: u32| (n as usize).pow(2);
    let all: usize = args.n.iter().map(|&n| work(n) * args.coverage.len()).sum();
    let mut progress = Progress::new(all, true);
    let mut rows = Vec::new();
    let mut done = 0;
    let clock = Clock::ThreadCpu;
    for &coverage in &args.coverage {
        for &n in &args.n {
            let setup = Setup::new(n, coverage, seed);
            let found = experiment::run(setup, frames, methods, clock.reader())?;
            rows.extend(found.into_iter().map(|row| Row {
                method: method_name(row.method),
                n,
                coverage,
                frames,
                seed,
                clock,
                comparisons: row.comparisons,
                share: row.share,
                relations: row.relations,
                ms_per_frame: milliseconds(row.time),
            }));
            done += work(n);
            progress.done(done);
        }
    }
    drop(progress);
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)
}

fn table(rows: &[Row]) -> Table {
    let titles =
        ["method", "n", "coverage", "comparisons", "of all pairs", "relations", "ms/frame"];
    let mut table = Table::new(&titles);
    for row in rows {
        table.row(&[
            &row.method,
            &row.n,
            &row.coverage.to_string(),
            &format!("{:.0}", row.comparisons),
            &Share(row.share),
            &format!("{:.0}", row.relations),
            &row.ms_per_frame,
        ]);
    }
    if let Some(Row { frames, clock, .. }) = rows.first() {
        table.note(format!(
            "means of {frames} frames; all methods gave the same relations; times: {}",
            clock.name()
        ));
    }
    table
}

/// The paper's eight graphs: a column for each coverage.
fn figure(rows: &[Row]) -> Figure {
    let (mut above, mut below): (Vec<Panel>, Vec<Panel>) = (Vec::new(), Vec::new());
    for row in rows {
        let title = format!("coverage {}", row.coverage);
        if above.iter().all(|panel| panel.title != title) {
            let panel = |y| Panel { title: title.clone(), x: "objects", y, lines: Vec::new() };
            above.push(panel("comparisons"));
            below.push(panel("ms per frame"));
        }
        let n = f64::from(row.n);
        for (panels, y) in [(&mut above, row.comparisons), (&mut below, row.ms_per_frame)] {
            let panel = panels.iter_mut().find(|panel| panel.title == title);
            panel.into_iter().for_each(|panel| Line::extend(&mut panel.lines, row.method, [n, y]));
        }
    }
    let columns = above.len();
    above.extend(below);
    Figure {
        title: "Who hears whom: comparisons and time over the number of objects",
        columns,
        scale: Scale::Logarithmic,
        panels: above,
    }
}
