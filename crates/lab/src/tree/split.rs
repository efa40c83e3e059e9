//! Where a node is split: the rules of the papers (row O4).
//!
//! Klosowski's four, as Ohlenburg describes them (2003, 3.2.4): an axis of x, y and z is chosen, μ
//! is the mean of all corners along it, and triangles go where their centroid is. RAPID's: the
//! longest axis of the oriented box, at the mean of the centroids. Zachmann's (2000, 3.5.9): from
//! both ends of the longest direction in turn, to the side that grows less.

mod alternating;

use super::covariance::principal_axes;
use crate::dop::NormalSet;
use alternating::Alternating;
use glam::DVec3;
use jostle_geom::Mesh;
use std::fmt;
use std::num::NonZeroUsize;

/// Combined rules take nodes of more than this part of all triangles for the first levels, which
/// the paper does not number: about four levels.
const COMBINED_PARTS: usize = 16;

/// How a node is split in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitRule {
    /// Across the longest side of the node's box.
    LongestSide,
    /// Along the axis with the largest variance of centroids.
    Splatter,
    /// Along the axis that gives two children with the smallest sum of volumes.
    MinSum,
    /// Along the axis whose larger child has the smallest volume.
    MinMax,
    /// Along the longest axis of the oriented box, at the mean of the centroids (RAPID).
    Mean,
    /// From both ends in turn, to the side that grows less (Zachmann).
    AlternatingEnds,
    /// The smallest sum in the first levels, the longest side below. Ohlenburg tried it and the
    /// next and saw no significant effect (3.2.4; row O21).
    CombinedLongestSide,
    /// The smallest sum in the first levels, the variance of centroids below.
    CombinedSplatter,
}

impl SplitRule {
    /// All of them.
    pub const ALL: [SplitRule; 8] = [
        SplitRule::LongestSide,
        SplitRule::Splatter,
        SplitRule::MinSum,
        SplitRule::MinMax,
        SplitRule::Mean,
        SplitRule::AlternatingEnds,
        SplitRule::CombinedLongestSide,
        SplitRule::CombinedSplatter,
    ];

    /// One word, for tables and command lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SplitRule::LongestSide => "longest-side",
            SplitRule::Splatter => "splatter",
            SplitRule::MinSum => "min-sum",
            SplitRule::MinMax => "min-max",
            SplitRule::Mean => "mean",
            SplitRule::AlternatingEnds => "alternating-ends",
            SplitRule::CombinedLongestSide => "combined-longest-side",
            SplitRule::CombinedSplatter => "combined-splatter",
        }
    }

    pub(super) fn splitter<'a>(self, mesh: &Mesh, guide: &'a Guide<'a>) -> Splitter<'a> {
        let corners: Vec<[DVec3; 3]> = corners(mesh);
        let centroids = corners.iter().map(|[a, b, c]| (a + b + c) / 3.0).collect();
        let alternating =
            (self == SplitRule::AlternatingEnds).then(|| Alternating::new(&corners, guide.normals));
        Splitter { rule: self, corners, centroids, guide, alternating }
    }
}

impl fmt::Display for SplitRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A rule, and how many triangles a leaf may have: the papers' split threshold, 1 to 20.
///
/// ```
/// use jostle_lab::tree::{SplitRule, Splitting};
///
/// let splitting = Splitting::new(SplitRule::MinSum, 4).expect("at least one triangle");
/// assert_eq!(splitting.leaf_max.get(), 4);
/// assert_eq!(Splitting::new(SplitRule::MinSum, 0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splitting {
    /// Where a node is split.
    pub rule: SplitRule,
    /// A node of so many triangles is not split.
    pub leaf_max: NonZeroUsize,
}

impl Splitting {
    /// Nothing if a leaf may have no triangles.
    #[must_use]
    pub fn new(rule: SplitRule, leaf_max: usize) -> Option<Splitting> {
        Some(Splitting { rule, leaf_max: NonZeroUsize::new(leaf_max)? })
    }

    /// Leaves of one triangle.
    #[must_use]
    pub fn single(rule: SplitRule) -> Splitting {
        Splitting { rule, leaf_max: NonZeroUsize::MIN }
    }
}

impl fmt::Display for Splitting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.leaf_max.get() {
            1 => write!(f, "{}", self.rule),
            most => write!(f, "{}/{most}", self.rule),
        }
    }
}

/// What a rule wants to know of the volumes that the tree will have.
pub(crate) struct Guide<'a> {
    /// The size of the volume around these triangles, in any unit.
    pub(crate) measure: &'a dyn Fn(&[u32]) -> f64,
    /// The directions of the volumes; for those that have none, x, y and z.
    pub(crate) normals: &'a NormalSet,
}

pub(super) struct Splitter<'a> {
    rule: SplitRule,
    corners: Vec<[DVec3; 3]>,
    centroids: Vec<DVec3>,
    guide: &'a Guide<'a>,
    alternating: Option<Alternating>,
}

impl Splitter<'_> {
    /// Puts the triangles of the left child first and returns how many these are. All or none if
    /// they cannot be separated.
    pub(super) fn split(&mut self, triangles: &mut [u32]) -> usize {
        match self.rule_for(triangles.len()) {
            SplitRule::LongestSide | SplitRule::CombinedLongestSide => {
                let extent = self.extent(triangles);
                self.first_that_parts(triangles, by_size(extent))
            }
            SplitRule::Splatter | SplitRule::CombinedSplatter => {
                let variance = self.variance(triangles);
                self.first_that_parts(triangles, by_size(variance))
            }
            SplitRule::MinSum => self.smallest(triangles, |left, right| left + right),
            SplitRule::MinMax => self.smallest(triangles, f64::max),
            SplitRule::Mean => self.mean(triangles),
            SplitRule::AlternatingEnds => match &mut self.alternating {
                Some(alternating) => alternating.split(triangles, &self.centroids),
                None => 0,
            },
        }
    }

    /// For a node of so many triangles: combined rules begin with another.
    fn rule_for(&self, triangles: usize) -> SplitRule {
        let combined =
            matches!(self.rule, SplitRule::CombinedLongestSide | SplitRule::CombinedSplatter);
        let high = triangles > self.centroids.len() / COMBINED_PARTS;
        if combined && high { SplitRule::MinSum } else { self.rule }
    }

    fn extent(&self, triangles: &[u32]) -> DVec3 {
        let all = || triangles.iter().flat_map(|&t| self.corners[t as usize]);
        let low = all().fold(DVec3::INFINITY, DVec3::min);
        all().fold(DVec3::NEG_INFINITY, DVec3::max) - low
    }

    fn variance(&self, triangles: &[u32]) -> DVec3 {
        let all = || triangles.iter().map(|&t| self.centroids[t as usize]);
        let mean = all().sum::<DVec3>() / triangles.len() as f64;
        all().map(|centroid| (centroid - mean) * (centroid - mean)).sum()
    }

    /// μ, equation 3.1: the mean of all corners along an axis.
    fn middle(&self, triangles: &[u32], axis: DVec3) -> f64 {
        let along = |t: &u32| self.corners[*t as usize].map(|p| p.dot(axis)).iter().sum::<f64>();
        triangles.iter().map(along).sum::<f64>() / (3 * triangles.len()) as f64
    }

    /// Triangles whose centroid is not beyond the middle come first.
    fn part(&self, triangles: &mut [u32], axis: DVec3, middle: f64) -> usize {
        let mut left = 0;
        for at in 0..triangles.len() {
            if self.centroids[triangles[at] as usize].dot(axis) <= middle {
                triangles.swap(left, at);
                left += 1;
            }
        }
        left
    }

    /// The first of these axes along which the triangles can be separated (as RAPID does).
    fn first_that_parts(&self, triangles: &mut [u32], axes: [DVec3; 3]) -> usize {
        let tries = axes.map(|axis| (axis, self.middle(triangles, axis)));
        self.first_of(triangles, tries)
    }

    fn first_of(&self, triangles: &mut [u32], tries: [(DVec3, f64); 3]) -> usize {
        for (axis, middle) in tries {
            let left = self.part(triangles, axis, middle);
            if left > 0 && left < triangles.len() {
                return left;
            }
        }
        0
    }

    /// The axis whose two children give the smallest `cost` of their volumes.
    fn smallest(&self, triangles: &mut [u32], cost: impl Fn(f64, f64) -> f64) -> usize {
        let measure = self.guide.measure;
        let mut best: Option<(f64, DVec3, f64)> = None;
        for axis in DVec3::AXES {
            let middle = self.middle(triangles, axis);
            let left = self.part(triangles, axis, middle);
            if left == 0 || left == triangles.len() {
                continue;
            }
            let (some, others) = triangles.split_at(left);
            let cost = cost(measure(some), measure(others));
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, axis, middle));
            }
        }
        best.map_or(0, |(_, axis, middle)| self.part(triangles, axis, middle))
    }

    /// Along the axes of the oriented box, longest first, at the mean of the centroids.
    fn mean(&self, triangles: &mut [u32]) -> usize {
        let corners: Vec<[DVec3; 3]> =
            triangles.iter().map(|&t| self.corners[t as usize]).collect();
        let axes = principal_axes(&corners);
        let extent = |axis: &DVec3| {
            let along = || corners.iter().flatten().map(|p| p.dot(*axis));
            along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
        };
        let mut sorted = axes.map(|axis| (extent(&axis), axis));
        sorted.sort_by(|one, other| other.0.total_cmp(&one.0));
        let tries = sorted.map(|(_, axis)| {
            let along = |t: &u32| self.centroids[*t as usize].dot(axis);
            (axis, triangles.iter().map(along).sum::<f64>() / triangles.len() as f64)
        });
        self.first_of(triangles, tries)
    }
}

/// x, y and z, the one with the largest of these numbers first.
fn by_size(numbers: DVec3) -> [DVec3; 3] {
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| numbers[j].total_cmp(&numbers[i]));
    order.map(|axis| DVec3::AXES[axis])
}

/// The corners of all triangles of a mesh.
pub(crate) fn corners(mesh: &Mesh) -> Vec<[DVec3; 3]> {
    let vertices = mesh.vertices();
    mesh.triangles().iter().map(|t| t.map(|v| vertices[v as usize].as_dvec3())).collect()
}
