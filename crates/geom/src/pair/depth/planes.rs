//! Moves after which two solids may just touch: where the planes of contacts meet.
//!
//! The moves after which two triangles touch are a convex polytope, and the sides of all of these
//! bound the moves that leave an overlap. The shortest move that parts the solids is the foot of a
//! side, or of the line in which two sides meet, or the corner of three. So near a place of
//! interest the sides are collected, and all feet and corners are candidates.

use super::super::models::ModelPair;
use super::super::node_pair::LeafPair;
use super::super::walk::{Counters, LeafWork, Order, Walk};
use super::interval::all_axes;
use crate::simd::Simd;
use crate::triangle;
use glam::{DMat3, DVec3};
use std::ops::ControlFlow;

/// So many sides are combined, those that were found the most often.
const SIDES_MAX: usize = 8;

/// Most pairs of triangles whose sides are collected.
const PAIRS_MAX: usize = 128;

/// Most pairs of triangles that are looked at for that.
const LOOKS_MAX: usize = 1024;

/// Two sides are the same up to this part of a length of 1, or of all lengths.
const SAME: f64 = 1e-9;

/// All moves d with normal · d = offset; the normal has length 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) normal: DVec3,
    offset: f64,
    count: usize,
}

/// The sides that come closer than `reach` to the move `way`, which `moved` has made.
pub(super) fn sides_near(moved: &ModelPair<'_>, way: DVec3, reach: f64, scale: f64) -> Vec<Side> {
    let mut sides: Vec<Side> = Vec::new();
    let (mut pairs, mut looks) = (0, 0);
    let mut add = |normal: DVec3, offset: f64| {
        // One of two opposite normals, so that the same side is found again.
        let first = normal.to_array().into_iter().find(|x| x.abs() > SAME).unwrap_or(1.0);
        let (normal, offset) = if first < 0.0 { (-normal, -offset) } else { (normal, offset) };
        let same = |s: &Side| {
            s.normal.distance_squared(normal) < SAME * SAME
                && (s.offset - offset).abs() < SAME * scale
        };
        match sides.iter_mut().find(|s| same(s)) {
            Some(side) => side.count += 1,
            None => sides.push(Side { normal, offset, count: 1 }),
        }
    };
    let look = |a: usize, b: usize| {
        let (a, b) = (moved.triangle_a(a), moved.triangle_b(b));
        looks += 1;
        if looks == LOOKS_MAX {
            return ControlFlow::Break(());
        }
        if triangle::distance_below(&a, &b, reach).is_none() {
            return ControlFlow::Continue(());
        }
        all_axes(&a, &b, |axis| {
            let length = axis.normal.length();
            let normal = axis.normal / length;
            for gap in [axis.low / length, axis.high / length] {
                if gap.abs() <= reach {
                    add(normal, normal.dot(way) + gap);
                }
            }
            true
        });
        pairs += 1;
        if pairs < PAIRS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let gap = (reach * (1.0 + 1e-6)) as f32 + f32::MIN_POSITIVE;
    Walk::new(moved, Order::Any, gap).run(moved, u64::MAX, &mut Near(look));
    // The sort keeps the order of those that are equal.
    sides.sort_by_key(|side| std::cmp::Reverse(side.count));
    sides.truncate(SIDES_MAX);
    sides
}

/// Feet and corners that are shorter than `limit`, the shortest first.
pub(super) fn candidates(sides: &[Side], limit: f64) -> Vec<DVec3> {
    let mut found: Vec<DVec3> = Vec::new();
    for (i, s) in sides.iter().enumerate() {
        found.push(s.normal * s.offset);
        for (j, t) in sides.iter().enumerate().skip(i + 1) {
            let mixed = s.normal.dot(t.normal);
            let rest = 1.0 - mixed * mixed;
            if rest < SAME {
                continue;
            }
            let (p, q) = (s.offset - mixed * t.offset, t.offset - mixed * s.offset);
            found.push((s.normal * p + t.normal * q) / rest);
            for u in &sides[j + 1..] {
                let rows = DMat3::from_cols(s.normal, t.normal, u.normal).transpose();
                if rows.determinant().abs() > SAME {
                    found.push(rows.inverse() * DVec3::new(s.offset, t.offset, u.offset));
                }
            }
        }
    }
    found.retain(|d| d.length() < limit);
    let key = |d: &DVec3| (d.length_squared(), d.x, d.y, d.z);
    found.sort_by(|d, e| key(d).partial_cmp(&key(e)).unwrap_or(std::cmp::Ordering::Equal));
    found.dedup_by(|d, e| d.distance_squared(*e) < SAME * SAME * limit * limit);
    found
}

/// Calls a function with every two triangles in boxes that are within the gap of the walk.
struct Near<F>(F);

impl<F: FnMut(usize, usize) -> ControlFlow<()>> LeafWork for Near<F> {
    #[inline(always)]
    fn leaves<S: Simd>(
        &mut self,
        _: &ModelPair<'_>,
        _: &mut Counters,
        leaves: LeafPair,
    ) -> ControlFlow<()> {
        for bit in (0..4).filter(|bit| leaves.used() >> bit & 1 == 1) {
            let (a, b) = leaves.triangles(bit);
            self.0(a, b)?;
        }
        ControlFlow::Continue(())
    }
}
