//! The switch within a program: delay, loss, order, limits, and disconnecting.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod transports;

use jostle_net::transport::{
    Engine, NetworkConditions, Switch, Transport, TransportAuth, TransportError, Urgency,
};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use transports::{Post, eventually, settings};

fn two(seed: u64) -> (Switch, Post, Post) {
    let switch = Switch::new(seed).expect("a switch");
    let engine = Engine::Local(switch.clone());
    let guard = TransportAuth::default();
    let first = Post::listener(&engine, &guard, "a");
    let second = Post::joined(&engine, &guard, &first, "b");
    (switch, first, second)
}

fn numbers(post: &Post) -> Vec<u32> {
    let read = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?));
    post.everything().iter().filter_map(|(_, bytes)| read(bytes)).collect()
}

fn send(post: &Post, count: u32) {
    for number in 0..count {
        post.transport.send("b", &number.to_le_bytes(), Urgency::Tick);
    }
}

#[test]
fn nothing_listens_and_without_delay_it_is_there_at_once() {
    let (_switch, first, second) = two(1);
    assert!(first.transport.listening().is_empty());
    send(&first, 3);
    assert_eq!(numbers(&second), [0, 1, 2]);
}

#[test]
fn with_delay_it_comes_later_and_in_order() {
    let (switch, first, second) = two(2);
    let (delay, jitter) = (Duration::from_millis(20), Duration::from_millis(15));
    switch.set(NetworkConditions { delay, jitter, loss: 0.0 });
    assert_eq!(switch.conditions().delay, delay);
    let begin = Instant::now();
    send(&first, 200);
    // Frames without delay do not overtake those in flight.
    switch.set(NetworkConditions::default());
    first.transport.send("b", &200_u32.to_le_bytes(), Urgency::Now);
    assert!(eventually(|| numbers(&second).len() == 201), "{}", numbers(&second).len());
    assert!(begin.elapsed() >= Duration::from_millis(5), "all of it took some time");
    assert_eq!(numbers(&second), (0..=200).collect::<Vec<_>>());
}

#[test]
fn the_dice_lose_about_as_many_as_they_should_and_the_same_for_a_seed() {
    let lost = |seed: u64| {
        let (switch, first, second) = two(seed);
        switch.set(NetworkConditions { loss: 0.25, ..NetworkConditions::default() });
        send(&first, 2000);
        let arrived = numbers(&second);
        assert_eq!(first.transport.counters().lost + arrived.len() as u64, 2000);
        arrived
    };
    let arrived = lost(3);
    assert!((1400..1600).contains(&arrived.len()), "{}", arrived.len());
    assert_eq!(arrived, lost(3));
    assert_ne!(arrived, lost(4));
    let (switch, first, second) = two(5);
    switch.set(NetworkConditions { loss: 1.0, ..NetworkConditions::default() });
    send(&first, 100);
    first.transport.send("a", b"to myself", Urgency::Now);
    assert!(numbers(&second).is_empty() && first.has("a", b"to myself"));
}

#[test]
fn a_node_that_is_cut_off_neither_receives_nor_sends_also_of_what_is_on_its_way() {
    let (switch, first, second) = two(6);
    assert!(!switch.cut("unknown"));
    switch.set(NetworkConditions {
        delay: Duration::from_millis(30),
        ..NetworkConditions::default()
    });
    send(&first, 10);
    assert!(switch.cut("b"));
    switch.set(NetworkConditions::default());
    second.transport.send("a", b"hello?", Urgency::Now);
    send(&first, 10);
    std::thread::sleep(Duration::from_millis(60));
    assert!(first.everything().is_empty() && second.everything().is_empty());
    // Another member may take the name afterwards.
    let engine = Engine::Local(switch.clone());
    let third = Post::listener(&engine, &TransportAuth::default(), "b");
    send(&first, 3);
    assert_eq!(numbers(&third), [0, 1, 2]);
}

#[test]
fn a_queue_is_bounded() {
    let (switch, first, second) = two(7);
    switch.set(NetworkConditions {
        delay: Duration::from_millis(400),
        ..NetworkConditions::default()
    });
    send(&first, 10_000);
    let lost = first.transport.counters().lost;
    assert!(lost > 1000, "{lost}");
    assert!(eventually(|| numbers(&second).len() as u64 + lost == 10_000));
}

#[test]
fn who_answers_from_within_a_delivery_does_not_lock_up() {
    let switch = Switch::new(8).expect("a switch");
    let of = |name: &'static str| {
        let engine = Engine::Local(switch.clone());
        let to: Arc<OnceLock<Transport>> = Arc::default();
        let transport = to.clone();
        let deliver = move |_: &str, bytes: &[u8]| {
            let other = if name == "a" { "b" } else { "a" };
            if let (Some((left, rest)), Some(transport)) = (bytes.split_first(), transport.get())
                && *left > 0
            {
                transport.send(other, &[&[left - 1], rest].concat(), Urgency::Now);
            }
        };
        let settings = settings(&engine, &TransportAuth::default(), vec![], vec![]);
        let opened = Transport::open(&settings, Arc::new(deliver)).expect("a plane");
        opened.answer_to(name).expect("a name");
        let _ = to.set(opened);
        to
    };
    let (a, b) = (of("a"), of("b"));
    for delay in [Duration::ZERO, Duration::from_micros(100)] {
        switch.set(NetworkConditions { delay, ..NetworkConditions::default() });
        let before = b.get().expect("open").counters().received;
        a.get().expect("open").send("b", &[40, 1], Urgency::Now);
        let received = || b.get().expect("open").counters().received - before;
        assert!(eventually(|| received() == 21), "{}", received());
    }
}

#[test]
fn bad_names_are_refused_as_elsewhere() {
    let engine = Engine::Local(Switch::new(9).expect("a switch"));
    let good = settings(&engine, &TransportAuth::default(), vec![], vec![]);
    let transport = Transport::open(&good, Arc::new(|_, _| {})).expect("a plane");
    assert!(matches!(transport.answer_to("N/1"), Err(TransportError::Name(_))));
    let world = jostle_net::transport::TransportSettings { world: "a/**".into(), ..good };
    let refused = Transport::open(&world, Arc::new(|_, _| {}));
    assert!(matches!(refused, Err(TransportError::World(_))));
}
