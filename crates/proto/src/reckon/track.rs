//! Dead reckoning: updates, when one is due, and what they make a host expect (Ohlenburg 2003,
//! 4.2.2; row O12).
//!
//! Sender and receivers run the same [`Tracker`] over the same updates, so the sender knows how
//! wrong the others are, apart from what is still on its way. An update is due when they are
//! wrong by too much, or have heard nothing for too long.

use super::closed::Closed;
use super::history::{Angles, Bend, Was, bend, continued};
use super::motion::{BadNumber, Motion, Place, Rates, check_number, chord};
use super::predict::{Surroundings, follow};
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An update whose stamp is further ahead is refused: its clock is not the one that is shared.
pub const AHEAD_MAX: Span = Span::from_ms(1000);

/// What a sender says about its object.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// Counts the updates about this object; the newest wins.
    pub seq: u64,
    /// The moment that it is about.
    pub stamp: Time,
    /// What was true then.
    pub data: UpdateData,
}

/// The content of an update.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum UpdateData {
    /// For the position-history protocol.
    Place(Place),
    /// For dead reckoning of the first order.
    First(Place, Rates),
    /// For dead reckoning of the second order.
    Second(Motion),
    /// From now on it follows a formula.
    Closed(Closed),
}

/// How others extrapolate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tracking {
    /// By velocities (equation 4.1).
    First,
    /// By accelerations too (equation 4.2).
    Second,
    /// From the last three places.
    History,
}

/// When an update is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Others are wrong about the position by more than this, in metres.
    pub error: f64,
    /// Others are wrong about the rotation by more than this, in radians up to π.
    pub turn: f64,
    /// Others have heard nothing for so long.
    pub time: Span,
}

/// Why an update was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// Nothing can be expected from such numbers.
    #[error(transparent)]
    BadNumber(#[from] BadNumber),
    /// One as new, or newer, is known: this one was overtaken, or came twice.
    #[error("an update as new as number {seq} is known")]
    Stale {
        /// The number of the update.
        seq: u64,
    },
    /// Its stamp is too far ahead.
    #[error("the update is from the future, by {} s", .by.as_seconds())]
    Early {
        /// By so much.
        by: Span,
    },
}

/// What is expected of an object: from when on, and what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// When the course begins.
    pub since: Time,
    /// How it goes on from there.
    pub course: Course,
}

/// How something goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Course {
    /// With constant accelerations, or none.
    Even(Motion),
    /// By a formula.
    Closed(Closed),
}

impl Path {
    /// Where it is at some time, and how it moves. Before it begins it is where it begins.
    #[must_use]
    pub fn at(&self, time: Time) -> Motion {
        let seconds = (time - self.since).as_seconds();
        match &self.course {
            Course::Even(motion) => motion.after(seconds),
            Course::Closed(closed) => closed.after(seconds),
        }
    }

    /// Does it go straight, without turning?
    pub(crate) fn is_straight(&self) -> bool {
        let Course::Even(motion) = &self.course else { return false };
        let still = glam::DVec3::ZERO;
        motion.change == Rates::default() && motion.speed.angular == still
    }

    /// # Errors
    /// Numbers that are not finite or too large; a rotation that is none.
    pub fn check(&self) -> Result<(), BadNumber> {
        match &self.course {
            Course::Even(motion) => motion.check(),
            Course::Closed(closed) => closed.check(),
        }
    }
}

/// What the updates about one object make a host expect.
#[derive(Clone, Debug)]
pub struct Tracker {
    angles: Angles,
    newest: Option<Newest>,
    /// The last places, newest first, at most three; only of updates that are places.
    places: Vec<Was>,
    /// Where the path last came into contact with something since the newest of them: what was
    /// before says nothing about the motion after.
    contact: Option<Was>,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    seq: u64,
    stamp: Time,
    path: Path,
    /// Up to this time the path is known to be free of what is around.
    free_until: Time,
}

impl Default for Tracker {
    fn default() -> Tracker {
        Tracker::new(Angles::default())
    }
}

impl Tracker {
    /// The angles matter for histories of places only.
    #[must_use]
    pub fn new(angles: Angles) -> Tracker {
        Tracker { angles, newest: None, places: Vec::new(), contact: None }
    }

    /// Takes an update if it is the newest.
    ///
    /// # Errors
    /// Bad numbers; an update that was overtaken by another or came twice.
    pub fn take(&mut self, update: &Update) -> Result<(), Refused> {
        let Update { seq, stamp, data } = *update;
        if self.newest.is_some_and(|newest| seq <= newest.seq || stamp <= newest.stamp) {
            return Err(Refused::Stale { seq });
        }
        let course = match data {
            UpdateData::Place(place) => {
                place.check()?;
                if let Some(contact) = self.contact.filter(|contact| contact.stamp < stamp) {
                    self.places = vec![contact];
                }
                self.places.insert(0, Was { stamp, place });
                self.places.truncate(3);
                Course::Even(continued(&self.places, &self.angles).unwrap_or(Motion::still(place)))
            }
            UpdateData::First(place, speed) => {
                Course::Even(Motion { place, speed, change: Rates::default() })
            }
            UpdateData::Second(motion) => Course::Even(motion),
            UpdateData::Closed(closed) => Course::Closed(closed),
        };
        let path = Path { since: stamp, course };
        if !matches!(data, UpdateData::Place(_)) {
            path.check()?;
            self.places.clear();
        }
        self.contact = None;
        self.newest = Some(Newest { seq, stamp, path, free_until: stamp });
        Ok(())
    }

    /// Follows what is expected up to `now`, among what is around: see [`super::predict`].
    pub fn advance(&mut self, now: Time, around: &Surroundings) {
        if let Some(newest) = &mut self.newest
            && now > newest.free_until
        {
            let path = follow(newest.path, newest.free_until, now, around);
            newest.free_until = now;
            if path.since > newest.path.since {
                self.contact = Some(Was { stamp: path.since, place: path.at(path.since).place });
            }
            newest.path = path;
        }
    }

    /// What is expected; nothing before the first update.
    #[must_use]
    pub fn path(&self) -> Option<Path> {
        self.newest.map(|newest| newest.path)
    }

    /// The stamp of the newest update.
    #[must_use]
    pub fn stamp(&self) -> Option<Time> {
        self.newest.map(|newest| newest.stamp)
    }

    /// What the last places show, and how long the last two are apart; nothing without two places.
    #[must_use]
    pub fn bend(&self) -> Option<(Bend, Span)> {
        let [now, before, ..] = self.places.as_slice() else { return None };
        Some((bend(&self.places, &self.angles), now.stamp - before.stamp))
    }
}

/// Decides when the others have to hear about an object.
///
/// ```
/// use glam::DVec3;
/// use jostle_proto::reckon::predict::Surroundings;
/// use jostle_proto::reckon::{Motion, Place, Sender, Thresholds, Tracking};
/// use jostle_proto::{Span, Time};
///
/// let thresholds = Thresholds { error: 0.5, turn: 0.1, time: Span::from_ms(5000) };
/// let around = Surroundings::default();
/// let mut sender = Sender::new(Tracking::First);
/// let mut truth = Motion::still(Place::at(DVec3::ZERO));
/// truth.speed.linear = DVec3::X;
///
/// // The first one, and then nothing as long as it goes straight on.
/// let first = sender.step(Time(0), &truth, &thresholds, &around)?;
/// assert!(first.is_some());
/// for second in 1..5u32 {
///     truth.place.position.x = f64::from(second);
///     let now = Time(0) + Span::from_ms(1000 * u64::from(second));
///     assert_eq!(sender.step(now, &truth, &thresholds, &around)?, None);
/// }
/// # Ok::<(), jostle_proto::reckon::BadNumber>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sender {
    tracking: Tracking,
    /// What the others expect.
    others: Tracker,
    next: u64,
}

impl Sender {
    /// The others have heard nothing yet.
    #[must_use]
    pub fn new(tracking: Tracking) -> Sender {
        Sender { tracking, others: Tracker::default(), next: 0 }
    }

    /// What later updates contain.
    pub fn set_tracking(&mut self, tracking: Tracking) {
        self.tracking = tracking;
    }

    /// The others distinguish sharp turns from smooth motion by these angles.
    #[must_use]
    pub fn with_angles(self, angles: Angles) -> Sender {
        Sender { others: Tracker::new(angles), ..self }
    }

    /// Gives an update if one is due. `around` is what the others predict collisions with, as far
    /// as it is known here; nothing if they do not.
    ///
    /// # Errors
    /// A motion that cannot be sent: numbers that are not finite, an invalid rotation.
    pub fn step(
        &mut self,
        now: Time,
        truth: &Motion,
        thresholds: &Thresholds,
        around: &Surroundings,
    ) -> Result<Option<Update>, BadNumber> {
        truth.check()?;
        thresholds.check()?;
        self.others.advance(now, around);
        let due = match (self.others.path(), self.others.stamp()) {
            // A second update about one moment, or one about an earlier moment, would be ignored.
            (_, Some(last)) if now <= last => false,
            (Some(path), Some(last)) => {
                let shown = path.at(now).place;
                now - last >= thresholds.time
                    || shown.distance(&truth.place) > thresholds.error
                    || shown.turned_from(&truth.place) > chord(thresholds.turn)
            }
            _ => true,
        };
        let data = match self.tracking {
            Tracking::First => UpdateData::First(truth.place, truth.speed),
            Tracking::Second => UpdateData::Second(*truth),
            Tracking::History => UpdateData::Place(truth.place),
        };
        Ok(if due { Some(self.make_update(now, data)) } else { None })
    }

    /// The update that says that the object follows a formula from now on. Steps then give no more
    /// updates, except that the time is up, until the truth departs from the formula.
    ///
    /// # Errors
    /// Numbers that are not finite or too large.
    pub fn launch(&mut self, now: Time, closed: Closed) -> Result<Update, BadNumber> {
        closed.check()?;
        Ok(self.make_update(now, UpdateData::Closed(closed)))
    }

    fn make_update(&mut self, now: Time, data: UpdateData) -> Update {
        // Stamps ascend, even if a formula is sent at the moment of an update.
        let stamp = self.others.stamp().map_or(now, |last| now.max(last + Span(1)));
        let update = Update { seq: self.next, stamp, data };
        self.next += 1;
        // It is newer than all before, and its numbers were checked.
        let taken = self.others.take(&update);
        debug_assert!(taken.is_ok(), "{taken:?}");
        update
    }
}

impl Thresholds {
    /// # Errors
    /// Numbers that are not finite, or below zero; half a turn is the largest there is.
    pub fn check(&self) -> Result<(), BadNumber> {
        check_number(self.error, "error threshold")?;
        let turn = (0.0..=std::f64::consts::PI).contains(&self.turn);
        if self.error >= 0.0 && turn { Ok(()) } else { Err(BadNumber { what: "threshold" }) }
    }
}
