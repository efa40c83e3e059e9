//! Pairs of meshes, each hard in its own way.

use super::Random;
use glam::{DVec2, DVec3, Vec3};
use jostle_geom::Mesh;
use jostle_geom::solids::{self, BumpyTorus};
use jostle_lab::Hyperboloid;

/// Two meshes, and how far apart they are tried.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) a: Mesh,
    pub(crate) b: Mesh,
    /// Translations go from minus this to this.
    pub(crate) reach: f64,
    /// A length of which both meshes are made, if there is one.
    pub(crate) unit: f64,
}

pub(crate) fn cases() -> Vec<Case> {
    let cube = || solids::cuboid(DVec3::splat(2.0)).expect("a cube");
    let ball = || solids::sphere(1.0, 0.1).expect("a ball");
    let tube = Hyperboloid { waist: 0.3, rim: 1.0, height: 2.0, cells: [12, 3], capped: true };
    let bumpy = BumpyTorus { amplitude: 0.3, waves: 3.0, ..BumpyTorus::plain(1.0, 0.4, [12, 8]) };
    let made = "a solid of ordinary size";
    let case = |name, a: Mesh, b: Mesh| Case { name, a, b, reach: 2.0, unit: 1.0 };
    let mut all = vec![
        case("cubes", cube(), cube()),
        case("balls", ball(), ball()),
        case("tori", bumpy.mesh().expect(made), bumpy.mesh().expect(made)),
        case("a hyperboloid and a cone", tube.mesh().expect(made), {
            solids::cone(1.0, 2.0, 0.02).expect(made)
        }),
        case("tetra-flakes", solids::tetra_flake(2).expect(made), {
            solids::tetra_flake(3).expect(made)
        }),
        case("a cylinder and a capsule", solids::cylinder(0.5, 2.0, 0.02).expect(made), {
            solids::capsule(0.5, 1.0, 0.05).expect(made)
        }),
        case("a landscape and a ball", landscape(), ball()),
    ];
    all.extend(soups());
    all.extend(sizes());
    all.extend(few());
    all
}

fn landscape() -> Mesh {
    let height = |p: DVec2| 0.2 * (3.0 * p.x).sin() * (4.0 * p.y).cos();
    solids::grid(DVec2::splat(3.0), [9, 11], height).expect("a landscape of ordinary size")
}

fn soups() -> Vec<Case> {
    let case = |name, a: Mesh, b: Mesh| Case { name, a, b, reach: 2.0, unit: 1.0 };
    let mut random = Random(7);
    let flat = |mesh: Mesh| own_corners(mesh.vertices().iter().map(|v| v.with_z(0.0)).collect());
    vec![
        case("soups", soup(&mut random, 60, 0.3), soup(&mut random, 40, 0.2)),
        case("whole numbers", whole_soup(&mut random, 40), whole_soup(&mut random, 20)),
        case("slivers", slivers(&mut random, 40), slivers(&mut random, 30)),
        case("one plane", flat(soup(&mut random, 30, 0.3)), flat(soup(&mut random, 30, 0.3))),
        case("points and segments", degenerate(&mut random, 40), soup(&mut random, 20, 0.5)),
        case("polygons", polygons(&mut random, 20), polygons(&mut random, 12)),
    ]
}

/// Huge, tiny, both, and far from their own zero.
fn sizes() -> Vec<Case> {
    let mut random = Random(8);
    let mut scaled = |count: usize, size: f64, off: f64| {
        let mesh = soup(&mut random, count, 0.3);
        let vertices = mesh.vertices().iter();
        let place = |v: &Vec3| (v.as_dvec3() * size + DVec3::splat(off)).as_vec3();
        own_corners(vertices.map(place).collect())
    };
    let huge = 1e29;
    let tiny = 1e-38;
    let case = |name, a, b, size| Case { name, a, b, reach: 2.0 * size, unit: size };
    vec![
        case("huge", scaled(30, huge, 0.0), scaled(30, huge, 0.0), huge),
        case("tiny", scaled(30, tiny, 0.0), scaled(30, tiny, 0.0), tiny),
        case("huge and tiny", scaled(40, huge, 0.0), scaled(10, tiny, 0.0), huge),
        case("as large as numbers get", scaled(30, 1e38, 0.0), scaled(20, 1e38, 1e38), 1e29),
        case("far from their zero", scaled(40, 1.0, 1e5), scaled(30, 1.0, 1e5), 1.0),
    ]
}

fn few() -> Vec<Case> {
    let case = |name, a: Mesh, b: Mesh| Case { name, a, b, reach: 2.0, unit: 1.0 };
    let ball = || solids::sphere(1.0, 0.1).expect("a ball");
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let mesh = |triangles| {
        Mesh::from_triangles(corners.clone(), triangles).expect("triangles of three corners")
    };
    vec![
        case("one triangle and a ball", one_triangle(), ball()),
        case("one triangle and one", one_triangle(), one_triangle()),
        case("the same triangle often", mesh(vec![[0, 1, 2]; 30]), mesh(vec![[2, 0, 1]; 20])),
        case("nothing and a ball", mesh(Vec::new()), ball()),
        case("a ball and nothing", ball(), mesh(Vec::new())),
    ]
}

pub(crate) fn one_triangle() -> Mesh {
    own_corners(vec![Vec3::ZERO, Vec3::X, Vec3::Y])
}

/// Triangles of size `spread` in a cube.
pub(crate) fn soup(random: &mut Random, count: usize, spread: f32) -> Mesh {
    let mut corners = Vec::new();
    for _ in 0..count {
        let middle = random.vector().as_vec3();
        corners.extend([(); 3].map(|()| middle + random.vector().as_vec3() * spread));
    }
    own_corners(corners)
}

/// Corners on few points with whole numbers, so that much coincides.
fn whole_soup(random: &mut Random, count: usize) -> Mesh {
    let mut at = || random.below(4) as f32 - 1.0;
    own_corners((0..3 * count).map(|_| Vec3::new(at(), at(), at())).collect())
}

/// Long and thin, down to a millionth of their length.
fn slivers(random: &mut Random, count: usize) -> Mesh {
    let mut corners = Vec::new();
    for turn in 0..count {
        let (a, b) = (random.vector().as_vec3(), random.vector().as_vec3());
        let width = [1e-2, 1e-4, 1e-6][turn % 3];
        corners.extend([a, b, b + random.vector().as_vec3() * width]);
    }
    own_corners(corners)
}

fn degenerate(random: &mut Random, count: usize) -> Mesh {
    let mut corners = Vec::new();
    for turn in 0..count {
        let (a, b) = (random.vector().as_vec3(), random.vector().as_vec3());
        corners.extend([[a, a, a], [a, b, b], [a, b, (a + b) * 0.5]][turn % 3]);
    }
    own_corners(corners)
}

/// Polygons of 1 to 7 corners over shared vertices, crossing and repeating themselves.
fn polygons(random: &mut Random, faces: usize) -> Mesh {
    let vertices = (0..40).map(|_| random.vector().as_vec3()).collect();
    let polygons: Vec<Vec<u32>> = (0..faces)
        .map(|_| (0..1 + random.below(7)).map(|_| random.below(40) as u32).collect())
        .collect();
    Mesh::from_polygons(vertices, polygons).expect("polygons of vertices that there are")
}

/// Each three vertices are a triangle.
fn own_corners(vertices: Vec<Vec3>) -> Mesh {
    let triangles = (0..vertices.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Mesh::from_triangles(vertices, triangles).expect("triangles of vertices that there are")
}
