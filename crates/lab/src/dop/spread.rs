//! Directions that repel each other on the sphere until they are as far apart as they get
//! (Zachmann 2000, 3.5.9): p and −p are coupled, and steps become smaller as it cools down.
//!
//! Only sums, products, quotients and roots, so the same numbers on every machine.

use crate::bench::Random;
use glam::DVec3;

/// The best of so many tries is taken: some cool down in a worse arrangement.
const TRIES: u64 = 8;
const STEPS: usize = 1500;
/// The first step, as part of the distance that a force would move a point.
const HOT: f64 = 0.1;
const COOLING: f64 = 0.995;

/// One direction of each pair, `count` of them.
pub(super) fn spread(count: usize, seed: u64) -> Vec<DVec3> {
    let tries = (0..TRIES).map(|attempt| {
        anneal(count, &mut Random::new(seed.wrapping_mul(TRIES).wrapping_add(attempt)))
    });
    let better = |one: &Vec<DVec3>, other: &Vec<DVec3>| closest(one).total_cmp(&closest(other));
    tries.min_by(better).unwrap_or_default()
}

/// The largest cosine between two of the directions and their opposites.
pub(super) fn closest(half: &[DVec3]) -> f64 {
    let pairs = half.iter().enumerate().flat_map(|(i, p)| half[..i].iter().map(move |q| p.dot(*q)));
    pairs.map(f64::abs).fold(0.0, f64::max)
}

fn anneal(count: usize, random: &mut Random) -> Vec<DVec3> {
    let mut points: Vec<DVec3> = (0..count).map(|_| direction(random)).collect();
    let mut heat = HOT / count as f64;
    // The higher the power, the more the nearest neighbour counts; it rises as it cools down, from
    // the force of electric charges to one that cares for the closest pair only.
    for step in 0..STEPS {
        let power = 2 + 12 * step / STEPS;
        let before = points.clone();
        for (i, point) in points.iter_mut().enumerate() {
            let mut force = DVec3::ZERO;
            for (_, &other) in before.iter().enumerate().filter(|&(j, _)| j != i) {
                for other in [other, -other] {
                    let away = before[i] - other;
                    let distance = away.length().max(1e-6);
                    force += away / distance.powi(power as i32 + 1);
                }
            }
            let along = force - before[i] * force.dot(before[i]);
            // Never further than the heat, however strong the force.
            let length = along.length();
            let moved = if length > 1.0 { along / length } else { along };
            *point = (before[i] + moved * heat).normalize();
        }
        heat *= COOLING;
    }
    points
}

/// Even on the sphere: a point of the ball, pushed outwards. (By angles it would need sine and
/// cosine, whose last digit differs between platforms.)
fn direction(random: &mut Random) -> DVec3 {
    loop {
        let point = random.point();
        if (0.01..=1.0).contains(&point.length_squared()) {
            return point.normalize();
        }
    }
}
