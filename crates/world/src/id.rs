//! Names of bodies and groups: a slot and how often it was used before.
//!
//! A slot is used again after its body went, with the next generation, so an old name is known to
//! be old: [`WorldError::UnknownBody`](crate::WorldError::UnknownBody), never another body.

use std::fmt;

/// The name of a body. Ordered by slot, then generation; results come in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub(crate) Key);

/// The name of a group of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub(crate) Key);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl BodyId {
    /// Slot and generation, for messages and files.
    #[must_use]
    pub fn to_parts(self) -> [u32; 2] {
        [self.0.slot, self.0.generation]
    }

    /// From slot and generation. Any numbers make an id; [`World::has`](crate::World::has) returns
    /// whether a body has it.
    #[must_use]
    pub fn from_parts([slot, generation]: [u32; 2]) -> BodyId {
        BodyId(Key { slot, generation })
    }

    pub(crate) fn slot(self) -> u32 {
        self.0.slot
    }
}

/// A pair with the smaller id first.
pub(crate) fn ordered(a: BodyId, b: BodyId) -> [BodyId; 2] {
    if a <= b { [a, b] } else { [b, a] }
}

impl fmt::Display for BodyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "body {}.{}", self.0.slot, self.0.generation)
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "group {}.{}", self.0.slot, self.0.generation)
    }
}

/// Values by slot and generation. The lowest free slot is used first, so that slots stay dense and
/// depend only on what was done, not on how.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    entries: Vec<Entry<T>>,
    /// Free slots, as a heap with the lowest on top.
    free: std::collections::BinaryHeap<std::cmp::Reverse<u32>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry<T> {
    pub(crate) generation: u32,
    pub(crate) value: Option<T>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { entries: Vec::new(), free: std::collections::BinaryHeap::new() }
    }
}

impl<T> Slots<T> {
    pub(crate) fn insert(&mut self, value: T) -> Key {
        if let Some(std::cmp::Reverse(slot)) = self.free.pop() {
            let entry = &mut self.entries[slot as usize];
            debug_assert!(entry.value.is_none());
            entry.value = Some(value);
            return Key { slot, generation: entry.generation };
        }
        let slot = u32::try_from(self.entries.len()).expect("fewer than 2^32 bodies fit in memory");
        self.entries.push(Entry { generation: 0, value: Some(value) });
        Key { slot, generation: 0 }
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        let entry = self.entries.get_mut(key.slot as usize)?;
        if entry.generation != key.generation {
            return None;
        }
        let value = entry.value.take()?;
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(std::cmp::Reverse(key.slot));
        Some(value)
    }

    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        let entry = self.entries.get(key.slot as usize)?;
        if entry.generation == key.generation { entry.value.as_ref() } else { None }
    }

    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let entry = self.entries.get_mut(key.slot as usize)?;
        if entry.generation == key.generation { entry.value.as_mut() } else { None }
    }

    /// What is in a slot that is known to be taken.
    pub(crate) fn at(&self, slot: u32) -> &T {
        let value = self.entries[slot as usize].value.as_ref();
        value.expect("broad phases name only bodies that are there")
    }

    pub(crate) fn at_mut(&mut self, slot: u32) -> &mut T {
        let value = self.entries[slot as usize].value.as_mut();
        value.expect("broad phases name only bodies that are there")
    }

    /// Is something in this slot?
    pub(crate) fn is_taken(&self, slot: u32) -> bool {
        self.entries.get(slot as usize).is_some_and(|entry| entry.value.is_some())
    }

    /// The name of what is in a slot.
    pub(crate) fn key(&self, slot: u32) -> Key {
        Key { slot, generation: self.entries[slot as usize].generation }
    }

    /// All that are there, in order of slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        self.entries.iter().enumerate().filter_map(|(slot, entry)| {
            let key = Key { slot: slot as u32, generation: entry.generation };
            entry.value.as_ref().map(|value| (key, value))
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// All slots, taken or free: what names will be given depends on both.
    pub(crate) fn entries(&self) -> &[Entry<T>] {
        &self.entries
    }

    /// From all slots, taken or free.
    pub(crate) fn from_entries(entries: Vec<Entry<T>>) -> Slots<T> {
        let free = (0u32..).zip(&entries).filter(|(_, entry)| entry.value.is_none());
        let free = free.map(|(slot, _)| std::cmp::Reverse(slot)).collect();
        Slots { entries, free }
    }
}
