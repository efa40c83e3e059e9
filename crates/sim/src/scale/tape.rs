//! What every node heard, to be gone through again by each of them alone.
//!
//! In a run all nodes take turns in one thread: each finds the caches full of what the others did,
//! pays for reading the clock at every message, and now and then for another program of the
//! machine. On machines of their own they would not. So a copy of each node goes through the same
//! messages once more, several times, with nothing between, and the clock is read once per tick.
//! Nodes have no clock and no dice: the copy does bit for bit the same, and of the times that one
//! tick took the shortest is the one that was disturbed least.

use jostle_proto::{Message, Node, NodeId, Time};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often each node goes through it.
const REPEATS: usize = 7;

/// What happened to a node.
#[derive(Clone, Debug)]
pub(super) enum Heard {
    Woken(Time),
    Received(Time, Message),
}

/// A node as it was when the tape began, and what it heard in each tick since.
struct Track {
    node: Node,
    ticks: Vec<Vec<Heard>>,
}

/// What all nodes heard.
pub(super) struct Tape {
    tracks: BTreeMap<NodeId, Track>,
}

impl Tape {
    pub(super) fn new(nodes: &BTreeMap<NodeId, Node>) -> Tape {
        let track = |node: &Node| Track { node: node.clone(), ticks: vec![Vec::new()] };
        Tape { tracks: nodes.iter().map(|(id, node)| (*id, track(node))).collect() }
    }

    pub(super) fn add(&mut self, id: NodeId, heard: Heard) {
        let tick = self.tracks.get_mut(&id).and_then(|track| track.ticks.last_mut());
        if let Some(tick) = tick {
            tick.push(heard);
        }
    }

    pub(super) fn end_tick(&mut self) {
        self.tracks.values_mut().for_each(|track| track.ticks.push(Vec::new()));
    }

    /// What each node took for each tick, by itself. All nodes once, and then all of them again, so
    /// that what disturbs the machine for a while does not disturb one node every time.
    pub(super) fn play(mut self, stopwatch: fn() -> Duration) -> BTreeMap<NodeId, Vec<Duration>> {
        // What came after the last tick is of no tick.
        self.tracks.values_mut().for_each(|track| drop(track.ticks.pop()));
        let mut least: BTreeMap<NodeId, Vec<Duration>> = BTreeMap::new();
        for _ in 0..REPEATS {
            for (&id, track) in &self.tracks {
                let (times, _) = track.play(stopwatch);
                let least = least.entry(id).or_insert_with(|| times.clone());
                least.iter_mut().zip(times).for_each(|(least, time)| *least = time.min(*least));
            }
        }
        least
    }
}

impl Track {
    /// What the node takes for each tick, and the node as it is then.
    fn play(&self, stopwatch: fn() -> Duration) -> (Vec<Duration>, Node) {
        let (mut node, mut out) = (self.node.clone(), Vec::new());
        let times = self.ticks.iter().map(|tick| {
            // As if these had just been taken from the network.
            let heard = tick.clone();
            out.clear();
            let begin = stopwatch();
            for heard in heard {
                match heard {
                    Heard::Woken(now) => node.wake(now, &mut out),
                    Heard::Received(now, message) => node.receive(now, message, &mut out),
                }
            }
            stopwatch().saturating_sub(begin)
        });
        (times.collect(), node)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bench, Matter, Scale};
    use super::*;

    #[test]
    fn a_copy_that_hears_the_same_comes_to_the_same() {
        let scale = Scale { nodes: 3, objects: 60, ticks: 1, matter: Matter::Meshes, seed: 1 };
        let mut bench = Bench::new(scale, || Duration::ZERO);
        while !bench.is_together(3) {
            bench.advance();
        }
        bench.tape = Some(Tape::new(&bench.nodes));
        for _ in 0..200 {
            bench.tick();
        }
        let tape = bench.tape.take().expect("it was put there");
        for (id, track) in &tape.tracks {
            let (times, node) = track.play(|| Duration::ZERO);
            assert_eq!(times.len(), 201, "with what came after the last tick");
            let now = &bench.nodes[id];
            assert_eq!((node.progress(), node.moved()), (now.progress(), now.moved()));
            assert_eq!(node.pairs_tested(), now.pairs_tested());
            assert_ne!(node.progress(), track.node.progress(), "it has gone on");
        }
    }
}
