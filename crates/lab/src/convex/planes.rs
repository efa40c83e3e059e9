//! Separating planes by learning (Zachmann 2000, 3.4.3).
//!
//! A plane w · x = w₀ is turned a little whenever a corner is found on the wrong side of it, as a
//! perceptron learns. Corners are found by walking downhill on the hulls. Plane and corners are
//! kept for the next question about the same pair, in the frames of both objects.
//!
//! What is not in the thesis: places are taken relative to the middle between the boxes and in
//! units of the larger radius, because how much one step of learning turns the plane depends on the
//! unit; the verdict is proved ([`Placement::gap`]); and [`Stop::Normal`].

use super::{Effort, Placement};
use glam::DVec3;

/// The plane that is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Across the x axis, whatever the objects.
    Trivial,
    /// Halfway between the means of the corners.
    Barycentres,
    /// Halfway between the middles of the bounding boxes.
    BoxCentres,
}

/// When the search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// When no corner is on the wrong side of the plane: the thesis.
    Plane,
    /// When *some* plane with this normal separates. The lowest and the highest corner along the
    /// normal are known, so this costs nothing, and the offset need not be learned.
    Normal,
}

/// How planes are searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneSettings {
    /// So many planes are tried before the pair is left to the exact test.
    pub planes_max: u32,
    /// How much a corner on the wrong side turns the plane.
    pub eta: f64,
    /// The factor on `eta` after each plane; 1 is no annealing.
    pub annealing: f64,
    /// The first plane of a pair.
    pub start: Start,
    /// When the search ends.
    pub stop: Stop,
    /// The limit of a pair follows what the exact test says.
    pub feedback: bool,
}

impl Default for PlaneSettings {
    /// As in the thesis' comparisons: 300 planes. `eta` is between its values for 100 and 1000.
    fn default() -> PlaneSettings {
        PlaneSettings {
            planes_max: 300,
            eta: 0.02,
            annealing: 1.0,
            start: Start::BoxCentres,
            stop: Stop::Plane,
            feedback: false,
        }
    }
}

/// With feedback a pair tries at least so many planes: one is the kept plane, which is nearly free.
const PLANES_LEAST: u32 = 2;
/// With feedback a pair tries at most so many times the given limit.
const PLANES_GROW: u32 = 8;

/// What is known of a pair: the last plane and the corners that were nearest to it.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Pose, solids};
/// use jostle_lab::convex::{Hull, Placement, PlaneSettings, SeparatingPlane};
///
/// let hull = Hull::of_mesh(&solids::sphere(1.0, 0.01)?)?;
/// let mut plane = SeparatingPlane::new(PlaneSettings::default());
/// let there = Pose::from_translation(DVec3::new(1.5, 1.5, 0.0))?;
/// let placement = Placement::new(&hull, &Pose::IDENTITY, &hull, &there);
/// assert!(plane.proves_apart(&placement).0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SeparatingPlane {
    settings: PlaneSettings,
    kept: Option<Kept>,
    corners: [u32; 2],
    /// What feedback has made of the limit.
    limit: u32,
    exhausted: bool,
}

/// A plane in the frames of both objects.
#[derive(Clone, Copy, Debug)]
struct Kept {
    normals: [DVec3; 2],
    offset: f64,
}

/// A plane in the world: w · (x − middle) / unit = w₀.
#[derive(Clone, Copy, Debug)]
struct Plane {
    normal: DVec3,
    offset: f64,
}

impl SeparatingPlane {
    /// Nothing known yet.
    #[must_use]
    pub fn new(settings: PlaneSettings) -> SeparatingPlane {
        let limit = settings.planes_max;
        SeparatingPlane { settings, kept: None, corners: [0; 2], limit, exhausted: false }
    }

    /// Nothing known any more, as if the pair had never been asked about.
    pub fn forget(&mut self) {
        *self = SeparatingPlane::new(self.settings);
    }

    /// So many planes are tried for this pair at present.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// What the exact test found after this test had proved nothing: with feedback, a pair that
    /// touches is likely to touch again, so fewer planes are tried; one that does not was worth
    /// more. (The thesis says which way, not how much.)
    pub fn hear(&mut self, touches: bool) {
        if !self.settings.feedback {
            return;
        }
        if touches {
            self.limit = (self.limit / 2).max(PLANES_LEAST);
        } else if self.exhausted {
            let most = self.settings.planes_max.saturating_mul(PLANES_GROW);
            self.limit = self.limit.saturating_mul(2).min(most);
        }
    }

    /// Are the two apart? Yes is proved; no means that no plane was found in time.
    pub fn proves_apart(&mut self, placement: &Placement<'_>) -> (bool, Effort) {
        let mut effort = Effort::default();
        let counts = placement.hulls.map(|hull| hull.corners().len() as u32);
        // The pair may be asked about other hulls than the last time.
        self.corners =
            [0, 1].map(|i| if self.corners[i] < counts[i] { self.corners[i] } else { 0 });
        let found = self.search(placement, &mut effort);
        self.exhausted = !found;
        (found, effort)
    }

    fn search(&mut self, placement: &Placement<'_>, effort: &mut Effort) -> bool {
        let [from, to] = placement.centres();
        let middle = from * 0.5 + to * 0.5;
        let radius = placement.hulls[0].radius().max(placement.hulls[1].radius());
        let unit = if radius > 0.0 { radius } else { 1.0 };
        let start = placement.poses[0].translation();
        // Heights are relative to the first translation; the learner counts from the middle.
        let shift = |normal: DVec3| normal.dot(start - middle);
        let mut plane = self.first(placement);
        let mut second = self.kept.map(|kept| Plane {
            normal: placement.poses[1].transform_vector(kept.normals[1]),
            offset: kept.offset,
        });
        let mut eta = self.settings.eta;
        for _ in 0..self.limit {
            effort.steps += 1;
            let gap = placement.gap(plane.normal, self.corners, effort);
            self.corners = gap.corners;
            let [low, high] = gap.heights.map(|height| (height + shift(plane.normal)) / unit);
            let (above, below) = (low - plane.offset, plane.offset - high);
            if gap.proved && (self.settings.stop == Stop::Normal || (above > 0.0 && below > 0.0)) {
                self.keep(placement, plane);
                return true;
            }
            // The plane that went along with the second object, before anything is learned.
            if let Some(other) = second.take() {
                plane = other;
                continue;
            }
            let side = usize::from(below < above);
            let at = (placement.corner(side, gap.corners[side]) - middle) / unit;
            if side == 0 {
                plane = Plane { normal: plane.normal + eta * at, offset: plane.offset - eta };
            } else {
                plane = Plane { normal: plane.normal - eta * at, offset: plane.offset + eta };
            }
            eta *= self.settings.annealing;
        }
        self.keep(placement, plane);
        false
    }

    /// The plane kept with the first object, or the first guess.
    fn first(&self, placement: &Placement<'_>) -> Plane {
        if let Some(kept) = self.kept {
            let normal = placement.poses[0].transform_vector(kept.normals[0]);
            return Plane { normal, offset: kept.offset };
        }
        let between = |[a, b]: [DVec3; 2]| (a - b).try_normalize().unwrap_or(DVec3::X);
        let normal = match self.settings.start {
            Start::Trivial => DVec3::X,
            Start::BoxCentres => between(placement.centres()),
            Start::Barycentres => between([0, 1].map(|side| {
                placement.poses[side].transform_point(placement.hulls[side].barycentre())
            })),
        };
        Plane { normal, offset: 0.0 }
    }

    /// Planes that learned nothing usable are forgotten.
    fn keep(&mut self, placement: &Placement<'_>, plane: Plane) {
        let length = plane.normal.length();
        let usable = length.is_normal() && plane.offset.is_finite();
        self.kept = usable.then(|| Kept {
            normals: placement
                .poses
                .map(|pose| pose.inverse_transform_vector(plane.normal / length)),
            offset: plane.offset / length,
        });
    }
}
