//! The first contact of two moving shapes.

use super::Motion;
use super::advance::{Body, Limiting, Search, radius};
use super::round::RoundImpact;
use super::sphere::SphereImpact;
use crate::shape::ShapeRef;
use crate::{Distance, FacePair, Model, Pair};

/// How exactly, and with how much work, to look for a time of impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeOfImpactLimits {
    /// The longest contact interval, as a part of the motion. What is less than 0, or NaN, is 0.
    /// Not used where one of the shapes is a sphere, and for other round shapes only to end a
    /// search that makes no progress.
    pub time: f64,
    /// Surfaces that approach each other and are this close may be reported as in contact. Less
    /// than the rounding of placed coordinates (about 1e-13 of all lengths involved; 2.2e-11 where
    /// one of the shapes is round) is raised to that. NaN is 0.
    pub distance: f64,
    /// Most advances before the search gives up with [`TimeOfImpact::Unknown`].
    pub steps_max: u32,
}

impl Default for TimeOfImpactLimits {
    /// A millionth of the motion, and a thousand steps.
    fn default() -> TimeOfImpactLimits {
        TimeOfImpactLimits { time: 1e-6, distance: 0.0, steps_max: 1000 }
    }
}

/// When two moving shapes touch for the first time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeOfImpact {
    /// They touch at no time from 0 to 1.
    Never,
    /// They touch at time 0 already.
    AtStart,
    /// They touch for the first time between two times.
    During {
        /// They touch at no time from 0 up to this one.
        free: f64,
        /// At this time, which is not before `free`, they touch, or they are within
        /// [`TimeOfImpactLimits::distance`] of each other.
        contact: f64,
        /// Where they touch or are closest at the time `contact`: two faces, and a point on
        /// each. The distance is 0 if they touch.
        closest: Distance,
    },
    /// The search used up its steps.
    Unknown {
        /// They touch at no time from 0 up to this one.
        free: f64,
    },
}

/// When do two moving shapes touch for the first time?
///
/// The shapes move from time 0 to time 1. The answer never tunnels: however fast and thin they
/// are, nothing is sampled.
///
/// # What is guaranteed
/// All of this is about the shapes as [`Motion::at`] and [`crate::Pose::transform_point`] have
/// them, and holds with rounding.
///
/// 1. For [`TimeOfImpact::During`] and [`TimeOfImpact::Unknown`], the shapes touch at no time from
///    0 to `free`, both included. For [`TimeOfImpact::Never`] they touch at no time from 0 to 1.
///    These are proved by bounds on how fast points can approach each other.
/// 2. For [`TimeOfImpact::During`], at the time `contact` either [`Pair::touches`] is true and
///    `contact − free` is at most [`TimeOfImpactLimits::time`], or `contact` is `free` and the
///    faces in `closest` are within [`TimeOfImpactLimits::distance`] (raised to the rounding of
///    placed coordinates). The second happens when the shapes graze, when the distance asked for
///    is reached before the time asked for, and always where one of them is round. Shapes that
///    are that close but move apart, or along each other so that the proof succeeds, are not in
///    contact.
/// 3. A contact that is shorter than `time` may show only as the second kind, or as
///    [`TimeOfImpact::Unknown`]; but it is never passed over.
/// 4. Every machine gives the same bits, for models built with the same [`crate::Quality`].
///
/// Solids contain what is inside of them ([`crate::Mesh::into_solid`]): at time 0 that is
/// [`TimeOfImpact::AtStart`]. Later it cannot begin without the surfaces touching first. An empty
/// model touches nothing.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{
///     Model, Motion, Pose, Quality, Shape, TimeOfImpact, TimeOfImpactLimits, solids,
///     time_of_impact,
/// };
///
/// let wall = Model::build(solids::cuboid(DVec3::new(0.001, 10.0, 10.0))?, Quality::Default);
/// let ball = Model::build(solids::sphere(0.01, 1e-4)?, Quality::Default);
/// let [from, to] = [-100.0, 60.0].map(|x| Pose::from_translation(DVec3::new(x, 0.0, 0.0)));
/// let flight = Motion::linear(&from?, &to?);
/// let still = Motion::still(&Pose::IDENTITY);
///
/// let hit = time_of_impact(&ball, &flight, &wall, &still, &TimeOfImpactLimits::default());
/// let TimeOfImpact::During { free, contact, closest } = hit else { panic!("{hit:?}") };
/// assert!(free < 0.625 && 0.6249 < free && contact - free <= 1e-6);
/// assert!(closest.point_a.x.abs() < 0.001);
///
/// // The same with a sphere that has no triangles.
/// let ball = Shape::sphere(0.01)?;
/// let hit = time_of_impact(&ball, &flight, &wall, &still, &TimeOfImpactLimits::default());
/// assert!(matches!(hit, TimeOfImpact::During { free, .. } if free < 0.625 && 0.6249 < free));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn time_of_impact<'a>(
    a: impl Into<ShapeRef<'a>>,
    motion_a: &Motion,
    b: impl Into<ShapeRef<'a>>,
    motion_b: &Motion,
    limits: &TimeOfImpactLimits,
) -> TimeOfImpact {
    let (a, b) = (a.into(), b.into());
    match (a.model(), b.model()) {
        (Some(a), Some(b)) => MovingModels { a, motion_a, b, motion_b }.time_of_impact(limits),
        _ if [a, b].iter().any(|shape| shape.is_round_but_no_sphere()) => {
            RoundImpact { shapes: [a, b], motions: [motion_a, motion_b], limits: *limits }.find()
        }
        _ => SphereImpact { shapes: [a, b], motions: [motion_a, motion_b], limits: *limits }.find(),
    }
}

/// Two models with their motions.
struct MovingModels<'a> {
    a: &'a Model,
    motion_a: &'a Motion,
    b: &'a Model,
    motion_b: &'a Motion,
}

impl<'a> MovingModels<'a> {
    fn time_of_impact(&self, limits: &TimeOfImpactLimits) -> TimeOfImpact {
        if self.pair(0.0).touches() {
            return TimeOfImpact::AtStart;
        }
        let margin = self.margin();
        // `max` also turns NaN into the other number.
        let (time_max, distance_max) = (limits.time.max(0.0), limits.distance.max(4.0 * margin));
        let mut free = 0.0;
        let mut first = None;
        for _ in 0..limits.steps_max {
            let body_a = Body::new(self.a, self.motion_a, free);
            let body_b = Body::new(self.b, self.motion_b, free);
            let search = Search::new(body_a, body_b, margin, 1.0 - free);
            let (safe, limiting) = search.run(first);
            let Some(limiting) = limiting else { return TimeOfImpact::Never };
            // Where rounding of the sum might matter, `margin` has room for it.
            let next = free + safe;
            if safe <= time_max {
                let probe = (free + time_max).min(1.0);
                let probe = if probe - free > time_max { probe.next_down() } else { probe };
                if probe > free && self.pair(probe).touches() {
                    let closest = self.closest_touching(probe, &limiting);
                    return TimeOfImpact::During { free, contact: probe, closest };
                }
            }
            let near = limiting.apart.distance <= distance_max;
            if near && (limiting.approach || safe <= time_max) {
                let closest = self.named(&limiting);
                return TimeOfImpact::During { free, contact: free, closest };
            }
            if next <= free {
                break;
            }
            free = next;
            first = Some(limiting.triangles);
        }
        TimeOfImpact::Unknown { free }
    }

    fn pair(&self, s: f64) -> Pair<'a> {
        Pair::new(self.a, &self.motion_a.at(s), self.b, &self.motion_b.at(s))
    }

    /// How much smaller than computed the gap between two points can be, at the time it is
    /// computed for or, after a safe time, later.
    ///
    /// With v = 2^-53, and L the sum of the reach of both meshes and of all that they can be
    /// away from the world's zero: a pose is rigid and places points up to 36v·L (see
    /// `Relative`). Its rotation is off from the ideal motion by the product of two quaternions,
    /// their length, and an angle with sine and cosine (together below 24v, as an angle below
    /// 48v), its translation by 16v·L. That is 100v·L, at two times, 200v·L; the projection of
    /// the difference of two points adds 8v·L, and the rounding of the time v times the speed,
    /// which is below 8L. 512 leaves room.
    fn margin(&self) -> f64 {
        let lengths =
            radius(self.a) + radius(self.b) + self.motion_a.reach() + self.motion_b.reach();
        512.0 * (0.5 * f64::EPSILON) * lengths
    }

    /// The limiting triangles with the faces of the caller.
    fn named(&self, limiting: &Limiting) -> Distance {
        let [i, j] = limiting.triangles;
        let faces = FacePair { a: self.a.mesh.face_of(i as u32), b: self.b.mesh.face_of(j as u32) };
        let apart = limiting.apart;
        Distance { distance: apart.distance, point_a: apart.on_a, point_b: apart.on_b, faces }
    }

    /// Where the models touch at the time `s`.
    fn closest_touching(&self, s: f64, limiting: &Limiting) -> Distance {
        // A solid inside of another touches it, whatever the distance of the surfaces.
        let closest = self.pair(s).distance().unwrap_or_else(|| self.named(limiting));
        Distance { distance: 0.0, ..closest }
    }
}
