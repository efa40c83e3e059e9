//! What only the leader has: the directory that decides, and what waits to be said.

use crate::record::write_state;
use crate::settings::{Basis, Output};
use crate::store::Store;
use jostle_proto::{
    Address, Directory, Epoch, Message, Mutant, Output as DirectoryOutput, Saved, Time,
};
use raft::RawNode;
use std::collections::VecDeque;

/// Steps that may wait to be said; what comes then is not heard, and is asked again.
const WAITING_MAX: usize = 4096;

/// The directory's time, which goes on from replica to replica.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// So late it was for the directory
    pub(crate) at: Time,
    /// when it was so late here.
    pub(crate) local: Option<Time>,
}

impl Clock {
    pub(crate) fn begin(&mut self, now: Time) {
        self.local.get_or_insert(now);
    }

    pub(crate) fn at(&self, now: Time) -> Time {
        self.at + (now - self.local.unwrap_or(now))
    }

    pub(crate) fn local_of(&self, at: Time) -> Time {
        self.local.unwrap_or(Time(0)) + (at - self.at)
    }
}

/// What a step said, and what must have happened before it may go out.
struct Waiting {
    basis: Basis,
    /// The round that must have confirmed that this replica leads; none if the step is an entry,
    /// which says so itself when it is kept.
    round: Option<u64>,
    messages: Vec<(Address, Message)>,
}

/// The leader of a term.
pub(crate) struct Lead {
    pub(crate) term: u64,
    directory: Directory,
    /// What is in the newest entry.
    proposed: Saved,
    /// The newest entry.
    pub(crate) newest: u64,
    waiting: VecDeque<Waiting>,
    /// Rounds that this replica has begun, and the last one that a majority has answered.
    begun: u64,
    confirmed: u64,
    mutant: Option<Mutant>,
}

impl Lead {
    /// `rounds` are those that this replica has begun before. Their numbers are not used again: a
    /// late answer to one of them would confirm a question that came after it.
    pub(crate) fn new(
        directory: Directory,
        term: u64,
        newest: u64,
        rounds: u64,
        mutant: Option<Mutant>,
    ) -> Lead {
        let directory = directory.deferring();
        let proposed = directory.save();
        let waiting = VecDeque::new();
        let (begun, confirmed) = (rounds, rounds);
        Lead { term, directory, proposed, newest, waiting, begun, confirmed, mutant }
    }

    /// See [`Lead::new`].
    pub(crate) fn rounds(&self) -> u64 {
        self.begun
    }

    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    pub(crate) fn wake_at(&self) -> Time {
        self.directory.wake_at()
    }

    /// Runs the directory with an input, or because it is time. False if what it decided cannot
    /// become an entry: then this directory has seen what never was.
    pub(crate) fn step(
        &mut self,
        raw: &mut RawNode<Store>,
        now: Time,
        at: Time,
        message: Option<Message>,
    ) -> bool {
        if self.waiting.len() >= WAITING_MAX {
            return true;
        }
        // The number of a view is that of its entry; if an entry has several, they count on.
        self.directory.number_above(Epoch(raw.raft.raft_log.last_index()));
        let mut messages = Vec::new();
        match message {
            Some(message) => self.directory.receive(at, message, &mut messages),
            None => self.directory.wake(at, &mut messages),
        }
        let messages: Vec<(Address, Message)> = messages
            .into_iter()
            .filter_map(|messages| match messages {
                DirectoryOutput::Send(to, message) => Some((to, message)),
                // Only nodes publish.
                DirectoryOutput::Publish(_) | DirectoryOutput::Event(_) => None,
            })
            .collect();
        let mut round = Some(self.begun + 1);
        if self.directory.has_decided_since(&self.proposed) {
            let saved = self.directory.save();
            let Some(state) = write_state(at, &saved) else { return false };
            if raw.propose(Vec::new(), state.to_vec()).is_err() {
                return false;
            }
            self.newest = raw.raft.raft_log.last_index();
            self.proposed = saved;
            round = None;
        }
        if !messages.is_empty() {
            let basis = Basis { index: self.newest, asked: now };
            self.waiting.push_back(Waiting { basis, round, messages });
        }
        true
    }

    /// A majority has answered a round.
    pub(crate) fn confirm(&mut self, round: &[u8]) {
        if let Ok((term, round)) = postcard::from_bytes::<(u64, u64)>(round)
            && term == self.term
        {
            self.confirmed = self.confirmed.max(round);
        }
    }

    /// Begins a round if a caller waits for one and none is under way.
    pub(crate) fn ask(&mut self, raw: &mut RawNode<Store>) -> bool {
        let wanted = |waiting: &Waiting| waiting.round.is_some_and(|round| round > self.begun);
        if self.begun > self.confirmed || !self.waiting.iter().any(wanted) {
            return false;
        }
        self.begun += 1;
        let round = postcard::to_allocvec(&(self.term, self.begun)).unwrap_or_default();
        raw.read_index(round);
        true
    }

    /// Says what may be said now that the log was followed up to here.
    pub(crate) fn release(&mut self, at: Time, followed: u64, out: &mut Vec<Output>) {
        let trusting = self.mutant == Some(Mutant::StaleLeader);
        let (confirmed, hasty) = (self.confirmed, self.mutant == Some(Mutant::AnswerEarly));
        let may = |waiting: &Waiting| {
            let led = waiting.round.is_none_or(|round| round <= confirmed) || trusting;
            (waiting.basis.index <= followed && led) || hasty
        };
        let (now, later) = std::mem::take(&mut self.waiting).into_iter().partition(may);
        self.waiting = later;
        let now: VecDeque<Waiting> = now;
        for Waiting { basis, messages, .. } in now {
            for (to, message) in messages {
                self.directory.sent(at, to, &message);
                out.push(Output::Send { to, message, basis });
            }
        }
    }
}
