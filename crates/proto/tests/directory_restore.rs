//! Whether a stored world counts is decided by which nodes answer, not by what the directory
//! remembers: nothing is lost that living nodes have, and nothing is there twice.

use jostle_proto::{
    Address, Block, Directory, Epoch, Follower, GatewayId, GroupId, GroupRules, Grouping, Holders,
    Member, Message, NodeId, NodeLoad, Output, PollSettings, Share, Span, Thresholds, Tick, Time,
    Timing, View,
};

const EXTENT: Block = Block { min: [-40_960; 3], max: [40_960; 3] };
const STEP: Span = Span::from_ms(50);

fn member(node: u32, life: u32) -> Member {
    Member { node: NodeId(node), life }
}

fn groupings() -> [Grouping; 2] {
    let thresholds = Thresholds { inclusion: Span::from_ms(20), rejection: Span::from_ms(28) };
    let polls = PollSettings::default();
    let rules = GroupRules { thresholds, polls, patience: Span::from_ms(1000) };
    [Grouping::Together, Grouping::ByDelay(rules)]
}

/// A directory, and nodes that are heard.
struct Town {
    directory: Directory,
    now: Time,
    /// Who is heard, and the newest view that each has seen.
    alive: Vec<(Member, Epoch)>,
    sent: Vec<(NodeId, Message)>,
}

impl Town {
    /// A world of so many nodes that has run, down for an hour.
    fn down(nodes: u32) -> Town {
        let founder = member(0, 1);
        let directory = Directory::new(founder, EXTENT, Timing::default()).with_backups(1);
        let alive = (0..nodes).map(|node| (member(node, 1), Epoch(0))).collect();
        let mut town = Town { directory, now: Time(1), alive, sent: Vec::new() };
        for node in 1..nodes {
            town.deliver(Message::Join(member(node, 1)));
        }
        town.pass(Span::from_ms(1000));
        assert_eq!(town.ring(), (0..nodes).map(|node| member(node, 1)).collect::<Vec<_>>());
        town.now = town.now + Span::from_ms(3_600_000);
        let saved = town.directory.save();
        town.directory = Directory::load(saved, town.now, Timing::default());
        town.alive.clear();
        town
    }

    fn ring(&self) -> Vec<Member> {
        self.directory.view().ring.clone()
    }

    fn deliver(&mut self, message: Message) {
        let mut out = Vec::new();
        self.directory.receive(self.now, message, &mut out);
        self.obey(out);
    }

    fn obey(&mut self, out: Vec<Output>) {
        let mut stable = Vec::new();
        for output in out {
            let Output::Send(Address::Node(to), message) = output else { continue };
            self.sent.push((to, message.clone()));
            let Message::View(view) = message else { continue };
            for (member, seen) in self.alive.iter_mut().filter(|(it, _)| it.node == to) {
                *seen = view.epoch.max(*seen);
                if view.leader() == Some(*member) {
                    stable.push(Message::Stable { epoch: view.epoch, from: *member });
                }
            }
        }
        stable.into_iter().for_each(|message| self.deliver(message));
    }

    fn pass(&mut self, span: Span) {
        let until = self.now + span;
        while self.now < until {
            self.now = self.now + STEP;
            for (member, epoch) in self.alive.clone() {
                let load = NodeLoad { objects: 50, ..NodeLoad::default() };
                self.deliver(Message::Alive { member, epoch, sent: self.now, load });
            }
            let mut out = Vec::new();
            self.directory.wake(self.now, &mut out);
            self.obey(out);
        }
    }

    fn was_reset(&self, node: u32) -> bool {
        let reset =
            |it: &(NodeId, Message)| it.0 == NodeId(node) && matches!(it.1, Message::Reset { .. });
        self.sent.iter().any(reset)
    }
}

const STORED: Member = Member { node: NodeId(9), life: 1 };

#[test]
fn a_world_that_living_nodes_have_is_not_restored() {
    let mut town = Town::down(3);
    town.alive = vec![(STORED, Epoch(0)), (member(1, 1), Epoch(9)), (member(2, 1), Epoch(9))];
    town.pass(Span::from_ms(8000));
    assert_eq!(town.ring(), [member(1, 1), member(2, 1), STORED]);
    assert_eq!(town.directory.restorations(), 0);
    let views = town.sent.iter().filter_map(|(to, it)| match it {
        Message::View(view) if *to == STORED.node => Some(view),
        _ => None,
    });
    // So its node drops what it holds: it was in none of the views that these are made from.
    let first = views.into_iter().next().expect("a view");
    assert!(first.base > Epoch(0) && !first.base_ring.contains(&STORED), "{first:?}");
}

#[test]
fn a_world_that_nobody_has_any_more_is_restored_when_all_had_time_to_answer() {
    for nodes in 1..4 {
        let mut town = Town::down(nodes);
        town.alive = vec![(STORED, Epoch(0))];
        town.pass(Span::from_ms(4900));
        assert_eq!(town.directory.holders(town.now), Holders::Unknown);
        assert!(!town.ring().contains(&STORED), "{nodes}");
        town.pass(Span::from_ms(300));
        assert_eq!((town.ring(), town.directory.restorations()), (vec![STORED], 1), "{nodes}");
        let view = town.directory.view();
        assert!(view.base == Epoch(0) && view.base_ring == [STORED], "{view:?}");
    }
}

#[test]
fn nodes_that_have_a_part_only_are_reset_and_join_the_restored_world() {
    let mut town = Town::down(3);
    // Node 0 is gone, and so is node 1, which had the copies of what was node 0's.
    let old = member(2, 1);
    town.alive = vec![(STORED, Epoch(0)), (old, Epoch(9))];
    town.pass(Span::from_ms(5500));
    assert_eq!(town.ring(), [STORED]);
    assert!(town.was_reset(2));
    let again = member(2, 2);
    town.alive = vec![(STORED, town.directory.newest())];
    town.deliver(Message::Join(again));
    town.alive.push((again, Epoch(0)));
    town.pass(Span::from_ms(1000));
    assert_eq!(town.ring(), [STORED, again]);
    // And one that was only slow is never taken for a member.
    town.deliver(Message::Alive {
        member: member(1, 1),
        epoch: Epoch(3),
        sent: town.now,
        load: NodeLoad::default(),
    });
    assert!(town.was_reset(1));
}

#[test]
fn a_directory_that_has_forgotten_everything_resets_nodes_that_have_seen_views() {
    for grouping in groupings() {
        let fresh = Directory::grouping(STORED, EXTENT, Timing::default(), grouping);
        let alive = vec![(STORED, Epoch(0)), (member(4, 3), Epoch(77 << 32))];
        let mut town = Town { directory: fresh, now: Time(1), alive, sent: Vec::new() };
        town.pass(Span::from_ms(500));
        assert!(town.was_reset(4) && !town.was_reset(9));
        assert_eq!(town.ring(), [STORED]);
        assert!(town.directory.newest() > Epoch(77 << 32), "views that it takes are newer");
        town.deliver(Message::Join(member(4, 4)));
        assert!(town.directory.views().all(|(view, _)| !view.has(member(4, 3))));
    }
}

/// A memory that is lost for the second time: views had the numbers of the first time again, and
/// a node of that world that was only slow took them for its own.
#[test]
fn a_directory_that_has_forgotten_how_often_it_restored_numbers_its_views_above() {
    let fresh = |node: u32| {
        let founder = member(node, 1);
        let directory = Directory::new(founder, EXTENT, Timing::default());
        directory.restored_less_often_than(u64::from(node)).restored(Time(1), founder)
    };
    let (mut first, mut newest) = (fresh(1), Epoch(0));
    for node in [2, 4, 6, 8] {
        // Every start has another node; a world is restored at each of them at most.
        newest = newest.max(first.restored(Time(2), member(node, 1)).newest());
        first = fresh(node + 1);
        assert!(first.newest() > newest, "{node}");
        newest = first.newest();
    }
}

#[test]
fn what_was_lost_is_not_restored_while_another_group_lives() {
    let mut town = Town::down(2);
    let [_, by_delay] = groupings();
    town.directory = town.directory.regrouped(EXTENT, by_delay);
    // Node 5 waits so long that it gets a group of its own, in which something comes to be.
    town.alive = vec![(member(0, 1), Epoch(9)), (member(1, 1), Epoch(9))];
    town.deliver(Message::Join(member(5, 1)));
    town.alive.push((member(5, 1), Epoch(1)));
    town.pass(Span::from_ms(3000));
    assert!(town.directory.view_of(GroupId(1)).is_some_and(|it| it.has(member(5, 1))));
    town.directory = Directory::load(town.directory.save(), town.now, Timing::default());
    town.alive = vec![(STORED, Epoch(0)), (member(5, 1), town.directory.newest())];
    town.pass(Span::from_ms(8000));
    assert_eq!(town.directory.holders(town.now), Holders::Partly);
    assert_eq!(town.directory.restorations(), 0);
    // Unless the operator says so.
    let restored = town.directory.clone().restored(town.now, STORED);
    assert_eq!(restored.views().count(), 1);
    assert_eq!(restored.view().ring, [STORED]);
}

/// A gateway beside a node that lived on: it would wait for ticks that are long past.
#[test]
fn who_follows_a_world_forgets_what_it_had_when_an_earlier_tick_is_restored() {
    let me = GatewayId { number: 3, life: 1 };
    let mut follower = Follower::new(me, Timing::default());
    let mut follow = |epoch: Epoch, tick: u64| {
        follower.receive(Time(1), Message::View(View { epoch, ..View::first(STORED) }));
        let share = Share {
            epoch,
            tick: Tick(tick),
            from: STORED.node,
            members: 1,
            objects: Vec::new(),
            heard: Vec::new(),
        };
        follower.receive(Time(2), Message::Share(share));
        follower.world().map(|(tick, _)| tick.0)
    };
    assert_eq!(follow(Epoch(5), 100), Some(100));
    assert_eq!(follow(Epoch(6), 90), Some(100));
    assert_eq!(follow(Epoch(6).next_incarnation(), 90), Some(90));
}
