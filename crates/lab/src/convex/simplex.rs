//! The point of a simplex that is closest to the origin, in plain numbers (Ericson, *Real-Time
//! Collision Detection*, 2005, 5.1).

use glam::DVec3;

/// Up to four points, and for each the corners of the two hulls that it is the difference of.
#[derive(Clone, Debug, Default)]
pub(super) struct Simplex {
    pub(super) points: Vec<(DVec3, [u32; 2])>,
}

impl Simplex {
    /// The closest point; points that it does not need are dropped.
    pub(super) fn closest(&mut self) -> DVec3 {
        let at = |i: usize| self.points[i].0;
        let (point, needed) = match self.points.len() {
            0 => (DVec3::ZERO, 0),
            1 => (at(0), 1),
            2 => segment([at(0), at(1)]),
            3 => triangle([at(0), at(1), at(2)]),
            _ => tetrahedron([at(0), at(1), at(2), at(3)]),
        };
        let mut i = 0;
        self.points.retain(|_| {
            i += 1;
            needed >> (i - 1) & 1 == 1
        });
        point
    }
}

/// The closest point and a bit for each point that it is a mean of.
type Closest = (DVec3, u8);

fn segment([a, b]: [DVec3; 2]) -> Closest {
    let ab = b - a;
    let (along, whole) = (-a.dot(ab), ab.length_squared());
    if along <= 0.0 || whole == 0.0 {
        (a, 0b01)
    } else if along >= whole {
        (b, 0b10)
    } else {
        (a + ab * (along / whole), 0b11)
    }
}

fn triangle([a, b, c]: [DVec3; 3]) -> Closest {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let size = normal.length_squared();
    // The origin is over the face if it is to the left of all three edges.
    let left = |p: DVec3, q: DVec3| normal.dot((q - p).cross(-p)) >= 0.0;
    if size > 0.0 && left(a, b) && left(b, c) && left(c, a) {
        return (normal * (normal.dot(a) / size), 0b111);
    }
    let spread = |bits: u8, [i, j]: [u8; 2]| (bits & 1) << i | (bits >> 1 & 1) << j;
    let edges = [([a, b], [0, 1]), ([b, c], [1, 2]), ([a, c], [0, 2])];
    let found = edges.map(|(edge, places)| {
        let (point, bits) = segment(edge);
        (point, spread(bits, places))
    });
    nearest(&found)
}

fn tetrahedron(p: [DVec3; 4]) -> Closest {
    const FACES: [[usize; 4]; 4] = [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]];
    let mut found: Vec<Closest> = Vec::new();
    for [i, j, k, rest] in FACES {
        let normal = (p[j] - p[i]).cross(p[k] - p[i]);
        let (own, origin) = (normal.dot(p[rest] - p[i]), normal.dot(-p[i]));
        // Beyond this face, or the tetrahedron is flat and has no inside.
        if own * origin <= 0.0 {
            let (point, bits) = triangle([p[i], p[j], p[k]]);
            let spread = (bits & 1) << i | (bits >> 1 & 1) << j | (bits >> 2 & 1) << k;
            found.push((point, spread));
        }
    }
    if found.is_empty() { (DVec3::ZERO, 0b1111) } else { nearest(&found) }
}

fn nearest(found: &[Closest]) -> Closest {
    let mut best = found[0];
    for &other in &found[1..] {
        if other.0.length_squared() < best.0.length_squared() {
            best = other;
        }
    }
    best
}
