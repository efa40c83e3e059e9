//! Where the second mesh is, seen from the first, and how far rounding can lead astray.

use glam::DVec3;
use jostle_geom::{Mesh, Pose};

/// Half of the distance from 1 to the next `f64`: what one operation can be off by, relatively.
pub(crate) const ROUNDING: f64 = f64::EPSILON / 2.0;

/// The pose of the second mesh in the frame of the first, with a bound on all rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relative {
    /// Rows of the rotation that brings a point of the second mesh into the frame of the first.
    pub rows: [DVec3; 3],
    /// And the translation after it.
    pub shift: DVec3,
    /// No number of a question is larger: both meshes' reach and all translations together.
    pub length: f64,
    /// No coordinate is larger in the frame of the first mesh: both meshes' reach and the
    /// translation between them, but not how far both are from the middle of the world.
    pub near: f64,
    /// Two points of the meshes that [`Pose::transform_point`] puts at the same place are less than
    /// this apart in the frame of the first mesh, computed with `rows` and `shift`, and a method
    /// may round on top of that by 384 · 2⁻⁵³ · `length` in all. So volumes that are further apart
    /// than this hold nothing that touches. See [`Relative::new`].
    pub slack: f64,
}

impl Relative {
    /// Both in the same place, without any size.
    pub const SAME: Relative =
        Relative { rows: DVec3::AXES, shift: DVec3::ZERO, length: 0.0, near: 0.0, slack: 0.0 };

    /// Seen from the first of two meshes whose vertices reach so far from their own zero.
    ///
    /// With v = 2⁻⁵³ and L = `length`: `Pose::transform_point` is off from the exact product with
    /// its own matrix by 4v·L; that matrix is orthogonal up to 8v per entry, so the map is rigid up
    /// to 24v·L; bringing a point over goes through two matrices (rounded products: 6v·L) and two
    /// additions (3v·L). Everything on both sides together is below 96v·L, as in
    /// `crates/geom/src/pair/relative.rs`. 128v·L for that and 384v·L for the method: 512v·L.
    #[must_use]
    pub fn new(reach: [f64; 2], pose_a: &Pose, pose_b: &Pose) -> Relative {
        let [bx, by, bz] = pose_b.rows();
        let columns = [
            DVec3::new(bx.x, by.x, bz.x),
            DVec3::new(bx.y, by.y, bz.y),
            DVec3::new(bx.z, by.z, bz.z),
        ];
        let [cx, cy, cz] = columns.map(|column| pose_a.inverse_transform_vector(column));
        let rows = [
            DVec3::new(cx.x, cy.x, cz.x),
            DVec3::new(cx.y, cy.y, cz.y),
            DVec3::new(cx.z, cy.z, cz.z),
        ];
        let shift = pose_a.inverse_transform_vector(pose_b.translation() - pose_a.translation());
        let far = size(pose_a.translation()) + size(pose_b.translation());
        let near = reach[0] + reach[1] + size(shift);
        let length = near + far;
        Relative { rows, shift, length, near, slack: 512.0 * ROUNDING * length }
    }

    /// A point of the second mesh in the frame of the first.
    #[must_use]
    pub fn place(&self, p: DVec3) -> DVec3 {
        self.turn(p) + self.shift
    }

    /// A direction of the second mesh in the frame of the first.
    #[must_use]
    pub fn turn(&self, d: DVec3) -> DVec3 {
        let [x, y, z] = self.rows;
        DVec3::new(x.dot(d), y.dot(d), z.dot(d))
    }

    /// A direction of the first mesh in the frame of the second.
    #[must_use]
    pub fn turn_back(&self, d: DVec3) -> DVec3 {
        let [x, y, z] = self.rows;
        x * d.x + y * d.y + z * d.z
    }
}

/// How far a mesh reaches from its own zero, as a sum of coordinates: no point of its triangles
/// is further away.
#[must_use]
pub fn reach(mesh: &Mesh) -> f64 {
    mesh.vertices().iter().map(|vertex| size(vertex.as_dvec3())).fold(0.0, f64::max)
}

/// A bound on the length of a vector, without a root: bounds need not be sharp.
fn size(v: DVec3) -> f64 {
    v.x.abs() + v.y.abs() + v.z.abs()
}
