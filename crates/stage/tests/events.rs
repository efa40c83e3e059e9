//! Collisions are sent as events, and events change bodies (rows V5, V7, O10).

mod common;

use common::{
    at, body, events, names, node, nodes, only_touch, send, stage_events, stage_of, vec3,
};
use glam::DVec3;
use jostle_scene::Value;
use jostle_scene::nodes::Kind;
use jostle_stage::Stage;

/// Two objects, of which B is far away, and a third that the first ignores.
const OBJECTS: &str = "
    DEF A CollisionObject { children Transform { children Shape { geometry Box {} } }
      ignoredObjects DEF C CollisionObject { children DEF CT Transform {
        translation 0 50 0 children Shape { geometry Box {} } } } }
    USE C
    DEF B CollisionObject { children DEF BT Transform {
      translation 50 0 0 children Shape { geometry Box {} } } }";

fn put(stage: &mut Stage, name: &str, x: f32, y: f32) {
    send(stage, name, "translation", vec3(x, y, 0.0));
    stage.step(0.25).unwrap();
}

#[test]
fn objects_report_each_hit_once() {
    let mut stage = stage_of(OBJECTS);
    assert!(events(&stage, "A", "collideTime").is_empty());
    put(&mut stage, "BT", 1.5, 0.0);
    assert_eq!(stage_events(&stage), ["begin A B"]);
    for (one, other) in [("A", "B"), ("B", "A")] {
        assert_eq!(events(&stage, one, "collideTime"), [Value::Time(0.25)]);
        assert_eq!(events(&stage, one, "collideObjects"), [nodes(&[node(&stage, other)])]);
    }
    // They still touch: no new event.
    put(&mut stage, "BT", 1.25, 0.0);
    assert!(stage_events(&stage).is_empty() && only_touch(&stage, "A", "B"));
    assert!(events(&stage, "A", "collideTime").is_empty());
    put(&mut stage, "BT", 50.0, 0.0);
    assert_eq!(stage_events(&stage), ["end A B"]);
    assert!(events(&stage, "A", "collideTime").is_empty());
    put(&mut stage, "BT", 1.5, 0.0);
    assert_eq!(events(&stage, "B", "collideTime"), [Value::Time(1.0)]);
}

#[test]
fn an_object_that_hits_two_objects_reports_both() {
    let mut stage = stage_of(OBJECTS);
    let (a, b, c) = (node(&stage, "A"), node(&stage, "B"), node(&stage, "C"));
    send(&mut stage, "CT", "translation", vec3(3.0, 0.0, 0.0));
    put(&mut stage, "BT", 1.5, 0.0);
    let mut both = [a, c];
    both.sort();
    assert_eq!(events(&stage, "B", "collideObjects"), [nodes(&both)]);
    assert_eq!(events(&stage, "A", "collideObjects"), [nodes(&[b])]);
}

#[test]
fn contacts_of_the_initial_state_are_reported_at_the_start() {
    // Pairs of static bodies are not tested, so one of them is movable.
    let moves = "DEF P PositionInterpolator {} ROUTE P.value_changed TO BT.set_translation";
    let stage = stage_of(&format!("{OBJECTS} {moves}").replace("50 0 0", "1 0 0"));
    assert_eq!(events(&stage, "A", "collideTime"), [Value::Time(0.0)]);
    assert_eq!(stage_events(&stage), ["begin A B"]);
}

#[test]
fn hits_of_parts_with_velocities_or_interests_are_reported_for_their_object() {
    let text = "DEF A CollisionObject { children DEF T Transform {
          velocityVector 1 0 0 children Shape { geometry Box {} } } }
        DEF B CollisionObject { children DEF S Transform {
          translation 3 0 0 children Shape { geometry Box {} } } }
        CollisionInterest { objectPath \"T\" interests \"S\" collisionType 1 }";
    let mut stage = stage_of(text);
    stage.step(1.0).unwrap();
    assert_eq!(events(&stage, "A", "collideObjects"), [nodes(&[node(&stage, "B")])]);
    assert_eq!(events(&stage, "B", "collideObjects"), [nodes(&[node(&stage, "A")])]);
    // An object is ignored with all its parts.
    let (a, b) = (node(&stage, "A"), node(&stage, "B"));
    stage.play_mut().send(a, "addIgnoredObjects", nodes(&[b])).unwrap();
    stage.step(0.25).unwrap();
    assert_eq!(stage_events(&stage), ["end A B"]);
}

#[test]
fn ignored_objects_may_change() {
    let mut stage = stage_of(OBJECTS);
    let (a, b, c) = (node(&stage, "A"), node(&stage, "B"), node(&stage, "C"));
    put(&mut stage, "CT", 0.0, 1.5);
    assert!(stage_events(&stage).is_empty());
    stage.play_mut().send(a, "removeIgnoredObjects", nodes(&[c])).unwrap();
    stage.step(0.25).unwrap();
    assert_eq!(stage_events(&stage), ["begin A C"]);
    put(&mut stage, "BT", 1.5, 0.0);
    assert_eq!(stage_events(&stage).len(), 2, "{:?}", stage_events(&stage));
    // It suffices that one of two ignores the other.
    stage.play_mut().send(b, "addIgnoredObjects", nodes(&[a, c])).unwrap();
    stage.step(0.25).unwrap();
    assert!(only_touch(&stage, "A", "C"));
    stage.play_mut().send(b, "ignoredObjects", nodes(&[c])).unwrap();
    stage.step(0.25).unwrap();
    assert_eq!(stage_events(&stage), ["begin A B"]);
}

#[test]
fn an_object_with_collide_false_is_not_tested() {
    let mut stage = stage_of(OBJECTS);
    put(&mut stage, "BT", 1.5, 0.0);
    for _ in 0..2 {
        send(&mut stage, "A", "collide", Value::Bool(false));
        stage.step(0.25).unwrap();
        assert_eq!(
            stage_events(&stage),
            ["end A B"],
            "its event has its name although it is removed"
        );
        send(&mut stage, "A", "set_collide", Value::Bool(true));
        stage.step(0.25).unwrap();
        assert_eq!(stage_events(&stage), ["begin A B"]);
    }
}

#[test]
fn a_collision_may_start_a_time_sensor_that_moves_a_body() {
    let text = format!(
        "{OBJECTS} DEF CLOCK TimeSensor {{ cycleInterval 1 }}
         DEF P PositionInterpolator {{ key [ 0 1 ] keyValue [ 0 0 0, 0 0 8 ] }}
         DEF D Transform {{ children Shape {{ geometry Sphere {{}} }} }}
         ROUTE A.collideTime TO CLOCK.set_startTime
         ROUTE CLOCK.fraction_changed TO P.set_fraction
         ROUTE P.value_changed TO D.set_translation"
    );
    let mut stage = stage_of(&text.replace("50 0 0", "9 0 0"));
    // D is in A from the beginning.
    stage.step(0.0).unwrap();
    stage.step(0.5).unwrap();
    assert_eq!(at(&stage, "D"), DVec3::new(0.0, 0.0, 4.0));
    let mut stage = stage_of(&text.replace("children Shape { geometry Sphere {} }", ""));
    stage.step(1.0).unwrap();
    put(&mut stage, "BT", 1.5, 0.0);
    stage.step(0.75).unwrap();
    assert_eq!(common::transform(&stage, "D").translation.z, 6.0);
}

#[test]
fn transforms_report_when_they_begin_and_cease_to_collide() {
    let mut stage = stage_of(
        "DEF A Transform { velocityVector 1 0 0 children Shape { geometry Box {} } }
         DEF WALL Transform { translation 4 0 0 children Shape { geometry Box {} } }",
    );
    let mut reported = Vec::new();
    for step in 1..=8 {
        stage.step(1.0).unwrap();
        reported.extend(events(&stage, "A", "notColliding").into_iter().map(|value| (step, value)));
        assert!(events(&stage, "WALL", "notColliding").is_empty(), "it has no interest");
    }
    assert_eq!(reported, [(2, Value::Bool(false)), (7, Value::Bool(true))]);
}

#[test]
fn the_choice_of_a_switch_is_tested() {
    let mut stage = stage_of(
        "DEF M Transform { velocityVector 0 0 0.001 children Shape { geometry Box {} } }
         DEF S Switch { choice [
           DEF ONE Transform { translation 1 0 0 children Shape { geometry Box {} } }
           DEF TWO Transform { translation 0 1 0 children Shape { geometry Box {} } } ] }",
    );
    let reported = [
        (-1, &[][..]),
        (0, &["begin M S/ONE"]),
        (1, &["begin M S/TWO", "end M S/ONE"]),
        (7, &["end M S/TWO"]),
        (1, &["begin M S/TWO"]),
        (0, &["begin M S/ONE", "end M S/TWO"]),
        (-1, &["end M S/ONE"]),
    ];
    for (choice, expected) in reported {
        send(&mut stage, "S", "whichChoice", Value::Int(choice));
        stage.step(0.25).unwrap();
        let mut found = stage_events(&stage);
        found.sort();
        assert_eq!(found, expected, "choice {choice}");
    }
    assert_eq!(names(&stage), ["M", "S/ONE", "S/TWO"]);
}

#[test]
fn a_closer_viewpoint_selects_another_level() {
    let mut stage = stage_of(
        "DEF M Transform { velocityVector 0 0 0.001 children Shape { geometry Box {} } }
         LOD { range [ 10 ] level [
           DEF NEAR Transform { children Shape { geometry Box {} } }
           DEF FAR Transform { children Shape { geometry Box { size 9 9 9 } } } ] }
         DEF EYE Transform { translation 0 0 30 children Viewpoint { position 0 0 0 } }",
    );
    // Inside the large box nothing touches.
    assert!(stage_events(&stage).is_empty());
    put(&mut stage, "EYE", 0.0, 5.0);
    assert_eq!(stage_events(&stage), ["begin M NEAR"]);
    put(&mut stage, "EYE", 0.0, 15.0);
    assert_eq!(stage_events(&stage), ["end M NEAR"]);
}

#[test]
fn bodies_are_inserted_and_removed_with_their_nodes() {
    let mut stage = stage_of(
        "DEF M Transform { velocityVector 0 0 0.001 children Shape { geometry Box {} } }
         DEF G Group { children DEF A Transform { children Shape { geometry Box {} } } }
         DEF OUT Switch { choice DEF B Transform { translation 1 0 0
           children Shape { geometry Box {} } } }",
    );
    let (a, b) = (node(&stage, "A"), node(&stage, "B"));
    assert_eq!(names(&stage), ["G/A", "M", "OUT/B"]);
    send(&mut stage, "G", "removeChildren", nodes(&[a]));
    stage.step(0.25).unwrap();
    assert_eq!(stage_events(&stage), ["end M G/A"]);
    assert_eq!(names(&stage), ["M", "OUT/B"]);
    send(&mut stage, "G", "addChildren", nodes(&[a, b]));
    stage.step(0.25).unwrap();
    assert_eq!(names(&stage), ["G/A", "G/B", "M", "OUT/B"]);
    assert_eq!(stage_events(&stage), ["begin M G/A", "begin M G/B"]);
    send(&mut stage, "G", "set_children", nodes(&[]));
    stage.step(0.25).unwrap();
    assert_eq!(stage_events(&stage).len(), 2);
    assert_eq!(names(&stage), ["M", "OUT/B"]);
    stage.step(0.25).unwrap();
    assert!(stage_events(&stage).is_empty());
}

#[test]
fn a_shape_follows_its_coordinates() {
    let mut stage = stage_of(
        "DEF M Transform { translation 5 0 0 velocityVector 0 0 0.001
           children Shape { geometry Box {} } }
         DEF S Transform { children Shape { geometry IndexedFaceSet {
           coord DEF C Coordinate { point [ 0 0 0, 1 0 0, 0 1 0 ] } coordIndex [ 0 1 2 ] } } }
         DEF CLOCK TimeSensor { cycleInterval 4 loop TRUE }
         DEF P CoordinateInterpolator { key [ 0 1 ]
           keyValue [ 0 0 0, 1 0 0, 0 1 0,  0 0 0, 9 0 0, 0 1 0 ] }
         ROUTE CLOCK.fraction_changed TO P.set_fraction
         ROUTE P.value_changed TO C.set_point",
    );
    let id = body(&stage, "S");
    // The tip is at 1 + 2 t and the box begins at 4.
    for (time, expected) in [(1.0, ""), (1.25, ""), (1.75, "begin M S"), (4.25, "end M S")] {
        stage.step(time - stage.play().now()).unwrap();
        assert_eq!(stage_events(&stage).join(", "), expected, "after {time} s");
        assert_eq!(body(&stage, "S"), id, "it is the same body");
    }
    // Other faces and no faces.
    let scene = stage.play().scene();
    let face_set =
        scene.nodes().find(|(_, n)| matches!(n.kind, Kind::IndexedFaceSet(_))).unwrap().0;
    let list = |list: Vec<i32>| Value::Ints(std::sync::Arc::new(list));
    stage.play_mut().send(face_set, "set_coordIndex", list(vec![])).unwrap();
    stage.step(1.5).unwrap();
    assert_eq!(names(&stage), ["M"]);
    stage.play_mut().send(face_set, "set_coordIndex", list(vec![2, 1, 0])).unwrap();
    stage.step(0.25).unwrap();
    assert_eq!(stage_events(&stage), ["begin M S"]);
}

/// Nothing in the file moves the Transform; an event does.
#[test]
fn a_static_body_that_is_moved_is_no_longer_static() {
    let mut stage = stage_of(
        "DEF A Transform { children Shape { geometry Box {} } }
         DEF B Transform { children [ Shape { geometry Box {} }
           DEF INNER Transform { translation 0 0 9 children Shape { geometry Box {} } } ] }",
    );
    assert!(stage_events(&stage).is_empty());
    send(&mut stage, "B", "translation", vec3(0.5, 0.0, 0.0));
    stage.step(0.25).unwrap();
    assert_eq!(stage_events(&stage), ["begin A B"]);
    assert_eq!(at(&stage, "B/INNER"), DVec3::new(0.5, 0.0, 9.0));
    send(&mut stage, "B", "velocityVector", vec3(4.0, 0.0, 0.0));
    stage.step(1.0).unwrap();
    assert_eq!(stage_events(&stage), ["end A B"]);
    assert_eq!(common::transform(&stage, "B").translation.x, 4.5);
}
