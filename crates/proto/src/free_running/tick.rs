//! One tick of a node's own clock: inputs, nudges, motion, contacts, and which nodes are sent it.

use super::FreeRunningNode;
use super::keep::Gated;
use super::record::{Contact, Edge, Episode, Event, Nudge, Record};
use crate::detect::{Certainty, Shapes};
use crate::held::collide;
use crate::message::Touch;
use crate::mutant::Mutant;
use crate::node::Output;
use crate::object::{Class, Object, ObjectId};
use crate::objects::Objects;
use crate::time::{Tick, Time};
use std::collections::BTreeMap;

/// Ticks for which a contact goes on with something of which nothing is heard.
pub(super) const UNSEEN_MAX: u16 = 30;

/// Contacts and nudges that an object has at most; more are not found.
const CONTACTS_MAX: usize = 256;

impl FreeRunningNode {
    pub(super) fn tick(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.keep.is_full() {
            self.flush(out);
            return;
        }
        self.ticks += 1;
        self.turns += 1;
        let rate = self.tuning.timing.rate;
        self.follow_calls();
        self.follow_wants();
        self.take_nudges();
        for record in self.ownership.held.values_mut() {
            if record.object.class != Class::Absent {
                record.object.state = record.object.state.moved(record.tick, rate);
            }
            record.tick = record.tick.next();
            self.keep.touch(record.object.id);
        }
        self.ghosts.advance(rate, self.tuning.heartbeat);
        self.look();
        self.hand_over(now, out);
        self.send_ghosts(out);
        self.flush(out);
        self.show(now);
        self.release(out);
    }

    fn follow_wants(&mut self) {
        for (id, want) in std::mem::take(&mut self.wants) {
            if let Some(record) = self.ownership.held.get_mut(&id)
                && record.object.class == Class::Avatar
                && (want.number > record.heard || self.mutant == Some(Mutant::AcceptReplays))
            {
                let state = &mut record.object.state;
                (state.velocity, state.spin) = (want.velocity, want.spin);
                record.heard = want.number;
            }
        }
    }

    /// Looks for contacts of all objects that are held here and decide. What others decide about is
    /// not looked at.
    fn look(&mut self) {
        let mut all: Objects = self.static_objects.iter().copied().collect();
        all.extend(self.ghosts.objects());
        all.extend(self.ownership.held.values().map(|record| record.object));
        let (shapes, largest) = (&self.shapes, self.tuning.largest);
        let held = &self.ownership.held;
        let found = self.detector.findings_of(all.values(), |[(a, _), (b, _)]| {
            lead(shapes, largest, a, b).is_some_and(|(lead, _)| held.contains_key(&lead.id))
        });
        let mut touching: BTreeMap<ObjectId, BTreeMap<ObjectId, Certainty>> = BTreeMap::new();
        let mut felt: Vec<Touch> = Vec::new();
        let mut owed: Vec<(Touch, Object, Object)> = Vec::new();
        for (touch, certainty) in found {
            let certainty = match (certainty, self.mutant) {
                (Certainty::Assumed, Some(Mutant::DropUnsure)) => continue,
                (Certainty::Assumed, Some(Mutant::SureOfAll)) => Certainty::Exact,
                (certainty, _) => certainty,
            };
            let (Some(a), Some(b)) = (all.get(&touch.a), all.get(&touch.b)) else { continue };
            let Some((lead, other)) = lead(shapes, largest, a, b) else { continue };
            let Some(record) = held.get(&lead.id) else { continue };
            touching.entry(lead.id).or_default().insert(other.id, certainty);
            let remote = self.ghosts.knows(other.id);
            let fresh = !record.contacts.contains_key(&other.id);
            // What is known exactly is felt as long as it lasts, as in a synchronised group. Of a
            // ghost one cannot know whether it has felt it yet: there the first moment counts.
            if !remote || fresh || lead.class == Class::Avatar {
                felt.push(touch);
            }
            if remote && fresh {
                owed.push((touch, *lead, *other));
            }
        }
        for (touch, lead, other) in owed {
            self.owe_nudge(&touch, &lead, &other);
        }
        let mut feel: Objects = self.ownership.held.values().map(|record| record.object).collect();
        collide(&mut feel, &felt, &[]);
        for record in self.ownership.held.values_mut() {
            record.object = feel.get(&record.object.id).copied().unwrap_or(record.object);
        }
        self.note_contacts(&touching, &all);
    }

    fn owe_nudge(&mut self, touch: &Touch, lead: &Object, other: &Object) {
        let Some(record) = self.ownership.held.get_mut(&lead.id) else { return };
        let (kick, toward) = match other.id == touch.a {
            true => (touch.kick_a, touch.normal),
            false => (touch.kick_b, touch.normal.reversed()),
        };
        let nothing = other.class == Class::Dynamic && kick == [0; 3];
        if nothing || record.nudges.len() >= CONTACTS_MAX {
            return;
        }
        let episode = episode_of(record);
        let nudge = Nudge { lead: lead.id, object: other.id, episode, kick, toward, ready: false };
        record.nudges.push(nudge);
        self.keep.gate(Gated::Nudge(record.token, nudge));
    }

    /// Which contacts begin, and which end?
    fn note_contacts(
        &mut self,
        touching: &BTreeMap<ObjectId, BTreeMap<ObjectId, Certainty>>,
        all: &Objects,
    ) {
        let nothing = BTreeMap::new();
        for record in self.ownership.held.values_mut() {
            let id = record.object.id;
            let touched = touching.get(&id).unwrap_or(&nothing);
            let episode = episode_of(record);
            let mut events = Vec::new();
            record.contacts.retain(|other, contact| {
                contact.unseen = match all.contains_key(other) {
                    true => 0,
                    false => contact.unseen + 1,
                };
                let goes_on =
                    touched.contains_key(other) || (1..=UNSEEN_MAX).contains(&contact.unseen);
                if !goes_on {
                    let (a, b) = (id.min(*other), id.max(*other));
                    let (episode, edge) = (contact.episode, Edge::End);
                    events.push(Event { a, b, episode, edge, certainty: Certainty::Exact });
                }
                goes_on
            });
            for (other, &certainty) in touched {
                if record.contacts.len() < CONTACTS_MAX && !record.contacts.contains_key(other) {
                    record.contacts.insert(*other, Contact { episode, unseen: 0 });
                    let (a, b) = (id.min(*other), id.max(*other));
                    events.push(Event { a, b, episode, edge: Edge::Begin, certainty });
                }
            }
            for event in events {
                record.owed.push(event);
                self.keep.gate(Gated::Event(id, record.token, event));
            }
        }
    }
}

fn episode_of(record: &Record) -> Episode {
    let Record { token, tick: Tick(tick), .. } = *record;
    Episode { token, tick: Tick(tick) }
}

/// The object that decides about a pair: the one with the smaller id of those that move. But a wide
/// object is known to all members, while its holder does not know all objects, so the other one
/// decides.
fn lead<'a>(
    shapes: &Shapes,
    largest: i32,
    a: &'a Object,
    b: &'a Object,
) -> Option<(&'a Object, &'a Object)> {
    let rank = |object: &Object| {
        let moves = matches!(object.class, Class::Dynamic | Class::Avatar);
        (!moves, shapes.is_wide(object, largest), object.id)
    };
    let (lead, other) = if rank(a) < rank(b) { (a, b) } else { (b, a) };
    (!rank(lead).0).then_some((lead, other))
}
