//! Pairs of triangles for the cases in which the kernels are weak.
//!
//! Uniformly drawn triangles never share a plane and hardly ever touch in a single point; a
//! kernel that is wrong there passes a million such tests. Each family below draws one kind of
//! difficulty.

use crate::rng::Rng;
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::Pose;
use jostle_geom::triangle::Triangle;

/// A kind of difficulty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Corners uniform in a cube.
    Random,
    /// Corners on a grid of 4 or 7 steps: shared planes, lines and corners all the time.
    TinyGrid,
    /// Both exactly in one slanted plane.
    SharedPlane,
    /// Up to three corners shared, or missed by the last bit.
    SharedCorners,
    /// A corner of one is a point of the other, rounded: one bit decides.
    RoundedContact,
    /// Needles, thinner than they are long by up to the last bit.
    Slivers,
    /// Needles and faces one above the other, all but parallel, touching or nearly.
    Grazing,
    /// Sizes from 1e-6 to 1e6 against each other.
    MixedScales,
    /// Segments and points among the triangles.
    Degenerate,
    /// In one plane but for the last bit.
    NearPlane,
    /// `f32` meshes from denormal to 1e38, placed by random poses.
    Placed,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 11] = [
        Family::Random,
        Family::TinyGrid,
        Family::SharedPlane,
        Family::SharedCorners,
        Family::RoundedContact,
        Family::Slivers,
        Family::Grazing,
        Family::MixedScales,
        Family::Degenerate,
        Family::NearPlane,
        Family::Placed,
    ];

    /// One pair of this family.
    pub fn draw(self, rng: &mut Rng) -> [Triangle; 2] {
        match self {
            Family::Random => [(); 2].map(|()| triangle(rng)),
            Family::TinyGrid => {
                let size = rng.pick(&[4, 4, 7]);
                [(); 2].map(|()| [(); 3].map(|()| grid_point(rng, size)))
            }
            Family::SharedPlane => shared_plane(rng),
            Family::SharedCorners => shared_corners(rng),
            Family::RoundedContact => rounded_contact(rng),
            Family::Slivers => slivers(rng),
            Family::Grazing => grazing(rng),
            Family::MixedScales => mixed_scales(rng),
            Family::Degenerate => degenerate(rng),
            Family::NearPlane => near_plane(rng),
            Family::Placed => placed(rng),
        }
    }
}

fn point(rng: &mut Rng) -> DVec3 {
    DVec3::new(rng.unit(), rng.unit(), rng.unit())
}

fn triangle(rng: &mut Rng) -> Triangle {
    [(); 3].map(|()| point(rng))
}

fn grid_point(rng: &mut Rng, size: u64) -> DVec3 {
    DVec3::from([(); 3].map(|()| rng.below(size) as f64))
}

/// A point of the triangle, rounded.
fn point_of(rng: &mut Rng, [a, b, c]: &Triangle) -> DVec3 {
    let (u, v) = (rng.part(), rng.part());
    let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
    let (u, v) = rng.pick(&[(u, v), (u, v), (u, 0.0), (u, 1.0 - u)]);
    a + (b - a) * u + (c - a) * v
}

/// Moves one coordinate by up to two steps of the last bit.
fn nudge(rng: &mut Rng, p: DVec3) -> DVec3 {
    let mut q = p.to_array();
    let i = rng.below(3) as usize;
    q[i] = match rng.below(5) {
        0 => q[i].next_down(),
        1 => q[i].next_up(),
        2 => q[i].next_up().next_up(),
        _ => q[i],
    };
    in_range(DVec3::from(q))
}

/// Takes numbers that a placed coordinate cannot be as zero.
fn in_range(p: DVec3) -> DVec3 {
    let floor = f64::from_bits((1023 - 209) << 52);
    DVec3::from(p.to_array().map(|x| if x.abs() < floor { 0.0 } else { x }))
}

fn shared_plane(rng: &mut Rng) -> [Triangle; 2] {
    let size = rng.pick(&[3, 8, 1 << 20]);
    let [slope_x, slope_y] = [(); 2].map(|()| rng.below(4) as f64 - 1.0);
    let turn = rng.below(3);
    let scale = rng.pick(&[1.0, 0.1_f32 as f64, 1e20_f32 as f64]);
    let mut on_plane = || {
        let [x, y] = [(); 2].map(|()| rng.below(size) as f64);
        let p = DVec3::new(x, y, slope_x * x + slope_y * y) * scale;
        match turn {
            0 => p,
            1 => DVec3::new(p.y, p.z, p.x),
            _ => DVec3::new(p.z, p.x, p.y),
        }
    };
    [(); 2].map(|()| [(); 3].map(|()| on_plane()))
}

fn shared_corners(rng: &mut Rng) -> [Triangle; 2] {
    let (a, mut b) = (triangle(rng), triangle(rng));
    let shared = 1 + rng.below(3) as usize;
    let (from, to) = (rng.below(3) as usize, rng.below(3) as usize);
    for i in 0..shared {
        b[(to + i) % 3] = nudge(rng, a[(from + i) % 3]);
    }
    if rng.below(2) == 0 {
        b.swap(0, 1);
    }
    [a, b]
}

fn rounded_contact(rng: &mut Rng) -> [Triangle; 2] {
    let (a, mut b) = (triangle(rng), triangle(rng));
    let (on_a, part) = (point_of(rng, &a), rng.part());
    // A corner, an edge, or the face of `b` goes through the point, up to rounding.
    match rng.below(3) {
        0 => b[0] = nudge(rng, on_a),
        1 => b[1] = nudge(rng, on_a + (on_a - b[0]) * part),
        _ => b[2] = nudge(rng, on_a * 3.0 - b[0] - b[1]),
    }
    if rng.below(2) == 0 { [a, b] } else { [b, a] }
}

fn slivers(rng: &mut Rng) -> [Triangle; 2] {
    let sliver = |rng: &mut Rng, through: DVec3| {
        let along = point(rng);
        let [p, q] = [through - along * rng.part(), through + along];
        let width = rng.pick(&[0.0, 1e-16, 1e-13, 1e-8, 1e-3]);
        [p, q, p + (q - p) * rng.part() + point(rng) * width]
    };
    let center = point(rng);
    let a = sliver(rng, center);
    let off = point(rng) * rng.pick(&[0.0, 1e-16, 1e-12, 1e-8]);
    let b = if rng.below(4) == 0 { triangle(rng) } else { sliver(rng, center + off) };
    [a, b].map(|t| t.map(in_range))
}

fn grazing(rng: &mut Rng) -> [Triangle; 2] {
    let tiny = |rng: &mut Rng| 10f64.powf(-8.0 + 6.0 * rng.unit()) * rng.pick(&[0.0, 1.0, 1.0]);
    let [along, across, up] = {
        let (x, y) = (point(rng).normalize_or(DVec3::X), point(rng));
        let z = x.cross(y).normalize_or(DVec3::Y);
        [x, z.cross(x), z]
    };
    let needle = |rng: &mut Rng, angle: f64, height: f64| {
        let dir = along + across * angle;
        let side = if rng.below(4) == 0 { rng.unit() } else { tiny(rng) };
        let start = dir * (0.3 * rng.unit() - 1.0) + up * height;
        let end = dir * (1.0 + 0.3 * rng.unit()) + up * height;
        [start, end, start + (end - start) * rng.part() + across * side + up * tiny(rng)]
    };
    let a = needle(rng, 0.0, 0.0);
    let [angle, height] = [(); 2].map(|()| tiny(rng));
    let b = needle(rng, angle, height);
    [a, b].map(|t| t.map(in_range))
}

fn mixed_scales(rng: &mut Rng) -> [Triangle; 2] {
    let [size_a, size_b] = [(); 2].map(|()| 10f64.powf(6.0 * rng.unit()));
    let a = triangle(rng).map(|p| p * size_a);
    let center = point_of(rng, &a);
    let b = triangle(rng).map(|p| center + p * size_b);
    [a, b].map(|t| t.map(in_range))
}

fn degenerate(rng: &mut Rng) -> [Triangle; 2] {
    let size = rng.pick(&[2, 3, 5]);
    let collapse = |rng: &mut Rng| {
        let [p, q, r] = [(); 3].map(|()| grid_point(rng, size));
        match rng.below(5) {
            0 => [p, p, p],
            1 => [p, q, p],
            2 => [p, p + (q - p) * 3.0, q],
            3 => [q, p, p + (p - q)],
            _ => [p, q, r],
        }
    };
    let [mut a, b] = [(); 2].map(|()| collapse(rng));
    // A long slanted segment whose ends cannot be seen to be on one line with few bits.
    if rng.below(4) == 0 {
        let step = DVec3::from([(); 3].map(|()| (rng.below(1 << 20) + 1) as f64));
        a = [b[0] - step, b[0] + step * 2.0, b[0] + step];
        if rng.below(2) == 0 {
            a[0] = b[0] + step;
        }
    }
    if rng.below(2) == 0 { [a, b] } else { [b, a] }
}

fn near_plane(rng: &mut Rng) -> [Triangle; 2] {
    let size = rng.pick(&[4, 1 << 22, 1 << 22]);
    let scale = rng.pick(&[1.0, 0.7, 1e-5]);
    let mut point = || {
        let [x, y] = [(); 2].map(|()| rng.below(size) as f64);
        let p = DVec3::new(x, y, x + y) * scale;
        if scale == 1.0 && size > 4 { p + DVec3::Z * rng.below(3) as f64 } else { nudge(rng, p) }
    };
    [(); 2].map(|()| [(); 3].map(|()| point()))
}

fn placed(rng: &mut Rng) -> [Triangle; 2] {
    let size = rng.pick(&[1e-44_f32, 1e-40, 1e-38, 1e-20, 1.0, 1e10, 1e30, 3e38]);
    let corner = |rng: &mut Rng| {
        if rng.below(3) == 0 {
            Vec3::from([(); 3].map(|()| rng.below(3) as f32 / 2.0)) * size
        } else {
            point(rng).as_vec3() * size
        }
    };
    let [mesh_a, mesh_b] = [(); 2].map(|()| [(); 3].map(|()| corner(rng)));
    let pose = |rng: &mut Rng| {
        let q = DQuat::from_xyzw(rng.unit(), rng.unit(), rng.unit(), rng.unit());
        let q = rng.pick(&[q, q, DQuat::IDENTITY, DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0)]);
        let t = point(rng) * f64::from(size.min(1e29)) * rng.pick(&[0.0, 0.5, 0.5, 1e-12]);
        Pose::new(q, t).unwrap_or(Pose::IDENTITY)
    };
    let pose_a = pose(rng);
    let pose_b = if rng.below(3) == 0 { pose_a } else { pose(rng) };
    let (a, mut b) =
        (mesh_a.map(|p| pose_a.transform_point(p)), mesh_b.map(|p| pose_b.transform_point(p)));
    if rng.below(8) == 0 {
        b = a;
    } else if rng.below(8) == 0 {
        b[1] = a[2];
    }
    [a, b]
}
