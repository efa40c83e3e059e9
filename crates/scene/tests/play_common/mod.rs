//! What the tests of the event engine share.
#![allow(dead_code, reason = "each test file uses its own part")]

use jostle_scene::nodes::{Kind, PositionInterpolator, TimeSensor};
use jostle_scene::{NodeId, Play, Scene, Value};

/// An event under its name: time, node, name, value.
pub(crate) type Named = (f64, NodeId, &'static str, Value);

pub(crate) fn events(play: &Play) -> Vec<Named> {
    let name = |node: NodeId, field: usize| play.scene().node(node).kind.fields()[field].name;
    let named = |event: &jostle_scene::Event| {
        (event.time, event.node, name(event.node, event.field), event.value.clone())
    };
    play.events().iter().map(named).collect()
}

/// The events of one node: name and value.
pub(crate) fn sent_by(play: &Play, node: NodeId) -> Vec<(&'static str, Value)> {
    events(play)
        .into_iter()
        .filter(|event| event.1 == node)
        .map(|event| (event.2, event.3))
        .collect()
}

pub(crate) fn field(play: &Play, node: NodeId, name: &str) -> Value {
    let kind: &Kind = &play.scene().node(node).kind;
    kind.get(kind.field(name).unwrap()).unwrap()
}

/// A scene with one node, playing from time 0.
pub(crate) fn alone(kind: impl Into<Kind>) -> (Play, NodeId) {
    let mut scene = Scene::default();
    let node = scene.add(kind);
    scene.add_root(node);
    (Play::new(scene, 0.0).unwrap(), node)
}

/// A clock that starts on an event: `startTime` is far away.
pub(crate) fn stopped_clock(interval: f64) -> TimeSensor {
    TimeSensor { cycle_interval: interval, start_time: 1e6, ..TimeSensor::default() }
}

pub(crate) fn line(from: glam::Vec3, to: glam::Vec3) -> PositionInterpolator {
    PositionInterpolator { key: vec![0.0, 1.0].into(), key_value: vec![from, to].into() }
}
