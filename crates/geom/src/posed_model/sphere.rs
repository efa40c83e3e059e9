//! A sphere against one model: does it touch, which faces, where, and how far is it at least?
//!
//! The sphere is solid, and every yes and no is exact for the placed triangles.

use super::closest::distance_at_least;
use super::{ClosestPoint, PosedModel, Side, usable, used_lanes};
use crate::tree::{Child, FramedNode, WIDTH};
use crate::triangle::sphere_meets_triangle;
use glam::DVec3;
use std::ops::ControlFlow;

impl PosedModel<'_> {
    /// Does the solid sphere share a point with the model? Exact. Where the mesh is solid, a
    /// sphere inside it counts as touching.
    ///
    /// False if `centre` has a component that is not finite or of 2^129 and more, or if the
    /// radius is below 0 or NaN. Components of the centre below 2^-209 count as zero.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, PosedModel, Pose, Quality, solids};
    ///
    /// let cube = Model::build(solids::cuboid(DVec3::splat(2.0))?, Quality::Default);
    /// let placed = PosedModel::new(&cube, &Pose::IDENTITY);
    /// let centre = DVec3::new(4.0, 5.0, 0.0); // 3 and 4 from an edge
    /// assert!(placed.sphere_touches(centre, 5.0));
    /// assert!(!placed.sphere_touches(centre, 5.0f64.next_down()));
    /// # Ok::<(), jostle_geom::solids::SolidError>(())
    /// ```
    #[must_use]
    pub fn sphere_touches(&self, centre: DVec3, radius: f64) -> bool {
        let Some(centre) = usable(centre) else { return false };
        let reached = self.look_near(centre, radius, &mut |triangle| {
            if sphere_meets_triangle(centre, radius, &self.triangle(triangle)) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        reached.is_break() || (radius >= 0.0 && self.contains(centre) == Ok(Side::Inside))
    }

    /// The point of the surface closest to the centre of a solid sphere, and its face, if the
    /// sphere reaches the surface: exactly if one of its faces does. Of faces at the same (rounded)
    /// distance the one with the smallest number is given.
    #[must_use]
    pub fn sphere_contact(&self, centre: DVec3, radius: f64) -> Option<ClosestPoint> {
        let centre = usable(centre)?;
        let reached = |triangle| {
            sphere_meets_triangle(centre, radius, &self.triangle(triangle))
                .then(|| self.closest_on(centre, triangle))
        };
        self.nearest(centre, radius, reached).map(|(found, _)| found)
    }

    /// Every face that a solid sphere shares a point with, sorted. Exact.
    #[must_use]
    pub fn sphere_faces(&self, centre: DVec3, radius: f64) -> Vec<u32> {
        let mut faces = Vec::new();
        let Some(centre) = usable(centre) else { return faces };
        let _ = self.look_near(centre, radius, &mut |triangle| {
            if sphere_meets_triangle(centre, radius, &self.triangle(triangle)) {
                faces.push(self.face(triangle));
            }
            ControlFlow::Continue(())
        });
        faces.sort_unstable();
        faces.dedup();
        faces
    }

    /// The closest points of all triangles that are not further than about `reach` from a solid
    /// sphere, and whether they touch it, exactly; sorted by face, then by triangle.
    pub(crate) fn near_sphere(
        &self,
        centre: DVec3,
        radius: f64,
        reach: f64,
    ) -> Vec<(ClosestPoint, bool)> {
        let Some(centre) = usable(centre) else { return Vec::new() };
        // Further than rounding can make up for.
        let within = (radius + reach) * (1.0 + 1e-12);
        let mut found = Vec::new();
        let _ = self.look_near(centre, within, &mut |triangle| {
            let closest = self.closest_on(centre, triangle);
            let touches = sphere_meets_triangle(centre, radius, &self.triangle(triangle));
            if touches || closest.distance <= within {
                found.push((triangle, closest, touches));
            }
            ControlFlow::Continue(())
        });
        found.sort_unstable_by_key(|(triangle, closest, _)| (closest.face, *triangle));
        found.into_iter().map(|(_, closest, touches)| (closest, touches)).collect()
    }

    /// A distance that no point of the model is closer to `p` than, from a few box tests. 0 where
    /// `p` may be a point of it, or inside it if it is solid; infinite for a model without
    /// triangles. 0 for a point that is not finite or has a component of 2^129 or more.
    #[must_use]
    pub fn distance_lower_bound(&self, p: DVec3) -> f64 {
        let Some((root, lane)) = self.root() else { return f64::INFINITY };
        let Some(p) = usable(p) else { return 0.0 };
        let (local, slack) = (self.in_tree_frame(p), self.slack_at(p));
        let whole = distance_at_least(local, &root, lane, slack);
        // What is outside of the box around everything is not inside the solid; between smaller
        // boxes it may be.
        if whole <= 0.0 && self.model.mesh.is_solid() {
            return 0.0;
        }
        let child = root.node.child[lane];
        if child.is_leaf() {
            return whole.max(0.0);
        }
        let node = self.node(child);
        let parts = used_lanes(node.node).map(|k| distance_at_least(local, &node, k, slack));
        parts.fold(f64::INFINITY, f64::min).max(whole).max(0.0)
    }

    /// Calls `look` with every triangle that may be within `reach` of `p`, near ones first, until
    /// it breaks.
    pub(super) fn look_near(
        &self,
        p: DVec3,
        reach: f64,
        look: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (local, slack) = (self.in_tree_frame(p), self.slack_at(p));
        self.look_near_by(|node, lane| distance_at_least(local, node, lane, slack), reach, look)
    }

    /// Calls `look` with every triangle in lanes that `distance` finds to be within `reach`, near
    /// ones first, until it breaks.
    pub(super) fn look_near_by(
        &self,
        distance: impl Fn(&FramedNode<'_>, usize) -> f64,
        reach: f64,
        look: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((root, lane)) = self.root() else { return ControlFlow::Continue(()) };
        let mut open: Vec<Child> = Vec::with_capacity(64);
        open.push(root.node.child[lane]);
        while let Some(child) = open.pop() {
            if child.is_leaf() {
                for triangle in child.triangles() {
                    look(triangle)?;
                }
                continue;
            }
            let node = self.node(child);
            let mut near = [(0.0, Child::EMPTY); WIDTH];
            let mut count = 0;
            for k in used_lanes(node.node) {
                let distance = distance(&node, k);
                if distance > reach {
                    continue;
                }
                // Kept in order, the farthest first.
                let before = near[..count].iter().take_while(|(d, _)| *d > distance).count();
                near.copy_within(before..count, before + 1);
                near[before] = (distance, node.node.child[k]);
                count += 1;
            }
            open.extend(near[..count].iter().map(|(_, child)| child));
        }
        ControlFlow::Continue(())
    }
}
