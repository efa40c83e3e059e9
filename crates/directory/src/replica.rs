//! One replica: the log by raft-rs, and the directory while it leads.
//!
//! What is in the log is the directory's state after each decision, whole: the leader decides on
//! its own directory, and nothing of what it says goes out before the entry with that decision
//! is kept by a majority. Heartbeats and measurements change nothing that must be stood by, so
//! they are in no entry; but what is answered to them goes out only when a majority has confirmed,
//! after the question came, that this replica still leads.

use crate::convert::{
    change_context, change_to_raft, entry_from_raft, raft_id, replica_id, snapshot_from_raft,
};
use crate::lead::{Clock, Lead};
use crate::peer::PeerMessage;
use crate::record::{Change, LogEntry, Payload, REPLICAS_MAX, Record, read_state, read_time};
use crate::report::{PeerReport, Position, ReplicaReport};
use crate::settings::{Output, Pace, Refused, RestoreError, Settings};
use crate::store::Store;
use jostle_proto::{Directory, Message, Mutant, ReplicaId, Time};
use raft::eraftpb::{Entry, MessageType};
use raft::{Config, ProgressState, RawNode, SnapshotStatus, StateRole, Storage};
use std::cell::OnceCell;

/// Ticks that a replica waits longer at most when it has tried in vain.
const LONGER_MAX: usize = 64;

/// One replica of the directory.
///
/// ```
/// use jostle_directory::{Output, Record, Replica, Settings};
/// use jostle_proto::{
///     Address, Block, Directory, Member, Message, NodeId, ReplicaId, Time, Timing,
/// };
///
/// let founder = Member { node: NodeId(0), life: 1 };
/// let extent = Block { min: [-4096; 3], max: [4096; 3] };
/// let directory = Directory::new(founder, extent, Timing::default());
/// let me = ReplicaId(0);
/// let log = Record::founding(&directory, &[me]).unwrap();
/// let mut replica = Replica::new(Settings::new(me, Timing::default()), log).unwrap();
/// let mut out = Vec::new();
/// replica.wake(Time(0), &mut out);
/// assert!(replica.report().leads);
/// out.clear();
/// let newcomer = Member { node: NodeId(1), life: 1 };
/// replica.receive(Time(200_000), Message::Join(newcomer), &mut out);
/// // First it is kept, then it is sent.
/// assert!(matches!(out[0], Output::Write(_)));
/// let is_view =
///     |output: &Output| matches!(output, Output::Send { message: Message::View(_), .. });
/// assert!(out.iter().any(is_view));
/// ```
pub struct Replica {
    settings: Settings,
    raw: RawNode<Store>,
    /// While it leads and has followed everything that leaders before it left.
    lead: Option<Box<Lead>>,
    /// Rounds that it has begun while it led, in all terms.
    rounds: u64,
    clock: Clock,
    tick_at: Time,
    ticks: u64,
    /// How often it has tried to lead since it last knew of a leader.
    tries: u32,
    /// See [`ReplicaReport::has_lost`].
    has_lost: bool,
    /// The directory where the log was followed, for those who look.
    seen: OnceCell<Option<Box<Directory>>>,
}

impl Replica {
    /// A replica that goes on from what its driver has kept, in the order in which it was kept. A
    /// new directory begins with [`Record::founding`] on every replica; one that is to be added to
    /// others begins with nothing.
    ///
    /// # Errors
    /// If the records are not what a replica writes: then it has forgotten something.
    pub fn new(settings: Settings, records: Vec<Record>) -> Result<Replica, RestoreError> {
        let store = Store::restore(records)?;
        let Pace { heartbeat, election, patience, .. } = settings.pace;
        let timeout = (election + patience) as usize;
        let config = Config {
            id: raft_id(settings.id),
            election_tick: election as usize,
            heartbeat_tick: heartbeat as usize,
            applied: store.base().index,
            // One state may be as long as a message, so one entry a message if they are long.
            max_size_per_msg: 64 << 10,
            max_inflight_msgs: 64,
            check_quorum: true,
            pre_vote: true,
            // raft-rs throws dice between these two; before it counts, `wait_for_lead` decides.
            min_election_tick: timeout,
            max_election_tick: timeout + LONGER_MAX,
            ..Config::default()
        };
        let logger = slog::Logger::root(slog::Discard, slog::o!());
        let clock = Clock { at: read_time(&store.tip().state).unwrap_or(Time(0)), local: None };
        let raw = RawNode::new(&config, store, &logger).map_err(|_| RestoreError::Impossible)?;
        Ok(Replica {
            settings,
            raw,
            lead: None,
            rounds: 0,
            clock,
            tick_at: Time(0),
            ticks: 0,
            tries: 0,
            has_lost: false,
            seen: OnceCell::new(),
        })
    }

    /// When it wants to be woken if nothing comes.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        let directory = self.lead.as_ref().map(|lead| self.clock.local_of(lead.wake_at()));
        let alone = self.is_alone() && self.lead.is_some();
        let tick = (!alone && !self.has_lost).then_some(self.tick_at);
        directory.into_iter().chain(tick).min().unwrap_or(Time(u64::MAX))
    }

    /// Are there no others to agree with?
    fn is_alone(&self) -> bool {
        self.raw.store().tip().voters == [self.settings.id]
    }

    /// To be called when due: elections, heartbeats, the directory's own timers.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.clock.begin(now);
        if now >= self.tick_at && !self.has_lost {
            // After a long sleep it first listens: one tick, however much time has passed.
            self.tick_at = now + self.settings.pace.tick;
            self.ticks += 1;
            if self.is_alone() && self.raw.raft.state != StateRole::Leader {
                // There is no other candidate, so this cannot fail.
                let _ = self.raw.campaign();
            }
            self.wait_for_lead();
            self.raw.tick();
            self.retry_snapshots();
        }
        self.pump(now, out);
        if self.lead.as_ref().is_some_and(|lead| self.clock.local_of(lead.wake_at()) <= now) {
            self.decide(now, None);
            self.pump(now, out);
        }
    }

    /// How long to wait for a leader before trying to lead: first as long as was set, then longer
    /// and longer and never twice the same, in a way that follows from the replica's number alone.
    /// Without that, replicas far from each other tried at the same time again and again.
    fn wait_for_lead(&mut self) {
        let Pace { election, patience, .. } = self.settings.pace;
        let raft = &mut self.raw.raft;
        if raft.leader_id != raft::INVALID_ID {
            self.tries = 0;
        } else if raft.election_elapsed == 0 {
            self.tries += 1;
        }
        let longer = match self.tries {
            0 => 0,
            tries => scatter(self.settings.id, tries) % (4 << tries.min(4)).min(LONGER_MAX as u64),
        };
        raft.set_randomized_election_timeout((election + patience) as usize + longer as usize);
    }

    /// A node or a gateway has said something to the directory.
    pub fn receive(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        self.clock.begin(now);
        // A follower does not answer; the caller asks again.
        self.decide(now, Some(message));
        self.pump(now, out);
    }

    /// Another replica has said something.
    pub fn hear(&mut self, now: Time, message: &PeerMessage, out: &mut Vec<Output>) {
        self.clock.begin(now);
        if message.to() != self.settings.id || message.from() == self.settings.id || self.has_lost {
            return;
        }
        if message.shows_a_loss(&self.raw.raft) {
            self.has_lost = true;
            self.lead = None;
            return;
        }
        if !message.can_be(&self.raw.raft) {
            return;
        }
        let mut message = message.to_raft();
        if self.settings.mutant == Some(Mutant::VoteByIndex) {
            // As if the terms were equal, so that only indices are compared.
            message.log_term = message.log_term.max(self.raw.raft.raft_log.last_term());
        }
        if self.settings.mutant == Some(Mutant::TwoVotes)
            && message.get_msg_type() == MessageType::MsgRequestVote
        {
            self.raw.raft.vote = raft::INVALID_ID;
        }
        // What raft-rs does not want (from one who is no replica any more) is dropped.
        let _ = self.raw.step(message);
        self.pump(now, out);
    }

    /// Adds or removes a replica: done when it is kept by a majority, see [`Replica::report`].
    ///
    /// # Errors
    /// If it cannot be done here and now.
    pub fn change(
        &mut self,
        now: Time,
        change: Change,
        out: &mut Vec<Output>,
    ) -> Result<(), Refused> {
        if self.lead.is_none() {
            return Err(Refused::NotLeader);
        }
        let voters = &self.raw.store().tip().voters;
        let (has, number) = match change {
            Change::Add(replica) => (!voters.contains(&replica), voters.len() + 1),
            Change::Remove(replica) => (voters.contains(&replica), voters.len() - 1),
        };
        if !has {
            return Err(Refused::Already);
        }
        if !(1..=REPLICAS_MAX).contains(&number) {
            return Err(Refused::Number);
        }
        if change == Change::Remove(self.settings.id) {
            let progress = self.raw.raft.prs().iter();
            let others = progress.filter(|(id, _)| **id != raft_id(self.settings.id));
            let best = others.max_by_key(|(id, progress)| (progress.matched, u64::MAX - **id));
            if let Some(id) = best.map(|(id, _)| *id) {
                self.raw.transfer_leader(id);
            }
            self.pump(now, out);
            return Err(Refused::Itself);
        }
        let before = self.raw.raft.raft_log.last_index();
        let context = change_context(change).to_vec();
        let proposed = self.raw.propose_conf_change(context, change_to_raft(change));
        // raft-rs puts an empty entry where another change is under way.
        let busy = proposed.is_err() || self.raw.raft.pending_conf_index != before + 1;
        if let Some(lead) = &mut self.lead {
            lead.newest = self.raw.raft.raft_log.last_index();
        }
        self.pump(now, out);
        if busy { Err(Refused::Busy) } else { Ok(()) }
    }

    /// Runs the directory with an input, if this replica leads.
    fn decide(&mut self, now: Time, message: Option<Message>) {
        let at = self.clock.at(now);
        if let Some(lead) = &mut self.lead {
            let kept = lead.step(&mut self.raw, now, at, message);
            if !kept {
                // What was decided could not even be proposed: it did not happen.
                self.lead = None;
            }
        }
    }

    /// Does everything that raft-rs wants done, and says what may be said.
    fn pump(&mut self, now: Time, out: &mut Vec<Output>) {
        loop {
            while self.raw.has_ready() {
                self.work_ready(now, out);
            }
            self.take_lead(now);
            let Some(lead) = &mut self.lead else { return };
            lead.release(self.clock.at(now), self.raw.store().tip().index, out);
            let asked = lead.ask(&mut self.raw);
            self.rounds = lead.rounds();
            if !asked {
                return;
            }
        }
    }

    fn work_ready(&mut self, now: Time, out: &mut Vec<Output>) {
        let mut ready = self.raw.ready();
        let store = self.raw.mut_store();
        let installed = ready.snapshot().get_metadata().index > 0;
        if installed {
            store.install(snapshot_from_raft(ready.snapshot()));
        }
        store.append(ready.entries());
        if let Some(hard) = ready.hs() {
            store.promise(hard.clone());
        }
        if installed {
            out.push(Output::Replace(store.records()));
            self.followed(now);
        } else if ready.must_sync() {
            out.push(Output::Write(to_write(store, ready.entries())));
        }
        self.send_all(ready.take_messages(), out);
        self.send_all(ready.take_persisted_messages(), out);
        self.follow_all(now, ready.take_committed_entries());
        let rounds = ready.take_read_states();
        if let Some(lead) = &mut self.lead {
            rounds.iter().for_each(|state| lead.confirm(&state.request_ctx));
        }
        let mut light = self.raw.advance(ready);
        if let Some(commit) = light.commit_index() {
            self.raw.mut_store().commit(commit);
        }
        self.send_all(light.take_messages(), out);
        self.follow_all(now, light.take_committed_entries());
        self.raw.advance_apply();
        self.shorten(out);
    }

    fn send_all(&self, messages: Vec<raft::eraftpb::Message>, out: &mut Vec<Output>) {
        for message in messages.iter().filter_map(PeerMessage::from_raft) {
            out.push(Output::SendPeer(message.to(), message));
        }
    }

    fn follow_all(&mut self, now: Time, entries: Vec<Entry>) {
        if entries.is_empty() {
            return;
        }
        let hasty = self.settings.mutant == Some(Mutant::FollowFirst);
        for (at, entry) in entries.into_iter().enumerate() {
            let LogEntry { index, term, payload } = entry_from_raft(&entry);
            let state = match payload {
                Payload::State(_) if hasty && at > 0 => None,
                Payload::State(state) => Some(state),
                Payload::Nothing => None,
                Payload::Change(change) => {
                    if let Ok(conf) = self.raw.apply_conf_change(&change_to_raft(change)) {
                        self.raw.mut_store().reconfigure(&conf);
                    }
                    None
                }
            };
            self.raw.mut_store().follow(index, term, state);
        }
        self.followed(now);
    }

    /// The log was followed a little further.
    fn followed(&mut self, now: Time) {
        self.seen = OnceCell::new();
        // The leader's time goes on here, so that the next leader does not begin anew.
        if self.lead.is_none()
            && let Some(at) = read_time(&self.raw.store().tip().state)
        {
            self.clock = Clock { at, local: Some(now) };
        }
    }

    /// Leads, if it does and has followed everything that was there before; or does not any more.
    fn take_lead(&mut self, now: Time) {
        let raft = &self.raw.raft;
        let leads = raft.state == StateRole::Leader && !self.has_lost;
        if !leads {
            self.lead = None;
            return;
        }
        let tip = self.raw.store().tip();
        if tip.index > 0 && !tip.voters.contains(&self.settings.id) {
            // It was removed by the leader before it. raft-rs would let it lead on, and drop
            // whatever it proposes; the others elect one of their own.
            self.lead = None;
            return self.raw.raft.become_follower(self.raw.raft.term, raft::INVALID_ID);
        }
        let ready = tip.term == raft.term && tip.index == raft.raft_log.last_index();
        let kept = self.lead.as_ref().is_some_and(|lead| lead.term == raft.term);
        if kept || !ready {
            return;
        }
        match read_state(&tip.state) {
            Some((_, saved)) => {
                let at = self.clock.at(now);
                let directory = Directory::load(saved, at, self.settings.timing);
                let directory = directory.with_mutant(self.settings.mutant);
                let (term, mutant) = (raft.term, self.settings.mutant);
                let lead = Lead::new(directory, term, tip.index, self.rounds, mutant);
                self.lead = Some(Box::new(lead));
            }
            // Written by a newer version: another one must lead.
            None => self.raw.raft.become_follower(self.raw.raft.term, raft::INVALID_ID),
        }
    }

    /// Puts a snapshot in the place of entries that are not needed any more.
    fn shorten(&mut self, out: &mut Vec<Output>) {
        let store = self.raw.mut_store();
        if store.tip().index - store.base().index >= self.settings.compact.max(1) {
            store.compact();
            out.push(Output::Replace(store.records()));
        }
    }

    /// Snapshots can be lost like everything else; raft-rs waits for a report of that.
    fn retry_snapshots(&mut self) {
        if self.raw.raft.state != StateRole::Leader || !self.ticks.is_multiple_of(4) {
            return;
        }
        let progress = self.raw.raft.prs().iter();
        let waiting: Vec<u64> = progress
            .filter(|(_, progress)| progress.state == ProgressState::Snapshot)
            .map(|(id, _)| *id)
            .collect();
        for id in waiting {
            self.raw.report_snapshot(id, SnapshotStatus::Failure);
        }
    }

    /// How it is.
    #[must_use]
    pub fn report(&self) -> ReplicaReport {
        let raft = &self.raw.raft;
        let (last, tip) = (raft.raft_log.last_index(), self.raw.store().tip());
        let peers = raft.prs().iter().filter(|(id, _)| **id != raft.id);
        let peers = peers.filter_map(|(id, progress)| {
            let lag = last.saturating_sub(progress.matched);
            Some(PeerReport { id: replica_id(*id)?, lag, active: progress.recent_active })
        });
        let mut peers: Vec<PeerReport> = peers.collect();
        peers.sort_by_key(|peer| peer.id);
        if raft.state != StateRole::Leader {
            peers.clear();
        }
        ReplicaReport {
            id: self.settings.id,
            leads: self.lead.is_some(),
            leader: replica_id(raft.leader_id),
            term: raft.term,
            index: last,
            commit: raft.raft_log.committed,
            applied: tip.index,
            snapshot: self.raw.store().base().index,
            voters: tip.voters.clone(),
            peers,
            has_lost: self.has_lost,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn position(&self) -> Position {
        let raft = &self.raw.raft;
        Position {
            id: self.settings.id,
            elected: raft.state == StateRole::Leader,
            leads: self.lead.is_some(),
            term: raft.term,
            index: raft.raft_log.last_index(),
            commit: raft.raft_log.committed,
            applied: self.raw.store().tip().index,
            has_lost: self.has_lost,
        }
    }

    /// The directory as it is where this replica has followed the log; none if this version
    /// cannot read it, or it has heard nothing yet.
    #[must_use]
    pub fn directory(&self) -> Option<&Directory> {
        let seen = self.seen.get_or_init(|| {
            let (at, saved) = read_state(&self.raw.store().tip().state)?;
            Some(Box::new(Directory::load(saved, at, self.settings.timing)))
        });
        seen.as_deref()
    }

    /// The directory as the leader runs it: with everything that it has heard, and with what is
    /// not kept yet. Its time is [`Replica::directory_time`].
    #[must_use]
    pub fn running(&self) -> Option<&Directory> {
        self.lead.as_ref().map(|lead| lead.directory())
    }

    /// The directory's time when it is so late on this replica.
    #[must_use]
    pub fn directory_time(&self, now: Time) -> Time {
        self.clock.at(now)
    }

    /// An entry of its log, if it is not in a snapshot.
    #[must_use]
    pub fn entry(&self, index: u64) -> Option<LogEntry> {
        self.raw.store().entry(index)
    }

    /// The term of an entry of its log, if it knows.
    #[must_use]
    pub fn term_of(&self, index: u64) -> Option<u64> {
        self.raw.store().term(index).ok()
    }

    /// The state where it has followed the log, as bytes.
    #[must_use]
    pub fn state(&self) -> &[u8] {
        &self.raw.store().tip().state
    }

    /// Everything that must not be forgotten, in as few records as possible.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.raw.store().records()
    }
}

/// What must be on disk before anything else is said: promises and entries.
///
/// What is known to hold stands before the entries, too. A replica that has an entry that changes
/// the replicas knows that the change before it holds (the leader waits for that); if a torn write
/// could leave the entry and lose that knowledge, this replica would vote and be elected by
/// replicas of two changes ago. A seed found that.
fn to_write(store: &Store, entries: &[Entry]) -> Vec<Record> {
    let before = entries.first().map(|first| store.promised_before(first.index));
    let entries = entries.iter().map(entry_from_raft).map(Record::Entry);
    before.into_iter().chain(entries).chain([store.promised()]).collect()
}

/// Any number, the same for the same try of the same replica (SplitMix64).
fn scatter(id: ReplicaId, tries: u32) -> u64 {
    let mut z = (u64::from(id.0) << 32 | u64::from(tries)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
