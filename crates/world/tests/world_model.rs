//! A world against a plain model of it: a list of bodies, all pairs tested in every step.

mod common;

use common::{Rng, shapes};
use jostle_geom::{Pair, Pose, Shape};
use jostle_world::broad::Structure;
use jostle_world::{
    Body, BodyId, Change, CollisionGroups, Event, Mobility, Settings, Workers, World, WorldError,
};
use std::collections::{BTreeMap, BTreeSet};

type Pairs = BTreeSet<(BodyId, BodyId)>;

struct Plain {
    shape: Shape,
    pose: Pose,
    mobility: Mobility,
    layers: CollisionGroups,
    family: Option<u32>,
    enabled: bool,
}

#[derive(Default)]
struct Model {
    bodies: BTreeMap<BodyId, Plain>,
    ignored: Pairs,
    touching: Pairs,
}

fn pair(a: BodyId, b: BodyId) -> (BodyId, BodyId) {
    (a.min(b), a.max(b))
}

impl Model {
    fn compared(&self, a: BodyId, b: BodyId) -> bool {
        let (x, y) = (&self.bodies[&a], &self.bodies[&b]);
        let meet = x.layers.memberships & y.layers.filter != 0
            && y.layers.memberships & x.layers.filter != 0;
        let fixed = x.mobility == Mobility::Fixed && y.mobility == Mobility::Fixed;
        let same_family = x.family.is_some() && x.family == y.family;
        x.enabled
            && y.enabled
            && meet
            && !fixed
            && !same_family
            && !self.ignored.contains(&pair(a, b))
    }

    /// What touches now, by looking at all pairs.
    fn all_touching(&self) -> Pairs {
        let mut touching = Pairs::new();
        for (&a, x) in &self.bodies {
            for (&b, y) in self.bodies.range(a..).skip(1) {
                let test = Pair::new(&x.shape, &x.pose, &y.shape, &y.pose);
                if self.compared(a, b) && test.touches() {
                    touching.insert((a, b));
                }
            }
        }
        touching
    }
}

struct Trial {
    world: World,
    model: Model,
    rng: Rng,
    shapes: Vec<Shape>,
    half: f64,
    /// How often each change was seen.
    seen: [usize; 3],
}

impl Trial {
    fn any_body(&mut self) -> Option<BodyId> {
        let count = self.model.bodies.len();
        let at = self.rng.below(count.max(1));
        self.model.bodies.keys().nth(at).copied()
    }

    fn insert(&mut self) {
        let shape = self.shapes[self.rng.below(self.shapes.len())].clone();
        let pose = self.rng.pose(self.half);
        let mobility = [Mobility::Fixed, Mobility::Moving, Mobility::Moving][self.rng.below(3)];
        let layer = 1 << self.rng.below(2);
        let layers =
            [CollisionGroups::ALL, CollisionGroups { memberships: layer, filter: u32::MAX }];
        let layers = layers[self.rng.below(2)];
        let family = (self.rng.below(4) == 0).then_some(7);
        let body = match mobility {
            Mobility::Fixed => Body::fixed(shape.clone(), pose),
            _ => Body::moving(shape.clone(), pose),
        };
        let body = body.with_collision_groups(layers);
        let body = if let Some(family) = family { body.with_family(family) } else { body };
        let id = self.world.insert(body).expect("a good body");
        let plain = Plain { shape, pose, mobility, layers, family, enabled: true };
        assert!(self.model.bodies.insert(id, plain).is_none(), "{id} was given twice");
    }

    fn change_one(&mut self, id: BodyId) {
        let choice = self.rng.below(12);
        let body = self.model.bodies.get_mut(&id).expect("a body of the model");
        match choice {
            0 => {
                let removed = self.world.remove(id);
                assert!(removed.is_ok());
                self.model.bodies.remove(&id);
                self.model.ignored.retain(|&(a, b)| a != id && b != id);
                assert_eq!(self.world.pose(id), Err(WorldError::UnknownBody(id)));
            }
            1 => {
                self.world.disable(id).expect("it is there");
                body.enabled = false;
            }
            2 => {
                self.world.enable(id).expect("it is there");
                body.enabled = true;
            }
            3 => {
                body.layers = CollisionGroups { memberships: 1, filter: 1 << self.rng.below(3) };
                self.world.set_collision_groups(id, body.layers).expect("it is there");
            }
            4 => {
                body.shape = self.shapes[self.rng.below(self.shapes.len())].clone();
                self.world.set_shape(id, body.shape.clone()).expect("it is there");
            }
            5 | 6 => {
                let other = self.any_body().filter(|&other| other != id);
                let Some(other) = other else { return };
                if choice == 5 {
                    self.world.ignore_pair(id, other).expect("both are there");
                    self.model.ignored.insert(pair(id, other));
                } else {
                    self.world.unignore_pair(other, id).expect("both are there");
                    self.model.ignored.remove(&pair(id, other));
                }
            }
            _ => {
                let pose = self.rng.pose(self.half);
                let result = self.world.set_pose(id, pose);
                if body.mobility == Mobility::Fixed {
                    assert_eq!(result, Err(WorldError::Fixed(id)));
                } else {
                    body.pose = pose;
                }
            }
        }
    }

    fn step_and_compare(&mut self, what: &str) {
        self.world.step();
        let expected = self.model.all_touching();
        let found: Pairs = self.world.contacts().iter().map(|c| (c.a, c.b)).collect();
        assert_eq!(found, expected, "{what}");
        assert_eq!(found.len(), self.world.contacts().len(), "{what}: a pair twice");

        let before = std::mem::replace(&mut self.model.touching, expected);
        let now = &self.model.touching;
        let mut events = Vec::new();
        for &(a, b) in before.union(now) {
            let change = match (before.contains(&(a, b)), now.contains(&(a, b))) {
                (false, _) => Change::Began,
                (true, true) => Change::Continued,
                (true, false) => Change::Ended,
            };
            self.seen[change as usize] += 1;
            events.push(Event { a, b, change });
        }
        assert_eq!(self.world.events(), events, "{what}");
        let changes: Vec<_> =
            events.into_iter().filter(|e| e.change != Change::Continued).collect();
        assert_eq!(self.world.report().events, changes, "{what}");
    }
}

fn compare(structure: Structure, threads: usize, seed: u64) {
    let workers = Workers::new(threads).expect("threads");
    let settings = Settings { structure, workers, ..Settings::default() };
    let mut trial = Trial {
        world: World::new(settings),
        model: Model::default(),
        rng: Rng(seed),
        shapes: shapes(),
        half: 2.0,
        seen: [0; 3],
    };
    for step in 0..60 {
        for _ in 0..trial.rng.below(if step < 20 { 6 } else { 2 }) {
            trial.insert();
        }
        for _ in 0..trial.rng.below(5) {
            if let Some(id) = trial.any_body() {
                trial.change_one(id);
            }
        }
        trial.step_and_compare(&format!("{structure:?}, seed {seed}, step {step}"));
    }
    assert!(trial.seen.iter().all(|&n| n > 10), "lopsided cases: {:?}", trial.seen);
}

#[test]
fn a_world_finds_what_all_pairs_find_whatever_happens() {
    for seed in 1..=12 {
        compare(Structure::Cells, 1, seed);
    }
}

#[test]
fn any_structure_and_any_number_of_threads_find_the_same() {
    for (structure, threads) in [(Structure::AllPairs, 1), (Structure::Tree, 2)] {
        compare(structure, threads, 77);
    }
}

#[test]
fn the_world_can_be_changed_while_its_events_are_read() {
    let mut world = World::new(Settings::default());
    let shape = Shape::sphere(1.0).expect("a radius");
    let ids =
        [0; 4].map(|_| world.insert(Body::moving(shape.clone(), Pose::IDENTITY)).expect("a body"));
    let mut read = 0;
    for event in &world.step().events {
        if world.has(event.a) {
            world.remove(event.a).expect("it is there");
        }
        world.step();
        read += 1;
    }
    assert_eq!(read, 6, "each of four with each");
    assert_eq!(world.ids().collect::<Vec<_>>(), [ids[3]]);
}
