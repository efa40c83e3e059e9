//! What is said in JSON to those who watch, and by them: docs/view-protocol.md.

use super::controls::{Control, Key};
use super::findings::Findings;
use super::hub::{Showing, WorldKind};
use super::questions::{Contact, Near, Picked};
use super::scene::{Scene, metres, per_second};
use crate::charter::Charter;
use crate::door::content_name;
use axum::extract::ws::Message;
use glam::DVec3;
use jostle_geom::Pose;
use jostle_proto::{Block, ObjectId, POSITION_UNIT, Region, Tick, View};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a page says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Asks {
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
    /// What is asked from now on is asked about the world as it is now.
    Hold,
    /// And about the newest again.
    Release,
    Control(SaidControl),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum SaidControl {
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

impl From<SaidControl> for Control {
    fn from(said: SaidControl) -> Control {
        match said {
            SaidControl::Kill { node } => Control::Kill(node),
            SaidControl::Add => Control::Add,
            SaidControl::Network { delay_ms, loss } => Control::Network { delay_ms, loss },
            SaidControl::Bodies { count } => Control::Bodies(count),
            SaidControl::Key { value, state } => Control::Key(Key { value, state }),
            SaidControl::Play => Control::Play,
            SaidControl::Pause => Control::Pause,
            SaidControl::Speed { factor } => Control::Speed(factor),
            SaidControl::Seek { tick } => Control::Seek(tick),
            SaidControl::Step { by } => Control::Step(by),
            SaidControl::Collision { by } => Control::Collision(by),
        }
    }
}

/// The ticks of a recording.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Recorded {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Those in which a contact begins.
    pub(crate) collisions: Vec<u64>,
}

/// What a page is told.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Tells<'a> {
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
        forms: Vec<SaidForm>,
        names: BTreeMap<String, &'a str>,
        poses: BTreeMap<String, SaidPose>,
        controls: &'a [&'static str],
        keys: Vec<SaidKey<'a>>,
        recording: Option<&'a Recorded>,
    },
    Regions {
        #[serde(flatten)]
        followed: SaidRegions,
        others: Vec<SaidRegions>,
    },
    Picked(SaidPicked<'a>),
    Held {
        tick: Option<u64>,
        error: Option<&'a str>,
    },
    Contacts {
        id: String,
        tick: u64,
        with: Vec<SaidContact>,
        #[serde(skip_serializing_if = "Option::is_none")]
        near: Option<Vec<SaidNear>>,
    },
    Findings {
        of: &'static str,
        clearance: Option<f64>,
        unit: &'a str,
        complete: bool,
        findings: Vec<SaidFinding<'a>>,
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

impl Tells<'_> {
    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn message(&self) -> Message {
        Message::Text(self.text().into())
    }
}

#[derive(Serialize)]
pub(crate) struct SaidForm {
    half: [f64; 3],
    content: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct SaidLeaf {
    node: u32,
    min: [f64; 3],
    max: [f64; 3],
}

/// A key that a scene listens to.
#[derive(Serialize)]
pub(crate) struct SaidKey<'a> {
    value: i32,
    state: i32,
    does: &'a str,
}

/// The regions of one group.
#[derive(Serialize)]
pub(crate) struct SaidRegions {
    view: u64,
    group: u32,
    leader: Option<u32>,
    nodes: Vec<u32>,
    leaves: Vec<SaidLeaf>,
}

#[derive(Serialize)]
pub(crate) struct SaidContact {
    id: String,
    faces: Vec<[u32; 2]>,
    segments: Vec<[[f64; 3]; 2]>,
}

#[derive(Serialize)]
pub(crate) struct SaidNear {
    id: String,
    distance: f64,
    points: [[f64; 3]; 2],
}

/// Position and rotation.
type SaidPose = ([f64; 3], [f64; 4]);

#[derive(Serialize)]
pub(crate) struct SaidFinding<'a> {
    kind: &'a str,
    a: Vec<String>,
    b: Vec<String>,
    distance: f64,
    points: [[f64; 3]; 2],
    segments: Vec<[[f64; 3]; 2]>,
}

/// What a ray met; only a null id if nothing.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum SaidPicked<'a> {
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

/// What everybody is told at first.
pub(crate) fn world<'a>(
    charter: &'a Charter,
    showing: &'a Showing,
    controls: &'a [&'static str],
) -> Tells<'a> {
    let Showing { reach, names, keys, recording, kind, poses, .. } = showing;
    let keys = keys.iter().map(|binding| SaidKey {
        value: binding.key.value,
        state: binding.key.state,
        does: &binding.does,
    });
    let forms = charter
        .forms
        .iter()
        .map(|form| SaidForm { half: metres(form.half), content: form.content.map(content_name) });
    Tells::World {
        name: &charter.world,
        ticks_per_second: charter.rate,
        extent: [metres(charter.extent.min), metres(charter.extent.max)],
        reach: *reach,
        kind: *kind,
        avatar: (*kind == WorldKind::Shared).then_some(charter.avatar.0),
        forms: forms.collect(),
        names: names.iter().map(|(id, name)| (id.0.to_string(), name.as_str())).collect(),
        poses: poses.iter().map(|(id, pose)| (id.0.to_string(), said_pose(pose))).collect(),
        controls,
        keys: keys.collect(),
        recording: recording.as_ref(),
    }
}

fn said_pose(pose: &Pose) -> SaidPose {
    (pose.translation().to_array(), pose.rotation().to_array())
}

/// What a check has found, or which immovable objects touch.
pub(crate) fn findings<'a>(of: &'static str, found: &'a Findings) -> Tells<'a> {
    let ids = |ids: &[ObjectId]| ids.iter().map(|id| id.0.to_string()).collect();
    let ends = |ends: &[DVec3; 2]| ends.map(|end| end.to_array());
    let findings = found.list.iter().map(|finding| SaidFinding {
        kind: finding.kind,
        a: ids(&finding.parts[0]),
        b: ids(&finding.parts[1]),
        distance: finding.distance,
        points: ends(&finding.points),
        segments: finding.segments.iter().map(ends).collect(),
    });
    Tells::Findings {
        of,
        clearance: found.clearance,
        unit: &found.unit,
        complete: found.complete,
        findings: findings.collect(),
    }
}

/// The regions of the group that is followed, and of others.
pub(crate) fn regions<'a>(
    view: &View,
    others: impl Iterator<Item = &'a View>,
    extent: &Block,
) -> Tells<'static> {
    let others = others.map(|view| said_regions(view, extent)).collect();
    Tells::Regions { followed: said_regions(view, extent), others }
}

/// The regions of a view, cut to a box a little larger than the extent: a metre, and a fiftieth.
fn said_regions(view: &View, extent: &Block) -> SaidRegions {
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
        inside.then(|| SaidLeaf { node: node.0, min: metres(min), max: metres(max) })
    });
    SaidRegions {
        view: view.epoch.0,
        group: view.group.0,
        leader: view.leader().map(|leader| leader.node.0),
        nodes: view.nodes().map(|node| node.0).collect(),
        leaves: leaves.collect(),
    }
}

pub(crate) fn nothing_picked<'a>() -> Tells<'a> {
    Tells::Picked(SaidPicked::Nothing { id: () })
}

pub(crate) fn picked<'a>(
    Picked { object, hit, faces }: &Picked,
    scene: &Scene,
    names: &'a BTreeMap<ObjectId, String>,
) -> Tells<'a> {
    let (group, owner) = scene.owner(object).unzip();
    Tells::Picked(SaidPicked::Something {
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
    near: Option<&[Near]>,
) -> Tells<'static> {
    let with = with.iter().map(|contact| SaidContact {
        id: contact.other.0.to_string(),
        faces: contact.faces.iter().map(|faces| [faces.a, faces.b]).collect(),
        segments: contact.segments.iter().map(|it| it.ends.map(|end| end.to_array())).collect(),
    });
    let near = near.map(|near| {
        let said = near.iter().map(|near| SaidNear {
            id: near.pair[1].0.to_string(),
            distance: near.distance,
            points: near.points.map(|point: DVec3| point.to_array()),
        });
        said.collect()
    });
    Tells::Contacts { id: id.0.to_string(), tick: tick.0, with: with.collect(), near }
}
