//! Helpers of the stage's tests: scenes from text, and queries of their state.

// Each test file is a crate of its own and uses some of these functions.
#![allow(dead_code)]

use glam::{DVec3, Vec3};
pub(crate) use jostle_dice::Random;
use jostle_scene::nodes::{Kind, Transform};
use jostle_scene::{NodeId, Reading, Rotation, Scene, Value, read};
use jostle_stage::{HierarchyFiles, Stage, StageOptions};
use jostle_world::{BodyId, Runtime, World, WorldError};

/// The scene of a text without its first line.
pub(crate) fn scene(body: &str) -> Scene {
    let text = format!("#VRML V2.0 utf8\n{body}\n");
    match read("test.wrl", text.as_bytes(), &mut Reading::default()) {
        Ok(opened) => opened.scene,
        Err(error) => panic!("{error}\n{text}"),
    }
}

pub(crate) fn stage_of(body: &str) -> Stage {
    stage_with(body, StageOptions::default())
}

pub(crate) fn stage_with(body: &str, options: StageOptions) -> Stage {
    Stage::new(scene(body), options, &mut HierarchyFiles::default()).expect(body)
}

/// The node with this name, through the instances of prototypes.
pub(crate) fn node(stage: &Stage, name: &str) -> NodeId {
    let scene = stage.play().scene();
    scene.find(name).and_then(|id| scene.through_instances(id)).expect(name)
}

pub(crate) fn send(stage: &mut Stage, name: &str, field: &str, value: Value) {
    let id = node(stage, name);
    stage.play_mut().send(id, field, value).expect(field);
}

pub(crate) fn vec3(x: f32, y: f32, z: f32) -> Value {
    Value::Vec3(Vec3::new(x, y, z))
}

pub(crate) fn rotation(x: f32, y: f32, z: f32, angle: f32) -> Value {
    Value::Rotation(Rotation { axis: Vec3::new(x, y, z), angle })
}

pub(crate) fn nodes(ids: &[NodeId]) -> Value {
    Value::Nodes(std::sync::Arc::new(ids.to_vec()))
}

pub(crate) fn transform(stage: &Stage, name: &str) -> Transform {
    match &stage.play().scene().node(node(stage, name)).kind {
        Kind::Transform(transform) => (**transform).clone(),
        other => panic!("{name} is a {}", other.name()),
    }
}

/// The only body of an object.
pub(crate) fn body(stage: &Stage, name: &str) -> BodyId {
    let found: Vec<BodyId> = stage.world().ids().filter(|&id| stage.name(id) == name).collect();
    assert_eq!(found.len(), 1, "bodies of {name}: {:?}", names(stage));
    found[0]
}

pub(crate) fn at(stage: &Stage, name: &str) -> DVec3 {
    stage.world().pose(body(stage, name)).expect(name).translation()
}

/// The names of all bodies, sorted.
pub(crate) fn names(stage: &Stage) -> Vec<String> {
    let mut names: Vec<String> = stage.world().ids().map(|id| stage.name(id)).collect();
    names.sort();
    names
}

/// A copy of the world says whether a body is fixed: it cannot be moved.
pub(crate) fn is_fixed(stage: &Stage, id: BodyId) -> bool {
    let mut copy = World::load(&stage.world().save(), Runtime::default()).expect("a copy");
    let pose = copy.pose(id).expect("the same bodies");
    matches!(copy.set_pose(id, pose), Err(WorldError::Fixed(_)))
}

/// The pairs of objects that touch or are too close, by name, sorted.
pub(crate) fn touching(stage: &Stage) -> Vec<[String; 2]> {
    let pair = |a: BodyId, b: BodyId| {
        let mut pair = [stage.name(a), stage.name(b)];
        pair.sort();
        pair
    };
    let contacts = stage.world().contacts().iter();
    let mut pairs: Vec<_> = contacts.map(|contact| pair(contact.a, contact.b)).collect();
    pairs.sort();
    pairs.dedup();
    pairs
}

/// Returns true if these two touch, and no other pair does.
pub(crate) fn only_touch(stage: &Stage, a: &str, b: &str) -> bool {
    touching(stage) == [[a.to_string(), b.to_string()]]
}

/// The values of an event of a node in the last step.
pub(crate) fn events(stage: &Stage, name: &str, field: &str) -> Vec<Value> {
    let id = node(stage, name);
    let kind = &stage.play().scene().node(id).kind;
    let sent = stage.play().events().iter().filter(|event| {
        event.node == id && kind.fields().get(event.field).is_some_and(|f| f.name == field)
    });
    sent.map(|event| event.value.clone()).collect()
}

/// The stage events of the last step, as "kind a b".
pub(crate) fn stage_events(stage: &Stage) -> Vec<String> {
    use jostle_stage::StageEventKind;
    let name = |kind: StageEventKind| match kind {
        StageEventKind::Began(_) => "begin",
        StageEventKind::Ended(_) => "end",
        StageEventKind::Hit(..) => "meet",
        StageEventKind::BoxesOverlap => "boxes begin",
        StageEventKind::BoxesSeparate => "boxes end",
    };
    stage
        .events()
        .iter()
        .map(|event| format!("{} {} {}", name(event.kind), event.a, event.b))
        .collect()
}

/// Between two numbers, with few digits: what a text says is what is meant.
pub(crate) fn number(random: &mut Random, low: f32, high: f32) -> f32 {
    let part = (random.bits() >> 40) as f32 / (1_u64 << 24) as f32;
    ((low + (high - low) * part) * 1000.0).round() / 1000.0
}
