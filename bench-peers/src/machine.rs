//! What a result must say about where it came from.

use crate::{fcl, parry};
use std::path::Path;
use std::process::Command;

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim());
    name.unwrap_or("unknown processor").to_owned()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A name for the folder of this machine: its processor and how many cores may be used.
pub(crate) fn slug() -> String {
    let name = processor().to_lowercase().replace("(r)", "").replace("(tm)", "");
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    format!("{}-{}-cores", words.collect::<Vec<_>>().join("-"), cores())
}

/// Name and value of everything that a reader needs to judge or repeat a run.
pub(crate) fn about(repository: &Path, date: &str, workload: &str) -> Vec<(&'static str, String)> {
    vec![
        ("machine", format!("{}, {} cores", processor(), cores())),
        ("date", date.to_owned()),
        ("Jostle", commit(repository)),
        ("FCL", fcl::version().unwrap_or_else(|| "left out of this build".into())),
        ("parry3d", parry::VERSION.to_owned()),
        ("Rust", format!("{}, opt-level 3, fat LTO, no target-cpu", env!("RUSTC_VERSION"))),
        ("workload", workload.to_owned()),
    ]
}

fn commit(repository: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(repository).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "commit unknown".into();
    };
    let changes = git(&["status", "--porcelain", "--untracked-files=no"]);
    let clean = changes.is_some_and(|changes| changes.is_empty());
    if clean { format!("commit {commit}") } else { format!("commit {commit} with changes") }
}
