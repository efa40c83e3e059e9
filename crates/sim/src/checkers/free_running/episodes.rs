//! C4: of each pair, contacts begin and end in turns, each once, under names that rise, across any
//! number of hand-overs and deaths (the same may be reported again, with the same content); and a
//! contact's effect on an object happens once: no object has been nudged more often than nudges
//! were sent.

use super::Violations;
use super::sight::Sight;
use jostle_proto::{Edge, Episode, Event, FreeRunningMessage, ObjectId, Record};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Pair {
    /// The newest contact, and whether it goes on.
    newest: Option<(Episode, bool)>,
    begun: BTreeSet<Episode>,
    ended: BTreeSet<Episode>,
}

#[derive(Default)]
pub(super) struct Episodes {
    pairs: BTreeMap<(ObjectId, ObjectId), Pair>,
    /// Contacts that nudged an object, with the one that decided.
    nudges: BTreeMap<ObjectId, BTreeSet<(ObjectId, Episode)>>,
}

impl Episodes {
    /// Does a contact go on, as far as the outside knows?
    pub(super) fn is_open(&self, a: ObjectId, b: ObjectId) -> bool {
        let pair = self.pairs.get(&(a.min(b), a.max(b)));
        pair.and_then(|pair| pair.newest).is_some_and(|(_, open)| open)
    }

    /// True if it was not said before.
    pub(super) fn on_event(&mut self, event: &Event, violations: &mut Violations) -> bool {
        let Event { a, b, episode, edge, .. } = *event;
        let pair = self.pairs.entry((a, b)).or_default();
        let wrong = match edge {
            Edge::Begin => {
                if !pair.begun.insert(episode) {
                    return false;
                }
                let wrong = match pair.newest {
                    Some((_, true)) => Some("begins while another goes on"),
                    Some((newest, false)) if newest >= episode => Some("begins under an old name"),
                    _ => None,
                };
                pair.newest = Some((episode, true));
                wrong
            }
            Edge::End => {
                if !pair.ended.insert(episode) {
                    return false;
                }
                let goes_on = pair.newest == Some((episode, true));
                if goes_on {
                    pair.newest = Some((episode, false));
                }
                (!goes_on).then_some("ends that does not go on")
            }
        };
        if let Some(wrong) = wrong {
            violations.push(("C4", format!("{} and {}: a contact {wrong}", a.0, b.0)));
        }
        true
    }

    pub(super) fn sent(&mut self, message: &FreeRunningMessage, violations: &mut Violations) {
        let records: &[Record] = match message {
            FreeRunningMessage::Nudge { nudge, .. } => {
                let known = self.nudges.entry(nudge.object).or_default();
                known.insert((nudge.lead, nudge.episode));
                return;
            }
            FreeRunningMessage::Transfer { record, .. } => std::slice::from_ref(record),
            FreeRunningMessage::Backup(backup) => &backup.records,
            _ => return,
        };
        for record in records {
            let id = record.object.id;
            let sent = self.nudges.get(&id).map_or(0, |nudges| nudges.len() as u64);
            if record.nudged > sent {
                let times = record.nudged;
                violations
                    .push(("C4", format!("object {} was nudged {times}, not {sent} times", id.0)));
            }
        }
    }

    /// In the end, what the outside takes to go on goes on somewhere.
    pub(super) fn end(&self, sight: &Sight, violations: &mut Violations) {
        for ((a, b), pair) in &self.pairs {
            let Some((episode, true)) = pair.newest else { continue };
            let known = [(*a, *b), (*b, *a)].into_iter().any(|(lead, other)| {
                sight.copies(lead).any(|(_, _, record)| {
                    let owed = |event: &Event| event.episode == episode && event.edge == Edge::End;
                    let contact = record.contacts.get(&other);
                    contact.is_some_and(|contact| contact.episode == episode)
                        || record.owed.iter().any(owed)
                })
            });
            if !known {
                violations.push(("C4", format!("{} and {}: the end was forgotten", a.0, b.0)));
            }
        }
    }
}
