//! Jostle, parry3d and FCL side by side: one process, one thread, the same data, in turns.
//!
//! `cargo run --release --manifest-path bench-peers/Cargo.toml -- --help`

mod broad;
mod broad_report;
mod builds;
mod contest;
#[cfg_attr(not(feature = "fcl"), path = "fcl_absent.rs")]
mod fcl;
mod machine;
mod measure;
mod models;
mod parry;
// The boxes that the laboratory has, from its own file: to depend on all of it would cost minutes.
#[allow(unreachable_pub)]
#[path = "../../crates/lab/src/scenes/peer_boxes.rs"]
mod peer_boxes;
mod plot;
mod report;
mod shapes;
mod soup;
mod tori;
mod us;
mod zachmann;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use report::Report;
use std::path::{Path, PathBuf};

/// Measures Jostle beside parry3d and FCL and writes tables and a plot.
#[derive(Parser)]
struct Arguments {
    /// Fewer poses, sizes and steps: a minute instead of ten.
    #[arg(long)]
    quick: bool,
    /// Run only this workload.
    #[arg(long)]
    only: Option<Workload>,
    /// Folder with OBJ, STL and PLY models.
    #[arg(long, default_value = "../shared/models")]
    models: PathBuf,
    /// Folder with a_N.obj, b_N.obj and poses_N.txt as gen.py of PEERS writes them, to reproduce
    /// the published counts. Otherwise tori and poses are generated here.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Poses that an engine answers in one turn, for the tori; a large number lets each engine do
    /// all poses in one go. Otherwise 50 to 125.
    #[arg(long)]
    block: Option<usize>,
    /// Folder for the results; a folder named after the machine is made in it.
    #[arg(long)]
    out: Option<PathBuf>,
    /// A date to note in the results.
    #[arg(long, default_value = "not given")]
    date: String,
    /// Also copy the plot of the tori to docs/figures/pairs.svg.
    #[arg(long)]
    publish: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Workload {
    Tori,
    Models,
    Zachmann,
    Broad,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = arguments.out.clone().unwrap_or_else(|| here.join("results")).join(machine::slug());
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let size = if arguments.quick { "quick" } else { "full" };
    let origin = if arguments.data.is_some() { "read from gen.py's files" } else { "generated" };
    let turns = arguments.block.map_or(String::new(), |n| format!("; turns of {n} poses"));
    let workload = format!("{size}; tori and their poses {origin}{turns}");
    let about = machine::about(here, &arguments.date, &workload);
    let wanted = |workload| arguments.only.is_none_or(|only| only == workload);
    if wanted(Workload::Tori) {
        let report = tori::run(arguments.quick, arguments.data.as_deref(), arguments.block)?;
        write(&report, &about, &out)?;
        let plot = plot::svg(&report);
        save(&out.join("pairs.svg"), &plot)?;
        if arguments.publish {
            let figures = here.join("../docs/figures");
            std::fs::create_dir_all(&figures).with_context(|| figures.display().to_string())?;
            save(&figures.join("pairs.svg"), &plot)?;
        }
    }
    if wanted(Workload::Models) {
        write(&models::run(arguments.quick, &arguments.models)?, &about, &out)?;
    }
    if wanted(Workload::Zachmann) {
        write(&zachmann::run(arguments.quick)?, &about, &out)?;
    }
    if wanted(Workload::Broad) {
        let about = machine::about(here, &arguments.date, size);
        let rows = broad::run(arguments.quick)?;
        let table = broad_report::markdown(&rows, &about);
        println!("{table}");
        save(&out.join("broad.md"), &table)?;
        save(&out.join("broad.csv"), &broad_report::csv(&rows, &about))?;
    }
    Ok(())
}

fn write(report: &Report, about: &[(&str, String)], out: &Path) -> Result<()> {
    if report.rows.is_empty() {
        return Ok(());
    }
    let table = report.markdown(about);
    println!("{table}");
    save(&out.join(format!("{}.md", report.workload)), &table)?;
    save(&out.join(format!("{}.csv", report.workload)), &report.csv(about))
}

fn save(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| path.display().to_string())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
