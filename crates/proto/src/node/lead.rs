//! The member that collects results (Storey 2006, 3.3.8: the group leader). It holds nothing that
//! others could not send its successor.

use super::{Address, Node, Output, Phase};
use crate::groups::GroupId;
use crate::input::{INPUTS_MAX, Input, Inputs, Source};
use crate::message::{Commit, Done, Flush, Message, RemoteKick, Resume, Touch};
use crate::mutant::Mutant;
use crate::object::NodeId;
use crate::time::{Span, Tick, Time};
use crate::view::{Epoch, Member, View};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// What a leader knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Lead {
    /// Is this member the leader of the newest view?
    leads: bool,
    flushes: BTreeMap<NodeId, Flush>,
    resume: Option<Resume>,
    dones: BTreeMap<NodeId, Done>,
    /// Every member holds what belongs to it; the directory is to record it.
    refreshed: bool,
    /// The last tick that was committed in this view.
    committed: Option<Arc<Commit>>,
    published: Option<Tick>,
    /// When the next tick may be committed.
    due: Time,
    committed_at: Time,
    /// See [`Commit::dilation`].
    dilation: u32,
    /// All members are done, but it is too early.
    ready: bool,
    /// What sources want to happen, by their numbers.
    inputs: BTreeMap<Source, BTreeMap<u64, Vec<Input>>>,
    /// The first inputs of groups that were never heard of.
    greetings: BTreeMap<Source, Inputs>,
}

/// Between two ticks.
fn period(rate: u32) -> Span {
    Span(1_000_000 / u64::from(rate.max(1)))
}

impl Lead {
    pub(super) fn new(view: &View, me: Member, now: Time, mutant: Option<Mutant>) -> Lead {
        let second = view.ring.get(1) == Some(&me) && mutant == Some(Mutant::TwoLeaders);
        let leads = view.leader() == Some(me) || second;
        Lead { leads, due: now, committed_at: now, dilation: 1000, ..Lead::default() }
    }

    /// A tick is committed now. The next one may follow after its time, and not before: lost time
    /// is not made up for. How long ticks take is averaged over about eight of them.
    fn pace(&mut self, now: Time, rate: u32) {
        let period = period(rate);
        let took = (now - self.committed_at).0.saturating_mul(1000) / period.0.max(1);
        let took = took.clamp(1000, 1_000_000) as u32;
        self.dilation = (self.dilation * 7 + took).div_ceil(8).max(1000);
        self.committed_at = now;
        self.due = (self.due + period).max(now);
    }

    /// Is this member the leader of the newest view?
    pub(super) fn leads(&self) -> bool {
        self.leads
    }

    /// Members of a new view that have not said how far they are.
    pub(super) fn unflushed(&self, view: &View) -> Vec<NodeId> {
        view.nodes().filter(|node| !self.flushes.contains_key(node)).collect()
    }

    /// Members that have not reported what they have found in this tick.
    pub(super) fn unreported(&self, view: &View) -> Vec<NodeId> {
        view.nodes().filter(|node| !self.dones.contains_key(node)).collect()
    }

    pub(super) fn wake_at(&self) -> Option<Time> {
        self.ready.then_some(self.due)
    }
}

impl Node {
    pub(super) fn lead_flush(&mut self, flush: Flush, out: &mut Vec<Output>) {
        let view = match &self.phase {
            Phase::Flushing(view) | Phase::Refreshing { view, .. } => view.clone(),
            _ => return,
        };
        if !self.lead.leads || flush.epoch != view.epoch || !view.has(flush.from) {
            return;
        }
        if let Some(resume) = self.lead.resume.clone() {
            self.send_resume(&view, flush.from, resume, out);
            return;
        }
        self.lead.flushes.insert(flush.from.node, flush);
        if !view.nodes().all(|node| self.lead.flushes.contains_key(&node)) {
            return;
        }
        // One who was not in the base view has nothing to say about how far it came.
        let lasts = self.lead.flushes.values().filter_map(|flush| flush.last.as_ref());
        let Some(last) = lasts.max_by_key(|last| last.tick).cloned() else { return };
        let resume = Resume { epoch: view.epoch, last, before: Vec::new() };
        self.lead.resume = Some(resume.clone());
        for &member in &view.ring {
            self.send_resume(&view, member, resume.clone(), out);
        }
    }

    fn send_resume(&mut self, view: &View, to: Member, resume: Resume, out: &mut Vec<Output>) {
        let new = !view.base_ring.contains(&to);
        let before = if new { self.history(resume.last.tick) } else { Vec::new() };
        self.send(to.node, Message::Resume(Resume { before, ..resume }), out);
    }

    pub(super) fn lead_done(&mut self, now: Time, done: Done, out: &mut Vec<Output>) {
        let old = done.epoch != self.seen && self.mutant != Some(Mutant::OldEpoch);
        if !self.lead.leads || old {
            return;
        }
        let stale = self.mutant == Some(Mutant::StaleDone);
        if let Some(committed) = &self.lead.committed
            && done.tick <= committed.tick
            && !stale
        {
            if done.tick == committed.tick {
                let message = Message::Commit(committed.clone());
                self.send(done.from, message, out);
            }
            return;
        }
        if Some(done.tick) == self.tick() || stale {
            self.lead.dones.insert(done.from, done);
            self.lead_on(now, out);
        }
    }

    /// Commits, or has the directory record the view, if all members are done.
    pub(super) fn lead_on(&mut self, now: Time, out: &mut Vec<Output>) {
        if !self.lead.leads {
            return;
        }
        let (view, refreshing) = match &self.phase {
            Phase::Refreshing { view, .. } => (view, true),
            Phase::Running { view, .. } => (view, false),
            _ => return,
        };
        if !view.nodes().all(|node| self.lead.dones.contains_key(&node)) {
            return;
        }
        if refreshing {
            let epoch = view.epoch;
            if !self.lead.refreshed {
                self.lead.refreshed = true;
                self.lead_again(out);
                if self.mutant == Some(Mutant::NoStableRecord) {
                    self.lead_stable(now, epoch, out);
                }
            }
            return;
        }
        self.lead.ready = now < self.lead.due;
        if self.lead.ready {
            return;
        }
        self.lead.pace(now, self.timing.rate);
        let dones = self.lead.dones.values();
        let mut touches = Vec::with_capacity(dones.clone().map(|done| done.touches.len()).sum());
        dones.for_each(|done| touches.extend_from_slice(&done.touches));
        // Lists in order, one after the other: nearly as fast as merging them.
        touches.sort_by_key(|touch: &Touch| (touch.a, touch.b));
        let digest = self.lead.dones.values().fold(0, |sum: u64, d| sum.wrapping_add(d.digest));
        let kicks = self.lead.dones.values().flat_map(|done| done.kicks.iter().copied());
        let mut kicks: Vec<RemoteKick> = kicks.collect();
        kicks.sort_unstable();
        let Some(tick) = self.tick() else { return };
        let (inputs, heard) = self.take_inputs();
        let Some(group) = self.settled.as_ref().map(|settled| settled.view.group) else { return };
        let (epoch, mut dilation) = (self.seen, self.lead.dilation);
        match self.mutant {
            Some(Mutant::HideOverload) => dilation = 1000,
            Some(Mutant::SkipWhenLate) if dilation > 2000 => touches.clear(),
            _ => {}
        }
        let commit = Commit { group, epoch, tick, touches, kicks, inputs, heard, digest, dilation };
        self.lead_commit(Arc::new(commit), out);
    }

    /// A source wants something to happen. What came before, and what comes too early, waits at
    /// the source.
    pub(super) fn lead_inputs(&mut self, inputs: Inputs, out: &mut Vec<Output>) {
        let Some(settled) = &self.settled else { return };
        let heard = settled.last.heard_of(inputs.source);
        if !self.lead.leads || settled.view.group != inputs.group {
            return;
        }
        if let Source::Group(of) = inputs.source
            && self.answer_group(of, out).is_none()
        {
            // It must greet first.
            return;
        }
        let waiting = self.lead.inputs.entry(inputs.source).or_default();
        for (number, input) in (inputs.first..).zip(inputs.inputs) {
            if number > heard && number - heard <= INPUTS_MAX as u64 {
                waiting.entry(number).or_insert(input);
            }
        }
    }

    /// Another group, of which nothing was heard yet, sends what is at home in it.
    pub(super) fn lead_greeted(&mut self, inputs: Inputs, out: &mut Vec<Output>) {
        if let Source::Group(of) = inputs.source
            && self.lead.leads
            && self.settled.as_ref().is_some_and(|it| it.view.group == inputs.group)
            && inputs.group != of
            && self.answer_group(of, out).is_none()
            && self.is_listed(of)
        {
            self.lead.greetings.insert(inputs.source, inputs);
        }
    }

    /// What happens with the next commit: of every source what follows without a gap on what was
    /// heard of it. An earlier life of a gateway is forgotten.
    fn take_inputs(&mut self) -> (Vec<Input>, Vec<(Source, u64)>) {
        let last = self.settled.as_ref().map(|settled| settled.last.heard.clone());
        let mut heard: BTreeMap<Source, u64> = last.unwrap_or_default().into_iter().collect();
        heard.retain(|source, _| !matches!(source, Source::Group(of) if self.is_history(*of)));
        let mut taken = Vec::new();
        for (source, greeting) in std::mem::take(&mut self.lead.greetings) {
            if let Entry::Vacant(fresh) = heard.entry(source) {
                fresh.insert(greeting.first);
                taken.extend(greeting.inputs.into_iter().flatten());
            }
        }
        for (source, waiting) in std::mem::take(&mut self.lead.inputs) {
            if heard.keys().any(|known| known.ends(source)) {
                continue;
            }
            heard.retain(|known, _| !source.ends(*known));
            let number = heard.entry(source).or_insert(0);
            for (next, inputs) in waiting {
                if next == *number + 1 {
                    *number = next;
                    taken.extend(inputs);
                }
            }
        }
        taken.extend(self.moving());
        let careless = [Some(Mutant::AcceptReplays), Some(Mutant::WantTwice)];
        let group = self.settled.as_ref().map_or(GroupId(0), |settled| settled.view.group);
        taken.retain(|input| input.is_news(group, &mut heard) || careless.contains(&self.mutant));
        (taken, heard.into_iter().collect())
    }

    /// The directory has recorded that every member holds what belongs to it.
    pub(super) fn lead_stable(&mut self, now: Time, epoch: Epoch, out: &mut Vec<Output>) {
        let Phase::Refreshing { view, last, .. } = &self.phase else { return };
        if !self.lead.leads || view.epoch != epoch || !self.lead.refreshed {
            return;
        }
        let commit = Arc::new(Commit { epoch, ..Commit::clone(last) });
        // Now it cannot be taken back any more.
        self.publish(&commit, out);
        self.lead.committed_at = now;
        self.lead.due = now + period(self.timing.rate);
        self.lead_commit(commit, out);
    }

    fn lead_commit(&mut self, commit: Arc<Commit>, out: &mut Vec<Output>) {
        self.lead.dones.clear();
        self.lead.committed = Some(commit.clone());
        if self.mutant == Some(Mutant::PublishEarly) {
            self.publish(&commit, out);
        }
        let view = match &self.phase {
            Phase::Refreshing { view, .. } | Phase::Running { view, .. } => view,
            _ => return,
        };
        for node in view.nodes().collect::<Vec<_>>() {
            self.send(node, Message::Commit(commit.clone()), out);
        }
    }

    /// All bundles of a tick are here: so every member holds the tick before it, and its results
    /// survive any deaths that leave each object with a member or one of its backups.
    pub(super) fn lead_full(&mut self, out: &mut Vec<Output>) {
        let Phase::Running { round, .. } = &self.phase else { return };
        if !self.lead.leads {
            return;
        }
        if let Some(committed) = self.lead.committed.clone()
            && committed.tick.next() == round.tick
        {
            self.publish(&committed, out);
        }
    }

    fn publish(&mut self, commit: &Arc<Commit>, out: &mut Vec<Output>) {
        if self.lead.published < Some(commit.tick) || self.lead.published.is_none() {
            self.lead.published = Some(commit.tick);
            out.push(Output::Publish(commit.clone()));
            self.serve.publish(commit, out);
        }
    }

    /// How much has been collected; for those who watch.
    pub(super) fn lead_progress(&self) -> u64 {
        (self.lead.flushes.len() + self.lead.dones.len() * 1000) as u64
    }

    /// The last tick that will never be taken back, as far as this member knows.
    pub(super) fn lead_published(&self) -> Option<Tick> {
        self.lead.published
    }

    /// What the leader waits for is asked for again.
    pub(super) fn lead_again(&mut self, out: &mut Vec<Output>) {
        let Phase::Refreshing { view, .. } = &self.phase else { return };
        if self.lead.leads && self.lead.refreshed {
            let stable = Message::Stable { epoch: view.epoch, from: self.me };
            out.push(Output::Send(Address::Directory, stable));
        }
    }
}
