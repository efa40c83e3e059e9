//! `KeySensor`: keys that change velocities (Ohlenburg 2003, appendix C.3).

mod common;

use common::{at, events, send, stage_of, transform};
use glam::{DVec3, Vec3};
use jostle_scene::{Key, Value};
use jostle_stage::Stage;

/// A cart that only keys can move.
fn cart(sensors: &str) -> Stage {
    stage_of(&format!("DEF CART Transform {{ children Shape {{ geometry Box {{}} }} }} {sensors}"))
}

fn press(stage: &mut Stage, value: i32, state: i32) -> (bool, Vec3) {
    let consumed = stage.play_mut().key(Key { value, state });
    stage.step(1.0).unwrap();
    (consumed, transform(stage, "CART").velocity_vector)
}

#[test]
fn a_key_adds_to_a_velocity_or_sets_it() {
    let mut stage = cart(
        "DEF K KeySensor { keyValue 1 recipient \"CART\" value 1 0 0 }
         KeySensor { keyValue 2 recipient \"CART\" value 0 0 5 absoluteValue TRUE }
         KeySensor { keyValue 1 keyState 256 recipient \"CART\" value 0 7 0 }",
    );
    assert_eq!(press(&mut stage, 1, 0), (true, Vec3::new(1.0, 0.0, 0.0)));
    assert_eq!(at(&stage, "CART"), DVec3::X, "the step after the key feels it");
    assert_eq!(press(&mut stage, 1, 0), (true, Vec3::new(2.0, 0.0, 0.0)));
    assert_eq!(at(&stage, "CART"), DVec3::X * 3.0);
    assert_eq!(press(&mut stage, 3, 0), (false, Vec3::new(2.0, 0.0, 0.0)));
    assert_eq!(press(&mut stage, 1, 256), (true, Vec3::new(2.0, 7.0, 0.0)));
    assert_eq!(press(&mut stage, 2, 0), (true, Vec3::new(0.0, 0.0, 5.0)));
}

#[test]
fn a_consumed_key_does_not_reach_other_sensors() {
    for (consume, expected) in [("TRUE", Vec3::X), ("FALSE", Vec3::new(1.0, 1.0, 0.0))] {
        let mut stage = cart(&format!(
            "DEF K KeySensor {{ keyValue 1 recipient \"CART\" value 1 0 0 consume {consume} }}
             DEF L KeySensor {{ keyValue 1 recipient \"CART\" value 0 1 0 consume FALSE }}"
        ));
        assert_eq!(press(&mut stage, 1, 0), (consume == "TRUE", expected));
    }
}

#[test]
fn a_sensor_may_be_disabled_and_reports_hits() {
    let mut stage = cart("DEF K KeySensor { keyValue 1 recipient \"CART\" value 1 0 0 }");
    let key = Key { value: 1, state: 0 };
    assert!(stage.play_mut().key(key));
    assert_eq!(events(&stage, "K", "keyHit"), [Value::Bool(true)]);
    send(&mut stage, "K", "enabled", Value::Bool(false));
    assert!(!stage.play_mut().key(key));
    stage.step(1.0).unwrap();
    assert_eq!(transform(&stage, "CART").velocity_vector, Vec3::X);
}

#[test]
fn a_missing_recipient_is_reported() {
    for recipient in ["MISSING", "K", "S"] {
        let mut stage = cart(&format!(
            "DEF K KeySensor {{ keyValue 1 recipient \"{recipient}\" value 1 0 0 }}
             DEF S Shape {{}}"
        ));
        let [problem] = stage.problems() else { panic!("{:?}", stage.problems()) };
        assert!(problem.contains(recipient) && problem.contains("line 2"), "{problem}");
        assert!(!stage.play_mut().key(Key { value: 1, state: 0 }));
        assert_eq!(stage.play().problems().len(), 1, "{recipient}");
        stage.step(1.0).unwrap();
    }
}

/// Ohlenburg's sensor may be a mere signal that moves no node.
#[test]
fn a_sensor_without_a_recipient_is_valid() {
    let mut stage = cart("DEF K KeySensor { keyValue 1 }");
    assert_eq!(stage.problems(), [""; 0]);
    assert!(stage.play_mut().key(Key { value: 1, state: 0 }));
    assert_eq!(events(&stage, "K", "keyHit"), [Value::Bool(true)]);
}

#[test]
fn a_recipient_may_be_an_instance_of_a_prototype() {
    let mut stage = stage_of(
        "PROTO P [] { Transform { rotation 0 0 1 1 children Shape { geometry Box {} } } }
         DEF CAR Group { children DEF CART P {} }
         KeySensor { keyValue 1 recipient \"CAR/CART\" value 1 0 0 }",
    );
    assert_eq!(stage.problems(), [""; 0]);
    assert_eq!(press(&mut stage, 1, 0), (true, Vec3::X));
    assert_eq!(at(&stage, "CAR/CART"), DVec3::X);
}
