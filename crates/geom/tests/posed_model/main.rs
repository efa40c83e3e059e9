//! Queries of one placed model, each against its slow obvious twin: look at every triangle.

use glam::{DQuat, DVec3, Vec3};
use jostle_geom::solids::{self, BumpyTorus};
use jostle_geom::{Mesh, Model, Pose, PosedModel, Quality};

mod bounds;
mod closest;
mod contains;
mod frustum;
mod normal;
mod ray;
mod self_intersections;
mod sphere;

/// A small generator, so that the cases are the same on every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        jostle_dice::bits(&mut self.0)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// From −1 to 1.
    fn signed(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed())
    }

    fn direction(&mut self) -> DVec3 {
        loop {
            let v = self.vector();
            if (0.1..1.0).contains(&v.length()) {
                return v.normalize();
            }
        }
    }

    /// A corner of a grid of whole numbers from −3 to 3.
    fn grid(&mut self) -> DVec3 {
        let mut one = || self.below(7) as f64 - 3.0;
        DVec3::new(one(), one(), one())
    }
}

/// A model and where it is, with a name for messages.
struct Case {
    name: String,
    model: Model,
    pose: Pose,
}

impl Case {
    fn new(name: &str, mesh: Mesh, pose: Pose, quality: Quality) -> Case {
        let name = format!("{name} {quality:?} {:?}", pose.translation());
        Case { name, model: Model::build(mesh, quality), pose }
    }

    fn placed(&self) -> PosedModel<'_> {
        PosedModel::new(&self.model, &self.pose)
    }

    fn triangles(&self) -> usize {
        self.model.mesh().triangle_count()
    }

    /// Where the middle of it is, and about how large it is.
    fn extent(&self) -> (DVec3, f64) {
        let corners = || (0..self.triangles()).flat_map(|i| self.placed().triangle(i));
        let low = corners().fold(DVec3::INFINITY, DVec3::min);
        let high = corners().fold(DVec3::NEG_INFINITY, DVec3::max);
        (low * 0.5 + high * 0.5, (high - low).max_element() * 0.5)
    }
}

/// Triangles without order: some without area, some given twice, on a grid or not.
fn soup(dice: &mut Dice, count: u32, on_grid: bool) -> Mesh {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..count {
        let first = 3 * i;
        let middle = dice.vector() * 3.0;
        for _ in 0..3 {
            let free = middle + dice.vector() * 0.4;
            vertices.push(if on_grid { dice.grid() } else { free }.as_vec3());
        }
        triangles.push(match dice.below(10) {
            0 => [first, first, first + 1],
            1 => [first; 3],
            2 => [0, 1, first + 2],
            _ => [first, first + 1, first + 2],
        });
    }
    Mesh::from_triangles(vertices, triangles).unwrap()
}

fn torus(cells: [u32; 2]) -> Mesh {
    BumpyTorus { amplitude: 0.2, waves: 3.0, ..BumpyTorus::plain(2.0, 0.7, cells) }.mesh().unwrap()
}

fn scaled(mesh: &Mesh, scale: f32, shift: Vec3) -> Mesh {
    let vertices = mesh.vertices().iter().map(|&v| v * scale + shift).collect();
    Mesh::from_triangles(vertices, mesh.triangles().to_vec()).unwrap()
}

fn poses() -> [Pose; 4] {
    let turn = DQuat::from_xyzw(0.3, -0.2, 0.7, 0.4);
    [
        Pose::IDENTITY,
        Pose::new(turn, DVec3::new(1.5, -0.25, 3.0)).unwrap(),
        Pose::new(turn, DVec3::new(1e6, -2e6, 1e6)).unwrap(),
        Pose::from_translation(DVec3::new(0.5, 1.0, -2.0)).unwrap(),
    ]
}

/// Models of all kinds, in all poses.
fn cases(dice: &mut Dice) -> Vec<Case> {
    let mut meshes = vec![
        ("torus", torus([24, 12])),
        ("cube", solids::cuboid(DVec3::new(2.0, 3.0, 4.0)).unwrap()),
        ("sphere", solids::sphere(1.0, 0.05).unwrap()),
        ("soup", soup(dice, 150, false)),
        ("grid soup", soup(dice, 60, true)),
        ("one triangle", soup(dice, 1, true)),
        ("far from its zero", scaled(&torus([12, 8]), 1.0, Vec3::new(1e6, 1e6, -3e6))),
        ("huge", scaled(&torus([12, 8]), 1e36, Vec3::ZERO)),
        ("tiny", scaled(&torus([12, 8]), 1e-36, Vec3::ZERO)),
        ("smallest numbers", scaled(&torus([12, 8]), 1e-43, Vec3::ZERO)),
        ("flat", solids::grid(glam::DVec2::new(4.0, 4.0), [8, 8], |_| 0.0).unwrap()),
    ];
    let quads = (0..6).map(|k| [4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3]).collect::<Vec<_>>();
    let corners = (0..24).map(|_| dice.grid().as_vec3()).collect();
    meshes.push(("quads", Mesh::from_polygons(corners, quads).unwrap()));
    let qualities = [Quality::Default, Quality::Fast, Quality::Default, Quality::Default];
    let mut all = Vec::new();
    for (name, mesh) in meshes {
        for (pose, quality) in poses().into_iter().zip(qualities) {
            all.push(Case::new(name, mesh.clone(), pose, quality));
        }
    }
    all
}

#[test]
fn an_empty_model_answers_everything() {
    let model = Model::build(Mesh::from_triangles(vec![], vec![]).unwrap(), Quality::Default);
    let placed = PosedModel::new(&model, &Pose::IDENTITY);
    let ray = jostle_geom::Ray::new(DVec3::ZERO, DVec3::X, f64::INFINITY).unwrap();
    assert_eq!((placed.ray(&ray), placed.ray_any(&ray)), (None, false));
    assert_eq!(placed.closest_point(DVec3::ZERO, f64::INFINITY), None);
    assert_eq!(placed.frustum(&[]), jostle_geom::FrustumSide::Outside);
    assert_eq!(placed.self_intersections(), []);
    assert_eq!(placed.bounds(), None);
    assert_eq!((placed.centre(), placed.face_normal(0, DVec3::ZERO)), (DVec3::ZERO, None));
    assert!(!placed.sphere_touches(DVec3::ZERO, 1e30));
    assert_eq!(placed.sphere_contact(DVec3::ZERO, 1e30), None);
    assert_eq!(placed.sphere_faces(DVec3::ZERO, 1e30), []);
    assert_eq!(placed.distance_lower_bound(DVec3::ZERO), f64::INFINITY);
}

/// Near the largest `f32` the radius of the mesh may not be a number, and boxes are of no use.
#[test]
fn the_largest_numbers_are_no_exception() {
    let mut dice = Dice(9);
    let mesh = scaled(&torus([10, 6]), 1.1e38, Vec3::ZERO).into_solid().unwrap();
    for pose in poses() {
        let case = Case::new("largest", mesh.clone(), pose, Quality::Default);
        let (placed, size) = (case.placed(), 3e38);
        for _ in 0..40 {
            let p = dice.vector() * size;
            let [a, b, c] = placed.triangle(dice.below(case.triangles() as u64) as usize);
            let through = jostle_geom::Ray::between(p, (a + b + c) / 3.0 * 1.01).unwrap();
            ray::check(&case, &through, "largest");
            assert_eq!(placed.contains(p), Ok(contains::slow_contains(&placed, p)));
            let closest = placed.closest_point(p, f64::INFINITY).unwrap().distance;
            assert!((closest - closest::slow_distance(&case, p)).abs() < size * 1e-14);
        }
    }
}

#[test]
fn placed_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<PosedModel<'_>>();
}
