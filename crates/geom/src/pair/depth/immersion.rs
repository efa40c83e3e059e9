//! How deep does the surface of the second solid reach into the first?
//!
//! Best first: parts of the second surface wait in a heap, the one that may reach deepest on top.
//! A part is a box of the hierarchy, a triangle, or a quarter of one, and so on.
//!
//! **The bound.** Let x be the point of the first surface that is closest to the middle of a part.
//! No point p of the part is further from the first surface than from x, and |p − x| is largest
//! at a corner. So a part across the direction to x, as the deepest usually is, is bounded with
//! an error of second order in its size: parts of the size of a triangle are small enough.
//! (Distances change by no more than the way between two points, which is the obvious bound; with
//! it, parts of the size of the interval are needed, a hundred times as many.) Halfway between
//! two sides of the first surface the bound is of first order only; there the closest points of
//! the parts around help, since all of them are points of the first surface.

use super::super::models::ModelPair;
use super::{Immersion, scale};
use crate::posed_model::{PosedModel, Side};
use crate::tree::Lane;
use crate::triangle::Triangle;
use glam::{DMat3, DVec3};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Most parts that are looked at; then the interval is wider than asked for.
const PARTS_MAX: usize = 1 << 20;

/// So many points of the first surface bound a part.
const KNOWN: usize = 3;

/// No interval is narrower than this part of all lengths: what distances may be off by.
const ROUNDING: f64 = 1.0 / (1u64 << 48) as f64;

/// How far the corners of a stored box can be off, as part of its half extents: its axes are
/// orthonormal only up to 1.1e-4, see `crates/geom/src/tree/overlap.rs`.
const AXIS_SLACK: f64 = 1.0 / 2048.0;

pub(super) fn immersion(pair: &ModelPair<'_>, width: f64) -> Immersion {
    let [first, second] = pair.posed();
    let rounding = ROUNDING * scale(pair);
    let mut search = Search {
        first,
        second,
        slack: rounding + f64::from(f32::EPSILON) * 8.0 * f64::from(pair.b.tree.radius),
        width: width.max(rounding),
        best: None,
        open: BinaryHeap::with_capacity(256),
        looked_at: 0,
    };
    search.run()
}

/// A part of the second surface.
#[derive(Clone, Copy)]
enum Part {
    Lane(Lane),
    /// A triangle or a part of one, and the number of the whole.
    Triangle(Triangle, usize),
}

/// What is known around a point: how far the first surface is, and on which side.
#[derive(Clone, Copy)]
struct Around {
    point: DVec3,
    distance: f64,
    inside: bool,
}

struct Waiting {
    /// No point of the part is deeper.
    upper: f64,
    /// Of equal bounds the newest is looked at first: it is the smallest.
    number: usize,
    part: Part,
    around: Around,
    /// The points of the first surface that were closest to this part and to those around it.
    known: [DVec3; KNOWN],
}

/// The deepest point found.
struct Best {
    depth: f64,
    point: DVec3,
    triangle: usize,
}

struct Search<'a> {
    first: PosedModel<'a>,
    second: PosedModel<'a>,
    /// How far a triangle may be outside of its box.
    slack: f64,
    width: f64,
    best: Option<Best>,
    open: BinaryHeap<Waiting>,
    looked_at: usize,
}

impl Search<'_> {
    fn run(&mut self) -> Immersion {
        let tree = &self.second.model().tree;
        if !tree.child(Lane::ROOT).is_empty() {
            self.look(Part::Lane(Lane::ROOT), None);
        }
        let mut at_most = 0.0;
        while let Some(waiting) = self.open.pop() {
            let least = self.depth();
            if waiting.upper <= least + self.width || self.looked_at > PARTS_MAX {
                at_most = waiting.upper;
                break;
            }
            let look = |search: &mut Self, part| search.look(part, Some(&waiting));
            match waiting.part {
                Part::Lane(lane) if tree.child(lane).is_leaf() => {
                    for triangle in tree.child(lane).triangles() {
                        look(self, Part::Triangle(self.second.triangle(triangle), triangle));
                    }
                }
                Part::Lane(lane) => {
                    let index = tree.child(lane).node_index();
                    let children = &tree.nodes[index].child;
                    for k in (0..children.len()).take_while(|&k| !children[k].is_empty()) {
                        look(self, Part::Lane(Lane::new(index, k)));
                    }
                }
                Part::Triangle([p, q, r], triangle) => {
                    let [pq, qr, rp] = [(p + q) * 0.5, (q + r) * 0.5, (r + p) * 0.5];
                    for quarter in [[pq, qr, rp], [p, pq, rp], [pq, q, qr], [rp, qr, r]] {
                        look(self, Part::Triangle(quarter, triangle));
                    }
                }
            }
        }
        let at_least = self.depth();
        let found = self.best.take();
        let (point, triangle) = found.map_or_else(
            || {
                let any = self.second.model().mesh.triangles.first();
                (any.map_or(DVec3::ZERO, |_| self.second.triangle(0)[0]), 0)
            },
            |best| (best.point, best.triangle),
        );
        let faces = self.second.model().mesh.triangles.len();
        let face = if faces == 0 { 0 } else { self.second.model().mesh.face_of(triangle as u32) };
        Immersion { at_least, at_most: at_least.max(at_most), point, face }
    }

    fn depth(&self) -> f64 {
        self.best.as_ref().map_or(0.0, |best| best.depth)
    }

    /// Bounds a part, and keeps it if it may be the deepest.
    fn look(&mut self, part: Part, parent: Option<&Waiting>) {
        self.looked_at += 1;
        let mut corners = [DVec3::ZERO; 8];
        let (middle, corners) = self.corners(part, &mut corners);
        let reach = corners.iter().map(|c| c.distance(middle)).fold(0.0, f64::max);
        let Some(closest) = self.first.closest_point(middle, f64::INFINITY) else { return };
        let near = parent.map(|parent| &parent.around);
        let around = self.around(middle, closest.distance, near);
        if !around.inside && around.distance > reach {
            return;
        }
        if let Part::Triangle(_, triangle) = part
            && around.inside
            && self.best.as_ref().is_none_or(|best| around.distance > best.depth)
        {
            self.best = Some(Best { depth: around.distance, point: middle, triangle });
        }
        let mut known = parent.map_or([closest.point; KNOWN], |parent| parent.known);
        known.rotate_right(1);
        known[0] = closest.point;
        let farthest = |x: &DVec3| corners.iter().map(|c| c.distance(*x)).fold(0.0, f64::max);
        let mut upper = known.iter().map(farthest).fold(f64::INFINITY, f64::min);
        let signed = if around.inside { around.distance } else { -around.distance };
        upper = upper.min(signed + reach);
        if let Some(parent) = parent {
            upper = upper.min(parent.upper);
        }
        if upper > self.depth() {
            let number = self.looked_at;
            self.open.push(Waiting { upper, number, part, around, known });
        }
    }

    /// What is known around a point with this distance from the first surface.
    fn around(&self, point: DVec3, distance: f64, near: Option<&Around>) -> Around {
        let inside = match near {
            // No surface between the two.
            Some(near) if near.point.distance(point) < near.distance.max(distance) * 0.999 => {
                near.inside
            }
            _ => self.first.contains(point) == Ok(Side::Inside),
        };
        Around { point, distance, inside }
    }

    /// The middle of a part, and points of which it is in the convex hull.
    fn corners<'c>(&self, part: Part, all: &'c mut [DVec3; 8]) -> (DVec3, &'c [DVec3]) {
        let lane = match part {
            Part::Triangle(corners @ [p, q, r], _) => {
                all[..3].copy_from_slice(&corners);
                return ((p + q + r) / 3.0, &all[..3]);
            }
            Part::Lane(lane) => lane,
        };
        let (tree, pose) = (&self.second.model().tree, self.second.pose());
        let obb = tree.obb(lane);
        let half = obb.half.as_dvec3();
        let half = half * (1.0 + AXIS_SLACK) + (AXIS_SLACK * half.element_sum() + self.slack);
        let origin = tree.frame_of(lane).origin.as_dvec3();
        let middle = pose.transform_point(origin + obb.center.as_dvec3());
        let [x, y, z] = obb.axes.map(|axis| pose.transform_vector(axis.as_dvec3()));
        let edges = DMat3::from_cols(x * half.x, y * half.y, z * half.z);
        for (k, corner) in all.iter_mut().enumerate() {
            let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            *corner = middle + edges * DVec3::new(sign(0), sign(1), sign(2));
        }
        (middle, all)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        self.upper.total_cmp(&other.upper).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}
