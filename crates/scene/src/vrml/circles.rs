//! Finds nodes that contain themselves. Only a USE inside the node that it names can lead to that,
//! and V-COLLIDE's figure 4 has one that does not: what an object ignores is not part of it.

use super::build::{BackUse, Builder, Trail};
use crate::error::LoadError;
use crate::nodes::Kind;
use crate::scene::{NodeId, Scene, Value};
use std::collections::HashSet;
use std::rc::Rc;

/// How far the walk has come with a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    /// On the way from the start to where the walk is.
    Open,
    Done,
}

impl Builder<'_> {
    /// The error if a node contains itself.
    pub(super) fn check_circles(&self) -> Result<(), LoadError> {
        let Some(circle) = find(&self.scene, &self.back_uses) else { return Ok(()) };
        match self.back_uses.iter().find(|back| circle.contains(&back.target)) {
            Some(back) => {
                let what = "the node that is used here contains this place";
                Err(along(back.trail.as_deref(), back.source.refused(what, back.at)))
            }
            None => Ok(()),
        }
    }
}

/// The nodes of the first circle, walking from the nodes that were used inside themselves.
fn find(scene: &Scene, back_uses: &[BackUse]) -> Option<HashSet<NodeId>> {
    if back_uses.is_empty() {
        return None;
    }
    let mut marks = vec![Mark::New; scene.len()];
    for back in back_uses {
        if marks[back.target.index()] != Mark::New {
            continue;
        }
        marks[back.target.index()] = Mark::Open;
        let mut way = vec![(back.target, parts(scene, back.target))];
        while let Some((node, left)) = way.last_mut() {
            let Some(part) = left.pop() else {
                marks[node.index()] = Mark::Done;
                way.pop();
                continue;
            };
            match marks[part.index()] {
                Mark::Done => {}
                Mark::New => {
                    marks[part.index()] = Mark::Open;
                    way.push((part, parts(scene, part)));
                }
                Mark::Open => {
                    let from = way.iter().position(|&(node, _)| node == part).unwrap_or(0);
                    return Some(way.iter().skip(from).map(|&(node, _)| node).collect());
                }
            }
        }
    }
    None
}

/// The nodes that are part of a node.
fn parts(scene: &Scene, id: NodeId) -> Vec<NodeId> {
    let kind = &scene.node(id).kind;
    if let Kind::Instance(instance) = kind {
        return instance.root.into_iter().collect();
    }
    let mut parts = Vec::new();
    for (number, field) in kind.fields().iter().enumerate() {
        if field.name == "ignoredObjects" {
            continue;
        }
        match kind.get(number) {
            Some(Value::Node(node)) => parts.extend(node),
            Some(Value::Nodes(nodes)) => parts.extend(nodes.iter()),
            _ => {}
        }
    }
    parts
}

/// An error in a file, reported with all files that include it.
fn along(trail: Option<&Trail>, error: LoadError) -> LoadError {
    let mut error = error;
    let mut trail = trail;
    while let Some(Trail { place, file, up }) = trail {
        error = error.within(*place, file);
        trail = up.as_ref().map(Rc::as_ref);
    }
    error
}
