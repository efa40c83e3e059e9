//! `TouchSensor` (ISO/IEC 14772-1, 6.51).

use super::{Play, PlayError};
use crate::nodes::Kind;
use crate::scene::NodeId;
use glam::{Vec2, Vec3};
use std::collections::BTreeMap;

/// An action of a pointer on the geometry beside a `TouchSensor`.
///
/// The host selects the sensors (the nearest above the geometry, and all beside it), and grabs the
/// pointer for a pressed sensor until it is released (4.6.7.5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Touch {
    /// It moved and points at the geometry; all in the sensor's coordinate system.
    Over {
        /// The point of the surface.
        point: Vec3,
        /// The normal of the surface there.
        normal: Vec3,
        /// The texture coordinates of the surface there.
        texture: Vec2,
    },
    /// It moved and does not point at the geometry any more.
    Out,
    /// Its button was pressed.
    Press,
    /// Its button was released.
    Release,
}

/// Sensors that are pointed at, or were when the button was pressed.
#[derive(Debug, Default)]
pub(super) struct Touches(BTreeMap<NodeId, Touched>);

#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    over: bool,
    active: bool,
}

impl Play {
    /// Sends a pointer action to a `TouchSensor`. A disabled sensor ignores it, and one that is not
    /// pointed at ignores a press.
    ///
    /// # Errors
    /// The node is no `TouchSensor`, or a number is not finite.
    pub fn touch(&mut self, sensor: NodeId, touch: Touch) -> Result<(), PlayError> {
        const EXPECTED: &str = "TouchSensor";
        let enabled = match self.sensor(sensor, EXPECTED)? {
            Kind::TouchSensor(node) => node.enabled,
            other => {
                let found = other.name().to_string();
                return Err(PlayError::NotThatSensor { expected: EXPECTED, found });
            }
        };
        if let Touch::Over { point, normal, texture } = touch
            && !(point.is_finite() && normal.is_finite() && texture.is_finite())
        {
            return Err(PlayError::Pointer);
        }
        if enabled {
            self.begin_cascade();
            self.touched(sensor, touch);
            self.finish_call();
        }
        Ok(())
    }

    fn touched(&mut self, sensor: NodeId, touch: Touch) {
        let state = self.touches.0.entry(sensor).or_default();
        let before = *state;
        match touch {
            Touch::Over { point, normal, texture } => {
                state.over = true;
                if !before.over {
                    self.give_named(sensor, "isOver", true);
                }
                self.give_named(sensor, "hitPoint_changed", point);
                self.give_named(sensor, "hitNormal_changed", normal);
                self.give_named(sensor, "hitTexCoord_changed", texture);
            }
            Touch::Out => {
                state.over = false;
                if before.over {
                    self.give_named(sensor, "isOver", false);
                }
            }
            Touch::Press => {
                state.active |= before.over;
                if before.over && !before.active {
                    self.give_named(sensor, "isActive", true);
                }
            }
            Touch::Release => {
                state.active = false;
                if before.active {
                    self.give_named(sensor, "isActive", false);
                    if before.over {
                        self.give_named(sensor, "touchTime", self.now);
                    }
                }
            }
        }
    }

    /// A sensor is disabled. "If it is active, it outputs an isActive FALSE event."
    pub(super) fn let_go(&mut self, sensor: NodeId) {
        let touched = self.touches.0.remove(&sensor).is_some_and(|touched| touched.active);
        if self.end_drag(sensor).is_some() || touched {
            self.give_named(sensor, "isActive", false);
        }
    }
}
