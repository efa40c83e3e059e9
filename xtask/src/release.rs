//! Programs of the workspace that want a release build: cargo builds and runs them.

use std::path::Path;
use std::process::Command;

/// Builds the page if Node is there, builds the command, and shows a shared world; `options` are
/// passed on.
///
/// # Errors
/// A build that fails, and a command that ends with anything but success.
pub(crate) fn demo(root: &Path, options: &[&str]) -> Result<(), String> {
    if let Err(why) = crate::web::run(root) {
        eprintln!("the page is not built ({why}); the demo says how to get it");
    }
    let run = ["run", "--release", "--package", "jostle-cli", "--bin", "jostle", "--", "demo"];
    cargo(root, &run, options)
}

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
    cargo(root, &["run", "--release", "--package", package, "--example", name, "--"], options)
}

fn cargo(root: &Path, words: &[&str], options: &[&str]) -> Result<(), String> {
    let status = Command::new(env!("CARGO"))
        .args(words)
        .args(options)
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    let last = words.iter().rev().find(|word| **word != "--").unwrap_or(&"cargo");
    if status.success() { Ok(()) } else { Err(format!("{last}: {status}")) }
}
