//! Pairs of parts that touch or are too close, for the list on a page: those of a check, and
//! contacts among immovable objects, which the world itself never tests.

use super::queries::{Candidates, candidates};
use super::snapshot::{Forms, WorldSnapshot};
use glam::DVec3;
use jostle_geom::Pair;
use jostle_proto::{Object, ObjectId};
use std::time::{Duration, Instant};

/// Findings in one message, at most.
pub const FINDINGS_MAX: usize = 2000;

/// Intersection segments of one finding, at most.
const SEGMENTS_MAX: usize = 200;

/// Intersection segments in one message, at most.
const ALL_SEGMENTS_MAX: usize = 20_000;

/// Two parts that touch or are too close.
#[derive(Clone, Debug, PartialEq)]
pub struct PairFinding {
    /// The name of what was found: `touch`, `too_close`, `overlap`, …
    pub kind: &'static str,
    /// The objects of each part; the first of each is the one that was measured.
    pub parts: [Vec<ObjectId>; 2],
    /// The smallest distance in the file's unit; 0 if they touch.
    pub distance: f64,
    /// A point of contact, or the closest points, one on each part.
    pub points: [DVec3; 2],
    /// Where the surfaces intersect.
    pub segments: Vec<[DVec3; 2]>,
}

/// The findings of one query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The clearance of the query; `None` if only contacts were searched.
    pub clearance: Option<f64>,
    /// The unit of distances; empty if unknown.
    pub unit: String,
    /// False if there are more than are listed.
    pub complete: bool,
    /// In the order in which they are listed.
    pub list: Vec<PairFinding>,
}

impl Findings {
    /// Truncates findings and segments to what fits into one message.
    #[must_use]
    pub fn bounded(mut self) -> Findings {
        self.complete &= self.list.len() <= FINDINGS_MAX;
        self.list.truncate(FINDINGS_MAX);
        let mut left = ALL_SEGMENTS_MAX;
        for finding in &mut self.list {
            finding.segments.truncate(SEGMENTS_MAX.min(left));
            left -= finding.segments.len();
        }
        self
    }
}

/// Contacts among immovable objects, and pairs closer than the clearance; touching pairs first,
/// then by distance. Pairs whose boxes are closest are tested first, until the budget is spent.
pub(crate) fn static_contacts(
    scene: &WorldSnapshot,
    forms: &Forms,
    clearance: Option<f64>,
    budget: Option<Duration>,
) -> Findings {
    let begin = Instant::now();
    let margin = clearance.unwrap_or(0.0);
    let (pairs, mut complete) = candidates(scene, forms, margin, Candidates::Immovable);
    let mut list = Vec::new();
    for (_, pair) in pairs {
        if budget.is_some_and(|budget| begin.elapsed() >= budget) {
            complete = false;
            break;
        }
        list.extend(finding(forms, pair, margin));
    }
    let order = |a: &PairFinding, b: &PairFinding| {
        a.distance.total_cmp(&b.distance).then_with(|| a.parts.cmp(&b.parts))
    };
    list.sort_by(order);
    Findings { clearance, unit: "m".into(), complete, list }.bounded()
}

fn finding(forms: &Forms, [a, b]: [&Object; 2], margin: f64) -> Option<PairFinding> {
    let (a, b) = if a.id < b.id { (a, b) } else { (b, a) };
    let ((model_a, pose_a), (model_b, pose_b)) = (forms.placed(a)?, forms.placed(b)?);
    let pair = Pair::new(model_a, &pose_a, model_b, &pose_b);
    if !pair.within(margin) {
        return None;
    }
    let found = pair.distance()?;
    let touching = found.distance == 0.0;
    let segments = if touching { pair.all_segments() } else { Vec::new() };
    Some(PairFinding {
        kind: if touching { "touch" } else { "too_close" },
        parts: [vec![a.id], vec![b.id]],
        distance: found.distance,
        points: [found.point_a, found.point_b],
        segments: segments.iter().map(|segment| segment.ends).collect(),
    })
}
