//! A tight oriented box around points.
//!
//! Start from a guess (principal axes, or the planes of a few triangles), then climb: turn the
//! frame by ±θ about each of its axes, keep the best of the six if the surface area shrinks, else
//! halve θ. Large sets climb on their extreme points only (Larsson & Källberg 2011, "Fast
//! computation of tight-fitting oriented bounding boxes"); the final extents always come from all
//! points.
//!
//! No library trigonometry: the angles are constants with their sine and cosine, so every machine
//! builds the same tree.

use super::{Obb, stored_axes};
use crate::simd::{F32x8, Isa, Kernel, Simd, three};
use glam::Vec3A;

/// How hard to look for a tight box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effort {
    /// Evaluations of six turned frames each, at most.
    pub(crate) climbs: usize,
    /// How many of [`ANGLES`] are used.
    pub(crate) angles: usize,
    /// Sets up to this many triangles start from the planes of their triangles, others from
    /// principal axes.
    pub(crate) plane_frames: usize,
    /// Sets up to this many triangles do not climb at all: for two triangles with a common edge
    /// the best plane is nearly the best box (without: 3 % fewer triangle tests, 50 ms more per
    /// 200,000 triangles).
    pub(crate) plane_only: usize,
}

/// Cosine and sine of 0.3 rad, 0.15 rad, and so on, each half of the one before.
const ANGLES: [(f32, f32); 6] = [
    (0.955_336_5, 0.295_520_2),
    (0.988_771_1, 0.149_438_13),
    (0.997_188_8, 0.074_929_7),
    (0.999_296_9, 0.037_491_2),
    (0.999_824_2, 0.018_748_9),
    (0.999_956_1, 0.009_374_86),
];

/// Sets with more points climb on their extreme points only.
const DIRECT_MAX: usize = 48;

/// An oriented box with the frame that found it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    /// As a node will store it (axes rounded, extents along the rounded axes).
    pub(crate) obb: Obb,
    /// What a node stores of the axes.
    pub(crate) raw: [i16; 6],
    /// Half the surface area of the box, divided by four.
    pub(crate) area: f32,
}

impl Fit {
    /// The box around `points` along the given orthonormal axes.
    pub(super) fn along(isa: Isa, points: &[Vec3A], axes: [Vec3A; 3]) -> Fit {
        let (raw, axes) = stored_axes(axes);
        let mut dirs = [[[0.0; 8]; 3]; 2];
        for (k, axis) in axes.iter().enumerate() {
            set_direction(&mut dirs, k, *axis);
        }
        let (min, max) = isa.run(Extents { points, dirs: &dirs });
        let three = |from: &[[f32; 8]; 2]| Vec3A::new(from[0][0], from[0][1], from[0][2]);
        let (lo, hi) = (three(&min), three(&max));
        // The centre is rounded, so the half extent is measured from the rounded centre. The axes
        // are orthonormal up to 1.1e-4 only; solving for the point with the wanted projections
        // would be tighter by that much and is not worth it.
        let middle = lo * 0.5 + hi * 0.5; // not (lo + hi) / 2, which can overflow
        let center = axes[0] * middle.x + axes[1] * middle.y + axes[2] * middle.z;
        let along = |p: Vec3A| Vec3A::new(axes[0].dot(p), axes[1].dot(p), axes[2].dot(p));
        let at = along(center);
        let half = (hi - at).max(at - lo).max(Vec3A::ZERO);
        Fit { obb: Obb { center, half, axes }, raw, area: area(half) }
    }

    /// The box along the coordinate axes.
    pub(crate) fn axis_aligned(lo: Vec3A, hi: Vec3A) -> Fit {
        let (raw, axes) = stored_axes([Vec3A::X, Vec3A::Y, Vec3A::Z]);
        let center = lo * 0.5 + hi * 0.5;
        let half = (hi - center).max(center - lo);
        Fit { obb: Obb { center, half, axes }, raw, area: area(half) }
    }

    /// A tight box around triangles.
    pub(crate) fn tight(isa: Isa, triangles: &[[Vec3A; 3]], effort: Effort) -> Fit {
        let points = triangles.as_flattened();
        let mut start = if triangles.len() <= effort.plane_frames {
            plane_frame(isa, triangles)
        } else {
            isa.run(PrincipalAxes(triangles))
        };
        if points.len() <= DIRECT_MAX {
            if triangles.len() > effort.plane_only {
                start = isa.run(Climb { points, start, effort });
            }
            return Fit::along(isa, points, start);
        }
        let plain = Fit::along(isa, points, start);
        if points.len() >= 1 << 24 {
            return plain; // indices of extreme points are kept in `f32`
        }
        let extremes = extreme_points(isa, points, start);
        let climbed = isa.run(Climb { points: &extremes, start, effort });
        let better = Fit::along(isa, points, climbed);
        if better.area < plain.area { better } else { plain }
    }
}

fn area(half: Vec3A) -> f32 {
    half.x * half.y + half.y * half.z + half.z * half.x
}

/// Sixteen directions, eight to a group: `dirs[group][component][lane]`.
type Directions = [[[f32; 8]; 3]; 2];

fn set_direction(dirs: &mut Directions, k: usize, d: Vec3A) {
    for i in 0..3 {
        dirs[k / 8][i][k % 8] = d[i];
    }
}

/// Smallest and largest projection of points on sixteen directions.
struct Extents<'a> {
    points: &'a [Vec3A],
    dirs: &'a Directions,
}

impl Kernel for Extents<'_> {
    type Out = ([[f32; 8]; 2], [[f32; 8]; 2]);

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Out {
        extents::<S>(self.points, self.dirs)
    }
}

#[inline(always)]
fn extents<S: Simd>(points: &[Vec3A], dirs: &Directions) -> ([[f32; 8]; 2], [[f32; 8]; 2]) {
    let d = [three!(I => S::F::load(&dirs[0][I])), three!(I => S::F::load(&dirs[1][I]))];
    let mut min = [S::F::splat(f32::INFINITY); 2];
    let mut max = [S::F::splat(f32::NEG_INFINITY); 2];
    for p in points {
        let [x, y, z] = three!(I => S::F::splat(p[I]));
        for g in 0..2 {
            let at = x.mul_add(d[g][0], y.mul_add(d[g][1], z.mul(d[g][2])));
            min[g] = at.min(min[g]);
            max[g] = at.max(max[g]);
        }
    }
    let mut out = ([[0.0; 8]; 2], [[0.0; 8]; 2]);
    for g in 0..2 {
        min[g].store(&mut out.0[g]);
        max[g].store(&mut out.1[g]);
    }
    out
}

/// The hill climb of the head of this file.
struct Climb<'a> {
    points: &'a [Vec3A],
    start: [Vec3A; 3],
    effort: Effort,
}

impl Kernel for Climb<'_> {
    type Out = [Vec3A; 3];

    #[inline(always)]
    fn run<S: Simd>(self) -> [Vec3A; 3] {
        let mut axes = self.start;
        let mut angle = 0;
        for _ in 0..self.effort.climbs {
            let (c, s) = ANGLES[angle];
            let mut dirs = [[[0.0; 8]; 3]; 2];
            for k in 0..3 {
                let (a, b) = (axes[(k + 1) % 3], axes[(k + 2) % 3]);
                set_direction(&mut dirs, 4 * k, a * c + b * s);
                set_direction(&mut dirs, 4 * k + 1, b * c - a * s);
                set_direction(&mut dirs, 4 * k + 2, a * c - b * s);
                set_direction(&mut dirs, 4 * k + 3, b * c + a * s);
                set_direction(&mut dirs, 12 + k, axes[k]);
            }
            let (min, max) = extents::<S>(self.points, &dirs);
            let width = |d: usize| max[d / 8][d % 8] - min[d / 8][d % 8];
            let area = |x: f32, y: f32, z: f32| x * y + y * z + z * x;
            let now = area(width(12), width(13), width(14));
            let mut best = (now * 0.999, usize::MAX);
            for turn in 0..6 {
                let here = area(width(12 + turn / 2), width(2 * turn), width(2 * turn + 1));
                if here < best.0 {
                    best = (here, turn);
                }
            }
            if best.1 == usize::MAX {
                angle += 1;
                if angle == self.effort.angles {
                    break;
                }
                continue;
            }
            let (k, s) = (best.1 / 2, if best.1.is_multiple_of(2) { s } else { -s });
            let (a, b) = (axes[(k + 1) % 3], axes[(k + 2) % 3]);
            axes[(k + 1) % 3] = a * c + b * s;
            axes[(k + 2) % 3] = b * c - a * s;
        }
        orthonormal(axes)
    }
}

/// Removes the rounding that many small turns pile up.
fn orthonormal([u, v, _]: [Vec3A; 3]) -> [Vec3A; 3] {
    let u = u.normalize();
    let v = (v - u * u.dot(v)).normalize();
    [u, v, u.cross(v)]
}

/// The points that lie outermost in 13 directions of a frame: axes, face and cube diagonals.
fn extreme_points(isa: Isa, points: &[Vec3A], [u, v, w]: [Vec3A; 3]) -> Vec<Vec3A> {
    let list = [
        u,
        v,
        w,
        u + v,
        u - v,
        v + w,
        v - w,
        w + u,
        w - u,
        u + v + w,
        u + v - w,
        u - v + w,
        u - v - w,
    ];
    let mut dirs = [[[0.0; 8]; 3]; 2];
    for (k, d) in list.iter().enumerate() {
        set_direction(&mut dirs, k, *d);
    }
    let (first, last) = isa.run(Outermost { points, dirs: &dirs });
    let at = |from: &[[f32; 8]; 2], k: usize| points[from[k / 8][k % 8] as usize];
    (0..list.len()).flat_map(|k| [at(&first, k), at(&last, k)]).collect()
}

/// Index (as `f32`) of the points with smallest and largest projection on sixteen directions.
struct Outermost<'a> {
    points: &'a [Vec3A],
    dirs: &'a Directions,
}

impl Kernel for Outermost<'_> {
    type Out = ([[f32; 8]; 2], [[f32; 8]; 2]);

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Out {
        let dirs = self.dirs;
        let d = [three!(I => S::F::load(&dirs[0][I])), three!(I => S::F::load(&dirs[1][I]))];
        let mut min = [S::F::splat(f32::INFINITY); 2];
        let mut max = [S::F::splat(f32::NEG_INFINITY); 2];
        let mut first = [S::F::splat(0.0); 2];
        let mut last = [S::F::splat(0.0); 2];
        let mut index = S::F::splat(0.0);
        for p in self.points {
            let [x, y, z] = three!(I => S::F::splat(p[I]));
            for g in 0..2 {
                let at = x.mul_add(d[g][0], y.mul_add(d[g][1], z.mul(d[g][2])));
                first[g] = at.select_lt(min[g], index, first[g]);
                last[g] = max[g].select_lt(at, index, last[g]);
                min[g] = at.min(min[g]);
                max[g] = at.max(max[g]);
            }
            index = index.add(S::F::splat(1.0));
        }
        let mut out = ([[0.0; 8]; 2], [[0.0; 8]; 2]);
        for g in 0..2 {
            first[g].store(&mut out.0[g]);
            last[g].store(&mut out.1[g]);
        }
        out
    }
}

/// The best frame among those that lie in the plane of a triangle along one of its edges: all
/// three edges for up to four triangles, the longest for more.
fn plane_frame(isa: Isa, triangles: &[[Vec3A; 3]]) -> [Vec3A; 3] {
    let points = triangles.as_flattened();
    let edges = if triangles.len() <= 4 { 3 } else { 1 };
    let mut best = Best { points, found: (f32::INFINITY, [Vec3A::X, Vec3A::Y, Vec3A::Z]) };
    let mut frames = [[Vec3A::ZERO; 3]; 5];
    let mut count = 0;
    for t in triangles {
        let mut sides = [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
        let normal = sides[0].cross(sides[1]);
        let long = sides.map(Vec3A::length_squared);
        if edges == 1 {
            let longest = if long[0] >= long[1] && long[0] >= long[2] {
                0
            } else if long[1] >= long[2] {
                1
            } else {
                2
            };
            sides.swap(0, longest);
        }
        for side in &sides[..edges] {
            let Some(u) = side.try_normalize() else { continue };
            let w = normal.try_normalize().unwrap_or_else(|| u.any_orthonormal_vector());
            let axes = orthonormal([u, w.cross(u), w]);
            if !axes.iter().all(|a| a.is_finite()) {
                continue;
            }
            frames[count] = axes;
            count += 1;
            if count == frames.len() {
                best.consider(isa, &frames);
                count = 0;
            }
        }
    }
    best.consider(isa, &frames[..count]);
    best.found.1
}

/// The frame with the smallest box so far.
struct Best<'a> {
    points: &'a [Vec3A],
    found: (f32, [Vec3A; 3]),
}

impl Best<'_> {
    /// Looks at up to five frames.
    fn consider(&mut self, isa: Isa, frames: &[[Vec3A; 3]]) {
        let mut dirs = [[[0.0; 8]; 3]; 2];
        for (k, axis) in frames.as_flattened().iter().enumerate() {
            set_direction(&mut dirs, k, *axis);
        }
        let (min, max) = isa.run(Extents { points: self.points, dirs: &dirs });
        for (k, frame) in frames.iter().enumerate() {
            let width = |d: usize| max[d / 8][d % 8] - min[d / 8][d % 8];
            let area = area(Vec3A::new(width(3 * k), width(3 * k + 1), width(3 * k + 2)));
            if area < self.found.0 {
                self.found = (area, *frame);
            }
        }
    }
}

/// Eigenvectors of the covariance of triangle surfaces (Gottschalk, Lin, Manocha 1996).
struct PrincipalAxes<'a>(&'a [[Vec3A; 3]]);

impl Kernel for PrincipalAxes<'_> {
    type Out = [Vec3A; 3];

    #[inline(always)]
    fn run<S: Simd>(self) -> [Vec3A; 3] {
        principal_axes(self.0)
    }
}

#[inline(always)]
fn principal_axes(triangles: &[[Vec3A; 3]]) -> [Vec3A; 3] {
    let mut middle = Vec3A::ZERO;
    for t in triangles {
        middle += t[0] + t[1] + t[2];
    }
    let middle = middle / (3 * triangles.len()) as f32;
    let mut weight = 0.0;
    let mut mean = Vec3A::ZERO;
    let mut second = [Vec3A::ZERO; 3]; // columns of the matrix of second moments
    for t in triangles {
        let [p, q, r] = [t[0] - middle, t[1] - middle, t[2] - middle];
        let area = (q - p).cross(r - p).length();
        let sum = p + q + r;
        weight += area;
        mean += sum * area;
        for k in 0..3 {
            second[k] += (sum * sum[k] + p * p[k] + q * q[k] + r * r[k]) * area;
        }
    }
    if weight.is_nan() || weight <= 0.0 {
        // Only segments and points: count corners instead of area.
        (weight, mean, second) = (0.0, Vec3A::ZERO, [Vec3A::ZERO; 3]);
        for p in triangles.as_flattened() {
            let p = *p - middle;
            weight += 1.0;
            mean += p * 3.0;
            for (k, column) in second.iter_mut().enumerate() {
                *column += p * p[k] * 12.0;
            }
        }
    }
    let mean = mean / (3.0 * weight);
    let mut m = [[0.0f32; 3]; 3];
    for (i, row) in m.iter_mut().enumerate() {
        for (j, entry) in row.iter_mut().enumerate() {
            *entry = second[j][i] / (12.0 * weight) - mean[i] * mean[j];
        }
    }
    eigenvectors(m)
}

/// Jacobi's method, four sweeps: enough for `f32`.
fn eigenvectors(mut m: [[f32; 3]; 3]) -> [Vec3A; 3] {
    let mut axes = [Vec3A::X, Vec3A::Y, Vec3A::Z];
    for _ in 0..4 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = m[p][q];
            if off == 0.0 {
                continue;
            }
            let theta = (m[q][q] - m[p][p]) / (2.0 * off);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut m {
                let (a, b) = (row[p], row[q]);
                row[p] = c * a - s * b;
                row[q] = s * a + c * b;
            }
            let (row_p, row_q) = (m[p], m[q]);
            m[p] = std::array::from_fn(|k| c * row_p[k] - s * row_q[k]);
            m[q] = std::array::from_fn(|k| s * row_p[k] + c * row_q[k]);
            let (a, b) = (axes[p], axes[q]);
            axes[p] = a * c - b * s;
            axes[q] = a * s + b * c;
        }
    }
    let axes = orthonormal(axes);
    if axes.iter().all(|a| a.is_finite()) { axes } else { [Vec3A::X, Vec3A::Y, Vec3A::Z] }
}
