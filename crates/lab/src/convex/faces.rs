//! Closest faces of two hulls, followed from question to question without Voronoi regions
//! (Zachmann 2000, 3.4.4).
//!
//! From a pair of faces the search goes to the pair of neighbours that is closest, until none is
//! closer. The thesis' lemma says that this is the closest pair of all. With neighbours across an
//! edge that is so only if equally close pairs are visited too: a corner that is closest belongs to
//! many faces, and the one where the way leads down may be on the other side of it. The thesis has
//! the rule for coplanar faces only; corners need it more often. With all faces around a corner as
//! neighbours it is so without that rule (at a corner that is not closest some edge leads closer,
//! and its faces are neighbours), and it is enough to move on one hull at a time.

use super::{Effort, Hull, Placement};
use glam::DVec3;
use jostle_geom::triangle::{Triangle, distance, distance_below};
use std::collections::HashSet;

/// Which faces are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbours {
    /// Across an edge, on both hulls at a time; equally close pairs are visited too. The thesis.
    Edges,
    /// Around a corner, on one hull at a time.
    Corners,
}

/// Distances that differ by less than this, in radii of the hulls, count as equal: the same corner
/// seen from two faces is not always equally far to the last bit.
const EQUAL: f64 = 1.0 / (1u64 << 46) as f64;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tracked {
    /// The hulls are apart, by this distance, up to rounding. That they are apart is proved.
    Apart(f64),
    /// Faces meet, or the closest faces are inside the other hull, or it could not be proved.
    Maybe,
}

/// The closest faces of a pair, as far as known.
///
/// Hulls without faces (segments and points) have none to follow: they are never proved apart.
#[derive(Clone, Debug)]
pub struct FaceTracker {
    neighbours: Neighbours,
    faces: [u32; 2],
    corners: [u32; 2],
}

/// Two faces, how far apart they are, and from where to where.
#[derive(Clone, Copy, Debug)]
struct Pair {
    faces: [u32; 2],
    distance: f64,
    between: DVec3,
}

impl FaceTracker {
    /// Begins at the first faces.
    #[must_use]
    pub fn new(neighbours: Neighbours) -> FaceTracker {
        FaceTracker { neighbours, faces: [0; 2], corners: [0; 2] }
    }

    /// Which faces it takes for neighbours.
    #[must_use]
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// Begins anew, as if the pair had never been asked about.
    pub fn forget(&mut self) {
        *self = FaceTracker::new(self.neighbours);
    }

    /// How far apart are the hulls?
    pub fn track(&mut self, placement: &Placement<'_>) -> (Tracked, Effort) {
        let mut effort = Effort::default();
        let counts = placement.hulls.map(|hull| hull.triangles().len() as u32);
        if counts.contains(&0) {
            return (Tracked::Maybe, effort);
        }
        self.faces = [0, 1].map(|i| if self.faces[i] < counts[i] { self.faces[i] } else { 0 });
        let mut view = View { placement, effort: &mut effort };
        let mut here = view.pair(self.faces);
        let mut best = here;
        let mut visited: HashSet<[u32; 2]> = HashSet::new();
        while best.distance > 0.0 {
            view.effort.steps += 1;
            let next = match self.neighbours {
                Neighbours::Edges => {
                    visited.insert(here.faces);
                    view.closest_across(here, &visited)
                }
                Neighbours::Corners => view.closest_around(here),
            };
            let Some(next) = next else { break };
            here = next;
            if here.distance < best.distance {
                best = here;
            }
        }
        self.faces = best.faces;
        (self.judge(placement, best, &mut effort), effort)
    }

    /// The test for being inside (figure 3.15 of the thesis), as a proof of the contrary: the plane
    /// across the shortest way must have the hulls on its two sides. It has them if the way leaves
    /// both of them, and never if the faces are inside.
    fn judge(&mut self, placement: &Placement<'_>, here: Pair, effort: &mut Effort) -> Tracked {
        if here.distance <= 0.0 {
            return Tracked::Maybe;
        }
        // Walks begin at corners of the faces, so they are short.
        self.corners = [0, 1].map(|i| placement.hulls[i].triangles()[here.faces[i] as usize][0]);
        let direction = -here.between / here.distance;
        if direction.is_finite() && placement.gap(direction, self.corners, effort).proved {
            Tracked::Apart(here.distance)
        } else {
            Tracked::Maybe
        }
    }
}

/// Distances of faces, counted.
struct View<'a, 'b> {
    placement: &'a Placement<'b>,
    effort: &'a mut Effort,
}

impl View<'_, '_> {
    fn triangle(&self, side: usize, face: u32) -> Triangle {
        let hull: &Hull = self.placement.hulls[side];
        hull.triangles()[face as usize].map(|corner| self.placement.corner(side, corner))
    }

    fn pair(&mut self, faces: [u32; 2]) -> Pair {
        self.effort.distances += 1;
        let found = distance(&self.triangle(0, faces[0]), &self.triangle(1, faces[1]));
        Pair { faces, distance: found.distance, between: found.on_b - found.on_a }
    }

    /// Makes `best` the pair of these faces if it is closer.
    fn improve(&mut self, best: &mut Pair, faces: [u32; 2], triangles: [&Triangle; 2]) {
        self.effort.distances += 1;
        if let Some(found) = distance_below(triangles[0], triangles[1], best.distance) {
            let between = found.on_b - found.on_a;
            *best = Pair { faces, distance: found.distance, between };
        }
    }

    fn closest_around(&mut self, here: Pair) -> Option<Pair> {
        let mut best = here;
        let [a, b] = [0, 1].map(|side| self.triangle(side, here.faces[side]));
        for &face in self.placement.hulls[0].around(here.faces[0]) {
            let other = self.triangle(0, face);
            self.improve(&mut best, [face, here.faces[1]], [&other, &b]);
        }
        for &face in self.placement.hulls[1].around(here.faces[1]) {
            let other = self.triangle(1, face);
            self.improve(&mut best, [here.faces[0], face], [&a, &other]);
        }
        (best.distance < here.distance).then_some(best)
    }

    /// The closest pair of neighbours; if none is closer, one that is equally close and new.
    fn closest_across(&mut self, here: Pair, visited: &HashSet<[u32; 2]>) -> Option<Pair> {
        let mut best: Option<Pair> = None;
        let [a, b] = self.placement.hulls.map(Hull::radius);
        let equal = here.distance + EQUAL * (a + b);
        let near = [0, 1].map(|side| {
            let across = self.placement.hulls[side].across(here.faces[side]);
            let faces = [here.faces[side], across[0], across[1], across[2]];
            faces.map(|face| (face, self.triangle(side, face)))
        });
        for (face_a, a) in &near[0] {
            for (face_b, b) in &near[1] {
                let faces = [*face_a, *face_b];
                if visited.contains(&faces) {
                    continue;
                }
                let limit = best.map_or(equal, |best| best.distance);
                self.effort.distances += 1;
                if let Some(found) = distance_below(a, b, limit) {
                    let between = found.on_b - found.on_a;
                    best = Some(Pair { faces, distance: found.distance, between });
                }
            }
        }
        best
    }
}
