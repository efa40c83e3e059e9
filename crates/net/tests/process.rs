//! Whole processes of a shared world, in one process of the tests: begin, join, take part, record,
//! end, go on.

mod hall;

use hall::{METRE, hall, velocity};
use jostle_net::client::{ClientOptions, Connection, Trust, fetch_status};
use jostle_net::directory::DirectorySettings;
use jostle_net::edge::EdgeLimits;
use jostle_net::event_log::{LoggedEvent, read_event_logs};
use jostle_net::manifest::OperationMode;
use jostle_net::node::NodeSettings;
use jostle_net::recording::{self, Step};
use jostle_net::serve::{AccessControl, InitialWorld, OutputFiles, ServeSettings};
use jostle_net::transport::{Engine, NetworkConditions, Switch};
use jostle_net::{Process, Secret, StartError, Versions};
use jostle_proto::{Block, Class, GatewaySettings, GroupId, ObjectId, Span, State};
use serde_json::Value;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

const OBJECTS: u64 = 60;

fn start() -> InitialWorld {
    let ball = |number: u64| {
        let along = |step: u64| ((number * step) % 9) as i32 * METRE - 4 * METRE;
        let position = [along(1), along(4) + number as i32, along(7)];
        State { position, velocity: velocity(number), ..State::default() }
    };
    let names = [(ObjectId(1), "first".to_string())].into();
    InitialWorld { names, ..hall(5 * METRE, 0.02, (0..OBJECTS).map(ball)) }
}

fn settings() -> ServeSettings {
    ServeSettings::local("test", start())
}

fn node(world: &Process, engine: Engine, guards: AccessControl) -> NodeSettings {
    let here = "127.0.0.1:0".parse().expect("an address");
    NodeSettings {
        join: world.edge_address().expect("an edge"),
        trust: Trust::Anyone,
        listen: here,
        edge: None,
        guards,
        files: OutputFiles::default(),
        engine,
        gateway: GatewaySettings::default(),
        limits: EdgeLimits::default(),
    }
}

fn status(world: &Process) -> Value {
    serde_json::from_str(&world.status()).expect("JSON")
}

/// Waits until the status is as wanted.
fn wait(world: &Process, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let begin = Instant::now();
    loop {
        let status = status(world);
        if fits(&status) {
            return status;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}: {status}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn members(status: &Value) -> usize {
    let group = &status["groups"][0];
    let stable = group["stable"] == true;
    group["members"].as_array().map_or(0, |members| if stable { members.len() } else { 0 })
}

fn tick(status: &Value) -> u64 {
    status["tick"].as_u64().unwrap_or(0)
}

/// Plays a recording; says how many ticks and contacts it has. All ticks must be the same.
fn verify(file: &Path) -> (u64, usize) {
    let mut replay = recording::open(file).expect("a recording");
    let (mut ticks, mut contacts) = (0, 0);
    while let Some(step) = replay.step().expect("readable") {
        match step {
            Step::World(_) => {}
            Step::Same(_, touches) => {
                ticks += 1;
                contacts += touches;
            }
            Step::Different(tick, what) => panic!("tick {}: {what}", tick.0),
        }
    }
    (ticks, contacts)
}

fn two_processes(engine: &Engine) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| Some(folder.path().join(name));
    let files = OutputFiles { record: file("a.rec"), events: file("a.evt") };
    let world = Process::serve(ServeSettings { engine: engine.clone(), files, ..settings() })
        .expect("begins");
    wait(&world, "ticks", |status| tick(status) > 10);
    let settings = node(&world, engine.clone(), AccessControl::default());
    let files = OutputFiles { record: file("b.rec"), events: file("b.evt") };
    let other = Process::join(NodeSettings { files, ..settings }).expect("joins");
    let both = wait(&world, "two members", |status| members(status) == 2);
    wait(&world, "both have objects", |status| {
        let of = |member: usize| status["groups"][0]["members"][member]["objects"].as_u64();
        of(0).unwrap_or(0) > 0 && of(1).unwrap_or(0) > 0
    });
    wait(&world, "more ticks", |status| tick(status) > tick(&both) + 60);
    drop(other);
    let alone = wait(&world, "one member", |status| members(status) == 1);
    let end = wait(&world, "goes on", |status| tick(status) > tick(&alone) + 20);
    assert_eq!(end["objects"].as_u64(), Some(OBJECTS + 6), "nothing is lost");
    drop(world);
    for name in ["a.rec", "b.rec"] {
        let (ticks, contacts) = verify(&folder.path().join(name));
        assert!(ticks > 30 && contacts > 0, "{name}: {ticks} ticks, {contacts} contacts");
    }
    let seen =
        read_event_logs(&[folder.path().join("a.evt"), folder.path().join("b.evt")]).expect("read");
    let published =
        seen.iter().filter(|seen| matches!(seen, LoggedEvent::Published { .. })).count();
    assert!(published > 80, "{published}");
}

/// An address with two ports, for the edge and for the transport.
fn two_ports() -> SocketAddr {
    loop {
        let first = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let address = first.local_addr().expect("bound");
        let next = address.port().checked_add(1).map(|port| SocketAddr::new(address.ip(), port));
        if next.is_some_and(|next| UdpSocket::bind(next).is_ok())
            && TcpListener::bind(address).is_ok()
        {
            return address;
        }
    }
}

/// The number of the replica that leads.
fn leader(status: &Value) -> Option<u16> {
    let replicas = status["replicas"].as_array()?;
    let fresh = |it: &&Value| it["silent_ms"].as_f64().unwrap_or(1e9) < 1000.0;
    let leads = replicas.iter().filter(fresh).find(|it| it["leads"] == true)?;
    leads["replica"].as_u64().map(|replica| replica as u16)
}

/// Three replicas of the directory, of which the leader goes.
fn three_replicas(engine: &Engine) {
    let folder = tempfile::tempdir().expect("a folder");
    let guards =
        AccessControl { node_token: Some(Secret::new("work")), ..AccessControl::default() };
    let replicas = vec![two_ports(), two_ports(), two_ports()];
    let begin = ServeSettings { replicas, engine: engine.clone(), ..settings() };
    let world = Process::serve(ServeSettings { guards: guards.clone(), ..begin }).expect("begins");
    let replica = |id: u16| DirectorySettings {
        id: Some(id),
        join: world.edge_address(),
        listen: None,
        store: folder.path().join(id.to_string()),
        web: None,
        guards: guards.clone(),
        round_trip: Span(0),
        events: None,
        engine: engine.clone(),
        limits: EdgeLimits::default(),
        versions: Versions::OURS,
    };
    let stranger = DirectorySettings { guards: AccessControl::default(), ..replica(1) };
    let refused = Process::directory_replica(stranger).err().expect("it has no token").to_string();
    assert!(refused.ends_with("requires --node-token (none was sent)"), "{refused}");
    let direct = |id| Process::directory_replica(replica(id)).expect("a replica");
    let mut all: Vec<Option<Process>> = (1..=3).map(|id| Some(direct(id))).collect();
    let old = wait(&world, "a leader", |status| leader(status).is_some());
    let old = leader(&old).expect("there is one");
    let work = || Process::join(node(&world, engine.clone(), guards.clone())).expect("joins");
    let first = work();
    wait(&world, "two members", |status| members(status) == 2);
    all[usize::from(old) - 1] = None;
    wait(&world, "another leader", |status| leader(status).is_some_and(|new| new != old));
    drop(first);
    wait(&world, "one member", |status| members(status) == 1);
    let _second = work();
    let end = wait(&world, "two members again", |status| members(status) == 2);
    wait(&world, "ticks", |status| tick(status) > tick(&end) + 20);
    assert_eq!(end["objects"].as_u64(), Some(OBJECTS + 6), "nothing is lost");
}

#[test]
fn the_directory_may_have_replicas() {
    three_replicas(&Engine::Quic);
    three_replicas(&Engine::Local(Switch::new(2).expect("a switch")));
}

#[test]
fn a_node_joins_and_goes_and_every_tick_is_that_of_one_machine() {
    two_processes(&Engine::Zenoh);
}

#[test]
fn the_other_engine_does_the_same() {
    two_processes(&Engine::Quic);
}

#[test]
fn through_a_switch_in_memory_they_do_the_same() {
    two_processes(&Engine::Local(Switch::new(1).expect("a switch")));
}

/// A client that is in.
fn come_in(options: ClientOptions) -> Connection {
    let client = Connection::open(options).expect("a connection");
    assert!(client.wait_until_active(Duration::from_secs(30)), "{:?}", client.last_error());
    client
}

fn home(client: &Connection) -> Option<GroupId> {
    client.credential().map(|credential| credential.home)
}

#[test]
fn a_client_of_a_distant_edge_is_at_home_there_and_all_see_each_other() {
    let switch = Switch::new(7).expect("a switch");
    // No node that is so far away is let into a group of 30 ticks per second.
    switch.set(NetworkConditions {
        delay: Duration::from_millis(80),
        ..NetworkConditions::default()
    });
    let (operation, engine) = (OperationMode::Grouped, Engine::Local(switch));
    let served = ServeSettings { operation, engine: engine.clone(), ..settings() };
    let world = Process::serve(served).expect("begins");
    let edge = Some(("127.0.0.1:0".parse().expect("an address"), None));
    let far = NodeSettings { edge, ..node(&world, engine, AccessControl::default()) };
    let far = Process::join(far).expect("joins");
    wait(&world, "the first group", |status| status["group"] == 0 && tick(status) > 0);
    wait(&far, "a group of its own", |status| status["group"] == 1 && tick(status) > 0);

    let near_edge = ClientOptions::to(world.edge_address().expect("an edge"));
    let one = come_in(near_edge.clone());
    let other = come_in(ClientOptions::to(far.edge_address().expect("an edge")));
    assert_eq!((home(&one), home(&other)), (Some(GroupId(0)), Some(GroupId(1))));
    let sees = |client: &Connection, avatar: Option<ObjectId>| {
        client.others().iter().any(|shown| Some(shown.id) == avatar)
    };
    wait(&world, "they see each other", |_| {
        sees(&one, other.avatar()) && sees(&other, one.avatar())
    });

    // It goes to the other edge, and keeps its identity.
    let (avatar, credential) = (other.avatar(), other.leave());
    let other = come_in(ClientOptions { credential, ..near_edge });
    assert_eq!((other.avatar(), home(&other)), (avatar, Some(GroupId(1))));
    other.send_input([1.0, 0.0, 0.0], [0.0; 3]);
    let moves =
        |client: &Connection| client.own_received().is_some_and(|(_, it)| it.velocity[0] > 0.5);
    wait(&world, "it walks at home, from the other edge", |_| moves(&other));
}

#[test]
fn a_stored_world_goes_on_and_an_avatar_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Some(folder.path().join("store"));
    let world =
        Process::serve(ServeSettings { store: store.clone(), ..settings() }).expect("begins");
    let client = Connection::open(ClientOptions::to(world.edge_address().expect("an edge")));
    let client = client.expect("a connection");
    assert!(client.wait_until_active(Duration::from_secs(30)), "{:?}", client.last_error());
    client.send_input([1.0, 0.0, 0.0], [0.0; 3]);
    wait(&world, "the input is followed", |status| status["input_ms"]["p50"].is_number());
    let credential = client.leave();
    let before = credential.expect("an avatar has a credential");
    let then = wait(&world, "ticks", |status| tick(status) > 60);
    drop(world);

    let world = Process::serve(ServeSettings { store, ..settings() }).expect("goes on");
    // Objects are counted less often than ticks.
    let now = wait(&world, "has the world", |status| status["objects"].as_u64() > Some(0));
    assert!(tick(&now) + 60 >= tick(&then), "{} after {}", tick(&now), tick(&then));
    assert_eq!(now["objects"].as_u64(), Some(OBJECTS + 6 + 1), "with the avatar");
    let options = ClientOptions::to(world.edge_address().expect("an edge"));
    let again = Connection::open(ClientOptions { credential: Some(before), ..options });
    let again = again.expect("a connection");
    assert!(again.wait_until_active(Duration::from_secs(30)), "{:?}", again.last_error());
    assert_eq!(again.avatar(), Some(before.avatar));
}

#[test]
fn another_rate_than_the_stored_one_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Some(folder.path().to_path_buf());
    let world =
        Process::serve(ServeSettings { store: store.clone(), ..settings() }).expect("begins");
    wait(&world, "ticks", |status| tick(status) > 40);
    drop(world);
    let other = Process::serve(ServeSettings { store, rate: 60, ..settings() });
    let why = other.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(why.contains("30 ticks per second"), "{why}");
}

#[test]
fn without_the_token_nobody_joins_and_status_is_refused() {
    let guards = AccessControl {
        token: Some(Secret::new("for clients")),
        node_token: Some(Secret::new("for nodes")),
        ..AccessControl::default()
    };
    let world = Process::serve(ServeSettings { guards: guards.clone(), ..settings() });
    let world = world.expect("begins");
    let edge = world.edge_address().expect("an edge");
    for token in [None, Some(Secret::new("for clients")), Some(Secret::new("nonsense"))] {
        let wrong = AccessControl { node_token: token, ..AccessControl::default() };
        let refused = Process::join(node(&world, Engine::Zenoh, wrong));
        assert!(matches!(refused.err(), Some(StartError::Join(_))));
    }
    assert!(fetch_status(edge, None, &Trust::Anyone).is_err());
    let known = fetch_status(edge, guards.token.as_ref(), &Trust::Anyone).expect("a status");
    assert!(known.contains("test-"), "{known}");
    assert!(Connection::open(ClientOptions::to(edge)).is_err());
    let right = Process::join(node(&world, Engine::Zenoh, guards)).expect("joins");
    wait(&world, "two members", |status| members(status) == 2);
    drop(right);
}

#[test]
fn with_certificates_a_node_joins_and_the_world_ticks() {
    let folder = tempfile::tempdir().expect("a folder");
    jostle_net::certificates::make(folder.path(), &[]).expect("certificates");
    let certificates = Some(folder.path().to_path_buf());
    let guards = AccessControl { certificates, ..AccessControl::default() };
    let world = Process::serve(ServeSettings { guards: guards.clone(), ..settings() });
    let world = world.expect("begins");
    let trust = Trust::Node(folder.path().to_path_buf());
    let joined = NodeSettings { trust, ..node(&world, Engine::Zenoh, guards) };
    let other = Process::join(joined).expect("joins");
    let both = wait(&world, "two members", |status| members(status) == 2);
    wait(&world, "ticks", |status| tick(status) > tick(&both) + 20);
    drop(other);
}

/// Waits until something is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Steers people one way until all of them stand at the wall there.
fn walk(people: &[&Connection], axis: usize, side: f64) {
    let mut velocity = [0.0; 3];
    velocity[axis] = 4.0 * side;
    people.iter().for_each(|one| one.send_input(velocity, [0.0; 3]));
    until("they stop at the wall", || {
        people.iter().all(|one| {
            let received = one.own_received().map(|(_, body)| (body.position[axis], body.velocity));
            // Its face is five metres from the middle, and they are three decimetres thick.
            received
                .is_some_and(|(at, velocity)| (at * side - 4.7).abs() < 0.3 && velocity == [0.0; 3])
        })
    });
}

/// How many objects each member has, by node.
fn loads(status: &Value) -> Vec<(u64, u64)> {
    let members = status["groups"][0]["members"].as_array().cloned().unwrap_or_default();
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    members.iter().map(|it| (number(&it["node"]), number(&it["objects"]))).collect()
}

#[test]
fn people_walk_in_a_free_running_world_and_outlive_a_node() {
    let operation = OperationMode::FreeRunning { operations: None };
    let mut start = start();
    start.objects.retain(|object| object.class == Class::Immovable);
    start.places = Block { min: [-METRE; 3], max: [METRE; 3] };
    let settings = ServeSettings { operation, start, ..settings() };
    let world = Process::serve(settings).expect("begins");
    let first = wait(&world, "one member", |status| members(status) == 1);
    let first = loads(&first)[0].0;
    let other =
        Process::join(node(&world, Engine::Zenoh, AccessControl::default())).expect("joins");
    wait(&world, "two members", |status| members(status) == 2);
    let edge = world.edge_address().expect("an edge");
    let [one, two] = [(); 2].map(|()| {
        let client = Connection::open(ClientOptions::to(edge)).expect("a connection");
        assert!(client.wait_until_active(Duration::from_secs(30)), "{:?}", client.last_error());
        client
    });
    let avatar = one.avatar().expect("an avatar");
    let seen = || two.others().into_iter().find(|shown| shown.id == avatar);
    until("one sees the other", || seen().is_some());
    // From wall to wall, until the node that joined has both of them.
    let has_both = || loads(&status(&world)).iter().any(|it| it.0 != first && it.1 == 2);
    let walls = (0..3).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]);
    let there = walls.into_iter().find(|&(axis, side)| {
        walk(&[&one, &two], axis, side);
        let begin = Instant::now();
        while !has_both() && begin.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(50));
        }
        has_both()
    });
    let (axis, side) = there.expect("one of the walls is the other node's");
    until("one sees where the other is", || {
        seen().is_some_and(|shown| (shown.place.position[axis] * side - 4.7).abs() < 0.3)
    });
    drop(other);
    wait(&world, "one member", |status| members(status) == 1);
    walk(&[&one, &two], axis, -side);
    assert_eq!(one.avatar(), Some(avatar), "it is the same avatar");
    let store = Some(std::env::temp_dir().join("jostle-never-made"));
    let impossible = Process::serve(ServeSettings { operation, store, ..self::settings() });
    assert!(impossible.is_err());
    let record = Some(std::env::temp_dir().join("jostle-never-made"));
    let files = OutputFiles { record, ..OutputFiles::default() };
    let recording = NodeSettings { files, ..node(&world, Engine::Zenoh, AccessControl::default()) };
    let why = Process::join(recording).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(why.contains("cannot be stored or recorded"), "{why}");
}

#[test]
fn a_free_running_world_with_hardly_any_operations_reports_what_it_assumes() {
    let operation = OperationMode::FreeRunning { operations: Some(1) };
    let world = Process::serve(ServeSettings { operation, ..settings() }).expect("begins");
    let assumed = |status: &Value| status["counters"]["contacts_assumed"].as_u64();
    let status = wait(&world, "assumed contacts", |status| assumed(status) > Some(0));
    assert!(status["counters"]["contacts"].as_u64() >= assumed(&status));
}
