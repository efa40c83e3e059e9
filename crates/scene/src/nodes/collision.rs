//! The nodes of V-COLLIDE (Hudson et al. 1997, figure 2) and of Ohlenburg 2003, appendix C. His
//! additions to `Shape` and `Transform` stand with those nodes.

use super::node_tables;
use crate::scene::{List, NodeId};
use glam::Vec3;
use std::sync::Arc;

node_tables! {
    /// V-COLLIDE, figure 2: all geometry below is one object, which is tested against every other
    /// object except those it ignores.
    CollisionObject {
        ExposedField "children" children: List<NodeId> = List::default();
        ExposedField "ignoredObjects" ignored_objects: List<NodeId> = List::default();
        ExposedField "collide" collide: bool = true;
        Field "bboxCenter" bbox_center: Vec3 = Vec3::ZERO;
        Field "bboxSize" bbox_size: Vec3 = Vec3::NEG_ONE;
        Field "proxy" proxy: Option<NodeId> = None;
    } events {
        EventIn "addChildren" List<NodeId>;
        EventIn "removeChildren" List<NodeId>;
        EventIn "addIgnoredObjects" List<NodeId>;
        EventIn "removeIgnoredObjects" List<NodeId>;
        EventOut "collideTime" f64;
        EventOut "collideObjects" List<NodeId>;
    }

    /// Ohlenburg C.1: pairs of nodes with a query. His listing 3.3 calls `interests`
    /// `collisionInterests`; both are read.
    CollisionInterest {
        Field "objectPath" object_path: Arc<str> = Arc::from("");
        Field "interests" interests: List<Arc<str>> = List::default();
        Field "collisionInterests" collision_interests: List<Arc<str>> = List::default();
        Field "collisionType" collision_type: i32 = 0;
    } events {}

    /// Ohlenburg C.2: what a collision does to the `Transform` that holds this.
    CollisionResponse {
        Field "responseType" response_type: i32 = 0;
        Field "setBack" set_back: bool = true;
    } events {}

    /// Ohlenburg C.3: a key changes a velocity.
    KeySensor {
        Field "absoluteValue" absolute_value: bool = false;
        Field "consume" consume: bool = true;
        ExposedField "enabled" enabled: bool = true;
        Field "keyState" key_state: i32 = 0;
        Field "keyValue" key_value: i32 = 0;
        Field "recipient" recipient: Arc<str> = Arc::from("");
        Field "value" value: Vec3 = Vec3::ZERO;
    } events { EventIn "disable" bool; EventOut "keyHit" bool; }
}
