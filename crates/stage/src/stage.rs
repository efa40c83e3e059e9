//! The stage: runs the events of a scene and the collisions of its world, step by step.

use crate::avatar::Avatar;
use crate::drive::ExactTranslations;
use crate::events::EventState;
use crate::names::ObjectNames;
use crate::plan::{BodyKey, BodyPlan};
use crate::roles::Roles;
use crate::shapes::{BuiltShape, ShapeOptions, Shapes};
use crate::sync::{Movers, SyncCounts};
use crate::{HierarchyFiles, StageError};
use glam::DAffine3;
use jostle_geom::{Mesh, Quality, ShapeKind};
use jostle_scene::geometry::Tolerance;
use jostle_scene::{LodRule, NodeId, Play, Scene};
use jostle_world::{BodyId, GroupId, Policy, QueryKind, Settings, Stopwatch, Workers, World};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// How a world is made of a scene.
#[derive(Clone, Debug)]
pub struct StageOptions {
    /// The query for pairs of bodies that no `CollisionInterest` names.
    pub query: QueryKind,
    /// Replaces the query that a `CollisionInterest` asks for.
    pub query_override: Option<QueryKind>,
    /// Whether pairs of static bodies are tested. A check of an assembly needs that, a simulation
    /// does not.
    pub static_pairs: StaticPairs,
    /// Which level of an `LOD` is tested.
    pub lod: LodRule,
    /// How closely triangles approximate spheres, cones and cylinders.
    pub tolerance: Tolerance,
    /// How much work goes into building hierarchies. It does not change results.
    pub quality: Quality,
    /// Closed surfaces are solid: what is inside them touches them.
    pub solid: bool,
    /// Vertices of a body within this distance are merged, which closes gaps from rounding.
    pub weld: Option<f64>,
    /// Skips bodies that have no body of another object within this distance: for a scene that is
    /// tested once and not drawn.
    pub skip_isolated: Option<f64>,
    /// Bodies with a velocity use continuous collision detection and stop where they touch.
    pub continuous: bool,
    /// Inserts an avatar if the scene has a `NavigationInfo`.
    pub avatar: bool,
    /// The time at which the simulation starts, in seconds.
    pub start_time: f64,
    /// The threads for the exact tests.
    pub workers: Workers,
    /// The clock for the times in reports.
    pub stopwatch: Option<Stopwatch>,
}

impl Default for StageOptions {
    fn default() -> StageOptions {
        StageOptions {
            query: QueryKind::Witness,
            query_override: None,
            static_pairs: StaticPairs::Skip,
            lod: LodRule::ByViewer,
            tolerance: Tolerance::default(),
            quality: Quality::default(),
            solid: false,
            weld: None,
            skip_isolated: None,
            continuous: false,
            avatar: true,
            start_time: 0.0,
            workers: Workers::ONE,
            stopwatch: None,
        }
    }
}

/// Whether pairs of static bodies are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticPairs {
    /// They are not tested.
    Skip,
    /// They are tested like all other pairs.
    Test,
}

/// A scene and the world that was made of it.
///
/// ```
/// use jostle_scene::{Reading, read};
/// use jostle_stage::{HierarchyFiles, Stage, StageOptions};
///
/// let text = b"#VRML V2.0 utf8
///     Transform { translation -3 0 0 velocityVector 1 0 0 children Shape { geometry Box {} } }
///     Transform { children Shape { geometry Box {} } }";
/// let scene = read("two.wrl", text, &mut Reading::default())?.scene;
/// let mut stage = Stage::new(scene, StageOptions::default(), &mut HierarchyFiles::default())?;
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
    pub(crate) options: StageOptions,
    pub(crate) shapes: Shapes,
    pub(crate) bodies: Vec<SceneBody>,
    pub(crate) by_key: HashMap<BodyKey, usize>,
    pub(crate) by_body: HashMap<BodyId, usize>,
    /// The family of each object.
    families: HashMap<Vec<NodeId>, u32>,
    pub(crate) names: ObjectNames,
    /// What the last plan has for bodies that move without a new plan.
    pub(crate) movers: Movers,
    /// The group of each node that an interest names, by its path.
    pub(crate) groups: HashMap<Vec<NodeId>, GroupId>,
    /// New groups exist whose interests have not been set in the world yet.
    pub(crate) interests_changed: bool,
    /// An interest names a node and one of its ancestors.
    pub(crate) nested_interests: bool,
    pub(crate) ignored: BTreeSet<[BodyId; 2]>,
    pub(crate) exact_translations: ExactTranslations,
    pub(crate) avatar: Avatar,
    pub(crate) event_state: EventState,
    pub(crate) problems: Vec<String>,
    /// The names of bodies removed since events were last reported: their contacts still end.
    pub(crate) removed_names: HashMap<BodyId, Arc<str>>,
}

/// A body of the scene.
#[derive(Debug)]
pub(crate) struct SceneBody {
    pub(crate) plan: BodyPlan,
    /// Its body in the world. None if it has no surface, or was skipped.
    pub(crate) body: Option<WorldBody>,
    /// The number of triangles of a body that [`StageOptions::skip_isolated`] skipped.
    pub(crate) skipped: Option<usize>,
}

impl SceneBody {
    pub(crate) fn has_surface(&self) -> bool {
        self.body.is_some() || self.skipped.is_some()
    }
}

/// What the world has of a body of the scene.
#[derive(Clone, Debug)]
pub(crate) struct WorldBody {
    pub(crate) id: BodyId,
    pub(crate) built: BuiltShape,
}

impl Stage {
    /// Makes a world of a scene and tests it once, at its start time.
    ///
    /// # Errors
    /// Invalid geometry, scenes that contain themselves, positions that are not finite.
    pub fn new(
        scene: Scene,
        options: StageOptions,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<Stage, StageError> {
        let mut stage = Stage::before_first_step(scene, options, files)?;
        stage.world.step();
        stage.read_back_avatar()?;
        stage.report_events(&[])?;
        Ok(stage)
    }

    /// As [`Stage::new`], without the first step: no pairs of bodies are tested yet.
    pub(crate) fn before_first_step(
        scene: Scene,
        options: StageOptions,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<Stage, StageError> {
        let mut problems = Vec::new();
        let roles = Roles::of(&scene, &mut problems);
        let world = World::new(Settings {
            policy: Policy::Everything(options.query),
            workers: options.workers.clone(),
            stopwatch: options.stopwatch,
            ..Settings::default()
        });
        let mut stage = Stage {
            play: Play::new(scene, options.start_time)?,
            world,
            roles,
            options,
            shapes: Shapes::default(),
            bodies: Vec::new(),
            by_key: HashMap::new(),
            by_body: HashMap::new(),
            families: HashMap::new(),
            names: ObjectNames::default(),
            movers: Movers::default(),
            groups: HashMap::new(),
            interests_changed: false,
            nested_interests: false,
            ignored: BTreeSet::new(),
            exact_translations: ExactTranslations::default(),
            avatar: Avatar::default(),
            event_state: EventState::default(),
            problems,
            removed_names: HashMap::new(),
        };
        stage.insert_avatar()?;
        stage.sync_world(files)?;
        Ok(stage)
    }

    /// Advances by `seconds`: runs sensors and interpolators, moves bodies by their velocities,
    /// tests pairs, applies responses and sends events.
    ///
    /// # Errors
    /// A time step that is not finite or negative; and as [`Stage::new`], since events may change
    /// the scene.
    pub fn step(&mut self, seconds: f64) -> Result<(), StageError> {
        self.step_with(seconds, &mut HierarchyFiles::default())
    }

    /// As [`Stage::step`], with files for the hierarchies of shapes that events add.
    ///
    /// # Errors
    /// As [`Stage::step`].
    pub fn step_with(
        &mut self,
        seconds: f64,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<(), StageError> {
        self.play.advance(self.play.now() + seconds)?;
        self.sync_world(files)?;
        let before = self.driven_bodies();
        let advanced = self.world.advance(seconds)?;
        self.world.step();
        self.write_back(seconds, &before)?;
        self.read_back_avatar()?;
        self.report_events(&advanced.hits)
    }

    /// The world: contacts, events, bodies.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The running scene: its nodes in their current state, and its events.
    #[must_use]
    pub fn play(&self) -> &Play {
        &self.play
    }

    /// The running scene, to send events to it: keys, touches, fields.
    pub fn play_mut(&mut self) -> &mut Play {
        &mut self.play
    }

    /// The work that it took to apply the changes of the scene to the world in the last step.
    #[must_use]
    pub fn sync_counts(&self) -> SyncCounts {
        self.movers.counts
    }

    /// Problems of the scene: what was invalid and is ignored.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The name of a body: the names of the nodes above it, or its position in the file; with a
    /// number if another object has the same name.
    #[must_use]
    pub fn name(&self, body: BodyId) -> String {
        self.shared_name(body).to_string()
    }

    /// As [`Stage::name`], without a copy: all uses of the name of an object share one allocation.
    pub(crate) fn shared_name(&self, body: BodyId) -> Arc<str> {
        match self.by_body.get(&body) {
            Some(&at) => {
                let object_path = &self.bodies[at].plan.object_path;
                self.names.name(self.play.scene(), object_path, object_path)
            }
            None if self.avatar.body == Some(body) => "avatar".into(),
            None => {
                self.removed_names.get(&body).cloned().unwrap_or_else(|| body.to_string().into())
            }
        }
    }

    /// Returns true if the body has not moved and nothing in the scene can move it.
    #[must_use]
    pub fn is_static(&self, body: BodyId) -> bool {
        self.by_body.get(&body).is_some_and(|&at| !self.bodies[at].plan.mobile)
    }

    /// Returns true if the body is the avatar.
    #[must_use]
    pub fn is_avatar(&self, body: BodyId) -> bool {
        self.avatar.body == Some(body)
    }

    /// Returns true if two bodies are parts of the same object.
    #[must_use]
    pub fn is_same_object(&self, a: BodyId, b: BodyId) -> bool {
        self.object_path(a) == self.object_path(b)
    }

    /// The path to the object of a body; empty for the avatar.
    pub(crate) fn object_path(&self, body: BodyId) -> &[NodeId] {
        self.by_body.get(&body).map_or(&[], |&at| &self.bodies[at].plan.object_path)
    }

    /// The name of the shape that a face of a body belongs to, and the index of the face in it. The
    /// only shape of an object has the name of the object.
    #[must_use]
    pub fn face(&self, body: BodyId, face: u32) -> Option<(Arc<str>, u32)> {
        let entry = &self.bodies[*self.by_body.get(&body)?];
        let first_faces = &entry.body.as_ref()?.built.first_faces;
        // Parts without faces have the same first face as the part after them: take the last.
        let part = first_faces.partition_point(|&first| first <= face).checked_sub(1)?;
        let (scene, plan) = (self.play.scene(), &entry.plan);
        let path = if plan.parts.len() > 1 || plan.key.path != plan.object_path {
            &plan.parts.get(part)?.path
        } else {
            &plan.object_path
        };
        Some((self.names.name(scene, &plan.object_path, path), face - first_faces[part]))
    }

    /// The number of objects that have a surface.
    #[must_use]
    pub fn object_count(&self) -> usize {
        let bodies = self.bodies.iter().filter(|entry| entry.has_surface());
        bodies.map(|entry| &entry.plan.object_path).collect::<BTreeSet<_>>().len()
    }

    /// The number of bodies with a surface, including those that
    /// [`StageOptions::skip_isolated`] skipped.
    #[must_use]
    pub fn body_count(&self) -> usize {
        self.bodies.iter().filter(|entry| entry.has_surface()).count()
    }

    /// The names of all objects that have a surface.
    pub(crate) fn object_names(&self) -> BTreeSet<Arc<str>> {
        let bodies = self.bodies.iter().filter(|entry| entry.has_surface());
        let scene = self.play.scene();
        bodies
            .map(|SceneBody { plan, .. }| {
                self.names.name(scene, &plan.object_path, &plan.object_path)
            })
            .collect()
    }

    /// The sum of the triangle counts of all bodies.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        let counts = self.bodies.iter().map(|entry| match &entry.body {
            Some(body) => match body.built.shape.kind() {
                ShapeKind::Mesh(model) | ShapeKind::ConvexHull(model) => {
                    model.mesh().triangle_count()
                }
                _ => 0,
            },
            None => entry.skipped.unwrap_or(0),
        });
        counts.sum()
    }

    /// The surfaces of a body, with their placements in the body.
    pub(crate) fn surfaces_of(
        &mut self,
        plan: &BodyPlan,
    ) -> Result<Vec<(Arc<Mesh>, DAffine3)>, StageError> {
        self.shapes.surfaces(self.play.scene(), &plan.parts, self.options.tolerance)
    }

    /// The shape of a body.
    pub(crate) fn built(
        &mut self,
        plan: &BodyPlan,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<Option<BuiltShape>, StageError> {
        let &StageOptions { tolerance, quality, solid, weld, .. } = &self.options;
        let options = ShapeOptions { tolerance, quality, solid, weld };
        self.shapes.shape(self.play.scene(), &plan.parts, options, files)
    }

    /// The family of an object: bodies of one family are not tested against each other.
    pub(crate) fn family(&mut self, object_path: &[NodeId]) -> u32 {
        let next = self.families.len() as u32;
        *self.families.entry(object_path.to_vec()).or_insert(next)
    }

    /// Appends a body to the list.
    pub(crate) fn push_body(&mut self, plan: BodyPlan, body: Option<WorldBody>) {
        let at = self.bodies.len();
        self.by_key.insert(plan.key.clone(), at);
        if let Some(body) = &body {
            self.names.add(self.play.scene(), &plan.object_path);
            self.by_body.insert(body.id, at);
        }
        self.bodies.push(SceneBody { plan, body, skipped: None });
    }

    /// Appends a body that is skipped because it is isolated.
    pub(crate) fn push_skipped(&mut self, plan: BodyPlan, triangles: Option<usize>) {
        self.by_key.insert(plan.key.clone(), self.bodies.len());
        self.names.add(self.play.scene(), &plan.object_path);
        self.bodies.push(SceneBody { plan, body: None, skipped: triangles });
    }

    /// Replaces the body at an index of the list.
    pub(crate) fn put_body_at(&mut self, at: usize, entry: SceneBody) {
        self.by_key.insert(entry.plan.key.clone(), at);
        self.by_body.extend(entry.body.as_ref().map(|body| (body.id, at)));
        self.bodies[at] = entry;
    }

    /// Removes the bodies that are no longer in the scene. `missing` has a flag for each body.
    pub(crate) fn remove_missing(&mut self, missing: &[bool]) -> Result<(), StageError> {
        if !missing.contains(&true) {
            return Ok(());
        }
        let gone = self.bodies.iter().zip(missing).filter(|&(_, &missing)| missing);
        let gone: Vec<BodyId> =
            gone.filter_map(|(entry, _)| entry.body.as_ref()).map(|body| body.id).collect();
        for id in gone {
            self.remove_body(id)?;
        }
        let mut at = 0;
        self.bodies.retain(|_| {
            let remove = missing.get(at).copied().unwrap_or(false);
            at += 1;
            !remove
        });
        self.by_key.clear();
        self.by_body.clear();
        for (at, entry) in self.bodies.iter().enumerate() {
            self.by_key.insert(entry.plan.key.clone(), at);
            self.by_body.extend(entry.body.as_ref().map(|body| (body.id, at)));
        }
        Ok(())
    }

    /// Removes a body from the world. Its contacts end in the next step and are reported with its
    /// name, which is kept until then.
    pub(crate) fn remove_body(&mut self, id: BodyId) -> Result<(), StageError> {
        self.removed_names.insert(id, self.shared_name(id));
        self.by_body.remove(&id);
        self.ignored.retain(|pair| !pair.contains(&id));
        self.world.remove(id)?;
        Ok(())
    }
}
