//! Numbers from a seed, for the tests of what is between two messages.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

use glam::{DQuat, DVec3};
use jostle_proto::reckon::{Motion, Place, Rates};

/// SplitMix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn bits(&mut self) -> u64 {
        jostle_dice::bits(&mut self.0)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        jostle_dice::below(&mut self.0, end)
    }

    pub(crate) fn number(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * jostle_dice::part(&mut self.0)
    }

    /// In a cube about the origin.
    pub(crate) fn vector(&mut self, size: f64) -> DVec3 {
        DVec3::from_array([0; 3].map(|_| self.number(-size, size)))
    }

    pub(crate) fn direction(&mut self) -> DVec3 {
        loop {
            let vector = self.vector(1.0);
            if (0.01..1.0).contains(&vector.length()) {
                return vector.normalize();
            }
        }
    }

    pub(crate) fn rotation(&mut self) -> DQuat {
        jostle_geom::rotation_from_scaled_axis(self.direction() * self.number(0.0, 3.1)).unwrap()
    }

    pub(crate) fn motion(&mut self) -> Motion {
        let place = Place { position: self.vector(50.0), rotation: self.rotation() };
        let axis = self.direction();
        let (spin, change) = (self.number(-3.0, 3.0), self.number(-2.0, 2.0));
        Motion {
            place,
            speed: Rates { linear: self.vector(10.0), angular: axis * spin },
            change: Rates { linear: self.vector(5.0), angular: axis * change },
        }
    }
}

/// How far two rotations are apart, as the length of the difference of their quaternions.
pub(crate) fn turned(a: DQuat, b: DQuat) -> f64 {
    (a - b).length().min((a + b).length())
}
