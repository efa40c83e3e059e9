//! A world of two groups, far apart: the page shows the home group of each object.

use super::decode;
use crate::manifest::{OperationMode, PROTOCOL, WorldManifest};
use crate::view::follower::ViewFollower;
use crate::view::hub::{ViewHub, ViewSettings, ViewerSlot};
use axum::extract::ws::Message as WsMessage;
use jostle_proto::client::Limits;
use jostle_proto::{
    Address, Block, Class, Commit, Directory, GatewayId, GroupId, GroupRules, Grouping, Input,
    Library, Member, Message, Node, NodeId, Object, ObjectId, Output, PingRule, PollSettings,
    ShapeId, Shapes, Solid, Source, Span, State, Stream, Thresholds, Time, Timing,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

const RATE: u32 = 30;
const EXTENT: Block = Block { min: [-24_000; 3], max: [24_000; 3] };
const FOLLOWER: GatewayId = GatewayId { number: 9, life: 1 };

/// A directory, nodes that are far from each other, and a view follower.
struct Net {
    now: Time,
    directory: Directory,
    nodes: Vec<Node>,
    follower: ViewFollower,
    place: ViewerSlot,
    flying: BTreeMap<(Time, u64), (Address, Message)>,
    number: u64,
    /// Nodes from this one on are dead.
    dead: u32,
    published: BTreeMap<GroupId, Arc<Commit>>,
    regions: Value,
    picture: decode::Picture,
}

impl Net {
    fn send(&mut self, from: Address, to: Address, message: Message) {
        let dead = |one| matches!(one, Address::Node(node) if node.0 >= self.dead);
        if dead(from) || dead(to) {
            return;
        }
        let far = matches!((from, to), (Address::Node(a), Address::Node(b)) if a != b);
        let at = self.now + Span::from_ms(if far { 60 } else { 2 });
        self.number += 1;
        self.flying.insert((at, self.number), (to, message));
    }

    fn work(&mut self, from: Address, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Send(to, message) => self.send(from, to, message),
                Output::Event(_) => {}
                Output::Publish(commit) => drop(self.published.insert(commit.group, commit)),
            }
        }
    }

    /// A millisecond.
    fn pass(&mut self) {
        self.now = self.now + Span::from_ms(1);
        let now = self.now;
        while let Some(next) = self.flying.first_entry().filter(|it| it.key().0 <= now) {
            let (to, message) = next.remove();
            let mut out = Vec::new();
            match to {
                Address::Directory => self.directory.receive(now, message, &mut out),
                Address::Node(id) => {
                    if let Some(node) = self.nodes.get_mut(id.0 as usize) {
                        node.receive(now, message, &mut out);
                    }
                }
                Address::Gateway(id) if id == FOLLOWER => self.follower.receive(now, message),
                _ => {}
            }
            self.work(to, out);
        }
        let mut out = Vec::new();
        if self.directory.wake_at() <= now {
            self.directory.wake(now, &mut out);
        }
        self.work(Address::Directory, std::mem::take(&mut out));
        for at in 0..self.nodes.len() {
            if self.nodes[at].wake_at() <= now {
                self.nodes[at].wake(now, &mut out);
            }
            self.work(Address::Node(NodeId(at as u32)), std::mem::take(&mut out));
        }
        if self.follower.wake_at() <= now {
            self.follower.wake(now, &mut out);
        }
        self.work(Address::Gateway(FOLLOWER), out);
        self.look();
    }

    /// Takes the messages to the page.
    fn look(&mut self) {
        while let Some(message) = self.place.viewer.take() {
            match message {
                WsMessage::Text(text) => {
                    let value: Value = serde_json::from_str(&text).unwrap();
                    if value["type"] == "regions" {
                        self.regions = value;
                    }
                }
                WsMessage::Binary(bytes) => self.picture.take(&decode::frame(&bytes)),
                other => panic!("{other:?}"),
            }
        }
    }

    fn pass_until(&mut self, ms: u64, what: &str, fits: impl Fn(&Net) -> bool) {
        for _ in 0..ms {
            self.pass();
            if fits(self) {
                return;
            }
        }
        panic!("never came: {what}; {}", self.regions);
    }
}

fn object(id: u64, class: Class, x: i32) -> Object {
    let shape = ShapeId(u32::from(class == Class::Immovable));
    let velocity = [if class == Class::Dynamic { 100 } else { 0 }, 0, 0];
    let state = State { position: [x, 0, 0], velocity, ..State::default() };
    Object { id: ObjectId(id), class, shape, state }
}

fn walls() -> Vec<Object> {
    vec![object(101, Class::Immovable, -24_000), object(102, Class::Immovable, 24_000)]
}

fn manifest(shapes: &Shapes) -> WorldManifest {
    WorldManifest {
        protocol: PROTOCOL,
        world: "two".into(),
        rate: RATE,
        operation: OperationMode::Grouped,
        extent: EXTENT,
        forms: Library::of(shapes, Span(0)).forms().to_vec(),
        avatar: ShapeId(0),
        places: EXTENT,
        limits: Limits { speed: 0, spin: 0, change: 0 },
        gate: 0,
    }
}

fn town() -> Net {
    let timing = Timing { rate: RATE, ..Timing::default() };
    let thresholds = Thresholds { inclusion: Span::from_ms(40), rejection: Span::from_ms(60) };
    let (polls, patience) = (PollSettings::default(), Span::from_ms(800));
    let grouping = Grouping::ByDelay(GroupRules { thresholds, polls, patience });
    let member = |id| Member { node: NodeId(id), life: 1 };
    let solid = Solid::cuboid;
    let shapes = Shapes::new(vec![solid([600; 3]), solid([4000; 3])]);
    let first: Vec<Object> =
        walls().into_iter().chain([2, 4].map(|id| object(id, Class::Dynamic, 0))).collect();
    let nodes = vec![
        Node::founder(member(0), shapes.clone(), timing, first),
        Node::new(member(1), shapes.clone(), timing),
    ];
    let measuring = |node: Node| node.measuring(PingRule::default(), walls());
    let (hub, _threads) = ViewHub::open(&manifest(&shapes), &shapes, ViewSettings::default());
    let place = hub.enter(8).unwrap();
    Net {
        now: Time(0),
        directory: Directory::grouping(member(0), EXTENT, timing, grouping),
        nodes: nodes.into_iter().map(measuring).collect(),
        follower: ViewFollower::new(FOLLOWER, timing, shapes, hub),
        place,
        flying: BTreeMap::new(),
        number: 0,
        dead: u32::MAX,
        published: BTreeMap::new(),
        regions: Value::Null,
        picture: decode::Picture::new(RATE),
    }
}

#[test]
fn regions_of_all_groups_and_whose_each_object_is() {
    let mut net = town();
    net.pass_until(3_000, "the first group alone", |net| net.regions["group"] == 0);
    assert_eq!(net.regions["others"], Value::Array(Vec::new()));
    net.pass_until(8_000, "a second group", |net| net.published.contains_key(&GroupId(1)));
    // The second group gets objects of its own.
    let gateway = GatewayId { number: 5, life: 1 };
    let mut stream = Stream::new(Source::Gateway(gateway), 1).to(GroupId(1));
    let odd = [1, 3].map(|id| object(id, Class::Dynamic, 3000 * id as i32));
    stream.push(odd.into_iter().map(Input::Enter).collect());
    for ms in 0..8_000 {
        net.pass();
        let heard = net.published.get(&GroupId(1)).map_or(0, |it| it.heard_of(stream.source()));
        stream.heard(heard);
        if ms % 100 == 0
            && let Some(inputs) = stream.message()
        {
            let to = Address::Node(NodeId(1));
            net.send(Address::Gateway(gateway), to, Message::Inputs(inputs));
        }
    }
    assert_eq!(net.regions["nodes"], serde_json::json!([0]));
    let others = net.regions["others"].as_array().cloned().unwrap_or_default();
    assert_eq!(others.len(), 1, "{}", net.regions);
    assert_eq!((&others[0]["group"], &others[0]["leader"]), (&1.into(), &1.into()));
    assert_eq!(others[0]["nodes"], serde_json::json!([1]));
    assert_eq!(others[0]["leaves"].as_array().map(Vec::len), Some(1));
    // All are visible, each with its group; those of the first group have no mark.
    let seen: BTreeMap<u64, (u8, u8)> =
        net.picture.objects.iter().map(|(id, (_, it))| (*id, (it.class, it.home))).collect();
    let (dynamic, foreign) = (Class::Dynamic.number(), Class::Foreign(GroupId(1)).number());
    assert_eq!((seen[&2], seen[&4]), ((dynamic, 0), (dynamic, 0)));
    assert_eq!((seen[&1], seen[&3]), ((foreign, 2), (foreign, 2)));
    // The only node of the other group dies: its regions vanish.
    net.dead = 1;
    let alone = |net: &Net| net.regions["others"].as_array().is_some_and(Vec::is_empty);
    net.pass_until(12_000, "the first group alone again", alone);
}
