//! All contacts of a world as it stands, one after the other and without a list of them.
//!
//! N bodies in one place have N²/2 contacts. A step keeps each of them, since the next step needs
//! them to say what ended; a report that is made once does not.

use super::narrow::{Question, Verdict};
use crate::broad::Broad;
use crate::contact::Contact;
use crate::id::BodyId;
use crate::interest::Ask;
use crate::world::World;
use jostle_geom::Limits;

/// Pairs that are tested before their contacts are handed on: enough to share among threads, and
/// their answers take about a megabyte.
const CHUNK: usize = 1 << 14;

impl World {
    /// Tests everything as it stands and hands on each contact that a first step would find: in
    /// the order of the pairs, then those whose distance is wanted. Returns how many pairs were
    /// tested. Takes 8 bytes for each pair of overlapping boxes and nothing for a contact; keeps
    /// none, and leaves no trace in what the next step says.
    pub fn visit_contacts(&mut self, visit: &mut dyn FnMut(&Contact)) -> usize {
        let mut changed = self.changed.clone();
        changed.sort_unstable();
        changed.dedup();
        changed.retain(|&slot| self.members.is_taken(slot) && self.members.at(slot).changed);
        changed.into_iter().for_each(|slot| self.update_volume(slot));
        let mut broad = Broad::new(self.settings.structure);
        for (key, member) in self.members.iter() {
            if let Some(bounds) = member.wide_bounds().filter(|_| member.in_broad) {
                broad.insert(key.slot, bounds);
            }
        }
        let mut candidates = Vec::new();
        broad.find_pairs(&self.settings.workers, &mut candidates);
        drop(broad);
        candidates.sort_unstable();
        let mut tested = 0;
        let id = |slot| BodyId(self.members.key(slot));
        for pairs in candidates.chunks(CHUNK) {
            let asked = pairs.iter().filter_map(|&[a, b]| self.question([id(a), id(b)]));
            let near: Vec<Question> = asked.filter(|near| near.ask != Ask::Distance).collect();
            tested += self.hand_on(&near, visit);
        }
        let wanted = self.distance_pairs.iter().filter_map(|&pair| self.question(pair));
        tested + self.hand_on(&wanted.collect::<Vec<Question>>(), visit)
    }

    fn hand_on(&self, questions: &[Question], visit: &mut dyn FnMut(&Contact)) -> usize {
        let verdicts = self.judge_all(questions, Limits::default());
        for (&Question { a, b, .. }, Verdict { found, certainty, .. }) in
            questions.iter().zip(verdicts)
        {
            if let Some(found) = found {
                visit(&Contact { a, b, found, certainty });
            }
        }
        questions.len()
    }
}
