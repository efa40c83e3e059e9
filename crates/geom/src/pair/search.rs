//! A search for touching faces with limits: how many, how deep, how long.
//!
//! What a limit cuts off is answered on the safe side: [`SearchResult::Maybe`] (Storey 2006,
//! section
//! 4.6: time-critical narrow phase).

use super::models::ModelPair;
use super::walk::{Counters, End, Order, Touching, Walk};
use super::{FacePair, Pair, Witness};
use std::ops::ControlFlow;

/// How far a [`TouchSearch`] looks. The default has no limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// Stop after this many touching pairs of triangles; for a yes or no, 1 is enough.
    pub contacts_max: usize,
    /// Open no boxes that are more than this many box tests deep. Deep trees of a million
    /// triangles need about 16; limits from 63 on are no limit.
    pub depth_max: u32,
}

impl Default for SearchLimits {
    fn default() -> SearchLimits {
        SearchLimits { contacts_max: usize::MAX, depth_max: u32::MAX }
    }
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStatus {
    /// Everything within the limits was looked at.
    Finished,
    /// As many contacts as wanted were found.
    Full,
    /// The operations are used up; call `run` again to go on.
    Paused,
}

/// What is known of "do they touch?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchResult {
    /// They touch.
    Yes,
    /// They do not.
    No,
    /// Boxes overlap that were not looked into.
    Maybe,
}

/// A search for touching faces. Made by [`Pair::search`].
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{
///     Model, Pair, Pose, Quality, SearchLimits, SearchResult, SearchStatus, solids,
/// };
///
/// let ball = Model::build(solids::sphere(1.0, 0.001)?, Quality::Default);
/// let beside = Pose::from_translation(DVec3::new(1.9, 0.0, 0.0))?;
/// let pair = Pair::new(&ball, &Pose::IDENTITY, &ball, &beside);
/// let mut search = pair.search(SearchLimits::default());
/// assert_eq!(search.run(3), SearchStatus::Paused);
/// assert_eq!(search.result(), SearchResult::Maybe);
/// while search.run(100) == SearchStatus::Paused {}
/// assert_eq!(search.result(), SearchResult::Yes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TouchSearch<'a> {
    work: Work<'a>,
    limits: SearchLimits,
    found: Vec<FacePair>,
    /// The triangles of the first pair that was found.
    first: Option<[usize; 2]>,
    inside: bool,
    status: SearchStatus,
}

/// What is searched.
#[derive(Clone, Debug)]
// A box for the large variant would be an allocation for each search.
#[allow(clippy::large_enum_variant)]
enum Work<'a> {
    /// Two hierarchies.
    Walk(ModelPair<'a>, Walk),
    /// Shapes of which one has no hierarchy: answered as a whole by the first operation.
    Whole(Pair<'a>),
}

impl<'a> TouchSearch<'a> {
    pub(super) fn new(pair: &Pair<'a>, limits: SearchLimits) -> TouchSearch<'a> {
        let order = if limits.contacts_max <= 1 { Order::Deepest } else { Order::Any };
        let work = match pair.models() {
            Some(models) => {
                let walk = Walk::new(&models, order, 0.0).with_depth_max(limits.depth_max);
                Work::Walk(models, walk)
            }
            None => Work::Whole(*pair),
        };
        let full = limits.contacts_max == 0;
        let status = if full { SearchStatus::Full } else { SearchStatus::Paused };
        TouchSearch { work, limits, found: Vec::new(), first: None, inside: false, status }
    }

    /// Goes on for about this many operations (a box against eight, or a pair of leaves).
    pub fn run(&mut self, operations: u64) -> SearchStatus {
        if self.status != SearchStatus::Paused {
            return self.status;
        }
        let (found, first, most) = (&mut self.found, &mut self.first, self.limits.contacts_max);
        self.status = match &mut self.work {
            Work::Walk(pair, walk) => {
                let end = walk.run(
                    pair,
                    operations,
                    &mut Touching(|a, b| {
                        found.push(pair.faces(a, b));
                        first.get_or_insert([a, b]);
                        if found.len() < most {
                            ControlFlow::Continue(())
                        } else {
                            ControlFlow::Break(())
                        }
                    }),
                );
                match end {
                    End::Stopped => SearchStatus::Full,
                    End::Paused => SearchStatus::Paused,
                    End::Finished => {
                        self.inside = found.is_empty() && pair.is_nested();
                        SearchStatus::Finished
                    }
                }
            }
            Work::Whole(_) if operations == 0 => SearchStatus::Paused,
            Work::Whole(pair) => {
                *found = pair.all_pairs();
                self.inside = found.is_empty() && pair.touches();
                SearchStatus::Finished
            }
        };
        self.status
    }

    /// What is known so far.
    #[must_use]
    pub fn result(&self) -> SearchResult {
        if !self.found.is_empty() || self.inside {
            SearchResult::Yes
        } else if self.status == SearchStatus::Finished && !self.cut_short() {
            SearchResult::No
        } else {
            SearchResult::Maybe
        }
    }

    /// Whether boxes at the depth limit overlap, so that there may be more contacts.
    #[must_use]
    pub fn cut_short(&self) -> bool {
        matches!(&self.work, Work::Walk(_, walk) if walk.cut_short)
    }

    /// The touching faces found so far, sorted.
    #[must_use]
    pub fn pairs(&self) -> Vec<FacePair> {
        let mut pairs = self.found.clone();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Two touching faces and a common point, if [`TouchSearch::result`] is yes: of the first pair
    /// of triangles that was found.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, Pair, Pose, Quality, SearchLimits, solids};
    ///
    /// let cube = Model::build(solids::cuboid(DVec3::ONE)?, Quality::Default);
    /// let beside = Pose::from_translation(DVec3::new(0.5, 0.25, 0.125))?;
    /// let pair = Pair::new(&cube, &Pose::IDENTITY, &cube, &beside);
    /// let mut search = pair.search(SearchLimits { contacts_max: 1, ..SearchLimits::default() });
    /// search.run(u64::MAX);
    /// assert_eq!(search.witness(), pair.witness());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn witness(&self) -> Option<Witness> {
        match &self.work {
            Work::Walk(pair, _) => match self.first {
                Some([a, b]) => pair.witness_of(a, b),
                None if self.inside => pair.nested_witness(),
                None => None,
            },
            Work::Whole(pair) if self.result() == SearchResult::Yes => pair.witness(),
            Work::Whole(_) => None,
        }
    }

    /// What it cost so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        match &self.work {
            Work::Walk(_, walk) => walk.counters,
            Work::Whole(_) => Counters::default(),
        }
    }
}
