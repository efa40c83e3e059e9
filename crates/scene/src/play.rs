//! The event engine: runs time, user input and events along the routes (ISO/IEC 14772-1, 4.10 and
//! 4.11).
//!
//! Nothing here reads a clock or a screen: the host passes the time, the viewer and the pointer
//! actions. Equal calls give equal events, with one exception: converting rotations to axis and
//! angle and back needs trigonometry, all of it in `play/turn.rs` and
//! in [`Rotation::quaternion`](crate::Rotation::quaternion), and the last bit of that may differ
//! between platforms.

mod bind;
mod cascade;
mod drag;
mod interpolate;
mod keys;
mod nodes;
mod proximity;
mod report;
mod timer;
mod touch;
mod turn;

pub use drag::Drag;
pub use keys::Key;
pub use report::{Event, PlayError, Problem};
pub use touch::Touch;

use crate::nodes::{Access, FieldIndex, Kind, Way};
use crate::scene::{FieldError, NodeId, Scene, Value};
use glam::{DQuat, DVec3};
use std::collections::BTreeMap;

/// The nodes that have changed, by what has changed; each list is sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// `Transform` nodes of which only fields of placement and velocity were written.
    pub moved: Vec<NodeId>,
    /// All other nodes with written fields.
    pub edited: Vec<NodeId>,
}

/// A running scene: its nodes, its time and its events.
///
/// # One timestamp
/// Every call of the host, every start and stop of a `TimeSensor` and every frame begins a
/// *cascade*: the events that follow from it, all with one timestamp. In a cascade, each eventOut
/// gives at most one event (the loop rule, 4.10.4). Events run breadth first: an event
/// goes along all its routes, in the order of the file, before anything that follows from it. When
/// several events of a cascade come to one exposedField, all are stored in turn and the first is
/// sent on.
///
/// # Time
/// `TimeSensor`s start and stop exactly when they should, in the order of time, also between two
/// frames. While they run they tick once per [`Play::advance`]; of several cycles that begin in
/// one advance, `cycleTime` has the last, "the beginning of the current cycle" (6.50).
///
/// # What it costs
/// An advance costs in proportion to the `TimeSensor`s that run, the `ProximitySensor`s and the
/// events. The size of the scene matters in [`Play::new`], in [`Play::key`] when a sensor looks
/// for its recipient, and in the first advance after children have changed, if there are
/// `ProximitySensor`s.
///
/// Scripts are not run; films and sounds do not play; the host sends the events of a
/// `VisibilitySensor` and a `Collision` with [`Play::emit`].
///
/// ```
/// use jostle_scene::nodes::{PositionInterpolator, TimeSensor, Transform};
/// use jostle_scene::{Play, Scene, Value};
/// use glam::Vec3;
/// use std::sync::Arc;
///
/// let mut scene = Scene::default();
/// let clock = scene.add(TimeSensor { cycle_interval: 4.0, looping: true, ..Default::default() });
/// let path = scene.add(PositionInterpolator {
///     key: Arc::new(vec![0.0, 1.0]),
///     key_value: Arc::new(vec![Vec3::ZERO, Vec3::new(8.0, 0.0, 0.0)]),
/// });
/// let lift = scene.add(Transform::default());
/// scene.connect((clock, "fraction_changed"), (path, "set_fraction"))?;
/// scene.connect((path, "value_changed"), (lift, "set_translation"))?;
///
/// let mut play = Play::new(scene, 0.0)?;
/// play.advance(1.0)?;
/// let at = play.scene().node(lift).kind.field("translation").unwrap();
/// assert_eq!(play.scene().node(lift).kind.get(at), Some(Value::Vec3(Vec3::new(2.0, 0.0, 0.0))));
/// assert_eq!(play.take_changes(), [lift]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Play {
    scene: Scene,
    now: f64,
    cascade: cascade::Cascade,
    events: Vec<Event>,
    problems: Vec<Problem>,
    /// Nodes with written fields, and whether only fields of motion were written.
    changes: BTreeMap<NodeId, bool>,
    timers: timer::Timers,
    bound: bind::Stacks,
    touches: touch::Touches,
    drags: drag::Drags,
    keys: Vec<NodeId>,
    proximity: proximity::Proximity,
    viewer: Option<(DVec3, DQuat)>,
}

impl Play {
    /// Begins at the time `start`, in seconds: binds the first `Viewpoint`, `NavigationInfo`,
    /// `Background` and `Fog` that do not stand in an `Inline` (4.6.10), and starts the
    /// `TimeSensor`s whose time it is.
    ///
    /// # Errors
    /// The time is not finite, or the scene names nodes that it does not have.
    pub fn new(scene: Scene, start: f64) -> Result<Play, PlayError> {
        if !start.is_finite() {
            return Err(PlayError::TimeNotFinite { found: start });
        }
        nodes::check(&scene)?;
        let mut play = Play {
            now: start,
            cascade: cascade::Cascade::new(scene.routes()),
            events: Vec::new(),
            problems: Vec::new(),
            changes: BTreeMap::new(),
            timers: timer::Timers::default(),
            bound: bind::Stacks::default(),
            touches: touch::Touches::default(),
            drags: drag::Drags::default(),
            keys: keys::in_order(&scene),
            proximity: proximity::Proximity::new(&scene),
            viewer: None,
            scene,
        };
        play.report_scripts();
        play.list_timers();
        play.begin_cascade();
        play.bind_first();
        play.run_cascade();
        play.start_timers();
        Ok(play)
    }

    /// The scene as it is now.
    #[must_use]
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The time, in seconds.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Advances the time. Clears [`Play::events`] and [`Play::problems`] first.
    ///
    /// # Errors
    /// The time is not finite or before the current time; then nothing is changed.
    pub fn advance(&mut self, to: f64) -> Result<(), PlayError> {
        if !to.is_finite() {
            return Err(PlayError::TimeNotFinite { found: to });
        }
        if to < self.now {
            return Err(PlayError::Backwards { now: self.now, to });
        }
        self.clear_events();
        self.run_timers(to);
        self.now = to;
        self.begin_cascade();
        self.tick_timers();
        // The nodes above a ProximitySensor move before it is updated.
        self.run_cascade();
        self.sense_proximity();
        self.finish_call();
        Ok(())
    }

    /// Sends an event to a node: an eventIn, or an exposedField, by each name that a ROUTE may use.
    ///
    /// A number that is not finite, and children that would make a node contain itself, do not
    /// get there; see [`Play::problems`].
    ///
    /// # Errors
    /// There is no such event, or the value has another type or names a node that is not there.
    pub fn send(&mut self, node: NodeId, event_in: &str, value: Value) -> Result<(), FieldError> {
        let index = self.checked_event(node, event_in, Way::In, &value)?;
        if report::is_finite(&value) {
            self.begin_cascade();
            self.take(node, index, value);
            self.finish_call();
        } else {
            self.problems.push(Problem::NotFinite { node, field: index });
        }
        Ok(())
    }

    /// Sends an event from a node, by one of its eventOuts: `collideTime`, `collideObjects`,
    /// `notColliding`, or those of a sensor.
    ///
    /// # Errors
    /// There is no such eventOut (for exposedFields there is [`Play::send`]), or the value has
    /// another type or names a node that is not there.
    pub fn emit(&mut self, node: NodeId, event_out: &str, value: Value) -> Result<(), FieldError> {
        let index = self.checked_event(node, event_out, Way::Out, &value)?;
        self.begin_cascade();
        self.give(node, index, value);
        self.finish_call();
        Ok(())
    }

    /// Sets position and orientation of the viewer, in world coordinates. The `ProximitySensor`s
    /// are updated in the next advance.
    pub fn view(&mut self, position: DVec3, orientation: DQuat) {
        let length = orientation.length();
        if position.is_finite() && length.is_finite() && length > 0.0 {
            self.viewer = Some((position, orientation / length));
        } else {
            self.problems.push(Problem::Viewer);
        }
    }

    /// Position and orientation of the viewer; none if they were never set.
    #[must_use]
    pub fn viewer(&self) -> Option<(DVec3, DQuat)> {
        self.viewer
    }

    /// The events that were sent since the last [`Play::advance`] began, or since
    /// [`Play::clear_events`], in their order.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The problems since then, for as long as [`Play::events`].
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Clears events and problems.
    pub fn clear_events(&mut self) {
        self.events.clear();
        self.problems.clear();
    }

    /// The nodes of which a field has been written since the last call of this or of
    /// [`Play::take_changes_by_kind`], sorted.
    pub fn take_changes(&mut self) -> Vec<NodeId> {
        std::mem::take(&mut self.changes).into_keys().collect()
    }

    /// As [`Play::take_changes`], with the nodes that have only moved apart from all others: what
    /// is below them is the same as before at another placement.
    pub fn take_changes_by_kind(&mut self) -> Changes {
        let (mut moved, mut edited) = (Vec::new(), Vec::new());
        for (node, only_moved) in std::mem::take(&mut self.changes) {
            if only_moved { moved.push(node) } else { edited.push(node) }
        }
        Changes { moved, edited }
    }

    /// The number of an event, if the node has it and it carries values like this one.
    fn checked_event(
        &self,
        node: NodeId,
        name: &str,
        way: Way,
        value: &Value,
    ) -> Result<FieldIndex, FieldError> {
        let what = match way {
            Way::In => "eventIn",
            Way::Out => "eventOut",
        };
        let no_field = |kind: &str| FieldError::NoField {
            kind: kind.to_string(),
            what,
            name: name.to_string(),
        };
        if node.index() >= self.scene.len() {
            return Err(no_field("a node of another scene"));
        }
        let kind = &self.scene.node(node).kind;
        let index = kind.event(name, way).ok_or_else(|| no_field(kind.name()))?;
        let spec = kind.fields().get(index).ok_or_else(|| no_field(kind.name()))?;
        if way == Way::Out && spec.access != Access::EventOut {
            return Err(no_field(kind.name()));
        }
        let (kind, name) = (kind.name().to_string(), name.to_string());
        if spec.ty != value.field_type() {
            let (expected, found) = (spec.ty, value.field_type());
            return Err(FieldError::WrongType { kind, name, expected, found });
        }
        if nodes::named(value).iter().any(|id| id.index() >= self.scene.len()) {
            return Err(FieldError::NoNode { kind, name });
        }
        Ok(index)
    }

    /// The sensor that the host names, if it is of the right kind.
    fn sensor(&self, node: NodeId, expected: &'static str) -> Result<&Kind, PlayError> {
        if node.index() >= self.scene.len() {
            let found = "a node of another scene".to_string();
            return Err(PlayError::NotThatSensor { expected, found });
        }
        Ok(&self.scene.node(node).kind)
    }

    /// Runs a cascade to its end, and then the timers that are due.
    fn finish_call(&mut self) {
        self.run_cascade();
        self.run_timers(self.now);
    }

    fn report_scripts(&mut self) {
        let scripts = self.scene.nodes().filter(|(_, node)| matches!(node.kind, Kind::Script(_)));
        self.problems.extend(scripts.map(|(node, _)| Problem::ScriptNotRun { node }));
    }
}
