//! Events along routes: order, loops, fan-in and fan-out, children, binding
//! (ISO/IEC 14772-1, 4.10 and 4.6.10).

mod play_common;

use glam::Vec3;
use jostle_scene::nodes::{
    Background, Collision, CollisionObject, ElevationGrid, Fog, Group, IndexedFaceSet, Inline,
    Instance, Kind, NavigationInfo, Script, Shape, Switch, TimeSensor, Transform, Viewpoint,
};
use jostle_scene::{FieldError, NodeId, Play, PlayError, Problem, Scene, Value};
use play_common::{alone, events, field, line, sent_by};
use std::sync::Arc;

fn transforms<const N: usize>(scene: &mut Scene) -> [NodeId; N] {
    [(); N].map(|()| scene.add(Transform::default()))
}

fn route(scene: &mut Scene, from: NodeId, to: NodeId) {
    scene.connect((from, "translation"), (to, "translation")).unwrap();
}

fn order(play: &Play) -> Vec<NodeId> {
    play.events().iter().map(|event| event.node).collect()
}

const STEP: Value = Value::Vec3(Vec3::X);

#[test]
fn fan_out_goes_to_all_in_the_order_of_the_file_breadth_first() {
    let mut scene = Scene::default();
    let [a, b, c, d, e] = transforms(&mut scene);
    for (from, to) in [(a, c), (a, b), (c, e), (b, d)] {
        route(&mut scene, from, to);
    }
    let mut play = Play::new(scene, 0.0).unwrap();
    play.send(a, "set_translation", STEP).unwrap();
    assert_eq!(order(&play), [a, c, b, e, d]);
    for node in [a, b, c, d, e] {
        assert_eq!(field(&play, node, "translation"), STEP);
    }
    assert_eq!(play.take_changes(), [a, b, c, d, e]);
    assert_eq!(play.take_changes(), []);
}

#[test]
fn loops_end_where_they_began() {
    let mut scene = Scene::default();
    let [a, b, c] = transforms(&mut scene);
    for (from, to) in [(a, b), (b, c), (c, a), (b, b)] {
        route(&mut scene, from, to);
    }
    let mut play = Play::new(scene, 0.0).unwrap();
    play.send(b, "translation", STEP).unwrap();
    assert_eq!(order(&play), [b, c, a]);
    // The next call has a timestamp of its own, even at the same time.
    play.send(b, "translation", STEP).unwrap();
    assert_eq!(order(&play), [b, c, a, b, c, a]);
}

#[test]
fn of_fan_in_all_is_stored_and_the_first_is_sent() {
    let mut scene = Scene::default();
    let [source, left, right, sink, after] = transforms(&mut scene);
    let near = scene.add(line(Vec3::ZERO, Vec3::X));
    let far = scene.add(line(Vec3::ZERO, Vec3::X * 10.0));
    let clock = scene.add(TimeSensor { looping: true, cycle_interval: 2.0, ..Default::default() });
    for (path, place) in [(near, left), (far, right)] {
        scene.connect((clock, "fraction_changed"), (path, "set_fraction")).unwrap();
        scene.connect((path, "value_changed"), (place, "translation")).unwrap();
        route(&mut scene, place, sink);
    }
    route(&mut scene, sink, after);
    route(&mut scene, source, sink);
    let mut play = Play::new(scene, 0.0).unwrap();
    play.advance(1.0).unwrap();
    assert_eq!(field(&play, sink, "translation"), Value::Vec3(Vec3::X * 5.0));
    assert_eq!(field(&play, after, "translation"), Value::Vec3(Vec3::X * 0.5));
    assert_eq!(sent_by(&play, sink), [("translation", Value::Vec3(Vec3::X * 0.5))]);
}

#[test]
fn numbers_that_are_not_finite_are_neither_stored_nor_led_on() {
    let (mut play, node) = alone(Transform::default());
    for bad in [f32::NAN, f32::INFINITY] {
        play.clear_events();
        play.send(node, "translation", Value::Vec3(Vec3::new(0.0, bad, 0.0))).unwrap();
        assert_eq!(events(&play), []);
        assert!(matches!(play.problems(), [Problem::NotFinite { .. }]));
    }
    assert_eq!(field(&play, node, "translation"), Value::Vec3(Vec3::ZERO));
    assert_eq!(play.take_changes(), []);
    let (mut play, node) = alone(Collision::default());
    play.emit(node, "collideTime", Value::Time(f64::NAN)).unwrap();
    assert!(matches!(play.problems(), [Problem::NotFinite { .. }]));
    assert_eq!(events(&play), []);
}

#[test]
fn calls_that_make_no_sense_are_errors() {
    let mut other = Scene::default();
    let foreign = [(); 9].map(|()| other.add(Group::default()))[8];
    let (mut play, node) = alone(Transform::default());
    let wrong = play.send(node, "translation", Value::Bool(true)).unwrap_err();
    assert_eq!(wrong.to_string(), "\"translation\" of Transform is SFVec3f, not SFBool");
    let none = play.send(node, "notColliding", Value::Bool(true)).unwrap_err();
    assert_eq!(none.to_string(), "Transform has no eventIn \"notColliding\"");
    let none = play.emit(node, "translation", STEP).unwrap_err();
    assert_eq!(none.to_string(), "Transform has no eventOut \"translation\"");
    let none = play.emit(foreign, "translation", STEP).unwrap_err();
    assert_eq!(none.to_string(), "a node of another scene has no eventOut \"translation\"");
    let missing = play.send(node, "addChildren", Value::Nodes(vec![foreign].into())).unwrap_err();
    assert!(matches!(missing, FieldError::NoNode { .. }));
    assert_eq!(events(&play), []);
    assert_eq!(play.advance(f64::NAN).unwrap_err().to_string(), "a time must be finite, not NaN");
    play.advance(2.0).unwrap();
    assert_eq!(play.advance(1.0).unwrap_err(), PlayError::Backwards { now: 2.0, to: 1.0 });
    assert_eq!(play.now(), 2.0);
    assert!(Play::new(Scene::default(), f64::INFINITY).is_err());
    for bad in [
        Kind::from(Group { children: vec![foreign].into(), ..Group::default() }),
        Shape { geometry: Some(foreign), ..Shape::default() }.into(),
        CollisionObject { ignored_objects: vec![foreign].into(), ..Default::default() }.into(),
    ] {
        let mut scene = Scene::default();
        scene.add(bad);
        assert_eq!(Play::new(scene, 0.0).unwrap_err(), PlayError::NoNode { id: foreign });
    }
}

#[test]
fn the_host_speaks_for_a_node() {
    let mut scene = Scene::default();
    let object = scene.add(CollisionObject::default());
    let [stopped, stone] = transforms(&mut scene);
    let clock = scene.add(TimeSensor { start_time: 1e9, ..TimeSensor::default() });
    scene.connect((object, "collideTime"), (clock, "startTime")).unwrap();
    scene.connect((object, "collideObjects"), (object, "addIgnoredObjects")).unwrap();
    scene.connect((stopped, "notColliding"), (clock, "enabled")).unwrap();
    let mut play = Play::new(scene, 5.0).unwrap();
    play.emit(stopped, "notColliding", Value::Bool(false)).unwrap();
    assert_eq!(field(&play, clock, "enabled"), Value::Bool(false));
    play.emit(stopped, "notColliding", Value::Bool(true)).unwrap();
    play.clear_events();
    play.emit(object, "collideTime", Value::Time(5.0)).unwrap();
    assert_eq!(sent_by(&play, clock)[1], ("isActive", Value::Bool(true)));
    play.emit(object, "collideObjects", Value::Nodes(vec![stone, object].into())).unwrap();
    assert_eq!(field(&play, object, "ignoredObjects"), Value::Nodes(vec![stone, object].into()));
    play.send(object, "removeIgnoredObjects", Value::Nodes(vec![object].into())).unwrap();
    assert_eq!(field(&play, object, "ignoredObjects"), Value::Nodes(vec![stone].into()));
}

#[test]
fn children_come_once_and_go() {
    let mut scene = Scene::default();
    let [top, a, b, c] = transforms(&mut scene);
    scene.set(top, "children", Value::Nodes(vec![a].into())).unwrap();
    let mut play = Play::new(scene, 0.0).unwrap();
    let nodes = |ids: &[NodeId]| Value::Nodes(ids.to_vec().into());
    play.send(top, "addChildren", nodes(&[b, a, b, c])).unwrap();
    assert_eq!(field(&play, top, "children"), nodes(&[a, b, c]));
    assert_eq!(sent_by(&play, top), [("children", nodes(&[a, b, c]))]);
    play.clear_events();
    play.send(top, "addChildren", nodes(&[a])).unwrap();
    assert_eq!(events(&play), []);
    play.send(top, "removeChildren", nodes(&[c, a, top])).unwrap();
    assert_eq!(field(&play, top, "children"), nodes(&[b]));
    play.send(top, "removeChildren", nodes(&[c])).unwrap();
    assert_eq!(play.events().len(), 1);
}

#[test]
fn a_node_never_comes_to_contain_itself() {
    let mut scene = Scene::default();
    let [top, middle, low, free] = transforms(&mut scene);
    let shape = scene.add(Shape::default());
    let switch = scene.add(Switch { choice: vec![middle].into(), ..Switch::default() });
    let proxy = scene.add(Collision { proxy: Some(top), ..Collision::default() });
    for (above, below) in [(top, switch), (middle, low)] {
        scene.set(above, "children", Value::Nodes(vec![below].into())).unwrap();
    }
    let mut play = Play::new(scene, 0.0).unwrap();
    play.send(low, "addChildren", Value::Nodes(vec![free, top, proxy, low].into())).unwrap();
    assert_eq!(field(&play, low, "children"), Value::Nodes(vec![free].into()));
    let refused = |child| Problem::ContainsItself { node: low, child };
    assert_eq!(play.problems(), [refused(top), refused(proxy), refused(low)]);
    play.clear_events();
    play.send(low, "children", Value::Nodes(vec![shape, switch].into())).unwrap();
    assert_eq!(play.problems(), [refused(switch)]);
    assert_eq!(field(&play, low, "children"), Value::Nodes(vec![free].into()));
    play.send(switch, "choice", Value::Nodes(vec![low, switch].into())).unwrap();
    play.send(shape, "geometry", Value::Node(Some(shape))).unwrap();
    assert_eq!(play.problems().len(), 3);
    assert_eq!(events(&play), []);
}

#[test]
fn fields_that_only_events_write_are_stored_and_not_sent() {
    let (mut play, grid) = alone(ElevationGrid::default());
    let heights = Value::Floats(vec![1.0, 2.0].into());
    play.send(grid, "set_height", heights.clone()).unwrap();
    assert_eq!(field(&play, grid, "height"), heights);
    assert_eq!((events(&play), play.take_changes()), (vec![], vec![grid]));
    let (mut play, faces) = alone(IndexedFaceSet::default());
    let index = Value::Ints(vec![0, 1, 2, -1].into());
    for name in ["colorIndex", "coordIndex", "normalIndex", "texCoordIndex"] {
        play.send(faces, &format!("set_{name}"), index.clone()).unwrap();
        assert_eq!(field(&play, faces, name), index);
    }
}

#[test]
fn scripts_are_reported() {
    let (play, script) = alone(Script::default());
    assert_eq!(play.problems(), [Problem::ScriptNotRun { node: script }]);
}

/// The first of each kind, in the order of the file, but not out of an `Inline`.
fn bindable_scene() -> (Scene, [NodeId; 3], NodeId) {
    let mut scene = Scene::default();
    let hidden = scene.add(Viewpoint::default());
    let third = scene.add(Viewpoint::default());
    let second = scene.add(Viewpoint::default());
    let first = scene.add(Viewpoint::default());
    let walk = scene.add(NavigationInfo::default());
    let inline = scene.add(Inline { children: vec![hidden].into(), ..Inline::default() });
    let body = scene.add(Group { children: vec![first].into(), ..Group::default() });
    let instance = Instance { prototype: Arc::from("P"), root: Some(body), others: vec![] };
    let instance = scene.add(Kind::Instance(Box::new(instance)));
    let switch = scene.add(Switch { choice: vec![second].into(), ..Switch::default() });
    for node in [inline, instance, switch, third, walk] {
        scene.add_root(node);
    }
    (scene, [first, second, third], walk)
}

#[test]
fn the_first_viewpoint_is_bound_when_the_scene_begins() {
    let (scene, [first, ..], walk) = bindable_scene();
    let play = Play::new(scene, 3.0).unwrap();
    assert_eq!((play.viewpoint(), play.navigation()), (Some(first), Some(walk)));
    assert_eq!(
        events(&play),
        [
            (3.0, first, "isBound", Value::Bool(true)),
            (3.0, first, "bindTime", Value::Time(3.0)),
            (3.0, walk, "isBound", Value::Bool(true)),
        ]
    );
}

#[test]
fn binding_is_a_stack() {
    let (scene, [first, second, third], _) = bindable_scene();
    let mut play = Play::new(scene, 0.0).unwrap();
    play.advance(1.0).unwrap();
    let mut bind = |node, on, expected: &[(NodeId, bool)], bound: Option<NodeId>| {
        play.clear_events();
        play.send(node, "set_bind", Value::Bool(on)).unwrap();
        let sent: Vec<_> = events(&play)
            .into_iter()
            .filter(|event| event.2 == "isBound")
            .map(|event| (event.1, event.3))
            .collect();
        let expected: Vec<_> = expected.iter().map(|&(id, on)| (id, Value::Bool(on))).collect();
        assert_eq!(sent, expected);
        assert_eq!(play.events().len(), 2 * expected.len(), "a bindTime with each");
        assert_eq!(play.viewpoint(), bound);
    };
    bind(first, true, &[], Some(first));
    bind(second, true, &[(first, false), (second, true)], Some(second));
    bind(third, true, &[(second, false), (third, true)], Some(third));
    // Out of the middle without a word; not in the stack: ignored.
    bind(second, false, &[], Some(third));
    bind(second, false, &[], Some(third));
    // From the bottom to the top.
    bind(first, true, &[(third, false), (first, true)], Some(first));
    bind(first, false, &[(first, false), (third, true)], Some(third));
    bind(third, false, &[(third, false)], None);
    bind(second, true, &[(second, true)], Some(second));
}

#[test]
fn every_kind_has_its_own_stack_and_its_events_have_routes() {
    let mut scene = Scene::default();
    let view = scene.add(Viewpoint::default());
    let sky = scene.add(Background::default());
    let fog = scene.add(Fog::default());
    let mist = scene.add(Fog::default());
    let clock = scene.add(TimeSensor { looping: true, ..Default::default() });
    for node in [view, sky, fog, mist] {
        scene.add_root(node);
    }
    scene.connect((view, "isBound"), (mist, "set_bind")).unwrap();
    scene.connect((fog, "isBound"), (clock, "enabled")).unwrap();
    let play = Play::new(scene, 0.0).unwrap();
    // The view binds the mist when everything is bound; that ends the fog, which has spoken once
    // in this cascade and cannot say so.
    assert_eq!(sent_by(&play, mist), [("isBound", Value::Bool(true))]);
    assert_eq!(sent_by(&play, fog), [("isBound", Value::Bool(true))]);
    assert_eq!(sent_by(&play, sky), [("isBound", Value::Bool(true))]);
    assert_eq!(sent_by(&play, clock)[0], ("enabled", Value::Bool(true)));
    assert_eq!(sent_by(&play, clock)[1], ("isActive", Value::Bool(true)));
}
