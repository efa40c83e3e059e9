//! What is written, in which order: the file and the hash of a world.

use super::record::*;
use super::shared::{self, Table};
use crate::filters::Group;
use crate::id::{Entry, GroupId};
use crate::report::Report;
use crate::settings::Settings;
use crate::world::World;
use jostle_geom::{Checksum, Shape};
use serde::Serialize;

/// Where records go, one after the other.
pub(super) struct Writer<Out>(Out);

impl<Out: Extend<u8> + Default> Writer<Out> {
    pub(super) fn value(&mut self, value: &impl Serialize) {
        let out = std::mem::take(&mut self.0);
        self.0 = postcard::to_extend(value, out)
            .expect("records know their lengths, and memory takes any number of bytes");
    }

    pub(super) fn count(&mut self, count: usize) {
        self.value(&(count as u64));
    }

    fn list<T: Serialize>(&mut self, items: impl ExactSizeIterator<Item = T>) {
        self.count(items.len());
        items.for_each(|item| self.value(&item));
    }

    /// All that later answers depend on.
    fn state(&mut self, world: &World, shape_record: impl Fn(&Shape) -> ShapeRecord) {
        let World {
            settings: Settings { policy, structure: _, workers: _, stopwatch: _ },
            bodies,
            broad_phase,
            filters,
            contacts,
            motion,
            budget,
            report,
        } = world;
        let (policy, gravity, gone) = (*policy, motion.gravity, bodies.is_gone());
        self.value(&HeadRecord { policy, gravity, gone });
        self.list(bodies.entries().iter().enumerate().map(
            |(slot, Entry { generation, value })| {
                let slot = slot as u32;
                let record = |member| {
                    let free_pose = motion.free_pose(slot);
                    MemberRecord::of(member, broad_phase.bounds(slot), &free_pose, &shape_record)
                };
                SlotRecord { generation: *generation, value: value.as_ref().map(record) }
            },
        ));
        self.list(filters.groups().entries().iter().map(|Entry { generation, value }| {
            SlotRecord { generation: *generation, value: value.as_ref().map(group_record) }
        }));
        let interests = filters.all_interests(bodies);
        let interests: Vec<_> = interests
            .map(|(targets, kind)| InterestRecord {
                parties: targets.map(InterestTargetRecord::from),
                ask: kind,
            })
            .collect();
        self.list(interests.into_iter());
        self.list(ignored(world).into_iter());
        self.list(contacts.all().iter().map(ContactRecord::of));
        self.list(contacts.distances().iter().map(PairDistanceRecord::of));
        let pairs = filters.distance_pairs(bodies);
        self.list(pairs.iter().map(|pair| pair.map(Id::from)));
        let overlaps = contacts.group_overlaps().iter();
        self.list(overlaps.map(|pair| pair.map(|GroupId(key)| Id::from(key))));
        self.value(&ReportRecord::of(report));
        self.value(&BudgetRecord::of(budget));
    }
}

/// Adds everything to `bytes`.
pub(super) fn file(world: &World, bytes: Vec<u8>) -> Vec<u8> {
    let mut to = Writer(bytes);
    let Report { counts, .. } = &*world.report;
    to.value(&HowRecord {
        structure: world.settings.structure.into(),
        box_tests: counts.box_tests,
        structure_updates: counts.structure_updates,
    });
    let table = Table::of(world);
    table.write(&mut to);
    to.state(world, |shape| shared::record(shape, |shape| table.number(shape)));
    to.0
}

pub(super) fn hash(world: &World) -> u64 {
    let mut to = Writer(Checksum::new());
    to.state(world, |shape| shared::record(shape, shared::hash));
    to.0.value()
}

fn group_record(Group { parent, children: _, bodies: _, interests: _ }: &Group) -> GroupRecord {
    GroupRecord { parent: parent.map(|GroupId(key)| key.into()) }
}

/// Each pair once, sorted.
fn ignored(world: &World) -> Vec<[Id; 2]> {
    let pairs = world.bodies.iter().flat_map(|(id, _)| {
        let others = world.filters.ignored(id.slot()).iter().filter(move |&&other| id < other);
        others.map(move |&other| [id, other].map(Id::from))
    });
    pairs.collect()
}
