//! Hulls as a filter: the answers are those of the default hierarchy, on meshes of every kind.

mod hulls;

use glam::{DVec2, DVec3, Vec3};
use hulls::{any_turn, point};
use jostle_geom::{Mesh, Pose, Quality, solids};
use jostle_lab::convex::{Filter, HullError, HullFilter};
use jostle_lab::{Contender, Ours};
use jostle_oracle::rng::Rng;

/// About the size of a ball of radius 1 each: convex, concave, open, flat, a needle, a point.
fn meshes() -> Vec<Mesh> {
    let vertices = |points: &[[f32; 3]]| points.iter().map(|&p| Vec3::from(p)).collect();
    let spike = vertices(&[[0.0, 0.0, -1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.3]]);
    vec![
        solids::cuboid(DVec3::splat(1.5)).unwrap(),
        solids::sphere(1.0, 0.05).unwrap(),
        solids::cone(1.0, 2.0, 0.05).unwrap(),
        solids::BumpyTorus::plain(0.8, 0.25, [18, 9]).mesh().unwrap(),
        solids::tetra_flake(2).unwrap(),
        solids::grid(DVec2::splat(2.0), [6, 6], |_| 0.0).unwrap(),
        Mesh::from_triangles(spike, vec![[0, 1, 2]]).unwrap(),
        Mesh::from_triangles(vec![Vec3::ZERO; 3], vec![[0, 1, 2]]).unwrap(),
    ]
}

#[test]
fn filtered_answers_are_those_of_the_default_hierarchy() {
    let meshes = meshes();
    let mut seen = [0; 2];
    let mut spared = 0;
    for (i, a) in meshes.iter().enumerate() {
        for (j, b) in meshes.iter().enumerate().skip(i) {
            let mut ours = Ours::new(a, b, Quality::Default);
            let filtered = |filter| {
                let then = Box::new(Ours::new(a, b, Quality::Default));
                HullFilter::new(a, b, filter, then).expect("meshes with triangles")
            };
            let mut all: Vec<HullFilter<'_>> = Filter::all().into_iter().map(filtered).collect();
            for case in 0..40 {
                let mut rng = Rng::new(9, (8 * i + j) as u64, case);
                let [pose_a, pose_b] = poses(&mut rng, a, b);
                let touches = ours.touches(&pose_a, &pose_b).0;
                let pairs = ours.all_pairs(&pose_a, &pose_b).0;
                seen[usize::from(touches)] += 1;
                for other in &mut all {
                    let (found, count) = other.touches(&pose_a, &pose_b);
                    assert_eq!(found, touches, "{} {i} {j} {case}", other.name());
                    assert_eq!(other.all_pairs(&pose_a, &pose_b).0, pairs);
                    spared += usize::from(count.triangle_tests + count.visits == 0);
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 300), "{seen:?}");
    assert!(spared > 2 * seen[0], "{spared} of 4 × {} were spared the exact test", seen[0]);
}

/// Near each other; in every other case a vertex of the one is brought onto a vertex of the other.
fn poses(rng: &mut Rng, a: &Mesh, b: &Mesh) -> [Pose; 2] {
    let first = Pose::new(any_turn(rng), point(rng)).unwrap();
    let turn = any_turn(rng);
    let vertex = |rng: &mut Rng, mesh: &Mesh| {
        mesh.vertices()[rng.below(mesh.vertices().len() as u64) as usize]
    };
    let shift = if rng.below(2) == 0 {
        let back = Pose::new(turn, DVec3::ZERO).unwrap();
        first.transform_point(vertex(rng, a)) - back.transform_point(vertex(rng, b))
    } else {
        point(rng) * 3.0
    };
    [first, Pose::new(turn, shift).unwrap()]
}

#[test]
fn a_mesh_without_triangles_has_no_filter() {
    let none = Mesh::from_triangles(vec![Vec3::ONE], vec![]).unwrap();
    let cube = solids::cuboid(DVec3::ONE).unwrap();
    let then = Box::new(Ours::new(&none, &cube, Quality::Default));
    let made = HullFilter::new(&none, &cube, Filter::all().remove(0), then);
    assert_eq!(made.err(), Some(HullError::Empty));
}

#[test]
fn memory_and_names_are_reported() {
    let ball = solids::sphere(1.0, 0.05).unwrap();
    let ours = Ours::new(&ball, &ball, Quality::Default);
    let alone = ours.bytes();
    let gjk = Filter::all().pop().unwrap();
    let filtered = HullFilter::new(&ball, &ball, gjk, Box::new(ours)).unwrap();
    assert_eq!(filtered.name(), "GJK, then ours");
    assert!(filtered.bytes() > alone + 2 * 24 * ball.vertices().len());
}
