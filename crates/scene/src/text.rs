//! Words of a text file, with the line they stand on.
//!
//! Works on bytes: comments and names may be in any encoding.

use crate::error::{LoadError, Place, unexpected};

/// A walk through a text, word by word.
///
/// `\n`, `\r\n` and `\r` end a line. If the format allows it, a backslash before the end joins
/// the next line.
#[derive(Clone, Debug)]
pub(crate) struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    joins: bool,
}

impl<'a> Words<'a> {
    /// `bytes` begin on line `line`; with `joins`, a backslash continues a line.
    pub(crate) fn new(bytes: &'a [u8], line: usize, joins: bool) -> Words<'a> {
        Words { bytes, at: 0, line, joins }
    }

    /// Where the walk stands.
    pub(crate) fn place(&self) -> Place {
        Place::Line(self.line)
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next word of this line, if there is one.
    pub(crate) fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let start = self.at;
        while self.at < self.bytes.len()
            && !self.bytes[self.at].is_ascii_whitespace()
            && self.join_length() == 0
        {
            self.at += 1;
        }
        (start < self.at).then(|| &self.bytes[start..self.at])
    }

    /// The next word of this line or of any line after it.
    pub(crate) fn word_anywhere(&mut self) -> Option<&'a [u8]> {
        self.skip_to_word();
        self.word()
    }

    /// Goes to the next word of this line or of any line after it, or to the end.
    pub(crate) fn skip_to_word(&mut self) {
        self.skip_blanks();
        while self.at < self.bytes.len() && self.line_end_length() > 0 {
            self.next_line();
            self.skip_blanks();
        }
    }

    /// Goes to the beginning of the next line; false if there is none.
    pub(crate) fn next_line(&mut self) -> bool {
        while self.at < self.bytes.len() {
            let join = self.join_length();
            let end = self.line_end_length();
            self.at += join.max(end).max(1);
            if join.max(end) > 0 {
                self.line += 1;
            }
            if end > 0 {
                return true;
            }
        }
        false
    }

    /// Goes to the end of this line, joined to the next or not.
    pub(crate) fn skip_to_line_end(&mut self) {
        while self.at < self.bytes.len() && self.line_end_length() == 0 {
            self.at += 1;
        }
    }

    /// Length of the line end that begins here: 0 if none does.
    fn line_end_length(&self) -> usize {
        line_end_length(&self.bytes[self.at..])
    }

    /// Length of the joint (backslash and line end) that begins here: 0 if none does.
    fn join_length(&self) -> usize {
        if !self.joins || self.bytes[self.at] != b'\\' {
            return 0;
        }
        match line_end_length(&self.bytes[self.at + 1..]) {
            0 => 0,
            length => length + 1,
        }
    }

    fn skip_blanks(&mut self) {
        while self.at < self.bytes.len() {
            let join = self.join_length();
            if join > 0 {
                self.at += join;
                self.line += 1;
            } else if matches!(self.bytes[self.at], b' ' | b'\t' | b'\x0c') {
                self.at += 1;
            } else {
                return;
            }
        }
    }
}

fn line_end_length(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// A number, or the error that says what was expected.
pub(crate) fn number(word: Option<&[u8]>, place: Place, expected: &str) -> Result<f64, LoadError> {
    word.and_then(|word| std::str::from_utf8(word).ok())
        .and_then(|word| word.parse().ok())
        .ok_or_else(|| unexpected(word, place, expected))
}

/// Returns true if the decimal number `word`, whose value is `wide`, loses digits as the `f32`
/// `narrow`.
///
/// It does when `narrow`, written with as many digits, would not give `word` again: when the two
/// differ by more than half a unit in the last digit that is not a padding zero. So `0.1` loses
/// nothing, an `f32` that was printed with any number of digits loses nothing, and `16777217`
/// loses its last digit.
pub(crate) fn loses_digits(word: &[u8], wide: f64, narrow: f32) -> bool {
    let off = (wide - f64::from(narrow)).abs();
    off > 0.0 && off > 0.5 * last_digit_unit(word)
}

/// The value of one unit in the last digit of a decimal number.
fn last_digit_unit(word: &[u8]) -> f64 {
    let split = word.iter().position(|b| matches!(b, b'e' | b'E'));
    let (digits, exponent) = match split {
        Some(at) => (&word[..at], &word[at + 1..]),
        None => (word, &b"0"[..]),
    };
    // The word was parsed as a number before, so an exponent that is not an i32 is out of range.
    let exponent = std::str::from_utf8(exponent).ok().and_then(|e| e.parse::<i32>().ok());
    let fraction = match digits.iter().position(|&b| b == b'.') {
        Some(point) => digits[point + 1..].iter().rposition(|&b| b != b'0').map_or(0, |i| i + 1),
        None => 0,
    };
    let power = exponent.unwrap_or(0).saturating_sub(i32::try_from(fraction).unwrap_or(i32::MAX));
    10f64.powi(power)
}
