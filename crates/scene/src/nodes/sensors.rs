//! Nodes that notice time and people, and scripts.

use super::node_tables;
use crate::scene::{List, Rotation};
use glam::{Vec2, Vec3};
use std::sync::Arc;

node_tables! {
    /// 6.15: dragging turns about y.
    CylinderSensor {
        ExposedField "autoOffset" auto_offset: bool = true;
        ExposedField "diskAngle" disk_angle: f32 = 0.262;
        ExposedField "enabled" enabled: bool = true;
        ExposedField "maxAngle" max_angle: f32 = -1.0;
        ExposedField "minAngle" min_angle: f32 = 0.0;
        ExposedField "offset" offset: f32 = 0.0;
    } events {
        EventOut "isActive" bool;
        EventOut "rotation_changed" Rotation;
        EventOut "trackPoint_changed" Vec3;
    }

    /// 6.34: dragging moves in the xy plane.
    PlaneSensor {
        ExposedField "autoOffset" auto_offset: bool = true;
        ExposedField "enabled" enabled: bool = true;
        ExposedField "maxPosition" max_position: Vec2 = Vec2::NEG_ONE;
        ExposedField "minPosition" min_position: Vec2 = Vec2::ZERO;
        ExposedField "offset" offset: Vec3 = Vec3::ZERO;
    } events {
        EventOut "isActive" bool;
        EventOut "trackPoint_changed" Vec3;
        EventOut "translation_changed" Vec3;
    }

    /// 6.38: the viewer enters, moves in and leaves a box.
    ProximitySensor {
        ExposedField "center" center: Vec3 = Vec3::ZERO;
        ExposedField "size" size: Vec3 = Vec3::ZERO;
        ExposedField "enabled" enabled: bool = true;
    } events {
        EventOut "isActive" bool;
        EventOut "position_changed" Vec3;
        EventOut "orientation_changed" Rotation;
        EventOut "enterTime" f64;
        EventOut "exitTime" f64;
    }

    /// 6.40: a program. Read, never run.
    Script {
        ExposedField "url" url: List<Arc<str>> = List::default();
        Field "directOutput" direct_output: bool = false;
        Field "mustEvaluate" must_evaluate: bool = false;
    } events {}

    /// 6.44: dragging turns about the centre.
    SphereSensor {
        ExposedField "autoOffset" auto_offset: bool = true;
        ExposedField "enabled" enabled: bool = true;
        ExposedField "offset" offset: Rotation = Rotation { axis: Vec3::Y, angle: 0.0 };
    } events {
        EventOut "isActive" bool;
        EventOut "rotation_changed" Rotation;
        EventOut "trackPoint_changed" Vec3;
    }

    /// 6.50: gives the time and the fraction of a cycle that has passed.
    TimeSensor {
        ExposedField "cycleInterval" cycle_interval: f64 = 1.0;
        ExposedField "enabled" enabled: bool = true;
        ExposedField "loop" looping: bool = false;
        ExposedField "startTime" start_time: f64 = 0.0;
        ExposedField "stopTime" stop_time: f64 = 0.0;
    } events {
        EventOut "cycleTime" f64;
        EventOut "fraction_changed" f32;
        EventOut "isActive" bool;
        EventOut "time" f64;
    }

    /// 6.51: detects a pointer over the geometry of its parent.
    TouchSensor {
        ExposedField "enabled" enabled: bool = true;
    } events {
        EventOut "hitNormal_changed" Vec3;
        EventOut "hitPoint_changed" Vec3;
        EventOut "hitTexCoord_changed" Vec2;
        EventOut "isActive" bool;
        EventOut "isOver" bool;
        EventOut "touchTime" f64;
    }

    /// 6.54: detects that a box may be visible.
    VisibilitySensor {
        ExposedField "center" center: Vec3 = Vec3::ZERO;
        ExposedField "enabled" enabled: bool = true;
        ExposedField "size" size: Vec3 = Vec3::ZERO;
    } events {
        EventOut "enterTime" f64;
        EventOut "exitTime" f64;
        EventOut "isActive" bool;
    }
}
