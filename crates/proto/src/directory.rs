//! The directory: who is in, in which life, in which group, and which views hold.
//!
//! The only place where views are made and groups begin and end. For each group it keeps the
//! newest view and the last stable one; all views are numbered by one counter, so no two groups
//! share a number. It is one machine here. A replicated one puts in a log what [`Directory`] is
//! given (time, message) and lets every replica do the same with it: what is decided depends on
//! what was kept, on the time and on the input alone. Whatever it has answered for is in
//! [`Directory::save`] before the answer goes out.

mod chain;
mod halt;
mod links;
mod merge;
mod pause;
mod place;
mod promises;
mod report;
mod restore;
mod votes;

use crate::groups::{GroupId, PollSettings, Polls, Thresholds};
use crate::load::{NodeLoad, PLACES_MAX};
use crate::message::{Delays, Message, PEERS_MAX, Peers};
use crate::mutant::Mutant;
use crate::node::{Address, Output, Timing};
use crate::object::NodeId;
use crate::space::NODES_MAX;
use crate::state::Block;
use crate::time::{Span, Time};
use crate::view::{BACKUPS, BACKUPS_MAX, Epoch, Member, View};
pub use halt::Halt;
pub use report::{GroupReport, MemberReport};
pub use restore::Holders;

use chain::Chain;
use links::LinkTable;
use place::Ruled;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Which nodes compute one world together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Grouping {
    /// All, whatever their delays.
    Together,
    /// Those that are near each other.
    ByDelay(GroupRules),
}

/// Thresholds for a world of one group: every node is near enough. (An hour: far beyond any lease.)
const ANYBODY: Thresholds =
    Thresholds { inclusion: Span(3_600_000_000), rejection: Span(3_600_000_000) };

/// How groups are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRules {
    /// Who is near enough.
    pub thresholds: Thresholds,
    /// How votes are held, and how large groups may be.
    pub polls: PollSettings,
    /// How long a node that comes waits for measurements before it gets a group of its own.
    pub patience: Span,
}

/// What the directory knows about a node.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Known {
    life: u32,
    heard: Time,
    /// Since when it waits for a group, or is in it.
    since: Time,
    /// Where it belongs, in this life.
    group: Option<GroupId>,
    /// How long others take to answer it.
    delays: BTreeMap<NodeId, Span>,
    /// It is alone and cannot leave.
    keeps: bool,
    /// What it has to do.
    load: NodeLoad,
}

impl Known {
    /// Is this the incarnation that counts, and does it belong to this group?
    fn is(&self, member: Member, group: GroupId) -> bool {
        self.life == member.life && self.group == Some(group)
    }
}

/// What a directory must not forget.
///
/// Times are those of its clock, which goes on while it is down; a machine whose clock begins anew
/// must carry on from the newest of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Saved {
    /// Where most of the world is; regions are cut from it.
    extent: Block,
    grouping: Grouping,
    /// The view that the world began with.
    origin: View,
    chains: BTreeMap<GroupId, Chain>,
    /// Of the newest view of any group.
    epoch: Epoch,
    next_group: GroupId,
    known: BTreeMap<NodeId, Known>,
    /// Lives that are over: a node that was left out of a stable view.
    over: BTreeMap<NodeId, u32>,
    /// What votes said about nodes that have not followed yet.
    ruled: BTreeMap<NodeId, Ruled>,
    polls: Polls,
    /// Counts the changes of groups.
    grouped: u64,
    /// See [`View::backups`]; of views that are made from now on.
    backups: u8,
}

/// The directory.
///
/// ```
/// use jostle_proto::{Block, Directory, Member, Message, NodeId, Time, Timing};
///
/// let founder = Member { node: NodeId(0), life: 1 };
/// let extent = Block { min: [-4096; 3], max: [4096; 3] };
/// let mut directory = Directory::new(founder, extent, Timing::default());
/// let mut out = Vec::new();
/// let newcomer = Member { node: NodeId(1), life: 1 };
/// directory.receive(Time(10), Message::Join(newcomer), &mut out);
/// assert_eq!(directory.view().ring, [founder, newcomer]);
/// let again = Directory::load(directory.save(), Time(900), Timing::default());
/// assert_eq!(again.view(), directory.view());
/// ```
#[derive(Clone, Debug)]
pub struct Directory {
    timing: Timing,
    mutant: Option<Mutant>,
    kept: Saved,
    wake_at: Time,
    /// When it began, or went on.
    since: Time,
    /// Nodes with a stored world that may count.
    offers: BTreeSet<NodeId>,
    /// When nodes that wait for a group were sent the peers to measure.
    peers_sent: BTreeMap<NodeId, Time>,
    /// What it says goes out later, see [`Directory::sent`].
    defers: bool,
    /// When it last ran.
    stepped: Time,
    links: LinkTable,
}

impl Directory {
    /// A directory that knows the node that the world begins with, and keeps all nodes together.
    #[must_use]
    pub fn new(founder: Member, extent: Block, timing: Timing) -> Directory {
        Directory::grouping(founder, extent, timing, Grouping::Together)
    }

    /// One that groups nodes in this way.
    #[must_use]
    pub fn grouping(
        founder: Member,
        extent: Block,
        timing: Timing,
        grouping: Grouping,
    ) -> Directory {
        let group = GroupId(0);
        let known = Known {
            life: founder.life,
            heard: Time(0),
            since: Time(0),
            group: Some(group),
            delays: BTreeMap::new(),
            keeps: false,
            load: NodeLoad::default(),
        };
        let settings = match grouping {
            Grouping::Together => PollSettings::default(),
            Grouping::ByDelay(rules) => rules.polls,
        };
        let kept = Saved {
            extent,
            grouping,
            origin: View::first(founder),
            chains: BTreeMap::from([(group, Chain::new(group, founder, Time(0)))]),
            epoch: Epoch(0),
            next_group: GroupId(1),
            known: BTreeMap::from([(founder.node, known)]),
            over: BTreeMap::new(),
            ruled: BTreeMap::new(),
            polls: Polls::new(settings),
            grouped: 0,
            backups: BACKUPS,
        };
        Directory::keeping(kept, Time(0), timing, BTreeMap::new())
    }

    /// The same with so many backups for each member, from 1 to [`BACKUPS_MAX`]. A directory that
    /// goes on with another number than before changes groups to it by a new view.
    #[must_use]
    pub fn with_backups(mut self, backups: u8) -> Directory {
        self.kept.backups = backups.clamp(1, BACKUPS_MAX);
        self
    }

    /// The same where outgoing messages are kept back for a while: the caller reports when one is
    /// sent, by [`Directory::sent`].
    #[must_use]
    pub fn deferring(self) -> Directory {
        let mut kept = self.kept;
        kept.polls = kept.polls.deferring();
        // What went out before is not known.
        Directory { kept, peers_sent: BTreeMap::new(), defers: true, ..self }
    }

    /// Something that it said goes out now. Those who are given time to answer have it from here,
    /// however long it took to become sure that it may be said.
    pub fn sent(&mut self, now: Time, to: Address, message: &Message) {
        match (to, message) {
            (_, Message::VoteCall(call)) => self.kept.polls.called(now, call.ballot),
            (Address::Node(node), Message::Peers(_)) => {
                let waits = |known: &&Known| known.group.is_none();
                let since = self.kept.known.get(&node).filter(waits).map(|known| known.since);
                let before = self.peers_sent.get(&node).copied();
                match since {
                    Some(since) if before.is_none_or(|before| before < since) => {
                        self.peers_sent.insert(node, now);
                    }
                    Some(_) => {}
                    None => drop(self.peers_sent.remove(&node)),
                }
            }
            _ => {}
        }
    }

    /// Without a caller that defers, everything from `from` on is sent at once.
    fn note_sent(&mut self, now: Time, from: usize, out: &[Output]) {
        if self.defers {
            return;
        }
        for output in out.iter().skip(from) {
            if let Output::Send(to, message) = output {
                self.sent(now, *to, message);
            }
        }
    }

    /// What must be on disk before anything that was answered goes out.
    #[must_use]
    pub fn save(&self) -> Saved {
        self.kept.clone()
    }

    /// A directory that was down and goes on. It has heard no node meanwhile, so it suspects none
    /// before a full lease has passed.
    #[must_use]
    pub fn load(saved: Saved, now: Time, timing: Timing) -> Directory {
        // They were sent when the nodes came.
        let waits = saved.known.iter().filter(|(_, known)| known.group.is_none());
        let peers_sent = waits.map(|(&node, known)| (node, known.since)).collect();
        let mut directory = Directory::keeping(saved, now, timing, peers_sent);
        directory.resume(now);
        directory
    }

    /// It goes on now: no node could be heard before.
    pub fn resume(&mut self, now: Time) {
        for known in self.kept.known.values_mut() {
            known.heard = now;
        }
        self.kept.polls.resume(now);
        (self.since, self.stepped, self.wake_at) = (now, now, now);
    }

    fn keeping(
        kept: Saved,
        now: Time,
        timing: Timing,
        peers_sent: BTreeMap<NodeId, Time>,
    ) -> Directory {
        Directory {
            timing,
            mutant: None,
            kept,
            wake_at: now,
            since: now,
            stepped: now,
            offers: BTreeSet::new(),
            links: LinkTable::default(),
            peers_sent,
            defers: false,
        }
    }

    /// The same with a defect, to test the checkers.
    #[must_use]
    pub fn with_mutant(self, mutant: Option<Mutant>) -> Directory {
        let mut kept = self.kept;
        kept.polls = kept.polls.with_mutant(mutant);
        Directory { mutant, kept, ..self }
    }

    /// What is left of it after it was down, if it forgets what is not stable.
    #[must_use]
    pub fn forgotten(saved: Saved) -> Saved {
        let mut kept = saved;
        for chain in kept.chains.values_mut() {
            chain.current = chain.stable.clone();
        }
        let stable = kept.chains.values().map(|chain| chain.stable.epoch);
        kept.epoch = stable.max().unwrap_or(Epoch(0));
        kept
    }

    /// When it wants to be woken if nothing comes.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        self.kept.polls.wake_at().map_or(self.wake_at, |polls| polls.min(self.wake_at))
    }

    /// The newest view of the group that the world began with, stable or not.
    #[must_use]
    pub fn view(&self) -> &View {
        self.view_of(GroupId(0)).unwrap_or(&self.kept.origin)
    }

    /// Is that view stable?
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.kept.chains.get(&GroupId(0)).is_some_and(Chain::is_stable)
    }

    /// The newest view of a group, stable or not; none if there is no such group.
    #[must_use]
    pub fn view_of(&self, group: GroupId) -> Option<&View> {
        self.kept.chains.get(&group).map(|chain| &chain.current)
    }

    /// The last stable view of a group, from which its next one is made; none if there is no such
    /// group.
    #[must_use]
    pub fn stable_view_of(&self, group: GroupId) -> Option<&View> {
        self.kept.chains.get(&group).map(|chain| &chain.stable)
    }

    /// The newest views of all groups, and whether each is stable.
    pub fn views(&self) -> impl Iterator<Item = (&View, bool)> {
        self.kept.chains.values().map(|chain| (&chain.current, chain.is_stable()))
    }

    /// The number of the newest view of any group.
    #[must_use]
    pub fn newest(&self) -> Epoch {
        self.kept.epoch
    }

    /// The clock says so.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        let before = out.len();
        self.check_pause(now, out);
        if now >= self.wake_at || self.kept.grouping == Grouping::Together {
            self.wake_at = now + self.timing.resend;
            self.place(now, out);
            self.watch_near(now);
            self.reconsider(now, out);
        }
        self.hold_votes(now, None, out);
        self.note_sent(now, before, out);
    }

    /// A message has come.
    pub fn receive(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        let before = out.len();
        self.check_pause(now, out);
        self.handle(now, message, out);
        self.note_sent(now, before, out);
    }

    fn handle(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        match message {
            Message::Join(member) if self.hear(now, member, out) => {
                self.place(now, out);
                self.reconsider(now, out);
                self.remind(member, Epoch(0), out);
                self.send_near(now, member.node, out);
                self.report_halts(now, member, out);
                self.ask_links(member.node, out);
            }
            Message::Alive { member, epoch, .. } if self.is_stray(member, epoch) => {
                self.reject_stray(member, epoch, out);
            }
            Message::Alive { member, epoch, sent, mut load } if self.hear(now, member, out) => {
                load.places.truncate(PLACES_MAX);
                self.kept.known.entry(member.node).and_modify(|known| known.load = load);
                // One who is left out of the newest view may be replaced at any moment.
                let is_in = self.views().any(|(view, _)| view.has(member));
                if is_in && !self.links.is_suspended(member) {
                    let lease = Message::Lease { sent, span: self.timing.lease };
                    out.push(Output::Send(Address::Node(member.node), lease));
                }
                self.remind(member, epoch, out);
                if epoch == Epoch(0) {
                    self.offered(now, member, out);
                }
                self.report_halts(now, member, out);
                self.ask_links(member.node, out);
            }
            Message::Links(links) if self.hear(now, links.from, out) => {
                self.hear_links(now, &links);
            }
            Message::Delays(delays) if self.hear(now, delays.from, out) => {
                self.measured(now, delays, out);
            }
            Message::Leave { epoch, from } if self.hear(now, from, out) => {
                self.end(now, epoch, from, out);
            }
            Message::Stable { epoch, from } => self.record(now, epoch, from, out),
            // A gateway hears of stable views only: the others may come to nothing.
            Message::Follow(follow) => {
                let to = Address::Gateway(follow.from);
                match self.kept.chains.get(&follow.group) {
                    Some(chain) if follow.epoch < chain.stable.epoch => {
                        out.push(Output::Send(to, Message::View(chain.stable.clone())));
                    }
                    Some(_) => {}
                    None => self.send_peers(now, to, ANYBODY, out),
                }
            }
            message @ (Message::VoteRequest { .. } | Message::Vote(_)) => {
                self.hold_votes(now, Some(message), out);
            }
            _ => {}
        }
    }

    /// Is this a life that counts? If not, the node hears that it is over.
    fn hear(&mut self, now: Time, member: Member, out: &mut Vec<Output>) -> bool {
        let kept = &mut self.kept;
        let over = kept.over.get(&member.node).copied();
        let known = kept.known.get(&member.node).map(|known| known.life);
        let newest = known.into_iter().chain(over.map(|over| over + 1)).max().unwrap_or(0);
        if member.life < newest {
            let reset = Message::Reset { life: newest - 1 };
            out.push(Output::Send(Address::Node(member.node), reset));
            return false;
        }
        match kept.known.get_mut(&member.node).filter(|known| known.life == member.life) {
            Some(known) => known.heard = now,
            None => {
                if known.is_none() && kept.known.len() >= NODES_MAX {
                    return false;
                }
                let group = (kept.grouping == Grouping::Together).then_some(GroupId(0));
                let known = Known {
                    life: member.life,
                    heard: now,
                    since: now,
                    group,
                    delays: BTreeMap::new(),
                    keeps: false,
                    load: NodeLoad::default(),
                };
                kept.known.insert(member.node, known);
                let voted = |view: &View| view.nodes().any(|node| node == member.node);
                if self.kept.chains.values().any(|chain| voted(&chain.stable)) {
                    self.regroup(now, out);
                }
            }
        }
        true
    }

    /// Can this member be heard?
    fn is_alive(&self, now: Time, member: &Member) -> bool {
        self.kept.known.get(&member.node).is_some_and(|known| {
            known.life == member.life && now - known.heard <= self.timing.lease
        })
    }

    /// Sends a member the newest view of its group if it has not seen it.
    fn remind(&self, member: Member, seen: Epoch, out: &mut Vec<Output>) {
        // It may still be in a view that it leaves; the newest one counts.
        let views = self.kept.chains.values().map(|chain| &chain.current);
        let newest = views.filter(|view| view.has(member)).max_by_key(|view| view.epoch);
        if let Some(view) = newest.filter(|view| seen < view.epoch) {
            out.push(Output::Send(Address::Node(member.node), Message::View(view.clone())));
        }
    }

    /// A node reports what it has measured.
    fn measured(&mut self, now: Time, delays: Delays, out: &mut Vec<Output>) {
        let Delays { from, medians, keeps } = delays;
        if let Some(known) = self.kept.known.get_mut(&from.node) {
            known.delays = medians.into_iter().take(PEERS_MAX).collect();
            known.keeps = keeps;
        }
        if self.kept.grouping == Grouping::Together {
            // No node moves for that: the delays are only shown.
            return self.send_peers(now, Address::Node(from.node), ANYBODY, out);
        }
        self.corroborate(now, from, out);
        self.place(now, out);
        self.offer_leave(now, from, out);
        self.send_near(now, from.node, out);
    }

    /// Whom a node may come into a group with, where delays decide about that.
    fn send_near(&self, now: Time, to: NodeId, out: &mut Vec<Output>) {
        if let Grouping::ByDelay(rules) = self.kept.grouping {
            self.send_peers(now, Address::Node(to), rules.thresholds, out);
        }
    }

    fn send_peers(&self, now: Time, to: Address, thresholds: Thresholds, out: &mut Vec<Output>) {
        let known = self.kept.known.iter();
        let heard = known.filter(|(_, known)| now - known.heard <= self.timing.lease);
        let nodes = heard.map(|(&node, _)| node).filter(|&node| Address::Node(node) != to);
        let leaders = self
            .kept
            .chains
            .iter()
            .filter_map(|(&group, chain)| Some((group, chain.current.leader()?.node)));
        let peers = Peers {
            epoch: self.kept.grouped,
            nodes: nodes.take(PEERS_MAX).collect(),
            groups: leaders.collect(),
            next: self.kept.next_group,
            merge: self.merge_of(now, to),
            thresholds,
        };
        out.push(Output::Send(to, Message::Peers(peers)));
    }
}
