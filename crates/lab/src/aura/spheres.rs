//! Relations with the sphere that encloses each: an object is compared with the sphere first, and
//! with the members only if it meets that (§3.1 of the paper).

use super::{Comparisons, Found};
use glam::DVec3;
use jostle_world::aura::Aura;
use jostle_world::aura::build::{Full, RelationBuilder};

/// Added to squares where a relative margin would vanish below the smallest number.
const TINY: f64 = 1e-300;

/// Of how many relations of an object the largest is sought, the newest first: more save no further
/// comparisons to speak of (0.3 % at 20 % coverage), and an object can be in very many.
const GROUPS_LOOKED_AT: usize = 8;

#[derive(Clone, Debug, Default)]
pub(super) struct SphereBuilder {
    builder: RelationBuilder,
    /// By number of the relation.
    spheres: Vec<Sphere>,
    object: u32,
    group_tests: u64,
    reach_steps: u64,
    pub(super) sort_steps: u64,
}

/// Around the centre of the relation's first member.
#[derive(Clone, Copy, Debug, Default)]
struct Sphere {
    /// How far the first `measured` members reach from the centre; the others are measured when
    /// the sphere is asked for.
    reach: f64,
    measured: usize,
}

impl SphereBuilder {
    /// Before the first object of a frame.
    pub(super) fn begin(&mut self, objects: usize, limit: usize) {
        self.builder.begin(objects, limit);
        self.spheres.clear();
        (self.group_tests, self.reach_steps, self.sort_steps) = (0, 0, 0);
    }

    /// The next object under consideration (OUC of the paper).
    pub(super) fn consider(&mut self, object: u32) {
        self.object = object;
        self.builder.consider(object);
    }

    pub(super) fn compare(&mut self, auras: &[Aura], other: u32) {
        self.builder.compare(auras, other);
    }

    pub(super) fn join(&mut self) -> Result<(), Full> {
        self.builder.join()?;
        self.spheres.resize(self.builder.count(), Sphere::default());
        Ok(())
    }

    /// How many relations there are by now.
    pub(super) fn count(&self) -> usize {
        self.builder.count()
    }

    /// The members of a relation, in the order of joining.
    pub(super) fn members(&self, group: u32) -> &[u32] {
        self.builder.members(group)
    }

    pub(super) fn found(&mut self) -> Found {
        let comparisons = Comparisons {
            sphere_tests: self.builder.comparisons.sphere_tests,
            group_tests: self.group_tests,
            reach_steps: self.reach_steps,
            sort_steps: self.sort_steps,
        };
        Found { relations: self.builder.relations(), comparisons }
    }

    /// Compares the object under consideration with a relation: with its sphere first, and with the
    /// members only if it meets that. Members for which `possible` is false are known not to
    /// overlap.
    ///
    /// Beyond the paper: what is decided in this turn is not compared again; and the sphere is left
    /// out for a single open member, or where a member is known to overlap, hence the sphere too.
    pub(super) fn compare_with_group(
        &mut self,
        auras: &[Aura],
        group: u32,
        possible: impl Fn(u32) -> bool,
    ) {
        let open = self.count_open(group, &possible);
        if open == 0 {
            return;
        }
        let members = self.builder.members(group);
        let one_overlaps = members.iter().any(|&member| self.builder.overlaps(member));
        let apart = open > 1 && !one_overlaps && !self.meets_sphere(auras, group);
        for at in 0..self.builder.members(group).len() {
            let member = self.builder.members(group)[at];
            if apart {
                self.builder.dismiss(member);
            } else if possible(member) {
                self.builder.compare(auras, member);
            }
        }
    }

    /// Compares the object under consideration with that relation of another object, considered
    /// before, that has the most open members: the largest first, as in §3.2 of the paper.
    pub(super) fn compare_with_largest_group(
        &mut self,
        auras: &[Aura],
        other: u32,
        possible: impl Fn(u32) -> bool,
    ) {
        if self.builder.is_decided(other) {
            return;
        }
        let mut largest = None;
        let mut most = 0;
        for &group in self.builder.groups_of(other).iter().rev().take(GROUPS_LOOKED_AT) {
            if self.builder.members(group).len() > most {
                let open = self.count_open(group, &possible);
                if open > most {
                    (largest, most) = (Some(group), open);
                }
            }
        }
        if let Some(group) = largest {
            self.compare_with_group(auras, group, possible);
        }
    }

    /// How many members of the group may overlap, for all that is known in this turn?
    fn count_open(&self, group: u32, possible: impl Fn(u32) -> bool) -> usize {
        let is_open = |&&member: &&u32| !self.builder.is_decided(member) && possible(member);
        self.builder.members(group).iter().filter(is_open).count()
    }

    /// Might the object under consideration overlap a member of the group?
    fn meets_sphere(&mut self, auras: &[Aura], group: u32) -> bool {
        self.group_tests += 1;
        let members = self.builder.members(group);
        let sphere = &mut self.spheres[group as usize];
        let centre = auras[members[0] as usize].centre();
        for &member in &members[sphere.measured..] {
            self.reach_steps += 1;
            sphere.reach = sphere.reach.max(reach_from(centre, &auras[member as usize]));
        }
        sphere.measured = members.len();
        let object = &auras[self.object as usize];
        // Rounded far outward: an error of 2^-40 dismisses none that `Aura::overlaps` accepts,
        // whose own error and that of the reach are below 2^-45 of the sum of the radii.
        let reach = object.radius() + sphere.reach;
        object.centre().distance_squared(centre) <= reach * reach * (1.0 + 1e-12) + TINY
    }
}

/// How far from a point an aura reaches, to within a few roundings.
fn reach_from(centre: DVec3, aura: &Aura) -> f64 {
    centre.distance(aura.centre()) + aura.radius()
}
