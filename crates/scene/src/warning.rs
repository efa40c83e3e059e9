//! What was odd in a file and did not stop the reading.

use crate::error::Place;
use std::collections::BTreeMap;
use std::fmt;

/// Something odd that did not stop the reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Coordinates that need more than the 24 significant bits of an `f32`.
    DigitsLost {
        /// How many.
        count: usize,
        /// The place of the first.
        first: Place,
    },
    /// Something that has no surface, or that this format or reader does not know.
    Ignored {
        /// What it is.
        what: String,
        /// How many.
        count: usize,
        /// The place of the first.
        first: Place,
    },
    /// Something wrong that was read in the only sense it can have.
    Mended {
        /// What was wrong, and how it was read.
        what: String,
        /// How many.
        count: usize,
        /// The place of the first.
        first: Place,
    },
    /// Bytes after the end of the data.
    Trailing {
        /// Where they begin.
        place: Place,
        /// How many.
        bytes: usize,
    },
    /// A warning about a file that the file brings in.
    Within {
        /// The other file.
        file: String,
        /// What was odd in it.
        warning: Box<Warning>,
    },
    /// More warnings than anybody reads.
    More {
        /// How many were left out.
        count: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::DigitsLost { count, first } => {
                write!(f, "{count} coordinates lose digits in 24 bits, the first at {first}")
            }
            Warning::Ignored { what, count, first } => {
                write!(f, "{what} ignored: {count}, the first at {first}")
            }
            Warning::Mended { what, count, first } => {
                write!(f, "{what}: {count}, the first at {first}")
            }
            Warning::Trailing { place, bytes } => {
                write!(f, "{bytes} bytes after the end of the data ignored, from {place}")
            }
            Warning::Within { file, warning } => write!(f, "in \"{file}\": {warning}"),
            Warning::More { count } => write!(f, "{count} more warnings"),
        }
    }
}

/// The most warnings that are kept: a hostile file must not make the list longer than itself.
const KEPT_MAX: usize = 200;

/// Warnings under collection, each kind once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warnings {
    list: Vec<Warning>,
    digits_lost: Option<usize>,
    ignored: BTreeMap<String, usize>,
    mended: BTreeMap<String, usize>,
    left_out: usize,
}

impl Warnings {
    pub(crate) fn push(&mut self, warning: Warning) {
        if self.list.len() < KEPT_MAX {
            self.list.push(warning);
        } else {
            self.left_out += 1;
        }
    }

    pub(crate) fn digits_lost(&mut self, first: Place) {
        self.digits_lost_times(1, first);
    }

    /// Coordinates lost digits, `times` of them, the first at `first`.
    pub(crate) fn digits_lost_times(&mut self, times: usize, first: Place) {
        match self.digits_lost.and_then(|at| self.list.get_mut(at)) {
            Some(Warning::DigitsLost { count, .. }) => *count += times,
            _ => {
                self.digits_lost = Some(self.list.len());
                self.push(Warning::DigitsLost { count: times, first });
            }
        }
    }

    pub(crate) fn ignored(&mut self, what: &str, first: Place) {
        let at = self.ignored.get(what).and_then(|&at| self.list.get_mut(at));
        if let Some(Warning::Ignored { count, .. }) = at {
            *count += 1;
            return;
        }
        if self.list.len() < KEPT_MAX {
            self.ignored.insert(what.to_string(), self.list.len());
        }
        self.push(Warning::Ignored { what: what.to_string(), count: 1, first });
    }

    pub(crate) fn mended(&mut self, what: &str, first: Place) {
        let at = self.mended.get(what).and_then(|&at| self.list.get_mut(at));
        if let Some(Warning::Mended { count, .. }) = at {
            *count += 1;
            return;
        }
        if self.list.len() < KEPT_MAX {
            self.mended.insert(what.to_string(), self.list.len());
        }
        self.push(Warning::Mended { what: what.to_string(), count: 1, first });
    }

    /// Takes over what was odd in a file that this one brings in.
    pub(crate) fn within(&mut self, file: &str, inner: Warnings) {
        self.left_out += inner.left_out;
        for warning in inner.list {
            self.push(Warning::Within { file: file.to_string(), warning: Box::new(warning) });
        }
    }

    pub(crate) fn into_list(mut self) -> Vec<Warning> {
        if self.left_out > 0 {
            self.list.push(Warning::More { count: self.left_out });
        }
        self.list
    }
}
