//! Random polygons whose corners are whole numbers and lie in one plane exactly.

use super::{PolygonKind, Random};
use glam::DVec3;
use jostle_geom::Mesh;
use jostle_geom::triangle::Triangle;
use std::f64::consts::TAU;

/// A flat polygon without crossing edges, and its triangles.
#[derive(Clone, Debug)]
pub(super) struct Polygon {
    pub(super) corners: Vec<DVec3>,
    pub(super) triangles: Vec<Triangle>,
    pub(super) normal: DVec3,
}

/// The axes of the plane are whole numbers up to this.
const AXIS: f64 = 6.0;

impl Polygon {
    pub(super) fn draw(kind: PolygonKind, grid: u32, random: &mut Random) -> Polygon {
        loop {
            let around = star(kind, f64::from(grid), random);
            let mut whole = || (random.point() * AXIS).round();
            let (u, v) = (whole(), whole());
            let normal = u.cross(v);
            let shift = (random.point() * (AXIS * f64::from(grid))).round();
            if !fits(kind, &around) || normal == DVec3::ZERO {
                continue;
            }
            let corners: Vec<DVec3> = around.iter().map(|&[x, y]| shift + u * x + v * y).collect();
            let vertices = corners.iter().map(|corner| corner.as_vec3()).collect();
            let loops = [(0..corners.len() as u32).collect::<Vec<u32>>()];
            let mesh =
                Mesh::from_polygons(vertices, loops).expect("small whole numbers are a mesh");
            let place = |t: &[u32; 3]| t.map(|corner| corners[corner as usize]);
            let triangles = mesh.triangles().iter().map(place).collect();
            return Polygon { triangles, corners, normal };
        }
    }

    /// The edges, each as its two ends.
    pub(super) fn edges(&self) -> impl Iterator<Item = [DVec3; 2]> {
        let count = self.corners.len();
        (0..count).map(move |i| [self.corners[i], self.corners[(i + 1) % count]])
    }
}

/// Corners around a middle, in order: such a polygon does not cross itself.
fn star(kind: PolygonKind, grid: f64, random: &mut Random) -> Vec<[f64; 2]> {
    let count = match kind {
        PolygonKind::Triangles => 3,
        PolygonKind::ConvexQuads | PolygonKind::ConcaveQuads => 4,
        PolygonKind::ConcavePentagons => 5,
    };
    let mut angles: Vec<f64> = (0..count).map(|_| random.between(0.0, TAU)).collect();
    angles.sort_by(f64::total_cmp);
    let corner = |angle: f64| {
        let radius = random.between(0.2, 1.0) * grid;
        [(radius * angle.cos()).round(), (radius * angle.sin()).round()]
    };
    angles.into_iter().map(corner).collect()
}

/// Around the middle strictly, and with corners outwards and inwards as the kind has them.
fn fits(kind: PolygonKind, corners: &[[f64; 2]]) -> bool {
    let count = corners.len();
    let turn = |[a, b]: [f64; 2], [c, d]: [f64; 2]| a * d - b * c;
    let at = |i: usize| corners[i % count];
    let leg = |i: usize| [at(i + 1)[0] - at(i)[0], at(i + 1)[1] - at(i)[1]];
    let around = (0..count).all(|i| turn(at(i), at(i + 1)) > 0.0);
    let bends: Vec<f64> = (0..count).map(|i| turn(leg(i), leg(i + 1))).collect();
    let inwards = bends.iter().filter(|&&bend| bend < 0.0).count();
    let straight = bends.contains(&0.0);
    let convex = matches!(kind, PolygonKind::Triangles | PolygonKind::ConvexQuads);
    around && !straight && (inwards == 0) == convex
}
