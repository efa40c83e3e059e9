//! Where an object is, in whole numbers: what machines agree on bit by bit.
//!
//! The authority rounds its own state to these numbers before anything is decided about it, so that
//! all decide about the same ones.

use crate::time::Tick;
use glam::{DQuat, DVec3};
use jostle_geom::{Pose, PoseError};
use serde::{Deserialize, Serialize};

/// Metres per unit of a position: the world reaches 524 km from its origin.
pub const POSITION_UNIT: f64 = 1.0 / 4096.0;

/// Metres per second, and radians per second, per unit of a velocity: up to 128 of them.
pub const VELOCITY_UNIT: f64 = 1.0 / 256.0;

/// Units of position per unit of velocity and second.
const PER_SECOND: i64 = 16;

/// Where an object is and how fast it goes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct State {
    /// In units of [`POSITION_UNIT`].
    pub position: [i32; 3],
    /// How it is turned.
    pub rotation: Rotation,
    /// In units of [`VELOCITY_UNIT`].
    pub velocity: [i16; 3],
    /// Axis times angle per second, in units of [`VELOCITY_UNIT`].
    pub spin: [i16; 3],
}

/// A rotation as the three smaller parts of a quaternion, in 20 bits each, and which one is left
/// out. The part left out is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Rotation(u64);

impl From<u64> for Rotation {
    fn from(bits: u64) -> Rotation {
        Rotation::from_bits(bits)
    }
}

impl From<Rotation> for u64 {
    fn from(rotation: Rotation) -> u64 {
        rotation.0
    }
}

const PART_BITS: u32 = 20;
const PART_MASK: u64 = (1 << PART_BITS) - 1;
/// The three smaller parts are at most the root of one half in size.
const PART_MAX: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Half of the steps between the ends.
const STEPS: f64 = ((1u32 << (PART_BITS - 1)) - 1) as f64;

impl Default for Rotation {
    fn default() -> Rotation {
        Rotation::from_quaternion(DQuat::IDENTITY)
    }
}

impl Rotation {
    /// The closest rotation that the bits can hold. Something that is no rotation is taken as
    /// none.
    ///
    /// ```
    /// use glam::DQuat;
    /// use jostle_proto::Rotation;
    ///
    /// let quarter = DQuat::from_xyzw(0.0, 0.5f64.sqrt(), 0.0, 0.5f64.sqrt());
    /// let kept = Rotation::from_quaternion(quarter).quaternion();
    /// assert!(kept.dot(quarter) > 1.0 - 1e-11);
    /// ```
    #[must_use]
    pub fn from_quaternion(quaternion: DQuat) -> Rotation {
        let length = quaternion.length();
        let parts = (quaternion / length).to_array();
        let parts =
            if parts.iter().all(|part| part.is_finite()) { parts } else { [0., 0., 0., 1.] };
        let mut largest = 0;
        for part in 1..4 {
            if parts[part].abs() > parts[largest].abs() {
                largest = part;
            }
        }
        let sign = if parts[largest] < 0.0 { -1.0 } else { 1.0 };
        let mut bits = largest as u64;
        for (at, part) in parts.iter().enumerate() {
            if at != largest {
                let step = (sign * part / PART_MAX * STEPS).round().clamp(-STEPS, STEPS);
                bits = bits << PART_BITS | (step + STEPS) as u64;
            }
        }
        Rotation(bits)
    }

    /// The rotation, of length 1. Any bits are one.
    #[must_use]
    pub fn quaternion(self) -> DQuat {
        let largest = (self.0 >> (3 * PART_BITS) & 3) as usize;
        let mut parts = [0.0; 4];
        let mut squares = 0.0;
        let mut shift = 3 * PART_BITS;
        for (at, part) in parts.iter_mut().enumerate() {
            if at != largest {
                shift -= PART_BITS;
                let step = (self.0 >> shift & PART_MASK) as f64 - STEPS;
                *part = step / STEPS * PART_MAX;
                squares += *part * *part;
            }
        }
        parts[largest] = (1.0f64 - squares).max(0.0).sqrt();
        let quaternion = DQuat::from_array(parts);
        quaternion / quaternion.length()
    }

    /// The bits, for wires.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// From bits, whatever they are.
    #[must_use]
    pub fn from_bits(bits: u64) -> Rotation {
        Rotation(bits & ((1 << (3 * PART_BITS + 2)) - 1))
    }
}

impl State {
    /// The pose, exactly what the numbers say.
    ///
    /// # Errors
    /// Never for numbers that fit in here; the types cannot know.
    pub fn pose(&self) -> Result<Pose, PoseError> {
        let place = DVec3::from_array(self.position.map(|along| f64::from(along) * POSITION_UNIT));
        Pose::new(self.rotation.quaternion(), place)
    }

    /// How far it came in the last tick, in units of positions, rounded away from zero: at most
    /// one unit farther than [`State::moved`] went.
    #[must_use]
    pub fn last_step(&self, rate: u32) -> [i32; 3] {
        let rate = i64::from(rate.max(1));
        self.velocity.map(|velocity| {
            let way = i64::from(velocity) * PER_SECOND;
            ((way.abs() + rate - 1) / rate * way.signum()) as i32
        })
    }

    /// Where it is one tick later if nothing happens, with `rate` ticks per second.
    ///
    /// A tick adds the whole units that have come together since the world began, not its own
    /// rounded share: so slow things move, and nothing is summed up wrong.
    #[must_use]
    pub fn moved(mut self, from: Tick, rate: u32) -> State {
        let rate = i64::from(rate.max(1));
        let way = |velocity: i16, ticks: u64| {
            let each = i64::from(velocity) * PER_SECOND;
            // In 64 bits as long as they suffice: some ten thousand years.
            match i64::try_from(ticks).ok().and_then(|ticks| each.checked_mul(ticks)) {
                Some(all) => i128::from(all.div_euclid(rate)),
                None => (i128::from(each) * i128::from(ticks)).div_euclid(i128::from(rate)),
            }
        };
        for axis in 0..3 {
            let velocity = self.velocity[axis];
            let by = way(velocity, from.0 + 1) - way(velocity, from.0);
            let by = i32::try_from(by).unwrap_or(0);
            self.position[axis] = self.position[axis].saturating_add(by);
        }
        if self.spin != [0; 3] {
            let spin = DVec3::from_array(self.spin.map(|part| f64::from(part) * VELOCITY_UNIT));
            if let Some(turn) = jostle_geom::rotation_from_scaled_axis(spin / rate as f64) {
                self.rotation = Rotation::from_quaternion(turn * self.rotation.quaternion());
            }
        }
        self
    }
}

/// A box of whole numbers; its faces belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Block {
    /// The lowest corner.
    pub min: [i32; 3],
    /// The highest corner.
    pub max: [i32; 3],
}

impl Block {
    /// Do they share a point?
    #[must_use]
    pub fn meets(&self, other: &Block) -> bool {
        (0..3).all(|axis| self.min[axis] <= other.max[axis] && other.min[axis] <= self.max[axis])
    }

    /// The block moved by a way.
    #[must_use]
    pub fn shifted(self, way: [i32; 3]) -> Block {
        let by =
            |corner: [i32; 3]| [0, 1, 2].map(|axis: usize| corner[axis].saturating_add(way[axis]));
        Block { min: by(self.min), max: by(self.max) }
    }

    /// The smallest block that holds both.
    #[must_use]
    pub fn join(self, other: Block) -> Block {
        Block {
            min: std::array::from_fn(|axis| self.min[axis].min(other.min[axis])),
            max: std::array::from_fn(|axis| self.max[axis].max(other.max[axis])),
        }
    }

    /// The point of a pair of blocks that decides which node reports it: the larger of their lowest
    /// corners, which is in both if they meet. (Storey's midpoint, 3.2.2.1, need not be in a region
    /// that both are in, and then the pair is not reported; see `space`.)
    #[must_use]
    pub fn reference_point(&self, other: &Block) -> [i32; 3] {
        [0, 1, 2].map(|axis: usize| self.min[axis].max(other.min[axis]))
    }
}
