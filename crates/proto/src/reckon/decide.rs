//! Decision resolution: whose word counts when two hosts see a collision differently (Ohlenburg
//! 2003, 4.4.4; row O18).
//!
//! Both hosts decide alone and must come to the same result. So they look only at what both have
//! heard: updates about a moment δ ago, with δ longer than any message takes. Whatever the
//! criteria leave open, the lower id decides.
//!
//! Two things that the thesis does not say. The hosts see the collision at different times, so
//! moments are rounded down to whole periods: hosts that see it in the same period agree, and the
//! rare two claims from both sides of a border are put in order by [`Claim`]. And an update that
//! is lost, or takes longer than δ, breaks the promise: what is noted here has to be sent until it
//! is acknowledged.

use super::motion::{BadNumber, check_vector};
use crate::object::ObjectId;
use crate::time::{Span, Time};
use glam::DVec3;
use std::collections::BTreeMap;

/// More are not kept: δ would be minutes.
const KNOWN_MAX: usize = 4096;

/// The content of an update about an object and its user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Where it was.
    pub position: DVec3,
    /// Where it went.
    pub velocity: DVec3,
    /// Where the user looked; of any length but zero.
    pub facing: DVec3,
    /// The cosine of half of the angle that the user sees.
    pub view: f64,
}

/// The updates that a host has sent, or received, about an object, by time stamp.
#[derive(Clone, Debug, Default)]
pub struct Past {
    known: BTreeMap<Time, Known>,
}

impl Past {
    /// Notes an update, in whatever order they come. The first one about a moment stays.
    ///
    /// # Errors
    /// Numbers that are not finite or too large; no direction to look in; no cosine.
    pub fn note(&mut self, stamp: Time, known: Known) -> Result<(), BadNumber> {
        check_vector(known.position, "position")?;
        check_vector(known.velocity, "velocity")?;
        check_vector(known.facing, "direction of view")?;
        let looks = known.facing.length_squared() > 0.0;
        if !looks || known.view.is_nan() || known.view.abs() > 1.0 {
            return Err(BadNumber { what: "direction or angle of view" });
        }
        self.known.entry(stamp).or_insert(known);
        if self.known.len() > KNOWN_MAX {
            self.known.pop_first();
        }
        Ok(())
    }

    /// Forgets what no later decision about a moment from `time` on needs.
    pub fn forget_before(&mut self, time: Time) {
        let Some((&last, _)) = self.known.range(..=time).next_back() else { return };
        self.known = self.known.split_off(&last);
    }

    /// What was known about that moment, moved on to it.
    fn at(&self, moment: Time) -> Option<Known> {
        let (&stamp, &known) = self.known.range(..=moment).next_back()?;
        let way = known.velocity * (moment - stamp).as_seconds();
        Some(Known { position: known.position + way, ..known })
    }
}

/// What speaks for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Its object is faster: others are more wrong about it.
    Velocity,
    /// Its user sees the other object and is not seen by the other user: an inconsistency shows.
    View,
}

/// How the hosts of a world decide; the same for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The first that speaks for one of two decides. None of them, and the lower id does.
    pub criteria: Vec<Criterion>,
    /// δ: longer than any update takes.
    pub delay: Span,
    /// Moments are rounded down to whole ones of these.
    pub period: Span,
}

/// One of two objects.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Which one.
    pub id: ObjectId,
    /// What is known about it.
    pub past: &'a Past,
}

/// The word of a host about a collision that it has seen.
///
/// The least of two claims about one collision counts: the earlier one, and then the one of the
/// lower id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// When the host saw it; [`Rule::decider`] of this time must be `decider`.
    pub at: Time,
    /// The object whose host it is.
    pub decider: ObjectId,
}

impl Rule {
    /// The moment whose updates decide about a collision at `time`; none in the first δ.
    #[must_use]
    pub fn moment(&self, time: Time) -> Option<Time> {
        let moment = time.0.checked_sub(self.delay.0)?;
        Some(Time(moment - moment % self.period.0.max(1)))
    }

    /// The object whose host decides about a collision at `time`. The order of the two does not
    /// matter.
    #[must_use]
    pub fn decider(&self, time: Time, a: Side<'_>, b: Side<'_>) -> ObjectId {
        let (low, high) = if a.id <= b.id { (a, b) } else { (b, a) };
        let known = self.moment(time).and_then(|at| Some((low.past.at(at)?, high.past.at(at)?)));
        let Some((p, q)) = known else { return low.id };
        for criterion in &self.criteria {
            let (for_low, for_high) = match criterion {
                Criterion::Velocity => {
                    let (p, q) = (p.velocity.length_squared(), q.velocity.length_squared());
                    (p > q, q > p)
                }
                Criterion::View => (sees(&p, &q), sees(&q, &p)),
            };
            if for_low != for_high {
                return if for_low { low.id } else { high.id };
            }
        }
        low.id
    }
}

/// Is the other position within the angle of view? Only products, sums and roots: every host gets
/// the same bits.
fn sees(viewer: &Known, other: &Known) -> bool {
    let away = other.position - viewer.position;
    viewer.facing.dot(away) >= viewer.view * (viewer.facing.length() * away.length())
}
