//! Work on the repository itself. `cargo xtask` lists the commands.

use std::path::PathBuf;
use std::process::ExitCode;

mod ci;
mod header;
mod release;
mod tidy;
mod web;

const HELP: &str = "\
Usage: cargo xtask <command>

  ci      everything that must hold before a change lands: format, clippy, docs, tidy, tests
  tidy    the rules of STYLE.md that a program can check
  exact   compare the exact predicates with integer arithmetic: --cases N (default 1000000) --seed S
  header  generate bindings/c/include/jostle.h
  web     build the live page into web/dist (needs Node.js and npm)
  demo    build and run a shared world with a live page; options are those of `jostle demo`
  demo turning  two bodies rotating through each other in the terminal
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["ci"] => ci::run(&root()),
        ["tidy"] => tidy::run(&root()),
        ["header"] => header::run(&root()),
        ["web"] => web::run(&root()),
        ["exact", rest @ ..] => release::example(&root(), "jostle-oracle", "exact", rest),
        ["demo", "turning", rest @ ..] => release::example(&root(), "jostle", "turning", rest),
        ["demo", rest @ ..] => release::demo(&root(), rest),
        [] | ["help" | "-h" | "--help"] => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        other => {
            eprint!("cargo xtask has no command `{}`\n\n{HELP}", other.join(" "));
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository: the folder above this package.
fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().map(PathBuf::from).unwrap_or(package)
}
