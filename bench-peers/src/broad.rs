//! Broad phases: boxes of side 1 that all move, eight units of space for each.
//!
//! The boxes are those of the program that the peers were first measured with, bit for bit
//! ([`PeerBoxes`]). A step that is timed: make the boxes, pass them to the engine, find overlapping
//! pairs. The engines take turns, a block of steps each, and every one has its own copy of the
//! boxes. We collect the pairs; the peers only count theirs, as their interfaces have it.

use crate::fcl;
use crate::measure::{Block, Figure, thread_nanos};
use crate::peer_boxes::PeerBoxes;
use anyhow::{Result, ensure};
use glam::DVec3;
use jostle_world::Workers;
use jostle_world::broad::{Broad, Structure};
use parry3d::bounding_volume::Aabb;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

/// One line of the plan.
#[derive(Clone, Copy)]
struct Case {
    boxes: usize,
    steps: usize,
    /// From the beginning again, so many times: trees of peers get worse with every step, and
    /// their program measures 30.
    rounds: usize,
}

/// The peers' own sizes and steps, and one that lasts.
const CASES: [Case; 4] = [
    Case { boxes: 1_000, steps: 30, rounds: 10 },
    Case { boxes: 10_000, steps: 30, rounds: 3 },
    Case { boxes: 100_000, steps: 30, rounds: 1 },
    Case { boxes: 10_000, steps: 300, rounds: 1 },
];
/// Boxes, and pairs per step in the first 30 steps as the peers' program prints them.
const PUBLISHED: [(usize, usize); 3] = [(1_000, 465), (10_000, 4_764), (100_000, 48_994)];
const PUBLISHED_STEPS: usize = 30;
/// Steps of a turn: long enough that what others left in the caches is a small part.
const BLOCK: usize = 10;
/// Beyond so many boxes, FCL's sweep takes seconds a step.
const FCL_SWEEP_MOST: usize = 20_000;

/// All but all pairs, which take seconds a step. The papers' structures: `jostle lab broad`.
const OURS: [Structure; 3] = [Structure::Auto, Structure::Cells, Structure::Tree];

/// What one engine did with so many boxes.
pub(crate) struct BroadRow {
    pub(crate) boxes: usize,
    pub(crate) steps: usize,
    pub(crate) rounds: usize,
    pub(crate) engine: String,
    pub(crate) is_peer: bool,
    pub(crate) threads: usize,
    pub(crate) blocks: Vec<Block>,
    /// Of each step, in all rounds.
    pub(crate) pairs: Vec<usize>,
    pub(crate) remarks: Vec<String>,
}

impl BroadRow {
    /// Several threads by the clock on the wall: only it knows how long shared work takes.
    pub(crate) fn clock(&self) -> &'static str {
        if self.threads > 1 { "wall" } else { "thread CPU" }
    }

    /// Milliseconds per step; the spread is that of the means of the blocks.
    pub(crate) fn millis(&self) -> Figure {
        let mean = |blocks: &[Block]| {
            let nanos: u64 = blocks.iter().map(|block| block.nanos).sum();
            let steps: usize = blocks.iter().map(|block| block.queries).sum();
            nanos as f64 / 1e6 / steps as f64
        };
        Figure::new(mean(&self.blocks), self.blocks.chunks(1).map(mean).collect())
    }

    /// How many times as long as this a peer took, and the spread over blocks of the same steps.
    pub(crate) fn ratio(&self, peer: &BroadRow) -> Figure {
        let ratio = |(peer, us): (&Block, &Block)| peer.nanos as f64 / us.nanos.max(1) as f64;
        let spread = peer.blocks.iter().zip(&self.blocks).map(ratio).collect();
        Figure::new(peer.millis().mean / self.millis().mean, spread)
    }
}

/// Runs all engines on all cases.
pub(crate) fn run(quick: bool) -> Result<Vec<BroadRow>> {
    let mut rows = Vec::new();
    for case in CASES.into_iter().take(if quick { 2 } else { CASES.len() }) {
        let case = Case { rounds: if quick { 1 } else { case.rounds }, ..case };
        eprintln!("broad: {} boxes, {} steps", case.boxes, case.steps);
        let mut total: Vec<BroadRow> = Vec::new();
        for _ in 0..case.rounds {
            let round = contest(case)?;
            if total.is_empty() {
                total = round;
                continue;
            }
            for (row, more) in total.iter_mut().zip(round) {
                row.blocks.extend(more.blocks);
                row.pairs.extend(more.pairs);
            }
        }
        rows.extend(total);
    }
    Ok(rows)
}

/// An engine with its own copy of the boxes.
struct Contestant {
    row: BroadRow,
    boxes: PeerBoxes,
    clock: fn() -> u64,
    /// Passes the boxes to the engine and returns the number of overlapping pairs.
    step: Box<dyn FnMut(&PeerBoxes) -> usize>,
}

impl Contestant {
    fn new(
        engine: &str,
        threads: usize,
        boxes: &PeerBoxes,
        step: Box<dyn FnMut(&PeerBoxes) -> usize>,
    ) -> Contestant {
        let row = BroadRow {
            boxes: boxes.places().len(),
            steps: 0,
            rounds: 0,
            engine: engine.to_owned(),
            is_peer: !engine.starts_with("Jostle"),
            threads,
            blocks: Vec::new(),
            pairs: Vec::new(),
            remarks: Vec::new(),
        };
        let clock = if threads > 1 { wall_nanos } else { thread_nanos };
        Contestant { row, boxes: boxes.clone(), clock, step }
    }

    fn turn(&mut self, steps: usize) {
        let mut nanos = 0;
        for _ in 0..steps {
            self.boxes.step();
            let begin = (self.clock)();
            let pairs = black_box((self.step)(black_box(&self.boxes)));
            nanos += (self.clock)() - begin;
            self.row.pairs.push(pairs);
        }
        self.row.blocks.push(Block { queries: steps, nanos });
    }
}

/// One round.
fn contest(case: Case) -> Result<Vec<BroadRow>> {
    let boxes = PeerBoxes::new(case.boxes);
    let mut contestants = Vec::new();
    for structure in OURS {
        contestants.push(us(structure, 1, &boxes)?);
    }
    for structure in SHARED {
        contestants.push(us(structure, 2, &boxes)?);
    }
    contestants.push(parry(&boxes));
    contestants.extend(fcl(&boxes)?);
    let count = contestants.len();
    for (turn, first) in (0..case.steps).step_by(BLOCK).enumerate() {
        for k in 0..count {
            // The order rotates: the first of a block finds the caches of another.
            contestants[(turn + k) % count].turn(BLOCK.min(case.steps - first));
        }
    }
    let mut rows: Vec<BroadRow> = contestants.into_iter().map(|c| c.row).collect();
    compare(&mut rows)?;
    for row in &mut rows {
        (row.steps, row.rounds) = (case.steps, case.rounds);
    }
    Ok(rows)
}

/// Everyone with our first, and that with what was published.
fn compare(rows: &mut [BroadRow]) -> Result<()> {
    let Some(ours) = rows.first() else { return Ok(()) };
    let expected = ours.pairs.clone();
    let first = &expected[..PUBLISHED_STEPS.min(expected.len())];
    let mean = first.iter().sum::<usize>() / first.len().max(1);
    let published = PUBLISHED.iter().find(|(boxes, _)| *boxes == ours.boxes);
    if let Some((boxes, pairs)) = published {
        ensure!(mean == *pairs, "{boxes} boxes: {mean} pairs per step, published are {pairs}");
    }
    for row in rows {
        let difference = |(a, b): (&usize, &usize)| a.abs_diff(*b);
        let differences: Vec<usize> = row.pairs.iter().zip(&expected).map(difference).collect();
        let wrong = differences.iter().filter(|&&by| by > 0).count();
        if let Some(most @ 1..) = differences.iter().max() {
            let steps = expected.len();
            row.remarks
                .push(format!("DISAGREES in {wrong} of {steps} steps by up to {most} pairs"));
        }
    }
    Ok(())
}

fn us(structure: Structure, threads: usize, boxes: &PeerBoxes) -> Result<Contestant> {
    let workers = Workers::new(threads)?;
    let mut broad = Broad::new(structure);
    for (slot, bounds) in (0..).zip(boxes.boxes()) {
        broad.insert(slot, bounds);
    }
    let mut pairs = Vec::new();
    broad.find_pairs(&workers, &mut pairs);
    let step = move |boxes: &PeerBoxes| {
        for (slot, bounds) in (0..).zip(boxes.boxes()) {
            broad.update(slot, bounds);
        }
        broad.find_pairs(&workers, &mut pairs);
        pairs.len()
    };
    let name = format!("Jostle {}", structure.name());
    Ok(Contestant::new(&name, threads, boxes, Box::new(step)))
}

/// The tree that rapier's broad phase drives, kept from step to step.
fn parry(boxes: &PeerBoxes) -> Contestant {
    let leaves: Vec<Aabb> = boxes.places().iter().map(parry_bounds).collect();
    let mut tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves);
    let mut workspace = BvhWorkspace::default();
    let step = move |boxes: &PeerBoxes| {
        for (leaf, place) in (0..).zip(boxes.places()) {
            tree.insert_or_update_partially(parry_bounds(place), leaf, 0.0);
        }
        tree.optimize_incremental(&mut workspace);
        tree.refit(&mut workspace);
        let mut pairs = 0;
        tree.traverse_bvtt_single_tree::<false>(&mut workspace, &mut |_, _| pairs += 1);
        pairs
    };
    Contestant::new("parry Bvh", 1, boxes, Box::new(step))
}

fn parry_bounds(place: &DVec3) -> Aabb {
    let place = place.as_vec3();
    let (centre, half) = (Vector::new(place.x, place.y, place.z), Vector::splat(0.5));
    Aabb::new(centre - half, centre + half)
}

fn fcl(boxes: &PeerBoxes) -> Result<Vec<Contestant>> {
    let mut contestants = Vec::new();
    for (sweep, name) in [(false, "FCL DynamicAABBTree"), (true, "FCL SaP")] {
        if sweep && boxes.places().len() > FCL_SWEEP_MOST {
            continue;
        }
        if let Some(mut engine) = fcl::Boxes::new(sweep, boxes.places())? {
            let step = move |boxes: &PeerBoxes| engine.step(boxes.places());
            contestants.push(Contestant::new(name, 1, boxes, Box::new(step)));
        }
    }
    Ok(contestants)
}

/// Nanoseconds since the first call.
fn wall_nanos() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_finds_the_published_pairs() {
        let rows = contest(CASES[0]).unwrap();
        assert!(rows.iter().any(|row| row.is_peer) && rows.iter().any(|row| row.threads == 2));
        for row in &rows {
            assert!(row.remarks.is_empty(), "{}: {:?}", row.engine, row.remarks);
            assert_eq!(row.pairs, rows[0].pairs, "{}", row.engine);
            assert_eq!(row.pairs.iter().sum::<usize>() / 30, 465, "{}", row.engine);
        }
    }
}
