//! Keys that change velocities: `KeySensor` (Ohlenburg 2003, appendix C.3).

use super::{Play, Problem, nodes};
use crate::nodes::{KeySensor, Kind};
use crate::scene::{NodeId, Scene, Value};
use std::collections::HashSet;

/// A key that was pressed, in the numbers of Qt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// `Qt::Key`.
    pub value: i32,
    /// `Qt::ButtonState`.
    pub state: i32,
}

/// The sensors in the order of a walk from the roots; those that are not in the world, as in the
/// body of a prototype, come last.
pub(super) fn in_order(scene: &Scene) -> Vec<NodeId> {
    let is_key = |id: NodeId| matches!(scene.node(id).kind, Kind::KeySensor(_));
    let mut order: Vec<NodeId> = scene.nodes().map(|(id, _)| id).filter(|&id| is_key(id)).collect();
    if order.is_empty() {
        return order;
    }
    let met: Vec<NodeId> =
        nodes::walk(scene, true).into_iter().map(|(id, _)| id).filter(|&id| is_key(id)).collect();
    let known: HashSet<NodeId> = met.iter().copied().collect();
    order.retain(|id| !known.contains(id));
    met.into_iter().chain(order).collect()
}

impl Play {
    /// Sends a key to the enabled `KeySensor`s in the order of the file, up to the first that
    /// consumes it. Returns true if one did: then the application must ignore the key too.
    ///
    /// A sensor whose recipient does not exist does nothing, see [`Play::problems`]. A sensor with
    /// an empty recipient only sends `keyHit`.
    pub fn key(&mut self, key: Key) -> bool {
        for at in 0..self.keys.len() {
            let Some(&node) = self.keys.get(at) else { break };
            // A timestamp for each sensor: two of them may change one Transform, and both send
            // events.
            self.begin_cascade();
            let consumed = self.show_key(node, key);
            self.finish_call();
            if consumed {
                return true;
            }
        }
        false
    }

    /// True if the sensor has consumed the key.
    fn show_key(&mut self, node: NodeId, key: Key) -> bool {
        let Kind::KeySensor(sensor) = &self.scene.node(node).kind else { return false };
        if !sensor.enabled || (sensor.key_value, sensor.key_state) != (key.value, key.state) {
            return false;
        }
        let sensor = sensor.as_ref().clone();
        if !sensor.recipient.is_empty() && !self.push_recipient(&sensor) {
            self.problems.push(Problem::NoRecipient { node, path: sensor.recipient.to_string() });
            return false;
        }
        self.give_named(node, "keyHit", true);
        sensor.consume
    }

    /// Changes the velocity of the recipient. False if there is none.
    fn push_recipient(&mut self, sensor: &KeySensor) -> bool {
        let found = self.scene.find(&sensor.recipient);
        let Some(id) = found.and_then(|id| self.scene.through_instances(id)) else { return false };
        let kind = &self.scene.node(id).kind;
        let (Kind::Transform(transform), Some(field)) = (kind, kind.field("velocityVector")) else {
            return false;
        };
        let velocity = if sensor.absolute_value {
            sensor.value
        } else {
            transform.velocity_vector + sensor.value
        };
        if velocity.is_finite() {
            self.set_exposed(id, field, Value::Vec3(velocity));
        } else {
            self.problems.push(Problem::NotFinite { node: id, field });
        }
        true
    }
}
