//! Boxes around placed models: against the placed corners, all of them.

use super::{Case, Dice, cases, poses, scaled, soup, torus};
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{Mesh, Pose, Quality, solids};

/// The smallest box, corner by corner.
fn slow_bounds(case: &Case) -> (DVec3, DVec3) {
    let corners = || (0..case.triangles()).flat_map(|i| case.placed().triangle(i));
    (corners().fold(DVec3::INFINITY, DVec3::min), corners().fold(DVec3::NEG_INFINITY, DVec3::max))
}

fn check_holds(case: &Case) -> [DVec3; 2] {
    let (low, high) = case.placed().bounds().unwrap();
    let (least, most) = slow_bounds(case);
    assert!(low.is_finite() && high.is_finite(), "{}", case.name);
    assert!(low.cmple(least).all() && most.cmple(high).all(), "{} {low} {high}", case.name);
    [high - low, most - least]
}

#[test]
fn bounds_hold_every_placed_corner() {
    let seed = 41;
    let mut dice = Dice(seed);
    for case in cases(&mut dice) {
        check_holds(&case);
        for reach in [1.0, 1e3, 1e12, 1e29, 1e-30] {
            let turn = DQuat::from_xyzw(dice.signed(), dice.signed(), dice.signed(), 0.1);
            let pose = Pose::new(turn, dice.vector() * reach).unwrap();
            let name = format!("seed {seed} {} {pose:?}", case.name);
            check_holds(&Case { name, model: case.model.clone(), pose });
        }
    }
    for size in [1.1e38, 1e37, 1e-44] {
        for pose in poses() {
            let mesh = scaled(&torus([16, 8]), size, Vec3::ZERO);
            check_holds(&Case::new("extreme", mesh, pose, Quality::Default));
        }
    }
}

#[test]
fn bounds_of_few_vertices_are_the_smallest() {
    let mut dice = Dice(42);
    for count in [1, 2, 8] {
        for pose in poses() {
            let case = Case::new("few", soup(&mut dice, count, false), pose, Quality::Fast);
            assert_eq!(case.placed().bounds(), Some(slow_bounds(&case)), "{}", case.name);
        }
    }
    // A vertex that no face uses is not part of the model.
    let vertices = vec![Vec3::splat(100.0), Vec3::ZERO, Vec3::X, Vec3::Y];
    let mesh = Mesh::from_triangles(vertices, vec![[1, 2, 3]]).unwrap();
    let case = Case::new("unused", mesh, Pose::IDENTITY, Quality::Default);
    assert_eq!(case.placed().bounds(), Some((DVec3::ZERO, DVec3::new(1.0, 1.0, 0.0))));
}

#[test]
fn bounds_are_not_needlessly_large() {
    let seed = 43;
    let mut dice = Dice(seed);
    let meshes = [
        ("sphere", solids::sphere(1.0, 0.001).unwrap(), 1.01),
        ("torus", torus([60, 30]), 1.2),
        ("cylinder", solids::cylinder(0.3, 4.0, 0.001).unwrap(), 1.2),
        ("capsule", solids::capsule(0.5, 2.0, 0.001).unwrap(), 1.2),
        ("cone", solids::cone(1.0, 2.0, 0.001).unwrap(), 1.35),
        ("flake", solids::tetra_flake(4).unwrap(), 1.01),
        ("soup", soup(&mut dice, 400, false), 1.2),
        ("tiny", scaled(&torus([20, 10]), 1e-40, Vec3::ZERO), 1.2),
    ];
    for (name, mesh, most) in meshes {
        for quality in [Quality::Fast, Quality::Default, Quality::Tight] {
            for _ in 0..20 {
                let turn = DQuat::from_xyzw(dice.signed(), dice.signed(), dice.signed(), 0.1);
                let far = if name == "tiny" { 0.0 } else { 100.0 };
                let pose = Pose::new(turn, dice.vector() * far).unwrap();
                let [found, smallest] = check_holds(&Case::new(name, mesh.clone(), pose, quality));
                let factor = (found / smallest).max_element();
                assert!(factor <= most, "seed {seed}, {name}: {factor} times as long");
            }
        }
    }
}

#[test]
fn a_deformed_model_has_other_bounds() {
    let mesh = torus([20, 10]);
    let larger: Vec<Vec3> = mesh.vertices().iter().map(|&v| v * 2.0).collect();
    let mut case = Case::new("torus", mesh, poses()[1], Quality::Fast);
    let [before, _] = check_holds(&case);
    let radius = case.model.radius();
    case.model.refit(&larger).unwrap();
    let [after, smallest] = check_holds(&case);
    assert!(after.cmpge(before * 1.5).all() && after.cmple(smallest * 1.2).all());
    assert!((case.model.radius() / radius - 2.0).abs() < 1e-6);
}

#[test]
fn the_radius_is_that_of_the_furthest_vertex() {
    let mut dice = Dice(44);
    for case in cases(&mut dice) {
        let mesh = case.model.mesh();
        let used = || mesh.triangles().iter().flatten().map(|&v| mesh.vertices()[v as usize]);
        let furthest = used().map(|v| v.as_dvec3().length()).fold(0.0, f64::max);
        let radius = case.model.radius();
        assert!(radius >= furthest && radius <= furthest * 1.000_001, "{}", case.name);
    }
}
