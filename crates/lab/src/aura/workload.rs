//! The paper's workload (§4): objects that travel towards targets, cluster there and disperse.
//!
//! Every object moves towards one of the targets at constant speed. From time to time a target
//! jumps elsewhere, and from time to time an object chooses another target. All objects have the
//! same aura, of radius 1; the world is a cube, made as large as the coverage demands. The paper
//! gives neither the numbers of targets nor the times nor the speed: "set appropriately";
//! [`Setup::new`] has ours.
//!
//! A run is a function of its [`Setup`], bit for bit on every machine: the random source is in this
//! file, and nothing but sums, products, quotients and square roots is used.

use glam::DVec3;
use jostle_world::aura::Aura;
use std::f64::consts::PI;

/// What a run of the workload depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// How many objects.
    pub objects: u32,
    /// The volume of all auras, overlapping or not, divided by the volume of the world.
    pub coverage: f64,
    /// How many targets; at least 1.
    pub targets: u32,
    /// How far an object moves in a frame, in radii of an aura.
    pub speed: f64,
    /// A target jumps after a number of frames, drawn anew each time from the first to the last of
    /// these; at least 1.
    pub target_frames: [u32; 2],
    /// An object chooses a target after such a number of frames.
    pub object_frames: [u32; 2],
    /// The seed of everything random.
    pub seed: u64,
}

/// Why there is no such workload.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SetupError {
    /// The coverage is out of range.
    #[error("a coverage of {coverage} is not from 1e-9 to 1e9")]
    Coverage {
        /// As given.
        coverage: f64,
    },
    /// The speed is out of range.
    #[error("a speed of {speed} radii per frame is not from 0 to 1e9")]
    Speed {
        /// As given.
        speed: f64,
    },
    /// There are no targets.
    #[error("objects need at least one target to move to")]
    NoTargets,
    /// The times between changes are none.
    #[error(
        "changes after {first} to {last} frames: the first must be at least 1 and at most the last"
    )]
    Frames {
        /// The shortest time, as given.
        first: u32,
        /// The longest time, as given.
        last: u32,
    },
}

impl Setup {
    /// Our choice of what the paper leaves open: ten objects to a target, a twentieth of a radius
    /// in a frame; and, in terms of the time it takes to cross the world along a side, a new target
    /// after 0.2 to 0.8 of it and a new place for a target after 0.4 to 1.2. So worlds of any size
    /// look alike: objects gather, a dozen or so to a place, and are off again.
    #[must_use]
    pub fn new(objects: u32, coverage: f64, seed: u64) -> Setup {
        let speed = 0.05;
        let crossing = side(objects, coverage) / speed;
        let frames = |part: f64| ((crossing * part) as u32).max(1);
        Setup {
            objects,
            coverage,
            targets: objects.div_ceil(10).max(1),
            speed,
            target_frames: [frames(0.4), frames(1.2)],
            object_frames: [frames(0.2), frames(0.8)],
            seed,
        }
    }

    fn check(&self) -> Result<(), SetupError> {
        let &Setup { coverage, speed, .. } = self;
        if !(1e-9..=1e9).contains(&coverage) {
            return Err(SetupError::Coverage { coverage });
        }
        if !(0.0..=1e9).contains(&speed) {
            return Err(SetupError::Speed { speed });
        }
        if self.targets == 0 {
            return Err(SetupError::NoTargets);
        }
        for [first, last] in [self.target_frames, self.object_frames] {
            if first == 0 || first > last {
                return Err(SetupError::Frames { first, last });
            }
        }
        Ok(())
    }
}

/// The workload, frame by frame.
///
/// ```
/// use jostle_lab::aura::workload::{Setup, Targets};
///
/// let mut world = Targets::new(Setup::new(100, 0.2, 1))?;
/// let before = world.auras().to_vec();
/// world.advance();
/// assert_ne!(world.auras(), before);
/// # Ok::<(), jostle_lab::aura::workload::SetupError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Targets {
    setup: Setup,
    rng: Rng,
    side: f64,
    auras: Vec<Aura>,
    /// The target of each object, and the frames until it chooses again.
    aims: Vec<Countdown<u32>>,
    targets: Vec<Countdown<DVec3>>,
}

/// A choice, and for how many frames it holds.
#[derive(Clone, Copy, Debug)]
struct Countdown<T> {
    choice: T,
    frames: u32,
}

impl Targets {
    /// Objects and targets spread evenly over the world.
    ///
    /// # Errors
    /// If the setup is out of range.
    pub fn new(setup: Setup) -> Result<Targets, SetupError> {
        setup.check()?;
        let mut rng = Rng(setup.seed);
        let side = side(setup.objects, setup.coverage);
        // As if all were in the middle of a countdown, so that not all change at once.
        let targets = (0..setup.targets).map(|_| Countdown {
            choice: rng.place(side),
            frames: rng.draw([1, setup.target_frames[1]]),
        });
        let targets = targets.collect();
        let auras = (0..setup.objects).map(|_| aura(rng.place(side)));
        let auras = auras.collect();
        let aims = (0..setup.objects).map(|_| Countdown {
            choice: rng.draw([0, setup.targets - 1]),
            frames: rng.draw([1, setup.object_frames[1]]),
        });
        let aims = aims.collect();
        Ok(Targets { setup, rng, side, auras, aims, targets })
    }

    /// The auras as they are now. An object keeps its place in the list.
    #[must_use]
    pub fn auras(&self) -> &[Aura] {
        &self.auras
    }

    /// The length of a side of the world. Centres are from 0 to here on each axis.
    #[must_use]
    pub fn side(&self) -> f64 {
        self.side
    }

    /// On to the next frame.
    pub fn advance(&mut self) {
        let Targets { setup, rng, side, auras, aims, targets } = self;
        for target in targets.iter_mut() {
            target.frames -= 1;
            if target.frames == 0 {
                let choice = rng.place(*side);
                *target = Countdown { choice, frames: rng.draw(setup.target_frames) };
            }
        }
        for (moving, aim) in auras.iter_mut().zip(aims) {
            aim.frames -= 1;
            if aim.frames == 0 {
                let choice = rng.draw([0, setup.targets - 1]);
                *aim = Countdown { choice, frames: rng.draw(setup.object_frames) };
            }
            let target = targets[aim.choice as usize].choice;
            let distance = moving.centre().distance(target);
            let centre = match distance <= setup.speed {
                true => target,
                false => moving.centre() + (target - moving.centre()) * (setup.speed / distance),
            };
            *moving = aura(centre);
        }
    }
}

/// The sides of worlds are far below [`Aura::LIMIT`]: see the limits of a [`Setup`].
fn aura(centre: DVec3) -> Aura {
    Aura::new(centre, 1.0).expect("places in the world are good centres")
}

/// The side of a cube of which auras of radius 1 cover that share.
fn side(objects: u32, coverage: f64) -> f64 {
    let aura_volume = 4.0 / 3.0 * PI;
    cube_root(f64::from(objects) * aura_volume / coverage)
}

/// By Newton's method from above, where it falls until rounding stops it. The library's root may
/// differ from machine to machine.
fn cube_root(x: f64) -> f64 {
    let mut root = x.max(1.0);
    loop {
        let next = root - (root - x / (root * root)) / 3.0;
        if next < root {
            root = next;
        } else {
            return root; // also where there is no root: of 0, or of what is no number
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood, *Fast Splittable Pseudorandom Number Generators*, 2014).
#[derive(Clone, Debug)]
struct Rng(u64);

impl Rng {
    fn bits(&mut self) -> u64 {
        jostle_dice::bits(&mut self.0)
    }

    /// A number from the first to the last.
    fn draw(&mut self, [first, last]: [u32; 2]) -> u32 {
        first + (self.bits() % (u64::from(last - first) + 1)) as u32
    }

    /// A place in the cube.
    fn place(&mut self, side: f64) -> DVec3 {
        DVec3::from_array([0; 3].map(|_| (self.bits() >> 11) as f64 / (1u64 << 53) as f64 * side))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_are_cube_roots() {
        for x in [0.0, 1e-6, 0.5, 1.0, 8.0, 27.0, 1e15, 1e-30] {
            let root = cube_root(x);
            assert!((root * root * root - x).abs() <= 1e-15 * x, "{x}: {root}");
        }
    }
}
