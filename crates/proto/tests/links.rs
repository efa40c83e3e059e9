//! Nodes that both reach the directory and do not reach each other: a group goes on without one of
//! them, and that one stays out until the link works again.

use jostle_proto::{
    Address, Block, Directory, Member, Message, Node, NodeId, Object, Output, Shapes, Span, Time,
    Timing,
};
use std::collections::{BTreeMap, BTreeSet};

const STEP: u64 = 1000;

/// A directory and nodes, and links that fail.
struct Town {
    directory: Directory,
    nodes: BTreeMap<NodeId, Node>,
    cut: BTreeSet<(u32, u32)>,
    on_the_way: Vec<(u64, Address, Message)>,
    now: Time,
    published: u64,
    views: u64,
}

impl Town {
    fn new(count: u32) -> Town {
        let founder = Member { node: NodeId(0), life: 1 };
        let extent = Block { min: [-40_960; 3], max: [40_960; 3] };
        let timing = Timing { rate: 30, ..Timing::default() };
        let shapes = Shapes::default();
        let objects = Vec::<Object>::new();
        let first = Node::founder(founder, shapes.clone(), timing, objects);
        let mut nodes = BTreeMap::from([(NodeId(0), first)]);
        for node in (1..count).map(NodeId) {
            nodes.insert(node, Node::new(Member { node, life: 1 }, shapes.clone(), timing));
        }
        let directory = Directory::new(founder, extent, timing);
        let (cut, on_the_way) = (BTreeSet::new(), Vec::new());
        Town { directory, nodes, cut, on_the_way, now: Time(0), published: 0, views: 0 }
    }

    fn send(&mut self, from: Option<NodeId>, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Send(to, message) => {
                    let fails = match (from, to) {
                        (Some(from), Address::Node(to)) => self.cut.contains(&(from.0, to.0)),
                        _ => false,
                    };
                    if !fails {
                        self.on_the_way.push((self.now.0 + 500, to, message));
                    }
                }
                Output::Publish(_) => self.published += 1,
                Output::Event(_) => {}
            }
        }
    }

    fn run(&mut self, ms: u64) {
        for _ in 0..ms * 1000 / STEP {
            self.now = Time(self.now.0 + STEP);
            let now = self.now;
            let before = self.directory.newest();
            let (due, later): (Vec<_>, Vec<_>) =
                std::mem::take(&mut self.on_the_way).into_iter().partition(|it| it.0 <= now.0);
            self.on_the_way = later;
            for (_, to, message) in due {
                let mut out = Vec::new();
                match to {
                    Address::Directory => {
                        self.directory.receive(now, message, &mut out);
                        self.send(None, out);
                    }
                    Address::Node(id) => {
                        let Some(node) = self.nodes.get_mut(&id) else { continue };
                        node.receive(now, message, &mut out);
                        self.send(Some(id), out);
                    }
                    _ => {}
                }
            }
            let mut out = Vec::new();
            if self.directory.wake_at() <= now {
                self.directory.wake(now, &mut out);
                self.send(None, out);
            }
            for id in self.nodes.keys().copied().collect::<Vec<_>>() {
                let mut out = Vec::new();
                if let Some(node) = self.nodes.get_mut(&id).filter(|node| node.wake_at() <= now) {
                    node.wake(now, &mut out);
                }
                self.send(Some(id), out);
            }
            self.views += u64::from(self.directory.newest() != before);
        }
    }

    fn ring(&self) -> Vec<u32> {
        let mut ring: Vec<u32> = self.directory.view().nodes().map(|node| node.0).collect();
        ring.sort_unstable();
        ring
    }
}

/// Issue 19: a link that was dead in one direction for 30 s stopped everything for 34 s, and
/// nothing was logged.
#[test]
fn a_dead_direction_between_two_nodes_does_not_stop_the_others() {
    for (from, to) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
        let mut town = Town::new(3);
        town.run(2000);
        assert_eq!(town.ring(), [0, 1, 2]);
        assert!(town.published > 20);
        town.cut.insert((from, to));
        town.run(1000);
        let waits: Vec<String> = town
            .nodes
            .values()
            .filter_map(|it| it.waiting(town.now))
            .map(|it| it.to_string())
            .collect();
        assert!(!waits.is_empty(), "who waits says for whom");
        town.run(1500);
        let (before, views) = (town.published, town.views);
        town.run(10_000);
        let case = format!("{from} to {to}: {:?}", town.ring());
        assert!(town.published > before + 200, "{case}: {}", town.published - before);
        assert_eq!(town.views, views, "{case}: no node comes back while the link fails");
        assert_eq!(town.ring().len(), 2, "{case}");
        let out = if town.ring().contains(&from) { to } else { from };
        assert!(!town.ring().contains(&out), "{case}");
        let report = town.directory.report(town.now);
        let pair = (NodeId(from.min(to)), NodeId(from.max(to)));
        assert_eq!(report[0].failing_links, [pair], "{case}");
        town.cut.clear();
        town.run(5000);
        assert_eq!(town.ring(), [0, 1, 2], "{case}: it comes back when it is heard again");
        assert!(town.directory.report(town.now)[0].failing_links.is_empty());
    }
}

#[test]
fn who_hears_nobody_is_the_one_to_go() {
    for deaf in 0..4 {
        let mut town = Town::new(4);
        town.run(2000);
        assert_eq!(town.ring(), [0, 1, 2, 3]);
        for other in (0..4).filter(|other| *other != deaf) {
            town.cut.insert((other, deaf));
        }
        town.run(6000);
        let others: Vec<u32> = (0..4).filter(|other| *other != deaf).collect();
        assert_eq!(town.ring(), others, "node {deaf} hears no other");
        let before = town.published;
        town.run(2000);
        assert!(town.published > before + 40);
    }
}

#[test]
fn a_node_that_was_paused_is_no_matter_of_links() {
    let mut town = Town::new(3);
    town.run(2000);
    let stopped = town.nodes.remove(&NodeId(1)).unwrap();
    town.run(3000);
    assert_eq!(town.ring(), [0, 2]);
    town.nodes.insert(NodeId(1), stopped);
    town.run(500);
    assert_eq!(town.ring(), [0, 1, 2], "it comes back at once");
    assert!(town.directory.report(town.now)[0].failing_links.is_empty());
}

#[test]
fn a_world_begins_although_a_link_never_worked() {
    for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (3, 0), (3, 2)] {
        let mut town = Town::new(4);
        town.cut.insert((from, to));
        town.run(6000);
        let before = town.published;
        town.run(2000);
        let case = format!("{from} to {to}: {:?}", town.ring());
        assert!(town.published > before + 40, "{case}: {}", town.published - before);
        assert_eq!(town.ring().len(), 3, "{case}");
    }
}

/// A node logged that it had been waiting for 1,795,042,527 seconds: the age of its clock.
#[test]
fn a_node_that_has_just_been_started_has_not_waited_since_its_clock_began() {
    let member = Member { node: NodeId(3), life: 1 };
    let mut node = Node::new(member, Shapes::default(), Timing::default());
    let start = Time(1_795_042_527_000_000);
    let waited = |node: &Node, now: Time| node.waiting(now).map(|it| it.since);
    assert_eq!(waited(&node, start), Some(Span(0)));
    node.wake(start, &mut Vec::new());
    assert_eq!(waited(&node, start), Some(Span(0)));
    let later = start + Span::from_ms(400);
    node.wake(later, &mut Vec::new());
    assert_eq!(waited(&node, later), Some(Span::from_ms(400)), "nothing has come");
}
