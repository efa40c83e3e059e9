//! What a reviewer has approved: a file with one JSON object per line (decision 34).
//!
//! An entry covers a finding about the same two parts that is of the same kind or less severe. So
//! an accepted contact that has become an overlap is reported again, and so are parts that have
//! come closer than when they were accepted.

use crate::error::CliError;
use jostle_stage::{Finding, FindingKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The first line of the file.
const HEADER: &str = "{\"jostle_accept\":1}";

/// The entries of a file.
#[derive(Debug, Default)]
pub(crate) struct Accept {
    /// By the names of the two, in order.
    entries: BTreeMap<[String; 2], Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    kind: FindingKind,
    /// Metres: with too_close, how close they may come.
    closest: f64,
    note: Option<String>,
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    a: String,
    b: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    closest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Accept {
    /// Reads a file.
    pub(crate) fn open(path: &Path) -> Result<Accept, CliError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| CliError::Read { file: file.clone(), source })?;
        Accept::parse(&text).map_err(|(line, what)| CliError::Accept { file, line, what })
    }

    fn parse(text: &str) -> Result<Accept, (usize, String)> {
        let mut accept = Accept::default();
        let lines = (1..).zip(text.lines().map(str::trim));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        match lines.next() {
            Some((_, HEADER)) => {}
            Some((line, found)) => {
                return Err((line, format!("expected {HEADER} as the first line, found {found}")));
            }
            None => return Err((1, format!("expected {HEADER} as the first line, found nothing"))),
        }
        for (number, text) in lines {
            let line: Line = serde_json::from_str(text).map_err(|error| {
                // Each line is a text of its own, whose line is always 1.
                let what = error.to_string().replace("at line 1 column", "at column");
                (number, what)
            })?;
            let (names, entry) = Entry::of(line).map_err(|what| (number, what))?;
            accept.entries.insert(names, entry);
        }
        Ok(accept)
    }

    /// The names that the file has.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[String; 2]> {
        self.entries.keys()
    }

    /// The present findings, as approved. Notes of the file before are kept.
    pub(crate) fn of(findings: &[Finding], before: &Accept) -> Accept {
        let mut accept = Accept::default();
        // The most severe come first.
        for finding in findings {
            let names = [finding.a.to_string(), finding.b.to_string()];
            let note = before.entries.get(&names).and_then(|entry| entry.note.clone());
            let entry = Entry { kind: finding.kind, closest: rounded_down(finding.distance), note };
            accept.entries.entry(names).or_insert(entry);
        }
        accept
    }

    /// Which findings are covered, and what the file has that was not found any more.
    pub(crate) fn review(&self, findings: &[Finding]) -> (Vec<bool>, Vec<String>) {
        let key = |finding: &Finding| [finding.a.to_string(), finding.b.to_string()];
        let covered = findings.iter().map(|finding| {
            self.entries.get(&key(finding)).is_some_and(|entry| entry.covers(finding))
        });
        let covered = covered.collect();
        let mut stale: BTreeMap<&[String; 2], &Entry> = self.entries.iter().collect();
        for finding in findings {
            stale.remove(&key(finding));
        }
        let stale = stale.iter().map(|([a, b], entry)| {
            format!("accepted but not found any more: {} of {a} and {b}", entry.kind.name())
        });
        (covered, stale.collect())
    }

    /// The text of a file: sorted by names.
    pub(crate) fn text(&self) -> Result<String, CliError> {
        let mut text = format!("{HEADER}\n");
        for ([a, b], Entry { kind, closest, note }) in &self.entries {
            let closest = (*kind == FindingKind::TooClose).then_some(*closest);
            let (a, b, kind, note) = (a.clone(), b.clone(), kind.name().into(), note.clone());
            text += &serde_json::to_string(&Line { a, b, kind, closest, note })?;
            text.push('\n');
        }
        Ok(text)
    }
}

impl Entry {
    fn of(line: Line) -> Result<([String; 2], Entry), String> {
        let Line { a, b, kind, closest, note } = line;
        let Some(mut kind) = FindingKind::from_name(&kind) else {
            let known = FindingKind::ALL.map(FindingKind::name).join(", ");
            return Err(format!("kind: expected one of {known}, found {kind:?}"));
        };
        let closest = match (kind, closest) {
            (FindingKind::TooClose, Some(closest)) if closest >= 0.0 => closest,
            (FindingKind::TooClose, _) => {
                return Err("closest: expected a distance in metres, 0 or more".to_string());
            }
            (_, Some(_)) => return Err("closest: goes with the kind too_close only".to_string()),
            (_, None) => 0.0,
        };
        let mut names = [a, b];
        if names[0] > names[1] {
            names.reverse();
            kind = match kind {
                FindingKind::AInsideB => FindingKind::BInsideA,
                FindingKind::BInsideA => FindingKind::AInsideB,
                other => other,
            };
        }
        Ok((names, Entry { kind, closest, note }))
    }

    fn covers(&self, finding: &Finding) -> bool {
        if self.kind != finding.kind {
            return severity(finding.kind) > severity(self.kind);
        }
        self.kind != FindingKind::TooClose || finding.distance >= self.closest
    }
}

/// Lower is worse. Kinds of interference are equally bad, and none covers another.
fn severity(kind: FindingKind) -> u8 {
    match kind {
        kind if kind.overlaps() => 0,
        FindingKind::Touch => 1,
        FindingKind::Contact => 2,
        _ => 3,
    }
}

/// A distance that is not more, with four digits.
fn rounded_down(distance: f64) -> f64 {
    let number = |digits: i64, power: i32| format!("{digits}e{power}").parse().unwrap_or(0.0);
    let nearest = format!("{distance:.3e}");
    let parts = nearest.split_once('e').and_then(|(digits, power)| {
        let digits: i64 = digits.replace('.', "").parse().ok()?;
        Some((digits, power.parse::<i32>().ok()? - 3))
    });
    match parts {
        Some((digits, power)) if number(digits, power) <= distance => number(digits, power),
        Some((1000, power)) => number(9999, power - 1),
        Some((digits, power)) => number(digits - 1, power),
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_rounded_down_to_four_digits() {
        for (distance, expected) in [
            (0.0, 0.0),
            (0.004, 0.004),
            (0.003_999_9, 0.003_999),
            (1.0, 1.0),
            (9999.9, 9999.0),
            (0.999_999, 0.9999),
        ] {
            assert_eq!(rounded_down(distance), expected, "{distance}");
        }
    }

    #[test]
    fn a_file_with_an_error_is_refused_with_its_line() {
        let refused = |text: &str| Accept::parse(text).map(|_| ()).unwrap_err();
        assert_eq!(refused("").0, 1);
        assert_eq!(refused("# comment\n\nx").0, 3);
        let entry =
            |rest: &str| refused(&format!("{HEADER}\n\n{{\"a\":\"A\",\"b\":\"B\",{rest}}}"));
        assert_eq!(entry("\"kind\":\"crash\"").0, 3);
        assert!(entry("\"kind\":\"crash\"").1.contains("expected one of overlap, "));
        assert!(entry("\"kind\":\"too_close\"").1.contains("closest"));
        assert!(entry("\"kind\":\"contact\",\"closest\":1").1.contains("closest"));
        assert!(entry("\"kind\":\"contact\",\"colour\":1").1.contains("colour"));
        assert!(entry("\"kind\":\"contact\",").1.contains("at column"));
    }
}
