//! Many pairs of solids made of cells: `relation` and `overlaps` checked by counting cells.
//!
//! `cargo run --release -p jostle-oracle --example polycubes -- --cases 100_000`.

use jostle_oracle::options::Options;
use jostle_oracle::polycubes::run;
use std::process::ExitCode;

fn main() -> ExitCode {
    Options { cases: 100_000, seed: 1 }.run(run, |summary| summary.wrong.is_empty())
}
