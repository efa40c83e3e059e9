//! Warnings: problems of a file that do not prevent reading it.

use crate::error::Place;
use std::collections::BTreeMap;
use std::fmt;

/// A problem of a file that does not prevent reading it.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Coordinates that need more than the 24 significant bits of an `f32`.
    DigitsLost {
        /// The number of occurrences.
        count: usize,
        /// Of how many coordinates, if they were counted.
        of: Option<usize>,
        /// The largest difference between a coordinate as written and as kept.
        largest: f64,
        /// The length of the shortest edge that has a length, if there are edges.
        shortest_edge: Option<f64>,
        /// The place of the first.
        first: Place,
    },
    /// Something that has no surface, or that this format or reader does not know.
    Ignored {
        /// What it is.
        what: String,
        /// The number of occurrences.
        count: usize,
        /// The place of the first.
        first: Place,
    },
    /// Something invalid that was read in the only way it can be meant.
    Mended {
        /// What was wrong, and how it was read.
        what: String,
        /// The number of occurrences.
        count: usize,
        /// The place of the first.
        first: Place,
    },
    /// Nothing in the file has a surface.
    NoFaces {
        /// How many points it has.
        points: usize,
        /// How many bytes it has.
        bytes: usize,
    },
    /// Bytes after the end of the data.
    Trailing {
        /// Where they begin.
        place: Place,
        /// The number of occurrences.
        bytes: usize,
    },
    /// A warning about a file that the file includes.
    Within {
        /// The other file.
        file: String,
        /// What was odd in it.
        warning: Box<Warning>,
    },
    /// More warnings than are kept.
    More {
        /// How many were left out.
        count: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::DigitsLost { count, of, largest, shortest_edge, first } => {
                f.write_str(&thousands(*count))?;
                if let Some(of) = of {
                    write!(f, " of {}", thousands(*of))?;
                }
                let fit =
                    if *count == 1 && of.is_none() { "coordinate does" } else { "coordinates do" };
                write!(f, " {fit} not fit single precision; largest rounding {largest:.1e}")?;
                if let Some(edge) = shortest_edge {
                    write!(f, " ({} of the shortest edge)", percent(largest / edge))?;
                }
                write!(f, ", the first at {first}")
            }
            Warning::NoFaces { bytes: 0, .. } => f.write_str("the file is empty"),
            Warning::NoFaces { points, .. } => {
                let points = thousands(*points);
                write!(f, "the file has no faces, only {points} points: nothing can touch it")
            }
            Warning::Ignored { what, count: 1, first } => write!(f, "{what} ignored, at {first}"),
            Warning::Ignored { what, count, first } => {
                write!(f, "{what} ignored: {}, the first at {first}", thousands(*count))
            }
            Warning::Mended { what, count: 1, first } => write!(f, "{what}, at {first}"),
            Warning::Mended { what, count, first } => {
                write!(f, "{what}: {}, the first at {first}", thousands(*count))
            }
            Warning::Trailing { place, bytes } => {
                let bytes = thousands(*bytes);
                write!(f, "{bytes} bytes after the end of the data ignored, from {place}")
            }
            Warning::Within { file, warning } => write!(f, "in \"{file}\": {warning}"),
            Warning::More { count } => write!(f, "{count} more warnings"),
        }
    }
}

/// A whole number with commas: `1,234,567`.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part as per cent, with one significant digit.
fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if !(1e-3..1e3).contains(&percent) {
        return format!("{percent:.0e} %");
    }
    let decimals = (-percent.log10().floor()).max(0.0) as usize;
    format!("{percent:.decimals$} %")
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

/// Counts a warning that is in the list. Where it is not, its place is kept for the next time, and
/// it has to be pushed.
fn count_again(list: &mut [Warning], places: &mut BTreeMap<String, usize>, what: &str) -> bool {
    let at = places.get(what).and_then(|&at| list.get_mut(at));
    if let Some(Warning::Ignored { count, .. } | Warning::Mended { count, .. }) = at {
        *count += 1;
        return true;
    }
    if list.len() < KEPT_MAX {
        places.insert(what.to_string(), list.len());
    }
    false
}

impl Warnings {
    pub(crate) fn push(&mut self, warning: Warning) {
        if self.list.len() < KEPT_MAX {
            self.list.push(warning);
        } else {
            self.left_out += 1;
        }
    }

    /// Coordinates lost digits: so many, by `off` at most, the first at `first`.
    pub(crate) fn digits_lost(&mut self, times: usize, off: f64, first: Place) {
        match self.digits_lost.and_then(|at| self.list.get_mut(at)) {
            Some(Warning::DigitsLost { count, largest, .. }) => {
                *count += times;
                *largest = off.max(*largest);
            }
            _ => {
                self.digits_lost = Some(self.list.len());
                let (count, of, largest, shortest_edge) = (times, None, off, None);
                self.push(Warning::DigitsLost { count, of, largest, shortest_edge, first });
            }
        }
    }

    pub(crate) fn ignored(&mut self, what: &str, first: Place) {
        if !count_again(&mut self.list, &mut self.ignored, what) {
            self.push(Warning::Ignored { what: what.to_string(), count: 1, first });
        }
    }

    pub(crate) fn mended(&mut self, what: &str, first: Place) {
        if !count_again(&mut self.list, &mut self.mended, what) {
            self.push(Warning::Mended { what: what.to_string(), count: 1, first });
        }
    }

    /// Adds the warnings about a file that this one includes.
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
