//! What things are called.

use jostle_scene::{NodeId, Scene};

/// The name of an object or shape: the names along the path to it, or what and where it is.
pub(crate) fn of(scene: &Scene, path: &[NodeId]) -> String {
    let Some(&last) = path.last() else { return "the world itself".to_string() };
    let names = along(scene, path);
    let node = scene.node(last);
    if node.name.is_some() || is_alias(scene, path) {
        return names;
    }
    let own = format!("{} at {}", node.kind.name(), node.place);
    if names.is_empty() { own } else { format!("{names}/{own}") }
}

/// The last node is what a named instance of a prototype stands for.
fn is_alias(scene: &Scene, path: &[NodeId]) -> bool {
    let [.., above, last] = path else { return false };
    scene.node(*above).name.is_some() && scene.through_instances(*above) == Some(*last)
}

fn along(scene: &Scene, path: &[NodeId]) -> String {
    let names = path.iter().filter_map(|&id| scene.node(id).name.as_deref());
    names.collect::<Vec<_>>().join("/")
}
