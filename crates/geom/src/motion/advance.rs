//! How long can two moving models go on before they can touch?
//!
//! Conservative advancement (Mirtich, *Impulse-based Dynamic Simulation of Rigid Body Systems*,
//! 1996, section 2.3) with a bound along a direction for every pair of boxes and of triangles
//! (Tang, Kim, Manocha, *C²A: Controlled Conservative Advancement for Continuous Collision
//! Detection of Polygonal Models*, 2009). Two convex things that a gap g separates along a
//! direction n stay apart as long as their points approach each other along n by less than g.
//! How fast they can approach is known from [`Twist`]:
//!
//! * never faster than n · drift + |n × axis| · |w|, for each side;
//! * at first with n · (drift + w), and that changes by at most turning · |n × axis| · |w| per
//!   unit of time. For small gaps this is far better: it knows what moves away or along.
//!
//! The farthest point of a triangle along n is always one of its corners, so corners are enough.
//! The time that is safe for two models is the smallest of their triangle pairs; the trees find
//! it, since no pair in two boxes has less than the boxes have. Nothing of this needs the
//! distance of the models, and any direction is right; directions only decide how much time is
//! found.

use super::{Motion, Twist};
use crate::tree::{Child, Lane, WIDTH};
use crate::triangle::{Triangle, TriangleDistance, distance};
use crate::{Model, Pose};
use glam::{DMat3, DVec3};

/// Relative slack of speeds and times: each comes from a few dozen operations on numbers that are
/// not larger, so they are off by less than 1e-14.
const SPEED_SLACK: f64 = 1e-13;

/// Boxes with at least this part of the time that a pair of triangles allows are not opened: a
/// somewhat shorter step for much less work (the "controlled" of C²A). Two tori of 2k, 20k, 200k
/// triangles: 3.6, 11.3, 73 ms with 1; 1.6, 2.6, 5.2 ms with 0.75; 1.8, 2.5, 4.2 ms with 0.4.
const ENOUGH: f64 = 0.5;

/// One of the two models at one time.
pub(super) struct Body<'a> {
    model: &'a Model,
    pose: Pose,
    twist: Twist,
    /// Added to any approach speed, for rounding.
    speed_slack: f64,
}

impl<'a> Body<'a> {
    pub(super) fn new(model: &'a Model, motion: &Motion, s: f64) -> Body<'a> {
        let twist = motion.twist(s);
        let reach = radius(model) + motion.reach();
        let speed = twist.drift.length() + twist.swirl.length() + twist.turning * reach;
        Body { model, pose: motion.at(s), twist, speed_slack: SPEED_SLACK * speed }
    }

    fn placed(&self, triangle: usize) -> Triangle {
        self.model.mesh.corners(triangle).map(|corner| self.pose.transform_point(corner))
    }

    fn point(&self, at: DVec3, radius: f64) -> Point {
        let swirl = self.twist.swirl_at(at);
        let length = swirl.length() + self.twist.turning * radius;
        Point { at, velocity: self.twist.drift + swirl, swirl: length }
    }

    fn points(&self, corners: &Triangle) -> [Point; 3] {
        corners.map(|corner| self.point(corner, 0.0))
    }

    fn moving_box(&self, lane: Lane) -> MovingBox {
        let tree = &self.model.tree;
        let obb = tree.obb(lane);
        let axes = obb.axes.map(|axis| axis.as_dvec3());
        // The axes are orthonormal up to 1e-4 only. The box is all points whose projections on
        // them are small enough, so its edges are along the inverse of the axes.
        let inverse = DMat3::from_cols(axes[0], axes[1], axes[2]).transpose().inverse();
        let frame = tree.frame_of(lane);
        // How far a corner of a triangle can be outside of the box around it: the fit is off by at
        // most 8 units of the last place of the radius, see `Relative`; twice that, and some of
        // the smallest `f32`.
        let box_slack =
            f64::from(f32::EPSILON) * 8.0 * f64::from(frame.radius) + f64::from(f32::MIN_POSITIVE);
        let half = obb.half.as_dvec3() + box_slack;
        let edges = [
            self.pose.transform_vector(inverse.x_axis) * half.x,
            self.pose.transform_vector(inverse.y_axis) * half.y,
            self.pose.transform_vector(inverse.z_axis) * half.z,
        ];
        let center = self.pose.transform_point(frame.origin.as_dvec3() + obb.center.as_dvec3());
        let radius = edges.iter().map(|edge| edge.length()).sum();
        let normals = axes.map(|axis| self.pose.transform_vector(axis).normalize_or_zero());
        let [e, f, g] = edges;
        let mut made = MovingBox {
            center: self.point(center, radius),
            radius,
            edges,
            normals,
            depths: [0.0; 3],
            crossed: [e.cross(f), f.cross(g), g.cross(e)],
        };
        made.depths = normals.map(|normal| made.extent(normal));
        made
    }

    /// The speed along `n` at one time, at most, and how fast it can grow.
    #[inline]
    fn speeds(&self, point: &Point, n: DVec3, across: f64) -> Approach {
        let most = n.dot(self.twist.drift) + across * point.swirl + self.speed_slack;
        let now = n.dot(point.velocity) + self.speed_slack;
        let bend = across * self.twist.turning * (point.swirl + self.speed_slack);
        Approach { now, most, bend: bend * (1.0 + SPEED_SLACK) }
    }

    /// How much of `n` is normal to the axis.
    #[inline]
    fn across(&self, n: DVec3) -> f64 {
        if self.twist.turning == 0.0 {
            0.0
        } else {
            n.cross(self.twist.axis).length() + SPEED_SLACK
        }
    }
}

/// No vertex is further than this from the origin of the mesh.
pub(super) fn radius(model: &Model) -> f64 {
    1.001 * (f64::from(model.tree.radius) + model.tree.origin.as_dvec3().length())
}

/// A point of a model: where it is, its velocity, and the length of its swirl.
#[derive(Clone, Copy)]
struct Point {
    at: DVec3,
    velocity: DVec3,
    swirl: f64,
}

/// All points centre ± edge ± edge ± edge and what lies between.
struct MovingBox {
    /// Its swirl is the longest of all points of the box.
    center: Point,
    radius: f64,
    edges: [DVec3; 3],
    /// Of length 1.
    normals: [DVec3; 3],
    /// The extents along these.
    depths: [f64; 3],
    /// Each edge and the next one, multiplied.
    crossed: [DVec3; 3],
}

impl MovingBox {
    fn extent(&self, n: DVec3) -> f64 {
        self.edges.iter().map(|edge| edge.dot(n).abs()).sum()
    }
}

/// The pairs of edges, 3 · i + j, whose cross product may show a gap between two boxes. Most boxes
/// overlap, and most directions show none: here all nine cost as much as three that are looked at.
///
/// With v = e × f for edges of a and b, g · v is f · (g × e) for another edge g of a, and the same
/// for b; so all extents along all v are dot products with nine vectors. Each number here is off by
/// a few u = 2^-53 of the lengths in it, the direction that is then looked at by 2u·|e||f|, and
/// `Search::margin` pays for the rest: what shows no gap by more than `slack` shows none there.
#[inline]
fn crossings_with_gap(
    a: &MovingBox,
    b: &MovingBox,
    between: DVec3,
) -> impl Iterator<Item = usize> + use<> {
    let slack = 1e-13 * (between.length() + a.radius + b.radius) * a.radius * b.radius;
    let along_b = b.edges.map(|f| a.crossed.map(|x| f.dot(x).abs()));
    let along_a = a.edges.map(|e| b.crossed.map(|x| e.dot(x).abs()));
    let mut may = 0u32;
    for i in 0..3 {
        let turned = between.cross(a.edges[i]);
        for j in 0..3 {
            let extent_a = along_b[j][i] + along_b[j][(i + 2) % 3];
            let extent_b = along_a[i][j] + along_a[i][(j + 2) % 3];
            let none = b.edges[j].dot(turned).abs() + slack <= extent_a + extent_b;
            // Written so that NaN is looked at.
            may |= u32::from(!none) << (3 * i + j);
        }
    }
    (0..9).filter(move |k| may >> k & 1 == 1)
}

/// How fast something moves along a direction: now, at most, and how fast that can grow.
#[derive(Clone, Copy)]
pub(super) struct Approach {
    pub(super) now: f64,
    pub(super) most: f64,
    pub(super) bend: f64,
}

impl Approach {
    /// With room for rounding, for something that moves at most with this speed.
    pub(super) fn with_slack(self, speed: f64) -> Approach {
        let slack = SPEED_SLACK * speed;
        let bend = self.bend * (1.0 + SPEED_SLACK) + slack;
        Approach { now: self.now + slack, most: self.most + slack, bend }
    }

    /// The sum of what two things do towards each other.
    #[inline]
    pub(super) fn and(self, other: Approach) -> Approach {
        Approach {
            now: self.now + other.now,
            most: self.most + other.most,
            bend: self.bend + other.bend,
        }
    }

    /// No less than any of three.
    #[inline]
    fn worst([p, q, r]: &[Approach; 3]) -> Approach {
        Approach {
            now: p.now.max(q.now).max(r.now),
            most: p.most.max(q.most).max(r.most),
            bend: p.bend.max(q.bend).max(r.bend),
        }
    }

    /// A time after which the gap is still not closed.
    #[inline]
    pub(super) fn safe_time(&self, gap: f64) -> f64 {
        if gap <= 0.0 {
            return 0.0;
        }
        let straight = if self.most > 0.0 { gap / self.most } else { f64::INFINITY };
        // The root of gap = now·t + bend·t²/2, in the form without cancellation.
        let root = (self.now * self.now + 2.0 * self.bend * gap).sqrt().max(self.now.abs());
        let bent = if self.now >= 0.0 {
            2.0 * gap / (self.now + root)
        } else if self.bend > 0.0 {
            (root - self.now) / self.bend
        } else {
            f64::INFINITY
        };
        straight.max(bent) * (1.0 - SPEED_SLACK)
    }
}

/// The two triangles that may be the first to touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limiting {
    pub(super) triangles: [usize; 2],
    /// Their distance at the time of the search.
    pub(super) apart: TriangleDistance,
    /// Whether their closest points approach each other then.
    pub(super) approach: bool,
}

/// What was computed of a body at one time: boxes and triangles meet many others.
struct Known {
    /// For each lane and each triangle, one more than its place in the list; 0 if not yet.
    box_of: Vec<u32>,
    points_of: Vec<u32>,
    boxes: Vec<MovingBox>,
    points: Vec<[Point; 3]>,
}

impl Known {
    fn of(body: &Body<'_>) -> Known {
        let (nodes, triangles) = (body.model.tree.nodes.len(), body.model.mesh.triangles.len());
        Known {
            box_of: vec![0; nodes * WIDTH],
            points_of: vec![0; triangles],
            boxes: Vec::new(),
            points: Vec::new(),
        }
    }

    /// The place of a box in the list.
    fn moving_box(&mut self, body: &Body<'_>, lane: Lane) -> usize {
        let place = &mut self.box_of[lane.0 as usize];
        if *place == 0 {
            self.boxes.push(body.moving_box(lane));
            *place = self.boxes.len() as u32;
        }
        *place as usize - 1
    }

    fn points(&mut self, body: &Body<'_>, triangle: usize) -> [Point; 3] {
        let place = &mut self.points_of[triangle];
        if *place == 0 {
            self.points.push(body.points(&body.placed(triangle)));
            *place = self.points.len() as u32;
        }
        self.points[*place as usize - 1]
    }
}

/// The search for the time that is safe, at one time of the motion.
pub(super) struct Search<'a> {
    a: Body<'a>,
    b: Body<'a>,
    known_a: Known,
    known_b: Known,
    /// What rounding may take off a gap.
    margin: f64,
    /// The smallest safe time so far.
    best: f64,
    limiting: Option<Limiting>,
}

impl<'a> Search<'a> {
    pub(super) fn new(a: Body<'a>, b: Body<'a>, margin: f64, time_max: f64) -> Search<'a> {
        let (known_a, known_b) = (Known::of(&a), Known::of(&b));
        Search { a, b, known_a, known_b, margin, best: time_max, limiting: None }
    }

    /// A time for which no two triangles can touch, and which pair of triangles prevents more;
    /// `None` if there is no need for more. Looking at a pair of triangles `first` that is
    /// likely to be it saves work.
    pub(super) fn run(mut self, first: Option<[usize; 2]>) -> (f64, Option<Limiting>) {
        let (tree_a, tree_b) = (&self.a.model.tree, &self.b.model.tree);
        if tree_a.child(Lane::ROOT).is_empty() || tree_b.child(Lane::ROOT).is_empty() {
            return (self.best, None);
        }
        if let Some([a, b]) = first {
            self.triangles(a, b);
        }
        let roots = (self.box_a(Lane::ROOT), self.box_b(Lane::ROOT));
        let mut stack = vec![(self.boxes(roots.0, roots.1), Lane::ROOT, Lane::ROOT)];
        // The least time of the boxes that were not opened.
        let mut boxes_time = f64::INFINITY;
        while let Some((time, a, b)) = stack.pop() {
            if time >= self.best {
                continue;
            }
            if self.limiting.is_some() && time >= ENOUGH * self.best {
                boxes_time = boxes_time.min(time);
                continue;
            }
            let (child_a, child_b) = (tree_a.child(a), tree_b.child(b));
            if child_a.is_leaf() && child_b.is_leaf() {
                for i in child_a.triangles() {
                    for j in child_b.triangles() {
                        self.triangles(i, j);
                    }
                }
                continue;
            }
            let open_b =
                child_a.is_leaf() || (!child_b.is_leaf() && tree_b.size(b) > tree_a.size(a));
            let from = stack.len();
            let lanes = |child: Child| (0..WIDTH).map(move |k| Lane::new(child.node_index(), k));
            if open_b {
                let one = self.box_a(a);
                for lane in lanes(child_b).filter(|&lane| !tree_b.child(lane).is_empty()) {
                    let other = self.box_b(lane);
                    stack.push((self.boxes(one, other), a, lane));
                }
            } else {
                let one = self.box_b(b);
                for lane in lanes(child_a).filter(|&lane| !tree_a.child(lane).is_empty()) {
                    let other = self.box_a(lane);
                    stack.push((self.boxes(other, one), lane, b));
                }
            }
            // The least time on top. The sort is stable, so machines agree on the order.
            stack[from..].sort_by(|x, y| y.0.total_cmp(&x.0));
        }
        (self.best.min(boxes_time), self.limiting)
    }

    fn box_a(&mut self, lane: Lane) -> usize {
        self.known_a.moving_box(&self.a, lane)
    }

    fn box_b(&mut self, lane: Lane) -> usize {
        self.known_b.moving_box(&self.b, lane)
    }

    /// A safe time for two boxes in the lists of what is known; the search for a larger one ends at
    /// the best so far.
    fn boxes(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (&self.known_a.boxes[a], &self.known_b.boxes[b]);
        let between = b.center.at - a.center.at;
        let mut time = 0f64;
        let mut enough = |n: DVec3, extents: [f64; 2]| {
            let n = if n.dot(between) < 0.0 { -n } else { n };
            time = time.max(self.boxes_along(a, b, n, extents));
            time >= self.best
        };
        let extents = |n: DVec3| [a.extent(n), b.extent(n)];
        if between.try_normalize().is_some_and(|n| enough(n, extents(n)))
            || (0..3).any(|k| enough(a.normals[k], [a.depths[k], b.extent(a.normals[k])]))
            || (0..3).any(|k| enough(b.normals[k], [a.extent(b.normals[k]), b.depths[k]]))
        {
            return time;
        }
        for k in crossings_with_gap(a, b, between) {
            let n = a.edges[k / 3].cross(b.edges[k % 3]).try_normalize();
            if n.is_some_and(|n| enough(n, extents(n))) {
                break;
            }
        }
        time
    }

    fn boxes_along(&self, a: &MovingBox, b: &MovingBox, n: DVec3, extents: [f64; 2]) -> f64 {
        let gap = n.dot(b.center.at - a.center.at) - extents[0] - extents[1] - self.margin;
        if gap <= 0.0 {
            return 0.0;
        }
        let side = |body: &Body<'_>, moving: &MovingBox, n: DVec3| {
            let across = body.across(n);
            let mut approach = body.speeds(&moving.center, n, across);
            approach.now += across * body.twist.turning * moving.radius;
            approach
        };
        side(&self.a, a, n).and(side(&self.b, b, -n)).safe_time(gap)
    }

    /// Looks whether two triangles leave less time than the best so far.
    ///
    /// A pair that leaves more changes nothing, whichever direction shows it, so directions that
    /// cost little are tried first; for the others the time is the most that any direction gives.
    fn triangles(&mut self, i: usize, j: usize) {
        let points_a = self.known_a.points(&self.a, i);
        let points_b = self.known_b.points(&self.b, j);
        let two = TwoTriangles {
            a: &points_a,
            b: &points_b,
            ways: points_a.map(|x| points_b.map(|y| y.at - x.at)),
        };
        let mut time = 0f64;
        let mut enough = |n: DVec3| {
            time = time.max(self.triangles_along(&two, n, time));
            time >= self.best
        };
        let (a, b) = (points_a.map(|x| x.at), points_b.map(|y| y.at));
        let edges = |t: &Triangle| [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
        let (edges_a, edges_b) = (edges(&a), edges(&b));
        let faces = [edges_a[0].cross(edges_a[1]), edges_b[0].cross(edges_b[1])];
        let crossed = edges_a.iter().flat_map(|e| edges_b.iter().map(move |f| e.cross(*f)));
        let with_gap = |n: DVec3| two.facing(n).and_then(DVec3::try_normalize);
        if faces.into_iter().filter_map(with_gap).any(&mut enough) {
            return;
        }
        // Closer than a few digits the direction between two points says little, and the planes
        // of the triangles give the direction better.
        let apart = distance(&a, &b);
        let towards = apart.on_b - apart.on_a;
        if towards.try_normalize().is_some_and(&mut enough)
            || crossed.filter_map(with_gap).any(&mut enough)
        {
            return;
        }
        let velocity = |body: &Body<'_>, at: DVec3| body.point(at, 0.0).velocity;
        let closing = velocity(&self.a, apart.on_a) - velocity(&self.b, apart.on_b);
        self.best = time;
        self.limiting =
            Some(Limiting { triangles: [i, j], apart, approach: closing.dot(towards) > 0.0 });
    }

    /// A safe time along a direction, or any time up to `known` if it is not more than that.
    fn triangles_along(&self, two: &TwoTriangles<'_>, n: DVec3, known: f64) -> f64 {
        let gaps = two.ways.map(|row| row.map(|way| n.dot(way) - self.margin));
        if gaps.as_flattened().iter().any(|&gap| gap <= 0.0) {
            return 0.0;
        }
        let (across_a, across_b) = (self.a.across(n), self.b.across(n));
        let speeds_a = two.a.map(|point| self.a.speeds(&point, n, across_a));
        let speeds_b = two.b.map(|point| self.b.speeds(&point, -n, across_b));
        // The worst of everything at once: if that is enough, no pair of corners leaves less.
        // (Rounding may disorder two times by a few units of the last place.)
        let least = gaps.as_flattened().iter().copied().fold(f64::INFINITY, f64::min);
        let worst = Approach::worst(&speeds_a).and(Approach::worst(&speeds_b)).safe_time(least);
        if worst * (1.0 - 1e-12) >= self.best {
            return worst;
        }
        let mut time = f64::INFINITY;
        for i in 0..3 {
            for j in 0..3 {
                time = time.min(speeds_a[i].and(speeds_b[j]).safe_time(gaps[i][j]));
                if time <= known {
                    return time;
                }
            }
        }
        time
    }
}

/// The corners of two triangles.
struct TwoTriangles<'p> {
    a: &'p [Point; 3],
    b: &'p [Point; 3],
    /// From each corner of `a` to each of `b`.
    ways: [[DVec3; 3]; 3],
}

impl TwoTriangles<'_> {
    /// The direction or its opposite if all corners of `b` are beyond all of `a` along it. If they
    /// are not, no gap is left along the direction of length 1 either: what rounding could show is
    /// far below the margin.
    fn facing(&self, n: DVec3) -> Option<DVec3> {
        let beyond = |way: &DVec3| n.dot(*way) > 0.0;
        let before = |way: &DVec3| n.dot(*way) < 0.0;
        let ways = self.ways.as_flattened();
        if beyond(&ways[0]) {
            ways.iter().all(beyond).then_some(n)
        } else {
            ways.iter().all(before).then_some(-n)
        }
    }
}
