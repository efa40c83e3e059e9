//! What is measured: a broad phase alone, or a world with everything that a step does.

use super::boxes::MovingBoxes;
use crate::error::CliError;
use glam::DVec3;
use jostle_geom::Pose;
use jostle_world::broad::{Broad, BroadCounters, SlotPair, Structure};
use jostle_world::{Body, BodyId, Settings, Shape, Workers, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Broad(Structure),
    World,
}

impl Subject {
    pub(crate) fn all() -> impl Iterator<Item = Subject> {
        Structure::ALL.into_iter().map(Subject::Broad).chain([Subject::World])
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Subject::Broad(structure) => structure.name(),
            Subject::World => "world",
        }
    }
}

/// What a step found and did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) pairs: usize,
    pub(super) counters: BroadCounters,
}

pub(super) enum Engine {
    Broad(Box<BroadEngine>),
    World(Box<WorldEngine>),
}

pub(super) struct BroadEngine {
    broad: Broad,
    workers: Workers,
    pairs: Vec<SlotPair>,
}

pub(super) struct WorldEngine {
    world: World,
    ids: Vec<BodyId>,
}

impl Engine {
    /// With all boxes, and after a first search among them.
    pub(super) fn new(
        subject: Subject,
        boxes: &MovingBoxes,
        workers: &Workers,
    ) -> Result<Engine, CliError> {
        match subject {
            Subject::Broad(structure) => {
                let mut broad = Broad::new(structure);
                (0..boxes.len()).for_each(|i| broad.insert(i, boxes.bounds(i)));
                let mut pairs = Vec::new();
                broad.find_pairs(workers, &mut pairs);
                let workers = workers.clone();
                Ok(Engine::Broad(Box::new(BroadEngine { broad, workers, pairs })))
            }
            Subject::World => {
                let settings = Settings { workers: workers.clone(), ..Settings::default() };
                let mut world = World::new(settings);
                let shape = Shape::cuboid(DVec3::ONE)?;
                let mut insert = |i| {
                    let pose = Pose::from_translation(boxes.place(i))?;
                    Ok::<_, CliError>(world.insert(Body::moving(shape.clone(), pose))?)
                };
                let ids = (0..boxes.len()).map(&mut insert).collect::<Result<_, _>>()?;
                world.step();
                Ok(Engine::World(Box::new(WorldEngine { world, ids })))
            }
        }
    }

    /// The part that is timed: tells where the movers are now, and finds the pairs.
    pub(super) fn step(&mut self, boxes: &MovingBoxes) -> Result<Done, CliError> {
        match self {
            Engine::Broad(engine) => {
                let BroadEngine { broad, workers, pairs } = engine.as_mut();
                boxes.movers().iter().for_each(|&i| broad.update(i, boxes.bounds(i)));
                let counters = broad.find_pairs(workers, pairs);
                Ok(Done { pairs: pairs.len(), counters })
            }
            Engine::World(engine) => {
                let WorldEngine { world, ids } = engine.as_mut();
                for &i in boxes.movers() {
                    let pose = Pose::from_translation(boxes.place(i))?;
                    world.set_pose(ids[i as usize], pose)?;
                }
                let counts = world.step().counts;
                let (box_tests, updates) = (counts.box_tests, counts.structure_updates);
                let counters = BroadCounters { box_tests, updates };
                Ok(Done { pairs: counts.candidates, counters })
            }
        }
    }

    /// A number that tells sets of pairs apart, whatever their order. None for a world: it rounds
    /// its boxes outward from wide numbers, so that those that all but touch may be a pair more.
    pub(super) fn fingerprint(&self) -> Option<u64> {
        let Engine::Broad(engine) = self else { return None };
        Some(engine.pairs.iter().fold(0, |sum: u64, &pair| sum.wrapping_add(scatter(pair))))
    }
}

/// SplitMix64's mixer (Steele, Lea, Flood 2014): pairs that differ little give numbers that differ
/// much, so that sums of them do not agree by chance.
fn scatter([a, b]: SlotPair) -> u64 {
    let z = (u64::from(a) << 32 | u64::from(b)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::boxes::Workload;
    use super::*;

    #[test]
    fn fingerprints_are_those_of_sets() {
        let engine = |pairs: &[SlotPair]| {
            let (broad, workers) = (Broad::new(Structure::Auto), Workers::ONE);
            let pairs = pairs.to_vec();
            Engine::Broad(Box::new(BroadEngine { broad, workers, pairs })).fingerprint()
        };
        assert_eq!(engine(&[[1, 2], [3, 4]]), engine(&[[3, 4], [1, 2]]));
        assert_ne!(engine(&[[1, 2], [3, 4]]), engine(&[[1, 4], [2, 3]]));
        assert_ne!(engine(&[[1, 2]]), engine(&[[1, 2], [1, 2]]));
    }

    /// Boxes along the axes touch exactly if their bodies do, but for rounding in the last bit.
    #[test]
    fn a_world_finds_what_broad_phases_find() -> Result<(), CliError> {
        let mut boxes = MovingBoxes::new(&Workload { movers: 0.5, ..Workload::peers(400) });
        let subjects = [Subject::Broad(Structure::AllPairs), Subject::World];
        let mut engines = Vec::new();
        for subject in subjects {
            engines.push(Engine::new(subject, &boxes, &Workers::ONE)?);
        }
        for step in 0..10 {
            boxes.step();
            let mut found = Vec::new();
            for engine in &mut engines {
                found.push(engine.step(&boxes)?.pairs);
            }
            assert!(found[0] == found[1] && found[0] > 0, "step {step}: {found:?}");
        }
        Ok(())
    }
}
