//! A matrix as what a `Transform` does: T · R · SR · S · SR⁻¹ (ISO/IEC 14772-1, 6.52).

use crate::nodes::Transform;
use crate::scene::Rotation;
use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

/// Columns whose cosine is smaller are orthogonal: 2^-22, what the rounding of `f32` entries does
/// to columns that were.
const ORTHOGONAL: f64 = 1.0 / (1u64 << 22) as f64;

/// One sweep makes every pair of columns orthogonal once. Convergence is quadratic, so few are
/// needed; the limit only makes sure that it ends.
const SWEEPS: usize = 30;

/// Whether all numbers of a placement are finite.
pub(super) fn is_finite(placement: &Transform) -> bool {
    let rotations = [placement.rotation, placement.scale_orientation];
    placement.translation.is_finite()
        && placement.scale.is_finite()
        && rotations.iter().all(|r| r.axis.is_finite() && r.angle.is_finite())
}

/// The placement that a matrix with the given columns is.
///
/// Singular value decomposition by one-sided Jacobi rotations (Hestenes 1958): V turns the
/// columns of M until they are orthogonal, M·V = U·S. Then M = (U·Vᵀ)·(V·S·Vᵀ), which is the
/// form of a `Transform` with SR = V. A matrix without shear has V = 1. A mirror becomes a
/// negative scale along one axis; `Transform` allows only positive ones in a VRML file.
pub(super) fn decompose(columns: [DVec3; 3], translation: DVec3) -> Transform {
    let mut turned = columns;
    let mut axes = [DVec3::X, DVec3::Y, DVec3::Z];
    for _ in 0..SWEEPS {
        let mut is_done = true;
        for (first, second) in [(0, 1), (0, 2), (1, 2)] {
            is_done &= !orthogonalise(&mut turned, &mut axes, first, second);
        }
        if is_done {
            break;
        }
    }
    let mut scale = DVec3::from_array(turned.map(DVec3::length));
    let mut directions = directions(turned);
    if DMat3::from_cols_array_2d(&directions.map(|d| d.to_array())).determinant() < 0.0 {
        scale.x = -scale.x;
        directions[0] = -directions[0];
    }
    let [u, v] = [directions, axes].map(|d| DMat3::from_cols(d[0], d[1], d[2]));
    Transform {
        translation: translation.as_vec3(),
        rotation: rotation(DQuat::from_mat3(&(u * v.transpose()))),
        scale: scale.as_vec3(),
        scale_orientation: rotation(DQuat::from_mat3(&v)),
        ..Transform::default()
    }
}

/// Turns two columns in their plane until they are orthogonal. False if they were.
fn orthogonalise(
    columns: &mut [DVec3; 3],
    axes: &mut [DVec3; 3],
    first: usize,
    second: usize,
) -> bool {
    let (a, b) = (columns[first], columns[second]);
    let (aa, bb, ab) = (a.length_squared(), b.length_squared(), a.dot(b));
    if ab.abs() <= ORTHOGONAL * (aa * bb).sqrt() {
        return false;
    }
    // The smaller of the two angles that do it (Golub and Van Loan, 8.6.3).
    let zeta = (bb - aa) / (2.0 * ab);
    let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = cosine * tangent;
    for list in [columns, axes] {
        let (a, b) = (list[first], list[second]);
        list[first] = a * cosine - b * sine;
        list[second] = a * sine + b * cosine;
    }
    true
}

/// The directions of orthogonal columns; of those without length, any that complete them. Very
/// short columns are orthogonal, too: the sweeps make even rounding errors so.
fn directions(columns: [DVec3; 3]) -> [DVec3; 3] {
    let known = columns.map(DVec3::try_normalize);
    match known {
        [Some(x), Some(y), Some(z)] => [x, y, z],
        [Some(x), Some(y), None] => [x, y, x.cross(y)],
        [Some(x), None, Some(z)] => [x, z.cross(x), z],
        [None, Some(y), Some(z)] => [y.cross(z), y, z],
        [Some(x), None, None] => [x, x.any_orthonormal_pair().0, x.any_orthonormal_pair().1],
        [None, Some(y), None] => [y.any_orthonormal_pair().1, y, y.any_orthonormal_pair().0],
        [None, None, Some(z)] => [z.any_orthonormal_pair().0, z.any_orthonormal_pair().1, z],
        [None, None, None] => [DVec3::X, DVec3::Y, DVec3::Z],
    }
}

/// A quaternion as axis and angle, which is between 0 and π. The quaternion need not have length
/// 1; one of length 0 does not rotate.
pub(super) fn rotation(quaternion: DQuat) -> Rotation {
    let turn = if quaternion.w < 0.0 { -quaternion } else { quaternion };
    let axis = turn.xyz();
    let sine = axis.length();
    match axis.try_normalize() {
        Some(axis) => {
            let angle = 2.0 * sine.atan2(turn.w);
            Rotation { axis: axis.as_vec3(), angle: angle as f32 }
        }
        None => Rotation::NONE,
    }
}

/// The same of the four numbers x, y, z, w of a file. What is not finite stays so.
pub(super) fn rotation_from(numbers: [f32; 4]) -> Rotation {
    let quaternion = Quat::from_array(numbers);
    if !quaternion.is_finite() {
        return Rotation { axis: Vec3::NAN, angle: f32::NAN };
    }
    rotation(quaternion.as_dquat())
}
