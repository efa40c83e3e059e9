//! What a document of measurements must say about where it comes from.

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim());
    name.unwrap_or("a processor whose name is unknown").to_owned()
}

pub(super) fn cores() -> String {
    match std::thread::available_parallelism().map_or(1, usize::from) {
        1 => "one core".to_owned(),
        cores => format!("{cores} cores"),
    }
}

/// The date, in universal time.
pub(super) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let [year, month, day] = date(since.as_secs() / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days since the beginning of 1970.
fn date(days: u64) -> [u64; 3] {
    // Years begin in March, so that a leap day is the last of its year; 400 years repeat.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    [era * 400 + year + u64::from(month <= 2), month, day]
}

/// The commit of the repository that a folder is in.
pub(super) fn commit(folder: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "commit unknown (written outside a repository)".to_owned();
    };
    let changes = git(&["status", "--porcelain", "--untracked-files=no"]);
    let clean = changes.is_some_and(|changes| changes.is_empty());
    if clean { format!("commit {commit}") } else { format!("commit {commit} with changes") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (days, expected) in [
            (0, [1970, 1, 1]),
            (58, [1970, 2, 28]),
            (59, [1970, 3, 1]),
            (11_016, [2000, 2, 29]),
            (11_322, [2000, 12, 31]),
            (20_775, [2026, 11, 18]),
            (47_540, [2100, 2, 28]),
            (47_541, [2100, 3, 1]),
        ] {
            assert_eq!(date(days), expected, "day {days}");
        }
    }
}
