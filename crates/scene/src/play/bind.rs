//! The stacks of bindable nodes (ISO/IEC 14772-1, 4.6.10).

use super::{Play, nodes};
use crate::nodes::Kind;
use crate::scene::NodeId;

/// One stack per kind of bindable node, the bound node last.
#[derive(Debug, Default)]
pub(super) struct Stacks([Vec<NodeId>; 4]);

const VIEWPOINT: usize = 0;
const NAVIGATION: usize = 1;

fn stack_of(kind: &Kind) -> Option<usize> {
    match kind {
        Kind::Viewpoint(_) => Some(VIEWPOINT),
        Kind::NavigationInfo(_) => Some(NAVIGATION),
        Kind::Background(_) => Some(2),
        Kind::Fog(_) => Some(3),
        _ => None,
    }
}

impl Play {
    /// The `Viewpoint` that is bound.
    #[must_use]
    pub fn viewpoint(&self) -> Option<NodeId> {
        self.bound.0[VIEWPOINT].last().copied()
    }

    /// The `NavigationInfo` that is bound.
    #[must_use]
    pub fn navigation(&self) -> Option<NodeId> {
        self.bound.0[NAVIGATION].last().copied()
    }

    /// Binds the first node of each kind, except those in an `Inline`.
    pub(super) fn bind_first(&mut self) {
        for (id, _) in nodes::walk(&self.scene, false) {
            let stack = stack_of(&self.scene.node(id).kind).and_then(|at| self.bound.0.get(at));
            if stack.is_some_and(Vec::is_empty) {
                self.bind(id, true);
            }
        }
    }

    /// The event `set_bind`.
    pub(super) fn bind(&mut self, node: NodeId, bind: bool) {
        let stack = stack_of(&self.scene.node(node).kind);
        let Some(stack) = stack.and_then(|at| self.bound.0.get_mut(at)) else { return };
        let top = stack.last().copied();
        // A node that is on top already, or that is removed from below the top, sends nothing.
        stack.retain(|&other| other != node);
        if bind {
            stack.push(node);
        }
        let new_top = stack.last().copied();
        if new_top != top {
            if let Some(old) = top {
                self.send_bound(old, false);
            }
            if let Some(new) = new_top {
                self.send_bound(new, true);
            }
        }
    }

    fn send_bound(&mut self, node: NodeId, bound: bool) {
        self.give_named(node, "isBound", bound);
        // Only a Viewpoint has this one; it sends both (6.53).
        self.give_named(node, "bindTime", self.now);
    }
}
