//! Nothing half-finished stays: no markers in any text, no temporary files.

use super::{Finding, Rule, Tree};

/// Endings of files that editors, merges and experiments leave behind.
const LEFTOVERS: [&str; 5] = [".tmp", ".orig", ".bak", ".rej", "~"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let finding = |rule, path: &str, line, message: &str| Finding {
        rule,
        subject: path.into(),
        line,
        size: 1,
        message: message.into(),
    };
    let markers = markers();
    let mut findings = Vec::new();
    for (path, text) in tree.files() {
        if LEFTOVERS.iter().any(|ending| path.ends_with(ending)) {
            findings.push(finding(Rule::Leftover, path, 0, "a leftover file: remove it"));
        }
        for (index, line) in text.lines().enumerate() {
            let mut words = line.split(|letter: char| !letter.is_alphanumeric());
            if words.any(|word| markers.iter().any(|marker| marker == word)) {
                let message = "a leftover marker: do it, or open an issue";
                findings.push(finding(Rule::Marker, path, index + 1, message));
            }
        }
    }
    findings
}

/// Put together here so that this file does not contain what it looks for.
fn markers() -> [String; 4] {
    [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["HA", "CK"]].map(|halves| halves.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(Rule, usize)> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| (finding.rule, finding.line)).collect()
    }

    #[test]
    fn markers_are_found_in_every_kind_of_file() {
        for marker in markers() {
            for path in ["a.rs", "a.md", "a.toml", ".ci/run"] {
                let text = format!("fine\n// {marker}: later\n");
                assert_eq!(found(path, &text), [(Rule::Marker, 2)], "{marker} in {path}");
            }
            // Part of a longer word, or an ordinary small word.
            assert_eq!(found("a.rs", &format!("{marker}ED {}", marker.to_lowercase())), []);
        }
    }

    #[test]
    fn temporary_files_are_found_by_name() {
        for path in ["a.tmp", "docs/a.md.orig", "a.rs.bak", "a.rs.rej", "a.rs~"] {
            assert_eq!(found(path, ""), [(Rule::Leftover, 0)], "{path}");
        }
        for path in ["tmp.rs", "a.tmp.rs", "original.md", "bak/a.rs", "~a/b.rs"] {
            assert_eq!(found(path, ""), [], "{path}");
        }
    }
}
