//! `jostle lab`: what can be asked, what is measured, and how it is shown as tables, JSON and
//! plots. The command parses [`LabArgs`] and calls [`run`].

mod all;
mod args;
mod boxtree;
mod broad;
mod bsp;
mod bunnies;
mod clock;
mod convex;
mod deform;
mod error;
mod groups;
mod latency;
mod links;
mod plot;
mod progress;
mod regions;
mod resting;
mod spheres;
mod splits;
mod storey;
mod table;
mod ten_objects;
mod tightness;
mod voxels;
mod zachmann;

pub use args::LabArgs;
use args::{Experiment, OutputArgs};
pub use error::LabError;
use plot::Figure;
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::Write;
use table::Table;

/// Carries out one experiment and writes its table, or its JSON.
///
/// # Errors
/// Where it cannot be set up, methods disagree, or a file or `out` cannot be written.
pub fn run(args: &LabArgs, out: &mut dyn Write) -> Result<(), LabError> {
    run_experiment(&args.experiment, out)
}

fn run_experiment(experiment: &Experiment, out: &mut dyn Write) -> Result<(), LabError> {
    match experiment {
        Experiment::All(args) => all::run(args, out),
        Experiment::Boxtree(args) => boxtree::run(args, out),
        Experiment::Broad(args) => broad::run(args, out),
        Experiment::Bsp(args) => bsp::run(args, out),
        Experiment::Bunnies(args) => bunnies::run(args, out),
        Experiment::Convex(args) => convex::run(args, out),
        Experiment::Deform(args) => deform::run(args, out),
        Experiment::Groups(args) => groups::run(args, out),
        Experiment::Latency(args) => latency::run(args, out),
        Experiment::Links(args) => links::run(args, out),
        Experiment::Regions(args) => regions::run(args, out),
        Experiment::Resting(args) => resting::run(args, out),
        Experiment::Spheres(args) => spheres::run(args, out),
        Experiment::Splits(args) => splits::run(args, out),
        Experiment::Storey(args) => storey::run(args, out),
        Experiment::TenObjects(args) => ten_objects::run(args, out),
        Experiment::Tightness(args) => tightness::run(args, out),
        Experiment::Voxels(args) => voxels::run(args, out),
        Experiment::Zachmann(args) => zachmann::run(args, out),
    }
}

/// What an experiment has to show.
struct Results<'a, R> {
    rows: &'a [R],
    table: Table,
    figure: Figure,
}

#[derive(Serialize)]
struct Json<'a, R> {
    rows: &'a [R],
}

impl<R: Serialize> Results<'_, R> {
    /// The plot first: if it cannot be written, nothing is printed.
    fn show(&self, output: &OutputArgs, out: &mut dyn Write) -> Result<(), LabError> {
        if let Some(path) = &output.svg {
            let file = || path.display().to_string();
            std::fs::write(path, self.figure.svg())
                .map_err(|source| LabError::Write { file: file(), source })?;
        }
        if output.json {
            serde_json::to_writer(&mut *out, &Json { rows: self.rows })?;
            writeln!(out)?;
        } else {
            write!(out, "{}", self.table)?;
        }
        Ok(())
    }
}

/// A plot that cannot be written is reported before minutes of measuring, not after. A file that is
/// there stays as it is until then.
fn check_writable(output: &OutputArgs) -> Result<(), LabError> {
    let Some(path) = &output.svg else { return Ok(()) };
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
    let file = || path.display().to_string();
    opened.map(drop).map_err(|source| LabError::Write { file: file(), source })
}
