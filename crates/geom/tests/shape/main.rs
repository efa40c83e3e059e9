//! Shapes and pairs of them, each answer against a slow obvious twin.

use glam::{DQuat, DVec3, Vec3};
use jostle_geom::solids::BumpyTorus;
use jostle_geom::{
    Mesh, Model, Pair, Pose, PosedModel, Quality, Relation, SearchLimits, SearchResult,
    SearchStatus, Shape, ShapeKind,
};

mod bounds;
mod boxes;
mod exact;
mod impacts;
mod normals;
mod pairs;
mod round;
mod round_impacts;

/// A small generator, so that the cases are the same on every run.
struct Dice(u64);

/// Draws cases and counts their answers: each of `N` comes more often than `least` times.
fn count_answers<const N: usize>(
    seed: u64,
    cases: usize,
    least: usize,
    mut answer: impl FnMut(usize, &mut Dice) -> usize,
) {
    let (mut dice, mut seen) = (Dice(seed), [0; N]);
    (0..cases).for_each(|case| seen[answer(case, &mut dice)] += 1);
    assert!(seen.iter().all(|&n| n > least), "seed {seed}, lopsided: {seen:?}");
}

impl Dice {
    fn bits(&mut self) -> u64 {
        jostle_dice::bits(&mut self.0)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    /// From −1 to 1.
    fn signed(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed())
    }

    /// Whole numbers from −most to most.
    fn grid(&mut self, most: usize) -> DVec3 {
        let mut one = || self.below(2 * most + 1) as f64 - most as f64;
        DVec3::new(one(), one(), one())
    }

    /// Any rotation, a quarter turn about an axis, or none.
    fn rotation(&mut self) -> DQuat {
        match self.below(5) {
            0 => DQuat::IDENTITY,
            1 => DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0),
            2 => DQuat::from_xyzw(1.0, 0.0, 0.0, -1.0),
            _ => DQuat::from_xyzw(self.signed(), self.signed(), self.signed(), self.signed()),
        }
    }

    /// Near the origin, on a grid or not, sometimes all of it far away.
    fn pose(&mut self, scale: f64, far: DVec3) -> Pose {
        let place = if self.below(2) == 0 { self.grid(2) } else { self.vector() * 2.0 };
        Pose::new(self.rotation(), (place + far) * scale).unwrap()
    }
}

fn mesh(vertices: &[[f32; 3]], faces: &[&[u32]], scale: f64) -> Mesh {
    let vertices = vertices.iter().map(|&v| Vec3::from(v) * scale as f32).collect();
    Mesh::from_polygons(vertices, faces).unwrap()
}

fn scaled(mesh: &Mesh, scale: f64) -> Mesh {
    let vertices = mesh.vertices().iter().map(|&v| v * scale as f32).collect();
    Mesh::from_triangles(vertices, mesh.triangles().to_vec()).unwrap()
}

/// Shapes of every kind, about as large as `scale`, with names.
fn shapes(scale: f64) -> Vec<(&'static str, Shape)> {
    let build = |mesh: Mesh| Shape::mesh(Model::build(mesh, Quality::Default));
    let torus = BumpyTorus::plain(2.0, 0.7, [8, 5]).mesh().unwrap();
    let tetra: [[f32; 3]; 4] =
        [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
    let tetra = mesh(&tetra, &[&[0, 1, 2], &[0, 3, 1], &[0, 2, 3], &[1, 3, 2]], scale);
    let quad: [[f32; 3]; 4] =
        [[-2.0, -2.0, 0.0], [2.0, -2.0, 0.0], [2.0, 2.0, 0.0], [-2.0, 2.0, 0.0]];
    let cuboid = |x, y, z| Shape::cuboid(DVec3::new(x, y, z) * scale).unwrap();
    vec![
        ("point", Shape::sphere(0.0).unwrap()),
        ("ball", Shape::sphere(scale).unwrap()),
        ("large ball", Shape::sphere(3.0 * scale).unwrap()),
        ("cube", cuboid(2.0, 2.0, 2.0)),
        ("box", cuboid(1.0, 3.0, 4.0)),
        ("plate", cuboid(5.0, 5.0, 0.125)),
        ("hull", hull(scale)),
        ("solid tetrahedron", build(tetra.clone().into_solid().unwrap())),
        ("hollow tetrahedron", build(tetra)),
        ("solid torus", build(scaled(&torus, scale).into_solid().unwrap())),
        ("quad", build(mesh(&quad, &[&[0, 1, 2, 3]], scale))),
        ("one corner", build(mesh(&[[0.5, 0.5, 0.5]], &[&[0]], scale))),
        ("empty", build(mesh(&[], &[], scale))),
    ]
}

/// Of points on a coarse grid: many in common planes, some twice, some inside.
fn hull(scale: f64) -> Shape {
    let mut dice = Dice(7);
    let points: Vec<Vec3> =
        (0..24).map(|_| (dice.grid(2) * scale * [1.0, 0.5][dice.below(2)]).as_vec3()).collect();
    Shape::convex_hull(&points).unwrap()
}

/// Every kind that is round and no sphere.
fn round_shapes(scale: f64) -> Vec<(&'static str, Shape)> {
    let of = |make: fn(f64, f64) -> Result<Shape, jostle_geom::ShapeError>, radius, height| {
        make(radius * scale, height * scale).unwrap()
    };
    vec![
        ("capsule", of(Shape::capsule, 1.0, 2.0)),
        ("needle", of(Shape::capsule, 0.01, 6.0)),
        ("cylinder", of(Shape::cylinder, 1.0, 2.0)),
        ("coin", of(Shape::cylinder, 2.0, 0.05)),
        ("rod", of(Shape::cylinder, 0.02, 5.0)),
        ("cone", of(Shape::cone, 1.0, 2.0)),
        ("flat cone", of(Shape::cone, 3.0, 0.25)),
        ("spike", of(Shape::cone, 0.1, 5.0)),
    ]
}

#[test]
fn numbers_that_are_no_round_shape_are_refused() {
    for make in [Shape::capsule, Shape::cylinder, Shape::cone] {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e31, 1e-31] {
            assert!(make(bad, 1.0).is_err() && make(1.0, bad).is_err(), "{bad}");
        }
        assert!(make(1e-30, 1e30).is_ok());
    }
    let message = Shape::cone(1.0, -2.0).unwrap_err().to_string();
    assert!(message.contains("height of a cone") && message.contains("-2"), "{message}");
}

#[test]
fn points_without_a_hull_are_refused() {
    let flat: Vec<Vec3> = (0..20).map(|i| Vec3::new(i as f32, (i * i) as f32, 0.0)).collect();
    for points in [&flat[..0], &flat[..1], &flat[..2], &flat] {
        assert!(Shape::convex_hull(points).is_err());
    }
    let mut points = flat.clone();
    points.push(Vec3::new(1.0, 2.0, f32::from_bits(1)));
    let hull = Shape::convex_hull(&points).unwrap();
    assert!(hull.model().unwrap().is_convex());
    points.push(Vec3::new(0.0, f32::NAN, 0.0));
    let message = Shape::convex_hull(&points).unwrap_err().to_string();
    assert!(message.contains("point 21"), "{message}");
}

#[test]
fn numbers_that_are_no_shape_are_refused() {
    for radius in [-1.0, f64::NAN, f64::INFINITY, 2e30, 1e-70, -0.5] {
        assert!(Shape::sphere(radius).is_err(), "{radius}");
    }
    for radius in [0.0, -0.0, 1e-60, 1e30] {
        let shape = Shape::sphere(radius).unwrap();
        assert_eq!(shape.radius(), radius);
        assert!(shape.radius().is_sign_positive());
    }
    for size in [DVec3::ZERO, DVec3::new(1.0, f64::NAN, 1.0), DVec3::splat(-1.0), DVec3::X] {
        assert!(Shape::cuboid(size).is_err(), "{size}");
    }
    let message = Shape::sphere(-1.0).unwrap_err().to_string();
    assert!(message.contains("-1"), "{message}");
    let message = Shape::cuboid(DVec3::ZERO).unwrap_err().to_string();
    assert!(message.contains("the length"), "{message}");
}

#[test]
fn a_shape_can_be_written_down_and_made_again() {
    for (name, shape) in shapes(0.1).into_iter().chain(round_shapes(0.1)) {
        let again = match shape.kind() {
            ShapeKind::Mesh(model) => Shape::mesh(model.clone()),
            ShapeKind::Sphere { radius } => Shape::sphere(radius).unwrap(),
            ShapeKind::Cuboid { size } => Shape::cuboid(size).unwrap(),
            ShapeKind::ConvexHull(model) => Shape::convex_hull(model.mesh().vertices()).unwrap(),
            ShapeKind::Capsule { radius, height } => Shape::capsule(radius, height).unwrap(),
            ShapeKind::Cylinder { radius, height } => Shape::cylinder(radius, height).unwrap(),
            ShapeKind::Cone { radius, height } => Shape::cone(radius, height).unwrap(),
        };
        let pose = Pose::new(DQuat::from_xyzw(0.1, 0.2, 0.3, 0.4), DVec3::ONE).unwrap();
        assert_eq!(shape.bounds(&pose), again.bounds(&pose), "{name}");
        assert_eq!(shape.radius(), again.radius(), "{name}");
        if !matches!(shape.kind(), ShapeKind::ConvexHull(_)) {
            assert_eq!(format!("{:?}", shape.kind()), format!("{:?}", again.kind()), "{name}");
        }
        assert_eq!(shape.is_empty(), name == "empty");
    }
    // As it is, and not as it was asked for.
    let ShapeKind::Cuboid { size } = Shape::cuboid(DVec3::splat(0.1)).unwrap().kind() else {
        panic!("a box is a box");
    };
    assert_eq!(size, DVec3::splat(f64::from(0.05f32) * 2.0));
}

#[test]
fn shapes_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Shape>();
    shared::<jostle_geom::Pair<'_>>();
}

/// The walks of limits and budgets give what the plain questions give, for every kind of shape.
#[test]
fn searches_answer_for_every_kind_of_shape() {
    let mut dice = Dice(43);
    let mut shapes = shapes(1.0);
    shapes.extend(round_shapes(1.0));
    let mut seen = [0; 2];
    for _ in 0..800 {
        let (name_a, a) = &shapes[dice.below(shapes.len())];
        let (name_b, b) = &shapes[dice.below(shapes.len())];
        let (pose_a, pose_b) = (dice.pose(1.0, DVec3::ZERO), dice.pose(1.0, DVec3::ZERO));
        let pair = Pair::new(a, &pose_a, b, &pose_b);
        let about = format!("{name_a} and {name_b}");
        let mut search = pair.search(SearchLimits::default());
        assert_eq!(search.run(0), SearchStatus::Paused, "{about}");
        assert_eq!(search.result(), SearchResult::Maybe, "{about}");
        while search.run(3) == SearchStatus::Paused {}
        let touches = pair.touches();
        assert_eq!(search.result() == SearchResult::Yes, touches, "{about}");
        assert_eq!(search.pairs(), pair.all_pairs(), "{about}");
        assert_eq!(search.witness().is_some(), touches, "{about}");
        // For one contact the search goes the way of the plain question.
        let mut first = pair.search(SearchLimits { contacts_max: 1, ..SearchLimits::default() });
        first.run(u64::MAX);
        assert_eq!(first.witness(), pair.witness(), "{about}");
        let relation = pair.relation().unwrap();
        assert_eq!(relation == Relation::Apart, !touches, "{about}");
        let surface = |shape: &Shape| shape.model().is_some_and(|m| !m.mesh().is_solid());
        assert_eq!(pair.overlaps().is_err(), surface(a) || surface(b), "{about}");
        if let Ok(overlaps) = pair.overlaps() {
            let deep = !matches!(relation, Relation::Apart | Relation::Touching);
            // A point has no inside to share.
            let point = a.radius() == 0.0 || b.radius() == 0.0;
            assert!(overlaps == deep || (point && !overlaps), "{about}: {relation:?}");
        }
        seen[usize::from(touches)] += 1;
    }
    assert!(seen.iter().all(|&n| n > 100), "lopsided: {seen:?}");
}

/// Contact normals take the middle of a cuboid to be the translation of its pose.
#[test]
fn the_middle_of_a_cuboid_is_the_translation_of_its_pose() {
    let mut dice = Dice(44);
    for _ in 0..500 {
        let size = (dice.vector().abs() + 1e-3) * 10.0;
        let shape = Shape::cuboid(size).unwrap();
        let pose = dice.pose(1.0, DVec3::splat(1e3));
        let model = shape.model().unwrap();
        assert_eq!(PosedModel::new(model, &pose).centre(), pose.translation(), "{size}");
    }
}
