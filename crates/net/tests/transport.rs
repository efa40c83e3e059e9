//! Transports find each other, and messages arrive at the subscribers of a name.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod transports;

use jostle_net::transport::{
    Engine, LARGEST_MESSAGE, Switch, Transport, TransportAuth, TransportError, TransportSettings,
    Urgency,
};
use std::sync::Arc;
use transports::{LOOPBACK, Post, eventually, settings};

/// A switch of its own.
fn local() -> Engine {
    Engine::Local(Switch::new(1).expect("a switch"))
}

/// All engines, without authentication.
fn engines() -> [(Engine, TransportAuth); 3] {
    [Engine::Zenoh, Engine::Quic, local()].map(|engine| (engine, TransportAuth::default()))
}

#[test]
fn three_find_each_other_through_one() {
    for (engine, guard) in &engines() {
        println!("{engine:?}");
        let first = Post::listener(engine, guard, "d");
        let second = Post::joined(engine, guard, &first, "n1");
        let third = Post::joined(engine, guard, &first, "n2");
        let posts = [(&first, "d"), (&second, "n1"), (&third, "n2")];
        for (from, own) in posts {
            for (to, name) in posts {
                from.reach(to, name, own.as_bytes());
            }
        }
        for (post, own) in posts {
            assert!(
                post.everything().iter().all(|(name, _)| name == own),
                "{own} gets only its own"
            );
            let counters = post.transport.counters();
            assert!(counters.sent >= 3 && counters.received >= 3 && counters.received_bytes >= 4);
            assert_eq!((counters.refused, counters.lost), (0, 0));
        }
    }
}

#[test]
fn one_may_join_before_the_other_listens() {
    for (engine, guard) in &engines() {
        println!("{engine:?}");
        let place = Post::listener(engine, guard, "d");
        let address = place.transport.listening();
        drop(place);
        let early = Post::open(&settings(engine, guard, vec![], address.clone()));
        early.transport.answer_to("n1").unwrap();
        early.transport.send("d", b"lost", Urgency::Tick);
        let late = Post::open(&settings(engine, guard, address, vec![]));
        late.transport.answer_to("d").unwrap();
        early.reach(&late, "d", b"from early");
        late.reach(&early, "n1", b"from late");
        assert!(!late.has("d", b"lost"), "what has no receiver is not kept");
    }
}

#[test]
fn one_may_close_and_open_again() {
    for (engine, guard) in &engines() {
        println!("{engine:?}");
        let stays = Post::listener(engine, guard, "d");
        for round in 0..3 {
            let comes = Post::joined(engine, guard, &stays, "n1");
            stays.reach(&comes, "n1", &[round]);
            comes.reach(&stays, "d", &[round]);
        }
        // The process that others joined restarts, too.
        let comes = Post::joined(engine, guard, &stays, "n1");
        let address = stays.transport.listening();
        drop(stays);
        let again = Post::open(&settings(engine, guard, address, vec![]));
        again.transport.answer_to("d").unwrap();
        comes.reach(&again, "d", b"still there");
        again.reach(&comes, "n1", b"back again");
    }
}

#[test]
fn all_sizes_up_to_the_largest_are_carried() {
    for (engine, guard) in &engines() {
        println!("{engine:?}");
        let to = Post::listener(engine, guard, "d");
        let from = Post::joined(engine, guard, &to, "n1");
        for length in [0, 1, 1_000, 65_535, LARGEST_MESSAGE] {
            let bytes: Vec<u8> = (0..length).map(|index| (index * 7) as u8).collect();
            from.reach(&to, "d", &bytes);
        }
        let before = to.everything().len();
        from.transport.send("d", &vec![1; LARGEST_MESSAGE + 1], Urgency::Bulk);
        from.transport.send("D/*", b"not a name", Urgency::Bulk);
        from.reach(&to, "d", b"after");
        assert_eq!(from.transport.counters().refused, 2);
        assert!(to.everything()[before..].iter().all(|(_, bytes)| bytes.len() <= LARGEST_MESSAGE));
    }
}

/// A tick sends many messages at once to the same peer: none may be dropped by the sender.
#[test]
fn a_burst_is_carried() {
    for (engine, guard) in &engines() {
        println!("{engine:?}");
        let to = Post::listener(engine, guard, "d");
        let from = Post::joined(engine, guard, &to, "n1");
        from.reach(&to, "d", b"first");
        to.transport.answer_to("d").unwrap(); // Saying it twice changes nothing.
        for number in 0..200_u32 {
            let mut bytes = number.to_le_bytes().to_vec();
            bytes.resize(1_000, 0);
            from.transport.send("d", &bytes, Urgency::Tick);
        }
        let arrived = || to.everything().iter().filter(|(_, bytes)| bytes.len() == 1_000).count();
        assert!(eventually(|| arrived() == 200), "{} of 200 arrived", arrived());
    }
}

#[test]
fn worlds_do_not_hear_each_other() {
    for (engine, guard) in &engines() {
        println!("{engine:?}");
        let here = Post::listener(engine, guard, "d");
        let join = here.transport.listening();
        let elsewhere = TransportSettings {
            world: "elsewhere".to_owned(),
            ..settings(engine, guard, vec![LOOPBACK], join)
        };
        let elsewhere = Post::open(&elsewhere);
        let neighbour = Post::joined(engine, guard, &here, "n1");
        for _ in 0..20 {
            elsewhere.transport.send("d", b"foreign", Urgency::Now);
            neighbour.reach(&here, "d", b"ours");
        }
        assert!(!here.has("d", b"foreign"));
    }
}

#[test]
fn bad_settings_are_refused_with_advice() {
    let refused = |settings: &TransportSettings| {
        Transport::open(settings, Arc::new(|_, _| {}))
            .expect_err("it should be refused")
            .to_string()
    };
    for engine in &[Engine::Zenoh, Engine::Quic] {
        let good = settings(engine, &TransportAuth::default(), vec![], vec![]);
        let open = TransportSettings { listen: vec!["0.0.0.0:0".parse().unwrap()], ..good.clone() };
        assert!(refused(&open).contains("requires --node-token or --tls"));
        let slash = TransportSettings { world: "a/**".to_owned(), ..good.clone() };
        assert!(refused(&slash).contains("expected 1 to 64 characters"));
        let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let also = std::net::TcpListener::bind(address).unwrap();
        let twice = TransportSettings { listen: vec![address], ..good.clone() };
        assert!(refused(&twice).contains(&address.to_string()));
        drop((taken, also));
        let missing =
            TransportAuth { certificates: Some("/nowhere".into()), ..TransportAuth::default() };
        let missing = TransportSettings { guard: missing, ..good.clone() };
        assert!(refused(&missing).contains("/nowhere"));
        let transport = Transport::open(&good, Arc::new(|_, _| {})).unwrap();
        assert!(matches!(transport.answer_to("N/1"), Err(TransportError::Name(_))));
    }
}
