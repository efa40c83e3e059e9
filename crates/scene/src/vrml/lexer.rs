//! Blanks, words, strings (ISO/IEC 14772-1, A.3), and skipping unknown content.

use memchr::memchr2;
use std::sync::Arc;

/// What a byte can be part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// White space; a comma is white space too.
    Blank,
    /// `#` up to the end of the line.
    Comment,
    /// A mark that stands for itself: braces, brackets, quotes, control characters.
    Mark,
    /// Names, keywords and numbers.
    Word,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Word; 256];
    let mut byte = 0;
    while byte < 0x20 {
        classes[byte] = Class::Mark;
        byte += 1;
    }
    let blanks = b" \t\n\r\x0b\x0c,";
    let mut i = 0;
    while i < blanks.len() {
        classes[blanks[i] as usize] = Class::Blank;
        i += 1;
    }
    classes[b'#' as usize] = Class::Comment;
    let marks = b"[]{}\"\x7f";
    let mut i = 0;
    while i < marks.len() {
        classes[marks[i] as usize] = Class::Mark;
        i += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

/// Returns true if this byte ends a word. The end of the file does too.
pub(super) fn ends_word(byte: Option<&u8>) -> bool {
    byte.is_none_or(|&byte| class(byte) != Class::Word)
}

/// Stands at a byte of a text.
#[derive(Clone)]
pub(super) struct Lexer<'s> {
    bytes: &'s [u8],
    at: usize,
}

/// What a balanced skip found.
pub(super) enum Skipped {
    Balanced,
    /// The end came first.
    End,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(bytes: &'s [u8], at: usize) -> Lexer<'s> {
        Lexer { bytes, at }
    }

    /// The byte it stands at. Files of more bytes than 32 bits can count are rejected before.
    pub(super) fn at(&self) -> u32 {
        self.at as u32
    }

    pub(super) fn rest(&self) -> &'s [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.bytes.len());
    }

    /// Goes to the next byte that is not blank, and says which that is.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match class(byte) {
                Class::Blank => self.at += 1,
                Class::Comment => {
                    let rest = self.rest();
                    self.advance(memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()));
                }
                Class::Mark | Class::Word => return Some(byte),
            }
        }
        None
    }

    /// The word that begins right here, without going past it; empty if none does.
    #[inline]
    pub(super) fn word_here(&self) -> &'s [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|&b| class(b) != Class::Word).unwrap_or(rest.len());
        rest.get(..length).unwrap_or_default()
    }

    /// The next word, gone past; empty, and nothing but blanks gone past, if there is none.
    #[inline]
    pub(super) fn word(&mut self) -> &'s [u8] {
        self.peek();
        let word = self.word_here();
        self.at += word.len();
        word
    }

    /// Goes past `byte` if it is the next one.
    #[inline]
    pub(super) fn takes(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Goes past this word if it is the next one.
    pub(super) fn takes_word(&mut self, word: &[u8]) -> bool {
        self.peek();
        let there = self.word_here() == word;
        if there {
            self.at += word.len();
        }
        there
    }

    /// A string, if one begins here and ends somewhere; the text between its quotes with `\"` and
    /// `\\` resolved.
    pub(super) fn string(&mut self) -> Option<Arc<str>> {
        let inside = self.rest().strip_prefix(b"\"")?;
        let (length, escapes) = string_length(inside)?;
        let text = inside.get(..length)?;
        self.advance(length + 2);
        if !escapes {
            return Some(Arc::from(String::from_utf8_lossy(text)));
        }
        let mut plain = Vec::with_capacity(text.len());
        let mut bytes = text.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            // A backslash before anything else is a backslash.
            let escaped = (byte == b'\\').then(|| bytes.next_if(|b| matches!(b, b'"' | b'\\')));
            plain.push(escaped.flatten().unwrap_or(byte));
        }
        Some(Arc::from(String::from_utf8_lossy(&plain)))
    }

    /// Goes past everything up to the brace or bracket that closes the one that begins here.
    /// Strings and comments are gone past as such. No recursion: nesting may have any depth.
    pub(super) fn skip_balanced(&mut self) -> Skipped {
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'{' | b'[' => open += 1,
                b'}' | b']' => open = open.saturating_sub(1),
                b'"' => {
                    let inside = self.rest().get(1..).unwrap_or_default();
                    match string_length(inside) {
                        Some((length, _)) => self.advance(length + 1),
                        None => return Skipped::End,
                    }
                }
                _ => {
                    let word = self.word_here().len();
                    self.advance(word.max(1));
                    continue;
                }
            }
            self.at += 1;
            if open == 0 {
                return Skipped::Balanced;
            }
        }
        Skipped::End
    }
}

/// The length of a string's text, up to its closing quote, and whether it has backslashes.
fn string_length(inside: &[u8]) -> Option<(usize, bool)> {
    let mut at = 0;
    let mut escapes = false;
    loop {
        let rest = inside.get(at..)?;
        let found = memchr2(b'"', b'\\', rest)?;
        if rest.get(found) == Some(&b'"') {
            return Some((at + found, escapes));
        }
        escapes = true;
        let escaped = matches!(rest.get(found + 1), Some(b'"' | b'\\'));
        at += found + 1 + usize::from(escaped);
    }
}
