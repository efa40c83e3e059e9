//! Worlds and random numbers for the tests of wires.

use glam::DQuat;
use jostle_proto::wire::Snapshot;
use jostle_proto::{Class, Object, ObjectId, Rotation, ShapeId, State, Tick};

pub(crate) const RATE: u32 = 60;

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        jostle_dice::below(&mut self.0, end as u64) as usize
    }

    /// From `-most` to `most`.
    pub(crate) fn within(&mut self, most: i32) -> i32 {
        self.below(2 * most as usize + 1) as i32 - most
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn velocity(&mut self, most: i32) -> [i16; 3] {
        [(); 3].map(|()| self.within(most) as i16)
    }
}

/// How a world behaves.
#[derive(Clone, Copy)]
pub(crate) struct Habits {
    pub(crate) objects: usize,
    /// How many of a hundred move.
    pub(crate) moving: usize,
    /// How many of a hundred that move are avatars: velocity and spin change in every tick, as with
    /// 10 m/s^2.
    pub(crate) avatars: usize,
    /// How many of a hundred others run into something in a tick.
    pub(crate) bumps: usize,
    /// How many of a hundred are replaced by another one in a tick.
    pub(crate) replaced: usize,
}

pub(crate) const ORDINARY: Habits =
    Habits { objects: 1000, moving: 70, avatars: 20, bumps: 3, replaced: 0 };

pub(crate) struct World {
    pub(crate) random: Random,
    habits: Habits,
    tick: Tick,
    objects: Vec<Object>,
    next_id: u64,
}

impl World {
    pub(crate) fn new(seed: u64, habits: Habits) -> World {
        let (random, objects) = (Random(seed), Vec::new());
        let tick = Tick(1000);
        let mut world = World { random, habits, tick, objects, next_id: 0 };
        for at in 0..habits.objects {
            let moving = 100 * at < habits.moving * habits.objects;
            let object = world.object(moving);
            world.objects.push(object);
        }
        world
    }

    /// Somewhere in 200 m; half of what moves turns, too.
    fn object(&mut self, moving: bool) -> Object {
        let random = &mut self.random;
        self.next_id += 1 + random.below(5) as u64;
        let (avatar, turning) = (random.chance(self.habits.avatars), random.chance(50));
        let class = match (moving, avatar) {
            (false, _) => Class::Immovable,
            (true, false) => Class::Dynamic,
            (true, true) => Class::Avatar,
        };
        let position = [(); 3].map(|()| random.within(409_600));
        let quaternion = [(); 4].map(|()| f64::from(random.within(1000)));
        let rotation = Rotation::from_quaternion(DQuat::from_array(quaternion));
        let mut state = State { position, rotation, ..State::default() };
        if moving {
            state.velocity = random.velocity(5 * 256);
            state.spin = if turning { random.velocity(3 * 256) } else { [0; 3] };
        }
        let shape = ShapeId(random.below(20) as u32);
        Object { id: ObjectId(self.next_id), class, shape, state }
    }

    pub(crate) fn step(&mut self) {
        for at in 0..self.objects.len() {
            if self.random.chance(self.habits.replaced) {
                let moving = self.random.chance(self.habits.moving);
                self.objects[at] = self.object(moving);
                continue;
            }
            let bumped = self.random.chance(self.habits.bumps);
            let Object { class, state, .. } = &mut self.objects[at];
            match class {
                Class::Immovable | Class::Absent => continue,
                Class::Avatar => {
                    let turning = state.spin != [0; 3];
                    for along in &mut state.velocity {
                        *along = along.saturating_add(self.random.within(43) as i16);
                    }
                    for along in state.spin.iter_mut().filter(|_| turning) {
                        *along = along.saturating_add(self.random.within(43) as i16);
                    }
                    *state = state.moved(self.tick, RATE);
                }
                // What happened at the end of a tick moves it in the next, as with nodes.
                Class::Dynamic | Class::Foreign(_) | Class::Leaving(..) => {
                    if bumped {
                        state.velocity = self.random.velocity(5 * 256);
                        state.spin = self.random.velocity(3 * 256);
                    }
                    *state = state.moved(self.tick, RATE);
                }
            }
        }
        self.tick = self.tick.next();
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.tick, self.objects.clone()).unwrap()
    }
}
