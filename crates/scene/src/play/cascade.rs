//! Event cascades: sending, receiving, and the loop rule (ISO/IEC 14772-1, 4.10).

use super::{Event, Play, Problem, interpolate, nodes, report};
use crate::nodes::{Access, FieldIndex, Kind, Way};
use crate::scene::{NodeId, Route, Value};
use std::collections::{HashMap, HashSet, VecDeque};

/// The routes, and the queue of events.
#[derive(Debug)]
pub(super) struct Cascade {
    /// Sorted by source; those of one source in the order of the file.
    routes: Vec<Route>,
    queue: VecDeque<(NodeId, FieldIndex, Value)>,
    /// Counts the cascades.
    number: u64,
    /// The cascade in which each eventOut has sent its last event. Only looked up, never iterated.
    given: HashMap<(NodeId, FieldIndex), u64>,
}

impl Cascade {
    pub(super) fn new(routes: &[Route]) -> Cascade {
        let mut routes = routes.to_vec();
        routes.sort_by_key(|route| route.from);
        Cascade { routes, queue: VecDeque::new(), number: 0, given: HashMap::new() }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    fn routes_from(&self, from: (NodeId, FieldIndex)) -> std::ops::Range<usize> {
        let first = self.routes.partition_point(|route| route.from < from);
        let after = self.routes.partition_point(|route| route.from <= from);
        first..after
    }
}

impl Play {
    /// Begins a cascade with a new timestamp.
    pub(super) fn begin_cascade(&mut self) {
        self.cascade.number += 1;
    }

    /// Delivers all queued events, and all that follow from them.
    pub(super) fn run_cascade(&mut self) {
        while let Some((node, field, value)) = self.cascade.queue.pop_front() {
            for at in self.cascade.routes_from((node, field)) {
                if let Some(&Route { to, .. }) = self.cascade.routes.get(at) {
                    self.take(to.0, to.1, value.clone());
                }
            }
        }
    }

    /// Sends an event of a node, unless this eventOut has sent one in this cascade.
    pub(super) fn give(&mut self, node: NodeId, field: FieldIndex, value: Value) {
        if !report::is_finite(&value) {
            self.problems.push(Problem::NotFinite { node, field });
            return;
        }
        let number = self.cascade.number;
        if self.cascade.given.insert((node, field), number) == Some(number) {
            return;
        }
        self.events.push(Event { time: self.now, node, field, value: value.clone() });
        self.cascade.queue.push_back((node, field, value));
    }

    /// The same, by the name of the event.
    pub(super) fn give_named(&mut self, node: NodeId, name: &str, value: impl Into<Value>) {
        if let Some(field) = self.scene.node(node).kind.event(name, Way::Out) {
            self.give(node, field, value.into());
        }
    }

    /// Receives an event of the right type with finite numbers.
    pub(super) fn take(&mut self, node: NodeId, field: FieldIndex, value: Value) {
        let Some(spec) = self.scene.node(node).kind.fields().get(field) else { return };
        match spec.access {
            Access::ExposedField => self.set_exposed(node, field, value),
            Access::EventIn => self.take_event_in(node, field, value),
            Access::Field | Access::EventOut | Access::Internal => {}
        }
    }

    /// Stores the value of an event in an exposedField and sends `…_changed`, unless the node
    /// rejects it.
    pub(super) fn set_exposed(&mut self, node: NodeId, field: FieldIndex, value: Value) {
        let kind = &self.scene.node(node).kind;
        if matches!(kind, Kind::TimeSensor(_)) {
            self.set_timer(node, field, value);
            return;
        }
        let name = kind.fields().get(field).map(|spec| spec.name);
        if name != Some(nodes::IGNORED) {
            let mut seen = HashSet::new();
            let child = nodes::named(&value)
                .iter()
                .copied()
                .find(|&child| nodes::is_within(&self.scene, node, child, &mut seen));
            if let Some(child) = child {
                self.problems.push(Problem::ContainsItself { node, child });
                return;
            }
        }
        if name == Some("enabled") && value == Value::Bool(false) {
            self.let_go(node);
        }
        self.store_and_send(node, field, value);
    }

    pub(super) fn store_and_send(&mut self, node: NodeId, field: FieldIndex, value: Value) {
        self.store(node, field, value.clone());
        self.give(node, field, value);
    }

    fn store(&mut self, node: NodeId, field: FieldIndex, value: Value) {
        if matches!(value, Value::Node(_) | Value::Nodes(_)) {
            self.proximity.forget_paths();
        }
        let kind = &mut self.scene.node_mut(node).kind;
        let name = kind.fields().get(field).map_or("", |spec| spec.name);
        let moves = matches!(kind, Kind::Transform(_)) && nodes::MOTION.contains(&name);
        if kind.set(field, value) {
            *self.changes.entry(node).or_insert(true) &= moves;
        }
    }

    fn take_event_in(&mut self, node: NodeId, field: FieldIndex, value: Value) {
        let kind = &self.scene.node(node).kind;
        let Some(name) = kind.fields().get(field).map(|spec| spec.name) else { return };
        match (name, &value) {
            ("set_fraction", &Value::Float(fraction)) => {
                if let Some(value) = interpolate::value(kind, fraction) {
                    self.give_named(node, "value_changed", value);
                }
            }
            ("set_bind", &Value::Bool(bind)) => self.bind(node, bind),
            ("addChildren", Value::Nodes(ids)) => self.add_nodes(node, nodes::CHILDREN, ids),
            ("removeChildren", Value::Nodes(ids)) => self.remove_nodes(node, nodes::CHILDREN, ids),
            ("addIgnoredObjects", Value::Nodes(ids)) => self.add_nodes(node, nodes::IGNORED, ids),
            ("removeIgnoredObjects", Value::Nodes(ids)) => {
                self.remove_nodes(node, nodes::IGNORED, ids);
            }
            // Ohlenburg C.3 does not say what FALSE does; that it enables is its only use.
            ("disable", &Value::Bool(disable)) => {
                if let Some(enabled) = kind.field("enabled") {
                    self.set_exposed(node, enabled, Value::Bool(!disable));
                }
            }
            // set_height, set_coordIndex and the like: fields that events write and that send
            // none.
            _ => {
                let field = name.strip_prefix("set_").and_then(|field| kind.field(field));
                if let Some(field) = field {
                    self.store(node, field, value);
                }
            }
        }
    }
}
