//! What is known between two bodies since the last step: contacts, distances, overlaps of
//! groups.

use crate::contact::{Change, Contact, Event, PairDistance};
use crate::id::{BodyId, GroupId, ordered};
use std::cmp::Ordering;

/// Everything that was found and has not changed since. All lists are sorted by pair.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contacts {
    contacts: Vec<Contact>,
    /// Empty; holds the memory for the contacts of the next step.
    spare: Vec<Contact>,
    distances: Vec<PairDistance>,
    group_overlaps: Vec<[GroupId; 2]>,
}

impl Contacts {
    /// Those of a saved world. The lists are sorted.
    pub(crate) fn restored(
        contacts: Vec<Contact>,
        distances: Vec<PairDistance>,
        group_overlaps: Vec<[GroupId; 2]>,
    ) -> Contacts {
        Contacts { contacts, spare: Vec::new(), distances, group_overlaps }
    }

    pub(crate) fn all(&self) -> &[Contact] {
        &self.contacts
    }

    pub(crate) fn get(&self, a: BodyId, b: BodyId) -> Option<&Contact> {
        let at = self.contacts.binary_search_by_key(&ordered(a, b), Contact::pair).ok()?;
        Some(&self.contacts[at])
    }

    pub(crate) fn distances(&self) -> &[PairDistance] {
        &self.distances
    }

    pub(crate) fn group_overlaps(&self) -> &[[GroupId; 2]] {
        &self.group_overlaps
    }

    pub(crate) fn set_group_overlaps(&mut self, overlaps: Vec<[GroupId; 2]>) {
        self.group_overlaps = overlaps;
    }

    /// Merges the contacts that a step found, sorted by pair, with the known ones. Of those, pairs
    /// that were found again are replaced, pairs that hold `still` stay, and all others end.
    /// Returns what began and what ended, sorted by pair.
    pub(crate) fn merge(
        &mut self,
        found: Vec<Contact>,
        still: impl Fn(BodyId, BodyId) -> bool,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        let mut note = |contact: &Contact, change| {
            events.push(Event { a: contact.a, b: contact.b, change });
        };
        // Two lists that take turns save an allocation.
        let mut known = std::mem::take(&mut self.contacts);
        self.contacts = std::mem::take(&mut self.spare);
        let mut found = found.into_iter().peekable();
        for old in known.drain(..) {
            while let Some(new) = found.next_if(|new| new.pair() < old.pair()) {
                note(&new, Change::Began);
                self.contacts.push(new);
            }
            let order = found.peek().map(|new| new.pair().cmp(&old.pair()));
            if order == Some(Ordering::Equal) {
                self.contacts.extend(found.next());
            } else if still(old.a, old.b) {
                self.contacts.push(old);
            } else {
                note(&old, Change::Ended);
            }
        }
        for new in found {
            note(&new, Change::Began);
            self.contacts.push(new);
        }
        self.spare = known;
        events
    }

    /// Replaces the distances of pairs that do not hold `still` by the ones that were measured.
    pub(crate) fn merge_distances(
        &mut self,
        measured: Vec<PairDistance>,
        still: impl Fn(BodyId, BodyId) -> bool,
    ) {
        self.distances.retain(|pair| still(pair.a, pair.b));
        self.distances.extend(measured);
        self.distances.sort_unstable_by_key(PairDistance::pair);
    }

    /// All events of the last step, of which `changes` began or ended; sorted by pair.
    pub(crate) fn events(&self, changes: &[Event]) -> Vec<Event> {
        let began = |pair| {
            let at = changes.binary_search_by_key(&pair, Event::pair);
            at.is_ok_and(|at| changes[at].change == Change::Began)
        };
        let continued = self.contacts.iter().filter(|contact| !began(contact.pair()));
        let change = Change::Continued;
        let mut events = changes.to_vec();
        events.extend(continued.map(|&Contact { a, b, .. }| Event { a, b, change }));
        events.sort_unstable_by_key(Event::pair);
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Certainty, ContactData};
    use std::collections::BTreeSet;

    fn id(slot: u32) -> BodyId {
        BodyId::from_parts([slot, 0])
    }

    fn contact([a, b]: [u32; 2], data: ContactData) -> Contact {
        Contact { a: id(a), b: id(b), data, certainty: Certainty::Exact }
    }

    /// Pairs of five bodies, by the bits of a number.
    fn pairs(bits: usize) -> Vec<[u32; 2]> {
        let all = (0..5).flat_map(|a| (a + 1..5).map(move |b| [a, b]));
        all.enumerate().filter(|(at, _)| bits >> at & 1 != 0).map(|(_, pair)| pair).collect()
    }

    #[test]
    fn merging_is_what_sets_say() {
        let mut contacts = Contacts::default();
        let mut known: BTreeSet<[u32; 2]> = BTreeSet::new();
        let mut seen = [0; 3];
        for step in 0..500usize {
            // Bodies that changed, and pairs of them that were found.
            let changed = step * 7 % 32;
            let concerns = |pair: &[u32; 2]| pair.iter().any(|body| changed >> body & 1 != 0);
            let found: Vec<_> = pairs(step * 389 % 1024).into_iter().filter(concerns).collect();

            let data = |&pair| contact(pair, ContactData::Touching);
            let still = |a: BodyId, b: BodyId| !concerns(&[a.slot(), b.slot()]);
            let events = contacts.merge(found.iter().map(data).collect(), still);

            let kept = known.iter().copied().filter(|pair| !concerns(pair));
            let now: BTreeSet<_> = kept.chain(found.iter().copied()).collect();
            let event = |&[a, b]: &[u32; 2], change| Event { a: id(a), b: id(b), change };
            let mut expected: Vec<Event> =
                now.difference(&known).map(|pair| event(pair, Change::Began)).collect();
            expected.extend(known.difference(&now).map(|pair| event(pair, Change::Ended)));
            expected.sort_by_key(Event::pair);
            assert_eq!(events, expected, "step {step}");
            let pairs = contacts.all().iter().map(|c| [c.a.slot(), c.b.slot()]);
            assert!(pairs.eq(now.iter().copied()), "step {step}");
            for event in contacts.events(&events) {
                let pair = [event.a.slot(), event.b.slot()];
                let change = match (known.contains(&pair), now.contains(&pair)) {
                    (false, true) => Change::Began,
                    (true, true) => Change::Continued,
                    (true, false) => Change::Ended,
                    (false, false) => panic!("nothing happened between {pair:?}"),
                };
                assert_eq!(event.change, change, "step {step}, {pair:?}");
                seen[change as usize] += 1;
            }
            known = now;
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }

    #[test]
    fn a_pair_that_is_found_again_has_the_new_data_and_no_event() {
        let mut contacts = Contacts::default();
        contacts.merge(vec![contact([0, 1], ContactData::TooClose)], |_, _| true);
        let events = contacts.merge(vec![contact([0, 1], ContactData::Touching)], |_, _| false);
        assert!(events.is_empty());
        assert_eq!(contacts.get(id(1), id(0)), Some(&contact([0, 1], ContactData::Touching)));
        assert_eq!(contacts.get(id(1), id(2)), None);
    }
}
