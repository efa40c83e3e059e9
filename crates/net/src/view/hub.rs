//! The hub of all viewers: frames are encoded once and passed to each, queries are answered on a
//! thread of their own, controls are executed on another.

use super::controls::{Control, Controls, KeyBinding};
use super::frames::FrameEncoder;
use super::messages::{self, RecordingInfo, ViewMessage};
use super::queries::RayQuery;
use super::query_service::QueryService;
use super::snapshot::{OtherGroups, WorldRef, WorldSnapshot};
use super::viewer::{Due, Topic, Viewer};
use crate::edge::Meshes;
use crate::manifest::WorldManifest;
use axum::extract::ws::Message;
use bytes::Bytes;
use jostle_geom::Pose;
use jostle_proto::{Block, Content, Epoch, ObjectId, Shapes, View};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Controls that wait to be executed, at most.
const CONTROLS_MAX: usize = 16;

/// A younger status is sent again.
const STATUS_AGE: Duration = Duration::from_millis(900);

/// The kind of page that a world gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WorldKind {
    /// A shared world, which avatars can enter.
    Shared,
    /// A scene that one program runs.
    Scene,
    /// A checked scene: static, with a list of findings.
    Check,
    /// A recording.
    Recording,
}

/// What the `world` message contains besides the manifest.
#[derive(Clone, Debug)]
pub(crate) struct ViewSettings {
    /// The interest radius of clients in metres; `None` if they receive everything.
    pub(crate) reach: Option<f64>,
    pub(crate) names: BTreeMap<ObjectId, String>,
    pub(crate) controls: Controls,
    /// Keys that a scene listens to.
    pub(crate) keys: Vec<KeyBinding>,
    pub(crate) recording: Option<RecordingInfo>,
    pub(crate) kind: WorldKind,
    /// Exact poses of immovable objects, where known: frames round them.
    pub(crate) poses: BTreeMap<ObjectId, Pose>,
}

impl Default for ViewSettings {
    /// A shared world without anything special.
    fn default() -> ViewSettings {
        ViewSettings {
            reach: None,
            names: BTreeMap::new(),
            controls: Controls::default(),
            keys: Vec::new(),
            recording: None,
            kind: WorldKind::Shared,
            poses: BTreeMap::new(),
        }
    }
}

/// Messages that every new viewer receives first.
#[derive(Default)]
struct CachedMessages {
    /// The `world` message.
    world: Option<Message>,
    /// Shapes that were added after the start.
    grown: Option<Meshes>,
    state: Option<Message>,
    /// With the epochs that they belong to.
    regions: Option<(Vec<Epoch>, Message)>,
    status: Option<(Instant, Message)>,
}

/// A control, and the viewer that asked for it.
type ControlRequest = (Arc<Viewer>, Control);

/// All viewers of a world at one edge server.
pub struct ViewHub {
    extent: Block,
    showing: Mutex<ViewSettings>,
    is_walkable: bool,
    viewers: Mutex<Vec<Arc<Viewer>>>,
    count: AtomicUsize,
    cached: Mutex<CachedMessages>,
    queries: Arc<QueryService>,
    controls: Controls,
    requests: Mutex<Option<SyncSender<ControlRequest>>>,
}

/// The entry of a viewer; removed when dropped.
pub(crate) struct ViewerSlot {
    hub: Arc<ViewHub>,
    pub(crate) viewer: Arc<Viewer>,
}

impl Drop for ViewerSlot {
    fn drop(&mut self) {
        let mut viewers = self.hub.viewers();
        viewers.retain(|viewer| !Arc::ptr_eq(viewer, &self.viewer));
        self.hub.count.store(viewers.len(), Ordering::Relaxed);
    }
}

impl ViewHub {
    /// Without viewers at first. Its threads run until [`ViewHub::close`].
    pub(crate) fn open(
        manifest: &WorldManifest,
        shapes: &Shapes,
        showing: ViewSettings,
    ) -> (Arc<ViewHub>, Vec<JoinHandle<()>>) {
        let controls = showing.controls.clone();
        let (requests, queue) = sync_channel(CONTROLS_MAX);
        let controlled = !controls.words().is_empty();
        let world = Some(world_message(manifest, &showing));
        let queries = Arc::new(QueryService::new(
            shapes.clone(),
            showing.names.clone(),
            showing.poses.clone(),
        ));
        let hub = Arc::new(ViewHub {
            extent: manifest.extent,
            is_walkable: showing.kind == WorldKind::Shared,
            showing: Mutex::new(showing),
            viewers: Mutex::default(),
            count: AtomicUsize::new(0),
            cached: Mutex::new(CachedMessages { world, ..CachedMessages::default() }),
            queries,
            controls,
            requests: Mutex::new(controlled.then_some(requests)),
        });
        let service = hub.clone();
        let mut threads: Vec<_> =
            spawn("view-answers", move || service.queries.run(|| service.viewers().clone()))
                .into_iter()
                .collect();
        if controlled {
            let controls = hub.controls.clone();
            threads.extend(spawn("view-controls", move || execute_all(&controls, &queue)));
        }
        (hub, threads)
    }

    /// Stops the threads.
    pub(crate) fn close(&self) {
        self.queries.close();
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// A poisoned lock is used: every update under it is complete at each step.
    fn viewers(&self) -> MutexGuard<'_, Vec<Arc<Viewer>>> {
        self.viewers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cached(&self) -> MutexGuard<'_, CachedMessages> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if avatars can enter the world.
    pub(crate) fn is_walkable(&self) -> bool {
        self.is_walkable
    }

    /// Adds shapes and names: all viewers receive the `world` message and a whole frame again.
    pub(crate) fn grow(
        &self,
        manifest: &WorldManifest,
        shapes: &Shapes,
        names: &BTreeMap<ObjectId, String>,
    ) {
        let world = {
            let mut showing = self.showing.lock().unwrap_or_else(PoisonError::into_inner);
            showing.names.clone_from(names);
            world_message(manifest, &showing)
        };
        self.queries.renew(shapes.clone(), names.clone());
        let viewers = self.viewers();
        let mut cached = self.cached();
        cached.grown = Some(Meshes::new(manifest, shapes));
        for viewer in viewers.iter() {
            viewer.begin_anew(world.clone());
        }
        cached.world = Some(world);
    }

    /// The triangles of a shape that was added after the start.
    pub(crate) fn mesh(&self, content: Content) -> Option<Bytes> {
        self.cached().grown.as_ref()?.get(content)
    }

    /// Returns true if there are viewers.
    pub(crate) fn is_watched(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Adds a viewer, unless there are too many.
    pub(crate) fn enter(self: &Arc<Self>, most: usize) -> Option<ViewerSlot> {
        let mut viewers = self.viewers();
        if viewers.len() >= most {
            return None;
        }
        let viewer = Arc::new(Viewer::new());
        // Under the lock of the cached messages, so that newer ones replace these.
        let cached = self.cached();
        if let Some(world) = &cached.world {
            viewer.put_answer(world.clone());
        }
        if let Some(state) = &cached.state {
            viewer.put_news(Topic::State, state.clone());
        }
        if let Some((_, regions)) = &cached.regions {
            viewer.put_news(Topic::Regions, regions.clone());
        }
        viewers.push(viewer.clone());
        self.count.store(viewers.len(), Ordering::Relaxed);
        Some(ViewerSlot { hub: self.clone(), viewer })
    }

    /// Sends a state message to all viewers, and to new ones first: the settings of a demo, or the
    /// position of a recording.
    pub(crate) fn set_state(&self, text: String) {
        let message = Message::Text(text.into());
        let viewers = self.viewers();
        self.cached().state = Some(message.clone());
        for viewer in viewers.iter() {
            viewer.put_news(Topic::State, message.clone());
        }
    }

    /// Shows a new tick.
    pub(crate) fn show(&self, now: &WorldRef<'_>, frames: &mut FrameEncoder) {
        let viewers = self.viewers().clone();
        if viewers.is_empty() {
            frames.forget();
            return;
        }
        if let Some(view) = now.view {
            self.show_regions(view, now.others);
        }
        let fresh = frames.tick().is_none();
        let change = frames.next(now);
        let mut whole = fresh.then(|| change.clone());
        for viewer in viewers {
            match viewer.due() {
                Due::Nothing => {}
                Due::Change => viewer.put_frame(change.clone()),
                Due::Whole => {
                    viewer.put_frame(whole.get_or_insert_with(|| frames.whole(now)).clone());
                }
            }
        }
        self.update_queries(now);
    }

    /// Shows the same tick again: viewers without a frame receive one, and queries are answered.
    pub(crate) fn show_again(&self, now: &WorldRef<'_>, frames: &mut FrameEncoder) {
        let behind: Vec<Arc<Viewer>> =
            self.viewers().iter().filter(|viewer| viewer.is_behind()).cloned().collect();
        if !behind.is_empty() {
            if frames.tick() != Some(now.tick) {
                frames.forget();
                frames.next(now);
            }
            let whole = frames.whole(now);
            behind.iter().for_each(|viewer| viewer.put_frame(whole.clone()));
        }
        self.update_queries(now);
    }

    fn update_queries(&self, now: &WorldRef<'_>) {
        if self.queries.wants_scene() {
            self.queries.put_scene(WorldSnapshot::of(now));
        }
    }

    fn show_regions(&self, view: &View, others: &OtherGroups) {
        let viewers = self.viewers();
        let mut cached = self.cached();
        // Epochs are numbered by one counter for all groups, so they identify the views.
        let others = others.views.values();
        let epochs: Vec<Epoch> = others.clone().chain([view]).map(|view| view.epoch).collect();
        if cached.regions.as_ref().is_some_and(|(known, _)| *known == epochs) {
            return;
        }
        let message = messages::regions(view, others, &self.extent).message();
        for viewer in viewers.iter() {
            viewer.put_news(Topic::Regions, message.clone());
        }
        cached.regions = Some((epochs, message));
    }

    /// The `status` message, made anew at most about once a second.
    pub(crate) fn status(&self, make: impl FnOnce() -> String) -> Message {
        let mut cached = self.cached();
        if let Some((made, message)) = &cached.status
            && made.elapsed() < STATUS_AGE
        {
            return message.clone();
        }
        let status = make();
        let status = if status.is_empty() { "null" } else { &status };
        let text = format!("{{\"type\":\"status\",\"status\":{status}}}");
        let message = Message::Text(text.into());
        cached.status = Some((Instant::now(), message.clone()));
        message
    }

    /// Queues a ray query; an invalid ray hits nothing.
    pub(crate) fn pick(&self, viewer: &Arc<Viewer>, ray_query: Option<RayQuery>) {
        match ray_query {
            Some(ray_query) => self.queries.pick(viewer, ray_query),
            None => viewer.put_answer(messages::nothing_picked().message()),
        }
    }

    /// Holds the world for a viewer: its queries refer to this tick until it releases it.
    pub(crate) fn hold(&self, viewer: &Arc<Viewer>) {
        self.queries.hold(viewer);
    }

    /// Queues a query for contacts among immovable objects.
    pub(crate) fn find_static(&self, viewer: &Arc<Viewer>, clearance: Option<f64>) {
        self.queries.find_static(viewer, clearance);
    }

    /// The interest of a viewer has changed.
    pub(crate) fn interest_changed(&self) {
        self.queries.interest_changed();
    }

    /// Queues a control.
    pub(crate) fn control(&self, viewer: &Arc<Viewer>, control: Control) {
        let refuse = |why: &str| viewer.put_answer(controlled(control, Err(why.into())));
        if !self.controls.words().contains(&control.word()) {
            return refuse("that cannot be asked for here");
        }
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = requests.as_ref().map(|requests| requests.try_send((viewer.clone(), control)));
        if !matches!(taken, Some(Ok(()))) {
            refuse("too much is being asked for");
        }
    }
}

/// The `world` message.
fn world_message(manifest: &WorldManifest, showing: &ViewSettings) -> Message {
    messages::world(manifest, showing, showing.controls.words()).message()
}

fn controlled(control: Control, done: Result<(), String>) -> Message {
    ViewMessage::Controlled { word: control.word(), error: done.err() }.message()
}

fn execute_all(controls: &Controls, queue: &Receiver<ControlRequest>) {
    while let Ok((viewer, control)) = queue.recv() {
        viewer.put_answer(controlled(control, controls.run(control)));
    }
}

/// Starts a thread; without it there are no answers.
fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name.into()).spawn(run);
    thread.inspect_err(|error| tracing::error!("cannot start thread {name}: {error}")).ok()
}
