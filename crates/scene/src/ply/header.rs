//! The header of a PLY file, through `ply-rs-bw`, with what that crate lets pass refused here.

use crate::error::{LoadError, Place, unexpected};
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{DefaultElement, ElementDef, Encoding, PropertyType, ScalarType};

/// What the header promises.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    /// The byte after the header.
    pub(super) length: usize,
    /// The line after the header.
    pub(super) lines: usize,
}

/// Some things of the same properties.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    /// As declared: nothing may be reserved for it before it is compared with the bytes left.
    pub(super) count: usize,
    pub(super) properties: Vec<Property>,
}

/// A number, or a list of numbers if it has a `count`.
#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) count: Option<Kind>,
    pub(super) kind: Kind,
}

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

/// The longest header read: far beyond any real one. Keeps memory in bounds, because the crate
/// makes an object of every line.
const HEADER_MAX: usize = 1 << 20;

impl Header {
    pub(super) fn read(bytes: &[u8]) -> Result<Header, LoadError> {
        let start = Place::Line(1);
        if !bytes.starts_with(b"ply") {
            return Err(unexpected(Some(&bytes[..bytes.len().min(8)]), start, "ply"));
        }
        let (length, lines) = extent(bytes)?;
        // Comments may be in any encoding; the crate wants UTF-8.
        let text = String::from_utf8_lossy(&bytes[..length]);
        let mut reader = Reader::new(text.as_bytes());
        let header = Parser::<DefaultElement>::new().read_header(&mut reader).map_err(|error| {
            let line = error.line().unwrap_or(lines);
            let found = text.lines().nth(line.saturating_sub(1)).map(str::as_bytes);
            match error.line() {
                Some(_) => unexpected(found, Place::Line(line), "a PLY header line"),
                None => unexpected(Some(b"none"), Place::Line(lines), "a format line"),
            }
        })?;
        let elements: Vec<_> = header.elements.into_values().map(element).collect();
        refuse_repeats(&text, &elements)?;
        Ok(Header { encoding: header.encoding, elements, length, lines: lines + 1 })
    }
}

/// Bytes and lines of the header, `end_header` and its line end included.
fn extent(bytes: &[u8]) -> Result<(usize, usize), LoadError> {
    let mut length = 0;
    let mut lines = 0;
    for line in bytes[..bytes.len().min(HEADER_MAX)].split_inclusive(|&b| b == b'\n') {
        length += line.len();
        lines += 1;
        if line.trim_ascii() == b"end_header" {
            return Ok((length, lines));
        }
    }
    Err(unexpected(None, Place::Line(lines), "end_header within the first MiB"))
}

/// The crate keeps only the last of two elements, or properties, of the same name: the data
/// would be read wrong without a word.
fn refuse_repeats(text: &str, elements: &[Element]) -> Result<(), LoadError> {
    let mut elements_left = elements.len();
    let mut properties_left: usize = elements.iter().map(|e| e.properties.len()).sum();
    for (line, words) in (1..).zip(text.lines()) {
        let left = match words.split_ascii_whitespace().next() {
            Some("element") => &mut elements_left,
            Some("property") => &mut properties_left,
            _ => continue,
        };
        if *left == 0 {
            let expected = "no element or property of the same name twice";
            return Err(unexpected(Some(words.as_bytes()), Place::Line(line), expected));
        }
        *left -= 1;
    }
    Ok(())
}

fn element(from: ElementDef) -> Element {
    let properties = from.properties.into_values().map(|property| {
        let (count, kind) = match property.data_type {
            PropertyType::Scalar(kind) => (None, kind),
            PropertyType::List(count, kind) => (Some(kind_of(count)), kind),
        };
        Property { name: property.name, count, kind: kind_of(kind) }
    });
    Element { name: from.name, count: from.count, properties: properties.collect() }
}

fn kind_of(kind: ScalarType) -> Kind {
    match kind {
        ScalarType::Char => Kind::I8,
        ScalarType::UChar => Kind::U8,
        ScalarType::Short => Kind::I16,
        ScalarType::UShort => Kind::U16,
        ScalarType::Int => Kind::I32,
        ScalarType::UInt => Kind::U32,
        ScalarType::Float => Kind::F32,
        ScalarType::Double => Kind::F64,
    }
}
