//! Where the directory puts nodes, and what it still knows after it was down.

use jostle_proto::{
    Address, Block, Delays, Directory, GroupId, GroupRules, Grouping, Kind, Member, Message,
    NodeId, NodeLoad, Opinion, Outcome, Output, PollSettings, Saved, Span, Thresholds, Time,
    Timing, View, Vote, VoteRequest,
};
use std::collections::{BTreeMap, BTreeSet};

const NEAR: Span = Span::from_ms(5);
const FAR: Span = Span::from_ms(90);

fn rules(size_max: usize) -> GroupRules {
    let thresholds = Thresholds { inclusion: Span::from_ms(20), rejection: Span::from_ms(28) };
    let polls = PollSettings { size_max, ..PollSettings::default() };
    GroupRules { thresholds, polls, patience: Span::from_ms(1000) }
}

/// A directory, and nodes that do what it says.
struct Town {
    directory: Directory,
    now: Time,
    lives: BTreeMap<NodeId, u32>,
    sites: BTreeMap<NodeId, u32>,
    sent: Vec<Output>,
    /// Nodes from which nothing arrives.
    silent: BTreeSet<NodeId>,
}

impl Town {
    fn new(size_max: usize) -> Town {
        let founder = Member { node: NodeId(0), life: 1 };
        let extent = Block { min: [-40_960; 3], max: [40_960; 3] };
        let grouping = Grouping::ByDelay(rules(size_max));
        Town {
            directory: Directory::grouping(founder, extent, Timing::default(), grouping),
            now: Time(1),
            lives: BTreeMap::from([(NodeId(0), 1)]),
            sites: BTreeMap::from([(NodeId(0), 0)]),
            sent: Vec::new(),
            silent: BTreeSet::new(),
        }
    }

    fn deliver(&mut self, message: Message) {
        let mut out = Vec::new();
        self.directory.receive(self.now, message, &mut out);
        self.obey(out);
    }

    /// Leaders report their views as stable; whose life is over begins the next.
    fn obey(&mut self, out: Vec<Output>) {
        self.sent.extend(out.iter().cloned());
        for output in out {
            let Output::Send(Address::Node(to), message) = output else { continue };
            match message {
                Message::View(view) => {
                    let heard = !self.silent.contains(&to);
                    if let Some(leader) = view.leader().filter(|leader| heard && leader.node == to)
                    {
                        self.deliver(Message::Stable { epoch: view.epoch, from: leader });
                    }
                }
                Message::Reset { life } => {
                    self.lives.entry(to).and_modify(|known| *known = (*known).max(life + 1));
                }
                Message::MayLeave(epoch) => {
                    let from = self.member(to);
                    self.deliver(Message::Leave { epoch, from });
                }
                _ => {}
            }
        }
    }

    fn member(&self, node: NodeId) -> Member {
        Member { node, life: self.lives[&node] }
    }

    /// A tenth of a second, in which all nodes report what they measure.
    fn pass(&mut self, measured: bool) {
        self.now = self.now + Span::from_ms(100);
        let mut out = Vec::new();
        self.directory.wake(self.now, &mut out);
        self.obey(out);
        let heard = |node: &NodeId| !self.silent.contains(node);
        for node in self.sites.keys().copied().filter(heard).collect::<Vec<_>>() {
            let (from, site) = (self.member(node), self.sites[&node]);
            let others = self.sites.iter().filter(|(other, _)| **other != node && measured);
            let delay = |there: &u32| if *there == site { NEAR } else { FAR };
            let medians = others.map(|(other, there)| (*other, delay(there))).collect();
            self.deliver(Message::Join(from));
            let from = self.member(node);
            self.deliver(Message::Delays(Delays { from, medians, keeps: false }));
        }
    }

    fn arrive(&mut self, node: u32, site: u32) {
        self.lives.insert(NodeId(node), 1);
        self.sites.insert(NodeId(node), site);
    }

    fn groups(&self) -> BTreeSet<BTreeSet<NodeId>> {
        self.directory.views().map(|(view, _)| view.nodes().collect()).collect()
    }

    fn group_of(&self, node: u32) -> GroupId {
        let has = |view: &View| view.nodes().any(|member| member == NodeId(node));
        self.directory.views().find(|(view, _)| has(view)).map(|(view, _)| view.group).unwrap()
    }
}

#[test]
fn nodes_are_grouped_with_those_that_they_are_near_to() {
    let mut alone = 0;
    for seed in 0..40u32 {
        let mut town = Town::new(8);
        let mut state = seed;
        for node in 1..7 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            town.arrive(node, state >> 30);
            if state >> 20 & 1 == 1 {
                town.pass(true);
            }
        }
        for _ in 0..30 {
            town.pass(true);
        }
        // The slow twin: the nodes of one site are together.
        let mut right: BTreeMap<u32, BTreeSet<NodeId>> = BTreeMap::new();
        for (node, site) in &town.sites {
            right.entry(*site).or_default().insert(*node);
        }
        assert_eq!(town.groups(), right.values().cloned().collect(), "seed {seed}");
        assert!(town.directory.views().all(|(_, stable)| stable), "seed {seed}");
        alone += right.values().filter(|group| group.len() == 1).count();
    }
    assert!(alone > 10);
}

#[test]
fn groups_are_not_larger_than_they_may_be() {
    let mut town = Town::new(3);
    for node in 1..8 {
        town.arrive(node, 0);
    }
    for _ in 0..40 {
        town.pass(true);
    }
    let mut sizes: Vec<usize> = town.groups().iter().map(BTreeSet::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 3, 3]);
}

#[test]
fn a_node_waits_for_measurements_but_not_for_ever() {
    let mut town = Town::new(8);
    town.pass(true);
    town.arrive(1, 0);
    for _ in 0..9 {
        town.pass(false);
        assert_eq!(town.groups().len(), 1, "at {:?}", town.now);
    }
    // It may be near to the other one, as far as is known: so it waits three times as long.
    for _ in 0..16 {
        town.pass(false);
        assert_eq!(town.groups().len(), 1, "at {:?}", town.now);
    }
    for _ in 0..8 {
        town.pass(false);
    }
    assert_eq!(town.groups().len(), 2);
}

#[test]
fn a_vote_takes_one_who_is_alone_into_a_group_and_its_own_ends() {
    let mut town = Town::new(8);
    town.arrive(1, 0);
    town.arrive(2, 1);
    for _ in 0..20 {
        town.pass(true);
    }
    assert_eq!(town.groups().len(), 2);
    // It comes nearer.
    town.sites.insert(NodeId(2), 0);
    for _ in 0..110 {
        town.pass(true);
    }
    assert_eq!(town.groups().len(), 2, "no vote was called");
    let epoch = town.sent.iter().rev().find_map(|output| match output {
        Output::Send(_, Message::Peers(peers)) => Some(peers.epoch),
        _ => None,
    });
    let request = VoteRequest { epoch: epoch.unwrap(), kind: Kind::Include, subject: NodeId(2) };
    town.sent.clear();
    town.deliver(Message::VoteRequest { from: NodeId(0), request });
    let calls: Vec<_> = town
        .sent
        .iter()
        .filter_map(|output| match output {
            Output::Send(Address::Node(to), Message::VoteCall(call)) => Some((*to, *call)),
            _ => None,
        })
        .collect();
    assert_eq!(calls.iter().map(|(to, _)| to.0).collect::<Vec<_>>(), [0, 1]);
    for (voter, call) in calls {
        let (epoch, ballot) = (call.epoch, call.ballot);
        let vote = Vote { epoch, ballot, voter, opinion: Opinion::Include, measured: None };
        town.deliver(Message::Vote(vote));
    }
    for _ in 0..5 {
        town.pass(true);
    }
    assert_eq!(town.groups().len(), 1);
    assert_eq!(town.lives[&NodeId(2)], 2, "a node that changes its group begins a new life");
}

#[test]
fn a_directory_that_was_down_goes_on_as_if_it_had_not_been() {
    for seed in 0..20u32 {
        let (mut whole, mut broken) = (Town::new(4), Town::new(4));
        let mut state = seed;
        for step in 0..60 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            for town in [&mut whole, &mut broken] {
                if state >> 28 == 0 && town.sites.len() < 8 {
                    let node = town.sites.len() as u32;
                    town.arrive(node, state >> 20 & 1);
                }
                town.pass(true);
            }
            if state >> 16 & 3 == 0 {
                // Through bytes, as on a disk.
                let bytes = postcard::to_allocvec(&broken.directory.save()).unwrap();
                let saved: Saved = postcard::from_bytes(&bytes).unwrap();
                broken.directory = Directory::load(saved, broken.now, Timing::default());
            }
            let views = |town: &Town| -> Vec<(View, bool)> {
                town.directory.views().map(|(view, stable)| (view.clone(), stable)).collect()
            };
            assert_eq!(views(&whole), views(&broken), "seed {seed}, step {step}");
        }
    }
}

#[test]
fn a_directory_that_comes_back_suspects_nobody_for_a_lease() {
    let mut town = Town::new(8);
    town.arrive(1, 0);
    for _ in 0..12 {
        town.pass(true);
    }
    assert_eq!(town.groups().len(), 1);
    let lease = Timing::default().lease;
    // Down for an hour: no node could be heard.
    let back = town.now + Span::from_ms(3_600_000);
    let mut directory = Directory::load(town.directory.save(), back, Timing::default());
    let ring = |directory: &Directory| directory.view_of(GroupId(0)).unwrap().ring.len();
    let zero = town.member(NodeId(0));
    let hear = |directory: &mut Directory, now: Time| {
        let mut out = Vec::new();
        let alive = Message::Alive {
            member: zero,
            epoch: directory.newest(),
            sent: now,
            load: NodeLoad::default(),
        };
        directory.receive(now, alive, &mut out);
        directory.wake(now, &mut out);
    };
    for tenth in 0..=5 {
        hear(&mut directory, back + Span::from_ms(100 * tenth));
    }
    assert_eq!(ring(&directory), 2);
    hear(&mut directory, back + lease + Span::from_ms(60));
    assert_eq!(ring(&directory), 1, "node 1 was never heard again");
    assert_eq!(town.group_of(1), GroupId(0));
}

/// Issue 19: `serve` was stopped for some seconds. When it went on it took all nodes for dead whose
/// messages it had not read yet.
#[test]
fn a_directory_that_was_paused_suspects_nobody_for_it() {
    for seconds in [1, 3, 6, 12, 25] {
        let mut town = Town::new(8);
        town.arrive(1, 0);
        town.arrive(2, 0);
        for _ in 0..30 {
            town.pass(true);
        }
        assert_eq!(town.groups().len(), 1);
        let newest = town.directory.newest();
        // Only node 0, which is in the same process, is heard at first.
        town.now = town.now + Span::from_ms(1000 * seconds);
        let from = town.member(NodeId(0));
        town.deliver(Message::Delays(Delays { from, medians: Vec::new(), keeps: false }));
        for _ in 0..20 {
            town.pass(true);
        }
        assert_eq!(town.directory.newest(), newest, "no view was needed after {seconds} s");
    }
}

/// A ballot that is open when the directory is paused says nothing: its voters were not called, or
/// could not answer.
#[test]
fn ballots_that_a_pause_has_interrupted_are_void() {
    let mut town = Town::new(8);
    town.arrive(1, 0);
    town.arrive(2, 0);
    for _ in 0..130 {
        town.pass(true);
    }
    let epoch = town.sent.iter().rev().find_map(|output| match output {
        Output::Send(_, Message::Peers(peers)) => Some(peers.epoch),
        _ => None,
    });
    let request = VoteRequest { epoch: epoch.unwrap(), kind: Kind::Reject, subject: NodeId(0) };
    town.sent.clear();
    town.deliver(Message::VoteRequest { from: NodeId(1), request });
    let call = town.sent.iter().find_map(|output| match output {
        Output::Send(_, Message::VoteCall(call)) => Some(*call),
        _ => None,
    });
    let call = call.expect("a ballot");
    {
        let voter = NodeId(1);
        let (epoch, ballot) = (call.epoch, call.ballot);
        let vote = Vote { epoch, ballot, voter, opinion: Opinion::Reject, measured: None };
        town.deliver(Message::Vote(vote));
    }
    town.sent.clear();
    town.now = town.now + Span::from_ms(6000);
    town.pass(true);
    let outcomes: BTreeSet<String> = town
        .sent
        .iter()
        .filter_map(|output| match output {
            Output::Send(_, Message::VoteClosed(closed)) => Some(format!("{:?}", closed.outcome)),
            _ => None,
        })
        .collect();
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), [format!("{:?}", Outcome::Void)]);
}

/// A directory that is kept by machines far from each other sends messages long after it has
/// decided them. Voters who were called late were counted as silent, so no node was ever admitted.
#[test]
fn voters_have_their_time_from_when_they_are_called() {
    let mut town = Town::new(8);
    town.arrive(1, 0);
    town.arrive(2, 1);
    for _ in 0..150 {
        town.pass(true);
    }
    assert_eq!(town.group_of(0), town.group_of(1));
    let mut directory = town.directory.clone().deferring();
    let mut out = Vec::new();
    let peers = town.sent.iter().rev().find_map(|output| match output {
        Output::Send(_, Message::Peers(peers)) => Some(peers.epoch),
        _ => None,
    });
    let request = VoteRequest { epoch: peers.unwrap(), kind: Kind::Include, subject: NodeId(2) };
    let asks = Message::VoteRequest { from: NodeId(0), request };
    directory.receive(town.now, asks, &mut out);
    let calls: Vec<_> = out
        .drain(..)
        .filter_map(|output| match output {
            Output::Send(to, message @ Message::VoteCall(_)) => Some((to, message)),
            _ => None,
        })
        .collect();
    assert_eq!(calls.len(), 2, "both members are asked");
    // No voter hears of it for three times as long as a ballot is open, and none is asked twice.
    let later = town.now + Span(3 * rules(8).polls.open.0);
    for tenth in (100..3000).step_by(100).map(Span::from_ms) {
        directory.wake(town.now + tenth, &mut out);
    }
    directory.wake(later, &mut out);
    let about_votes = |output: &Output| {
        matches!(output, Output::Send(_, Message::VoteCall(_) | Message::VoteClosed(_)))
    };
    assert!(!out.iter().any(about_votes));
    for (to, call) in &calls {
        directory.sent(later, *to, call);
    }
    let Message::VoteCall(call) = calls[0].1.clone() else { unreachable!() };
    for voter in [0, 1].map(NodeId) {
        let (epoch, ballot, opinion) = (call.epoch, call.ballot, Opinion::Include);
        let vote = Vote { epoch, ballot, voter, opinion, measured: None };
        directory.receive(later + Span::from_ms(200), Message::Vote(vote), &mut out);
    }
    let passed = |output: &Output| {
        matches!(output, Output::Send(_, Message::VoteClosed(closed))
            if closed.outcome == Outcome::Passed)
    };
    assert!(out.iter().any(passed));
    // A leader that goes on from it lets the ballot end in time, too.
    let saved = directory.save();
    let again = Directory::load(saved, later, Timing::default());
    assert!(again.wake_at() <= later + rules(8).polls.open);
}

/// The first to come is near to one of three who are near each other. Placed one by one, it took
/// that one with it.
#[test]
fn those_who_wait_together_are_placed_by_all_that_they_have_measured() {
    let mut town = Town::new(8);
    for node in 1..5 {
        town.arrive(node, 1);
    }
    let near = [(1, 2), (2, 3), (2, 4), (3, 4)];
    for round in 0..14 {
        town.now = town.now + Span::from_ms(100);
        for node in 0..5u32 {
            let from = town.member(NodeId(node));
            town.deliver(Message::Join(from));
            let delay = |other: u32| {
                let pair = (node.min(other), node.max(other));
                if near.contains(&pair) { NEAR } else { FAR }
            };
            let others = (0..5).filter(|other| *other != node);
            let medians = others.map(|other| (NodeId(other), delay(other))).collect();
            let from = town.member(NodeId(node));
            town.deliver(Message::Delays(Delays { from, medians, keeps: false }));
        }
        assert!(round > 9 || town.groups().len() == 1, "they wait at first");
    }
    let groups: Vec<Vec<u32>> =
        town.groups().iter().map(|group| group.iter().map(|node| node.0).collect()).collect();
    assert_eq!(groups, [vec![0], vec![1], vec![2, 3, 4]]);
    // Each of the new groups began with all who belong to it.
    assert_eq!(town.directory.newest().0, 3);
}

/// It waits for measurements, so it waits from when it was sent its peers.
#[test]
fn patience_begins_when_a_node_is_sent_its_peers() {
    let founder = Member { node: NodeId(0), life: 1 };
    let extent = Block { min: [-40_960; 3], max: [40_960; 3] };
    let grouping = Grouping::ByDelay(rules(8));
    let directory = Directory::grouping(founder, extent, Timing::default(), grouping);
    let mut directory = directory.deferring();
    let newcomer = Member { node: NodeId(1), life: 1 };
    let mut out = Vec::new();
    let mut sent_at = None;
    // Three times as long as it has patience: how far the founder is it does not know.
    for tenth in 1..60u64 {
        let now = Time(100_000 * tenth);
        directory.receive(now, Message::Join(founder), &mut out);
        directory.receive(now, Message::Join(newcomer), &mut out);
        assert_eq!(directory.views().count() > 1, tenth >= 50, "at {now:?}");
        if tenth >= 20 && sent_at.is_none() {
            for output in std::mem::take(&mut out) {
                let Output::Send(to, message) = output else { continue };
                directory.sent(now, to, &message);
            }
            sent_at = Some(now);
        }
    }
}

/// All members of a group were out of reach while a node joined, so the newcomer was placed in
/// another group. Then the first group's leader could be heard again and reported the view that the
/// newcomer had been part of: it was recorded, and both groups waited for the same node for ever.
#[test]
fn who_has_found_another_group_is_not_held_by_a_view_that_is_reported_late() {
    let mut town = Town::new(8);
    town.pass(true);
    town.arrive(2, 1);
    while town.groups().len() == 1 {
        town.pass(true);
    }
    town.arrive(1, 0);
    // The view with both is with the leader when nothing arrives from there any more.
    let (from, medians) = (town.member(NodeId(0)), vec![(NodeId(1), NEAR)]);
    town.deliver(Message::Delays(Delays { from, medians, keeps: false }));
    town.silent.insert(NodeId(0));
    let first = |town: &Town| town.directory.view_of(GroupId(0)).cloned().unwrap();
    while first(&town).ring.len() == 1 {
        town.pass(true);
    }
    let unfinished = first(&town);
    // No group begins beside one that cannot go on, so the node goes where there is one.
    town.sites.insert(NodeId(1), 1);
    for _ in 0..200 {
        town.pass(true);
    }
    let one = town.member(NodeId(1));
    let with_one = town.directory.views().filter(|(view, _)| view.has(one));
    assert_eq!(with_one.count(), 2, "its new group, and the view that was not finished");
    town.sent.clear();
    town.deliver(Message::Stable { epoch: unfinished.epoch, from: unfinished.ring[0] });
    let kept = |output: &Output| matches!(output, Output::Send(_, Message::StableKept(_)));
    assert!(!town.sent.iter().any(kept));
    town.silent.clear();
    for _ in 0..3 {
        town.pass(true);
    }
    assert!(town.directory.views().all(|(_, stable)| stable));
    let all: Vec<NodeId> = town.groups().into_iter().flatten().collect();
    assert_eq!(all, [0, 1, 2].map(NodeId));
}

/// A member died, came back, and was placed in another group. The group that it had died in voted
/// about it meanwhile, and the vote put it out of the group that had just taken it in.
#[test]
fn a_vote_about_a_member_is_void_when_it_begins_a_new_incarnation() {
    let mut town = Town::new(8);
    town.arrive(1, 0);
    town.arrive(2, 0);
    for _ in 0..120 {
        town.pass(true);
    }
    assert_eq!(town.groups().len(), 1);
    let peers = town.sent.iter().rev().find_map(|output| match output {
        Output::Send(_, Message::Peers(peers)) => Some(peers.epoch),
        _ => None,
    });
    let request = VoteRequest { epoch: peers.unwrap(), kind: Kind::Reject, subject: NodeId(2) };
    town.sent.clear();
    town.deliver(Message::VoteRequest { from: NodeId(0), request });
    let call = town.sent.iter().find_map(|output| match output {
        Output::Send(_, Message::VoteCall(call)) => Some(*call),
        _ => None,
    });
    let call = call.unwrap();
    // It is back before the view without it is finished.
    town.silent.insert(NodeId(0));
    town.lives.insert(NodeId(2), 2);
    town.deliver(Message::Join(Member { node: NodeId(2), life: 2 }));
    for voter in [0, 1].map(NodeId) {
        let (epoch, ballot, opinion) = (call.epoch, call.ballot, Opinion::Reject);
        town.deliver(Message::Vote(Vote { epoch, ballot, voter, opinion, measured: None }));
    }
    let outcome = |output: &Output| match output {
        Output::Send(_, Message::VoteClosed(closed)) => Some(closed.outcome),
        _ => None,
    };
    let outcomes: BTreeSet<bool> =
        town.sent.iter().filter_map(outcome).map(|it| it == Outcome::Void).collect();
    assert_eq!(outcomes, BTreeSet::from([true]));
}
