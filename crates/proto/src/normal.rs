//! The normal of a contact in few bits, and what a contact does to velocities and places: an
//! avatar is stopped along the normal, everything else is pushed.

use crate::object::{Class, Object};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A direction. Its largest part is 127 or −127, so it is within a third of a degree of the true
/// one, and exact along axes. Zero is no direction.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Normal(pub [i8; 3]);

impl Normal {
    /// The closest to a vector of any length.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_proto::Normal;
    ///
    /// assert_eq!(Normal::of(DVec3::NEG_Y * 5.0).unit(), DVec3::NEG_Y);
    /// let slope = Normal::of(DVec3::new(1.0, 2.0, 0.0));
    /// assert_eq!(slope, Normal([64, 127, 0]));
    /// assert_eq!(Normal::of(DVec3::ZERO).unit(), DVec3::ZERO);
    /// ```
    #[must_use]
    pub fn of(vector: DVec3) -> Normal {
        let size = vector.abs().max_element();
        let scaled = if size > 0.0 && size.is_finite() { vector / size } else { DVec3::ZERO };
        Normal((scaled * 127.0).round().to_array().map(|part| part as i8))
    }

    /// Along an axis.
    #[must_use]
    pub fn along(axis: usize, up: bool) -> Normal {
        let mut parts = [0; 3];
        if let Some(part) = parts.get_mut(axis) {
            *part = if up { 127 } else { -127 };
        }
        Normal(parts)
    }

    /// Of length 1, or zero.
    #[must_use]
    pub fn unit(self) -> DVec3 {
        DVec3::from_array(self.0.map(f64::from)).normalize_or_zero()
    }

    /// The opposite direction.
    #[must_use]
    pub fn reversed(self) -> Normal {
        Normal(self.0.map(i8::saturating_neg))
    }
}

/// A velocity as a vector, in its own unit.
pub(crate) fn wide(velocity: [i16; 3]) -> DVec3 {
    DVec3::from_array(velocity.map(f64::from))
}

/// The nearest whole numbers; what does not fit is cut off.
pub(crate) fn narrow(vector: DVec3) -> [i16; 3] {
    vector.round().to_array().map(|part| part as i16)
}

/// One contact: an avatar is stopped, everything else that moves is pushed.
pub(crate) fn strike(object: &mut Object, kick: [i16; 3], toward: Normal) {
    stop(object, toward);
    let mut effect = Effect::default();
    effect.add(kick, [0; 3]);
    effect.apply(object);
}

/// An avatar cannot go on `toward` what it touches, whatever it wants.
pub(crate) fn stop(object: &mut Object, toward: Normal) {
    let (velocity, unit) = (wide(object.state.velocity), toward.unit());
    let ahead = velocity.dot(unit);
    if object.class == Class::Avatar && ahead > 0.0 {
        object.state.velocity = narrow(velocity - unit * ahead);
    }
}

/// What several contacts do to one object. Pushes are summed up before anything is cut off, and of
/// the ways back the longest counts along each axis, so the order of contacts does not matter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effect {
    kick: [i32; 3],
    /// The least and the most along each axis.
    back: [[i16; 2]; 3],
}

impl Effect {
    /// Adds what one contact does to the velocity and to the position.
    pub(crate) fn add(&mut self, kick: [i16; 3], shift: [i16; 3]) {
        for axis in 0..3 {
            self.kick[axis] = self.kick[axis].saturating_add(i32::from(kick[axis]));
            let [least, most] = self.back[axis];
            self.back[axis] = [least.min(shift[axis]), most.max(shift[axis])];
        }
    }

    /// Does it.
    pub(crate) fn apply(&self, object: &mut Object) {
        let pushed = match object.class {
            Class::Dynamic => self.kick,
            Class::Avatar => [0; 3],
            Class::Immovable | Class::Absent | Class::Foreign(_) | Class::Leaving(..) => return,
        };
        let state = &mut object.state;
        for (axis, pushed) in pushed.into_iter().enumerate() {
            let speed = i32::from(state.velocity[axis]).saturating_add(pushed);
            let [least, most] = self.back[axis].map(i32::from);
            state.velocity[axis] = speed.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
            state.position[axis] = state.position[axis].saturating_add(least + most);
        }
    }
}
