//! Points against voxels (Zachmann 2000, 3.6.1, a proposal): one surface as a cloud of points, the
//! other as a grid of voxels that are set where the surface is.
//!
//! The answer is not exact, so this is no [`crate::Contender`]. With n³ voxels over a cube of side
//! s, a voxel's centre is within ε = √3·s/(2n) of the surface, and of a surface point there is a
//! set voxel whose centre is so near ([`PointsInVoxels::error`]). Of the other surface every point
//! is within the cloud's radius of a point of the cloud.
//!
//! * "Yes" means that the surfaces are within 2ε of each other (plus `reach`, see below).
//! * "No" of a grid without reach means nothing if the cloud has gaps: a surface can pass between
//!   its points. That is the thesis' form.
//! * Voxels are also set within `reach` of the surface. With the cloud's radius as reach, surfaces
//!   that touch are never missed.

use glam::{DVec3, Vec3};
use jostle_geom::{Mesh, Pose};
use std::collections::HashSet;

/// The surface of one mesh as points, of the other as voxels.
#[derive(Clone, Debug)]
pub struct PointsInVoxels {
    points: Vec<Vec3>,
    grid: Grid,
    reach: f64,
}

#[derive(Clone, Debug)]
struct Grid {
    low: DVec3,
    /// The side of a voxel.
    voxel: f64,
    n: usize,
    bits: Vec<u64>,
}

/// How fine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fineness {
    /// Voxels along each side of the cube.
    pub voxels: usize,
    /// How far a point of the surface may be from the nearest point of the cloud.
    pub radius: f64,
    /// Voxels that are nearer to the surface than this are set too.
    pub reach: f64,
}

impl PointsInVoxels {
    /// Takes points of the first surface and voxels of the second.
    ///
    /// A number of voxels of 0 is taken as 1, and a radius that is not above 0 as one that gives
    /// the vertices only.
    #[must_use]
    pub fn new(cloud: &Mesh, solid: &Mesh, fineness: Fineness) -> PointsInVoxels {
        let Fineness { voxels, radius, reach } = fineness;
        let reach = reach.max(0.0);
        PointsInVoxels {
            points: points(cloud, radius),
            grid: Grid::new(solid, voxels, reach),
            reach,
        }
    }

    /// ε: how far the centre of a set voxel is from the surface at most, without reach.
    #[must_use]
    pub fn error(&self) -> f64 {
        3f64.sqrt() * self.grid.voxel * 0.5
    }

    /// If the answer is yes, the surfaces are no further apart than this (up to rounding).
    #[must_use]
    pub fn apart_at_most(&self) -> f64 {
        2.0 * self.error() + 3f64.sqrt() * self.reach
    }

    /// Is a point of the cloud in a voxel that is set? Also returns how many points were looked at.
    #[must_use]
    pub fn touches(&self, pose_cloud: &Pose, pose_solid: &Pose) -> (bool, usize) {
        let inside = |p: &Vec3| {
            self.grid.is_set(pose_solid.inverse_transform_point(pose_cloud.transform_point(*p)))
        };
        match self.points.iter().position(inside) {
            Some(found) => (true, found + 1),
            None => (false, self.points.len()),
        }
    }

    /// Points of the cloud.
    #[must_use]
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// The centres of voxels that are set.
    pub fn set_voxels(&self) -> impl Iterator<Item = DVec3> + '_ {
        let n = self.grid.n;
        let at = move |i: usize| DVec3::new((i % n) as f64, (i / n % n) as f64, (i / n / n) as f64);
        let set = |&i: &usize| self.grid.bits[i / 64] >> (i % 64) & 1 == 1;
        let indices = (0..n * n * n).filter(set);
        indices.map(move |i| self.grid.low + (at(i) + DVec3::splat(0.5)) * self.grid.voxel)
    }

    /// Memory of grid and cloud.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.grid.bits.capacity() * size_of::<u64>() + self.points.capacity() * size_of::<Vec3>()
    }
}

impl Grid {
    fn new(mesh: &Mesh, voxels: usize, reach: f64) -> Grid {
        let n = voxels.max(1);
        let corners = mesh.triangles().iter().flatten().map(|&v| mesh.vertices()[v as usize]);
        let nothing = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (low, high) = corners.fold(nothing, |(low, high), v| (low.min(v), high.max(v)));
        let empty = mesh.triangle_count() == 0;
        let (low, high) = if empty { (Vec3::ZERO, Vec3::ZERO) } else { (low, high) };
        let (low, high) = (low.as_dvec3(), high.as_dvec3());
        // A little larger, so that what is on the border is in a voxel for sure, and never 0.
        let side = ((high - low).max_element() + 2.0 * reach) * (1.0 + 1e-9);
        let side = side.max(f64::MIN_POSITIVE * 1e10);
        let low = (low + high) * 0.5 - DVec3::splat(side * 0.5);
        let bits = vec![0; (n * n * n).div_ceil(64)];
        let mut grid = Grid { low, voxel: side / n as f64, n, bits };
        for triangle in mesh.triangles() {
            grid.set(triangle.map(|v| mesh.vertices()[v as usize].as_dvec3()), reach);
        }
        grid
    }

    /// Sets all voxels that a triangle meets, or is within `reach` of along an axis.
    fn set(&mut self, triangle: [DVec3; 3], reach: f64) {
        let [a, b, c] = triangle.map(|p| (p - self.low) / self.voxel);
        // Half a voxel, and room for rounding.
        let half = 0.5 + reach / self.voxel + 1e-9 * self.n as f64;
        let grown = DVec3::splat(half - 0.5);
        let last = DVec3::splat(self.n as f64 - 1.0);
        let cell = |p: DVec3| p.floor().max(DVec3::ZERO).min(last);
        let from = cell(a.min(b).min(c) - grown);
        let to = cell(a.max(b).max(c) + grown);
        for z in from.z as usize..=to.z as usize {
            for y in from.y as usize..=to.y as usize {
                for x in from.x as usize..=to.x as usize {
                    let centre = DVec3::new(x as f64, y as f64, z as f64) + DVec3::splat(0.5);
                    if meets_cube([a - centre, b - centre, c - centre], half) {
                        let i = (z * self.n + y) * self.n + x;
                        self.bits[i / 64] |= 1 << (i % 64);
                    }
                }
            }
        }
    }

    fn is_set(&self, p: DVec3) -> bool {
        let cell = ((p - self.low) / self.voxel).floor();
        let end = DVec3::splat(self.n as f64);
        if !(cell.cmpge(DVec3::ZERO).all() && cell.cmplt(end).all()) {
            return false;
        }
        let i = (cell.z as usize * self.n + cell.y as usize) * self.n + cell.x as usize;
        self.bits[i / 64] >> (i % 64) & 1 == 1
    }
}

/// Does a triangle meet the cube from -half to half? By separating axes (Akenine-Möller 2001).
fn meets_cube(triangle: [DVec3; 3], half: f64) -> bool {
    let [a, b, c] = triangle;
    let edges = [b - a, c - b, a - c];
    let crossed = edges.into_iter().flat_map(|e| DVec3::AXES.map(|axis| axis.cross(e)));
    let axes = DVec3::AXES.into_iter().chain([edges[0].cross(edges[1])]).chain(crossed);
    axes.into_iter().all(|axis| {
        let radius = half * (axis.x.abs() + axis.y.abs() + axis.z.abs());
        let along = triangle.map(|p| p.dot(axis));
        let low = along.into_iter().fold(f64::INFINITY, f64::min);
        let high = along.into_iter().fold(f64::NEG_INFINITY, f64::max);
        low <= radius && high >= -radius
    })
}

/// Points such that every point of the surface is within `radius` of one.
///
/// A triangle is divided into k² alike, k such that their longest edge is at most √3·radius: a
/// point of a triangle is within 1/√3 of its longest edge of a corner. Corners of the mesh and
/// points on its edges are taken once.
fn points(mesh: &Mesh, radius: f64) -> Vec<Vec3> {
    let (mut corners, mut edges) = (HashSet::new(), HashSet::new());
    let mut points = Vec::new();
    for &[a, b, c] in mesh.triangles() {
        let [p, q, r] = [a, b, c].map(|v| mesh.vertices()[v as usize].as_dvec3());
        let longest = p.distance(q).max(q.distance(r)).max(r.distance(p));
        let k = (longest / (3f64.sqrt() * radius)).ceil();
        let k = if radius > 0.0 { k.clamp(1.0, 1e4) as u32 } else { 1 };
        let first = |x: u32, y: u32, edges: &mut HashSet<_>| edges.insert((x.min(y), x.max(y), k));
        let new_edges = [(b, c), (c, a), (a, b)].map(|(x, y)| first(x, y, &mut edges));
        for i in 0..=k {
            for j in 0..=k - i {
                let weights = [i, j, k - i - j];
                let zeros = weights.iter().filter(|&&w| w == 0).count();
                let new = match zeros {
                    // The corner whose weight is all.
                    2 => {
                        let corner = [a, b, c][usize::from(j == k) + 2 * usize::from(i + j == 0)];
                        corners.insert(corner)
                    }
                    // The edge across from the corner whose weight is none.
                    1 => new_edges[weights.iter().position(|&w| w == 0).unwrap_or(0)],
                    _ => true,
                };
                if new {
                    let [u, v, w] = weights.map(|weight| f64::from(weight) / f64::from(k));
                    points.push((p * u + q * v + r * w).as_vec3());
                }
            }
        }
    }
    points
}
