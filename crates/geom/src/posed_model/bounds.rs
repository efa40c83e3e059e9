//! The box around a placed model, without looking at all of it.

use super::{AXIS_SLACK, LaneBox, PosedModel, ROUNDING};
use crate::tree::FramedNode;
use glam::DVec3;

/// Up to this many vertices, with twice as many triangles, are placed one by one, which gives the
/// smallest box and takes no longer.
const FEW_VERTICES: usize = 24;

/// With a radius from here on the numbers of a box of the hierarchy may be too large for `f32`
/// (`tree/validate.rs`).
const HUGE_RADIUS: f32 = f32::from_bits((127 + 124) << 23);

impl PosedModel<'_> {
    /// The low and the high corner of a box along the axes of the world that holds every placed
    /// triangle; `None` for a model without triangles.
    ///
    /// The smallest such box for a mesh of very few vertices. For others it is found from the
    /// reach of the mesh in 26 directions and from the box around all of it in the hierarchy, and
    /// is somewhat larger. The first call for a model looks at all vertices, later ones do not.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, PosedModel, Pose, Quality, solids};
    ///
    /// let cube = Model::build(solids::cuboid(DVec3::splat(2.0))?, Quality::Default);
    /// let pose = Pose::from_translation(DVec3::X * 5.0)?;
    /// let bounds = PosedModel::new(&cube, &pose).bounds();
    /// assert_eq!(bounds, Some((DVec3::new(4.0, -1.0, -1.0), DVec3::new(6.0, 1.0, 1.0))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        let (root, lane) = self.root()?;
        let mesh = &self.model.mesh;
        if mesh.vertices.len() <= FEW_VERTICES && mesh.triangles.len() <= 2 * FEW_VERTICES {
            return Some(self.bounds_of_corners());
        }
        let (low, high) = self.bounds_by_reach();
        if self.model.tree.radius >= HUGE_RADIUS {
            return Some((low, high));
        }
        let whole = self.lane_bounds(&root, lane);
        Some((low.max(whole.0), high.min(whole.1)))
    }

    /// The smallest box.
    fn bounds_of_corners(&self) -> (DVec3, DVec3) {
        let mesh = &self.model.mesh;
        // Vertices are numbered by their first use, so those in use come first.
        let last = mesh.triangles.as_flattened().iter().copied().max().unwrap_or(0);
        let corners = (0..=last).map(|v| self.pose.transform_point(mesh.vertices.at(v)));
        corners.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
            (low.min(p), high.max(p))
        })
    }

    /// The box from the reach of the mesh around its centre, in the directions of the world's axes
    /// seen from the mesh, and from the sphere around that centre.
    fn bounds_by_reach(&self) -> (DVec3, DVec3) {
        let reach = self.model.reach();
        let centre = self.centre();
        let [x, y, z] = self.pose.rows().map(|row| reach.along(row));
        let ball = DVec3::splat(reach.from_centre);
        let far = centre.length() + self.pose.translation().length() + 2.0 * reach.from_zero;
        let slack = ROUNDING * far;
        let low = DVec3::new(x[0], y[0], z[0]).min(ball) + slack;
        let high = DVec3::new(x[1], y[1], z[1]).min(ball) + slack;
        (centre - low, centre + high)
    }

    /// The box around the box of a lane.
    ///
    /// Points of the lane are center + Σ aₖ·dualₖ with |aₖ| ≤ halfₖ + slack, and the dual axes
    /// differ from the stored ones by less than [`AXIS_SLACK`]. The slack covers the way from the
    /// mesh to the world and, taken twice, the roundings here; see [`ROUNDING`].
    fn lane_bounds(&self, node: &FramedNode<'_>, lane: usize) -> (DVec3, DVec3) {
        let bounds = LaneBox::of(node, lane);
        let half = bounds.half + self.slack;
        let more = AXIS_SLACK * (half.x + half.y + half.z) + 2.0 * self.slack;
        let extent = self.pose.rows().map(|row| bounds.along(row).abs().dot(half) + more);
        let extent = DVec3::from(extent);
        let center = self.pose.transform_point(self.model.tree.origin.as_dvec3() + bounds.center);
        (center - extent, center + extent)
    }
}
