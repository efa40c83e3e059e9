//! A scene on a stage: the scene's events and the world's collisions, step by step.

use crate::drive::Drives;
use crate::names::Names;
use crate::plan::{Piece, PieceKey, Plan};
use crate::roles::Roles;
use crate::shapes::{Built, Making, Shapes};
use crate::tell::Told;
use crate::visitor::Visitor;
use crate::{HierarchyFiles, StageError};
use glam::DAffine3;
use jostle_geom::{Mesh, Quality};
use jostle_scene::geometry::Tolerance;
use jostle_scene::{LodRule, NodeId, Play, Scene};
use jostle_world::{Ask, BodyId, GroupId, Policy, Settings, ShapeKind, Stopwatch, Workers, World};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// How a scene becomes a world.
#[derive(Clone, Debug)]
pub struct Staging {
    /// What is asked about two bodies that no `CollisionInterest` names.
    pub ask: Ask,
    /// What is asked instead of what a `CollisionInterest` asks.
    pub overrule: Option<Ask>,
    /// Is what cannot move tested against each other too? An assembly wants that, a world in
    /// which things move does not.
    pub scenery: Scenery,
    /// Which level of an `LOD` is tested.
    pub lod: LodRule,
    /// How closely spheres, cones and cylinders are followed by triangles.
    pub tolerance: Tolerance,
    /// How much work goes into hierarchies; the answers are the same.
    pub quality: Quality,
    /// Do closed surfaces count as full, so that what is inside them touches them?
    pub solid: bool,
    /// Vertices of a body that are as close as this become one, so that surfaces with gaps from
    /// rounding close.
    pub weld: Option<f64>,
    /// Leave out bodies to which no body of another object is as near as this: for a scene that is
    /// tested once, and not drawn.
    pub skip_lone: Option<f64>,
    /// Do bodies with a velocity stop where they touch, instead of jumping from place to place?
    pub continuous: bool,
    /// Is there an avatar, if the scene has a `NavigationInfo`?
    pub avatar: bool,
    /// The time at the beginning, in seconds.
    pub start: f64,
    /// The threads that share the exact tests.
    pub workers: Workers,
    /// Reads a clock, for the times in reports.
    pub stopwatch: Option<Stopwatch>,
}

impl Default for Staging {
    fn default() -> Staging {
        Staging {
            ask: Ask::Witness,
            overrule: None,
            scenery: Scenery::Fixed,
            lod: LodRule::ByViewer,
            tolerance: Tolerance::default(),
            quality: Quality::default(),
            solid: false,
            weld: None,
            skip_lone: None,
            continuous: false,
            avatar: true,
            start: 0.0,
            workers: Workers::ONE,
            stopwatch: None,
        }
    }
}

/// Is what cannot move tested against each other?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenery {
    /// No: it is as it is.
    Fixed,
    /// Yes, like everything.
    Tested,
}

/// A scene and the world that it has become.
///
/// ```
/// use jostle_scene::{Reading, read};
/// use jostle_stage::{HierarchyFiles, Stage, Staging};
///
/// let text = b"#VRML V2.0 utf8
///     Transform { translation -3 0 0 velocityVector 1 0 0 children Shape { geometry Box {} } }
///     Transform { children Shape { geometry Box {} } }";
/// let scene = read("two.wrl", text, &mut Reading::default())?.scene;
/// let mut stage = Stage::new(scene, Staging::default(), &mut HierarchyFiles::default())?;
/// let mut steps = 0;
/// while stage.world().contacts().is_empty() {
///     stage.step(0.25)?;
///     steps += 1;
/// }
/// assert_eq!(steps, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stage {
    pub(crate) play: Play,
    pub(crate) world: World,
    pub(crate) roles: Roles,
    pub(crate) staging: Staging,
    shapes: Shapes,
    pub(crate) actors: Vec<Actor>,
    by_key: HashMap<PieceKey, usize>,
    pub(crate) by_body: HashMap<BodyId, usize>,
    /// The family of each object.
    families: HashMap<Vec<NodeId>, u32>,
    pub(crate) names: Names,
    /// The group of each node that an interest names, by path.
    pub(crate) groups: HashMap<Vec<NodeId>, GroupId>,
    /// Groups were made since interests were expressed.
    pub(crate) interests_due: bool,
    /// Something is interested in what it is part of.
    pub(crate) nested_interests: bool,
    pub(crate) ignored: BTreeSet<[BodyId; 2]>,
    pub(crate) drives: Drives,
    pub(crate) visitor: Visitor,
    pub(crate) told: Told,
    pub(crate) problems: Vec<String>,
    /// The names of bodies that have left since it was last told what happened.
    pub(crate) departed: HashMap<BodyId, Arc<str>>,
}

/// A body and what it was made from.
#[derive(Debug)]
pub(crate) struct Actor {
    pub(crate) piece: Piece,
    /// None if it has no surface, or was left out.
    pub(crate) body: Option<Embodied>,
    /// The triangles of a body that was left out because it is near no other.
    pub(crate) left_out: Option<usize>,
}

impl Actor {
    pub(crate) fn has_surface(&self) -> bool {
        self.body.is_some() || self.left_out.is_some()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Embodied {
    pub(crate) id: BodyId,
    pub(crate) built: Built,
}

impl Stage {
    /// Makes a world of a scene, and tests it as it stands.
    ///
    /// # Errors
    /// Geometry that makes no surface, scenes that contain themselves, places beyond all numbers.
    pub fn new(
        scene: Scene,
        staging: Staging,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<Stage, StageError> {
        let mut stage = Stage::uncompared(scene, staging, files)?;
        stage.world.step();
        stage.settle_visitor()?;
        stage.tell(&[])?;
        Ok(stage)
    }

    /// As [`Stage::new`], without the first comparison.
    pub(crate) fn uncompared(
        scene: Scene,
        staging: Staging,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<Stage, StageError> {
        let mut problems = Vec::new();
        let roles = Roles::of(&scene, &mut problems);
        let world = World::new(Settings {
            policy: Policy::Everything(staging.ask),
            workers: staging.workers.clone(),
            stopwatch: staging.stopwatch,
            ..Settings::default()
        });
        let mut stage = Stage {
            play: Play::new(scene, staging.start)?,
            world,
            roles,
            staging,
            shapes: Shapes::default(),
            actors: Vec::new(),
            by_key: HashMap::new(),
            by_body: HashMap::new(),
            families: HashMap::new(),
            names: Names::default(),
            groups: HashMap::new(),
            interests_due: false,
            nested_interests: false,
            ignored: BTreeSet::new(),
            drives: Drives::default(),
            visitor: Visitor::default(),
            told: Told::default(),
            problems,
            departed: HashMap::new(),
        };
        stage.enter_avatar()?;
        stage.follow(files)?;
        Ok(stage)
    }

    /// Lets `seconds` pass: sensors and interpolators run, what has a velocity moves, everything
    /// is tested, responses act, and what happened leaves as events.
    ///
    /// # Errors
    /// A time that is no time; and as [`Stage::new`], since events may change the scene.
    pub fn step(&mut self, seconds: f64) -> Result<(), StageError> {
        self.step_with(seconds, &mut HierarchyFiles::default())
    }

    /// As [`Stage::step`], with files for hierarchies of shapes that events bring in.
    ///
    /// # Errors
    /// As [`Stage::step`].
    pub fn step_with(
        &mut self,
        seconds: f64,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<(), StageError> {
        self.play.advance(self.play.now() + seconds)?;
        self.follow(files)?;
        let before = self.where_driven();
        let advanced = self.world.advance(seconds)?;
        self.world.step();
        self.write_back(seconds, &before)?;
        self.settle_visitor()?;
        self.tell(&advanced.hits)
    }

    /// The world: contacts, events, bodies.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The scene as it is now, with its events.
    #[must_use]
    pub fn play(&self) -> &Play {
        &self.play
    }

    /// The scene's events, to send some in: keys, touches, fields.
    pub fn play_mut(&mut self) -> &mut Play {
        &mut self.play
    }

    /// What made no sense in the scene and was left out.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The name of a body: the names of the nodes above it, or where it stands in its file; with a
    /// number if another object has this name.
    #[must_use]
    pub fn name(&self, body: BodyId) -> String {
        self.shared_name(body).to_string()
    }

    /// The name of a body; all that is said about an object shares one text.
    pub(crate) fn shared_name(&self, body: BodyId) -> Arc<str> {
        match self.by_body.get(&body) {
            Some(&at) => {
                let unit = &self.actors[at].piece.unit;
                self.names.name(self.play.scene(), unit, unit)
            }
            None if self.visitor.avatar == Some(body) => "avatar".into(),
            None => self.departed.get(&body).cloned().unwrap_or_else(|| body.to_string().into()),
        }
    }

    /// Is it what cannot move, as far as is known?
    #[must_use]
    pub fn is_scenery(&self, body: BodyId) -> bool {
        self.by_body.get(&body).is_some_and(|&at| !self.actors[at].piece.mobile)
    }

    /// Is it the avatar?
    #[must_use]
    pub fn is_avatar(&self, body: BodyId) -> bool {
        self.visitor.avatar == Some(body)
    }

    /// Returns true if two bodies are parts of the same object.
    #[must_use]
    pub fn is_same_object(&self, a: BodyId, b: BodyId) -> bool {
        self.unit(a) == self.unit(b)
    }

    /// The path to the object that a body belongs to; empty for the avatar.
    pub(crate) fn unit(&self, body: BodyId) -> &[NodeId] {
        self.by_body.get(&body).map_or(&[], |&at| &self.actors[at].piece.unit)
    }

    /// The shape that a face of a body belongs to, by name, and the number of the face in it. The
    /// only shape of an object is called like the object.
    #[must_use]
    pub fn face(&self, body: BodyId, face: u32) -> Option<(Arc<str>, u32)> {
        let actor = &self.actors[*self.by_body.get(&body)?];
        let first_faces = &actor.body.as_ref()?.built.first_faces;
        // Parts without faces have the number of the next one: the last of these is meant.
        let part = first_faces.partition_point(|&first| first <= face).checked_sub(1)?;
        let (scene, piece) = (self.play.scene(), &actor.piece);
        let path = if piece.parts.len() > 1 || piece.key.path != piece.unit {
            &piece.parts.get(part)?.path
        } else {
            &piece.unit
        };
        Some((self.names.name(scene, &piece.unit, path), face - first_faces[part]))
    }

    /// The number of objects that have a surface.
    #[must_use]
    pub fn object_count(&self) -> usize {
        let actors = self.actors.iter().filter(|actor| actor.has_surface());
        actors.map(|actor| &actor.piece.unit).collect::<BTreeSet<_>>().len()
    }

    /// The number of bodies of objects, also of those that [`Staging::skip_lone`] left out.
    #[must_use]
    pub fn body_count(&self) -> usize {
        self.actors.iter().filter(|actor| actor.has_surface()).count()
    }

    /// The names of all objects that have a surface.
    pub(crate) fn object_names(&self) -> BTreeSet<Arc<str>> {
        let actors = self.actors.iter().filter(|actor| actor.has_surface());
        let scene = self.play.scene();
        actors.map(|Actor { piece, .. }| self.names.name(scene, &piece.unit, &piece.unit)).collect()
    }

    /// The number of triangles of all bodies, counted in each body.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        let counts = self.actors.iter().map(|actor| match &actor.body {
            Some(body) => match body.built.shape.kind() {
                ShapeKind::Mesh(model) => model.mesh().triangle_count(),
                _ => 0,
            },
            None => actor.left_out.unwrap_or(0),
        });
        counts.sum()
    }

    /// Brings the world up to what the scene says now.
    fn follow(&mut self, files: &mut HierarchyFiles<'_>) -> Result<(), StageError> {
        let changed: BTreeSet<NodeId> = self.play.take_changes().into_iter().collect();
        let first = self.by_key.is_empty() && self.actors.is_empty();
        let unmoved = !self.visitor.restless && !self.is_bound_anew();
        if !first && changed.is_empty() && unmoved {
            return Ok(());
        }
        self.learn_movers(&changed);
        self.shapes.forget(self.play.scene(), &changed);
        let mut plan = self.plan()?;
        // Where the viewpoint is the plan says; what depends on it needs another one.
        if self.place_visitor(plan.viewpoint)? && self.roles.viewed {
            plan = self.plan()?;
        }
        let mut left: Vec<bool> = vec![true; self.actors.len()];
        let mut lone = match self.staging.skip_lone {
            Some(distance) => self.lone(&plan.pieces, distance)?,
            None => Vec::new(),
        };
        lone.resize(plan.pieces.len(), None);
        for (piece, lone) in plan.pieces.into_iter().zip(lone) {
            match self.by_key.get(&piece.key).copied() {
                Some(at) => {
                    left[at] = false;
                    self.change(at, piece, files)?;
                }
                None if lone.is_some() => self.add_left_out(piece, lone),
                None => self.enter(piece, files)?,
            }
        }
        self.leave(&left)?;
        self.shapes.forget_unused(self.actors.len());
        self.express_interests()?;
        self.ignore_pairs()
    }

    fn plan(&self) -> Result<Plan, StageError> {
        let viewer = self.visitor.viewer();
        let (scene, viewpoint) = (self.play.scene(), self.play.viewpoint());
        Ok(Plan::of(scene, &self.roles, &viewer, self.staging.lod, viewpoint)?)
    }

    /// A `Transform` that nobody thought could move has moved: its bodies are not scenery.
    fn learn_movers(&mut self, changed: &BTreeSet<NodeId>) {
        use jostle_scene::nodes::Kind;
        for &id in changed {
            if let Kind::Transform(node) = &self.play.scene().node(id).kind {
                self.roles.movable.insert(id);
                if node.velocity_vector != glam::Vec3::ZERO || node.collision_response.is_some() {
                    self.roles.drivers.insert(id);
                }
            }
        }
    }

    /// The surfaces of a piece as it is now, and where they are in its body.
    pub(crate) fn surfaces_of(
        &mut self,
        piece: &Piece,
    ) -> Result<Vec<(Arc<Mesh>, DAffine3)>, StageError> {
        self.shapes.surfaces(self.play.scene(), &piece.parts, self.staging.tolerance)
    }

    /// The shape of a piece as it is now.
    pub(crate) fn built(
        &mut self,
        piece: &Piece,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<Option<Built>, StageError> {
        let &Staging { tolerance, quality, solid, weld, .. } = &self.staging;
        let making = Making { tolerance, quality, solid, weld };
        self.shapes.shape(self.play.scene(), &piece.parts, making, files)
    }

    /// The number that all bodies of an object share.
    pub(crate) fn family(&mut self, unit: &[NodeId]) -> u32 {
        let next = self.families.len() as u32;
        *self.families.entry(unit.to_vec()).or_insert(next)
    }

    /// Puts a new actor on the list.
    pub(crate) fn add_actor(&mut self, piece: Piece, body: Option<Embodied>) {
        let at = self.actors.len();
        self.by_key.insert(piece.key.clone(), at);
        if let Some(body) = &body {
            self.names.add(self.play.scene(), &piece.unit);
            self.by_body.insert(body.id, at);
        }
        self.actors.push(Actor { piece, body, left_out: None });
    }

    /// Puts an actor on the list that is near no other.
    fn add_left_out(&mut self, piece: Piece, triangles: Option<usize>) {
        self.by_key.insert(piece.key.clone(), self.actors.len());
        self.names.add(self.play.scene(), &piece.unit);
        self.actors.push(Actor { piece, body: None, left_out: triangles });
    }

    /// Puts an actor where another one was.
    pub(crate) fn seat(&mut self, at: usize, actor: Actor) {
        self.by_key.insert(actor.piece.key.clone(), at);
        self.by_body.extend(actor.body.as_ref().map(|body| (body.id, at)));
        self.actors[at] = actor;
    }

    /// Takes those who are not in the scene any more off the list.
    fn leave(&mut self, left: &[bool]) -> Result<(), StageError> {
        if !left.contains(&true) {
            return Ok(());
        }
        let gone = self.actors.iter().zip(left).filter(|&(_, &leaves)| leaves);
        let gone: Vec<BodyId> =
            gone.filter_map(|(actor, _)| actor.body.as_ref()).map(|body| body.id).collect();
        for id in gone {
            self.depart(id)?;
        }
        let mut at = 0;
        self.actors.retain(|_| {
            let leaves = left.get(at).copied().unwrap_or(false);
            at += 1;
            !leaves
        });
        self.by_key.clear();
        self.by_body.clear();
        for (at, actor) in self.actors.iter().enumerate() {
            self.by_key.insert(actor.piece.key.clone(), at);
            self.by_body.extend(actor.body.as_ref().map(|body| (body.id, at)));
        }
        Ok(())
    }

    /// Takes a body out of the world. Its contacts end in the next step, under its name.
    pub(crate) fn depart(&mut self, id: BodyId) -> Result<(), StageError> {
        self.departed.insert(id, self.shared_name(id));
        self.by_body.remove(&id);
        self.ignored.retain(|pair| !pair.contains(&id));
        self.world.remove(id)?;
        Ok(())
    }
}
