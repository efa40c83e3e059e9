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
    /// Balls inside of each that were seen, where the second is now: centres and radii.
    seen: [Vec<(DVec3, f64)>; 2],
}

/// Around a point and the place of the second solid to which it belongs.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// Below zero outside.
    radii: [f64; 2],
    /// The directions in which they grow.
    inwards: [DVec3; 2],
}

impl Look {
    /// Worse than any other.
    const NONE: Look = Look { radii: [f64::NEG_INFINITY; 2], inwards: [DVec3::ZERO; 2] };
}

impl<'a> Insides<'a> {
    pub(super) fn new(pair: &ModelPair<'a>) -> Insides<'a> {
        Insides { solids: pair.posed(), looked_at: 0, seen: [Vec::new(), Vec::new()] }
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
        self.keep(0, p, r);
        self.keep(1, p - way, s);
        Look { radii: [r, s], inwards: [up, along] }
    }

    /// Remembers a ball unless one that was seen has most of it.
    fn keep(&mut self, solid: usize, centre: DVec3, radius: f64) {
        let seen = &mut self.seen[solid];
        let has = |p: &(DVec3, f64), q: &(DVec3, f64)| p.0.distance(q.0) + MOST * q.1 <= p.1;
        let new = (centre, radius);
        if radius <= 0.0 || seen.iter().any(|old| has(old, &new)) {
            return;
        }
        seen.retain(|old| !has(&new, old));
        if seen.len() < SEEN_MAX {
            seen.push(new);
        }
    }

    /// Of all pairs of balls that were seen, the one that reaches the furthest around a move, and
    /// the middle between the two centres after that move.
    pub(super) fn best_seen(&self, way: DVec3) -> Option<(Ball, DVec3)> {
        let mut best = (f64::NEG_INFINITY, None);
        for &(p, r) in &self.seen[0] {
            for &(q, s) in &self.seen[1] {
                let reach = r + s - (p - q).distance(way);
                if reach > best.0 {
                    best = (reach, Some((p, r, q, s)));
                }
            }
        }
        let (p, r, q, s) = best.1?;
        Some((Ball { centre: p - q, radius: r + s }, (p + q + way) * 0.5))
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
    /// The distance from a surface is no larger than that from a plane through the closest point,
    /// if all around is flat: so what was seen from a few points is a model of both distances, the
    /// smallest of those from planes. Its best place is looked at next (the cutting planes of
    /// Kelley, *The Cutting-Plane Method for Solving Convex Programs*, 1960), not too far from the
    /// best so far.
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
        let mut model = Model { planes: [Vec::new(), Vec::new()] };
        for &seed in seeds {
            let look = self.look(seed, way);
            if sum(&look) > sum(&best.0) {
                best = (look, seed);
            }
            model.add(seed, &look);
            if sum(&best.0) > enough {
                break;
            }
        }
        let [r, s] = best.0.radii;
        let mut trust = r.max(s).max(0.5 * enough);
        for _ in seeds.len() as u32..looks {
            if sum(&best.0) > enough {
                break;
            }
            let p = model.best_near(best.1, trust);
            let look = self.look(p, way);
            model.add(p, &look);
            if sum(&look) > sum(&best.0) {
                best = (look, p);
            } else {
                trust *= 0.7;
            }
        }
        (Ball { centre: way, radius: sum(&best.0).max(0.0) }, best.1)
    }
}

/// Planes near both surfaces, in the world, as seen at one place of the second solid.
struct Model {
    /// A point of each and the direction inwards.
    planes: [Vec<(DVec3, DVec3)>; 2],
}

impl Model {
    fn add(&mut self, p: DVec3, look: &Look) {
        for i in [0, 1] {
            self.planes[i].push((p - look.inwards[i] * look.radii[i], look.inwards[i]));
        }
    }

    /// The sum of the two distances, and the direction in which it grows.
    fn value(&self, p: DVec3) -> (f64, DVec3) {
        let (mut sum, mut gradient) = (0.0, DVec3::ZERO);
        for planes in &self.planes {
            let mut least = (f64::INFINITY, DVec3::ZERO);
            for (on, inwards) in planes {
                let distance = inwards.dot(p - *on);
                if distance < least.0 {
                    least = (distance, *inwards);
                }
            }
            sum += least.0;
            gradient += least.1;
        }
        (sum, gradient)
    }

    /// About the best place no further than `trust` from a point: steps along the gradient, each
    /// somewhat shorter.
    fn best_near(&self, from: DVec3, trust: f64) -> DVec3 {
        let (mut p, mut step) = (from, 0.5 * trust);
        let mut best = (f64::NEG_INFINITY, from);
        for turn in 0..STEPS {
            let (sum, gradient) = self.value(p);
            if turn > 0 && sum > best.0 {
                best = (sum, p);
            }
            let Some(direction) = gradient.try_normalize() else { break };
            p += direction * step;
            let away = p - from;
            if away.length() > trust {
                p = from + away * (trust / away.length());
            }
            step *= SHORTER;
        }
        best.1
    }
}

/// A ball is not worth to be kept if this part of its radius is inside of another one.
const MOST: f64 = 0.8;

/// So many balls of a solid are kept.
const SEEN_MAX: usize = 48;

/// Steps in the model of planes, and how much shorter each is than the one before.
const STEPS: u32 = 60;
const SHORTER: f64 = 0.9;
