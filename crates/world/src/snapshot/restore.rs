//! Records to a world, if they fit together: what the code behind the door of a world relies on is
//! checked here as it is there.

use super::read::Reader;
use super::record::*;
use super::{LoadWorldError, Runtime, shared};
use crate::broad::Broad;
use crate::contact::Contact;
use crate::id::{BodyId, Entry, GroupId, Slots};
use crate::interest::{InterestTarget, Interests, Policy};
use crate::shape::Shape;
use crate::world::{Group, Member, Settings, State, World, check_number};
use std::collections::BTreeSet;

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
    let members = read_members(&mut from, &shapes)?;
    let groups = read_groups(&mut from)?;
    let Runtime { workers, stopwatch } = runtime;
    let structure = how.structure;
    let changed = members.iter().filter(|(_, member)| member.changed);
    let mut world = World {
        last_contacts: Vec::new(),
        settings: Settings { policy, structure, workers, stopwatch },
        changed: changed.map(|(key, _)| key.slot).collect(),
        members,
        groups,
        broad: Broad::new(structure),
        gone,
        contacts: Vec::new(),
        measured: Vec::new(),
        distance_pairs: Vec::new(),
        group_overlaps: Vec::new(),
        report: crate::Report::default(),
        budget: crate::step::budget::Budget::default(),
        gravity,
        movers: BTreeSet::new(),
        responders: BTreeSet::new(),
        candidates: Vec::new(),
    };
    world.fill_activity();
    world.fill_groups()?;
    world.read_interests(&mut from)?;
    world.read_ignored(&mut from)?;
    world.read_results(&mut from)?;
    let report: ReportRecord = from.value("what the last step did")?;
    world.report = report.report(&how).map_err(|why| refused("step", 0, why))?;
    let budget: BudgetRecord = from.value("the state of the budget")?;
    world.budget = budget.budget().map_err(|why| refused("budget", 0, why))?;
    from.end()?;
    world.fill_broad();
    Ok(world)
}

const CLEARANCE: Why = "its clearance is not a number from 0 on";

fn refused(what: &'static str, number: usize, why: Why) -> LoadWorldError {
    LoadWorldError::Refused { what, number, why }
}

fn read_members(from: &mut Reader<'_>, shapes: &[Shape]) -> Result<Slots<Member>, LoadWorldError> {
    let entries = from.list("a body", |slot: SlotRecord<MemberRecord>, number| {
        let member = |record: MemberRecord| {
            let shape = shared::find(&record.shape, shapes)?;
            record.member(shape)
        };
        let value =
            slot.value.map(member).transpose().map_err(|why| refused("body", number, why))?;
        Ok(Entry { generation: slot.generation, value })
    })?;
    slots("body", entries)
}

fn read_groups(from: &mut Reader<'_>) -> Result<Slots<Group>, LoadWorldError> {
    let entries = from.list("a group", |slot: SlotRecord<GroupRecord>, _| {
        let group = |record: GroupRecord| Group {
            parent: record.parent.map(|id| GroupId(id.into())),
            groups: Vec::new(),
            bodies: Vec::new(),
            interests: Interests::default(),
        };
        Ok(Entry { generation: slot.generation, value: slot.value.map(group) })
    })?;
    slots("group", entries)
}

fn slots<T>(what: &'static str, entries: Vec<Entry<T>>) -> Result<Slots<T>, LoadWorldError> {
    match u32::try_from(entries.len()) {
        Ok(_) => Ok(Slots::from_entries(entries)),
        Err(_) => Err(refused(what, entries.len(), "there are more than slots")),
    }
}

impl World {
    /// Who is inside which group. Slots are gone through in order, so the lists are sorted.
    fn fill_groups(&mut self) -> Result<(), LoadWorldError> {
        let parents: Vec<(GroupId, GroupId)> = self
            .groups
            .iter()
            .filter_map(|(key, group)| Some((GroupId(key), group.parent?)))
            .collect();
        for &(id, parent) in &parents {
            let Some(parent) = self.groups.get_mut(parent.0) else {
                return Err(refused(
                    "group",
                    id.0.slot as usize,
                    "the group around it is not there",
                ));
            };
            parent.groups.push(id);
        }
        self.check_circles(&parents)?;
        for (key, member) in self.members.iter() {
            let Some(group) = member.body.group else { continue };
            let Some(group) = self.groups.get_mut(group.0) else {
                return Err(refused("body", key.slot as usize, "its group is not there"));
            };
            group.bodies.push(BodyId(key));
        }
        Ok(())
    }

    /// No group is inside itself. Each way up is followed until it meets one that was followed.
    fn check_circles(&self, parents: &[(GroupId, GroupId)]) -> Result<(), LoadWorldError> {
        const NEVER: usize = usize::MAX;
        let mut seen = vec![NEVER; self.groups.entries().len()];
        for (turn, &(start, _)) in parents.iter().enumerate() {
            let mut next = Some(start);
            while let Some(id) = next {
                let slot = id.0.slot as usize;
                match std::mem::replace(&mut seen[slot], turn) {
                    NEVER => next = self.groups.at(id.0.slot).parent,
                    before if before == turn => {
                        return Err(refused("group", slot, "it is inside itself"));
                    }
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// In order, so that each party's list is sorted: first those before it, each as the first of
    /// its pair, then those after it.
    fn read_interests(&mut self, from: &mut Reader<'_>) -> Result<(), LoadWorldError> {
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
            for (one, other) in [(a, b), (b, a)] {
                let interests = match one {
                    InterestTarget::Body(id) => {
                        self.members.get_mut(id.0).map(|m| &mut m.interests)
                    }
                    InterestTarget::Group(id) => {
                        self.groups.get_mut(id.0).map(|g| &mut g.interests)
                    }
                };
                match interests {
                    Some(interests) => interests.set(other, ask),
                    None => return refused("a party is not there"),
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// In order, as interests are.
    fn read_ignored(&mut self, from: &mut Reader<'_>) -> Result<(), LoadWorldError> {
        let mut last = None;
        from.list("an ignored pair", |record: [Id; 2], number| {
            let [a, b] = record.map(BodyId::from);
            if last >= Some([a, b]) || a >= b {
                return Err(refused("ignored pair", number, "it is not sorted"));
            }
            last = Some([a, b]);
            for (one, other) in [(a, b), (b, a)] {
                match self.members.get_mut(one.0) {
                    Some(member) => member.ignored.push(other),
                    None => return Err(refused("ignored pair", number, "a body is not there")),
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// What is known since the last step.
    fn read_results(&mut self, from: &mut Reader<'_>) -> Result<(), LoadWorldError> {
        self.contacts = from.list("a contact", |record: ContactRecord, _| Ok(record.contact()))?;
        self.measured =
            from.list("a distance", |record: PairDistanceRecord, _| Ok(record.measured()))?;
        let pair = |record: [Id; 2], _| Ok(record.map(BodyId::from));
        self.distance_pairs = from.list("a pair of bodies", pair)?;
        let pair = |record: [Id; 2], _| Ok(record.map(|id| GroupId(id.into())));
        self.group_overlaps = from.list("a pair of groups", pair)?;

        check_sorted("contact", self.contacts.iter().map(Contact::pair))?;
        check_sorted("distance", self.measured.iter().map(|m| [m.a, m.b]))?;
        check_sorted("pair of bodies", self.distance_pairs.iter().copied())?;
        check_sorted("pair of groups", self.group_overlaps.iter().copied())?;
        let contacts = self.contacts.iter().map(Contact::pair);
        self.check_there("contact", contacts)?;
        self.check_there("distance", self.measured.iter().map(|m| [m.a, m.b]))
    }

    /// Only if somebody is gone since the last step, something may be known of him.
    fn check_there(
        &self,
        what: &'static str,
        pairs: impl Iterator<Item = [BodyId; 2]>,
    ) -> Result<(), LoadWorldError> {
        let takes_part = |id: &BodyId| {
            self.members.get(id.0).is_some_and(|member| member.state == State::Enabled)
        };
        for (number, pair) in pairs.enumerate() {
            if !self.gone && !pair.iter().all(takes_part) {
                return Err(refused(what, number, "a body is not there or takes no part"));
            }
        }
        Ok(())
    }

    /// Who moves by itself and who responds.
    fn fill_activity(&mut self) {
        for (key, member) in self.members.iter() {
            let [moves, responds] = member.body.activity();
            let noted = [(moves, &mut self.movers), (responds, &mut self.responders)];
            for (_, slots) in noted.into_iter().filter(|(on, _)| *on) {
                slots.insert(key.slot);
            }
        }
    }

    /// Gives the broad phase all boxes, none of which has moved since.
    fn fill_broad(&mut self) {
        let known = self.members.iter().filter(|(_, member)| member.in_broad);
        let boxes = known.filter_map(|(key, member)| Some((key.slot, member.wide_bounds()?)));
        boxes.for_each(|(slot, bounds)| self.broad.insert(slot, bounds));
        self.broad.find_pairs(&self.settings.workers, &mut self.candidates);
        self.candidates = Vec::new();
    }
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
