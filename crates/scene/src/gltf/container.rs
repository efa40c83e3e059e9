//! Where the JSON is, and the bytes beside it: a GLB file (glTF 2.0, 4.4) or a text.

use crate::error::{LoadError, Place};
use crate::warning::{Warning, Warnings};

const MAGIC: &[u8] = b"glTF";
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;
const JSON: &[u8] = b"JSON";
const BIN: &[u8] = b"BIN\0";

/// The two parts of a glTF file.
pub(super) struct Container<'a> {
    pub(super) json: &'a [u8],
    /// Where the JSON begins: 0 means that the whole file is text.
    pub(super) json_at: usize,
    pub(super) bin: Option<&'a [u8]>,
}

pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// A text without the mark that some editors put before it.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

impl<'a> Container<'a> {
    pub(super) fn open(
        bytes: &'a [u8],
        warnings: &mut Warnings,
    ) -> Result<Container<'a>, LoadError> {
        if !is_binary(bytes) {
            return Ok(Container { json: without_mark(bytes), json_at: 0, bin: None });
        }
        let header = (number(bytes, 4), number(bytes, 8));
        let (Some(version), Some(length)) = header else {
            return Err(truncated(0, "the header of a GLB file", HEADER, bytes.len()));
        };
        if version != 2 {
            let what = format!("a GLB file of version {version}; only glTF 2.0 is read here");
            return Err(LoadError::NotReadable { what });
        }
        if length > bytes.len() {
            return Err(truncated(8, "the GLB file", length, bytes.len()));
        }
        if length < bytes.len() {
            let extra = bytes.len() - length;
            warnings.push(Warning::Trailing { place: Place::Byte(length), bytes: extra });
        }
        let bytes = bytes.get(..length).unwrap_or_default();
        let (kind, json, after) = chunk(bytes, HEADER)?;
        if kind != JSON {
            let place = Place::Byte(HEADER + 4);
            return Err(crate::error::unexpected(Some(kind), place, "a chunk of type JSON"));
        }
        let mut bin = None;
        // Only the second chunk may be BIN; chunks of other types are for extensions.
        if after < bytes.len() {
            let (kind, data, _) = chunk(bytes, after)?;
            bin = (kind == BIN).then_some(data);
        }
        Ok(Container { json, json_at: HEADER + CHUNK_HEADER, bin })
    }

    /// The place of a line and column of the JSON, both counted from 1.
    pub(super) fn place(&self, line: usize, column: usize) -> Place {
        if self.json_at == 0 {
            return Place::Column { line, column: column.max(1) };
        }
        let lines = self.json.split_inclusive(|&byte| byte == b'\n');
        let above: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
        Place::Byte(self.json_at + above + column.saturating_sub(1))
    }
}

/// The type and data of the chunk that begins at `at`, and where it ends.
fn chunk(bytes: &[u8], at: usize) -> Result<(&[u8], &[u8], usize), LoadError> {
    let start = at + CHUNK_HEADER;
    let left = bytes.len().saturating_sub(at);
    let (Some(length), Some(kind)) = (number(bytes, at), bytes.get(at + 4..start)) else {
        return Err(truncated(at, "the header of a chunk", CHUNK_HEADER, left));
    };
    let rest = bytes.get(start..).unwrap_or_default();
    match rest.get(..length) {
        Some(data) => Ok((kind, data, start + length)),
        None => Err(truncated(at, "a chunk", length, rest.len())),
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let raw = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(raw.try_into().ok()?) as usize)
}

fn truncated(at: usize, what: &str, needs: usize, left: usize) -> LoadError {
    let (place, what) = (Place::Byte(at), what.to_string());
    LoadError::Truncated { place, what, needs: needs as u128, left }
}
