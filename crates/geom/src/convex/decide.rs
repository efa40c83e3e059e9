//! Is a solid convex? Decided exactly, about the vertices of the mesh before they are placed.
//!
//! Let S be the solid, H the convex hull of the vertices in use. If each face with area lies in
//! the boundary of H, then no face cuts the inside of H, so all of it is in S or nothing is. One
//! point of it decides which: S = H, or S has no inside. Conversely a face of a convex S lies in
//! its boundary, unless it bounds nothing.
//!
//! So it does not matter how the faces are cut into triangles, whether coplanar ones overlap, how
//! they turn, or that triangles without area close gaps between them. Triangles that are there
//! twice bound nothing and are left out. A mesh is not called convex if it has faces inside that
//! bound nothing but are not equal triangles.

use crate::mesh::Mesh;
use crate::predicates::point::ExactPoint;
use crate::predicates::whole::whole_above;
use crate::predicates::{Sign, orient3d};
use crate::triangle::{RayCross, Triangle, exact_x_ray_crosses};
use crate::{Model, Pose, PosedModel};
use glam::DVec3;
use num_bigint::BigInt;

/// Does the mesh enclose a convex set that has an inside? Exact. False for what is not solid.
pub(crate) fn is_convex(model: &Model) -> bool {
    let mesh = &model.mesh;
    if !mesh.is_solid() {
        return false;
    }
    let posed = PosedModel::new(model, &Pose::IDENTITY);
    let bounding = bounding(mesh);
    let corners = |t: usize| posed.triangle(t);
    bounding.iter().all(|&t| posed.all_on_one_side(&corners(t)))
        && inner_point(mesh, &bounding.iter().map(|&t| corners(t)).collect::<Vec<_>>())
}

/// The triangles that have an area and are there an odd number of times, each once.
fn bounding(mesh: &Mesh) -> Vec<usize> {
    let key = |t: usize| {
        let mut corners = mesh.triangles[t].map(|v| {
            // Adding 0.0 turns −0.0 into 0.0.
            mesh.vertices.at(v).to_array().map(|x| (x + 0.0).to_bits())
        });
        corners.sort_unstable();
        corners
    };
    let corners = |t: usize| mesh.corners(t);
    let with_area = |&t: &usize| {
        let [a, b, c] = corners(t);
        !super::wrap::collinear(a, b, c)
    };
    let mut all: Vec<_> =
        (0..mesh.triangles.len()).filter(with_area).map(|t| (key(t), t)).collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a.0 == b.0)
        .filter(|same| same.len() % 2 == 1)
        .map(|same| same[0].1)
        .collect()
}

/// Is the inside of the hull inside of the triangles, which lie in its boundary?
fn inner_point(mesh: &Mesh, bounding: &[Triangle]) -> bool {
    let Some(&[a, b, c]) = bounding.first() else { return false };
    let corners = bounding.iter().flatten();
    let Some(&d) = corners.clone().find(|&&d| orient3d(a, b, c, d) != Sign::Zero) else {
        return false;
    };
    debug_assert!(mesh.is_solid());
    let crosses = |t: &&Triangle| exact_x_ray_crosses(&middle([a, b, c, d]), t) == RayCross::Yes;
    bounding.iter().filter(crosses).count() % 2 == 1
}

/// The middle of four points.
fn middle(points: [DVec3; 4]) -> ExactPoint {
    let [a, b, c, d] = points.map(|p| p.to_array());
    let coordinates = [a[0], b[0], c[0], d[0], a[1], b[1], c[1], d[1], a[2], b[2], c[2], d[2]];
    let (whole, unit) = whole_above(0, coordinates);
    let sum = |from: usize| whole[from..from + 4].iter().sum::<BigInt>();
    ExactPoint::new([sum(0), sum(4), sum(8)], BigInt::from(4), unit)
}
