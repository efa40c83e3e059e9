//! Exact answers about pairs, shared among threads. One question is one piece of work, taken by
//! whichever thread is free (Zachmann §3.10.1); the answers come back in the order of the
//! questions.

use crate::contact::{Certainty, Found};
use crate::id::BodyId;
use crate::interest::Ask;
use crate::shape::ShapePair;
use crate::world::World;
use jostle_geom::{Answer, Distance, Limits, Progress};
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
    pub(super) fn judge_all(&self, questions: &[Question], limits: Limits) -> Vec<Verdict> {
        match self.settings.workers.pool() {
            Some(pool) if questions.len() >= WORTH_SHARING => pool.install(|| {
                questions.par_iter().map(|question| self.judge_one(question, limits)).collect()
            }),
            _ => questions.iter().map(|question| self.judge_one(question, limits)).collect(),
        }
    }

    fn judge_one(&self, &Question { a, b, ask }: &Question, limits: Limits) -> Verdict {
        let (first, second) = (self.members.at(a.slot()), self.members.at(b.slot()));
        let boxes = (first.bounds, second.bounds);
        let overlap = matches!(boxes, (Some(a), Some(b)) if a.overlaps(&b));
        let pair = ShapePair::new(
            &first.body.shape,
            &first.body.pose,
            &second.body.shape,
            &second.body.pose,
        );
        match ask {
            Ask::Volume => Verdict::exact(overlap.then_some(Found::BoxesOverlap)),
            Ask::Distance => {
                let distance = pair.distance();
                let touching = distance.is_some_and(|d| d.distance == 0.0);
                let distance = distance.map(Box::new);
                Verdict { distance, ..Verdict::exact(touching.then_some(Found::Touching)) }
            }
            Ask::Clearance(distance) => {
                let close = || pair.within(distance).then_some(Found::TooClose);
                let touching = overlap && pair.touches();
                Verdict::exact(if touching { Some(Found::Touching) } else { close() })
            }
            _ if !overlap => Verdict::exact(None),
            _ if limits != Limits::default() => look_within(&pair, ask, limits),
            Ask::Touch => Verdict::exact(pair.touches().then_some(Found::Touching)),
            Ask::Witness => Verdict::exact(pair.witness().map(Found::Witness)),
            Ask::AllPairs => {
                let faces = pair.all_pairs();
                let touching = !faces.is_empty() || pair.touches();
                Verdict::exact(touching.then_some(Found::Faces(faces)))
            }
        }
    }
}

/// Touching within limits of depth and number of contacts. Shapes without hierarchy have no depth;
/// they are asked exactly.
fn look_within(pair: &ShapePair<'_>, ask: Ask, limits: Limits) -> Verdict {
    let Some(models) = pair.model_pair() else {
        return Verdict::exact(match ask {
            Ask::Witness => pair.witness().map(Found::Witness),
            Ask::AllPairs => pair.touches().then(|| Found::Faces(pair.all_pairs())),
            _ => pair.touches().then_some(Found::Touching),
        });
    };
    let contacts_max = if ask == Ask::AllPairs { limits.contacts_max } else { 1 };
    let mut search = models.search(Limits { contacts_max, ..limits });
    let progress = search.run(u64::MAX);
    let counters = search.counters();
    let cost = u32::try_from(counters.box_tests + counters.triangle_tests).unwrap_or(u32::MAX);
    let answer = search.answer();
    let found = match (answer, ask) {
        (Answer::No, _) => None,
        (Answer::Yes, Ask::AllPairs) => Some(Found::Faces(search.pairs())),
        (Answer::Yes, Ask::Witness) => pair.witness().map(Found::Witness),
        (Answer::Yes | Answer::Maybe, _) => Some(Found::Touching),
    };
    let all_seen = progress == Progress::Finished && !search.cut_short();
    let complete = ask != Ask::AllPairs || all_seen;
    let sure = answer == Answer::No || answer == Answer::Yes && complete;
    let certainty = if sure { Certainty::Exact } else { Certainty::Assumed };
    Verdict { found, distance: None, certainty, cost }
}
