//! The axes of an oriented box, from how the surface is spread (Gottschalk, Lin and Manocha 1996,
//! section 4; the paper's RAPID is what V-COLLIDE calls at its lowest level, 1997, 3.3).

use glam::{DMat3, DVec3};

/// Three directions, orthonormal up to rounding: eigenvectors of the covariance of the surface of
/// these triangles, each weighed by its area. If there is no area, each triangle weighs the same.
///
/// The mean and the covariance of a triangle's points are those of its corners p, q, r and centroid
/// m: E\[xxᵀ\] = (9mmᵀ + ppᵀ + qqᵀ + rrᵀ) / 12.
pub(crate) fn principal_axes(triangles: &[[DVec3; 3]]) -> [DVec3; 3] {
    // Relative to a corner and to the largest difference, so that neither a far place nor a tiny
    // or huge size costs digits.
    let Some(&[origin, ..]) = triangles.first() else { return DVec3::AXES };
    let differences = triangles.iter().flatten().map(|p| (p - origin).abs().max_element());
    let size = differences.fold(0.0, f64::max);
    if size == 0.0 {
        return DVec3::AXES;
    }
    let local = |[p, q, r]: &[DVec3; 3]| [p, q, r].map(|p| (p - origin) / size);
    let area = |[p, q, r]: [DVec3; 3]| (q - p).cross(r - p).length();
    let whole: f64 = triangles.iter().map(|t| area(local(t))).sum();
    let (mut mean, mut spread, mut weight) = (DVec3::ZERO, DMat3::ZERO, 0.0);
    for triangle in triangles {
        let [p, q, r] = local(triangle);
        let share = if whole > 0.0 { area([p, q, r]) } else { 1.0 };
        let m = (p + q + r) / 3.0;
        let square = outer(m) * 9.0 + outer(p) + outer(q) + outer(r);
        mean += m * share;
        spread += square * (share / 12.0);
        weight += share;
    }
    mean /= weight;
    eigenvectors(spread * (1.0 / weight) - outer(mean))
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// Of a symmetric matrix, by Jacobi's rotations: orthonormal up to rounding whatever the matrix.
fn eigenvectors(mut matrix: DMat3) -> [DVec3; 3] {
    let mut vectors = DMat3::IDENTITY;
    // Converges quadratically; ten sweeps are more than any 3 × 3 matrix takes.
    for _ in 0..10 {
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let off = matrix.col(j)[i];
            if off == 0.0 {
                continue;
            }
            let theta = (matrix.col(j)[j] - matrix.col(i)[i]) / (2.0 * off);
            let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let cosine = 1.0 / t.hypot(1.0);
            let sine = t * cosine;
            let mut turn = DMat3::IDENTITY;
            turn.col_mut(i)[i] = cosine;
            turn.col_mut(j)[j] = cosine;
            turn.col_mut(j)[i] = sine;
            turn.col_mut(i)[j] = -sine;
            matrix = turn.transpose() * matrix * turn;
            vectors *= turn;
        }
    }
    orthonormal(vectors.col(0), vectors.col(1)).unwrap_or(DVec3::AXES)
}

/// Thirty rotations leave thirty roundings; these few leave axes that are orthonormal up to
/// 8 · 2⁻⁵³ in every product of two.
fn orthonormal(x: DVec3, y: DVec3) -> Option<[DVec3; 3]> {
    let x = x.try_normalize()?;
    let y = (y - x * x.dot(y)).try_normalize()?;
    let y = (y - x * x.dot(y)).try_normalize()?;
    let z = x.cross(y).try_normalize()?;
    Some([x, y, z])
}
