//! Boxes and radii of shapes: against their corners.

use super::{Dice, count_answers, shapes};
use glam::{DVec3, Vec3};
use jostle_geom::{Aabb, Mesh, Model, Pose, PosedModel, Quality, Shape, ShapeKind};

/// The corners of a placed mesh or box.
fn corners(shape: &Shape, pose: &Pose) -> Vec<DVec3> {
    match shape.kind() {
        ShapeKind::Mesh(model) | ShapeKind::ConvexHull(model) => {
            let placed = PosedModel::new(model, pose);
            (0..model.mesh().triangle_count()).flat_map(|i| placed.triangle(i)).collect()
        }
        ShapeKind::Sphere { .. } => Vec::new(),
        ShapeKind::Cuboid { size } => (0..8)
            .map(|i| {
                let sign = |bit: u32| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
                let corner = size * DVec3::new(sign(0), sign(1), sign(2));
                pose.transform_point(corner.as_vec3())
            })
            .collect(),
        kind => panic!("{kind:?} has tests of its own"),
    }
}

#[test]
fn bounds_hold_the_shape_and_little_more() {
    let seed = 1;
    let mut dice = Dice(seed);
    for scale in [1.0, 1e-25, 1e25] {
        for (name, shape) in shapes(scale) {
            for case in 0..60 {
                let far = dice.vector() * [0.0, 0.0, 1e4][case % 3];
                let pose = dice.pose(scale, far);
                let about = format!("seed {seed}, {name} {scale}, case {case}: {pose:?}");
                let Some(bounds) = shape.bounds(&pose) else {
                    assert!(shape.is_empty(), "{about}");
                    continue;
                };
                let (low, high) = (bounds.min().as_dvec3(), bounds.max().as_dvec3());
                let corners = corners(&shape, &pose);
                for &p in &corners {
                    assert!(low.cmple(p).all() && p.cmple(high).all(), "{about} {p}");
                    let own = p.distance(pose.translation());
                    let slack = 1e-14 * (own + pose.translation().length());
                    assert!(own <= shape.radius() + slack, "{about} {own}");
                }
                if let ShapeKind::Cuboid { .. } = shape.kind() {
                    let least = corners.iter().fold(DVec3::INFINITY, |low, &p| low.min(p));
                    let most = corners.iter().fold(-DVec3::INFINITY, |high, &p| high.max(p));
                    assert_eq!(bounds, Aabb::around_f64(least, most), "{about}");
                }
            }
        }
    }
}

#[test]
fn bounds_of_spheres_are_rounded_outward_and_no_further() {
    count_answers::<2>(2, 20_000, 2_000, |case, dice| {
        // f32 coordinates and short radii: the difference is exact in f64. And long ones.
        let short = case % 2 == 0;
        let centre = dice.vector();
        let radius = dice.signed().abs() + 0.5;
        let (centre, radius) = if short {
            (centre.as_vec3().as_dvec3(), (radius * 64.0).round() / 64.0)
        } else {
            (centre, radius * 2f64.powi(dice.below(40) as i32 - 20))
        };
        let pose = Pose::from_translation(centre).unwrap();
        let bounds = Shape::sphere(radius).unwrap().bounds(&pose).unwrap();
        let low = bounds.min().x;
        let about = format!("seed 2, case {case}: {centre:?} {radius:?} {bounds:?}");
        assert!(is_at_most(f64::from(low), centre.x, radius), "{about}");
        if short {
            assert!(!is_at_most(f64::from(low.next_up()), centre.x, radius), "{about}");
        }
        assert!(is_at_most(-f64::from(bounds.max().x), -centre.x, radius), "{about}");
        usize::from(f64::from(low) == centre.x - radius)
    });
    let pose = Pose::from_translation(DVec3::new(1.0, 2.0, 3.0)).unwrap();
    let bounds = Shape::sphere(0.5).unwrap().bounds(&pose);
    assert_eq!(bounds, Some(Aabb::around(Vec3::new(0.5, 1.5, 2.5), Vec3::new(1.5, 2.5, 3.5))));
}

/// low ≤ centre − radius, in whole numbers of 2^-90.
fn is_at_most(low: f64, centre: f64, radius: f64) -> bool {
    let whole = |x: f64| {
        let scaled = x * 2f64.powi(90);
        assert!(scaled.abs() < 1e38 && scaled == scaled.trunc(), "{x:e} does not fit");
        scaled as i128
    };
    whole(low) <= whole(centre) - whole(radius)
}

#[test]
fn a_rounding_does_not_make_a_box_too_small() {
    // 1 − 2^-60 rounds to 1 in f64, which is an f32; the box must go further down.
    let shape = Shape::sphere(2f64.powi(-60)).unwrap();
    let pose = Pose::from_translation(DVec3::ONE).unwrap();
    let bounds = shape.bounds(&pose).unwrap();
    assert_eq!((bounds.min().x, bounds.max().x), (1.0f32.next_down(), 1.0f32.next_up()));
    assert_eq!(Shape::sphere(0.0).unwrap().bounds(&pose), Some(Aabb::around(Vec3::ONE, Vec3::ONE)));
}

#[test]
fn bounds_end_before_f32_does() {
    let vertices = vec![Vec3::splat(f32::MAX), Vec3::splat(-f32::MAX), Vec3::X];
    let mesh = Mesh::from_triangles(vertices, vec![[0, 1, 2]]).unwrap();
    let shape = Shape::mesh(Model::build(mesh, Quality::Default));
    let pose = Pose::from_translation(DVec3::splat(1e30)).unwrap();
    let bounds = shape.bounds(&pose).unwrap();
    assert_eq!(bounds.max(), Vec3::splat(2f32.powi(127)));
    assert!(bounds.grown(1e37).contains(&bounds));
}
