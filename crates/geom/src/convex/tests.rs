//! Everything against slow twins: all planes through three points, all pairs of directions.

use super::hull::Hull;
use super::penetration::{Penetration, penetration};
use super::wrap::{collinear, facets};
use crate::predicates::{Sign, orient3d};
use crate::{Mesh, Model, Pose, Quality, solids};
use glam::{DQuat, DVec3, Vec3};

struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    fn below(&mut self, end: u64) -> u64 {
        jostle_dice::below(&mut self.0, end)
    }

    fn unit(&mut self) -> f64 {
        jostle_dice::part(&mut self.0)
    }
}

fn number(dice: &mut Dice, low: f64, high: f64) -> f64 {
    low + (high - low) * dice.unit()
}

/// Corners on a coarse grid lie in many common planes and lines.
fn grid_points(dice: &mut Dice, count: usize, steps: u64) -> Vec<DVec3> {
    let mut step = || dice.below(steps) as f64;
    (0..count).map(|_| DVec3::new(step(), step(), step())).collect()
}

/// Points in a ball or on a sphere, in the digits of `f32`.
fn ball_points(dice: &mut Dice, count: usize, on_sphere: bool) -> Vec<DVec3> {
    let mut points = Vec::new();
    while points.len() < count {
        let p = DVec3::from([(); 3].map(|()| number(dice, -1.0, 1.0)));
        if p.length() > 0.1 && p.length() < 1.0 {
            let p = if on_sphere { p.normalize() } else { p };
            points.push(p.as_vec3().as_dvec3());
        }
    }
    points
}

fn random_pose(dice: &mut Dice, reach: f64) -> Pose {
    let mut part = || number(dice, -1.0, 1.0);
    let rotation = DQuat::from_xyzw(part(), part(), part(), part());
    Pose::new(rotation, DVec3::new(part(), part(), part()) * reach).unwrap()
}

fn hull_of(points: &[DVec3]) -> Option<Hull> {
    Some(Hull::new(points, &facets(points)?))
}

#[test]
fn facets_are_the_planes_that_have_all_points_on_one_side() {
    let mut flat = [0; 2];
    for seed in 0..200u64 {
        let mut dice = Dice::new(seed);
        let count = 1 + dice.below(14) as usize;
        let points = match seed % 4 {
            0 => ball_points(&mut dice, count, true),
            1 => grid_points(&mut dice, count, 2),
            _ => grid_points(&mut dice, count, 3),
        };
        let found = facets(&points);
        let planes = supporting_planes(&points);
        flat[usize::from(found.is_none())] += 1;
        let Some(found) = found else {
            assert!(planes.is_empty(), "seed {seed}");
            continue;
        };
        // A facet has a corner in the place of each strict corner that the plane has.
        let mut sets: Vec<Vec<[u64; 3]>> =
            found.iter().map(|ring| places(ring.iter().map(|&i| points[i as usize]))).collect();
        sets.sort();
        assert_eq!(sets, planes, "seed {seed}");
        let hull = Hull::new(&points, &found);
        assert_eq!(hull.corners.len() + hull.facets.len(), edges(&hull).len() + 2, "seed {seed}");
        for facet in &hull.facets {
            let on_it = hull.corners[facet.ring[0] as usize].dot(facet.normal);
            assert!((hull.reach(facet.normal) - on_it).abs() < 1e-14, "seed {seed}");
            let turned = (0..facet.ring.len()).all(|k| {
                let at = |k: usize| hull.corners[facet.ring[k % facet.ring.len()] as usize];
                (at(k + 1) - at(k)).cross(at(k + 2) - at(k + 1)).dot(facet.normal) > 0.0
            });
            assert!(turned, "seed {seed}");
        }
        for _ in 0..20 {
            let along = random_pose(&mut dice, 1.0).translation();
            let near = dice.below(hull.corners.len() as u64) as u32;
            let support = hull.corners[hull.support(along, near) as usize].dot(along);
            assert!((support - hull.reach(along)).abs() < 1e-14, "seed {seed}");
        }
    }
    assert!(flat.iter().all(|&count| count > 20), "{flat:?}");
}

fn places(points: impl Iterator<Item = DVec3>) -> Vec<[u64; 3]> {
    let mut places: Vec<_> = points.map(|p| p.to_array().map(|x| (x + 0.0).to_bits())).collect();
    places.sort_unstable();
    places
}

/// The corners in each plane through three points that has all points on one side.
fn supporting_planes(points: &[DVec3]) -> Vec<Vec<[u64; 3]>> {
    let mut planes = Vec::new();
    let n = points.len();
    for (i, j, k) in (0..n).flat_map(|i| (0..i).flat_map(move |j| (0..j).map(move |k| (i, j, k)))) {
        let (a, b, c) = (points[i], points[j], points[k]);
        if collinear(a, b, c) {
            continue;
        }
        let sides: Vec<Sign> = points.iter().map(|&p| orient3d(a, b, c, p)).collect();
        let both = sides.contains(&Sign::Positive) && sides.contains(&Sign::Negative);
        if both || sides.iter().all(|&side| side == Sign::Zero) {
            continue;
        }
        let on: Vec<DVec3> =
            points.iter().zip(&sides).filter(|(_, s)| **s == Sign::Zero).map(|(&p, _)| p).collect();
        let mut on = places(on.into_iter());
        on.dedup();
        let on: Vec<DVec3> = on.into_iter().map(|p| p.map(f64::from_bits).into()).collect();
        // A strict corner is in no triangle of others, which may be a segment.
        let triples = |n: usize| {
            (0..n).flat_map(move |i| (0..=i).flat_map(move |j| (0..=j).map(move |k| [i, j, k])))
        };
        let in_others = |p: &DVec3| {
            let others: Vec<DVec3> = on.iter().copied().filter(|q| q != p).collect();
            triples(others.len())
                .any(|t| crate::triangle::triangles_touch(&[*p; 3], &t.map(|i| others[i])))
        };
        let corners = places(on.iter().copied().filter(|p| !in_others(p)));
        planes.push(corners);
    }
    planes.sort();
    planes.dedup();
    planes
}

fn solid(points: &[Vec3], triangles: &[[u32; 3]]) -> Model {
    let mesh = Mesh::from_triangles(points.to_vec(), triangles.to_vec()).unwrap();
    Model::build(mesh.into_solid().unwrap(), Quality::Fast)
}

fn mesh_of(hull: &Hull) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let fan = |ring: &[u32]| -> Vec<[u32; 3]> {
        (1..ring.len() - 1).map(|k| [ring[0], ring[k], ring[k + 1]]).collect()
    };
    let triangles = hull.facets.iter().flat_map(|facet| fan(&facet.ring)).collect();
    (hull.corners.iter().map(|p| p.as_vec3()).collect(), triangles)
}

/// All corners on one side of the plane of each triangle that has an area.
fn convex_slowly(points: &[Vec3], triangles: &[[u32; 3]]) -> bool {
    triangles.iter().all(|t| {
        let [a, b, c] = t.map(|v| points[v as usize].as_dvec3());
        let sides: Vec<Sign> = points.iter().map(|p| orient3d(a, b, c, p.as_dvec3())).collect();
        !(sides.contains(&Sign::Positive) && sides.contains(&Sign::Negative))
    })
}

#[test]
fn a_hull_is_convex_until_a_corner_is_moved_the_least_bit_inwards() {
    let mut answers = [0; 2];
    for seed in 0..200u64 {
        let mut dice = Dice::new(seed);
        let count = 5 + dice.below(60) as usize;
        let points = match seed % 3 {
            0 => ball_points(&mut dice, count, true),
            1 => ball_points(&mut dice, count, false),
            _ => grid_points(&mut dice, count, 4),
        };
        let Some(hull) = hull_of(&points) else { continue };
        let (mut points, mut triangles) = mesh_of(&hull);
        // A turn of some triangles changes nothing.
        triangles.iter_mut().step_by(3).for_each(|t| t.swap(0, 1));
        assert!(solid(&points, &triangles).is_convex(), "seed {seed}");
        let corner = dice.below(points.len() as u64) as usize;
        let axis = dice.below(3) as usize;
        let x = points[corner][axis];
        points[corner][axis] = if dice.below(2) == 0 { x.next_up() } else { x.next_down() };
        let expected = convex_slowly(&points, &triangles);
        assert_eq!(solid(&points, &triangles).is_convex(), expected, "seed {seed}");
        answers[usize::from(expected)] += 1;
    }
    assert!(answers.iter().all(|&count| count > 10), "{answers:?}");
}

/// The corners of a box and its faces as two triangles each, cut along one or the other diagonal.
fn cut_box(low: Vec3, high: Vec3, other: bool, first: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let corner =
        |i: u32| Vec3::select(glam::BVec3::new(i & 1 > 0, i & 2 > 0, i & 4 > 0), high, low);
    let quads =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|q| {
        let k = usize::from(other);
        let at = |i: usize| first + q[(i + k) % 4];
        [[at(0), at(1), at(2)], [at(0), at(2), at(3)]]
    });
    ((0..8).map(corner).collect(), triangles.collect())
}

fn joined(parts: &[(Vec<Vec3>, Vec<[u32; 3]>)]) -> Model {
    let points: Vec<Vec3> = parts.iter().flat_map(|(points, _)| points.clone()).collect();
    let triangles: Vec<[u32; 3]> = parts.iter().flat_map(|(_, t)| t.clone()).collect();
    solid(&points, &triangles)
}

#[test]
fn doubled_faces_shells_and_flat_solids() {
    let (o, one) = (Vec3::ZERO, Vec3::ONE);
    let cube = |other, first| cut_box(o, one, other, first);
    assert!(joined(&[cube(false, 0)]).is_convex());
    // There twice: no inside. Three times: one again. Also with other diagonals.
    assert!(!joined(&[cube(false, 0), cube(false, 8)]).is_convex());
    assert!(!joined(&[cube(false, 0), cube(true, 8)]).is_convex());
    assert!(joined(&[cube(false, 0), cube(true, 8), cube(false, 16)]).is_convex());
    // Two boxes side by side: the face between them is there twice and bounds nothing.
    let beside = |by: f32| cut_box(Vec3::X * by, one + Vec3::X * by, false, 8);
    assert!(joined(&[cube(false, 0), mirrored(beside(1.0))]).is_convex());
    assert!(!joined(&[cube(false, 0), beside(1.0f32.next_up())]).is_convex());
    assert!(!joined(&[cube(false, 0), beside(3.0)]).is_convex());
    // A hollow, and a shell that fills it.
    let inner = |first| cut_box(one * 0.25, one * 0.75, false, first);
    assert!(!joined(&[cube(false, 0), inner(8)]).is_convex());
    assert!(joined(&[cube(false, 0), inner(8), inner(16)]).is_convex());
    // A box without height, and a triangle without area inside and outside.
    assert!(!joined(&[cut_box(o, Vec3::new(1.0, 1.0, 0.0), false, 0)]).is_convex());
    let spike = |from: Vec3, to: Vec3| (vec![from, to], vec![[8, 9, 9]]);
    assert!(joined(&[cube(false, 0), spike(one * 0.5, one)]).is_convex());
    assert!(!joined(&[cube(false, 0), spike(one, one * 1.25)]).is_convex());
    // No solid, nothing at all, and a torus.
    let sheet = Mesh::from_triangles(vec![o, Vec3::X, Vec3::Y], vec![[0, 1, 2]]).unwrap();
    assert!(!Model::build(sheet, Quality::Fast).is_convex());
    assert!(!solid(&[], &[]).is_convex());
    let torus = solids::BumpyTorus::plain(1.0, 0.3, [12, 8]).mesh().unwrap().into_solid().unwrap();
    assert!(!Model::build(torus, Quality::Fast).is_convex());
    let ball = solids::sphere(1.0, 1e-3).unwrap().into_solid().unwrap();
    let mut ball = Model::build(ball, Quality::Default);
    assert!(ball.is_convex() == convex_slowly(ball.mesh().vertices(), ball.mesh().triangles()));
    // A deformation asks anew.
    let cube = solids::cuboid(DVec3::ONE).unwrap().into_solid().unwrap();
    let mut vertices = cube.vertices().to_vec();
    ball = Model::build(cube, Quality::Fast);
    assert!(ball.is_convex() && ball.hull().is_some());
    vertices[0] *= 0.5;
    ball.refit(&vertices).unwrap();
    assert!(!ball.is_convex() && ball.hull().is_none());
}

/// With the first of the faces across x cut as its opposite, so that two boxes side by side have
/// equal triangles between them.
fn mirrored((points, mut triangles): (Vec<Vec3>, Vec<[u32; 3]>)) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let other_side = |t: [u32; 3]| t.map(|v| ((v - 8) ^ 1) + 8);
    let (low, high) = (8, 10);
    for k in 0..2 {
        triangles[low + k] = other_side(triangles[high + k]);
    }
    (points, triangles)
}

/// The ends of each edge.
fn edges(hull: &Hull) -> Vec<[DVec3; 2]> {
    let from = |p: u32| hull.neighbours(p).iter().filter(move |&&q| p < q).map(move |&q| [p, q]);
    let ends = (0..hull.corners.len() as u32).flat_map(from);
    ends.map(|ends| ends.map(|c| hull.corners[c as usize])).collect()
}

/// The least depth along the normals of all facets and of all pairs of edges.
fn depth_slowly(a: &[DVec3], b: &[DVec3], hull_a: &Hull, hull_b: &Hull, poses: [&Pose; 2]) -> f64 {
    let along = |pose: &Pose, v: DVec3| pose.transform_vector(v);
    let edges_along = |hull: &Hull, pose: &Pose| -> Vec<DVec3> {
        edges(hull).into_iter().map(|[p, q]| along(pose, q - p)).collect()
    };
    let mut ways: Vec<DVec3> = hull_a.facets.iter().map(|f| along(poses[0], f.normal)).collect();
    ways.extend(hull_b.facets.iter().map(|f| -along(poses[1], f.normal)));
    for u in edges_along(hull_a, poses[0]) {
        for v in edges_along(hull_b, poses[1]) {
            let n = u.cross(v).normalize_or_zero();
            // Nearly parallel edges have no direction of their own.
            if u.cross(v).length() > 1e-7 * u.length() * v.length() {
                ways.extend([n, -n]);
            }
        }
    }
    let reach =
        |points: &[DVec3], n: DVec3| points.iter().map(|p| p.dot(n)).fold(f64::MIN, f64::max);
    ways.iter().map(|&n| reach(a, n) + reach(b, -n)).fold(f64::INFINITY, f64::min)
}

fn compare(seed: u64, hulls: [&Hull; 2], poses: [&Pose; 2], size: f64) -> Option<Penetration> {
    let placed = |i: usize| -> Vec<DVec3> {
        hulls[i].corners.iter().map(|&p| poses[i].transform_point(p)).collect()
    };
    let (a, b) = (placed(0), placed(1));
    let expected = depth_slowly(&a, &b, hulls[0], hulls[1], poses);
    let found = penetration(hulls[0], poses[0], hulls[1], poses[1]);
    let Some(found) = found else {
        assert!(expected < 1e-13 * size, "seed {seed}: apart, but {expected} deep");
        return None;
    };
    assert!((found.depth - expected).abs() <= 1e-13 * size, "seed {seed}: {found:?}, {expected}");
    assert!((found.way.length() - 1.0).abs() < 1e-14, "seed {seed}");
    let [p, q] = found.points;
    assert!((p - q).distance(found.way * found.depth) < 1e-11 * size, "seed {seed}: {found:?}");
    for (i, p) in [(0, p), (1, q)] {
        let local = poses[i].inverse_transform_point(p);
        let out = hulls[i]
            .facets
            .iter()
            .map(|f| f.normal.dot(local - hulls[i].corners[f.ring[0] as usize]));
        assert!(out.fold(f64::MIN, f64::max) < 1e-11 * size, "seed {seed}: {found:?}");
    }
    Some(found)
}

#[test]
fn depth_is_the_least_over_all_normals() {
    let mut found = [0; 2];
    for seed in 0..400u64 {
        let mut dice = Dice::new(seed);
        let draw = |dice: &mut Dice| loop {
            let count = 4 + dice.below(30) as usize;
            let points = match dice.below(3) {
                0 => ball_points(dice, count, true),
                1 => ball_points(dice, count, false),
                _ => grid_points(dice, count, 3).iter().map(|p| *p * 0.5 - 0.5).collect(),
            };
            if let Some(hull) = hull_of(&points) {
                return hull;
            }
        };
        let (a, b) = (draw(&mut dice), draw(&mut dice));
        let upright = seed % 3 == 0;
        let pose = |dice: &mut Dice| {
            let pose = random_pose(dice, 0.8);
            let t = (pose.translation() * 4.0).round() / 4.0;
            if upright { Pose::from_translation(t).unwrap() } else { pose }
        };
        let (pose_a, pose_b) = (pose(&mut dice), pose(&mut dice));
        let penetration = compare(seed, [&a, &b], [&pose_a, &pose_b], 6.0);
        found[usize::from(penetration.is_some())] += 1;
    }
    assert!(found.iter().all(|&count| count > 40), "{found:?}");
}

#[test]
fn equal_boxes_give_the_smallest_direction_and_the_lowest_corner() {
    let cube = solids::cuboid(DVec3::ONE).unwrap().into_solid().unwrap();
    let corners: Vec<DVec3> = cube.vertices().iter().map(|v| v.as_dvec3()).collect();
    let model = Model::build(cube, Quality::Default);
    let hull = model.hull().unwrap();
    let at = DVec3::new(5.0, 0.0, 0.0);
    let pose = Pose::from_translation(at).unwrap();
    let found = compare(0, [hull, hull], [&pose, &pose], 10.0).unwrap();
    assert_eq!((found.depth, found.way), (1.0, DVec3::NEG_X));
    let first = corners.iter().find(|p| p.x < 0.0).unwrap();
    assert_eq!(found.points, [at + *first, at + *first + DVec3::X]);
    // Half a turn, a quarter turn, and one that is none of a box.
    for q in [DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0), DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0)] {
        let turned = Pose::new(q, at).unwrap();
        let found = compare(1, [hull, hull], [&turned, &pose], 10.0).unwrap();
        assert_eq!((found.depth, found.way), (1.0, DVec3::NEG_X), "{q:?}");
        let found = compare(1, [hull, hull], [&turned, &turned], 10.0).unwrap();
        assert_eq!((found.depth, found.way), (1.0, DVec3::NEG_X), "{q:?}");
    }
    let beside = |x: f64| Pose::from_translation(DVec3::new(x, 0.25, 0.125)).unwrap();
    let found = compare(2, [hull, hull], [&Pose::IDENTITY, &beside(0.5)], 3.0).unwrap();
    assert_eq!((found.depth, found.way), (0.5, DVec3::X));
    let found = compare(2, [hull, hull], [&Pose::IDENTITY, &beside(1.0)], 3.0).unwrap();
    assert_eq!(found.depth, 0.0);
    assert_eq!(compare(2, [hull, hull], [&Pose::IDENTITY, &beside(1.0 + 1e-12)], 3.0), None);
}

#[test]
fn boxes_cut_finely_have_the_depth_of_boxes() {
    for cuts in [1u32, 4, 16] {
        let n = cuts + 1;
        let grid: Vec<DVec3> = (0..n * n * n)
            .map(|i| DVec3::new((i % n).into(), (i / n % n).into(), (i / n / n).into()))
            .filter(|p| (p.min_element() == 0.0) || p.max_element() == f64::from(cuts))
            .map(|p| p / f64::from(cuts) - 0.5)
            .collect();
        let hull = hull_of(&grid).unwrap();
        assert_eq!(hull.corners.len(), 8);
        let beside = Pose::from_translation(DVec3::new(0.1, 0.5, 0.2)).unwrap();
        let found = penetration(&hull, &Pose::IDENTITY, &hull, &beside).unwrap();
        assert_eq!((found.depth, found.way), (0.5, DVec3::Y));
    }
}
