//! Capsules, cylinders and cones, where no exact twin exists: every answer comes with a proof that
//! is checked with formulas of its own. Points of an answer must be points of the shapes, and a
//! slab between two must have one on each side. Relations are bracketed by meshes that are surely
//! inside or outside.

use super::{Dice, round_shapes, shapes};
use glam::DVec3;
use jostle_geom::{
    Batch, FacePair, Mesh, Model, Pair, Pose, PosedModel, Quality, Relation, Shape, ShapeKind,
    Side, solids,
};

/// What is promised, as part of the lengths involved.
const BOUND: f64 = 1e-12;

/// A convex solid in its pose as a slow twin sees it: by a formula for how far it reaches.
#[derive(Clone, Debug)]
enum Plain {
    Ball { centre: DVec3, radius: f64 },
    Capsule { ends: [DVec3; 2], radius: f64 },
    Cylinder { ends: [DVec3; 2], radius: f64 },
    Cone { base: DVec3, tip: DVec3, radius: f64 },
    Points(Vec<DVec3>),
}

impl Plain {
    fn of(shape: &Shape, pose: &Pose) -> Plain {
        let at = |z: f64| pose.transform_point(DVec3::Z * z);
        match shape.kind() {
            ShapeKind::Sphere { radius } => Plain::Ball { centre: at(0.0), radius },
            ShapeKind::Capsule { radius, height } => {
                Plain::Capsule { ends: [at(-height / 2.0), at(height / 2.0)], radius }
            }
            ShapeKind::Cylinder { radius, height } => {
                Plain::Cylinder { ends: [at(-height / 2.0), at(height / 2.0)], radius }
            }
            ShapeKind::Cone { radius, height } => {
                Plain::Cone { base: at(-height / 2.0), tip: at(height / 2.0), radius }
            }
            _ => {
                let model = shape.model().unwrap();
                let mesh = model.mesh();
                let corners = mesh.triangles().as_flattened().iter();
                let place = |&v: &u32| pose.transform_point(mesh.vertices()[v as usize]);
                Plain::Points(corners.map(place).collect())
            }
        }
    }

    /// The largest n · p − n · from.
    fn reach(&self, n: DVec3, from: DVec3) -> f64 {
        let disc = |centre: DVec3, axis: DVec3, radius: f64| {
            (centre - from).dot(n) + radius * axis.normalize().cross(n).length()
        };
        let farthest = |points: &[DVec3]| {
            points.iter().map(|p| (*p - from).dot(n)).fold(f64::NEG_INFINITY, f64::max)
        };
        match self {
            Plain::Ball { centre, radius } => (*centre - from).dot(n) + radius,
            Plain::Capsule { ends, radius } => farthest(ends) + radius,
            Plain::Cylinder { ends: [p, q], radius } => {
                disc(*p, *q - *p, *radius).max(disc(*q, *q - *p, *radius))
            }
            Plain::Cone { base, tip, radius } => {
                disc(*base, *tip - *base, *radius).max((*tip - from).dot(n))
            }
            Plain::Points(points) => farthest(points),
        }
    }

    /// How deep a point is in a round one; below 0 outside.
    fn depth(&self, p: DVec3) -> Option<f64> {
        let [from, to] = match *self {
            Plain::Ball { centre, radius } => return Some(radius - p.distance(centre)),
            Plain::Capsule { ends, .. } | Plain::Cylinder { ends, .. } => ends,
            Plain::Cone { base, tip, .. } => [base, tip],
            Plain::Points(_) => return None,
        };
        let (axis, length) = ((to - from).normalize(), from.distance(to));
        let up = axis.dot(p - from);
        let beside = axis.cross(p - from).length();
        Some(match *self {
            Plain::Cylinder { radius, .. } => (radius - beside).min(up).min(length - up),
            Plain::Cone { radius, .. } => {
                let side = (radius * (length - up) - beside * length) / radius.hypot(length);
                side.min(up)
            }
            Plain::Capsule { radius, .. } => radius - beside.hypot(up - up.clamp(0.0, length)),
            Plain::Ball { .. } | Plain::Points(_) => return None,
        })
    }

    /// Is `p` within `slack` of it? Asked along many directions of space.
    fn holds(&self, p: DVec3, slack: f64, ways: &[DVec3]) -> bool {
        ways.iter().all(|&n| self.reach(n, p) >= -slack)
    }
}

fn lengths(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> f64 {
    a.radius()
        + b.radius()
        + pose_a.translation().distance(pose_b.translation())
        + 1e-3 * (pose_a.translation().length() + pose_b.translation().length())
}

fn directions(dice: &mut Dice) -> Vec<DVec3> {
    (0..60).map(|_| dice.vector().normalize()).collect()
}

/// Distance, witness and bounds of two convex solids; returns whether they touch.
fn check(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, ways: &[DVec3], about: &str) -> bool {
    let pair = Pair::new(a, pose_a, b, pose_b);
    let slack = BOUND * lengths(a, pose_a, b, pose_b);
    let (plain_a, plain_b) = (Plain::of(a, pose_a), Plain::of(b, pose_b));
    let found = pair.distance().unwrap();
    let (p, q, d) = (found.point_a, found.point_b, found.distance);
    assert!(plain_a.holds(p, slack, ways), "{about}: {found:?}");
    assert!(plain_b.holds(q, slack, ways), "{about}: {found:?}");
    assert!((p.distance(q) - d).abs() <= slack, "{about}: {found:?}");
    let touches = pair.touches();
    assert_eq!((touches, touches), (d == 0.0, pair.within(0.0)), "{about}: {found:?}");
    assert_eq!(pair.all_pairs().is_empty() && !touches, !touches, "{about}");
    assert!(pair.within(d + slack) && !pair.within(-1.0) && !pair.within(f64::NAN), "{about}");
    assert!(d <= slack || !pair.within(d - slack), "{about}");
    assert!(pair.distance_lower_bound() <= d + slack, "{about}");
    let swapped = Pair::new(b, pose_b, a, pose_a);
    let again = swapped.distance().unwrap().distance;
    assert!((again - d).abs() <= slack && (d > slack || again <= slack), "{about}: {again} {d}");
    assert_eq!(pair.witness().is_some(), touches, "{about}");
    if d > 1e-9 * slack / BOUND {
        // The slab between: a proof that they are no closer. Its direction is off by the rounding
        // of the two points.
        let n = (q - p) / d;
        let size = slack / BOUND;
        let slack = slack + 1e-15 * size * size / d;
        assert!(plain_a.reach(n, p) <= slack, "{about}: {found:?} {}", plain_a.reach(n, p) / slack);
        assert!(plain_b.reach(-n, q) <= slack, "{about}: {found:?}");
        let contact = pair.closest_contact().unwrap();
        assert!(contact.normal.dot(-n) > 0.999, "{about}: {contact:?}");
    } else if let Some(witness) = pair.witness() {
        assert!(plain_a.holds(witness.point, slack, ways), "{about}: {witness:?}");
        assert!(plain_b.holds(witness.point, slack, ways), "{about}: {witness:?}");
        let normal = pair.contact_normal(&witness);
        assert!((normal.length() - 1.0).abs() < 1e-12, "{about}");
    }
    touches
}

/// Round solids, and convex ones of triangles.
fn convex_shapes(scale: f64) -> Vec<(&'static str, Shape)> {
    let mut all = round_shapes(scale);
    let convex =
        ["point", "ball", "cube", "box", "plate", "solid tetrahedron", "hull", "one corner"];
    all.extend(shapes(scale).into_iter().filter(|(name, _)| convex.contains(name)));
    all
}

#[test]
fn distances_of_convex_solids_are_proved_from_both_sides() {
    let seed = 11;
    let mut dice = Dice(seed);
    let ways = directions(&mut dice);
    let mut seen = [0; 2];
    for scale in [1.0, 1e-20, 1e20] {
        let shapes = convex_shapes(scale);
        for case in 0..700 {
            let (name_a, a) = &shapes[dice.below(8)];
            let (name_b, b) = &shapes[dice.below(shapes.len())];
            let far = dice.vector() * [0.0, 0.0, 100.0][case % 3];
            let (pose_a, pose_b) = (dice.pose(scale, far), dice.pose(scale, far));
            let about = format!("seed {seed}, case {case}, {scale}, {name_a} and {name_b}");
            seen[usize::from(check(a, &pose_a, b, &pose_b, &ways, &about))] += 1;
        }
    }
    assert!(seen.iter().all(|&n| n > 300), "{seen:?}");
}

/// Poses at which two shapes just touch, or nearly: moved along the line of the closest points.
#[test]
fn what_nearly_touches_is_decided_within_the_bound() {
    let seed = 12;
    let mut dice = Dice(seed);
    let shapes = convex_shapes(1.0);
    let ways = directions(&mut dice);
    let mut points = 0;
    for case in 0..400 {
        let (name_a, a) = &shapes[dice.below(8)];
        let (name_b, b) = &shapes[dice.below(shapes.len())];
        let (pose_a, pose_b) = (dice.pose(1.0, DVec3::ZERO), dice.pose(1.0, DVec3::ZERO));
        let about = format!("seed {seed}, case {case}, {name_a} and {name_b}");
        let apart = Pair::new(a, &pose_a, b, &pose_b).distance().unwrap();
        if apart.distance < 0.01 {
            continue;
        }
        let way = (apart.point_a - apart.point_b) / apart.distance;
        let size = lengths(a, &pose_a, b, &pose_b);
        for off in [1e-2, 1e-5, 1e-8, 1e-11, 0.0, -1e-11, -1e-8, -1e-5] {
            let place = pose_b.translation() + way * (apart.distance - off * size);
            let moved = Pose::new(pose_b.rotation(), place).unwrap();
            let touches = check(a, &pose_a, b, &moved, &ways, &format!("{about}, {off}"));
            let pair = Pair::new(a, &pose_a, b, &moved);
            let relation = pair.relation().unwrap();
            let deep = !matches!(relation, Relation::Apart | Relation::Touching);
            let point = match Plain::of(b, &moved) {
                Plain::Points(all) => all.iter().all(|&p| p == all[0]).then_some(all[0]),
                Plain::Ball { centre, radius } => (radius == 0.0).then_some(centre),
                _ => None,
            };
            if let Some(point) = point {
                // One point may pass a sharp rim and be outside again.
                let depth = Plain::of(a, &pose_a).depth(point).unwrap();
                let clear = depth.abs() > BOUND * size;
                assert!(!clear || touches == (depth > 0.0), "{about}, {off}: {depth:e}");
                points += usize::from(clear);
                assert!(off < 0.0 || depth <= BOUND * size, "{about}, {off}: {depth:e}");
            } else if off != 0.0 {
                assert_eq!(touches, off < 0.0, "{about}, {off}");
                // A corner or a point has no inside, and a needle's tip is deep in no time.
                let point = a.radius() == 0.0 || b.radius() == 0.0;
                let solid = b.model().is_none_or(|model| model.mesh().is_solid());
                assert!(
                    deep == (off < 0.0) || (point && !deep) || !solid,
                    "{about}, {off}: {relation:?}"
                );
                if solid && !point {
                    assert_eq!(pair.overlaps(), Ok(off < 0.0), "{about}, {off}");
                }
            }
        }
    }
    assert!(points > 50, "{points}");
}

/// A mesh is the union of its triangles, and those are convex.
#[test]
fn a_mesh_is_as_near_as_its_nearest_triangle() {
    let seed = 13;
    let mut dice = Dice(seed);
    let mut rounds = round_shapes(1.0);
    rounds.extend(round_shapes(0.1));
    let meshes: Vec<_> =
        shapes(1.0).into_iter().filter(|(_, shape)| shape.model().is_some()).collect();
    let mut seen = [0; 3];
    for case in 0..500 {
        let (name_a, a) = &rounds[dice.below(rounds.len())];
        let (name_b, b) = &meshes[dice.below(meshes.len())];
        let (pose_a, pose_b) = (dice.pose(1.0, DVec3::ZERO), dice.pose(1.0, DVec3::ZERO));
        let about = format!("seed {seed}, case {case}, {name_a} and {name_b}");
        let pair = Pair::new(a, &pose_a, b, &pose_b);
        let model = b.model().unwrap();
        let posed = PosedModel::new(model, &pose_b);
        // Each triangle as a mesh of its own, in the same place.
        let parts: Vec<(u32, f64)> = (0..model.mesh().triangle_count())
            .map(|t| {
                let corners =
                    model.mesh().triangles()[t].map(|v| model.mesh().vertices()[v as usize]);
                let one = Mesh::from_triangles(corners.to_vec(), vec![[0, 1, 2]]).unwrap();
                let one = Model::build(one, Quality::Fast);
                let apart = Pair::new(a, &pose_a, &one, &pose_b).distance().unwrap();
                (model.mesh().face_of(t as u32), apart.distance)
            })
            .collect();
        let nearest = parts.iter().map(|part| part.1).reduce(f64::min);
        let inside = posed.contains(pose_a.translation()) == Ok(Side::Inside);
        let found = pair.distance();
        let expected = nearest.map(|d| if inside { 0.0 } else { d });
        assert_eq!(found.map(|d| d.distance), expected, "{about}");
        let mut faces: Vec<u32> =
            parts.iter().filter(|part| part.1 == 0.0).map(|part| part.0).collect();
        faces.sort_unstable();
        faces.dedup();
        let pairs: Vec<FacePair> = faces.iter().map(|&b| FacePair { a: 0, b }).collect();
        assert_eq!(pair.all_pairs(), pairs, "{about}");
        assert!(pair.all_segments().is_empty() && pair.search_distance().is_none());
        let Some(expected) = expected else {
            assert_eq!((pair.touches(), pair.relation()), (false, Some(Relation::Apart)));
            continue;
        };
        assert_eq!(pair.touches(), expected == 0.0, "{about}");
        assert!(pair.distance_lower_bound() <= expected, "{about}");
        for off in [0.5, 0.999, 1.0, 1.001, 2.0] {
            assert_eq!(pair.within(expected * off), off >= 1.0 || expected == 0.0, "{about} {off}");
        }
        if let Some(witness) = pair.witness() {
            assert!(faces.is_empty() || faces.contains(&witness.faces.b), "{about}");
        }
        let swapped = Pair::new(b, &pose_b, a, &pose_a);
        assert_eq!(swapped.distance().unwrap().distance, expected, "{about}");
        assert_eq!(swapped.relation(), pair.relation().map(mirrored), "{about}");
        let batch = Batch::new(a, &pose_a, b, std::slice::from_ref(&pose_b));
        assert_eq!(batch.distances(), [found], "{about}");
        seen[if expected > 0.0 { 0 } else { 1 + usize::from(faces.is_empty()) }] += 1;
    }
    assert!(seen.iter().all(|&n| n > 3), "{seen:?}");
}

fn mirrored(relation: Relation) -> Relation {
    match relation {
        Relation::AInsideB => Relation::BInsideA,
        Relation::BInsideA => Relation::AInsideB,
        same => same,
    }
}

/// A mesh inside of a round solid by at most `off`, and one around it.
fn bracket(shape: &Shape, off: f64) -> [Model; 2] {
    let made = match shape.kind() {
        ShapeKind::Sphere { radius } => solids::sphere(radius, off),
        ShapeKind::Capsule { radius, height } => solids::capsule(radius, height, off),
        ShapeKind::Cylinder { radius, height } => solids::cylinder(radius, height, off),
        ShapeKind::Cone { radius, height } => solids::cone(radius, height, off),
        kind => panic!("{kind:?} is not round"),
    };
    let inner = made.unwrap();
    // About its middle: nothing of these is nearer to that than this.
    let least = match shape.kind() {
        ShapeKind::Sphere { radius } | ShapeKind::Capsule { radius, .. } => radius,
        ShapeKind::Cylinder { radius, height } => radius.min(height / 2.0),
        ShapeKind::Cone { radius, height } => radius.min(height) / 4.0,
        _ => 0.0,
    };
    let factor = 1.0 + 2.0 * off / least;
    let grown = inner.vertices().iter().map(|&v| (v.as_dvec3() * factor).as_vec3()).collect();
    let outer = Mesh::from_triangles(grown, inner.triangles().to_vec()).unwrap();
    [inner, outer].map(|mesh| Model::build(mesh.into_solid().unwrap(), Quality::Fast))
}

#[test]
fn relations_are_those_of_meshes_inside_and_outside() {
    let seed = 14;
    let mut dice = Dice(seed);
    let thick = |(name, _): &(&str, Shape)| ["capsule", "cylinder", "cone"].contains(name);
    let mut list: Vec<(&str, Shape)> = Vec::new();
    for scale in [0.2, 1.0, 2.5] {
        list.extend(round_shapes(scale).into_iter().filter(thick));
        list.push(("ball", Shape::sphere(scale).unwrap()));
    }
    let models: Vec<[Model; 2]> = list.iter().map(|(_, shape)| bracket(shape, 2e-3)).collect();
    let torus = shapes(1.0).into_iter().find(|(name, _)| *name == "solid torus").unwrap().1;
    let torus = torus.model().unwrap();
    let mut seen = std::collections::BTreeMap::new();
    for case in 0..1500 {
        let (i, j) = (dice.below(list.len()), dice.below(list.len() + 3));
        let (pose_a, pose_b) = (dice.pose(0.5, DVec3::ZERO), dice.pose(0.5, DVec3::ZERO));
        let a = &list[i].1;
        let own = j < list.len();
        let name_b = if own { list[j].0 } else { "torus" };
        let about = format!("seed {seed}, case {case}, {} and {name_b}", list[i].0);
        let relation = |x: &Model, y: &Model| Pair::new(x, &pose_a, y, &pose_b).relation().unwrap();
        let (found, overlaps, [inner_b, outer_b]) = if own {
            let pair = Pair::new(a, &pose_a, &list[j].1, &pose_b);
            (pair.relation().unwrap(), pair.overlaps().unwrap(), [&models[j][0], &models[j][1]])
        } else {
            let pair = Pair::new(a, &pose_a, torus, &pose_b);
            (pair.relation().unwrap(), pair.overlaps().unwrap(), [&**torus, &**torus])
        };
        let [inner_a, outer_a] = [&models[i][0], &models[i][1]];
        use Relation::{AInsideB, Apart, BInsideA, Crossing, Identical, Touching};
        if relation(outer_a, outer_b) == Apart {
            assert_eq!((found, overlaps), (Apart, false), "{about}");
        }
        if !matches!(relation(inner_a, inner_b), Apart | Touching) {
            assert!(overlaps && !matches!(found, Apart | Touching), "{about}: {found:?}");
        }
        if relation(outer_a, inner_b) == AInsideB {
            assert_eq!(found, AInsideB, "{about}");
        }
        if relation(inner_a, outer_b) == BInsideA {
            assert!(own || found == BInsideA, "{about}");
        }
        match found {
            AInsideB => assert_eq!(relation(inner_a, outer_b), AInsideB, "{about}"),
            BInsideA => assert_eq!(relation(outer_a, inner_b), BInsideA, "{about}"),
            Identical => assert!(own && i == j, "{about}"),
            Crossing => assert_ne!(relation(outer_a, inner_b), AInsideB, "{about}"),
            Apart | Touching => {}
        }
        *seen.entry(format!("{found:?} {own}")).or_insert(0) += 1;
    }
    for name in ["Apart", "Crossing", "AInsideB", "BInsideA"] {
        assert!(seen.get(&format!("{name} true")).is_some_and(|&n| n > 20), "{seen:?}");
    }
    assert!(seen.get("AInsideB false").is_some_and(|&n| n > 3), "{seen:?}");
}

#[test]
fn known_relations_of_round_solids() {
    use Relation::{AInsideB, Apart, BInsideA, Crossing, Identical, Touching};
    let at = |x: f64, z: f64| Pose::from_translation(DVec3::new(x, 0.0, z)).unwrap();
    let ball = Shape::sphere(1.0).unwrap();
    let (pill, can) = (Shape::capsule(1.0, 2.0).unwrap(), Shape::cylinder(1.0, 2.0).unwrap());
    let cone = Shape::cone(1.0, 2.0).unwrap();
    let cube = Shape::cuboid(DVec3::splat(2.0)).unwrap();
    let asked = |a: &Shape, b: &Shape, x: f64, z: f64| {
        let (pose, still) = (at(x, z), Pose::IDENTITY);
        let pair = Pair::new(a, &still, b, &pose);
        let swapped = Pair::new(b, &pose, a, &still);
        assert_eq!(swapped.relation(), pair.relation().map(mirrored));
        (pair.relation().unwrap(), pair.overlaps().unwrap())
    };
    assert_eq!(asked(&ball, &ball, 0.0, 0.0), (Identical, true));
    assert_eq!(asked(&ball, &ball, 2.0, 0.0), (Touching, false));
    assert_eq!(asked(&ball, &ball, 2.1, 0.0), (Apart, false));
    assert_eq!(asked(&ball, &pill, 0.0, 1.0), (AInsideB, true));
    assert_eq!(asked(&ball, &pill, 0.0, 1.1), (Crossing, true));
    assert_eq!(asked(&ball, &can, 0.0, 0.0), (AInsideB, true));
    assert_eq!(asked(&can, &pill, 0.0, 0.0), (AInsideB, true));
    assert_eq!(asked(&can, &can, 0.0, 0.0), (Identical, true));
    assert_eq!(asked(&can, &can, 2.0, 0.0), (Touching, false));
    assert_eq!(asked(&can, &can, 0.0, 2.0), (Touching, false));
    assert_eq!(asked(&can, &can, 0.0, 1.0), (Crossing, true));
    assert_eq!(asked(&can, &cone, 0.0, 0.0), (BInsideA, true));
    assert_eq!(asked(&can, &cone, 0.0, 2.0), (Touching, false));
    assert_eq!(asked(&cone, &cone, 0.0, 2.0), (Touching, false));
    assert_eq!(asked(&can, &cube, 0.0, 0.0), (AInsideB, true));
    assert_eq!(asked(&cone, &cube, 0.0, 2.0), (Touching, false));
    assert_eq!(asked(&ball, &cube, 2.0, 0.0), (Touching, false));
    assert_eq!(asked(&ball, &cube, 0.0, 0.0), (AInsideB, true));
    // A spun cylinder is the same; one that is turned over is, a cone is not.
    let over = Pose::new(glam::DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0), DVec3::ZERO).unwrap();
    let turned = |shape: &Shape| Pair::new(shape, &Pose::IDENTITY, shape, &over).relation();
    assert_eq!(
        [turned(&can), turned(&pill), turned(&cone)],
        [Some(Identical), Some(Identical), Some(Crossing)]
    );
}

#[test]
fn bounds_of_round_solids_are_those_of_their_reach() {
    let mut dice = Dice(15);
    for (name, shape) in round_shapes(1.0) {
        for _ in 0..50 {
            let far = dice.vector() * 50.0;
            let pose = dice.pose(1.0, far);
            let bounds = shape.bounds(&pose).unwrap();
            let plain = Plain::of(&shape, &pose);
            let (low, high) = (bounds.min().as_dvec3(), bounds.max().as_dvec3());
            for (k, n) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
                let (least, most) = (-plain.reach(-n, DVec3::ZERO), plain.reach(n, DVec3::ZERO));
                assert!(low[k] <= least && most <= high[k], "{name}");
                assert!(
                    low[k] > least - 1e-4 && high[k] < most + 1e-4,
                    "{name}: no larger than f32"
                );
            }
            let from = pose.translation();
            let reach = (0..200).map(|_| plain.reach(dice.vector().normalize(), from));
            assert!(reach.fold(0.0, f64::max) <= shape.radius(), "{name}");
        }
    }
}

/// The point where a ray enters is on the surface, and nothing before it is in the solid.
#[test]
fn rays_enter_round_solids_where_they_are_first_inside() {
    let seed = 16;
    let mut dice = Dice(seed);
    let mut hits = [0; 2];
    for case in 0..4000 {
        let (name, shape) = &round_shapes(1.0)[case % 8];
        let pose = dice.pose(1.0, DVec3::ZERO);
        let origin = dice.vector() * 4.0;
        let aim = pose.translation() + dice.vector() * 2.0 - origin;
        let length = [20.0, 1.0][case % 2];
        let ray = jostle_geom::Ray::new(origin, aim, length).unwrap();
        let about = format!("seed {seed}, case {case}, {name}");
        let inside = |t: f64| {
            let at = Pose::from_translation(origin + ray.direction() * t).unwrap();
            let point = Shape::sphere(0.0).unwrap();
            Pair::new(shape, &pose, &point, &at).distance().unwrap().distance
        };
        let hit = shape.ray(&pose, &ray);
        let end = hit.map_or(ray.length(), |hit| hit.distance);
        for k in 0..60 {
            let t = end * f64::from(k) / 60.0;
            assert!(inside(t) > 0.0 || end == 0.0 || t > end - 1e-9, "{about}: {hit:?} {t}");
        }
        if let Some(hit) = hit {
            assert!(inside(hit.distance) < 1e-12 * 20.0, "{about}: {hit:?}");
            assert!(hit.distance == 0.0 || hit.normal.dot(ray.direction()) <= 1e-9, "{about}");
        }
        hits[usize::from(hit.is_some())] += 1;
    }
    assert!(hits.iter().all(|&n| n > 300), "{hits:?}");
}
