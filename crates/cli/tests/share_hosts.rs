//! A shared world on several hosts, with a network between them that is slow, loses frames and is
//! cut. The hosts are network namespaces, the network is a switch in this process.

mod share;

use jostle_proto::GroupId;
use share::figures::Figures;
use share::hosts::Hosts;
use share::switch::Link;
use share::{EdgeProbe, Ground, Running, Status};
use std::time::Duration;

const OBJECTS: u64 = 306;

/// Hosts with a world on them: it is served on the first one.
struct World<'a> {
    ground: &'a Ground,
    hosts: &'a Hosts,
    edge: EdgeProbe<'a>,
    /// The serving process, then the nodes, each on its host.
    processes: Vec<Running>,
}

const TOKEN: &str = "only-for-nodes";

impl<'a> World<'a> {
    fn new(ground: &'a Ground, hosts: &'a Hosts) -> World<'a> {
        let listen = format!("{}:7447", Hosts::address(0));
        let args = ["serve", "--generate", "solids,300", "--listen", &listen, "--web", "none"];
        let more = ["--node-token", TOKEN, "--allow-anyone", "--record", "recording"];
        let more = [&more[..], &["--events", "host-0.events"]].concat();
        let args = [&args[..], &more[..]].concat();
        let mut serve = ground.start(&hosts.host(0), "host-0", &args);
        let command = serve.message("status:  jostle status --join ");
        // Options may follow, for addresses that are not of this machine.
        let address = command.split(' ').next().unwrap_or_default();
        let edge = EdgeProbe::new(ground, &hosts.host(0), address);
        World { ground, hosts, edge, processes: vec![serve] }
    }

    /// Adds the next host.
    fn add(&mut self) {
        let number = self.processes.len();
        let (name, events) = (format!("host-{number}"), format!("host-{number}.events"));
        let listen = format!("{}:0", Hosts::address(number));
        let join = ["node", "--join", &self.edge.address, "--insecure", "--node-token", TOKEN];
        let own = ["--listen", &listen, "--events", &events];
        let args = [&join[..], &own[..]].concat();
        let mut node = self.ground.start(&self.hosts.host(number), &name, &args);
        node.message("joined");
        self.processes.push(node);
    }

    /// Ends everything, then recording and event logs are looked at.
    fn end(mut self) -> Figures {
        let events: Vec<String> =
            (0..self.hosts.count()).map(|number| format!("host-{number}.events")).collect();
        while let Some(process) = self.processes.pop() {
            process.end();
        }
        println!("replay: {}", self.ground.replay("recording"));
        let names: Vec<&str> = events.iter().map(String::as_str).collect();
        println!("judge: {}", self.ground.judge(&names, "recording"));
        let files: Vec<_> = names.iter().map(|name| self.ground.path(name)).collect();
        let figures = Figures::new(&files);
        println!("{figures}");
        figures
    }
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

#[test]
fn a_host_that_was_cut_off_comes_back_and_nothing_is_lost() {
    let Some(hosts) = Hosts::if_possible(4) else { return };
    let ground = Ground::new();
    let usual = Link::delayed(ms(2)).with_jitter(ms(1)).with_lost(10);
    hosts.switch.usual(usual);
    let mut world = World::new(&ground, &hosts);
    for _ in 0..3 {
        world.add();
    }
    let edge = &world.edge;
    let bots = ["bots", "--join", &edge.address, "--insecure", "--avatars", "3", "--json"];
    let bots = ground.start(&hosts.host(0), "bots", &bots);
    let all = OBJECTS + 3;
    let is_whole = |status: &Status| {
        status.nodes(0) == [0, 1, 2, 3] && status.objects() == all && status.is_stable()
    };
    edge.wait("one group", is_whole);
    edge.wait_ticks(60);

    for other in 0..3 {
        hosts.switch.link(3, other, usual.cut());
    }
    edge.wait("a view without the host", |status| status.place(3).is_none());
    edge.wait_ticks(60);
    edge.wait("all objects", |status| status.objects() == all && status.is_stable());
    for other in 0..3 {
        hosts.switch.unlink(3, other);
    }
    let status = edge.wait("one group again", is_whole);
    assert!(status.place(3).unwrap().life > 1, "{status:?}");
    edge.wait_ticks(60);

    println!("bots: {}", bots.end());
    edge.wait("the bots' end", |status| status.objects() == OBJECTS);
    world.end();
}

/// Issue 19: a link that was dead in one direction for 30 s, between two nodes that both reached
/// the directory, stopped the world for 34 s, and nothing was logged.
#[test]
fn a_dead_direction_between_two_hosts_does_not_stop_the_others() {
    let Some(hosts) = Hosts::if_possible(4) else { return };
    let ground = Ground::new();
    let usual = Link::delayed(ms(1));
    hosts.switch.usual(usual);
    let mut world = World::new(&ground, &hosts);
    for _ in 0..3 {
        world.add();
    }
    let edge = &world.edge;
    let is_whole = |status: &Status| status.nodes(0) == [0, 1, 2, 3] && status.is_stable();
    edge.wait("one group", is_whole);
    edge.wait_ticks(60);

    // All others hear both, and so does the directory.
    hosts.switch.cut_one_way(2, 3);
    let without = |status: &Status| {
        let group = status.nodes(0);
        group.len() == 3 && group.starts_with(&[0, 1]) && status.is_stable()
    };
    edge.wait("a view without one of the two", without);
    // The link is still dead.
    edge.wait_ticks(200);
    let status = edge.wait("all objects", |it| without(it) && it.objects() == OBJECTS);
    let prevented = status.value()["prevented"].to_string();
    assert!(prevented.contains("nodes 2 and 3 do not reach each other"), "{prevented}");
    hosts.switch.mend_one_way(2, 3);
    let all = |status: &Status| is_whole(status) && status.objects() == OBJECTS;
    edge.wait("one group again", all);
    edge.wait_ticks(60);
    world.end();
}

#[test]
fn two_sites_are_two_groups_and_each_goes_on_without_the_other() {
    let Some(hosts) = Hosts::if_possible(4) else { return };
    let ground = Ground::new();
    hosts.switch.usual(Link::delayed(ms(1)));
    let far = Link::delayed(ms(60)).with_jitter(ms(2));
    for (here, there) in [(0, 2), (0, 3), (1, 2), (1, 3)] {
        hosts.switch.link(here, there, far);
    }
    let mut world = World::new(&ground, &hosts);
    for _ in 0..3 {
        world.add();
    }
    let edge = &world.edge;
    let is_grouped = |status: &Status| {
        let there = status.place(2).map(|place| place.group);
        status.nodes(0) == [0, 1]
            && there.is_some_and(|group| status.nodes(group) == [2, 3])
            && status.is_stable()
    };
    let grouped = edge.wait("two groups", is_grouped);
    edge.wait_ticks(60);
    assert_eq!(grouped.objects(), OBJECTS);

    // There the world stands still until the dead one is missed; here it goes on.
    world.processes.remove(3).kill();
    let there = GroupId(grouped.place(2).unwrap().group as u32);
    edge.wait("a view without the dead", |status| status.place(3).is_none() && status.is_stable());
    edge.wait_ticks(60);
    edge.wait("all objects", |status| status.objects() == OBJECTS);
    let figures = world.end();
    let recovery = figures.recoveries.iter().rfind(|it| it.group == there).unwrap();
    let (last, _) = figures.of(there).rfind(|(at, _)| *at < recovery.detected).unwrap();
    let meanwhile = || figures.of(GroupId(0)).filter(|(at, _)| at > last && *at < recovery.served);
    let collisions: usize = meanwhile().map(|(_, tick)| tick.touches.len()).sum();
    println!("{} ticks and {collisions} collisions elsewhere meanwhile", meanwhile().count());
    assert!(collisions > 0);
    assert!(figures.of(there).any(|(at, _)| *at > recovery.served));
}
