//! Errors of reading files: what is wrong, where, and what was expected.

use std::fmt;

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a text file, counted from 1.
    Line(usize),
    /// A column of a line, both counted from 1. Columns count bytes.
    Column {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// A byte of a binary file, counted from 0.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Column { line, column } => write!(f, "line {line}, column {column}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// Why bytes could not be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// The format requires something else at this position.
    #[error("{place}: expected {expected}, found {found}")]
    Unexpected {
        /// The position in the file.
        place: Place,
        /// What the format wants there.
        expected: String,
        /// What is there, shortened.
        found: String,
    },
    /// A coordinate that is not a finite `f32`.
    #[error("{place}: a coordinate must be finite and at most 3.4e38 in size, found {found}")]
    NotFinite {
        /// The position in the file.
        place: Place,
        /// The number as it stands in the file.
        found: String,
    },
    /// A face uses a vertex that does not exist.
    #[error("{place}: a face names vertex {found}, but there are {vertices} vertices")]
    BadIndex {
        /// The position in the file.
        place: Place,
        /// The index as it stands in the file: OBJ counts from 1, the others from 0.
        found: i64,
        /// The number of vertices.
        vertices: usize,
    },
    /// The file declares more data than it has.
    #[error("{place}: {what} needs {needs} bytes, but only {left} are left")]
    Truncated {
        /// The position in the file.
        place: Place,
        /// What the file declares, with its count.
        what: String,
        /// The fewest bytes that this takes.
        needs: u128,
        /// The bytes that are left.
        left: usize,
    },
    /// A file whose content does not match its name, or whose format is not supported.
    #[error("{what}")]
    NotReadable {
        /// What it is, and what can be done.
        what: String,
    },
    /// Something that is well-formed and invalid.
    #[error("{place}: {what}")]
    Refused {
        /// The position in the file.
        place: Place,
        /// What, and why not.
        what: String,
    },
    /// An error in a file that the file includes.
    #[error("{place}: in \"{file}\": {source}")]
    Within {
        /// Where the other file is included.
        place: Place,
        /// The other file.
        file: String,
        /// What is wrong in it.
        source: Box<LoadError>,
    },
    /// More than indices of 32 bits can count.
    #[error("{place}: more than 4294967295 {what}")]
    TooMany {
        /// The position in the file.
        place: Place,
        /// What there is too much of.
        what: &'static str,
    },
}

impl LoadError {
    /// The error in a file that another one includes. The author of the including file may not have
    /// access to it, so its contents are not repeated.
    pub(crate) fn within(self, place: Place, file: &str) -> LoadError {
        let source = Box::new(self.without_contents());
        LoadError::Within { place, file: file.to_string(), source }
    }

    fn without_contents(self) -> LoadError {
        let other = || "something else".to_string();
        match self {
            LoadError::Unexpected { place, expected, found } => {
                let found = if found == THE_END { found } else { other() };
                LoadError::Unexpected { place, expected: without_quotes(&expected), found }
            }
            LoadError::NotFinite { place, .. } => LoadError::NotFinite { place, found: other() },
            LoadError::Refused { place, what } => {
                LoadError::Refused { place, what: without_quotes(&what) }
            }
            LoadError::Truncated { place, what, needs, left } => {
                LoadError::Truncated { place, what: without_quotes(&what), needs, left }
            }
            LoadError::NotReadable { what } => {
                LoadError::NotReadable { what: without_quotes(&what) }
            }
            others @ (LoadError::BadIndex { .. }
            | LoadError::Within { .. }
            | LoadError::TooMany { .. }) => others,
        }
    }
}

/// Without what stands in double quotes, where messages repeat pieces of files ([`quote`]).
fn without_quotes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    let mut inside = false;
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                plain.push_str(if inside { "…\"" } else { "\"" });
                inside = !inside;
            }
            '\\' if inside => {
                characters.next();
            }
            other if !inside => plain.push(other),
            _ => {}
        }
    }
    plain
}

/// What messages say for the end of a file.
const THE_END: &str = "the end";

/// The longest piece of a file that a message repeats, in characters.
const QUOTE_MAX: usize = 40;

/// The error for a word that the format does not have here; `None` is the end.
pub(crate) fn unexpected(word: Option<&[u8]>, place: Place, expected: &str) -> LoadError {
    LoadError::Unexpected { place, expected: expected.to_string(), found: found(word) }
}

/// A word for a message.
pub(crate) fn found(word: Option<&[u8]>) -> String {
    word.map_or_else(|| THE_END.to_string(), quote)
}

/// A piece of a file for a message: escaped, in quotes, shortened.
pub(crate) fn quote(bytes: &[u8]) -> String {
    // A character takes at most four bytes, so the cut below never sees the cut made here.
    let head = &bytes[..bytes.len().min(4 * QUOTE_MAX + 4)];
    let text = String::from_utf8_lossy(head);
    let mut short: String = text.chars().take(QUOTE_MAX).flat_map(char::escape_debug).collect();
    if text.chars().count() > QUOTE_MAX {
        short.push('…');
    }
    format!("\"{short}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_another_file_repeats_nothing_of_it() {
        let place = Place::Line(1);
        let secret = b"pass\"word: \\x";
        for error in [
            unexpected(Some(secret), place, "a node"),
            LoadError::Refused { place, what: format!("no field {} here", quote(secret)) },
            LoadError::NotReadable { what: format!("this is {}", quote(secret)) },
            LoadError::NotFinite { place, found: quote(secret) },
        ] {
            assert!(error.to_string().contains("word"), "{error}");
            let error = error.within(Place::Line(7), "other.wrl").to_string();
            assert!(!error.contains("word") && !error.contains("pass"), "{error}");
            assert!(error.starts_with("line 7: in \"other.wrl\": "), "{error}");
        }
        let end = unexpected(None, place, "a node").within(place, "other.wrl").to_string();
        assert!(end.ends_with("expected a node, found the end"), "{end}");
    }
}
