//! What is inside a solid touches it.

use crate::cases::shift;
use crate::soup::QUALITIES;
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::solids::{cuboid, sphere};
use jostle_geom::{Mesh, Model, Pair, Pose, Relation, SearchLimits, SearchResult};

/// Both meshes in one, the second moved.
pub(crate) fn join(a: &Mesh, b: &Mesh, by: Vec3) -> Mesh {
    let first = a.vertices().len() as u32;
    let mut vertices = a.vertices().to_vec();
    vertices.extend(b.vertices().iter().map(|v| *v + by));
    let mut triangles = a.triangles().to_vec();
    triangles.extend(b.triangles().iter().map(|t| t.map(|v| v + first)));
    Mesh::from_triangles(vertices, triangles).unwrap()
}

pub(crate) fn cube(size: f64) -> Mesh {
    cuboid(DVec3::splat(size)).unwrap()
}

fn solid(mesh: &Mesh) -> Mesh {
    mesh.clone().into_solid().unwrap()
}

/// All queries agree that the two share points, though no faces touch.
fn check_contained(a: &Mesh, b: &Mesh, pose_b: &Pose, expected: Relation) {
    for quality in QUALITIES {
        let (a, b) = (Model::build(a.clone(), quality), Model::build(b.clone(), quality));
        let pose_a = Pose::new(DQuat::from_rotation_x(0.3), DVec3::new(5.0, 6.0, 7.0)).unwrap();
        let turn = pose_a.rotation() * pose_b.rotation();
        let pose_b = Pose::new(turn, pose_a.transform_point(pose_b.translation())).unwrap();
        let pair = Pair::new(&a, &pose_a, &b, &pose_b);
        assert!(pair.touches());
        assert!(pair.all_pairs().is_empty() && pair.all_segments().is_empty());
        assert_eq!(pair.distance().map(|d| d.distance), Some(0.0));
        assert!(pair.within(0.0) && pair.within(1.0) && !pair.within(-1.0));
        assert_eq!(pair.distance_lower_bound(), 0.0);
        assert!(pair.witness().is_some());
        for operations in [2, u64::MAX] {
            let mut search = pair.search(SearchLimits::default());
            for _ in 0..10_000 {
                search.run(operations);
            }
            assert_eq!(search.result(), SearchResult::Yes);
            assert!(search.pairs().is_empty());
        }
        assert_eq!(pair.relation().unwrap(), expected);
        let turned = Pair::new(&b, &pose_b, &a, &pose_a);
        assert!(turned.touches() && turned.within(0.0));
        let swapped = match expected {
            Relation::AInsideB => Relation::BInsideA,
            Relation::BInsideA => Relation::AInsideB,
            other => other,
        };
        assert_eq!(turned.relation().unwrap(), swapped);
    }
}

/// All queries agree that they share nothing.
fn check_apart(a: &Mesh, b: &Mesh, pose_b: &Pose) {
    for quality in QUALITIES {
        let (a, b) = (Model::build(a.clone(), quality), Model::build(b.clone(), quality));
        for pair in
            [Pair::new(&a, &Pose::IDENTITY, &b, pose_b), Pair::new(&b, pose_b, &a, &Pose::IDENTITY)]
        {
            assert!(!pair.touches() && !pair.within(0.0));
            assert!(pair.distance().is_some_and(|d| d.distance > 0.0));
            assert_eq!(pair.witness(), None);
            let mut search = pair.search(SearchLimits::default());
            search.run(u64::MAX);
            assert_eq!(search.result(), SearchResult::No);
            assert_eq!(pair.relation().unwrap(), Relation::Apart);
        }
    }
}

#[test]
fn one_inside_the_other() {
    let (large, small) = (sphere(1.0, 0.02).unwrap(), sphere(0.2, 0.02).unwrap());
    let beside = shift(DVec3::new(0.3, -0.2, 0.1));
    for (outer, inner) in [
        (&large, &small),
        (&cube(2.0), &cube(0.5)),
        (&cube(4.0), &large),
        (&large, &crate::soup::own_corners(vec![Vec3::ZERO, Vec3::X * 0.1, Vec3::Y * 0.1])),
        (&large, &crate::soup::own_corners(vec![Vec3::ZERO; 3])),
    ] {
        check_contained(&solid(outer), inner, &Pose::IDENTITY, Relation::BInsideA);
        check_contained(&solid(outer), inner, &beside, Relation::BInsideA);
        check_apart(outer, inner, &Pose::IDENTITY);
        check_apart(outer, inner, &beside);
        check_apart(&solid(outer), inner, &shift(DVec3::new(4.0, 0.0, 0.0)));
    }
    // That the inner one is solid does not matter, unless it is the only one.
    check_contained(&solid(&large), &solid(&small), &beside, Relation::BInsideA);
    check_apart(&large, &solid(&small), &beside);
}

#[test]
fn one_part_inside_one_outside() {
    let outer = solid(&cube(2.0));
    for (first, second) in [(Vec3::ZERO, 5.0), (Vec3::X * 5.0, -5.0)] {
        let start = join(&cube(0.5), &cube(0.25), Vec3::ZERO);
        let moved: Vec<Vec3> = start.vertices().iter().map(|v| *v + first).collect();
        let moved = Mesh::from_triangles(moved, start.triangles().to_vec()).unwrap();
        let parts = join(&moved, &cube(0.5), Vec3::X * second + first);
        check_contained(&outer, &parts, &Pose::IDENTITY, Relation::Crossing);
        check_apart(&cube(2.0), &parts, &Pose::IDENTITY);
        check_apart(&outer, &parts, &shift(DVec3::Z * 3.0));
    }
    let both_in = join(&cube(0.25), &cube(0.25), Vec3::X * 0.5);
    check_contained(&outer, &both_in, &Pose::IDENTITY, Relation::BInsideA);
}

/// A hollow solid: what floats in the hollow is not inside.
#[test]
fn hollow() {
    let hollow = solid(&join(&cube(4.0), &cube(2.0), Vec3::ZERO));
    check_apart(&hollow, &cube(1.0), &Pose::IDENTITY);
    check_contained(&hollow, &cube(0.5), &shift(DVec3::X * 1.5), Relation::BInsideA);
    // A solid that fills the hollow and more, without touching: the hollow's wall lies in it.
    check_contained(&hollow, &solid(&cube(3.0)), &Pose::IDENTITY, Relation::Crossing);
}
