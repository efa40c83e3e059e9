//! Shapes and what they are made of. `crate::geometry` makes meshes of them.

use super::node_tables;
use crate::scene::{List, NodeId, Rotation};
use glam::{Vec2, Vec3};
use std::sync::Arc;

node_tables! {
    /// 6.7: `Box`, centred at the origin.
    Cuboid {
        Field "size" size: Vec3 = Vec3::splat(2.0);
    } events {}

    /// 6.11: centred at the origin, apex up.
    Cone {
        Field "bottomRadius" bottom_radius: f32 = 1.0;
        Field "height" height: f32 = 2.0;
        Field "side" side: bool = true;
        Field "bottom" bottom: bool = true;
    } events {}

    /// 6.12: points for face, line and point sets.
    Coordinate {
        ExposedField "point" point: List<Vec3> = List::default();
    } events {}

    /// 6.14: centred at the origin along y.
    Cylinder {
        Field "bottom" bottom: bool = true;
        Field "height" height: f32 = 2.0;
        Field "radius" radius: f32 = 1.0;
        Field "side" side: bool = true;
        Field "top" top: bool = true;
    } events {}

    /// 6.17: heights over a grid in the xz plane.
    ElevationGrid {
        ExposedField "color" color: Option<NodeId> = None;
        ExposedField "normal" normal: Option<NodeId> = None;
        ExposedField "texCoord" tex_coord: Option<NodeId> = None;
        Field "height" height: List<f32> = List::default();
        Field "ccw" ccw: bool = true;
        Field "colorPerVertex" color_per_vertex: bool = true;
        Field "creaseAngle" crease_angle: f32 = 0.0;
        Field "normalPerVertex" normal_per_vertex: bool = true;
        Field "solid" solid: bool = true;
        Field "xDimension" x_dimension: i32 = 0;
        Field "xSpacing" x_spacing: f32 = 1.0;
        Field "zDimension" z_dimension: i32 = 0;
        Field "zSpacing" z_spacing: f32 = 1.0;
    } events { EventIn "set_height" List<f32>; }

    /// 6.18: a cross section led along a spine.
    Extrusion {
        Field "beginCap" begin_cap: bool = true;
        Field "ccw" ccw: bool = true;
        Field "convex" convex: bool = true;
        Field "creaseAngle" crease_angle: f32 = 0.0;
        Field "crossSection" cross_section: List<Vec2> = Arc::new(vec![
            Vec2::new(1.0, 1.0), Vec2::new(1.0, -1.0), Vec2::new(-1.0, -1.0), Vec2::new(-1.0, 1.0),
            Vec2::new(1.0, 1.0),
        ]);
        Field "endCap" end_cap: bool = true;
        Field "orientation" orientation: List<Rotation> = Arc::new(vec![Rotation::NONE]);
        Field "scale" scale: List<Vec2> = Arc::new(vec![Vec2::ONE]);
        Field "solid" solid: bool = true;
        Field "spine" spine: List<Vec3> = Arc::new(vec![Vec3::ZERO, Vec3::Y]);
    } events {
        EventIn "set_crossSection" List<Vec2>;
        EventIn "set_orientation" List<Rotation>;
        EventIn "set_scale" List<Vec2>;
        EventIn "set_spine" List<Vec3>;
    }

    /// 6.23: polygons.
    IndexedFaceSet {
        ExposedField "color" color: Option<NodeId> = None;
        ExposedField "coord" coord: Option<NodeId> = None;
        ExposedField "normal" normal: Option<NodeId> = None;
        ExposedField "texCoord" tex_coord: Option<NodeId> = None;
        Field "ccw" ccw: bool = true;
        Field "colorIndex" color_index: List<i32> = List::default();
        Field "colorPerVertex" color_per_vertex: bool = true;
        Field "convex" convex: bool = true;
        Field "coordIndex" coord_index: List<i32> = List::default();
        Field "creaseAngle" crease_angle: f32 = 0.0;
        Field "normalIndex" normal_index: List<i32> = List::default();
        Field "normalPerVertex" normal_per_vertex: bool = true;
        Field "solid" solid: bool = true;
        Field "texCoordIndex" tex_coord_index: List<i32> = List::default();
    } events {
        EventIn "set_colorIndex" List<i32>;
        EventIn "set_coordIndex" List<i32>;
        EventIn "set_normalIndex" List<i32>;
        EventIn "set_texCoordIndex" List<i32>;
    }

    /// 6.24: lines. They have no surface and touch nothing.
    IndexedLineSet {
        ExposedField "color" color: Option<NodeId> = None;
        ExposedField "coord" coord: Option<NodeId> = None;
        Field "colorIndex" color_index: List<i32> = List::default();
        Field "colorPerVertex" color_per_vertex: bool = true;
        Field "coordIndex" coord_index: List<i32> = List::default();
    } events { EventIn "set_colorIndex" List<i32>; EventIn "set_coordIndex" List<i32>; }

    /// 6.36: points. They have no surface and touch nothing.
    PointSet {
        ExposedField "color" color: Option<NodeId> = None;
        ExposedField "coord" coord: Option<NodeId> = None;
    } events {}

    /// 6.41 and Ohlenburg, appendix C.4: something with a form.
    Shape {
        ExposedField "appearance" appearance: Option<NodeId> = None;
        ExposedField "geometry" geometry: Option<NodeId> = None;
        Field "convexHull" convex_hull: List<Vec3> = List::default();
        Field "hierarchyFile" hierarchy_file: Arc<str> = Arc::from("");
        Field "splitThreshold" split_threshold: i32 = 10;
    } events {}

    /// 6.43: centred at the origin.
    Sphere {
        Field "radius" radius: f32 = 1.0;
    } events {}

    /// 6.47: letters. Not part of collisions.
    Text {
        ExposedField "string" string: List<Arc<str>> = List::default();
        ExposedField "fontStyle" font_style: Option<NodeId> = None;
        ExposedField "length" length: List<f32> = List::default();
        ExposedField "maxExtent" max_extent: f32 = 0.0;
    } events {}
}
