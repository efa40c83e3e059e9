//! Sphere, capsule, cylinder and cone, as fine as a tolerance asks for.

use super::{SolidError, check_dimension, check_triangles};
use crate::Mesh;
use glam::{DVec2, DVec3, Vec3};

/// A sphere: an octahedron whose faces are cut into n² triangles and blown up. Its box is exactly
/// that of the true sphere.
///
/// Why n = √(radius / tolerance) is enough, for radius 1: a triangle of the flat face has a
/// circumscribed circle of radius √(2/3) / n, and the face is 1/√3 from the centre, so seen from
/// the centre it lies within an angle of √2 / n around the centre of that circle. After blowing
/// up, its corners lie in that cone on the sphere; its points have at least the distance
/// cos(√2 / n) ≥ 1 − 1 / n² from the centre, and every ray from the centre meets such a point.
///
/// ```
/// use jostle_geom::solids;
///
/// let ball = solids::sphere(1.0, 0.01)?.into_solid()?;
/// assert_eq!(ball.triangle_count(), 8 * 11 * 11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A radius or tolerance that is not a usable number; a tolerance that needs more than
/// [`super::TRIANGLES_MAX`] triangles or more digits than `f32` has.
pub fn sphere(radius: f64, tolerance: f64) -> Result<Mesh, SolidError> {
    check_dimension("the radius", radius)?;
    let sag = usable_tolerance(tolerance, radius)?;
    let count = octahedron_cuts(radius, sag)?;
    let mut shape = Rings::default();
    for ring in 0..=2 * count {
        shape.push_octahedron_ring(ring, count, |direction| direction * radius);
    }
    for ring in 0..2 * count {
        shape.join_octahedron_rings(ring, count, [ring, ring + 1]);
    }
    Ok(Mesh::from_triangles(shape.vertices, shape.triangles)?)
}

/// A capsule along z: a cylinder of the given height (without the ends) between two half spheres.
///
/// # Errors
/// As [`sphere`].
pub fn capsule(radius: f64, height: f64, tolerance: f64) -> Result<Mesh, SolidError> {
    check_dimension("the radius", radius)?;
    check_dimension("the height", height)?;
    let sag = usable_tolerance(tolerance, radius + height * 0.5)?;
    let count = octahedron_cuts(radius, sag)?;
    // The widest step around the equator is 2 / n, seen from the axis; half of it is less than
    // the √2 / n that the sphere is good for, so the cylinder keeps the tolerance too.
    let mut shape = Rings::default();
    for (rings, shift) in [(0..=count, height * 0.5), (count..=2 * count, height * -0.5)] {
        for ring in rings {
            shape.push_octahedron_ring(ring, count, |direction| {
                direction * radius + DVec3::Z * shift
            });
        }
    }
    for ring in 0..count {
        shape.join_octahedron_rings(ring, count, [ring, ring + 1]);
    }
    shape.join_equal_rings(count);
    for ring in count..2 * count {
        shape.join_octahedron_rings(ring, count, [ring + 1, ring + 2]);
    }
    Ok(Mesh::from_triangles(shape.vertices, shape.triangles)?)
}

/// A cylinder along z with flat ends: two polygons and a quad for each of their edges.
///
/// # Errors
/// As [`sphere`].
pub fn cylinder(radius: f64, height: f64, tolerance: f64) -> Result<Mesh, SolidError> {
    check_dimension("the radius", radius)?;
    check_dimension("the height", height)?;
    let sag = usable_tolerance(tolerance, radius.max(height * 0.5))?;
    let count = circle_cuts(radius, sag);
    check_triangles(count * 4.0)?;
    let count = count as u32;
    let ring = |z: f64| circle(count).map(move |p| (p * radius).extend(z).as_vec3());
    let vertices: Vec<Vec3> = ring(height * -0.5).chain(ring(height * 0.5)).collect();
    let mut faces: Vec<Vec<u32>> = vec![(0..count).rev().collect(), (count..2 * count).collect()];
    faces.extend((0..count).map(|i| {
        let next = (i + 1) % count;
        vec![i, next, next + count, i + count]
    }));
    Ok(Mesh::from_polygons(vertices, faces)?)
}

/// A cone along z with its tip up: a polygon at the bottom and a triangle for each of its edges.
///
/// # Errors
/// As [`sphere`].
pub fn cone(radius: f64, height: f64, tolerance: f64) -> Result<Mesh, SolidError> {
    check_dimension("the radius", radius)?;
    check_dimension("the height", height)?;
    let sag = usable_tolerance(tolerance, radius.max(height * 0.5))?;
    let count = circle_cuts(radius, sag);
    check_triangles(count * 2.0)?;
    let count = count as u32;
    let rim = circle(count).map(|p| (p * radius).extend(height * -0.5).as_vec3());
    let tip = Vec3::new(0.0, 0.0, (height * 0.5) as f32);
    let vertices: Vec<Vec3> = rim.chain([tip]).collect();
    let mut faces: Vec<Vec<u32>> = vec![(0..count).rev().collect()];
    faces.extend((0..count).map(|i| vec![i, (i + 1) % count, count]));
    Ok(Mesh::from_polygons(vertices, faces)?)
}

/// What is left of the tolerance after rounding coordinates of size `reach` to `f32`.
fn usable_tolerance(tolerance: f64, reach: f64) -> Result<f64, SolidError> {
    check_dimension("the tolerance", tolerance)?;
    // Each coordinate is rounded by at most 2^-24 of its size: √3 · 2^-24 < 2^-23.
    let rounding = reach / f64::from(1 << 23);
    if tolerance < 2.0 * rounding {
        return Err(SolidError::TooPrecise { tolerance, smallest: 2.0 * rounding });
    }
    Ok(tolerance - rounding)
}

/// How many chords a circle needs, so that none is further from it than `sag`: the middle of a
/// chord is at cos(π / n) ≥ 1 − (π / n)² / 2 of the radius.
fn circle_cuts(radius: f64, sag: f64) -> f64 {
    (std::f64::consts::PI * (radius / (2.0 * sag)).sqrt()).ceil().max(3.0)
}

/// Into how many parts the edges of the octahedron are cut, see [`sphere`].
fn octahedron_cuts(radius: f64, sag: f64) -> Result<u32, SolidError> {
    let count = (radius / sag).sqrt().ceil().max(1.0);
    check_triangles(count * count * 8.0)?;
    Ok(count as u32)
}

/// Points at equal steps on the unit circle, exact on the axes.
fn circle(count: u32) -> impl Iterator<Item = DVec2> {
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

/// Rings of vertices from top to bottom, and triangles between them.
#[derive(Default)]
struct Rings {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    starts: Vec<u32>,
}

impl Rings {
    /// Ring `ring` of an octahedron whose edges are cut in `count`: a point at the top, 4, 8, …
    /// vertices down to the middle, and the same again to the bottom.
    fn push_octahedron_ring(&mut self, ring: u32, count: u32, place: impl Fn(DVec3) -> DVec3) {
        const CORNERS: [DVec2; 5] = [DVec2::X, DVec2::Y, DVec2::NEG_X, DVec2::NEG_Y, DVec2::X];
        self.starts.push(self.vertices.len() as u32);
        let per_side = ring.min(2 * count - ring);
        let z = f64::from(count) - f64::from(ring);
        if per_side == 0 {
            self.vertices.push(place(DVec3::Z * z.signum()).as_vec3());
        }
        for side in CORNERS.windows(2) {
            for step in 0..per_side {
                let flat = side[0] * f64::from(per_side - step) + side[1] * f64::from(step);
                let point = flat.extend(z);
                // Not `normalize`, which multiplies by the inverse and misses 1 on the axes.
                self.vertices.push(place(point / point.length()).as_vec3());
            }
        }
    }

    /// Triangles between the octahedron's rings `ring` and `ring + 1`, which stand at `slots`.
    fn join_octahedron_rings(&mut self, ring: u32, count: u32, slots: [u32; 2]) {
        let size = |ring: u32| ring.min(2 * count - ring);
        let [upper, lower] = [size(ring), size(ring + 1)];
        let [upper_start, lower_start] = slots.map(|slot| self.starts[slot as usize]);
        for side in 0..4 {
            // The last vertex of a side is the first of the next, the fourth ends at the first.
            let at = |start: u32, per_side: u32, step: u32| {
                start + (side * per_side + step) % (4 * per_side).max(1)
            };
            for step in 0..upper.max(lower) {
                let [a, d] = [step, step + 1].map(|step| at(upper_start, upper, step));
                let [b, c] = [step, step + 1].map(|step| at(lower_start, lower, step));
                if lower > upper {
                    self.triangles.push([a, b, c]);
                    if step + 1 < lower {
                        self.triangles.push([a, c, d]);
                    }
                } else {
                    self.triangles.push([a, b, d]);
                    if step + 1 < upper {
                        self.triangles.push([d, b, c]);
                    }
                }
            }
        }
    }

    /// Two triangles for each edge of ring `upper` and the ring below it, of the same size.
    fn join_equal_rings(&mut self, upper: u32) {
        let [start, below] = [upper, upper + 1].map(|slot| self.starts[slot as usize]);
        let size = below - start;
        for step in 0..size {
            let next = (step + 1) % size;
            let (a, b, c, d) = (start + step, below + step, below + next, start + next);
            self.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
}
