//! Shows a world that one program computes alone: `jostle run --view`, and the static one of
//! `jostle check --view`.

use super::controls::{Control, Controls, Key, KeyBinding};
use super::findings::Findings;
use super::frames::FrameEncoder;
use super::hub::{ViewHub, ViewSettings, WorldKind};
use super::messages;
use super::snapshot::{NO_OTHER_GROUPS, WorldRef};
use crate::edge::{EdgeLimits, EdgeServer, EdgeServices};
use crate::manifest::WorldManifest;
use crate::process::StartError;
use crate::serve::AccessControl;
use jostle_geom::Pose;
use jostle_proto::{Block, Library, ObjectId, Objects, Shapes, Span, Tick, Touch};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Key presses that wait for the next step, at most.
const KEYS_MAX: usize = 64;

/// Settings of a scene view.
#[derive(Clone, Debug)]
pub struct SceneViewSettings {
    /// The name of the world.
    pub name: String,
    /// Steps per second.
    pub rate: u32,
    /// Where most of it is.
    pub extent: Block,
    /// All shapes at the start.
    pub shapes: Shapes,
    /// Names of objects.
    pub names: BTreeMap<ObjectId, String>,
    /// Exact poses of immovable objects: frames round them to 1/4096 m.
    pub poses: BTreeMap<ObjectId, Pose>,
    /// Keys that the scene listens to.
    pub keys: Vec<KeyBinding>,
    /// The findings of a check; `None` without a check.
    pub findings: Option<Findings>,
    /// Listen address of the page.
    pub web: SocketAddr,
    /// Access control.
    pub guards: AccessControl,
}

/// The world after a step.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// The number of the step.
    pub tick: Tick,
    /// All objects.
    pub objects: &'a Objects,
    /// Touching pairs, sorted.
    pub touches: &'a [Touch],
}

impl<'a> Picture<'a> {
    fn now(self) -> WorldRef<'a> {
        let Picture { tick, objects, touches } = self;
        WorldRef { tick, dilation: 1000, objects, touches, view: None, others: &NO_OTHER_GROUPS }
    }
}

/// A world that is shown until this is dropped.
pub struct SceneView {
    edge: EdgeServer,
    hub: Arc<ViewHub>,
    frames: FrameEncoder,
    manifest: WorldManifest,
    keys: Receiver<Key>,
    status: Arc<Mutex<String>>,
    threads: Vec<JoinHandle<()>>,
}

impl SceneView {
    /// Starts an edge server for viewers.
    ///
    /// # Errors
    /// If the edge server cannot start.
    pub fn open(settings: SceneViewSettings) -> Result<SceneView, StartError> {
        let SceneViewSettings { name, rate, extent, shapes, names, poses, keys, findings, .. } =
            settings;
        let edge = settings.guards.edge((None, Some(settings.web)), EdgeLimits::default());
        let kind = if findings.is_some() { WorldKind::Check } else { WorldKind::Scene };
        let contents = Library::of(&shapes, Span(0));
        let manifest = WorldManifest::shown(name, rate, extent, &contents);
        let (pressed, keys_pressed) = sync_channel(KEYS_MAX);
        let words: &[&str] = if keys.is_empty() { &[] } else { &["key"] };
        let controls = Controls::new(words, move |control| match control {
            Control::Key(key) => {
                pressed.try_send(key).map_err(|_| "too many keys at once".to_string())
            }
            _ => Ok(()),
        });
        let showing =
            ViewSettings { names, controls, keys, kind, poses, ..ViewSettings::default() };
        let (hub, threads) = ViewHub::open(&manifest, &shapes, showing);
        if let Some(found) = findings {
            hub.set_state(messages::findings("check", &found.bounded()).text());
        }
        let status = Arc::new(Mutex::new(String::new()));
        let shown = status.clone();
        let services = EdgeServices {
            manifest: manifest.clone(),
            contents,
            shapes: shapes.clone(),
            status: Box::new(move || shown.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            metrics: Box::new(String::new),
            admit: Box::new(|_, _, _| Err("this is a scene on one machine".into())),
            deliver: Box::new(|_, _| {}),
            view: Some(hub.clone()),
            replicas: None,
        };
        let frames = FrameEncoder::of_anything(rate, shapes);
        let edge = EdgeServer::open(edge, services)?;
        Ok(SceneView { edge, hub, frames, manifest, keys: keys_pressed, status, threads })
    }

    /// The address of the page.
    #[must_use]
    pub fn web_address(&self) -> Option<SocketAddr> {
        self.edge.web_address()
    }

    /// Returns true if there are viewers.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.hub.is_watched()
    }

    /// Keys pressed since the last call, in order.
    pub fn keys(&self) -> Vec<Key> {
        self.keys.try_iter().collect()
    }

    /// Adds shapes and names. Existing shapes keep their numbers.
    pub fn grow(&mut self, shapes: &Shapes, names: &BTreeMap<ObjectId, String>) {
        self.manifest.forms = Library::of(shapes, Span(0)).forms().to_vec();
        self.hub.grow(&self.manifest, shapes, names);
        self.frames = FrameEncoder::of_anything(self.manifest.rate, shapes.clone());
    }

    /// Shows the world after a step, with its `/status` text.
    pub fn show(&mut self, picture: Picture<'_>, status: String) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
        self.hub.show(&picture.now(), &mut self.frames);
    }

    /// Shows the same world again: pages without a frame receive one, and queries are answered.
    pub fn stand(&mut self, picture: Picture<'_>) {
        self.hub.show_again(&picture.now(), &mut self.frames);
    }
}

impl Drop for SceneView {
    fn drop(&mut self) {
        self.hub.close();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("internal error: a thread panicked");
            }
        }
    }
}
