//! What things look like. Collisions do not need it, but a file may contain it, share it and send
//! events to it, and all of that is checked.

use super::node_tables;
use crate::scene::{Image, List, NodeId, Rgb};
use glam::{Vec2, Vec3};
use std::sync::Arc;

fn rgb(r: f32, g: f32, b: f32) -> Rgb {
    Rgb(Vec3::new(r, g, b))
}

node_tables! {
    /// 6.3: material and texture of a shape.
    Appearance {
        ExposedField "material" material: Option<NodeId> = None;
        ExposedField "texture" texture: Option<NodeId> = None;
        ExposedField "textureTransform" texture_transform: Option<NodeId> = None;
    } events {}

    /// 6.9: colours of vertices or faces.
    Color {
        ExposedField "color" color: List<Rgb> = List::default();
    } events {}

    /// 6.20: how text is set.
    FontStyle {
        Field "family" family: List<Arc<str>> = Arc::new(vec![Arc::from("SERIF")]);
        Field "horizontal" horizontal: bool = true;
        Field "justify" justify: List<Arc<str>> = Arc::new(vec![Arc::from("BEGIN")]);
        Field "language" language: Arc<str> = Arc::from("");
        Field "leftToRight" left_to_right: bool = true;
        Field "size" size: f32 = 1.0;
        Field "spacing" spacing: f32 = 1.0;
        Field "style" style: Arc<str> = Arc::from("PLAIN");
        Field "topToBottom" top_to_bottom: bool = true;
    } events {}

    /// 6.22: a picture from a file.
    ImageTexture {
        ExposedField "url" url: List<Arc<str>> = List::default();
        Field "repeatS" repeat_s: bool = true;
        Field "repeatT" repeat_t: bool = true;
    } events {}

    /// 6.27: colours and shininess.
    Material {
        ExposedField "ambientIntensity" ambient_intensity: f32 = 0.2;
        ExposedField "diffuseColor" diffuse_color: Rgb = rgb(0.8, 0.8, 0.8);
        ExposedField "emissiveColor" emissive_color: Rgb = Rgb::default();
        ExposedField "shininess" shininess: f32 = 0.2;
        ExposedField "specularColor" specular_color: Rgb = Rgb::default();
        ExposedField "transparency" transparency: f32 = 0.0;
    } events {}

    /// 6.28: a film.
    MovieTexture {
        ExposedField "loop" looping: bool = false;
        ExposedField "speed" speed: f32 = 1.0;
        ExposedField "startTime" start_time: f64 = 0.0;
        ExposedField "stopTime" stop_time: f64 = 0.0;
        ExposedField "url" url: List<Arc<str>> = List::default();
        Field "repeatS" repeat_s: bool = true;
        Field "repeatT" repeat_t: bool = true;
    } events { EventOut "duration_changed" f64; EventOut "isActive" bool; }

    /// 6.30: directions for shading.
    Normal {
        ExposedField "vector" vector: List<Vec3> = List::default();
    } events {}

    /// 6.33: a picture inside the file.
    PixelTexture {
        ExposedField "image" image: Arc<Image> = Arc::default();
        Field "repeatS" repeat_s: bool = true;
        Field "repeatT" repeat_t: bool = true;
    } events {}

    /// 6.48: where on a picture the vertices are.
    TextureCoordinate {
        ExposedField "point" point: List<Vec2> = List::default();
    } events {}

    /// 6.49: how a picture lies on a shape.
    TextureTransform {
        ExposedField "center" center: Vec2 = Vec2::ZERO;
        ExposedField "rotation" rotation: f32 = 0.0;
        ExposedField "scale" scale: Vec2 = Vec2::ONE;
        ExposedField "translation" translation: Vec2 = Vec2::ZERO;
    } events {}
}
