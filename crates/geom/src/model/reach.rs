//! How far a mesh reaches in 26 directions, and so at most in any other.
//!
//! Let h(d) be the largest d · v over all vertices v. For parts a, b, c ≥ 0 of three directions
//! h(a·d + b·e + c·f) ≤ a·h(d) + b·h(e) + c·h(f), so that few known directions bound all others.
//! Known are those with components −1, 0 and 1: a direction with components x ≥ y ≥ z ≥ 0 is
//! (x − y)·(1, 0, 0) + (y − z)·(1, 1, 0) + z·(1, 1, 1), and all others are turned or mirrored. For
//! a ball the bound is at most √(1 + (√2 − 1)² + (√3 − √2)²) = 1.13 times as far as needed.

use crate::Mesh;
use glam::{DVec3, Vec3};

/// A length in `f64` from three coordinates is off by less than this part: a few roundings of
/// 2^-53.
const UP: f64 = 1.0 + 1.0 / (1u64 << 48) as f64;

#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// h of the direction (x, y, z) at 9(x + 1) + 3(y + 1) + (z + 1), for vertices relative to
    /// the origin of the hierarchy.
    toward: [f64; 27],
    /// No vertex is further than this from the origin of the hierarchy,
    pub(crate) from_centre: f64,
    /// and none further than this from the zero of the mesh.
    pub(crate) from_zero: f64,
}

impl Reach {
    /// Of a mesh in the order of its hierarchy: vertices are numbered by their first use there, so
    /// those in use come first.
    pub(crate) fn of(mesh: &Mesh, origin: Vec3) -> Reach {
        let used = mesh.triangles.as_flattened().iter().max().map_or(0, |&last| last as usize + 1);
        let mut toward = [f64::NEG_INFINITY; 27];
        let (mut from_centre, mut from_zero) = (0.0f64, 0.0f64);
        for vertex in 0..used as u32 {
            let v = mesh.vertices.at(vertex);
            let p = v - origin.as_dvec3();
            from_centre = from_centre.max(p.length_squared());
            from_zero = from_zero.max(v.length_squared());
            let (xs, ys, zs) = ([-p.x, 0.0, p.x], [-p.y, 0.0, p.y], [-p.z, 0.0, p.z]);
            for (i, most) in toward.iter_mut().enumerate() {
                *most = most.max(xs[i / 9] + ys[i / 3 % 3] + zs[i % 3]);
            }
        }
        Reach { toward, from_centre: from_centre.sqrt() * UP, from_zero: from_zero.sqrt() * UP }
    }

    /// Bounds of d · p over all vertices p relative to the origin of the hierarchy: the largest of
    /// −d · p and the largest of d · p. Within a few roundings.
    #[inline]
    pub(crate) fn along(&self, d: DVec3) -> [f64; 2] {
        let step = |x: f64, unit: isize| (x.abs(), if x < 0.0 { -unit } else { unit });
        let (mut x, mut y, mut z) = (step(d.x, 9), step(d.y, 3), step(d.z, 1));
        let order = |p: &mut (f64, isize), q: &mut (f64, isize)| {
            if p.0 < q.0 {
                std::mem::swap(p, q);
            }
        };
        order(&mut x, &mut y);
        order(&mut y, &mut z);
        order(&mut x, &mut y);
        let parts = [x.0 - y.0, y.0 - z.0, z.0];
        let steps = [x.1, x.1 + y.1, x.1 + y.1 + z.1];
        [-1, 1].map(|side| {
            let h = |k: usize| parts[k] * self.toward[(13 + side * steps[k]) as usize];
            h(0) + h(1) + h(2)
        })
    }
}
