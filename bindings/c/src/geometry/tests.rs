//! Round solids keep their tolerance wherever they are put; triangles keep their numbers.

use super::*;

/// Distances of points all over the triangles from a true surface, as `off` measures them.
fn worst(draft: &Draft, off: impl Fn(DVec3) -> f64) -> f64 {
    const STEPS: i32 = 6;
    let mut worst: f64 = 0.0;
    for corners in &draft.triangles {
        let [a, b, c] = corners.map(|corner| corner.as_dvec3());
        for i in 0..=STEPS {
            for j in 0..=STEPS - i {
                let [s, t] = [i, j].map(|k| f64::from(k) / f64::from(STEPS));
                worst = worst.max(off(a + (b - a) * s + (c - a) * t).abs());
            }
        }
    }
    worst
}

/// Where the rounding of the place counts, and where it does not.
const PLACES: [([f64; 3], f64); 4] = [
    ([0.0, 0.0, 0.0], 1e-2),
    ([1.0, -2.0, 3.0], 1e-3),
    ([1000.0, 0.1, -0.1], 1e-2),
    ([-100_000.0, 70_000.0, 3.0], 5e-2),
];

#[test]
fn spheres_keep_their_tolerance_anywhere() {
    for (centre, tolerance) in PLACES {
        let draft = Draft::sphere(centre, 1.5, tolerance, 3).expect("a possible sphere");
        let off = |p: DVec3| p.distance(DVec3::from_array(centre)) - 1.5;
        let worst = worst(&draft, off);
        assert!(worst <= tolerance, "{worst} at {centre:?}");
        assert!(worst > 0.1 * tolerance, "{worst} at {centre:?}: far too fine");
        assert!(draft.faces.iter().all(|&face| face == 3));
        assert_eq!(draft.faces.len(), draft.triangles.len());
    }
}

#[test]
fn cylinders_and_cones_keep_their_tolerance_anywhere() {
    let axes = [[0.0, 0.0, 2.0], [0.0, 0.0, -2.0], [3.0, 0.0, 0.0], [1.0, -2.0, 0.5]];
    for ((centre, tolerance), axis) in PLACES.into_iter().zip(axes) {
        let round = col_round { centre, axis, radius: 0.75, face: 9 };
        let [middle, along] = [centre, axis].map(DVec3::from_array);
        let half = 0.5 * along.length();
        // Height above the middle and distance from the axis.
        let flat = |p: DVec3| {
            let up = (p - middle).dot(along.normalize());
            (up, (p - middle).reject_from(along).length())
        };
        let cylinder = Draft::round(&round, tolerance, solids::cylinder).expect("possible");
        let off = worst(&cylinder, |p| {
            let (up, out) = flat(p);
            f64::max(out - 0.75, up.abs() - half)
        });
        assert!(off <= tolerance, "cylinder: {off} at {centre:?} along {axis:?}");

        let cone = Draft::round(&round, tolerance, solids::cone).expect("possible");
        let slant = (2.0 * half).hypot(0.75);
        let side = |up: f64, out: f64| (out * 2.0 * half - (half - up) * 0.75) / slant;
        let off = worst(&cone, |p| {
            let (up, out) = flat(p);
            f64::max(side(up, out), -half - up)
        });
        assert!(off <= tolerance, "cone: {off} at {centre:?} along {axis:?}");
        // Tip up: the bottom is wide.
        let mut points = cone.triangles.iter().flatten().map(|p| flat(p.as_dvec3()));
        assert!(points.all(|(up, out)| if up > 0.0 { out < 0.1 } else { out < 0.75 + tolerance }));
    }
}

#[test]
fn a_tolerance_that_the_place_cannot_keep_is_refused() {
    let centre = [1e6, 0.0, 0.0];
    let refused = Draft::sphere(centre, 1.0, 0.1, 0).expect_err("floats are 0.06 apart there");
    let Failure::TooPrecise { least, .. } = refused else { panic!("{refused}") };
    assert!(Draft::sphere(centre, 1.0, 1.01 * least, 0).is_ok());
}

#[test]
fn triangles_keep_their_numbers_through_several_builds() {
    let mut all = Draft::default();
    let mut geometry: Option<Geometry> = None;
    for part in 0..3 {
        let mut draft = Draft::default();
        for i in 0..50 {
            let x = f64::from(7 * i % 50 + 50 * part);
            // Neighbours share two corners.
            let corners = [x, 0.0, 0.0, x + 1.0, 0.0, 0.0, x, 1.0, -0.0];
            draft.push(&corners, (1000 * part + i) as u32).expect("good numbers");
            all.push(&corners, (1000 * part + i) as u32).expect("good numbers");
        }
        geometry = Some(Geometry::build(geometry.as_ref(), &draft).expect("a good mesh"));
    }
    let geometry = geometry.expect("it was built");
    let mesh = geometry.model.mesh();
    assert_eq!(mesh.triangle_count(), 150);
    assert_eq!(mesh.vertices().len(), 2 * 150 + 1, "corners in one place are one vertex");
    for at in 0..150 {
        let face = mesh.face_of(at) as usize;
        let corners = mesh.triangles()[at as usize].map(|v| mesh.vertices()[v as usize]);
        assert_eq!(corners, all.triangles[face]);
        assert_eq!(geometry.faces[face], all.faces[face]);
    }
}
