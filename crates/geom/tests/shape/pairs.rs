//! Every kind of shape against every kind: answers agree with each other and with slow twins.

use super::{Dice, shapes};
use glam::DVec3;
use jostle_geom::triangle::{Triangle, distance, sphere_meets_triangle, triangles_touch};
use jostle_geom::{FacePair, Model, Pair, Pose, PosedModel, Shape, ShapeKind, Side};
use jostle_oracle::metric::points_within;
use std::sync::Arc;

/// A shape in its pose as a slow twin sees it.
enum Plain<'a> {
    Ball(DVec3, f64),
    Triangles(Vec<(u32, Triangle)>, PosedModel<'a>),
}

impl<'a> Plain<'a> {
    fn of(shape: &'a Shape, pose: &Pose, cuboid: &'a mut Option<Arc<Model>>) -> Plain<'a> {
        let model: &Model = match shape.kind() {
            ShapeKind::Sphere { radius } => return Plain::Ball(pose.translation(), radius),
            ShapeKind::Mesh(model) | ShapeKind::ConvexHull(model) => model,
            ShapeKind::Cuboid { size } => {
                let mesh = jostle_geom::solids::cuboid(size).unwrap().into_solid().unwrap();
                cuboid.insert(Arc::new(Model::build(mesh, jostle_geom::Quality::Default)))
            }
            kind => panic!("{kind:?} has tests of its own"),
        };
        let placed = PosedModel::new(model, pose);
        let mesh = model.mesh();
        let triangles = (0..mesh.triangle_count())
            .map(|i| (mesh.face_of(i as u32), placed.triangle(i)))
            .collect();
        Plain::Triangles(triangles, placed)
    }
}

fn inside(placed: &PosedModel<'_>, p: DVec3) -> bool {
    placed.contains(p) == Ok(Side::Inside)
}

/// Face pairs and whether one is inside the other, triangle by triangle.
fn slow_pairs(a: &Plain<'_>, b: &Plain<'_>) -> (Vec<FacePair>, bool) {
    let mut pairs = Vec::new();
    let deep = match (a, b) {
        (Plain::Ball(p, r), Plain::Ball(q, s)) => {
            if points_within(*p, *r, *q, *s) {
                pairs.push(FacePair { a: 0, b: 0 });
            }
            false
        }
        (Plain::Ball(centre, radius), Plain::Triangles(triangles, placed)) => {
            let met = triangles.iter().filter(|(_, t)| sphere_meets_triangle(*centre, *radius, t));
            pairs.extend(met.map(|(face, _)| FacePair { a: 0, b: *face }));
            inside(placed, *centre)
        }
        (Plain::Triangles(..), Plain::Ball(..)) => {
            let (swapped, deep) = slow_pairs(b, a);
            pairs = swapped.into_iter().map(|p| FacePair { a: p.b, b: p.a }).collect();
            deep
        }
        (Plain::Triangles(first, placed_a), Plain::Triangles(second, placed_b)) => {
            for (i, s) in first {
                let touching = second.iter().filter(|(_, t)| triangles_touch(s, t));
                pairs.extend(touching.map(|(j, _)| FacePair { a: *i, b: *j }));
            }
            second.iter().any(|(_, t)| inside(placed_a, t[0]))
                || first.iter().any(|(_, t)| inside(placed_b, t[0]))
        }
    };
    pairs.sort_unstable();
    pairs.dedup();
    (pairs, deep)
}

/// The smallest distance of two that do not touch; `None` if one is empty.
fn slow_distance(a: &Plain<'_>, b: &Plain<'_>) -> Option<f64> {
    let flat = |plain: &Plain<'_>| match plain {
        Plain::Ball(centre, radius) => (vec![[*centre; 3]], *radius),
        Plain::Triangles(all, _) => (all.iter().map(|(_, t)| *t).collect(), 0.0),
    };
    let ((first, ra), (second, rb)) = (flat(a), flat(b));
    let all = first.iter().flat_map(|s| second.iter().map(|t| distance(s, t).distance));
    all.reduce(f64::min).map(|apart| apart - ra - rb)
}

/// Two shapes in two poses.
struct Two<'a> {
    a: &'a Shape,
    pose_a: &'a Pose,
    b: &'a Shape,
    pose_b: &'a Pose,
}

impl Two<'_> {
    fn pair(&self) -> Pair<'_> {
        Pair::new(self.a, self.pose_a, self.b, self.pose_b)
    }

    fn swapped(&self) -> Two<'_> {
        Two { a: self.b, pose_a: self.pose_b, b: self.a, pose_b: self.pose_a }
    }

    /// Bound on the error of a length.
    fn rounding(&self) -> f64 {
        let far = self.pose_a.translation().length() + self.pose_b.translation().length();
        1e-13 * (self.a.radius() + self.b.radius() + far)
    }

    /// Compares all answers, both ways round; returns whether they touch.
    fn check(&self, about: &str) -> bool {
        let (mut keep_a, mut keep_b) = (None, None);
        let a = Plain::of(self.a, self.pose_a, &mut keep_a);
        let b = Plain::of(self.b, self.pose_b, &mut keep_b);
        let (pairs, deep) = slow_pairs(&a, &b);
        let touches = !pairs.is_empty() || deep;
        let slow = slow_distance(&a, &b);
        for two in [&Two { ..*self }, &self.swapped()] {
            let pair = two.pair();
            assert_eq!(pair.touches(), touches, "{about}");
            assert_eq!(pair.within(0.0), touches, "{about}");
            assert!(!pair.within(-1.0) && !pair.within(f64::NAN), "{about}");
            two.check_distance(touches, slow, about);
            let of_triangles = |s: &Shape| !matches!(s.kind(), ShapeKind::Sphere { .. });
            let both = of_triangles(self.a) && of_triangles(self.b);
            assert_eq!(pair.search_distance().is_some(), both, "{about}");
        }
        assert_eq!(self.pair().all_pairs(), pairs, "{about}");
        let mut mirrored: Vec<FacePair> =
            pairs.iter().map(|p| FacePair { a: p.b, b: p.a }).collect();
        mirrored.sort_unstable();
        assert_eq!(self.swapped().pair().all_pairs(), mirrored, "{about}");
        self.check_witness(touches, &pairs, about);
        self.swapped().check_witness(touches, &mirrored, about);
        touches
    }

    fn check_witness(&self, touches: bool, pairs: &[FacePair], about: &str) {
        let pair = self.pair();
        let witness = pair.witness();
        assert_eq!(witness.is_some(), touches, "{about}");
        let Some(witness) = witness else { return };
        assert!(pairs.is_empty() || pairs.contains(&witness.faces), "{about} {witness:?}");
        let normal = pair.contact_normal(&witness);
        assert!((normal.length() - 1.0).abs() < 1e-14, "{about} {normal}");
        let distance = pair.distance().unwrap();
        assert_eq!((distance.point_a, distance.point_b), (witness.point, witness.point), "{about}");
        // The point belongs to both, up to rounding.
        let point = Shape::sphere(0.0).unwrap();
        let there = Pose::from_translation(witness.point).unwrap();
        for (shape, pose) in [(self.a, self.pose_a), (self.b, self.pose_b)] {
            let off = Pair::new(&point, &there, shape, pose).distance().unwrap().distance;
            assert!(off <= self.rounding(), "{about}: {witness:?} is {off} off");
        }
    }

    fn check_distance(&self, touches: bool, slow: Option<f64>, about: &str) {
        let (pair, rounding) = (self.pair(), self.rounding());
        let bound = pair.distance_lower_bound();
        let Some(found) = pair.distance() else {
            assert_eq!((slow, bound, pair.within(1e30)), (None, f64::INFINITY, false), "{about}");
            return;
        };
        assert_eq!(found.distance == 0.0, touches, "{about} {found:?}");
        assert!(bound >= 0.0 && bound <= found.distance, "{about}: {bound} {found:?}");
        if touches {
            return;
        }
        assert!((found.distance - slow.unwrap()).abs() <= rounding, "{about} {found:?} {slow:?}");
        let between = found.point_a.distance(found.point_b);
        assert!((between - found.distance).abs() <= rounding, "{about} {found:?}");
        assert!(pair.within(found.distance * 1.001 + rounding), "{about}");
        assert!(!pair.within(found.distance * 0.999 - rounding), "{about}");
    }
}

#[test]
fn every_kind_against_every_kind() {
    for (seed, scale) in [(11, 1.0), (12, 1e25), (13, 1e-25)] {
        let mut dice = Dice(seed);
        let shapes = shapes(scale);
        for (name_a, a) in &shapes {
            let mut seen = [0; 2];
            for (name_b, b) in &shapes {
                for case in 0..24 {
                    let far = dice.vector() * [0.0, 0.0, 1e4][case % 3];
                    let (pose_a, pose_b) = (dice.pose(scale, far), dice.pose(scale, far));
                    let about = format!(
                        "seed {seed}, {name_a} and {name_b}, case {case}:\n{pose_a:?}\n{pose_b:?}"
                    );
                    let touches = Two { a, pose_a: &pose_a, b, pose_b: &pose_b }.check(&about);
                    seen[usize::from(touches)] += 1;
                }
            }
            let occur = seen.iter().all(|&n| n > 5);
            assert!(occur || a.is_empty(), "seed {seed}, {name_a} lopsided: {seen:?}");
        }
    }
}

/// Balls moved and sized so that they just reach what they are next to, or just do not.
#[test]
fn balls_that_just_reach() {
    let seed = 14;
    let mut dice = Dice(seed);
    let mut seen = [0; 2];
    let shapes = shapes(1.0);
    for (name, shape) in shapes.iter().filter(|(_, shape)| !shape.is_empty()) {
        for case in 0..60 {
            let (pose, place) = (dice.pose(1.0, DVec3::ZERO), dice.pose(1.0, DVec3::ZERO));
            let point = Shape::sphere(0.0).unwrap();
            let apart = Pair::new(&point, &place, shape, &pose).distance().unwrap().distance;
            for radius in [apart, apart.next_down(), apart.next_up(), apart * (1.0 + 1e-12)] {
                let Ok(ball) = Shape::sphere(radius) else { continue };
                let about =
                    format!("seed {seed}, {name}, case {case}: {radius:?}\n{place:?}\n{pose:?}");
                let two = Two { a: &ball, pose_a: &place, b: shape, pose_b: &pose };
                seen[usize::from(two.check(&about))] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 300), "lopsided: {seen:?}");
}

/// A fine mesh of a sphere answers like the sphere, but for its tolerance.
#[test]
fn a_sphere_is_like_its_mesh() {
    let seed = 15;
    let mut dice = Dice(seed);
    let tolerance = 0.01;
    let mesh = jostle_geom::solids::sphere(1.0, tolerance).unwrap().into_solid().unwrap();
    let mesh = Shape::mesh(Model::build(mesh, jostle_geom::Quality::Default));
    let ball = Shape::sphere(1.0).unwrap();
    let mut seen = [0; 2];
    for (name, other) in shapes(1.0).iter().filter(|(_, shape)| !shape.is_empty()) {
        for case in 0..20 {
            let (pose, place) = (dice.pose(1.0, DVec3::ZERO), dice.pose(1.0, DVec3::ZERO));
            let [smooth, rough] = [&ball, &mesh]
                .map(|shape| Pair::new(shape, &place, other, &pose).distance().unwrap().distance);
            let about = format!("seed {seed}, {name}, case {case}");
            assert!((smooth - rough).abs() <= tolerance * 1.01, "{about}: {smooth} {rough}");
            seen[usize::from(smooth == 0.0)] += 1;
        }
    }
    assert!(seen.iter().all(|&n| n > 30), "lopsided: {seen:?}");
}
