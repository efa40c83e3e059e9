//! The queries about a pair, and the calls of the library for them.

use crate::answer::Answer;
use jostle_geom::{Counters, Pair, SearchLimits, SearchStatus};
use std::num::NonZeroUsize;

/// A query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Query {
    /// About two poses.
    Placed(Placed),
    /// About two motions: when is the first contact?
    TimeOfImpact,
}

/// A query about two poses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Placed {
    Touch,
    Witness,
    Pairs(Pairs),
    Distance,
    Within(f64),
    Relation,
}

/// Which touching pairs, and what of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pairs {
    All,
    UpTo(NonZeroUsize),
    WithSegments,
}

impl Query {
    pub(crate) fn parse(text: &str) -> Result<Query, String> {
        let placed = match text {
            // `toc` is what it was called before.
            "toi" | "toc" => return Ok(Query::TimeOfImpact),
            "touch" => Placed::Touch,
            "witness" => Placed::Witness,
            "pairs" => Placed::Pairs(Pairs::All),
            "distance" => Placed::Distance,
            "relation" => Placed::Relation,
            _ => Placed::Within(parse_within(text)?),
        };
        Ok(Query::Placed(placed))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Query::Placed(Placed::Touch) => "touch",
            Query::Placed(Placed::Witness) => "witness",
            Query::Placed(Placed::Pairs(_)) => "pairs",
            Query::Placed(Placed::Distance) => "distance",
            Query::Placed(Placed::Within(_)) => "within",
            Query::Placed(Placed::Relation) => "relation",
            Query::TimeOfImpact => "toi",
        }
    }

    /// Returns true if the library counts the cost of the query.
    pub(crate) fn is_counted(self) -> bool {
        match self {
            Query::Placed(Placed::Touch | Placed::Distance | Placed::Within(_)) => true,
            Query::Placed(Placed::Pairs(pairs)) => pairs != Pairs::WithSegments,
            Query::Placed(Placed::Witness | Placed::Relation) | Query::TimeOfImpact => false,
        }
    }
}

fn parse_within(text: &str) -> Result<f64, String> {
    let limit = text
        .strip_prefix("within=")
        .ok_or("expected touch, witness, pairs, distance, within=D, relation or toi")?;
    match limit.parse::<f64>() {
        Ok(limit) if limit.is_finite() && limit >= 0.0 => Ok(limit),
        _ => Err(format!("within needs a distance of 0 or more, found {limit:?}")),
    }
}

impl Placed {
    /// The answer, and what it cost: zero unless the query is counted. Only this is timed, so
    /// answers stay as the library gives them.
    pub(crate) fn ask(self, pair: &Pair<'_>) -> (Answer, Counters) {
        match self {
            Placed::Touch => {
                let (touches, counters) = pair.touches_counted();
                (Answer::Touch(touches), counters)
            }
            Placed::Pairs(Pairs::All) => {
                let (pairs, counters) = pair.all_pairs_counted();
                (Answer::Pairs { pairs, full: None }, counters)
            }
            Placed::Pairs(Pairs::UpTo(most)) => {
                let limits = SearchLimits { contacts_max: most.get(), ..SearchLimits::default() };
                let mut search = pair.search(limits);
                let full = search.run(u64::MAX) == SearchStatus::Full;
                (Answer::Pairs { pairs: search.pairs(), full: Some(full) }, search.counters())
            }
            Placed::Distance => {
                let (distance, counters) = pair.distance_counted();
                (Answer::Distance(distance), counters)
            }
            Placed::Within(limit) => {
                let (within, counters) = pair.within_counted(limit);
                (Answer::Within(within), counters)
            }
            Placed::Witness => (Answer::Witness(pair.witness()), Counters::default()),
            Placed::Pairs(Pairs::WithSegments) => {
                (Answer::Segments(pair.all_segments()), Counters::default())
            }
            Placed::Relation => (Answer::Relation(pair.relation()), Counters::default()),
        }
    }
}
