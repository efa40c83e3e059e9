//! Two groups, one node each and far apart, over a network that loses and doubles: each has copies
//! of the other's objects, and what one decides happens in the other once. When they are near to
//! each other they become one.

use jostle_proto::{
    Address, Block, Class, Commit, Directory, GatewayId, GroupId, GroupRules, Grouping, Input,
    Member, Message, Node, NodeId, Object, ObjectId, Objects, Output, PingRule, PollSettings,
    ShapeId, Shapes, Solid, Source, Span, State, Stream, Thresholds, Tick, Time, Timing, advance,
    apply, is_home,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

struct Net {
    now: Time,
    chance: u64,
    directory: Directory,
    nodes: Vec<Node>,
    /// By time and number.
    flying: BTreeMap<(Time, u64), (Address, Message)>,
    number: u64,
    /// Microseconds from one node to the other.
    way: u64,
    published: BTreeMap<GroupId, BTreeMap<u64, Arc<Commit>>>,
}

impl Net {
    fn below(&mut self, end: u64) -> u64 {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.chance >> 33) % end
    }

    fn send(&mut self, to: Address, message: Message, far: bool) {
        // One in ten is lost, one in ten comes twice.
        for copy in 0..2 {
            let luck = self.below(10);
            if copy == 0 && luck == 0 || copy == 1 && luck != 1 {
                continue;
            }
            let later = if far { self.way } else { 1_000 } + self.below(5_000);
            self.number += 1;
            let at = Time(self.now.0 + later);
            self.flying.insert((at, self.number), (to, message.clone()));
        }
    }

    fn work(&mut self, from: Address, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Send(to, message) => {
                    let nodes = matches!((from, to), (Address::Node(_), Address::Node(_)));
                    self.send(to, message, nodes && from != to);
                }
                Output::Event(_) => {}
                Output::Publish(commit) => {
                    let commits = self.published.entry(commit.group).or_default();
                    commits.insert(commit.tick.0, commit);
                }
            }
        }
    }

    /// A millisecond.
    fn pass(&mut self) {
        self.now = self.now + Span::from_ms(1);
        while let Some(next) = self.flying.first_entry().filter(|it| it.key().0 <= self.now) {
            let (to, message) = next.remove();
            let mut out = Vec::new();
            match to {
                Address::Directory => self.directory.receive(self.now, message, &mut out),
                Address::Node(id) => {
                    if let Some(node) = self.nodes.get_mut(id.0 as usize) {
                        node.receive(self.now, message, &mut out);
                    }
                }
                Address::Replica(_)
                | Address::Gateway(_)
                | Address::Gate(_)
                | Address::Client(_) => {}
            }
            self.work(to, out);
        }
        let mut out = Vec::new();
        if self.directory.wake_at() <= self.now {
            self.directory.wake(self.now, &mut out);
        }
        self.work(Address::Directory, out);
        for at in 0..self.nodes.len() {
            let mut out = Vec::new();
            if self.nodes[at].wake_at() <= self.now {
                self.nodes[at].wake(self.now, &mut out);
            }
            self.work(Address::Node(NodeId(at as u32)), out);
        }
    }
}

const RATE: u32 = 30;

const FAR: u64 = 60_000;

fn object(id: u64, class: Class, position: [i32; 3], velocity: [i16; 3]) -> Object {
    let shape = ShapeId(u32::from(class == Class::Immovable));
    let state = State { position, velocity, ..State::default() };
    Object { id: ObjectId(id), class, shape, state }
}

/// A row of boxes along x between two walls; the odd ones are the other group's.
fn row(odd: bool) -> Vec<Object> {
    let dynamic = |id: u64| {
        let velocity = [if id % 4 < 2 { 400 } else { -300 }, 0, 0];
        object(id, Class::Dynamic, [id as i32 * 3000 - 16_500, 0, 0], velocity)
    };
    (1..=10).filter(|id| (id % 2 == 1) == odd).map(dynamic).collect()
}

fn walls() -> Vec<Object> {
    [(101, -24_000), (102, 24_000)]
        .map(|(id, x)| object(id, Class::Immovable, [x, 0, 0], [0; 3]))
        .to_vec()
}

fn town(seed: u64) -> Net {
    let timing = Timing { rate: RATE, ..Timing::default() };
    let thresholds = Thresholds { inclusion: Span::from_ms(40), rejection: Span::from_ms(60) };
    let (polls, patience) = (PollSettings::default(), Span::from_ms(800));
    let grouping = Grouping::ByDelay(GroupRules { thresholds, polls, patience });
    let member = |id| Member { node: NodeId(id), life: 1 };
    let extent = Block { min: [-24_000; 3], max: [24_000; 3] };
    let solid = Solid::cuboid;
    let shapes = Shapes::new(vec![solid([600; 3]), solid([4000; 3])]);
    let world: Vec<Object> = walls().into_iter().chain(row(false)).collect();
    let nodes = vec![
        Node::founder(member(0), shapes.clone(), timing, world),
        Node::new(member(1), shapes, timing),
    ];
    let rule = PingRule {
        interval_min: Span::from_ms(50),
        interval_max: Span::from_ms(150),
        timeout: Span::from_ms(400),
        ..PingRule::default()
    };
    let measuring = |node: Node| node.measuring(rule, walls());
    Net {
        now: Time(0),
        chance: seed,
        directory: Directory::grouping(member(0), extent, timing, grouping),
        nodes: nodes.into_iter().map(measuring).collect(),
        flying: BTreeMap::new(),
        number: 0,
        way: FAR,
        published: BTreeMap::new(),
    }
}

/// A group's ticks played again.
struct Played {
    /// Its last world.
    world: Objects,
    /// What it decided for the other, by tick.
    decided: Vec<(u64, ObjectId, [i16; 3])>,
    /// What the other's word did to its own.
    kicked: Vec<(ObjectId, [i16; 3])>,
    /// How far it has come with the other.
    heard: u64,
}

fn replay(net: &Net, group: u32) -> Played {
    let begin = if group == 0 { [walls(), row(false)].concat() } else { walls() };
    let world = begin.into_iter().collect();
    let mut played = Played { world, decided: Vec::new(), kicked: Vec::new(), heard: 0 };
    for (tick, commit) in net.published[&GroupId(group)].iter().filter(|(tick, _)| **tick > 0) {
        let Played { world, decided, kicked, heard } = &mut played;
        advance(world, Tick(tick - 1), RATE);
        apply(world, commit, |_| true);
        decided.extend(commit.kicks.iter().map(|kick| (*tick, kick.object, kick.kick)));
        for input in &commit.inputs {
            if let Input::Kick(id, kick) = input {
                kicked.push((*id, *kick));
            }
        }
        *heard = commit.heard_of(Source::Group(GroupId(1 - group)));
    }
    played
}

/// So many milliseconds pass, in which the odd ones of the row come into the second group.
fn fill_second(net: &mut Net, milliseconds: u64) {
    let gateway = GatewayId { number: 5, life: 1 };
    let mut stream = Stream::new(Source::Gateway(gateway), 1).to(GroupId(1));
    stream.push(row(true).into_iter().map(Input::Enter).collect());
    for ms in 0..milliseconds {
        net.pass();
        let heard = net.published.get(&GroupId(1)).and_then(|commits| commits.values().last());
        stream.heard(heard.map_or(0, |commit| commit.heard_of(stream.source())));
        if ms % 100 == 0
            && let Some(inputs) = stream.message()
        {
            net.send(Address::Node(NodeId(1)), Message::Inputs(inputs), false);
        }
    }
}

#[test]
fn two_groups_with_objects_that_come_near_to_each_other_are_one_with_all_of_them() {
    let mut passed_on = 0;
    for seed in 1..=3 {
        let mut net = town(seed);
        fill_second(&mut net, 8_000);
        let home = |played: &Played| played.world.values().filter(|it| is_home(it.class)).count();
        assert_eq!([0, 1].map(|group| home(&replay(&net, group))), [5, 5], "seed {seed}");
        net.way = 1_000;
        for _ in 0..12_000 {
            net.pass();
        }
        let views: Vec<_> = net.directory.views().collect();
        assert_eq!(views.len(), 1, "seed {seed}: {views:?}");
        assert!(views[0].1 && views[0].0.ring.len() == 2, "seed {seed}: {views:?}");
        let [one, other] = [replay(&net, 0), replay(&net, 1)];
        assert_eq!((home(&one), home(&other)), (10, 0), "seed {seed}");
        // Both are there, each a backup of the other; and nothing is a copy any more.
        let all = one.world.values().all(|it| is_home(it.class) || it.class == Class::Immovable);
        assert!(all, "seed {seed}");
        passed_on += other.kicked.len();
    }
    assert!(passed_on > 0);
}

#[test]
fn what_one_group_decides_happens_in_the_other_once() {
    let mut kicks = [0, 0];
    for seed in 1..=4 {
        let mut net = town(seed);
        fill_second(&mut net, 14_000);
        let both = [replay(&net, 0), replay(&net, 1)];
        for (at, (mine, theirs)) in
            [(&both[0], &both[1]), (&both[1], &both[0])].into_iter().enumerate()
        {
            let ids = |world: &Objects, wanted: fn(Class) -> bool| -> BTreeSet<ObjectId> {
                world.values().filter(|it| wanted(it.class)).map(|it| it.id).collect()
            };
            let copies = ids(&theirs.world, |class| class.elsewhere().is_some());
            assert_eq!(ids(&mine.world, is_home), copies, "seed {seed}");
            assert_eq!(copies.len(), 5, "seed {seed}");
            // What was decided in the ticks that the other has taken is what it was kicked by.
            let taken = mine.decided.iter().filter(|(tick, _, _)| *tick <= theirs.heard);
            let mut right: Vec<_> = taken.map(|(_, id, kick)| (*id, *kick)).collect();
            let mut found = theirs.kicked.clone();
            right.sort_unstable();
            found.sort_unstable();
            assert_eq!(right, found, "seed {seed}, group {at}");
            kicks[at] += found.len();
        }
    }
    assert!(kicks.iter().all(|count| *count > 3), "{kicks:?}");
}
