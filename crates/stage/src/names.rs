//! Names of objects: the names along their paths, with numbers to make them unique.

use jostle_scene::{NodeId, Scene, UniqueNames};
use std::collections::HashMap;
use std::sync::Arc;

/// The names of objects, each different from all others: a node that is used twice, and nodes of
/// the same name below nodes without one, are numbered in the order of the scene.
#[derive(Debug, Default)]
pub(crate) struct ObjectNames {
    given: HashMap<Vec<NodeId>, GivenName>,
    unique: UniqueNames,
}

#[derive(Debug)]
struct GivenName {
    name: Arc<str>,
    numbered: bool,
}

impl ObjectNames {
    /// Assigns a name to a new object. An object that is removed and inserted again keeps its name.
    pub(crate) fn add(&mut self, scene: &Scene, object_path: &[NodeId]) {
        if !self.given.contains_key(object_path) {
            let plain = of(scene, object_path);
            let name = self.unique.take(&plain);
            let numbered = *name != plain;
            self.given.insert(object_path.to_vec(), GivenName { name, numbered });
        }
    }

    /// The name of an object, or of a shape in it: `path` begins with `object_path`.
    pub(crate) fn name(&self, scene: &Scene, object_path: &[NodeId], path: &[NodeId]) -> Arc<str> {
        match self.given.get(object_path) {
            Some(given) if path.len() <= object_path.len() => Arc::clone(&given.name),
            Some(GivenName { name, numbered: true }) => {
                format!("{name}/{}", of(scene, &path[object_path.len()..])).into()
            }
            _ => of(scene, path).into(),
        }
    }
}

/// The name of an object or shape: the names along its path, or its kind and position in the file.
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

/// Returns true if the last node is the root of a named prototype instance.
fn is_alias(scene: &Scene, path: &[NodeId]) -> bool {
    let [.., above, last] = path else { return false };
    scene.node(*above).name.is_some() && scene.through_instances(*above) == Some(*last)
}

fn along(scene: &Scene, path: &[NodeId]) -> String {
    let names = path.iter().filter_map(|&id| scene.node(id).name.as_deref());
    names.collect::<Vec<_>>().join("/")
}
