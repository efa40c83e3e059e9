//! Reports to the host: events, problems and errors.

use crate::nodes::FieldIndex;
use crate::scene::{NodeId, Value};

/// An event that a node sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its timestamp, in seconds.
    pub time: f64,
    /// The node.
    pub node: NodeId,
    /// The number of its eventOut or exposedField, see [`Kind::fields`](crate::nodes::Kind).
    pub field: FieldIndex,
    /// What it carries.
    pub value: Value,
}

/// A problem that does not stop the simulation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// An event with a number that is not finite. It was neither stored nor routed.
    #[error("node {}: an event of field {field} has a number that is not finite", .node.index())]
    NotFinite {
        /// The node that was to send or to receive it.
        node: NodeId,
        /// The number of the field.
        field: FieldIndex,
    },
    /// A node would contain itself. The child was not added.
    #[error("node {} would contain itself through node {}", .node.index(), .child.index())]
    ContainsItself {
        /// The node.
        node: NodeId,
        /// The child.
        child: NodeId,
    },
    /// A `KeySensor` whose recipient is no `Transform` or does not exist.
    #[error("node {}: no Transform is at \"{path}\"", .node.index())]
    NoRecipient {
        /// The sensor.
        node: NodeId,
        /// Its field `recipient`.
        path: String,
    },
    /// The `cycleInterval` of a `TimeSensor` is not above zero, or one of its times is not finite.
    /// The sensor keeps its old value if it comes from an event; otherwise it does not run.
    #[error("node {}: a TimeSensor needs finite times and a cycleInterval above 0", .node.index())]
    BadTimes {
        /// The sensor.
        node: NodeId,
    },
    /// `TimeSensor`s start and stop each other too often in one call. Those that are still due wait
    /// for the next call.
    #[error("TimeSensors start and stop too often at {time}")]
    TooOften {
        /// Where it was cut off.
        time: f64,
    },
    /// A `Script`, which is not run.
    #[error("node {}: a Script is not run", .node.index())]
    ScriptNotRun {
        /// The script.
        node: NodeId,
    },
    /// A position or orientation of the viewer that is not finite.
    #[error("the viewer's position and orientation must be finite")]
    Viewer,
}

/// Why a call was rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlayError {
    /// A time that is not finite.
    #[error("a time must be finite, not {found}")]
    TimeNotFinite {
        /// The time.
        found: f64,
    },
    /// Time does not run backwards.
    #[error("it is {now} already, and was to become {to}")]
    Backwards {
        /// The time now.
        now: f64,
        /// The time that was asked for.
        to: f64,
    },
    /// A scene put together by hand names a node that it does not have.
    #[error("the scene names node {}, which it does not have", .id.index())]
    NoNode {
        /// The node.
        id: NodeId,
    },
    /// The node is no sensor of this kind.
    #[error("expected {expected}, found {found}")]
    NotThatSensor {
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A position or direction that is not finite, or a direction without length.
    #[error("positions must be finite, and directions must be finite and have a length")]
    Pointer,
}

/// Returns true if all numbers of a value are finite.
pub(super) fn is_finite(value: &Value) -> bool {
    match value {
        Value::Bool(_)
        | Value::Image(_)
        | Value::Int(_)
        | Value::Node(_)
        | Value::String(_)
        | Value::Ints(_)
        | Value::Nodes(_)
        | Value::Strings(_) => true,
        Value::Color(rgb) => rgb.0.is_finite(),
        Value::Float(number) => number.is_finite(),
        Value::Rotation(rotation) => rotation.axis.is_finite() && rotation.angle.is_finite(),
        Value::Time(time) => time.is_finite(),
        Value::Vec2(vector) => vector.is_finite(),
        Value::Vec3(vector) => vector.is_finite(),
        Value::Colors(list) => list.iter().all(|rgb| rgb.0.is_finite()),
        Value::Floats(list) => list.iter().all(|number| number.is_finite()),
        Value::Rotations(list) => {
            list.iter().all(|rotation| rotation.axis.is_finite() && rotation.angle.is_finite())
        }
        Value::Times(list) => list.iter().all(|time| time.is_finite()),
        Value::Vec2s(list) => list.iter().all(|vector| vector.is_finite()),
        Value::Vec3s(list) => list.iter().all(|vector| vector.is_finite()),
    }
}
