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

impl Look {
    /// Worse than any other.
    const NONE: Look = Look { radii: [f64::NEG_INFINITY; 2], gradient: DVec3::ZERO };
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

    /// Points deep inside both solids, the deepest first: best first over the boxes around parts of
    /// the space that they share.
    pub(super) fn deep_points(&mut self, looks: u32) -> Vec<DVec3> {
        let [Some(a), Some(b)] = self.solids.map(|solid| solid.bounds()) else { return Vec::new() };
        let (low, high) = (a.0.max(b.0), a.1.min(b.1));
        let mut half = (high - low) * 0.5;
        let mut found: Vec<(f64, DVec3)> = Vec::new();
        // All boxes of one size, those with the largest bound first.
        let mut boxes = vec![(f64::INFINITY, low + half)];
        let mut left = looks;
        while left > 0 && !boxes.is_empty() {
            let mut next = Vec::new();
            let best = found.first().map_or(0.0, |best| best.0);
            for &(_, middle) in boxes.iter().filter(|(upper, _)| *upper > best) {
                if left == 0 {
                    break;
                }
                left -= 1;
                let look = self.look(middle, DVec3::ZERO);
                let [r, s] = look.radii;
                let reach = half.length();
                if r.min(s) > 0.0 {
                    found.push((r + s, middle));
                }
                if r.min(s) + reach > 0.0 {
                    let parts = (0..8).map(|k| {
                        let sign = |bit: u32| if k >> bit & 1 == 1 { 0.5 } else { -0.5 };
                        middle + half * DVec3::new(sign(0), sign(1), sign(2))
                    });
                    next.extend(parts.map(|part| (r + s + 2.0 * reach, part)));
                }
            }
            found.sort_by(|p, q| q.0.total_cmp(&p.0));
            next.sort_by(|p, q| q.0.total_cmp(&p.0));
            boxes = next;
            half *= 0.5;
        }
        found.into_iter().map(|(_, point)| point).collect()
    }

    /// The ball around the move `way` with the largest radius that a search from the best of a few
    /// seeds finds, points that are inside both or nearly. The search ends when the radius is above
    /// `enough`, or after so many looks. Also gives the best point.
    ///
    /// The sum of two distances is concave where the closest points are on planes, and not smooth:
    /// between two sides its gradient changes at once. So the search goes along the shortest
    /// vector in the convex hull of the last gradients (the bundle method of Lemaréchal, *An
    /// Extension of Davidon Methods to Nondifferentiable Problems*, 1975, in its simplest form).
    pub(super) fn ball_at(
        &mut self,
        way: DVec3,
        seeds: &[DVec3],
        enough: f64,
        looks: u32,
    ) -> (Ball, DVec3) {
        let sum = |look: &Look| match look.radii {
            // A ball is inside, or it proves nothing; half in and half out is worth a try.
            [r, s] if r > 0.0 && s > 0.0 => r + s,
            [r, s] => r.min(s).min(0.0),
        };
        let mut best = (Look::NONE, DVec3::ZERO);
        for &seed in seeds {
            let look = self.look(seed, way);
            if sum(&look) > sum(&best.0) {
                best = (look, seed);
            }
        }
        let mut gradients = vec![best.0.gradient];
        let [r, s] = best.0.radii;
        let mut step = (0.5 * r.max(s)).max(0.25 * enough);
        let least_step = step * 1e-3;
        for _ in seeds.len() as u32..looks {
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
