//! Objects like those of Ohlenburg's experiments (2003, appendix B), which are not public: a
//! figure, a ship, two cars, a bird, a tree, pipes and a truck, made of tubes and ellipsoids.

use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{Mesh, MeshError};
use std::f64::consts::PI;

/// What stands in for one of the paper's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// For Al.wrl.
    Figure,
    /// For Galleon.wrl.
    Ship,
    /// For 3000gt.wrl.
    Car,
    /// For Mustang.wrl: the car again, coarser and longer.
    Coupe,
    /// For Eagle.wrl.
    Bird,
    /// For Tree.wrl.
    Tree,
    /// For Piping.wrl.
    Pipes,
    /// For Truck.wrl: most of its triangles are in its smallest parts.
    Truck,
}

impl Object {
    /// All of them, in the order of the paper's tables.
    pub const ALL: [Object; 8] = [
        Object::Figure,
        Object::Ship,
        Object::Car,
        Object::Coupe,
        Object::Bird,
        Object::Tree,
        Object::Pipes,
        Object::Truck,
    ];

    /// One word, for tables and command lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Object::Figure => "figure",
            Object::Ship => "ship",
            Object::Car => "car",
            Object::Coupe => "coupe",
            Object::Bird => "bird",
            Object::Tree => "tree",
            Object::Pipes => "pipes",
            Object::Truck => "truck",
        }
    }

    /// What it stands in for.
    #[must_use]
    pub fn paper(self) -> &'static str {
        match self {
            Object::Figure => "Al",
            Object::Ship => "Galleon",
            Object::Car => "3000gt",
            Object::Coupe => "Mustang",
            Object::Bird => "Eagle",
            Object::Tree => "Tree",
            Object::Pipes => "Piping",
            Object::Truck => "Truck",
        }
    }

    /// About as many triangles as the paper's object has polygons: three quarters of two to the
    /// power of the height that table 3.2 calls optimal.
    #[must_use]
    pub fn paper_triangles(self) -> usize {
        let height = match self {
            Object::Coupe => 12,
            Object::Figure | Object::Ship => 13,
            Object::Car => 14,
            Object::Bird => 15,
            Object::Tree | Object::Pipes | Object::Truck => 16,
        };
        3 << (height - 2)
    }

    /// About so many triangles, at least a few for every part.
    ///
    /// # Errors
    /// More triangles than a mesh may have.
    pub fn mesh(self, triangles: usize) -> Result<Mesh, MeshError> {
        let parts = self.parts();
        // A part of detail 1 has 2·4n·n triangles.
        let detail: f64 = parts.iter().map(|part| part.detail * part.detail).sum();
        let n = (triangles as f64 / (8.0 * detail)).sqrt();
        let mut made = Made::default();
        for part in parts {
            made.add(&part, (n * part.detail).round().max(2.0) as u32);
        }
        Mesh::from_triangles(made.vertices, made.triangles)
    }

    fn parts(self) -> Vec<Part> {
        match self {
            Object::Figure => figure(),
            Object::Ship => ship(),
            Object::Car => car(1.0),
            Object::Coupe => car(1.3),
            Object::Bird => bird(),
            Object::Tree => tree(),
            Object::Pipes => pipes(),
            Object::Truck => truck(),
        }
    }
}

/// A surface wound around a line from one end to the other.
struct Part {
    from: DVec3,
    to: DVec3,
    /// Across the line, in two directions.
    radii: [f64; 2],
    round: bool,
    detail: f64,
}

/// Round at its ends: an ellipsoid.
fn ball(from: [f64; 3], to: [f64; 3], radii: [f64; 2]) -> Part {
    Part { from: from.into(), to: to.into(), radii, round: true, detail: 1.0 }
}

/// Open at its ends.
fn tube(from: [f64; 3], to: [f64; 3], radius: f64) -> Part {
    Part { from: from.into(), to: to.into(), radii: [radius; 2], round: false, detail: 1.0 }
}

fn figure() -> Vec<Part> {
    let mut parts = vec![
        ball([0.0, 0.0, 1.5], [0.0, 0.0, 1.8], [0.12, 0.1]),
        ball([0.0, 0.0, 0.85], [0.0, 0.0, 1.55], [0.25, 0.15]),
    ];
    for side in [-1.0, 1.0] {
        parts.push(tube([0.12 * side, 0.0, 0.9], [0.15 * side, 0.05, 0.45], 0.08));
        parts.push(tube([0.15 * side, 0.05, 0.45], [0.16 * side, -0.05, 0.0], 0.06));
        parts.push(ball([0.16 * side, -0.05, 0.0], [0.16 * side, 0.25, 0.0], [0.05, 0.05]));
        parts.push(tube([0.25 * side, 0.0, 1.4], [0.55 * side, 0.0, 1.2], 0.05));
        parts.push(tube([0.55 * side, 0.0, 1.2], [0.6 * side, 0.25, 1.15], 0.04));
    }
    parts
}

fn ship() -> Vec<Part> {
    let mut parts = vec![
        ball([-2.0, 0.0, 0.0], [2.0, 0.0, 0.3], [0.5, 0.4]),
        ball([-2.1, 0.0, 0.5], [-1.0, 0.0, 0.6], [0.45, 0.3]),
        tube([1.8, 0.0, 0.4], [2.9, 0.0, 0.9], 0.04),
    ];
    for (x, height) in [(-1.2, 2.0), (0.0, 2.6), (1.1, 2.1)] {
        parts.push(tube([x, 0.0, 0.3], [x, 0.0, height], 0.05));
        parts.push(ball([x, -0.8, 0.7 * height], [x, 0.8, 0.7 * height], [0.1, 0.35]));
    }
    parts
}

fn car(length: f64) -> Vec<Part> {
    let mut parts = vec![
        ball([-2.0 * length, 0.0, 0.5], [2.0 * length, 0.0, 0.45], [0.85, 0.35]),
        ball([-1.2 * length, 0.0, 0.9], [0.8 * length, 0.0, 0.85], [0.7, 0.4]),
    ];
    for x in [-1.2 * length, 1.3 * length] {
        for y in [-0.8, 0.8] {
            parts.push(tube([x, y - 0.1, 0.3], [x, y + 0.1, 0.3], 0.3));
            parts.push(tube([x, y - 0.08, 0.3], [x, y + 0.08, 0.3], 0.15));
        }
    }
    parts
}

fn bird() -> Vec<Part> {
    let mut parts = vec![
        ball([-0.5, 0.0, 0.0], [0.5, 0.0, 0.05], [0.15, 0.13]),
        ball([0.45, 0.0, 0.05], [0.7, 0.0, 0.1], [0.08, 0.08]),
        ball([-0.9, 0.0, 0.0], [-0.4, 0.0, 0.02], [0.18, 0.02]),
    ];
    for side in [-1.0, 1.0] {
        parts.push(ball([0.15, 0.1 * side, 0.05], [-0.05, 1.0 * side, 0.3], [0.22, 0.03]));
        parts.push(ball([0.0, 0.9 * side, 0.28], [-0.3, 1.6 * side, 0.2], [0.15, 0.02]));
        for finger in 0..4 {
            let out = 1.5 + 0.06 * f64::from(finger);
            let end = [-0.3 - 0.12 * f64::from(finger), (out + 0.25) * side, 0.18];
            parts.push(ball([-0.25, out * side, 0.2], end, [0.03, 0.01]));
        }
    }
    parts
}

/// A trunk, three branches on it, and three on each of these, three times over.
fn tree() -> Vec<Part> {
    let mut parts = Vec::new();
    let mut open = vec![(DVec3::ZERO, DVec3::Z * 1.2, 0.12, 0)];
    while let Some((from, along, radius, depth)) = open.pop() {
        let to = from + along;
        let mut part = tube(from.into(), to.into(), radius);
        part.detail = 0.8f64.powi(depth);
        parts.push(part);
        if depth == 4 {
            continue;
        }
        let across = along.any_orthonormal_vector() * along.length();
        for branch in 0..3 {
            let angle = (f64::from(branch) + 0.3 * f64::from(depth)) * 2.0 * PI / 3.0;
            let turned = DQuat::from_axis_angle(along.normalize(), angle) * across;
            open.push((from + along * 0.9, along * 0.5 + turned * 0.55, radius * 0.6, depth + 1));
        }
    }
    parts
}

/// Straight pipes along three axes, level by level.
fn pipes() -> Vec<Part> {
    let mut parts = Vec::new();
    for level in 0..4 {
        let z = 0.4 * f64::from(level);
        for row in 0..6 {
            let at = 0.35 * f64::from(row) + 0.05 * f64::from(level);
            let radius = 0.05 + 0.02 * f64::from(row % 3);
            parts.push(tube([0.0, at, z], [2.2, at, z], radius));
            parts.push(tube([at, 0.0, z + 0.2], [at, 2.2, z + 0.2], radius * 0.8));
            parts.push(tube([at, at, z], [at, at, z + 0.4], radius * 0.5));
        }
    }
    parts
}

/// Most triangles are in small bolts that halve in size from one to the next, all in one corner.
fn truck() -> Vec<Part> {
    let mut parts = vec![
        ball([-4.0, 0.0, 1.5], [1.5, 0.0, 1.5], [1.0, 1.0]),
        ball([1.4, 0.0, 1.0], [2.8, 0.0, 1.0], [0.9, 0.9]),
    ];
    for x in [-3.5, -2.6, 0.8, 2.2] {
        for y in [-0.9, 0.9] {
            parts.push(tube([x, y - 0.15, 0.4], [x, y + 0.15, 0.4], 0.4));
        }
    }
    let mut size = 0.3;
    for bolt in 0..60 {
        let at = DVec3::new(2.9 + size, 0.8 * size, 0.5 + size);
        let mut part = ball(at.into(), (at + DVec3::X * size * 0.3).into(), [0.1 * size; 2]);
        part.detail = 0.7;
        parts.push(part);
        size *= if bolt % 2 == 0 { 0.8 } else { 0.75 };
    }
    parts
}

#[derive(Default)]
struct Made {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Made {
    /// 4n cells around and n along.
    fn add(&mut self, part: &Part, n: u32) {
        let (around, along) = (4 * n, n);
        let first = self.vertices.len() as u32;
        let axis = part.to - part.from;
        let u = axis.any_orthonormal_vector();
        let w = axis.normalize_or(DVec3::Z).cross(u);
        for i in 0..=along {
            let t = f64::from(i) / f64::from(along);
            // Even on the line for a tube, even in angle for an ellipsoid.
            let (at, wide) = if part.round {
                let angle = PI * t;
                (0.5 - 0.5 * angle.cos(), angle.sin().max(1e-3))
            } else {
                (t, 1.0)
            };
            for j in 0..around {
                let angle = 2.0 * PI * f64::from(j) / f64::from(around);
                let out = u * (angle.cos() * part.radii[0]) + w * (angle.sin() * part.radii[1]);
                self.vertices.push((part.from + axis * at + out * wide).as_vec3());
            }
        }
        for i in 0..along {
            for j in 0..around {
                let at = |i: u32, j: u32| first + i * around + j % around;
                let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
                self.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
}
