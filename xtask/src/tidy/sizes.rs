//! Small enough to be read: lines per file and columns per line. (Functions: see `rust.rs`.)

use super::{Finding, Rule, Tree};

const FILE_LINES_MAX: usize = 600;
const LINE_COLUMNS_MAX: usize = 100;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_ending(&[".rs", ".ts", ".py", ".cpp"]) {
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            findings.push(Finding {
                rule: Rule::FileLines,
                subject: path.into(),
                line: 0,
                size: lines,
                message: format!("{lines} lines, at most {FILE_LINES_MAX} are allowed"),
            });
        }
    }
    for (path, text) in tree.with_ending(&[".rs"]) {
        for (index, line) in text.lines().enumerate() {
            let columns = line.chars().count();
            // An address cannot be broken without ceasing to be one.
            if columns > LINE_COLUMNS_MAX && !line.contains("https://") {
                findings.push(Finding {
                    rule: Rule::LineColumns,
                    subject: path.into(),
                    line: index + 1,
                    size: columns,
                    message: format!("{columns} columns, at most {LINE_COLUMNS_MAX} are allowed"),
                });
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(Rule, usize, usize)> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| (finding.rule, finding.line, finding.size)).collect()
    }

    #[test]
    fn a_file_may_have_600_lines_and_not_601() {
        for path in ["a.rs", "a.ts", "a.py", "a.cpp"] {
            assert_eq!(found(path, &"x\n".repeat(600)), []);
            assert_eq!(found(path, &"x\n".repeat(601)), [(Rule::FileLines, 0, 601)]);
        }
        assert_eq!(found("a.csv", &"x\n".repeat(601)), []);
    }

    #[test]
    fn a_line_may_have_100_columns_and_not_101() {
        // Two bytes per letter: columns are counted, not bytes.
        assert_eq!(found("a.rs", &"é".repeat(100)), []);
        assert_eq!(
            found("a.rs", &format!("x\n{}", "é".repeat(101))),
            [(Rule::LineColumns, 2, 101)]
        );
        assert_eq!(found("a.md", &"é".repeat(101)), []);
        assert_eq!(found("a.rs", &format!("// https://{}", "x".repeat(101))), []);
    }
}
