//! The repository tests itself: the rules of STYLE.md that a program can check.
//!
//! Every rule is a function from a [`Tree`] (paths and texts, in memory) to [`Finding`]s, so each
//! is tested on small made-up trees. What may break a rule, and why, stands in
//! `xtask/tidy-exceptions.txt`; that list may only shrink.

use std::fmt;
use std::path::Path;

mod arrows;
mod documents;
mod exceptions;
mod rust;
mod sizes;
mod source;
mod tree;
mod vocabulary;
mod words;

use exceptions::Exceptions;
use tree::Tree;

const EXCEPTIONS: &str = "xtask/tidy-exceptions.txt";

/// What can be wrong. The name is what the list of exceptions uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    FileLines,
    FunctionLines,
    LineColumns,
    Parse,
    Arrow,
    DocumentPath,
    CoverageRow,
    Marker,
    Unsafe,
    Panic,
    Clock,
    Leftover,
    RetiredWord,
    Exception,
}

impl Rule {
    const ALL: [Rule; 14] = [
        Rule::FileLines,
        Rule::FunctionLines,
        Rule::LineColumns,
        Rule::Parse,
        Rule::Arrow,
        Rule::DocumentPath,
        Rule::CoverageRow,
        Rule::Marker,
        Rule::Unsafe,
        Rule::Panic,
        Rule::Clock,
        Rule::Leftover,
        Rule::RetiredWord,
        Rule::Exception,
    ];

    fn name(self) -> &'static str {
        match self {
            Rule::FileLines => "file-lines",
            Rule::FunctionLines => "function-lines",
            Rule::LineColumns => "line-columns",
            Rule::Parse => "parse",
            Rule::Arrow => "arrow",
            Rule::DocumentPath => "document-path",
            Rule::CoverageRow => "coverage-row",
            Rule::Marker => "marker",
            Rule::Unsafe => "unsafe",
            Rule::Panic => "panic",
            Rule::Clock => "clock",
            Rule::Leftover => "leftover",
            Rule::RetiredWord => "retired-word",
            Rule::Exception => "exception",
        }
    }
}

/// One place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    rule: Rule,
    /// The path; for a function `path#name`. What an exception names.
    subject: String,
    /// Counted from 1; 0 if the finding is about the whole file.
    line: usize,
    /// The size measured by a rule about sizes, else 1.
    size: usize,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.subject)?;
        if self.line > 0 {
            write!(out, ":{}", self.line)?;
        }
        write!(out, ": {} [{}]", self.message, self.rule.name())
    }
}

/// Checks the repository at `root` against every rule.
///
/// # Errors
/// One line per finding.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root)?;
    let exceptions = Exceptions::parse(tree.text(EXCEPTIONS).unwrap_or_default());
    let mut findings = check(&tree);
    findings.extend(arrows::check(&arrows::metadata(root)?)?);
    let left = exceptions.settle(findings);
    if left.is_empty() {
        println!("tidy: {} files follow the rules", tree.files().count());
        return Ok(());
    }
    let lines: Vec<String> = left.iter().map(Finding::to_string).collect();
    Err(format!(
        "{}\ntidy: {} findings; the reasons stand in STYLE.md",
        lines.join("\n"),
        left.len()
    ))
}

/// Every rule that needs nothing but the files.
fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = sizes::check(tree);
    findings.extend(words::check(tree));
    findings.extend(documents::check(tree));
    findings.extend(vocabulary::check(tree));
    for (path, text) in tree.with_ending(&[".rs"]) {
        findings.extend(rust::check(path, text));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_names_are_all_different() {
        let names: std::collections::BTreeSet<_> = Rule::ALL.map(Rule::name).into();
        assert_eq!(names.len(), Rule::ALL.len());
    }

    #[test]
    fn a_finding_names_place_and_rule() {
        let mut finding = Finding {
            rule: Rule::Clock,
            subject: "crates/geom/src/a.rs".into(),
            line: 3,
            size: 1,
            message: "a clock".into(),
        };
        assert_eq!(finding.to_string(), "crates/geom/src/a.rs:3: a clock [clock]");
        finding.line = 0;
        assert_eq!(finding.to_string(), "crates/geom/src/a.rs: a clock [clock]");
    }
}
