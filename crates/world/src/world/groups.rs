//! Groups of bodies: nodes of a scene graph, with boxes joined bottom-up (Ohlenburg §3.3).

use super::{World, WorldError};
use crate::Aabb;
use crate::id::{BodyId, GroupId};
use crate::interest::{InterestTarget, Interests};

/// A node of the scene graph. Parents are made before their children and never change, so there
/// are no circles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) parent: Option<GroupId>,
    /// Sorted.
    pub(crate) groups: Vec<GroupId>,
    /// Sorted.
    pub(crate) bodies: Vec<BodyId>,
    pub(crate) interests: Interests,
}

impl World {
    /// A new group, inside another or at the top. An interest of or in a group is one of or in all
    /// bodies inside it.
    ///
    /// # Errors
    /// [`WorldError::UnknownGroup`].
    pub fn new_group(&mut self, parent: Option<GroupId>) -> Result<GroupId, WorldError> {
        if let Some(parent) = parent {
            self.known_group(parent)?;
        }
        let id = GroupId(self.groups.insert(Group { parent, ..Group::default() }));
        if let Some(parent) = parent {
            let siblings = &mut self.groups.at_mut(parent.0.slot).groups;
            let at = siblings.binary_search(&id).unwrap_or_else(|at| at);
            siblings.insert(at, id);
        }
        Ok(id)
    }

    /// Removes a group without members, with its interests.
    ///
    /// # Errors
    /// [`WorldError::UnknownGroup`], [`WorldError::GroupNotEmpty`].
    pub fn remove_group(&mut self, id: GroupId) -> Result<(), WorldError> {
        let group = self.known_group(id)?;
        if !group.groups.is_empty() || !group.bodies.is_empty() {
            return Err(WorldError::GroupNotEmpty(id));
        }
        let others: Vec<InterestTarget> = group.interests.iter().map(|(other, _)| other).collect();
        for other in others {
            self.forget(InterestTarget::Group(id), other)?;
        }
        let group = self.groups.remove(id.0).ok_or(WorldError::UnknownGroup(id))?;
        if let Some(parent) = group.parent {
            self.groups.at_mut(parent.0.slot).groups.retain(|&child| child != id);
        }
        Ok(())
    }

    /// Puts a body into a group, or takes it out of any.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::UnknownGroup`].
    pub fn set_group(&mut self, id: BodyId, group: Option<GroupId>) -> Result<(), WorldError> {
        if let Some(group) = group {
            self.known_group(group)?;
        }
        let before = std::mem::replace(&mut self.member_mut(id)?.body.group, group);
        if let Some(before) = before {
            self.leave_group(id, before);
        }
        if let Some(group) = group {
            self.join_group(id, group);
        }
        self.refresh_distance_pairs();
        self.mark(id);
        Ok(())
    }

    /// The bodies in a group and in the groups inside it, sorted.
    ///
    /// # Errors
    /// [`WorldError::UnknownGroup`].
    pub fn group_members(&self, id: GroupId) -> Result<Vec<BodyId>, WorldError> {
        self.known_group(id)?;
        let mut members = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let group = self.groups.at(id.0.slot);
            members.extend_from_slice(&group.bodies);
            open.extend_from_slice(&group.groups);
        }
        members.sort_unstable();
        Ok(members)
    }

    /// The joined box of all members as of the last step; `None` without any.
    ///
    /// # Errors
    /// [`WorldError::UnknownGroup`].
    pub fn group_bounds(&self, id: GroupId) -> Result<Option<Aabb>, WorldError> {
        let members = self.group_members(id)?;
        let boxes = members.iter().filter_map(|id| self.members.at(id.slot()).bounds);
        Ok(boxes.reduce(|all, one| all.union(&one)))
    }

    /// Pairs of groups with interest [`QueryKind::Volume`](crate::QueryKind::Volume) whose joined boxes
    /// overlapped at the last step, sorted.
    #[must_use]
    pub fn group_overlaps(&self) -> &[[GroupId; 2]] {
        &self.group_overlaps
    }

    /// A body's parties from the nearest on: itself, its group, the group around that, and so on.
    pub(crate) fn parties(&self, id: BodyId) -> impl Iterator<Item = InterestTarget> + '_ {
        let first = self.members.at(id.slot()).body.group;
        let groups = std::iter::successors(first, |group| self.groups.at(group.0.slot).parent);
        std::iter::once(InterestTarget::Body(id)).chain(groups.map(InterestTarget::Group))
    }

    pub(super) fn known_group(&self, id: GroupId) -> Result<&Group, WorldError> {
        self.groups.get(id.0).ok_or(WorldError::UnknownGroup(id))
    }

    pub(super) fn join_group(&mut self, id: BodyId, group: GroupId) {
        let bodies = &mut self.groups.at_mut(group.0.slot).bodies;
        let at = bodies.binary_search(&id).unwrap_or_else(|at| at);
        bodies.insert(at, id);
    }

    pub(super) fn leave_group(&mut self, id: BodyId, group: GroupId) {
        self.groups.at_mut(group.0.slot).bodies.retain(|&other| other != id);
    }
}
