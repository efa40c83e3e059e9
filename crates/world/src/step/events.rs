//! What began and what ended: the results of a step against what was known.

use super::narrow::{PairQuery, PairResult};
use crate::bodies::{Bodies, Changed};
use crate::broad_phase::BroadPhase;
use crate::contact::{Contact, Event, PairDistance};
use crate::contacts::Contacts;
use crate::filters::Groups;
use crate::id::{BodyId, GroupId};
use crate::interest::{InterestTarget, QueryKind};

/// Decides which of the known pairs are still as they were.
pub(super) struct Kept<'a> {
    pub(super) bodies: &'a Bodies,
    pub(super) changed: &'a Changed,
    /// A body was removed or disabled since the last step.
    pub(super) gone: bool,
}

impl Kept<'_> {
    /// Neither body changed, and both are there and take part, which is looked at only if any body
    /// is gone.
    fn has(&self, a: BodyId, b: BodyId) -> bool {
        let unchanged = !self.changed.has(a.slot()) && !self.changed.has(b.slot());
        unchanged && (!self.gone || self.bodies.takes_part(a) && self.bodies.takes_part(b))
    }
}

/// Merges the results of a step with what is known of pairs that did not change. Returns what
/// began and what ended.
pub(super) fn merge(
    contacts: &mut Contacts,
    kept: &Kept<'_>,
    queries: &[PairQuery],
    results: Vec<PairResult>,
) -> Vec<Event> {
    let (mut found, mut measured) = (Vec::new(), Vec::new());
    for (&PairQuery { a, b, .. }, result) in queries.iter().zip(results) {
        let distance = result.distance.map(|distance| PairDistance { a, b, distance: *distance });
        measured.extend(distance);
        let certainty = result.certainty;
        found.extend(result.data.map(|data| Contact { a, b, data, certainty }));
    }
    contacts.merge_distances(measured, |a, b| kept.has(a, b));
    contacts.merge(found, |a, b| kept.has(a, b))
}

/// Which groups' joined boxes overlap, of those with an interest in that; sorted.
pub(super) fn group_overlaps(groups: &Groups, broad_phase: &BroadPhase) -> Vec<[GroupId; 2]> {
    let mut overlaps = Vec::new();
    for (one, group) in groups.iter() {
        for (target, kind) in group.interests.iter() {
            let InterestTarget::Group(other) = target else { continue };
            if kind == QueryKind::Volume && one < other {
                let members = |id| groups.members(id).map(BodyId::slot);
                let bounds = [one, other].map(|id| broad_phase.joined(members(id)));
                if matches!(bounds, [Some(a), Some(b)] if a.overlaps(&b)) {
                    overlaps.push([one, other]);
                }
            }
        }
    }
    overlaps
}
