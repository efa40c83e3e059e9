//! The pose of the second model relative to the first, with bounds on the rounding errors.

use crate::tree::Frame;
use crate::{Model, Pose};
use glam::{DVec3, Mat3A, Vec3A};

/// The pose of model B in the frame of model A, with bounds on every rounding on the way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relative {
    /// Turns and shifts a box of B's tree into the frame of A's tree, then the other way.
    pub(crate) into: [(Mat3A, Vec3A); 2],
    /// Boxes closer than this may hold points that touch. See [`margin`].
    pub(crate) margin: f32,
    /// Rows and shift that bring a mesh point of B into the mesh frame of A, in `f64`.
    pub(crate) rows: [DVec3; 3],
    pub(crate) shift: DVec3,
    /// How far a point brought over by `rows` and `shift`, or taken as it is in A's frame, can be
    /// from where [`Pose::transform_point`] puts it, up to a rigid motion.
    pub(crate) point_error: f64,
    /// Nodes of one of the trees have frames of their own: `into`, `margin` and `point_error` are
    /// not for them, see [`Relative::between`].
    pub(crate) framed: bool,
    /// How far the models are from the zero of the world, together.
    far: f64,
}

/// What two nodes with frames of their own have in place of the numbers for whole trees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Between {
    /// From B's frame into A's, then the other way.
    pub(crate) shift: [Vec3A; 2],
    pub(crate) margin: f32,
    pub(crate) point_error: f64,
}

impl Relative {
    pub(crate) fn new(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose) -> Relative {
        let [bx, by, bz] = pose_b.rows();
        let columns = [
            DVec3::new(bx.x, by.x, bz.x),
            DVec3::new(bx.y, by.y, bz.y),
            DVec3::new(bx.z, by.z, bz.z),
        ]
        .map(|column| pose_a.inverse_transform_vector(column));
        let between = pose_a.inverse_transform_vector(pose_b.translation() - pose_a.translation());
        let [cx, cy, cz] = columns;
        let rows = [
            DVec3::new(cx.x, cy.x, cz.x),
            DVec3::new(cx.y, cy.y, cz.y),
            DVec3::new(cx.z, cy.z, cz.z),
        ];
        let turned = |p: DVec3| cx * p.x + cy * p.y + cz * p.z;
        let turned_back = |p: DVec3| DVec3::new(cx.dot(p), cy.dot(p), cz.dot(p));
        let whole = |model: &Model| Frame { origin: model.tree.origin, radius: model.tree.radius };
        let (frame_a, frame_b) = (whole(a), whole(b));
        let shift = turned(frame_b.origin.as_dvec3()) + between - frame_a.origin.as_dvec3();
        let turn = Mat3A::from_cols(narrow(cx), narrow(cy), narrow(cz));
        let far = size(pose_a.translation()) + size(pose_b.translation());
        Relative {
            into: [(turn, narrow(shift)), (turn.transpose(), narrow(-turned_back(shift)))],
            margin: margin(frame_a, frame_b, shift, far),
            rows,
            shift: between,
            point_error: point_error(frame_a, frame_b, between, far),
            framed: !(a.tree.frames.is_empty() && b.tree.frames.is_empty()),
            far,
        }
    }

    /// A point of the mesh of B in the mesh frame of A.
    pub(crate) fn b_to_a(&self, p: DVec3) -> DVec3 {
        DVec3::from_array(self.rows.map(|row| row.dot(p))) + self.shift
    }

    /// The same for boxes in the frames of two nodes, from `f64`: the frames may be far from the
    /// zero of their meshes, and near to each other.
    ///
    /// Both bounds are those of whole trees with the radii and origins of the frames in place of
    /// theirs. The shift is a sum of the numbers that [`point_error`] counts, which also pays
    /// for its rounding.
    #[cold]
    #[inline(never)]
    pub(crate) fn between(&self, a: Frame, b: Frame) -> Between {
        let shift = self.b_to_a(b.origin.as_dvec3()) - a.origin.as_dvec3();
        let [x, y, z] = self.rows;
        let turned_back = x * shift.x + y * shift.y + z * shift.z;
        let point_error = point_error(a, b, self.shift, self.far);
        Between {
            shift: [narrow(shift), narrow(-turned_back)],
            margin: margin(a, b, shift, self.far) + 2.0 * point_error as f32,
            point_error,
        }
    }
}

fn narrow(v: DVec3) -> Vec3A {
    Vec3A::new(v.x as f32, v.y as f32, v.z as f32)
}

/// A bound on the length of a vector, without a root: bounds need not be sharp.
fn size(v: DVec3) -> f64 {
    v.x.abs() + v.y.abs() + v.z.abs()
}

/// Slack of a box test, in mesh units, for two frames whose origins are `shift` apart.
///
/// Let u = 2^-24 and L = radius A + radius B + |shift|; every number in the kernel is at most L.
/// * A vertex relative to the frame's origin: u·L. The box's centre and extents as stored: the
///   projections of the fit are off by 3u·L, the centre and half extent by another 4u·L.
/// * The box moved into the other frame: rotation rounded to `f32` (√3·u·L), product and shift
///   (4u·L).
/// * Difference of centres u·L, projection 3u·L, radius: sums of seven terms, 8u·L; crossed edges
///   the same with factors below 1.
///
/// Below 27u·L for one box, and 8u·L for the other's fit: 35u·L in all; 64 leaves room.
/// Placing vertices in `f64` adds [`point_error`] for far poses, the last term the rounding of
/// numbers near the smallest `f32`.
fn margin(a: Frame, b: Frame, shift: DVec3, far: f64) -> f32 {
    let length = f64::from(a.radius) + f64::from(b.radius) + size(shift);
    let tiny = f64::from(f32::from_bits(64));
    (64.0 * 2f64.powi(-24) * length + 2.0 * point_error(a, b, shift, far) + tiny) as f32
}

/// Bound on the error of a point in A's frame against where the world has it, in mesh units.
///
/// With v = 2^-53 and L the sum of all lengths involved (both meshes' reach from their own zero,
/// both translations): `Pose::transform_point` is off from the exact product with its own matrix by
/// 4v·L; that matrix is orthogonal up to 8v per entry, so the map is rigid up to 24v·L; bringing a
/// point over goes through two matrices (rounded products: 6v·L) and two additions (3v·L). The sum
/// of everything on both sides is below 96v·L; 128 leaves room.
fn point_error(a: Frame, b: Frame, shift: DVec3, far: f64) -> f64 {
    let reach = |t: Frame| f64::from(t.radius) + size(t.origin.as_dvec3());
    128.0 * 2f64.powi(-53) * (reach(a) + reach(b) + size(shift) + far)
}
