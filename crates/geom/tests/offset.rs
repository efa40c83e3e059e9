//! Offsets: what contains what, by exact decisions and by sampled points, and fits.

use glam::{DVec3, Vec3};
use jostle_geom::{
    FitLimits, Mesh, Model, OffsetError, Pair, Pose, PosedModel, Quality, Relation, Side, fit,
    solids,
};

mod soup;
use soup::Random;

fn solids_to_try() -> Vec<(&'static str, Mesh)> {
    let torus = solids::BumpyTorus::plain(2.0, 0.5, [24, 12]).mesh().unwrap();
    // A cavity: the inner box is turned round, so that it looks into the hole.
    let inner = solids::cuboid(DVec3::splat(2.0)).unwrap();
    let mut vertices = solids::cuboid(DVec3::splat(4.0)).unwrap().vertices().to_vec();
    let mut triangles = solids::cuboid(DVec3::splat(4.0)).unwrap().triangles().to_vec();
    let first = vertices.len() as u32;
    vertices.extend(inner.vertices());
    triangles.extend(inner.triangles().iter().map(|&[a, b, c]| [a + first, c + first, b + first]));
    let hollow = Mesh::from_triangles(vertices, triangles).unwrap();
    let wedge = {
        let vertices =
            [[0, 0, 0], [4, 0, 0], [0, 3, 0], [0, 0, 2]].map(|v| Vec3::from(v.map(|x| x as f32)));
        Mesh::from_triangles(vertices.to_vec(), vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    };
    vec![
        ("cube", solids::cuboid(DVec3::ONE).unwrap()),
        ("plate", solids::cuboid(DVec3::new(1.0, 2.0, 0.05)).unwrap()),
        ("ball", solids::sphere(1.0, 0.02).unwrap()),
        ("cone", solids::cone(1.0, 2.0, 0.01).unwrap()),
        ("torus", torus),
        ("hollow", hollow),
        ("wedge", wedge.unwrap()),
    ]
}

fn model(mesh: &Mesh) -> Model {
    Model::build(mesh.clone().into_solid().unwrap(), Quality::Default)
}

#[test]
fn the_larger_contains_the_smaller_and_they_do_not_touch() {
    let still = &Pose::IDENTITY;
    let mut held = [0; 2];
    for (name, mesh) in solids_to_try() {
        for distance in [0.01, -0.01, 0.2, -0.02, -0.04, 1e-9, -1e-9] {
            let what = format!("{name} {distance}");
            let (moved, report) = mesh.offset(distance).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(moved.is_solid(), "{what}");
            let (old, new) = (model(&mesh), Model::build(moved, Quality::Default));
            let (outer, inner) = if distance < 0.0 { (&old, &new) } else { (&new, &old) };
            let pair = Pair::new(outer, still, inner, still);
            assert_eq!(pair.relation(), Some(Relation::BInsideA), "{what}");
            // The twin: points of the inner surface and of its inside.
            let mut random = Random(3);
            let (outer, inner) = (PosedModel::new(outer, still), PosedModel::new(inner, still));
            for _ in 0..200 {
                let triangle = random.below(mesh.triangle_count());
                let [a, b, c] = inner.triangle(triangle);
                let (s, t) = (random.unit().abs(), random.unit().abs());
                let (s, t) = if s + t > 1.0 { (1.0 - s, 1.0 - t) } else { (s, t) };
                let p = a + (b - a) * s + (c - a) * t;
                assert_eq!(outer.contains(p), Ok(Side::Inside), "{what}");
                let q = random.vector() * 2.5;
                if inner.contains(q) == Ok(Side::Inside) {
                    assert_eq!(outer.contains(q), Ok(Side::Inside), "{what}");
                }
            }
            assert!(
                0.0 < report.at_least && report.at_least <= report.at_most,
                "{what}: {report:?}"
            );
            if report.held_back == 0 {
                let asked = distance.abs();
                assert!(report.at_least > 0.9 * asked, "{what}: {report:?}");
                assert!(report.at_most < 6.1 * asked, "{what}: {report:?}");
            }
            held[usize::from(report.held_back > 0)] += 1;
        }
    }
    assert!(held.iter().all(|&count| count > 0), "{held:?}");
}

#[test]
fn a_box_becomes_a_box_also_with_faces_that_look_inward() {
    let size = DVec3::new(1.0, 2.0, 4.0);
    let cuboid = solids::cuboid(size).unwrap();
    let turned: Vec<[u32; 3]> = cuboid.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
    let turned = Mesh::from_triangles(cuboid.vertices().to_vec(), turned).unwrap();
    for mesh in [cuboid, turned] {
        for distance in [0.25, -0.25, 1e-7, -1e-7] {
            let (moved, report) = mesh.offset(distance).unwrap();
            for v in 0..8 {
                let (was, is) = (mesh.position(v), moved.position(v));
                let expected = was + was.signum() * distance;
                assert!(is.distance(expected) < 1e-6 * distance.abs(), "{distance}: {was} {is}");
            }
            assert!((report.at_least / distance.abs() - 1.0).abs() < 1e-6, "{report:?}");
            assert!((report.at_most / distance.abs() - 3f64.sqrt()).abs() < 1e-6, "{report:?}");
        }
        // Too thin: it would turn inside out, so it is held back.
        let (_, report) = mesh.offset(-0.6).unwrap();
        assert!(report.held_back > 0 && report.at_least < 0.5, "{report:?}");
    }
}

#[test]
fn what_has_no_inside_has_no_offset() {
    let cuboid = solids::cuboid(DVec3::ONE).unwrap();
    let mut triangles = cuboid.triangles().to_vec();
    triangles[0].swap(0, 1);
    let mixed = Mesh::from_triangles(cuboid.vertices().to_vec(), triangles.clone()).unwrap();
    assert_eq!(mixed.offset(0.1).unwrap_err(), OffsetError::MixedFaces);
    triangles.pop();
    let open = Mesh::from_triangles(cuboid.vertices().to_vec(), triangles).unwrap();
    assert!(matches!(open.offset(0.1), Err(OffsetError::NotClosed(_))));
    assert!(matches!(cuboid.offset(f64::NAN), Err(OffsetError::NotFinite(_))));
    let (same, report) = cuboid.offset(0.0).unwrap();
    assert_eq!((same.vertices(), report.at_most), (cuboid.vertices(), 0.0));
    // Two boxes that share an edge: there is no move off all faces there.
    let beside = glam::DAffine3::from_translation(DVec3::new(1.0, 1.0, 0.0));
    let pinched = Mesh::join([(&cuboid, glam::DAffine3::IDENTITY), (&cuboid, beside)]).unwrap();
    assert!(matches!(pinched.offset(-0.1), Err(OffsetError::Stuck { .. })));
}

#[test]
fn a_fit_is_bracketed_by_a_part_that_is_free_and_one_that_touches() {
    let wall = model(&solids::cuboid(DVec3::ONE).unwrap());
    let peg = solids::cuboid(DVec3::ONE).unwrap();
    let limits = FitLimits { most: 0.3, tolerance: 1e-5 };
    for gap in [0.125, 1e-3, 0.0, -1e-3, -0.125] {
        let at = Pose::from_translation(DVec3::X * (1.0 + gap)).unwrap();
        let found = fit(&peg, &at, &wall, &Pose::IDENTITY, &limits).unwrap();
        let (free, touching) = (found.free.unwrap(), found.touching.unwrap());
        assert!(free < touching && touching - free < 2e-5, "{gap}: {found:?}");
        assert!(free <= gap + 1e-6 && gap - 1e-6 <= touching, "{gap}: {found:?}");
    }
    let far = Pose::from_translation(DVec3::X * 3.0).unwrap();
    let found = fit(&peg, &far, &wall, &Pose::IDENTITY, &limits).unwrap();
    assert_eq!((found.free, found.touching), (Some(0.3), None));
}
