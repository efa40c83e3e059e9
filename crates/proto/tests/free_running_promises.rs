//! A node that the directory does not answer goes on by the word of its backups, and they keep it.

use jostle_proto::{
    Address, Epoch, FreeRunningNode, Member, Message, NodeId, Output, Shapes, Span, Time, Timing,
    Tree, Tuning, View,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

fn member(node: u32) -> Member {
    Member { node: NodeId(node), life: 1 }
}

fn view(epoch: u64, ring: &[u32], base: &View) -> View {
    view_with(1, epoch, ring, base)
}

fn view_with(backups: u8, epoch: u64, ring: &[u32], base: &View) -> View {
    let nodes: Vec<NodeId> = ring.iter().copied().map(NodeId).collect();
    View {
        group: base.group,
        epoch: Epoch(epoch),
        base: base.epoch,
        base_ring: base.ring.clone(),
        ring: ring.iter().copied().map(member).collect(),
        backups,
        tree: Tree::shared_among(&nodes, &[]).unwrap(),
    }
}

/// Nodes whose messages take no time, and a directory that the test plays.
struct Group {
    nodes: BTreeMap<u32, FreeRunningNode>,
    now: Time,
    /// Who does not reach whom.
    cut: BTreeSet<(u32, u32)>,
    /// Whom the directory answers.
    answered: BTreeSet<u32>,
    /// Views that their leaders say to be ready to hold.
    ready: BTreeSet<Epoch>,
}

impl Group {
    /// Nodes of which the first has the world.
    fn new(nodes: u32) -> Group {
        let node = |id: u32| {
            let static_objects = Arc::new(Vec::new());
            let node = FreeRunningNode::new(
                member(id),
                Shapes::default(),
                static_objects,
                Tuning::default(),
            );
            (id, if id == 0 { node.founding([]) } else { node })
        };
        let answered = (0..nodes).collect();
        let (cut, ready) = (BTreeSet::new(), BTreeSet::new());
        let nodes = (0..nodes).map(node).collect();
        let mut group = Group { nodes, now: Time(0), cut, answered, ready };
        group.pass(200);
        group
    }

    /// Sends a view to all members that the directory answers.
    fn send_view(&mut self, view: &View) {
        let reached = view.nodes().filter(|node| self.answered.contains(&node.0));
        self.deliver(reached.map(|node| (node.0, Message::View(view.clone()))).collect());
    }

    /// The same, until it holds.
    fn settle(&mut self, view: &View) {
        self.send_view(view);
        self.pass(300);
        assert!(view.nodes().all(|node| {
            self.nodes[&node.0].settled_in().map(|ground| ground.epoch) == Some(view.epoch)
        }));
    }

    fn pass(&mut self, ms: u64) {
        for _ in 0..ms {
            self.now = self.now + Span::from_ms(1);
            for id in 0..self.nodes.len() as u32 {
                let mut out = Vec::new();
                let node = self.nodes.get_mut(&id).unwrap();
                if node.wake_at() <= self.now {
                    node.wake(self.now, &mut out);
                }
                let messages = self.sort(id, out);
                self.deliver(messages);
            }
        }
    }

    fn deliver(&mut self, mut messages: VecDeque<(u32, Message)>) {
        while let Some((to, message)) = messages.pop_front() {
            let mut out = Vec::new();
            self.nodes.get_mut(&to).unwrap().receive(self.now, message, &mut out);
            messages.extend(self.sort(to, out));
        }
    }

    /// What comes of what a node says.
    fn sort(&mut self, from: u32, out: Vec<Output>) -> VecDeque<(u32, Message)> {
        let mut messages = VecDeque::new();
        for output in out {
            let Output::Send(to, message) = output else { continue };
            match (to, message) {
                (Address::Node(NodeId(to)), message) if !self.cut.contains(&(from, to)) => {
                    messages.push_back((to, message));
                }
                (Address::Directory, Message::Alive { sent, .. })
                    if self.answered.contains(&from) =>
                {
                    let span = Timing::default().lease;
                    messages.push_back((from, Message::Lease { sent, span }));
                }
                (Address::Directory, Message::Stable { epoch, .. }) => {
                    self.ready.insert(epoch);
                    if self.answered.contains(&from) {
                        messages.push_back((from, Message::StableKept(epoch)));
                    }
                }
                _ => {}
            }
        }
        messages
    }

    /// Does it go on?
    fn runs(&mut self, node: u32) -> bool {
        let before = self.nodes[&node].ticks();
        self.pass(40);
        self.nodes[&node].ticks() > before
    }
}

#[test]
fn a_node_that_is_replaced_has_stopped_before_its_backup_helps() {
    let mut group = Group::new(2);
    let both = view(1, &[0, 1], &View::first(member(0)));
    group.settle(&both);
    group.answered.remove(&0);
    group.pass(2000);
    assert!(group.runs(0));
    // The directory has not heard of it for long and replaces it.
    let rest = view(2, &[1], &both);
    let sent_at = group.now;
    group.send_view(&rest);
    let mut ran = Time(0);
    while group.ready.last() != Some(&rest.epoch) {
        ran = if group.nodes[&0].is_suspended(group.now) { ran } else { group.now };
        group.pass(1);
        assert!(group.now - sent_at < Span::from_ms(1000), "the view never holds");
    }
    assert!(sent_at < ran && ran < group.now);
    assert!(group.nodes[&0].is_suspended(group.now) && group.runs(1));
}

#[test]
fn a_node_comes_back_by_itself_when_it_hears_its_backup_again() {
    let mut group = Group::new(2);
    group.settle(&view(1, &[0, 1], &View::first(member(0))));
    group.answered.clear();
    group.pass(2000);
    group.cut.insert((1, 0));
    group.pass(1000);
    // The node that does not hear its backup stands still; the other one hears that the first has
    // its copies.
    assert!(!group.runs(0));
    group.cut.insert((0, 1));
    group.pass(1000);
    assert!(!group.runs(0) && !group.runs(1));
    group.cut.clear();
    group.pass(200);
    assert!(group.runs(0) && group.runs(1));
}

#[test]
fn without_a_directory_who_kept_copies_for_the_dead_one_goes_on_and_whose_it_kept_does_not() {
    let mut group = Group::new(3);
    group.settle(&view(1, &[0, 1, 2], &View::first(member(0))));
    group.answered.clear();
    group.cut.extend([(0, 1), (1, 0), (1, 2), (2, 1)]);
    group.pass(1000);
    // The first one answers the last one although it stands still itself.
    assert!(!group.runs(0) && group.runs(2));
}

#[test]
fn a_node_that_may_be_in_a_newer_view_needs_the_promise_of_its_backup_there_too() {
    let mut group = Group::new(3);
    let old = view(1, &[0, 1], &View::first(member(0)));
    group.settle(&old);
    group.cut.extend([(0, 2), (2, 0)]);
    group.send_view(&view(2, &[0, 2, 1], &old));
    // The newcomer has no promise.
    group.answered = BTreeSet::from([2]);
    group.pass(2000);
    // Without its word the newer view cannot hold, so only the older one matters.
    assert!(group.runs(0));
    group.cut.clear();
    group.pass(100);
    assert!(group.ready.contains(&Epoch(2)) && group.runs(0));
    // It has promised: now the view may hold, although no message confirms it.
    group.cut.insert((2, 0));
    group.pass(500);
    assert!(!group.runs(0));
    group.cut.clear();
    group.pass(200);
    assert!(group.runs(0));
}

#[test]
fn nobody_replaces_a_node_that_is_alone_before_it_has_agreed_to_another() {
    let mut group = Group::new(2);
    group.cut.insert((1, 0));
    group.send_view(&view(1, &[0, 1], &View::first(member(0))));
    group.answered.clear();
    group.pass(2000);
    assert!(group.runs(0));
    group.cut.clear();
    group.pass(200);
    assert!(group.runs(0));
    group.cut.insert((1, 0));
    group.pass(500);
    assert!(!group.runs(0));
}

#[test]
fn with_two_backups_a_node_needs_the_word_of_both() {
    let mut group = Group::new(4);
    let first = View::first(member(0));
    group.settle(&view_with(2, 1, &[0, 1, 2, 3], &first));
    group.answered.clear();
    group.pass(1000);
    assert!((0..4).all(|node| group.runs(node)));
    // Node 3 does not reach 0 any more: it is a backup of 2 and of 1, and 0 is one of its own.
    group.cut.extend([(0, 3), (3, 0)]);
    group.pass(1000);
    assert!(!group.runs(3), "0 has not promised");
    assert!(group.runs(0) && group.runs(1) && group.runs(2));
    group.cut.clear();
    group.pass(200);
    assert!(group.runs(3));
}

#[test]
fn a_newer_view_holds_only_when_both_of_its_backups_have_everything() {
    let mut group = Group::new(4);
    let old = view_with(2, 1, &[0, 1], &View::first(member(0)));
    group.settle(&old);
    group.cut.extend([(0, 3), (3, 0)]);
    group.send_view(&view_with(2, 2, &[0, 2, 3, 1], &old));
    group.pass(1000);
    assert!(!group.ready.contains(&Epoch(2)), "3 has no copies of 0");
    group.cut.clear();
    group.pass(200);
    assert!(group.ready.contains(&Epoch(2)));
}
