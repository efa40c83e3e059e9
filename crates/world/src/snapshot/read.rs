//! Bytes to records, one after the other; errors have the place.

use super::LoadWorldError;
use serde::Deserialize;

pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Begins at byte `at` of `bytes`.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Reader<'a> {
        Reader { bytes, at }
    }

    pub(super) fn value<T: Deserialize<'a>>(
        &mut self,
        what: &'static str,
    ) -> Result<T, LoadWorldError> {
        let left = self.bytes.get(self.at..).unwrap_or_default();
        let (value, rest) = postcard::take_from_bytes(left).map_err(|_| self.malformed(what))?;
        self.at = self.bytes.len() - rest.len();
        Ok(value)
    }

    /// Items that `each` makes of records and their numbers. Room is made as they come: there may
    /// be fewer than the count promises.
    pub(super) fn list<T: Deserialize<'a>, Item>(
        &mut self,
        what: &'static str,
        mut each: impl FnMut(T, usize) -> Result<Item, LoadWorldError>,
    ) -> Result<Vec<Item>, LoadWorldError> {
        let count: u64 = self.value(what)?;
        let mut items = Vec::new();
        for number in 0..count {
            let record = self.value(what)?;
            items.push(each(record, number as usize)?);
        }
        Ok(items)
    }

    pub(super) fn end(&self) -> Result<(), LoadWorldError> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.malformed("the end")) }
    }

    fn malformed(&self, what: &'static str) -> LoadWorldError {
        LoadWorldError::Malformed { what, at: self.at as u64 }
    }
}
