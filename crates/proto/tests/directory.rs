//! Where the directory puts nodes, and what it still knows after it was down.

use jostle_proto::{
    Address, Block, Crowd, Delays, Directory, GroupId, GroupRules, Grouping, Kind, Member, Message,
    NodeId, Opinion, Output, PollSettings, Saved, Span, Thresholds, Time, Timing, View, Vote,
    VoteRequest,
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
    said: Vec<Output>,
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
            said: Vec::new(),
        }
    }

    fn say(&mut self, message: Message) {
        let mut out = Vec::new();
        self.directory.receive(self.now, message, &mut out);
        self.obey(out);
    }

    /// Leaders report their views as stable; whose life is over begins the next.
    fn obey(&mut self, out: Vec<Output>) {
        self.said.extend(out.iter().cloned());
        for output in out {
            let Output::Send(Address::Node(to), message) = output else { continue };
            match message {
                Message::View(view) => {
                    if let Some(leader) = view.leader().filter(|leader| leader.node == to) {
                        self.say(Message::Stable { epoch: view.epoch, from: leader });
                    }
                }
                Message::Reset { life } => {
                    self.lives.entry(to).and_modify(|known| *known = (*known).max(life + 1));
                }
                Message::MayLeave(epoch) => {
                    let from = self.member(to);
                    self.say(Message::Leave { epoch, from });
                }
                _ => {}
            }
        }
    }

    fn member(&self, node: NodeId) -> Member {
        Member { node, life: self.lives[&node] }
    }

    /// A tenth of a second, in which everybody says what they measure.
    fn pass(&mut self, measured: bool) {
        self.now = self.now + Span::from_ms(100);
        let mut out = Vec::new();
        self.directory.wake(self.now, &mut out);
        self.obey(out);
        for node in self.sites.keys().copied().collect::<Vec<_>>() {
            let (from, site) = (self.member(node), self.sites[&node]);
            let others = self.sites.iter().filter(|(other, _)| **other != node && measured);
            let delay = |there: &u32| if *there == site { NEAR } else { FAR };
            let medians = others.map(|(other, there)| (*other, delay(there))).collect();
            self.say(Message::Join(from));
            let from = self.member(node);
            self.say(Message::Delays(Delays { from, medians, keeps: false }));
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
        // The slow twin: whoever is at one site is together.
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
    for _ in 0..4 {
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
    assert_eq!(town.groups().len(), 2, "nobody has called a vote");
    let epoch = town.said.iter().rev().find_map(|output| match output {
        Output::Send(_, Message::Peers(peers)) => Some(peers.epoch),
        _ => None,
    });
    let request = VoteRequest { epoch: epoch.unwrap(), kind: Kind::Include, subject: NodeId(2) };
    town.said.clear();
    town.say(Message::VoteRequest { from: NodeId(0), request });
    let calls: Vec<_> = town
        .said
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
        town.say(Message::Vote(vote));
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
    // Down for an hour: nobody could be heard.
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
            crowd: Crowd::default(),
        };
        directory.receive(now, alive, &mut out);
        directory.wake(now, &mut out);
    };
    hear(&mut directory, back + lease);
    assert_eq!(ring(&directory), 2);
    hear(&mut directory, back + lease + Span::from_ms(60));
    assert_eq!(ring(&directory), 1, "node 1 was never heard again");
    assert_eq!(town.group_of(1), GroupId(0));
}
