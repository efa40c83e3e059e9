//! What things are called: names along paths, and numbers where several objects have the same.

use jostle_scene::{NodeId, Scene, UniqueNames};
use std::collections::HashMap;
use std::sync::Arc;

/// The names of objects, each different from all others: a node that is used twice, and nodes of
/// the same name below nodes without one, are numbered in the order of the scene.
#[derive(Debug, Default)]
pub(crate) struct Names {
    given: HashMap<Vec<NodeId>, Given>,
    unique: UniqueNames,
}

#[derive(Debug)]
struct Given {
    name: Arc<str>,
    numbered: bool,
}

impl Names {
    /// Names an object when it is first seen. It keeps the name, also while it is away.
    pub(crate) fn add(&mut self, scene: &Scene, unit: &[NodeId]) {
        if !self.given.contains_key(unit) {
            let plain = of(scene, unit);
            let name = self.unique.take(&plain);
            let numbered = *name != plain;
            self.given.insert(unit.to_vec(), Given { name, numbered });
        }
    }

    /// The name of an object, or of a shape in it: `path` begins with `unit`.
    pub(crate) fn name(&self, scene: &Scene, unit: &[NodeId], path: &[NodeId]) -> Arc<str> {
        match self.given.get(unit) {
            Some(given) if path.len() <= unit.len() => Arc::clone(&given.name),
            Some(Given { name, numbered: true }) => {
                format!("{name}/{}", of(scene, &path[unit.len()..])).into()
            }
            _ => of(scene, path).into(),
        }
    }
}

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
