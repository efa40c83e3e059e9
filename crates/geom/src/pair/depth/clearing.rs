//! How far must the second solid move along a direction until it does not overlap the first?
//!
//! **The end.** When the insides overlap for the last time, two triangles part ([`Sweep`]). If
//! they crossed before, the insides overlapped. Otherwise they touched for an instant or along
//! whole faces, and an exact look at a moment before tells whether the insides did overlap.
//!
//! **The beginning** is found by steps from zero, each over a time in which the insides surely
//! overlap: two triangles that cross do so until they part, and a point inside both, taken along
//! by one of them, stays inside the other until it leaves it, which a ray tells. So a step is
//! about as long as the solids are thick, and not as a triangle is large. Where the last step ends
//! [`overlaps`] says no; rounding may have made the step too short by a few last bits, and then
//! the next one adds some.

use super::super::models::ModelPair;
use super::super::relation::overlaps;
use super::super::walk::{Order, Touching, Walk};
use super::interval::touching_times;
use super::sweep::Sweep;
use super::{Clearing, DepthError, FacePair, is_free, scale};
use crate::posed_model::{PosedModel, Ray, Side};
use crate::triangle;
use glam::DVec3;
use std::ops::ControlFlow;

/// A look at the moment before two triangles part is this part of all lengths earlier.
const MOMENT: f64 = 1.0 / (1u64 << 24) as f64;

/// Most partings that are looked at that way. Those after the last one that was looked at overlap
/// at no time; so the answer may be too far, and never too near.
const PARTINGS_MAX: usize = 256;

/// Most steps from zero. Beyond, the answer is the end: too far, and never too near.
const STEPS_MAX: usize = 10_000;

/// So many triangles that touch are looked at for a point inside both solids.
const PROBES_MAX: usize = 64;

pub(super) fn clearing(pair: &ModelPair<'_>, n: DVec3) -> Result<Clearing, DepthError> {
    let way = Way { pair, n, noise: scale(pair) * f64::EPSILON };
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
    let way = Way { pair, n, noise: scale(pair) * f64::EPSILON };
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
}

impl<'a> Way<'_, 'a> {
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
            let crossed = parting.touching > moment;
            let before = (parting.time - moment).max(0.0);
            if crossed || turn == PARTINGS_MAX || self.overlap_at(before)? {
                let [a, b] = parting.triangles;
                return Ok(Some((parting.time, self.pair.faces(a, b))));
            }
            until = before;
        }
        Ok(None)
    }

    /// The time, or a few last bits later, so that the placed solids do not overlap.
    fn without_overlap(&self, time: f64) -> Result<f64, DepthError> {
        let (mut later, mut step) = (time, self.noise);
        // Far enough to show any mistake in the test of all directions, and not without end.
        while self.overlap_at(later)? && step < 1e9 * self.noise {
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
        let mut touching: Vec<[usize; 2]> = Vec::new();
        let mut crossing = None;
        let enough = 16.0 * self.noise;
        let look = |a: usize, b: usize| {
            let times = touching_times(&pair.triangle_a(a), &pair.triangle_b(b), self.n);
            match times {
                Some(times) if times.first < -enough && times.last > enough => {
                    crossing = Some(([a, b], times.last));
                    return ControlFlow::Break(());
                }
                _ if touching.len() < PROBES_MAX => touching.push([a, b]),
                _ => {}
            }
            ControlFlow::Continue(())
        };
        Walk::new(&pair, Order::Deepest, 0.0).run(&pair, u64::MAX, &mut Touching(look));
        let posed = pair.posed();
        if let Some(([a, b], last)) = crossing {
            let shared = triangle::common(&pair.triangle_a(a), &pair.triangle_b(b));
            let time = shared.map_or(last, |shared| self.chords(&posed, shared.point(), last));
            return Ok(Some(Step { time, faces: Some(pair.faces(a, b)) }));
        }
        if !overlaps(&pair)? {
            return Ok(None);
        }
        let faces = touching.first().map(|&[a, b]| pair.faces(a, b));
        Ok(Some(Step { time: self.probe(&posed, &touching), faces }))
    }

    /// For how long the solids overlap on the line along `n` through a point of both surfaces, from
    /// which two triangles overlap until `parting` anyway: until the end of what the line shares
    /// with the second solid behind the point comes out of what it shares with the first before it.
    fn chords(&self, posed: &[PosedModel<'a>; 2], point: DVec3, parting: f64) -> f64 {
        let ahead = self.stay(&posed[0], point + self.n * parting, self.n);
        let behind = self.stay(&posed[1], point - self.n * parting, -self.n);
        // What both have nearer to the point than `parting` was not looked at.
        if ahead.min(behind) > 0.0 && ahead.max(behind) > parting {
            2.0 * parting + ahead + behind
        } else {
            parting + ahead.max(behind)
        }
    }

    /// For how long a point stays inside of a solid that it moves through; 0 if it is outside.
    fn stay(&self, solid: &PosedModel<'_>, point: DVec3, direction: DVec3) -> f64 {
        if solid.contains(point) != Ok(Side::Inside) {
            return 0.0;
        }
        let hit = Ray::new(point, direction, f64::INFINITY).ok().and_then(|ray| solid.ray(&ray));
        hit.map_or(0.0, |hit| hit.distance)
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
                best = best.max(self.stay(&posed[0], point, self.n));
            }
            if b == Ok(Side::Inside) && known(a) {
                best = best.max(self.stay(&posed[1], point, -self.n));
            }
        };
        for solid in posed {
            let mesh = &solid.model().mesh;
            for &v in &mesh.component_vertices {
                look(solid.pose().transform_point(mesh.vertices[v as usize]));
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
