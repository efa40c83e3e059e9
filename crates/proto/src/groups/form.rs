//! Which machines form a group: the largest set that is near each other first, then the largest of
//! the rest (Storey 2006, 3.3.7 and 4.3.1.4).

use super::clique::{Graph, STEPS_MAX};
use super::delays::Matrix;
use super::vote::Opinion;
use crate::object::NodeId;
use crate::time::Span;
use serde::{Deserialize, Serialize};

/// Machines that can be grouped at once: the bits of a word.
pub const GROUP_NODES_MAX: usize = 64;

/// More machines than [`GROUP_NODES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found} nodes; at most {GROUP_NODES_MAX} can be grouped at once")]
pub struct TooManyNodes {
    /// The number of nodes.
    pub found: usize,
}

/// Near, far, and a range between them in which nothing changes (Storey 2006, 3.3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thresholds {
    /// Delays below it let a machine in.
    pub inclusion: Span,
    /// Delays above it put a machine out; not less than the other.
    pub rejection: Span,
}

impl Thresholds {
    /// The meaning of a delay.
    #[must_use]
    pub fn opinion(&self, delay: Span) -> Opinion {
        if delay > self.rejection {
            Opinion::Reject
        } else if delay < self.inclusion {
            Opinion::Include
        } else {
            Opinion::Abstain
        }
    }
}

/// The delays there and back with which a group can do `rate` ticks a second.
///
/// A tick is three messages one after the other (bundle, done, commit), that is one and a half
/// times there and back, and what machines compute and wait for besides: 1/rate = 1.5 T + compute +
/// jitter. A member is put out only when it is slower by two fifths. No delay is short enough if
/// there is no time left.
///
/// ```
/// use jostle_proto::{Span, thresholds};
///
/// let found = thresholds(60, Span::from_ms(5), Span(0));
/// assert_eq!((found.inclusion, found.rejection), (Span(7_777), Span(10_887)));
/// ```
#[must_use]
pub fn thresholds(rate: u32, compute: Span, jitter: Span) -> Thresholds {
    let tick = 1_000_000 / u64::from(rate.max(1));
    let left = tick.saturating_sub(compute.0).saturating_sub(jitter.0);
    let inclusion = left * 2 / 3;
    Thresholds { inclusion: Span(inclusion), rejection: Span(inclusion * 7 / 5) }
}

/// How large groups are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// As large as possible.
    Largest,
    /// The largest power of two that is possible: of those that halve the world, not one has twice
    /// as much to do as another (Storey 2006, 3.3.7). [`crate::Tree::shared_among`] does not need
    /// it.
    PowersOfTwo,
}

/// How groups are formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formation {
    /// Which machines are near enough.
    pub thresholds: Thresholds,
    /// No group is larger: its leader could not follow (Storey 2006, 3.3.8).
    pub size_max: usize,
    /// How large groups are to be.
    pub sizes: Sizes,
}

/// Groups of machines, every one in exactly one; the first is the largest. Members ascend.
///
/// Two are near each other if their mutual delay is below the inclusion threshold, or if they are
/// in one `current` group and it is not above the rejection threshold. Of equally large groups a
/// current one comes first, then the one with the lower ids (compared member by member): who has
/// been there longest is grouped first.
///
/// ```
/// use jostle_proto::{Formation, Matrix, NodeId, Sizes, Span, Thresholds, form};
///
/// // Storey 2006, 3.3.7, in milliseconds.
/// let nodes = [1, 2, 3, 4].map(NodeId);
/// let delays = [[0, 3, 4, 10], [2, 0, 1, 6], [4, 3, 0, 2], [7, 4, 1, 0]];
/// let mut matrix = Matrix::new(&nodes)?;
/// for (from, row) in nodes.into_iter().zip(delays) {
///     for (to, ms) in nodes.into_iter().zip(row) {
///         matrix.set(from, to, Span::from_ms(ms));
///     }
/// }
/// let limit = Span::from_ms(5);
/// let thresholds = Thresholds { inclusion: limit, rejection: limit };
/// let mut formation = Formation { thresholds, size_max: 8, sizes: Sizes::Largest };
/// let [a, b, c, d] = nodes;
/// assert_eq!(form(&matrix, &[], &formation), [vec![a, b, c], vec![d]]);
/// // What the thesis would rather have.
/// formation.sizes = Sizes::PowersOfTwo;
/// assert_eq!(form(&matrix, &[], &formation), [vec![a, b], vec![c, d]]);
/// # Ok::<(), jostle_proto::TooManyNodes>(())
/// ```
#[must_use]
pub fn form(matrix: &Matrix, current: &[Vec<NodeId>], formation: &Formation) -> Vec<Vec<NodeId>> {
    let nodes = matrix.nodes();
    let set = |group: &Vec<NodeId>| {
        let places = group.iter().filter_map(|node| nodes.binary_search(node).ok());
        places.fold(0u64, |set, place| set | 1 << place)
    };
    let current: Vec<u64> = current.iter().map(set).collect();
    let graph = links(matrix, &current, &formation.thresholds);
    let size_max = formation.size_max.clamp(1, GROUP_NODES_MAX) as u32;
    let mut rest = u64::MAX.checked_shr(64 - nodes.len() as u32).unwrap_or(0);
    let mut groups = Vec::new();
    while rest != 0 {
        let found = graph.largest(rest, size_max, STEPS_MAX);
        let size = match formation.sizes {
            Sizes::Largest => found.count_ones(),
            Sizes::PowersOfTwo => 1 << found.count_ones().max(1).ilog2(),
        };
        let kept = current.iter().copied().filter(|&group| {
            group & !rest == 0 && group.count_ones() == size && graph.is_clique(group)
        });
        let kept = kept.min_by_key(|group| group.trailing_zeros());
        // When the search for the first is given up, any of that size will do.
        let group = kept
            .or_else(|| graph.first_of_size(rest, size, STEPS_MAX))
            .unwrap_or_else(|| lowest(found, size));
        rest &= !group;
        let member = |(place, &node): (usize, &NodeId)| (group >> place & 1 == 1).then_some(node);
        groups.push(nodes.iter().enumerate().filter_map(member).collect());
    }
    groups
}

/// Which machines are near each other.
pub(super) fn links(matrix: &Matrix, current: &[u64], thresholds: &Thresholds) -> Graph {
    let nodes = matrix.nodes();
    let mut graph = Graph::default();
    for (a, &node) in nodes.iter().enumerate() {
        for (b, &other) in nodes.iter().enumerate().skip(a + 1) {
            let Some(delay) = matrix.mutual(node, other) else { continue };
            let together = current.iter().any(|group| group >> a & group >> b & 1 == 1);
            let near = match thresholds.opinion(delay) {
                Opinion::Include => true,
                Opinion::Abstain => together,
                Opinion::Reject => false,
            };
            if near {
                graph.link(a, b);
            }
        }
    }
    graph
}

/// The lowest members, so many of them.
fn lowest(mut set: u64, size: u32) -> u64 {
    while set.count_ones() > size {
        set &= !(1 << set.ilog2());
    }
    set
}
