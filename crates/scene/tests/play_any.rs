//! Any calls on any scene: nothing panics, nothing is without end, and what always holds holds.

mod play_common;
mod samples;

use glam::{DQuat, DVec3, Vec2, Vec3};
use jostle_scene::nodes::{Access, Instance, Kind};
use jostle_scene::{Drag, FieldType, Key, NodeId, Play, Rgb, Rotation, Scene, Touch, Value};
use samples::Random;
use std::sync::Arc;

const KINDS: [&str; 34] = [
    "Anchor",
    "Background",
    "Billboard",
    "Collision",
    "CollisionObject",
    "ColorInterpolator",
    "CoordinateInterpolator",
    "CylinderSensor",
    "ElevationGrid",
    "Extrusion",
    "Fog",
    "Group",
    "IndexedFaceSet",
    "Inline",
    "KeySensor",
    "LOD",
    "NavigationInfo",
    "NormalInterpolator",
    "OrientationInterpolator",
    "PlaneSensor",
    "PositionInterpolator",
    "ProximitySensor",
    "ScalarInterpolator",
    "Script",
    "Shape",
    "SphereSensor",
    "Switch",
    "TimeSensor",
    "TimeSensor",
    "TimeSensor",
    "TouchSensor",
    "Transform",
    "Transform",
    "Viewpoint",
];

/// A number that is small and round, now and then one that is not.
fn number(random: &mut Random) -> f64 {
    const ODD: [f64; 9] =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 3e38, 1e-300, -0.0, 1e-12];
    match random.below(12) {
        0 => ODD[random.below(ODD.len())],
        _ => random.below(33) as f64 / 8.0 - 1.0,
    }
}

fn vector(random: &mut Random) -> DVec3 {
    DVec3::from_array([0; 3].map(|_| number(random)))
}

fn list<T>(random: &mut Random, mut item: impl FnMut(&mut Random) -> T) -> Arc<Vec<T>> {
    Arc::new((0..random.below(5)).map(|_| item(random)).collect())
}

fn value(ty: FieldType, ids: &[NodeId], random: &mut Random) -> Value {
    let float = |random: &mut Random| number(random) as f32;
    let vec2 = |random: &mut Random| Vec2::new(number(random) as f32, number(random) as f32);
    let vec3 = |random: &mut Random| vector(random).as_vec3();
    let turn = |random: &mut Random| Rotation {
        axis: vector(random).as_vec3(),
        angle: number(random) as f32,
    };
    let text = |random: &mut Random| Arc::from(format!("N{}", random.below(9)));
    let node = |random: &mut Random| ids[random.below(ids.len())];
    match ty {
        FieldType::Bool => Value::Bool(random.below(2) > 0),
        FieldType::Color => Value::Color(Rgb(vec3(random))),
        FieldType::Float => Value::Float(float(random)),
        FieldType::Image => Value::Image(Arc::default()),
        FieldType::Int => Value::Int(random.below(3) as i32),
        FieldType::Node => Value::Node((random.below(3) > 0).then(|| node(random))),
        FieldType::Rotation => Value::Rotation(turn(random)),
        FieldType::String => Value::String(text(random)),
        FieldType::Time => Value::Time(number(random)),
        FieldType::Vec2 => Value::Vec2(vec2(random)),
        FieldType::Vec3 => Value::Vec3(vec3(random)),
        FieldType::Colors => Value::Colors(list(random, |random| Rgb(vec3(random)))),
        FieldType::Floats => Value::Floats(list(random, float)),
        FieldType::Ints => Value::Ints(list(random, |random| random.below(9) as i32 - 1)),
        FieldType::Nodes => Value::Nodes(list(random, node)),
        FieldType::Rotations => Value::Rotations(list(random, turn)),
        FieldType::Strings => Value::Strings(list(random, text)),
        FieldType::Times => Value::Times(list(random, number)),
        FieldType::Vec2s => Value::Vec2s(list(random, vec2)),
        FieldType::Vec3s => Value::Vec3s(list(random, vec3)),
    }
}

/// A scene of a few nodes with many routes. Every other one is a tree to begin with.
fn any_scene(random: &mut Random, is_tree: bool) -> (Scene, Vec<NodeId>) {
    let mut scene = Scene::default();
    let mut ids: Vec<NodeId> = Vec::new();
    for number in 0..3 + random.below(14) {
        let kind = Kind::from_name(KINDS[random.below(KINDS.len())]).unwrap();
        let id = match random.below(12) {
            0 if !ids.is_empty() => {
                let root = Some(ids[random.below(ids.len())]);
                let instance = Instance { prototype: Arc::from("P"), root, others: vec![] };
                scene.add(Kind::Instance(Box::new(instance)))
            }
            _ => scene.add(kind),
        };
        scene.name(id, &format!("N{}", number % 9));
        ids.push(id);
    }
    for (at, &id) in ids.iter().enumerate() {
        for spec in scene.node(id).kind.fields() {
            let holds = matches!(spec.ty, FieldType::Node | FieldType::Nodes);
            let choice = if holds && is_tree { &ids[..at] } else { &ids[..] };
            if random.below(2) > 0 && !choice.is_empty() {
                let _ = scene.set(id, spec.name, value(spec.ty, choice, random));
            }
        }
        if random.below(2) > 0 {
            scene.add_root(id);
        }
    }
    let ends = |scene: &Scene, ok: &dyn Fn(Access) -> bool| -> Vec<(NodeId, &str, FieldType)> {
        let of = |&id: &NodeId| {
            let fields = scene.node(id).kind.fields().iter().filter(|spec| ok(spec.access));
            fields.map(move |spec| (id, spec.name, spec.ty)).collect::<Vec<_>>()
        };
        ids.iter().flat_map(of).collect()
    };
    let outs = ends(&scene, &|way| matches!(way, Access::EventOut | Access::ExposedField));
    let ins = ends(&scene, &|way| matches!(way, Access::EventIn | Access::ExposedField));
    for &(from, out, ty) in &outs {
        let fitting: Vec<_> = ins.iter().filter(|end| end.2 == ty).collect();
        for _ in 0..random.below(3) {
            if !fitting.is_empty() {
                let &(to, into, _) = fitting[random.below(fitting.len())];
                scene.connect((from, out), (to, into)).unwrap();
            }
        }
    }
    (scene, ids)
}

fn any_call(play: &mut Play, ids: &[NodeId], random: &mut Random) {
    let node = ids[random.below(ids.len())];
    let fields = play.scene().node(node).kind.fields();
    let spec = (!fields.is_empty()).then(|| fields[random.below(fields.len())]);
    match random.below(9) {
        0 | 1 => {
            let to = play.now() + number(random);
            let is_fine = to.is_finite() && to >= play.now();
            assert_eq!(play.advance(to).is_ok(), is_fine);
        }
        2 | 3 => {
            if let Some(spec) = spec {
                let sent = play.send(node, spec.name, value(spec.ty, ids, random));
                let is_in = matches!(spec.access, Access::EventIn | Access::ExposedField);
                assert_eq!(sent.is_ok(), is_in);
            }
        }
        4 => {
            if let Some(spec) = spec {
                let given = play.emit(node, spec.name, value(spec.ty, ids, random));
                assert_eq!(given.is_ok(), spec.access == Access::EventOut);
            }
        }
        5 => {
            let over = Touch::Over {
                point: vector(random).as_vec3(),
                normal: vector(random).as_vec3(),
                texture: Vec2::ONE,
            };
            let touch = [over, Touch::Out, Touch::Press, Touch::Release][random.below(4)];
            let _ = play.touch(node, touch);
        }
        6 => {
            let (point, direction) = (vector(random), vector(random));
            let press = Drag::Press { point, direction };
            let moved = Drag::Move { origin: point, direction };
            let _ = play.drag(node, [press, moved, moved, Drag::Release][random.below(4)]);
        }
        7 => {
            play.key(Key { value: random.below(3) as i32, state: random.below(3) as i32 });
        }
        _ => {
            let q = [0; 4].map(|_| number(random));
            play.view(vector(random), DQuat::from_array(q));
        }
    }
}

/// Returns true if a node contains itself, at any depth.
fn has_circle(play: &Play, ids: &[NodeId]) -> bool {
    let scene = play.scene();
    let held = |id: NodeId| -> Vec<NodeId> {
        let kind = &scene.node(id).kind;
        let mut held: Vec<NodeId> = scene.children(id).to_vec();
        for (index, spec) in kind.fields().iter().enumerate() {
            match kind.get(index) {
                Some(Value::Node(Some(id))) => held.push(id),
                Some(Value::Nodes(ids)) if spec.name != "ignoredObjects" => held.extend(&*ids),
                _ => {}
            }
        }
        held
    };
    ids.iter().any(|&start| {
        let (mut left, mut seen) = (held(start), vec![false; scene.len()]);
        while let Some(id) = left.pop() {
            if id == start {
                return true;
            }
            if !std::mem::replace(&mut seen[id.index()], true) {
                left.extend(held(id));
            }
        }
        false
    })
}

#[test]
fn any_calls_on_any_scene() {
    let (mut event_count, mut problems, mut refused) = (0, 0, 0);
    for seed in 0..3000 {
        let mut random = Random(seed);
        let is_tree = seed % 2 == 0;
        let (scene, ids) = any_scene(&mut random, is_tree);
        let mut play = Play::new(scene, 0.0).unwrap();
        let mut again = Play::new(play.scene().clone(), 0.0).unwrap();
        // Only a scene in which nothing has event_count yet begins again in the same way.
        let is_still = play.events().is_empty();
        let mut calls = Random(seed ^ 0xca11);
        for _ in 0..25 {
            let mut same = Random(calls.0);
            any_call(&mut play, &ids, &mut calls);
            if is_still {
                any_call(&mut again, &ids, &mut same);
                assert_eq!(play.events(), again.events(), "seed {seed}");
            }
            for event in play.events() {
                let spec = &play.scene().node(event.node).kind.fields()[event.field];
                assert_eq!(spec.ty, event.value.field_type(), "seed {seed}");
                assert!(event.time <= play.now(), "seed {seed}");
                let text = format!("{:?}", event.value);
                assert!(!text.contains("NaN") && !text.contains("inf"), "seed {seed}: {text}");
            }
            event_count += play.events().len();
            problems += play.problems().len();
            refused += usize::from(format!("{:?}", play.problems()).contains("ContainsItself"));
            play.clear_events();
            again.clear_events();
        }
        let changed = play.take_changes();
        assert!(changed.is_sorted() && changed.iter().all(|id| ids.contains(id)), "seed {seed}");
        assert!(!is_tree || !has_circle(&play, &ids), "seed {seed}");
    }
    assert!(
        event_count > 10_000 && problems > 1000 && refused > 100,
        "{event_count} {problems} {refused}"
    );
}

/// A chain of nodes so deep that no recursion would come back.
#[test]
fn depth_does_not_matter() {
    let mut scene = Scene::default();
    let mut below = scene.add(Kind::from_name("ProximitySensor").unwrap());
    let lowest = below;
    scene.set(lowest, "size", Value::Vec3(Vec3::splat(1e9))).unwrap();
    for _ in 0..200_000 {
        let id = scene.add(Kind::from_name("Transform").unwrap());
        scene.set(id, "children", Value::Nodes(vec![below].into())).unwrap();
        below = id;
    }
    scene.add_root(below);
    let mut play = Play::new(scene, 0.0).unwrap();
    play.view(DVec3::ONE, DQuat::IDENTITY);
    play.advance(1.0).unwrap();
    assert_eq!(play_common::sent_by(&play, lowest).len(), 4);
    let inner = play.scene().nodes().nth(1).unwrap().0;
    play.send(inner, "addChildren", Value::Nodes(vec![below].into())).unwrap();
    assert_eq!(play.problems().len(), 1);
}
