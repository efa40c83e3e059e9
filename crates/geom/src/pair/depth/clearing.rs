//! How far must the second solid move along a direction until it does not overlap the first?
//!
//! **The end.** When the insides overlap for the last time, two triangles part ([`Sweep`]). But
//! triangles also part that touched for an instant, or that are there twice and bound nothing. So
//! an exact look at a moment before decides whether the insides did overlap.
//!
//! **The beginning** is found by steps from zero, each over a time in which the insides surely
//! overlap. Where two triangles cross there is a point inside both solids beside them. The line
//! along the direction through it, or better through a deeper one, shares a chord with each solid,
//! as long as rays find it, and until the end of the second chord comes out of the first the
//! solids overlap. So a step is about as long as the solids are thick, and not as a triangle is
//! large.
//!
//! Near the end, two triangles that cross do so until they part. That shows an overlap if every
//! triangle has inside and outside on its two sides, almost everywhere. (Faces that are there twice
//! have not; whether there are any is decided once for a model.) Where the last step ends
//! [`overlaps`] says no; rounding may have made the step too short by a few last bits, and then the
//! next one adds some.

use super::super::models::ModelPair;
use super::super::relation::overlaps;
use super::super::walk::{Order, Touching, Walk};
use super::interval::{Times, touching_times};
use super::sweep::Sweep;
use super::{Clearing, DepthError, FacePair, is_free, scale};
use crate::posed_model::{PosedModel, Ray, Side};
use crate::triangle::{self, Triangle};
use glam::DVec3;
use std::ops::ControlFlow;

/// A look at the moment before two triangles part is this part of all lengths earlier.
const MOMENT: f64 = 1.0 / (1u64 << 24) as f64;

/// Most partings that are looked at that way. Those after the last one that was looked at overlap
/// at no time; so the answer may be too far, and never too near.
const PARTINGS_MAX: usize = 256;

/// Most steps from zero. Beyond, the answer is the end: too far, and never too near.
const STEPS_MAX: usize = 10_000;

/// Times of triangles are off by less than this many roundings of a place.
const TIMES: f64 = 256.0;

/// Where crossing triangles show an overlap by themselves, a point inside both that may show a
/// longer one is looked for beside so many of them.
const TRIES: usize = 2;

/// How far beside two triangles that cross a point inside both solids is looked for, as part of
/// their shortest edge.
const BESIDE: f64 = 1.0 / 64.0;

/// So many triangles that touch are looked at for a point inside both solids.
const PROBES_MAX: usize = 64;

pub(super) fn clearing(pair: &ModelPair<'_>, n: DVec3) -> Result<Clearing, DepthError> {
    let way = Way::new(pair, n);
    let Some((end, last_faces)) = way.end()? else {
        return Ok(Clearing { first: 0.0, last: 0.0, faces: None });
    };
    let before = way.beginning(end)?;
    let last = way.without_overlap(end)?;
    Ok(match before {
        Some((first, faces)) => Clearing { first, last, faces },
        None => Clearing { first: last, last, faces: Some(last_faces) },
    })
}

/// The first time without overlap, if it is before `limit`.
pub(super) fn clearing_below(
    pair: &ModelPair<'_>,
    n: DVec3,
    limit: f64,
) -> Result<Option<f64>, DepthError> {
    let way = Way::new(pair, n);
    Ok(way.beginning(limit)?.map(|(first, _)| first))
}

/// A time in which two solids overlap, and faces that show it.
struct Step {
    time: f64,
    faces: Option<FacePair>,
}

/// Along a direction of length 1.
struct Way<'p, 'a> {
    pair: &'p ModelPair<'a>,
    n: DVec3,
    /// The rounding of a place.
    noise: f64,
    /// Do all triangles bound the solids? Then two that cross show an overlap.
    all_bound: bool,
}

impl<'p, 'a> Way<'p, 'a> {
    fn new(pair: &'p ModelPair<'a>, n: DVec3) -> Way<'p, 'a> {
        let all_bound = pair.a.all_triangles_bound() && pair.b.all_triangles_bound();
        Way { pair, n, noise: scale(pair) * f64::EPSILON, all_bound }
    }

    /// Do the solids overlap, whatever the rounding, at all times between these two?
    fn is_shown(&self, first: f64, last: f64, slow: f64) -> bool {
        self.all_bound && last - first > TIMES * self.noise * slow
    }

    fn at(&self, time: f64) -> Result<ModelPair<'a>, DepthError> {
        super::moved(self.pair, self.n * time)
    }

    fn overlap_at(&self, time: f64) -> Result<bool, DepthError> {
        Ok(!is_free(&self.at(time)?)?)
    }

    /// A time from which on they never overlap but for rounding, and the faces that meet there.
    fn end(&self) -> Result<Option<(f64, FacePair)>, DepthError> {
        let sweep = Sweep::new(self.pair, self.n);
        let moment = scale(self.pair) * MOMENT;
        let mut until = f64::INFINITY;
        for turn in 0.. {
            let Some(parting) = sweep.last_parting(0.0, until) else { break };
            let Times { first, last, slow } = parting.times;
            let before = (last - moment).max(0.0);
            let shown = self.is_shown(first.max(0.0), last, slow);
            if shown || turn == PARTINGS_MAX || self.overlap_at(before)? {
                let [a, b] = parting.triangles;
                return Ok(Some((last, self.pair.faces(a, b))));
            }
            until = before;
        }
        Ok(None)
    }

    /// The time, or a few last bits later, so that the placed solids do not overlap.
    fn without_overlap(&self, time: f64) -> Result<f64, DepthError> {
        let (mut later, mut step) = (time, 2.0 * self.noise);
        // Far enough for all rounding, and not without end.
        while overlaps(&self.at(later)?)? && step < 1e9 * self.noise {
            later = time + step;
            step *= 2.0;
        }
        Ok(later)
    }

    /// The first time without overlap, if it is before `limit`, and faces that meet then.
    fn beginning(&self, limit: f64) -> Result<Option<(f64, Option<FacePair>)>, DepthError> {
        let (mut time, mut least) = (0.0, self.noise);
        let mut faces = None;
        for _ in 0..STEPS_MAX {
            if time >= limit {
                break;
            }
            let Some(step) = self.overlap_from(time)? else { return Ok(Some((time, faces))) };
            // Steps in the rounding double, so that there are few of them.
            let small = step.time < 1e6 * self.noise;
            time += step.time.max(least);
            least = if small { 2.0 * least } else { self.noise };
            faces = step.faces.or(faces);
        }
        Ok(None)
    }

    /// For how long they overlap from a time on, at least; `None` if they do not.
    fn overlap_from(&self, time: f64) -> Result<Option<Step>, DepthError> {
        let pair = self.at(time)?;
        let posed = pair.posed();
        let mut touching: Vec<[usize; 2]> = Vec::new();
        let mut found: Option<Step> = None;
        let (mut parting, mut tries) = (0.0f64, 0);
        let look = |a: usize, b: usize| {
            let triangles = [pair.triangle_a(a), pair.triangle_b(b)];
            if touching.len() < PROBES_MAX {
                touching.push([a, b]);
            }
            let times = touching_times(&triangles[0], &triangles[1], self.n);
            let Some(times) = times else { return ControlFlow::Continue(()) };
            if times.first >= 0.0 || times.last <= 0.0 {
                return ControlFlow::Continue(());
            }
            parting = parting.max(times.last);
            tries += 1;
            let mut time = 0.0;
            if self.is_shown(times.first, 0.0, times.slow) {
                time = times.last;
            }
            let point = point_inside(&posed, &triangles);
            if let Some(beside) = point {
                time = self.chords(&posed, deeper(&posed, beside)).max(time);
            }
            if time > found.as_ref().map_or(0.0, |f| f.time) {
                found = Some(Step { time, faces: Some(pair.faces(a, b)) });
            }
            let enough = point.is_some() || (found.is_some() && tries >= TRIES);
            if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        Walk::new(&pair, Order::Deepest, 0.0).run(&pair, u64::MAX, &mut Touching(look));
        if found.is_some() {
            return Ok(found);
        }
        if !overlaps(&pair)? {
            return Ok(None);
        }
        let faces = touching.first().map(|&[a, b]| pair.faces(a, b));
        let probed = self.probe(&posed, &touching);
        // Too thin for any point inside: then what crosses shows it.
        let time = if probed > 0.0 { probed } else { parting };
        Ok(Some(Step { time, faces }))
    }

    /// For how long the solids overlap on the line along `n` through a point inside both: until the
    /// end of what the line shares with the second behind the point comes out of what it shares
    /// with the first before it.
    fn chords(&self, posed: &[PosedModel<'a>; 2], point: DVec3) -> f64 {
        leaves(&posed[0], point, self.n) + leaves(&posed[1], point, -self.n)
    }

    /// For two that overlap although no triangles cross: for how long a point inside both shows
    /// that they do, or a short time if none is found.
    fn probe(&self, posed: &[PosedModel<'a>; 2], touching: &[[usize; 2]]) -> f64 {
        let mut best = 0.0f64;
        let mut look = |point: DVec3| {
            // A point of the surface of the one that is inside the other will do as well.
            let [a, b] = posed.each_ref().map(|solid| solid.contains(point));
            let known = |side| matches!(side, Ok(Side::Inside | Side::OnSurface));
            if a == Ok(Side::Inside) && known(b) {
                best = best.max(leaves(&posed[0], point, self.n));
            }
            if b == Ok(Side::Inside) && known(a) {
                best = best.max(leaves(&posed[1], point, -self.n));
            }
        };
        for solid in posed {
            let mesh = &solid.model().mesh;
            for &v in &mesh.component_vertices {
                look(solid.pose().transform_point(mesh.vertices.at(v)));
            }
        }
        for pair in touching {
            for i in [0, 1] {
                let [p, q, r] = posed[i].triangle(pair[i]);
                let middle = (p + q + r) / 3.0;
                let across = (q - p).cross(r - p);
                let depth = across / across.length().sqrt().max(f64::MIN_POSITIVE) / 64.0;
                look(middle + depth);
                look(middle - depth);
            }
        }
        best
    }
}

/// After what way a point inside of a solid leaves it.
fn leaves(solid: &PosedModel<'_>, point: DVec3, direction: DVec3) -> f64 {
    let hit = Ray::new(point, direction, f64::INFINITY).ok().and_then(|ray| solid.ray(&ray));
    hit.map_or(0.0, |hit| hit.distance)
}

/// A point inside of two solids, and the direction away from where triangles cross.
#[derive(Clone, Copy)]
pub(super) struct Beside {
    point: DVec3,
    inwards: DVec3,
}

/// Halfway to where the first of the two solids ends: chords beside a contact are short.
fn deeper(posed: &[PosedModel<'_>; 2], Beside { point, inwards }: Beside) -> DVec3 {
    let reach = posed.each_ref().map(|solid| leaves(solid, point, inwards));
    point + inwards * (0.5 * reach[0].min(reach[1]))
}

/// A point inside of two solids beside two triangles that cross.
pub(super) fn point_inside(
    posed: &[PosedModel<'_>; 2],
    triangles: &[Triangle; 2],
) -> Option<Beside> {
    let [a, b] = triangles;
    let shared = triangle::common(a, b)?;
    let normal = |[p, q, r]: &Triangle| (*q - *p).cross(*r - *p).normalize_or_zero();
    let (up, out) = (normal(a), normal(b));
    let along = up.cross(out);
    // In the two planes, away from the line that they share.
    let (in_a, in_b) = (along.cross(up).normalize_or_zero(), along.cross(out).normalize_or_zero());
    let size = |[p, q, r]: &Triangle| p.distance(*q).min(q.distance(*r)).min(r.distance(*p));
    let far = BESIDE * size(a).min(size(b));
    let beside = |x: f64, y: f64| {
        let inwards = (in_a * x + in_b * y).normalize_or_zero();
        Beside { point: shared.point() + inwards * far, inwards }
    };
    let inside = |b: Beside| [0, 1].map(|i| posed[i].contains(b.point) == Ok(Side::Inside));
    let first = beside(1.0, 1.0);
    // One side of each triangle is inside; of the plane of `a`, `y` is the side.
    let [in_first, in_second] = inside(first);
    if in_first && in_second {
        return Some(first);
    }
    let sign = |keep: bool| if keep { 1.0 } else { -1.0 };
    let other = beside(sign(in_second), sign(in_first));
    (inside(other) == [true; 2]).then_some(other)
}
