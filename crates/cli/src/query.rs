//! The queries about a pair, and the calls of the library for them.

use crate::answer::Answer;
use crate::answer::depth::Depth;
use glam::DVec3;
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
    /// Closer than this, too.
    Contacts(f64),
    Patches,
    Overlaps,
    /// For those who mean this tolerance.
    Classify(f64),
    Depth,
    /// Along this direction.
    Clearing(DVec3),
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
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let placed = match (name, value) {
            // `toc` is what it was called before.
            ("toi" | "toc", None) => return Ok(Query::TimeOfImpact),
            ("touch", None) => Placed::Touch,
            ("witness", None) => Placed::Witness,
            ("pairs", None) => Placed::Pairs(Pairs::All),
            ("distance", None) => Placed::Distance,
            ("relation", None) => Placed::Relation,
            ("within", Some(limit)) => Placed::Within(distance(name, limit)?),
            ("contacts", reach) => {
                Placed::Contacts(reach.map_or(Ok(0.0), |reach| distance(name, reach))?)
            }
            ("patches", None) => Placed::Patches,
            ("overlaps", None) => Placed::Overlaps,
            ("classify", Some(tolerance)) => Placed::Classify(distance(name, tolerance)?),
            ("depth", None) => Placed::Depth,
            ("clearing", Some(along)) => Placed::Clearing(direction(along)?),
            _ => return Err(EXPECTED.into()),
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
            Query::Placed(Placed::Contacts(_)) => "contacts",
            Query::Placed(Placed::Patches) => "patches",
            Query::Placed(Placed::Overlaps) => "overlaps",
            Query::Placed(Placed::Classify(_)) => "classify",
            Query::Placed(Placed::Depth) => "depth",
            Query::Placed(Placed::Clearing(_)) => "clearing",
            Query::TimeOfImpact => "toi",
        }
    }

    /// Returns true if the library counts the cost of the query.
    pub(crate) fn is_counted(self) -> bool {
        match self {
            Query::Placed(Placed::Touch | Placed::Distance | Placed::Within(_)) => true,
            Query::Placed(Placed::Pairs(pairs)) => pairs != Pairs::WithSegments,
            Query::Placed(_) | Query::TimeOfImpact => false,
        }
    }

    /// Returns true if there may be no answer to it.
    pub(crate) fn may_be_unknown(self) -> bool {
        match self {
            Query::TimeOfImpact => true,
            Query::Placed(placed) => matches!(
                placed,
                Placed::Overlaps | Placed::Classify(_) | Placed::Depth | Placed::Clearing(_)
            ),
        }
    }
}

/// What [`Query::parse`] takes.
const EXPECTED: &str = "expected touch, witness, pairs, distance, within=D, relation, overlaps, \
    classify=T, depth, clearing=X,Y,Z, contacts, contacts=D, patches or toi";

/// The distance that a query is asked with.
fn distance(query: &str, text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(distance) if distance.is_finite() && distance >= 0.0 => Ok(distance),
        _ => Err(format!("{query} needs a distance of 0 or more, found {text:?}")),
    }
}

/// The direction that something is moved along.
fn direction(text: &str) -> Result<DVec3, String> {
    let numbers: Result<Vec<f64>, _> =
        text.split(',').map(|number| number.trim().parse()).collect();
    match numbers.ok().and_then(|numbers| <[f64; 3]>::try_from(numbers).ok()).map(DVec3::from) {
        Some(direction) if direction.is_finite() && direction != DVec3::ZERO => Ok(direction),
        _ => Err(format!(
            "clearing needs a direction: three numbers with commas, not all 0; found {text:?}"
        )),
    }
}

impl Placed {
    /// The answer, and what it cost: zero unless the query is counted. Only this is timed, so
    /// answers stay as the library gives them.
    /// `swapped` is the same pair, the other way round.
    pub(crate) fn ask(self, pair: &Pair<'_>, swapped: &Pair<'_>) -> (Answer, Counters) {
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
            Placed::Contacts(reach) => {
                (Answer::Contacts(pair.contacts(reach)), Counters::default())
            }
            Placed::Patches => (Answer::Patches(pair.patches()), Counters::default()),
            Placed::Overlaps => (Answer::Overlaps(pair.overlaps()), Counters::default()),
            Placed::Classify(tolerance) => {
                (Answer::Class(pair.classify(tolerance)), Counters::default())
            }
            Placed::Depth => (Answer::Depth(Depth::of(pair, swapped)), Counters::default()),
            Placed::Clearing(along) => {
                (Answer::Clearing(pair.clearing(along)), Counters::default())
            }
        }
    }
}
