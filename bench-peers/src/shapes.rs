//! The generated workloads: bumpy tori, Zachmann's solids, and random poses.

use crate::soup::Soup;
use glam::{DQuat, DVec3};
use jostle_geom::Pose;
use std::f64::consts::TAU;

/// A seeded stream of numbers (SplitMix64). Written out so that the workload never changes with
/// the version of a crate.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Normally distributed (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform(0.0, 1.0)).ln()).sqrt();
        radius * (TAU * self.uniform(0.0, 1.0)).cos()
    }

    /// A rotation, all equally likely.
    pub(crate) fn rotation(&mut self) -> DQuat {
        let [x, y, z, w] = std::array::from_fn(|_| self.normal());
        DQuat::from_xyzw(x, y, z, w).normalize()
    }

    /// A pose: any rotation, any direction, a distance between `near` and `far`.
    fn pose(&mut self, near: f64, far: f64) -> Pose {
        let rotation = self.rotation();
        let direction = DVec3::new(self.normal(), self.normal(), self.normal()).normalize();
        let translation = direction * self.uniform(near, far);
        Pose::new(rotation, translation).unwrap_or(Pose::IDENTITY)
    }
}

/// Poses of B relative to A for models of about this radius. The tori of PEERS have 1.3, and
/// there the distances are 0.2 to 2.6: from nearly concentric to just out of reach.
pub(crate) fn poses(count: usize, radius: f64, seed: u64) -> Vec<Pose> {
    let mut random = Random::new(seed);
    let scale = radius / 1.3;
    (0..count).map(|_| random.pose(0.2 * scale, 2.6 * scale)).collect()
}

/// The two bumpy tori of about `n` triangles each.
pub(crate) fn bumpy_tori(n: usize) -> [Soup; 2] {
    let around = (2.0 * n as f64).sqrt().round();
    let across = (n as f64 / 2.0 / around).round();
    [(7.0, 0.0), (5.0, 1.0)].map(|(bumps, phase)| {
        grid(around as u32, across as u32, true, |u, v| {
            let (u, v) = (u * TAU, v * TAU);
            let r = 0.3 * (1.0 + 0.15 * (bumps * u + phase).sin() * (bumps * v).cos());
            let ring = 1.0 + r * v.cos();
            [ring * u.cos(), ring * u.sin(), r * v.sin()]
        })
    })
}

/// Zachmann's solids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Solid {
    Sphere,
    Torus,
    Hyperboloid,
}

impl Solid {
    pub(crate) const ALL: [Solid; 3] = [Solid::Sphere, Solid::Torus, Solid::Hyperboloid];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Solid::Sphere => "sphere",
            Solid::Torus => "torus",
            Solid::Hyperboloid => "hyperboloid",
        }
    }

    /// About `n` triangles of nearly equal sides.
    pub(crate) fn soup(self, n: usize) -> Soup {
        let n = n as f64;
        match self {
            Solid::Sphere => sphere((0.5 + (n / 4.0).sqrt()).round() as u32),
            // Ring and tube as 10 to 4, as are the numbers of segments.
            Solid::Torus => {
                let across = (n / 2.0 / 2.5).sqrt().round();
                grid((2.5 * across) as u32, across as u32, true, |u, v| {
                    let (u, v) = (u * TAU, v * TAU);
                    let ring = 1.0 + 0.4 * v.cos();
                    [ring * u.cos(), ring * u.sin(), 0.4 * v.sin()]
                })
            }
            // One sheet, open at both ends, waist a third of the ends.
            Solid::Hyperboloid => {
                let along = (n / 4.0).sqrt().round();
                grid((2.0 * along) as u32, along as u32, false, |u, v| {
                    let (u, z) = (u * TAU, 2.0 * v - 1.0);
                    let ring = (1.0 / 9.0 + z * z * 8.0 / 9.0).sqrt();
                    [ring * u.cos(), ring * u.sin(), z]
                })
            }
        }
    }
}

/// A surface over the unit square: closed in u, closed in v if `wrap`. Two triangles per cell, the
/// lower ones first, as gen.py of PEERS counts them.
fn grid(nu: u32, nv: u32, wrap: bool, surface: impl Fn(f64, f64) -> [f64; 3]) -> Soup {
    let rows = if wrap { nv } else { nv + 1 };
    let mut soup = Soup::default();
    for i in 0..nu {
        for j in 0..rows {
            let point = surface(f64::from(i) / f64::from(nu), f64::from(j) / f64::from(nv));
            soup.vertices.push(point.map(|x| x as f32));
        }
    }
    let at = |i: u32, j: u32| (i % nu) * rows + j % rows;
    let cells = || (0..nu).flat_map(|i| (0..nv).map(move |j| (i, j)));
    soup.triangles.extend(cells().map(|(i, j)| [at(i, j), at(i + 1, j), at(i + 1, j + 1)]));
    soup.triangles.extend(cells().map(|(i, j)| [at(i, j), at(i + 1, j + 1), at(i, j + 1)]));
    soup
}

/// A unit sphere of `bands` bands from pole to pole and twice as many segments around.
fn sphere(bands: u32) -> Soup {
    let bands = bands.max(3);
    let (nu, rows) = (2 * bands, bands - 1);
    let mut soup = grid(nu, bands - 2, false, |u, v| {
        let band = (1.0 + v * f64::from(bands - 2)) / f64::from(bands);
        let (u, v) = (u * TAU, band * TAU / 2.0);
        [v.sin() * u.cos(), v.sin() * u.sin(), -v.cos()]
    });
    let south = soup.vertices.len() as u32;
    soup.vertices.extend([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]);
    for i in 0..nu {
        let (here, next) = (i * rows, (i + 1) % nu * rows);
        soup.triangles.push([south, next, here]);
        soup.triangles.push([south + 1, here + rows - 1, next + rows - 1]);
    }
    soup
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Edges that have no twin in the other direction.
    fn open_edges(soup: &Soup) -> usize {
        let edges = soup.triangles.iter().flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]);
        let edges: HashSet<_> = edges.collect();
        assert_eq!(edges.len(), 3 * soup.triangles.len(), "an edge is used twice");
        edges.iter().filter(|(a, b)| !edges.contains(&(*b, *a))).count()
    }

    #[test]
    fn closed_solids_are_closed_and_the_hyperboloid_is_open_at_two_ends() {
        for n in [100, 1_000, 16_000] {
            assert_eq!(open_edges(&Solid::Sphere.soup(n)), 0);
            assert_eq!(open_edges(&Solid::Torus.soup(n)), 0);
            assert!(open_edges(&Solid::Hyperboloid.soup(n)) > 0);
            for solid in Solid::ALL {
                let triangles = solid.soup(n).triangles.len();
                assert!(triangles.abs_diff(n) * 4 < n, "{solid:?}: {triangles} for {n}");
            }
        }
    }

    #[test]
    fn tori_have_the_sizes_of_the_published_workload() {
        let sizes = [2_000, 20_000, 200_000].map(|n| bumpy_tori(n)[0].triangles.len());
        assert_eq!(sizes, [2_016, 20_000, 199_712]);
    }

    #[test]
    fn poses_are_the_same_every_time_and_within_reach() {
        let again = poses(100, 1.3, 42);
        assert_eq!(again, poses(100, 1.3, 42));
        let far = again.iter().map(|p| p.translation().length());
        assert!(far.into_iter().all(|d| (0.2..2.6).contains(&d)));
    }
}
