//! What is measured: a broad phase alone, or a world with everything that a step does.

use super::boxes::MovingBoxes;
use crate::broad as papers;
use crate::experiments::error::LabError;
use glam::DVec3;
use jostle_geom::{Aabb, Pose, Shape};
use jostle_world::broad::{Broad, BroadCounters, SlotPair, Structure};
use jostle_world::{Body, BodyId, Settings, Workers, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A structure of worlds.
    Broad(Structure),
    /// A structure of the papers.
    Papers(papers::Structure),
    World,
}

impl Subject {
    pub(crate) fn all() -> impl Iterator<Item = Subject> {
        let papers = papers::Structure::ALL.into_iter().map(Subject::Papers);
        Structure::ALL.into_iter().map(Subject::Broad).chain(papers).chain([Subject::World])
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Subject::Broad(structure) => structure.name(),
            Subject::Papers(structure) => structure.name(),
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
    broad: AnyBroad,
    workers: Workers,
    pairs: Vec<SlotPair>,
}

/// Two types with one interface.
enum AnyBroad {
    Worlds(Broad),
    Papers(Box<papers::Broad>),
}

impl AnyBroad {
    fn insert(&mut self, slot: u32, bounds: Aabb) {
        match self {
            AnyBroad::Worlds(broad) => broad.insert(slot, bounds),
            AnyBroad::Papers(broad) => broad.insert(slot, bounds),
        }
    }

    fn update(&mut self, slot: u32, bounds: Aabb) {
        match self {
            AnyBroad::Worlds(broad) => broad.update(slot, bounds),
            AnyBroad::Papers(broad) => broad.update(slot, bounds),
        }
    }

    fn find_pairs(&mut self, workers: &Workers, out: &mut Vec<SlotPair>) -> BroadCounters {
        match self {
            AnyBroad::Worlds(broad) => broad.find_pairs(workers, out),
            AnyBroad::Papers(broad) => broad.find_pairs(workers, out),
        }
    }
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
    ) -> Result<Engine, LabError> {
        match subject {
            Subject::Broad(structure) => {
                Ok(Engine::of_broad(AnyBroad::Worlds(Broad::new(structure)), boxes, workers))
            }
            Subject::Papers(structure) => {
                let broad = papers::Broad::new(structure);
                Ok(Engine::of_broad(AnyBroad::Papers(Box::new(broad)), boxes, workers))
            }
            Subject::World => {
                let settings = Settings { workers: workers.clone(), ..Settings::default() };
                let mut world = World::new(settings);
                let shape = Shape::cuboid(DVec3::ONE)?;
                let mut insert = |i| {
                    let pose = Pose::from_translation(boxes.place(i))?;
                    Ok::<_, LabError>(world.insert(Body::moving(shape.clone(), pose))?)
                };
                let ids = (0..boxes.len()).map(&mut insert).collect::<Result<_, _>>()?;
                world.step();
                Ok(Engine::World(Box::new(WorldEngine { world, ids })))
            }
        }
    }

    fn of_broad(mut broad: AnyBroad, boxes: &MovingBoxes, workers: &Workers) -> Engine {
        (0..boxes.len()).for_each(|i| broad.insert(i, boxes.bounds(i)));
        let mut pairs = Vec::new();
        broad.find_pairs(workers, &mut pairs);
        Engine::Broad(Box::new(BroadEngine { broad, workers: workers.clone(), pairs }))
    }

    /// The part that is timed: updates the boxes of the movers, and finds the pairs.
    pub(super) fn step(&mut self, boxes: &MovingBoxes) -> Result<Done, LabError> {
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

    /// A number that distinguishes sets of pairs, whatever their order. None for a world: it rounds
    /// its boxes outward from wide numbers, so that those that all but touch may be a pair more.
    pub(super) fn fingerprint(&self) -> Option<u64> {
        let Engine::Broad(engine) = self else { return None };
        Some(engine.pairs.iter().fold(0, |sum: u64, &pair| sum.wrapping_add(scatter(pair))))
    }
}

/// Scattered, so that sums of them do not agree by chance.
fn scatter([a, b]: SlotPair) -> u64 {
    jostle_dice::bits(&mut (u64::from(a) << 32 | u64::from(b)))
}

#[cfg(test)]
mod tests {
    use super::super::boxes::Workload;
    use super::*;

    #[test]
    fn fingerprints_are_those_of_sets() {
        let engine = |pairs: &[SlotPair]| {
            let (broad, workers) = (AnyBroad::Worlds(Broad::new(Structure::Auto)), Workers::ONE);
            let pairs = pairs.to_vec();
            Engine::Broad(Box::new(BroadEngine { broad, workers, pairs })).fingerprint()
        };
        assert_eq!(engine(&[[1, 2], [3, 4]]), engine(&[[3, 4], [1, 2]]));
        assert_ne!(engine(&[[1, 2], [3, 4]]), engine(&[[1, 4], [2, 3]]));
        assert_ne!(engine(&[[1, 2]]), engine(&[[1, 2], [1, 2]]));
    }

    /// Boxes along the axes touch exactly if their bodies do, but for rounding in the last bit.
    #[test]
    fn a_world_finds_what_broad_phases_find() -> Result<(), LabError> {
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
