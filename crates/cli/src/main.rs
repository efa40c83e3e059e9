//! The command `jostle`: parses arguments, runs the command, returns the exit code.
//!
//! ```text
//! jostle pair cup.obj table.stl                                  do they touch?
//! jostle pair cup.obj table.stl --query pairs --segments --json  which faces, and where
//! jostle pair cup.obj table.stl --poses path.txt --query distance
//! jostle pair cup.obj table.stl --query toi --pose-a-end "0 0 -1 0 0 0 1"
//! jostle mesh cup.obj --save-hierarchy cup.hierarchy
//! jostle pair cup.obj table.stl --hierarchy-a cup.hierarchy
//! jostle check gearbox.wrl --clearance 0.002                     do the parts fit?
//! jostle run room.wrl --steps 300                                simulate a scene
//! jostle demo                                                    a shared world with a page
//! jostle serve --generate solids,1000                            a world to share
//! jostle node --join 127.0.0.1:7447                              on one more machine
//! jostle bots --join 127.0.0.1:7447 --avatars 20                 with 20 simulated clients
//! jostle lab broad --preset peers --n 10000                      how fast, on this machine?
//! ```
//!
//! 0: done. 1: the answer is what `--fail-on` names. 2: bad input, with an error on stderr.
//! Every option and the shape of the JSON: `docs/command-line.md`.

mod answer;
mod args;
mod check;
mod error;
mod input;
mod keys;
mod mesh;
mod pair;
mod progress;
mod query;
mod run;
mod scene;
mod share;
mod sim;
mod summary;
mod table;
mod units;

use args::{Args, Command};
use clap::Parser;
use error::CliError;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let mut out = BufWriter::new(IgnoreBrokenPipe(io::stdout().lock()));
    let done = run_command(&args.command, &mut out);
    match done.and_then(|code| out.flush().map(|()| code).map_err(CliError::Output)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("jostle: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns the exit code: 0 or 1 for an answer; `jostle judge` has more.
fn run_command(command: &Command, out: &mut dyn Write) -> Result<u8, CliError> {
    let answer = match command {
        Command::Pair(pair) => pair::run(pair, out),
        Command::Mesh(mesh) => mesh::run(mesh, out),
        Command::Check(check) => check::run(check, out),
        Command::Run(scene) => run::run(scene, out),
        Command::Sim(sim) => sim::run(sim, out),
        Command::Demo(demo) => share::demo(demo, out),
        Command::Serve(serve) => share::serve(serve, out),
        Command::Node(node) => share::node(node, out),
        Command::Directory(directory) => share::directory(directory, out),
        Command::Bots(bots) => share::bots(bots, out),
        Command::Status(status) => share::status(status, out),
        Command::Replay(replay) => share::replay(replay, out),
        Command::Judge(judge) => return share::judge(judge, out),
        // What was measured is the answer, whatever it is: never exit code 1.
        Command::Lab(lab) => {
            jostle_lab::experiments::run(lab, out).map(|()| false).map_err(Into::into)
        }
    };
    answer.map(u8::from)
}

/// Ignores a closed pipe: the reader of the output may stop early (`jostle … | head`), which is no
/// error and does not change the exit code.
struct IgnoreBrokenPipe<W>(W);

impl<W: Write> Write for IgnoreBrokenPipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}
