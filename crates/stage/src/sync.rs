//! Keeps the world in sync with the scene: inserts, updates and removes bodies.

use crate::plan::{BodyPlan, CollidesWith, PlacedViewpoint, Plan};
use crate::stage::{Stage, StaticPairs, WorldBody};
use crate::{HierarchyFiles, StageError, names, roles};
use glam::DVec3;
use jostle_geom::Pose;
use jostle_scene::nodes::Kind;
use jostle_scene::{Changes, NodeId, Placement};
use jostle_world::{Body, BodyId, CollisionGroups, GroupId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Collision group of objects, which collide with each other.
const OBJECT: u32 = 1;
/// Collision group of what stops the avatar.
const SOLID: u32 = 2;
/// Collision group of the avatar.
const AVATAR: u32 = 4;

/// The avatar collides with what stops it.
pub(crate) const AVATAR_LAYERS: CollisionGroups =
    CollisionGroups { memberships: AVATAR, filter: SOLID };

/// The work of applying the changes of the scene to the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncCounts {
    /// How often the whole scene was walked to plan its bodies.
    pub plans: usize,
    /// The number of bodies that were compared with the scene.
    pub compared: usize,
}

/// Which bodies move with which nodes, from the last plan.
///
/// Planning takes time in proportion to the scene, and bodies that move change a field of their
/// driver in each step. As long as nothing else changes, only the bodies below these nodes are
/// compared with the scene.
#[derive(Debug, Default)]
pub(crate) struct Movers {
    /// The indices of the bodies below each movable node.
    below: HashMap<NodeId, Vec<usize>>,
    viewpoint: Option<PlacedViewpoint>,
    /// Of the last step.
    pub(crate) counts: SyncCounts,
}

impl Stage {
    /// Applies the changes of the scene since the last call to the world.
    pub(crate) fn sync_world(&mut self, files: &mut HierarchyFiles<'_>) -> Result<(), StageError> {
        self.movers.counts = SyncCounts::default();
        let changes = self.play.take_changes_by_kind();
        let first = self.by_key.is_empty() && self.bodies.is_empty();
        let is_changed = !changes.moved.is_empty() || !changes.edited.is_empty();
        if !first && !is_changed && !self.avatar.walk_pending && !self.binding_changed() {
            return Ok(());
        }
        if !first && self.has_only_moved(&changes) {
            return self.move_bodies(&changes.moved, files);
        }
        let changed: BTreeSet<NodeId> = changes.moved.into_iter().chain(changes.edited).collect();
        self.mark_movable(&changed);
        self.shapes.forget(self.play.scene(), &changed);
        let mut plan = self.plan()?;
        // The plan has the position of the viewpoint. If the viewer has moved, what depends on the
        // viewer (`Billboard`, `LOD`) needs a second plan.
        let viewpoint = plan.viewpoint.as_ref().map(|viewpoint| viewpoint.placement);
        if self.place_avatar(viewpoint)? && self.roles.depends_on_viewer {
            plan = self.plan()?;
        }
        self.movers.viewpoint = plan.viewpoint.take();
        self.apply_plan(plan, files)?;
        self.shapes.forget_unused(self.bodies.len());
        self.index_movers();
        self.apply_interests()?;
        self.ignore_pairs()
    }

    /// Inserts, updates and removes bodies as a plan says.
    fn apply_plan(&mut self, plan: Plan, files: &mut HierarchyFiles<'_>) -> Result<(), StageError> {
        let mut missing: Vec<bool> = vec![true; self.bodies.len()];
        let mut isolated = match self.options.skip_isolated {
            Some(distance) => self.isolated(&plan.bodies, distance)?,
            None => Vec::new(),
        };
        isolated.resize(plan.bodies.len(), None);
        self.movers.counts.compared += plan.bodies.len();
        for (plan, isolated) in plan.bodies.into_iter().zip(isolated) {
            match self.by_key.get(&plan.key).copied() {
                Some(at) => {
                    missing[at] = false;
                    self.update_body(at, plan, files)?;
                }
                None if isolated.is_some() => self.push_skipped(plan, isolated),
                None => self.insert_body(plan, files)?,
            }
        }
        self.remove_missing(&missing)
    }

    fn plan(&mut self) -> Result<Plan, StageError> {
        self.movers.counts.plans += 1;
        let viewer = self.avatar.viewer();
        let (scene, viewpoint) = (self.play.scene(), self.play.viewpoint());
        Ok(Plan::of(scene, &self.roles, &viewer, self.options.lod, viewpoint)?)
    }

    /// Returns true if the plan is the same but for placements and velocities below nodes that are
    /// known to move.
    fn has_only_moved(&self, changes: &Changes) -> bool {
        let scene = self.play.scene();
        let is_known = |id: &NodeId| {
            let drives =
                matches!(&scene.node(*id).kind, Kind::Transform(node) if roles::drives(node));
            self.roles.movable.contains(id) && (!drives || self.roles.drivers.contains(id))
        };
        let viewpoint = self.movers.viewpoint.as_ref().map_or(&[][..], |view| &view.path);
        changes.edited.is_empty()
            && changes.moved.iter().all(|id| is_known(id) && !viewpoint.contains(id))
            && !self.roles.depends_on_viewer
            && !self.binding_changed()
            && self.options.skip_isolated.is_none()
    }

    /// Updates the bodies below nodes that have moved, and the avatar.
    fn move_bodies(
        &mut self,
        moved: &[NodeId],
        files: &mut HierarchyFiles<'_>,
    ) -> Result<(), StageError> {
        self.place_avatar(self.movers.viewpoint.as_ref().map(|viewpoint| viewpoint.placement))?;
        let below = moved.iter().filter_map(|id| self.movers.below.get(id)).flatten();
        let below: BTreeSet<usize> = below.copied().collect();
        self.movers.counts.compared += below.len();
        for at in below {
            let plan = self.bodies[at].plan.moved(self.play.scene());
            self.update_body(at, plan, files)?;
        }
        self.shapes.forget_unused(self.bodies.len());
        Ok(())
    }

    fn index_movers(&mut self) {
        self.movers.below.clear();
        for (at, body) in self.bodies.iter().enumerate() {
            for id in body.plan.key.path.iter().filter(|id| self.roles.movable.contains(id)) {
                self.movers.below.entry(*id).or_default().push(at);
            }
        }
    }

    /// Marks `Transform` nodes as movable that have changed although no route or velocity moves
    /// them: the host has set their fields. Their bodies are no longer static.
    fn mark_movable(&mut self, changed: &BTreeSet<NodeId>) {
        for &id in changed {
            if let Kind::Transform(node) = &self.play.scene().node(id).kind {
                self.roles.movable.insert(id);
                if roles::drives(node) {
                    self.roles.drivers.insert(id);
                }
            }
        }
    }

    /// Inserts a body that is new in the plan.
    pub(crate) fn insert_body(
        &mut self,
        plan: BodyPlan,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<(), StageError> {
        let Some(built) = self.built(&plan, files)? else {
            self.push_body(plan, None);
            return Ok(());
        };
        let pose = self.pose(&plan)?;
        let shape = built.shape.clone();
        let moves = plan.mobile || self.options.static_pairs == StaticPairs::Test;
        let body = if moves { Body::moving(shape, pose) } else { Body::fixed(shape, pose) };
        let family = self.family(&plan.object_path);
        let mut body =
            body.with_family(family).with_collision_groups(self.layers(plan.collides_with));
        if let Some(group) = self.group_for(&plan.key.path)? {
            body = body.with_group(group);
        }
        let id = self.world.insert(body)?;
        if !plan.active {
            self.world.disable(id)?;
        }
        self.apply_driver(&plan, id)?;
        self.push_body(plan, Some(WorldBody { id, built }));
        Ok(())
    }

    /// Updates a body that the plan still has: pose, shape, collision groups, activity, velocity.
    pub(crate) fn update_body(
        &mut self,
        at: usize,
        plan: BodyPlan,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<(), StageError> {
        let built = self.built(&plan, files)?;
        let old = &self.bodies[at];
        let same_kind = old.plan.mobile == plan.mobile
            && old.plan.object_path == plan.object_path
            && old.body.is_some() == built.is_some();
        if !same_kind {
            return self.replace_body(at, plan, files);
        }
        let (Some(body), Some(built)) = (old.body.clone(), built) else {
            self.bodies[at].plan = plan;
            return Ok(());
        };
        let (old, id) = (&old.plan, body.id);
        let (moved, collides_with, active) = (
            old.frame != plan.frame,
            old.collides_with != plan.collides_with,
            old.active != plan.active,
        );
        if !std::sync::Arc::ptr_eq(&body.built.first_faces, &built.first_faces) {
            self.world.set_shape(id, built.shape.clone())?;
        }
        if moved && (plan.mobile || self.options.static_pairs == StaticPairs::Test) {
            self.world.set_pose(id, self.pose(&plan)?)?;
        }
        if collides_with {
            self.world.set_collision_groups(id, self.layers(plan.collides_with))?;
        }
        if active && plan.active {
            self.world.enable(id)?;
        } else if active {
            self.world.disable(id)?;
        }
        self.apply_driver(&plan, id)?;
        self.bodies[at].body = Some(WorldBody { id, built });
        self.bodies[at].plan = plan;
        Ok(())
    }

    /// Removes a body and inserts it anew at the same index: a body of the world cannot change
    /// between moving and fixed, or its family.
    fn replace_body(
        &mut self,
        at: usize,
        plan: BodyPlan,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<(), StageError> {
        if let Some(old) = self.bodies[at].body.take() {
            self.remove_body(old.id)?;
        }
        self.insert_body(plan, files)?;
        // `insert_body` has appended it.
        let inserted = self.bodies.swap_remove(self.bodies.len() - 1);
        self.put_body_at(at, inserted);
        Ok(())
    }

    fn pose(&self, plan: &BodyPlan) -> Result<Pose, StageError> {
        let name = || names::of(self.play.scene(), &plan.object_path);
        let rest = plan.driver.map_or(DVec3::ZERO, |driver| self.rounding_offset(driver));
        let frame = Placement { translation: plan.frame.translation + rest, ..plan.frame };
        frame.pose().map_err(|source| StageError::Pose { name: name(), source })
    }

    /// If there are interests and no `CollisionObject`, only pairs with an interest are tested
    /// (Ohlenburg 3.3.1: "Collisions are only reported among those objects and their interests").
    fn layers(&self, collides_with: CollidesWith) -> CollisionGroups {
        let by_interest = !self.roles.interests.is_empty() && !self.roles.has_collision_objects;
        let objects = if collides_with.objects && !by_interest { OBJECT } else { 0 };
        let solid = if collides_with.avatar { SOLID } else { 0 };
        let avatar = if collides_with.avatar { AVATAR } else { 0 };
        CollisionGroups { memberships: objects | solid, filter: objects | avatar }
    }

    /// Sets the interests in the world. A node with several paths has its interests on each path.
    pub(crate) fn apply_interests(&mut self) -> Result<(), StageError> {
        if !std::mem::take(&mut self.interests_changed) {
            return Ok(());
        }
        let mut paths: BTreeMap<NodeId, Vec<(&[NodeId], GroupId)>> = BTreeMap::new();
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_unstable();
        for (path, &group) in groups {
            if let Some(&node) = path.last() {
                paths.entry(node).or_default().push((path, group));
            }
        }
        for interest in &self.roles.interests {
            let of = |node| paths.get(&node).into_iter().flatten();
            for &(path_a, a) in of(interest.collider) {
                for &(path_b, b) in of(interest.collidee) {
                    if a != b {
                        let query = self.options.query_override.unwrap_or(interest.query);
                        self.world.set_interest(a, b, query)?;
                        self.nested_interests |=
                            path_a.starts_with(path_b) || path_b.starts_with(path_a);
                    }
                }
            }
        }
        Ok(())
    }

    /// Ignores pairs of bodies of which one object lists the other in `ignoredObjects` (V-COLLIDE,
    /// section 3.2).
    pub(crate) fn ignore_pairs(&mut self) -> Result<(), StageError> {
        if !self.roles.has_collision_objects && !self.nested_interests {
            return Ok(());
        }
        let mut bodies: BTreeMap<NodeId, Vec<BodyId>> = BTreeMap::new();
        for entry in &self.bodies {
            let (Some(body), Some(&object_path)) = (&entry.body, entry.plan.object_path.last())
            else {
                continue;
            };
            bodies.entry(object_path).or_default().push(body.id);
        }
        let scene = self.play.scene();
        let mut wanted = self.pairs_within_objects();
        for (&object_path, of_object) in &bodies {
            let Kind::CollisionObject(object) = &scene.node(object_path).kind else { continue };
            for other in object.ignored_objects.iter().filter_map(|&id| scene.through_instances(id))
            {
                for &a in of_object {
                    let others = bodies.get(&other).into_iter().flatten();
                    wanted.extend(others.filter(|&&b| a != b).map(|&b| [a.min(b), a.max(b)]));
                }
            }
        }
        for &[a, b] in wanted.difference(&self.ignored) {
            self.world.ignore_pair(a, b)?;
        }
        for &[a, b] in self.ignored.difference(&wanted) {
            self.world.unignore_pair(a, b)?;
        }
        self.ignored = wanted;
        Ok(())
    }

    /// Pairs of bodies of one object. Being of one family excludes them from tests, but an interest
    /// between a node and its ancestor has priority over the family, so they are ignored
    /// explicitly.
    fn pairs_within_objects(&self) -> BTreeSet<[BodyId; 2]> {
        let mut pairs = BTreeSet::new();
        if !self.nested_interests {
            return pairs;
        }
        let mut by_object: BTreeMap<&[NodeId], Vec<BodyId>> = BTreeMap::new();
        for entry in &self.bodies {
            if let Some(body) = &entry.body {
                let others = by_object.entry(&entry.plan.object_path).or_default();
                pairs.extend(others.iter().map(|&other| [other.min(body.id), other.max(body.id)]));
                others.push(body.id);
            }
        }
        pairs
    }

    /// The group of the last node on a path that an interest names. Missing groups are created,
    /// also those of the ancestors.
    fn group_for(&mut self, path: &[NodeId]) -> Result<Option<GroupId>, StageError> {
        let mut group = None;
        for (at, node) in path.iter().enumerate() {
            if !self.roles.interest_targets.contains(node) {
                continue;
            }
            let prefix = path[..=at].to_vec();
            group = Some(match self.groups.get(&prefix) {
                Some(&known) => known,
                None => {
                    let fresh = self.world.new_group(group)?;
                    self.groups.insert(prefix, fresh);
                    self.interests_changed = true;
                    fresh
                }
            });
        }
        Ok(group)
    }
}
