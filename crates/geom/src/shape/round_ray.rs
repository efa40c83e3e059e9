//! Where does a ray enter a round solid?

use super::round::{PosedRound, Round};
use crate::{Ray, RayHit};
use glam::DVec3;

impl PosedRound {
    /// The first point of the solid on a ray. Right within rounding; whether a ray that grazes the
    /// surface hits it is up to rounding too.
    pub(crate) fn ray(&self, ray: &Ray) -> Option<RayHit> {
        let (origin, direction) = (ray.origin(), ray.direction());
        let distance = if self.height(origin) <= 0.0 {
            0.0
        } else {
            let entries = self.entries(origin - self.centre, direction);
            let ahead = |t: &f64| *t >= 0.0 && *t <= ray.length();
            entries.into_iter().flatten().filter(ahead).reduce(f64::min)?
        };
        let point = origin + direction * distance;
        let normal = self.normal_at(point).unwrap_or(DVec3::ZERO);
        Some(RayHit { distance, point, face: 0, normal })
    }

    /// Where the line from `o` along `d` of length 1, seen from the centre, crosses the surface.
    fn entries(&self, o: DVec3, d: DVec3) -> [Option<f64>; 4] {
        let (up, rise) = (self.axis.dot(o), self.axis.dot(d));
        let (beside, slide) = (o - self.axis * up, d - self.axis * rise);
        let at = |t: &f64| up + rise * t;
        // A flat end, as far as its rim.
        let flat = |z: f64, radius: f64| {
            let t = (z - up) / rise;
            (t.is_finite() && (beside + slide * t).length() <= radius).then_some(t)
        };
        match self.round {
            Round::Sphere { radius } => {
                [first(1.0, o.dot(d), o.dot(o) - radius * radius), None, None, None]
            }
            Round::Capsule { radius, half } => {
                let square = radius * radius;
                let ball = |z: f64| {
                    let from = o - self.axis * z;
                    first(1.0, from.dot(d), from.dot(from) - square)
                };
                let side = first(slide.dot(slide), beside.dot(slide), beside.dot(beside) - square);
                [side.filter(|t| at(t).abs() <= half), ball(-half), ball(half), None]
            }
            Round::Cylinder { radius, half } => {
                let rest = beside.dot(beside) - radius * radius;
                let side = first(slide.dot(slide), beside.dot(slide), rest);
                let side = side.filter(|t| at(t).abs() <= half);
                [side, flat(-half, radius), flat(half, radius), None]
            }
            Round::Cone { radius, half } => {
                // The radius at height z is k (half − z).
                let k = radius / (2.0 * half);
                let (wide, grow) = (k * (half - up), -k * rise);
                let (a, b) = (slide.dot(slide) - grow * grow, beside.dot(slide) - wide * grow);
                let [s, t] = roots(a, b, beside.dot(beside) - wide * wide);
                let on_side = |t: &f64| at(t).abs() <= half;
                [s.filter(on_side), t.filter(on_side), flat(-half, radius), None]
            }
        }
    }
}

/// The first root of a·t² + 2b·t + c.
fn first(a: f64, b: f64, c: f64) -> Option<f64> {
    let [s, t] = roots(a, b, c);
    match (s, t) {
        (Some(s), Some(t)) => Some(s.min(t)),
        (s, t) => s.or(t),
    }
}

/// The roots of a·t² + 2b·t + c, without cancellation.
fn roots(a: f64, b: f64, c: f64) -> [Option<f64>; 2] {
    let square = b * b - a * c;
    if square < 0.0 {
        return [None, None];
    }
    let q = -(b + square.sqrt().copysign(b));
    [q / a, c / q].map(|t| t.is_finite().then_some(t))
}
