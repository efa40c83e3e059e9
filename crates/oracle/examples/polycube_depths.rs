//! Many pairs of solids made of cells: `separation` and `clearing` checked by counting cells.
//!
//! `cargo run --release -p jostle-oracle --example polycube_depths -- --cases 100_000`.

use jostle_geom::Effort;
use jostle_oracle::options::Options;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let options = match (Options { cases: 100_000, seed: 1 }.parse(&words)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let summary = jostle_oracle::polycubes::depth::run(options.cases, options.seed, Effort::HIGH);
    println!("{summary}");
    if summary.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
