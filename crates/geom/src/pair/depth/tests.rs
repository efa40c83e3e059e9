//! Depths against formulas and against looking at many places. Solids made of cells are compared in
//! `crates/oracle/src/polycubes/depth.rs`.

use super::interval::all_axes;
use crate::predicates::{Sign, orient3d};
use crate::{
    Class, DepthError, Effort, Mesh, Model, OverlapsError, Pair, Pose, PosedModel, Quality, Shape,
    Side, solids,
};
use glam::{DQuat, DVec3, Vec3};
use jostle_dice::{below, part, signed};

fn model(mesh: Mesh) -> Model {
    Model::build(mesh.into_solid().unwrap(), Quality::Default)
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z)).unwrap()
}

fn direction(state: &mut u64) -> DVec3 {
    loop {
        let v = DVec3::new(signed(state), signed(state), signed(state));
        if (0.01..=1.0).contains(&v.length_squared()) {
            return v.normalize();
        }
    }
}

fn random_pose(state: &mut u64, far: f64) -> Pose {
    let turn = DQuat::from_axis_angle(direction(state), 3.0 * signed(state));
    Pose::new(turn, direction(state) * far * part(state)).unwrap()
}

/// A cube of edge 1 around zero, each side cut into squares.
fn meshed_cube(cells: u32) -> Model {
    let (mut vertices, mut faces) = (Vec::new(), Vec::new());
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    for side in 0..6 {
        let (up, u, v) = (axes[side % 3], axes[(side + 1) % 3], axes[(side + 2) % 3]);
        let height = if side < 3 { 0.5 } else { -0.5 };
        for (i, j) in (0..cells).flat_map(|i| (0..cells).map(move |j| (i, j))) {
            let first = vertices.len() as u32;
            for (k, l) in [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)] {
                let along = |k: u32| k as f32 / cells as f32 - 0.5;
                vertices.push(up * height + u * along(k) + v * along(l));
            }
            faces.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    model(Mesh::from_triangles(vertices, faces).unwrap())
}

/// A ring of some hundred triangles, not convex and not smooth.
fn ring(around: u32, across: u32, thickness: f64) -> Model {
    let turn = |k: u32, n: u32| f64::from(k) * std::f64::consts::TAU / f64::from(n);
    let mut vertices = Vec::new();
    for (i, j) in (0..around).flat_map(|i| (0..across).map(move |j| (i, j))) {
        let ((sin, cos), (up, out)) = (turn(i, around).sin_cos(), turn(j, across).sin_cos());
        let r = 1.0 + thickness * out * (1.0 + 0.3 * (3.0 * turn(i, around)).sin());
        vertices.push(DVec3::new(r * cos, r * sin, thickness * up).as_vec3());
    }
    let corner = |i: u32, j: u32| (i % around) * across + j % across;
    let quads = (0..around).flat_map(|i| (0..across).map(move |j| (i, j)));
    let faces = quads.flat_map(|(i, j)| {
        let [a, b] = [corner(i, j), corner(i + 1, j)];
        let [c, d] = [corner(i + 1, j + 1), corner(i, j + 1)];
        [[a, b, c], [a, c, d]]
    });
    let faces = faces.collect();
    model(Mesh::from_triangles(vertices, faces).unwrap())
}

#[test]
fn boxes_are_half_in_each_other_however_finely_they_are_meshed() {
    for cells in [1, 4, 16] {
        let cube = meshed_cube(cells);
        let pose = at(0.5, 0.0, 0.0);
        let pair = Pair::new(&cube, &Pose::IDENTITY, &cube, &pose);
        let near = |x: f64| (x - 0.5).abs() <= 1e-12;
        let clearing = pair.clearing(DVec3::X * 7.0).unwrap();
        assert!(near(clearing.first) && near(clearing.last), "{cells}: {clearing:?}");
        let depth = pair.separation(Effort::default()).unwrap();
        assert!(near(depth.at_least) && near(depth.at_most), "{cells}: {depth:?}");
        assert!(depth.way.distance(DVec3::X * 0.5) <= 1e-12, "{cells}: {depth:?}");
        let immersion = pair.immersion(1e-12).unwrap();
        assert!(near(immersion.at_least) && near(immersion.at_most), "{cells}: {immersion:?}");
    }
}

/// A convex solid with at most 20 corners.
fn hull(state: &mut u64) -> Model {
    loop {
        let count = 4 + below(state, 17);
        let points: Vec<Vec3> =
            (0..count).map(|_| (direction(state) * (0.5 + 0.5 * part(state))).as_vec3()).collect();
        // Every three points with all others on one side.
        let at = |k: usize| points[k].as_dvec3();
        let is_facet = |[i, j, k]: [usize; 3]| {
            let sides: Vec<Sign> = (0..points.len())
                .filter(|l| ![i, j, k].contains(l))
                .map(|l| orient3d(at(i), at(j), at(k), at(l)))
                .collect();
            sides.iter().all(|side| *side == sides[0] && *side != Sign::Zero)
        };
        let count = points.len();
        let pairs = (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j)));
        let triples = pairs.flat_map(|(i, j)| (j + 1..count).map(move |k| [i, j, k]));
        let faces: Vec<[u32; 3]> =
            triples.filter(|t| is_facet(*t)).map(|t| t.map(|v| v as u32)).collect();
        if let Ok(mesh) = Mesh::from_triangles(points.clone(), faces).unwrap().into_solid() {
            return Model::build(mesh, Quality::Default);
        }
    }
}

/// The distance along `n` of two convex solids by all normals of faces and pairs of edges.
fn slow_clearing(pair: &Pair<'_>, n: DVec3) -> f64 {
    let models = pair.models().unwrap();
    let triangles = |count: usize, placed: &dyn Fn(usize) -> [DVec3; 3]| -> Vec<[DVec3; 3]> {
        (0..count).map(placed).collect()
    };
    let a = triangles(models.a.mesh.triangle_count(), &|t| models.triangle_a(t));
    let b = triangles(models.b.mesh.triangle_count(), &|t| models.triangle_b(t));
    let mut first = f64::INFINITY;
    for (s, t) in a.iter().flat_map(|s| b.iter().map(move |t| (s, t))) {
        all_axes(s, t, |axis| {
            for u in [axis.normal, -axis.normal] {
                let most = a.iter().flatten().map(|p| p.dot(u)).fold(f64::MIN, f64::max);
                let least = b.iter().flatten().map(|p| p.dot(u)).fold(f64::MAX, f64::min);
                if u.dot(n) > 1e-9 * u.length() {
                    first = first.min((most - least) / u.dot(n));
                } else if most <= least {
                    first = 0.0;
                }
            }
            true
        });
    }
    first.max(0.0)
}

#[test]
fn convex_solids_are_clear_where_all_their_normals_say() {
    let (mut deep, mut apart) = (0, 0);
    for seed in 0..40 {
        let mut state = seed;
        let (a, b) = (hull(&mut state), hull(&mut state));
        let (pose_a, pose_b) = (random_pose(&mut state, 1.0), random_pose(&mut state, 1.4));
        let pair = Pair::new(&a, &pose_a, &b, &pose_b);
        let n = direction(&mut state);
        let (found, expected) = (pair.clearing(n).unwrap(), slow_clearing(&pair, n));
        let is_deep = pair.overlaps().unwrap();
        assert!((found.first - expected).abs() < 1e-12, "seed {seed}: {found:?}, {expected}");
        assert!(!is_deep || found.last - found.first < 1e-12, "seed {seed}: {found:?}");
        *(if is_deep { &mut deep } else { &mut apart }) += 1;
    }
    assert!(deep > 5 && apart > 5, "{deep} {apart}");
}

fn overlaps_after(pair: &Pair<'_>, way: DVec3) -> bool {
    let models = pair.models().unwrap();
    let pose_b = models.pose_b.moved_by(way).unwrap();
    Pair::new(models.a, &models.pose_a, models.b, &pose_b).overlaps().unwrap()
}

#[test]
fn rings_overlap_before_they_are_clear_and_not_after() {
    let (a, b) = (ring(16, 6, 0.3), ring(13, 5, 0.2));
    let (mut gaps, mut apart) = (0, 0);
    for seed in 0..60 {
        let mut state = 1000 + seed;
        let pose = random_pose(&mut state, 1.8);
        let pair = Pair::new(&a, &Pose::IDENTITY, &b, &pose);
        let n = direction(&mut state);
        let found = pair.clearing(n).unwrap();
        assert!(found.first <= found.last, "seed {seed}: {found:?}");
        for k in 0..40 {
            let part = f64::from(k) / 40.0;
            let before = part * found.first * (1.0 - 1e-9);
            assert!(
                found.first == 0.0 || overlaps_after(&pair, n * before),
                "seed {seed} {before}"
            );
            // The direction given is rounded anew, so the last bits are others here.
            let after = found.last + 1e-12 + 2.0 * part;
            assert!(!overlaps_after(&pair, n * after), "seed {seed} {after}");
        }
        assert!(!overlaps_after(&pair, n * (found.first + 1e-12)), "seed {seed}: {found:?}");
        let just_before = found.last - 1e-6;
        assert!(found.last == 0.0 || overlaps_after(&pair, n * just_before), "seed {seed}");
        gaps += usize::from(0.0 < found.first && found.first < found.last);
        apart += usize::from(found.first == 0.0);
    }
    assert!(gaps > 3 && apart > 3, "{gaps} {apart}");
}

#[test]
fn no_move_shorter_than_the_interval_parts_rings() {
    let (a, b) = (ring(16, 6, 0.3), ring(13, 5, 0.2));
    let mut deep = 0;
    for seed in 0..12 {
        let mut state = 2000 + seed;
        let pose = random_pose(&mut state, 1.5);
        let pair = Pair::new(&a, &Pose::IDENTITY, &b, &pose);
        let found = pair.separation(Effort::default()).unwrap();
        assert!(found.at_least <= found.at_most, "seed {seed}: {found:?}");
        assert_eq!(found.way.length(), found.at_most, "seed {seed}: {found:?}");
        assert!(!overlaps_after(&pair, found.way), "seed {seed}: {found:?}");
        if !pair.overlaps().unwrap() {
            assert_eq!(found.at_most, 0.0, "seed {seed}: {found:?}");
            continue;
        }
        deep += 1;
        assert!(found.points[0].distance(found.points[1] + found.way) < 1e-9, "seed {seed}");
        for _ in 0..100 {
            let way =
                direction(&mut state) * found.at_least * (1.0 - 1e-9 - 0.1 * part(&mut state));
            assert!(overlaps_after(&pair, way), "seed {seed}: {found:?}, {way}");
        }
    }
    assert!((4..12).contains(&deep), "{deep}");
}

#[test]
fn no_point_of_the_surface_is_deeper_than_the_immersion() {
    let (a, b) = (ring(16, 6, 0.3), ring(13, 5, 0.2));
    let mut deep = 0;
    for seed in 0..30 {
        let mut state = 3000 + seed;
        let pose = random_pose(&mut state, 1.6);
        let (first, second) = (PosedModel::new(&a, &Pose::IDENTITY), PosedModel::new(&b, &pose));
        let depth = |p: DVec3| match first.contains(p) {
            Ok(Side::Inside) => first.closest_point(p, f64::INFINITY).unwrap().distance,
            _ => 0.0,
        };
        let pair = Pair::new(&a, &Pose::IDENTITY, &b, &pose);
        let found = pair.immersion(1e-4).unwrap();
        assert!(found.at_most - found.at_least <= 1e-4, "seed {seed}: {found:?}");
        assert_eq!(depth(found.point), found.at_least, "seed {seed}: {found:?}");
        let near = second.closest_point(found.point, 1.0).unwrap();
        assert!(found.at_least == 0.0 || near.distance < 1e-12, "seed {seed}: {found:?}");
        for _ in 0..2000 {
            let triangle = below(&mut state, b.mesh().triangle_count() as u64) as usize;
            let [p, q, r] = second.triangle(triangle);
            let (u, v) = (part(&mut state), part(&mut state));
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let point = p + (q - p) * u + (r - p) * v;
            assert!(depth(point) <= found.at_most + 1e-12, "seed {seed}: {found:?} {point}");
        }
        deep += usize::from(found.at_least > 0.0);
    }
    assert!((5..30).contains(&deep), "{deep}");
}

#[test]
fn a_tolerance_makes_every_class() {
    let (big, small) = (Shape::cuboid(DVec3::splat(4.0)).unwrap(), Shape::cuboid(DVec3::ONE));
    let small = small.unwrap();
    let class = |a: &Shape, b: &Shape, x: f64, tolerance: f64| {
        Pair::new(a, &Pose::IDENTITY, b, &at(x, 0.0, 0.0)).classify(tolerance).unwrap()
    };
    assert_eq!(class(&big, &small, 3.0, 0.25), Class::Clear(0.5));
    assert_eq!(class(&big, &small, 3.0, 0.5), Class::Near(0.5));
    assert_eq!(class(&big, &small, 2.5, 0.0), Class::Touching);
    assert_eq!(class(&big, &small, 2.25, 0.25), Class::Touching);
    assert_eq!(class(&big, &small, 2.25, 0.24), Class::Overlapping);
    assert_eq!(class(&big, &small, 1.5, 0.1), Class::BInsideA);
    assert_eq!(class(&small, &big, 1.5, 0.1), Class::AInsideB);
    assert_eq!(class(&small, &small, 0.0, 0.1), Class::Identical);
    let (ball, bead) = (Shape::sphere(2.0).unwrap(), Shape::sphere(0.5).unwrap());
    assert_eq!(class(&ball, &bead, 3.0, 0.25), Class::Clear(0.5));
    assert_eq!(class(&ball, &bead, 2.25, 0.25), Class::Touching);
    assert_eq!(class(&ball, &bead, 2.25, 0.1), Class::Overlapping);
    assert_eq!(class(&ball, &bead, 1.0, 0.1), Class::BInsideA);
    assert_eq!(class(&bead, &ball, 1.0, 0.1), Class::AInsideB);
    assert_eq!(class(&ball, &ball, 0.0, 0.1), Class::Identical);
}

#[test]
fn spheres_are_as_deep_as_their_formulas_say() {
    let (a, b) = (Shape::sphere(2.0).unwrap(), Shape::sphere(1.0).unwrap());
    let pose = at(2.0, 0.0, 0.0);
    let pair = Pair::new(&a, &Pose::IDENTITY, &b, &pose);
    assert_eq!(pair.clearing(DVec3::X).map(|c| (c.first, c.last)), Ok((1.0, 1.0)));
    assert_eq!(pair.clearing(DVec3::NEG_X).map(|c| (c.first, c.last)), Ok((5.0, 5.0)));
    let across = pair.clearing(DVec3::Y).unwrap().first;
    assert!((across - 5f64.sqrt()).abs() < 1e-15);
    let depth = pair.separation(Effort::default()).unwrap();
    assert_eq!((depth.at_least, depth.at_most, depth.way), (1.0, 1.0, DVec3::X));
    assert_eq!(depth.points[0], depth.points[1] + depth.way);
    assert_eq!(pair.immersion(0.0).map(|i| (i.at_least, i.point)), Ok((1.0, DVec3::X)));
    // Not in each other now, and later.
    let beside = at(-4.0, 0.0, 0.0);
    let pair = Pair::new(&a, &Pose::IDENTITY, &b, &beside);
    assert_eq!(pair.clearing(DVec3::X).map(|c| (c.first, c.last)), Ok((0.0, 7.0)));
    assert_eq!(pair.clearing(DVec3::Y).map(|c| (c.first, c.last)), Ok((0.0, 0.0)));
}

#[test]
fn what_has_no_depth_gets_an_error() {
    let cube = model(solids::cuboid(DVec3::ONE).unwrap());
    let surface = Model::build(solids::cuboid(DVec3::ONE).unwrap(), Quality::Default);
    let ball = Shape::sphere(1.0).unwrap();
    let all = |pair: Pair<'_>| {
        [
            pair.clearing(DVec3::X).err(),
            pair.separation(Effort::default()).err(),
            pair.immersion(0.1).err(),
            pair.classify(0.1).err(),
        ]
    };
    let still = Pose::IDENTITY;
    let expected = |error: OverlapsError| [Some(DepthError::NoInside(error)); 4];
    let found = all(Pair::new(&cube, &still, &surface, &still));
    assert_eq!(found, expected(OverlapsError::SecondNotSolid));
    let found = all(Pair::new(&surface, &still, &cube, &at(5.0, 0.0, 0.0)));
    assert_eq!(found, expected(OverlapsError::FirstNotSolid));
    let found = all(Pair::new(&surface, &still, &surface, &still));
    assert_eq!(found, expected(OverlapsError::NeitherSolid));
    let found = all(Pair::new(&cube, &still, &ball, &still));
    assert_eq!(found, [Some(DepthError::Round); 4]);
    let pair = Pair::new(&cube, &still, &cube, &still);
    for bad in [DVec3::ZERO, DVec3::X * f64::NAN, DVec3::Y * f64::INFINITY] {
        assert!(matches!(pair.clearing(bad), Err(DepthError::BadDirection { .. })), "{bad}");
    }
    for bad in [-1.0, f64::NAN] {
        assert!(matches!(pair.classify(bad), Err(DepthError::BadTolerance { .. })), "{bad}");
        assert!(matches!(pair.immersion(bad), Err(DepthError::BadTolerance { .. })), "{bad}");
    }
}

#[test]
fn what_is_empty_overlaps_nothing() {
    let cube = model(solids::cuboid(DVec3::ONE).unwrap());
    let empty = model(Mesh::from_triangles(Vec::new(), Vec::new()).unwrap());
    for (a, b) in [(&cube, &empty), (&empty, &cube), (&empty, &empty)] {
        let pair = Pair::new(a, &Pose::IDENTITY, b, &Pose::IDENTITY);
        let clearing = pair.clearing(DVec3::X).unwrap();
        assert_eq!((clearing.first, clearing.last, clearing.faces), (0.0, 0.0, None));
        assert_eq!(pair.separation(Effort::default()).map(|s| s.at_most), Ok(0.0));
        assert_eq!(pair.immersion(0.1).map(|i| i.at_most), Ok(0.0));
        assert_eq!(pair.classify(0.1), Ok(Class::Clear(f64::INFINITY)));
    }
}
