//! What is written, in which order: the file and the hash of a world.

use super::record::*;
use super::shared::{self, Table};
use crate::id::{BodyId, Entry, GroupId};
use crate::interest::InterestTarget;
use crate::report::Report;
use crate::shape::Shape;
use crate::world::{Group, Settings, World};
use jostle_geom::Checksum;
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
            members,
            groups,
            broad: _,   // found anew from the boxes
            changed: _, // the members know
            gone,
            contacts,
            measured,
            distance_pairs,
            group_overlaps,
            report,
            budget,
            gravity,
            movers: _, // their bodies say so
            responders: _,
            last_contacts: _, // always empty
            candidates: _,    // empty between steps, as far as anybody cares
        } = world;
        self.value(&HeadRecord { policy: *policy, gravity: *gravity, gone: *gone });
        self.list(members.entries().iter().map(|Entry { generation, value }| SlotRecord {
            generation: *generation,
            value: value.as_ref().map(|member| MemberRecord::of(member, &shape_record)),
        }));
        self.list(groups.entries().iter().map(|Entry { generation, value }| SlotRecord {
            generation: *generation,
            value: value.as_ref().map(group_record),
        }));
        self.list(interests(world).into_iter());
        self.list(ignored(world).into_iter());
        self.list(contacts.iter().map(ContactRecord::of));
        self.list(measured.iter().map(PairDistanceRecord::of));
        self.list(distance_pairs.iter().map(|pair| pair.map(Id::from)));
        self.list(group_overlaps.iter().map(|pair| pair.map(|GroupId(key)| Id::from(key))));
        self.value(&ReportRecord::of(report));
        self.value(&BudgetRecord::of(budget));
    }
}

/// Adds everything to `bytes`.
pub(super) fn file(world: &World, bytes: Vec<u8>) -> Vec<u8> {
    let mut to = Writer(bytes);
    let Report { counts, .. } = &world.report;
    to.value(&HowRecord {
        structure: world.settings.structure,
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

fn group_record(Group { parent, groups: _, bodies: _, interests: _ }: &Group) -> GroupRecord {
    GroupRecord { parent: parent.map(|GroupId(key)| key.into()) }
}

/// Each once, sorted: the two of an interest have the same.
fn interests(world: &World) -> Vec<InterestRecord> {
    let bodies =
        world.members.iter().map(|(key, m)| (InterestTarget::Body(BodyId(key)), &m.interests));
    let groups =
        world.groups.iter().map(|(key, g)| (InterestTarget::Group(GroupId(key)), &g.interests));
    let all = bodies.chain(groups).flat_map(|(one, interests)| {
        interests.iter().filter(move |&(other, _)| one <= other).map(move |(other, ask)| {
            InterestRecord { parties: [one, other].map(InterestTargetRecord::from), ask }
        })
    });
    all.collect()
}

/// Each pair once, sorted.
fn ignored(world: &World) -> Vec<[Id; 2]> {
    let members = world.members.iter();
    let pairs = members.flat_map(|(key, member)| {
        let id = BodyId(key);
        let others = member.ignored.iter().filter(move |&&other| id < other);
        others.map(move |&other| [id, other].map(Id::from))
    });
    pairs.collect()
}
