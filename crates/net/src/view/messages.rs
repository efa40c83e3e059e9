//! JSON messages between viewers and server: docs/view-protocol.md.

use super::controls::{Control, Key};
use super::findings::Findings;
use super::hub::{ViewSettings, WorldKind};
use super::queries::{Contact, NearPair, RayPick};
use super::snapshot::{WorldSnapshot, metres, per_second};
use crate::edge::content_name;
use crate::manifest::WorldManifest;
use axum::extract::ws::Message;
use glam::DVec3;
use jostle_geom::Pose;
use jostle_proto::{Block, ObjectId, POSITION_UNIT, Region, Tick, View};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A message from a page.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum ViewRequest {
    Hello {
        #[serde(default)]
        token: Option<String>,
    },
    Pick {
        origin: [f64; 3],
        direction: [f64; 3],
        #[serde(default)]
        through: Vec<u32>,
        #[serde(default)]
        hidden: Vec<String>,
        #[serde(default)]
        only: Vec<String>,
    },
    Select {
        id: Option<String>,
    },
    Clearance {
        metres: Option<f64>,
    },
    /// Contacts among immovable objects, and pairs of them closer than the clearance.
    Static {
        clearance: Option<f64>,
    },
    /// Hold the world: later queries refer to the current tick.
    Hold,
    /// Queries refer to the newest tick again.
    Release,
    Control(ControlJson),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum ControlJson {
    Kill { node: u32 },
    Add,
    Network { delay_ms: f64, loss: f64 },
    Bodies { count: u64 },
    Key { value: i32, state: i32 },
    Play,
    Pause,
    Speed { factor: f64 },
    Seek { tick: u64 },
    Step { by: i64 },
    Collision { by: i64 },
}

impl From<ControlJson> for Control {
    fn from(message: ControlJson) -> Control {
        match message {
            ControlJson::Kill { node } => Control::Kill(node),
            ControlJson::Add => Control::Add,
            ControlJson::Network { delay_ms, loss } => Control::Network { delay_ms, loss },
            ControlJson::Bodies { count } => Control::Bodies(count),
            ControlJson::Key { value, state } => Control::Key(Key { value, state }),
            ControlJson::Play => Control::Play,
            ControlJson::Pause => Control::Pause,
            ControlJson::Speed { factor } => Control::Speed(factor),
            ControlJson::Seek { tick } => Control::Seek(tick),
            ControlJson::Step { by } => Control::Step(by),
            ControlJson::Collision { by } => Control::Collision(by),
        }
    }
}

/// The ticks of a recording.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RecordingInfo {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Ticks in which a contact begins.
    pub(crate) collisions: Vec<u64>,
}

/// A message to a page.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum ViewMessage<'a> {
    Refused {
        why: &'a str,
    },
    World {
        name: &'a str,
        kind: WorldKind,
        ticks_per_second: u32,
        extent: [[f64; 3]; 2],
        reach: Option<f64>,
        avatar: Option<u32>,
        forms: Vec<ShapeJson>,
        names: BTreeMap<String, &'a str>,
        poses: BTreeMap<String, PoseJson>,
        controls: &'a [&'static str],
        keys: Vec<KeyJson<'a>>,
        recording: Option<&'a RecordingInfo>,
    },
    Regions {
        #[serde(flatten)]
        followed: RegionsJson,
        others: Vec<RegionsJson>,
    },
    Picked(PickedJson<'a>),
    Held {
        tick: Option<u64>,
        error: Option<&'a str>,
    },
    Contacts {
        id: String,
        tick: u64,
        with: Vec<ContactJson>,
        #[serde(skip_serializing_if = "Option::is_none")]
        near: Option<Vec<NearJson>>,
    },
    Findings {
        of: &'static str,
        clearance: Option<f64>,
        unit: &'a str,
        complete: bool,
        findings: Vec<FindingJson<'a>>,
    },
    Controlled {
        #[serde(rename = "do")]
        word: &'static str,
        error: Option<String>,
    },
    Replay {
        tick: u64,
        playing: bool,
        factor: f64,
    },
}

impl ViewMessage<'_> {
    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn message(&self) -> Message {
        Message::Text(self.text().into())
    }
}

#[derive(Serialize)]
pub(crate) struct ShapeJson {
    half: [f64; 3],
    content: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct LeafJson {
    node: u32,
    min: [f64; 3],
    max: [f64; 3],
}

/// A key that a scene listens to.
#[derive(Serialize)]
pub(crate) struct KeyJson<'a> {
    value: i32,
    state: i32,
    does: &'a str,
}

/// The regions of one group.
#[derive(Serialize)]
pub(crate) struct RegionsJson {
    view: u64,
    group: u32,
    leader: Option<u32>,
    nodes: Vec<u32>,
    leaves: Vec<LeafJson>,
}

#[derive(Serialize)]
pub(crate) struct ContactJson {
    id: String,
    faces: Vec<[u32; 2]>,
    segments: Vec<[[f64; 3]; 2]>,
}

#[derive(Serialize)]
pub(crate) struct NearJson {
    id: String,
    distance: f64,
    points: [[f64; 3]; 2],
}

/// Position and rotation.
type PoseJson = ([f64; 3], [f64; 4]);

#[derive(Serialize)]
pub(crate) struct FindingJson<'a> {
    kind: &'a str,
    a: Vec<String>,
    b: Vec<String>,
    distance: f64,
    points: [[f64; 3]; 2],
    segments: Vec<[[f64; 3]; 2]>,
}

/// The result of a ray query; a null id if nothing was hit.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum PickedJson<'a> {
    Nothing {
        id: (),
    },
    Something {
        id: String,
        name: Option<&'a str>,
        point: [f64; 3],
        face: u32,
        faces: usize,
        class: &'static str,
        shape: u32,
        group: Option<u32>,
        owner: Option<u32>,
        tick: u64,
        velocity: [f64; 3],
        spin: [f64; 3],
    },
}

/// The first message to a viewer.
pub(crate) fn world<'a>(
    manifest: &'a WorldManifest,
    showing: &'a ViewSettings,
    controls: &'a [&'static str],
) -> ViewMessage<'a> {
    let ViewSettings { reach, names, keys, recording, kind, poses, .. } = showing;
    let keys = keys.iter().map(|binding| KeyJson {
        value: binding.key.value,
        state: binding.key.state,
        does: &binding.does,
    });
    let forms = manifest
        .forms
        .iter()
        .map(|form| ShapeJson { half: metres(form.half), content: form.content.map(content_name) });
    ViewMessage::World {
        name: &manifest.world,
        ticks_per_second: manifest.rate,
        extent: [metres(manifest.extent.min), metres(manifest.extent.max)],
        reach: *reach,
        kind: *kind,
        avatar: (*kind == WorldKind::Shared).then_some(manifest.avatar.0),
        forms: forms.collect(),
        names: names.iter().map(|(id, name)| (id.0.to_string(), name.as_str())).collect(),
        poses: poses.iter().map(|(id, pose)| (id.0.to_string(), pose_json(pose))).collect(),
        controls,
        keys: keys.collect(),
        recording: recording.as_ref(),
    }
}

fn pose_json(pose: &Pose) -> PoseJson {
    (pose.translation().to_array(), pose.rotation().to_array())
}

/// The findings of a check, or contacts among immovable objects.
pub(crate) fn findings<'a>(of: &'static str, found: &'a Findings) -> ViewMessage<'a> {
    let ids = |ids: &[ObjectId]| ids.iter().map(|id| id.0.to_string()).collect();
    let ends = |ends: &[DVec3; 2]| ends.map(|end| end.to_array());
    let findings = found.list.iter().map(|finding| FindingJson {
        kind: finding.kind,
        a: ids(&finding.parts[0]),
        b: ids(&finding.parts[1]),
        distance: finding.distance,
        points: ends(&finding.points),
        segments: finding.segments.iter().map(ends).collect(),
    });
    ViewMessage::Findings {
        of,
        clearance: found.clearance,
        unit: &found.unit,
        complete: found.complete,
        findings: findings.collect(),
    }
}

/// The regions of the followed group, and of others.
pub(crate) fn regions<'a>(
    view: &View,
    others: impl Iterator<Item = &'a View>,
    extent: &Block,
) -> ViewMessage<'static> {
    let others = others.map(|view| regions_json(view, extent)).collect();
    ViewMessage::Regions { followed: regions_json(view, extent), others }
}

/// The regions of a view, clipped to a box a little larger than the extent: by a metre, and a
/// fiftieth.
fn regions_json(view: &View, extent: &Block) -> RegionsJson {
    let more = |axis: usize| {
        let side = i64::from(extent.max[axis]) - i64::from(extent.min[axis]);
        (1.0 / POSITION_UNIT) as i64 + side / 50
    };
    let whole = Region {
        min: std::array::from_fn(|axis| i64::from(extent.min[axis]) - more(axis)),
        max: std::array::from_fn(|axis| i64::from(extent.max[axis]) + more(axis)),
    };
    let metres = |corner: [i64; 3]| corner.map(|along| along as f64 * POSITION_UNIT);
    let leaves = view.tree.leaves().filter_map(|vertex| {
        let (region, node) = (view.tree.region(vertex)?, view.tree.owner(vertex)?);
        let min: [i64; 3] = std::array::from_fn(|axis| region.min[axis].max(whole.min[axis]));
        let max: [i64; 3] = std::array::from_fn(|axis| region.max[axis].min(whole.max[axis]));
        let inside = (0..3).all(|axis| min[axis] < max[axis]);
        inside.then(|| LeafJson { node: node.0, min: metres(min), max: metres(max) })
    });
    RegionsJson {
        view: view.epoch.0,
        group: view.group.0,
        leader: view.leader().map(|leader| leader.node.0),
        nodes: view.nodes().map(|node| node.0).collect(),
        leaves: leaves.collect(),
    }
}

pub(crate) fn nothing_picked<'a>() -> ViewMessage<'a> {
    ViewMessage::Picked(PickedJson::Nothing { id: () })
}

pub(crate) fn picked<'a>(
    RayPick { object, hit, faces }: &RayPick,
    scene: &WorldSnapshot,
    names: &'a BTreeMap<ObjectId, String>,
) -> ViewMessage<'a> {
    let (group, owner) = scene.owner(object).unzip();
    ViewMessage::Picked(PickedJson::Something {
        id: object.id.0.to_string(),
        name: names.get(&object.id).map(String::as_str),
        point: hit.point.to_array(),
        face: hit.face,
        faces: *faces,
        class: object.class.word(),
        shape: object.shape.0,
        group: group.map(|group| group.0),
        owner: owner.map(|owner| owner.0),
        tick: scene.tick.0,
        velocity: per_second(object.state.velocity),
        spin: per_second(object.state.spin),
    })
}

pub(crate) fn contacts(
    id: ObjectId,
    tick: Tick,
    with: &[Contact],
    near: Option<&[NearPair]>,
) -> ViewMessage<'static> {
    let with = with.iter().map(|contact| ContactJson {
        id: contact.other.0.to_string(),
        faces: contact.faces.iter().map(|faces| [faces.a, faces.b]).collect(),
        segments: contact.segments.iter().map(|it| it.ends.map(|end| end.to_array())).collect(),
    });
    let near = near.map(|near| {
        let message = near.iter().map(|near| NearJson {
            id: near.pair[1].0.to_string(),
            distance: near.distance,
            points: near.points.map(|point: DVec3| point.to_array()),
        });
        message.collect()
    });
    ViewMessage::Contacts { id: id.0.to_string(), tick: tick.0, with: with.collect(), near }
}
