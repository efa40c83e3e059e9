//! `jostle lab broad`: every broad phase on the same moving boxes.
//!
//! A step that is timed is what a user of a broad phase does: make the boxes of all that moved,
//! update them, find the pairs. Moving the boxes and comparing the answers is not in it.

mod boxes;
mod engine;

use super::args::{BroadArgs, Preset};
use super::clock::{Clock, Spent, milliseconds};
use super::plot::{Figure, Line, Panel, Scale};
use super::table::Table;
use super::{Results, check_writable};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use boxes::{MovingBoxes, Workload};
use engine::Engine;
pub(crate) use engine::Subject;
use jostle_world::Workers;
use jostle_world::broad::Structure;
use serde::Serialize;
use std::io::Write;

/// Up to so many boxes all pairs are compared unasked: some milliseconds a step.
const ALL_PAIRS_MOST: u32 = 5000;

/// What one structure did on one workload; counts are per step in the mean.
#[derive(Debug, Serialize)]
struct Row {
    structure: &'static str,
    n: u32,
    threads: usize,
    density: f64,
    movers: f64,
    speed: f64,
    seed: u64,
    steps: u32,
    /// What the times are of.
    clock: Clock,
    ms_per_step: f64,
    worst_ms: f64,
    /// Inserting all boxes, and the first search.
    setup_ms: f64,
    pairs: u64,
    /// Of all steps together.
    pairs_total: u64,
    box_tests: u64,
    updates: u64,
}

/// Pairs of one step: how many, and their fingerprint.
type Answer = (usize, Option<u64>);

pub(crate) fn run(args: &BroadArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let plan = plan(args);
    let work = plan.iter().map(|run| run.work(args.steps)).sum();
    let mut lab = Lab { steps: args.steps, progress: Progress::new(work, true), done: 0 };
    let mut rows = Vec::new();
    for run in &plan {
        lab.measure(run, &mut rows)?;
    }
    drop(lab);
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)
}

/// Structures that are measured on the same boxes, one after the other.
struct Run {
    workload: Workload,
    threads: usize,
    subjects: Vec<Subject>,
}

impl Run {
    /// For the progress bar: boxes in steps.
    fn work(&self, steps: u32) -> usize {
        self.subjects.len() * steps as usize * self.workload.n as usize
    }
}

/// Every combination of what was asked for.
fn plan(args: &BroadArgs) -> Vec<Run> {
    let mut plan = Vec::new();
    for &threads in &args.threads {
        for &n in &args.n {
            for workload in workloads(args, n) {
                plan.push(Run { workload, threads, subjects: subjects(args, n) });
            }
        }
    }
    plan
}

fn workloads(args: &BroadArgs, n: u32) -> Vec<Workload> {
    if let Some(Preset::Peers) = args.preset {
        return vec![Workload::peers(n)];
    }
    let mut workloads = Vec::new();
    for &density in &args.density {
        for &movers in &args.movers {
            for &speed in &args.speed {
                workloads.push(Workload { n, density, movers, speed, seed: args.seed });
            }
        }
    }
    workloads
}

fn subjects(args: &BroadArgs, n: u32) -> Vec<Subject> {
    if !args.structure.is_empty() {
        return args.structure.clone();
    }
    let can_finish =
        |subject: &Subject| n <= ALL_PAIRS_MOST || *subject != Subject::Broad(Structure::AllPairs);
    Subject::all().filter(can_finish).collect()
}

struct Lab {
    steps: u32,
    progress: Progress,
    /// Boxes in steps so far.
    done: usize,
}

impl Lab {
    /// Adds a row for each structure, after comparing its pairs with those of the first.
    fn measure(&mut self, run: &Run, rows: &mut Vec<Row>) -> Result<(), LabError> {
        let workers = Workers::new(run.threads)?;
        let mut first: Option<(Subject, Vec<Answer>)> = None;
        for &subject in &run.subjects {
            let (row, answers) = self.measure_one(subject, run, &workers)?;
            rows.push(row);
            if subject == Subject::World {
                continue;
            }
            let (judge, expected) = first.get_or_insert_with(|| (subject, answers.clone()));
            if let Some(step) = (0..answers.len()).find(|&step| answers[step] != expected[step]) {
                let of = |subject: Subject, answers: &[Answer]| (subject.name(), answers[step].0);
                let n = run.workload.n;
                let found = [of(*judge, expected), of(subject, &answers)];
                return Err(LabError::PairsDiffer { n, step, found });
            }
        }
        Ok(())
    }

    fn measure_one(
        &mut self,
        subject: Subject,
        run: &Run,
        workers: &Workers,
    ) -> Result<(Row, Vec<Answer>), LabError> {
        let clock = Clock::of_threads(run.threads);
        let now = clock.reader();
        let mut boxes = MovingBoxes::new(&run.workload);
        let begin = now();
        let mut engine = Engine::new(subject, &boxes, workers)?;
        let setup = now().saturating_sub(begin);
        let mut spent = Spent::default();
        let (mut pairs_total, mut box_tests, mut updates) = (0, 0, 0);
        let mut answers = Vec::new();
        for _ in 0..self.steps {
            boxes.step();
            let begin = now();
            let done = engine.step(&boxes)?;
            spent.add(now().saturating_sub(begin));
            pairs_total += done.pairs as u64;
            box_tests += done.counters.box_tests;
            updates += done.counters.updates;
            answers.push((done.pairs, engine.fingerprint()));
            self.done += boxes.len() as usize;
            self.progress.done(self.done);
        }
        let Workload { n, density, movers, speed, seed } = run.workload;
        let mean = |total: u64| total / u64::from(self.steps.max(1));
        let row = Row {
            structure: subject.name(),
            n,
            threads: run.threads,
            density,
            movers,
            speed,
            seed,
            steps: self.steps,
            clock,
            ms_per_step: spent.mean_ms(),
            worst_ms: spent.worst_ms(),
            setup_ms: milliseconds(setup),
            pairs: mean(pairs_total),
            pairs_total,
            box_tests: mean(box_tests),
            updates: mean(updates),
        };
        Ok((row, answers))
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "structure",
        "n",
        "density",
        "movers",
        "speed",
        "threads",
        "ms/step",
        "worst ms",
        "pairs",
        "box tests",
        "updates",
    ]);
    for row in rows {
        table.row(&[
            &row.structure,
            &row.n,
            &row.density.to_string(),
            &row.movers.to_string(),
            &row.speed.to_string(),
            &row.threads,
            &row.ms_per_step,
            &row.worst_ms,
            &row.pairs,
            &row.box_tests,
            &row.updates,
        ]);
    }
    let steps = rows.first().map_or(0, |row| row.steps);
    table.note(format!("{steps} steps; counts are means per step"));
    for clock in [Clock::ThreadCpu, Clock::Wall] {
        let what = if clock == Clock::Wall { "2 or more threads" } else { "1 thread" };
        if rows.iter().any(|row| row.clock == clock) {
            table.note(format!("times with {what}: {}", clock.name()));
        }
    }
    table
}

/// A panel for each combination, a line for each structure.
fn figure(rows: &[Row]) -> Figure {
    let mut panels: Vec<Panel> = Vec::new();
    for row in rows {
        let &Row { density, movers, speed, threads, .. } = row;
        let plural = if threads == 1 { "" } else { "s" };
        let title =
            format!("density {density}, movers {movers}, speed {speed}, {threads} thread{plural}");
        let at = panels.iter().position(|panel| panel.title == title).unwrap_or_else(|| {
            panels.push(Panel { title, x: "boxes", y: "ms per step", lines: Vec::new() });
            panels.len() - 1
        });
        Line::extend(&mut panels[at].lines, row.structure, [f64::from(row.n), row.ms_per_step]);
    }
    Figure {
        title: "Time per step of broad phases on moving boxes",
        columns: 2,
        scale: Scale::Logarithmic,
        panels,
    }
}
