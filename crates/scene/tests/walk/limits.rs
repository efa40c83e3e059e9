//! Scenes that go round, nest without end or have more paths than anyone can walk.

use jostle_scene::nodes::{Collision, Group, Instance, Kind};
use jostle_scene::{
    DEPTH_MAX, LodRule, NodeId, Place, Scene, VISITS_MAX, Value, Viewer, WalkError, walk,
};
use std::sync::Arc;

fn group(children: &[NodeId]) -> Group {
    Group { children: Arc::new(children.to_vec()), ..Group::default() }
}

fn visits(scene: &Scene) -> (usize, Result<(), WalkError>) {
    let mut count = 0;
    let end = walk(scene, &Viewer::default(), LodRule::ByViewer, &mut |_| count += 1);
    (count, end)
}

const PLACE: Place = Place::Byte(0);

#[test]
fn doubling_at_each_level_ends_early() {
    let mut scene = Scene::default();
    let mut top = scene.add(Group::default());
    for _ in 0..30 {
        top = scene.add(group(&[top, top]));
    }
    scene.add_root(top);
    assert_eq!(visits(&scene), (VISITS_MAX, Err(WalkError::TooMany { place: PLACE })));
}

#[test]
fn prototypes_that_double_end_early_too() {
    let mut scene = Scene::default();
    let mut top = scene.add(Group::default());
    for _ in 0..30 {
        let pair = scene.add(group(&[top, top]));
        let prototype = Arc::from("P");
        let instance = Instance { prototype, root: Some(pair), others: Vec::new() };
        top = scene.add(Kind::Instance(Box::new(instance)));
    }
    scene.add_root(top);
    let (count, end) = visits(&scene);
    assert!(count < VISITS_MAX);
    assert_eq!(end, Err(WalkError::TooMany { place: PLACE }));
}

#[test]
fn a_node_inside_itself_is_a_circle() {
    let mut scene = Scene::default();
    let outer = scene.add(Group::default());
    let inner = scene.add(group(&[outer]));
    scene.set(outer, "children", Value::Nodes(Arc::new(vec![inner]))).unwrap();
    scene.add_root(outer);
    assert_eq!(visits(&scene), (2, Err(WalkError::Circle { place: PLACE })));

    let mut scene = Scene::default();
    let proxy = scene.add(Collision::default());
    scene.set(proxy, "proxy", Value::Node(Some(proxy))).unwrap();
    scene.add_root(proxy);
    assert_eq!(visits(&scene), (1, Err(WalkError::Circle { place: PLACE })));

    let mut scene = Scene::default();
    let body = scene.add(Group::default());
    let instance = Instance { prototype: Arc::from("P"), root: Some(body), others: Vec::new() };
    let instance = scene.add(Kind::Instance(Box::new(instance)));
    scene.set(body, "children", Value::Nodes(Arc::new(vec![instance]))).unwrap();
    scene.add_root(instance);
    assert_eq!(visits(&scene), (1, Err(WalkError::Circle { place: PLACE })));
}

#[test]
fn used_again_beside_itself_is_no_circle() {
    let mut scene = Scene::default();
    let leaf = scene.add(Group::default());
    let pair = scene.add(group(&[leaf, leaf]));
    scene.add_root(pair);
    scene.add_root(pair);
    scene.add_root(leaf);
    assert_eq!(visits(&scene), (7, Ok(())));
}

#[test]
fn deep_scenes_need_no_deep_stack() {
    for (depth, deep) in [(DEPTH_MAX, false), (DEPTH_MAX + 1, true), (100_000, true)] {
        let mut scene = Scene::default();
        let mut top = scene.add(Group::default());
        for _ in 1..depth {
            top = scene.add(group(&[top]));
        }
        scene.add_root(top);
        let (count, end) = visits(&scene);
        assert_eq!(count, depth.min(DEPTH_MAX));
        assert_eq!(end, if deep { Err(WalkError::TooDeep { place: PLACE }) } else { Ok(()) });
    }
    assert_eq!(visits(&Scene::default()), (0, Ok(())));
}
