//! Clients, a gateway, a node and the directory on lines that always take the same time; every
//! message goes as bytes. Prediction, reconciliation, interest, floods.

use jostle_proto::client::{Report, StateUpdate};
use jostle_proto::{
    Address, Allowance, Block, Class, Client, ClientId, ClientInput, ClientMessage, ClientSettings,
    Directory, Gateway, GatewayId, GatewayMessage, GatewaySettings, Interest, Member, Message,
    Node, NodeId, Object, ObjectId, Objects, Output, ShapeId, Shapes, Solid, Span, State, Tick,
    Time, Timing, advance, apply,
};
use std::collections::BTreeMap;

const METRE: i32 = 4096;
const RATE: u32 = 30;

/// All machines.
struct Net {
    now: Time,
    directory: Directory,
    node: Node,
    gateway: Gateway,
    client: Client,
    /// Between client and gateway, one way, in microseconds.
    way: u64,
    queue: BTreeMap<(Time, u64), (Address, Address, Message)>,
    sent: u64,
    world: Objects,
    tick: Tick,
    /// The newest ones.
    worlds: BTreeMap<Tick, Objects>,
    /// The avatar after each tick.
    truth: BTreeMap<Tick, State>,
    updates: u64,
    bytes: u64,
}

fn shapes() -> Shapes {
    let solid = Solid::cuboid;
    let ball = METRE / 4;
    Shapes::new(vec![solid([ball; 3]), solid([METRE / 2, 20 * METRE, 20 * METRE])])
}

fn settings() -> GatewaySettings {
    GatewaySettings {
        places: Block { min: [0; 3], max: [0; 3] },
        hellos: Allowance { per_second: 10, most: 10 },
        ..GatewaySettings::default()
    }
}

impl Net {
    fn new(objects: Vec<Object>, settings: GatewaySettings, way: u64) -> Net {
        let member = Member { node: NodeId(0), life: 1 };
        let extent = Block { min: [-100 * METRE; 3], max: [100 * METRE; 3] };
        let timing = Timing { rate: RATE, ..Timing::default() };
        let id = ClientId { host: 1, connection: 0 };
        let gate = GatewayId { number: 0, life: 1 };
        let world = objects.iter().copied().collect();
        Net {
            now: Time(0),
            directory: Directory::new(member, extent, timing),
            node: Node::founder(member, shapes(), timing, objects),
            gateway: Gateway::new(gate, shapes(), timing, settings),
            client: Client::new(id, vec![0], shapes(), ClientSettings::default()),
            way,
            queue: BTreeMap::new(),
            sent: 0,
            world,
            tick: Tick(0),
            worlds: BTreeMap::new(),
            truth: BTreeMap::new(),
            updates: 0,
            bytes: 0,
        }
    }

    fn send(&mut self, from: Address, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Event(_) => {}
                Output::Publish(commit) => {
                    if commit.tick == self.tick.next() {
                        advance(&mut self.world, self.tick, RATE);
                        apply(&mut self.world, &commit, |_| true);
                        self.tick = commit.tick;
                        self.worlds.insert(self.tick, self.world.clone());
                        if self.worlds.len() > 32 {
                            self.worlds.pop_first();
                        }
                        let own = self.client.avatar().and_then(|avatar| self.world.get(&avatar));
                        if let Some(own) = own {
                            self.truth.insert(self.tick, own.state);
                        }
                    }
                }
                Output::Send(to, message) => {
                    let far = matches!(message, Message::FromClient(_) | Message::ToClient(_));
                    let message = self.through_bytes(message);
                    self.sent += 1;
                    let at = Time(self.now.0 + if far { self.way } else { 1000 });
                    self.queue.insert((at, self.sent), (from, to, message));
                }
            }
        }
    }

    /// Messages are bytes on their way, within their caps.
    fn through_bytes(&mut self, message: Message) -> Message {
        match message {
            Message::FromClient(message) => {
                let frame = message.write().unwrap();
                assert!(frame.len() as u64 <= message.cost(), "{message:?}");
                Message::FromClient(ClientMessage::read(&frame).unwrap())
            }
            Message::ToClient(message) => {
                let frame = message.write().unwrap();
                if matches!(message, GatewayMessage::StateUpdate(_)) {
                    self.updates += 1;
                    self.bytes += frame.len() as u64;
                }
                Message::ToClient(GatewayMessage::read(&frame).unwrap())
            }
            other => other,
        }
    }

    /// Handles the next event; true if the client received a message.
    fn step(&mut self) -> bool {
        let wakes = [
            self.directory.wake_at(),
            self.node.wake_at(),
            self.gateway.wake_at(),
            self.client.wake_at(),
        ];
        let wake = wakes.into_iter().min().unwrap().max(self.now);
        let mut out = Vec::new();
        if let Some((&(at, number), _)) = self.queue.first_key_value()
            && at <= wake
        {
            self.now = at;
            let (from, to, message) = self.queue.remove(&(at, number)).unwrap();
            match (to, message) {
                (Address::Directory, message) => {
                    self.directory.receive(at, message, &mut out);
                    self.send(Address::Directory, out);
                }
                (Address::Node(id), message) => {
                    self.node.receive(at, message, &mut out);
                    self.send(Address::Node(id), out);
                }
                (Address::Client(id), Message::ToClient(message)) => {
                    let update = matches!(message, GatewayMessage::StateUpdate(_));
                    self.client.receive(at, from, message, &mut out);
                    self.send(Address::Client(id), out);
                    return update;
                }
                (_, message) => {
                    self.gateway.receive(at, from, message, &mut out);
                    self.send(Address::Gate(0), out);
                }
            }
            return false;
        }
        self.now = wake;
        self.wake_all();
        false
    }

    fn wake_all(&mut self) {
        let now = self.now;
        let mut out = Vec::new();
        self.directory.wake(now, &mut out);
        self.send(Address::Directory, std::mem::take(&mut out));
        if now >= self.node.wake_at() {
            self.node.wake(now, &mut out);
            self.send(Address::Node(NodeId(0)), std::mem::take(&mut out));
        }
        if now >= self.gateway.wake_at() {
            self.gateway.wake(now, &mut out);
            self.send(Address::Gate(0), std::mem::take(&mut out));
        }
        self.client.wake(now, &mut out);
        self.send(Address::Client(self.client.id()), out);
    }

    /// Goes on until the client has received a new tick.
    fn until_update(&mut self) {
        for _ in 0..100_000 {
            if self.step() {
                return;
            }
        }
        panic!("no state update comes, {:?}", self.now);
    }

    fn steer(&mut self, velocity: [i16; 3]) {
        self.client.steer(self.now, velocity, [0, 100, 0]);
        self.wake_all();
    }
}

fn ball(id: u64, place: [i32; 3], velocity: [i16; 3]) -> Object {
    let state = State { position: place, velocity, ..State::default() };
    Object { id: ObjectId(id), class: Class::Dynamic, shape: ShapeId(0), state }
}

#[test]
fn without_collisions_the_prediction_is_what_the_world_will_be() {
    for way in [1000, 20_000, 45_000, 120_000] {
        let mut net = Net::new(Vec::new(), settings(), way);
        let mut expected = Vec::new();
        for round in 0..200i16 {
            net.until_update();
            if round % 5 == 0 {
                net.steer([round * 7 - 500, 300 - round, round % 3 * 100]);
            }
            let (now, client) = (net.now, &net.client);
            let received = client.own_received().map(|(tick, _)| tick);
            if round > 60 {
                expected.push((received, client.present(now).unwrap(), client.own(now).unwrap()));
            }
        }
        for _ in 0..60 {
            net.until_update();
        }
        let mut ahead = 0;
        for (received, tick, state) in expected {
            ahead = ahead.max(tick.0 - received.unwrap().0);
            assert_eq!(net.truth.get(&tick), Some(&state), "way {way}, tick {tick:?}");
        }
        println!("{way} us one way: predicted up to {ahead} ticks ahead, all right");
        assert!(ahead > 0);
    }
}

#[test]
fn after_running_into_a_wall_the_client_stands_where_the_world_has_it() {
    let place = [4 * METRE, 0, 0];
    let state = State { position: place, ..State::default() };
    let wall = Object { id: ObjectId(1), class: Class::Immovable, shape: ShapeId(1), state };
    let mut net = Net::new(vec![wall], settings(), 60_000);
    for _ in 0..30 {
        net.until_update();
    }
    net.steer([1500, 0, 0]);
    let mut wrong = 0.0f64;
    for _ in 0..60 {
        net.until_update();
        let shown = net.client.own_shown(net.now).unwrap();
        let right = f64::from(net.client.own(net.now).unwrap().position[0]) / f64::from(METRE);
        wrong = wrong.max((shown.position.x - right).abs());
    }
    assert!(net.client.corrections() > 0);
    let own = net.client.own(net.now).unwrap();
    assert_eq!(own.velocity, [0; 3]);
    let right = net.truth.values().next_back().map(|state| state.position);
    assert_eq!(Some(own.position), right);
    // It was seen to go on and then led back, not thrown.
    assert!(wrong > 0.1, "{wrong}");
    let shown = net.client.own_shown(net.now).unwrap();
    assert!((shown.position.x - f64::from(own.position[0]) / f64::from(METRE)).abs() < 1e-3);
    // It was set back to where it met the wall, so the contact began and ended.
    let avatar = net.client.avatar().unwrap();
    assert_eq!(net.client.contacts().count(), 0);
    let changes = net.client.take_contacts();
    let changes: Vec<_> = changes.iter().map(|it| (it.a, it.b, it.begins)).collect();
    assert_eq!(changes, [(ObjectId(1), avatar, true), (ObjectId(1), avatar, false)]);
    net.steer([-1500, 0, 0]);
    for _ in 0..30 {
        net.until_update();
    }
    assert_eq!(net.client.take_contacts(), []);
}

/// 400 things in a cube of 120 metres, most of them far away.
fn spread() -> Vec<Object> {
    let mut bits = 1u64;
    let mut next = move || {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (bits >> 33) as i32
    };
    (1..=400)
        .map(|id| {
            let place = [(); 3].map(|()| (next() % (120 * METRE)) - 60 * METRE);
            let velocity = [(); 3].map(|()| (next() % 600 - 300) as i16);
            ball(id, place, velocity)
        })
        .collect()
}

fn bytes_per_update(settings: GatewaySettings) -> (f64, Net) {
    let mut net = Net::new(spread(), settings, 20_000);
    for _ in 0..20 {
        net.until_update();
    }
    let before = (net.bytes, net.updates);
    for round in 0..120i16 {
        net.until_update();
        if round % 20 == 0 {
            net.steer([600, round * 5, 0]);
        }
    }
    ((net.bytes - before.0) as f64 / (net.updates - before.1) as f64, net)
}

#[test]
fn interest_sends_the_near_and_saves_bytes() {
    let all = GatewaySettings { interest: Interest::Everyone, near: 1000, ..settings() };
    let reach = 15.0;
    let auras = GatewaySettings { interest: Interest::Auras { reach }, ..settings() };
    let regions = GatewaySettings { interest: Interest::Regions { size: 15.0 }, ..settings() };
    let (everyone, _) = bytes_per_update(all);
    let (by_regions, _) = bytes_per_update(regions);
    let (by_auras, mut net) = bytes_per_update(auras);
    println!(
        "bytes per state update, 400 objects: everyone {everyone:.0} (cut at 1200), regions \
         {by_regions:.0}, auras {by_auras:.0}"
    );
    assert!(by_auras < everyone && by_regions < everyone);
    for _ in 0..60 {
        net.until_update();
        let seen = net.client.sees().unwrap().clone();
        let own = seen.get(net.client.avatar().unwrap()).unwrap().state.position;
        let near = |object: &&Object| {
            let away = [0, 1, 2].map(|a: usize| f64::from(object.state.position[a] - own[a]));
            away.iter().map(|along| along * along).sum::<f64>().sqrt() < reach * f64::from(METRE)
        };
        let there = net.worlds[&seen.tick()].values().filter(near);
        let there: Vec<ObjectId> = there.map(|object| object.id).collect();
        assert!(there.len() > 1);
        for id in there {
            assert!(seen.get(id).is_some(), "object {} is near and not sent", id.0);
        }
    }
}

#[test]
fn a_client_that_reports_seldom_gets_updates_seldom_and_others_miss_nothing() {
    let received = |client: ClientSettings| {
        let mut net = Net::new(spread(), GatewaySettings { unheard: 6, ..settings() }, 20_000);
        net.client = Client::new(net.client.id(), vec![0], shapes(), client);
        net.until_update();
        let (updates, tick) = (net.updates, net.tick);
        while net.tick.0 < tick.0 + 300 {
            net.step();
        }
        assert!(net.client.is_active());
        net.updates - updates
    };
    let often = ClientSettings::default();
    let seldom = ClientSettings { close: Span::from_ms(1000), apart: Span::from_ms(1000), ..often };
    let (often, seldom) = (received(often), received(seldom));
    assert!((299..=301).contains(&often), "{often} of 300");
    let seconds = 300 / u64::from(RATE);
    assert!((6 * seconds - 6..=6 * seconds + 12).contains(&seldom), "{seldom} of 300");
}

#[test]
fn with_little_room_the_near_are_sent_often_and_the_far_in_time() {
    let interest = Interest::Everyone;
    let few = GatewaySettings { interest, budget: 400, near: 4, ..settings() };
    let mut net = Net::new(spread(), few, 20_000);
    let mut received: BTreeMap<ObjectId, u32> = BTreeMap::new();
    for _ in 0..240 {
        net.until_update();
        for (id, _) in net.client.sees_far() {
            *received.entry(*id).or_default() += 1;
        }
        for object in net.client.sees().unwrap().objects() {
            *received.entry(object.id).or_default() += 1;
        }
    }
    let own = net.client.own(net.now).unwrap().position;
    let far = |object: &Object| {
        (0..3).map(|a| i64::from(object.state.position[a] - own[a]).pow(2)).sum::<i64>()
    };
    let mut order: Vec<&Object> = net.world.values().collect();
    order.sort_by_key(|object| far(object));
    let counts: Vec<u32> =
        order.iter().map(|object| received.get(&object.id).copied().unwrap_or(0)).collect();
    let mean = |part: &[u32]| part.iter().sum::<u32>() as f64 / part.len() as f64;
    let (near, end) = (mean(&counts[1..20]), mean(&counts[380..]));
    println!("in 240 state updates: the nearest sent {near:.1} times, the farthest {end:.1} times");
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
    assert!(near > 3.0 * end);
}

#[test]
fn a_flood_costs_little_and_its_sender_its_place() {
    let mut net = Net::new(Vec::new(), settings(), 1000);
    for _ in 0..10 {
        net.until_update();
    }
    let id = net.client.id();
    let avatar = net.client.avatar().unwrap();
    let mut answers = 0;
    for number in 0..100_000u64 {
        let want =
            ClientInput { avatar, number: 1 << 40 | number, velocity: [30_000; 3], spin: [0; 3] };
        let report = Report { attempt: net.client.attempt(), ack: None, want: Some(want) };
        let mut out = Vec::new();
        let message = Message::FromClient(ClientMessage::Report(report));
        net.gateway.receive(net.now, Address::Client(id), message, &mut out);
        answers += out.len();
        for (what, count, most) in net.gateway.holdings() {
            assert!(count <= most, "{what}: {count} > {most}");
        }
    }
    assert!(answers < 200, "{answers}");
    assert_eq!(net.gateway.counters().kicked, 1);
}

#[test]
fn any_bytes_are_a_message_or_an_error() {
    let update = StateUpdate {
        attempt: 3,
        tick: Tick(9),
        dilation: 1000,
        base: Some(Tick(8)),
        near: vec![1, 2, 3],
        far: vec![4],
        kinds: vec![(Class::Avatar, ShapeId(2))],
        followed: 7,
        followed_at: Tick(8),
        contacts: Vec::new(),
    };
    let messages = [
        GatewayMessage::StateUpdate(update).write().unwrap(),
        ClientMessage::Bye { attempt: 1 }.write().unwrap(),
        ClientMessage::Report(Report { attempt: 1, ack: None, want: None }).write().unwrap(),
    ];
    let mut bits = 7u64;
    let (mut taken, mut refused) = (0, 0);
    for round in 0..200_000usize {
        let mut frame = messages[round % messages.len()].clone();
        for _ in 0..round % 3 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            let at = (bits >> 40) as usize % frame.len();
            frame[at] = (bits >> 32) as u8;
        }
        let known = ClientMessage::read(&frame).is_ok() || GatewayMessage::read(&frame).is_ok();
        if known { taken += 1 } else { refused += 1 }
    }
    assert!(taken > 1000 && refused > 1000, "{taken} {refused}");
}
