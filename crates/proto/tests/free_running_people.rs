//! Clients of a free-running world: three nodes, two gateways and two clients on lines that always
//! take a millisecond, unless a test loses messages or ends a process.

use jostle_proto::{
    Address, Block, Class, Client, ClientId, ClientSettings, Directory, FreeRunningMessage,
    FreeRunningNode, Gateway, GatewayId, GatewaySettings, Having, Member, Message, NodeId, Object,
    ObjectId, Output, Record, ShapeId, Shapes, Solid, State, Time, Timing, Tuning,
};
use std::collections::BTreeMap;
use std::sync::Arc;

const METRE: i32 = 4096;
const NODES: u32 = 3;

enum Role {
    Directory(Box<Directory>),
    Node(Box<FreeRunningNode>),
    Gateway(Box<Gateway>),
    Client(Box<Client>),
}

/// Does this get lost?
type Loses = fn(Address, Address, &Message) -> bool;

struct Net {
    now: Time,
    roles: BTreeMap<Address, Role>,
    queue: BTreeMap<(Time, u64), (Address, Address, Message)>,
    sent: u64,
    loses: Loses,
    /// Every message that was sent.
    log: Vec<(Address, Address, Message)>,
}

fn shapes() -> Shapes {
    let solid = Solid::cuboid;
    Shapes::new(vec![solid([METRE / 4; 3]), solid([METRE / 2, 20 * METRE, 20 * METRE])])
}

/// Walls at ten metres to either side.
fn static_objects() -> Vec<Object> {
    let wall = |id: u64, x: i32| {
        let state = State { position: [x * METRE, 0, 0], ..State::default() };
        Object { id: ObjectId(id), class: Class::Immovable, shape: ShapeId(1), state }
    };
    vec![wall(1, -10), wall(2, 10)]
}

fn client_id(host: u32) -> ClientId {
    ClientId { host, connection: 0 }
}

fn place_of(address: Address) -> Address {
    match address {
        Address::Gateway(id) => Address::Gate(id.number),
        other => other,
    }
}

impl Net {
    fn new() -> Net {
        let timing = Timing { rate: 30, ..Timing::default() };
        let tuning = Tuning { timing, largest: METRE, ..Tuning::default() };
        let extent = Block { min: [-16 * METRE; 3], max: [16 * METRE; 3] };
        let founder = Member { node: NodeId(0), life: 1 };
        let mut roles = BTreeMap::new();
        let directory = Directory::new(founder, extent, timing);
        roles.insert(Address::Directory, Role::Directory(Box::new(directory)));
        let still = Arc::new(static_objects());
        for number in 0..NODES {
            let me = Member { node: NodeId(number), life: 1 };
            let node = FreeRunningNode::new(me, shapes(), still.clone(), tuning);
            let node = if number == 0 { node.founding([]) } else { node };
            roles.insert(Address::Node(me.node), Role::Node(Box::new(node)));
        }
        for number in 0..2 {
            let settings = GatewaySettings {
                places: Block { min: [-METRE; 3], max: [METRE; 3] },
                ..GatewaySettings::default()
            };
            let id = GatewayId { number, life: 1 };
            let gateway = Gateway::new(id, shapes(), timing, settings);
            let gateway = gateway.free_running(&static_objects());
            roles.insert(Address::Gate(number), Role::Gateway(Box::new(gateway)));
            let id = client_id(number);
            let client = Client::new(id, vec![number], shapes(), ClientSettings::default());
            roles.insert(Address::Client(id), Role::Client(Box::new(client)));
        }
        let (queue, log) = (BTreeMap::new(), Vec::new());
        Net { now: Time(0), roles, queue, sent: 0, loses: |_, _, _| false, log }
    }

    fn send(&mut self, from: Address, out: Vec<Output>) {
        for output in out {
            let Output::Send(to, message) = output else { continue };
            self.log.push((from, to, message.clone()));
            if !(self.loses)(from, place_of(to), &message) {
                self.post(from, to, message);
            }
        }
    }

    fn post(&mut self, from: Address, to: Address, message: Message) {
        self.sent += 1;
        let key = (Time(self.now.0 + 1000), self.sent);
        self.queue.insert(key, (from, place_of(to), message));
    }

    fn step(&mut self) {
        let wake = self.roles.iter().map(|(who, role)| (wake_at(role), *who)).min().unwrap();
        let mut out = Vec::new();
        if let Some((&key, _)) = self.queue.first_key_value()
            && key.0 <= wake.0
        {
            self.now = self.now.max(key.0);
            let (from, to, message) = self.queue.remove(&key).unwrap();
            match (self.roles.get_mut(&to), message) {
                (Some(Role::Directory(it)), message) => it.receive(self.now, message, &mut out),
                (Some(Role::Node(it)), message) => it.receive(self.now, message, &mut out),
                (Some(Role::Gateway(it)), message) => {
                    it.receive(self.now, from, message, &mut out);
                }
                (Some(Role::Client(it)), Message::ToClient(message)) => {
                    it.receive(self.now, from, message, &mut out);
                }
                _ => {}
            }
            return self.send(to, out);
        }
        self.now = self.now.max(wake.0);
        match self.roles.get_mut(&wake.1).unwrap() {
            Role::Directory(it) => it.wake(self.now, &mut out),
            Role::Node(it) => it.wake(self.now, &mut out),
            Role::Gateway(it) => it.wake(self.now, &mut out),
            Role::Client(it) => it.wake(self.now, &mut out),
        }
        self.send(wake.1, out);
    }

    fn run(&mut self, ms: u64) {
        let end = self.now.0 + ms * 1000;
        while self.now.0 < end {
            self.step();
        }
    }

    fn until(&mut self, what: &str, done: impl Fn(&Net) -> bool) {
        let end = self.now.0 + 20_000_000;
        while !done(self) {
            assert!(self.now.0 < end, "{what} does not come about");
            self.step();
        }
    }

    fn client(&self, host: u32) -> &Client {
        match &self.roles[&Address::Client(client_id(host))] {
            Role::Client(client) => client,
            _ => panic!("no client"),
        }
    }

    fn steer(&mut self, host: u32, velocity: [i16; 3]) {
        let now = self.now;
        match self.roles.get_mut(&Address::Client(client_id(host))) {
            Some(Role::Client(client)) => client.steer(now, velocity, [0; 3]),
            _ => panic!("no client"),
        }
    }

    fn bye(&mut self, host: u32) {
        let mut out = Vec::new();
        let who = Address::Client(client_id(host));
        match self.roles.get_mut(&who) {
            Some(Role::Client(client)) => client.bye(&mut out),
            _ => panic!("no client"),
        }
        self.send(who, out);
    }

    /// Who has an object, and how.
    fn copies(&self, id: ObjectId) -> Vec<(NodeId, Having, &Record)> {
        let nodes = self.roles.values().filter_map(|role| match role {
            Role::Node(node) => Some(node),
            _ => None,
        });
        let all = nodes.flat_map(|node| node.holds().map(|it| (node.member().node, it)));
        let of = all.filter(|(_, (_, record))| record.object.id == id);
        of.map(|(node, (having, record))| (node, having, record)).collect()
    }

    fn holder(&self, id: ObjectId) -> Option<(NodeId, &Record)> {
        let copies = self.copies(id).into_iter();
        let held = copies.filter(|(_, having, _)| *having == Having::Held);
        held.max_by_key(|(_, _, record)| record.token).map(|(node, _, record)| (node, record))
    }

    /// A client that is in, and its avatar.
    fn let_in(&mut self, host: u32) -> ObjectId {
        self.until("a client is in", |net| net.client(host).is_active());
        self.client(host).avatar().unwrap()
    }

    /// All nodes have their parts.
    fn settle(&mut self) {
        self.until("all nodes are in", |net| {
            net.roles.values().all(|role| match role {
                Role::Node(node) => {
                    node.settled_in().is_some_and(|view| view.ring.len() == NODES as usize)
                }
                _ => true,
            })
        });
    }
}

fn wake_at(role: &Role) -> Time {
    match role {
        Role::Directory(it) => it.wake_at(),
        Role::Node(it) => it.wake_at(),
        Role::Gateway(it) => it.wake_at(),
        Role::Client(it) => it.wake_at(),
    }
}

#[test]
fn an_avatar_is_steered_seen_by_another_and_stops_at_a_wall() {
    let mut net = Net::new();
    net.settle();
    let (mine, _) = (net.let_in(0), net.let_in(1));
    let first = net.holder(mine).unwrap().0;
    // Four metres per second to a wall whose face is at nine and a half.
    net.steer(0, [1024, 0, 0]);
    net.until("another node holds it", |net| net.holder(mine).is_some_and(|it| it.0 != first));
    let steered = net.client(1).sees().and_then(|seen| seen.get(mine)).unwrap();
    assert!(steered.state.velocity[0] > 0, "{steered:?}");
    net.run(4000);
    let record = net.holder(mine).unwrap().1;
    let face = METRE * 19 / 2 - METRE / 4;
    assert_eq!(record.object.state.velocity, [0; 3]);
    assert!((record.object.state.position[0] - face).abs() < METRE / 4, "{record:?}");
    assert_eq!(net.client(0).own(net.now), Some(record.object.state));
    let seen = net.client(1).sees().and_then(|seen| seen.get(mine)).unwrap();
    assert_eq!(seen.state, record.object.state);
    // It was set back to where it met the wall, so the contact began and ended.
    let Some(Role::Client(other)) = net.roles.get_mut(&Address::Client(client_id(1))) else {
        panic!("no client")
    };
    let changes = other.take_contacts();
    let wall = changes.iter().filter(|it| (it.a, it.b) == (ObjectId(2), mine));
    let wall: Vec<bool> = wall.map(|it| it.begins).collect();
    assert_eq!(wall, [true, false], "{changes:?}");
}

#[test]
fn an_avatar_survives_whoever_holds_it() {
    let mut net = Net::new();
    net.settle();
    let mine = net.let_in(0);
    net.steer(0, [256, 0, 0]);
    net.run(500);
    let (holder, record) = net.holder(mine).unwrap();
    let before = record.object.state.position[0];
    net.roles.remove(&Address::Node(holder));
    net.until("another has it", |net| net.holder(mine).is_some());
    net.steer(0, [0, 256, 0]);
    net.run(1000);
    let record = net.holder(mine).unwrap().1;
    assert!(record.object.state.position[0] >= before);
    assert!(record.object.state.velocity[1] > 0, "it is steered still: {record:?}");
    assert_eq!(net.client(0).avatar(), Some(mine));
}

#[test]
fn who_is_silent_is_absent_and_comes_back_elsewhere() {
    let mut net = Net::new();
    net.settle();
    let mine = net.let_in(0);
    let credential = net.client(0).credential();
    net.roles.remove(&Address::Client(client_id(0)));
    net.until("it is absent", |net| {
        net.holder(mine).is_some_and(|(_, record)| record.object.class == Class::Absent)
    });
    let id = client_id(7);
    let client = Client::new(id, vec![1], shapes(), ClientSettings::default());
    let client = client.with_credential(credential);
    net.roles.insert(Address::Client(id), Role::Client(Box::new(client)));
    assert_eq!(net.let_in(7), mine);
    net.until("it is there again", |net| {
        net.holder(mine).is_some_and(|(_, record)| record.object.class == Class::Avatar)
    });
}

#[test]
fn a_removed_avatar_does_not_enter_again_by_an_old_message() {
    let mut net = Net::new();
    net.settle();
    let mine = net.let_in(0);
    let enters =
        |message: &Message| matches!(message, Message::FreeRunning(FreeRunningMessage::Enter(_)));
    let old = net.log.iter().find(|(_, _, message)| enters(message)).cloned().unwrap();
    // Twice while it is there, and once when it is gone.
    net.post(old.0, old.1, old.2.clone());
    net.run(500);
    assert_eq!(net.copies(mine).len(), 1);
    net.bye(0);
    net.until("it is forgotten", |net| net.copies(mine).is_empty());
    net.post(old.0, old.1, old.2);
    net.run(500);
    assert!(net.copies(mine).is_empty());
}

#[test]
fn a_client_whose_gateway_dies_before_it_is_in_comes_in_under_another_name() {
    let mut net = Net::new();
    net.settle();
    net.loses = |from, _, message| {
        from == Address::Gate(0)
            && matches!(message, Message::FreeRunning(FreeRunningMessage::Enter(_)))
    };
    let asks = |from: &Address, message: &Message| match message {
        Message::FreeRunning(FreeRunningMessage::Enter(entry)) if *from == Address::Gate(0) => {
            entry.objects.first().map(|object| (entry.to.node, object.id))
        }
        _ => None,
    };
    let asked = |net: &Net| net.log.iter().find_map(|(from, _, message)| asks(from, message));
    net.until("it is asked for", |net| asked(net).is_some());
    let (first_gateway, first) = asked(&net).unwrap();
    net.run(500);
    assert!(!net.client(0).is_active());
    net.roles.remove(&Address::Node(first_gateway));
    net.loses = |_, _, _| false;
    let mine = net.let_in(0);
    assert_ne!(mine, first);
    net.run(1000);
    assert!(net.copies(first).is_empty());
}

/// An avatar that has gone from one node to the next, whose answers to hand-overs are all lost: so
/// the one that had it before keeps it in escrow.
fn handed_over_in_vain() -> (Net, ObjectId, NodeId, NodeId) {
    let mut net = Net::new();
    net.settle();
    let mine = net.let_in(0);
    let first = net.holder(mine).unwrap().0;
    net.loses = |_, _, message| {
        matches!(message, Message::FreeRunning(FreeRunningMessage::TransferAck { .. }))
    };
    net.steer(0, [1024, 0, 0]);
    net.until("another node holds it", |net| net.holder(mine).is_some_and(|it| it.0 != first));
    let second = net.holder(mine).unwrap().0;
    net.steer(0, [0; 3]);
    net.run(300);
    assert_eq!(net.copies(mine).len(), 2);
    net.bye(0);
    net.until("it is over", |net| net.holder(mine).is_some_and(|(_, record)| record.over));
    (net, mine, first, second)
}

#[test]
fn who_was_removed_is_remembered_as_long_as_somebody_has_an_older_copy() {
    let (mut net, mine, first, second) = handed_over_in_vain();
    net.run(2000);
    let copies = net.copies(mine);
    assert!(copies.iter().any(|(node, _, record)| *node == first && !record.over));
    assert!(copies.iter().any(|(node, _, record)| *node == second && record.over));
    net.loses = |_, _, _| false;
    net.until("no node has it", |net| net.copies(mine).is_empty());
}

#[test]
fn who_was_removed_does_not_come_back_from_an_older_copy() {
    let (mut net, mine, _, second) = handed_over_in_vain();
    net.run(200);
    net.roles.remove(&Address::Node(second));
    net.loses = |_, _, _| false;
    net.until("the others go on without it", |net| {
        net.roles.values().all(|role| match role {
            Role::Node(node) => node.settled_in().is_some_and(|view| view.ring.len() == 2),
            _ => true,
        })
    });
    net.run(500);
    assert!(net.copies(mine).is_empty());
}

#[test]
fn what_the_backup_does_not_have_is_not_shown() {
    let mut net = Net::new();
    net.settle();
    let mine = net.let_in(0);
    net.run(300);
    net.loses =
        |_, _, message| matches!(message, Message::FreeRunning(FreeRunningMessage::Backup(_)));
    let before = net.log.len();
    let heard = net.holder(mine).unwrap().1.heard;
    net.steer(0, [512, 0, 0]);
    net.until("the input is followed", |net| net.holder(mine).unwrap().1.heard > heard);
    net.run(300);
    let shown = |log: &[(Address, Address, Message)]| {
        let sights = log.iter().filter_map(|(_, _, message)| match message {
            Message::FreeRunning(FreeRunningMessage::Shown(shown)) => Some(shown),
            _ => None,
        });
        let sights = sights.flat_map(|shown| shown.sights.clone());
        sights.filter(|it| it.ghost.object.id == mine).map(|it| it.heard).max()
    };
    assert!(shown(&net.log[before..]).is_none_or(|shown| shown == heard));
    net.loses = |_, _, _| false;
    net.run(300);
    assert!(shown(&net.log[before..]) > Some(heard));
}
