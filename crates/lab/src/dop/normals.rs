//! The directions of a DOP.

use super::spread;
use glam::DVec3;

/// k directions of length 1, in pairs: direction i + k/2 is the opposite of direction i.
///
/// They are ordered so that each is as perpendicular as possible to those before it, which finds
/// volumes that do not overlap early (Zachmann 2000, 3.5.9).
///
/// ```
/// use jostle_lab::dop::NormalSet;
///
/// assert_eq!(NormalSet::klosowski().k(), 18);
/// let many = NormalSet::spread(24, 1)?;
/// assert!(many.quality() > 0.9);
/// # Ok::<(), jostle_lab::dop::NormalSetError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NormalSet {
    half: Vec<DVec3>,
}

/// Why directions are no set for a DOP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormalSetError {
    /// k must be even and from 6 to [`NormalSet::K_MAX`].
    BadK {
        /// What was given.
        k: usize,
    },
    /// A direction has no length, or is not finite.
    NoDirection {
        /// Which one.
        index: usize,
    },
    /// Two directions are parallel, or nearly.
    Parallel {
        /// The first.
        one: usize,
        /// The second.
        other: usize,
    },
    /// All are near one plane, so that volumes would have no end, or one far away.
    Flat,
}

impl std::fmt::Display for NormalSetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NormalSetError::BadK { k } => {
                write!(f, "k must be even and from 6 to {}, found {k}", NormalSet::K_MAX)
            }
            NormalSetError::NoDirection { index } => {
                write!(f, "direction {index} has no length, or numbers that are not finite")
            }
            NormalSetError::Parallel { one, other } => {
                write!(f, "directions {one} and {other} are less than ten degrees apart")
            }
            NormalSetError::Flat => write!(f, "the directions are all near one plane"),
        }
    }
}

impl std::error::Error for NormalSetError {}

/// Cosine of ten degrees. 64 directions that are spread well are 25 degrees apart.
const PARALLEL: f64 = 0.984_8;

impl NormalSet {
    /// The largest k.
    pub const K_MAX: usize = 64;

    /// No vertex of a DOP whose planes all are at distance 1 is further than this from the middle.
    pub(crate) const REACH_MAX: f64 = 8.0;

    /// A set from one direction of each pair, of any length.
    ///
    /// # Errors
    /// Too few or too many directions, two that are parallel, all in one plane.
    pub fn new(half: &[DVec3]) -> Result<NormalSet, NormalSetError> {
        let k = 2 * half.len();
        if !(6..=NormalSet::K_MAX).contains(&k) {
            return Err(NormalSetError::BadK { k });
        }
        let mut unit = Vec::with_capacity(half.len());
        for (index, direction) in half.iter().enumerate() {
            let direction = direction.try_normalize();
            unit.push(direction.ok_or(NormalSetError::NoDirection { index })?);
        }
        for one in 0..unit.len() {
            for other in 0..one {
                if unit[one].dot(unit[other]).abs() > PARALLEL {
                    return Err(NormalSetError::Parallel { one: other, other: one });
                }
            }
        }
        NormalSet { half: perpendicular_first(unit) }.not_flat()
    }

    fn not_flat(self) -> Result<NormalSet, NormalSetError> {
        if self.reach() > NormalSet::REACH_MAX { Err(NormalSetError::Flat) } else { Ok(self) }
    }

    /// Directions that a set had, to the bit and in its order.
    ///
    /// # Errors
    /// As [`NormalSet::new`]; and directions that are not as long as 1 up to rounding.
    pub(crate) fn again(half: Vec<DVec3>) -> Result<NormalSet, NormalSetError> {
        NormalSet::new(&half)?;
        let off = |d: &DVec3| (d.length_squared() - 1.0).abs() > 4.0 * f64::EPSILON;
        match half.iter().position(off) {
            Some(index) => Err(NormalSetError::NoDirection { index }),
            None => NormalSet { half }.not_flat(),
        }
    }

    /// k = 6: along x, y and z, the directions of a box.
    #[must_use]
    pub fn axes() -> NormalSet {
        NormalSet { half: DVec3::AXES.to_vec() }
    }

    /// k = 8: towards the corners of a cube, the directions of an octahedron.
    #[must_use]
    pub fn octahedron() -> NormalSet {
        NormalSet::whole(&CORNERS)
    }

    /// k = 14: those of the box and of the octahedron.
    #[must_use]
    pub fn fourteen() -> NormalSet {
        NormalSet::whole(&[&AXES[..], &CORNERS].concat())
    }

    /// k = 18: those of the box and towards the middles of a cube's edges, as Klosowski proposed
    /// and Ohlenburg uses (2003, 3.2.3).
    #[must_use]
    pub fn klosowski() -> NormalSet {
        NormalSet::whole(&[&AXES[..], &EDGES].concat())
    }

    /// The best known set for k: the box for 6, otherwise [`NormalSet::spread`] with seed 1.
    ///
    /// # Errors
    /// A k that is odd, below 6 or above 32.
    pub fn best(k: usize) -> Result<NormalSet, NormalSetError> {
        if k == 6 { Ok(NormalSet::axes()) } else { NormalSet::spread(k, 1) }
    }

    /// k directions that repelled each other on the sphere (Zachmann 2000, 3.5.9). The same numbers
    /// on every machine.
    ///
    /// # Errors
    /// A k that is odd, below 6 or above 32.
    pub fn spread(k: usize, seed: u64) -> Result<NormalSet, NormalSetError> {
        if k % 2 == 1 || !(6..=32).contains(&k) {
            return Err(NormalSetError::BadK { k });
        }
        NormalSet::new(&spread::spread(k / 2, seed))
    }

    fn whole(directions: &[[i8; 3]]) -> NormalSet {
        let unit = |d: &[i8; 3]| DVec3::from(d.map(f64::from)).normalize();
        NormalSet { half: perpendicular_first(directions.iter().map(unit).collect()) }
    }

    /// How many directions.
    #[must_use]
    pub fn k(&self) -> usize {
        2 * self.half.len()
    }

    /// One of each pair, k/2 directions.
    #[must_use]
    pub fn half(&self) -> &[DVec3] {
        &self.half
    }

    /// Direction i of k.
    ///
    /// # Panics
    /// If i is not below k.
    #[must_use]
    pub fn normal(&self, i: usize) -> DVec3 {
        let half = self.half.len();
        if i < half { self.half[i] } else { -self.half[i - half] }
    }

    /// The smallest angle between two of the k directions, in radians.
    #[must_use]
    pub fn least_angle(&self) -> f64 {
        spread::closest(&self.half).acos()
    }

    /// The smallest angle as a part of the largest that any k points on a sphere can have (Fejes
    /// Tóth 1943: arccos((cot²ω − 1) / 2) with ω = kπ / 6(k − 2)), which few k reach.
    #[must_use]
    pub fn quality(&self) -> f64 {
        let k = self.k() as f64;
        let omega = k / (k - 2.0) * std::f64::consts::PI / 6.0;
        let bound = ((omega.tan().powi(-2) - 1.0) / 2.0).acos();
        self.least_angle() / bound
    }

    /// The smallest angle as a part of the bound that Zachmann prints (with the root that errata E7
    /// restores): 2·√(2π / (k·√3)), the spacing of a flat hexagonal packing. The sphere is not
    /// flat, so small k can exceed it.
    #[must_use]
    pub fn quality_flat(&self) -> f64 {
        let k = self.k() as f64;
        let bound = 2.0 * (2.0 * std::f64::consts::PI / (k * 3f64.sqrt())).sqrt();
        self.least_angle() / bound
    }

    /// How far the farthest vertex is from the middle if all planes are at distance 1.
    fn reach(&self) -> f64 {
        let offsets = vec![1.0; self.k()];
        let faces = super::faces::Faces::new(self, &offsets, 16.0 * NormalSet::REACH_MAX);
        faces.points().map(DVec3::length).fold(0.0, f64::max)
    }
}

const AXES: [[i8; 3]; 3] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const CORNERS: [[i8; 3]; 4] = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]];
const EDGES: [[i8; 3]; 6] = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, -1, 0], [1, 0, -1], [0, 1, -1]];

/// Each as perpendicular as possible to those before it; the first stays, and so do ties.
fn perpendicular_first(mut directions: Vec<DVec3>) -> Vec<DVec3> {
    for done in 1..directions.len() {
        let (before, rest) = directions.split_at(done);
        let nearest = |d: &DVec3| before.iter().map(|b| b.dot(*d).abs()).fold(0.0, f64::max);
        let mut best = 0;
        for candidate in 1..rest.len() {
            if nearest(&rest[candidate]) < nearest(&rest[best]) {
                best = candidate;
            }
        }
        directions[done..].swap(0, best);
    }
    directions
}
