//! Which nodes of a scene may move, which are objects of their own, and which pairs have interests.
//!
//! Determined once, from fields and routes. `Stage::mark_movable` adds nodes that the host moves.

use jostle_scene::nodes::{Kind, Transform};
use jostle_scene::{NodeId, Scene};
use jostle_world::QueryKind;
use std::collections::BTreeSet;

/// The roles of a scene's nodes in collision detection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roles {
    /// `Transform` nodes whose placement may change.
    pub(crate) movable: BTreeSet<NodeId>,
    /// `Transform` nodes that move by their own velocity or respond to collisions.
    pub(crate) drivers: BTreeSet<NodeId>,
    /// Nodes that an interest names, on either side.
    pub(crate) interest_targets: BTreeSet<NodeId>,
    /// All interests.
    pub(crate) interests: Vec<Interest>,
    /// The scene has a `CollisionObject`.
    pub(crate) has_collision_objects: bool,
    /// The scene has a `Billboard` or an `LOD`, whose state depends on the viewer.
    pub(crate) depends_on_viewer: bool,
}

/// A `CollisionInterest` (Ohlenburg C.1) with one of its collidees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interest {
    pub(crate) collider: NodeId,
    pub(crate) collidee: NodeId,
    pub(crate) query: QueryKind,
}

/// The fields that place what is inside a `Transform`.
const PLACING: [&str; 5] = ["center", "rotation", "scale", "scaleOrientation", "translation"];

impl Roles {
    /// Determines the roles; invalid nodes are reported in `problems` and ignored.
    pub(crate) fn of(scene: &Scene, problems: &mut Vec<String>) -> Roles {
        let mut roles = Roles::default();
        for (id, node) in scene.nodes() {
            match &node.kind {
                Kind::Transform(transform) if drives(transform) => {
                    roles.drivers.insert(id);
                }
                Kind::CollisionObject(_) => roles.has_collision_objects = true,
                Kind::Billboard(_) | Kind::Lod(_) => roles.depends_on_viewer = true,
                Kind::CollisionInterest(_) => roles.add_interest(scene, id, problems),
                // Without a recipient it only reports that the key was hit.
                Kind::KeySensor(sensor) if sensor.recipient.is_empty() => {}
                Kind::KeySensor(sensor) => match scene.find(&sensor.recipient) {
                    Some(recipient) if is_transform(scene, recipient) => {
                        roles.drivers.extend(scene.through_instances(recipient));
                    }
                    _ => problems.push(format!(
                        "{}: recipient of a KeySensor: there is no Transform named \"{}\"",
                        node.place, sensor.recipient
                    )),
                },
                _ => {}
            }
        }
        for route in scene.routes() {
            let (to, field) = route.to;
            let kind = &scene.node(to).kind;
            let name = kind.fields().get(field).map_or("", |field| field.name);
            if matches!(kind, Kind::Transform(_)) {
                if name == "velocityVector" {
                    roles.drivers.insert(to);
                } else if PLACING.contains(&name) {
                    roles.movable.insert(to);
                }
            }
        }
        roles.movable.extend(&roles.drivers);
        roles
    }

    fn add_interest(&mut self, scene: &Scene, id: NodeId, problems: &mut Vec<String>) {
        let node = scene.node(id);
        let Kind::CollisionInterest(interest) = &node.kind else { return };
        let query = match interest.collision_type {
            0 => QueryKind::Volume,
            1 => QueryKind::Witness,
            2 => QueryKind::AllPairs,
            other => {
                problems.push(format!(
                    "{}: a collisionType is 0 (box), 1 (witness) or 2 (all pairs), found {other}",
                    node.place
                ));
                return;
            }
        };
        let mut found = |path: &str| {
            let target = scene.find(path).and_then(|id| scene.through_instances(id));
            if target.is_none() {
                let message = format!("{}: there is no node \"{path}\" to test", node.place);
                problems.push(message);
            }
            target
        };
        let Some(collider) = found(&interest.object_path) else { return };
        let paths = interest.interests.iter().chain(interest.collision_interests.iter());
        for collidee in paths.filter_map(|path| found(path)) {
            self.interest_targets.extend([collider, collidee]);
            self.interests.push(Interest { collider, collidee, query });
        }
    }

    /// Returns true for a node that is an object of its own: its parts are never tested against
    /// each other.
    pub(crate) fn is_object(&self, scene: &Scene, id: NodeId) -> bool {
        matches!(scene.node(id).kind, Kind::CollisionObject(_))
            || self.drivers.contains(&id)
            || self.interest_targets.contains(&id)
    }
}

/// Returns true if a `Transform` has a velocity or a response.
pub(crate) fn drives(transform: &Transform) -> bool {
    transform.velocity_vector != glam::Vec3::ZERO || transform.collision_response.is_some()
}

fn is_transform(scene: &Scene, id: NodeId) -> bool {
    matches!(scene.kind(id), Some(Kind::Transform(_)))
}
