//! Expanding sphere (§3.1 of the paper): every aura is compared with all relations of those before.

use super::spheres::SphereBuilder;
use jostle_world::aura::Aura;
use jostle_world::aura::build::Full;

#[derive(Clone, Debug, Default)]
pub(super) struct ExpandingSphere {
    groups: SphereBuilder,
}

impl ExpandingSphere {
    pub(super) fn find(
        &mut self,
        auras: &[Aura],
        limit: usize,
    ) -> Result<&mut SphereBuilder, Full> {
        find_in_order(&mut self.groups, auras, limit, 0..auras.len() as u32)?;
        Ok(&mut self.groups)
    }
}

/// Figure 3 of the paper: the objects of `order` become the object under consideration, in turn.
pub(super) fn find_in_order(
    groups: &mut SphereBuilder,
    auras: &[Aura],
    limit: usize,
    order: impl IntoIterator<Item = u32>,
) -> Result<(), Full> {
    groups.begin(auras.len(), limit);
    for object in order {
        groups.consider(object);
        for group in 0..groups.count() {
            groups.compare_with_group(auras, group as u32, |_| true);
        }
        groups.join()?;
    }
    Ok(())
}
