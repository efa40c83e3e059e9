//! Who wants to know? Auras, and all maximal groups of them that overlap one another.
//!
//! Every object of a shared world has an aura, the sphere in which it is noticed (K. Storey, F. Lu,
//! G. Morgan, *Determining Collisions between Moving Spheres for Distributed Virtual Environments*,
//! 2004, here "the paper"). A **relation** is a set of auras of which every two overlap and to
//! which no other aura can be added: a maximal clique of the overlap graph. An aura that overlaps
//! no other is a relation of its own. Who shares a relation with the sender of a message receives
//! it ([`Recipients`]); [`RegionInterest`] is the coarser alternative by regions of space.
//!
//! A [`Finder`] finds the relations and counts its comparisons. Whether two auras overlap is
//! decided by [`Aura::overlaps`] and nothing else; what filters before it (end points on an axis,
//! columns) is rounded outward so far that it never dismisses what that function accepts. Other
//! methods, among them the paper's, are in `crates/lab/src/aura`; they are made from the same parts
//! ([`build`]) and find the same relations.
//!
//! Relations can be many: 3^(n/3) of them at worst. The caller says what then happens, see
//! [`RelationLimit`].
//!
//! ```
//! use glam::DVec3;
//! use jostle_world::aura::{Aura, Finder, Recipients, RelationLimit};
//!
//! // A row in which each aura overlaps only the next, and one far away.
//! let auras = [0.0, 1.5, 3.0, 100.0].map(|x| Aura::new(DVec3::new(x, 0.0, 0.0), 1.0));
//! let auras = auras.into_iter().collect::<Result<Vec<_>, _>>()?;
//!
//! let mut finder = Finder::default();
//! let found = finder.relations(&auras, RelationLimit::FailAbove(1000))?;
//! let relations: Vec<&[u32]> = found.relations.iter().collect();
//! assert_eq!(relations, [&[0, 1][..], &[1, 2], &[3]]);
//!
//! let recipients = Recipients::new(&found.relations, auras.len());
//! assert_eq!(recipients.of(1), Some(vec![0, 2]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axis;
pub mod build;
mod columns;
mod cover;
mod groups;
mod recipients;
mod regions;
mod relations;
mod sort;

use build::Full;
use columns::OrderedColumns;
use glam::DVec3;

pub use recipients::Recipients;
pub use regions::{RegionError, RegionInterest};
pub use relations::Relations;

/// The sphere in which an object is noticed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aura {
    centre: DVec3,
    radius: f64,
}

/// Why an aura was refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AuraError {
    /// A coordinate is not finite or too large.
    #[error("the centre {centre} of an aura must be within ±{limit:e}", limit = Aura::LIMIT)]
    Centre {
        /// As given.
        centre: DVec3,
    },
    /// The radius is negative, not finite or too large.
    #[error("the radius {radius} of an aura must be from 0 to {limit:e}", limit = Aura::LIMIT)]
    Radius {
        /// As given.
        radius: f64,
    },
}

impl Aura {
    /// The largest coordinate and radius: squares of sums stay finite.
    pub const LIMIT: f64 = 1e150;

    /// An aura. A radius of 0 is a point, and points may overlap too.
    ///
    /// # Errors
    /// If a number is not finite or beyond [`Aura::LIMIT`], or the radius is below 0.
    pub fn new(centre: DVec3, radius: f64) -> Result<Aura, AuraError> {
        // A number that is none fails these comparisons too.
        if !centre.abs().cmple(DVec3::splat(Aura::LIMIT)).all() {
            return Err(AuraError::Centre { centre });
        }
        if !(0.0..=Aura::LIMIT).contains(&radius) {
            return Err(AuraError::Radius { radius });
        }
        Ok(Aura { centre, radius })
    }

    /// Its centre.
    #[must_use]
    pub fn centre(&self) -> DVec3 {
        self.centre
    }

    /// Its radius, not below 0.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Do they share a point? Touching counts, as everywhere in Jostle (the paper asks for a
    /// distance *less than* the sum of the radii).
    ///
    /// Squared distance against squared sum of radii, in plain `f64`: of auras that touch to within
    /// the last bits, rounding decides, and it decides the same for all methods and machines.
    #[inline]
    #[must_use]
    pub fn overlaps(&self, other: &Aura) -> bool {
        let reach = self.radius + other.radius;
        self.centre.distance_squared(other.centre) <= reach * reach
    }

    /// From where to where it reaches on an axis, a little too far: if two auras overlap as
    /// [`Aura::overlaps`] says, then so do these on every axis.
    ///
    /// Why: what `overlaps` accepts has a true distance of at most the sum of the radii times
    /// 1 + 2^-49 (a dozen roundings of 2^-53 under a root), plus 2^-530 where squares vanish below
    /// the smallest number. The radius grows by more than its share of both, and the sums are
    /// rounded outward.
    #[inline]
    #[must_use]
    pub fn span(&self, axis: usize) -> [f64; 2] {
        let reach = self.radius * (1.0 + 1e-14) + 1e-150;
        let at = self.centre[axis];
        [(at - reach).next_down(), (at + reach).next_up()]
    }
}

/// What to do when there are more relations than wanted.
///
/// With either, cost is in proportion to the number given: no more relations than that are ever
/// held, and to consider an object each of them is looked at a few times at most. (None is held and
/// dropped later: the number of relations never shrinks while auras are added.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationLimit {
    /// [`TooManyRelations`] if, and only if, there are more than this many.
    FailAbove(usize),
    /// If there are more than this many, then exactly this many of them, or fewer if fewer suffice
    /// for every pair to share one; [`Completeness`] says which.
    ///
    /// Each relation given is a true one, maximal like all. They are chosen to serve first every
    /// object, in order, then every overlapping pair, in order; the choice depends on the auras
    /// alone.
    CoverWith(usize),
}

impl RelationLimit {
    fn count(self) -> usize {
        match self {
            RelationLimit::FailAbove(count) | RelationLimit::CoverWith(count) => count,
        }
    }
}

/// There are more relations than the caller allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "more than {limit} relations, the limit given, among the first {considered} of {objects} auras"
)]
pub struct TooManyRelations {
    /// As given.
    pub limit: usize,
    /// How many auras were considered until then.
    pub considered: usize,
    /// How many there are.
    pub objects: usize,
}

/// How much of all relations was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// All of them.
    Complete,
    /// Not all, but every aura is in one and every overlapping pair shares one: recipients are
    /// exact.
    EveryPair,
    /// Not all, and some pairs, or even some auras, are in none: recipients may be missing.
    Partial,
}

/// What a finder did in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparisons {
    /// Auras compared with auras.
    pub sphere_tests: u64,
    /// Places by which entries moved while lists were put in order.
    pub sort_steps: u64,
}

/// The relations of one frame, and what it took to find them.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The relations, in order.
    pub relations: Relations,
    /// All of them?
    pub completeness: Completeness,
    /// What was compared.
    pub comparisons: Comparisons,
}

/// Finds the relations of auras, frame after frame.
///
/// It keeps orders and buffers from frame to frame, which saves work when things move little. The
/// relations depend on the auras given and on nothing else. At constant coverage the number of
/// comparisons is proportional to that of auras.
#[derive(Clone, Debug, Default)]
pub struct Finder(OrderedColumns);

impl Finder {
    /// The relations among these auras; an aura's number is its place in the list. There may be
    /// more or fewer of them than in the frame before.
    ///
    /// # Errors
    /// If there are too many and `limit` says to fail. The next frame may be tried as usual.
    ///
    /// # Panics
    /// On more than `u32::MAX` auras.
    pub fn relations(
        &mut self,
        auras: &[Aura],
        limit: RelationLimit,
    ) -> Result<Found, TooManyRelations> {
        assert!(u32::try_from(auras.len()).is_ok(), "auras are numbered in 32 bits");
        match (self.0.find(auras, limit.count()), limit) {
            (Ok(found), _) => Ok(found),
            (Err(Full { considered, .. }), RelationLimit::FailAbove(limit)) => {
                Err(TooManyRelations { limit, considered, objects: auras.len() })
            }
            (Err(Full { comparisons, .. }), RelationLimit::CoverWith(most)) => {
                Ok(cover::cover(auras, most, comparisons))
            }
        }
    }
}
