//! Every aura with every other: what the methods of the paper are measured against.
//!
//! The paper's brute force stops at pairs. This one goes on to the relations, so that its answer
//! and its time can be compared with those of the others.

use super::spheres::SphereBuilder;
use jostle_world::aura::Aura;
use jostle_world::aura::build::Full;

#[derive(Clone, Debug, Default)]
pub(super) struct BruteForce {
    groups: SphereBuilder,
}

impl BruteForce {
    pub(super) fn find(
        &mut self,
        auras: &[Aura],
        limit: usize,
    ) -> Result<&mut SphereBuilder, Full> {
        let groups = &mut self.groups;
        groups.begin(auras.len(), limit);
        for object in 0..auras.len() as u32 {
            groups.consider(object);
            for other in 0..object {
                groups.compare(auras, other);
            }
            groups.join()?;
        }
        Ok(groups)
    }
}
