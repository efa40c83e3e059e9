//! Pairs of meshes and poses, drawn where the queries are weak.

use crate::soup::{QUALITIES, Random, grid_soup, own_corners, polygon_soup, soup};
use crate::twin::Twin;
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::solids::{self, BumpyTorus};
use jostle_geom::{Mesh, Model, Pair, Pose};

/// Two meshes and the poses to try them in.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) a: Mesh,
    pub(crate) b: Mesh,
    pub(crate) poses: Vec<(Pose, Pose)>,
}

impl Case {
    /// Calls `check` for every quality and pose, with the twin and a description of the case.
    pub(crate) fn each(&self, mut check: impl FnMut(&Pair<'_>, &Twin, &str)) {
        let models =
            QUALITIES.map(|q| [Model::build(self.a.clone(), q), Model::build(self.b.clone(), q)]);
        for (pose_a, pose_b) in &self.poses {
            let twin = Twin::new(&self.a, pose_a, &self.b, pose_b);
            for ([a, b], quality) in models.iter().zip(QUALITIES) {
                let pair = Pair::new(a, pose_a, b, pose_b);
                let place = format!("{}, {quality:?}, {pose_a:?}, {pose_b:?}", self.name);
                check(&pair, &twin, &place);
            }
        }
    }
}

pub(crate) fn shift(by: DVec3) -> Pose {
    Pose::from_translation(by).unwrap()
}

fn direction(random: &mut Random) -> DVec3 {
    loop {
        let v = random.vector();
        if (0.1..1.0).contains(&v.length()) {
            return v.normalize();
        }
    }
}

pub(crate) fn random_soups(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let case = |seed: u64| {
        let mut random = Random(seed);
        let spread = [0.02, 0.1, 0.5][seed as usize % 3];
        let (count_a, count_b) = (1 + random.below(50), 1 + random.below(50));
        let a = soup(&mut random, count_a, 1.0, spread);
        let b = soup(&mut random, count_b, 1.0, spread);
        let mut poses: Vec<_> = (0..3).map(|_| (random.pose(0.5), random.pose(1.5))).collect();
        poses.push((random.pose(0.5), random.pose(30.0)));
        Case { name: format!("soup, seed {seed}"), a, b, poses }
    };
    seeds.map(case).collect()
}

/// Round things a little apart, in contact, and through each other.
pub(crate) fn near_contact() -> Vec<Case> {
    let mut random = Random(1);
    let ball = solids::sphere(1.0, 0.05).unwrap();
    let ring = |tube: f64| BumpyTorus::plain(1.0, tube, [10, 6]).mesh().unwrap();
    let mut balls = Vec::new();
    for gap in [-1e-2, -1e-9, 0.0, 1e-15, 1e-9, 1e-6, 1e-2, 1.0] {
        let (turn, way) = (random.rotation(), direction(&mut random));
        balls.push((Pose::IDENTITY, shift(DVec3::X * (2.0 + gap))));
        balls.push((random.pose(0.2), Pose::new(turn, way * (2.0 + gap)).unwrap()));
    }
    let rings = (0..10).map(|_| (random.pose(0.2), random.pose(1.8))).collect();
    vec![
        Case { name: "balls".into(), a: ball.clone(), b: ball, poses: balls },
        Case { name: "tori".into(), a: ring(0.2), b: ring(0.15), poses: rings },
    ]
}

/// Needles: chains of triangles of length 1 whose width is next to nothing.
pub(crate) fn slivers(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let chain = |random: &mut Random, width: f64| {
        let mut vertices: Vec<Vec3> = Vec::new();
        for _ in 0..8 {
            let (start, way) = (random.vector(), random.vector());
            let points: Vec<Vec3> = (0..5)
                .map(|k| start + way * f64::from(k % 2) + random.vector() * width)
                .map(|p| p.as_vec3())
                .collect();
            vertices.extend(points.windows(3).flatten());
        }
        own_corners(vertices)
    };
    let case = |seed: u64| {
        let mut random = Random(seed);
        let width = 10f64.powi(-2 - (seed % 6) as i32);
        let (a, b) = (chain(&mut random, width), chain(&mut random, width));
        let mut poses: Vec<_> = (0..4).map(|_| (random.pose(0.5), random.pose(1.5))).collect();
        // Random needles miss each other: bring two corners together.
        let [p, q] = [&a, &b].map(|mesh| mesh.vertices()[4].as_dvec3());
        poses.push((Pose::IDENTITY, shift(p - q)));
        Case { name: format!("slivers, seed {seed}, width {width}"), a, b, poses }
    };
    seeds.map(case).collect()
}

/// Everything on integer points: equal distances, parallel edges and planes everywhere, also a
/// little turned.
pub(crate) fn grids(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let case = |seed: u64| {
        let mut random = Random(seed);
        let a = grid_soup(&mut random, 1 + seed as usize % 30, 4, 1.0);
        let b = grid_soup(&mut random, 1 + seed as usize % 7, 4, 1.0);
        let turned = |angle: f64, up: f64| {
            let axis = DVec3::new(0.3, -0.5, 1.0).normalize();
            Pose::new(DQuat::from_axis_angle(axis, angle), DVec3::new(0.3, 0.7, up)).unwrap()
        };
        let poses = [
            shift(DVec3::ZERO),
            shift(DVec3::new(0.0, 0.0, 3.5)),
            shift(DVec3::new(4.0, 4.0, 4.0)),
            turned(1e-8, 3.0 + 1e-6),
            turned(1e-5, 3.001),
            turned(1e-8, 0.5),
        ];
        let poses = poses.into_iter().map(|pose| (Pose::IDENTITY, pose)).collect();
        Case { name: format!("grid, seed {seed}"), a, b, poses }
    };
    seeds.map(case).collect()
}

/// Segments and points only.
pub(crate) fn segments_and_points(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let case = |seed: u64| {
        let mut random = Random(seed);
        let mut mesh = |cells: usize| {
            let mut vertices = Vec::new();
            for k in 0..12 {
                let mut at = || random.below(cells) as f32 * 0.5;
                let [p, q] = [(); 2].map(|()| Vec3::new(at(), at(), at()));
                vertices.extend([p, if k % 3 == 0 { p } else { q }, p]);
            }
            own_corners(vertices)
        };
        let (a, b) = (mesh(4), mesh(3));
        let poses = vec![
            (Pose::IDENTITY, Pose::IDENTITY),
            (Pose::IDENTITY, shift(DVec3::new(0.25, 0.0, 0.0))),
            (random.pose(0.5), random.pose(1.0)),
        ];
        Case { name: format!("segments and points, seed {seed}"), a, b, poses }
    };
    seeds.map(case).collect()
}

pub(crate) fn polygons(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let case = |seed: u64| {
        let mut random = Random(seed);
        let (a, b) = (polygon_soup(&mut random, 9), polygon_soup(&mut random, 5));
        let poses = (0..4).map(|_| (random.pose(0.1), random.pose(3.0))).collect();
        Case { name: format!("polygons, seed {seed}"), a, b, poses }
    };
    seeds.map(case).collect()
}

/// Far translations leave few digits for the position.
pub(crate) fn far_away(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let case = |seed: u64| {
        let mut random = Random(seed);
        let (a, b) = (soup(&mut random, 25, 1.0, 0.4), soup(&mut random, 25, 1.0, 0.1));
        let mut poses = Vec::new();
        for far in [1e6, 1e9] {
            let middle = random.vector() * far;
            let mut near = |reach: f64| {
                Pose::new(random.rotation(), middle + random.vector() * reach).unwrap()
            };
            poses.push((near(0.5), near(0.5)));
            poses.push((near(0.5), near(4.0)));
            poses.push((near(0.5), shift(-middle)));
        }
        Case { name: format!("far away, seed {seed}"), a, b, poses }
    };
    seeds.map(case).collect()
}

/// The sizes of `f32`: those whose squares leave its range, and the ends of the range itself.
const SCALES: [f32; 15] = [
    1e-45, 1e-40, 1e-38, 1e-30, 1e-24, 1e-22, 1e-20, 1e-18, 1e6, 1e17, 1e19, 1e20, 1e28, 1e30, 1e38,
];

pub(crate) fn all_sizes(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let mut cases = Vec::new();
    for (seed, scale) in seeds.flat_map(|seed| SCALES.map(|scale| (seed, scale))) {
        let mut random = Random(seed);
        let a = soup(&mut random, 30, scale, 0.2);
        let b = soup(&mut random, 25, scale, 0.2);
        // The same a little and far to the side; a pose cannot move things this far.
        let beside = |by: f32| {
            own_corners(b.vertices().iter().map(|v| *v + Vec3::new(by, by * 0.3, 0.0)).collect())
        };
        let size = f64::from(scale).min(3e29); // a translation stays below 2^100
        let poses: Vec<_> =
            (0..2).map(|_| (random.pose(size * 0.2), random.pose(size * 0.7))).collect();
        for (b, way) in [(b.clone(), "together"), (beside(scale * 2.1), "beside")] {
            let name = format!("scale {scale}, {way}, seed {seed}");
            let mut poses = poses.clone();
            poses.push((Pose::IDENTITY, Pose::IDENTITY));
            cases.push(Case { name, a: a.clone(), b, poses });
        }
        let one = soup(&mut random, 20, 1.0, 0.2);
        let name = format!("scale {scale} against 1, seed {seed}");
        cases.push(Case { name, a, b: one, poses });
    }
    cases
}

pub(crate) fn empty_and_single() -> Vec<Case> {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let single = |t: [u32; 3]| Mesh::from_triangles(corners.clone(), vec![t]).unwrap();
    let meshes = [
        Mesh::from_triangles(Vec::new(), Vec::new()).unwrap(),
        Mesh::from_triangles(vec![Vec3::ZERO], Vec::new()).unwrap(),
        single([0, 1, 2]),
        single([0, 1, 1]),
        single([2, 2, 2]),
        solids::cuboid(DVec3::splat(2.0)).unwrap(),
    ];
    let mut cases = Vec::new();
    for (i, a) in meshes.iter().enumerate() {
        for (j, b) in meshes.iter().enumerate() {
            let poses = [DVec3::ZERO, DVec3::Z, DVec3::new(4.0, 3.0, 0.0)];
            let poses = poses.map(|by| (Pose::IDENTITY, shift(by))).into();
            let name = format!("meshes {i} and {j}");
            cases.push(Case { name, a: a.clone(), b: b.clone(), poses });
        }
    }
    cases
}

/// Some of everything, for tests that try much on each case.
pub(crate) fn mixed() -> Vec<Case> {
    let mut cases = random_soups(900..912);
    cases.extend(near_contact());
    cases.extend(slivers(920..926));
    cases.extend(grids(930..940));
    cases.extend(polygons(950..956));
    cases.extend(empty_and_single());
    cases
}
