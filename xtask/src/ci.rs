//! Everything that must hold before a change lands, in one command, the same here and on the
//! server (`.ci/run` calls it). Quick checks come first, and the first failure ends the run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// One check: a title, and the cargo command that makes it.
struct Step {
    title: &'static str,
    cargo: Vec<&'static str>,
    environment: Option<(&'static str, &'static str)>,
}

/// Runs all checks on the workspace at `root`.
///
/// # Errors
/// Says which check failed and how to repeat it alone.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let begin = Instant::now();
    // First, because the page becomes a part of the command.
    timed("page", || crate::web::check(root))?;
    let formatting = step("formatting", "fmt --all --check");
    timed(formatting.title, || formatting.run(root))?;
    timed("tidy", || crate::tidy::run(root))?;
    let reading = [
        step("clippy", "clippy --locked --workspace --all-targets -- -D warnings"),
        // What a program gets that wants geometry and nothing else.
        step("geometry alone", "check --locked --package jostle --no-default-features"),
        Step {
            environment: Some(("RUSTDOCFLAGS", "-D warnings")),
            // Binaries are left out: `jostle` is also the name of a library.
            ..step("rustdoc", "doc --locked --workspace --no-deps --lib")
        },
    ];
    for step in reading {
        timed(step.title, || step.run(root))?;
    }
    for step in tests(has_nextest(root)) {
        timed(step.title, || step.run(root))?;
    }
    for example in EXAMPLES {
        let run = ["run", "--locked", "--quiet", "--example", example];
        let step = Step { title: example, cargo: run.to_vec(), environment: None };
        timed(&format!("example {example}"), || step.run(root))?;
    }
    for (title, options) in CAMPAIGNS {
        for length in LENGTHS {
            let title = format!("{title}, {} s", length.0);
            timed(&title, || campaign(root, options, length))?;
        }
    }
    println!("\nci: all checks passed in {:.1} s", begin.elapsed().as_secs_f64());
    Ok(())
}

/// The short programs of `crates/jostle/examples`.
const EXAMPLES: [&str; 7] = [
    "two_meshes",
    "many_poses",
    "distance_and_clearance",
    "time_of_impact",
    "rays",
    "bodies",
    "scene_check",
];

/// The tests, by nextest where it is installed; nextest does not run examples in documentation.
fn tests(nextest: bool) -> [Step; 2] {
    let tests = if nextest {
        step("tests", "nextest run --locked --workspace --tests --no-fail-fast")
    } else {
        step("tests", "test --locked --workspace --tests --no-fail-fast")
    };
    [tests, step("doc tests", "test --locked --workspace --doc --no-fail-fast")]
}

/// A minute of fault campaigns, half of it of long ones: how many seeds that is depends on the
/// machine, so it is no test.
const CAMPAIGNS: [(&str, &str); 7] = [
    ("fault campaigns", "--nodes 6 --objects 60"),
    ("fault campaigns, free-running", "--nodes 6 --objects 60 --free-running"),
    ("fault campaigns, several groups", "--nodes 6 --objects 60 --sites 2 --replicas 3"),
    ("fault campaigns, with clients", "--clients 8"),
    ("fault campaigns, clients of several groups", "--clients 6 --sites 2 --nodes 6"),
    (
        "fault campaigns, clients of a free-running group",
        "--clients 6 --free-running --nodes 6 --objects 40",
    ),
    ("fault campaigns, replicated directory", "--nodes 6 --objects 60 --replicas 3"),
];

/// How long fault campaigns last, and the seconds of real time for each kind. Long ones break rules
/// that short ones keep: losses of two copies, or for longer than a timeout, occur only there.
const LENGTHS: [(&str, u32); 2] = [("2", 4), ("20", 4)];

/// One fault campaign, by the `jostle` that the tests were just made with; it lies beside this
/// program. Cargo would build zenoh and all above it once more: without tests, some crates have
/// other features.
fn campaign(root: &Path, options: &str, (length, budget): (&str, u32)) -> Result<(), String> {
    let run = format!("--seeds 1000000 --budget {budget} --seconds {length}");
    let command = format!("sim --boxes {run} {options}");
    let here = std::env::current_exe().map_err(|error| format!("where am I? {error}"))?;
    let jostle = here.with_file_name(format!("jostle{}", std::env::consts::EXE_SUFFIX));
    let status = Command::new(&jostle).args(command.split(' ')).current_dir(root).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("to repeat: cargo run --bin jostle -- {command}")),
        Err(error) => Err(format!("{} could not be started: {error}", jostle.display())),
    }
}

fn step(title: &'static str, cargo: &'static str) -> Step {
    Step { title, cargo: cargo.split(' ').collect(), environment: None }
}

impl Step {
    fn run(&self, root: &Path) -> Result<(), String> {
        let mut command = Command::new(env!("CARGO"));
        command.args(&self.cargo).current_dir(root).envs(self.environment);
        let status =
            command.status().map_err(|error| format!("cargo could not be started: {error}"))?;
        if status.success() {
            return Ok(());
        }
        let setting = self.environment.map(|(name, value)| format!("{name}='{value}' "));
        let repeat = format!("{}cargo {}", setting.unwrap_or_default(), self.cargo.join(" "));
        Err(format!("to repeat: {repeat}"))
    }
}

fn timed(title: &str, check: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    println!("\n=== {title}");
    let begin = Instant::now();
    let outcome = check();
    let seconds = begin.elapsed().as_secs_f64();
    match outcome {
        Ok(()) => println!("=== {title}: passed in {seconds:.1} s"),
        Err(message) => {
            return Err(format!("=== {title}: FAILED after {seconds:.1} s\n{message}"));
        }
    }
    Ok(())
}

fn has_nextest(root: &Path) -> bool {
    Command::new(env!("CARGO"))
        .args(["nextest", "--version"])
        .current_dir(root)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_step_says_how_to_repeat_it() {
        let root = crate::root();
        let step = Step { environment: Some(("COLOUR", "red")), ..step("none", "no-such-command") };
        let message = step.run(&root).expect_err("cargo has no such command");
        assert_eq!(message, "to repeat: COLOUR='red' cargo no-such-command");
    }

    #[test]
    fn documentation_examples_run_with_and_without_nextest() {
        for nextest in [false, true] {
            let steps = tests(nextest);
            assert_eq!(steps[0].cargo.contains(&"nextest"), nextest);
            assert!(steps[1].cargo.contains(&"--doc"));
        }
    }

    #[test]
    fn the_first_failure_is_announced_with_its_title() {
        let message = timed("clippy", || Err("to repeat: x".into())).expect_err("the check fails");
        assert!(message.starts_with("=== clippy: FAILED after"), "{message}");
        assert!(message.ends_with("to repeat: x"), "{message}");
        assert!(timed("clippy", || Ok(())).is_ok());
    }
}
