//! Which shapes make up which bodies (rows V7, V10, O7).
//!
//! Shapes that can never move against each other are one body: "two Shape nodes which are not
//! separated by a Transform's parent are rigid with respect to one another, and so cannot collide
//! with one another" (V-COLLIDE, section 4.4). So every `Transform` begins a new body. Objects are
//! more than that: a `CollisionObject`, a node that an interest names, a `Transform` with a
//! velocity or a response. No two bodies of one object are ever tested against each other, and
//! inside an object that moves only what can move against the rest is a body of its own.

use crate::roles::Roles;
use jostle_scene::nodes::Kind;
use jostle_scene::{LodRule, NodeId, Placement, Scene, Viewer, Visit, WalkError, walk};
use std::collections::HashMap;

/// The bodies that a scene has at one moment, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) pieces: Vec<Piece>,
    index: HashMap<PieceKey, usize>,
    /// Where the viewpoint that was asked about is, and where its coordinates are in the world.
    pub(crate) viewpoint: Option<Placement>,
}

/// What tells a body from all others: the path to the last node that begins one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PieceKey {
    pub(crate) path: Vec<NodeId>,
    /// Inside a proxy.
    pub(crate) in_proxy: bool,
}

/// One body.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) key: PieceKey,
    /// The coordinates of the body.
    pub(crate) frame: Placement,
    /// The coordinates around the `Transform` that drives it, if one does.
    pub(crate) driver: Option<Driver>,
    /// The path to the object that it belongs to.
    pub(crate) unit: Vec<NodeId>,
    pub(crate) parts: Vec<Part>,
    /// No `Switch` or `LOD` hides it.
    pub(crate) active: bool,
    /// Something above it may move.
    pub(crate) mobile: bool,
    pub(crate) meets: Meets,
}

/// The `Transform` whose velocity moves a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Driver {
    pub(crate) node: NodeId,
    /// The coordinates that its translation and velocity are in.
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

/// Whom a body meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meets {
    pub(crate) objects: bool,
    pub(crate) avatar: bool,
}

impl Plan {
    /// Walks a scene as it is now.
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
                plan.viewpoint = Some(*visit.placement);
            }
            if let Kind::Shape(shape) = &scene.node(node).kind
                && let Some(geometry) = shape.geometry.and_then(|id| scene.through_instances(id))
            {
                plan.add(&Found { scene, roles, visit, around: &around }, geometry);
            }
        })?;
        Ok(plan)
    }

    fn add(&mut self, found: &Found<'_>, geometry: NodeId) {
        let borders = found.borders();
        if !borders.meets.objects && !borders.meets.avatar {
            return;
        }
        let path = found.visit.path;
        let key = PieceKey { path: path[..borders.piece].to_vec(), in_proxy: found.visit.in_proxy };
        let frame = found.around(borders.piece);
        let part = Part { path: path.to_vec(), geometry, inside: found.inside(&borders, &frame) };
        if let Some(&at) = self.index.get(&key) {
            self.pieces[at].add(part, found.visit.active);
            return;
        }
        self.index.insert(key.clone(), self.pieces.len());
        self.pieces.push(Piece {
            key,
            frame,
            driver: found.driver(borders.piece),
            unit: path[..borders.unit].to_vec(),
            parts: vec![part],
            active: found.visit.active,
            mobile: borders.mobile,
            meets: borders.meets,
        });
    }
}

impl Piece {
    /// A `Switch` may have one node as several choices, which have one path: if one of them is
    /// chosen, that is the body.
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

/// Brings the list of coordinates to the length of a path. The walk does not visit the instances
/// of prototypes, which are on paths and do not move anything.
fn pass_instances(scene: &Scene, path: &[NodeId], around: &mut Vec<Placement>) {
    let is_instance = |id: &NodeId| matches!(scene.node(*id).kind, Kind::Instance(_));
    let instances = path.iter().rev().take_while(|id| is_instance(id)).count();
    around.truncate(path.len() - instances);
    let last = around.last().copied().unwrap_or(Placement::IDENTITY);
    around.resize(path.len(), last);
}

/// A shape that the walk has come to.
struct Found<'a> {
    scene: &'a Scene,
    roles: &'a Roles,
    visit: &'a Visit<'a>,
    /// The coordinates inside each node of the path.
    around: &'a [Placement],
}

/// Where along a path things begin: the number of nodes up to there.
struct Borders {
    piece: usize,
    unit: usize,
    mobile: bool,
    meets: Meets,
}

impl Found<'_> {
    fn borders(&self) -> Borders {
        let mut borders = Borders {
            piece: 0,
            unit: 0,
            mobile: false,
            meets: Meets { objects: true, avatar: true },
        };
        let (mut in_unit, mut in_object) = (false, false);
        for (at, &id) in self.visit.path.iter().enumerate() {
            let inside = at + 1;
            let next = self.visit.path.get(inside).copied();
            if self.roles.is_unit(self.scene, id) {
                in_unit = true;
                borders.piece = inside;
                // "The child geometry is a single object" (V-COLLIDE, section 3.2), also where
                // parts of it have velocities or are asked about.
                let object = matches!(self.scene.node(id).kind, Kind::CollisionObject(_));
                in_object |= object;
                if object || !in_object {
                    borders.unit = inside;
                }
            }
            match &self.scene.node(id).kind {
                Kind::Transform(_) => {
                    let movable = self.roles.movable.contains(&id);
                    borders.mobile |= movable;
                    if !in_unit {
                        borders.unit = inside;
                    }
                    // What moves as a whole is one body, however it is put together inside;
                    // scenery is many, so that their boxes are small (V-COLLIDE, section 4.4).
                    if movable || !(in_unit && borders.mobile) {
                        borders.piece = inside;
                    }
                }
                Kind::Billboard(_) => {
                    borders.mobile = true;
                    borders.piece = inside;
                }
                // Of their children each is a body, so that it can appear and vanish.
                Kind::Switch(_) | Kind::Lod(_) => borders.piece = inside + 1,
                Kind::Collision(node) => {
                    borders.piece = inside;
                    let proxy = self.leads_to_proxy(node.proxy, next);
                    let instead = node.proxy.is_some() && !proxy;
                    borders.meets.objects &= !proxy;
                    borders.meets.avatar &= node.collide && !instead;
                }
                Kind::CollisionObject(node) => {
                    // "Defaults to testing against all other objects", also those that stand still.
                    borders.mobile = true;
                    let instead = node.proxy.is_some() && !self.leads_to_proxy(node.proxy, next);
                    let there = node.collide && !instead;
                    borders.meets.objects &= there;
                    borders.meets.avatar &= there;
                }
                _ => {}
            }
        }
        borders.piece = borders.piece.min(self.visit.path.len());
        borders
    }

    fn leads_to_proxy(&self, proxy: Option<NodeId>, next: Option<NodeId>) -> bool {
        self.visit.in_proxy && proxy.is_some() && proxy == next
    }

    /// The coordinates inside the first `count` nodes of the path.
    fn around(&self, count: usize) -> Placement {
        count.checked_sub(1).map_or(Placement::IDENTITY, |last| self.around[last])
    }

    /// From the shape to its body. Multiplied anew from the nodes in between, not divided out of
    /// the two placements: so it is the same, to the last bit, for every copy of an object.
    fn inside(&self, borders: &Borders, frame: &Placement) -> Placement {
        let stretch = Placement { stretch: frame.stretch, ..Placement::IDENTITY };
        self.visit.path[borders.piece..].iter().fold(stretch, |inside, &id| {
            match &self.scene.node(id).kind {
                Kind::Transform(node) => inside.then(&Placement::of_transform(node)),
                _ => inside,
            }
        })
    }

    /// The `Transform` that drives a body: the last one on its path that does.
    fn driver(&self, piece: usize) -> Option<Driver> {
        let path = &self.visit.path[..piece];
        let at = path.iter().rposition(|id| self.roles.drivers.contains(id))?;
        Some(Driver { node: path[at], parent: self.around(at) })
    }
}
