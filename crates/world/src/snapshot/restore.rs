//! Records to a world, if they fit together: what the methods of a world check on the way in, and
//! other code relies on, is checked here too.

use super::read::Reader;
use super::record::*;
use super::{LoadWorldError, Runtime, shared};
use crate::bodies::{Bodies, Member};
use crate::broad_phase::{BodyBounds, BroadPhase};
use crate::contact::{Contact, PairDistance};
use crate::contacts::Contacts;
use crate::error::check_number;
use crate::filters::{Filters, Group, Groups};
use crate::id::{BodyId, Entry, GroupId};
use crate::interest::{InterestTarget, Policy};
use crate::motion::Motion;
use crate::settings::Settings;
use crate::world::World;
use jostle_geom::{Pose, Shape};
use std::sync::Arc;

pub(super) fn world(mut from: Reader<'_>, runtime: Runtime) -> Result<World, LoadWorldError> {
    let how: HowRecord = from.value("how the world is run")?;
    let shapes = shared::read(&mut from)?;
    let HeadRecord { policy, gravity, gone } = from.value("policy and gravity")?;
    if let Policy::Everything(ask) = policy {
        check_number("clearance", ask.reach()).map_err(|_| refused("policy", 0, CLEARANCE))?;
    }
    if !gravity.is_finite() {
        return Err(refused("gravity", 0, "it is not finite"));
    }
    let Read { bodies, bounds, free_poses } = read_bodies(&mut from, &shapes)?;
    let bodies = Bodies::from_entries(bodies, gone);
    let groups = read_groups(&mut from)?;
    let Runtime { workers, stopwatch } = runtime;
    let structure = how.structure.into();
    let filters = read_filters(&mut from, &bodies, Filters::new(policy, groups))?;
    let (filters, contacts) = read_results(&mut from, &bodies, filters)?;
    let report: ReportRecord = from.value("what the last step did")?;
    let report = report.report(&how).map_err(|why| refused("step", 0, why))?;
    let budget: BudgetRecord = from.value("the state of the budget")?;
    let budget = budget.budget().map_err(|why| refused("budget", 0, why))?;
    from.end()?;
    Ok(World {
        broad_phase: BroadPhase::restored(structure, bounds, &workers),
        settings: Settings { policy, structure, workers, stopwatch },
        motion: Motion::restored(gravity, &bodies, free_poses),
        bodies,
        filters,
        contacts,
        budget,
        report: Arc::new(report),
    })
}

const CLEARANCE: Why = "its clearance is not a number from 0 on";

fn refused(what: &'static str, number: usize, why: Why) -> LoadWorldError {
    LoadWorldError::Refused { what, number, why }
}

/// What is known of bodies, by slot.
struct Read {
    bodies: Vec<Entry<Member>>,
    bounds: Vec<BodyBounds>,
    free_poses: Vec<Pose>,
}

fn read_bodies(from: &mut Reader<'_>, shapes: &[Shape]) -> Result<Read, LoadWorldError> {
    let (mut bounds, mut free_poses) = (Vec::new(), Vec::new());
    let bodies = from.list("a body", |slot: SlotRecord<MemberRecord>, number| {
        let parts = |record: MemberRecord| {
            let shape = shared::find(&record.shape, shapes)?;
            record.parts(shape)
        };
        let parts = slot.value.map(parts).transpose();
        let (value, known) = match parts.map_err(|why| refused("body", number, why))? {
            Some((member, bounds, free_pose)) => (Some(member), (bounds, free_pose)),
            None => (None, (BodyBounds::default(), Pose::IDENTITY)),
        };
        bounds.push(known.0);
        free_poses.push(known.1);
        Ok(Entry { generation: slot.generation, value })
    })?;
    check_slots("body", bodies.len())?;
    Ok(Read { bodies, bounds, free_poses })
}

fn read_groups(from: &mut Reader<'_>) -> Result<Groups, LoadWorldError> {
    let entries = from.list("a group", |slot: SlotRecord<GroupRecord>, _| {
        let group = |record: GroupRecord| Group {
            parent: record.parent.map(|id| GroupId(id.into())),
            ..Group::default()
        };
        Ok(Entry { generation: slot.generation, value: slot.value.map(group) })
    })?;
    check_slots("group", entries.len())?;
    Groups::from_entries(entries).map_err(|(slot, why)| refused("group", slot as usize, why))
}

fn check_slots(what: &'static str, count: usize) -> Result<(), LoadWorldError> {
    match u32::try_from(count) {
        Ok(_) => Ok(()),
        Err(_) => Err(refused(what, count, "there are more than slots")),
    }
}

/// Members of groups, interests, and ignored pairs.
fn read_filters(
    from: &mut Reader<'_>,
    bodies: &Bodies,
    mut filters: Filters,
) -> Result<Filters, LoadWorldError> {
    for (id, body) in bodies.iter() {
        if body.group.is_some_and(|group| filters.groups().get(group).is_err()) {
            return Err(refused("body", id.slot() as usize, "its group is not there"));
        }
        filters.insert(id, body.group);
    }
    read_interests(from, bodies, &mut filters)?;
    let mut last = None;
    from.list("an ignored pair", |record: [Id; 2], number| {
        let [a, b] = record.map(BodyId::from);
        if last >= Some([a, b]) || a >= b {
            return Err(refused("ignored pair", number, "it is not sorted"));
        }
        last = Some([a, b]);
        if !bodies.has(a) || !bodies.has(b) {
            return Err(refused("ignored pair", number, "a body is not there"));
        }
        filters.set_ignored(a, b, true);
        Ok(())
    })?;
    Ok(filters)
}

fn read_interests(
    from: &mut Reader<'_>,
    bodies: &Bodies,
    filters: &mut Filters,
) -> Result<(), LoadWorldError> {
    let mut last = None;
    from.list("an interest", |record: InterestRecord, number| {
        let InterestRecord { parties, ask } = record;
        let [a, b]: [InterestTarget; 2] = parties.map(InterestTarget::from);
        let refused = |why| Err(refused("interest", number, why));
        if check_number("clearance", ask.reach()).is_err() {
            return refused(CLEARANCE);
        }
        if last >= Some([a, b]) || a > b || matches!(a, InterestTarget::Body(_)) && a == b {
            return refused("it is not sorted, or of a body in itself");
        }
        last = Some([a, b]);
        let exists = |target| match target {
            InterestTarget::Body(id) => bodies.has(id),
            InterestTarget::Group(id) => filters.groups().get(id).is_ok(),
        };
        if !exists(a) || !exists(b) {
            return refused("a target is not there");
        }
        filters.set_interest(a, b, Some(ask));
        Ok(())
    })?;
    Ok(())
}

/// What is known since the last step.
fn read_results(
    from: &mut Reader<'_>,
    bodies: &Bodies,
    mut filters: Filters,
) -> Result<(Filters, Contacts), LoadWorldError> {
    let contacts = from.list("a contact", |record: ContactRecord, _| Ok(record.contact()))?;
    let distances =
        from.list("a distance", |record: PairDistanceRecord, _| Ok(record.measured()))?;
    let pair = |record: [Id; 2], _| Ok(record.map(BodyId::from));
    let distance_pairs = from.list("a pair of bodies", pair)?;
    let pair = |record: [Id; 2], _| Ok(record.map(|id| GroupId(id.into())));
    let group_overlaps = from.list("a pair of groups", pair)?;

    check_sorted("contact", contacts.iter().map(Contact::pair))?;
    check_sorted("distance", distances.iter().map(PairDistance::pair))?;
    check_sorted("pair of bodies", distance_pairs.iter().copied())?;
    check_sorted("pair of groups", group_overlaps.iter().copied())?;
    check_there(bodies, "contact", contacts.iter().map(Contact::pair))?;
    check_there(bodies, "distance", distances.iter().map(PairDistance::pair))?;
    filters.restore_distance_pairs(distance_pairs);
    Ok((filters, Contacts::restored(contacts, distances, group_overlaps)))
}

/// Only if a body is gone since the last step, something may be known of one that is not there.
fn check_there(
    bodies: &Bodies,
    what: &'static str,
    pairs: impl Iterator<Item = [BodyId; 2]>,
) -> Result<(), LoadWorldError> {
    for (number, pair) in pairs.enumerate() {
        if !bodies.is_gone() && !pair.iter().all(|&id| bodies.takes_part(id)) {
            return Err(refused(what, number, "a body is not there or takes no part"));
        }
    }
    Ok(())
}

fn check_sorted<T: PartialOrd>(
    what: &'static str,
    pairs: impl Iterator<Item = [T; 2]>,
) -> Result<(), LoadWorldError> {
    let mut last = None;
    for (number, pair) in pairs.enumerate() {
        if pair[0] >= pair[1] || last.as_ref().is_some_and(|last| *last >= pair) {
            return Err(refused(what, number, "it is not sorted"));
        }
        last = Some(pair);
    }
    Ok(())
}
