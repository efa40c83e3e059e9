//! Who is told about what: by auras that overlap, by regions, or everybody everything (row E6).

use crate::detect::Shapes;
use crate::held::Objects;
use crate::object::{Object, ObjectId};
use crate::state::POSITION_UNIT;
use glam::DVec3;
use jostle_world::aura::{
    Aura, AuraError, Completeness, Finder, Method, Recipients, RegionInterest, RelationLimit,
};
use std::collections::{BTreeMap, BTreeSet};

/// Who is told about what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interest {
    /// Everybody is told about everything.
    Everyone,
    /// An avatar is told about what shares a relation of auras with it: its own reaches so many
    /// metres, those of others are spheres about them.
    Auras {
        /// In metres.
        reach: f64,
    },
    /// An avatar is told about what is in its cube of space or in one of the 26 around it.
    Regions {
        /// The edge of a cube, in metres.
        size: f64,
    },
}

/// Relations that are looked for; if there are more, avatars and objects are compared one by one,
/// which finds the same recipients.
const RELATIONS_MAX: usize = 4096;

/// Finds out who is told about what, tick after tick.
pub(super) struct Eyes {
    finder: Finder,
}

/// What each viewer is told about, itself included, by rising ids.
pub(super) type Seen = BTreeMap<ObjectId, Vec<ObjectId>>;

impl Eyes {
    pub(super) fn new() -> Eyes {
        Eyes { finder: Finder::new(Method::OrderedColumns) }
    }

    pub(super) fn look(
        &mut self,
        interest: Interest,
        objects: &Objects,
        shapes: &Shapes,
        viewers: &BTreeSet<ObjectId>,
    ) -> Seen {
        let ids: Vec<ObjectId> = objects.keys().copied().collect();
        let places: Vec<DVec3> = objects.values().map(place).collect();
        let told = match interest {
            Interest::Everyone => None,
            Interest::Regions { size } => {
                let regions = RegionInterest::new(&places, size).ok();
                regions.map(|regions| recipients(&ids, viewers, |at| regions.of(at)))
            }
            Interest::Auras { reach } => {
                let auras: Result<Vec<Aura>, AuraError> = objects
                    .values()
                    .zip(&places)
                    .map(|(object, &place)| {
                        let radius = radius(object, shapes);
                        let reach = if viewers.contains(&object.id) { reach } else { 0.0 };
                        Aura::new(place, radius.max(reach))
                    })
                    .collect();
                auras.ok().map(|auras| self.by_auras(&auras, &ids, viewers))
            }
        };
        // Numbers that make no auras or regions: then everybody is told everything.
        told.unwrap_or_else(|| {
            let here = viewers.iter().filter(|viewer| objects.contains_key(viewer));
            here.map(|viewer| (*viewer, ids.clone())).collect()
        })
    }

    fn by_auras(&mut self, auras: &[Aura], ids: &[ObjectId], viewers: &BTreeSet<ObjectId>) -> Seen {
        let found = self.finder.relations(auras, RelationLimit::CoverWith(RELATIONS_MAX));
        match found {
            Ok(found) if found.completeness != Completeness::Partial => {
                let all = Recipients::new(&found.relations, auras.len());
                recipients(ids, viewers, |at| all.of(at))
            }
            _ => recipients(ids, viewers, |at| {
                let own = auras.get(at as usize)?;
                let others = (0..).zip(auras).filter(|(other, _)| *other != at);
                Some(others.filter(|(_, aura)| aura.overlaps(own)).map(|(at, _)| at).collect())
            }),
        }
    }
}

fn recipients(
    ids: &[ObjectId],
    viewers: &BTreeSet<ObjectId>,
    of: impl Fn(u32) -> Option<Vec<u32>>,
) -> Seen {
    let here = (0..).zip(ids).filter(|(_, id)| viewers.contains(id));
    here.map(|(at, &id)| {
        let others = of(at).unwrap_or_default();
        let others = others.into_iter().filter_map(|other| ids.get(other as usize).copied());
        let mut told: Vec<ObjectId> = others.chain([id]).collect();
        told.sort_unstable();
        (id, told)
    })
    .collect()
}

fn place(object: &Object) -> DVec3 {
    DVec3::from_array(object.state.position.map(|along| f64::from(along) * POSITION_UNIT))
}

/// Of a sphere about its position that it is in.
fn radius(object: &Object, shapes: &Shapes) -> f64 {
    let half = shapes.get(object.shape).map_or([0; 3], |solid| solid.half);
    DVec3::from_array(half.map(|along| f64::from(along) * POSITION_UNIT)).length()
}
