//! Documents do not rot: every path that a document or a comment names exists, and the coverage
//! table is complete.

use super::source::{Kind, pieces};
use super::{Finding, Rule, Tree};

/// A word with one of these endings is a file of ours even without a folder in front.
const ENDINGS: [&str; 9] = [".rs", ".toml", ".md", ".py", ".ts", ".cpp", ".h", ".svg", ".txt"];

/// The folders of this repository whose paths comments name.
const OURS: [&str; 7] = ["crates", "bindings", "docs", "scenes", "web", "xtask", "bench-peers"];

const COVERAGE: &str = "docs/coverage.md";

/// The rows of the five papers and beyond: letter and number of rows.
const ROWS: [(char, usize); 6] = [('V', 15), ('O', 24), ('E', 7), ('S', 24), ('Z', 24), ('B', 21)];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_ending(&[".md"]) {
        for (line, name) in named_paths(tree, text) {
            if !exists(tree, path, name) {
                let message = format!("names `{name}`, which does not exist");
                findings.push(finding(Rule::DocumentPath, path, line, message));
            }
        }
    }
    for (path, text) in tree.with_ending(&[".rs", ".ts", ".mjs", ".c"]) {
        for piece in pieces(path, text).iter().filter(|piece| piece.kind == Kind::Comment) {
            for (line, name) in named_in_comment(tree, &piece.text) {
                if !exists(tree, path, name) {
                    let message = format!("names `{name}`, which does not exist");
                    findings.push(finding(Rule::DocumentPath, path, piece.line + line, message));
                }
            }
        }
    }
    if let Some(text) = tree.text(COVERAGE) {
        findings.extend(coverage(text));
    }
    findings
}

fn finding(rule: Rule, path: &str, line: usize, message: String) -> Finding {
    Finding { rule, subject: path.into(), line, size: 1, message }
}

/// Line number and path for everything in `text` that looks like a path of this repository:
/// words in backticks, and the targets of links. Blocks of code are left alone.
fn named_paths<'a>(tree: &Tree, text: &'a str) -> Vec<(usize, &'a str)> {
    let mut named = Vec::new();
    let mut in_block = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        if in_block {
            continue;
        }
        let in_backticks = line.split('`').skip(1).step_by(2);
        let words = in_backticks.filter(|word| looks_like_a_path(tree, word));
        named.extend(words.map(|word| (index + 1, word)));
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let inside = targets.filter(|target| !target.is_empty() && !target.contains(':'));
        named.extend(inside.map(|target| (index + 1, target)));
    }
    named
}

/// The same for a comment, where paths often stand without backticks; with a number of lines.
fn named_in_comment<'a>(tree: &Tree, text: &'a str) -> Vec<(usize, &'a str)> {
    let mut named = Vec::new();
    let mut in_block = false;
    for (index, line) in text.split('\n').enumerate() {
        in_block ^= line.trim_start().starts_with("```");
        if in_block {
            continue;
        }
        for word in line.split([' ', '(', ')', '`', '"', ',', ';', ':']) {
            let word = word.trim_end_matches('.');
            let document = word.ends_with(".md");
            let path = word.split_once('/').is_some_and(|(folder, _)| OURS.contains(&folder));
            if (document || path) && looks_like_a_path(tree, word) {
                named.push((index, word));
            }
        }
    }
    named
}

/// Globs, commands, addresses and placeholders have letters that our paths never have.
fn looks_like_a_path(tree: &Tree, word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
    let outside = ["../shared/", "/", "-", "."].iter().any(|start| word.starts_with(start));
    let hidden_folder = [".ci/", ".cargo/"].iter().any(|start| word.starts_with(start));
    if word.is_empty() || !word.chars().all(plain) || (outside && !hidden_folder) {
        return false;
    }
    let has_ending =
        ENDINGS.iter().any(|ending| word.len() > ending.len() && word.ends_with(ending));
    // `touch/no` is not a path, but it would be below `crates`: the first folder decides.
    let folder = word.split_once('/').map(|(first, _)| first);
    has_ending || folder.is_some_and(|folder| tree.has(folder))
}

/// From the root, or beside the document; a bare file name may be that of any file.
fn exists(tree: &Tree, document: &str, name: &str) -> bool {
    let name = name.trim_end_matches('/');
    let beside = resolve(document, name);
    let anywhere =
        !name.contains('/') && tree.files().any(|(path, _)| path.rsplit('/').next() == Some(name));
    tree.has(name) || tree.has(&beside) || anywhere || tree.hides(name)
}

/// `name` as seen from the folder of `document`, with `..` taken out.
fn resolve(document: &str, name: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Every row must stand in the table once, as `| V1 | …`.
fn coverage(text: &str) -> Vec<Finding> {
    let listed: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).collect();
    let rows = ROWS
        .iter()
        .flat_map(|(letter, count)| (1..=*count).map(move |number| format!("{letter}{number}")));
    let mut findings = Vec::new();
    for row in rows {
        let times = listed.iter().filter(|id| **id == row).count();
        if times != 1 {
            let message = format!("row {row} is listed {times} times, expected once");
            findings.push(finding(Rule::CoverageRow, COVERAGE, 0, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(document: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[
            (document, text),
            (".gitignore", "/target\n/web/dist\n"),
            (".ci/run", ""),
            ("README.md", ""),
            ("web/page.ts", ""),
            ("crates/geom/src/pose.rs", ""),
            ("docs/decisions/0001-a.md", ""),
        ]);
        check(&tree).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn paths_that_exist_are_fine() {
        for name in [
            "`crates/geom/src/pose.rs`",
            "`crates/geom/`",
            "`crates/geom/src`",
            "`pose.rs`",
            "`.ci/run`",
            "`decisions/0001-a.md`",
            "`web/dist`",
            "[first](decisions/0001-a.md#why)",
            "[up](../README.md)",
            "[site](https://example.org/a.md)",
            "[here](#below)",
        ] {
            assert_eq!(found("docs/a.md", &format!("See {name}.")), [""; 0], "{name}");
        }
    }

    #[test]
    fn paths_that_do_not_exist_are_named_with_their_line() {
        for name in [
            "crates/geom/src/pos.rs",
            "crates/geo",
            "gone.md",
            "elsewhere/a.toml",
            ".ci/walk",
            "decisions/0002-b.md",
        ] {
            let complaint =
                format!("docs/a.md:2: names `{name}`, which does not exist [document-path]");
            assert_eq!(found("docs/a.md", &format!("x\n`{name}`")), [complaint]);
        }
        assert_eq!(found("docs/a.md", "[first](decisions/0002-b.md)").len(), 1);
    }

    #[test]
    fn what_is_no_path_of_ours_is_left_alone() {
        for word in [
            "I/O",
            "cargo run crates/geo",
            "crates/*/src",
            "crates/<name>/src",
            "../shared/models/a.md",
            "/tmp/a.md",
            "*.md",
            ".md",
            "std::time",
            "--poses",
            "f32",
        ] {
            assert_eq!(found("docs/a.md", &format!("`{word}`")), [""; 0], "{word}");
        }
        assert_eq!(found("docs/a.md", "```text\n`crates/geo`\n```\n"), [""; 0]);
        assert_eq!(found("docs/a.md", "```text\n```\n`crates/geo`").len(), 1);
    }

    #[test]
    fn paths_in_comments_exist() {
        for text in [
            "// `crates/geo`",
            "//! See docs/gone.md, section 3.",
            "//! See\n//! (docs/gone.md).",
            "fn f() {} // crates/geom/src/pos.rs",
            "/* DISTRIBUTED.md */",
        ] {
            assert_eq!(found("crates/geom/src/a.rs", text).len(), 1, "{text}");
        }
        for text in [
            "// `crates/geom`, README.md (docs/decisions/0001-a.md).",
            "f(\"docs/gone.md\")",
            "// touch/no, gone.rs, https://example.org/gone.md, *.md, model/gltf-binary",
            "// ```text\n// crates/geo\n// ```",
        ] {
            assert_eq!(found("crates/geom/src/a.rs", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_coverage_table_lists_every_row_once() {
        let rows: Vec<String> = ROWS
            .iter()
            .flat_map(|(letter, count)| (1..=*count).map(move |n| format!("| {letter}{n} | x |\n")))
            .collect();
        assert_eq!(rows.len(), 115);
        assert_eq!(found("docs/coverage.md", &rows.concat()), [""; 0]);
        let missing = found("docs/coverage.md", &rows[1..].concat());
        assert_eq!(missing.len(), 1);
        assert!(missing[0].contains("row V1 is listed 0 times"), "{missing:?}");
        let twice = found("docs/coverage.md", &(rows.concat() + &rows[5]));
        assert!(twice[0].contains("row V6 is listed 2 times"), "{twice:?}");
    }
}
