//! D1 to D5: the replicas of the directory are one directory. The judge looks at every replica
//! after every step, and at every record before it is written.

use super::Violations;
use super::history::History;
use jostle_directory::{LogEntry, Payload, Position, Record, Replica};
use jostle_proto::{ReplicaId, Time};
use std::collections::BTreeMap;

/// What is known about an entry: what it says, and the term of the one before it.
type Known = (u32, Option<u64>);

#[derive(Default)]
pub(super) struct Consensus {
    /// Who leads in a term.
    leaders: BTreeMap<u64, ReplicaId>,
    /// By place and term.
    entries: BTreeMap<(u64, u64), Known>,
    /// The terms of entries that a replica knew to hold.
    committed: BTreeMap<u64, u64>,
    /// What replicas are at a place.
    states: BTreeMap<u64, u32>,
    /// Where every replica was.
    last: BTreeMap<ReplicaId, Position>,
    history: History,
}

impl Consensus {
    pub(super) fn saw(&mut self, replica: &Replica, violations: &mut Violations) {
        let now = replica.position();
        let before = self.last.insert(now.id, now);
        if before == Some(now) {
            return;
        }
        if now.has_lost {
            violations.push(("D3", format!("replica {} lacks what it acknowledged", now.id.0)));
        }
        if before.is_none_or(|before| before.commit < now.commit) {
            let from = before.map_or(now.commit, |before| before.commit + 1);
            self.commit(replica, from..=now.commit, violations);
        }
        if now.elected && before.is_none_or(|it| !it.elected || it.term != now.term) {
            self.elect(replica, now, violations);
        }
        if before.is_none_or(|before| before.applied < now.applied) && now.applied > 0 {
            let state = crc32c::crc32c(replica.state());
            if *self.states.entry(now.applied).or_insert(state) != state {
                let (id, index) = (now.id.0, now.applied);
                violations.push(("D4", format!("replica {id} is another at entry {index}")));
            }
        }
    }

    /// One leader for each term, who has everything that was ever kept.
    fn elect(&mut self, replica: &Replica, now: Position, violations: &mut Violations) {
        let leader = *self.leaders.entry(now.term).or_insert(now.id);
        if leader != now.id {
            let (a, b, term) = (leader.0, now.id.0, now.term);
            violations.push(("D1", format!("replicas {a} and {b} lead in term {term}")));
        }
        // One that stood still may learn late that it was elected, in a term that is over.
        let before = self.committed.iter().rev().find(|(_, term)| **term < now.term);
        let Some((&index, &term)) = before else { return };
        let has = replica.term_of(index);
        if now.index < index || has.is_some_and(|has| has != term) {
            let id = now.id.0;
            violations
                .push(("D3", format!("replica {id} leads without entry {index} of term {term}")));
        }
    }

    fn commit(
        &mut self,
        replica: &Replica,
        range: std::ops::RangeInclusive<u64>,
        violations: &mut Violations,
    ) {
        for index in range {
            // What is in a snapshot is judged by what it comes to.
            let Some(term) = replica.term_of(index) else { continue };
            let known = *self.committed.entry(index).or_insert(term);
            if known != term {
                let id = replica.position().id.0;
                let what = format!("entry {index} of term {known} is of {term} at replica {id}");
                violations.push(("D3", what));
            }
        }
    }

    pub(super) fn writes(
        &mut self,
        replica: &Replica,
        records: &[Record],
        violations: &mut Violations,
    ) {
        let mut last = None;
        for record in records {
            let Record::Entry(LogEntry { index, term, payload }) = record else { continue };
            let before = last.replace((*index, *term));
            let before = before.filter(|(last, _)| last + 1 == *index).map(|(_, term)| term);
            let before = before.or_else(|| replica.term_of(index - 1));
            let content = match payload {
                Payload::Nothing => 1,
                Payload::State(state) => crc32c::crc32c(state),
                Payload::Change(change) => crc32c::crc32c(format!("{change:?}").as_bytes()),
            };
            let known = self.entries.entry((*index, *term)).or_insert((content, before));
            let same = known.1.is_none() || before.is_none() || known.1 == before;
            if known.0 != content || !same {
                let what = format!("there are two entries {index} of term {term}");
                violations.push(("D2", what));
            }
            known.1 = known.1.or(before);
        }
    }

    /// A replica is down; when it comes back it may know less.
    pub(super) fn gone(&mut self, id: ReplicaId) {
        self.last.remove(&id);
    }

    pub(super) fn answered(
        &mut self,
        now: Time,
        answers: &[(Time, u64)],
        violations: &mut Violations,
    ) {
        let kept = self.committed.last_key_value().map_or(1, |(index, _)| *index);
        for &(asked, index) in answers {
            if index > kept {
                let what = format!("entry {index} was answered for and is kept by no majority");
                violations.push(("D5", what));
            }
            self.rests_on(now, asked, index, violations);
        }
    }

    /// An answer rests on an entry.
    pub(super) fn rests_on(
        &mut self,
        now: Time,
        asked: Time,
        index: u64,
        violations: &mut Violations,
    ) {
        if let Err(newer) = self.history.add(asked, now, index) {
            let what = format!(
                "an answer rests on entry {index}, and entry {newer} had been answered for before \
                 the question"
            );
            violations.push(("D5", what));
        }
    }
}
