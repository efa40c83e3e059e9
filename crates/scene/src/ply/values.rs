//! The numbers of a PLY file, one after the other, from text or binary.

use super::header::{Element, Header, Kind, Property};
use crate::error::{LoadError, Place, unexpected};
use crate::gather::Gather;
use crate::text::{Words, number};
use ply_rs_bw::ply::Encoding;

/// A walk through the data.
#[derive(Debug)]
pub(super) enum Values<'a> {
    Text(Words<'a>),
    Binary { bytes: &'a [u8], at: usize, big: bool },
}

impl<'a> Values<'a> {
    pub(super) fn new(bytes: &'a [u8], header: &Header) -> Values<'a> {
        let big = match header.encoding {
            Encoding::Ascii => {
                return Values::Text(Words::new(&bytes[header.length..], header.lines, false));
            }
            Encoding::BinaryBigEndian => true,
            Encoding::BinaryLittleEndian => false,
        };
        Values::Binary { bytes, at: header.length, big }
    }

    /// Where the next number stands.
    pub(super) fn place(&mut self) -> Place {
        match self {
            Values::Text(words) => {
                words.skip_to_word();
                words.place()
            }
            Values::Binary { at, .. } => Place::Byte(*at),
        }
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        match self {
            Values::Text(words) => words.left(),
            Values::Binary { bytes, at, .. } => bytes.len() - at,
        }
    }

    /// Bytes after the last element, if they are more than blanks of a text.
    pub(super) fn trailing(&mut self) -> Option<(usize, Place)> {
        let place = self.place();
        let left = self.left();
        (left > 0).then_some((left, place))
    }

    /// The fewest bytes that one element can take.
    pub(super) fn smallest_size(&self, element: &Element) -> usize {
        match self {
            // A digit and a blank, but no blank is needed after the last digit of the file.
            Values::Text(_) => (2 * element.properties.len()).saturating_sub(1),
            Values::Binary { .. } => {
                element.properties.iter().map(|p| size(p.count.unwrap_or(p.kind))).sum()
            }
        }
    }

    pub(super) fn coordinate(&mut self, kind: Kind, gather: &mut Gather) -> Result<f32, LoadError> {
        if let Values::Text(words) = self {
            let word = words.word_anywhere();
            return gather.coordinate(word, words.place());
        }
        let place = self.place();
        gather.coordinate_wide(self.scalar(kind, "a coordinate")?, place)
    }

    /// Ends an element. In a text nothing more may stand on its line: a number too many or too
    /// few would otherwise shift all that follow.
    pub(super) fn end_element(&mut self) -> Result<(), LoadError> {
        if let Values::Text(words) = self
            && let Some(word) = words.word()
        {
            let expected = "a new line after the last property of an element";
            return Err(unexpected(Some(word), words.place(), expected));
        }
        Ok(())
    }

    /// A vertex index.
    pub(super) fn index(&mut self, kind: Kind) -> Result<i64, LoadError> {
        self.whole(kind, "a vertex index")
    }

    /// How many numbers a property has here; they are known to have room in the bytes left.
    pub(super) fn length(&mut self, property: &Property) -> Result<usize, LoadError> {
        let Some(count) = property.count else { return Ok(1) };
        let place = self.place();
        let whole = self.whole(count, "the count of a list")?;
        let Ok(count) = usize::try_from(whole) else {
            let found = whole.to_string();
            return Err(unexpected(Some(found.as_bytes()), place, "a list count of 0 or more"));
        };
        let needs = count as u128
            * match self {
                Values::Text(_) => 2,
                Values::Binary { .. } => size(property.kind) as u128,
            };
        if needs > self.left() as u128 {
            let what = format!("a list of {count}");
            return Err(LoadError::Truncated { place, what, needs, left: self.left() });
        }
        Ok(count)
    }

    /// Passes over a property that is not used.
    pub(super) fn skip(&mut self, property: &Property) -> Result<(), LoadError> {
        for _ in 0..self.length(property)? {
            self.scalar(property.kind, "a number")?;
        }
        Ok(())
    }

    fn whole(&mut self, kind: Kind, expected: &str) -> Result<i64, LoadError> {
        let place = self.place();
        let value = self.scalar(kind, expected)?;
        // i64 has room for every number below this; f64 has every whole number of 32 bits.
        if value.fract() != 0.0 || value.abs() >= 9e18 {
            let found = value.to_string();
            return Err(unexpected(Some(found.as_bytes()), place, expected));
        }
        Ok(value as i64)
    }

    fn scalar(&mut self, kind: Kind, expected: &str) -> Result<f64, LoadError> {
        match self {
            Values::Text(words) => {
                let word = words.word_anywhere();
                number(word, words.place(), expected)
            }
            Values::Binary { bytes, at, big } => {
                let Some(raw) = bytes.get(*at..*at + size(kind)) else {
                    let (needs, left) = (size(kind) as u128, bytes.len() - *at);
                    let (place, what) = (Place::Byte(*at), expected.to_string());
                    return Err(LoadError::Truncated { place, what, needs, left });
                };
                *at += size(kind);
                Ok(decode(raw, kind, *big))
            }
        }
    }
}

fn size(kind: Kind) -> usize {
    match kind {
        Kind::I8 | Kind::U8 => 1,
        Kind::I16 | Kind::U16 => 2,
        Kind::I32 | Kind::U32 | Kind::F32 => 4,
        Kind::F64 => 8,
    }
}

/// The number in `raw`, which has the size of its kind. Exact: every kind fits an `f64`.
fn decode(raw: &[u8], kind: Kind, big: bool) -> f64 {
    let mut bits = 0u64;
    for i in 0..raw.len() {
        bits = bits << 8 | u64::from(raw[if big { i } else { raw.len() - 1 - i }]);
    }
    match kind {
        Kind::I8 => f64::from(bits as u8 as i8),
        Kind::U8 => f64::from(bits as u8),
        Kind::I16 => f64::from(bits as u16 as i16),
        Kind::U16 => f64::from(bits as u16),
        Kind::I32 => f64::from(bits as u32 as i32),
        Kind::U32 => f64::from(bits as u32),
        Kind::F32 => f64::from(f32::from_bits(bits as u32)),
        Kind::F64 => f64::from_bits(bits),
    }
}
