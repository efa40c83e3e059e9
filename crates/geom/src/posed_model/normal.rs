//! Which way does a face look?

use super::{PosedModel, usable};
use glam::DVec3;

impl PosedModel<'_> {
    /// The unit normal, in the world, of the triangle of `face` that is closest to `near`. It
    /// points to the side from which the corners of the face turn counter-clockwise.
    ///
    /// `None` if the face has no area or there is no such face, or if `near` is not finite or has
    /// a component of 2^129 or more. Triangles without area are left out.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, PosedModel, Pose, Quality, solids};
    ///
    /// let cube = Model::build(solids::cuboid(DVec3::splat(2.0))?, Quality::Default);
    /// let placed = PosedModel::new(&cube, &Pose::IDENTITY);
    /// let top = placed.closest_point(DVec3::Z * 3.0, 9.0).unwrap();
    /// assert_eq!(placed.face_normal(top.face, top.point), Some(DVec3::Z));
    /// # Ok::<(), jostle_geom::solids::SolidError>(())
    /// ```
    #[must_use]
    pub fn face_normal(&self, face: u32, near: DVec3) -> Option<DVec3> {
        let near = usable(near)?;
        let of_face = |triangle| {
            (self.face(triangle) == face && self.normal(triangle).is_some())
                .then(|| self.closest_on(near, triangle))
        };
        // A point of contact is on the face up to rounding, and then only its surroundings are
        // searched; otherwise the face may be anywhere.
        let (_, triangle) = self.nearest(near, self.slack_at(near), of_face).or_else(|| {
            let all = 0..self.model.mesh.triangles.len();
            let found = all.filter_map(|triangle| Some((of_face(triangle)?, triangle)));
            found.min_by(|(p, _), (q, _)| p.distance.total_cmp(&q.distance))
        })?;
        self.normal(triangle)
    }

    /// The unit normal of a triangle. From the mesh and not from placed corners: far from the
    /// origin these have lost digits.
    pub(crate) fn normal(&self, triangle: usize) -> Option<DVec3> {
        let [p, q, r] = self.model.mesh.corners(triangle);
        let normal = (q - p).cross(r - p);
        // Largest component 1 first, so that squares are neither too large nor too small.
        let size = normal.abs().max_element();
        (size > 0.0).then(|| self.pose.transform_vector((normal / size).normalize()).normalize())
    }
}
