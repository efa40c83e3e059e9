//! The world is brought up to date with the scene at the cost of what has changed, and is the same
//! as after a new plan of the whole scene.

mod common;

use common::{send, stage_events, stage_of, vec3};
use glam::DVec3;
use jostle_scene::Value;
use jostle_stage::{Stage, SyncCounts};

/// Still boxes in a row, a moving box above them, and a node to force a new plan with.
fn hall(boxes: usize) -> Stage {
    let mut text = String::from(
        "DEF FORCE Switch {}
        DEF M Transform { translation 0 9 0 velocityVector 1 0 0
            children Shape { geometry DEF B Box {} } }",
    );
    for at in 0..boxes {
        text += &format!(
            "\nDEF S{at} Transform {{ translation {} 0 0 children Shape {{ geometry USE B }} }}",
            4 * at
        );
    }
    stage_of(&text)
}

/// An event of a node that is no `Transform`: the whole scene is planned again.
fn force_plan(stage: &mut Stage, step: usize) {
    send(stage, "FORCE", "whichChoice", Value::Int(step as i32 % 2));
}

#[test]
fn a_moving_body_in_a_large_still_scene_costs_one_comparison_per_step() {
    let mut stage = hall(300);
    assert_eq!(stage.sync_counts(), SyncCounts { plans: 1, compared: 301 });
    stage.step(0.1).unwrap();
    for _ in 0..5 {
        stage.step(0.1).unwrap();
        assert_eq!(stage.sync_counts(), SyncCounts { plans: 0, compared: 1 });
    }
    // The avatar has no body here, and its viewer changes nothing.
    stage.walk(DVec3::X);
    stage.step(0.1).unwrap();
    assert_eq!(stage.sync_counts(), SyncCounts { plans: 0, compared: 1 });
    force_plan(&mut stage, 0);
    stage.step(0.1).unwrap();
    assert_eq!(stage.sync_counts(), SyncCounts { plans: 1, compared: 301 });
}

#[test]
fn a_static_body_that_is_moved_needs_one_plan() {
    let mut stage = hall(10);
    stage.step(0.1).unwrap();
    for plans in [1, 0] {
        send(&mut stage, "S3", "translation", vec3(0.0, plans as f32, 7.0));
        stage.step(0.1).unwrap();
        let compared = if plans == 1 { 11 } else { 2 };
        assert_eq!(stage.sync_counts(), SyncCounts { plans, compared });
    }
    // A velocity makes it an object of its own.
    send(&mut stage, "S3", "velocityVector", vec3(0.0, 1.0, 0.0));
    stage.step(0.1).unwrap();
    assert_eq!(stage.sync_counts().plans, 1);
}

/// Drivers below a turned and stretched `Transform`, in each other and in a prototype; a route; a
/// wall; a viewpoint on a cart; an object of several bodies.
const MOVING: &str = "
    PROTO P [ exposedField SFVec3f at 0 0 0 ] {
        Transform { translation IS at velocityVector 0.25 0 0 children Shape { geometry Box {} } } }
    DEF FORCE Switch {}
    DEF OUTER Transform { rotation 0 0 1 0.5 scale 1 2 1 translation -6 0 0 children [
        DEF BALL Transform { velocityVector 2 -0.5 0 collisionResponse
            CollisionResponse { responseType 0 } children [
                Shape { geometry Sphere { radius 0.5 } }
                DEF INNER Transform { translation 0 2 0 velocityVector 0 0.125 0.1
                    children Shape { geometry Cone {} } } ] }
        P { at 0 5 0 } ] }
    Transform { translation 4 0 0 children Shape { geometry Box { size 2 40 40 } } }
    DEF CART Transform { translation 0 0 10 velocityVector 0 0 0.5 children [
        Viewpoint {} Shape { geometry Box {} } ] }
    NavigationInfo {}
    DEF CLOCK TimeSensor { cycleInterval 2 loop TRUE }
    DEF LINE PositionInterpolator { key [ 0, 0.5, 1 ] keyValue [ 0 9 0, 5 9 1, 0 9 0 ] }
    DEF ROBOT CollisionObject { children [
        DEF LIFT Transform { scale 1 1 2 children [ Shape { geometry Cylinder {} }
            DEF ARM Transform { translation 2 0 0 children Shape { geometry Box {} } } ] } ] }
    DEF SPIN OrientationInterpolator { key [ 0, 1 ] keyValue [ 0 1 0 0, 0 1 0 3 ] }
    ROUTE CLOCK.fraction_changed TO LINE.set_fraction
    ROUTE LINE.value_changed TO LIFT.set_translation
    ROUTE CLOCK.fraction_changed TO SPIN.set_fraction
    ROUTE SPIN.value_changed TO ARM.set_rotation";

#[test]
fn moved_bodies_are_where_a_new_plan_puts_them() {
    let (mut stage, mut planned) = (stage_of(MOVING), stage_of(MOVING));
    let (mut plans, mut events) = (0, 0);
    for step in 0..120 {
        force_plan(&mut planned, step);
        for stage in [&mut stage, &mut planned] {
            match step {
                20 => send(stage, "INNER", "rotation", common::rotation(0.0, 1.0, 0.0, 0.7)),
                30 => send(stage, "OUTER", "scale", vec3(1.5, 1.0, 0.5)),
                40 => send(stage, "CART", "velocityVector", vec3(0.0, 0.0, 0.0)),
                // The placement of the coordinates in which BALL and INNER move.
                50..60 => {
                    let angle = 0.1 * (step - 50) as f32;
                    send(stage, "OUTER", "rotation", common::rotation(0.0, 1.0, 0.0, angle));
                }
                70.. => stage.walk(DVec3::new(0.0, 0.01, 0.0)),
                _ => {}
            }
            stage.step(1.0 / 16.0).unwrap();
        }
        assert_eq!(stage.world().hash(), planned.world().hash(), "step {step}");
        assert_eq!(stage_events(&stage), stage_events(&planned), "step {step}");
        assert_eq!(stage.viewer(), planned.viewer(), "step {step}");
        assert!(planned.sync_counts().plans >= 1);
        plans += stage.sync_counts().plans;
        events += stage_events(&stage).len();
    }
    // While the cart moves the viewpoint, each step needs a plan; afterwards few do.
    assert!((40..50).contains(&plans) && events > 0, "{plans} plans, {events} events");
}
