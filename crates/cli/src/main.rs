//! The command `jostle`: parse, do, exit code.
//!
//! 0: done. 1: the answer is what `--fail-on` asks to fail on. 2: bad input, told on stderr.

mod args;
mod error;
mod input;
mod mesh;
mod pair;
mod progress;
mod query;

use args::{Args, Command};
use clap::Parser;
use error::CliError;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let mut out = Vec::new();
    let done = match &args.command {
        Command::Pair(pair) => pair::run(pair, &mut out),
        Command::Mesh(mesh) => mesh::run(mesh, &mut out),
    };
    match done.and_then(|failed| print(&out).map(|()| failed)) {
        Ok(failed) => ExitCode::from(u8::from(failed)),
        Err(error) => {
            eprintln!("jostle: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whoever reads the output may stop early (`jostle … | head`); that is no error.
fn print(out: &[u8]) -> Result<(), CliError> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(out).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::Output(error)),
        _ => Ok(()),
    }
}
