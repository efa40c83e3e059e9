//! Which pairs of bodies are compared, and what is asked about them: policy, interests, groups,
//! ignored pairs.
//!
//! Zachmann's collision interest matrix (§3.9) and Ohlenburg's interest lists (§3.3), kept
//! sparsely: each body and each group has a short sorted list. Nothing here grows with the square
//! of the number of bodies, and nothing that changes an interest looks at all bodies.

mod distances;
mod groups;
mod interests;

use crate::bodies::Bodies;
use crate::body::Mobility;
use crate::error::WorldError;
use crate::id::{BodyId, GroupId, ordered};
use crate::interest::{InterestTarget, Policy, QueryKind};
use distances::DistancePairs;
pub(crate) use groups::{Group, Groups};
pub(crate) use interests::Interests;
use std::borrow::Cow;

/// What is known of the pairs of one body.
#[derive(Clone, Debug, Default)]
struct BodyFilter {
    interests: Interests,
    /// Bodies that it is never compared with; sorted.
    ignored: Vec<BodyId>,
}

/// All filters of a world.
#[derive(Clone, Debug)]
pub(crate) struct Filters {
    policy: Policy,
    groups: Groups,
    /// By slot.
    bodies: Vec<BodyFilter>,
    distances: DistancePairs,
}

impl Filters {
    pub(crate) fn new(policy: Policy, groups: Groups) -> Filters {
        let distances = DistancePairs::default();
        Filters { policy, groups, bodies: Vec::new(), distances }
    }

    /// Takes a new body in.
    pub(crate) fn insert(&mut self, id: BodyId, group: Option<GroupId>) {
        if self.bodies.len() <= id.slot() as usize {
            self.bodies.resize_with(id.slot() as usize + 1, BodyFilter::default);
        }
        self.set_group(id, None, group);
    }

    /// Forgets a body and its interests.
    pub(crate) fn remove(&mut self, id: BodyId, group: Option<GroupId>) {
        let BodyFilter { interests, ignored } =
            std::mem::take(&mut self.bodies[id.slot() as usize]);
        self.forget_interests(id.into(), &interests);
        for other in ignored {
            self.bodies[other.slot() as usize].ignored.retain(|&ignored| ignored != id);
        }
        self.set_group(id, group, None);
    }

    /// Moves a body from one group to another.
    pub(crate) fn set_group(&mut self, id: BodyId, from: Option<GroupId>, to: Option<GroupId>) {
        if let Some(from) = from {
            self.groups.leave(id, from);
        }
        if let Some(to) = to {
            self.groups.join(id, to);
        }
        if from.is_some() || to.is_some() {
            self.distances.note_members();
        }
    }

    pub(crate) fn groups(&self) -> &Groups {
        &self.groups
    }

    pub(crate) fn new_group(&mut self, parent: Option<GroupId>) -> Result<GroupId, WorldError> {
        self.groups.insert(parent)
    }

    pub(crate) fn remove_group(&mut self, id: GroupId) -> Result<(), WorldError> {
        let interests = self.groups.get(id)?.interests.clone();
        self.groups.remove(id)?;
        self.forget_interests(id.into(), &interests);
        Ok(())
    }

    /// Removes the interests of a target from the lists of the others.
    fn forget_interests(&mut self, target: InterestTarget, interests: &Interests) {
        for (other, kind) in interests.iter() {
            if let Some(list) = self.interests_mut(other) {
                list.remove(target);
            }
            self.distances.note(target, other, Some(kind), None);
        }
    }

    /// Sets or, with `None`, removes what is asked about two targets that are known to exist.
    /// Returns whether anything was asked before.
    pub(crate) fn set_interest(
        &mut self,
        a: InterestTarget,
        b: InterestTarget,
        kind: Option<QueryKind>,
    ) -> bool {
        let before = self.interests(a).and_then(|interests| interests.get(b));
        for (one, other) in [(a, b), (b, a)] {
            let Some(interests) = self.interests_mut(one) else { continue };
            match kind {
                Some(kind) => interests.set(other, kind),
                None => {
                    interests.remove(other);
                }
            }
        }
        self.distances.note(a, b, before, kind);
        before.is_some()
    }

    /// Never compares two bodies, or compares them again.
    pub(crate) fn set_ignored(&mut self, a: BodyId, b: BodyId, on: bool) {
        for (one, other) in [(a, b), (b, a)] {
            let ignored = &mut self.bodies[one.slot() as usize].ignored;
            match ignored.binary_search(&other) {
                Ok(at) if !on => {
                    ignored.remove(at);
                }
                Err(at) if on => ignored.insert(at, other),
                _ => {}
            }
        }
    }

    /// Bodies that a body is never compared with, sorted.
    pub(crate) fn ignored(&self, slot: u32) -> &[BodyId] {
        &self.bodies[slot as usize].ignored
    }

    /// What is asked about two bodies; `None` if they are not compared.
    pub(crate) fn query_kind(&self, bodies: &Bodies, a: BodyId, b: BodyId) -> Option<QueryKind> {
        if a == b || !bodies.takes_part(a) || !bodies.takes_part(b) {
            return None;
        }
        if self.ignored(a.slot()).binary_search(&b).is_ok() {
            return None;
        }
        if let Some(kind) = self.nearest_interest(bodies, a, b) {
            return Some(kind);
        }
        let Policy::Everything(kind) = self.policy else { return None };
        let (first, second) = (bodies.body(a.slot()), bodies.body(b.slot()));
        let both_fixed = first.mobility == Mobility::Fixed && second.mobility == Mobility::Fixed;
        let one_family = first.family.is_some() && first.family == second.family;
        let meet = first.collision_groups.meets(second.collision_groups);
        (meet && !one_family && !both_fixed).then_some(kind)
    }

    /// The interest of two bodies in each other that counts: of the body before that of its group,
    /// of the group before that of the group around it.
    fn nearest_interest(&self, bodies: &Bodies, a: BodyId, b: BodyId) -> Option<QueryKind> {
        let interests = self.targets(bodies, a).filter_map(|one| self.interests(one));
        let mut interests = interests.filter(|interests| !interests.is_empty());
        interests.find_map(|list| self.targets(bodies, b).find_map(|other| list.get(other)))
    }

    /// Targets of interests that a body belongs to, from the nearest on: itself, its group, the
    /// group around that, and so on.
    pub(crate) fn targets(
        &self,
        bodies: &Bodies,
        id: BodyId,
    ) -> impl Iterator<Item = InterestTarget> {
        let groups = self.groups.path(bodies.body(id.slot()).group);
        std::iter::once(InterestTarget::Body(id)).chain(groups.map(InterestTarget::Group))
    }

    /// The bodies that a target stands for, in no order.
    pub(crate) fn members(&self, target: InterestTarget) -> Vec<BodyId> {
        match target {
            InterestTarget::Body(id) => vec![id],
            InterestTarget::Group(id) => self.groups.members(id).collect(),
        }
    }

    /// How far beyond itself the box of a body must extend so that the boxes of any two bodies that
    /// are compared overlap: half the largest clearance that may concern it.
    pub(crate) fn reach(&self, bodies: &Bodies, slot: u32) -> f64 {
        let always = match self.policy {
            Policy::Everything(kind) => kind.reach(),
            Policy::InterestsOnly => 0.0,
        };
        let targets = self.targets(bodies, bodies.id(slot));
        let interests = targets.filter_map(|target| self.interests(target));
        0.5 * interests.map(Interests::reach).fold(always, f64::max)
    }

    /// The interests of a target that exists.
    fn interests(&self, target: InterestTarget) -> Option<&Interests> {
        match target {
            InterestTarget::Body(id) => Some(&self.bodies.get(id.slot() as usize)?.interests),
            InterestTarget::Group(id) => Some(&self.groups.get(id).ok()?.interests),
        }
    }

    fn interests_mut(&mut self, target: InterestTarget) -> Option<&mut Interests> {
        match target {
            InterestTarget::Body(id) => {
                Some(&mut self.bodies.get_mut(id.slot() as usize)?.interests)
            }
            InterestTarget::Group(id) => Some(&mut self.groups.get_mut(id).ok()?.interests),
        }
    }

    /// All interests, each once and sorted, with the smaller target first.
    pub(crate) fn all_interests(
        &self,
        bodies: &Bodies,
    ) -> impl Iterator<Item = ([InterestTarget; 2], QueryKind)> {
        let of_body = |(id, _): (BodyId, _)| {
            (InterestTarget::Body(id), &self.bodies[id.slot() as usize].interests)
        };
        let groups = self.groups.iter();
        let of_groups = groups.map(|(id, group)| (InterestTarget::Group(id), &group.interests));
        bodies.iter().map(of_body).chain(of_groups).flat_map(|(one, interests)| {
            let later = interests.iter().filter(move |&(other, _)| one <= other);
            later.map(move |(other, kind)| ([one, other], kind))
        })
    }

    /// Pairs of bodies whose distance is wanted, however far apart they are; sorted.
    pub(crate) fn distance_pairs(&self, bodies: &Bodies) -> Cow<'_, [[BodyId; 2]]> {
        match self.distances.known() {
            Some(pairs) => Cow::Borrowed(pairs),
            None => Cow::Owned(self.find_distance_pairs(bodies)),
        }
    }

    /// Finds these pairs if interests or groups changed since they were found.
    pub(crate) fn refresh_distance_pairs(&mut self, bodies: &Bodies) {
        if self.distances.known().is_none() {
            let pairs = self.find_distance_pairs(bodies);
            self.distances.set(pairs);
        }
    }

    /// Those of a saved world.
    pub(crate) fn restore_distance_pairs(&mut self, pairs: Vec<[BodyId; 2]>) {
        self.distances.set(pairs);
    }

    fn find_distance_pairs(&self, bodies: &Bodies) -> Vec<[BodyId; 2]> {
        let mut pairs = Vec::new();
        for &[one, other] in self.distances.interests() {
            let others = self.members(other);
            for a in self.members(one) {
                let wanted = others.iter().copied().filter(|&b| {
                    a != b && self.nearest_interest(bodies, a, b) == Some(QueryKind::Distance)
                });
                pairs.extend(wanted.map(|b| ordered(a, b)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

#[cfg(test)]
mod tests;
