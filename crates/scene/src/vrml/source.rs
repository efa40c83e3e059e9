//! A file while it is read: its name, the beginnings of its lines, and its warnings.

use crate::error::{LoadError, Place, quote};
use crate::warning::Warnings;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// What is left of a file when its bytes are gone. Places are kept as bytes while reading, and
/// become lines and columns only here.
pub(super) struct Source {
    pub(super) name: Arc<str>,
    /// Where the lines begin.
    starts: Vec<u32>,
    /// The line that was asked for last: nodes are built nearly in the order of the file.
    last: Cell<usize>,
    warnings: RefCell<Warnings>,
}

/// Lines after the last one that are tried before the search by halves.
const NEAR_LINES: usize = 8;

impl Source {
    /// Fails if there are more bytes than 32 bits count.
    pub(super) fn new(name: &str, bytes: &[u8]) -> Result<Source, LoadError> {
        if u32::try_from(bytes.len()).is_err() {
            let what = "VRML files of 4 GiB and more are not read".to_string();
            return Err(LoadError::NotReadable { what });
        }
        let mut starts = vec![0];
        for end in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            // "\r\n" ends one line.
            if bytes.get(end) == Some(&b'\r') && bytes.get(end + 1) == Some(&b'\n') {
                continue;
            }
            starts.push(end as u32 + 1);
        }
        let (last, warnings) = (Cell::new(0), RefCell::default());
        Ok(Source { name: Arc::from(name), starts, last, warnings })
    }

    /// The line and column of a byte.
    pub(super) fn place(&self, at: u32) -> Place {
        let from = self.last.get();
        let near = self.starts.get(from..).unwrap_or_default().iter().take(NEAR_LINES);
        let passed = near.clone().take_while(|&&start| start <= at).count();
        let line = match passed {
            0 | NEAR_LINES => self.starts.partition_point(|&start| start <= at),
            _ => from + passed,
        };
        // The first line begins at 0, so at least one begins at or before any byte.
        let start = self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        self.last.set(line.saturating_sub(1));
        Place::Column { line, column: (at - start) as usize + 1 }
    }

    /// Something was left out.
    pub(super) fn ignored(&self, what: &str, at: u32) {
        self.warnings.borrow_mut().ignored(what, self.place(at));
    }

    /// Something was read in the only sense that it can have.
    pub(super) fn mended(&self, what: &str, at: u32) {
        self.warnings.borrow_mut().mended(what, self.place(at));
    }

    /// Coordinates lost digits: how many, by how much at most, the first at `first`.
    pub(super) fn digits_lost(&self, count: usize, largest: f64, first: u32) {
        self.warnings.borrow_mut().digits_lost(count, largest, self.place(first));
    }

    /// Adds the warnings of another file.
    pub(super) fn within(&self, other: &Source) {
        self.warnings.borrow_mut().within(&other.name, other.take_warnings());
    }

    /// Adds the warnings of another reader.
    pub(super) fn within_other(&self, file: &str, warnings: Warnings) {
        self.warnings.borrow_mut().within(file, warnings);
    }

    pub(super) fn take_warnings(&self) -> Warnings {
        self.warnings.take()
    }

    /// The error for something that is written as it should be, but makes no sense.
    pub(super) fn refused(&self, what: impl Into<String>, at: u32) -> LoadError {
        LoadError::Refused { place: self.place(at), what: what.into() }
    }
}

/// A name from a file for a message.
pub(super) fn quoted(name: &str) -> String {
    quote(name.as_bytes())
}
