//! Spheres: turning costs least, and they fit worst.

use super::volume::{Volume, read_f32, up};
use crate::Count;
use crate::traverse::{ROUNDING, Relative};
use glam::{DVec3, Vec3};

/// A sphere around triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    centre: Vec3,
    radius: f32,
}

/// A sphere in the frame of the first mesh.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlignedSphere {
    centre: DVec3,
    radius: f64,
}

/// How often Ritter's sphere is made smaller and grown again.
const ROUNDS: usize = 8;

impl Volume for Sphere {
    const NAME: &'static str = "sphere";
    const TAG: u8 = 2;
    const BYTES: usize = 16;
    type Aligned = AlignedSphere;

    fn around(triangles: &[[DVec3; 3]]) -> Sphere {
        let points = || triangles.iter().flatten().copied();
        let (mut centre, mut radius) = ritter(points);
        let (mut best, mut least) = (centre, radius);
        for _ in 0..ROUNDS {
            (centre, radius) = grown(points, best, radius * 0.95);
            if radius < least {
                (best, least) = (centre, radius);
            }
        }
        // The centre is rounded, then the radius is taken from where it is.
        let centre = best.as_vec3();
        let radius = points().map(|p| p.distance(centre.as_dvec3())).fold(0.0, f64::max);
        Sphere { centre, radius: up(radius) }
    }

    fn size(&self) -> f64 {
        4.0 / 3.0 * std::f64::consts::PI * f64::from(self.radius).powi(3)
    }

    fn plain(&self) -> AlignedSphere {
        AlignedSphere { centre: self.centre.as_dvec3(), radius: f64::from(self.radius) }
    }

    /// Nine products and nine sums.
    fn turned(&self, relative: &Relative, count: &mut Count) -> AlignedSphere {
        count.operations += 18;
        let AlignedSphere { centre, radius } = self.plain();
        AlignedSphere { centre: relative.place(centre), radius }
    }

    /// A distance of two points is rounded by 4v·L (difference, squares, sum, root), once when the
    /// radius is fitted, and once here after placing (6v·L) and before two sums (2v·L). Squares
    /// neither overflow nor vanish: numbers are below 2^131 and multiples of 2^-261.
    fn overlap(a: &AlignedSphere, b: &AlignedSphere, slack: f64, count: &mut Count) -> bool {
        count.comparisons += 1;
        let apart = a.centre.distance(b.centre) > a.radius + b.radius + slack;
        !apart
    }

    fn encloses(&self, point: DVec3, reach: f64) -> bool {
        let AlignedSphere { centre, radius } = self.plain();
        let sound = centre.abs().max_element() <= reach && radius <= 4.0 * reach;
        sound && point.distance(centre) <= radius + 8.0 * ROUNDING * reach
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let numbers = self.centre.to_array().into_iter().chain([self.radius]);
        bytes.extend(numbers.flat_map(f32::to_le_bytes));
    }

    fn read(bytes: &[u8]) -> Sphere {
        let [x, y, z, radius] = read_f32(bytes);
        Sphere { centre: Vec3::new(x, y, z), radius }
    }
}

/// Ritter's sphere: through two points that are far apart, grown where it has to.
fn ritter<Points: Iterator<Item = DVec3>>(points: impl Fn() -> Points) -> (DVec3, f64) {
    let farthest = |from: DVec3| {
        let distance = |p: &DVec3| p.distance_squared(from);
        points().max_by(|p, q| distance(p).total_cmp(&distance(q))).unwrap_or(from)
    };
    let one = farthest(points().next().unwrap_or(DVec3::ZERO));
    let other = farthest(one);
    grown(&points, one * 0.5 + other * 0.5, one.distance(other) * 0.5)
}

/// Moved and grown until all points are inside.
fn grown<Points: Iterator<Item = DVec3>>(
    points: impl Fn() -> Points,
    mut centre: DVec3,
    mut radius: f64,
) -> (DVec3, f64) {
    for point in points() {
        let distance = point.distance(centre);
        if distance > radius {
            let more = (distance - radius) * 0.5;
            radius += more;
            centre += (point - centre) * (more / distance);
        }
    }
    (centre, radius)
}
