//! What happened in each step, for people and for files. The file is described in
//! `docs/run-record.md`.

use crate::check::FacesOutput;
use crate::error::CliError;
use crate::scene::args::RunArgs;
use crate::units::thousands;
use jostle_scene::Value;
use jostle_stage::{Pieces, Stage, What};
use jostle_world::BodyId;
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// The first rows of a run.
#[derive(Default)]
pub(super) struct Happened {
    pub(super) rows: Vec<Row>,
    /// How many rows are kept.
    pub(super) most: usize,
    /// Rows that came when there were so many.
    pub(super) left_out: usize,
    /// What keys and events from outside have led to before the step.
    pub(super) before: Vec<Row>,
}

impl Happened {
    pub(super) fn add(&mut self, rows: impl IntoIterator<Item = Row>) {
        for row in rows {
            if self.rows.len() < self.most {
                self.rows.push(row);
            } else {
                self.left_out += 1;
            }
        }
    }

    /// What says that more happened than is listed.
    pub(super) fn limit_note(&self) -> Option<String> {
        let (listed, all) = (self.rows.len(), self.rows.len() + self.left_out);
        let [listed, all] = [listed, all].map(thousands);
        (self.left_out > 0).then(|| {
            format!("{all} events: the first {listed} are listed; --max-events lists more")
        })
    }
}

/// One thing that happened.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    step: u64,
    time: f64,
    what: &'static str,
    #[serde(serialize_with = "as_text")]
    a: Arc<str>,
    #[serde(serialize_with = "as_text")]
    b: Arc<str>,
    /// Faces that touch.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_faces")]
    faces: Option<Pieces>,
}

fn as_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

fn as_faces<S: Serializer>(faces: &Option<Pieces>, serializer: S) -> Result<S::Ok, S::Error> {
    faces.as_ref().map(FacesOutput::of).serialize(serializer)
}

impl Row {
    /// What happened among bodies, and events of nodes.
    pub(super) fn of_step(
        stage: &Stage,
        step: u64,
        node_events: bool,
    ) -> impl Iterator<Item = Row> + use<'_> {
        let time = stage.play().now();
        let happened = stage.happened().iter().map(move |happening| {
            let what = match happening.what {
                What::Began(_) => "begin",
                What::Ended(_) => "end",
                What::Met(..) => "meet",
                What::BoxesMet => "boxes begin",
                What::BoxesParted => "boxes end",
            };
            let (a, b) = (Arc::clone(&happening.a), Arc::clone(&happening.b));
            Row { step, time, what, a, b, faces: happening.faces.clone() }
        });
        happened.chain(Row::of_nodes(stage, step, node_events))
    }

    /// Events of nodes, and what could not be done.
    pub(super) fn of_nodes(stage: &Stage, step: u64, node_events: bool) -> Vec<Row> {
        let time = stage.play().now();
        let mut rows = Vec::new();
        let scene = stage.play().scene();
        for event in stage.play().events() {
            let node = scene.node(event.node);
            let field = node.kind.fields().get(event.field).map_or("", |field| field.name);
            if !node_events && !TOLD.contains(&field) {
                continue;
            }
            let name = node.name.as_deref().map_or_else(
                || format!("{} at {}", node.kind.name(), node.place),
                ToString::to_string,
            );
            let value = value_text(stage, &event.value);
            let (a, b) = (format!("{name}.{field}").into(), value.into());
            rows.push(Row { step, time: event.time, what: "event", a, b, faces: None });
        }
        for problem in stage.play().problems() {
            let (a, b) = (problem.to_string().into(), "".into());
            rows.push(Row { step, time, what: "problem", a, b, faces: None });
        }
        rows
    }
}

/// Events of nodes that are always told: those of the papers' nodes and of `Collision`.
const TOLD: [&str; 4] = ["collideTime", "collideObjects", "notColliding", "keyHit"];

fn value_text(stage: &Stage, value: &Value) -> String {
    match value {
        Value::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_string(),
        Value::Time(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Vec3(v) => format!("{} {} {}", v.x, v.y, v.z),
        Value::Rotation(r) => format!("{} {} {} {}", r.axis.x, r.axis.y, r.axis.z, r.angle),
        Value::Nodes(nodes) => {
            let scene = stage.play().scene();
            let name = |node: &jostle_scene::Node| {
                node.name.as_deref().unwrap_or(node.kind.name()).to_string()
            };
            nodes.iter().map(|&id| name(scene.node(id))).collect::<Vec<_>>().join(" ")
        }
        other => other.field_type().to_string(),
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { step, time, what, a, b, faces } = self;
        write!(f, "{step:>6}  {time:>10.4} s  {what:<11}  {a}")?;
        if !b.is_empty() {
            write!(f, "  {b}")?;
        }
        match faces {
            Some(Pieces { a: (shape_a, face_a), b: (shape_b, face_b) }) => {
                write!(f, "  (face {face_a} of {shape_a}, face {face_b} of {shape_b})")
            }
            None => Ok(()),
        }
    }
}

/// A recording under way.
pub(super) struct Recorder {
    file: String,
    out: BufWriter<File>,
    /// Where each body was when it was last written.
    last: HashMap<BodyId, [f64; 7]>,
}

#[derive(Serialize)]
struct Header<'a> {
    jostle_run: u32,
    scene: String,
    dt: f64,
    steps: u64,
    keys: Vec<(u64, i32, i32)>,
    bodies: Vec<&'a str>,
}

#[derive(Serialize)]
struct Step<'a> {
    step: u64,
    time: f64,
    hash: String,
    events: &'a [Row],
    moved: Vec<Moved>,
}

/// A body that is not where it was.
#[derive(Serialize)]
struct Moved {
    body: String,
    name: String,
    /// Translation, then quaternion with its real part last.
    pose: [f64; 7],
}

impl Recorder {
    pub(super) fn create(path: &Path) -> Result<Recorder, CliError> {
        let file = path.display().to_string();
        let created =
            File::create(path).map_err(|source| CliError::Write { file: file.clone(), source })?;
        Ok(Recorder { file, out: BufWriter::new(created), last: HashMap::new() })
    }

    pub(super) fn begin(&mut self, stage: &Stage, args: &RunArgs) -> Result<(), CliError> {
        let names: Vec<String> = stage.world().ids().map(|id| stage.name(id)).collect();
        let header = Header {
            jostle_run: 1,
            scene: args.scene.scene.display().to_string(),
            dt: args.dt,
            steps: args.steps(),
            keys: args.key.iter().map(|p| (p.step, p.key.value, p.key.state)).collect(),
            bodies: names.iter().map(String::as_str).collect(),
        };
        self.line(&header)
    }

    pub(super) fn step(
        &mut self,
        stage: &Stage,
        step: u64,
        events: &[Row],
    ) -> Result<(), CliError> {
        let world = stage.world();
        let mut moved = Vec::new();
        for id in world.ids() {
            let pose = world.pose(id)?;
            let ([x, y, z], [i, j, k, w]) =
                (pose.translation().to_array(), pose.rotation().to_array());
            let pose = [x, y, z, i, j, k, w];
            if self.last.insert(id, pose) != Some(pose) {
                moved.push(Moved { body: id.to_string(), name: stage.name(id), pose });
            }
        }
        let hash = format!("{:016x}", world.hash());
        self.line(&Step { step, time: stage.play().now(), hash, events, moved })
    }

    pub(super) fn finish(mut self) -> Result<(), CliError> {
        self.out.flush().map_err(|source| CliError::Write { file: self.file, source })
    }

    fn line(&mut self, line: &impl Serialize) -> Result<(), CliError> {
        let written = serde_json::to_writer(&mut self.out, line)
            .map_err(std::io::Error::from)
            .and_then(|()| self.out.write_all(b"\n"));
        written.map_err(|source| CliError::Write { file: self.file.clone(), source })
    }
}
