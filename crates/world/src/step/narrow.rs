//! The narrow phase: exact answers about pairs, shared among threads. One query is one piece of
//! work, taken by whichever thread is free (Zachmann §3.10.1); the results come back in the order
//! of the queries.

use crate::bodies::Bodies;
use crate::broad_phase::BroadPhase;
use crate::contact::{Certainty, ContactData, is_touching};
use crate::id::BodyId;
use crate::interest::QueryKind;
use crate::workers::Workers;
use jostle_geom::{Distance, Pair, SearchLimits, SearchResult, SearchStatus};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// One pair and what is asked about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairQuery {
    pub(super) a: BodyId,
    pub(super) b: BodyId,
    pub(super) kind: QueryKind,
}

impl PairQuery {
    pub(super) fn pair(&self) -> [BodyId; 2] {
        [self.a, self.b]
    }
}

/// The result of a query.
#[derive(Clone, Debug)]
pub(super) struct PairResult {
    pub(super) data: Option<ContactData>,
    /// Boxed, because few queries ask for it and it would more than double the size of the others.
    pub(super) distance: Option<Box<Distance>>,
    pub(super) certainty: Certainty,
    /// Box and triangle tests, for the order under a budget; 0 if there was no time for it.
    pub(super) cost: u32,
}

impl PairResult {
    fn exact(data: Option<ContactData>) -> PairResult {
        PairResult { data, distance: None, certainty: Certainty::Exact, cost: 1 }
    }

    /// For a pair that there was no time for: the boxes overlap, so they may touch.
    pub(super) fn assumed() -> PairResult {
        let data = Some(ContactData::Touching);
        PairResult { data, distance: None, certainty: Certainty::Assumed, cost: 0 }
    }
}

/// Fewer pairs than this are not worth waking another thread.
const WORTH_SHARING: usize = 16;

/// What the exact tests look at.
pub(super) struct NarrowPhase<'a> {
    pub(super) bodies: &'a Bodies,
    pub(super) broad_phase: &'a BroadPhase,
    pub(super) workers: &'a Workers,
}

impl NarrowPhase<'_> {
    /// The results of all queries, in their order, on all threads.
    pub(super) fn run(&self, queries: &[PairQuery], limits: SearchLimits) -> Vec<PairResult> {
        match self.workers.pool() {
            Some(pool) if queries.len() >= WORTH_SHARING => pool
                .install(|| queries.par_iter().map(|query| self.run_one(query, limits)).collect()),
            _ => queries.iter().map(|query| self.run_one(query, limits)).collect(),
        }
    }

    fn run_one(&self, &PairQuery { a, b, kind }: &PairQuery, limits: SearchLimits) -> PairResult {
        let (first, second) = (self.bodies.body(a.slot()), self.bodies.body(b.slot()));
        let bounds = [a, b].map(|id| self.broad_phase.tight(id.slot()));
        let overlap = matches!(bounds, [Some(a), Some(b)] if a.overlaps(&b));
        // Not made for what the boxes answer.
        let pair = || Pair::new(&first.shape, &first.pose, &second.shape, &second.pose);
        match kind {
            QueryKind::Volume => PairResult::exact(overlap.then_some(ContactData::BoxesOverlap)),
            QueryKind::Distance => {
                let distance = pair().distance();
                let touching = distance.is_some_and(|d| d.distance == 0.0);
                let distance = distance.map(Box::new);
                PairResult {
                    distance,
                    ..PairResult::exact(touching.then_some(ContactData::Touching))
                }
            }
            QueryKind::Clearance(distance) => {
                let pair = pair();
                // What touches is within any distance too, so most pairs need one walk only.
                PairResult::exact(pair.within(distance).then(|| {
                    let touching = overlap && pair.touches();
                    if touching { ContactData::Touching } else { ContactData::TooClose }
                }))
            }
            QueryKind::Contacts(reach) => PairResult::exact(contacts(&pair(), reach, overlap)),
            _ if !overlap => PairResult::exact(None),
            _ if limits != SearchLimits::default() => search(&pair(), kind, limits),
            QueryKind::Touch => {
                PairResult::exact(pair().touches().then_some(ContactData::Touching))
            }
            QueryKind::Witness => PairResult::exact(pair().witness().map(ContactData::Witness)),
            QueryKind::AllPairs => {
                let pair = pair();
                let faces = pair.all_pairs();
                let touching = !faces.is_empty() || pair.touches();
                PairResult::exact(touching.then_some(ContactData::Faces(faces)))
            }
        }
    }
}

/// What [`QueryKind::Clearance`] finds, with points where these are defined. Yes and no come from
/// the same tests, so they are exact however the points are rounded.
fn contacts(pair: &Pair<'_>, reach: f64, overlap: bool) -> Option<ContactData> {
    if !pair.within(reach) {
        return None;
    }
    let touching = overlap && pair.touches();
    let found = pair.contacts(reach).ok();
    let found = found.filter(|it| !it.points.is_empty() && is_touching(it) == touching);
    let without = if touching { ContactData::Touching } else { ContactData::TooClose };
    Some(found.map_or(without, |found| ContactData::Points(Box::new(found))))
}

/// Touching within limits of depth and number of contacts. Shapes without a hierarchy have no
/// depth; their result is exact.
fn search(pair: &Pair<'_>, kind: QueryKind, limits: SearchLimits) -> PairResult {
    let contacts_max = if kind == QueryKind::AllPairs { limits.contacts_max } else { 1 };
    let mut search = pair.search(SearchLimits { contacts_max, ..limits });
    let progress = search.run(u64::MAX);
    let counters = search.counters();
    let cost = u32::try_from(counters.box_tests + counters.triangle_tests).unwrap_or(u32::MAX);
    let cost = cost.max(1); // 0 is what there was no time for
    let answer = search.result();
    let data = match (answer, kind) {
        (SearchResult::No, _) => None,
        (SearchResult::Yes, QueryKind::AllPairs) => Some(ContactData::Faces(search.pairs())),
        (SearchResult::Yes, QueryKind::Witness) => search.witness().map(ContactData::Witness),
        (SearchResult::Yes | SearchResult::Maybe, _) => Some(ContactData::Touching),
    };
    let all_seen = progress == SearchStatus::Finished && !search.cut_short();
    let complete = kind != QueryKind::AllPairs || all_seen;
    let sure = answer == SearchResult::No || answer == SearchResult::Yes && complete;
    let certainty = if sure { Certainty::Exact } else { Certainty::Assumed };
    PairResult { data, distance: None, certainty, cost }
}
