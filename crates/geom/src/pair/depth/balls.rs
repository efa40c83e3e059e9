//! Balls inside two solids, which prove that no short move parts them.
//!
//! A ball of radius r around p inside the first solid and one of radius s around q inside the
//! second overlap after every move of the second that is closer to p − q than r + s. So they are
//! a ball in the space of moves, and everything in it is too short to part the solids.

use super::super::models::ModelPair;
use crate::posed_model::{PosedModel, Side};
use glam::DVec3;

/// All moves closer to `centre` than `radius` leave an overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball {
    pub(super) centre: DVec3,
    pub(super) radius: f64,
}

/// The solids, and how many points were looked at.
pub(super) struct Insides<'a> {
    solids: [PosedModel<'a>; 2],
    pub(super) looked_at: u32,
}

/// Around a point and the place of the second solid to which it belongs.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// Below zero outside.
    radii: [f64; 2],
    /// The direction in which both radii grow.
    gradient: DVec3,
}

impl<'a> Insides<'a> {
    pub(super) fn new(pair: &ModelPair<'a>) -> Insides<'a> {
        Insides { solids: pair.posed(), looked_at: 0 }
    }

    /// The distance of a point from a surface, below zero outside, and the direction away from
    /// the surface, or towards it from outside.
    fn inner_radius(&self, solid: usize, p: DVec3) -> (f64, DVec3) {
        let posed = &self.solids[solid];
        let Some(closest) = posed.closest_point(p, f64::INFINITY) else {
            return (f64::NEG_INFINITY, DVec3::ZERO);
        };
        let away = (p - closest.point).normalize_or_zero();
        if posed.contains(p) == Ok(Side::Inside) {
            (closest.distance, away)
        } else {
            (-closest.distance, -away)
        }
    }

    fn look(&mut self, p: DVec3, way: DVec3) -> Look {
        self.looked_at += 1;
        let (r, up) = self.inner_radius(0, p);
        let (s, along) = self.inner_radius(1, p - way);
        Look { radii: [r, s], gradient: up + along }
    }

    /// The ball around the move `way` with the largest radius that a search from `seed` finds, a
    /// point that is inside both or nearly. The search ends when the radius is above `enough`, or
    /// after so many looks. Also gives the best point.
    ///
    /// The sum of two distances is concave where the closest points are on planes, and not smooth:
    /// between two sides its gradient changes at once. So the search goes along the shortest
    /// vector in the convex hull of the last gradients (the bundle method of Lemaréchal, *An
    /// Extension of Davidon Methods to Nondifferentiable Problems*, 1975, in its simplest form).
    pub(super) fn ball_at(
        &mut self,
        way: DVec3,
        seed: DVec3,
        enough: f64,
        looks: u32,
    ) -> (Ball, DVec3) {
        let sum = |look: &Look| match look.radii {
            // A ball is inside, or it proves nothing; half in and half out is worth a try.
            [r, s] if r > 0.0 && s > 0.0 => r + s,
            [r, s] => r.min(s).min(0.0),
        };
        let mut best = (self.look(seed, way), seed);
        let mut gradients = vec![best.0.gradient];
        let [r, s] = best.0.radii;
        let mut step = (0.5 * r.abs().max(s.abs())).max(0.25 * enough);
        let least_step = step * 1e-3;
        for _ in 1..looks {
            if sum(&best.0) > enough || step < least_step {
                break;
            }
            let direction = shortest(&gradients);
            if direction.length_squared() < 1e-6 {
                // Nothing grows in any direction: the middle between two sides or more.
                break;
            }
            let p = best.1 + direction.normalize() * step;
            let look = self.look(p, way);
            if sum(&look) > sum(&best.0) {
                best = (look, p);
                gradients.clear();
                step *= 1.25;
            } else {
                step *= 0.5;
            }
            gradients.push(look.gradient);
            if gradients.len() > 4 {
                gradients.remove(0);
            }
        }
        (Ball { centre: way, radius: sum(&best.0).max(0.0) }, best.1)
    }
}

/// The shortest vector in the convex hull of a few, roughly: Gilbert's iteration (1966).
fn shortest(vectors: &[DVec3]) -> DVec3 {
    let mut v = vectors.last().copied().unwrap_or(DVec3::ZERO);
    for _ in 0..8 {
        let lowest = vectors.iter().min_by(|a, b| a.dot(v).total_cmp(&b.dot(v)));
        let Some(&lowest) = lowest else { break };
        let to = lowest - v;
        let size = to.length_squared();
        if size == 0.0 {
            break;
        }
        v += to * (-v.dot(to) / size).clamp(0.0, 1.0);
    }
    v
}
