//! Meshes with `f64` vertices against whole numbers: every pair of placed triangles is judged by
//! the oracle, and the queries over hierarchies must say the same.
//!
//! Coordinates of a million with steps of 1e-6, drawn so that triangles share corners, edges and
//! planes, or miss each other by a step; also meshes that are everywhere at once in size.

use glam::{DQuat, DVec3};
use jostle_geom::triangle::distance;
use jostle_geom::{FacePair, Mesh, Model, Pair, Pose, Quality};
use jostle_oracle::exact::verdict;
use jostle_oracle::rng::Rng;
use jostle_oracle::separation::Verdict;

/// Where the meshes are, the step of their coordinates, and how many steps they are wide.
const PLACES: [(f64, f64, u64); 5] =
    [(1e6, 1e-6, 6), (1e6, 1e-6, 2_000_000), (-3e7, 1e-6, 4), (0.1, 1e-15, 5), (0.3, 1.0 / 3.0, 7)];

fn mesh(rng: &mut Rng, (base, step, width): (f64, f64, u64)) -> Mesh {
    let count = 2 + rng.below(14);
    let mut vertices: Vec<DVec3> = Vec::new();
    for _ in 0..count + 2 {
        let mut at = || base + step * rng.below(width) as f64;
        let fresh = DVec3::new(at(), at(), at());
        // In line with earlier ones, now and then.
        let vertex = match (rng.below(4), vertices.as_slice()) {
            (0, [.., a, b]) => *a + (*b - *a) * 0.5,
            (1, [.., a]) => DVec3::new(fresh.x, a.y, a.z),
            _ => fresh,
        };
        vertices.push(vertex);
    }
    let all = vertices.len() as u64;
    let triangles = (0..count).map(|_| [(); 3].map(|()| rng.below(all) as u32)).collect();
    Mesh::from_triangles_f64(vertices, triangles).unwrap()
}

fn pose(rng: &mut Rng, far: f64) -> Pose {
    match rng.below(3) {
        0 => Pose::IDENTITY,
        1 => Pose::from_translation(DVec3::new(1e-6, 0.0, -1e-6) * rng.below(3) as f64).unwrap(),
        _ => {
            // Turned about an axis through the place, so that the meshes stay together.
            let turn = DQuat::from_xyzw(rng.unit() * 1e-7, 0.0, rng.unit() * 1e-7, 1.0).normalize();
            let centre = DVec3::splat(far);
            Pose::new(turn, centre - turn * centre).unwrap()
        }
    }
}

#[test]
fn hierarchies_say_what_whole_numbers_say() {
    let mut seen = [0; 2];
    let mut wide = 0;
    for case in 0..3000 {
        let rng = &mut Rng::new(20, 4, case);
        let place = PLACES[case as usize % PLACES.len()];
        let quality = [Quality::Fast, Quality::Default, Quality::Tight][case as usize % 3];
        let [mut a, b] = [(); 2].map(|()| mesh(rng, place));
        if case % 4 == 0 {
            // A mixed pair.
            let narrow = a.vertices().to_vec();
            a = Mesh::from_triangles(narrow, a.triangles().to_vec()).unwrap();
        }
        wide += u32::from(b.vertices_f64().is_some());
        let (pose_a, pose_b) = (pose(rng, place.0), pose(rng, place.0));
        let placed = |mesh: &Mesh, pose: &Pose| -> Vec<[DVec3; 3]> {
            let corner = |v| pose.transform_point(mesh.position(v));
            mesh.triangles().iter().map(|t| t.map(corner)).collect()
        };
        let (all_a, all_b) = (placed(&a, &pose_a), placed(&b, &pose_b));
        let mut expected = Vec::new();
        let mut closest = f64::INFINITY;
        for (i, s) in (0u32..).zip(&all_a) {
            for (j, t) in (0u32..).zip(&all_b) {
                if verdict(s, t) != Verdict::Apart {
                    expected.push(FacePair { a: i, b: j });
                }
                closest = closest.min(distance(s, t).distance);
            }
        }
        let (a, b) = (Model::build(a, quality), Model::build(b, quality));
        let pair = Pair::new(&a, &pose_a, &b, &pose_b);
        assert_eq!(pair.touches(), !expected.is_empty(), "case {case}");
        assert_eq!(pair.all_pairs(), expected, "case {case}");
        let found = pair.distance().unwrap().distance;
        assert_eq!(found == 0.0, !expected.is_empty(), "case {case}");
        // The best of both searches may be another pair by rounding of the places.
        let slack = 1e-12 * place.0.abs().max(1.0);
        assert!((found - closest).abs() <= slack, "case {case}: {found} {closest}");
        assert_eq!(pair.within(0.0), !expected.is_empty(), "case {case}");
        assert!(pair.within(closest + slack), "case {case}");
        assert!(closest <= slack || !pair.within(closest - slack), "case {case}");
        seen[usize::from(expected.is_empty())] += 1;
    }
    assert!(seen.iter().all(|&count| count > 300), "{seen:?}");
    assert!(wide > 2000, "{wide}");
}
