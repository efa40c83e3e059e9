//! Retired words: the repository uses the words of its field (STYLE.md). The list of words stands
//! in `xtask/retired-words.txt`, paths that are not converted yet in `xtask/unconverted.txt`, which
//! may only shrink. Names in wire formats and hidden aliases stand in `xtask/tidy-exceptions.txt`.
//!
//! Quotations are not checked: text in double quotes in a comment or document.

use super::source::{Kind, pieces};
use super::{Finding, Rule, Tree};
use std::collections::HashMap;

pub(super) const WORDS: &str = "xtask/retired-words.txt";
/// Comments that repeat what every reader asks.
const FILLERS: [&str; 7] = ["Who.", "What.", "Where.", "When.", "Which.", "Whose.", "How many."];

/// Says what was renamed, so it has the old names too.
const HISTORY: &str = "CHANGELOG.md";

const UNCONVERTED: &str = "xtask/unconverted.txt";

/// Where a word is retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// In identifiers and names of files.
    Names,
    /// In comments, documents and strings.
    Prose,
    All,
}

/// A line of the list.
#[derive(Debug)]
struct Retired {
    scope: Scope,
    /// The paths below which it is retired; everywhere if there is none.
    paths: Vec<String>,
    instead: String,
}

/// The list: lines, and word sequences with the index of their line, by first word.
#[derive(Debug, Default)]
struct List {
    lines: Vec<Retired>,
    by_first: HashMap<String, Vec<(Vec<String>, usize)>>,
}

/// A word of a text, in lower case, with its line.
type Word = (String, usize);

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let list = List::parse(tree.text(WORDS).unwrap_or_default(), &mut findings);
    let open = tree.text(UNCONVERTED).unwrap_or_default().lines().map(str::trim);
    let mut open: Vec<(&str, bool)> = open
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|x| (x, false))
        .collect();
    for (path, text) in tree.files().filter(|(path, _)| *path != HISTORY) {
        let found = list.find(path, text);
        if found.is_empty() {
            continue;
        }
        let mut converted = true;
        for (_, used) in open.iter_mut().filter(|(prefix, _)| is_below(path, prefix)) {
            (*used, converted) = (true, false);
        }
        if converted {
            findings.extend(found);
        }
    }
    for (prefix, _) in open.into_iter().filter(|(_, used)| !used) {
        let message = format!("`{prefix}` has no retired words: remove the line");
        findings.push(finding(UNCONVERTED, 0, message));
    }
    findings
}

fn finding(path: &str, line: usize, message: String) -> Finding {
    Finding { rule: Rule::RetiredWord, subject: path.into(), line, size: 1, message }
}

/// `crates/net` is above all files of that folder; `crates/cli/tests/share*` is above all paths
/// that begin so.
fn is_below(path: &str, prefix: &str) -> bool {
    match prefix.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None => path.strip_prefix(prefix).is_some_and(|x| x.is_empty() || x.starts_with('/')),
    }
}

impl List {
    /// One line each: `words, separated by commas | names, prose or all, and paths | use instead`.
    fn parse(text: &str, findings: &mut Vec<Finding>) -> List {
        let mut list = List::default();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let fields: Vec<&str> = line.split('|').map(str::trim).collect();
            let parsed = match fields[..] {
                [words, place, instead] if !instead.is_empty() => list.add(words, place, instead),
                _ => None,
            };
            if parsed.is_none() {
                let message = "expected `words | names, prose or all, and paths | use instead`";
                findings.push(finding(WORDS, number, message.into()));
            }
        }
        list
    }

    fn add(&mut self, words: &str, place: &str, instead: &str) -> Option<()> {
        let mut place = place.split_whitespace();
        let scope = match place.next()? {
            "names" => Scope::Names,
            "prose" => Scope::Prose,
            "all" => Scope::All,
            _ => return None,
        };
        let at = self.lines.len();
        let paths = place.map(String::from).collect();
        self.lines.push(Retired { scope, paths, instead: instead.into() });
        for words in words.split(',') {
            let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
            let first = words.first()?.clone();
            self.by_first.entry(first).or_default().push((words, at));
        }
        Some(())
    }

    fn find(&self, path: &str, text: &str) -> Vec<Finding> {
        let (mut findings, mut fillers) = (Vec::new(), Vec::new());
        let mut look = |words: &[Word], is_name| self.look(path, words, is_name, &mut findings);
        let pieces = pieces(path, text);
        if !pieces.is_empty() {
            look(&parts(path, 0), true);
        }
        for piece in pieces {
            if piece.kind == Kind::Comment && FILLERS.contains(&piece.text.trim()) {
                fillers.push(finding(path, piece.line, "a comment that says nothing".into()));
            }
            match piece.kind {
                Kind::Name => look(&parts(&piece.text, piece.line), true),
                kind => {
                    let quotes = matches!(kind, Kind::Comment | Kind::Document);
                    let text = if quotes { unquoted(&piece.text) } else { piece.text };
                    let (prose, names) = words(&text, piece.line);
                    look(&prose, false);
                    names.iter().for_each(|name| look(name, true));
                }
            }
        }
        findings.extend(fillers);
        findings
    }

    /// Looks for retired words in a sequence.
    fn look(&self, path: &str, words: &[Word], is_name: bool, findings: &mut Vec<Finding>) {
        for (at, (word, line)) in words.iter().enumerate() {
            for (sequence, index) in self.by_first.get(word).into_iter().flatten() {
                let retired = &self.lines[*index];
                let here = retired.paths.is_empty()
                    || retired.paths.iter().any(|prefix| is_below(path, prefix));
                let in_scope = match retired.scope {
                    Scope::Names => is_name,
                    Scope::Prose => !is_name,
                    Scope::All => true,
                };
                let mut rest = words[at..].iter().map(|(word, _)| word);
                if here && in_scope && sequence.iter().all(|word| rest.next() == Some(word)) {
                    let message = format!("`{}`: use {}", sequence.join(" "), retired.instead);
                    findings.push(finding(path, *line, message));
                }
            }
        }
    }
}

/// Blanks out what stands in double quotes, and keeps the lines. A quote that is not closed is
/// none.
fn unquoted(text: &str) -> String {
    let mut left: String = text.replace(['“', '”'], "\"");
    let mut from = 0;
    while let Some(begin) = left[from..].find('"').map(|at| from + at)
        && let Some(end) = left[begin + 1..].find('"').map(|at| begin + 1 + at)
    {
        let blank: String =
            left[begin..=end].chars().map(|x| if x == '\n' { '\n' } else { ' ' }).collect();
        left.replace_range(begin..=end, &blank);
        from = begin + blank.len();
    }
    left
}

/// The words of a text, and the parts of each name that stands in it: `snake_case`, `camelCase`.
fn words(text: &str, first_line: usize) -> (Vec<Word>, Vec<Vec<Word>>) {
    let (mut prose, mut names) = (Vec::new(), Vec::new());
    for (line, content) in (first_line..).zip(text.split('\n')) {
        // Addresses and paths are names of others, or checked by their own names.
        for token in content.split_whitespace().filter(|token| !token.contains("://")) {
            for word in token.split(|x: char| !x.is_alphanumeric() && x != '_') {
                let is_name = word.contains('_') || word.chars().skip(1).any(char::is_uppercase);
                if is_name && word.chars().any(char::is_lowercase) {
                    names.push(parts(word, line));
                } else if !word.is_empty() {
                    prose.push((word.to_lowercase(), line));
                }
            }
        }
    }
    (prose, names)
}

/// The parts of an identifier or path in lower case: `StageEvent_kind` has three.
fn parts(name: &str, line: usize) -> Vec<Word> {
    let mut parts: Vec<Word> = Vec::new();
    let mut part = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (at, &next) in chars.iter().enumerate() {
        let after_lower = at > 0 && (chars[at - 1].is_lowercase() || chars[at - 1].is_numeric());
        let before_lower = chars.get(at + 1).is_some_and(|x| x.is_lowercase());
        let begins = next.is_uppercase() && (after_lower || before_lower);
        if (begins || !next.is_alphanumeric()) && !part.is_empty() {
            parts.push((std::mem::take(&mut part), line));
        }
        if next.is_alphanumeric() {
            part.extend(next.to_lowercase());
        }
    }
    if !part.is_empty() {
        parts.push((part, line));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# words\nquux, quuxes | all | user action\ngnorp | prose | the subject\n\
                        door | all crates/net | edge\ndark quark | all | outage\n\
                        say | names | send\n";

    fn found(path: &str, text: &str, unconverted: &str) -> Vec<String> {
        let tree = Tree::of(&[(WORDS, LIST), (UNCONVERTED, unconverted), (path, text)]);
        check(&tree).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn retired_words_are_found_in_names_comments_strings_and_documents() {
        for (path, text) in [
            ("a.rs", "fn next_quux() {}"),
            ("a.rs", "struct NextQuux;"),
            ("a.rs", "// A quux."),
            ("a.rs", "/// `next_quux` comes."),
            ("a.rs", "f(\"a quux\")"),
            ("a.ts", "const nextQuuxes = 1"),
            ("a.md", "The quuxes of a client."),
            ("a.rs", "fn dark_quark() {}"),
            ("a.rs", "// In the dark\n// quark of a node."),
            ("a.html", "<p>quux</p>"),
            ("a.rs", "struct A {\n    /// Who.\n    b: u8,\n}"),
            ("quuxes.rs", "fn a() {}"),
        ] {
            assert_eq!(found(path, text, "").len(), 1, "{path}: {text}");
        }
        let finding = "a.rs:2: `quuxes`: use user action [retired-word]";
        assert_eq!(found("a.rs", "// x\n// quuxes", ""), [finding]);
    }

    #[test]
    fn quotations_and_other_words_are_not_found() {
        for (path, text) in [
            ("a.rs", "// \"A quux\" (Storey 2006)."),
            ("a.rs", "// \"In the dark\n// quark of a quux\"."),
            ("a.md", "“a quux” is quoted\nhere"),
            ("a.rs", "fn quuxical() {}"),
            ("a.md", "```\nquux\n```"),
            ("a.csv", "quux"),
        ] {
            assert_eq!(found(path, text, ""), [""; 0], "{path}: {text}");
        }
        assert_eq!(found("a.md", "\"a\" quux \"b\"", "").len(), 1);
    }

    #[test]
    fn a_word_is_retired_in_its_scope_and_below_its_paths() {
        assert_eq!(found("a.rs", "fn gnorp() {}", ""), [""; 0]);
        assert_eq!(found("a.rs", "// Gnorp.", "").len(), 1);
        assert_eq!(found("a.rs", "// They say so.", ""), [""; 0]);
        assert_eq!(found("a.rs", "fn say_so() {}", "").len(), 1);
        assert_eq!(found("crates/net/a.rs", "fn door() {}", "").len(), 1);
        assert_eq!(found("crates/network/a.rs", "fn door() {}", ""), [""; 0]);
    }

    #[test]
    fn the_list_of_paths_that_are_not_converted_may_only_shrink() {
        assert_eq!(found("crates/net/a.rs", "// a quux", "crates/net\n"), [""; 0]);
        assert_eq!(found("tests/share_a.rs", "// a quux", "tests/share*\n"), [""; 0]);
        assert_eq!(found("crates/network/a.rs", "// a quux", "crates/net\n").len(), 2);
        let clean = found("crates/net/a.rs", "// fine", "# why\ncrates/net\n");
        let expected = "xtask/unconverted.txt: `crates/net` has no retired words: remove the line \
                        [retired-word]";
        assert_eq!(clean, [expected]);
    }

    #[test]
    fn a_line_of_the_list_needs_its_three_fields() {
        for line in ["quux", "quux | all", "quux | all | ", "quux | some | x", " | all | x"] {
            let tree = Tree::of(&[(WORDS, line)]);
            assert_eq!(check(&tree).len(), 1, "{line}");
        }
    }
}
