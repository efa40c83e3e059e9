//! Velocities and responses of Transforms (Ohlenburg 2003, appendix C.2 and C.5; row O10).

mod common;

use common::{
    at, events, node, send, stage_events, stage_of, stage_with, touching, transform, vec3,
};
use glam::{DVec3, Vec3};
use jostle_scene::Value;
use jostle_stage::{Stage, StageOptions};

const WALL: &str = "DEF WALL Transform { translation 5 0 0
    children Shape { geometry Box { size 2 20 20 } } }\n";

/// A ball that moves towards the wall, with a response.
fn thrown(velocity: &str, response: &str) -> Stage {
    stage_of(&format!(
        "{WALL} DEF A Transform {{ velocityVector {velocity} {response}
           children Shape {{ geometry Box {{ size 1 1 1 }} }} }}"
    ))
}

fn steps(stage: &mut Stage, count: usize, seconds: f64) {
    for _ in 0..count {
        stage.step(seconds).unwrap();
    }
}

#[test]
fn without_a_response_a_body_goes_through() {
    let mut stage = thrown("2 0.5 -0.25", "");
    steps(&mut stage, 8, 0.5);
    assert_eq!(at(&stage, "A"), DVec3::new(8.0, 2.0, -1.0));
    assert_eq!(transform(&stage, "A").translation, Vec3::new(8.0, 2.0, -1.0));
}

#[test]
fn bouncing_mirrors_the_velocity_at_the_wall() {
    let mut stage = thrown("2 0.3 -0.7", "collisionResponse CollisionResponse { responseType 0 }");
    let mut turned = None;
    for step in 1..=8 {
        stage.step(0.5).unwrap();
        assert!(at(&stage, "A").x <= 3.5, "step {step}");
        let sent = events(&stage, "A", "velocityVector");
        if !sent.is_empty() {
            assert_eq!(sent, [vec3(-2.0, 0.3, -0.7)]);
            assert_eq!(turned.replace(step), None, "it turns once");
            // Set back to the last pose at which it touched nothing.
            assert_eq!(transform(&stage, "A").translation, Vec3::new(3.0, 0.45000002, -1.05));
            assert!(events(&stage, "A", "translation").is_empty());
        } else {
            assert_eq!(events(&stage, "A", "translation").len(), 1);
        }
    }
    assert_eq!(turned, Some(4));
    assert_eq!(transform(&stage, "A").velocity_vector, Vec3::new(-2.0, 0.3, -0.7));
    assert_eq!(transform(&stage, "A").translation.x, -1.0);
}

#[test]
fn stop_stops_with_and_without_set_back() {
    for (set_back, place) in [("TRUE", 3.0), ("FALSE", 4.0)] {
        let response =
            format!("collisionResponse CollisionResponse {{ responseType 1 setBack {set_back} }}");
        let mut stage = thrown("2 0 0", &response);
        steps(&mut stage, 20, 0.5);
        assert_eq!(transform(&stage, "A").velocity_vector, Vec3::ZERO, "{set_back}");
        assert_eq!(transform(&stage, "A").translation.x, place, "{set_back}");
        assert_eq!(touching(&stage).is_empty(), set_back == "TRUE");
    }
}

#[test]
fn bouncing_without_set_back_leaves_the_wall_too() {
    let response = "collisionResponse CollisionResponse { responseType 0 setBack FALSE }";
    let mut stage = thrown("2 0 0", response);
    steps(&mut stage, 5, 0.5);
    assert_eq!(transform(&stage, "A").velocity_vector, Vec3::new(-2.0, 0.0, 0.0));
    assert_eq!(transform(&stage, "A").translation.x, 3.0);
    steps(&mut stage, 5, 0.5);
    assert_eq!(transform(&stage, "A").translation.x, -2.0);
}

#[test]
fn a_response_of_an_unknown_type_keeps_the_velocity() {
    let mut stage = thrown("2 0 0", "collisionResponse CollisionResponse { responseType 9 }");
    steps(&mut stage, 20, 0.5);
    assert_eq!(transform(&stage, "A").velocity_vector, Vec3::new(2.0, 0.0, 0.0));
    assert_eq!(transform(&stage, "A").translation.x, 3.0);
}

/// The velocity and the translation are in the coordinates around the Transform.
#[test]
fn velocities_are_those_of_the_parent() {
    // A quarter turn about z and twice as large: x becomes 2 y.
    let text = "DEF WALL Transform { translation 0 10 0
          children Shape { geometry Box { size 20 2 20 } } }
        Transform { rotation 0 0 1 1.5707963 scale 2 2 2 children
          DEF A Transform { rotation 1 2 3 0.5 velocityVector 1 0 0
            collisionResponse CollisionResponse {}
            children Shape { geometry Box { size 0.5 0.5 0.5 } } } }";
    let mut stage = stage_of(text);
    stage.step(1.0).unwrap();
    let place = stage.world().pose(stage.world().ids().last().unwrap()).unwrap().translation();
    assert!((place - DVec3::new(0.0, 2.0, 0.0)).length() < 1e-6, "{place}");
    assert_eq!(transform(&stage, "A").translation, Vec3::X);
    steps(&mut stage, 20, 0.25);
    let bounced = transform(&stage, "A");
    assert!((bounced.velocity_vector - Vec3::NEG_X).length() < 1e-6, "{bounced:?}");
    assert!(bounced.translation.x < 4.2, "{bounced:?}");
}

/// The instance is on the path and has no placement of its own.
#[test]
fn velocities_are_those_of_the_parent_in_a_prototype_too() {
    let mut stage = stage_of(
        "PROTO P [] { Transform { rotation 0 0 1 1.5707963 velocityVector 1 0 0
           children Shape { geometry Box {} } } }
         DEF OTHER Transform { translation 9 9 9 children Shape { geometry Box {} } }
         DEF A P {}
         Transform { rotation 0 1 0 3.1415927 children DEF B P {} }",
    );
    stage.step(1.0).unwrap();
    for (name, x) in [("A", 1.0), ("B", -1.0)] {
        let place = at(&stage, name);
        assert!((place - DVec3::new(x, 0.0, 0.0)).length() < 1e-6, "{name}: {place}");
        assert_eq!(transform(&stage, name).translation, Vec3::X, "{name}");
    }
}

/// A rod slides out of a box and hits a wall: all bodies of the driver stop, and stay together.
#[test]
fn a_driver_of_several_bodies_responds_as_a_whole() {
    let text = format!(
        "{WALL} DEF A Transform {{ velocityVector 1 0 0
           collisionResponse CollisionResponse {{ responseType 1 }}
           children [ Shape {{ geometry Box {{ size 1 1 1 }} }}
             DEF ROD Transform {{ translation 1 0 0 children
               Shape {{ geometry Box {{ size 1 0.1 0.1 }} }} }} ] }}
         DEF P PositionInterpolator {{}} ROUTE P.value_changed TO ROD.set_translation"
    );
    let mut stage = stage_of(&text);
    let places = |stage: &Stage| -> Vec<DVec3> {
        let ids = stage.world().ids().filter(|&id| stage.name(id) == "A");
        ids.map(|id| stage.world().pose(id).unwrap().translation()).collect()
    };
    for step in 0..12 {
        stage.step(0.5).unwrap();
        let places = places(&stage);
        assert_eq!(places.len(), 2);
        assert_eq!(places[1] - places[0], DVec3::X, "step {step}: {places:?}");
    }
    // The rod ends 1.5 before the middle of the box, the wall begins at 4.
    assert_eq!(transform(&stage, "A").translation, Vec3::new(2.0, 0.0, 0.0));
    assert_eq!(transform(&stage, "A").velocity_vector, Vec3::ZERO);
    // Events move it back and give it another velocity.
    send(&mut stage, "ROD", "translation", vec3(0.0, 0.0, 0.0));
    send(&mut stage, "A", "velocityVector", vec3(1.0, 0.0, 0.0));
    steps(&mut stage, 10, 0.5);
    assert_eq!(transform(&stage, "A").translation, Vec3::new(3.0, 0.0, 0.0));
}

#[test]
fn bodies_of_a_driver_bounce_together() {
    let text = format!(
        "{WALL} DEF A Transform {{ velocityVector 1 0 0 collisionResponse CollisionResponse {{}}
           children [ Shape {{ geometry Box {{ size 1 1 1 }} }}
             DEF ROD Transform {{ translation 1 0 0 children
               Shape {{ geometry Box {{ size 1 0.1 0.1 }} }} }} ] }}
         DEF P PositionInterpolator {{}} ROUTE P.value_changed TO ROD.set_translation"
    );
    let mut stage = stage_of(&text);
    steps(&mut stage, 20, 0.375);
    assert_eq!(transform(&stage, "A").velocity_vector, Vec3::NEG_X);
    let places: Vec<f64> = stage
        .world()
        .ids()
        .filter(|&id| stage.name(id) == "A")
        .map(|id| stage.world().pose(id).unwrap().translation().x)
        .collect();
    assert_eq!(places[1] - places[0], 1.0, "{places:?}");
    assert_eq!(f64::from(transform(&stage, "A").translation.x), places[0]);
}

/// A step of 1e-5 is lost in the last digit of 1000, which is 6e-5.
#[test]
fn slow_bodies_far_from_the_origin_move() {
    let mut stage = stage_of(
        "DEF A Transform { translation 1000 0 0 velocityVector 1e-5 0 0
           children Shape { geometry Box {} } }",
    );
    steps(&mut stage, 1000, 1.0);
    let moved = at(&stage, "A").x - 1000.0;
    assert!((moved - 0.01).abs() < 1e-8, "{moved}");
    let field = transform(&stage, "A").translation.x;
    assert!((f64::from(field) - 1000.01).abs() < 1e-4, "{field}");
    // An event moves it elsewhere: it continues from there.
    send(&mut stage, "A", "translation", vec3(0.0, 0.0, 0.0));
    steps(&mut stage, 1, 1.0);
    assert!((at(&stage, "A").x - 1e-5).abs() < 1e-12);
}

#[test]
fn a_route_may_listen_to_what_moves() {
    let mut stage = stage_of(
        "DEF A Transform { velocityVector 1 0 0 children Shape { geometry Box {} } }
         DEF SHADOW Transform { children Transform { translation 0 -5 0
           children DEF S Shape { geometry Box {} } } }
         ROUTE A.translation_changed TO SHADOW.set_translation",
    );
    stage.step(1.0).unwrap();
    assert_eq!(transform(&stage, "SHADOW").translation, Vec3::X);
    assert_eq!(events(&stage, "A", "translation"), [vec3(1.0, 0.0, 0.0)]);
}

#[test]
fn a_velocity_without_a_shape_moves_too() {
    let mut stage = stage_of(
        "Transform { rotation 0 0 1 1.5707963 children DEF A Transform { velocityVector 1 0 0
           children DEF B Transform { velocityVector 0 1 0
             children Shape { geometry Box {} } } } }",
    );
    steps(&mut stage, 4, 0.5);
    assert_eq!(transform(&stage, "A").translation, Vec3::new(2.0, 0.0, 0.0));
    let inner = transform(&stage, "B").translation;
    assert!((inner - Vec3::new(0.0, 2.0, 0.0)).length() < 1e-6, "{inner}");
}

#[test]
fn a_velocity_may_come_by_a_route_and_a_response_by_an_event() {
    let mut stage = stage_of(&format!(
        "{WALL} DEF A Transform {{ children Shape {{ geometry Box {{ size 1 1 1 }} }} }}
         DEF HOLDER Transform {{ collisionResponse DEF R CollisionResponse {{ responseType 1 }} }}"
    ));
    let scene = stage.play().scene();
    let response = match &scene.node(node(&stage, "HOLDER")).kind {
        jostle_scene::nodes::Kind::Transform(node) => node.collision_response,
        _ => None,
    };
    send(&mut stage, "A", "collisionResponse", Value::Node(response));
    send(&mut stage, "A", "velocityVector", vec3(2.0, 0.0, 0.0));
    steps(&mut stage, 10, 0.5);
    assert_eq!(transform(&stage, "A").translation.x, 3.0);
    assert_eq!(transform(&stage, "A").velocity_vector, Vec3::ZERO);
}

#[test]
fn continuous_motion_stops_at_a_thin_wall() {
    let text = "DEF WALL Transform { translation 5 0 0
          children Shape { geometry Box { size 0.01 20 20 } } }
        DEF A Transform { velocityVector 1000 0 0
          collisionResponse CollisionResponse { responseType 1 }
          children Shape { geometry Box { size 1 1 1 } } }";
    let mut through = stage_of(text);
    through.step(1.0).unwrap();
    assert!(at(&through, "A").x > 900.0);
    let mut stage = stage_with(text, StageOptions { continuous: true, ..StageOptions::default() });
    stage.step(1.0).unwrap();
    let met = stage_events(&stage).iter().filter(|line| line.starts_with("meet")).count();
    assert_eq!(met, 1, "{:?}", stage_events(&stage));
    for _ in 0..10 {
        stage.step(1.0).unwrap();
        let x = at(&stage, "A").x;
        assert!(x < 4.5 && x > 4.4, "{x}");
    }
}

/// A route could move it from the start; its velocity is set later, from outside.
#[test]
fn continuous_motion_applies_to_velocities_that_are_set_later() {
    let text = "DEF WALL Transform { translation 5 0 0
          children Shape { geometry Box { size 0.01 20 20 } } }
        DEF A Transform { children Shape { geometry Box { size 1 1 1 } } }
        DEF P PositionInterpolator {} ROUTE P.value_changed TO A.set_translation";
    let mut stage = stage_with(text, StageOptions { continuous: true, ..StageOptions::default() });
    send(&mut stage, "A", "velocityVector", vec3(1000.0, 0.0, 0.0));
    stage.step(1.0).unwrap();
    assert!(at(&stage, "A").x < 5.0, "{}", at(&stage, "A"));
}

/// The fields are rounded, the bodies are not: a field that is written back must not push a body
/// into the one that has stopped it.
#[test]
fn positions_keep_double_precision_in_the_world() {
    let mut stage = stage_of(
        "Transform { rotation 0 0 1 0.7 scale 3 3 3 children
           DEF A Transform { translation 12345 0.1 7 velocityVector 0.001 0.0003 -0.0007
             children Shape { geometry Box {} } } }",
    );
    let id = stage.world().ids().next().unwrap();
    let begin = stage.world().pose(id).unwrap().translation();
    let velocity = stage.world().velocity(id).unwrap().linear;
    for step in 1..=500 {
        stage.step(0.125).unwrap();
        let place = stage.world().pose(id).unwrap().translation();
        let expected = begin + velocity * 0.125 * f64::from(step);
        assert!((place - expected).length() < 1e-8, "step {step}: {}", place - expected);
    }
}
