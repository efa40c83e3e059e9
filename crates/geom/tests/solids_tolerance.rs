//! Solids keep the tolerance they promise, in both directions, are closed and turn outward.

use glam::{DVec2, DVec3};
use jostle_geom::Mesh;
use jostle_geom::solids::{self, BumpyTorus, SolidError};
use std::f64::consts::TAU;

fn corners(mesh: &Mesh) -> impl Iterator<Item = [DVec3; 3]> {
    mesh.triangles().iter().map(|t| t.map(|v| mesh.vertices()[v as usize].as_dvec3()))
}

fn volume(mesh: &Mesh) -> f64 {
    corners(mesh).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
}

/// Closed, in one orientation, nothing odd.
fn check_closed(mesh: &Mesh, about: &str) {
    let report = mesh.report();
    assert!(report.closed, "{about}\n{report}");
    let odd = [
        &report.degenerate_faces,
        &report.duplicate_faces,
        &report.non_planar_faces,
        &report.non_manifold_edges,
        &report.misoriented_edges,
    ];
    assert!(odd.iter().all(|finding| finding.count == 0), "{about}\n{report}");
    assert_eq!(report.unused_vertices, 0);
    assert!(volume(mesh) > 0.0, "{about} turns outward");
    assert!(mesh.clone().into_solid().is_ok());
}

/// Distance of a point from a segment.
fn to_segment(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let along = b - a;
    p.distance(a + along * ((p - a).dot(along) / along.length_squared()).clamp(0.0, 1.0))
}

/// Distance of a point from a triangle with area, the obvious way.
fn to_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let normal = (b - a).cross(c - a).normalize();
    let inside = [(a, b), (b, c), (c, a)]
        .iter()
        .all(|&(from, to)| normal.dot((to - from).cross(p - from)) >= 0.0);
    if inside {
        return normal.dot(p - a).abs();
    }
    to_segment(p, a, b).min(to_segment(p, b, c)).min(to_segment(p, c, a))
}

/// `on_mesh` is the distance of a point from the true surface; `surface` are points of it.
fn check_tolerance(
    mesh: &Mesh,
    tolerance: f64,
    distance: impl Fn(DVec3) -> f64,
    surface: &[DVec3],
) {
    let mut worst: f64 = 0.0;
    for [a, b, c] in corners(mesh) {
        for i in 0..=6 {
            for j in 0..=6 - i {
                let (u, v) = (f64::from(i) / 6.0, f64::from(j) / 6.0);
                worst = worst.max(distance(a + (b - a) * u + (c - a) * v));
            }
        }
    }
    assert!(worst <= tolerance, "the mesh is {worst} from the surface, allowed {tolerance}");
    let all: Vec<_> = corners(mesh).collect();
    for &point in surface {
        let near = all.iter().map(|&t| to_triangle(point, t)).fold(f64::INFINITY, f64::min);
        assert!(near <= tolerance, "{point} is {near} from the mesh, allowed {tolerance}");
    }
}

/// Directions spread over the sphere.
fn directions(count: u32) -> impl Iterator<Item = DVec3> {
    (0..count).map(move |i| {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
        (DVec2::from_angle(f64::from(i) * 2.399963) * (1.0 - z * z).sqrt()).extend(z)
    })
}

const SIZES: [(f64, f64); 6] =
    [(1.0, 2.0), (1.0, 0.3), (1.0, 0.02), (1e-3, 2e-5), (7e8, 5e7), (3.3, 0.04)];

#[test]
fn sphere() {
    for (radius, tolerance) in SIZES {
        let mesh = solids::sphere(radius, tolerance).unwrap();
        check_closed(&mesh, "sphere");
        let surface: Vec<DVec3> = directions(300).map(|d| d * radius).collect();
        check_tolerance(&mesh, tolerance, |p| (p.length() - radius).abs(), &surface);
        let [low, high] = mesh.report().bounds.unwrap();
        assert_eq!((high, low), (glam::Vec3::splat(radius as f32), -high));
    }
    assert_eq!(solids::sphere(1.0, 1.01).unwrap().triangle_count(), 8);
}

#[test]
fn capsule() {
    for (radius, tolerance) in SIZES {
        for height in [radius * 0.1, radius * 3.0] {
            let mesh = solids::capsule(radius, height, tolerance).unwrap();
            check_closed(&mesh, "capsule");
            let onto_axis = |p: DVec3| DVec3::Z * p.z.clamp(-height / 2.0, height / 2.0);
            let distance = |p: DVec3| (p.distance(onto_axis(p)) - radius).abs();
            let mut surface: Vec<DVec3> = directions(200)
                .map(|d| d * radius + DVec3::Z * height / 2.0 * d.z.signum())
                .collect();
            surface.extend((0..100).map(|i| {
                let angle = f64::from(i) * TAU / 100.0;
                (DVec2::from_angle(angle) * radius).extend(height * (f64::from(i) / 100.0 - 0.5))
            }));
            check_tolerance(&mesh, tolerance, distance, &surface);
        }
    }
}

/// Distance from the outline of a solid of revolution, given as segments of (radius, z).
fn to_outline(p: DVec3, outline: &[DVec2]) -> f64 {
    let flat = DVec3::new(p.truncate().length(), p.z, 0.0);
    let segments = outline.windows(2).map(|s| to_segment(flat, s[0].extend(0.0), s[1].extend(0.0)));
    segments.fold(f64::INFINITY, f64::min)
}

fn on_outline(outline: &[DVec2]) -> Vec<DVec3> {
    let steps = (0..12).map(|i| f64::from(i) / 11.0);
    let points = outline.windows(2).flat_map(|s| steps.clone().map(|t| s[0].lerp(s[1], t)));
    points
        .flat_map(|p| (0..23).map(move |i| (DVec2::from_angle(f64::from(i)) * p.x).extend(p.y)))
        .collect()
}

#[test]
fn cylinder_and_cone() {
    for (radius, tolerance) in SIZES {
        for height in [radius * 0.5, radius * 4.0] {
            let (bottom, top) = (-height / 2.0, height / 2.0);
            let outline = [(0.0, bottom), (radius, bottom), (radius, top), (0.0, top)]
                .map(|(x, y)| DVec2::new(x, y));
            let mesh = solids::cylinder(radius, height, tolerance).unwrap();
            check_closed(&mesh, "cylinder");
            check_tolerance(&mesh, tolerance, |p| to_outline(p, &outline), &on_outline(&outline));
            let outline = [outline[0], outline[1], outline[3]];
            let mesh = solids::cone(radius, height, tolerance).unwrap();
            check_closed(&mesh, "cone");
            check_tolerance(&mesh, tolerance, |p| to_outline(p, &outline), &on_outline(&outline));
        }
    }
}

#[test]
fn finer_tolerances_down_to_the_limit_of_f32_are_kept() {
    for tolerance in [1e-4, 1e-5, 1e-6, 2.5e-7] {
        let mesh = solids::cylinder(1.0, 1.0, tolerance).unwrap();
        let outline = [DVec2::new(0.0, -0.5), DVec2::new(1.0, -0.5), DVec2::new(1.0, 0.5)];
        let outline = [outline.as_slice(), &[DVec2::new(0.0, 0.5)]].concat();
        check_tolerance(&mesh, tolerance, |p| to_outline(p, &outline), &[]);
    }
    let mesh = solids::sphere(1.0, 2e-4).unwrap();
    check_tolerance(&mesh, 2e-4, |p| (p.length() - 1.0).abs(), &[]);
}

#[test]
fn cuboid() {
    let mesh = solids::cuboid(DVec3::new(1.0, 2.0, 3.0)).unwrap();
    check_closed(&mesh, "cuboid");
    assert_eq!(volume(&mesh), 6.0);
}

#[test]
fn torus() {
    for cells in [[3, 3], [4, 7], [40, 20]] {
        let mesh = BumpyTorus::plain(2.0, 0.5, cells).mesh().unwrap();
        check_closed(&mesh, "torus");
        assert_eq!(mesh.triangle_count() as u32, 2 * cells[0] * cells[1]);
        let bumpy = BumpyTorus {
            amplitude: 0.2,
            waves: 5.0,
            phase: 0.7,
            ..BumpyTorus::plain(2.0, 0.5, cells)
        };
        check_closed(&bumpy.mesh().unwrap(), "bumpy torus");
    }
}

#[test]
fn tetra_flake() {
    for depth in 0..5 {
        let mesh = solids::tetra_flake(depth).unwrap();
        check_closed(&mesh, "tetra-flake");
        assert_eq!(mesh.triangle_count(), 4usize.pow(depth + 1));
        assert_eq!(mesh.report().components, 1, "the parts touch in their corners");
        assert!((volume(&mesh) * 2f64.powi(depth as i32) - 8.0 / 3.0).abs() < 1e-12);
    }
    assert!(matches!(solids::tetra_flake(12), Err(SolidError::TooMany { .. })));
    assert!(matches!(solids::tetra_flake(u32::MAX), Err(SolidError::TooMany { .. })));
}

#[test]
fn grid() {
    let mesh = solids::grid(DVec2::new(4.0, 2.0), [8, 3], |p| p.x + p.y).unwrap();
    let report = mesh.report();
    assert_eq!((report.triangles, report.vertices, report.open_edges.count), (48, 36, 22));
    assert_eq!(report.misoriented_edges.count, 0);
    assert_eq!(report.bounds.unwrap().map(|p| p.z), [-3.0, 3.0]);
    for [a, b, c] in corners(&mesh) {
        assert!((b - a).cross(c - a).z > 0.0, "faces up");
    }
    let bad = solids::grid(DVec2::ONE, [2, 2], |p| 1.0 / p.x);
    assert!(matches!(bad, Err(SolidError::Mesh(_))));
    assert!(matches!(solids::grid(DVec2::ONE, [0, 2], |_| 0.0), Err(SolidError::TooFew { .. })));
    let huge = solids::grid(DVec2::ONE, [u32::MAX, u32::MAX], |_| 0.0);
    assert!(matches!(huge, Err(SolidError::TooMany { .. })));
}

#[test]
fn bad_numbers_are_refused() {
    for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-300, 1e300] {
        let found = [
            solids::sphere(bad, 0.1),
            solids::sphere(1.0, bad),
            solids::capsule(bad, 1.0, 0.1),
            solids::capsule(1.0, bad, 0.1),
            solids::capsule(1.0, 1.0, bad),
            solids::cylinder(bad, 1.0, 0.1),
            solids::cylinder(1.0, bad, 0.1),
            solids::cylinder(1.0, 1.0, bad),
            solids::cone(bad, 1.0, 0.1),
            solids::cone(1.0, bad, 0.1),
            solids::cone(1.0, 1.0, bad),
            solids::cuboid(DVec3::new(1.0, bad, 1.0)),
            solids::grid(DVec2::new(bad, 1.0), [1, 1], |_| 0.0),
            BumpyTorus::plain(bad, 0.1, [5, 5]).mesh(),
            BumpyTorus::plain(1.0, bad, [5, 5]).mesh(),
        ];
        for (which, result) in found.into_iter().enumerate() {
            let refused = matches!(result, Err(SolidError::BadDimension { .. }));
            assert!(refused, "number {which} with {bad}");
        }
    }
    assert!(matches!(solids::sphere(1.0, 3e-7), Err(SolidError::TooMany { .. })));
    assert!(matches!(solids::cylinder(1.0, 1.0, 1e-7), Err(SolidError::TooPrecise { .. })));
    let thick = BumpyTorus::plain(1.0, 1.0, [5, 5]).mesh();
    assert!(matches!(thick, Err(SolidError::NotLess { .. })));
    let plain = BumpyTorus::plain(1.0, 0.1, [5, 5]);
    let wild = BumpyTorus { amplitude: f64::NAN, ..plain }.mesh();
    assert!(matches!(wild, Err(SolidError::NotLess { .. })));
    let few = BumpyTorus { cells: [2, 5], ..plain }.mesh();
    assert!(matches!(few, Err(SolidError::TooFew { .. })));
}

/// The order of vertices and triangles, and a few coordinates, of the bumpy torus that other
/// libraries are measured on (made with numpy).
#[test]
fn the_bumpy_torus_is_the_published_one() {
    let torus = BumpyTorus { amplitude: 0.15, waves: 7.0, ..BumpyTorus::plain(1.0, 0.3, [63, 16]) };
    let mesh = torus.mesh().unwrap();
    assert_eq!((mesh.vertices().len(), mesh.triangle_count()), (1008, 2016));
    assert_eq!(mesh.triangles()[..2], [[0, 16, 17], [1, 17, 18]]);
    assert_eq!(mesh.triangles()[1008], [0, 17, 1]);
    let known = [
        [1.322_321_8, 0.132_318_24, 0.0],
        [1.246_250_6, 0.124_706_19, 0.104_578_34],
        [1.220_499_5, 0.122_129_4, 0.226_594_76],
        [1.105_050_3, 0.110_576_965, 0.266_937_17],
    ];
    for (found, known) in mesh.vertices()[16..].iter().zip(known) {
        // Library sines differ in the last digit, which may move a rounding to f32.
        assert!(found.distance(glam::Vec3::from(known)) < 3e-7, "{found} {known:?}");
    }
}
