//! Visits all nodes of a scene, with their placements in the world and whether they are shown.
//!
//! A node that is used twice is in the scene twice, so a walk visits paths, not nodes. Its memory
//! grows with the depth of the scene, not with its size (but for one flag per node).

mod viewer;

pub use viewer::{LodRule, Viewer};

use crate::error::Place;
use crate::nodes::Kind;
use crate::placement::Placement;
use crate::scene::{NodeId, Scene};

/// Most visits of one walk. Each level of a scene that uses the level below it twice doubles the
/// paths: a file of 30 short lines may have 2^30 of them, and would keep a walk busy for minutes.
pub const VISITS_MAX: usize = 1 << 22;

/// Most nodes on one path: no real scene is nested as deep. A path of this length takes 15 MB.
pub const DEPTH_MAX: usize = 1 << 16;

/// A node on one of its paths.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// From a root down to this node, the last one. Instances of prototypes stand before the node
    /// that they are.
    pub path: &'a [NodeId],
    /// Where the coordinates inside this node are in the world: those of its children, or those of
    /// the geometry of a `Shape`.
    pub placement: &'a Placement,
    /// It is shown: no `Switch` or `LOD` above hides it.
    pub active: bool,
    /// It is below the `proxy` of a `Collision` or `CollisionObject`.
    pub in_proxy: bool,
}

impl Visit<'_> {
    /// The node itself.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.path[self.path.len() - 1]
    }
}

/// Why a scene cannot be walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    /// A node is inside itself.
    #[error("{place}: this node contains itself; expected a scene that ends somewhere")]
    Circle {
        /// Where the node stands.
        place: Place,
    },
    /// The scene is nested too deeply.
    #[error("{place}: this node is nested more than {DEPTH_MAX} deep")]
    TooDeep {
        /// Where the node stands.
        place: Place,
    },
    /// Too many nodes stand in the scene, each counted as often as it is used.
    #[error("{place}: here the scene has more than {VISITS_MAX} nodes, counted with each USE")]
    TooMany {
        /// Where the node stands that is one too many.
        place: Place,
    },
}

/// Visits every node that stands in the scene, once for each path that leads to it: parents before
/// children, children in the order of the file, then the proxy of a `Collision` or
/// `CollisionObject`. Nodes that are hidden are visited too, and marked so. What a `Shape` is made
/// of is not visited, and an instance of a prototype only as the node that stands for it.
///
/// ```
/// use glam::{DVec3, Vec3};
/// use jostle_scene::nodes::{Group, Shape, Transform};
/// use jostle_scene::{LodRule, Scene, Viewer, walk};
/// use std::sync::Arc;
///
/// let mut scene = Scene::default();
/// let shape = scene.add(Shape::default());
/// let moved = scene.add(Transform {
///     translation: Vec3::X,
///     children: Arc::new(vec![shape]),
///     ..Transform::default()
/// });
/// let twice = scene.add(Group { children: Arc::new(vec![shape, moved]), ..Group::default() });
/// scene.add_root(twice);
///
/// let mut places = Vec::new();
/// walk(&scene, &Viewer::default(), LodRule::Finest, &mut |visit| {
///     if visit.node() == shape {
///         places.push(visit.placement.translation);
///     }
/// })?;
/// assert_eq!(places, [DVec3::ZERO, DVec3::X]);
/// # Ok::<(), jostle_scene::WalkError>(())
/// ```
///
/// # Errors
/// A node that contains itself, too many levels, too many nodes. Nodes before that are visited.
pub fn walk(
    scene: &Scene,
    viewer: &Viewer,
    lod: LodRule,
    visit: &mut dyn FnMut(&Visit),
) -> Result<(), WalkError> {
    let mut walker = Walker {
        scene,
        viewer,
        lod,
        path: Vec::new(),
        placements: vec![Placement::IDENTITY],
        levels: Vec::new(),
        on_path: vec![false; scene.len()],
        visits: 0,
    };
    for &root in scene.roots() {
        walker.enter(root, Above { placement: 0, active: true, in_proxy: false }, visit)?;
        while walker.step(visit)? {}
    }
    Ok(())
}

/// What a node inherits from the nodes above it.
#[derive(Clone, Copy)]
struct Above {
    /// The number of its placement in [`Walker::placements`].
    placement: usize,
    active: bool,
    in_proxy: bool,
}

/// Which children are shown.
#[derive(Clone, Copy)]
enum Shown {
    All,
    Only(usize),
    None,
}

/// A node on the path that has children.
struct Level<'a> {
    children: &'a [NodeId],
    /// How many of them were visited.
    done: usize,
    shown: Shown,
    /// To be visited last.
    proxy: Option<NodeId>,
    /// What the children have from above.
    above: Above,
}

struct Walker<'a> {
    scene: &'a Scene,
    viewer: &'a Viewer,
    lod: LodRule,
    /// The nodes that have a level.
    path: Vec<NodeId>,
    /// Those of the nodes on the path that have another one than the node above them.
    placements: Vec<Placement>,
    levels: Vec<Level<'a>>,
    on_path: Vec<bool>,
    visits: usize,
}

impl<'a> Walker<'a> {
    /// Goes to the next child, or back up. False at the end.
    fn step(&mut self, visit: &mut dyn FnMut(&Visit)) -> Result<bool, WalkError> {
        let Some(level) = self.levels.last_mut() else {
            return Ok(false);
        };
        let mut above = level.above;
        if let Some(&child) = level.children.get(level.done) {
            above.active &= match level.shown {
                Shown::All => true,
                Shown::Only(shown) => shown == level.done,
                Shown::None => false,
            };
            level.done += 1;
            self.enter(child, above, visit)?;
        } else if let Some(proxy) = level.proxy.take() {
            above.in_proxy = true;
            self.enter(proxy, above, visit)?;
        } else {
            self.levels.pop();
            if let Some(left) = self.path.pop() {
                self.on_path[left.index()] = false;
            }
        }
        Ok(true)
    }

    /// Visits a node; if there is something inside, it becomes the end of the path.
    fn enter(
        &mut self,
        id: NodeId,
        above: Above,
        visit: &mut dyn FnMut(&Visit),
    ) -> Result<(), WalkError> {
        let node = self.scene.node(id);
        let place = node.place;
        if self.on_path[id.index()] {
            return Err(WalkError::Circle { place });
        }
        if self.path.len() >= DEPTH_MAX {
            return Err(WalkError::TooDeep { place });
        }
        self.visits += 1;
        if self.visits > VISITS_MAX {
            return Err(WalkError::TooMany { place });
        }
        // What was inside the last sibling is over.
        self.placements.truncate(above.placement + 1);
        let mut above = above;
        if let Some(inside) = self.inside(&node.kind, &self.placements[above.placement]) {
            above.placement = self.placements.len();
            self.placements.push(inside);
        }
        let placement = &self.placements[above.placement];
        self.path.push(id);
        if !matches!(node.kind, Kind::Instance(_)) {
            let Above { active, in_proxy, .. } = above;
            visit(&Visit { path: &self.path, placement, active, in_proxy });
        }
        let children = self.scene.children(id);
        let proxy = match &node.kind {
            Kind::Collision(node) => node.proxy,
            Kind::CollisionObject(node) => node.proxy,
            _ => None,
        };
        if children.is_empty() && proxy.is_none() {
            self.path.pop();
            return Ok(());
        }
        let shown = self.shown(&node.kind, placement);
        self.on_path[id.index()] = true;
        self.levels.push(Level { children, done: 0, shown, proxy, above });
        Ok(())
    }

    /// The placement inside a node that stands in `outside`, if it is another one.
    fn inside(&self, kind: &Kind, outside: &Placement) -> Option<Placement> {
        match kind {
            Kind::Transform(node) => Some(outside.then(&Placement::of_transform(node))),
            Kind::Billboard(node) => {
                let rotation = self.viewer.turn_of(node, outside);
                Some(outside.then(&Placement { rotation, ..Placement::IDENTITY }))
            }
            _ => None,
        }
    }

    fn shown(&self, kind: &Kind, placement: &Placement) -> Shown {
        match kind {
            // A number without a choice shows nothing (6.46).
            Kind::Switch(node) => {
                usize::try_from(node.which_choice).map_or(Shown::None, Shown::Only)
            }
            Kind::Lod(node) => Shown::Only(match self.lod {
                LodRule::Finest => 0,
                LodRule::ByViewer => self.viewer.level_of(node, placement),
            }),
            _ => Shown::All,
        }
    }
}
