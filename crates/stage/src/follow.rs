//! Bodies that enter and change with their scene.

use crate::plan::{Meets, Piece};
use crate::stage::{Embodied, Scenery, Stage};
use crate::{HierarchyFiles, StageError, names};
use glam::DVec3;
use jostle_geom::Pose;
use jostle_scene::nodes::Kind;
use jostle_scene::{NodeId, Placement};
use jostle_world::{Body, BodyId, CollisionGroups, GroupId};
use std::collections::{BTreeMap, BTreeSet};

/// Objects, which meet each other,
const OBJECT: u32 = 1;
/// what stops the avatar,
const SOLID: u32 = 2;
/// and the avatar.
const AVATAR: u32 = 4;

/// The avatar meets what stops it.
pub(crate) const AVATAR_LAYERS: CollisionGroups =
    CollisionGroups { memberships: AVATAR, filter: SOLID };

impl Stage {
    /// A body comes in.
    pub(crate) fn enter(
        &mut self,
        piece: Piece,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<(), StageError> {
        let Some(built) = self.built(&piece, files)? else {
            self.add_actor(piece, None);
            return Ok(());
        };
        let pose = self.pose(&piece)?;
        let shape = built.shape.clone();
        let moves = piece.mobile || self.staging.scenery == Scenery::Tested;
        let body = if moves { Body::moving(shape, pose) } else { Body::fixed(shape, pose) };
        let family = self.family(&piece.unit);
        let mut body = body.with_family(family).with_collision_groups(self.layers(piece.meets));
        if let Some(group) = self.group_for(&piece.key.path)? {
            body = body.with_group(group);
        }
        let id = self.world.insert(body)?;
        if !piece.active {
            self.world.disable(id)?;
        }
        self.set_drive(&piece, id)?;
        self.add_actor(piece, Some(Embodied { id, built }));
        Ok(())
    }

    /// A body is still there, perhaps elsewhere or otherwise.
    pub(crate) fn change(
        &mut self,
        at: usize,
        piece: Piece,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<(), StageError> {
        let built = self.built(&piece, files)?;
        let old = &self.actors[at];
        let same_kind = old.piece.mobile == piece.mobile
            && old.piece.unit == piece.unit
            && old.body.is_some() == built.is_some();
        if !same_kind {
            return self.replace(at, piece, files);
        }
        let (Some(body), Some(built)) = (old.body.clone(), built) else {
            self.actors[at].piece = piece;
            return Ok(());
        };
        let (old, id) = (&old.piece, body.id);
        let (moved, meets, active) =
            (old.frame != piece.frame, old.meets != piece.meets, old.active != piece.active);
        if !std::sync::Arc::ptr_eq(&body.built.first_faces, &built.first_faces) {
            self.world.set_shape(id, built.shape.clone())?;
        }
        if moved && (piece.mobile || self.staging.scenery == Scenery::Tested) {
            self.world.set_pose(id, self.pose(&piece)?)?;
        }
        if meets {
            self.world.set_collision_groups(id, self.layers(piece.meets))?;
        }
        if active && piece.active {
            self.world.enable(id)?;
        } else if active {
            self.world.disable(id)?;
        }
        self.set_drive(&piece, id)?;
        self.actors[at].body = Some(Embodied { id, built });
        self.actors[at].piece = piece;
        Ok(())
    }

    /// A body becomes one of another kind: it leaves, and enters again in the same seat.
    fn replace(
        &mut self,
        at: usize,
        piece: Piece,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<(), StageError> {
        if let Some(old) = self.actors[at].body.take() {
            self.depart(old.id)?;
        }
        self.enter(piece, files)?;
        // `enter` has put it at the end of the list.
        let fresh = self.actors.swap_remove(self.actors.len() - 1);
        self.seat(at, fresh);
        Ok(())
    }

    fn pose(&self, piece: &Piece) -> Result<Pose, StageError> {
        let name = || names::of(self.play.scene(), &piece.unit);
        let rest = piece.driver.map_or(DVec3::ZERO, |driver| self.rounded_off(driver));
        let frame = Placement { translation: piece.frame.translation + rest, ..piece.frame };
        frame.pose().map_err(|source| StageError::Pose { name: name(), source })
    }

    /// If there are interests and no `CollisionObject`, objects meet where there is an interest
    /// only (Ohlenburg 3.3.1: "Collisions are only reported among those objects and their
    /// interests").
    fn layers(&self, meets: Meets) -> CollisionGroups {
        let by_interest = !self.roles.interests.is_empty() && !self.roles.objects;
        let objects = if meets.objects && !by_interest { OBJECT } else { 0 };
        let solid = if meets.avatar { SOLID } else { 0 };
        let avatar = if meets.avatar { AVATAR } else { 0 };
        CollisionGroups { memberships: objects | solid, filter: objects | avatar }
    }

    /// Puts into the world who asks about whom. A node that stands in several places asks, and is
    /// asked about, in each of them.
    pub(crate) fn express_interests(&mut self) -> Result<(), StageError> {
        if !std::mem::take(&mut self.interests_due) {
            return Ok(());
        }
        let mut places: BTreeMap<NodeId, Vec<(&[NodeId], GroupId)>> = BTreeMap::new();
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_unstable();
        for (path, &group) in groups {
            if let Some(&node) = path.last() {
                places.entry(node).or_default().push((path, group));
            }
        }
        for interest in &self.roles.interests {
            let of = |node| places.get(&node).into_iter().flatten();
            for &(path_a, a) in of(interest.collider) {
                for &(path_b, b) in of(interest.collidee) {
                    if a != b {
                        let ask = self.staging.overrule.unwrap_or(interest.ask);
                        self.world.set_interest(a, b, ask)?;
                        self.nested_interests |=
                            path_a.starts_with(path_b) || path_b.starts_with(path_a);
                    }
                }
            }
        }
        Ok(())
    }

    /// Pairs of bodies of which one object ignores the other (V-COLLIDE, section 3.2).
    pub(crate) fn ignore_pairs(&mut self) -> Result<(), StageError> {
        if !self.roles.objects && !self.nested_interests {
            return Ok(());
        }
        let mut bodies: BTreeMap<NodeId, Vec<BodyId>> = BTreeMap::new();
        for actor in &self.actors {
            let (Some(body), Some(&unit)) = (&actor.body, actor.piece.unit.last()) else {
                continue;
            };
            bodies.entry(unit).or_default().push(body.id);
        }
        let scene = self.play.scene();
        let mut wanted = self.pairs_within_objects();
        for (&unit, of_unit) in &bodies {
            let Kind::CollisionObject(object) = &scene.node(unit).kind else { continue };
            for other in object.ignored_objects.iter().filter_map(|&id| scene.through_instances(id))
            {
                for &a in of_unit {
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

    /// Pairs of bodies of one object. They never meet because they are kin; but an interest in
    /// something that contains whoever has it would speak louder than that.
    fn pairs_within_objects(&self) -> BTreeSet<[BodyId; 2]> {
        let mut pairs = BTreeSet::new();
        if !self.nested_interests {
            return pairs;
        }
        let mut kin: BTreeMap<&[NodeId], Vec<BodyId>> = BTreeMap::new();
        for actor in &self.actors {
            if let Some(body) = &actor.body {
                let others = kin.entry(&actor.piece.unit).or_default();
                pairs.extend(others.iter().map(|&other| [other.min(body.id), other.max(body.id)]));
                others.push(body.id);
            }
        }
        pairs
    }

    /// The group of the last node on a path that an interest names; made, with those above it, if
    /// it is not there yet.
    fn group_for(&mut self, path: &[NodeId]) -> Result<Option<GroupId>, StageError> {
        let mut group = None;
        for (at, node) in path.iter().enumerate() {
            if !self.roles.targets.contains(node) {
                continue;
            }
            let prefix = path[..=at].to_vec();
            group = Some(match self.groups.get(&prefix) {
                Some(&known) => known,
                None => {
                    let fresh = self.world.new_group(group)?;
                    self.groups.insert(prefix, fresh);
                    self.interests_due = true;
                    fresh
                }
            });
        }
        Ok(group)
    }
}
