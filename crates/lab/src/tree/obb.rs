//! Oriented boxes as RAPID has them (row V2): axes from the covariance of the surface, overlap by
//! fifteen separating axes (Gottschalk, Lin and Manocha 1996).
//!
//! Numbers are `f64`, as in RAPID. Where RAPID stores each box in the frame of its parent, boxes
//! here are in the frame of their mesh, and those of the second tree are turned once per question.

use super::covariance::principal_axes;
use super::volume::{Volume, read_f64};
use crate::Count;
use crate::traverse::{ROUNDING, Relative};
use glam::DVec3;

/// A box with axes of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Obb {
    axes: [DVec3; 3],
    centre: DVec3,
    half: DVec3,
}

impl Volume for Obb {
    const NAME: &'static str = "OBB";
    const TAG: u8 = 3;
    const BYTES: usize = 120;
    type Aligned = Obb;

    fn around(triangles: &[[DVec3; 3]]) -> Obb {
        let axes = principal_axes(triangles);
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &corner in triangles.iter().flatten() {
            let along = DVec3::from(axes.map(|axis| axis.dot(corner)));
            low = low.min(along);
            high = high.max(along);
        }
        let middle = low * 0.5 + high * 0.5;
        let centre = axes[0] * middle.x + axes[1] * middle.y + axes[2] * middle.z;
        Obb { axes, centre, half: high * 0.5 - low * 0.5 }
    }

    fn size(&self) -> f64 {
        8.0 * self.half.element_product()
    }

    fn plain(&self) -> Obb {
        *self
    }

    /// Three directions of 15 operations, a point of 18.
    fn turned(&self, relative: &Relative, count: &mut Count) -> Obb {
        count.operations += 63;
        let axes = self.axes.map(|axis| relative.turn(axis));
        Obb { axes, centre: relative.place(self.centre), half: self.half }
    }

    /// Fifteen axes, of which the nine crossed ones are not longer than 1.
    ///
    /// Every number is at most L. Of each of the two boxes: axes are orthonormal up to 8v per
    /// product, so a point is its coordinates times the axes up to 24v·L; projecting, the middle
    /// and the half extents are off by 8v·L. Turning B: entries 6v, so 18v·L; centre 6v·L. The
    /// matrix here: entries 4v, so 12v·L; the distance 4v·L; each test: products and sums of seven
    /// terms 10v·L, and for crossed axes the identities that replace cross products by entries hold
    /// up to 24v per box, another 48v·L. Together below 170v·L, of the 384v·L in the slack. If a
    /// crossed axis is near zero because edges are parallel, all its terms are below that, and the
    /// boxes are not separated by it.
    fn overlap(a: &Obb, b: &Obb, slack: f64, count: &mut Count) -> bool {
        count.operations += 60;
        let d = b.centre - a.centre;
        let t = a.axes.map(|axis| axis.dot(d));
        let r = a.axes.map(|axis| b.axes.map(|other| axis.dot(other)));
        let size = r.map(|row| row.map(f64::abs));
        let (p, q) = (a.half.to_array(), b.half.to_array());
        let mut apart = |distance: f64, radii: f64| {
            count.comparisons += 1;
            distance.abs() > radii + slack
        };
        for i in 0..3 {
            if apart(t[i], p[i] + (q[0] * size[i][0] + q[1] * size[i][1] + q[2] * size[i][2])) {
                return false;
            }
        }
        for j in 0..3 {
            let along = t[0] * r[0][j] + t[1] * r[1][j] + t[2] * r[2][j];
            if apart(along, q[j] + (p[0] * size[0][j] + p[1] * size[1][j] + p[2] * size[2][j])) {
                return false;
            }
        }
        for i in 0..3 {
            let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
            for j in 0..3 {
                let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
                let along = t[i2] * r[i1][j] - t[i1] * r[i2][j];
                let radii = (p[i1] * size[i2][j] + p[i2] * size[i1][j])
                    + (q[j1] * size[i][j2] + q[j2] * size[i][j1]);
                if apart(along, radii) {
                    return false;
                }
            }
        }
        true
    }

    fn encloses(&self, point: DVec3, reach: f64) -> bool {
        let dot = |i: usize, j: usize| self.axes[i].dot(self.axes[j]);
        let unit = (0..3).all(|i| (dot(i, i) - 1.0).abs() <= 8.0 * ROUNDING);
        let across =
            [(0, 1), (0, 2), (1, 2)].iter().all(|&(i, j)| dot(i, j).abs() <= 8.0 * ROUNDING);
        let sound = self.centre.abs().max(self.half.abs()).max_element() <= 2.0 * reach;
        let inside = (0..3).all(|i| {
            let off = self.axes[i].dot(point - self.centre);
            off.abs() <= self.half[i] + 24.0 * ROUNDING * reach
        });
        unit && across && sound && inside
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let vectors = self.axes.into_iter().chain([self.centre, self.half]);
        bytes.extend(vectors.flat_map(|v| v.to_array()).flat_map(f64::to_le_bytes));
    }

    fn read(bytes: &[u8]) -> Obb {
        let n: [f64; 15] = read_f64(bytes);
        let vector = |i: usize| DVec3::new(n[3 * i], n[3 * i + 1], n[3 * i + 2]);
        Obb { axes: [0, 1, 2].map(vector), centre: vector(3), half: vector(4) }
    }
}
