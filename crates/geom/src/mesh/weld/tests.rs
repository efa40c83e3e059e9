//! A weld against its slow twin, and on surfaces with the noise of exporters.

use super::*;
use crate::{Model, Pair, Pose, Quality, Relation, solids};
use glam::Vec3;

/// A small generator, so that the cases are the same on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u32) -> u32 {
        jostle_dice::below(&mut self.0, limit.into()) as u32
    }

    fn unit(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 24) as f32
    }
}

/// The slow twin: every vertex is compared with every other one, labels spread until nothing
/// changes, and each cluster is looked at as a whole.
fn slow(mesh: &Mesh, tolerance: f64) -> (Vec<Vec3>, usize, f64, usize) {
    let at = mesh.vertices();
    let mut label: Vec<usize> = (0..at.len()).collect();
    loop {
        let before = label.clone();
        for i in 0..at.len() {
            for j in 0..at.len() {
                if at[i].as_dvec3().distance(at[j].as_dvec3()) <= tolerance {
                    label[i] = label[i].min(label[j]);
                }
            }
        }
        if label == before {
            break;
        }
    }
    let uses = |place: Vec3| {
        mesh.triangles().iter().flatten().filter(|&&v| at[v as usize] == place).count()
    };
    let mut moved = at.to_vec();
    let (mut joined, mut largest, mut chains) = (0, 0.0f64, 0);
    for cluster in 0..at.len() {
        let members: Vec<usize> = (0..at.len()).filter(|&i| label[i] == cluster).collect();
        let mut places: Vec<Vec3> = members.iter().map(|&i| at[i]).collect();
        places.sort_by(|a, b| a.to_array().partial_cmp(&b.to_array()).unwrap());
        places.dedup();
        // The last of the maxima of the reversed list: the lowest place.
        let Some(&best) = places.iter().rev().max_by_key(|&&place| uses(place)) else { continue };
        let moves: Vec<f64> =
            places.iter().map(|place| place.as_dvec3().distance(best.as_dvec3())).collect();
        joined += places.len() - 1;
        largest = moves.iter().copied().fold(largest, f64::max);
        chains += usize::from(moves.iter().any(|&distance| distance > tolerance));
        members.iter().for_each(|&i| moved[i] = best);
    }
    (moved, joined, largest, chains)
}

/// Points on a coarse grid with some noise, in one corner of which they may be dense.
fn drawn(dice: &mut Dice) -> (Mesh, f64) {
    let count = 3 + dice.below(90);
    let scale = [1.0, 1e-38, 1e30][dice.below(3) as usize];
    let noise = [0.0, 0.02, 0.5][dice.below(3) as usize];
    let cells = 1 + dice.below(4);
    let vertices: Vec<Vec3> = (0..count)
        .map(|_| {
            let mut at = || dice.below(cells) as f32 + noise * dice.unit();
            Vec3::new(at(), at(), at()) * scale
        })
        .collect();
    let triangles = (0..dice.below(60)).map(|_| [(); 3].map(|()| dice.below(count))).collect();
    let tolerance = [0.0, 0.01, 0.1, 0.4, 1.0, 9.0][dice.below(6) as usize] * f64::from(scale);
    (Mesh::from_triangles(vertices, triangles).unwrap(), tolerance)
}

#[test]
fn welds_equal_their_slow_twin() {
    let (mut unchanged, mut chained, mut many) = (0, 0, 0);
    for seed in 0..1500 {
        let (mesh, tolerance) = drawn(&mut Dice(seed));
        let (welded, report) = mesh.weld(tolerance).unwrap();
        let (vertices, joined, largest, chains) = slow(&mesh, tolerance);
        assert_eq!(welded.vertices(), vertices, "seed {seed}");
        let found = (report.joined, report.largest_move, report.chains);
        assert_eq!(found, (joined, largest, chains), "seed {seed}");
        assert_eq!(welded.triangles(), mesh.triangles(), "seed {seed}");
        // The same as a mesh that is made anew of the same numbers.
        let fresh = Mesh::from_triangles(vertices, mesh.triangles().to_vec()).unwrap();
        assert_eq!(welded, fresh, "seed {seed}");
        unchanged += usize::from(joined == 0);
        chained += usize::from(chains > 0);
        many += usize::from(joined > 50);
    }
    assert!(unchanged > 100 && chained > 100 && many > 100, "{unchanged} {chained} {many}");
}

#[test]
fn a_weld_does_not_depend_on_the_order_of_vertices_and_faces() {
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let (mesh, tolerance) = drawn(&mut dice);
        let count = mesh.vertices().len() as u32;
        let mut order: Vec<u32> = (0..count).collect();
        for at in (1..count).rev() {
            order.swap(at as usize, dice.below(at + 1) as usize);
        }
        let mut new_number = vec![0; count as usize];
        (0u32..).zip(&order).for_each(|(new, &old)| new_number[old as usize] = new);
        let vertices = order.iter().map(|&old| mesh.vertices()[old as usize]).collect();
        let triangles = mesh.triangles().iter().rev();
        let triangles = triangles.map(|t| t.map(|v| new_number[v as usize])).collect();
        let shuffled = Mesh::from_triangles(vertices, triangles).unwrap();
        let (plain, report) = mesh.weld(tolerance).unwrap();
        let (other, shuffled_report) = shuffled.weld(tolerance).unwrap();
        assert_eq!(report, shuffled_report, "seed {seed}");
        for (old, &new) in new_number.iter().enumerate() {
            assert_eq!(plain.vertices()[old], other.vertices()[new as usize], "seed {seed}");
        }
    }
}

#[test]
fn a_larger_tolerance_keeps_closed_what_a_smaller_one_closed() {
    let mut closed = [0; 2];
    for seed in 0..600 {
        let (mesh, _) = drawn(&mut Dice(seed));
        let mut was_closed = false;
        for tolerance in [0.0, 0.01, 0.1, 0.4, 1.0, 9.0, 1e20, 1e32] {
            let is_closed = mesh.weld(tolerance).unwrap().0.into_solid().is_ok();
            assert!(is_closed || !was_closed, "seed {seed}, tolerance {tolerance}");
            was_closed = is_closed;
            closed[usize::from(is_closed)] += 1;
        }
    }
    assert!(closed.iter().all(|&count| count > 500), "{closed:?}");
}

/// A torus whose triangles have corners of their own, each off by up to `noise`: what an exporter
/// writes that computes every face separately.
fn noisy_torus(noise: f32, dice: &mut Dice) -> Mesh {
    let (around, across) = (24u32, 12u32);
    let corner = |i: u32, j: u32| {
        let turn = |at: u32, of: u32| f64::from(at % of) / f64::from(of) * std::f64::consts::TAU;
        let (a, b) = (turn(i, around), turn(j, across));
        let out = 3.0 + b.cos();
        DVec3::new(out * a.cos(), out * a.sin(), b.sin()).as_vec3()
    };
    let mut vertices: Vec<Vec3> = Vec::new();
    for i in 0..around {
        for j in 0..across {
            let [a, b, c, d] =
                [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
            vertices.extend([a, b, c, a, c, d]);
        }
    }
    for vertex in &mut vertices {
        *vertex += noise * Vec3::new(dice.unit(), dice.unit(), dice.unit());
    }
    let triangles = (0..vertices.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Mesh::from_triangles(vertices, triangles).unwrap()
}

#[test]
fn noise_in_the_last_digits_is_welded_and_what_lies_inside_is_inside() {
    let torus = noisy_torus(3e-6, &mut Dice(1));
    assert!(torus.clone().into_solid().is_err());
    let gap = torus.closing_gap().unwrap();
    assert_eq!(gap.tolerance, 1e-5);
    assert!(gap.largest_move > 1e-6 && gap.largest_move < 1e-5, "{gap:?}");
    let (welded, report) = torus.weld(gap.tolerance).unwrap();
    assert_eq!((report.collapsed_faces, report.new_duplicates, report.chains), (0, 0, 0));
    assert_eq!(welded.closing_gap(), None);
    // 2 π² R r² for a round one; this one has corners.
    let volume = welded.volume().unwrap();
    assert!(volume > 50.0 && volume < 59.2, "{volume}");
    let ring = Model::build(welded.into_solid().unwrap(), Quality::Default);
    let open = Model::build(torus, Quality::Default);
    let cube = solids::cuboid(DVec3::splat(0.1)).unwrap().into_solid().unwrap();
    let cube = Model::build(cube, Quality::Default);
    let inside = Pose::new(glam::DQuat::IDENTITY, DVec3::X * 3.0).unwrap();
    let relation = |model: &Model| Pair::new(&cube, &inside, model, &Pose::IDENTITY).relation();
    assert_eq!(relation(&ring), Some(Relation::AInsideB));
    assert_eq!(relation(&open), Some(Relation::Apart));
}

#[test]
fn a_hole_is_no_gap_and_neither_is_what_would_only_vanish() {
    let cuboid = solids::cuboid(DVec3::ONE).unwrap();
    let holed =
        Mesh::from_triangles(cuboid.vertices().to_vec(), cuboid.triangles()[1..].to_vec()).unwrap();
    assert_eq!(holed.closing_gap(), None);
    assert_eq!(cuboid.closing_gap(), None);
    // A fine open sheet collapses long before it closes.
    let side = 2000u32;
    let vertices: Vec<Vec3> =
        (0..2 * side).map(|i| Vec3::new((i / 2) as f32, (i % 2) as f32, 0.0)).collect();
    let strip = (0..side - 1).flat_map(|i| {
        let a = 2 * i;
        [[a, a + 2, a + 1], [a + 1, a + 2, a + 3]]
    });
    let sheet = Mesh::from_triangles(vertices, strip.collect()).unwrap();
    assert_eq!(sheet.closing_gap(), None);
    let empty = Mesh::from_triangles(Vec::new(), Vec::new()).unwrap();
    assert_eq!(empty.closing_gap(), None);
}

#[test]
fn collapsed_and_doubled_faces_are_counted_and_keep_their_numbers() {
    // Two triangles apart by 0.01, and a sliver between two of their corners.
    let vertices = vec![
        Vec3::ZERO,
        Vec3::X,
        Vec3::Y,
        Vec3::new(0.0, 0.0, 0.01),
        Vec3::new(1.0, 0.0, 0.01),
        Vec3::new(0.0, 1.0, 0.01),
    ];
    let mesh = Mesh::from_triangles(vertices, vec![[0, 1, 2], [3, 5, 4], [0, 3, 1]]).unwrap();
    let (welded, report) = mesh.weld(0.02).unwrap();
    assert_eq!((report.joined, report.collapsed_faces, report.new_duplicates), (3, 1, 1));
    assert_eq!((welded.face_count(), welded.triangle_count()), (3, 3));
    assert_eq!(mesh.weld(0.009).unwrap(), (mesh, WeldReport::default()));
}

#[test]
fn tolerances_that_are_no_lengths_are_refused() {
    let cuboid = solids::cuboid(DVec3::ONE).unwrap();
    for tolerance in [-1.0, f64::NAN, f64::INFINITY] {
        let error = cuboid.weld(tolerance).unwrap_err().to_string();
        assert!(error.starts_with("a weld needs a tolerance"), "{error}");
    }
    for tolerance in [0.0, 1e-300, f64::MAX] {
        assert!(cuboid.weld(tolerance).is_ok(), "{tolerance}");
    }
}
