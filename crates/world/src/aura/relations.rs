//! Relations as they are given out: in a fixed order and in one piece of memory.

/// Sets of objects. The members of each are in order, and so are the sets; none is given twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relations {
    members: Vec<u32>,
    /// Where each relation ends in `members`.
    ends: Vec<usize>,
}

impl Relations {
    /// From sets in any order.
    pub(super) fn sorted(mut sets: Vec<Vec<u32>>) -> Relations {
        for set in &mut sets {
            set.sort_unstable();
        }
        sets.sort_unstable();
        debug_assert!(sets.windows(2).all(|pair| pair[0] != pair[1]));
        let mut relations = Relations::default();
        for set in sets {
            relations.members.extend(set);
            relations.ends.push(relations.members.len());
        }
        relations
    }

    /// The number of relations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// None at all, as in a world without objects?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The members of all relations together, counted once for each relation that they are in.
    #[must_use]
    pub fn members_total(&self) -> usize {
        self.members.len()
    }

    /// The members of each relation.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|relation| self.members(relation))
    }

    /// The members of the relation at a place in the order.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn members(&self, relation: usize) -> &[u32] {
        let begin = relation.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.members[begin..self.ends[relation]]
    }
}
