//! Nodes that turn a fraction into a value.

use super::node_tables;
use crate::scene::{List, Rgb, Rotation};
use glam::Vec3;

node_tables! {
    /// 6.10: between colours.
    ColorInterpolator {
        ExposedField "key" key: List<f32> = List::default();
        ExposedField "keyValue" key_value: List<Rgb> = List::default();
    } events { EventIn "set_fraction" f32; EventOut "value_changed" Rgb; }

    /// 6.13: between lists of points.
    CoordinateInterpolator {
        ExposedField "key" key: List<f32> = List::default();
        ExposedField "keyValue" key_value: List<Vec3> = List::default();
    } events { EventIn "set_fraction" f32; EventOut "value_changed" List<Vec3>; }

    /// 6.31: between lists of directions.
    NormalInterpolator {
        ExposedField "key" key: List<f32> = List::default();
        ExposedField "keyValue" key_value: List<Vec3> = List::default();
    } events { EventIn "set_fraction" f32; EventOut "value_changed" List<Vec3>; }

    /// 6.32: between rotations.
    OrientationInterpolator {
        ExposedField "key" key: List<f32> = List::default();
        ExposedField "keyValue" key_value: List<Rotation> = List::default();
    } events { EventIn "set_fraction" f32; EventOut "value_changed" Rotation; }

    /// 6.37: between points.
    PositionInterpolator {
        ExposedField "key" key: List<f32> = List::default();
        ExposedField "keyValue" key_value: List<Vec3> = List::default();
    } events { EventIn "set_fraction" f32; EventOut "value_changed" Vec3; }

    /// 6.39: between numbers.
    ScalarInterpolator {
        ExposedField "key" key: List<f32> = List::default();
        ExposedField "keyValue" key_value: List<f32> = List::default();
    } events { EventIn "set_fraction" f32; EventOut "value_changed" f32; }
}
