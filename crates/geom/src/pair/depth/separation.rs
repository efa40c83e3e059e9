//! What is the shortest move of the second solid that parts it from the first?
//!
//! **At most.** The smallest [`clearing`](super::clearing) along a few directions, improved by
//! looking where the planes of the contacts meet ([`super::planes`]). Every candidate counts only
//! if [`overlaps`] of the moved pair is false.
//!
//! **At least.** The moves around zero are cut into cubes, the nearest to zero first. A cube that
//! is inside of one [`Ball`] of moves that leave an overlap is done. For others a ball is searched
//! for around their middle, or else they are cut in eight. No move in the nearest cube that is
//! left, nor in any other, is shorter than that cube is far from zero. Cubes that resist are where
//! a shorter move may be, and so places to look for planes of contacts again: the two searches
//! help each other. (One ball around zero alone, the obvious bound, was 15 % short for a cube in
//! the middle of a cross of five cubes, and more for less regular solids.)

use super::super::models::ModelPair;
use super::super::relation::overlaps;
use super::balls::{Ball, Insides};
use super::clearing::clearing_below;
use super::planes::{Side, candidates, sides_near};
use super::{DepthError, Separation, is_free, moved, scale, unit};
use crate::Model;
use crate::convex::penetration;
use crate::pose::Pose;
use crate::tree::Lane;
use glam::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How hard [`Pair::separation`](crate::Pair::separation) tries. All of it is counted in
/// operations, never in time, so that answers are the same everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// The search ends when the interval is this narrow, as a part of `at_most`.
    pub width: f64,
    /// It also ends after so many points were looked at, at the cost of two closest points and two
    /// questions for inside or outside each.
    pub points: u32,
}

impl Effort {
    /// For assemblies and for planning: 2 %, or 5,000 points.
    pub const HIGH: Effort = Effort { width: 0.02, points: 5000 };
}

impl Default for Effort {
    /// For every day: 4 %, or 150 points.
    fn default() -> Effort {
        Effort { width: 0.04, points: 150 }
    }
}

/// How often the shortest move of convex solids is made longer, each time by twice as much.
const ROUNDINGS_MAX: u32 = 16;

/// Looks for one ball.
const LOOKS: u32 = 10;

/// Deep points from which the first balls are searched for.
const FIRST: usize = 3;

/// Cubes for each point that may be looked at: they are much cheaper.
const CUBES: usize = 8;

/// One in so many points may go with a search for contacts around a cube that resists.
const PLANES: u32 = 16;

/// Cubes smaller than this part of `at_most` are worth it.
const NEAR: f64 = 0.5;

/// Most candidates from contacts that are tried at one place.
const TRIES: usize = 16;

pub(super) fn separation(pair: &ModelPair<'_>, effort: Effort) -> Result<Separation, DepthError> {
    if !overlaps(pair)? {
        let apart = pair.distance().0;
        let points = apart.map_or([DVec3::ZERO; 2], |found| [found.point_a, found.point_b]);
        return Ok(Separation { at_least: 0.0, at_most: 0.0, way: DVec3::ZERO, points });
    }
    let scale = scale(pair);
    if let Some(found) = of_convex(pair, scale)? {
        return Ok(found);
    }
    let mut search = Search::new(pair, scale);
    search.try_directions()?;
    let proved = search.prove(effort)?;
    // One ball around zero may prove more than was asked for.
    let around = search.balls.iter().map(|b| b.radius - b.centre.length());
    let at_least = around.fold(proved, f64::max).min(search.at_most);
    let way = search.way;
    let point = moved(pair, way)?.distance().0.map_or(DVec3::ZERO, |found| found.point_a);
    Ok(Separation { at_least, at_most: search.at_most, way, points: [point, point - way] })
}

/// A short move of the second of two solids that overlap, after which they do not: the shortest of
/// convex ones, and of others what [`separation`] begins with, without any proof that it is short.
/// `None` if none was found.
pub(in crate::pair) fn short_way(pair: &ModelPair<'_>) -> Option<DVec3> {
    let scale = scale(pair);
    if let Some(found) = of_convex(pair, scale).ok()? {
        return Some(found.way);
    }
    let mut search = Search::new(pair, scale);
    search.try_directions().ok()?;
    search.at_most.is_finite().then_some(search.way)
}

/// Of two convex solids, whose depth is known within rounding. `None` for others.
fn of_convex(pair: &ModelPair<'_>, scale: f64) -> Result<Option<Separation>, DepthError> {
    let (Some(a), Some(b)) = (pair.a.hull(), pair.b.hull()) else { return Ok(None) };
    let Some(found) = penetration(a, &pair.pose_a, b, &pair.pose_b) else { return Ok(None) };
    // The move must be enough for the placed triangles, so rounding may make it a little longer.
    let (mut more, mut step) = (0.0, scale * f64::EPSILON);
    for _ in 0..ROUNDINGS_MAX {
        let way = found.way * (found.depth + more);
        if !overlaps(&moved(pair, way)?)? {
            let at_most = way.length();
            let at_least = found.depth.min(at_most);
            return Ok(Some(Separation { at_least, at_most, way, points: found.points }));
        }
        (more, step) = (step, 2.0 * step);
    }
    Ok(None)
}

struct Search<'p, 'a> {
    pair: &'p ModelPair<'a>,
    scale: f64,
    insides: Insides<'a>,
    balls: Vec<Ball>,
    at_most: f64,
    way: DVec3,
}

/// A cube in the space of moves.
#[derive(Clone, Copy)]
struct Cube {
    middle: DVec3,
    half: f64,
}

impl Cube {
    /// How far it is from zero.
    fn nearest(&self) -> f64 {
        (self.middle.abs() - self.half).max(DVec3::ZERO).length()
    }

    fn radius(&self) -> f64 {
        self.half * 3f64.sqrt()
    }

    fn parts(self) -> impl Iterator<Item = Cube> {
        let half = self.half * 0.5;
        (0..8).map(move |k| {
            let sign = |bit: u32| if k >> bit & 1 == 1 { half } else { -half };
            Cube { middle: self.middle + DVec3::new(sign(0), sign(1), sign(2)), half }
        })
    }
}

impl<'p, 'a> Search<'p, 'a> {
    fn new(pair: &'p ModelPair<'a>, scale: f64) -> Search<'p, 'a> {
        Search {
            pair,
            scale,
            insides: Insides::new(pair),
            balls: Vec::new(),
            at_most: f64::INFINITY,
            way: DVec3::ZERO,
        }
    }

    fn try_directions(&mut self) -> Result<(), DepthError> {
        let pair = self.pair;
        let mut directions: Vec<DVec3> = Vec::new();
        let mut add = |direction: DVec3| {
            let Some(direction) = unit(direction) else { return };
            for direction in [direction, -direction] {
                if directions.iter().all(|d| d.dot(direction) < 1.0 - 1e-9) {
                    directions.push(direction);
                }
            }
        };
        let [a, b] = pair.posed();
        add(b.centre() - a.centre());
        [DVec3::X, DVec3::Y, DVec3::Z].into_iter().for_each(&mut add);
        for (model, pose) in [(pair.a, &pair.pose_a), (pair.b, &pair.pose_b)] {
            root_axes(model, pose).into_iter().for_each(&mut add);
        }
        for direction in directions {
            self.try_direction(direction)?;
        }
        // And what the contacts of the shortest so far show.
        for _ in 0..8 {
            let before = self.at_most;
            let sides = self.improve(self.way, 1e-9 * self.scale)?;
            if self.at_most == before {
                for side in sides.iter().take(2) {
                    self.try_direction(side.normal)?;
                    self.try_direction(-side.normal)?;
                }
            }
            if self.at_most >= before * (1.0 - 1e-9) {
                break;
            }
        }
        Ok(())
    }

    fn try_direction(&mut self, direction: DVec3) -> Result<(), DepthError> {
        if let Some(time) = clearing_below(self.pair, direction, self.at_most)? {
            self.accept(direction * time);
        }
        Ok(())
    }

    /// Of a move after which they do not overlap.
    fn accept(&mut self, way: DVec3) {
        if way.length() < self.at_most {
            (self.at_most, self.way) = (way.length(), way);
        }
    }

    /// Is it known that the move leaves an overlap?
    fn is_covered(&self, way: DVec3) -> bool {
        self.balls.iter().any(|ball| ball.centre.distance(way) < ball.radius * (1.0 - 1e-9))
    }

    /// Looks for a shorter move where the contacts around a move lead to, and gives their sides.
    fn improve(&mut self, around: DVec3, reach: f64) -> Result<Vec<Side>, DepthError> {
        let sides = sides_near(&moved(self.pair, around)?, around, reach, self.scale);
        let limit = self.at_most * (1.0 - 1e-12);
        let all = candidates(&sides, limit).into_iter();
        let open: Vec<DVec3> = all.filter(|way| !self.is_covered(*way)).take(TRIES).collect();
        for way in open {
            if is_free(&moved(self.pair, way)?)? {
                self.accept(way);
                break;
            }
        }
        Ok(sides)
    }

    /// A length below which no move parts them.
    fn prove(&mut self, effort: Effort) -> Result<f64, DepthError> {
        self.first_balls(effort)?;
        let root = Cube { middle: DVec3::ZERO, half: self.at_most };
        let mut cubes = vec![root];
        // The bits of a positive number order like it, and of equal ones the oldest comes first.
        let mut open = BinaryHeap::from([Reverse((0u64, 0usize))]);
        let cubes_max = effort.points as usize * CUBES;
        let mut planes_left = effort.points / PLANES;
        while let Some(Reverse((nearest, index))) = open.pop() {
            let nearest = f64::from_bits(nearest);
            if nearest >= self.at_most * (1.0 - effort.width) || cubes.len() > cubes_max {
                return Ok(nearest);
            }
            let cube = cubes[index];
            if self.is_done(&cube) {
                continue;
            }
            let small = cube.radius() < self.at_most;
            if small {
                let proved = self.search_ball(&cube, self.insides.looked_at < effort.points);
                if self.is_done(&cube) {
                    continue;
                }
                let near = cube.radius() < NEAR * self.at_most;
                if near && planes_left > 0 && proved < 0.5 * cube.radius() {
                    planes_left -= 1;
                    self.improve(cube.middle, cube.radius())?;
                }
            }
            for part in cube.parts() {
                let nearest = part.nearest();
                if nearest < self.at_most {
                    open.push(Reverse((nearest.to_bits(), cubes.len())));
                    cubes.push(part);
                }
            }
        }
        Ok(self.at_most)
    }

    /// Balls around no move at all, from a few places.
    fn first_balls(&mut self, effort: Effort) -> Result<(), DepthError> {
        let touching = moved(self.pair, self.way)?.distance().0;
        // Halfway between the surfaces that the shortest move brings together.
        let seed = touching.map(|found| found.point_a - self.way * 0.5);
        let mut enough = self.search_first_ball(seed);
        for seed in self.insides.deep_points(effort.points / 3).into_iter().take(FIRST) {
            if enough {
                break;
            }
            enough = self.search_first_ball(Some(seed));
        }
        Ok(())
    }

    fn search_first_ball(&mut self, seed: Option<DVec3>) -> bool {
        let Some(seed) = seed else { return false };
        let found = self.insides.ball_at(DVec3::ZERO, &[seed], self.at_most, 2 * LOOKS).0;
        self.balls.push(found);
        found.radius >= self.at_most * (1.0 - 1e-9)
    }

    fn is_done(&self, cube: &Cube) -> bool {
        let radius = cube.radius();
        self.balls.iter().any(|b| cube.middle.distance(b.centre) + radius <= b.radius)
    }

    /// Searches for a ball around the middle of a cube; gives its radius.
    fn search_ball(&mut self, cube: &Cube, may_look: bool) -> f64 {
        let way = cube.middle;
        let Some((ball, point)) = self.insides.best_seen(way) else { return 0.0 };
        let reach = ball.radius - ball.centre.distance(way);
        if reach >= cube.radius() {
            self.balls.push(ball);
            return reach;
        }
        if !may_look {
            return 0.0;
        }
        // A point may also stay where it is, or move with the second solid.
        let by = (way - ball.centre) * 0.5;
        let seeds = [point, point - by, point + by];
        let found = self.insides.ball_at(way, &seeds, cube.radius() * 1.0001, LOOKS).0;
        let radius = found.radius;
        if radius > 0.0 {
            self.balls.push(found);
        }
        radius
    }
}

/// The axes of the box around all of a model, in the world.
fn root_axes(model: &Model, pose: &Pose) -> [DVec3; 3] {
    if model.tree.nodes.is_empty() || model.tree.child(Lane::ROOT).is_empty() {
        return [DVec3::ZERO; 3];
    }
    model.tree.obb(Lane::ROOT).axes.map(|axis| pose.transform_vector(axis.as_dvec3()))
}
