//! A sphere in its place, against another and against a model.

use super::cuboid;
use glam::DVec3;
use jostle_geom::predicates::spheres_touch;
use jostle_geom::{Model, Placed, Pose, Side};

/// A solid sphere in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball {
    pub(super) centre: DVec3,
    pub(super) radius: f64,
}

/// How far apart a ball and something else are.
pub(super) struct Gap {
    /// 0 exactly if they touch.
    pub(super) distance: f64,
    pub(super) on_ball: DVec3,
    pub(super) on_other: DVec3,
    /// The face of the other.
    pub(super) face: u32,
}

impl Ball {
    #[inline]
    pub(super) fn touches(&self, other: &Ball) -> bool {
        spheres_touch(self.centre, self.radius, other.centre, other.radius)
    }

    /// A point of both, for balls that touch: the middle of what they share on the line of their
    /// centres.
    pub(super) fn common_point(&self, other: &Ball) -> DVec3 {
        let between = other.centre - self.centre;
        let apart = between.length();
        let first = (apart - other.radius).max(-self.radius);
        let last = (apart + other.radius).min(self.radius);
        let along = if apart > 0.0 { between / apart } else { DVec3::ZERO };
        self.centre + along * (first * 0.5 + last * 0.5)
    }

    pub(super) fn gap(&self, other: &Ball) -> Gap {
        if self.touches(other) {
            let point = self.common_point(other);
            return Gap { distance: 0.0, on_ball: point, on_other: point, face: 0 };
        }
        let between = other.centre - self.centre;
        let apart = between.length();
        let along = between / apart;
        Gap {
            distance: room(apart, self.radius + other.radius),
            on_ball: self.centre + along * self.radius,
            on_other: other.centre - along * other.radius,
            face: 0,
        }
    }

    pub(super) fn distance_at_least(&self, other: &Ball) -> f64 {
        let (apart, reach) = (self.centre.distance(other.centre), self.radius + other.radius);
        // Four roundings in the one, one in the other, one in their difference.
        (apart - reach - (apart + reach) * (4.0 * f64::EPSILON)).max(0.0)
    }
}

/// A model in the world, as a ball meets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) model: &'a Model,
    pub(super) pose: &'a Pose,
    /// Half the edges if the model is that of a box.
    pub(super) half: Option<DVec3>,
}

impl<'a> Target<'a> {
    fn placed(&self) -> Placed<'a> {
        Placed::new(self.model, self.pose)
    }

    pub(super) fn touches(&self, ball: &Ball) -> bool {
        self.quickly(ball).unwrap_or_else(|| self.placed().sphere_touches(ball.centre, ball.radius))
    }

    /// Whether they touch, if that is easily seen.
    fn quickly(&self, ball: &Ball) -> Option<bool> {
        cuboid::meets_ball(self.half?, self.pose, ball)
    }

    /// A face that the ball touches and a common point. For a ball deep inside a solid, the first
    /// face and the centre of the ball.
    pub(super) fn contact(&self, ball: &Ball) -> Option<(u32, DVec3)> {
        if self.quickly(ball) == Some(false) {
            return None;
        }
        let placed = self.placed();
        let on_surface = placed.sphere_contact(ball.centre, ball.radius);
        on_surface.map(|found| (found.face, found.point)).or_else(|| {
            let inside = placed.contains(ball.centre) == Ok(Side::Inside);
            inside.then_some((0, ball.centre))
        })
    }

    pub(super) fn faces(&self, ball: &Ball) -> Vec<u32> {
        self.placed().sphere_faces(ball.centre, ball.radius)
    }

    pub(super) fn gap(&self, ball: &Ball) -> Option<Gap> {
        if let Some((face, point)) = self.contact(ball) {
            return Some(Gap { distance: 0.0, on_ball: point, on_other: point, face });
        }
        let found = self.placed().closest_point(ball.centre, f64::INFINITY)?;
        let along = (found.point - ball.centre) / found.distance;
        Some(Gap {
            distance: room(found.distance, ball.radius),
            on_ball: ball.centre + along * ball.radius,
            on_other: found.point,
            face: found.face,
        })
    }

    /// Is the gap at most `distance`, which is not below 0?
    pub(super) fn within(&self, ball: &Ball, distance: f64) -> bool {
        // Further than rounding can make up for.
        let reach = (ball.radius + distance) * (1.0 + 1e-12);
        let near = || self.placed().closest_point(ball.centre, reach);
        self.touches(ball)
            || near().is_some_and(|found| room(found.distance, ball.radius) <= distance)
    }

    pub(super) fn distance_at_least(&self, ball: &Ball) -> f64 {
        let centre = self.placed().distance_lower_bound(ball.centre);
        if centre == f64::INFINITY {
            return centre;
        }
        (centre - ball.radius - (centre + ball.radius) * f64::EPSILON).max(0.0)
    }
}

/// What is left of a distance from the centre beyond a radius, for what does not touch: never zero.
fn room(apart: f64, reach: f64) -> f64 {
    (apart - reach).max(f64::MIN_POSITIVE)
}

/// The box around a sphere. Not smaller by a rounding: where the difference is not a number, the
/// next one is taken.
pub(super) fn bounds(centre: DVec3, radius: f64) -> (DVec3, DVec3) {
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
