//! Meshes of the demo hall: flying bodies, furniture, and people. All are centred on their origin,
//! with triangles facing outwards.

use crate::error::CliError;
use crate::share::failed;
use glam::{DVec2, DVec3, Vec3};
use jostle_geom::Mesh;
use jostle_geom::solids::{self, BumpyTorus};
use jostle_sim::Dice;
use std::f64::consts::{PI, TAU};

/// A flying body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    Ball,
    Ring,
    Gear,
    Star,
    Stone,
    Knot,
}

impl Piece {
    pub(super) const ALL: [Piece; 6] =
        [Piece::Ball, Piece::Ring, Piece::Gear, Piece::Star, Piece::Stone, Piece::Knot];

    /// With about this radius. The dice determine the form of a stone.
    pub(super) fn mesh(self, size: f64, dice: &mut Dice) -> Result<Mesh, CliError> {
        match self {
            Piece::Ball => solids::sphere(size, size / 15.0).map_err(failed),
            Piece::Ring => {
                let torus = BumpyTorus::plain(0.7 * size, 0.3 * size, [16, 8]);
                torus.mesh().map_err(failed)
            }
            Piece::Gear => gear(size),
            Piece::Star => star(size),
            Piece::Stone => stone(size, dice),
            Piece::Knot => knot(size),
        }
    }
}

fn around(parts: usize, part: usize) -> DVec2 {
    DVec2::from_angle(TAU * part as f64 / parts as f64)
}

fn polygons(vertices: &[DVec3], faces: &[Vec<u32>]) -> Result<Mesh, CliError> {
    let vertices: Vec<Vec3> = vertices.iter().map(|vertex| vertex.as_vec3()).collect();
    Mesh::from_polygons(vertices, faces).map_err(failed)
}

/// A gear with ten teeth and flat sides.
fn gear(size: f64) -> Result<Mesh, CliError> {
    const TEETH: usize = 10;
    let outline = (0..4 * TEETH).map(|at| {
        let reach = if at % 4 < 2 { 0.72 } else { 0.96 };
        around(4 * TEETH, at) * reach * size
    });
    let outline: Vec<DVec2> = outline.collect();
    let thick = 0.24 * size;
    let mut vertices = Vec::new();
    for side in [-thick, thick] {
        vertices.extend(outline.iter().map(|point| point.extend(side)));
    }
    let count = outline.len() as u32;
    let mut faces = vec![(0..count).rev().collect(), (count..2 * count).collect()];
    for at in 0..count {
        let next = (at + 1) % count;
        faces.push(vec![at, next, count + next, count + at]);
    }
    polygons(&vertices, &faces)
}

/// A star with five points, thick in the middle.
fn star(size: f64) -> Result<Mesh, CliError> {
    const POINTS: usize = 5;
    let mut vertices = vec![DVec3::Z * 0.36 * size, DVec3::NEG_Z * 0.36 * size];
    for at in 0..2 * POINTS {
        let reach = if at % 2 == 0 { 1.0 } else { 0.45 };
        vertices.push((around(2 * POINTS, at) * reach * size).extend(0.0));
    }
    let count = 2 * POINTS as u32;
    let mut faces = Vec::new();
    for at in 0..count {
        let (here, next) = (2 + at, 2 + (at + 1) % count);
        faces.push(vec![0, here, next]);
        faces.push(vec![1, next, here]);
    }
    polygons(&vertices, &faces)
}

/// A sphere of 80 facets with some of it cut off.
fn stone(size: f64, dice: &mut Dice) -> Result<Mesh, CliError> {
    let (mut vertices, mut faces) = icosahedron();
    let mut halved = std::collections::BTreeMap::new();
    let mut smaller = Vec::new();
    for [a, b, c] in std::mem::take(&mut faces) {
        let mut half = |from: u32, to: u32| {
            *halved.entry((from.min(to), from.max(to))).or_insert_with(|| {
                let middle = vertices[from as usize] + vertices[to as usize];
                vertices.push(middle.normalize());
                vertices.len() as u32 - 1
            })
        };
        let (ab, bc, ca) = (half(a, b), half(b, c), half(c, a));
        smaller.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
    }
    for vertex in &mut vertices {
        *vertex *= size * dice.between(700, 1000) as f64 / 1000.0;
    }
    let faces: Vec<Vec<u32>> = smaller.iter().map(|face| face.to_vec()).collect();
    polygons(&vertices, &faces)
}

fn icosahedron() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let long = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let mut vertices = Vec::new();
    for axis in 0..3 {
        for (one, other) in [(-1.0, long), (1.0, long), (-1.0, -long), (1.0, -long)] {
            let mut vertex = [0.0; 3];
            vertex[axis] = one;
            vertex[(axis + 1) % 3] = other;
            vertices.push(DVec3::from_array(vertex).normalize());
        }
    }
    // Three adjacent vertices make a face, wound so that it faces outwards.
    let near = |a: usize, b: usize| vertices[a].distance(vertices[b]) < 1.2;
    let mut faces = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(c, a) {
                    let [p, q, r] = [a, b, c].map(|at| vertices[at]);
                    let out = (q - p).cross(r - p).dot(p) > 0.0;
                    let [b, c] = if out { [b, c] } else { [c, b] };
                    faces.push([a as u32, b as u32, c as u32]);
                }
            }
        }
    }
    (vertices, faces)
}

/// A trefoil knot.
fn knot(size: f64) -> Result<Mesh, CliError> {
    const ALONG: usize = 40;
    const ROUND: usize = 5;
    let at = |t: f64| {
        DVec3::new(
            t.sin() + 2.0 * (2.0 * t).sin(),
            t.cos() - 2.0 * (2.0 * t).cos(),
            -(3.0 * t).sin(),
        ) * (size * 0.26)
    };
    let mut vertices = Vec::new();
    for part in 0..ALONG {
        let t = TAU * part as f64 / ALONG as f64;
        let ahead = (at(t + 1e-4) - at(t - 1e-4)).normalize();
        let side = ahead.cross(DVec3::Z).normalize();
        let up = side.cross(ahead);
        for round in 0..ROUND {
            let DVec2 { x, y } = around(ROUND, round) * size * 0.17;
            vertices.push(at(t) + side * x + up * y);
        }
    }
    let name = |along: usize, round: usize| (along % ALONG * ROUND + round % ROUND) as u32;
    let mut faces = Vec::new();
    for along in 0..ALONG {
        for round in 0..ROUND {
            faces.push(vec![
                name(along, round),
                name(along + 1, round),
                name(along + 1, round + 1),
                name(along, round + 1),
            ]);
        }
    }
    polygons(&vertices, &faces)
}

/// A solid of revolution about the vertical: radius and height from bottom to top. Both ends are
/// closed.
fn turned(outline: &[(f64, f64)], parts: usize) -> (Vec<DVec3>, Vec<Vec<u32>>) {
    let mut vertices = Vec::new();
    for &(radius, height) in outline {
        vertices.extend((0..parts).map(|part| {
            let DVec2 { x, y } = around(parts, part) * radius;
            DVec3::new(x, height, -y)
        }));
    }
    let parts = parts as u32;
    let last = (outline.len() as u32 - 1) * parts;
    let mut faces = vec![(0..parts).rev().collect(), (last..last + parts).collect()];
    for level in 0..outline.len() as u32 - 1 {
        for part in 0..parts {
            let (low, next) = (level * parts, (part + 1) % parts);
            faces.push(vec![low + part, low + next, low + parts + next, low + parts + part]);
        }
    }
    (vertices, faces)
}

/// A pillar of this height with foot and head, centred on its origin.
pub(super) fn pillar(radius: f64, height: f64) -> Result<Mesh, CliError> {
    let (end, shaft) = (height / 2.0, 0.7 * radius);
    let outline = [
        (radius, -end),
        (radius, 0.5 - end),
        (shaft, 0.8 - end),
        (0.92 * shaft, end - 1.2),
        (radius, end - 0.6),
        (radius, end),
    ];
    let (vertices, faces) = turned(&outline, 16);
    polygons(&vertices, &faces)
}

/// One stone of an arch over the origin: a wedge about +y between two radii, `wide` along z, that
/// fills `part` of the half circle; then centred on its origin.
pub(super) fn wedge([inner, outer]: [f64; 2], wide: f64, part: f64) -> Result<Mesh, CliError> {
    let middle = f64::midpoint(inner, outer);
    let half = part * PI / 2.0;
    let mut vertices = Vec::new();
    for z in [-wide / 2.0, wide / 2.0] {
        for (radius, angle) in [(inner, -half), (inner, half), (outer, half), (outer, -half)] {
            vertices.push(DVec3::new(radius * angle.sin(), radius * angle.cos() - middle, z));
        }
    }
    let faces = [
        vec![3, 2, 1, 0],
        vec![4, 5, 6, 7],
        vec![0, 1, 5, 4],
        vec![1, 2, 6, 5],
        vec![2, 3, 7, 6],
        vec![3, 0, 4, 7],
    ];
    polygons(&vertices, &faces)
}

/// A person: a coat, a head, and a nose in the direction of view, -z. Two metres high times `size`,
/// centred on its origin.
pub(super) fn person(size: f64) -> Result<Mesh, CliError> {
    let outline = [
        (0.36, -1.0),
        (0.40, -0.8),
        (0.24, 0.25),
        (0.12, 0.36),
        (0.22, 0.48),
        (0.26, 0.66),
        (0.20, 0.86),
        (0.06, 0.96),
    ];
    let (mut vertices, mut faces) = turned(&outline, 10);
    let first = vertices.len() as u32;
    for (x, y) in [(-0.1, 0.58), (0.1, 0.58), (0.0, 0.76)] {
        vertices.push(DVec3::new(x, y, -0.18));
    }
    vertices.push(DVec3::new(0.0, 0.62, -0.48));
    let [a, b, c, tip] = [first, first + 1, first + 2, first + 3];
    faces.extend([vec![a, b, c], vec![b, a, tip], vec![c, b, tip], vec![a, c, tip]]);
    vertices.iter_mut().for_each(|vertex| *vertex *= size);
    polygons(&vertices, &faces)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six times the volume: positive if the triangles face outwards.
    fn volume(mesh: &Mesh) -> f64 {
        let at = |vertex: u32| mesh.vertices()[vertex as usize].as_dvec3();
        mesh.triangles().iter().map(|&[a, b, c]| at(a).dot(at(b).cross(at(c)))).sum()
    }

    #[test]
    fn everything_is_closed_faces_outwards_and_has_few_triangles() {
        let mut dice = Dice::new(1);
        let pieces = Piece::ALL.map(|piece| (format!("{piece:?}"), piece.mesh(0.5, &mut dice)));
        let others = [
            ("pillar".into(), pillar(0.8, 10.0)),
            ("wedge".into(), wedge([4.0, 4.8], 0.8, 0.1)),
            ("person".into(), person(0.85)),
        ];
        for (name, mesh) in pieces.into_iter().chain(others) {
            let mesh = mesh.expect("a mesh");
            assert!(volume(&mesh) > 0.0, "{name}: {}", volume(&mesh));
            assert!(mesh.triangle_count() <= 400, "{name}: {}", mesh.triangle_count());
            assert!(mesh.into_solid().is_ok(), "{name} is not closed");
        }
    }

    #[test]
    fn what_flies_about_has_the_size_that_was_asked_for() {
        let mut dice = Dice::new(2);
        for piece in Piece::ALL {
            let mesh = piece.mesh(0.5, &mut dice).expect("a mesh");
            let far = mesh.vertices().iter().map(|vertex| vertex.length()).fold(0.0, f32::max);
            assert!((0.38..=0.53).contains(&far), "{piece:?}: {far}");
        }
    }
}
