//! What a node does about groups: it measures how long others take to answer, calls votes and
//! answers them, leaves a group that is not needed any more, and represents its own if it leads.

use super::{Address, Node, Output, Phase};
use crate::groups::{GroupId, PingInput, PingOutput, PingRule, Pings, STRIKES, Vote, VoteRequest};
use crate::input::{Input, Source};
use crate::links::{Links, Probes};
use crate::message::{Commit, Delays, Message, PEERS_MAX, Peers};
use crate::mutant::Mutant;
use crate::object::{Class, NodeId, Object};
use crate::relay::{Relay, is_home};
use crate::time::{Span, Tick, Time};
use crate::view::Epoch;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Votes that are called at a time.
const CALLS_MAX: usize = 4;

/// The copies of a group that has ended so long ago are of nothing. Whatever moved from it to
/// another one was corrected by that one meanwhile, as everything is once a second.
const ORPHANED: Span = Span::from_ms(5000);

/// Ticks, touches and inputs of the past that a newcomer is sent.
const HISTORY_MAX: usize = 8192;

/// What a node knows about others.
#[derive(Clone, Debug)]
pub(super) struct Monitor {
    pings: Pings,
    peers: Option<Peers>,
    /// Which votes are called next, if there are many.
    turn: usize,
    /// Are there other groups to speak to? Not where all nodes are one group.
    grouped: bool,
    /// Groups that have ended, since when they were missed.
    gone: BTreeMap<GroupId, Time>,
    /// When it was first sent which groups there are.
    began: Option<Time>,
}

impl Monitor {
    fn new(pings: Pings, grouped: bool) -> Monitor {
        Monitor { pings, peers: None, turn: 0, grouped, gone: BTreeMap::new(), began: None }
    }
}

impl Monitor {
    /// Remembers which groups have ended.
    fn note_gone(&mut self, now: Time, peers: &Peers) {
        self.began.get_or_insert(now);
        let listed = |group: &GroupId| peers.groups.iter().any(|(known, _)| known == group);
        for (group, _) in self.peers.iter().flat_map(|before| &before.groups) {
            self.gone.entry(*group).or_insert(now);
        }
        self.gone.retain(|group, _| !listed(group));
        while self.gone.len() > PEERS_MAX {
            self.gone.pop_first();
        }
    }
}

impl Node {
    /// The same, measuring delays, for a directory that groups nodes by them. Every group has the
    /// static objects as its own.
    #[must_use]
    pub fn measuring(self, rule: PingRule, static_objects: Vec<Object>) -> Node {
        let pings = Pings::new(rule).with_mutant(self.mutant);
        Node { monitor: Some(Monitor::new(pings, true)), static_objects, ..self }
    }

    /// The same, measuring delays for those who watch: all nodes are one group
    /// ([`crate::Grouping::Together`]), however long they take.
    #[must_use]
    pub fn timing_others(self, rule: PingRule) -> Node {
        let pings = Pings::new(rule).with_mutant(self.mutant);
        Node { monitor: Some(Monitor::new(pings, false)), ..self }
    }

    pub(super) fn groups_wake_at(&self) -> Option<Time> {
        let pings = self.monitor.as_ref().and_then(|monitor| monitor.pings.wake_at());
        let runs = matches!(self.phase, Phase::Running { .. });
        let relay = self.relay.as_ref().filter(|_| runs).map(|relay| relay.wake_at());
        pings.into_iter().chain(relay).min()
    }

    /// Was this process paused? Then it measures anew; it is placed by nothing older. To be called
    /// first whenever the node runs.
    pub(super) fn check_pause(&mut self, now: Time) {
        let late = now - self.wake_at().max(self.stepped);
        self.stepped = now;
        if late > self.timing.pause() && self.mutant != Some(Mutant::PauseIsDelay) {
            self.probes.clear();
            if let Some(monitor) = &mut self.monitor {
                monitor.pings.paused(now);
            }
        }
    }

    /// Asks others how they are, when it is time.
    pub(super) fn measure(&mut self, now: Time, out: &mut Vec<Output>) {
        self.step_pings(now, PingInput::Wake, out);
    }

    fn step_pings(&mut self, now: Time, input: PingInput, out: &mut Vec<Output>) {
        let Some(monitor) = &mut self.monitor else { return };
        for PingOutput::Ping { to, number } in monitor.pings.step(now, input) {
            let ping = Message::Ping { from: self.me.node, number };
            out.push(Output::Send(Address::Node(to), ping));
        }
    }

    /// Reports to the directory what was measured, and calls votes.
    pub(super) fn report_delays(&mut self, out: &mut Vec<Output>) {
        let keeps = self.is_alone_with(|home| home);
        let Some(monitor) = &mut self.monitor else { return };
        let nodes = monitor.peers.iter().flat_map(|peers| peers.nodes.iter().copied());
        let medians = nodes.filter_map(|node| {
            let measured = monitor.pings.measured(node)?;
            (usize::from(measured.samples) >= STRIKES).then_some((node, measured.median))
        });
        let medians = medians.take(PEERS_MAX).collect();
        let delays = Message::Delays(Delays { from: self.me, medians, keeps });
        out.push(Output::Send(Address::Directory, delays));
        let Phase::Running { view, .. } = &self.phase else { return };
        let Some(peers) = &monitor.peers else { return };
        let group: Vec<NodeId> = view.nodes().collect();
        let calls = monitor.pings.calls(&group, &peers.thresholds);
        let turn = monitor.turn.checked_rem(calls.len()).unwrap_or(0);
        for &(kind, subject) in calls.iter().cycle().skip(turn).take(calls.len().min(CALLS_MAX)) {
            let request = VoteRequest { epoch: peers.epoch, kind, subject };
            let message = Message::VoteRequest { from: self.me.node, request };
            out.push(Output::Send(Address::Directory, message));
        }
        monitor.turn = turn + CALLS_MAX;
    }

    /// Is it alone in its group, and is what is said true of "something is at home there"?
    fn is_alone_with(&self, wanted: fn(bool) -> bool) -> bool {
        let Some(settled) = &self.settled else { return false };
        let ours = |class: Class| is_home(class) || matches!(class, Class::Leaving(..));
        let home = settled.held.mine.values().any(|object| ours(object.class));
        settled.view.ring == [self.me] && wanted(home)
    }

    /// Messages about delays and votes.
    pub(super) fn monitored(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        let me = self.me.node;
        match message {
            // A busy node answers late, which slows its group down just as much.
            Message::Ping { from, number } => {
                out.push(Output::Send(Address::Node(from), Message::Pong { from: me, number }));
            }
            Message::Pong { from, number } => {
                if let Some(wanted) = self.probes.answered(now, from, number) {
                    if wanted {
                        let unreached = Vec::new();
                        let links = Links { from: self.me, reached: vec![from], unreached };
                        out.push(Output::Send(Address::Directory, Message::Links(links)));
                    }
                    return;
                }
                self.step_pings(now, PingInput::Pong { from, number }, out);
            }
            Message::Peers(peers) => {
                let Some(monitor) = &mut self.monitor else { return };
                let known = monitor.peers.as_ref().map_or(0, |known| known.epoch);
                if peers.epoch < known {
                    return;
                }
                let nodes: Vec<NodeId> =
                    peers.nodes.iter().copied().filter(|&node| node != me).collect();
                monitor.pings.set_peers(now, nodes.get(..PEERS_MAX).unwrap_or(&nodes));
                if let Some(relay) = &mut self.relay {
                    relay.groups(&peers.groups);
                }
                monitor.note_gone(now, &peers);
                monitor.peers = Some(peers);
                self.measure(now, out);
            }
            Message::VoteCall(call) => {
                let Some(monitor) = &self.monitor else { return };
                let Some(peers) = &monitor.peers else { return };
                let vote = Vote {
                    epoch: call.epoch,
                    ballot: call.ballot,
                    voter: me,
                    opinion: monitor.pings.opinion(call.subject, &peers.thresholds),
                    measured: monitor.pings.measured(call.subject),
                };
                out.push(Output::Send(Address::Directory, Message::Vote(vote)));
            }
            Message::Probe(nodes) => {
                for (to, number) in Probes::wanted(&nodes).filter(|(to, _)| *to != me) {
                    out.push(Output::Send(Address::Node(to), Message::Ping { from: me, number }));
                }
            }
            Message::Heard { by, of, number } => {
                if let Some(relay) = &mut self.relay
                    && relay.group() == of
                {
                    relay.heard(by, number, out);
                }
            }
            _ => {}
        }
    }

    /// Another group would take it. It can go only if nothing is at home in its own.
    pub(super) fn may_leave(&mut self, now: Time, epoch: Epoch, out: &mut Vec<Output>) {
        let Phase::Running { view, .. } = &self.phase else { return };
        if view.epoch == epoch && self.is_alone_with(|home| !home) {
            self.end_group(now, out);
        }
    }

    /// The group of which this member is the leader ends, if no other one needs it any more.
    fn end_group(&mut self, now: Time, out: &mut Vec<Output>) {
        let Phase::Running { view, .. } = &self.phase else { return };
        if self.relay.as_ref().is_some_and(|relay| relay.is_drained()) {
            self.phase = Phase::Leaving(view.clone());
            self.relay = None;
            self.resend_at = now + self.timing.resend;
            self.send_again(out);
        }
    }

    /// Where this node's group is to move what is at home in it.
    fn merge_target(&self) -> Option<GroupId> {
        self.monitor.as_ref()?.peers.as_ref()?.merge.filter(|target| self.is_listed(*target))
    }

    /// What the leader adds to the inputs of a tick: some of what is at home here moves to the
    /// group that this one is to become part of, and copies of what is nowhere any more go.
    pub(super) fn moving(&self) -> Vec<Input> {
        let (Some(relay), Some(settled)) = (&self.relay, &self.settled) else { return Vec::new() };
        let target = self.merge_target().filter(|target| relay.is_known_to(*target));
        let mut inputs = Vec::new();
        if let Some(target) = target.filter(|target| *target < settled.view.group) {
            let homes = relay.at_home(settled.last.tick, &self.serve.kept);
            inputs.extend(homes.into_iter().map(|id| Input::Depart(id, target)));
        }
        let orphans = relay.orphans(|group| self.has_ended(group));
        inputs.extend(orphans.into_iter().map(Input::Forget));
        inputs
    }

    /// Has there been such a group, and is it not there any more, for so long that what others say
    /// of its objects has come?
    fn has_ended(&self, group: GroupId) -> bool {
        let Some(monitor) = &self.monitor else { return false };
        let known = monitor.peers.as_ref().is_some_and(|peers| group < peers.next);
        let since = monitor.gone.get(&group).or(monitor.began.as_ref());
        let missed = since.is_some_and(|since| self.stepped - *since > ORPHANED);
        known && missed && !self.is_listed(group)
    }

    /// Keeps the role of speaking for the group with the leader.
    pub(super) fn relay_on(&mut self, now: Time, out: &mut Vec<Output>) {
        let Some(monitor) = self.monitor.as_ref().filter(|monitor| monitor.grouped) else { return };
        let view = match &self.phase {
            Phase::Running { view, .. } if view.leader() == Some(self.me) => view,
            Phase::Running { .. } | Phase::Out | Phase::Leaving(_) => {
                self.relay = None;
                return;
            }
            _ => return,
        };
        if self.relay.as_ref().is_none_or(|relay| relay.group() != view.group) {
            let mut relay = Relay::new(self.me, view.group, self.timing).with_mutant(self.mutant);
            if let Some(peers) = &monitor.peers {
                relay.groups(&peers.groups);
            }
            self.relay = Some(Box::new(relay));
        }
        let Some(relay) = &mut self.relay else { return };
        relay.view(now, view);
        let drained = relay.is_drained();
        if drained && self.merge_target().is_some_and(|target| target < view.group) {
            return self.end_group(now, out);
        }
        let Some(relay) = &mut self.relay else { return };
        let mut outputs = Vec::new();
        if now >= relay.wake_at() {
            relay.wake(now, &mut outputs);
        }
        out.append(&mut outputs);
        self.keep_own(out);
    }

    /// Messages to itself are not sent.
    fn keep_own(&mut self, out: &mut Vec<Output>) {
        let me = Address::Node(self.me.node);
        if !out.iter().any(|output| matches!(output, Output::Send(to, _) if *to == me)) {
            return;
        }
        for output in std::mem::take(out) {
            match output {
                Output::Send(to, message) if to == me => self.own.push_back(message),
                output => out.push(output),
            }
        }
    }

    /// The ticks before one, as far as they fit, for a node that may lead soon.
    pub(super) fn history(&self, before: Tick) -> Vec<Arc<Commit>> {
        if !self.monitor.as_ref().is_some_and(|monitor| monitor.grouped) {
            return Vec::new();
        }
        let mut size = 0;
        let kept = self.serve.kept.iter().rev().filter(|commit| commit.tick < before);
        let mut history: Vec<Arc<Commit>> = kept
            .take_while(|commit| {
                size += 1 + commit.touches.len() + commit.inputs.len();
                size <= HISTORY_MAX
            })
            .cloned()
            .collect();
        history.reverse();
        history
    }

    /// Something for the follower that this node is of its own group.
    pub(super) fn relayed(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        if let Some(relay) = &mut self.relay {
            relay.receive(now, message, &self.serve.kept, out);
        }
    }

    /// Sends another group's leader what was taken of its inputs: the last number, if any.
    pub(super) fn answer_group(&self, of: GroupId, out: &mut Vec<Output>) -> Option<u64> {
        let settled = self.settled.as_ref()?;
        let heard = settled.last.heard.iter().find(|(source, _)| *source == Source::Group(of));
        let number = heard.map(|&(_, number)| number);
        let peers = self.monitor.as_ref().and_then(|monitor| monitor.peers.as_ref());
        let leader = peers.and_then(|peers| peers.groups.iter().find(|(group, _)| *group == of));
        if let Some(&(_, leader)) = leader {
            let message = Message::Heard { by: settled.view.group, of, number };
            out.push(Output::Send(Address::Node(leader), message));
        }
        number
    }

    /// Is there such a group, as far as this node knows?
    pub(super) fn is_listed(&self, group: GroupId) -> bool {
        let peers = self.monitor.as_ref().and_then(|monitor| monitor.peers.as_ref());
        peers.is_some_and(|peers| peers.groups.iter().any(|(known, _)| *known == group))
    }

    /// Has it ended so long ago that what it said need not be remembered? A greeting that was on
    /// its way when it ended must still be known to be old.
    pub(super) fn is_history(&self, group: GroupId) -> bool {
        let peers = self.monitor.as_ref().and_then(|monitor| monitor.peers.as_ref());
        let later = peers.map_or(0, |peers| peers.next.0.saturating_sub(group.0));
        later as usize > PEERS_MAX && !self.is_listed(group)
    }
}
