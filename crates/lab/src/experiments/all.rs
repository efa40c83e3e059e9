//! `jostle lab all`: every experiment of the laboratory, written down as one document.
//!
//! Numbers come from the run; what was learned was written after looking at several of them, and is
//! kept beside the command that shows it (`all/sections.rs`). Read it again after a change of
//! a method.

mod machine;
mod sections;

use super::args::Experiment;
use super::clock::Clock;
use super::table::short;
use crate::bench::{Approach, Method, Question, Solid, approach};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use clap::Parser;
use sections::{SECTIONS, Section};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) const EXAMPLES: &str = "\
Examples:
  jostle lab all
  jostle lab all --quick --out /tmp/laboratory";

/// A command as it is typed after `jostle`.
#[derive(Parser)]
struct Typed {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AllArgs {
    /// Folder for laboratory.md and figures/
    #[arg(long, value_name = "DIR", default_value = "docs")]
    pub(crate) out: PathBuf,
    /// Small sizes, to see that everything runs; the numbers mean nothing
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only these experiments, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) only: Vec<String>,
}

pub(crate) fn run(args: &AllArgs, out: &mut dyn Write) -> Result<(), LabError> {
    let names: Vec<&str> = SECTIONS.iter().map(|section| section.name).collect();
    if let Some(name) = args.only.iter().find(|name| !names.contains(&name.as_str())) {
        let known = names.join(", ");
        return Err(LabError::UnknownExperiment { name: name.clone(), known });
    }
    let chosen = |section: &&Section| {
        args.only.is_empty() || args.only.iter().any(|name| name == section.name)
    };
    let sections: Vec<&Section> = SECTIONS.iter().filter(chosen).collect();
    let figures = args.out.join("figures");
    let failed = |path: &Path| {
        let file = path.display().to_string();
        move |source| LabError::Write { file, source }
    };
    std::fs::create_dir_all(&figures).map_err(failed(&figures))?;
    let path = args.out.join("laboratory.md");
    let mut progress = Progress::new(sections.len(), true);
    let mut text = head(args)?;
    for (done, section) in sections.iter().enumerate() {
        text.push_str(&section.measure(&figures, args.quick)?);
        progress.done(done + 1);
    }
    drop(progress);
    text.push_str(sections::OTHERS);
    std::fs::write(&path, text).map_err(failed(&path))?;
    writeln!(out, "{}", path.display())?;
    Ok(())
}

/// What it is, where and when it was measured, and how much two measurements of the same thing
/// differ.
fn head(args: &AllArgs) -> Result<String, LabError> {
    let quick = args.quick;
    let mesh = Solid::Torus.mesh(4000)?;
    let (steps, orientations) = if quick { (8, 1) } else { (200, 3) };
    let asked = Approach { steps, orientations, seed: 1, question: Question::Touches };
    let twice = [Method::Ours, Method::Ours];
    let spent = approach(&mesh, asked, &twice, Clock::ThreadCpu.reader(), &mut || ())?;
    let mut ratios: Vec<f64> =
        spent[0].blocks.iter().zip(&spent[1].blocks).map(|(a, b)| a / b).collect();
    ratios.sort_by(f64::total_cmp);
    let quartile = |q: usize| short(ratios[(ratios.len() - 1) * q / 4]);
    let whole = spent[0].micros() / spent[1].micros();
    let mut text = sections::HEAD.to_owned();
    let _ = writeln!(
        text,
        "\n**Measured** on {} ({}), {}, {}.\n\n\
         **Noise.** The same method, measured as if it were two, in turns: {} times as long over \
         all; block by block a quarter was below {} and a quarter above {}, the extremes were {} \
         and {}.",
        machine::processor(),
        machine::cores(),
        machine::today(),
        machine::commit(&args.out),
        short(whole),
        quartile(1),
        quartile(3),
        quartile(0),
        quartile(4),
    );
    if quick {
        text.push_str("\nThis is a quick run: too short to learn anything from.\n");
    }
    Ok(text)
}

impl Section {
    /// Runs it as if it had been typed.
    fn measure(&self, figures: &Path, quick: bool) -> Result<String, LabError> {
        let options = if quick { self.quick } else { self.options };
        let figure = figures.join(self.figure);
        let figure_text = figure.display().to_string();
        let words = ["jostle", "lab", self.name].into_iter().chain(options.split_whitespace());
        let typed: Vec<&str> = words.collect();
        let all = typed.iter().copied().chain(["--svg", &figure_text]);
        let typed_args = Typed::try_parse_from(all.skip(1))
            .map_err(|error| LabError::Section(format!("{}: {error}", typed.join(" "))))?;
        let mut shown = Vec::new();
        super::run_experiment(&typed_args.experiment, &mut shown)?;
        let shown = String::from_utf8_lossy(&shown);
        let mut text = format!("\n## {}\n\n", self.title);
        if !quick {
            let _ = writeln!(text, "{}\n", self.learned.trim());
        }
        let _ = writeln!(text, "```text\n$ {}\n{}```\n", typed.join(" "), shown);
        let _ = writeln!(text, "![{}](figures/{})", self.title, self.figure);
        Ok(text)
    }
}
