//! Ordered collision relations (§3.2 of the paper): those who were in large relations in the last
//! frame come first, so that large relations arise early and dismiss many at once.

use super::expanding_sphere::find_in_order;
use super::spheres::SphereBuilder;
use jostle_world::aura::Aura;
use jostle_world::aura::build::{Full, insertion_sort};

#[derive(Clone, Debug, Default)]
pub(super) struct OrderedRelations {
    groups: SphereBuilder,
    /// SU* of the paper: the objects as the relations of the last frame name them.
    order: Vec<u32>,
}

impl OrderedRelations {
    pub(super) fn find(
        &mut self,
        auras: &[Aura],
        limit: usize,
    ) -> Result<&mut SphereBuilder, Full> {
        // Objects may have gone, which are then the last numbers, and others may be new.
        let objects = auras.len() as u32;
        let known = self.order.len() as u32;
        self.order.retain(|&object| object < objects);
        self.order.extend(known..objects);
        find_in_order(&mut self.groups, auras, limit, self.order.iter().copied())?;
        self.order_by_size(auras.len());
        Ok(&mut self.groups)
    }

    /// The next frame's order: by relations, largest first, each object where it is named first.
    fn order_by_size(&mut self, objects: usize) {
        // They arise in the order of the last frame, hence nearly sorted if little has changed.
        let mut by_size: Vec<u32> = (0..self.groups.count() as u32).collect();
        let size = |group: &u32| self.groups.members(*group).len();
        let steps = insertion_sort(&mut by_size, |a, b| size(b).cmp(&size(a)));
        let mut named = vec![false; objects];
        self.order.clear();
        for group in by_size {
            for &object in self.groups.members(group) {
                if !std::mem::replace(&mut named[object as usize], true) {
                    self.order.push(object);
                }
            }
        }
        self.groups.sort_steps += steps;
    }
}
