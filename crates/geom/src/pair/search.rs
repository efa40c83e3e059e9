//! A search for touching faces with limits: how many, how deep, how long.
//!
//! What a limit cuts off is answered on the safe side: [`Answer::Maybe`] (Storey 2006, section
//! 4.6: time-critical narrow phase).

use super::walk::{Counters, End, Order, Touching, Walk};
use super::{FacePair, Pair};
use std::ops::ControlFlow;

/// How far a [`TouchSearch`] looks. The default has no limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Stop after this many touching pairs of triangles; for a yes or no, 1 is enough.
    pub contacts_max: usize,
    /// Open no boxes that are more than this many box tests deep. Deep trees of a million
    /// triangles need about 16; limits from 63 on are no limit.
    pub depth_max: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { contacts_max: usize::MAX, depth_max: u32::MAX }
    }
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Everything within the limits was looked at.
    Finished,
    /// As many contacts as wanted were found.
    Full,
    /// The operations are used up; call `run` again to go on.
    Paused,
}

/// What is known of "do they touch?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
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
/// use jostle_geom::{Answer, Limits, Model, Pair, Pose, Progress, Quality, solids};
///
/// let ball = Model::build(solids::sphere(1.0, 0.001)?, Quality::Default);
/// let beside = Pose::from_translation(DVec3::new(1.9, 0.0, 0.0))?;
/// let mut search = Pair::new(&ball, &Pose::IDENTITY, &ball, &beside).search(Limits::default());
/// assert_eq!(search.run(3), Progress::Paused);
/// assert_eq!(search.answer(), Answer::Maybe);
/// while search.run(100) == Progress::Paused {}
/// assert_eq!(search.answer(), Answer::Yes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TouchSearch<'a> {
    pair: Pair<'a>,
    walk: Walk,
    limits: Limits,
    found: Vec<FacePair>,
    inside: bool,
    state: Progress,
}

impl<'a> TouchSearch<'a> {
    pub(crate) fn new(pair: Pair<'a>, limits: Limits) -> TouchSearch<'a> {
        let order = if limits.contacts_max <= 1 { Order::Deepest } else { Order::Any };
        let walk = Walk::new(&pair, order, 0.0).with_depth_max(limits.depth_max);
        let state = if limits.contacts_max == 0 { Progress::Full } else { Progress::Paused };
        TouchSearch { pair, walk, limits, found: Vec::new(), inside: false, state }
    }

    /// Goes on for about this many operations (a box against eight, or a pair of leaves).
    pub fn run(&mut self, operations: u64) -> Progress {
        if self.state != Progress::Paused {
            return self.state;
        }
        let pair = &self.pair;
        let (found, most) = (&mut self.found, self.limits.contacts_max);
        let end = self.walk.run(
            pair,
            operations,
            &mut Touching(|a, b| {
                found.push(pair.faces(a, b));
                if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }),
        );
        self.state = match end {
            End::Stopped => Progress::Full,
            End::Paused => Progress::Paused,
            End::Finished => {
                self.inside = self.found.is_empty() && pair.inside().is_some();
                Progress::Finished
            }
        };
        self.state
    }

    /// What is known so far.
    #[must_use]
    pub fn answer(&self) -> Answer {
        if !self.found.is_empty() || self.inside {
            Answer::Yes
        } else if self.state == Progress::Finished && !self.walk.cut_short {
            Answer::No
        } else {
            Answer::Maybe
        }
    }

    /// Whether boxes at the depth limit overlap, so that there may be more contacts.
    #[must_use]
    pub fn cut_short(&self) -> bool {
        self.walk.cut_short
    }

    /// The touching faces found so far, sorted.
    #[must_use]
    pub fn pairs(&self) -> Vec<FacePair> {
        let mut pairs = self.found.clone();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// What it cost so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.walk.counters
    }
}
