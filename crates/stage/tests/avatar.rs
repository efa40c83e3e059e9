//! The avatar (row V6): "the radius around the avatar specified by the currently bound
//! NavigationInfo" (V-COLLIDE, section 4.1).

mod common;

use common::{events, node, send, stage_events, stage_of, stage_with, vec3};
use glam::DVec3;
use jostle_geom::ShapeKind;
use jostle_scene::Value;
use jostle_stage::{Stage, StageOptions};
use std::sync::Arc;

/// A wall at x from 4 to 6, and an avatar at the origin.
const ROOM: &str = "DEF NAV NavigationInfo { avatarSize [ 0.5, 1.6, 0.75 ] }
    DEF SMALL NavigationInfo { avatarSize [ 0.125 ] }
    DEF EYE Transform { children DEF VIEW Viewpoint { position 0 0 0 } }
    DEF OTHER Viewpoint { position 0 7 0 }
    DEF C Collision { children DEF WALL Transform { translation 5 0 0
      children Shape { geometry Box { size 2 20 20 } } } }";

fn radius(stage: &Stage) -> f64 {
    let shape = stage.world().shape(stage.avatar().unwrap()).unwrap();
    let ShapeKind::Sphere { radius } = shape.kind() else { panic!("{shape:?}") };
    radius
}

fn walk(stage: &mut Stage, x: f64) {
    stage.walk(DVec3::new(x, 0.0, 0.0));
    stage.step(0.25).unwrap();
    let place = stage.world().pose(stage.avatar().unwrap()).unwrap().translation();
    assert_eq!(place, stage.viewer().position);
}

#[test]
fn there_is_an_avatar_if_there_is_a_navigation_info() {
    assert_eq!(stage_of("Shape { geometry Box {} }").avatar(), None);
    let options = StageOptions { avatar: false, ..StageOptions::default() };
    assert_eq!(stage_with(ROOM, options).avatar(), None);
    assert_eq!(radius(&stage_of(ROOM)), 0.5);
    assert_eq!(radius(&stage_of("NavigationInfo {}")), 0.25);
    assert_eq!(radius(&stage_of("NavigationInfo { avatarSize [] }")), 0.25);
    assert_eq!(radius(&stage_of("NavigationInfo { avatarSize [ 0 ] }")), 0.0);
    // Without a viewpoint, the viewer is at the standard's default position (6.53).
    assert_eq!(stage_of("NavigationInfo {}").viewer().position, DVec3::new(0.0, 0.0, 10.0));
}

/// ISO/IEC 14772-1 allows 0 and more only; other values are ignored.
#[test]
fn an_invalid_avatar_size_is_reported_and_not_used() {
    let mut stage = stage_of("NavigationInfo { avatarSize [ -1 ] }");
    assert_eq!(radius(&stage), 0.25);
    assert_eq!(stage.problems().len(), 1, "{:?}", stage.problems());
    let info = stage.play().navigation().unwrap();
    let sizes = |radius| Value::Floats(Arc::new(vec![radius]));
    for size in [2.0, 1e38, -3.0, 0.5] {
        stage.play_mut().send(info, "avatarSize", sizes(size)).unwrap();
        stage.step(0.25).unwrap();
    }
    assert_eq!(radius(&stage), 0.5);
}

#[test]
fn an_avatar_that_walks_into_a_wall_stays_outside() {
    let mut stage = stage_of(ROOM);
    let mut sent = Vec::new();
    for _ in 0..10 {
        walk(&mut stage, 1.0);
        assert!(stage.viewer().position.x <= 3.5);
        sent.extend(events(&stage, "C", "collideTime"));
    }
    assert_eq!(stage.viewer().position, DVec3::new(3.0, 0.0, 0.0));
    assert!(!sent.is_empty());
    assert_eq!(sent[0], Value::Time(1.0));
    // Away again, and along the wall.
    walk(&mut stage, -2.0);
    assert_eq!(stage.viewer().position.x, 1.0);
    for nowhere in [f64::NAN, f64::INFINITY, 1e300] {
        stage.walk(DVec3::new(nowhere, 0.0, 0.0));
        stage.step(0.25).unwrap();
        assert_eq!(stage.viewer().position.x, 1.0);
    }
}

#[test]
fn the_avatar_grows_and_shrinks_with_its_navigation_info() {
    let mut stage = stage_of(ROOM);
    walk(&mut stage, 3.25);
    assert_eq!(radius(&stage), 0.5);
    send(&mut stage, "NAV", "avatarSize", Value::Floats(Arc::new(vec![1.0, 1.6])));
    stage.step(0.25).unwrap();
    assert_eq!(radius(&stage), 1.0);
    assert_eq!(stage_events(&stage), ["begin avatar C/WALL"]);
    send(&mut stage, "SMALL", "set_bind", Value::Bool(true));
    stage.step(0.25).unwrap();
    assert_eq!(radius(&stage), 0.125, "binding alone changes the size");
    assert_eq!(stage_events(&stage), ["end avatar C/WALL"]);
    send(&mut stage, "SMALL", "set_bind", Value::Bool(false));
    stage.step(0.25).unwrap();
    assert_eq!(radius(&stage), 1.0);
}

#[test]
fn binding_another_viewpoint_moves_the_avatar() {
    let mut stage = stage_of(ROOM);
    walk(&mut stage, 1.0);
    send(&mut stage, "OTHER", "set_bind", Value::Bool(true));
    stage.step(0.25).unwrap();
    let place = stage.world().pose(stage.avatar().unwrap()).unwrap().translation();
    assert_eq!(place.y, 7.0, "binding alone moves the avatar");
    assert_eq!(stage.viewer().position, place);
}

#[test]
fn the_avatar_passes_through_what_does_not_collide() {
    let mut stage = stage_of(ROOM);
    send(&mut stage, "C", "collide", Value::Bool(false));
    for _ in 0..10 {
        walk(&mut stage, 1.0);
        assert!(stage_events(&stage).is_empty());
    }
    assert_eq!(stage.viewer().position.x, 10.0);
    send(&mut stage, "C", "collide", Value::Bool(true));
    walk(&mut stage, -6.0);
    assert_eq!(stage.viewer().position.x, 10.0, "from behind");
    assert_eq!(events(&stage, "C", "collideTime").len(), 1);
}

#[test]
fn the_avatar_collides_with_the_proxy_and_objects_collide_with_the_children() {
    let text = format!(
        "{ROOM} DEF M Transform {{ translation 5 0 0 velocityVector 0 0.001 0
           children Shape {{ geometry Box {{ size 1 1 1 }} }} }}"
    );
    let proxied = text.replace(
        "Collision {",
        "Collision { proxy Transform { translation 2 0 0 children Shape { geometry Box {} } }",
    );
    let mut stage = stage_of(&proxied.replace("size 2 20 20", "size 0.5 0.5 0.5"));
    assert!(stage_events(&stage).is_empty(), "a small wall inside a box touches nothing");
    walk(&mut stage, 0.75);
    assert_eq!(stage.viewer().position.x, 0.0, "the proxy begins at 1");
    assert_eq!(events(&stage, "C", "collideTime").len(), 1);
    let stage = stage_of(&proxied.replace("size 1 1 1", "size 3 1 1"));
    assert_eq!(stage_events(&stage), ["begin C/WALL M"]);
}

#[test]
fn a_viewpoint_moves_with_its_transform() {
    let mut stage =
        stage_of(&ROOM.replace("EYE Transform {", "EYE Transform { velocityVector 1 2 0"));
    for _ in 0..3 {
        stage.step(0.5).unwrap();
    }
    // The cart moves in a step, and the avatar follows in the next.
    assert_eq!(stage.viewer().position, DVec3::new(1.0, 2.0, 0.0));
    walk(&mut stage, 0.5);
    assert!((stage.viewer().position - DVec3::new(2.0, 3.0, 0.0)).length() < 1e-12);
    for _ in 0..20 {
        stage.step(0.5).unwrap();
        assert!(stage.viewer().position.x <= 3.5 || stage.viewer().position.y > 10.0);
    }
}

#[test]
fn a_body_that_moves_into_the_avatar_is_reported() {
    let text = format!(
        "{ROOM} DEF M CollisionObject {{ children DEF T Transform {{ translation 0 -9 0
           children Shape {{ geometry Box {{}} }} }} }}"
    );
    let mut stage = stage_of(&text);
    send(&mut stage, "T", "translation", vec3(0.0, -1.25, 0.0));
    stage.step(0.25).unwrap();
    assert_eq!(stage_events(&stage), ["begin avatar M"]);
    assert_eq!(events(&stage, "M", "collideTime"), [Value::Time(0.25)]);
    // The avatar is no node, so it is not in `collideObjects`.
    let sent = events(&stage, "M", "collideObjects");
    assert!(sent.iter().all(|value| *value != common::nodes(&[node(&stage, "M")])), "{sent:?}");
}
