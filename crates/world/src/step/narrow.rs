//! Exact answers about pairs, shared among threads. One question is one piece of work, taken by
//! whichever thread is free (Zachmann §3.10.1); the answers come back in the order of the
//! questions.

use crate::contact::{Certainty, Found};
use crate::id::BodyId;
use crate::interest::Ask;
use crate::world::World;
use jostle_geom::{Distance, Pair, SearchLimits, SearchResult, SearchStatus};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// One pair and what is asked about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) a: BodyId,
    pub(crate) b: BodyId,
    pub(crate) ask: Ask,
}

impl Question {
    pub(crate) fn pair(&self) -> [BodyId; 2] {
        [self.a, self.b]
    }
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) found: Option<Found>,
    /// In a box of its own: it is rarely asked for, and would more than double the size of all
    /// others.
    pub(crate) distance: Option<Box<Distance>>,
    pub(crate) certainty: Certainty,
    /// Box and triangle tests, for the order under a budget; 0 if nobody looked.
    pub(crate) cost: u32,
}

impl Verdict {
    pub(crate) fn exact(found: Option<Found>) -> Verdict {
        Verdict { found, distance: None, certainty: Certainty::Exact, cost: 1 }
    }

    /// For a pair that nobody looked at: their boxes overlap, so they may touch.
    pub(crate) fn assumed() -> Verdict {
        let found = Some(Found::Touching);
        Verdict { found, distance: None, certainty: Certainty::Assumed, cost: 0 }
    }
}

/// Pairs below this number are not worth waking another thread.
const WORTH_SHARING: usize = 16;

impl World {
    /// Answers all questions, in their order, on all threads.
    pub(super) fn judge_all(&self, questions: &[Question], limits: SearchLimits) -> Vec<Verdict> {
        match self.settings.workers.pool() {
            Some(pool) if questions.len() >= WORTH_SHARING => pool.install(|| {
                questions.par_iter().map(|question| self.judge_one(question, limits)).collect()
            }),
            _ => questions.iter().map(|question| self.judge_one(question, limits)).collect(),
        }
    }

    fn judge_one(&self, &Question { a, b, ask }: &Question, limits: SearchLimits) -> Verdict {
        let (first, second) = (self.members.at(a.slot()), self.members.at(b.slot()));
        let boxes = (first.bounds, second.bounds);
        let overlap = matches!(boxes, (Some(a), Some(b)) if a.overlaps(&b));
        let (a, b) = (&first.body, &second.body);
        // Not made for what the boxes answer.
        let pair = || Pair::new(&a.shape, &a.pose, &b.shape, &b.pose);
        match ask {
            Ask::Volume => Verdict::exact(overlap.then_some(Found::BoxesOverlap)),
            Ask::Distance => {
                let distance = pair().distance();
                let touching = distance.is_some_and(|d| d.distance == 0.0);
                let distance = distance.map(Box::new);
                Verdict { distance, ..Verdict::exact(touching.then_some(Found::Touching)) }
            }
            Ask::Clearance(distance) => {
                let pair = pair();
                // What touches is within any distance too, so most pairs need one walk only.
                Verdict::exact(pair.within(distance).then(|| {
                    let touching = overlap && pair.touches();
                    if touching { Found::Touching } else { Found::TooClose }
                }))
            }
            _ if !overlap => Verdict::exact(None),
            _ if limits != SearchLimits::default() => look_within(&pair(), ask, limits),
            Ask::Touch => Verdict::exact(pair().touches().then_some(Found::Touching)),
            Ask::Witness => Verdict::exact(pair().witness().map(Found::Witness)),
            Ask::AllPairs => {
                let pair = pair();
                let faces = pair.all_pairs();
                let touching = !faces.is_empty() || pair.touches();
                Verdict::exact(touching.then_some(Found::Faces(faces)))
            }
        }
    }
}

/// Touching within limits of depth and number of contacts. Shapes without hierarchy have no depth,
/// and are answered exactly.
fn look_within(pair: &Pair<'_>, ask: Ask, limits: SearchLimits) -> Verdict {
    let contacts_max = if ask == Ask::AllPairs { limits.contacts_max } else { 1 };
    let mut search = pair.search(SearchLimits { contacts_max, ..limits });
    let progress = search.run(u64::MAX);
    let counters = search.counters();
    let cost = u32::try_from(counters.box_tests + counters.triangle_tests).unwrap_or(u32::MAX);
    let cost = cost.max(1); // 0 is what was not looked at
    let answer = search.result();
    let found = match (answer, ask) {
        (SearchResult::No, _) => None,
        (SearchResult::Yes, Ask::AllPairs) => Some(Found::Faces(search.pairs())),
        (SearchResult::Yes, Ask::Witness) => search.witness().map(Found::Witness),
        (SearchResult::Yes | SearchResult::Maybe, _) => Some(Found::Touching),
    };
    let all_seen = progress == SearchStatus::Finished && !search.cut_short();
    let complete = ask != Ask::AllPairs || all_seen;
    let sure = answer == SearchResult::No || answer == SearchResult::Yes && complete;
    let certainty = if sure { Certainty::Exact } else { Certainty::Assumed };
    Verdict { found, distance: None, certainty, cost }
}
