//! References between nodes: the check that none is missing, reachability from the roots, and
//! events that add and remove children (ISO/IEC 14772-1, 4.6.5).

use super::{Play, PlayError, Problem};
use crate::nodes::Kind;
use crate::scene::{FieldType, NodeId, Scene, Value};
use std::collections::HashSet;
use std::sync::Arc;

pub(super) const CHILDREN: &str = "children";
/// References nodes elsewhere in the scene, so it may reference the node itself or an ancestor.
pub(super) const IGNORED: &str = "ignoredObjects";

/// The fields of a `Transform` that place or move what is inside it.
pub(super) const MOTION: [&str; 6] =
    ["center", "rotation", "scale", "scaleOrientation", "translation", "velocityVector"];

/// The nodes that a value names.
pub(super) fn named(value: &Value) -> &[NodeId] {
    match value {
        Value::Node(id) => id.as_slice(),
        Value::Nodes(ids) => ids,
        _ => &[],
    }
}

/// Calls `each` for every node that a node holds in its fields.
fn each_held(kind: &Kind, mut each: impl FnMut(NodeId)) {
    if let Kind::Instance(instance) = kind {
        instance.root.iter().chain(&instance.others).copied().for_each(&mut each);
    }
    for (index, spec) in kind.fields().iter().enumerate() {
        if matches!(spec.ty, FieldType::Node | FieldType::Nodes)
            && spec.name != IGNORED
            && let Some(value) = kind.get(index)
        {
            named(&value).iter().copied().for_each(&mut each);
        }
    }
}

/// `Scene` promises that every node that it names is there, but a struct may be filled by hand.
pub(super) fn check(scene: &Scene) -> Result<(), PlayError> {
    let mut bad = scene.roots().iter().copied().find(|id| id.index() >= scene.len());
    for (_, node) in scene.nodes() {
        let mut look = |id: NodeId| {
            if id.index() >= scene.len() {
                bad = bad.or(Some(id));
            }
        };
        each_held(&node.kind, &mut look);
        if let Kind::CollisionObject(object) = &node.kind {
            object.ignored_objects.iter().copied().for_each(look);
        }
    }
    bad.map_or(Ok(()), |id| Err(PlayError::NoNode { id }))
}

/// Returns true if `node` is the node `below` or one of its descendants. `seen` has nodes without
/// `node` below them, so that a list of children is walked once.
pub(super) fn is_within(
    scene: &Scene,
    node: NodeId,
    below: NodeId,
    seen: &mut HashSet<NodeId>,
) -> bool {
    let mut left = vec![below];
    while let Some(id) = left.pop() {
        if id == node {
            seen.clear();
            return true;
        }
        if seen.insert(id) {
            each_held(&scene.node(id).kind, |held| left.push(held));
        }
    }
    false
}

/// The nodes that stand in the world, each once, in the order in which one meets them walking
/// down from the roots; with the place in this list of the node through which it was met.
pub(super) fn walk(scene: &Scene, into_inlines: bool) -> Vec<(NodeId, Option<usize>)> {
    let mut walked = Vec::new();
    let mut seen = vec![false; scene.len()];
    let mut left: Vec<(NodeId, Option<usize>)> =
        scene.roots().iter().rev().map(|&root| (root, None)).collect();
    while let Some((id, above)) = left.pop() {
        if let Some(seen @ false) = seen.get_mut(id.index()) {
            *seen = true;
            let at = walked.len();
            walked.push((id, above));
            if into_inlines || !matches!(scene.node(id).kind, Kind::Inline(_)) {
                left.extend(scene.children(id).iter().rev().map(|&child| (child, Some(at))));
            }
        }
    }
    walked
}

impl Play {
    /// Puts nodes at the end of a list, each once.
    pub(super) fn add_nodes(&mut self, node: NodeId, field: &str, added: &[NodeId]) {
        let Some((index, old)) = self.node_list(node, field) else { return };
        let mut list = old.as_ref().clone();
        let mut seen = HashSet::new();
        let mut there: HashSet<NodeId> = list.iter().copied().collect();
        for &child in added {
            if field == CHILDREN && is_within(&self.scene, node, child, &mut seen) {
                self.problems.push(Problem::ContainsItself { node, child });
            } else if there.insert(child) {
                list.push(child);
            }
        }
        if list.len() != old.len() {
            self.store_and_send(node, index, Value::Nodes(Arc::new(list)));
        }
    }

    /// Takes nodes out of a list; those that are not in it do not matter.
    pub(super) fn remove_nodes(&mut self, node: NodeId, field: &str, removed: &[NodeId]) {
        let Some((index, old)) = self.node_list(node, field) else { return };
        let removed: HashSet<NodeId> = removed.iter().copied().collect();
        let list: Vec<NodeId> = old.iter().copied().filter(|id| !removed.contains(id)).collect();
        if list.len() != old.len() {
            self.store_and_send(node, index, Value::Nodes(Arc::new(list)));
        }
    }

    fn node_list(&self, node: NodeId, field: &str) -> Option<(usize, Arc<Vec<NodeId>>)> {
        let kind = &self.scene.node(node).kind;
        let index = kind.field(field)?;
        match kind.get(index)? {
            Value::Nodes(list) => Some((index, list)),
            _ => None,
        }
    }
}
