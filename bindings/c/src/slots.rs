//! Ids that are never given twice: a slot, counted from 1, and above it how often it was used
//! before. So the first ids of a world are 1, 2, 3, and 0 is never one.

use crate::failure::Failure;
use crate::types::col_id;

/// Values by id.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    pub(crate) fn insert(&mut self, value: T) -> Result<col_id, Failure> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let most = u32::MAX as usize - 1;
                let slot = self.entries.len();
                if slot >= most {
                    return Err(Failure::TooMany { what: "objects", most });
                }
                self.entries.push(Entry { generation: 0, value: None });
                slot as u32
            }
        };
        let entry = &mut self.entries[slot as usize];
        entry.value = Some(value);
        Ok(u64::from(entry.generation) << 32 | u64::from(slot + 1))
    }

    pub(crate) fn remove(&mut self, id: col_id) -> Result<T, Failure> {
        let (slot, entry) = self.entry(id).ok_or(Failure::Unknown(id))?;
        let value = entry.value.take().ok_or(Failure::Unknown(id))?;
        // A slot that was used 2^32 times is left alone, so that no id comes back.
        if let Some(next) = entry.generation.checked_add(1) {
            entry.generation = next;
            self.free.push(slot);
        }
        Ok(value)
    }

    /// How many there are; slots that were used up count too.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    pub(crate) fn get(&self, id: col_id) -> Result<&T, Failure> {
        let entry = place(id).and_then(|slot| self.entries.get(slot as usize));
        let entry = entry.filter(|entry| u64::from(entry.generation) == id >> 32);
        entry.and_then(|entry| entry.value.as_ref()).ok_or(Failure::Unknown(id))
    }

    pub(crate) fn get_mut(&mut self, id: col_id) -> Result<&mut T, Failure> {
        let entry = self.entry(id);
        entry.and_then(|(_, entry)| entry.value.as_mut()).ok_or(Failure::Unknown(id))
    }

    fn entry(&mut self, id: col_id) -> Option<(u32, &mut Entry<T>)> {
        let slot = place(id)?;
        let entry = self.entries.get_mut(slot as usize)?;
        (u64::from(entry.generation) == id >> 32).then_some((slot, entry))
    }
}

/// The slot of an id: its low half, less 1.
fn place(id: col_id) -> Option<u32> {
    (id as u32).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_never_given_twice() {
        let mut slots = Slots::default();
        let mut seen = std::collections::BTreeSet::from([0]);
        for round in 0..100 {
            let ids = [0; 3].map(|_| slots.insert(round).expect("there is room"));
            for id in ids {
                assert!(seen.insert(id), "{id:#x} was given before");
            }
            for id in [ids[1], ids[0]] {
                assert_eq!(slots.remove(id), Ok(round));
                assert_eq!(slots.remove(id), Err(Failure::Unknown(id)));
            }
            assert_eq!(slots.get(ids[2]), Ok(&round));
        }
        assert_eq!(slots.entries.len(), 102, "slots are used again");
    }

    #[test]
    fn a_slot_that_was_used_up_is_left_alone() {
        let mut slots = Slots::default();
        slots.entries.push(Entry { generation: u32::MAX, value: Some('a') });
        let last = u64::from(u32::MAX) << 32 | 1;
        assert_eq!(slots.remove(last), Ok('a'));
        assert_eq!(slots.get(last), Err(Failure::Unknown(last)));
        assert_eq!(slots.insert('b'), Ok(2));
    }
}
