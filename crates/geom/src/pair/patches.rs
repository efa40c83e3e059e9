//! Where do two surfaces touch? Connected patches, each a point, a curve or an area.
//!
//! Which faces touch, which of them hang together, and whether that is a point, a curve or an area
//! is decided exactly. Centres, lengths, areas and normals are numbers.

use super::connect::{Touch, groups};
use super::models::ModelPair;
use super::walk::{Order, Touching, Walk};
use super::{FacePair, Pair};
use crate::triangle::shared::{Shared, shared};
use glam::DVec3;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A connected part of what two surfaces share.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// What it is, and how large.
    pub extent: PatchExtent,
    /// The middle of its area; of its length if it is a curve.
    pub centre: DVec3,
    /// From the second shape towards the first, of length 1: the mean over the patch of what its
    /// triangles show of the sides on which the shapes are. `None` if they show none, or opposite
    /// ones: faces in one plane whose sides nothing shows, surfaces that pass through each other.
    pub normal: Option<DVec3>,
    /// The pairs of faces that touch here, sorted.
    pub faces: Vec<FacePair>,
}

/// What a patch is, and how large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PatchExtent {
    /// One point.
    Point,
    /// A line with this length, straight or not. Surfaces that pass through each other share a
    /// curve, too.
    Curve {
        /// The length. What several triangles share counts once.
        length: f64,
    },
    /// Faces in one plane, or in several. Curves that end in it are part of it.
    Area {
        /// The area. A face that is there twice counts twice.
        area: f64,
    },
}

/// Why there are no patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchesError {
    /// One of the shapes is round.
    #[error("patches are made of triangles, and a round shape has none")]
    Sphere,
}

impl Pair<'_> {
    /// The connected parts of what the two surfaces share, sorted by their first faces. What lies
    /// deep inside a solid touches no face of it, and has no patch.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, Pair, PatchExtent, Pose, Quality, solids};
    ///
    /// let cube = Model::build(solids::cuboid(DVec3::ONE)?.into_solid()?, Quality::Default);
    /// let beside = Pose::from_translation(DVec3::new(1.0, 0.5, 0.0))?;
    /// let patches = Pair::new(&cube, &Pose::IDENTITY, &cube, &beside).patches()?;
    /// assert_eq!(patches.len(), 1);
    /// assert_eq!(patches[0].extent, PatchExtent::Area { area: 0.5 });
    /// assert!(patches[0].centre.distance(DVec3::new(0.5, 0.25, 0.0)) < 1e-12);
    /// assert_eq!(patches[0].normal, Some(-DVec3::X));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A round shape has no triangles.
    pub fn patches(&self) -> Result<Vec<Patch>, PatchesError> {
        Ok(self.models().ok_or(PatchesError::Sphere)?.patches())
    }
}

impl ModelPair<'_> {
    fn patches(&self) -> Vec<Patch> {
        let touches = self.touching_triangles();
        let group = groups(&touches);
        let count = group.iter().max().map_or(0, |last| last + 1);
        let mut parts: Vec<Vec<&Touch>> = vec![Vec::new(); count];
        for (touch, group) in touches.iter().zip(group) {
            parts[group].push(touch);
        }
        let mut known = [BTreeMap::new(), BTreeMap::new()];
        let mut patches: Vec<Patch> =
            parts.iter().map(|part| self.patch(part, &mut known)).collect();
        patches.sort_by(|p, q| p.faces.cmp(&q.faces));
        patches
    }

    /// Sorted by triangle, and so the same for any order in which the walk finds them.
    fn touching_triangles(&self) -> Vec<Touch> {
        let mut found: Vec<[usize; 2]> = Vec::new();
        let mut collect = Touching(|a, b| {
            found.push([a, b]);
            ControlFlow::Continue(())
        });
        Walk::new(self, Order::Any, 0.0).run(self, u64::MAX, &mut collect);
        found.sort_unstable();
        let touch = |of: [usize; 2]| {
            let placed = [self.triangle_a(of[0]), self.triangle_b(of[1])];
            Some(Touch { of, placed, shared: shared(&placed[0], &placed[1])? })
        };
        found.into_iter().filter_map(touch).collect()
    }

    fn patch(&self, part: &[&Touch], known: &mut [Insides; 2]) -> Patch {
        let mut faces: Vec<FacePair> =
            part.iter().map(|touch| self.faces(touch.of[0], touch.of[1])).collect();
        faces.sort_unstable();
        faces.dedup();
        let polygons = || {
            part.iter().filter_map(|touch| match &touch.shared {
                Shared::Polygon(corners) => Some((*touch, corners)),
                _ => None,
            })
        };
        let is_area = polygons().next().is_some();
        let (extent, centre) = if is_area {
            let (area, centre) = mean(polygons().flat_map(|(_, corners)| fan(corners)));
            (PatchExtent::Area { area }, centre)
        } else {
            of_curve(part)
        };
        let sum = if is_area { self.push_of_area(part, known) } else { self.push_of_curve(part) };
        Patch { extent, centre, normal: direction(sum), faces }
    }

    /// The normals of all that is flat, each as long as its area, and the sum of all lengths.
    fn push_of_area(&self, part: &[&Touch], known: &mut [Insides; 2]) -> (DVec3, f64) {
        let [placed_a, placed_b] = self.posed();
        let (mut sum, mut all) = (DVec3::ZERO, 0.0);
        let mut votes: Option<Vec<DVec3>> = None;
        for touch in part {
            let Shared::Polygon(corners) = &touch.shared else { continue };
            let [a, b] = touch.of;
            let area: f64 = fan(corners).map(|(area, _)| area).sum();
            all += area;
            let normal = self.normal_by_insides(touch, known).or_else(|| {
                // What is solid has answered; for surfaces, what stands beside.
                if placed_a.model().mesh().is_solid() || placed_b.model().mesh().is_solid() {
                    return None;
                }
                let votes = votes.get_or_insert_with(|| self.votes(part));
                let line = placed_b.normal(b).or_else(|| placed_a.normal(a))?;
                let along = votes.iter().map(|v| v.dot(line)).filter(|x| x.abs() > SAME_LINE);
                let (mut up, mut down) = (false, false);
                along.for_each(|x| if x > 0.0 { up = true } else { down = true });
                (up != down).then_some(if up { line } else { -line })
            });
            sum += normal.unwrap_or(DVec3::ZERO) * area;
        }
        (sum, all)
    }

    /// As [`ModelPair::normal_by_inside`]; asks each triangle once.
    fn normal_by_insides(&self, touch: &Touch, known: &mut [Insides; 2]) -> Option<DVec3> {
        let [a, b] = touch.of;
        let mut point = None;
        let [towards_a, towards_b] = [0, 1].map(|i| {
            *known[i].entry(touch.of[i]).or_insert_with(|| {
                let point = point.get_or_insert_with(|| self.point_of_overlap(a, b));
                self.towards_inside(i, touch.of[i], point.as_ref()?)
            })
        });
        super::side::between_insides(towards_a, towards_b)
    }

    /// The normals of all pairs that are not in one plane.
    fn votes(&self, part: &[&Touch]) -> Vec<DVec3> {
        let votes = part.iter().filter(|touch| !matches!(touch.shared, Shared::Polygon(_)));
        votes.flat_map(|touch| self.normals_at(touch)).collect()
    }

    fn normals_at(&self, touch: &Touch) -> Vec<DVec3> {
        let points = touch.shared.points();
        let middle = points.iter().sum::<DVec3>() / points.len() as f64;
        self.separating_normals(touch.of[0], touch.of[1], middle)
    }

    /// The normals of all segments, each as long as the segment, or of all points.
    fn push_of_curve(&self, part: &[&Touch]) -> (DVec3, f64) {
        let is_curve = part.iter().any(|touch| matches!(touch.shared, Shared::Segment { .. }));
        let (mut sum, mut all) = (DVec3::ZERO, 0.0);
        for touch in part {
            let weight = match touch.shared {
                Shared::Segment { ends: [p, q], .. } => p.distance(q),
                _ if is_curve => continue,
                _ => 1.0,
            };
            for normal in self.normals_at(touch) {
                all += weight;
                sum += normal * weight;
            }
        }
        (sum, all)
    }
}

/// What is known of triangles of one model: the direction to the inside, if they have one.
type Insides = BTreeMap<usize, Option<DVec3>>;

/// Normals are along the same line if their product is larger than this.
const SAME_LINE: f64 = 1.0 - 1e-9;

/// Sums below this part of what was summed up are nothing but rounding.
const NOTHING: f64 = 1e-9;

fn direction((sum, all): (DVec3, f64)) -> Option<DVec3> {
    if sum.length() > NOTHING * all { sum.try_normalize() } else { None }
}

/// The triangles that a convex polygon is made of: area and centre.
fn fan(corners: &[DVec3]) -> impl Iterator<Item = (f64, DVec3)> + '_ {
    let first = corners[0];
    corners[1..].windows(2).map(move |pair| {
        let [p, q] = [pair[0] - first, pair[1] - first];
        (p.cross(q).length() * 0.5, first + (p + q) / 3.0)
    })
}

/// The sum of all weights and the mean place.
fn mean(parts: impl Iterator<Item = (f64, DVec3)>) -> (f64, DVec3) {
    let parts: Vec<(f64, DVec3)> = parts.collect();
    let all: f64 = parts.iter().map(|part| part.0).sum();
    // Relative to one of them, so that no digits are lost far from the origin.
    let first = parts.first().map_or(DVec3::ZERO, |part| part.1);
    let moment: DVec3 = parts.iter().map(|&(weight, p)| (p - first) * weight).sum();
    let off = moment / all;
    (all, if off.is_finite() { first + off } else { first })
}

/// The parts of an edge that are shared.
struct Covered {
    start: DVec3,
    along: DVec3,
    /// From and to, measured from the start.
    parts: Vec<[f64; 2]>,
}

/// A patch without area: its length, in which what lies on one edge counts once.
fn of_curve(part: &[&Touch]) -> (PatchExtent, DVec3) {
    // The parts of an edge that are covered, by the edge; and what lies on none.
    let mut on_edges: BTreeMap<[[u64; 3]; 2], Covered> = BTreeMap::new();
    let mut pieces: Vec<[DVec3; 2]> = Vec::new();
    let mut point = None;
    for touch in part {
        match touch.shared {
            Shared::Segment { ends, edge: Some(edge) } => {
                let [p, q] = crate::triangle::ends(&[edge[0], edge[1], edge[1]]);
                let key = [p, q].map(|p| (p + 0.0).to_array().map(f64::to_bits));
                let along = (q - p).normalize_or_zero();
                let [s, t] = ends.map(|end| (end - p).dot(along));
                let new = || Covered { start: p, along, parts: Vec::new() };
                on_edges.entry(key).or_insert_with(new).parts.push([s.min(t), s.max(t)]);
            }
            Shared::Segment { ends, edge: None } => pieces.push(ends),
            _ => point = point.or(touch.shared.points().first().copied()),
        }
    }
    for Covered { start, along, parts: mut covered } in on_edges.into_values() {
        covered.sort_unstable_by(|x, y| x[0].total_cmp(&y[0]).then(x[1].total_cmp(&y[1])));
        let mut end = f64::NEG_INFINITY;
        for [from, to] in covered {
            let from = from.max(end);
            if to > from {
                pieces.push([from, to].map(|x| start + along * x));
                end = to;
            }
        }
    }
    if pieces.is_empty() {
        return (PatchExtent::Point, point.unwrap_or(DVec3::ZERO));
    }
    let middle = |[p, q]: [DVec3; 2]| (p.distance(q), p + (q - p) * 0.5);
    let (length, centre) = mean(pieces.into_iter().map(middle));
    (PatchExtent::Curve { length }, centre)
}
