//! A solid that only experiments need.

use glam::{DVec2, Vec3};
use jostle_geom::Mesh;
use jostle_geom::solids::{DIMENSION_MAX, DIMENSION_MIN, SolidError, TRIANGLES_MAX};

/// A hyperboloid of one sheet around z: a tube with a waist. Its rulings are long thin triangles
/// at small angles to each other, which is hard for boxes; Zachmann measured with it ("Virtual
/// Reality in Assembly Simulation", 2000, section 3.5).
///
/// ```
/// use jostle_lab::Hyperboloid;
///
/// let shape = Hyperboloid { waist: 0.3, rim: 1.0, height: 2.0, cells: [32, 8], capped: true };
/// assert!(shape.mesh()?.into_solid().is_ok());
/// # Ok::<(), jostle_geom::solids::SolidError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hyperboloid {
    /// Radius in the middle.
    pub waist: f64,
    /// Radius at both ends.
    pub rim: f64,
    /// Distance of the ends.
    pub height: f64,
    /// Cells around the axis and along it.
    pub cells: [u32; 2],
    /// The ends are closed by polygons.
    pub capped: bool,
}

impl Hyperboloid {
    /// The mesh: two triangles for each cell, then the lower and the upper polygon if capped.
    ///
    /// # Errors
    /// Dimensions that are not usable numbers, a rim that is not wider than the waist, fewer than
    /// 3 cells around or 1 along, too many cells.
    pub fn mesh(&self) -> Result<Mesh, SolidError> {
        let [around, along] = self.cells;
        self.check()?;
        let mut vertices: Vec<Vec3> = Vec::new();
        for ring in 0..=along {
            // From −1 at the bottom to 1 at the top.
            let t = 2.0 * f64::from(ring) / f64::from(along) - 1.0;
            let growth = (self.rim - self.waist) * (self.rim + self.waist) * t * t;
            let radius = (self.waist * self.waist + growth).sqrt();
            let z = self.height * 0.5 * t;
            vertices.extend(circle(around).map(|p| (p * radius).extend(z).as_vec3()));
        }
        let mut faces: Vec<Vec<u32>> = Vec::new();
        for ring in 0..along {
            for i in 0..around {
                let (a, b) = (ring * around + i, ring * around + (i + 1) % around);
                let (c, d) = (b + around, a + around);
                faces.extend([vec![a, b, c], vec![a, c, d]]);
            }
        }
        if self.capped {
            let top = along * around;
            faces.push((0..around).rev().collect());
            faces.push((top..top + around).collect());
        }
        Ok(Mesh::from_polygons(vertices, faces)?)
    }

    fn check(&self) -> Result<(), SolidError> {
        let dimensions = [
            ("the radius of the waist", self.waist),
            ("the radius of the rim", self.rim),
            ("the height", self.height),
        ];
        // NaN is in no range.
        let good = |value| (DIMENSION_MIN..=DIMENSION_MAX).contains(&value);
        if let Some(&(what, value)) = dimensions.iter().find(|&&(_, value)| !good(value)) {
            return Err(SolidError::BadDimension { what, value });
        }
        let [around, along] = self.cells;
        for (what, found, least) in [
            ("the number of cells around the axis", around, 3),
            ("the number of cells along the axis", along, 1),
        ] {
            if found < least {
                return Err(SolidError::TooFew { what, least, found });
            }
        }
        let triangles = (f64::from(along) + 1.0) * f64::from(around) * 2.0;
        if triangles > TRIANGLES_MAX as f64 {
            return Err(SolidError::TooMany { triangles });
        }
        if self.waist >= self.rim {
            let (smaller, larger) = ("the radius of the waist", "the radius of the rim");
            let (found, limit) = (self.waist, self.rim);
            return Err(SolidError::NotLess { smaller, larger, found, limit });
        }
        Ok(())
    }
}

/// Points at equal steps on the unit circle, exact on the axes.
pub(crate) fn circle(count: u32) -> impl Iterator<Item = DVec2> {
    (0..count).map(move |i| {
        let eighths = 8 * u64::from(i) / u64::from(count);
        let exact = (8 * u64::from(i)).is_multiple_of(u64::from(count));
        match (exact, eighths) {
            (true, 0) => DVec2::X,
            (true, 2) => DVec2::Y,
            (true, 4) => DVec2::NEG_X,
            (true, 6) => DVec2::NEG_Y,
            _ => DVec2::from_angle(f64::from(i) / f64::from(count) * std::f64::consts::TAU),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hyperboloid_is_closed_if_capped_and_open_at_two_ends_if_not() {
        for cells in [[3, 1], [16, 4], [50, 9]] {
            let shape = Hyperboloid { waist: 0.4, rim: 1.0, height: 2.0, cells, capped: true };
            let mesh = shape.mesh().expect("good dimensions");
            let report = mesh.report();
            assert!(report.closed && report.misoriented_edges.count == 0, "{report}");
            assert!(mesh.clone().into_solid().is_ok());
            let on = |p: &Vec3| {
                let p = p.as_dvec3();
                p.truncate().length_squared() - 0.16 - 0.84 * p.z * p.z
            };
            assert!(mesh.vertices().iter().all(|p| on(p).abs() < 1e-6));
            let open = Hyperboloid { capped: false, ..shape }.mesh().expect("good dimensions");
            let open = open.report();
            assert_eq!((open.open_edges.count as u32, open.closed), (2 * cells[0], false));
            assert_eq!(open.misoriented_edges.count, 0);
        }
    }

    #[test]
    fn bad_numbers_are_refused() {
        let good = Hyperboloid { waist: 0.4, rim: 1.0, height: 1.0, cells: [3, 3], capped: true };
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-300, 1e300] {
            for shape in [
                Hyperboloid { waist: bad, ..good },
                Hyperboloid { rim: bad, ..good },
                Hyperboloid { height: bad, ..good },
            ] {
                assert!(matches!(shape.mesh(), Err(SolidError::BadDimension { .. })), "{bad}");
            }
        }
        let few = Hyperboloid { cells: [2, 3], ..good }.mesh();
        assert!(matches!(few, Err(SolidError::TooFew { .. })));
        let many = Hyperboloid { cells: [u32::MAX; 2], ..good }.mesh();
        assert!(matches!(many, Err(SolidError::TooMany { .. })));
        let wide = Hyperboloid { waist: 1.0, ..good }.mesh();
        assert!(matches!(wide, Err(SolidError::NotLess { .. })));
    }
}
