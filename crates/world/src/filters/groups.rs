//! Groups of bodies: nodes of a scene graph (Ohlenburg §3.3).

use super::interests::Interests;
use crate::error::WorldError;
use crate::id::{BodyId, Entry, GroupId, Slots};
use std::collections::BTreeSet;

/// A node of the scene graph. Parents are made before their children and never change, so there
/// are no cycles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) parent: Option<GroupId>,
    pub(crate) children: BTreeSet<GroupId>,
    pub(crate) bodies: BTreeSet<BodyId>,
    pub(crate) interests: Interests,
}

/// All groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups(Slots<Group>);

impl Groups {
    pub(crate) fn insert(&mut self, parent: Option<GroupId>) -> Result<GroupId, WorldError> {
        if let Some(parent) = parent {
            self.get(parent)?;
        }
        let id = GroupId(self.0.insert(Group { parent, ..Group::default() }));
        if let Some(parent) = parent {
            self.at_mut(parent).children.insert(id);
        }
        Ok(id)
    }

    /// Removes a group without members. Its interests have to be removed before.
    pub(crate) fn remove(&mut self, id: GroupId) -> Result<(), WorldError> {
        let group = self.get(id)?;
        if !group.children.is_empty() || !group.bodies.is_empty() {
            return Err(WorldError::GroupNotEmpty(id));
        }
        let parent = group.parent;
        self.0.remove(id.0);
        if let Some(parent) = parent {
            self.at_mut(parent).children.remove(&id);
        }
        Ok(())
    }

    pub(crate) fn get(&self, id: GroupId) -> Result<&Group, WorldError> {
        self.0.get(id.0).ok_or(WorldError::UnknownGroup(id))
    }

    pub(crate) fn get_mut(&mut self, id: GroupId) -> Result<&mut Group, WorldError> {
        self.0.get_mut(id.0).ok_or(WorldError::UnknownGroup(id))
    }

    /// A group that is known to exist.
    fn at_mut(&mut self, id: GroupId) -> &mut Group {
        self.0.at_mut(id.0.slot)
    }

    pub(crate) fn join(&mut self, body: BodyId, group: GroupId) {
        self.at_mut(group).bodies.insert(body);
    }

    pub(crate) fn leave(&mut self, body: BodyId, group: GroupId) {
        self.at_mut(group).bodies.remove(&body);
    }

    /// The bodies in a group and in the groups inside it, in no order; none if there is no such
    /// group.
    pub(crate) fn members(&self, id: GroupId) -> impl Iterator<Item = BodyId> {
        let mut open = vec![id];
        let next = std::iter::from_fn(move || {
            let group = self.0.get(open.pop()?.0);
            open.extend(group.into_iter().flat_map(|group| &group.children));
            Some(group)
        });
        next.flatten().flat_map(|group| group.bodies.iter().copied())
    }

    /// A group, the group around it, and so on.
    pub(crate) fn path(&self, first: Option<GroupId>) -> impl Iterator<Item = GroupId> {
        std::iter::successors(first, |id| self.0.at(id.0.slot).parent)
    }

    /// All groups, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (GroupId, &Group)> {
        self.0.iter().map(|(key, group)| (GroupId(key), group))
    }

    /// All slots, taken or free.
    pub(crate) fn entries(&self) -> &[Entry<Group>] {
        self.0.entries()
    }

    /// From all slots, of which only the parents are known. Fails with the slot of a group whose
    /// parent does not exist, or that is inside itself.
    pub(crate) fn from_entries(entries: Vec<Entry<Group>>) -> Result<Groups, (u32, &'static str)> {
        let mut groups = Groups(Slots::from_entries(entries));
        let parents: Vec<(GroupId, GroupId)> =
            groups.iter().filter_map(|(id, group)| Some((id, group.parent?))).collect();
        for &(id, parent) in &parents {
            match groups.get_mut(parent) {
                Ok(parent) => parent.children.insert(id),
                Err(_) => return Err((id.0.slot, "the group around it is not there")),
            };
        }
        match groups.cycle(&parents) {
            Some(slot) => Err((slot, "it is inside itself")),
            None => Ok(groups),
        }
    }

    /// The slot of a group that is inside itself. Each way up is followed until it meets one that
    /// was followed before.
    fn cycle(&self, parents: &[(GroupId, GroupId)]) -> Option<u32> {
        const NEVER: usize = usize::MAX;
        let mut seen = vec![NEVER; self.0.entries().len()];
        for (turn, &(start, _)) in parents.iter().enumerate() {
            for id in self.path(Some(start)) {
                match std::mem::replace(&mut seen[id.0.slot as usize], turn) {
                    NEVER => {}
                    before if before == turn => return Some(id.0.slot),
                    _ => break,
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Key;

    fn body(slot: u32) -> BodyId {
        BodyId::from_parts([slot, 0])
    }

    #[test]
    fn members_are_those_of_all_groups_inside() {
        let mut groups = Groups::default();
        let car = groups.insert(None).expect("a group");
        let wheels = groups.insert(Some(car)).expect("a group");
        let other = groups.insert(None).expect("a group");
        for (slot, group) in [(3, car), (1, wheels), (2, wheels), (4, other)] {
            groups.join(body(slot), group);
        }
        let mut members: Vec<_> = groups.members(car).collect();
        members.sort_unstable();
        assert_eq!(members, [1, 2, 3].map(body));
        assert_eq!(groups.path(Some(wheels)).collect::<Vec<_>>(), [wheels, car]);
        assert_eq!(groups.path(None).count(), 0);

        assert_eq!(groups.remove(car), Err(WorldError::GroupNotEmpty(car)));
        groups.leave(body(1), wheels);
        assert_eq!(groups.remove(wheels), Err(WorldError::GroupNotEmpty(wheels)));
        groups.leave(body(2), wheels);
        groups.leave(body(3), car);
        assert_eq!(groups.remove(wheels), Ok(()));
        assert_eq!(groups.remove(car), Ok(()));
        assert_eq!(groups.insert(Some(car)), Err(WorldError::UnknownGroup(car)));
        assert_eq!(groups.members(car).count(), 0);
    }

    #[test]
    fn saved_groups_that_are_inside_themselves_are_refused() {
        let load = |parents: &[Option<u32>]| {
            let entry = |parent: &Option<u32>| {
                let parent = parent.map(|slot| GroupId(Key { slot, generation: 0 }));
                Entry { generation: 0, value: Some(Group { parent, ..Group::default() }) }
            };
            Groups::from_entries(parents.iter().map(entry).collect()).map(|groups| {
                groups.iter().map(|(_, group)| group.children.len()).collect::<Vec<_>>()
            })
        };
        assert_eq!(load(&[None, Some(0), Some(1), Some(0)]), Ok(vec![2, 1, 0, 0]));
        assert!(matches!(load(&[Some(0)]), Err((0, _))));
        assert!(matches!(load(&[None, Some(3), Some(1), Some(2)]), Err((1..=3, _))));
        assert_eq!(load(&[None, Some(2)]), Err((1, "the group around it is not there")));
    }
}
