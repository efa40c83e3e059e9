//! Who takes part: activation, switches and pairs.
//!
//! What the caller says about a switch counts for everything below it. V-COLLIDE left that to its
//! caller, "responsible for synchronizing the pairwise activation of all the children" (§4.1);
//! table 2 moves it into the library, and so do we.

use super::{Database, Kind, Switch};
use crate::failure::Failure;
use crate::types::col_id;
use jostle_world::BodyId;

impl Database {
    pub(crate) fn create_switch(&mut self) -> Result<col_id, Failure> {
        self.insert(Kind::Switch(Switch::default()))
    }

    pub(crate) fn set_active(&mut self, id: col_id, active: bool) -> Result<(), Failure> {
        self.nodes.get_mut(id)?.active = active;
        self.refresh_participation(id)
    }

    /// Makes an object or a switch the last child of a switch, or of none. It leaves the one that
    /// it was a child of; where it was chosen, nothing is chosen then.
    pub(crate) fn set_parent(
        &mut self,
        child: col_id,
        parent: Option<col_id>,
    ) -> Result<(), Failure> {
        let before = self.nodes.get(child)?.parent;
        if let Some(parent) = parent {
            self.switch(parent)?;
            if self.lineage(parent).any(|above| above == child) {
                return Err(Failure::Circle { child, parent });
            }
        }
        if before == parent {
            return Ok(());
        }
        // Objects below `child` may be among those that the switches above it ignore, so these must
        // be collected before it leaves and after it came.
        let mut others = self.ignored_from(before);
        if let Some(before) = before {
            let switch = self.switch_mut(before)?;
            switch.children.retain(|&other| other != child);
            switch.chosen = switch.chosen.filter(|&chosen| chosen != child);
        }
        if let Some(parent) = parent {
            self.switch_mut(parent)?.children.push(child);
        }
        self.nodes.get_mut(child)?.parent = parent;
        others.extend(self.ignored_from(parent));
        self.refresh_pairs(child, &others)?;
        self.refresh_participation(child)
    }

    /// Lets only the child with this index take part, or none for -1.
    pub(crate) fn choose_child(&mut self, id: col_id, index: i32) -> Result<(), Failure> {
        let switch = self.switch_mut(id)?;
        switch.chosen = match usize::try_from(index) {
            Ok(at) if at < switch.children.len() => Some(switch.children[at]),
            Err(_) if index == -1 => None,
            _ => {
                let children = switch.children.len();
                return Err(Failure::NoSuchChild { switch: id, index, children });
            }
        };
        self.refresh_participation(id)
    }

    pub(crate) fn activate_pair(&mut self, a: col_id, b: col_id) -> Result<(), Failure> {
        self.two_nodes(a, b)?;
        self.nodes.get_mut(a)?.ignored.remove(&b);
        self.nodes.get_mut(b)?.ignored.remove(&a);
        self.refresh_pairs(a, &self.objects_from(b))
    }

    pub(crate) fn deactivate_pair(&mut self, a: col_id, b: col_id) -> Result<(), Failure> {
        self.two_nodes(a, b)?;
        self.nodes.get_mut(a)?.ignored.insert(b);
        self.nodes.get_mut(b)?.ignored.insert(a);
        self.refresh_pairs(a, &self.objects_from(b))
    }

    pub(super) fn two_nodes(&self, a: col_id, b: col_id) -> Result<(), Failure> {
        self.nodes.get(a)?;
        self.nodes.get(b)?;
        if a == b { Err(Failure::Same(a)) } else { Ok(()) }
    }

    /// Active, and chosen by every switch above it, all of them active.
    pub(super) fn takes_part(&self, id: col_id) -> bool {
        let mut below = None;
        self.lineage(id).all(|id| {
            let Ok(node) = self.nodes.get(id) else { return false };
            let child = below.replace(id);
            let chosen = match &node.kind {
                Kind::Object(_) => true,
                Kind::Switch(switch) => child.is_none() || switch.chosen == child,
            };
            node.active && chosen
        })
    }

    /// Sets in the world which of the objects from `id` down take part.
    fn refresh_participation(&mut self, id: col_id) -> Result<(), Failure> {
        for (object, body) in self.objects_from(id) {
            if self.takes_part(object) {
                self.world.enable(body)?;
            } else {
                self.world.disable(body)?;
            }
        }
        Ok(())
    }

    /// Sets in the world which pairs of objects from `id` down with some others are tested.
    fn refresh_pairs(&mut self, id: col_id, others: &[(col_id, BodyId)]) -> Result<(), Failure> {
        for (one, body) in self.objects_from(id) {
            for &(other, other_body) in others.iter().filter(|(other, _)| *other != one) {
                if self.is_ignored(one, other) {
                    self.world.ignore_pair(body, other_body)?;
                } else {
                    self.world.unignore_pair(body, other_body)?;
                }
            }
        }
        Ok(())
    }

    /// Returns true if the pair was deactivated, or a pair of switches above the two.
    fn is_ignored(&self, a: col_id, b: col_id) -> bool {
        self.lineage(a).any(|a| {
            let ignored = self.nodes.get(a).map(|node| &node.ignored);
            ignored.is_ok_and(|ignored| {
                !ignored.is_empty() && self.lineage(b).any(|b| ignored.contains(&b))
            })
        })
    }

    /// The objects that this switch and those above it ignore.
    fn ignored_from(&self, switch: Option<col_id>) -> Vec<(col_id, BodyId)> {
        let above = switch.into_iter().flat_map(|switch| self.lineage(switch));
        let nodes = above.filter_map(|id| self.nodes.get(id).ok());
        let ignored = nodes.flat_map(|node| node.ignored.iter());
        ignored.flat_map(|&id| self.objects_from(id)).collect()
    }

    /// An object or switch, the switch it is a child of, and so on upward.
    fn lineage(&self, id: col_id) -> impl Iterator<Item = col_id> + '_ {
        std::iter::successors(Some(id), |&id| self.nodes.get(id).ok()?.parent)
    }

    /// The object itself, or all objects below a switch.
    fn objects_from(&self, id: col_id) -> Vec<(col_id, BodyId)> {
        let mut objects = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.nodes.get(id).map(|node| &node.kind) {
                Ok(Kind::Object(object)) => objects.push((id, object.body)),
                Ok(Kind::Switch(switch)) => open.extend_from_slice(&switch.children),
                Err(_) => {}
            }
        }
        objects
    }

    fn switch(&self, id: col_id) -> Result<&Switch, Failure> {
        match &self.nodes.get(id)?.kind {
            Kind::Switch(switch) => Ok(switch),
            Kind::Object(_) => Err(Failure::NotASwitch(id)),
        }
    }

    fn switch_mut(&mut self, id: col_id) -> Result<&mut Switch, Failure> {
        match &mut self.nodes.get_mut(id)?.kind {
            Kind::Switch(switch) => Ok(switch),
            Kind::Object(_) => Err(Failure::NotASwitch(id)),
        }
    }
}
