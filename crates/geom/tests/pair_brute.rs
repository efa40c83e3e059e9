//! Two models against every triangle with every triangle.

mod soup;

use glam::{DQuat, DVec3, Vec3};
use jostle_geom::solids::{self, BumpyTorus};
use jostle_geom::{Mesh, Model, Pair, Pose};
use soup::{QUALITIES, Random, brute_pairs, grid_soup, own_corners, polygon_soup, soup};

/// How often the answer was yes and no.
#[derive(Default)]
struct Tally {
    yes: usize,
    no: usize,
}

impl Tally {
    /// One pair of meshes in several pairs of poses, all qualities.
    fn check(&mut self, a: &Mesh, b: &Mesh, poses: &[(Pose, Pose)], name: &str) {
        let models = QUALITIES.map(|q| [Model::build(a.clone(), q), Model::build(b.clone(), q)]);
        for (pose_a, pose_b) in poses {
            let expected = brute_pairs(a, pose_a, b, pose_b);
            if expected.is_empty() {
                self.no += 1;
            } else {
                self.yes += 1;
            }
            for ([model_a, model_b], quality) in models.iter().zip(QUALITIES) {
                let pair = Pair::new(model_a, pose_a, model_b, pose_b);
                let place = format!("{name}, {quality:?}, {pose_a:?}, {pose_b:?}");
                assert_eq!(pair.all_pairs(), expected, "{place}");
                assert_eq!(pair.touches(), !expected.is_empty(), "{place}");
            }
        }
    }

    /// A pair of meshes for each seed.
    fn check_seeds(
        seeds: std::ops::Range<u64>,
        mut draw: impl FnMut(u64, &mut Random) -> (Mesh, Mesh, Vec<(Pose, Pose)>),
    ) {
        let mut tally = Tally::default();
        for seed in seeds {
            let (a, b, poses) = draw(seed, &mut Random(seed));
            tally.check(&a, &b, &poses, &format!("seed {seed}"));
        }
        tally.both_answers_occur();
    }

    fn both_answers_occur(&self) {
        assert!(self.yes > 0 && self.no > 0, "{} yes, {} no", self.yes, self.no);
    }
}

fn shifted(x: f64, y: f64, z: f64) -> (Pose, Pose) {
    (Pose::IDENTITY, Pose::from_translation(DVec3::new(x, y, z)).unwrap())
}

const SAME: (Pose, Pose) = (Pose::IDENTITY, Pose::IDENTITY);

#[test]
fn random_soups() {
    Tally::check_seeds(0..60, |seed, random| {
        let spread = [0.02, 0.1, 0.5][seed as usize % 3];
        let (count_a, count_b) = (1 + random.below(60), 1 + random.below(60));
        let a = soup(random, count_a, 1.0, spread);
        let b = soup(random, count_b, 1.0, spread);
        let poses: Vec<_> = (0..6).map(|_| (random.pose(0.5), random.pose(1.5))).collect();
        (a, b, poses)
    });
}

#[test]
fn polygons_name_faces() {
    Tally::check_seeds(100..120, |_, random| {
        let (a, b) = (polygon_soup(random, 20), polygon_soup(random, 9));
        let poses: Vec<_> = (0..4).map(|_| (random.pose(0.1), random.pose(3.0))).collect();
        (a, b, poses)
    });
}

/// Corners on few integer points: shared corners, edges and planes everywhere, also after turns
/// that bring the grid onto itself.
#[test]
fn integer_grids() {
    let quarter = DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0);
    Tally::check_seeds(200..260, |seed, random| {
        let a = grid_soup(random, 1 + seed as usize % 40, 4, 1.0);
        let b = grid_soup(random, 1 + seed as usize % 7, 4, 1.0);
        let mut poses = vec![SAME, shifted(3.0, 0.0, 0.0), shifted(3.0, 3.0, 3.0)];
        poses.push(shifted(4.0, 0.0, 0.0));
        poses.push((Pose::IDENTITY, Pose::new(quarter, DVec3::new(3.0, 0.0, 1.0)).unwrap()));
        poses.push((random.pose(1.0), random.pose(3.0)));
        (a, b, poses)
    });
}

#[test]
fn everything_in_one_plane() {
    Tally::check_seeds(300..330, |_, random| {
        let mut flat = |count: usize| {
            let mesh = soup(random, count, 1.0, 0.1);
            own_corners(mesh.vertices().iter().map(|v| v.with_z(0.0)).collect())
        };
        let (a, b) = (flat(30), flat(20));
        let up = (Pose::IDENTITY, Pose::from_translation(DVec3::Z * 1e-12).unwrap());
        let turned = random.rotation();
        let side = |shift: DVec3| Pose::new(turned, turned.normalize() * shift).unwrap();
        let sideways = (side(DVec3::ZERO), side(DVec3::new(1.0, 0.5, 0.0)));
        let poses = vec![SAME, up, shifted(2.5, 0.0, 0.0), shifted(0.3, 0.2, 0.0), sideways];
        (a, b, poses)
    });
}

#[test]
fn boxes_face_to_face() {
    let mut tally = Tally::default();
    let cube = solids::cuboid(DVec3::new(1.0, 2.0, 4.0)).unwrap();
    let next = |x: f64| f64::from_bits(x.to_bits() + 1);
    let poses = [
        SAME,
        shifted(1.0, 0.0, 0.0),
        shifted(next(1.0), 0.0, 0.0),
        shifted(1.0, 2.0, 4.0),
        shifted(1.0, 2.0, next(4.0)),
        shifted(0.0, -2.0, 1.0),
        shifted(0.0, -2.0 - 1e-15, 1.0),
        shifted(0.25, 0.25, 0.25),
    ];
    tally.check(&cube, &cube, &poses, "cubes");
    assert_eq!((tally.yes, tally.no), (5, 3));
}

#[test]
fn tori() {
    let mut tally = Tally::default();
    let a = BumpyTorus::plain(1.0, 0.3, [24, 12]).mesh().unwrap();
    let b = BumpyTorus::plain(1.0, 0.2, [20, 10]).mesh().unwrap();
    let mut random = Random(7);
    let mut poses: Vec<_> = (0..12).map(|_| (random.pose(0.1), random.pose(2.0))).collect();
    poses.push(SAME);
    tally.check(&a, &a, &poses, "one torus twice");
    tally.check(&a, &b, &poses, "two tori");
    tally.both_answers_occur();
}

#[test]
fn nothing_and_single_elements() {
    let mut tally = Tally::default();
    let nothing = Mesh::from_triangles(Vec::new(), Vec::new()).unwrap();
    let unused = Mesh::from_triangles(vec![Vec3::ZERO], Vec::new()).unwrap();
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let single = |t: [u32; 3]| Mesh::from_triangles(corners.clone(), vec![t]).unwrap();
    let cube = solids::cuboid(DVec3::splat(2.0)).unwrap();
    let meshes = [nothing, unused, single([0, 1, 2]), single([0, 1, 1]), single([2, 2, 2]), cube];
    let poses = [SAME, shifted(0.0, 0.0, 1.0), shifted(1.0, 0.0, 0.0), shifted(0.0, 1.0, 0.0)];
    for (i, a) in meshes.iter().enumerate() {
        for (j, b) in meshes.iter().enumerate() {
            tally.check(a, b, &poses, &format!("meshes {i} and {j}"));
        }
    }
    tally.both_answers_occur();
}

/// The same soup in all sizes that `f32` has, also against one of another size.
#[test]
fn huge_and_tiny() {
    let mut tally = Tally::default();
    for scale in SCALES {
        for seed in 400..404 {
            let mut random = Random(seed);
            let a = soup(&mut random, 30, scale, 0.2);
            let b = soup(&mut random, 40, scale, 0.2);
            let size = f64::from(scale).min(3e29); // a translation stays below 2^100
            let mut poses: Vec<_> =
                (0..4).map(|_| (random.pose(size * 0.2), random.pose(size * 2.0))).collect();
            poses.push(SAME);
            poses.push(shifted(size * 4.0, 0.0, 0.0));
            tally.check(&a, &b, &poses, &format!("scale {scale}, seed {seed}"));
            let one = soup(&mut random, 30, 1.0, 0.2);
            tally.check(&a, &one, &poses, &format!("scale {scale} against 1, seed {seed}"));
        }
    }
    tally.both_answers_occur();
}

const SCALES: [f32; 11] = [1e-45, 1e-40, 1e-38, 1e-30, 1e-15, 1e6, 1e15, 1e28, 1e30, 1e37, 1e38];

/// Far translations leave few digits for the position; the answer is about the placed numbers.
#[test]
fn far_away() {
    let mut tally = Tally::default();
    for seed in 500..520 {
        let mut random = Random(seed);
        let (a, b) = (soup(&mut random, 30, 1.0, 0.3), soup(&mut random, 30, 1.0, 0.3));
        let mut poses = Vec::new();
        for far in [1e6, 1e9, 1e15] {
            let middle = random.vector() * far;
            let mut near = || Pose::new(random.rotation(), middle + random.vector() * 0.7).unwrap();
            poses.push((near(), near()));
            poses.push((near(), Pose::from_translation(middle + DVec3::X * 30.0).unwrap()));
        }
        tally.check(&a, &b, &poses, &format!("seed {seed}"));
        // The mesh itself is far from its own zero.
        let moved = |m: &Mesh| own_corners(m.vertices().iter().map(|v| *v + 1e4).collect());
        tally.check(&moved(&a), &moved(&b), &[SAME, shifted(0.0, 3.0, 0.0)], "far mesh");
    }
    tally.both_answers_occur();
}
