//! Bodies by place: which ones a ray meets, contain a point, touch a shape, or are nearest.
//!
//! The broad phase leaves out bodies whose boxes show that they cannot matter; the rest is decided
//! by the exact queries of geometry. Boxes in the broad phase are as of the last step, so bodies
//! that changed since are looked at one by one: the answers are about the bodies where they are
//! now. Disabled bodies are never found.

use crate::body::Body;
use crate::error::WorldError;
use crate::id::BodyId;
use crate::world::World;
use glam::DVec3;
use jostle_geom::predicates::spheres_touch;
use jostle_geom::triangle::sphere_meets_triangle;
use jostle_geom::{Aabb, Pair, Pose, Ray, RayHit, Shape, ShapeKind};

/// A body that a ray meets, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyRayHit {
    /// The body.
    pub id: BodyId,
    /// Its first point on the ray.
    pub hit: RayHit,
}

/// The body that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestBody {
    /// The body.
    pub id: BodyId,
    /// How far it is from the point; 0 exactly if the point is on it or inside it.
    pub distance: f64,
    /// Its closest point, within rounding.
    pub point: DVec3,
    /// The face that this lies on, as the maker of the mesh counted them.
    pub face: u32,
}

/// Boxes of bodies end at ±2^127 ([`Shape::bounds`]): what lies further out has a box there.
const BOUNDS_MAX: DVec3 = DVec3::splat(f64::from_bits((1023 + 127) << 52));

/// What computed distances may be off by, as part of all lengths involved. With u = 2^-53: the end
/// of a ray is off by 2u of its coordinates and its direction by 8u, differences and products of
/// vectors by 8u, the computed place of a hit by 32u. Together below 64u; 2^-40 is 128 times that.
const ROUNDING: f64 = 1.0 / (1u64 << 40) as f64;

impl World {
    /// The body that a ray meets first, and where. Of bodies at the same distance the one with the
    /// smallest id counts.
    ///
    /// Whether a ray meets a body is decided exactly. Of a mesh or box it meets the surface, also
    /// from inside ([`jostle_geom::PosedModel::ray`]). A sphere is one face together with its
    /// inside: it is met at distance 0 where the ray starts in it.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Pose, Ray, Shape};
    /// use jostle_world::{Body, Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let ball = Shape::sphere(1.0)?;
    /// let at = |x| Pose::from_translation(DVec3::X * x);
    /// let near = world.insert(Body::fixed(ball.clone(), at(5.0)?))?;
    /// let far = world.insert(Body::fixed(ball, at(9.0)?))?;
    /// let ray = Ray::new(DVec3::ZERO, DVec3::X, f64::INFINITY)?;
    /// let first = world.cast_ray(&ray).expect("it meets both");
    /// assert_eq!((first.id, first.hit.distance), (near, 4.0));
    /// assert_eq!(world.cast_ray_all(&ray)[1].id, far);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cast_ray(&self, ray: &Ray) -> Option<BodyRayHit> {
        let mut first: Option<BodyRayHit> = None;
        for (least, slot) in self.near_ray(ray) {
            if first.is_some_and(|first| least > first.hit.distance) {
                break; // as are all others
            }
            let found = self.hit(slot, ray);
            first = first.into_iter().chain(found).min_by(BodyRayHit::order);
        }
        first
    }

    /// All bodies that a ray meets, each with its first point on the ray; by distance, then by id.
    #[must_use]
    pub fn cast_ray_all(&self, ray: &Ray) -> Vec<BodyRayHit> {
        let near = self.near_ray(ray).into_iter();
        let mut hits: Vec<_> = near.filter_map(|(_, slot)| self.hit(slot, ray)).collect();
        hits.sort_by(BodyRayHit::order);
        hits
    }

    /// All bodies that touch a shape in a pose, sorted. Exact: what lies inside a solid touches it.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Pose, Shape};
    /// use jostle_world::{Body, Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let cube = Shape::cuboid(DVec3::ONE)?;
    /// let id = world.insert(Body::fixed(cube, Pose::IDENTITY))?;
    /// let touching = Pose::from_translation(DVec3::X * 2.5)?;
    /// assert_eq!(world.bodies_touching(&Shape::sphere(2.0)?, &touching), [id]);
    /// assert_eq!(world.bodies_at(DVec3::new(0.5, 0.25, 0.0))?, [id]);
    /// assert_eq!(world.bodies_at(DVec3::new(0.75, 0.25, 0.0))?, []);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bodies_touching(&self, shape: &Shape, pose: &Pose) -> Vec<BodyId> {
        let Some(bounds) = shape.bounds(pose) else { return Vec::new() };
        let mut slots = self.candidates(&bounds);
        slots.retain(|&slot| {
            let body = self.bodies.body(slot);
            Pair::new(shape, pose, &body.shape, &body.pose).touches()
        });
        slots.into_iter().map(|slot| self.bodies.id(slot)).collect()
    }

    /// All bodies that a point is on or inside of, sorted. Exact. A mesh that is not marked as
    /// solid has no inside.
    ///
    /// # Errors
    /// [`WorldError::Point`].
    pub fn bodies_at(&self, point: DVec3) -> Result<Vec<BodyId>, WorldError> {
        let (shape, pose) = point_shape(point)?;
        Ok(self.bodies_touching(&shape, &pose))
    }

    /// All bodies whose boxes overlap a box, sorted: a quick answer that has all bodies in the box,
    /// and may have some that are only near. [`World::bodies_touching`] a cuboid is exact.
    #[must_use]
    pub fn bodies_in_box(&self, bounds: &Aabb) -> Vec<BodyId> {
        let slots = self.candidates(bounds).into_iter();
        slots.map(|slot| self.bodies.id(slot)).collect()
    }

    /// The body nearest to a point, if one is at a distance of at most `within`, which may be
    /// infinite. A point inside a solid, or in a sphere or box, is at distance 0 from it. Of bodies
    /// at the same (rounded) distance the one with the smallest id counts.
    ///
    /// # Errors
    /// [`WorldError::Point`].
    pub fn nearest_body(
        &self,
        point: DVec3,
        within: f64,
    ) -> Result<Option<NearestBody>, WorldError> {
        /// Each box around the point is so much wider than the one before.
        const WIDER: f64 = 4.0;
        let (shape, pose) = point_shape(point)?;
        // The first box has to be small only where there are bodies near the point.
        let mut radius = (point.abs().max_element() * 1e-6).max(1e-3).min(within);
        loop {
            let corner = DVec3::splat(radius);
            let clamp = |p: DVec3| p.clamp(-BOUNDS_MAX, BOUNDS_MAX);
            let bounds = Aabb::around_f64(clamp(point - corner), clamp(point + corner));
            let slots = self.candidates(&bounds);
            let all = slots.len() == self.len() || radius > 4.0 * BOUNDS_MAX.x;
            let best = self.nearest_of(slots, &shape, &pose);
            let best = best.filter(|best| best.distance <= within);
            // What is not in the box is further away than its border.
            let sure = best.is_some_and(|best| best.distance <= radius * (1.0 - ROUNDING));
            if all || sure || radius >= within || within.is_nan() {
                return Ok(best);
            }
            radius = (radius * WIDER).min(within);
        }
    }

    /// The nearest to a point of some bodies.
    fn nearest_of(&self, slots: Vec<u32>, shape: &Shape, pose: &Pose) -> Option<NearestBody> {
        let pair = |slot| {
            let body = self.bodies.body(slot);
            Pair::new(shape, pose, &body.shape, &body.pose)
        };
        let least = |slot| (pair(slot).distance_lower_bound() * (1.0 - ROUNDING), slot);
        let mut slots: Vec<(f64, u32)> = slots.into_iter().map(least).collect();
        slots.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut best: Option<NearestBody> = None;
        for (least, slot) in slots {
            if best.is_some_and(|best| least > best.distance) {
                break; // as are all others
            }
            let found = pair(slot).distance().map(|found| NearestBody {
                id: self.bodies.id(slot),
                distance: found.distance,
                point: found.point_b,
                face: found.faces.b,
            });
            let order = |a: &NearestBody, b: &NearestBody| {
                a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id))
            };
            best = best.into_iter().chain(found).min_by(order);
        }
        best
    }

    /// Slots of all bodies that take part and whose boxes overlap a box, sorted.
    fn candidates(&self, bounds: &Aabb) -> Vec<u32> {
        let mut slots = self.broad_phase.overlapping(bounds);
        slots.retain(|&slot| !self.bodies.is_changed(slot));
        let overlaps = |&slot: &u32| self.bounds_now(slot).is_some_and(|b| b.overlaps(bounds));
        slots.extend(self.bodies.changed_slots().filter(overlaps));
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// The tight box of a body where it is now.
    fn bounds_now(&self, slot: u32) -> Option<Aabb> {
        if !self.bodies.is_changed(slot) {
            return self.broad_phase.tight(slot);
        }
        let body = self.bodies.body(slot);
        body.shape.bounds(&body.pose)
    }

    /// Slots of the bodies that a ray comes near, each with a distance that it is not met before;
    /// sorted by that.
    fn near_ray(&self, ray: &Ray) -> Vec<(f64, u32)> {
        let ends = [ray.origin(), ray.end()].map(|p| p.clamp(-BOUNDS_MAX, BOUNDS_MAX));
        let slots = self.candidates(&Aabb::around_f64(ends[0], ends[1])).into_iter();
        let near =
            slots.filter_map(|slot| Some((least_distance(ray, &self.bounds_now(slot)?)?, slot)));
        let mut near: Vec<_> = near.collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near
    }

    fn hit(&self, slot: u32, ray: &Ray) -> Option<BodyRayHit> {
        let hit = ray_hit(self.bodies.body(slot), ray)?;
        Some(BodyRayHit { id: self.bodies.id(slot), hit })
    }
}

impl BodyRayHit {
    fn order(&self, other: &BodyRayHit) -> std::cmp::Ordering {
        self.hit.distance.total_cmp(&other.hit.distance).then(self.id.cmp(&other.id))
    }
}

/// A sphere of radius 0.
fn point_shape(point: DVec3) -> Result<(Shape, Pose), WorldError> {
    let refused = || WorldError::Point(point);
    let pose = Pose::from_translation(point).map_err(|_| refused())?;
    Ok((Shape::sphere(0.0).map_err(|_| refused())?, pose))
}

/// A distance before which a ray does not meet what is in a box; `None` if it does not meet it at
/// all. The box is taken for the sphere around it.
fn least_distance(ray: &Ray, bounds: &Aabb) -> Option<f64> {
    let (low, high) = (bounds.min().as_dvec3(), bounds.max().as_dvec3());
    if low.abs().max(high.abs()).max_element() >= BOUNDS_MAX.x {
        return Some(0.0); // there may be more than the box shows
    }
    let to = (low + high) * 0.5 - ray.origin();
    let radius = (high - low).length() * 0.5;
    let (far, along) = (to.length(), to.dot(ray.direction()));
    let radius = radius + ROUNDING * (far + radius + ray.origin().length());
    let beside = (to - along * ray.direction()).length();
    let missed = beside > radius || along < -radius || along - radius > ray.length();
    (!missed).then_some((far - radius).max(0.0))
}

/// The first point of a body on a ray.
fn ray_hit(body: &Body, ray: &Ray) -> Option<RayHit> {
    match body.shape.kind() {
        ShapeKind::Sphere { radius } => sphere_hit(body.pose.translation(), radius, ray),
        _ => body.shape.ray(&body.pose, ray),
    }
}

/// The first point of a solid sphere on a ray. Whether there is one is decided exactly.
fn sphere_hit(centre: DVec3, radius: f64, ray: &Ray) -> Option<RayHit> {
    let (origin, direction) = (ray.origin(), ray.direction());
    // A segment is a triangle without area.
    if !sphere_meets_triangle(centre, radius, &[origin, ray.end(), ray.end()]) {
        return None;
    }
    let distance = if spheres_touch(centre, radius, origin, 0.0) {
        0.0
    } else {
        let to = centre - origin;
        let along = to.dot(direction);
        let beside = (to - along * direction).length();
        let half = ((radius - beside) * (radius + beside)).max(0.0).sqrt();
        (along - half).clamp(0.0, ray.length())
    };
    let point = origin + direction * distance;
    Some(RayHit { distance, point, face: 0, normal: (point - centre).normalize_or_zero() })
}
