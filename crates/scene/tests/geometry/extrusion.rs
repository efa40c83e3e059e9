//! Extrusions against known shapes, and against a slow twin written from the standard's text.

use super::*;
use glam::{DMat3, DQuat, Vec2};
use jostle_scene::Rotation;
use jostle_scene::nodes::Extrusion;
use std::f32::consts::TAU;

fn along(spine: &[[f32; 3]]) -> Extrusion {
    let spine = spine.iter().map(|&p| Vec3::from_array(p)).collect();
    Extrusion { spine: Arc::new(spine), ..Extrusion::default() }
}

fn turn(axis: Vec3, angle: f32) -> Rotation {
    Rotation { axis, angle }
}

/// The planes of 6.18.2 and 6.18.3, point by point, with searches instead of bookkeeping. Inputs
/// are whole numbers, so that collinear points are so exactly.
fn twin_planes(spine: &[DVec3]) -> Vec<DMat3> {
    let count = spine.len();
    let closed = spine[0] == spine[count - 1];
    // Coincident points have the same plane: the points around are the nearest different ones.
    let before = |i: usize| {
        let other = (0..i).rev().find(|&k| spine[k] != spine[i]);
        other.or_else(
            || if closed { (0..count).rev().find(|&k| spine[k] != spine[i]) } else { None },
        )
    };
    let after = |i: usize| {
        let other = (i..count).find(|&k| spine[k] != spine[i]);
        other.or_else(|| if closed { (0..count).find(|&k| spine[k] != spine[i]) } else { None })
    };
    let cross = |i: usize| {
        let (before, after) = (spine[before(i)?], spine[after(i)?]);
        let z = (after - spine[i]).cross(before - spine[i]);
        (z != DVec3::ZERO).then(|| z.normalize())
    };
    let Some(first) = (0..count).find_map(cross) else {
        let Some(next) = after(0) else {
            return vec![DMat3::IDENTITY; count];
        };
        let way = (spine[next] - spine[0]).normalize();
        let turn = if way == DVec3::NEG_Y {
            DQuat::from_rotation_z(std::f64::consts::PI)
        } else {
            DQuat::from_rotation_arc(DVec3::Y, way)
        };
        return vec![DMat3::from_quat(turn); count];
    };
    let mut planes: Vec<DMat3> = Vec::new();
    let mut previous = first;
    for i in 0..count {
        let mut z = cross(i).unwrap_or(previous);
        if z.dot(previous) < 0.0 {
            z = -z;
        }
        previous = z;
        let y = match (before(i), after(i)) {
            (Some(before), Some(after)) if spine[before] != spine[after] => {
                spine[after] - spine[before]
            }
            (Some(before), _) => spine[i] - spine[before],
            (None, Some(after)) => spine[after] - spine[i],
            (None, None) => panic!("a point that is alone"),
        };
        let y = y.normalize();
        planes.push(DMat3::from_cols(y.cross(z), y, z));
    }
    if closed {
        planes[count - 1] = planes[0];
        // Points at the end that are the same point.
        let mut i = count - 1;
        while i > 0 && spine[i - 1] == spine[count - 1] {
            i -= 1;
            planes[i] = planes[0];
        }
    }
    planes
}

fn random_spine(random: &mut Random) -> Vec<[f32; 3]> {
    let count = 2 + random.below(6);
    // Few numbers, so that points coincide, lie on lines and turn back often.
    let flat = random.below(3);
    let mut spine: Vec<[f32; 3]> = (0..count)
        .map(|_| {
            let mut point = [0, 1, 2].map(|_| random.below(3) as f32 - 1.0);
            point[..flat].fill(0.0);
            point
        })
        .collect();
    if random.below(3) == 0 {
        spine.push(spine[0]);
    }
    spine
}

#[test]
fn every_vertex_is_where_the_standard_puts_it() {
    let random = &mut Random(17);
    let section = [Vec2::new(1.0, 0.5), Vec2::new(-1.0, 2.0), Vec2::new(-0.5, -1.0)];
    let [mut straight, mut bent, mut closed, mut doubled] = [0; 4];
    for round in 0..20_000 {
        let mut node = along(&random_spine(random));
        let spine: Vec<DVec3> = node.spine.iter().map(|p| p.as_dvec3()).collect();
        let count = spine.len();
        let mut number = || random.part() as f32 * 2.0 - 1.0;
        let values = if round % 2 == 0 { 1 } else { count + round % 3 };
        node.cross_section = Arc::new(section.to_vec());
        node.scale = Arc::new((0..values).map(|_| Vec2::new(number(), number())).collect());
        let axis = |a, b, c| Vec3::new(a, b, c);
        node.orientation = Arc::new(
            (0..values).map(|_| turn(axis(number(), number(), number()), number() * 4.0)).collect(),
        );
        let planes = twin_planes(&spine);
        let mesh = mesh_of(node.clone());
        for i in 0..count {
            let value = if values == 1 { 0 } else { i };
            for (j, corner) in section.iter().enumerate() {
                let scaled = *corner * node.scale[value];
                let flat = DVec3::new(scaled.x.into(), 0.0, scaled.y.into());
                let turned = node.orientation[value].quaternion() * flat;
                let expected = spine[i] + planes[i] * turned;
                let found = mesh.vertices()[i * 3 + j].as_dvec3();
                assert!(
                    found.distance(expected) < 1e-5,
                    "round {round}: point {i} of {:?}: {found}, not {expected}",
                    node.spine
                );
            }
        }
        let line = planes.iter().all(|plane| *plane == planes[0]);
        if line {
            straight += 1
        } else {
            bent += 1
        }
        closed += usize::from(spine[0] == spine[count - 1]);
        doubled += usize::from(spine.windows(2).any(|pair| pair[0] == pair[1]));
    }
    assert!([straight, bent, closed, doubled].iter().all(|&n| n > 2000), "{straight} {bent}");
}

#[test]
fn the_default_is_a_box() {
    let mesh = mesh_of(Extrusion::default());
    assert_eq!((mesh.face_count(), mesh.triangle_count()), (6, 12));
    assert_eq!(bounds(&mesh), (Vec3::new(-1.0, 0.0, -1.0), Vec3::new(1.0, 1.0, 1.0)));
    assert_eq!(volume(&mesh), 4.0);
    assert!(is_closed(&mesh) && !mesh.is_solid());
    let inside_out = Extrusion { ccw: false, ..Extrusion::default() };
    assert_eq!(volume(&mesh_of(inside_out)), -4.0);
    // Off the origin the caps count in the volume, too.
    for spine in [[[3.0, 5.0, 7.0], [3.0, 7.0, 7.0]], [[3.0, 7.0, 7.0], [3.0, 5.0, 7.0]]] {
        assert_eq!(volume(&mesh_of(along(&spine))), 8.0);
    }
}

#[test]
fn caps_are_there_if_wanted_also_for_open_cross_sections() {
    for caps in 0..4 {
        let (begin_cap, end_cap) = (caps & 1 != 0, caps & 2 != 0);
        let node = Extrusion { begin_cap, end_cap, ..Extrusion::default() };
        let mesh = mesh_of(node.clone());
        let expected = usize::from(begin_cap) + usize::from(end_cap);
        assert_eq!(mesh.face_count(), 4 + expected);
        assert_eq!(is_closed(&mesh), caps == 3);
        assert_eq!(area(&mesh), 8.0 + 4.0 * expected as f64);
        let open = node.cross_section[..4].to_vec();
        let mesh = mesh_of(Extrusion { cross_section: Arc::new(open), ..node });
        assert_eq!(area(&mesh), 6.0 + 4.0 * expected as f64);
        assert!(!is_closed(&mesh));
    }
    // A ribbon has no caps.
    let ribbon = Arc::new(vec![Vec2::X, Vec2::Y]);
    assert_eq!(
        mesh_of(Extrusion { cross_section: ribbon, ..Extrusion::default() }).face_count(),
        1
    );
}

#[test]
fn a_concave_cap_has_its_area() {
    let arrow = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 0.5), (0.0, 2.0)];
    let section = arrow.map(|(x, z)| Vec2::new(x, -z)).to_vec();
    let closed: Vec<Vec2> = section.iter().chain(&section[..1]).copied().collect();
    let mesh = mesh_of(Extrusion { cross_section: Arc::new(closed), ..Extrusion::default() });
    assert_eq!((mesh.face_count(), mesh.triangle_count()), (7, 5 * 2 + 2 * 3));
    assert!((volume(&mesh) - 2.5).abs() < 1e-6);
    assert!(is_closed(&mesh));
}

#[test]
fn a_ring_closes_and_has_the_volume_of_a_torus() {
    let steps = 64;
    let mut spine: Vec<[f32; 3]> = (0..steps)
        .map(|i| {
            let (sin, cos) = (TAU * i as f32 / steps as f32).sin_cos();
            [3.0 * cos, 0.0, 3.0 * sin]
        })
        .collect();
    spine.push(spine[0]);
    let node = Extrusion { begin_cap: false, end_cap: false, ..along(&spine) };
    let mesh = mesh_of(node.clone());
    assert_eq!(mesh.face_count(), 4 * steps);
    assert!(is_closed(&mesh));
    let full = 4.0 * std::f64::consts::TAU * 3.0;
    assert!((volume(&mesh) / full - 1.0).abs() < 0.01, "{}", volume(&mesh));
    // Caps are made for closed spines too, on top of each other.
    let capped = mesh_of(Extrusion { begin_cap: true, end_cap: true, ..node });
    assert_eq!(capped.face_count(), 4 * steps + 2);
    assert!(is_closed(&capped));
}

#[test]
fn a_spine_that_is_one_point_turns_its_cross_section() {
    let steps = 32;
    let node = Extrusion {
        cross_section: Arc::new(vec![
            Vec2::new(0.0, 1.0),
            Vec2::new(1.0, 1.0),
            Vec2::new(1.0, -1.0),
            Vec2::new(0.0, -1.0),
        ]),
        orientation: Arc::new(
            (0..=steps).map(|i| turn(Vec3::Z, TAU * i as f32 / steps as f32)).collect(),
        ),
        begin_cap: false,
        end_cap: false,
        ..along(&vec![[5.0, 0.0, 0.0]; steps + 1])
    };
    let mesh = mesh_of(node);
    let expected = steps as f64 / 2.0 * (std::f64::consts::TAU / steps as f64).sin() * 2.0;
    assert!((volume(&mesh).abs() - expected).abs() < 1e-4, "{}", volume(&mesh));
    let (least, most) = bounds(&mesh);
    let box_of_cylinder = (Vec3::new(4.0, -1.0, -1.0), Vec3::new(6.0, 1.0, 1.0));
    assert!(least.distance(box_of_cylinder.0) + most.distance(box_of_cylinder.1) < 1e-5);
}

#[test]
fn a_cup_goes_up_and_back_down_without_twisting() {
    let node = Extrusion {
        scale: Arc::new([1.0, 1.0, 0.5, 0.5].map(Vec2::splat).to_vec()),
        ..along(&[[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 2.0, 0.0], [0.0, 1.0, 0.0]])
    };
    let mesh = mesh_of(node);
    assert!(is_closed(&mesh));
    assert_eq!(volume(&mesh), 4.0 * 2.0 - 1.0);
}

#[test]
fn a_slanted_bar_of_rounded_numbers_is_straight() {
    let random = &mut Random(23);
    for round in 0..200 {
        let way = Vec3::new(random.part() as f32, random.part() as f32, random.part() as f32);
        let start = Vec3::new(random.part() as f32, 10.0, -30.0);
        let spine: Vec<[f32; 3]> =
            (0..20).map(|i| (start + way * i as f32 * 0.1).to_array()).collect();
        let mesh = mesh_of(along(&spine));
        for i in 0..20 {
            for j in 0..4 {
                let moved = mesh.vertices()[4 * i + j] - Vec3::from_array(spine[i]);
                let first = mesh.vertices()[j] - Vec3::from_array(spine[0]);
                assert!(moved.distance(first) < 2e-5, "seed 23, round {round}, point {i}");
            }
        }
    }
}

#[test]
fn a_spine_finer_than_its_rounding_still_turns() {
    let spine: Vec<[f32; 3]> = (0..=500)
        .map(|i| {
            let (sin, cos) = (i as f32 * 0.003).sin_cos();
            [1000.0 + cos, 1000.0 + sin, 1000.0]
        })
        .collect();
    let mesh = mesh_of(along(&spine));
    for i in [0, 100, 250, 500] {
        let (sin, cos) = (i as f64 * 0.003).sin_cos();
        let way = DVec3::new(-sin, cos, 0.0);
        for j in 0..4 {
            let aside = mesh.vertices()[4 * i + j] - Vec3::from_array(spine[i]);
            assert!(aside.as_dvec3().dot(way).abs() < 0.1, "point {i}: {aside}");
        }
    }
}

#[test]
fn what_makes_no_extrusion_is_refused() {
    assert!(
        error_of(along(&[[0.0; 3]])).ends_with("the spine has one point; expected at least two")
    );
    let dot = Extrusion { cross_section: Arc::new(vec![Vec2::ONE]), ..Extrusion::default() };
    assert!(error_of(dot).contains("the crossSection has one point"));
    let three = [[0.0; 3], [0.0, 1.0, 0.0], [0.0, 2.0, 0.0]];
    let node = Extrusion { scale: Arc::new(vec![Vec2::ONE; 2]), ..along(&three) };
    assert!(
        error_of(node).ends_with("scale has 2 values for 3 points of the spine; expected 1 or 3")
    );
    let turns = Arc::new(vec![Rotation::NONE; 2]);
    assert!(
        error_of(Extrusion { orientation: turns, ..along(&three) }).contains("orientation has")
    );
    for bad in [f32::NAN, f32::INFINITY, f32::MAX] {
        let spine = along(&[[0.0; 3], [bad, 0.0, 0.0], [bad, 0.0, 0.0], [bad, bad, bad]]);
        let scaled = Extrusion { scale: Arc::new(vec![Vec2::splat(f32::MAX)]), ..spine.clone() };
        assert!(error_of(scaled).contains("not finite"), "{bad}");
        let single = geometry_of(spine, Tolerance::default());
        assert_eq!(single.is_ok(), bad == f32::MAX);
    }
    let empty = Extrusion { spine: Arc::default(), ..Extrusion::default() };
    assert_eq!(geometry_of(empty, Tolerance::default()), Ok(Geometry::Nothing));
    let huge = Extrusion {
        cross_section: Arc::new((0..10_000).map(|i| Vec2::splat(i as f32)).collect()),
        ..along(&vec![[0.0; 3]; 10_000])
    };
    assert!(error_of(huge).contains("this would take 200000000 triangles"));
}
