//! The same on several nodes, over lines that take no time.

use super::{RATE, World, ball, object, place, state, steer, still, wall};
use jostle_proto::{
    Address, Block, Class, Commit, Directory, FreeRunningNode, GatewayId, Having, Member, Message,
    Node, NodeId, Object, ObjectId, Output, Shapes, Solid, Source, State, Stream, Time, Timing,
    Tuning,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A ball on its way to a wall that is on the border of regions, an avatar on its way to the same
/// wall, and a few that meet in between.
fn objects() -> (Vec<Solid>, Vec<Object>) {
    let flies = |id, at, velocity| object(id, Class::Dynamic, state(at, velocity));
    let objects = vec![
        flies(0, [-3.0, 0.2, 1.0], [5.0, 0.5, -0.25]),
        object(1, Class::Avatar, state([1.5, 0.0, -2.0], [-4.0, 0.0, 0.0])),
        still(2, [0.0; 3]),
        flies(3, [3.0, 0.1, 2.0], [-30.0, 0.0, 0.125]),
        flies(4, [-4.0, -0.1, 1.05], [3.0, 0.25, -0.125]),
    ];
    (vec![ball(0.3), ball(0.4), wall(0.02), ball(0.1), ball(0.25)], objects)
}

fn extent() -> Block {
    Block { min: [-5 * 4096; 3], max: [5 * 4096; 3] }
}

fn timing() -> Timing {
    Timing { rate: RATE, ..Timing::default() }
}

fn member(number: u32) -> Member {
    Member { node: NodeId(number), life: 1 }
}

/// A group in lockstep, and what one machine makes of what it publishes.
struct Lockstep {
    now: Time,
    directory: Directory,
    nodes: BTreeMap<NodeId, Node>,
    queue: VecDeque<(Address, Message)>,
    truth: World,
    /// What the avatar's client says.
    stream: Stream,
    ticks: u64,
}

impl Lockstep {
    fn new(nodes: u32) -> Lockstep {
        let (solids, objects) = objects();
        let shapes = Shapes::new(solids.clone());
        let founder = Node::founder(member(0), shapes.clone(), timing(), objects.clone());
        let others =
            (1..nodes).map(|n| (NodeId(n), Node::new(member(n), shapes.clone(), timing())));
        let gateway = Source::Gateway(GatewayId { number: 1, life: 1 });
        Lockstep {
            now: Time(0),
            directory: Directory::new(member(0), extent(), timing()),
            nodes: others.chain([(NodeId(0), founder)]).collect(),
            queue: VecDeque::new(),
            truth: World::new(solids, &objects),
            stream: Stream::new(gateway, 1),
            ticks: 0,
        }
    }

    fn advance(&mut self) {
        let mut out = Vec::new();
        if let Some((to, message)) = self.queue.pop_front() {
            match to {
                Address::Directory => self.directory.receive(self.now, message, &mut out),
                Address::Node(id) => {
                    self.nodes.get_mut(&id).unwrap().receive(self.now, message, &mut out);
                }
                _ => {}
            }
        } else {
            let wakes = self.nodes.values().map(Node::wake_at).chain([self.directory.wake_at()]);
            self.now = self.now.max(wakes.min().unwrap());
            if self.directory.wake_at() <= self.now {
                self.directory.wake(self.now, &mut out);
            }
            for node in self.nodes.values_mut().filter(|node| node.wake_at() <= self.now) {
                node.wake(self.now, &mut out);
            }
        }
        for output in out {
            match output {
                Output::Send(to, message) => self.queue.push_back((to, message)),
                Output::Publish(commit) => self.published(&commit),
                Output::Event(_) => {}
            }
        }
    }

    fn published(&mut self, commit: &Commit) {
        // A tick that several publish counts once.
        if commit.tick != self.truth.tick.next() {
            return;
        }
        let found = self.truth.step_as(commit);
        assert_eq!(found, commit.touches, "tick {}", commit.tick.0);
        self.ticks += 1;
        // The avatar goes on towards the wall, whatever becomes of it.
        let number = self.stream.push(vec![steer(1, self.ticks, [-4.0, 0.5, 0.0])]);
        if let (Some(leader), Some(inputs)) =
            (self.directory.view().leader(), self.stream.message())
        {
            self.queue.push_back((Address::Node(leader.node), Message::Inputs(inputs)));
        }
        self.stream.heard(number.saturating_sub(8));
    }
}

impl World {
    /// A tick as it was published; what touched.
    fn step_as(&mut self, commit: &Commit) -> Vec<jostle_proto::Touch> {
        jostle_proto::advance(&mut self.objects, self.tick, RATE);
        self.tick = self.tick.next();
        let found = self.detector.touches(self.objects.as_slice());
        jostle_proto::apply(&mut self.objects, commit, |_| true);
        found
    }
}

/// Both balls that flew at the wall are on the side that they came from, and so is the avatar.
fn judge(of: impl Fn(u64) -> State, what: &str) {
    let x = |id: u64| place(&of(id)).x;
    assert!(x(0) < -0.3 && of(0).velocity[0] < 0, "{what}: the ball is at {}", x(0));
    assert!(x(3) > 0.1 && of(3).velocity[0] > 0, "{what}: the fast ball is at {}", x(3));
    assert!((0.4..0.45).contains(&x(1)), "{what}: the avatar is at {}", x(1));
}

#[test]
fn any_number_of_nodes_in_lockstep_bounces_alike() {
    let mut ends = Vec::new();
    for nodes in [1, 2, 4, 8] {
        let mut group = Lockstep::new(nodes);
        while group.ticks < 90 {
            group.advance();
        }
        assert_eq!(group.directory.view().ring.len(), nodes as usize, "they came together");
        judge(|id| group.truth.state(id), &format!("{nodes} nodes"));
        ends.push([0, 3, 4].map(|id| group.truth.state(id)));
    }
    assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "{ends:?}");
}

/// A group whose nodes run freely.
struct Free {
    now: Time,
    directory: Directory,
    nodes: BTreeMap<NodeId, FreeRunningNode>,
    queue: VecDeque<(Address, Message)>,
}

impl Free {
    fn new(nodes: u32) -> Free {
        let (solids, objects) = objects();
        let shapes = Shapes::new(solids);
        let still = objects.iter().filter(|object| object.class == Class::Immovable);
        let still: Arc<Vec<Object>> = Arc::new(still.copied().collect());
        let tuning = Tuning { timing: timing(), ..Tuning::default() };
        let node = |number: u32| {
            let node = FreeRunningNode::new(member(number), shapes.clone(), still.clone(), tuning);
            let node = if number == 0 { node.founding(objects.clone()) } else { node };
            (NodeId(number), node)
        };
        Free {
            now: Time(0),
            directory: Directory::new(member(0), extent(), timing()),
            nodes: (0..nodes).map(node).collect(),
            queue: VecDeque::new(),
        }
    }

    fn run(&mut self, ms: u64) {
        let end = self.now.0 + ms * 1000;
        while self.now.0 < end {
            let mut out = Vec::new();
            if let Some((to, message)) = self.queue.pop_front() {
                match to {
                    Address::Directory => self.directory.receive(self.now, message, &mut out),
                    Address::Node(id) => {
                        self.nodes.get_mut(&id).unwrap().receive(self.now, message, &mut out);
                    }
                    _ => {}
                }
            } else {
                let wakes = self.nodes.values().map(FreeRunningNode::wake_at);
                self.now = self.now.max(wakes.chain([self.directory.wake_at()]).min().unwrap());
                if self.directory.wake_at() <= self.now {
                    self.directory.wake(self.now, &mut out);
                }
                for node in self.nodes.values_mut().filter(|node| node.wake_at() <= self.now) {
                    node.wake(self.now, &mut out);
                }
            }
            let sent = out.into_iter().filter_map(|output| match output {
                Output::Send(to, message) => Some((to, message)),
                _ => None,
            });
            self.queue.extend(sent);
        }
    }

    fn state(&self, id: u64) -> State {
        let records = self.nodes.values().flat_map(FreeRunningNode::holds);
        let mut held = records
            .filter(|(having, record)| *having == Having::Held && record.object.id == ObjectId(id));
        held.next().unwrap().1.object.state
    }
}

#[test]
fn any_number_of_nodes_that_run_freely_bounces() {
    for nodes in [1, 2, 4, 8] {
        let mut group = Free::new(nodes);
        group.run(3000);
        assert_eq!(group.directory.view().ring.len(), nodes as usize, "they came together");
        judge(|id| group.state(id), &format!("{nodes} nodes"));
    }
}
