//! A sphere at a pose, against another sphere and against triangles.

use super::cuboid;
use crate::predicates::spheres_touch;
use crate::{ClosestPoint, Model, Pose, PosedModel, Side};
use glam::DVec3;

/// A solid sphere in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedSphere {
    pub(crate) centre: DVec3,
    pub(crate) radius: f64,
}

/// How far apart a sphere and another shape are.
pub(crate) struct SphereGap {
    /// 0 exactly if they touch.
    pub(crate) distance: f64,
    pub(crate) on_sphere: DVec3,
    pub(crate) on_other: DVec3,
    /// The face of the other.
    pub(crate) face: u32,
}

impl PosedSphere {
    #[inline]
    pub(crate) fn touches(&self, other: &PosedSphere) -> bool {
        spheres_touch(self.centre, self.radius, other.centre, other.radius)
    }

    /// A point of both, for spheres that touch: the middle of what they share on the line of their
    /// centres.
    pub(crate) fn common_point(&self, other: &PosedSphere) -> DVec3 {
        let between = other.centre - self.centre;
        let apart = between.length();
        let first = (apart - other.radius).max(-self.radius);
        let last = (apart + other.radius).min(self.radius);
        let along = if apart > 0.0 { between / apart } else { DVec3::ZERO };
        self.centre + along * (first * 0.5 + last * 0.5)
    }

    pub(crate) fn gap(&self, other: &PosedSphere) -> SphereGap {
        if self.touches(other) {
            let point = self.common_point(other);
            return SphereGap { distance: 0.0, on_sphere: point, on_other: point, face: 0 };
        }
        let between = other.centre - self.centre;
        let apart = between.length();
        let along = between / apart;
        SphereGap {
            distance: beyond_radius(apart, self.radius + other.radius),
            on_sphere: self.centre + along * self.radius,
            on_other: other.centre - along * other.radius,
            face: 0,
        }
    }

    pub(crate) fn distance_at_least(&self, other: &PosedSphere) -> f64 {
        let (apart, reach) = (self.centre.distance(other.centre), self.radius + other.radius);
        // Four roundings in the one, one in the other, one in their difference.
        (apart - reach - (apart + reach) * (4.0 * f64::EPSILON)).max(0.0)
    }
}

/// The triangles of a mesh or a cuboid at a pose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedTriangles<'a> {
    pub(crate) model: &'a Model,
    pub(crate) pose: Pose,
    /// Half the edges of a cuboid.
    pub(crate) half: Option<DVec3>,
}

impl<'a> PosedTriangles<'a> {
    pub(crate) fn posed(&self) -> PosedModel<'a> {
        PosedModel::new(self.model, &self.pose)
    }

    pub(crate) fn touches(&self, sphere: &PosedSphere) -> bool {
        self.touches_quickly(sphere)
            .unwrap_or_else(|| self.posed().sphere_touches(sphere.centre, sphere.radius))
    }

    /// Whether they touch, if that can be decided without the triangles.
    fn touches_quickly(&self, sphere: &PosedSphere) -> Option<bool> {
        cuboid::meets_sphere(self.half?, &self.pose, sphere)
    }

    /// A face that the ball touches and a common point. For a ball deep inside a solid, the first
    /// face and the centre of the sphere.
    pub(crate) fn contact(&self, sphere: &PosedSphere) -> Option<(u32, DVec3)> {
        if self.touches_quickly(sphere) == Some(false) {
            return None;
        }
        let posed = self.posed();
        let on_surface = posed.sphere_contact(sphere.centre, sphere.radius);
        on_surface.map(|found| (found.face, found.point)).or_else(|| {
            let inside = posed.contains(sphere.centre) == Ok(Side::Inside);
            inside.then_some((0, sphere.centre))
        })
    }

    pub(crate) fn faces(&self, sphere: &PosedSphere) -> Vec<u32> {
        self.posed().sphere_faces(sphere.centre, sphere.radius)
    }

    pub(crate) fn gap(&self, sphere: &PosedSphere) -> Option<SphereGap> {
        if let Some((face, point)) = self.contact(sphere) {
            return Some(SphereGap { distance: 0.0, on_sphere: point, on_other: point, face });
        }
        let found = self.posed().closest_point(sphere.centre, f64::INFINITY)?;
        let along = (found.point - sphere.centre) / found.distance;
        Some(SphereGap {
            distance: beyond_radius(found.distance, sphere.radius),
            on_sphere: sphere.centre + along * sphere.radius,
            on_other: found.point,
            face: found.face,
        })
    }

    /// The gaps of all triangles within `reach`, which is not below 0, sorted by face, then by
    /// triangle. Each is that of the solid sphere and one triangle alone.
    pub(crate) fn gaps(&self, sphere: &PosedSphere, reach: f64) -> Vec<SphereGap> {
        let near = self.posed().near_sphere(sphere.centre, sphere.radius, reach);
        let gap = |(found, touches): (ClosestPoint, bool)| {
            let ClosestPoint { point, face, distance } = found;
            if touches {
                return SphereGap { distance: 0.0, on_sphere: point, on_other: point, face };
            }
            let along = (point - sphere.centre) / distance;
            SphereGap {
                distance: beyond_radius(distance, sphere.radius),
                on_sphere: sphere.centre + along * sphere.radius,
                on_other: point,
                face,
            }
        };
        near.into_iter().map(gap).filter(|gap| gap.distance <= reach).collect()
    }

    /// Is the gap at most `distance`, which is not below 0?
    pub(crate) fn within(&self, sphere: &PosedSphere, distance: f64) -> bool {
        // Further than rounding can make up for.
        let reach = (sphere.radius + distance) * (1.0 + 1e-12);
        let near = || self.posed().closest_point(sphere.centre, reach);
        self.touches(sphere)
            || near().is_some_and(|found| beyond_radius(found.distance, sphere.radius) <= distance)
    }

    pub(crate) fn distance_at_least(&self, sphere: &PosedSphere) -> f64 {
        let centre = self.posed().distance_lower_bound(sphere.centre);
        if centre == f64::INFINITY {
            return centre;
        }
        (centre - sphere.radius - (centre + sphere.radius) * f64::EPSILON).max(0.0)
    }
}

/// What is left of a distance from the centre beyond a radius, for what does not touch: never zero.
fn beyond_radius(apart: f64, reach: f64) -> f64 {
    (apart - reach).max(f64::MIN_POSITIVE)
}

/// The box around a sphere. Not smaller by a rounding: where the difference is not a number, the
/// next one is taken.
pub(crate) fn bounds(centre: DVec3, radius: f64) -> (DVec3, DVec3) {
    let low = |x: f64| {
        let (sum, rest) = two_sum(x, -radius);
        if rest < 0.0 { sum.next_down() } else { sum }
    };
    let high = |x: f64| -low(-x);
    let c = centre;
    (DVec3::new(low(c.x), low(c.y), low(c.z)), DVec3::new(high(c.x), high(c.y), high(c.z)))
}

/// a + b and its rounding error (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let x = a + b;
    let virtual_b = x - a;
    (x, (a - (x - virtual_b)) + (b - virtual_b))
}
