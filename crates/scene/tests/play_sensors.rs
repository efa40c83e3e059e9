//! Touch, drag, proximity and key sensors, with expectations computed by hand.

mod play_common;

use glam::{DQuat, DVec3, Vec2, Vec3};
use jostle_scene::nodes::{
    CylinderSensor, Group, Instance, KeySensor, Kind, PlaneSensor, ProximitySensor, SphereSensor,
    TouchSensor, Transform,
};
use jostle_scene::{Drag, Key, NodeId, Play, PlayError, Problem, Rotation, Scene, Touch, Value};
use play_common::{alone, events, field, sent_by};
use std::f32::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

const OVER: Touch = Touch::Over { point: Vec3::X, normal: Vec3::Y, texture: Vec2::ONE };

/// What a sensor sends for one touch.
fn touch(play: &mut Play, node: NodeId, touch: Touch) -> Vec<(&'static str, Value)> {
    play.clear_events();
    play.touch(node, touch).unwrap();
    sent_by(play, node)
}

#[test]
fn a_touch_has_a_time_if_it_begins_and_ends_over_the_geometry() {
    let (mut play, node) = alone(TouchSensor::default());
    play.advance(7.0).unwrap();
    let (on, off) = (Value::Bool(true), Value::Bool(false));
    let hits = [
        ("hitPoint_changed", Value::Vec3(Vec3::X)),
        ("hitNormal_changed", Value::Vec3(Vec3::Y)),
        ("hitTexCoord_changed", Value::Vec2(Vec2::ONE)),
    ];
    assert_eq!(touch(&mut play, node, Touch::Press), []);
    assert_eq!(touch(&mut play, node, Touch::Release), []);
    assert_eq!(touch(&mut play, node, Touch::Out), []);
    let first = touch(&mut play, node, OVER);
    assert_eq!((&first[0], &first[1..]), (&("isOver", on.clone()), &hits[..]));
    assert_eq!(touch(&mut play, node, OVER), hits);
    assert_eq!(touch(&mut play, node, Touch::Press), [("isActive", on.clone())]);
    assert_eq!(touch(&mut play, node, Touch::Press), []);
    assert_eq!(
        touch(&mut play, node, Touch::Release),
        [("isActive", off.clone()), ("touchTime", Value::Time(7.0))]
    );
    // Released elsewhere: no touchTime.
    touch(&mut play, node, Touch::Press);
    assert_eq!(touch(&mut play, node, Touch::Out), [("isOver", off.clone())]);
    assert_eq!(touch(&mut play, node, Touch::Release), [("isActive", off.clone())]);
    // Pressed, dragged off and back on.
    touch(&mut play, node, OVER);
    touch(&mut play, node, Touch::Press);
    touch(&mut play, node, Touch::Out);
    touch(&mut play, node, OVER);
    assert_eq!(touch(&mut play, node, Touch::Release)[1].0, "touchTime");
}

#[test]
fn a_disabled_touch_sensor_lets_go() {
    let (mut play, node) = alone(TouchSensor::default());
    touch(&mut play, node, OVER);
    touch(&mut play, node, Touch::Press);
    play.clear_events();
    play.send(node, "enabled", Value::Bool(false)).unwrap();
    let (on, off) = (Value::Bool(true), Value::Bool(false));
    assert_eq!(sent_by(&play, node), [("isActive", off.clone()), ("enabled", off)]);
    for touched in [OVER, Touch::Press, Touch::Release, Touch::Out] {
        assert_eq!(touch(&mut play, node, touched), []);
    }
    play.send(node, "enabled", on.clone()).unwrap();
    assert_eq!(touch(&mut play, node, Touch::Release), []);
    assert_eq!(touch(&mut play, node, OVER)[0], ("isOver", on));
}

#[test]
fn pointers_that_make_no_sense_are_errors() {
    let (mut play, node) = alone(Group::default());
    let wrong = play.touch(node, Touch::Out).unwrap_err();
    assert_eq!(wrong.to_string(), "expected TouchSensor, found Group");
    assert!(play.drag(node, Drag::Release).is_err());
    let (mut play, node) = alone(TouchSensor::default());
    let nowhere = Touch::Over { point: Vec3::NAN, normal: Vec3::Y, texture: Vec2::ONE };
    assert_eq!(play.touch(node, nowhere), Err(PlayError::Pointer));
    let (mut play, node) = alone(PlaneSensor::default());
    for (point, direction) in [(DVec3::NAN, DVec3::Z), (DVec3::ZERO, DVec3::ZERO)] {
        assert_eq!(play.drag(node, Drag::Press { point, direction }), Err(PlayError::Pointer));
    }
    assert_eq!(events(&play), []);
}

/// Presses at a point, looking along -z by default.
fn press(play: &mut Play, node: NodeId, point: DVec3, direction: DVec3) {
    play.clear_events();
    play.drag(node, Drag::Press { point, direction }).unwrap();
    assert_eq!(sent_by(play, node), [("isActive", Value::Bool(true))]);
}

fn drag(play: &mut Play, node: NodeId, origin: DVec3, direction: DVec3) -> Vec<Value> {
    play.clear_events();
    play.drag(node, Drag::Move { origin, direction }).unwrap();
    sent_by(play, node).into_iter().map(|(_, value)| value).collect()
}

fn release(play: &mut Play, node: NodeId) -> Vec<(&'static str, Value)> {
    play.clear_events();
    play.drag(node, Drag::Release).unwrap();
    sent_by(play, node)
}

#[test]
fn a_plane_sensor_moves_in_its_plane_from_its_offset() {
    let (mut play, node) = alone(PlaneSensor::default());
    let down = DVec3::NEG_Z;
    for times in 0..2 {
        let moved = times as f32 * 2.0;
        press(&mut play, node, DVec3::new(1.0, 1.0, 5.0), down);
        // From (0, 4, 7) along (1, 0, -1): meets z = 5 at (2, 4, 5), 1 right and 3 up.
        let sent = drag(&mut play, node, DVec3::new(0.0, 4.0, 7.0), DVec3::new(1.0, 0.0, -1.0));
        let there = Vec3::new(1.0 + moved, 3.0 + moved * 0.5, 0.0);
        assert_eq!(sent, [Value::Vec3(Vec3::new(2.0, 4.0, 5.0)), Value::Vec3(there)]);
        // Along the plane, and away from it: nothing.
        assert_eq!(drag(&mut play, node, DVec3::new(0.0, 0.0, 7.0), DVec3::X), []);
        assert_eq!(drag(&mut play, node, DVec3::new(0.0, 0.0, 7.0), DVec3::Z), []);
        drag(&mut play, node, DVec3::new(3.0, 2.0, 9.0), down);
        let offset = Value::Vec3(Vec3::new(2.0 + moved, 1.0 + moved * 0.5, 0.0));
        let expected = [("isActive", Value::Bool(false)), ("offset", offset.clone())];
        assert_eq!(release(&mut play, node), expected);
        assert_eq!(field(&play, node, "offset"), offset);
    }
    // No move, no new offset; and what was released is not dragged.
    press(&mut play, node, DVec3::ZERO, down);
    assert_eq!(release(&mut play, node).len(), 1);
    assert_eq!(release(&mut play, node), []);
    assert_eq!(drag(&mut play, node, DVec3::ZERO, down), []);
}

#[test]
fn a_plane_sensor_clamps_what_has_limits() {
    // x stays at 2 (a line sensor), y between -1 and 1; the point is not clamped.
    let (mut play, node) = alone(PlaneSensor {
        min_position: Vec2::new(2.0, -1.0),
        max_position: Vec2::new(2.0, 1.0),
        auto_offset: false,
        ..PlaneSensor::default()
    });
    press(&mut play, node, DVec3::ZERO, DVec3::NEG_Z);
    let sent = drag(&mut play, node, DVec3::new(9.0, 9.0, 1.0), DVec3::NEG_Z);
    let track = Value::Vec3(Vec3::new(9.0, 9.0, 0.0));
    assert_eq!(sent, [track, Value::Vec3(Vec3::new(2.0, 1.0, 0.0))]);
    assert_eq!(release(&mut play, node), [("isActive", Value::Bool(false))]);
    assert_eq!(field(&play, node, "offset"), Value::Vec3(Vec3::ZERO));
    // Only x has limits: y's least is above its most.
    let (mut play, node) = alone(PlaneSensor {
        min_position: Vec2::new(0.0, 1.0),
        max_position: Vec2::new(3.0, 0.0),
        ..PlaneSensor::default()
    });
    press(&mut play, node, DVec3::ZERO, DVec3::NEG_Z);
    let sent = drag(&mut play, node, DVec3::new(-9.0, 9.0, 1.0), DVec3::NEG_Z);
    assert_eq!(sent[1], Value::Vec3(Vec3::new(0.0, 9.0, 0.0)));
}

fn angle(values: &[Value]) -> f32 {
    match values {
        [Value::Vec3(_), Value::Rotation(Rotation { axis: Vec3::Y, angle })] => *angle,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cylinder_sensor_turns_about_y_over_several_rounds() {
    let (mut play, node) = alone(CylinderSensor::default());
    // From the side, so the mantle is taken: radius 2.
    press(&mut play, node, DVec3::new(2.0, 1.0, 0.0), DVec3::NEG_X);
    let mut look = |from: DVec3| drag(&mut play, node, from, DVec3::new(0.0, 3.0, 0.0) - from);
    // A pointer at (0, 3, -4) that looks at the axis meets (0, 3, -2): a quarter turn about +y.
    let sent = look(DVec3::new(0.0, 3.0, -4.0));
    assert_eq!(sent[0], Value::Vec3(Vec3::new(0.0, 3.0, -2.0)));
    assert!((angle(&sent) - FRAC_PI_2).abs() < 1e-6);
    assert!((angle(&look(DVec3::new(-4.0, 3.0, 0.0))) - PI).abs() < 1e-6);
    assert!((angle(&look(DVec3::new(0.0, 3.0, 4.0))) - 1.5 * PI).abs() < 1e-6);
    assert!((angle(&look(DVec3::new(4.0, 3.0, 0.0))) - 2.0 * PI).abs() < 1e-6);
    assert!((angle(&look(DVec3::new(0.0, 3.0, -4.0))) - 2.5 * PI).abs() < 1e-5);
    // A ray that misses turns to its nearest point: (0, 0, -3) along x is nearest at (0, 0, -3).
    let sent = drag(&mut play, node, DVec3::new(-5.0, 0.0, -3.0), DVec3::X);
    assert_eq!(sent[0], Value::Vec3(Vec3::new(0.0, 0.0, -2.0)));
    let [_, (_, Value::Float(offset))] = &release(&mut play, node)[..] else { panic!() };
    assert!((offset - 2.5 * PI).abs() < 1e-5);
}

#[test]
fn a_cylinder_sensor_seen_from_above_is_a_disk_and_has_limits() {
    let (mut play, node) = alone(CylinderSensor {
        min_angle: -0.5,
        max_angle: 1.0,
        offset: 0.25,
        ..CylinderSensor::default()
    });
    let down = DVec3::new(0.0, -1.0, 0.1);
    press(&mut play, node, DVec3::new(1.0, 2.0, 0.0), down);
    // The plane y = 2, wherever the pointer is; the radius does not matter.
    let sent = drag(&mut play, node, DVec3::new(3.0, 9.0, -3.0), DVec3::NEG_Y);
    assert_eq!(sent[0], Value::Vec3(Vec3::new(3.0, 2.0, -3.0)));
    assert_eq!(angle(&sent), 1.0, "an eighth and a quarter radian are more than 1");
    let sent = drag(&mut play, node, DVec3::new(3.0, 9.0, 1.5), DVec3::NEG_Y);
    let expected = 0.25 - 0.5_f32.atan();
    assert!((angle(&sent) - expected).abs() < 1e-6);
    let sent = drag(&mut play, node, DVec3::new(0.0, 9.0, 1.0), DVec3::NEG_Y);
    assert_eq!(angle(&sent), -0.5);
    play.clear_events();
    play.send(node, "enabled", Value::Bool(false)).unwrap();
    assert_eq!(sent_by(&play, node)[0], ("isActive", Value::Bool(false)));
    assert_eq!(field(&play, node, "offset"), Value::Float(0.25));
    assert_eq!(release(&mut play, node), []);
}

#[test]
fn a_sphere_sensor_turns_what_was_pressed_to_the_pointer() {
    let (mut play, node) = alone(SphereSensor::default());
    press(&mut play, node, DVec3::new(0.0, 0.0, 2.0), DVec3::NEG_Z);
    // A pointer above meets the top: a quarter turn from +z to +y, about -x.
    let sent = drag(&mut play, node, DVec3::new(0.0, 9.0, 0.0), DVec3::NEG_Y);
    assert_eq!(sent[0], Value::Vec3(Vec3::new(0.0, 2.0, 0.0)));
    let Value::Rotation(turn) = sent[1] else { panic!() };
    assert!((turn.quaternion() * DVec3::Z - DVec3::Y).length() < 1e-6);
    assert!(turn.axis.distance(Vec3::NEG_X) < 1e-6);
    // One that misses: nearest to the centre at (5, 0, 0).
    let sent = drag(&mut play, node, DVec3::new(5.0, 0.0, 9.0), DVec3::NEG_Z);
    assert_eq!(sent[0], Value::Vec3(Vec3::new(2.0, 0.0, 0.0)));
    // From inside, the far side; looking away from outside, nothing.
    let sent = drag(&mut play, node, DVec3::ZERO, DVec3::Y);
    assert_eq!(sent[0], Value::Vec3(Vec3::new(0.0, 2.0, 0.0)));
    assert_eq!(drag(&mut play, node, DVec3::new(0.0, 9.0, 0.0), DVec3::Y), []);
    assert_eq!(release(&mut play, node).len(), 2);
    // The next drag begins from there: again a quarter from z to y, after the first.
    press(&mut play, node, DVec3::new(0.0, 0.0, 2.0), DVec3::NEG_Z);
    let sent = drag(&mut play, node, DVec3::new(0.0, 9.0, 0.0), DVec3::NEG_Y);
    let Value::Rotation(turn) = sent[1] else { panic!() };
    assert!((turn.quaternion() * DVec3::Z - DVec3::NEG_Z).length() < 1e-6);
    // From z to x instead: what the first drag brought from z to y stays at y.
    let sent = drag(&mut play, node, DVec3::new(9.0, 0.0, 0.0), DVec3::NEG_X);
    let Value::Rotation(turn) = sent[1] else { panic!() };
    assert!((turn.quaternion() * DVec3::Z - DVec3::Y).length() < 1e-6);
}

/// A sensor below two transforms: the world's (10, 0, 0) is its (0, 0, -5).
fn proximity_scene() -> (Play, NodeId, NodeId) {
    let mut scene = Scene::default();
    let sensor =
        scene.add(ProximitySensor { size: Vec3::new(4.0, 4.0, 4.0), ..ProximitySensor::default() });
    let turned = scene.add(Transform {
        children: vec![sensor].into(),
        rotation: Rotation { axis: Vec3::Y, angle: FRAC_PI_2 },
        scale: Vec3::splat(2.0),
        ..Transform::default()
    });
    let group = scene.add(Group { children: vec![turned].into(), ..Group::default() });
    let moved = scene.add(Transform {
        children: vec![group].into(),
        translation: Vec3::new(20.0, 0.0, 0.0),
        ..Transform::default()
    });
    scene.add_root(moved);
    (Play::new(scene, 0.0).unwrap(), sensor, moved)
}

#[test]
fn a_proximity_sensor_sees_the_viewer_in_its_own_coordinates() {
    let (mut play, sensor, moved) = proximity_scene();
    play.advance(1.0).unwrap();
    assert_eq!(events(&play), []);
    play.view(DVec3::new(10.0, 0.0, 0.0), DQuat::IDENTITY);
    play.advance(2.0).unwrap();
    assert_eq!(events(&play), [], "5 in front of a box of 2");
    play.view(DVec3::new(17.0, 0.0, 0.0), DQuat::IDENTITY);
    play.advance(3.0).unwrap();
    let sent = sent_by(&play, sensor);
    let names: Vec<_> = sent.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["isActive", "position_changed", "orientation_changed", "enterTime"]);
    // 3 to the left in the world; turned back by a quarter, +x becomes +z; half the size.
    let Value::Vec3(position) = sent[1].1 else { panic!() };
    assert!(position.distance(Vec3::new(0.0, 0.0, -1.5)) < 1e-6, "{position}");
    let Value::Rotation(orientation) = sent[2].1 else { panic!() };
    let back = DQuat::from_rotation_y(-f64::from(FRAC_PI_2));
    assert!(orientation.quaternion().dot(back).abs() > 1.0 - 1e-12);
    assert_eq!(sent[3].1, Value::Time(3.0));
    play.advance(4.0).unwrap();
    assert_eq!(events(&play), [], "nothing moved");
    // Looking up in the world is looking up for the sensor.
    play.view(DVec3::new(17.0, 0.0, 0.0), DQuat::from_rotation_x(f64::from(FRAC_PI_2)));
    play.advance(4.5).unwrap();
    let [("orientation_changed", Value::Rotation(up))] = sent_by(&play, sensor)[..] else {
        panic!()
    };
    assert!((up.quaternion() * DVec3::NEG_Z - DVec3::Y).length() < 1e-6);
    // The sensor moves away, the viewer stays.
    play.send(moved, "translation", Value::Vec3(Vec3::new(18.0, 0.0, 0.0))).unwrap();
    play.advance(5.0).unwrap();
    assert_eq!(sent_by(&play, sensor).len(), 1);
    play.send(moved, "translation", Value::Vec3(Vec3::new(30.0, 0.0, 0.0))).unwrap();
    play.advance(6.0).unwrap();
    let names: Vec<_> = sent_by(&play, sensor).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["isActive", "position_changed", "exitTime"]);
}

#[test]
fn a_proximity_sensor_that_is_taken_out_of_the_world_is_left() {
    let (mut play, sensor, moved) = proximity_scene();
    play.view(DVec3::new(20.0, 0.0, 0.0), DQuat::IDENTITY);
    play.advance(1.0).unwrap();
    assert_eq!(sent_by(&play, sensor).len(), 4);
    let Value::Nodes(children) = field(&play, moved, "children") else { panic!() };
    play.send(moved, "removeChildren", Value::Nodes(children.clone())).unwrap();
    play.advance(2.0).unwrap();
    let expected = [("isActive", Value::Bool(false)), ("exitTime", Value::Time(2.0))];
    assert_eq!(sent_by(&play, sensor), expected);
    play.send(moved, "addChildren", Value::Nodes(children)).unwrap();
    play.advance(3.0).unwrap();
    assert_eq!(sent_by(&play, sensor).len(), 4);
    // Disabled, it says nothing; without volume neither; below a scale of 0 it has none.
    play.send(sensor, "enabled", Value::Bool(false)).unwrap();
    play.advance(4.0).unwrap();
    assert_eq!(sent_by(&play, sensor), []);
    play.send(sensor, "enabled", Value::Bool(true)).unwrap();
    play.send(sensor, "size", Value::Vec3(Vec3::new(9.0, 0.0, 9.0))).unwrap();
    play.advance(5.0).unwrap();
    assert_eq!(sent_by(&play, sensor), []);
    play.send(sensor, "size", Value::Vec3(Vec3::splat(9.0))).unwrap();
    play.send(moved, "scale", Value::Vec3(Vec3::ZERO)).unwrap();
    play.advance(6.0).unwrap();
    assert_eq!(sent_by(&play, sensor), []);
    play.view(DVec3::NAN, DQuat::IDENTITY);
    play.view(DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0));
    assert_eq!(play.problems(), [Problem::Viewer, Problem::Viewer]);
    assert_eq!(play.viewer(), Some((DVec3::new(20.0, 0.0, 0.0), DQuat::IDENTITY)));
}

const UP: Key = Key { value: 0x1013, state: 0 };

fn key_sensor(recipient: &str, value: Vec3) -> KeySensor {
    KeySensor {
        key_value: UP.value,
        key_state: UP.state,
        recipient: Arc::from(recipient),
        value,
        ..KeySensor::default()
    }
}

/// A car that can be pushed, and sensors in this order in the file (ids count backwards).
fn key_scene(sensors: Vec<KeySensor>) -> (Play, NodeId, Vec<NodeId>) {
    let mut scene = Scene::default();
    let mut ids: Vec<NodeId> = sensors.into_iter().rev().map(|node| scene.add(node)).collect();
    ids.reverse();
    let car = scene.add(Transform { velocity_vector: Vec3::X, ..Transform::default() });
    scene.name(car, "CAR");
    let group = scene.add(Group { children: vec![car].into(), ..Group::default() });
    scene.name(group, "GROUP");
    for &id in ids.iter().chain([&group]) {
        scene.add_root(id);
    }
    (Play::new(scene, 0.0).unwrap(), car, ids)
}

#[test]
fn keys_add_to_velocities_or_set_them() {
    let set = KeySensor { absolute_value: true, ..key_sensor("GROUP/CAR", Vec3::Z) };
    for (sensor, expected) in [(key_sensor("CAR", Vec3::X), Vec3::X * 2.0), (set, Vec3::Z)] {
        let (mut play, car, ids) = key_scene(vec![sensor]);
        assert!(!play.key(Key { value: UP.value + 1, state: 0 }));
        assert!(!play.key(Key { value: UP.value, state: 1 }));
        assert_eq!(events(&play), []);
        assert!(play.key(UP));
        let velocity = Value::Vec3(expected);
        assert_eq!(
            events(&play),
            [(0.0, car, "velocityVector", velocity), (0.0, ids[0], "keyHit", Value::Bool(true))]
        );
    }
}

#[test]
fn the_first_sensor_that_consumes_a_key_is_the_last_to_see_it() {
    let passing = KeySensor { consume: false, ..key_sensor("CAR", Vec3::X) };
    let disabled = KeySensor { enabled: false, ..key_sensor("CAR", Vec3::Z * 100.0) };
    let sensors = vec![
        passing.clone(),
        disabled,
        passing,
        key_sensor("CAR", Vec3::Y),
        key_sensor("CAR", Vec3::Z * 1000.0),
    ];
    let (mut play, car, ids) = key_scene(sensors);
    assert!(play.key(UP));
    assert_eq!(field(&play, car, "velocityVector"), Value::Vec3(Vec3::new(3.0, 1.0, 0.0)));
    let hits: Vec<NodeId> = events(&play)
        .into_iter()
        .filter(|event| event.2 == "keyHit")
        .map(|event| event.1)
        .collect();
    assert_eq!(hits, [ids[0], ids[2], ids[3]]);
    assert_eq!(sent_by(&play, car).len(), 3, "each push is sent");
    play.send(ids[3], "disable", Value::Bool(true)).unwrap();
    assert_eq!(field(&play, ids[3], "enabled"), Value::Bool(false));
    play.send(ids[4], "disable", Value::Bool(true)).unwrap();
    assert!(!play.key(UP), "those that are left do not consume");
    play.send(ids[3], "disable", Value::Bool(false)).unwrap();
    assert!(play.key(UP));
}

#[test]
fn a_recipient_that_is_not_there_is_reported_and_nothing_happens() {
    for path in ["MISSING", "GROUP"] {
        let (mut play, car, ids) =
            key_scene(vec![key_sensor(path, Vec3::X), key_sensor("CAR", Vec3::Y)]);
        assert!(play.key(UP));
        let path = path.to_string();
        assert_eq!(play.problems(), [Problem::NoRecipient { node: ids[0], path }]);
        assert_eq!(field(&play, car, "velocityVector"), Value::Vec3(Vec3::new(1.0, 1.0, 0.0)));
        assert_eq!(sent_by(&play, ids[0]), []);
    }
    let (mut play, _, ids) = key_scene(vec![key_sensor("", Vec3::X)]);
    assert!(play.key(UP));
    assert_eq!(sent_by(&play, ids[0]), [("keyHit", Value::Bool(true))]);
    assert_eq!(play.problems(), []);
    let (mut play, car, _) = key_scene(vec![key_sensor("CAR", Vec3::X * f32::MAX)]);
    play.key(UP);
    play.key(UP);
    assert_eq!(field(&play, car, "velocityVector"), Value::Vec3(Vec3::X * f32::MAX));
    assert!(matches!(play.problems(), [Problem::NotFinite { .. }]));
}

#[test]
fn a_recipient_may_be_a_prototype() {
    let mut scene = Scene::default();
    let sensor = scene.add(key_sensor("CAR", Vec3::Y));
    let body = scene.add(Transform::default());
    let instance = Instance { prototype: Arc::from("Car"), root: Some(body), others: vec![sensor] };
    let instance = scene.add(Kind::Instance(Box::new(instance)));
    scene.name(instance, "CAR");
    scene.add_root(instance);
    let mut play = Play::new(scene, 0.0).unwrap();
    assert!(play.key(UP));
    assert_eq!(field(&play, body, "velocityVector"), Value::Vec3(Vec3::Y));
}
