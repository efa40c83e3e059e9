//! The list of what may break a rule. It may only shrink: a line that is not needed, or that
//! allows more than is needed, is itself a finding.
//!
//! One line each: `subject | rule | number | reason`. The number is the size for rules about
//! sizes and the count of findings for all others.

use super::{EXCEPTIONS, Finding, Rule};

#[derive(Debug, Default)]
pub(super) struct Exceptions {
    entries: Vec<Entry>,
    bad_lines: Vec<Finding>,
}

#[derive(Debug)]
struct Entry {
    line: usize,
    subject: String,
    rule: Rule,
    number: usize,
}

impl Exceptions {
    pub(super) fn parse(text: &str) -> Exceptions {
        let mut exceptions = Exceptions::default();
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            match Entry::parse(line, line_number) {
                Some(entry) => exceptions.entries.push(entry),
                None => exceptions.bad_lines.push(complaint(
                    line_number,
                    "expected `subject | rule | number | reason`, all four present".into(),
                )),
            }
        }
        exceptions
    }

    /// What is left of `findings` when the exceptions are taken out, with what is wrong with the
    /// exceptions themselves.
    pub(super) fn settle(self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let mut complaints = self.bad_lines;
        for entry in &self.entries {
            let (meant, rest): (Vec<_>, Vec<_>) =
                findings.into_iter().partition(|finding| entry.is_about(finding));
            findings = rest;
            let needed = entry.needed(&meant);
            if meant.is_empty() {
                complaints.push(complaint(entry.line, "no longer needed: remove it".into()));
            } else if needed < entry.number {
                complaints.push(complaint(
                    entry.line,
                    format!("allows {} where {needed} is enough: lower it", entry.number),
                ));
            } else if needed > entry.number {
                findings.extend(meant);
            }
        }
        findings.extend(complaints);
        findings.sort_by(|a, b| (&a.subject, a.line, a.rule).cmp(&(&b.subject, b.line, b.rule)));
        findings
    }
}

impl Entry {
    fn parse(line: &str, line_number: usize) -> Option<Entry> {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [subject, rule, number, reason] = fields.as_slice() else { return None };
        if reason.is_empty() {
            return None;
        }
        let rule = Rule::ALL.into_iter().find(|known| known.name() == *rule)?;
        let number = number.parse().ok()?;
        Some(Entry { line: line_number, subject: (*subject).into(), rule, number })
    }

    fn is_about(&self, finding: &Finding) -> bool {
        self.rule == finding.rule && self.subject == finding.subject
    }

    fn needed(&self, findings: &[Finding]) -> usize {
        match self.rule {
            Rule::FileLines | Rule::FunctionLines | Rule::LineColumns => {
                findings.iter().map(|finding| finding.size).max().unwrap_or(0)
            }
            _ => findings.len(),
        }
    }
}

fn complaint(line: usize, message: String) -> Finding {
    Finding { rule: Rule::Exception, subject: EXCEPTIONS.into(), line, size: 1, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: Rule, subject: &str, size: usize) -> Finding {
        Finding { rule, subject: subject.into(), line: 7, size, message: String::new() }
    }

    fn left(list: &str, findings: Vec<Finding>) -> Vec<(Rule, String)> {
        let left = Exceptions::parse(list).settle(findings);
        left.into_iter().map(|finding| (finding.rule, finding.message)).collect()
    }

    #[test]
    fn an_exception_allows_exactly_what_it_says() {
        let long = || vec![finding(Rule::FileLines, "a.rs", 650)];
        assert_eq!(left("a.rs | file-lines | 650 | a table", long()), []);
        // Another file, another rule, one line too many: still found.
        assert_eq!(left("", long()).len(), 1);
        for list in ["a.rs | file-lines | 649 | a table", "b.rs | file-lines | 650 | a table"] {
            assert!(left(list, long()).iter().any(|(rule, _)| *rule == Rule::FileLines), "{list}");
        }
        let list = "a.rs | line-columns | 650 | a table";
        assert!(left(list, long()).iter().any(|(rule, _)| *rule == Rule::FileLines));
    }

    #[test]
    fn counts_are_counted() {
        let two = || vec![finding(Rule::Panic, "a.rs", 1), finding(Rule::Panic, "a.rs", 1)];
        assert_eq!(left("a.rs | panic | 2 | cannot fail", two()), []);
        assert_eq!(left("a.rs | panic | 1 | cannot fail", two()).len(), 2);
    }

    #[test]
    fn an_exception_may_only_shrink() {
        let long = vec![finding(Rule::FileLines, "a.rs", 650)];
        let generous = left("a.rs | file-lines | 651 | a table", long);
        assert_eq!(generous.len(), 1);
        assert!(generous[0].1.contains("650 is enough"), "{generous:?}");
        let needless = left("a.rs | file-lines | 651 | a table", Vec::new());
        assert_eq!(needless, [(Rule::Exception, "no longer needed: remove it".to_string())]);
    }

    #[test]
    fn a_line_needs_all_four_fields() {
        for list in [
            "a.rs",
            "a.rs | file-lines | 650",
            "a.rs | file-lines | 650 |",
            "a.rs | file-lines | many | x",
            "a.rs | no-such-rule | 650 | x",
        ] {
            let found = left(list, Vec::new());
            assert!(found.len() == 1 && found[0].1.starts_with("expected"), "{list}: {found:?}");
        }
        assert_eq!(left("# a comment\n\n", Vec::new()), []);
    }
}
