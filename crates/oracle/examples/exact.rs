//! Many triangle pairs, each decided by the kernels and by whole-number arithmetic.
//!
//! `cargo xtask exact --cases N --seed S` runs this with optimisation.

use jostle_oracle::exact::run;
use jostle_oracle::options::Options;
use std::process::ExitCode;

fn main() -> ExitCode {
    Options { cases: 1_000_000, seed: 1 }.run(run, |summary| summary.wrong() == 0)
}
