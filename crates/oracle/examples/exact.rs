//! Many triangle pairs, each decided by the kernels and by whole-number arithmetic.
//!
//! `cargo xtask exact --cases N --seed S` runs this with optimisation.

use jostle_oracle::options::Options;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let options = match (Options { cases: 1_000_000, seed: 1 }.parse(&words)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let summary = jostle_oracle::exact::run(options.cases, options.seed);
    println!("{summary}");
    if summary.wrong() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
