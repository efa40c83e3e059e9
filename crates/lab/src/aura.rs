//! The paper's ways to find who must hear from whom (K. Storey, F. Lu, G. Morgan, *Determining
//! Collisions between Moving Spheres for Distributed Virtual Environments*, 2004, here "the
//! paper"), its workload and its experiment.
//!
//! What auras and relations are, [`jostle_world::aura`] says; worlds use the last of these methods.
//! All give exactly the same relations: they are made from the same parts
//! ([`jostle_world::aura::build`]) and differ in the order of the objects and in what they compare.
//!
//! ```
//! use glam::DVec3;
//! use jostle_lab::aura::{Finder, Method};
//! use jostle_world::aura::Aura;
//!
//! // A row in which each aura overlaps only the next, and one far away.
//! let auras = [0.0, 1.5, 3.0, 100.0].map(|x| Aura::new(DVec3::new(x, 0.0, 0.0), 1.0));
//! let auras = auras.into_iter().collect::<Result<Vec<_>, _>>()?;
//!
//! let found = Finder::new(Method::OrderedAxis).relations(&auras, 1000)?;
//! let relations: Vec<&[u32]> = found.relations.iter().collect();
//! assert_eq!(relations, [&[0, 1][..], &[1, 2], &[3]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod brute_force;
mod expanding_sphere;
pub mod experiment;
mod ordered_axis;
mod ordered_relations;
mod spheres;
pub mod workload;

use brute_force::BruteForce;
use expanding_sphere::ExpandingSphere;
use jostle_world::aura::build::Full;
use jostle_world::aura::{self as product, Aura, RelationLimit, Relations, TooManyRelations};
use ordered_axis::OrderedAxis;
use ordered_relations::OrderedRelations;
use spheres::SphereBuilder;

/// How to find the relations. They are the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Every aura with every other: n(n−1)/2 tests.
    BruteForce,
    /// One aura after the other is compared with the relations of those before, each enclosed by a
    /// sphere that grows with it; with the members only if it meets that sphere (§3.1).
    ExpandingSphere,
    /// The same, in the order of the last frame's relations, largest first (§3.2).
    OrderedRelations,
    /// The same, among those that overlap on one axis only; the end points on the axis are kept in
    /// order from frame to frame (§3.3). Comparisons grow as n^(5/3) at constant coverage.
    OrderedAxis,
    /// Ordered axis with the auras met along it kept in columns over the two other axes: not in the
    /// paper, and what worlds use. Comparisons grow as n at constant coverage.
    OrderedColumns,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 5] = [
        Method::BruteForce,
        Method::ExpandingSphere,
        Method::OrderedRelations,
        Method::OrderedAxis,
        Method::OrderedColumns,
    ];

    /// For tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::BruteForce => "brute force",
            Method::ExpandingSphere => "expanding sphere",
            Method::OrderedRelations => "ordered relations",
            Method::OrderedAxis => "ordered axis",
            Method::OrderedColumns => "ordered columns",
        }
    }
}

/// What a finder did in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparisons {
    /// Auras compared with auras.
    pub sphere_tests: u64,
    /// Auras compared with the sphere of a whole relation.
    pub group_tests: u64,
    /// Distances measured to enlarge the spheres of relations. No comparisons: the paper does not
    /// count them either.
    pub reach_steps: u64,
    /// Places by which entries moved while lists were put in order.
    pub sort_steps: u64,
}

impl Comparisons {
    /// As the paper counts: every test of an aura with an aura or with a relation.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.sphere_tests + self.group_tests
    }
}

/// The relations of one frame, and what it took to find them.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// All relations, in order.
    pub relations: Relations,
    /// What was compared.
    pub comparisons: Comparisons,
}

/// Finds the relations of auras by one method, frame after frame.
#[derive(Clone, Debug)]
pub struct Finder {
    method: Method,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    BruteForce(BruteForce),
    ExpandingSphere(ExpandingSphere),
    OrderedRelations(OrderedRelations),
    OrderedAxis(OrderedAxis),
    OrderedColumns(product::Finder),
}

impl Finder {
    /// Before the first frame.
    #[must_use]
    pub fn new(method: Method) -> Finder {
        let kind = match method {
            Method::BruteForce => Kind::BruteForce(BruteForce::default()),
            Method::ExpandingSphere => Kind::ExpandingSphere(ExpandingSphere::default()),
            Method::OrderedRelations => Kind::OrderedRelations(OrderedRelations::default()),
            Method::OrderedAxis => Kind::OrderedAxis(OrderedAxis::default()),
            Method::OrderedColumns => Kind::OrderedColumns(product::Finder::default()),
        };
        Finder { method, kind }
    }

    /// As given to [`Finder::new`].
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// The relations among these auras; an aura's number is its place in the list.
    ///
    /// # Errors
    /// If there are more than `limit`. The next frame may be tried as usual.
    ///
    /// # Panics
    /// On more than `u32::MAX` auras.
    pub fn relations(&mut self, auras: &[Aura], limit: usize) -> Result<Found, TooManyRelations> {
        assert!(u32::try_from(auras.len()).is_ok(), "auras are numbered in 32 bits");
        let found = match &mut self.kind {
            Kind::BruteForce(method) => method.find(auras, limit),
            Kind::ExpandingSphere(method) => method.find(auras, limit),
            Kind::OrderedRelations(method) => method.find(auras, limit),
            Kind::OrderedAxis(method) => method.find(auras, limit),
            Kind::OrderedColumns(finder) => return in_columns(finder, auras, limit),
        };
        let failed =
            |Full { considered, .. }| TooManyRelations { limit, considered, objects: auras.len() };
        found.map(SphereBuilder::found).map_err(failed)
    }
}

fn in_columns(
    finder: &mut product::Finder,
    auras: &[Aura],
    limit: usize,
) -> Result<Found, TooManyRelations> {
    let found = finder.relations(auras, RelationLimit::FailAbove(limit))?;
    let product::Comparisons { sphere_tests, sort_steps } = found.comparisons;
    let comparisons = Comparisons { sphere_tests, sort_steps, ..Comparisons::default() };
    Ok(Found { relations: found.relations, comparisons })
}
