//! `PlaneSensor`, `CylinderSensor` and `SphereSensor` (ISO/IEC 14772-1, 6.34, 6.15 and 6.44).

use super::{Play, PlayError, Problem, turn};
use crate::nodes::{CylinderSensor, Kind, PlaneSensor, SphereSensor};
use crate::scene::{NodeId, Rotation, Value};
use glam::{DVec3, Vec2, Vec3};
use std::collections::BTreeMap;

/// An action of a pointer on the geometry beside a drag sensor.
///
/// All coordinates are those of the sensor at the time of [`Drag::Press`]: what the drag moves
/// does not move them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drag {
    /// Its button was pressed while it pointed at the geometry.
    Press {
        /// The point of the surface.
        point: DVec3,
        /// The direction in which it points.
        direction: DVec3,
    },
    /// It moved.
    Move {
        /// Where it points from.
        origin: DVec3,
        /// The direction in which it points.
        direction: DVec3,
    },
    /// Its button was released.
    Release,
}

/// Sensors that are being dragged.
#[derive(Debug, Default)]
pub(super) struct Drags(BTreeMap<NodeId, Dragged>);

#[derive(Clone, Debug)]
pub(super) struct Dragged {
    /// Where the drag began.
    from: DVec3,
    /// Where it is.
    at: DVec3,
    /// How far a cylinder was turned, over any number of rounds.
    angle: f64,
    /// A cylinder is turned by its cap.
    is_disk: bool,
    /// What `offset` becomes; none before the first move.
    offset: Option<Value>,
}

/// A copy of a sensor of one of the three kinds.
#[derive(Clone)]
enum Sensor {
    Plane(PlaneSensor),
    Cylinder(CylinderSensor),
    Sphere(SphereSensor),
}

impl Sensor {
    fn is_enabled(&self) -> bool {
        match self {
            Sensor::Plane(node) => node.enabled,
            Sensor::Cylinder(node) => node.enabled,
            Sensor::Sphere(node) => node.enabled,
        }
    }

    fn sets_offset(&self) -> bool {
        match self {
            Sensor::Plane(node) => node.auto_offset,
            Sensor::Cylinder(node) => node.auto_offset,
            Sensor::Sphere(node) => node.auto_offset,
        }
    }
}

impl Play {
    /// Sends a pointer action to a drag sensor. A disabled sensor ignores it.
    ///
    /// A pointer that misses the sphere or cylinder drags its nearest point; one that does not
    /// intersect the plane drags nothing (the standard leaves both to the browser).
    ///
    /// # Errors
    /// The node is no drag sensor, a number is not finite, or a direction has no length.
    pub fn drag(&mut self, sensor: NodeId, drag: Drag) -> Result<(), PlayError> {
        const EXPECTED: &str = "PlaneSensor, CylinderSensor or SphereSensor";
        let kind = match self.sensor(sensor, EXPECTED)? {
            Kind::PlaneSensor(node) => Sensor::Plane(node.as_ref().clone()),
            Kind::CylinderSensor(node) => Sensor::Cylinder(node.as_ref().clone()),
            Kind::SphereSensor(node) => Sensor::Sphere(node.as_ref().clone()),
            other => {
                let found = other.name().to_string();
                return Err(PlayError::NotThatSensor { expected: EXPECTED, found });
            }
        };
        let (point, direction) = match drag {
            Drag::Press { point, direction } => (point, direction),
            Drag::Move { origin, direction } => (origin, direction),
            Drag::Release => (DVec3::ZERO, DVec3::Z),
        };
        let direction = direction.try_normalize().ok_or(PlayError::Pointer)?;
        if !point.is_finite() {
            return Err(PlayError::Pointer);
        }
        if kind.is_enabled() {
            self.begin_cascade();
            match drag {
                Drag::Press { .. } => self.begin_drag(sensor, &kind, point, direction),
                Drag::Move { .. } => self.move_drag(sensor, &kind, point, direction),
                Drag::Release => self.release_drag(sensor, &kind),
            }
            self.finish_call();
        }
        Ok(())
    }

    fn begin_drag(&mut self, id: NodeId, sensor: &Sensor, point: DVec3, direction: DVec3) {
        if self.drags.0.contains_key(&id) {
            return;
        }
        let is_disk = match sensor {
            Sensor::Cylinder(node) => turn::is_near_y(direction, node.disk_angle.into()),
            _ => false,
        };
        let dragged = Dragged { from: point, at: point, angle: 0.0, is_disk, offset: None };
        self.drags.0.insert(id, dragged);
        self.give_named(id, "isActive", true);
    }

    fn move_drag(&mut self, id: NodeId, sensor: &Sensor, origin: DVec3, direction: DVec3) {
        let Some(drag) = self.drags.0.get_mut(&id) else { return };
        let Some(point) = drag.meet(sensor, origin, direction) else { return };
        if !point.is_finite() {
            let field = self.scene.node(id).kind.field("trackPoint_changed").unwrap_or(0);
            self.problems.push(Problem::NotFinite { node: id, field });
            return;
        }
        drag.angle += turn::angle_about_y(drag.at, point);
        drag.at = point;
        match sensor {
            Sensor::Plane(node) => {
                let translation = plane_translation(node, point - drag.from);
                drag.offset = Some(Value::Vec3(translation));
                self.give_named(id, "trackPoint_changed", point.as_vec3());
                self.give_named(id, "translation_changed", translation);
            }
            Sensor::Cylinder(node) => {
                let angle = clamped(
                    (f64::from(node.offset) + drag.angle) as f32,
                    node.min_angle,
                    node.max_angle,
                );
                drag.offset = Some(Value::Float(angle));
                self.give_named(id, "trackPoint_changed", point.as_vec3());
                self.give_named(id, "rotation_changed", Rotation { axis: Vec3::Y, angle });
            }
            Sensor::Sphere(node) => {
                let offset = node.offset.quaternion();
                let rotation = turn::from_to(drag.from, point)
                    .map_or(node.offset, |turned| turn::to_rotation((turned * offset).normalize()));
                drag.offset = Some(Value::Rotation(rotation));
                self.give_named(id, "trackPoint_changed", point.as_vec3());
                self.give_named(id, "rotation_changed", rotation);
            }
        }
    }

    fn release_drag(&mut self, id: NodeId, sensor: &Sensor) {
        let Some(drag) = self.end_drag(id) else { return };
        self.give_named(id, "isActive", false);
        let field = self.scene.node(id).kind.field("offset");
        if let (Some(offset), Some(field)) = (drag.offset, field)
            && sensor.sets_offset()
            && super::report::is_finite(&offset)
        {
            self.set_exposed(id, field, offset);
        }
    }

    pub(super) fn end_drag(&mut self, id: NodeId) -> Option<Dragged> {
        self.drags.0.remove(&id)
    }
}

impl Dragged {
    /// Where a pointer intersects the plane, cylinder or sphere on which the drag began.
    fn meet(&self, sensor: &Sensor, origin: DVec3, direction: DVec3) -> Option<DVec3> {
        match sensor {
            Sensor::Plane(_) => meet_plane(origin, direction, DVec3::Z, self.from),
            Sensor::Cylinder(_) if self.is_disk => {
                meet_plane(origin, direction, DVec3::Y, self.from)
            }
            Sensor::Cylinder(_) => {
                let flat = DVec3::new(1.0, 0.0, 1.0);
                meet_round(origin, direction, self.from * flat, flat)
            }
            Sensor::Sphere(_) => meet_round(origin, direction, self.from, DVec3::ONE),
        }
    }
}

/// Where a ray intersects the plane through a point; `normal` is an axis.
fn meet_plane(origin: DVec3, direction: DVec3, normal: DVec3, through: DVec3) -> Option<DVec3> {
    let way = (through - origin).dot(normal) / direction.dot(normal);
    if !(way.is_finite() && way >= 0.0) {
        return None;
    }
    // The plane's own coordinate is not left to rounding.
    let met = origin + direction * way;
    Some(met * (DVec3::ONE - normal) + through * normal)
}

/// Where a ray first intersects a sphere, or a cylinder about y: `counts` is 1 for the coordinates
/// that make the distance from the centre or axis, which is that of `surface`. For a ray
/// that misses, its nearest point, moved onto the surface.
fn meet_round(origin: DVec3, direction: DVec3, surface: DVec3, counts: DVec3) -> Option<DVec3> {
    let (from, along) = (origin * counts, direction * counts);
    let radius = surface.length();
    let (a, b) = (along.length_squared(), from.dot(along));
    let under = b * b - a * (from.length_squared() - radius * radius);
    let way = if a == 0.0 {
        0.0
    } else if under >= 0.0 {
        let (near, far) = ((-b - under.sqrt()) / a, (-b + under.sqrt()) / a);
        if far < 0.0 {
            return None;
        }
        if near >= 0.0 { near } else { far }
    } else {
        (-b / a).max(0.0)
    };
    let met = origin + direction * way;
    let outward = (met * counts).try_normalize()?;
    Some(met * (DVec3::ONE - counts) + outward * radius)
}

fn plane_translation(node: &PlaneSensor, moved: DVec3) -> Vec3 {
    let sum = (moved + node.offset.as_dvec3()).as_vec3();
    let (Vec2 { x: left, y: low }, Vec2 { x: right, y: high }) =
        (node.min_position, node.max_position);
    Vec3::new(clamped(sum.x, left, right), clamped(sum.y, low, high), sum.z)
}

/// Clamps, unless the least is above the most: then nothing is clamped.
fn clamped(value: f32, least: f32, most: f32) -> f32 {
    if least <= most { value.clamp(least, most) } else { value }
}
