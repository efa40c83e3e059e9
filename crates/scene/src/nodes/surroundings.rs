//! Viewers, lights, sounds and what is said about the world as a whole.

use super::node_tables;
use crate::scene::{List, NodeId, Rgb, Rotation};
use glam::Vec3;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4};
use std::sync::Arc;

const WHITE: Rgb = Rgb(Vec3::ONE);

node_tables! {
    /// 6.4: a sound file.
    AudioClip {
        ExposedField "description" description: Arc<str> = Arc::from("");
        ExposedField "loop" looping: bool = false;
        ExposedField "pitch" pitch: f32 = 1.0;
        ExposedField "startTime" start_time: f64 = 0.0;
        ExposedField "stopTime" stop_time: f64 = 0.0;
        ExposedField "url" url: List<Arc<str>> = List::default();
    } events { EventOut "duration_changed" f64; EventOut "isActive" bool; }

    /// 6.5: sky and ground.
    Background {
        ExposedField "groundAngle" ground_angle: List<f32> = List::default();
        ExposedField "groundColor" ground_color: List<Rgb> = List::default();
        ExposedField "backUrl" back_url: List<Arc<str>> = List::default();
        ExposedField "bottomUrl" bottom_url: List<Arc<str>> = List::default();
        ExposedField "frontUrl" front_url: List<Arc<str>> = List::default();
        ExposedField "leftUrl" left_url: List<Arc<str>> = List::default();
        ExposedField "rightUrl" right_url: List<Arc<str>> = List::default();
        ExposedField "topUrl" top_url: List<Arc<str>> = List::default();
        ExposedField "skyAngle" sky_angle: List<f32> = List::default();
        ExposedField "skyColor" sky_color: List<Rgb> = Arc::new(vec![Rgb::default()]);
    } events { EventIn "set_bind" bool; EventOut "isBound" bool; }

    /// 6.16: light from afar.
    DirectionalLight {
        ExposedField "ambientIntensity" ambient_intensity: f32 = 0.0;
        ExposedField "color" color: Rgb = WHITE;
        ExposedField "direction" direction: Vec3 = Vec3::NEG_Z;
        ExposedField "intensity" intensity: f32 = 1.0;
        ExposedField "on" on: bool = true;
    } events {}

    /// 6.19: fog.
    Fog {
        ExposedField "color" color: Rgb = WHITE;
        ExposedField "fogType" fog_type: Arc<str> = Arc::from("LINEAR");
        ExposedField "visibilityRange" visibility_range: f32 = 0.0;
    } events { EventIn "set_bind" bool; EventOut "isBound" bool; }

    /// 6.29: the viewer's body and way of moving. `avatarSize` is the distance at which the
    /// viewer collides, the height of the eyes, and the highest step.
    NavigationInfo {
        ExposedField "avatarSize" avatar_size: List<f32> = Arc::new(vec![0.25, 1.6, 0.75]);
        ExposedField "headlight" headlight: bool = true;
        ExposedField "speed" speed: f32 = 1.0;
        ExposedField "type" ways: List<Arc<str>> =
            Arc::new(vec![Arc::from("WALK"), Arc::from("ANY")]);
        ExposedField "visibilityLimit" visibility_limit: f32 = 0.0;
    } events { EventIn "set_bind" bool; EventOut "isBound" bool; }

    /// 6.35: light from a point.
    PointLight {
        ExposedField "ambientIntensity" ambient_intensity: f32 = 0.0;
        ExposedField "attenuation" attenuation: Vec3 = Vec3::X;
        ExposedField "color" color: Rgb = WHITE;
        ExposedField "intensity" intensity: f32 = 1.0;
        ExposedField "location" location: Vec3 = Vec3::ZERO;
        ExposedField "on" on: bool = true;
        ExposedField "radius" radius: f32 = 100.0;
    } events {}

    /// 6.42: where a sound is heard.
    Sound {
        ExposedField "direction" direction: Vec3 = Vec3::Z;
        ExposedField "intensity" intensity: f32 = 1.0;
        ExposedField "location" location: Vec3 = Vec3::ZERO;
        ExposedField "maxBack" max_back: f32 = 10.0;
        ExposedField "maxFront" max_front: f32 = 10.0;
        ExposedField "minBack" min_back: f32 = 1.0;
        ExposedField "minFront" min_front: f32 = 1.0;
        ExposedField "priority" priority: f32 = 0.0;
        ExposedField "source" source: Option<NodeId> = None;
        Field "spatialize" spatialize: bool = true;
    } events {}

    /// 6.45: light from a point into a cone.
    SpotLight {
        ExposedField "ambientIntensity" ambient_intensity: f32 = 0.0;
        ExposedField "attenuation" attenuation: Vec3 = Vec3::X;
        ExposedField "beamWidth" beam_width: f32 = FRAC_PI_2;
        ExposedField "color" color: Rgb = WHITE;
        ExposedField "cutOffAngle" cut_off_angle: f32 = FRAC_PI_4;
        ExposedField "direction" direction: Vec3 = Vec3::NEG_Z;
        ExposedField "intensity" intensity: f32 = 1.0;
        ExposedField "location" location: Vec3 = Vec3::ZERO;
        ExposedField "on" on: bool = true;
        ExposedField "radius" radius: f32 = 100.0;
    } events {}

    /// 6.53: where a viewer may stand.
    Viewpoint {
        ExposedField "fieldOfView" field_of_view: f32 = FRAC_PI_4;
        ExposedField "jump" jump: bool = true;
        ExposedField "orientation" orientation: Rotation = Rotation::NONE;
        ExposedField "position" position: Vec3 = Vec3::new(0.0, 0.0, 10.0);
        Field "description" description: Arc<str> = Arc::from("");
    } events { EventIn "set_bind" bool; EventOut "bindTime" f64; EventOut "isBound" bool; }

    /// 6.55: who made the world, and its name.
    WorldInfo {
        Field "info" info: List<Arc<str>> = List::default();
        Field "title" title: Arc<str> = Arc::from("");
    } events {}
}
