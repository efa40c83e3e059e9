//! The plan: which bodies a scene has, and which shapes they consist of (rows V7, V10, O7).
//!
//! Shapes that can never move relative to each other are one body: "two Shape nodes which are not
//! separated by a Transform's parent are rigid with respect to one another, and so cannot collide
//! with one another" (V-COLLIDE, section 4.4). So every `Transform` begins a new body. Objects may
//! have several bodies: a `CollisionObject`, a node that an interest names, a `Transform` with a
//! velocity or a response. No two bodies of one object are ever tested against each other, and
//! inside an object that moves, only what can move relative to the rest is a body of its own.

use crate::roles::Roles;
use jostle_scene::nodes::Kind;
use jostle_scene::{LodRule, NodeId, Placement, Scene, Viewer, Visit, WalkError, walk};
use std::collections::HashMap;

/// The bodies that a scene has at one moment, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) bodies: Vec<BodyPlan>,
    index: HashMap<BodyKey, usize>,
    /// The bound viewpoint, if it is in the scene.
    pub(crate) viewpoint: Option<PlacedViewpoint>,
}

/// The bound viewpoint where it stands in the scene.
#[derive(Clone, Debug)]
pub(crate) struct PlacedViewpoint {
    pub(crate) path: Vec<NodeId>,
    /// The placement of its coordinates in the world.
    pub(crate) placement: Placement,
}

/// Identifies a body: the path to the last node that begins one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct BodyKey {
    pub(crate) path: Vec<NodeId>,
    /// The body is part of a proxy.
    pub(crate) in_proxy: bool,
}

/// A body as the scene describes it.
#[derive(Clone, Debug)]
pub(crate) struct BodyPlan {
    pub(crate) key: BodyKey,
    /// The placement of the body's coordinates in the world.
    pub(crate) frame: Placement,
    /// The `Transform` whose velocity moves it, if any.
    pub(crate) driver: Option<Driver>,
    /// The path to its object.
    pub(crate) object_path: Vec<NodeId>,
    pub(crate) parts: Vec<Part>,
    /// No `Switch` or `LOD` hides it.
    pub(crate) active: bool,
    /// A node above it may move.
    pub(crate) mobile: bool,
    pub(crate) collides_with: CollidesWith,
}

/// The `Transform` whose velocity moves a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Driver {
    pub(crate) node: NodeId,
    /// The placement of the coordinates of its translation and velocity.
    pub(crate) parent: Placement,
}

/// A shape of a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// The path to the `Shape`.
    pub(crate) path: Vec<NodeId>,
    pub(crate) geometry: NodeId,
    /// From the shape's coordinates to those of the body.
    pub(crate) inside: Placement,
}

/// What a body collides with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CollidesWith {
    pub(crate) objects: bool,
    pub(crate) avatar: bool,
}

impl Plan {
    /// Makes the plan of a scene in its current state.
    pub(crate) fn of(
        scene: &Scene,
        roles: &Roles,
        viewer: &Viewer,
        lod: LodRule,
        viewpoint: Option<NodeId>,
    ) -> Result<Plan, WalkError> {
        let mut plan = Plan::default();
        let mut around: Vec<Placement> = Vec::new();
        walk(scene, viewer, lod, &mut |visit: &Visit<'_>| {
            let Some((&node, above)) = visit.path.split_last() else { return };
            pass_instances(scene, above, &mut around);
            around.push(*visit.placement);
            if viewpoint == Some(node) && plan.viewpoint.is_none() {
                let (path, placement) = (visit.path.to_vec(), *visit.placement);
                plan.viewpoint = Some(PlacedViewpoint { path, placement });
            }
            if let Kind::Shape(shape) = &scene.node(node).kind
                && let Some(geometry) = shape.geometry.and_then(|id| scene.through_instances(id))
            {
                plan.add(&ShapeVisit { scene, roles, visit, around: &around }, geometry);
            }
        })?;
        Ok(plan)
    }

    fn add(&mut self, found: &ShapeVisit<'_>, geometry: NodeId) {
        let scene = found.scene;
        let levels = found.levels();
        if !levels.collides_with.objects && !levels.collides_with.avatar {
            return;
        }
        let path = found.visit.path;
        let key = BodyKey { path: path[..levels.body].to_vec(), in_proxy: found.visit.in_proxy };
        let frame = found.around(levels.body);
        let part = Part {
            path: path.to_vec(),
            geometry,
            inside: inside(scene, &path[levels.body..], &frame),
        };
        if let Some(&at) = self.index.get(&key) {
            self.bodies[at].add(part, found.visit.active);
            return;
        }
        self.index.insert(key.clone(), self.bodies.len());
        self.bodies.push(BodyPlan {
            key,
            frame,
            driver: found.driver(levels.body),
            object_path: path[..levels.object].to_vec(),
            parts: vec![part],
            active: found.visit.active,
            mobile: levels.mobile,
            collides_with: levels.collides_with,
        });
    }
}

impl BodyPlan {
    /// The body after nodes above it have moved, bit-identical to that of a new [`Plan`]. There
    /// must be no `Billboard` on its path, whose placement depends on the viewer.
    pub(crate) fn moved(&self, scene: &Scene) -> BodyPlan {
        let mut body = self.clone();
        body.frame = placement_inside(scene, &body.key.path);
        if let Some(driver) = &mut body.driver
            && let Some(depth) = body.key.path.iter().rposition(|&id| id == driver.node)
        {
            driver.parent = placement_inside(scene, &body.key.path[..depth]);
        }
        for part in &mut body.parts {
            part.inside = inside(scene, &part.path[body.key.path.len()..], &body.frame);
        }
        body
    }

    /// Adds a shape. A `Switch` may have one node as several choices, which have the same path: if
    /// one of them is chosen, its shapes are the body.
    fn add(&mut self, part: Part, active: bool) {
        if active && !self.active {
            self.parts.clear();
            self.active = true;
        }
        if active == self.active {
            self.parts.push(part);
        }
    }
}

/// The placement inside the last node of a path, multiplied in the order of the walk.
fn placement_inside(scene: &Scene, path: &[NodeId]) -> Placement {
    path.iter().fold(Placement::IDENTITY, |outer, &id| match &scene.node(id).kind {
        Kind::Transform(node) => outer.then(&Placement::of_transform(node)),
        _ => outer,
    })
}

/// The placement of a shape in its body, from the path between them. Multiplied from the nodes of
/// the path, not divided out of the placements of body and shape, so that it is bit-identical for
/// every copy of an object.
fn inside(scene: &Scene, path: &[NodeId], frame: &Placement) -> Placement {
    let stretch = Placement { stretch: frame.stretch, ..Placement::IDENTITY };
    path.iter().fold(stretch, |inside, &id| match &scene.node(id).kind {
        Kind::Transform(node) => inside.then(&Placement::of_transform(node)),
        _ => inside,
    })
}

/// Extends or shortens the list of placements to the length of a path. The walk does not visit
/// prototype instances, which are on paths but have no placement of their own.
fn pass_instances(scene: &Scene, path: &[NodeId], around: &mut Vec<Placement>) {
    let is_instance = |id: &NodeId| matches!(scene.node(*id).kind, Kind::Instance(_));
    let instances = path.iter().rev().take_while(|id| is_instance(id)).count();
    around.truncate(path.len() - instances);
    let last = around.last().copied().unwrap_or(Placement::IDENTITY);
    around.resize(path.len(), last);
}

/// A shape that the walk visits.
struct ShapeVisit<'a> {
    scene: &'a Scene,
    roles: &'a Roles,
    visit: &'a Visit<'a>,
    /// The placement inside each node of the path.
    around: &'a [Placement],
}

/// Depths in a path, as numbers of nodes, and what follows from the nodes of the path.
struct Levels {
    /// The depth at which the body begins.
    body: usize,
    /// The depth at which its object begins.
    object: usize,
    mobile: bool,
    collides_with: CollidesWith,
}

impl ShapeVisit<'_> {
    fn levels(&self) -> Levels {
        let mut levels = Levels {
            body: 0,
            object: 0,
            mobile: false,
            collides_with: CollidesWith { objects: true, avatar: true },
        };
        let (mut in_object, mut in_collision_object) = (false, false);
        for (at, &id) in self.visit.path.iter().enumerate() {
            let inside = at + 1;
            let next = self.visit.path.get(inside).copied();
            if self.roles.is_object(self.scene, id) {
                in_object = true;
                levels.body = inside;
                // "The child geometry is a single object" (V-COLLIDE, section 3.2), also where
                // parts of it have velocities or interests.
                let object = matches!(self.scene.node(id).kind, Kind::CollisionObject(_));
                in_collision_object |= object;
                if object || !in_collision_object {
                    levels.object = inside;
                }
            }
            match &self.scene.node(id).kind {
                Kind::Transform(_) => {
                    let movable = self.roles.movable.contains(&id);
                    levels.mobile |= movable;
                    if !in_object {
                        levels.object = inside;
                    }
                    // An object that moves as a whole is one body, whatever its structure; static
                    // geometry is many bodies, so that their boxes are small (V-COLLIDE, section
                    // 4.4).
                    if movable || !(in_object && levels.mobile) {
                        levels.body = inside;
                    }
                }
                Kind::Billboard(_) => {
                    levels.mobile = true;
                    levels.body = inside;
                }
                // Each child is a body, so that it can be enabled and disabled.
                Kind::Switch(_) | Kind::Lod(_) => levels.body = inside + 1,
                Kind::Collision(node) => {
                    levels.body = inside;
                    let proxy = self.leads_to_proxy(node.proxy, next);
                    let instead = node.proxy.is_some() && !proxy;
                    levels.collides_with.objects &= !proxy;
                    levels.collides_with.avatar &= node.collide && !instead;
                }
                Kind::CollisionObject(node) => {
                    // "Defaults to testing against all other objects", including static ones.
                    levels.mobile = true;
                    let instead = node.proxy.is_some() && !self.leads_to_proxy(node.proxy, next);
                    let there = node.collide && !instead;
                    levels.collides_with.objects &= there;
                    levels.collides_with.avatar &= there;
                }
                _ => {}
            }
        }
        levels.body = levels.body.min(self.visit.path.len());
        levels
    }

    fn leads_to_proxy(&self, proxy: Option<NodeId>, next: Option<NodeId>) -> bool {
        self.visit.in_proxy && proxy.is_some() && proxy == next
    }

    /// The placement inside the first `count` nodes of the path.
    fn around(&self, count: usize) -> Placement {
        count.checked_sub(1).map_or(Placement::IDENTITY, |last| self.around[last])
    }

    /// The driver of a body: the last one on its path.
    fn driver(&self, body: usize) -> Option<Driver> {
        let path = &self.visit.path[..body];
        let at = path.iter().rposition(|id| self.roles.drivers.contains(id))?;
        Some(Driver { node: path[at], parent: self.around(at) })
    }
}
