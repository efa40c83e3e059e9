//! Splits the text of a file into what people read: comments, strings and documents (prose), and
//! identifiers (names). Good enough for words and paths, not a compiler's lexer.

/// A kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Comment,
    String,
    Document,
}

/// One identifier, one run of comment lines, one string, or one paragraph of a document. A newline
/// in the text is a newline in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    /// The line on which it begins, counted from 1.
    pub(super) line: usize,
    pub(super) text: String,
}

/// The endings of files with `//` comments and quoted strings.
const CODE: [&str; 6] = [".rs", ".ts", ".mjs", ".c", ".h", ".cpp"];

/// The endings of files that are prose.
const DOCUMENTS: [&str; 2] = [".md", ".html"];

/// The pieces of a file; none for files of other kinds.
pub(super) fn pieces(path: &str, text: &str) -> Vec<Piece> {
    if CODE.iter().any(|ending| path.ends_with(ending)) {
        let chars: Vec<char> = text.chars().collect();
        let mut scanner =
            Scanner { chars: &chars, at: 0, line: 1, rust: path.ends_with(".rs"), pieces: vec![] };
        while scanner.step() {}
        scanner.pieces
    } else if DOCUMENTS.iter().any(|ending| path.ends_with(ending)) {
        paragraphs(text)
    } else {
        Vec::new()
    }
}

/// Paragraphs of a document. Blocks of code are left out.
fn paragraphs(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut in_block, mut open) = (false, false);
    for (line, content) in (1..).zip(text.lines()) {
        let fence = content.trim_start().starts_with("```");
        in_block ^= fence;
        if fence || in_block || content.trim().is_empty() {
            open = false;
        } else if open && let Some(last) = pieces.last_mut() {
            last.text.push('\n');
            last.text.push_str(content);
        } else {
            pieces.push(Piece { kind: Kind::Document, line, text: content.into() });
            open = true;
        }
    }
    pieces
}

struct Scanner<'a> {
    chars: &'a [char],
    at: usize,
    line: usize,
    rust: bool,
    pieces: Vec<Piece>,
}

impl Scanner<'_> {
    /// Reads one token. False at the end of the file.
    fn step(&mut self) -> bool {
        let Some(&first) = self.chars.get(self.at) else { return false };
        match (first, self.chars.get(self.at + 1)) {
            ('/', Some('/')) => self.line_comment(),
            ('/', Some('*')) => self.block_comment(),
            ('r' | 'b', _) if self.raw_string() => {}
            ('"', _) => self.string('"'),
            ('`', _) if !self.rust => self.string('`'),
            ('\'', _) if !self.rust || self.is_character() => self.string('\''),
            _ if first.is_alphabetic() || first == '_' => self.name(),
            _ => {
                self.bump();
            }
        }
        true
    }

    fn bump(&mut self) -> Option<char> {
        let next = *self.chars.get(self.at)?;
        self.at += 1;
        self.line += usize::from(next == '\n');
        Some(next)
    }

    fn push(&mut self, kind: Kind, line: usize, text: String) {
        self.pieces.push(Piece { kind, line, text });
    }

    /// Comment lines that follow each other are one piece.
    fn line_comment(&mut self) {
        let line = self.line;
        let mut text = String::new();
        while let Some(&next) = self.chars.get(self.at)
            && next != '\n'
        {
            text.push(next);
            self.at += 1;
        }
        let text = text.trim_start_matches(['/', '!']).to_string();
        match self.pieces.last_mut() {
            Some(last) if last.kind == Kind::Comment && !text.trim().is_empty() => {
                let end = last.line + last.text.matches('\n').count();
                if end + 1 == line {
                    last.text.push('\n');
                    last.text.push_str(&text);
                    return;
                }
                self.push(Kind::Comment, line, text);
            }
            _ => self.push(Kind::Comment, line, text),
        }
    }

    fn block_comment(&mut self) {
        let line = self.line;
        self.at += 2;
        let mut text = String::new();
        while let Some(next) = self.bump() {
            if next == '*' && self.chars.get(self.at) == Some(&'/') {
                self.at += 1;
                break;
            }
            text.push(next);
        }
        self.push(Kind::Comment, line, text);
    }

    /// Reads `r"…"` and `r#"…"#`, also with `b` in front. False if it is none.
    fn raw_string(&mut self) -> bool {
        let mut at = self.at + usize::from(self.chars[self.at] == 'b');
        if !self.rust || self.chars.get(at) != Some(&'r') {
            return false;
        }
        at += 1;
        let hashes = self.chars[at..].iter().take_while(|&&next| next == '#').count();
        if self.chars.get(at + hashes) != Some(&'"') {
            return false;
        }
        let line = self.line;
        self.at = at + hashes + 1;
        let mut text = String::new();
        while let Some(next) = self.bump() {
            let after = self.chars.get(self.at..self.at + hashes);
            if next == '"' && after.is_some_and(|after| after.iter().all(|&x| x == '#')) {
                self.at += hashes;
                break;
            }
            text.push(next);
        }
        self.push(Kind::String, line, text);
        true
    }

    fn string(&mut self, end: char) {
        let line = self.line;
        self.at += 1;
        let mut text = String::new();
        while let Some(next) = self.bump() {
            if next == end || (next == '\n' && !self.rust && end != '`') {
                break;
            }
            if next == '\\' {
                // What an escape stands for is no word; a line that goes on is one.
                text.push(if self.bump() == Some('\n') { '\n' } else { ' ' });
            } else {
                text.push(next);
            }
        }
        self.push(Kind::String, line, text);
    }

    /// A character, not a lifetime.
    fn is_character(&self) -> bool {
        let next = self.chars.get(self.at + 1);
        next == Some(&'\\') || self.chars.get(self.at + 2) == Some(&'\'')
    }

    fn name(&mut self) {
        let rest = self.chars[self.at..].iter();
        let text: String =
            rest.take_while(|next| next.is_alphanumeric() || **next == '_').collect();
        self.at += text.chars().count();
        self.push(Kind::Name, self.line, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(Kind, usize, String)> {
        let pieces = pieces(path, text);
        pieces.into_iter().map(|piece| (piece.kind, piece.line, piece.text)).collect()
    }

    #[test]
    fn rust_is_split_into_names_comments_and_strings() {
        let text = "//! One\n//! two.\nfn a_b<'x>(c: &'x str) {\n    // Three\n    d(\"e \\\n  \
                    f\", r#\"g \"h\" i\"#, '\"', b'\\'');\n}\n";
        let expected: Vec<(Kind, usize, String)> = [
            (Kind::Comment, 1, " One\n two."),
            (Kind::Name, 3, "fn"),
            (Kind::Name, 3, "a_b"),
            (Kind::Name, 3, "x"),
            (Kind::Name, 3, "c"),
            (Kind::Name, 3, "x"),
            (Kind::Name, 3, "str"),
            (Kind::Comment, 4, " Three"),
            (Kind::Name, 5, "d"),
            (Kind::String, 5, "e \n  f"),
            (Kind::String, 6, "g \"h\" i"),
            (Kind::String, 6, "\""),
            (Kind::Name, 6, "b"),
            (Kind::String, 6, " "),
        ]
        .map(|(kind, line, text)| (kind, line, text.to_string()))
        .to_vec();
        assert_eq!(found("a.rs", text), expected);
    }

    #[test]
    fn typescript_has_three_kinds_of_strings() {
        let kinds: Vec<Kind> =
            found("a.ts", "f('a', \"b\", `c\nd`) /* e\n f */").iter().map(|x| x.0).collect();
        use Kind::{Comment, Name, String};
        assert_eq!(kinds, [Name, String, String, String, Comment]);
        // A quote that is not closed ends with its line.
        assert_eq!(found("a.ts", "/'/\nx").last().map(|x| x.0), Some(Name));
    }

    #[test]
    fn documents_are_paragraphs_without_blocks_of_code() {
        let expected = [(1, "a\nb"), (4, "c"), (8, "d")];
        let found = found("a.md", "a\nb\n\nc\n```\nx\n```\nd\n");
        assert!(found.iter().all(|(kind, ..)| *kind == Kind::Document));
        let found: Vec<(usize, &str)> = found.iter().map(|(_, at, text)| (*at, &**text)).collect();
        assert_eq!(found, expected);
        assert_eq!(pieces("a.csv", "a"), []);
    }
}
