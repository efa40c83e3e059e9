//! Boxes of side 1 that move in a cube and turn round at its sides.
//!
//! By default the boxes of the program that other libraries were measured with: numbers are drawn
//! in the same order and rounded in the same places, so that all bits are the same. Share of
//! movers, speed and density only scale what is drawn.

use glam::{DVec3, Vec3};
use jostle_geom::Aabb;

/// What the boxes depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Workload {
    pub(crate) n: u32,
    /// Boxes per unit of volume.
    pub(crate) density: f64,
    /// The share of boxes that move.
    pub(crate) movers: f64,
    /// The largest motion along an axis in a step.
    pub(crate) speed: f64,
    /// Not 0.
    pub(crate) seed: u64,
}

impl Workload {
    /// The peers' own.
    pub(crate) fn peers(n: u32) -> Workload {
        Workload { n, density: 0.125, movers: 1.0, speed: 0.1, seed: 88_172_645_463_325_252 }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct MovingBoxes {
    places: Vec<DVec3>,
    velocities: Vec<DVec3>,
    /// The boxes that move, in order.
    movers: Vec<u32>,
    side: f64,
}

impl MovingBoxes {
    pub(crate) fn new(workload: &Workload) -> MovingBoxes {
        let &Workload { n, density, movers, speed, seed } = workload;
        let mut random = Xorshift(seed);
        let side = (f64::from(n) / density).cbrt();
        let (mut places, mut velocities) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let mut place = || random.unit() * side;
            places.push(DVec3::new(place(), place(), place()));
            let mut velocity = || (random.unit() - 0.5) * (2.0 * speed);
            velocities.push(DVec3::new(velocity(), velocity(), velocity()));
        }
        // Spread evenly over the numbers of the boxes, which say nothing about their places.
        let movers_before = |i: u32| (f64::from(i) * movers).floor();
        let moves = |&i: &u32| movers_before(i + 1) > movers_before(i);
        MovingBoxes { places, velocities, movers: (0..n).filter(moves).collect(), side }
    }

    pub(crate) fn step(&mut self) {
        for &mover in &self.movers {
            let place = &mut self.places[mover as usize];
            let velocity = &mut self.velocities[mover as usize];
            for axis in 0..3 {
                place[axis] += velocity[axis];
                if place[axis] < 0.0 || place[axis] > self.side {
                    velocity[axis] = -velocity[axis];
                }
            }
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u32 {
        self.places.len() as u32
    }

    pub(crate) fn movers(&self) -> &[u32] {
        &self.movers
    }

    pub(crate) fn place(&self, i: u32) -> DVec3 {
        self.places[i as usize]
    }

    #[inline]
    pub(crate) fn bounds(&self, i: u32) -> Aabb {
        let (centre, half) = (self.place(i).as_vec3(), Vec3::splat(0.5));
        Aabb::around(centre - half, centre + half)
    }
}

/// Marsaglia 2003, with the shifts of the peers' program.
struct Xorshift(u64);

impl Xorshift {
    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenes::PeerBoxes;

    #[test]
    fn the_preset_has_the_boxes_of_the_peers_bit_for_bit() {
        let (mut ours, mut peers) = (MovingBoxes::new(&Workload::peers(500)), PeerBoxes::new(500));
        for step in 0..200 {
            assert_eq!(ours.places, peers.places(), "step {step}");
            assert!((0..500).map(|i| ours.bounds(i)).eq(peers.boxes()), "step {step}");
            ours.step();
            peers.step();
        }
    }

    #[test]
    fn the_share_of_movers_moves_and_the_rest_stays() {
        for (share, count) in [(0.0, 0), (0.1, 100), (0.25, 250), (1.0, 1000)] {
            let workload = Workload { movers: share, ..Workload::peers(1000) };
            let mut boxes = MovingBoxes::new(&workload);
            let before = boxes.places.clone();
            boxes.step();
            let moved = (0..1000).filter(|&i| boxes.places[i] != before[i]);
            let moved: Vec<u32> = moved.map(|i| i as u32).collect();
            assert_eq!(moved, boxes.movers(), "{share}");
            assert_eq!(moved.len(), count, "{share}");
        }
    }
}
