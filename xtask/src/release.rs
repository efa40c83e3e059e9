//! Programs of the workspace that want a release build: cargo builds and runs them.

use std::path::Path;
use std::process::Command;

/// Builds an example of a package with optimisation and runs it; `options` are passed on.
///
/// # Errors
/// A build that fails, and a program that ends with anything but success.
pub(crate) fn example(
    root: &Path,
    package: &str,
    name: &str,
    options: &[&str],
) -> Result<(), String> {
    let status = Command::new(env!("CARGO"))
        .args(["run", "--release", "--package", package, "--example", name, "--"])
        .args(options)
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name}: {status}")) }
}
