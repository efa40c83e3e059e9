//! From tick to tick: bundles out, bundles in, done, commit.

use super::serve::KEPT;
use super::{Address, Node, Output, Phase, Settled};
use crate::held::Held;
use crate::message::{Bundle, Commit, Done, Message, Resume};
use crate::mutant::Mutant;
use crate::object::{NodeId, digest};
use crate::objects::Objects;
use crate::round::{Means, Round};
use crate::time::{Tick, Time};
use crate::view::{Epoch, View};
use std::sync::Arc;

impl Node {
    /// The leader says where the view goes on from.
    pub(super) fn resume(&mut self, now: Time, resume: Resume, out: &mut Vec<Output>) {
        let Phase::Flushing(view) = &self.phase else { return };
        if view.epoch != resume.epoch {
            return;
        }
        let view = view.clone();
        let objects = match &mut self.settled {
            Some(settled) => {
                if !settled.catch_up(&resume.last, self.me.node) {
                    return;
                }
                settled.hand_out(&view, self.me.node, self.timing.rate, self.mutant)
            }
            None => {
                self.serve.kept = resume.before.into_iter().take(KEPT).collect();
                Objects::default()
            }
        };
        let (rate, mutant) = (self.timing.rate, self.mutant);
        let means = Means { me: self.me.node, view: &view, shapes: &self.shapes, rate, mutant };
        let round = Round::refresh(&means, &objects, resume.last.tick);
        self.phase = Phase::Refreshing { view, round: Box::new(round), last: resume.last };
        self.begin(now, out);
    }

    /// The exchange of this phase has begun.
    fn begin(&mut self, now: Time, out: &mut Vec<Output>) {
        self.resend_at = now + self.timing.resend;
        let tick = match &mut self.phase {
            Phase::Refreshing { round, .. } | Phase::Running { round, .. } => round.tick,
            _ => return,
        };
        let begin = self.laps.now();
        self.send_bundles(false, out);
        self.early.retain(|&(of, _), _| of >= tick);
        let nodes: Vec<_> = self.early.range((tick, NodeId(0))..).map(|(k, _)| *k).collect();
        for key in nodes.into_iter().filter(|(of, _)| *of == tick) {
            if let Some(bundle) = self.early.remove(&key) {
                self.add(bundle);
            }
        }
        self.laps.stages.bundles += self.laps.now() - begin;
        self.look(now, out);
    }

    /// Sends the others their bundles; with `missing`, only those that have not sent theirs.
    pub(super) fn send_bundles(&mut self, missing: bool, out: &mut Vec<Output>) {
        let (Phase::Refreshing { round, .. } | Phase::Running { round, .. }) = &self.phase else {
            return;
        };
        for (&node, bundle) in &round.out {
            if !(missing && round.incoming.contains_key(&node)) {
                let message = Message::Bundle(bundle.clone());
                out.push(Output::Send(Address::Node(node), message));
            }
        }
    }

    pub(super) fn bundle(&mut self, now: Time, bundle: Bundle, out: &mut Vec<Output>) {
        if bundle.epoch != self.seen && self.mutant != Some(Mutant::OldEpoch) {
            return;
        }
        let from = bundle.from;
        match &self.phase {
            Phase::Flushing(_) => {
                self.early.insert((bundle.tick, from), bundle);
            }
            Phase::Refreshing { round, .. } | Phase::Running { round, .. } => {
                if bundle.tick == round.tick {
                    // A bundle that arrives twice means that our own was lost, so it is sent again.
                    if round.incoming.contains_key(&from) && !bundle.answer {
                        answer(round.out.get(&from), from, out);
                    }
                    self.add(bundle);
                    self.look(now, out);
                } else if bundle.tick == round.tick.next() {
                    self.early.insert((bundle.tick, from), bundle);
                } else if bundle.tick.next() == round.tick && !bundle.answer {
                    answer(self.bundles_sent.get(&from), from, out);
                }
            }
            Phase::Out | Phase::Leaving(_) => {}
        }
    }

    fn add(&mut self, bundle: Bundle) {
        if let Phase::Refreshing { round, .. } | Phase::Running { round, .. } = &mut self.phase
            && round.out.contains_key(&bundle.from)
        {
            round.incoming.entry(bundle.from).or_insert(bundle);
        }
    }

    /// Once all bundles have arrived: looks for collisions, and reports them.
    fn look(&mut self, now: Time, out: &mut Vec<Output>) {
        // What touches where a view begins was found before, in its tick.
        let (view, round, detector) = match &mut self.phase {
            Phase::Refreshing { view, round, .. } => (view, round, None),
            Phase::Running { view, round } => (view, round, Some(&mut self.detector)),
            _ => return,
        };
        if round.complete.is_some() || !round.is_full() {
            return;
        }
        let (rate, mutant) = (self.timing.rate, self.mutant);
        let means = Means { me: self.me.node, view, shapes: &self.shapes, rate, mutant };
        let begin = self.laps.now();
        round.finish(&means, detector);
        self.laps.stages.detect += self.laps.now() - begin;
        self.lead_full(out);
        self.send_done(out);
        self.resend_at = now + self.timing.resend;
    }

    pub(super) fn send_done(&mut self, out: &mut Vec<Output>) {
        let (view, round) = match &self.phase {
            Phase::Refreshing { view, round, .. } | Phase::Running { view, round } => (view, round),
            _ => return,
        };
        let (Some(complete), Some(leader)) = (&round.complete, view.leader()) else { return };
        let touches = complete.touches.clone();
        let (kicks, digest) = (complete.kicks.clone(), digest(complete.mine.values()));
        let (epoch, tick, from) = (view.epoch, round.tick, self.me.node);
        let done = Done { epoch, tick, from, touches, kicks, digest };
        let second = view.ring.get(1).filter(|_| self.mutant == Some(Mutant::TwoLeaders));
        let second = second.map(|member| member.node);
        self.send(leader.node, Message::Done(done.clone()), out);
        if let Some(second) = second {
            self.send(second, Message::Done(done), out);
        }
    }

    /// The leader says what holds.
    pub(super) fn commit(&mut self, now: Time, commit: Arc<Commit>, out: &mut Vec<Output>) {
        let begin = self.laps.now();
        let (view, complete, bundles_sent, runs) = match &mut self.phase {
            phase @ (Phase::Refreshing { .. } | Phase::Running { .. }) => {
                let runs = matches!(phase, Phase::Running { .. });
                let (Phase::Refreshing { view, round, .. } | Phase::Running { view, round }) =
                    phase
                else {
                    return;
                };
                if view.epoch != commit.epoch || round.tick != commit.tick {
                    return;
                }
                let Some(complete) = round.complete.take() else { return };
                (view.clone(), complete, std::mem::take(&mut round.out), runs)
            }
            _ => return,
        };
        let held = match self.settled.take() {
            Some(Settled { mut held, .. }) if runs => {
                held.go_on(complete, &commit, &view, self.me.node);
                held
            }
            _ => Held::begin(complete),
        };
        let tick = commit.tick;
        self.bundles_sent = bundles_sent;
        self.serve.keep(&commit);
        self.send_shares(now, &view, &held, &commit, out);
        self.settled = Some(Settled { view: view.clone(), last: commit, held, pending: None });
        self.laps.stages.commit += self.laps.now() - begin;
        self.laps.stages.ticks += 1;
        self.count_tick(tick);
        self.next_tick(now, view, out);
    }

    fn next_tick(&mut self, now: Time, view: View, out: &mut Vec<Output>) {
        let Some(settled) = &self.settled else { return };
        let (rate, mutant) = (self.timing.rate, self.mutant);
        let means = Means { me: self.me.node, view: &view, shapes: &self.shapes, rate, mutant };
        let begin = self.laps.now();
        let round = Round::tick(&means, &settled.held.mine, &settled.last);
        self.laps.stages.moving += self.laps.now() - begin;
        self.phase = Phase::Running { view, round: Box::new(round) };
        self.begin(now, out);
    }

    /// The newest view that it has seen; for those who watch.
    #[must_use]
    pub fn seen(&self) -> Epoch {
        self.seen
    }

    /// All that a message of the present view can change, in a few numbers; for those who watch
    /// whether one of an older view changes anything.
    #[must_use]
    pub fn progress(&self) -> [u64; 7] {
        let (phase, round) = match &self.phase {
            Phase::Out => (0, None),
            Phase::Flushing(_) => (1, None),
            Phase::Refreshing { round, .. } => (2, Some(round)),
            Phase::Running { round, .. } => (3, Some(round)),
            Phase::Leaving(_) => (4, None),
        };
        let settled = self.settled.as_ref().map_or(0, |settled| settled.last.tick.0 + 1);
        let incoming = round.map_or(0, |round| round.incoming.len() as u64);
        let complete = round.map_or(0, |round| u64::from(round.complete.is_some()));
        let early = self.early.len() as u64;
        let tick = round.map_or(0, |round| round.tick.0);
        [phase, tick, incoming, complete, settled, early, self.lead_progress()]
    }

    /// The tick that it waits for the end of; for those who watch.
    #[must_use]
    pub fn tick(&self) -> Option<Tick> {
        match &self.phase {
            Phase::Refreshing { round, .. } | Phase::Running { round, .. } => Some(round.tick),
            _ => None,
        }
    }
}

/// Sends again what another member has missed.
fn answer(bundle: Option<&Bundle>, to: NodeId, out: &mut Vec<Output>) {
    if let Some(bundle) = bundle {
        let message = Message::Bundle(Bundle { answer: true, ..bundle.clone() });
        out.push(Output::Send(Address::Node(to), message));
    }
}

impl Settled {
    /// Goes on to the last tick that was committed to any member: this one, or the next, which is
    /// here as far as it can be without the leader's commit.
    fn catch_up(&mut self, last: &Arc<Commit>, me: NodeId) -> bool {
        if self.last.tick == last.tick {
            return true;
        }
        match self.pending.take() {
            Some(round) if round.tick == last.tick && self.last.tick.next() == last.tick => {
                let Some(complete) = round.complete else { return false };
                self.held.go_on(complete, last, &self.view, me);
                self.last = last.clone();
                true
            }
            other => {
                self.pending = other;
                false
            }
        }
    }

    /// All that this member answers for at the beginning of a view: its own, and what it kept for
    /// those who are gone, if it is the first of their backups that is left: every member finds
    /// the same one, so exactly one hands an object out.
    fn hand_out(&self, view: &View, me: NodeId, rate: u32, mutant: Option<Mutant>) -> Objects {
        let Held { mine, copies } = &self.held;
        let mut objects = mine.clone();
        let lost = self.view.ring.iter().filter(|member| !view.has(**member));
        for lost in lost.filter(|_| mutant != Some(Mutant::NoBackup)) {
            let heir = match mutant {
                Some(Mutant::WrongHeir) => self.view.backups_of(lost.node).next(),
                Some(Mutant::TwoHeirs) => self.view.backups_of(lost.node).find(|it| it.node == me),
                _ => self.view.heir(*lost, |member| view.has(member)),
            };
            let Some(copies) =
                copies.get(&lost.node).filter(|_| heir.is_some_and(|heir| heir.node == me))
            else {
                continue;
            };
            let copies = match mutant {
                Some(Mutant::StaleCopies) => copies.without_last(),
                _ => copies.clone(),
            };
            let kept = copies.played_back(lost.node, &self.view, rate);
            objects.extend(kept.values().copied());
        }
        objects
    }
}
