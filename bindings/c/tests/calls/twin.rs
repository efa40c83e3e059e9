//! What `tests/scene.c` does, through the Rust API.

use crate::handle::Draw;
use glam::{DVec3, Vec3};
use jostle_geom::{Mesh, Model, Pose, Quality, Shape, solids};
use jostle_world::{Body, BodyId, ContactData, Policy, QueryKind, Settings, World};

const STEPS: usize = 45;
const OBJECTS: usize = 13;
const GRID: usize = 8;
const GROUND: usize = 0;
const BALL: usize = 7;
const POST: usize = 8;
/// The children of the outer switch, then those of the inner one.
const NEAR: usize = 9;
const MIDDLE: usize = 10;
const FAR_ONE: usize = 11;
const FAR_TWO: usize = 12;

pub(crate) struct Twin {
    world: World,
    draw: Draw,
    bodies: Vec<BodyId>,
    /// By object: C's number for each face.
    faces: Vec<Vec<u32>>,
}

/// Triangles with C's numbers for them.
#[derive(Default)]
struct Soup {
    vertices: Vec<Vec3>,
    faces: Vec<u32>,
}

impl Twin {
    /// All lines that the program prints, sorted.
    pub(crate) fn run() -> Vec<String> {
        let policy = Policy::Everything(QueryKind::AllPairs);
        let world = World::new(Settings { policy, ..Settings::default() });
        let mut twin = Twin { world, draw: Draw(2026), bodies: Vec::new(), faces: Vec::new() };
        for object in 0..OBJECTS {
            let soup = twin.soup(object);
            let (shape, faces) = soup.build();
            let body = twin.world.insert(Body::moving(shape, Pose::IDENTITY));
            twin.bodies.push(body.expect("a good body"));
            twin.faces.push(faces);
        }
        let mut lines = Vec::new();
        for step in 0..STEPS {
            twin.change(step);
            for object in 1..OBJECTS {
                let there = object != 5 || !(25..30).contains(&step);
                if there && twin.draw.below(3) > 0 {
                    let pose = twin.draw_pose();
                    twin.world.set_pose(twin.bodies[object], pose).expect("a moving body");
                }
            }
            twin.world.step();
            twin.report(step, &mut lines);
        }
        lines.sort_unstable();
        lines
    }

    fn soup(&mut self, object: usize) -> Soup {
        let mut soup = Soup::default();
        match object {
            GROUND => soup.add_ground(&mut self.draw),
            BALL => {
                let ball = solids::sphere(0.75, 0.01).expect("a good sphere");
                soup.add_mesh(&ball, DVec3::new(0.25, 0.0, -0.5), 1);
            }
            POST => {
                let shaft = solids::cylinder(0.5, 2.0, 0.01).expect("a good cylinder");
                let hat = solids::cone(1.0, 1.0, 0.01).expect("a good cone");
                soup.add_mesh(&shaft, DVec3::ZERO, 2);
                soup.add_mesh(&hat, DVec3::Z * 1.5, 3);
            }
            _ => soup.add_rock(&mut self.draw),
        }
        soup
    }

    fn change(&mut self, step: usize) {
        let [one, two, three, four] = [1, 2, 3, 4].map(|object| self.bodies[object]);
        let world = &mut self.world;
        match step % 10 {
            3 => world.ignore_pair(one, two).expect("bodies"),
            7 => world.unignore_pair(one, two).expect("bodies"),
            _ => {}
        }
        match step % 12 {
            5 => world.disable(three).expect("a body"),
            9 => drop(world.enable(three).expect("a body")),
            _ => {}
        }
        // The third child of the outer switch is the inner one.
        let inner = [None, Some(FAR_ONE), Some(FAR_TWO)][step % 3];
        let chosen = [None, Some(NEAR), Some(MIDDLE), inner][step % 4];
        for object in [NEAR, MIDDLE, FAR_ONE, FAR_TWO] {
            let body = self.bodies[object];
            if chosen == Some(object) {
                world.enable(body).expect("a body");
            } else {
                world.disable(body).expect("a body");
            }
            match step {
                15 => world.ignore_pair(body, self.bodies[GROUND]).expect("bodies"),
                40 => world.unignore_pair(body, self.bodies[GROUND]).expect("bodies"),
                _ => {}
            }
        }
        match step {
            20 => {
                let (shape, faces) = self.soup(4).build();
                self.world.set_shape(four, shape).expect("a body");
                self.faces[4] = faces;
            }
            25 => drop(self.world.remove(self.bodies[5]).expect("a body")),
            30 => {
                let (shape, faces) = self.soup(5).build();
                let body = self.world.insert(Body::moving(shape, Pose::IDENTITY));
                self.bodies[5] = body.expect("a good body");
                self.faces[5] = faces;
            }
            _ => {}
        }
    }

    /// A turn by whole numbers, so that no library function rounds it.
    fn draw_pose(&mut self) -> Pose {
        let [x, y, z] = [0; 3].map(|_| f64::from(self.draw.below(9)) - 4.0);
        let w = f64::from(self.draw.below(4)) + 1.0;
        let n = x * x + y * y + z * z + w * w;
        let [px, py] = [0; 2].map(|_| 4.0 * self.draw.unit());
        let pz = 2.0 * self.draw.unit();
        let rows = [
            [
                (x * x - y * y - z * z + w * w) / n,
                2.0 * (x * y - z * w) / n,
                2.0 * (x * z + y * w) / n,
            ],
            [
                2.0 * (x * y + z * w) / n,
                (y * y - x * x - z * z + w * w) / n,
                2.0 * (y * z - x * w) / n,
            ],
            [
                2.0 * (x * z - y * w) / n,
                2.0 * (y * z + x * w) / n,
                (z * z - x * x - y * y + w * w) / n,
            ],
        ];
        let pose = Pose::from_rows(rows.map(DVec3::from_array), DVec3::new(px, py, pz));
        pose.expect("a rotation")
    }

    fn report(&self, step: usize, lines: &mut Vec<String>) {
        let object = |id| self.bodies.iter().position(|&body| body == id).expect("a known body");
        for contact in self.world.contacts() {
            let ContactData::Faces(pairs) = &contact.data else { panic!("{contact:?}") };
            let [first, second] = [object(contact.a), object(contact.b)];
            let number = |pair: &jostle_geom::FacePair| {
                let faces =
                    [self.faces[first][pair.a as usize], self.faces[second][pair.b as usize]];
                if first < second { faces } else { [faces[1], faces[0]] }
            };
            let mut pairs: Vec<[u32; 2]> = pairs.iter().map(number).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let sum = pairs.iter().fold(0u32, |sum, [a, b]| {
                sum.wrapping_mul(31).wrapping_add(a * 1000).wrapping_add(*b)
            });
            let (low, high) = (first.min(second), first.max(second));
            let count = pairs.len();
            lines.push(format!("step {step}: {low}-{high} with {count} pairs of faces, {sum}"));
        }
    }
}

impl Soup {
    fn add_ground(&mut self, draw: &mut Draw) {
        let height = [[0; GRID + 1]; GRID + 1].map(|row| row.map(|_| 0.5 * draw.unit()));
        for i in 0..GRID {
            for j in 0..GRID {
                let at = |i: usize, j: usize| {
                    let half = GRID as f64 / 2.0;
                    DVec3::new(i as f64 - half, j as f64 - half, height[i][j]).as_vec3()
                };
                let face = (GRID * i + j) as u32;
                self.add([at(i, j), at(i + 1, j), at(i + 1, j + 1)], face);
                self.add([at(i, j), at(i + 1, j + 1), at(i, j + 1)], face);
            }
        }
    }

    fn add_rock(&mut self, draw: &mut Draw) {
        for face in 0..40 {
            let corners = [[0; 3]; 3].map(|corner| DVec3::from(corner.map(|_| draw.unit())));
            self.add(corners.map(|corner| corner.as_vec3()), 100 + face);
        }
    }

    fn add_mesh(&mut self, mesh: &Mesh, centre: DVec3, face: u32) {
        let place = |v: u32| (mesh.vertices()[v as usize].as_dvec3() + centre).as_vec3();
        mesh.triangles().iter().for_each(|triangle| self.add(triangle.map(place), face));
    }

    fn add(&mut self, corners: [Vec3; 3], face: u32) {
        self.vertices.extend(corners);
        self.faces.push(face);
    }

    /// A shape of loose triangles, and C's numbers for them.
    fn build(self) -> (Shape, Vec<u32>) {
        let count = self.faces.len() as u32;
        let triangles = (0..count).map(|face| [0, 1, 2].map(|corner| 3 * face + corner)).collect();
        let mesh = Mesh::from_triangles(self.vertices, triangles).expect("a good mesh");
        (Shape::mesh(Model::build(mesh, Quality::Fast)), self.faces)
    }
}
