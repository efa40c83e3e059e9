//! The first bytes of a file: what it is, decompressed if need be.

use super::source::Source;
use crate::error::{LoadError, Place, unexpected};
use flate2::read::GzDecoder;
use std::borrow::Cow;
use std::io::Read;
use std::rc::Rc;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Fast Infoset, in which binary X3D is written (ISO/IEC 19776-3).
const FAST_INFOSET: [u8; 4] = [0xe0, 0x00, 0x00, 0x01];
const HEADER: &str = "#VRML V2.0 utf8";

/// Compressed text may become this many times longer, ...
const RATIO_MAX: u64 = 100;
/// ... or this long, whichever is more.
const INFLATED_MAX: u64 = 64 << 20;

/// How many bytes identify the format of a file.
const HEAD: usize = 1024;

/// The endings of file names that stand for VRML or X3D.
const ENDINGS: [&str; 8] = ["wrl", "wrz", "vrml", "x3d", "x3dv", "x3db", "x3dz", "x3dvz"];

/// A file that is VRML97 by its header.
pub(super) struct Text<'b> {
    pub(super) bytes: Cow<'b, [u8]>,
    /// Where the reading begins: behind a byte order mark.
    pub(super) start: usize,
    /// The header is exactly that of the standard.
    right: bool,
}

impl Text<'_> {
    /// The record of the file for messages.
    pub(super) fn source(&self, name: &str) -> Result<Rc<Source>, LoadError> {
        let source = Source::new(name, &self.bytes)?;
        if !self.right {
            source.mended(&format!("wrong or no header, read as \"{HEADER}\""), 0);
        }
        Ok(Rc::new(source))
    }
}

/// Recognises VRML or X3D of any version by the first bytes or the name.
pub(super) fn is_vrml(name: &str, bytes: &[u8]) -> bool {
    let by_name = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        let ending = if ending.eq_ignore_ascii_case("gz") {
            stem.rsplit_once('.').map_or("", |(_, ending)| ending)
        } else {
            ending
        };
        ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
    });
    by_name || {
        let mut unpacked = Vec::new();
        let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
        let head = if bytes.starts_with(&GZIP) {
            // What can be unpacked identifies the format; damage is reported when it is read.
            let _ = GzDecoder::new(head).take(HEAD as u64).read_to_end(&mut unpacked);
            &unpacked
        } else {
            head
        };
        !matches!(what(head), What::Other)
    }
}

enum What {
    Vrml97 {
        start: usize,
        right: bool,
    },
    /// Something else that looks like it, in words for a message.
    Refused(&'static str),
    Other,
}

/// What the first bytes say.
fn what(bytes: &[u8]) -> What {
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    let plain = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    let text = plain.trim_ascii_start();
    let lower = text.to_ascii_lowercase();
    let first_line = lower.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let words = first_line.strip_prefix(b"#").unwrap_or_default();
    let mut words = words.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let words = [words.next(), words.next(), words.next()].map(Option::unwrap_or_default);
    if let [b"vrml", b"v2.0", encoding] = words
        && encoding.starts_with(b"utf8")
    {
        // The rest of the header, and of its line, is a comment to the reader.
        let start = head.len() - plain.len();
        let right = plain.starts_with(HEADER.as_bytes());
        return What::Vrml97 { start, right };
    }
    match words {
        [b"vrml", b"v1.0", _] => {
            return What::Refused("VRML 1.0; convert it to VRML97 (VRML 2.0)");
        }
        [b"vrml", b"v2.0", _] => return What::Refused("VRML 2.0 in an encoding other than utf8"),
        [b"x3d", ..] => {
            return What::Refused(
                "X3D in classic encoding, which is not read here; convert to VRML97 \
                 (.wrl), e.g. with view3dscene",
            );
        }
        [word, ..] if word.starts_with(b"vrml") => {
            return What::Refused("a dialect of VRML that is not the standard's (VRML97)");
        }
        _ => {}
    }
    if head.starts_with(&FAST_INFOSET) {
        return What::Refused(
            "binary X3D, which is not read here; convert to VRML97 (.wrl), e.g. with view3dscene",
        );
    }
    let x3d = lower.windows(4).any(|tag| tag == b"<x3d" || tag == b" x3d");
    if lower.starts_with(b"<") && x3d {
        return What::Refused(
            "X3D as XML, which is not read here; convert to VRML97 (.wrl), e.g. with view3dscene",
        );
    }
    What::Other
}

/// The text of a file that is VRML97. A file that others bring in may lack the header, as some
/// do: what it is has been said by those others.
pub(super) fn open(bytes: &[u8], brought_in: bool) -> Result<Text<'_>, LoadError> {
    let bytes = match bytes.starts_with(&GZIP) {
        true => Cow::Owned(inflate(bytes)?),
        false => Cow::Borrowed(bytes),
    };
    match what(&bytes) {
        What::Vrml97 { start, right } => Ok(Text { bytes, start, right }),
        What::Refused(what) => Err(LoadError::NotReadable { what: format!("this is {what}") }),
        What::Other if brought_in && !bytes.starts_with(b"<") => {
            Ok(Text { bytes, start: 0, right: false })
        }
        What::Other => {
            let line = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).next();
            let place = Place::Column { line: 1, column: 1 };
            let expected = format!("the header {HEADER}");
            Err(unexpected(line.filter(|line| !line.is_empty()), place, &expected))
        }
    }
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    let most = INFLATED_MAX.max(RATIO_MAX.saturating_mul(bytes.len() as u64));
    let mut unpacked = Vec::new();
    let mut decoder = GzDecoder::new(bytes).take(most + 1);
    let result = decoder.read_to_end(&mut unpacked);
    let place = Place::Byte(bytes.len() - decoder.get_ref().get_ref().len());
    if let Err(error) = result {
        return Err(LoadError::Refused { place, what: format!("damaged gzip data: {error}") });
    }
    if unpacked.len() as u64 > most {
        let what = format!("gzip data that unpacks to more than {most} bytes");
        return Err(LoadError::Refused { place, what });
    }
    Ok(unpacked)
}
