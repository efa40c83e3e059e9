//! What a host shows of a remote object: extrapolated, and converging when an update corrects it
//! (Ohlenburg 2003, 4.2.2 and 4.2.3; rows O12, O13).

use super::history::{Angles, Bend};
use super::motion::Place;
use super::predict::{Surroundings, sweep};
use super::track::{AHEAD_MAX, Path, Refused, Tracker, Update};
use crate::time::{Span, Time};
use glam::DVec3;

/// Longest convergence that a history of places may ask for: updates may be far apart.
const HISTORY_MAX: Span = Span::from_ms(1000);

/// What happens when an update shows that the object is elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convergence {
    /// It is there at once.
    Jump,
    /// On a line to where it will be after this time.
    Line(Span),
    /// On a parabola that sets off as the object was seen to move.
    Curve(Span),
    /// As the position-history protocol says: within the time between the last two updates, on a
    /// parabola if the motion is smooth and bent, on a line otherwise. Jumps without two places.
    History,
}

#[derive(Clone, Copy, Debug)]
struct Blend {
    from: Time,
    until: Time,
    start: Place,
    /// Zero on a line: see `Blend::at`.
    velocity: DVec3,
    curved: bool,
}

#[derive(Clone, Copy, Debug)]
struct Shown {
    at: Time,
    place: Place,
    velocity: DVec3,
}

/// A remote object as this host shows it.
///
/// Never goes back in time: an update that was overtaken is refused, and what is asked for a moment
/// before the last one is answered for the last one.
#[derive(Clone, Debug)]
pub struct Receiver {
    tracker: Tracker,
    convergence: Convergence,
    blend: Option<Blend>,
    shown: Option<Shown>,
}

impl Receiver {
    /// Nothing is known yet.
    #[must_use]
    pub fn new(convergence: Convergence) -> Receiver {
        Receiver { tracker: Tracker::default(), convergence, blend: None, shown: None }
    }

    /// Sharp turns are distinguished from smooth motion by these angles; the sender's must be the
    /// same.
    #[must_use]
    pub fn with_angles(self, angles: Angles) -> Receiver {
        Receiver { tracker: Tracker::new(angles), ..self }
    }

    /// An update has come, and this is around.
    ///
    /// # Errors
    /// Bad numbers; an update that was overtaken, came twice, or is from the future. What is shown
    /// goes on as before.
    pub fn receive(
        &mut self,
        now: Time,
        update: &Update,
        around: &Surroundings,
    ) -> Result<(), Refused> {
        let ahead = update.stamp - now;
        if ahead > AHEAD_MAX {
            return Err(Refused::Early { by: ahead });
        }
        // Up to where the sender had followed it, too.
        self.tracker.advance(update.stamp.min(now), around);
        self.tracker.take(update)?;
        self.blend = self.shown.and_then(|shown| self.blend_from(shown));
        Ok(())
    }

    fn blend_from(&self, shown: Shown) -> Option<Blend> {
        let (time, curved) = match self.convergence {
            Convergence::Jump => return None,
            Convergence::Line(time) => (time, false),
            Convergence::Curve(time) => (time, true),
            Convergence::History => {
                let (bend, apart) = self.tracker.bend()?;
                (apart.min(HISTORY_MAX), bend == Bend::Smooth)
            }
        };
        let Shown { at, place: start, velocity } = shown;
        Some(Blend { from: at, until: at + time, start, velocity, curved })
    }

    /// Where the object is shown; nothing before the first update. It stays out of what is around.
    pub fn show(&mut self, now: Time, around: &Surroundings) -> Option<Place> {
        let now = self.shown.map_or(now, |shown| shown.at.max(now));
        self.tracker.advance(now, around);
        let path = self.tracker.path()?;
        let place = match self.blend {
            Some(blend) if now < blend.until => {
                let place = blend.at(now, &path);
                // The path is free of what is around, the way to it may not be.
                self.shown
                    .map_or(place, |shown| sweep(&shown.place, &place, [shown.at, now], around))
            }
            _ => {
                self.blend = None;
                path.at(now).place
            }
        };
        let velocity = match self.shown {
            Some(before) if now > before.at => {
                (place.position - before.place.position) / (now - before.at).as_seconds()
            }
            Some(before) => before.velocity,
            None => DVec3::ZERO,
        };
        self.shown = Some(Shown { at: now, place, velocity });
        Some(place)
    }

    /// The stamp of the newest update.
    #[must_use]
    pub fn stamp(&self) -> Option<Time> {
        self.tracker.stamp()
    }

    /// What is expected of the object.
    #[must_use]
    pub fn path(&self) -> Option<Path> {
        self.tracker.path()
    }
}

impl Blend {
    /// On the way to where the path will be at the end.
    fn at(&self, now: Time, path: &Path) -> Place {
        let all = (self.until - self.from).as_seconds();
        let gone = (now - self.from).as_seconds();
        let part = gone / all;
        let end = path.at(self.until).place;
        let mut place = self.start.toward(&end, part);
        if self.curved {
            let start = self.start.position;
            let left = end.position - start - self.velocity * all;
            place.position = start + self.velocity * gone + left * (part * part);
        }
        place
    }
}
