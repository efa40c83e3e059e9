//! Ordered axis (§3.3 of the paper): only what overlaps on one axis is compared.
//!
//! Along the sorted end points, the auras that have begun and not ended form an overlap relation
//! each time that an end follows a start. Those in it that were not yet considered are considered
//! now, each once in a frame, and compared with those relations only that have a member in the same
//! overlap relation, whether found in it or earlier along the axis. Of the relations of a member,
//! the one that decides most is taken: at 20 % coverage this saves a seventh of the comparisons
//! against taking them as they come.

use super::spheres::SphereBuilder;
use jostle_world::aura::Aura;
use jostle_world::aura::build::{Active, Axis, Full};

#[derive(Clone, Debug, Default)]
pub(super) struct OrderedAxis {
    axis: Axis,
    groups: SphereBuilder,
    active: Active,
}

impl OrderedAxis {
    pub(super) fn find(
        &mut self,
        auras: &[Aura],
        limit: usize,
    ) -> Result<&mut SphereBuilder, Full> {
        let OrderedAxis { axis, groups, active } = self;
        groups.begin(auras.len(), limit);
        groups.sort_steps = axis.update(auras);
        active.begin(auras.len());
        let mut considered = 0;
        for point in axis.points() {
            if !point.is_end {
                active.push(point.object);
                continue;
            }
            // An overlap relation. Those not yet considered are the last in the list.
            for (at, &object) in active.list().iter().enumerate().skip(considered) {
                groups.consider(object);
                for &other in &active.list()[..at] {
                    groups
                        .compare_with_largest_group(auras, other, |member| active.contains(member));
                }
                groups.join()?;
            }
            active.remove(point.object);
            considered = active.list().len();
        }
        Ok(groups)
    }
}
