//! Which members keep copies for which, what survives which deaths, and what the directory reports
//! of a group that survives none of them.

use jostle_proto::{
    Address, BACKUPS_MAX, Block, Directory, GroupId, GroupRules, Grouping, Member, Message, NodeId,
    Output, PollSettings, Span, Thresholds, Time, Timing, View,
};
use std::collections::BTreeSet;

fn member(node: u32) -> Member {
    Member { node: NodeId(node), life: 1 }
}

fn ring(members: u32, backups: u8) -> View {
    View { ring: (0..members).map(member).collect(), backups, ..View::first(member(0)) }
}

#[test]
fn as_many_members_as_there_are_backups_may_be_lost_and_each_has_one_heir() {
    for members in 1..=7u32 {
        for backups in 0..=BACKUPS_MAX {
            let view = ring(members, backups);
            let count = u32::from(backups).min(members - 1);
            for node in 0..members {
                let kept: Vec<u32> = view.backups_of(NodeId(node)).map(|it| it.node.0).collect();
                let behind: Vec<u32> = (1..=count).map(|next| (node + next) % members).collect();
                assert_eq!(kept, behind);
                let for_whom: BTreeSet<u32> =
                    view.backed_up_by(NodeId(node)).map(|it| it.node.0).collect();
                let before = (1..=count).map(|back| (node + members - back) % members);
                assert_eq!(for_whom, before.collect());
            }
            for dead in 0..1u32 << members {
                let lives = |member: Member| dead >> member.node.0 & 1 == 0;
                let lost = view.unrecoverable(lives);
                assert!(dead.count_ones() > count || lost.is_empty(), "{members} {backups} {dead}");
                for gone in view.ring.iter().filter(|member| !lives(**member)) {
                    let left: Vec<Member> =
                        view.backups_of(gone.node).filter(|backup| lives(*backup)).collect();
                    assert_eq!(view.heir(*gone, lives), left.first().copied());
                    assert_eq!(lost.contains(gone), left.is_empty());
                }
            }
        }
    }
    assert_eq!(ring(3, 2).backups_of(NodeId(9)).count(), 0);
}

/// A directory, and nodes that are heard by it or not.
struct World {
    directory: Directory,
    now: Time,
    heard: Vec<Member>,
    sent: Vec<(NodeId, Message)>,
}

impl World {
    /// Five nodes in one stable view.
    fn new(backups: u8, grouping: Grouping) -> World {
        let extent = Block { min: [-40_960; 3], max: [40_960; 3] };
        let timing = Timing::default();
        let directory = Directory::grouping(member(0), extent, timing, grouping);
        let directory = directory.with_backups(backups);
        let heard = (0..5).map(member).collect();
        let mut world = World { directory, now: Time(1), heard, sent: Vec::new() };
        world.pass(3000);
        assert_eq!(world.directory.view().ring.len(), 5);
        assert!(world.directory.is_stable() && world.halts().is_empty());
        world
    }

    fn pass(&mut self, ms: u64) {
        for _ in 0..ms / 50 {
            self.now = self.now + Span::from_ms(50);
            let mut out = Vec::new();
            self.directory.wake(self.now, &mut out);
            for &member in &self.heard {
                self.directory.receive(self.now, Message::Join(member), &mut out);
                let medians = (0..9).map(|node| (NodeId(node), Span::from_ms(1))).collect();
                let delays = jostle_proto::Delays { from: member, medians, keeps: false };
                self.directory.receive(self.now, Message::Delays(delays), &mut out);
            }
            while let Some(output) = out.pop() {
                let Output::Send(Address::Node(to), message) = output else { continue };
                if let Message::View(view) = &message
                    && let Some(leader) = view.leader().filter(|leader| leader.node == to)
                    && view.ring.iter().all(|member| self.heard.contains(member))
                {
                    let stable = Message::Stable { epoch: view.epoch, from: leader };
                    self.directory.receive(self.now, stable, &mut out);
                }
                self.sent.push((to, message));
            }
        }
    }

    /// These are not heard any more.
    fn silence(&mut self, nodes: &[u32]) {
        self.heard.retain(|member| !nodes.contains(&member.node.0));
        self.sent.clear();
    }

    /// The nodes that are lost, by group, and whether for good.
    fn halts(&self) -> Vec<(u32, Vec<u32>, bool)> {
        let halted = self.directory.report(self.now).into_iter();
        let halted = halted.filter_map(|report| Some((report.group.0, report.halt?)));
        halted
            .map(|(group, halt)| {
                let lost = halt.lost.iter().map(|member| member.node.0).collect();
                (group, lost, halt.for_good)
            })
            .collect()
    }

    fn was_sent_halt(&self, node: u32) -> bool {
        self.sent.iter().any(|(to, message)| {
            to.0 == node && matches!(message, Message::Halted { group: GroupId(0), .. })
        })
    }
}

#[test]
fn with_two_backups_any_two_may_die_at_once() {
    for a in 0..5 {
        for b in 0..a {
            let mut world = World::new(2, Grouping::Together);
            world.silence(&[a, b]);
            world.pass(1000);
            let left: Vec<Member> = world.directory.view().ring.clone();
            assert_eq!(left, world.heard, "{a} and {b} die");
            assert!(world.directory.is_stable() && world.halts().is_empty());
        }
    }
}

#[test]
fn with_one_backup_two_neighbours_that_die_stop_the_world_and_that_is_reported() {
    let mut world = World::new(1, Grouping::Together);
    let view = world.directory.view().clone();
    world.silence(&[2, 3]);
    world.pass(400);
    assert!(world.halts().is_empty(), "their leases last");
    world.pass(1000);
    // What node 2 held was with 3 only; the objects of 3 are still with 4.
    assert_eq!(world.halts(), [(0, vec![2], false)]);
    assert_eq!(world.directory.view(), &view);
    // Members and newcomers are sent the reason why they wait.
    world.heard.push(member(7));
    world.pass(200);
    assert!([0, 1, 4, 7].iter().all(|node| world.was_sent_halt(*node)));
    // One of them was only paused: it goes on by itself, with the newcomer.
    world.heard.push(member(3));
    world.pass(1000);
    assert!(world.halts().is_empty() && world.directory.is_stable());
    let nodes: BTreeSet<u32> = world.directory.view().nodes().map(|node| node.0).collect();
    assert_eq!(nodes, BTreeSet::from([0, 1, 3, 4, 7]));
}

#[test]
fn who_comes_back_with_nothing_does_not_bring_a_lost_world_back() {
    let mut world = World::new(1, Grouping::Together);
    world.silence(&[2, 3]);
    world.pass(1000);
    world.heard.push(Member { node: NodeId(3), life: 2 });
    world.pass(1000);
    assert_eq!(world.halts(), [(0, vec![2], false)], "node 2 may still be paused");
    world.heard.push(Member { node: NodeId(2), life: 2 });
    world.pass(1000);
    assert_eq!(world.halts(), [(0, vec![2], true)]);
}

#[test]
fn newcomers_begin_no_empty_group_beside_a_world_that_cannot_go_on() {
    let thresholds = Thresholds { inclusion: Span::from_ms(20), rejection: Span::from_ms(28) };
    let polls = PollSettings::default();
    let rules = GroupRules { thresholds, polls, patience: Span::from_ms(500) };
    let mut world = World::new(1, Grouping::ByDelay(rules));
    world.silence(&[2, 3]);
    world.pass(1000);
    world.heard.push(member(7));
    world.pass(5000);
    assert_eq!(world.directory.views().count(), 1);
    assert!(world.was_sent_halt(7) && world.halts() == [(0, vec![2], false)]);
    world.heard.extend([member(2), member(3)]);
    world.pass(5000);
    assert!(world.halts().is_empty());
    let placed = |view: &View| view.nodes().any(|node| node == NodeId(7));
    assert!(world.directory.views().any(|(view, _)| placed(view)));
}

#[test]
fn a_directory_that_goes_on_with_another_number_of_backups_makes_a_new_view() {
    let world = World::new(1, Grouping::Together);
    let before = world.directory.view().epoch;
    let (saved, timing) = (world.directory.save(), Timing::default());
    let directory = Directory::load(saved, world.now, timing).with_backups(2);
    let mut world = World { directory, ..world };
    world.pass(500);
    let view = world.directory.view();
    assert!(view.backups == 2 && view.epoch > before && world.directory.is_stable());
    assert_eq!(view.ring.len(), 5);
    let epoch = view.epoch;
    world.pass(1000);
    assert_eq!(world.directory.view().epoch, epoch);
}
