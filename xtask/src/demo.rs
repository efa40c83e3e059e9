//! The best demonstration there is: for now two bodies turning through each other.

use std::path::Path;
use std::process::Command;

/// Builds the demonstration with optimisation and runs it; `options` are passed on.
pub(crate) fn run(root: &Path, options: &[&str]) -> Result<(), String> {
    let status = Command::new(env!("CARGO"))
        .args(["run", "--release", "--package", "jostle", "--example", "turning", "--"])
        .args(options)
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the demonstration ended with {status}")) }
}
