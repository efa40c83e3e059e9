//! `ProximitySensor`: detects the viewer in a box (ISO/IEC 14772-1, 6.38).

use super::{Play, nodes, turn};
use crate::nodes::{Kind, ProximitySensor, Transform};
use crate::scene::{NodeId, Rotation, Scene};
use glam::{DQuat, DVec3, Vec3};

/// The sensors of a scene.
#[derive(Debug)]
pub(super) struct Proximity {
    sensors: Vec<Sensor>,
    /// The paths are those of the scene.
    paths_known: bool,
}

#[derive(Debug)]
struct Sensor {
    id: NodeId,
    /// The `Transform`s above it on the first way from the roots, the topmost first; none if no
    /// way leads to it.
    path: Option<Vec<NodeId>>,
    /// The last viewer inside the box that was sent.
    inside: Option<(Vec3, Rotation)>,
}

impl Proximity {
    pub(super) fn new(scene: &Scene) -> Proximity {
        let sensors = scene
            .nodes()
            .filter(|(_, node)| matches!(node.kind, Kind::ProximitySensor(_)))
            .map(|(id, _)| Sensor { id, path: None, inside: None })
            .collect();
        Proximity { sensors, paths_known: false }
    }

    /// A field with child nodes has changed.
    pub(super) fn forget_paths(&mut self) {
        self.paths_known = false;
    }

    fn find_paths(&mut self, scene: &Scene) {
        let walked = nodes::walk(scene, true);
        self.sensors.iter_mut().for_each(|sensor| sensor.path = None);
        for &(id, above) in &walked {
            // Sorted, as they were listed in the order of their ids.
            let Ok(at) = self.sensors.binary_search_by_key(&id, |sensor| sensor.id) else {
                continue;
            };
            let mut path = Vec::new();
            let mut above = above;
            while let Some(&(id, next)) = above.and_then(|at| walked.get(at)) {
                if matches!(scene.node(id).kind, Kind::Transform(_)) {
                    path.push(id);
                }
                above = next;
            }
            path.reverse();
            if let Some(sensor) = self.sensors.get_mut(at) {
                sensor.path = Some(path);
            }
        }
        self.paths_known = true;
    }
}

impl Play {
    /// Updates every sensor with the viewer.
    pub(super) fn sense_proximity(&mut self) {
        let Some(viewer) = self.viewer else { return };
        if self.proximity.sensors.is_empty() {
            return;
        }
        if !self.proximity.paths_known {
            self.proximity.find_paths(&self.scene);
        }
        let mut sensors = std::mem::take(&mut self.proximity.sensors);
        for sensor in &mut sensors {
            self.sense(sensor, viewer);
        }
        self.proximity.sensors = sensors;
    }

    fn sense(&mut self, sensor: &mut Sensor, viewer: (DVec3, DQuat)) {
        let Kind::ProximitySensor(node) = &self.scene.node(sensor.id).kind else { return };
        // "A disabled sensor does not send events", and one without volume is as good as disabled.
        if !node.enabled || node.size.min_element() <= 0.0 {
            sensor.inside = None;
            return;
        }
        let local = sensor.path.as_ref().map(|path| to_local(&self.scene, path, viewer));
        let is_inside = local.is_some_and(|(position, _)| contains(node, position));
        let was_inside = sensor.inside;
        if !is_inside && was_inside.is_none() {
            return;
        }
        let id = sensor.id;
        if is_inside != was_inside.is_some() {
            self.give_named(id, "isActive", is_inside);
        }
        // The position at which the viewer left is sent too, if the sensor is still in the world.
        if let Some((position, orientation)) = local {
            let view = (position.as_vec3(), turn::to_rotation(orientation));
            if was_inside.is_none_or(|was| was.0 != view.0) {
                self.give_named(id, "position_changed", view.0);
            }
            if was_inside.is_none_or(|was| was.1 != view.1) {
                self.give_named(id, "orientation_changed", view.1);
            }
            sensor.inside = Some(view);
        }
        if !is_inside {
            sensor.inside = None;
            self.give_named(id, "exitTime", self.now);
        } else if was_inside.is_none() {
            self.give_named(id, "enterTime", self.now);
        }
    }
}

fn contains(node: &ProximitySensor, position: DVec3) -> bool {
    let away = (position - node.center.as_dvec3()).abs();
    // Not finite, as below a scale of zero, compares as outside.
    away.cmple(node.size.as_dvec3() / 2.0).all()
}

/// A position and orientation of the world, seen from below these `Transform`s. An orientation
/// has no scale: scaling is left out of it, as it is by the standard's word "orientation". What a
/// `Billboard` turns is not turned here.
fn to_local(scene: &Scene, path: &[NodeId], viewer: (DVec3, DQuat)) -> (DVec3, DQuat) {
    path.iter().fold(viewer, |(position, orientation), &id| match &scene.node(id).kind {
        Kind::Transform(node) => {
            let back = node.rotation.quaternion().conjugate();
            (undo(node, back, position), (back * orientation).normalize())
        }
        _ => (position, orientation),
    })
}

/// 6.52 has P' = T * C * R * SR * S * -SR * -C * P; this goes from P' to P.
fn undo(node: &Transform, back: DQuat, position: DVec3) -> DVec3 {
    let center = node.center.as_dvec3();
    let stretch = node.scale_orientation.quaternion();
    let turned = back * (position - node.translation.as_dvec3() - center);
    stretch * ((stretch.conjugate() * turned) / node.scale.as_dvec3()) + center
}
