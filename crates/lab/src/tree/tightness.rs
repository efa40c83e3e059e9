//! How much larger than the convex hull volumes are, whatever way the object is turned (Ohlenburg
//! 2003, 3.1.1 and table 3.1; row O3).
//!
//! The hull, the sphere and the oriented box turn with the object, so they have one volume. The box
//! along the axes and the 18-DOP change as it turns. The paper does not say whether theirs are
//! fitted to the turned object or to the corners of the volume before it was turned; we have both.

use crate::convex::{Dimension, Hull, HullError};
use crate::dop::{NormalSet, vertices, volume};
use glam::{DQuat, DVec3};
use jostle_geom::Mesh;
use std::f64::consts::PI;

/// The axes about which the object makes a full turn each, in the paper's order.
pub const AXES: [DVec3; 7] = [
    DVec3::X,
    DVec3::Y,
    DVec3::Z,
    DVec3::new(1.0, 1.0, 0.0),
    DVec3::new(1.0, 0.0, 1.0),
    DVec3::new(0.0, 1.0, 1.0),
    DVec3::ONE,
];

/// Volumes in per cent of that of the hull.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Percent {
    /// The 18-DOP of the turned object.
    pub dop: f64,
    /// The box along the axes of the turned object.
    pub aabb: f64,
    /// The 18-DOP of the turned corners of the 18-DOP.
    pub dop_again: f64,
    /// The box along the axes of the turned corners of the box.
    pub aabb_again: f64,
    /// The oriented box.
    pub obb: f64,
    /// The smallest sphere.
    pub sphere: f64,
}

/// What was found for one object.
#[derive(Clone, Debug)]
pub struct Tightness {
    /// Means over all turns.
    pub mean: Percent,
    /// Every turn, `steps` for each of [`AXES`].
    pub turns: Vec<Percent>,
    /// The volume of the hull.
    pub hull: f64,
}

/// Turns a mesh about each of [`AXES`] in so many steps. `done` hears how many are over.
///
/// # Errors
/// A mesh without triangles. The hull of one that is flat has no volume, and per cents of it are
/// infinite or not a number.
pub fn tightness(
    mesh: &Mesh,
    steps: u32,
    mut done: impl FnMut(usize),
) -> Result<Tightness, HullError> {
    let hull = Hull::of_mesh(mesh)?;
    let (points, normals) = (hull.corners(), NormalSet::klosowski());
    let whole = hull_volume(&hull);
    let dop_corners = vertices(&normals, &offsets(&normals, points));
    let box_corners = vertices(&NormalSet::axes(), &offsets(&NormalSet::axes(), points));
    let sphere = 4.0 / 3.0 * PI * smallest_sphere(points).powi(3);
    let obb = smallest_box(&hull);
    let mut turns = Vec::with_capacity(AXES.len() * steps as usize);
    for axis in AXES {
        for step in 0..steps {
            let angle = 2.0 * PI * f64::from(step) / f64::from(steps);
            let turn = DQuat::from_axis_angle(axis.normalize(), angle);
            let of = |normals: &NormalSet, points: &[DVec3]| {
                let turned: Vec<DVec3> = points.iter().map(|&p| turn * p).collect();
                100.0 * volume(normals, &offsets(normals, &turned)) / whole
            };
            turns.push(Percent {
                dop: of(&normals, points),
                aabb: of(&NormalSet::axes(), points),
                dop_again: of(&normals, &dop_corners),
                aabb_again: of(&NormalSet::axes(), &box_corners),
                obb: 100.0 * obb / whole,
                sphere: 100.0 * sphere / whole,
            });
            done(turns.len());
        }
    }
    Ok(Tightness { mean: mean(&turns), turns, hull: whole })
}

fn mean(turns: &[Percent]) -> Percent {
    let of = |part: fn(&Percent) -> f64| turns.iter().map(part).sum::<f64>() / turns.len() as f64;
    Percent {
        dop: of(|p| p.dop),
        aabb: of(|p| p.aabb),
        dop_again: of(|p| p.dop_again),
        aabb_again: of(|p| p.aabb_again),
        obb: of(|p| p.obb),
        sphere: of(|p| p.sphere),
    }
}

fn offsets(normals: &NormalSet, points: &[DVec3]) -> Vec<f64> {
    let along = |i: usize| {
        let normal = normals.normal(i);
        points.iter().map(|p| normal.dot(*p)).fold(f64::NEG_INFINITY, f64::max)
    };
    (0..normals.k()).map(along).collect()
}

fn hull_volume(hull: &Hull) -> f64 {
    if hull.dimension() != Dimension::Solid {
        return 0.0;
    }
    let corner = |i: u32| hull.corners()[i as usize] - hull.centre();
    let pyramid = |&[a, b, c]: &[u32; 3]| corner(a).cross(corner(b)).dot(corner(c)) / 6.0;
    hull.triangles().iter().map(pyramid).sum()
}

/// The radius of the smallest sphere around points, up to a few thousandths: the centre moves
/// towards the farthest point, less each time (Bădoiu and Clarkson 2003).
fn smallest_sphere(points: &[DVec3]) -> f64 {
    let mut centre = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let mut least = f64::INFINITY;
    for step in 1..3000 {
        let distance = |p: &DVec3| p.distance_squared(centre);
        let farthest = points.iter().max_by(|p, q| distance(p).total_cmp(&distance(q)));
        let Some(&farthest) = farthest else { return 0.0 };
        least = least.min(farthest.distance(centre));
        centre += (farthest - centre) / f64::from(step + 1);
    }
    least
}

/// The smallest oriented box that has a side in a facet of the hull and an edge along one of that
/// facet's, or is along the axes. The smallest of all may lie between, which the paper's method
/// (Eberly 2001, a numeric search) may come nearer to.
fn smallest_box(hull: &Hull) -> f64 {
    let extent = |axis: DVec3| {
        let along = || hull.corners().iter().map(|p| p.dot(axis));
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    let size = |axes: [DVec3; 3]| axes.map(extent).iter().product::<f64>();
    let mut least = size(DVec3::AXES);
    for facet in 0..hull.facet_count() as u32 {
        let corners = hull.facet(facet);
        let corner = |i: usize| hull.corners()[corners[i % corners.len()] as usize];
        let Some(normal) = (corner(1) - corner(0)).cross(corner(2) - corner(0)).try_normalize()
        else {
            continue;
        };
        let height = extent(normal);
        for i in 0..corners.len() {
            let Some(along) = (corner(i + 1) - corner(i)).try_normalize() else { continue };
            least = least.min(height * extent(along) * extent(normal.cross(along)));
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_geom::solids;

    /// A cube: its hull and its box are itself, its sphere has √3/2 of its side as radius, and its
    /// own box turned is that of its turned corners.
    #[test]
    fn of_a_cube() {
        let cube = solids::cuboid(DVec3::ONE).expect("a cube");
        let found = tightness(&cube, 8, |_| {}).expect("a cube has a hull");
        assert!((found.hull - 1.0).abs() < 1e-12);
        assert!((found.mean.obb - 100.0).abs() < 1e-9);
        let sphere = 100.0 * PI * 3f64.sqrt() / 2.0;
        assert!((found.mean.sphere / sphere - 1.0).abs() < 1e-2, "{}", found.mean.sphere);
        assert_eq!(found.turns.len(), 7 * 8);
        for turn in &found.turns {
            assert!((turn.aabb - turn.aabb_again).abs() < 1e-9, "{turn:?}");
            assert!(turn.aabb > 100.0 - 1e-9 && turn.dop > 100.0 - 1e-9, "{turn:?}");
            assert!(turn.dop < turn.aabb + 1e-9 && turn.dop < turn.dop_again + 1e-9, "{turn:?}");
        }
        // An eighth turn about z: a square of √2 in one of √2 · √2.
        let eighth = found.turns[2 * 8 + 1];
        assert!((eighth.aabb - 200.0).abs() < 1e-9, "{eighth:?}");
        // The planes along x ± y then touch faces of the cube.
        assert!((eighth.dop - 100.0).abs() < 1e-9, "{eighth:?}");
    }
}
