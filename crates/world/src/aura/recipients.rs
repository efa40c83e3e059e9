//! Who receives a message: everyone who shares a relation with its sender.

use super::Relations;

/// The relations, indexed by object.
#[derive(Clone, Debug)]
pub struct Recipients<'a> {
    relations: &'a Relations,
    /// The relations of each object, one after the other, and where those of each end.
    of_objects: Vec<u32>,
    ends: Vec<usize>,
}

impl<'a> Recipients<'a> {
    /// For the relations of a frame with so many objects. Takes time and memory in proportion to
    /// the members of all relations.
    ///
    /// # Panics
    /// If the relations name an object beyond that number.
    #[must_use]
    pub fn new(relations: &'a Relations, objects: usize) -> Recipients<'a> {
        let mut ends = vec![0; objects];
        for &member in relations.iter().flatten() {
            ends[member as usize] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            // For now where they begin; filling moves each to its end.
            total += std::mem::replace(end, total);
        }
        let mut of_objects = vec![0; total];
        for (relation, members) in (0u32..).zip(relations.iter()) {
            for &member in members {
                let at = &mut ends[member as usize];
                of_objects[*at] = relation;
                *at += 1;
            }
        }
        Recipients { relations, of_objects, ends }
    }

    /// Everyone who shares a relation with the sender, in order, the sender left out. `None` if
    /// there is no such object.
    #[must_use]
    pub fn of(&self, sender: u32) -> Option<Vec<u32>> {
        let end = *self.ends.get(sender as usize)?;
        let begin = sender.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        let relations = self.of_objects[begin..end].iter();
        let members = relations.flat_map(|&relation| self.relations.members(relation as usize));
        let mut recipients: Vec<u32> =
            members.copied().filter(|&member| member != sender).collect();
        recipients.sort_unstable();
        recipients.dedup();
        Some(recipients)
    }
}
