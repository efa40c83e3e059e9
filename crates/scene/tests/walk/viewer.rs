//! Billboards and levels of detail at places where the answer is known.

use super::*;
use glam::DQuat;
use jostle_scene::nodes::{Billboard, Kind, Lod, Shape, Switch};
use jostle_scene::{LodRule, NodeId, Scene, Viewer, walk};
use std::sync::Arc;

/// A scene of one node with shapes inside, below a transform.
fn scene_of(outer: Transform, node: impl FnOnce(Vec<NodeId>) -> Kind) -> Scene {
    let mut scene = Scene::default();
    let shapes = (0..3).map(|_| scene.add(Shape::default())).collect();
    let node = scene.add(node(shapes));
    let top = scene.add(Transform { children: Arc::new(vec![node]), ..outer });
    scene.add_root(top);
    scene
}

fn shown(scene: &Scene, viewer: &Viewer, lod: LodRule) -> Vec<usize> {
    let mut shown = Vec::new();
    walk(scene, viewer, lod, &mut |visit| {
        if matches!(scene.kind(visit.node()), Some(Kind::Shape(_))) && visit.active {
            shown.push(visit.node().index());
        }
    })
    .unwrap();
    shown
}

fn at(x: f64, y: f64, z: f64) -> Viewer {
    Viewer { position: DVec3::new(x, y, z), orientation: DQuat::IDENTITY }
}

#[test]
fn levels_follow_the_distance_in_local_coordinates() {
    let lod = |levels: usize, range: &[f32]| {
        let range = Arc::new(range.to_vec());
        move |mut level: Vec<NodeId>| -> Kind {
            level.truncate(levels);
            Lod { level: Arc::new(level), center: Vec3::X, range }.into()
        }
    };
    let doubled =
        || Transform { scale: Vec3::splat(2.0), translation: Vec3::X, ..Transform::default() };
    // The centre is at x = 3 in the world, and distances are half as large inside.
    let scene = scene_of(doubled(), lod(3, &[1.0, 4.0]));
    let level = |viewer: &Viewer| shown(&scene, viewer, LodRule::ByViewer);
    assert_eq!(level(&at(3.0, 0.0, 0.0)), [0]);
    assert_eq!(level(&at(3.0, 0.0, 1.9)), [0]);
    assert_eq!(level(&at(3.0, 0.0, 2.0)), [1]);
    assert_eq!(level(&at(3.0, 7.9, 0.0)), [1]);
    assert_eq!(level(&at(3.0, 8.0, 0.0)), [2]);
    assert_eq!(shown(&scene, &at(3.0, 8.0, 0.0), LodRule::Finest), [0]);
    let far = at(1e9, 0.0, 0.0);
    let last = |levels, range: &[f32]| {
        shown(&scene_of(doubled(), lod(levels, range)), &far, LodRule::ByViewer)
    };
    assert_eq!(last(3, &[]), [0], "without ranges the finest");
    assert_eq!(last(3, &[1.0]), [1], "more levels than ranges are ignored");
    assert_eq!(last(2, &[1.0, 2.0, 3.0]), [1], "too few levels: the last");
    assert_eq!(last(0, &[1.0]), [0usize; 0]);
    let flat = Transform { scale: Vec3::new(1.0, 0.0, 1.0), ..Transform::default() };
    let flat = scene_of(flat, lod(3, &[1.0, 4.0]));
    assert_eq!(shown(&flat, &at(0.0, 0.0, 0.0), LodRule::ByViewer), [2]);
}

#[test]
fn a_switch_shows_its_choice_or_nothing() {
    for (which_choice, expected) in [
        (-1, vec![]),
        (0, vec![0]),
        (2, vec![2]),
        (3, vec![]),
        (i32::MIN, vec![]),
        (i32::MAX, vec![]),
    ] {
        let scene = scene_of(Transform::default(), |shapes| {
            Switch { choice: Arc::new(shapes), which_choice }.into()
        });
        assert_eq!(shown(&scene, &at(0.0, 0.0, 0.0), LodRule::ByViewer), expected);
    }
}

/// Where z and y of a billboard point in the world.
fn axes(outer: Transform, axis: Vec3, viewer: &Viewer) -> [DVec3; 2] {
    let scene = scene_of(outer, |shapes| {
        let children = Arc::new(shapes);
        Billboard { axis_of_rotation: axis, children, ..Billboard::default() }.into()
    });
    let mut found = Vec::new();
    walk(&scene, viewer, LodRule::ByViewer, &mut |visit| {
        if matches!(scene.kind(visit.node()), Some(Kind::Shape(_))) {
            let from = visit.placement.translation;
            found.push(
                [DVec3::Z, DVec3::Y]
                    .map(|d| (visit.placement.transform_point(d) - from).normalize()),
            );
        }
    })
    .unwrap();
    assert!(found.iter().all(|axes| *axes == found[0]));
    found[0]
}

fn near(found: [DVec3; 2], z: DVec3, y: DVec3) -> bool {
    found[0].distance(z) + found[1].distance(y) < 1e-9
}

#[test]
fn billboards_turn_about_their_axis() {
    let still = Transform::default;
    assert!(near(axes(still(), Vec3::Y, &at(5.0, 3.0, 0.0)), DVec3::X, DVec3::Y));
    assert!(near(axes(still(), Vec3::Y, &at(0.0, 9.0, -2.0)), DVec3::NEG_Z, DVec3::Y));
    assert!(near(axes(still(), Vec3::Y * 7.0, &at(-1.0, 0.0, 0.0)), DVec3::NEG_X, DVec3::Y));
    assert!(near(axes(still(), Vec3::NEG_Y, &at(-1.0, 0.0, 0.0)), DVec3::NEG_X, DVec3::Y));
    assert!(near(axes(still(), Vec3::X, &at(3.0, 1.0, 0.0)), DVec3::Y, DVec3::NEG_Z));
    // Nothing to turn: the viewer on the axis, at the origin, or an axis along z.
    for viewer in [at(0.0, 5.0, 0.0), at(0.0, -5.0, 0.0), at(0.0, 0.0, 0.0)] {
        assert_eq!(axes(still(), Vec3::Y, &viewer), [DVec3::Z, DVec3::Y]);
    }
    assert_eq!(axes(still(), Vec3::Z, &at(1.0, 2.0, 3.0)), [DVec3::Z, DVec3::Y]);
    // In its own coordinates: turned and moved from above, it still faces the viewer.
    let turned = Transform {
        rotation: Rotation { axis: Vec3::Y, angle: 1.0 },
        translation: Vec3::new(10.0, 0.0, 0.0),
        scale: Vec3::splat(3.0),
        ..Transform::default()
    };
    assert!(near(axes(turned, Vec3::Y, &at(10.0, 4.0, -8.0)), DVec3::NEG_Z, DVec3::Y));
}

#[test]
fn a_billboard_without_an_axis_faces_the_viewer() {
    let still = Transform::default;
    assert!(near(axes(still(), Vec3::ZERO, &at(0.0, 0.0, 9.0)), DVec3::Z, DVec3::Y));
    let found = axes(still(), Vec3::ZERO, &at(3.0, 4.0, 0.0));
    assert!(near(found, DVec3::new(0.6, 0.8, 0.0), DVec3::new(-0.8, 0.6, 0.0)));
    let tilted = Viewer { orientation: DQuat::from_rotation_z(0.5), ..at(0.0, 0.0, 9.0) };
    let up = DQuat::from_rotation_z(0.5) * DVec3::Y;
    assert!(near(axes(still(), Vec3::ZERO, &tilted), DVec3::Z, up));
    let turned =
        Transform { rotation: Rotation { axis: Vec3::new(1.0, 2.0, 3.0), angle: 2.0 }, ..still() };
    assert!(near(axes(turned, Vec3::ZERO, &at(0.0, 0.0, 9.0)), DVec3::Z, DVec3::Y));
    for nowhere in [at(0.0, 0.0, 0.0), at(0.0, 9.0, 0.0)] {
        assert_eq!(axes(still(), Vec3::ZERO, &nowhere), [DVec3::Z, DVec3::Y]);
    }
}
