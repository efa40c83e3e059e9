//! One step of a world, as a table of contents.

pub(crate) mod budget;
mod narrow;
mod survey;

use crate::contact::{Certainty, Change, Contact, Event, Measured};
use crate::id::{BodyId, GroupId};
use crate::interest::{Ask, Party};
use crate::report::{Laps, Limited, Report};
use crate::world::{State, World, WorldError};
use narrow::{Question, Verdict};
use std::cmp::Ordering;
use std::time::Duration;

impl World {
    /// Compares what changed since the last step, and says what began and what ended. What did not
    /// change is not looked at again.
    pub fn step(&mut self) -> &Report {
        self.step_with(None)
    }

    /// [`World::step`] with about `budget` time for the exact tests (Storey 2006 §4.3.2.3).
    /// Hierarchies are opened less deep and fewer contacts are looked for when the last steps took
    /// too long; pairs that were cheap last time come first; what could not be looked at in time is
    /// assumed to touch. [`Limited`] says which answers that concerns.
    ///
    /// # Errors
    /// [`WorldError::NoStopwatch`].
    pub fn step_within(&mut self, budget: Duration) -> Result<&Report, WorldError> {
        if self.settings.stopwatch.is_none() {
            return Err(WorldError::NoStopwatch);
        }
        Ok(self.step_with(Some(budget)))
    }

    fn step_with(&mut self, budget: Option<Duration>) -> &Report {
        let mut laps = Laps::start(self.settings.stopwatch);
        let step = self.report.step + 1;
        self.report = Report { step, ..Report::default() };

        let changed = self.update_volumes();
        self.report.times.volumes = laps.lap();
        self.find_candidates();
        self.report.times.broad = laps.lap();
        let questions = self.filter(&changed);
        self.report.times.filters = laps.lap();
        let verdicts = self.judge(&questions, budget);
        self.report.times.narrow = laps.lap();
        self.compare_with_last_step(&changed, &questions, verdicts);
        self.report.times.events = laps.lap();
        self.respond(&changed);
        self.report.times.responses = laps.lap();
        &self.report
    }

    /// Gives the broad phase the boxes of all changed bodies. Returns those bodies, sorted.
    fn update_volumes(&mut self) -> Changed {
        let mut slots = std::mem::take(&mut self.changed);
        slots.sort_unstable();
        slots.dedup();
        slots.retain(|&slot| self.members.is_taken(slot) && self.members.at(slot).changed);
        for &slot in &slots {
            self.members.at_mut(slot).changed = false;
            self.update_volume(slot);
        }
        self.report.counts.changed = slots.len();
        Changed::new(slots)
    }

    /// Gives the broad phase the box of a body.
    pub(crate) fn update_volume(&mut self, slot: u32) {
        let reach = self.reach(BodyId(self.members.key(slot)));
        let member = self.members.at_mut(slot);
        member.reach = reach;
        member.bounds = member.body.shape.bounds(&member.body.pose);
        let known = std::mem::replace(&mut member.in_broad, member.bounds.is_some());
        match (known, member.wide_bounds()) {
            (true, Some(bounds)) => self.broad.update(slot, bounds),
            (false, Some(bounds)) => self.broad.insert(slot, bounds),
            (true, None) => self.broad.remove(slot),
            (false, None) => {}
        }
    }

    /// Pairs of overlapping boxes of which at least one changed.
    fn find_candidates(&mut self) {
        let counters = self.broad.find_pairs(&self.settings.workers, &mut self.candidates);
        self.candidates.sort_unstable();
        self.report.counts.box_tests = counters.box_tests;
        self.report.counts.structure_updates = counters.updates;
        self.report.counts.candidates = self.candidates.len();
    }

    /// The candidates that somebody asks about, sorted, and pairs whose distance is wanted wherever
    /// they are.
    fn filter(&mut self, changed: &Changed) -> Vec<Question> {
        let id = |slot| BodyId(self.members.key(slot));
        let question = |pair| self.question(pair);
        let near = self.candidates.iter().map(|&[a, b]| [id(a), id(b)]).filter_map(question);
        let mut questions: Vec<_> = near.filter(|near| near.ask != Ask::Distance).collect();
        if !self.distance_pairs.is_empty() {
            let pairs = self.distance_pairs.iter().copied();
            let wanted = pairs.filter(|pair| pair.iter().any(|id| changed.has(id.slot())));
            questions.extend(wanted.filter_map(question));
            questions.sort_unstable_by_key(Question::pair);
        }
        self.report.counts.tested = questions.len();
        questions
    }

    /// What is asked about a pair, if anything.
    fn question(&self, [a, b]: [BodyId; 2]) -> Option<Question> {
        let ask = self.asked(a, b)?;
        Some(Question { a, b, ask })
    }

    /// Merges the verdicts with what is known of pairs that did not change, and notes what began
    /// and what ended.
    fn compare_with_last_step(
        &mut self,
        changed: &Changed,
        questions: &[Question],
        verdicts: Vec<Verdict>,
    ) {
        let gone = std::mem::take(&mut self.gone);
        if changed.slots.is_empty() && !gone {
            self.report.counts.contacts = self.contacts.len();
            return;
        }
        let mut found = Vec::new();
        let mut measured = Vec::new();
        let conservative = &mut self.report.limited.conservative;
        for (question, verdict) in questions.iter().zip(verdicts) {
            let &Question { a, b, .. } = question;
            if verdict.certainty == Certainty::Assumed {
                conservative.push([a, b]);
            }
            if let Some(distance) = verdict.distance {
                measured.push(Measured { a, b, distance: *distance });
            }
            if let Some(holds) = verdict.found {
                found.push(Contact { a, b, found: holds, certainty: verdict.certainty });
            }
        }
        // Two lists that take turns, to save allocations.
        let mut known = std::mem::take(&mut self.contacts);
        self.contacts = std::mem::take(&mut self.last_contacts);
        self.merge(changed, gone, known.drain(..), found);
        self.last_contacts = known;
        self.report.counts.contacts = self.contacts.len();

        let still = |m: &Measured| self.stays(changed, gone, m.a, m.b);
        let mut kept: Vec<_> = self.measured.iter().copied().filter(still).collect();
        kept.extend(measured);
        kept.sort_unstable_by_key(|m| [m.a, m.b]);
        self.measured = kept;
        self.compare_groups();
    }

    /// Both lists are sorted. A known contact stays if neither body changed, and is replaced or
    /// ends otherwise.
    fn merge(
        &mut self,
        changed: &Changed,
        gone: bool,
        known: impl Iterator<Item = Contact>,
        found: Vec<Contact>,
    ) {
        let mut found = found.into_iter().peekable();
        let mut events = std::mem::take(&mut self.report.events);
        let mut note = |contact: &Contact, change| {
            events.push(Event { a: contact.a, b: contact.b, change });
        };
        for old in known {
            while let Some(new) = found.next_if(|new| new.pair() < old.pair()) {
                note(&new, Change::Began);
                self.contacts.push(new);
            }
            let order = found.peek().map(|new| new.pair().cmp(&old.pair()));
            if order == Some(Ordering::Equal) {
                self.contacts.extend(found.next());
            } else if self.stays(changed, gone, old.a, old.b) {
                self.contacts.push(old);
            } else {
                note(&old, Change::Ended);
            }
        }
        for new in found {
            note(&new, Change::Began);
            self.contacts.push(new);
        }
        self.report.events = events;
    }

    /// Is what is known of a pair still true? Neither changed, and both are there and take part,
    /// which is looked at only if any body is `gone` or disabled since.
    fn stays(&self, changed: &Changed, gone: bool, a: BodyId, b: BodyId) -> bool {
        let takes_part = |id: BodyId| {
            let member = self.members.get(id.0);
            member.is_some_and(|member| member.state == State::Enabled)
        };
        !changed.has(a.slot())
            && !changed.has(b.slot())
            && (!gone || takes_part(a) && takes_part(b))
    }

    /// Which groups' joined boxes overlap, of those that somebody asks about.
    fn compare_groups(&mut self) {
        let mut overlaps = Vec::new();
        for (key, group) in self.groups.iter() {
            let one = GroupId(key);
            for (party, ask) in group.interests.iter() {
                let Party::Group(other) = party else { continue };
                if ask == Ask::Volume && one < other && self.groups_overlap(one, other) {
                    overlaps.push([one, other]);
                }
            }
        }
        self.group_overlaps = overlaps;
    }

    fn groups_overlap(&self, a: GroupId, b: GroupId) -> bool {
        let bounds = |id| self.group_bounds(id).ok().flatten();
        matches!((bounds(a), bounds(b)), (Some(a), Some(b)) if a.overlaps(&b))
    }
}

/// The bodies that changed.
pub(crate) struct Changed {
    /// Sorted.
    pub(crate) slots: Vec<u32>,
    /// A bit for each slot up to the last one that changed.
    bits: Vec<u64>,
}

impl Changed {
    fn new(slots: Vec<u32>) -> Changed {
        let mut bits = vec![0; slots.last().map_or(0, |&last| last as usize / 64 + 1)];
        slots.iter().for_each(|&slot| bits[slot as usize / 64] |= 1 << (slot % 64));
        Changed { slots, bits }
    }

    pub(crate) fn has(&self, slot: u32) -> bool {
        self.bits.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 != 0)
    }
}
