//! Inserts and updates bodies as the plan of the scene says.

use crate::plan::{BodyPlan, CollidesWith};
use crate::stage::{Stage, StaticPairs, WorldBody};
use crate::{HierarchyFiles, StageError, names};
use glam::DVec3;
use jostle_geom::Pose;
use jostle_scene::nodes::Kind;
use jostle_scene::{NodeId, Placement};
use jostle_world::{Body, BodyId, GroupId, Layers};
use std::collections::{BTreeMap, BTreeSet};

/// Collision group of objects, which collide with each other.
const OBJECT: u32 = 1;
/// Collision group of what stops the avatar.
const SOLID: u32 = 2;
/// Collision group of the avatar.
const AVATAR: u32 = 4;

/// The avatar collides with what stops it.
pub(crate) const AVATAR_LAYERS: Layers = Layers { member: AVATAR, wants: SOLID };

impl Stage {
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
        let mut body = body.with_family(family).with_layers(self.layers(plan.collides_with));
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
            self.world.set_layers(id, self.layers(plan.collides_with))?;
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
    fn layers(&self, collides_with: CollidesWith) -> Layers {
        let by_interest = !self.roles.interests.is_empty() && !self.roles.has_collision_objects;
        let objects = if collides_with.objects && !by_interest { OBJECT } else { 0 };
        let solid = if collides_with.avatar { SOLID } else { 0 };
        let avatar = if collides_with.avatar { AVATAR } else { 0 };
        Layers { member: objects | solid, wants: objects | avatar }
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
            self.world.heed_pair(a, b)?;
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
