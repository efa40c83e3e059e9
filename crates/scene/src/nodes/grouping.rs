//! Nodes that hold other nodes.

use super::node_tables;
use crate::scene::{List, NodeId, Rotation};
use glam::Vec3;
use std::sync::Arc;

/// "No box is given" (4.6.4).
const NO_BOX: Vec3 = Vec3::NEG_ONE;

node_tables! {
    /// 6.2: a group with a link.
    Anchor {
        ExposedField "children" children: List<NodeId> = List::default();
        ExposedField "description" description: Arc<str> = Arc::from("");
        ExposedField "parameter" parameter: List<Arc<str>> = List::default();
        ExposedField "url" url: List<Arc<str>> = List::default();
        Field "bboxCenter" bbox_center: Vec3 = Vec3::ZERO;
        Field "bboxSize" bbox_size: Vec3 = NO_BOX;
    } events { EventIn "addChildren" List<NodeId>; EventIn "removeChildren" List<NodeId>; }

    /// 6.6: a group that turns towards the viewer.
    Billboard {
        ExposedField "axisOfRotation" axis_of_rotation: Vec3 = Vec3::Y;
        ExposedField "children" children: List<NodeId> = List::default();
        Field "bboxCenter" bbox_center: Vec3 = Vec3::ZERO;
        Field "bboxSize" bbox_size: Vec3 = NO_BOX;
    } events { EventIn "addChildren" List<NodeId>; EventIn "removeChildren" List<NodeId>; }

    /// 6.8: a group that says how the avatar collides with it.
    Collision {
        ExposedField "children" children: List<NodeId> = List::default();
        ExposedField "collide" collide: bool = true;
        Field "bboxCenter" bbox_center: Vec3 = Vec3::ZERO;
        Field "bboxSize" bbox_size: Vec3 = NO_BOX;
        Field "proxy" proxy: Option<NodeId> = None;
    } events {
        EventIn "addChildren" List<NodeId>;
        EventIn "removeChildren" List<NodeId>;
        EventOut "collideTime" f64;
    }

    /// 6.21: a group.
    Group {
        ExposedField "children" children: List<NodeId> = List::default();
        Field "bboxCenter" bbox_center: Vec3 = Vec3::ZERO;
        Field "bboxSize" bbox_size: Vec3 = NO_BOX;
    } events { EventIn "addChildren" List<NodeId>; EventIn "removeChildren" List<NodeId>; }

    /// 6.25: a group that stands in another file.
    Inline {
        ExposedField "url" url: List<Arc<str>> = List::default();
        Field "bboxCenter" bbox_center: Vec3 = Vec3::ZERO;
        Field "bboxSize" bbox_size: Vec3 = NO_BOX;
        Internal "children" children: List<NodeId> = List::default();
    } events {}

    /// 6.26: one of several children, by the distance of the viewer.
    Lod {
        ExposedField "level" level: List<NodeId> = List::default();
        Field "center" center: Vec3 = Vec3::ZERO;
        Field "range" range: List<f32> = List::default();
    } events {}

    /// 6.46: one of several children, or none.
    Switch {
        ExposedField "choice" choice: List<NodeId> = List::default();
        ExposedField "whichChoice" which_choice: i32 = -1;
    } events {}

    /// 6.52 and Ohlenburg, appendix C.5: a group that moves and is moved.
    ///
    /// The paper gives `enslaved` and `remote` the type SFFloat and the default FALSE; they are
    /// SFBool here.
    Transform {
        ExposedField "center" center: Vec3 = Vec3::ZERO;
        ExposedField "children" children: List<NodeId> = List::default();
        ExposedField "rotation" rotation: Rotation = Rotation::NONE;
        ExposedField "scale" scale: Vec3 = Vec3::ONE;
        ExposedField "scaleOrientation" scale_orientation: Rotation = Rotation::NONE;
        ExposedField "translation" translation: Vec3 = Vec3::ZERO;
        Field "bboxCenter" bbox_center: Vec3 = Vec3::ZERO;
        Field "bboxSize" bbox_size: Vec3 = NO_BOX;
        ExposedField "collisionResponse" collision_response: Option<NodeId> = None;
        ExposedField "distanceThreshold" distance_threshold: f32 = 0.5;
        ExposedField "enslaved" enslaved: bool = false;
        ExposedField "remote" remote: bool = false;
        ExposedField "velocityVector" velocity_vector: Vec3 = Vec3::ZERO;
    } events {
        EventIn "addChildren" List<NodeId>;
        EventIn "removeChildren" List<NodeId>;
        EventOut "notColliding" bool;
    }
}
