//! Sphere, cone and cylinder, as fine as a tolerance asks for.

use super::{Faces, Fault, Tolerance, check_size, check_triangles};
use crate::nodes::{Cone, Cylinder, Sphere};
use glam::{DVec2, Vec2Swizzles as _, Vec3};
use jostle_geom::{Mesh, solids};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

pub(super) fn sphere(node: &Sphere, tolerance: Tolerance) -> Result<Mesh, Fault> {
    let radius = check_size("radius", node.radius)?;
    let tolerance = tolerance.at_radius(radius);
    // 8 n² triangles, n = √(radius / tolerance): see `solids::sphere`.
    check_triangles(8.0 * radius / tolerance)?;
    Ok(solids::sphere(radius, tolerance)?)
}

/// A polygon at the bottom and a triangle for each of its edges, as far as the cone has them.
pub(super) fn cone(node: &Cone, tolerance: Tolerance) -> Result<Mesh, Fault> {
    let radius = check_size("bottomRadius", node.bottom_radius)?;
    let half = (check_size("height", node.height)? * 0.5) as f32;
    let mut vertices = ring(radius, -half, tolerance)?;
    let count = vertices.len() as u32;
    vertices.push(Vec3::new(0.0, half, 0.0));
    let mut faces = Faces::default();
    if node.bottom {
        faces.push((0..count).rev());
    }
    if node.side {
        (0..count).for_each(|i| faces.push([i, (i + 1) % count, count]));
    }
    faces.into_mesh(vertices)
}

/// Two polygons and a quadrilateral for each of their edges, as far as the cylinder has them.
pub(super) fn cylinder(node: &Cylinder, tolerance: Tolerance) -> Result<Mesh, Fault> {
    let radius = check_size("radius", node.radius)?;
    let half = (check_size("height", node.height)? * 0.5) as f32;
    let mut vertices = ring(radius, -half, tolerance)?;
    let count = vertices.len() as u32;
    vertices.extend(ring(radius, half, tolerance)?);
    let mut faces = Faces::default();
    if node.bottom {
        faces.push((0..count).rev());
    }
    if node.top {
        faces.push(count..2 * count);
    }
    if node.side {
        for i in 0..count {
            let next = (i + 1) % count;
            faces.push([i, next, next + count, i + count]);
        }
    }
    faces.into_mesh(vertices)
}

/// Points of a circle about the y axis, counter-clockwise seen from above. The height is an `f32`
/// already, so only x and z are rounded, by 2^-24 of their size each.
fn ring(radius: f64, height: f32, tolerance: Tolerance) -> Result<Vec<Vec3>, Fault> {
    let tolerance = tolerance.at_radius(radius);
    let rounding = radius / f64::from(1 << 23);
    if tolerance < 2.0 * rounding {
        let what = format!("a tolerance of {tolerance:e} is too small for 32-bit coordinates");
        return Err(Fault::new(what, format!("at least {:e}", 2.0 * rounding)));
    }
    let points = circle(eighth_cuts(radius, tolerance - rounding));
    // Adding zero makes -0 plain.
    let points = points.map(|p| p * radius + DVec2::ZERO);
    Ok(points.map(|p| Vec3::new(p.y as f32, height, p.x as f32)).collect())
}

/// Into how many chords an eighth of a circle is cut, so that none is further from it than `sag`.
///
/// See [`circle`]: with steps of d in the tangent of half the angle, an angle of one step is at
/// most 2 d, and the middle of its chord is at cos d ≥ 1 − d² / 2 of the radius. The tolerance is
/// at least 2^-22 of the radius, so there are at most 849 chords.
fn eighth_cuts(radius: f64, sag: f64) -> u32 {
    ((SQRT_2 - 1.0) / (2.0 * sag / radius).sqrt()).ceil().max(1.0) as u32
}

/// Points on the unit circle, `count` in each eighth, exact on the axes: cosine and sine from the
/// tangent t of half the angle, (1 − t²) / (1 + t²) and 2 t / (1 + t²), for equal steps of t. That
/// takes 5 % more points than equal angles, and no sine of a system's library, whose last digit
/// differs between machines.
fn circle(count: u32) -> impl Iterator<Item = DVec2> {
    let up = move |i: u32| {
        if i == count {
            return DVec2::splat(FRAC_1_SQRT_2);
        }
        let t = (SQRT_2 - 1.0) * f64::from(i) / f64::from(count);
        DVec2::new(1.0 - t * t, 2.0 * t) / (1.0 + t * t)
    };
    let quarter = move || (0..count).map(up).chain((1..=count).rev().map(move |i| up(i).yx()));
    let turned = |p: DVec2, quarters: u32| (0..quarters).fold(p, |p, _| p.perp());
    (0..4).flat_map(move |quarters| quarter().map(move |p| turned(p, quarters)))
}
