//! Where something is, how it is turned, and how both change: dead reckoning's formulas.

use glam::{DQuat, DVec3};
use jostle_geom::rotation_from_scaled_axis;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// No coordinate, speed or acceleration may be larger, in metres, seconds and radians: whatever
/// is computed from them stays finite for as long as a [`crate::Time`] lasts.
pub const LARGEST: f64 = 1e12;

/// How far the length of a rotation may be from 1.
const LENGTH_OFF: f64 = 1e-6;

/// A number from outside is not finite, or far beyond anything in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{what} is not a number of a sensible size")]
pub struct BadNumber {
    /// The name of the number.
    pub what: &'static str,
}

/// Where something is and how it is turned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "([f64; 3], [f64; 4])", into = "([f64; 3], [f64; 4])")]
pub struct Place {
    /// In metres.
    pub position: DVec3,
    /// Of length 1.
    pub rotation: DQuat,
}

/// A change per second, or a change of that per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "[[f64; 3]; 2]", into = "[[f64; 3]; 2]")]
pub struct Rates {
    /// Of the position.
    pub linear: DVec3,
    /// Of the rotation: axis times angle.
    pub angular: DVec3,
}

/// Where something is, how fast it goes, and how fast that changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// The pose at this moment.
    pub place: Place,
    /// Velocities.
    pub speed: Rates,
    /// Accelerations.
    pub change: Rates,
}

impl From<([f64; 3], [f64; 4])> for Place {
    fn from((position, rotation): ([f64; 3], [f64; 4])) -> Place {
        Place { position: position.into(), rotation: DQuat::from_array(rotation) }
    }
}

impl From<Place> for ([f64; 3], [f64; 4]) {
    fn from(place: Place) -> ([f64; 3], [f64; 4]) {
        (place.position.into(), place.rotation.into())
    }
}

impl From<[[f64; 3]; 2]> for Rates {
    fn from([linear, angular]: [[f64; 3]; 2]) -> Rates {
        Rates { linear: linear.into(), angular: angular.into() }
    }
}

impl From<Rates> for [[f64; 3]; 2] {
    fn from(rates: Rates) -> [[f64; 3]; 2] {
        [rates.linear.into(), rates.angular.into()]
    }
}

impl Place {
    /// There, and not turned.
    #[must_use]
    pub fn at(position: DVec3) -> Place {
        Place { position, rotation: DQuat::IDENTITY }
    }

    /// # Errors
    /// Numbers that are not finite or too large; a rotation that is none.
    pub fn check(&self) -> Result<(), BadNumber> {
        check_vector(self.position, "position")?;
        let length = self.rotation.length();
        if (length - 1.0).abs() <= LENGTH_OFF {
            Ok(())
        } else {
            Err(BadNumber { what: "rotation" })
        }
    }

    /// How far the positions are apart.
    #[must_use]
    pub fn distance(&self, other: &Place) -> f64 {
        self.position.distance(other.position)
    }

    /// How far the one is turned from the other: twice the sine of a quarter of the angle, which
    /// needs no arc functions. See [`chord`].
    pub(crate) fn turned_from(&self, other: &Place) -> f64 {
        let (a, b) = (self.rotation, other.rotation);
        (a - b).length().min((a + b).length())
    }

    /// Part of the way to another place: straight, and turning the short way.
    #[must_use]
    pub fn toward(&self, end: &Place, part: f64) -> Place {
        let by = turn_of(end.rotation * self.rotation.conjugate()) * part;
        let position = self.position + (end.position - self.position) * part;
        Place { position, rotation: turned(self.rotation, by) }
    }
}

/// What [`Place::turned_from`] gives for an angle from 0 to π.
pub(crate) fn chord(angle: f64) -> f64 {
    rotation_from_scaled_axis(DVec3::X * (angle * 0.5)).map_or(2.0, |half| 2.0 * half.x)
}

impl Rates {
    /// # Errors
    /// Numbers that are not finite or too large.
    pub fn check(&self) -> Result<(), BadNumber> {
        check_vector(self.linear, "velocity or acceleration")?;
        check_vector(self.angular, "spin or its change")
    }
}

impl Motion {
    /// At rest.
    #[must_use]
    pub fn still(place: Place) -> Motion {
        Motion { place, speed: Rates::default(), change: Rates::default() }
    }

    /// So many seconds later, with constant accelerations (equation 4.2; equation 4.1 if they are
    /// zero).
    ///
    /// The rotation is exact as long as the axis stays the same.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_proto::reckon::{Motion, Place};
    ///
    /// let mut stone = Motion::still(Place::at(DVec3::ZERO));
    /// stone.speed.linear = DVec3::new(3.0, 10.0, 0.0);
    /// stone.change.linear = DVec3::new(0.0, -10.0, 0.0);
    /// assert_eq!(stone.after(2.0).place.position, DVec3::new(6.0, 0.0, 0.0));
    /// ```
    #[must_use]
    pub fn after(&self, seconds: f64) -> Motion {
        let Motion { place, speed, change } = *self;
        let way = |speed: DVec3, change: DVec3| (speed + change * (0.5 * seconds)) * seconds;
        Motion {
            place: Place {
                position: place.position + way(speed.linear, change.linear),
                rotation: turned(place.rotation, way(speed.angular, change.angular)),
            },
            speed: Rates {
                linear: speed.linear + change.linear * seconds,
                angular: speed.angular + change.angular * seconds,
            },
            change,
        }
    }

    /// # Errors
    /// Numbers that are not finite or too large; a rotation that is none.
    pub fn check(&self) -> Result<(), BadNumber> {
        self.place.check()?;
        self.speed.check()?;
        self.change.check()
    }
}

/// # Errors
/// Numbers that are not finite or too large.
pub(crate) fn check_vector(vector: DVec3, what: &'static str) -> Result<(), BadNumber> {
    vector.to_array().into_iter().try_for_each(|number| check_number(number, what))
}

/// # Errors
/// A number that is not finite or too large.
pub(crate) fn check_number(number: f64, what: &'static str) -> Result<(), BadNumber> {
    if number.abs() <= LARGEST { Ok(()) } else { Err(BadNumber { what }) }
}

/// Turned further, by axis times angle in the world.
pub(crate) fn turned(rotation: DQuat, by: DVec3) -> DQuat {
    if by == DVec3::ZERO {
        return rotation;
    }
    let after = rotation_from_scaled_axis(by).unwrap_or(DQuat::IDENTITY) * rotation;
    after / after.length()
}

/// The axis times the angle, up to half a turn, of a rotation of length 1: the inverse of
/// [`jostle_geom::rotation_from_scaled_axis`], and like it without a library's trigonometry.
///
/// ```
/// use glam::DVec3;
/// use jostle_proto::reckon::turn_of;
///
/// let by = DVec3::new(0.5, -1.0, 2.0);
/// assert!(turn_of(jostle_geom::rotation_from_scaled_axis(by).unwrap()).distance(by) < 1e-14);
/// ```
#[must_use]
pub fn turn_of(rotation: DQuat) -> DVec3 {
    // A quaternion and its opposite are the same rotation; this one goes the short way.
    let mut half = if rotation.w < 0.0 { -rotation } else { rotation };
    let vector = half.xyz();
    let sine = vector.length();
    if sine == 0.0 {
        return DVec3::ZERO;
    }
    // Halved six times, a quarter of a turn has a tangent below 0.025: the first term left out of
    // the series is below 1e-17 of it.
    for _ in 0..6 {
        half += DQuat::IDENTITY;
        half = half / half.length();
    }
    let tangent = half.xyz().length() / half.w;
    let squared = tangent * tangent;
    let series =
        [9.0, 7.0, 5.0, 3.0].into_iter().fold(1.0 / 11.0, |tail, n| 1.0 / n - squared * tail);
    let angle = 64.0 * tangent * (1.0 - squared * series);
    vector * (2.0 * angle / sine)
}
