//! Apart, touching, crossing, inside or identical?

use super::walk::{Order, Touching, Walk};
use super::{Pair, part_inside};
use crate::single::{Placed, Side};
use crate::triangle::{self, Triangle, TriangleRelation};
use glam::DVec3;
use std::ops::ControlFlow;

/// How two models lie to each other.
///
/// Every decision is exact for the placed vertices. For surfaces that touch without crossing,
/// inside and outside of a solid are decided at the corners and the middle of each touching face;
/// a face that changes sides elsewhere and crosses no other face is told as touching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// They share no point.
    Apart,
    /// They share points, but neither passes through the other.
    Touching,
    /// A face of one passes through a face of the other, or a part of one lies inside the other,
    /// which is solid, and a part outside.
    Crossing,
    /// The first lies inside the second, which is solid. They may touch from inside.
    AInsideB,
    /// The second lies inside the first, which is solid. They may touch from inside.
    BInsideA,
    /// They have the same triangles in the same places.
    Identical,
}

pub(crate) fn relation(pair: &Pair<'_>) -> Relation {
    if identical(pair) {
        return Relation::Identical;
    }
    let mut touching: Vec<(usize, usize)> = Vec::new();
    let mut crossing = false;
    Walk::new(pair, Order::Any, 0.0).run(
        pair,
        u64::MAX,
        &mut Touching(|a, b| {
            touching.push((a, b));
            let found = triangle::relation(&pair.placed_a(a), &pair.placed_b(b));
            crossing = found == TriangleRelation::Crossing;
            if crossing { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }),
    );
    if crossing {
        return Relation::Crossing;
    }
    let [a, b] = pair.placed();
    let mut faces_a: Vec<usize> = touching.iter().map(|t| t.0).collect();
    let mut faces_b: Vec<usize> = touching.iter().map(|t| t.1).collect();
    let b_in_a = Parts::of(&a, &b, &mut faces_b);
    let a_in_b = Parts::of(&b, &a, &mut faces_a);
    match (b_in_a, a_in_b) {
        (Parts::Both, _) | (_, Parts::Both) => Relation::Crossing,
        (Parts::Inside, _) => Relation::BInsideA,
        (_, Parts::Inside) => Relation::AInsideB,
        _ if touching.is_empty() => Relation::Apart,
        _ => Relation::Touching,
    }
}

/// On which sides of a solid the parts of another model lie.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// Nothing was found inside.
    NoneInside,
    /// Everything looked at is inside, or on the surface.
    Inside,
    /// Some inside, some outside.
    Both,
}

impl Parts {
    fn of(outer: &Placed<'_>, inner: &Placed<'_>, touching: &mut Vec<usize>) -> Parts {
        if !outer.model().mesh.is_solid() {
            return Parts::NoneInside;
        }
        touching.sort_unstable();
        touching.dedup();
        if touching.is_empty() && part_inside(outer, inner).is_none() {
            return Parts::NoneInside;
        }
        let mesh = &inner.model().mesh;
        let parts = mesh.component_vertices.iter();
        let parts = parts.map(|&v| inner.pose().place(mesh.vertices[v as usize]));
        let corners = touching.iter().flat_map(|&t| {
            let [p, q, r]: Triangle = inner.triangle(t);
            [p, q, r, (p + q + r) / 3.0]
        });
        let (mut inside, mut outside) = (false, false);
        for point in parts.chain(corners) {
            match outer.contains(point) {
                Ok(Side::Inside) => inside = true,
                Ok(Side::Outside) => outside = true,
                _ => {}
            }
            if inside && outside {
                return Parts::Both;
            }
        }
        if inside { Parts::Inside } else { Parts::NoneInside }
    }
}

/// Do both have the same triangles in the same places, whatever their order?
fn identical(pair: &Pair<'_>) -> bool {
    let count = pair.a.mesh.triangles.len();
    if count == 0
        || count != pair.b.mesh.triangles.len()
        || bounds(pair, true) != bounds(pair, false)
    {
        return false;
    }
    let sorted = |placed: &dyn Fn(usize) -> Triangle| {
        let key = |p: DVec3| p.to_array().map(|x| (x + 0.0).to_bits()); // -0 is 0
        let mut all: Vec<[[u64; 3]; 3]> = (0..count)
            .map(|t| {
                let mut corners = placed(t).map(key);
                corners.sort_unstable();
                corners
            })
            .collect();
        all.sort_unstable();
        all
    };
    sorted(&|t| pair.placed_a(t)) == sorted(&|t| pair.placed_b(t))
}

/// The box around the placed vertices in use: quick to compare.
fn bounds(pair: &Pair<'_>, first: bool) -> (DVec3, DVec3) {
    let count = pair.a.mesh.triangles.len();
    let corners = (0..count).flat_map(|t| if first { pair.placed_a(t) } else { pair.placed_b(t) });
    corners.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(lo, hi), p| (lo.min(p), hi.max(p)))
}
