//! A gateway among several groups: which one it belongs to, and what becomes of those who are at
//! home in another.

use jostle_proto::client::{Hello, Refusal};
use jostle_proto::wire::PROTOCOL;
use jostle_proto::{
    Address, Class, ClientId, ClientMessage, Commit, Epoch, Gateway, GatewayId, GatewayMessage,
    GatewaySettings, GroupId, Input, Key, Member, Message, NodeId, Object, ObjectId, Objects,
    Output, Peers, ShapeId, Shapes, Share, Source, Span, State, Thresholds, Tick, Time, Timing,
    View, advance, apply, digest,
};
use std::sync::Arc;

const ME: GatewayId = GatewayId { number: 3, life: 1 };
const KEY: Key = Key([1, 2]);
const GUEST: ClientId = ClientId { host: 9, connection: 1 };
const AVATAR: ObjectId = ObjectId(1 << 63 | 77);

fn gateway() -> Gateway {
    let settings = GatewaySettings { key: KEY, ..GatewaySettings::default() };
    Gateway::new(ME, Shapes::default(), Timing::default(), settings)
}

fn avatar(class: Class) -> Object {
    Object { id: AVATAR, class, shape: ShapeId(0), state: State::default() }
}

fn node(group: u32) -> NodeId {
    NodeId(10 + group)
}

/// A group of one node is in a view and has a world.
fn share(gateway: &mut Gateway, group: u32, objects: Vec<Object>) {
    let member = Member { node: node(group), life: 1 };
    let epoch = Epoch(u64::from(group) + 1);
    let view = View { group: GroupId(group), epoch, ..View::first(member) };
    let (from, tick, heard) = (member.node, Tick(50), Vec::new());
    let share = Share { epoch, tick, from, members: 1, objects, heard };
    for message in [Message::View(view), Message::Share(share)] {
        gateway.receive(Time(1), Address::Node(from), message, &mut Vec::new());
    }
}

fn is_in(gateway: &mut Gateway, group: u32, epoch: u64) {
    let (node, group, epoch) = (NodeId(5), GroupId(group), Epoch(epoch));
    let here = Message::Here { node, group, epoch };
    gateway.receive(Time(1), Address::Node(node), here, &mut Vec::new());
}

/// A client comes back to an avatar of this group; what the gateway sends in the second after.
fn come_back(gateway: &mut Gateway, group: u32, second: u64) -> Vec<Output> {
    let credential = Some(KEY.credential(AVATAR, GroupId(group), Tick(40)));
    let hello = ClientMessage::Hello(Hello { credential, protocol: PROTOCOL, attempt: 1 });
    let mut out = Vec::new();
    let now = Time(second * 1_000_000);
    gateway.receive(now, Address::Client(GUEST), Message::FromClient(hello), &mut out);
    gateway.wake(Time(now.0 + 900_000), &mut out);
    out
}

/// The inputs that a node is sent, and for which group.
fn inputs(out: &[Output], to: NodeId) -> Vec<(GroupId, Input)> {
    let sent = out.iter().filter_map(|output| match output {
        Output::Send(Address::Node(node), Message::Inputs(inputs)) if *node == to => Some(inputs),
        _ => None,
    });
    sent.flat_map(|it| it.inputs.iter().flatten().map(|input| (it.group, *input))).collect()
}

#[test]
fn it_belongs_where_its_node_is_however_late_older_answers_come() {
    let mut gateway = gateway().beside(NodeId(5));
    let mut out = Vec::new();
    gateway.wake(Time(0), &mut out);
    let asks = Message::Where { from: ME, epoch: Epoch(0) };
    assert_eq!(out, [Output::Send(Address::Node(NodeId(5)), asks)]);
    assert_eq!(gateway.group(), None);
    is_in(&mut gateway, 2, 7);
    is_in(&mut gateway, 1, 4);
    assert_eq!(gateway.group(), Some(GroupId(2)));
    is_in(&mut gateway, 3, 9);
    assert_eq!(gateway.group(), Some(GroupId(3)));
}

#[test]
fn an_avatar_is_called_back_in_its_home_and_not_where_it_is_a_copy() {
    let mut gateway = gateway().beside(NodeId(5));
    is_in(&mut gateway, 2, 7);
    let (shape, state) = (ShapeId(0), State::default());
    let as_a = |class| Object { id: AVATAR, class, shape, state };
    share(&mut gateway, 2, vec![as_a(Class::Foreign(GroupId(0)))]);
    // It is not known yet what became of it at home.
    let out = come_back(&mut gateway, 1, 1);
    assert!(inputs(&out, node(2)).is_empty());
    let to_client = |output: &Output| matches!(output, Output::Send(Address::Client(_), _));
    assert!(!out.iter().any(to_client), "{out:?}");
    share(&mut gateway, 1, vec![as_a(Class::Absent)]);
    let out = come_back(&mut gateway, 1, 2);
    assert_eq!(inputs(&out, node(1)), [(GroupId(1), Input::Return(AVATAR))]);
    assert!(inputs(&out, node(2)).is_empty());
}

#[test]
fn whoever_comes_back_to_a_group_that_has_ended_comes_in_anew() {
    let mut gateway = gateway();
    share(&mut gateway, 0, Vec::new());
    assert!(inputs(&come_back(&mut gateway, 1, 3), node(0)).is_empty());
    let far = Span::from_ms(40);
    let peers = Peers {
        epoch: 1,
        nodes: Vec::new(),
        groups: vec![(GroupId(0), node(0))],
        next: GroupId(2),
        merge: None,
        thresholds: Thresholds { inclusion: far, rejection: far },
    };
    gateway.receive(Time(1), Address::Directory, Message::Peers(peers), &mut Vec::new());
    let out = come_back(&mut gateway, 1, 4);
    let entered = inputs(&out, node(0));
    let new = |(group, input): &(GroupId, Input)| {
        matches!(input, Input::Enter(object) if object.id != AVATAR) && *group == GroupId(0)
    };
    assert!(entered.len() == 1 && entered.iter().all(new), "{entered:?}");
}

#[test]
fn a_client_served_in_a_group_that_ends_is_notified() {
    let mut gateway = gateway();
    let (shape, state) = (ShapeId(0), State::default());
    share(&mut gateway, 0, vec![Object { id: AVATAR, class: Class::Avatar, shape, state }]);
    let welcome = |it: &GatewayMessage| matches!(it, GatewayMessage::Welcome(_));
    let gone =
        |it: &GatewayMessage| matches!(it, GatewayMessage::Refused { why: Refusal::Gone, .. });
    let sent = |out: &[Output], what: fn(&GatewayMessage) -> bool| {
        out.iter().any(|output| match output {
            Output::Send(Address::Client(GUEST), Message::ToClient(it)) => what(it),
            _ => false,
        })
    };
    assert!(sent(&come_back(&mut gateway, 0, 1), welcome));
    let far = Span::from_ms(40);
    let thresholds = Thresholds { inclusion: far, rejection: far };
    let (nodes, groups, next) = (Vec::new(), vec![(GroupId(1), node(1))], GroupId(2));
    let peers = Message::Peers(Peers { epoch: 1, nodes, groups, next, merge: None, thresholds });
    let mut out = Vec::new();
    gateway.receive(Time(2_000_000), Address::Directory, peers, &mut out);
    assert!(sent(&out, gone), "{out:?}");
    assert_eq!(gateway.clients(), 0);
}

/// A tick of the first group without contacts.
fn commit(tick: u64, world: &Objects, inputs: Vec<Input>, heard: Vec<(Source, u64)>) -> Commit {
    Commit {
        group: GroupId(0),
        epoch: Epoch(1),
        tick: Tick(tick),
        touches: Vec::new(),
        kicks: Vec::new(),
        inputs,
        heard,
        digest: digest(world.values()),
        dilation: 1000,
    }
}

/// The ticks from 51 to 300 of a group in which an avatar is absent, but for ten ticks.
fn absent_but_for_ten_ticks(mut world: Objects) -> Vec<Message> {
    let tick = |tick: u64| {
        let inputs = match tick {
            110 => vec![Input::Return(AVATAR)],
            120 => vec![Input::Absent(AVATAR)],
            _ => Vec::new(),
        };
        advance(&mut world, Tick(tick - 1), Timing::default().rate);
        let commit = commit(tick, &world, inputs, Vec::new());
        apply(&mut world, &commit, |_| true);
        Message::Published(Arc::new(commit))
    };
    (51..=300).map(tick).collect()
}

#[test]
fn who_was_back_while_several_ticks_came_at_once_has_not_been_absent_since_before() {
    // Others than the one that made an avatar forget it after twice as long: 120 ticks.
    let settings = GatewaySettings { forget: Span::from_ms(1000), ..GatewaySettings::default() };
    let mut gateway = Gateway::new(ME, Shapes::default(), Timing::default(), settings);
    let avatar = avatar(Class::Absent);
    share(&mut gateway, 0, vec![avatar]);
    let mut ticks = absent_but_for_ten_ticks([avatar].into_iter().collect());
    // The ticks from 101 to 175 come at once, because the first of them comes last.
    ticks[50..125].rotate_left(1);
    let mut removed = ticks.into_iter().map(|tick| {
        let mut out = Vec::new();
        gateway.receive(Time(1), Address::Node(node(0)), tick, &mut out);
        inputs(&out, node(0)).contains(&(GroupId(0), Input::Remove(AVATAR)))
    });
    assert!(!removed.by_ref().take(180).any(|removed| removed));
    assert!(removed.any(|removed| removed));
}

/// A tick is missing for so long that the gateway gives up its world and asks for it anew.
fn lose_the_world(gateway: &mut Gateway) {
    let ticks = absent_but_for_ten_ticks(Objects::default());
    for after_the_gap in ticks.into_iter().skip(1).take(3) {
        gateway.receive(Time(1), Address::Node(node(0)), after_the_gap, &mut Vec::new());
    }
    gateway.wake(Time(5_000_000), &mut Vec::new());
    assert!(gateway.world().is_none());
}

#[test]
fn a_client_that_comes_back_while_the_gateway_has_lost_the_world_keeps_its_avatar() {
    let mut gateway = gateway();
    let avatar = avatar(Class::Absent);
    share(&mut gateway, 0, vec![avatar]);
    lose_the_world(&mut gateway);
    // What became of the avatar is not known, so nothing is said and nothing is done.
    let out = come_back(&mut gateway, 0, 6);
    assert!(inputs(&out, node(0)).is_empty(), "{out:?}");
    assert!(!out.iter().any(|it| matches!(it, Output::Send(Address::Client(_), _))), "{out:?}");
    share(&mut gateway, 0, vec![avatar]);
    let out = come_back(&mut gateway, 0, 7);
    assert_eq!(inputs(&out, node(0)), [(GroupId(0), Input::Return(AVATAR))]);
}

#[test]
fn a_served_client_that_sends_hello_while_the_gateway_has_lost_the_world_keeps_its_avatar() {
    let mut gateway = gateway();
    let avatar = avatar(Class::Avatar);
    share(&mut gateway, 0, vec![avatar]);
    let messages = |out: &[Output]| -> Vec<GatewayMessage> {
        let messages = out.iter().filter_map(|output| match output {
            Output::Send(Address::Client(GUEST), Message::ToClient(it)) => Some(it.clone()),
            _ => None,
        });
        messages.filter(|it| !matches!(it, GatewayMessage::StateUpdate(_))).collect()
    };
    let welcomes = |out: &[Output]| matches!(messages(out)[..], [GatewayMessage::Welcome(_)]);
    assert!(welcomes(&come_back(&mut gateway, 0, 3)));
    lose_the_world(&mut gateway);
    assert!(messages(&come_back(&mut gateway, 0, 5)).is_empty());
    share(&mut gateway, 0, vec![avatar]);
    assert!(welcomes(&come_back(&mut gateway, 0, 6)));
}

#[test]
fn a_hello_that_was_under_way_while_its_client_got_a_new_avatar_does_not_get_it_another_one() {
    let mut gateway = gateway();
    share(&mut gateway, 0, Vec::new());
    // It comes back for an avatar that is no more.
    let out = come_back(&mut gateway, 0, 1);
    let [(_, enter @ Input::Enter(new))] = inputs(&out, node(0))[..] else { panic!("{out:?}") };
    let commit = commit(51, &Objects::default(), vec![enter], vec![(Source::Gateway(ME), 1)]);
    let mut out = Vec::new();
    let published = Message::Published(Arc::new(commit));
    gateway.receive(Time(1_950_000), Address::Node(node(0)), published, &mut out);
    let welcomed = |out: &[Output]| -> Vec<ObjectId> {
        let avatar = |output: &Output| match output {
            Output::Send(_, Message::ToClient(GatewayMessage::Welcome(it))) => {
                Some(it.credential.avatar)
            }
            _ => None,
        };
        out.iter().filter_map(avatar).collect()
    };
    assert_eq!(welcomed(&out), [new.id]);
    let out = come_back(&mut gateway, 0, 2);
    assert_eq!(welcomed(&out), [new.id]);
    assert!(inputs(&out, node(0)).is_empty(), "{out:?}");
}
