//! The boxes of the broad phase benchmark of other libraries. A file of its own, which
//! `bench-peers` includes too.

use glam::{DVec3, Vec3};
use jostle_geom::Aabb;

/// The moving boxes of the broad phase benchmark that other libraries were measured with: n boxes
/// of side 1 in a cube of 8n cubic metres, all of them moving. Numbers are made in the same order
/// as there and are the same to the bit (given the same cube root in the system's library).
///
/// ```
/// use jostle_lab::scenes::PeerBoxes;
///
/// let mut boxes = PeerBoxes::new(1000);
/// let before = boxes.boxes().next();
/// boxes.step();
/// assert_ne!(boxes.boxes().next(), before);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PeerBoxes {
    places: Vec<DVec3>,
    velocities: Vec<DVec3>,
    side: f64,
}

impl PeerBoxes {
    /// `count` boxes.
    #[must_use]
    pub fn new(count: usize) -> PeerBoxes {
        let mut random = Random(88_172_645_463_325_252);
        let side = (count as f64 * 8.0).cbrt();
        let mut boxes = PeerBoxes { places: Vec::new(), velocities: Vec::new(), side };
        for _ in 0..count {
            let place = [random.unit() * side, random.unit() * side, random.unit() * side];
            let mut speed = || (random.unit() - 0.5) * 0.2;
            boxes.places.push(DVec3::from_array(place));
            boxes.velocities.push(DVec3::new(speed(), speed(), speed()));
        }
        boxes
    }

    /// Moves every box. One whose centre left the cube turns round.
    pub fn step(&mut self) {
        for (place, velocity) in self.places.iter_mut().zip(&mut self.velocities) {
            for axis in 0..3 {
                place[axis] += velocity[axis];
                if place[axis] < 0.0 || place[axis] > self.side {
                    velocity[axis] = -velocity[axis];
                }
            }
        }
    }

    /// The boxes where they are now.
    pub fn boxes(&self) -> impl Iterator<Item = Aabb> + '_ {
        let half = Vec3::splat(0.5);
        self.places.iter().map(move |place| {
            let centre = place.as_vec3();
            Aabb::around(centre - half, centre + half)
        })
    }

    /// The centres of the boxes.
    #[must_use]
    pub fn places(&self) -> &[DVec3] {
        &self.places
    }
}

/// Xorshift (Marsaglia 2003) with the shifts of the peers' program.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// From 0 to 1.
    pub(super) fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / 9_007_199_254_740_992.0
    }
}
