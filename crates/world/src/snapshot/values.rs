//! Mirrors of plain values for serde, field by field: serde's `remote` makes sure that a field or
//! a case that is added to one of them has to be added here.

use crate::bodies::State;
use crate::body::{CollisionGroups, Mobility, Velocity};
use crate::broad::Structure;
use crate::contact::{Certainty, Change};
use crate::interest::{Policy, QueryKind};
use crate::respond::{Response, VelocityResponse};
use glam::{DQuat, DVec3};
use jostle_geom::{ContactPoint, Distance, FacePair, Spacing, Witness};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(remote = "DVec3")]
pub(super) struct DVec3Def {
    x: f64,
    y: f64,
    z: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "DQuat")]
pub(super) struct DQuatDef {
    x: f64,
    y: f64,
    z: f64,
    w: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Mobility")]
pub(super) enum MobilityDef {
    Fixed,
    Moving,
    Deforming,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Velocity")]
pub(super) struct VelocityDef {
    #[serde(with = "DVec3Def")]
    linear: DVec3,
    #[serde(with = "DVec3Def")]
    angular: DVec3,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CollisionGroups")]
pub(super) struct CollisionGroupsDef {
    memberships: u32,
    filter: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Response")]
pub(super) struct ResponseDef {
    #[serde(with = "VelocityResponseDef")]
    velocity: VelocityResponse,
    set_back: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "VelocityResponse")]
pub(super) enum VelocityResponseDef {
    Keep,
    Bounce { restitution: f64 },
    Stop,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "State")]
pub(super) enum StateDef {
    Enabled,
    Disabled { moved: bool },
}

/// The names as they stand in files. Three of them left the product and read as `Auto`: contacts do
/// not depend on the structure, so a world saved with one of them goes on as it would have.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum SavedStructure {
    Auto,
    AllPairs,
    Sweep,
    Grid,
    Octree,
    Tree,
    Cells,
}

impl From<Structure> for SavedStructure {
    fn from(structure: Structure) -> SavedStructure {
        match structure {
            Structure::Auto => SavedStructure::Auto,
            Structure::AllPairs => SavedStructure::AllPairs,
            Structure::Tree => SavedStructure::Tree,
            Structure::Cells => SavedStructure::Cells,
        }
    }
}

impl From<SavedStructure> for Structure {
    fn from(saved: SavedStructure) -> Structure {
        match saved {
            SavedStructure::AllPairs => Structure::AllPairs,
            SavedStructure::Tree => Structure::Tree,
            SavedStructure::Cells => Structure::Cells,
            SavedStructure::Auto
            | SavedStructure::Sweep
            | SavedStructure::Grid
            | SavedStructure::Octree => Structure::Auto,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "QueryKind")]
pub(super) enum QueryKindDef {
    Volume,
    Touch,
    Witness,
    AllPairs,
    Distance,
    Clearance(f64),
    Contacts(f64),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Policy")]
pub(super) enum PolicyDef {
    Everything(#[serde(with = "QueryKindDef")] QueryKind),
    InterestsOnly,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Certainty")]
pub(super) enum CertaintyDef {
    Exact,
    Assumed,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Change")]
pub(super) enum ChangeDef {
    Began,
    Continued,
    Ended,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FacePair")]
pub(super) struct FacePairDef {
    a: u32,
    b: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Witness")]
pub(super) struct WitnessDef {
    #[serde(with = "FacePairDef")]
    faces: FacePair,
    #[serde(with = "DVec3Def")]
    point: DVec3,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Spacing")]
pub(super) enum SpacingDef {
    Gap(f64),
    Touching,
    Depth(f64),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ContactPoint")]
pub(super) struct ContactPointDef {
    #[serde(with = "FacePairDef")]
    faces: FacePair,
    #[serde(with = "DVec3Def")]
    normal: DVec3,
    #[serde(with = "PointsDef")]
    points: [DVec3; 2],
    #[serde(with = "SpacingDef")]
    spacing: Spacing,
}

/// A point of each of two bodies, in a row.
pub(super) struct PointsDef;

impl PointsDef {
    fn serialize<S: Serializer>(points: &[DVec3; 2], serializer: S) -> Result<S::Ok, S::Error> {
        points.map(|p| p.to_array()).serialize(serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[DVec3; 2], D::Error> {
        let points: [[f64; 3]; 2] = Deserialize::deserialize(deserializer)?;
        Ok(points.map(DVec3::from_array))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Distance")]
pub(super) struct DistanceDef {
    distance: f64,
    #[serde(with = "DVec3Def")]
    point_a: DVec3,
    #[serde(with = "DVec3Def")]
    point_b: DVec3,
    #[serde(with = "FacePairDef")]
    faces: FacePair,
}
