//! All triangle pairs within reach, against every triangle with every triangle.

use crate::cases::{self, shift};
use crate::soup::{QUALITIES, Random, soup};
use glam::DVec3;
use jostle_geom::triangle::closest_point;
use jostle_geom::{Model, NearPair, Pair, Pose, PosedModel, Shape};

/// In an order that does not depend on the hierarchy; the numbers to the bit.
fn sorted(near: &[NearPair]) -> Vec<(u32, u32, u64, [[u64; 3]; 2])> {
    let key = |near: &NearPair| {
        let points = near.points.map(|p| (p + 0.0).to_array().map(f64::to_bits));
        (near.faces.a, near.faces.b, near.gap.to_bits(), points)
    };
    let mut all: Vec<_> = near.iter().map(key).collect();
    all.sort_unstable();
    all
}

#[test]
fn near_pairs_are_those_of_all_triangles() {
    let (mut some, mut none, mut touching) = (0, 0, 0);
    for case in cases::mixed() {
        case.each(|pair, twin, place| {
            let distance = twin.distance().unwrap_or(1.0);
            let touches = twin.distance() == Some(0.0);
            for reach in [0.0, distance, distance * (1.0 + 1e-9), distance * 1.5 + 0.01] {
                let (found, expected) = (pair.near(reach), twin.near(reach));
                assert_eq!(sorted(&found), sorted(&expected), "reach {reach}: {place}");
                assert!(found.is_sorted_by_key(|near| near.faces), "{place}");
                if found.is_empty() {
                    none += 1
                } else {
                    some += 1
                }
                touching += usize::from(touches);
            }
            if touches {
                let faces: Vec<_> = pair.near(0.0).iter().map(|near| near.faces).collect();
                assert_eq!(faces, twin.touching(), "{place}");
            }
            for reach in [f64::NAN, -1.0, -f64::MIN_POSITIVE] {
                assert!(pair.near(reach).is_empty(), "reach {reach}: {place}");
            }
        });
    }
    assert!(some > 100 && none > 100 && touching > 100, "{some}, {none}, {touching}");
}

#[test]
fn infinite_reach_gives_all_pairs_of_triangles() {
    let mut random = Random(77);
    let (a, b) = (soup(&mut random, 9, 1.0, 0.3), soup(&mut random, 7, 1.0, 0.3));
    for quality in QUALITIES {
        let [a, b] = [&a, &b].map(|mesh| Model::build(mesh.clone(), quality));
        let pair = Pair::new(&a, &Pose::IDENTITY, &b, &shift(DVec3::X * 50.0));
        assert_eq!(pair.near(f64::INFINITY).len(), 63);
    }
}

#[test]
fn near_faces_of_a_sphere_are_those_of_all_triangles() {
    let mut random = Random(78);
    let mut seen = [0; 3];
    for seed in 0..60 {
        let mesh = soup(&mut random, 30, 1.0, 0.3);
        let model = Model::build(mesh, QUALITIES[seed % QUALITIES.len()]);
        let (pose, place) = (random.pose(0.5), random.pose(1.5));
        let radius = random.unit().abs() * 0.5;
        let ball = Shape::sphere(radius).unwrap();
        let posed = PosedModel::new(&model, &pose);
        let reach = random.unit().abs() * 0.5;
        let centre = place.translation();
        let mut expected: Vec<(u32, f64)> = Vec::new();
        for triangle in 0..model.mesh().triangle_count() {
            let far = closest_point(centre, &posed.triangle(triangle)).distance(centre) - radius;
            if far.max(0.0) <= reach {
                expected.push((model.mesh().face_of(triangle as u32), far.max(0.0)));
            }
        }
        expected.sort_by_key(|p| p.0);
        let found = Pair::new(&model, &pose, &ball, &place).near(reach);
        assert_eq!(found.len(), expected.len(), "{seed}");
        let swapped = Pair::new(&ball, &place, &model, &pose).near(reach);
        for ((near, other), (face, far)) in found.iter().zip(&swapped).zip(expected) {
            assert_eq!((near.faces.a, near.faces.b), (face, 0), "{seed}");
            assert_eq!((other.faces.a, other.faces.b), (0, face), "{seed}");
            assert!((near.gap - far).abs() < 1e-12 && near.gap == other.gap, "{seed}");
            let between = near.points[0].distance(near.points[1]);
            assert!((between - near.gap).abs() < 1e-12, "{seed}");
            seen[if near.gap == 0.0 { 0 } else { 1 }] += 1;
        }
        seen[2] += usize::from(found.is_empty());
    }
    assert!(seen.iter().all(|&count| count > 3), "{seen:?}");
}
