//! The first contact of two moving models.

use super::Motion;
use super::advance::{Body, Limiting, Search, radius};
use crate::{Distance, FacePair, Model, Pair};

/// How exactly, and with how much work, to look for a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactLimits {
    /// The longest contact interval, as a part of the motion. What is less than 0, or NaN, is 0.
    pub time: f64,
    /// Surfaces that approach each other and are this close may be reported as in contact. Less
    /// than the rounding of placed coordinates (about 1e-13 of all lengths involved) is raised
    /// to that. NaN is 0.
    pub distance: f64,
    /// Most advances before the search gives up with [`Contact::Unknown`].
    pub steps_max: u32,
}

impl Default for ContactLimits {
    /// A millionth of the motion, and a thousand steps.
    fn default() -> ContactLimits {
        ContactLimits { time: 1e-6, distance: 0.0, steps_max: 1000 }
    }
}

/// When two moving models touch for the first time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contact {
    /// They touch at no time from 0 to 1.
    Never,
    /// They touch at time 0 already.
    AtStart,
    /// They touch for the first time between two times.
    During {
        /// They touch at no time from 0 up to this one.
        free: f64,
        /// At this time, which is not before `free`, they touch, or they are within
        /// [`ContactLimits::distance`] of each other.
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

/// When do two moving models touch for the first time?
///
/// The models move from time 0 to time 1. The answer never tunnels: however fast and thin they
/// are, nothing is sampled.
///
/// # What is guaranteed
/// All of this is about the models as [`Motion::at`] and [`crate::Pose::place`] have them, and
/// holds with rounding.
///
/// 1. For [`Contact::During`] and [`Contact::Unknown`], the models touch at no time from 0 to
///    `free`, both included. For [`Contact::Never`] they touch at no time from 0 to 1. These are
///    proved by bounds on how fast points can approach each other.
/// 2. For [`Contact::During`], at the time `contact` either [`Pair::touches`] is true and
///    `contact − free` is at most [`ContactLimits::time`], or `contact` is `free` and the faces
///    in `closest` are within [`ContactLimits::distance`] (raised to the rounding of placed
///    coordinates). The second happens when the models graze, or when the distance asked for is
///    reached before the time asked for. Models that are that close but move apart, or along
///    each other so that the proof succeeds, are not in contact.
/// 3. A contact that is shorter than `time` may show only as the second kind, or as
///    [`Contact::Unknown`]; but it is never passed over.
/// 4. Every machine gives the same bits, for models built with the same [`crate::Quality`].
///
/// Solids contain what is inside of them ([`crate::Mesh::into_solid`]): at time 0 that is
/// [`Contact::AtStart`]. Later it cannot begin without the surfaces touching first. An empty
/// model touches nothing.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{
///     Contact, ContactLimits, Model, Motion, Pose, Quality, solids, time_of_contact,
/// };
///
/// let wall = Model::build(solids::cuboid(DVec3::new(0.001, 10.0, 10.0))?, Quality::Default);
/// let ball = Model::build(solids::sphere(0.01, 1e-4)?, Quality::Default);
/// let [from, to] = [-100.0, 60.0].map(|x| Pose::from_translation(DVec3::new(x, 0.0, 0.0)));
/// let flight = Motion::linear(&from?, &to?);
/// let still = Motion::still(&Pose::IDENTITY);
///
/// let hit = time_of_contact(&ball, &flight, &wall, &still, &ContactLimits::default());
/// let Contact::During { free, contact, closest } = hit else { panic!("{hit:?}") };
/// assert!(free < 0.625 && 0.6249 < free && contact - free <= 1e-6);
/// assert!(closest.point_a.x.abs() < 0.001);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn time_of_contact(
    a: &Model,
    motion_a: &Motion,
    b: &Model,
    motion_b: &Motion,
    limits: &ContactLimits,
) -> Contact {
    let moving = Moving { a, motion_a, b, motion_b };
    if moving.pair(0.0).touches() {
        return Contact::AtStart;
    }
    let margin = moving.margin();
    // `max` also turns NaN into the other number.
    let (time_max, distance_max) = (limits.time.max(0.0), limits.distance.max(4.0 * margin));
    let mut free = 0.0;
    let mut first = None;
    for _ in 0..limits.steps_max {
        let bodies = (Body::new(a, motion_a, free), Body::new(b, motion_b, free));
        let search = Search::new(bodies.0, bodies.1, margin, 1.0 - free);
        let (safe, limiting) = search.run(first);
        let Some(limiting) = limiting else { return Contact::Never };
        // Where rounding of the sum might matter, `margin` has room for it.
        let next = free + safe;
        if safe <= time_max {
            let probe = (free + time_max).min(1.0);
            let probe = if probe - free > time_max { probe.next_down() } else { probe };
            if probe > free && moving.pair(probe).touches() {
                let closest = moving.closest_touching(probe, &limiting);
                return Contact::During { free, contact: probe, closest };
            }
        }
        let near = limiting.apart.distance <= distance_max;
        if near && (limiting.approach || safe <= time_max) {
            let closest = moving.named(&limiting);
            return Contact::During { free, contact: free, closest };
        }
        if next <= free {
            break;
        }
        free = next;
        first = Some(limiting.triangles);
    }
    Contact::Unknown { free }
}

/// Two models with their motions.
struct Moving<'a> {
    a: &'a Model,
    motion_a: &'a Motion,
    b: &'a Model,
    motion_b: &'a Motion,
}

impl<'a> Moving<'a> {
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

    /// The limiting triangles as the caller knows them.
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
