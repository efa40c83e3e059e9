//! Which objects a client is sent: by auras that overlap, by regions, or all (row E6).

use crate::detect::Shapes;
use crate::object::{Object, ObjectId};
use crate::objects::Objects;
use crate::solid::Solid;
use crate::state::POSITION_UNIT;
use glam::DVec3;
use jostle_world::aura::{Aura, AuraError, RegionInterest};
use std::collections::{BTreeMap, BTreeSet};

/// Which objects a client is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interest {
    /// Every client is sent all objects.
    Everyone,
    /// An avatar is sent the objects whose aura overlaps its own: that reaches so many metres,
    /// those of objects are spheres about them.
    Auras {
        /// In metres.
        reach: f64,
    },
    /// An avatar is sent what is in its cube of space or in one of the 26 around it.
    Regions {
        /// The edge of a cube, in metres.
        size: f64,
    },
}

/// The objects that each viewer is sent, itself included, by rising ids.
pub(super) type Seen<'a> = BTreeMap<ObjectId, Vec<&'a Object>>;

/// The objects that each viewer is sent, after a tick.
pub(super) fn look<'a>(
    interest: Interest,
    objects: &'a Objects,
    shapes: &Shapes,
    viewers: &BTreeSet<ObjectId>,
) -> Seen<'a> {
    let all: Vec<&Object> = objects.values().collect();
    let sent = match interest {
        Interest::Everyone => None,
        Interest::Regions { size } => {
            let places: Vec<DVec3> = objects.values().map(place).collect();
            let regions = RegionInterest::new(&places, size).ok();
            regions.map(|regions| recipients(&all, viewers, |at| regions.of(at)))
        }
        Interest::Auras { reach } => {
            let auras: Result<Vec<Aura>, AuraError> = objects
                .values()
                .map(|object| {
                    let radius = radius(object, shapes);
                    let reach = if viewers.contains(&object.id) { reach } else { 0.0 };
                    Aura::new(place(object), radius.max(reach))
                })
                .collect();
            auras.ok().map(|auras| {
                let near = Near::new(&auras, reach);
                recipients(&all, viewers, |at| Some(near.of(at)))
            })
        }
    };
    // Numbers that make no auras or regions: then all objects are sent.
    sent.unwrap_or_else(|| {
        let here = viewers.iter().filter(|viewer| objects.contains_key(viewer));
        here.map(|viewer| (*viewer, all.clone())).collect()
    })
}

/// Auras along one axis, to find those that overlap a few of them.
///
/// The relations of [`jostle_world::aura`] (Storey, Lu and Morgan) find out which objects belong
/// together. A gateway needs less: which objects overlap its viewers. Among 10,000 objects with 200
/// viewers the relations took 880 ms a tick.
struct Near<'a> {
    auras: &'a [Aura],
    /// Those that are not large, by where they are.
    along: Vec<(f64, u32)>,
    /// No smaller one reaches farther.
    reach: f64,
    /// Walls and the like.
    large: Vec<u32>,
}

impl Near<'_> {
    fn new(auras: &[Aura], reach: f64) -> Near<'_> {
        let (mut along, mut large) = (Vec::new(), Vec::new());
        for (at, aura) in (0..).zip(auras) {
            if aura.radius() <= reach {
                along.push((aura.centre().x, at));
            } else {
                large.push(at);
            }
        }
        along.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Near { auras, along, reach, large }
    }

    /// Those that overlap this one.
    fn of(&self, at: u32) -> Vec<u32> {
        let Some(own) = self.auras.get(at as usize) else { return Vec::new() };
        let (middle, far) = (own.centre().x, own.radius() + self.reach);
        // A little more, for what subtracting and adding round off.
        let far = far + (far + middle.abs()) * 1e-9;
        let from = self.along.partition_point(|(x, _)| *x < middle - far);
        let some = self.along.get(from..).unwrap_or_default().iter();
        let some = some.take_while(|(x, _)| *x <= middle + far).map(|(_, other)| *other);
        let overlaps = |other: &u32| {
            *other != at && self.auras.get(*other as usize).is_some_and(|it| it.overlaps(own))
        };
        some.chain(self.large.iter().copied()).filter(overlaps).collect()
    }
}

fn recipients<'a>(
    all: &[&'a Object],
    viewers: &BTreeSet<ObjectId>,
    of: impl Fn(u32) -> Option<Vec<u32>>,
) -> Seen<'a> {
    let here = (0..).zip(all).filter(|(_, object)| viewers.contains(&object.id));
    here.map(|(at, object)| {
        let mut sent = of(at).unwrap_or_default();
        sent.push(at);
        sent.sort_unstable();
        let sent = sent.into_iter().filter_map(|other| all.get(other as usize).copied());
        (object.id, sent.collect())
    })
    .collect()
}

fn place(object: &Object) -> DVec3 {
    DVec3::from_array(object.state.position.map(|along| f64::from(along) * POSITION_UNIT))
}

/// Of a sphere about its position that it is in.
fn radius(object: &Object, shapes: &Shapes) -> f64 {
    let half = shapes.get(object.shape).map_or([0; 3], Solid::half);
    DVec3::from_array(half.map(|along| f64::from(along) * POSITION_UNIT)).length()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_world::aura::{Finder, Recipients, RelationLimit};

    /// Objects share a relation with another exactly if their auras overlap.
    #[test]
    fn near_ones_are_those_of_the_relations() {
        let mut seed = 7u64;
        let mut draw = |most: f64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 * most
        };
        let (mut sent, mut apart) = (0, 0);
        for round in 0..40 {
            let reach = 1.0 + draw(3.0);
            let mut auras = Vec::new();
            for number in 0..30 {
                // On a lattice now and then, so that some just touch.
                let mut place = DVec3::new(draw(12.0), draw(12.0), draw(12.0));
                if round % 2 == 0 {
                    place = place.round();
                }
                let radius = match number {
                    0..5 => reach,
                    5 => 40.0,
                    6 => 0.0,
                    _ => draw(1.0),
                };
                auras.push(Aura::new(place, radius).expect("an aura"));
            }
            let mut finder = Finder::default();
            let found = finder.relations(&auras, RelationLimit::CoverWith(1 << 20)).expect("few");
            let all = Recipients::new(&found.relations, auras.len());
            let near = Near::new(&auras, reach);
            for at in 0..auras.len() as u32 {
                let mut right = all.of(at).unwrap_or_default();
                let mut found = near.of(at);
                right.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, right, "round {round}, {at}");
                sent += found.len();
                apart += auras.len() - found.len();
            }
        }
        assert!(sent > 1000 && apart > 1000, "{sent}, {apart}");
    }
}
