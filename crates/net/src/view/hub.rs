//! Where all who watch come together: frames are made once and handed to each, questions are
//! collected and answered on a thread of their own, controls are done on another.

use super::controls::{Control, Controls, KeyBinding};
use super::desk::Desk;
use super::frames::Frames;
use super::questions::Glance;
use super::scene::{Now, Others, Scene};
use super::viewer::{Due, Topic, Viewer};
use super::words::{self, Recorded, Tells};
use crate::charter::Charter;
use crate::door::Meshes;
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

/// Controls that wait to be done.
const CONTROLS_MAX: usize = 16;

/// A status that is younger is told again.
const STATUS_AGE: Duration = Duration::from_millis(900);

/// What kind of page a world gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WorldKind {
    /// A shared world, which avatars can join.
    Shared,
    /// A scene that one program runs.
    Scene,
    /// A scene that was checked: it stands, and its findings are listed.
    Check,
    /// A recording.
    Recording,
}

/// What a page is told about the world, besides its charter.
#[derive(Clone, Debug)]
pub(crate) struct Showing {
    /// How far clients see, in metres; none if they see everything.
    pub(crate) reach: Option<f64>,
    pub(crate) names: BTreeMap<ObjectId, String>,
    pub(crate) controls: Controls,
    /// Those that a scene listens to.
    pub(crate) keys: Vec<KeyBinding>,
    pub(crate) recording: Option<Recorded>,
    pub(crate) kind: WorldKind,
    /// Exact poses of immovable objects, where they are known: frames round them.
    pub(crate) poses: BTreeMap<ObjectId, Pose>,
}

impl Default for Showing {
    /// A world that people can walk into, without anything special.
    fn default() -> Showing {
        Showing {
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

/// What who comes is told first, and what is told again to those who are here.
#[derive(Default)]
struct Standing {
    /// What kind of world this is.
    world: Option<Message>,
    /// Forms that were not there when the door was opened.
    grown: Option<Meshes>,
    state: Option<Message>,
    /// With the views that they are of.
    regions: Option<(Vec<Epoch>, Message)>,
    status: Option<(Instant, Message)>,
}

/// Something to be done, and who asked for it.
type Order = (Arc<Viewer>, Control);

/// All who watch a world through one door.
pub struct Hub {
    extent: Block,
    showing: Mutex<Showing>,
    is_walkable: bool,
    viewers: Mutex<Vec<Arc<Viewer>>>,
    count: AtomicUsize,
    standing: Mutex<Standing>,
    desk: Arc<Desk>,
    controls: Controls,
    orders: Mutex<Option<SyncSender<Order>>>,
}

/// A place among those who watch: given back when dropped.
pub(crate) struct Place {
    hub: Arc<Hub>,
    pub(crate) viewer: Arc<Viewer>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut viewers = self.hub.viewers();
        viewers.retain(|viewer| !Arc::ptr_eq(viewer, &self.viewer));
        self.hub.count.store(viewers.len(), Ordering::Relaxed);
    }
}

impl Hub {
    /// Nobody watches yet. Its threads run until [`Hub::close`].
    pub(crate) fn open(
        charter: &Charter,
        shapes: &Shapes,
        showing: Showing,
    ) -> (Arc<Hub>, Vec<JoinHandle<()>>) {
        let controls = showing.controls.clone();
        let (orders, to_do) = sync_channel(CONTROLS_MAX);
        let controlled = !controls.words().is_empty();
        let world = Some(told(charter, &showing));
        let desk =
            Arc::new(Desk::new(shapes.clone(), showing.names.clone(), showing.poses.clone()));
        let hub = Arc::new(Hub {
            extent: charter.extent,
            is_walkable: showing.kind == WorldKind::Shared,
            showing: Mutex::new(showing),
            viewers: Mutex::default(),
            count: AtomicUsize::new(0),
            standing: Mutex::new(Standing { world, ..Standing::default() }),
            desk,
            controls,
            orders: Mutex::new(controlled.then_some(orders)),
        });
        let asked = hub.clone();
        let mut threads: Vec<_> =
            spawn("view-answers", move || asked.desk.run(|| asked.viewers().clone()))
                .into_iter()
                .collect();
        if controlled {
            let controls = hub.controls.clone();
            threads.extend(spawn("view-controls", move || carry_out(&controls, &to_do)));
        }
        (hub, threads)
    }

    /// Its threads end.
    pub(crate) fn close(&self) {
        self.desk.close();
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Nothing is left half done when a thread panics here.
    fn viewers(&self) -> MutexGuard<'_, Vec<Arc<Viewer>>> {
        self.viewers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Can somebody come in with an avatar?
    pub(crate) fn is_walkable(&self) -> bool {
        self.is_walkable
    }

    /// There are more forms and names than before: everybody is told anew what kind of world this
    /// is, and shown all of it.
    pub(crate) fn grow(
        &self,
        charter: &Charter,
        shapes: &Shapes,
        names: &BTreeMap<ObjectId, String>,
    ) {
        let world = {
            let mut showing = self.showing.lock().unwrap_or_else(PoisonError::into_inner);
            showing.names.clone_from(names);
            told(charter, &showing)
        };
        self.desk.renew(shapes.clone(), names.clone());
        let viewers = self.viewers();
        let mut standing = self.standing();
        standing.grown = Some(Meshes::new(charter, shapes));
        for viewer in viewers.iter() {
            viewer.begin_anew(world.clone());
        }
        standing.world = Some(world);
    }

    /// The triangles of a form that was not there when the door was opened.
    pub(crate) fn mesh(&self, content: Content) -> Option<Bytes> {
        self.standing().grown.as_ref()?.get(content)
    }

    /// Does anybody watch?
    pub(crate) fn is_watched(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Somebody wants to watch; there may be no room.
    pub(crate) fn enter(self: &Arc<Self>, most: usize) -> Option<Place> {
        let mut viewers = self.viewers();
        if viewers.len() >= most {
            return None;
        }
        let viewer = Arc::new(Viewer::new());
        // Before others can put in news: what is newer replaces what is put in here.
        let standing = self.standing();
        if let Some(world) = &standing.world {
            viewer.put_answer(world.clone());
        }
        if let Some(state) = &standing.state {
            viewer.put_news(Topic::State, state.clone());
        }
        if let Some((_, regions)) = &standing.regions {
            viewer.put_news(Topic::Regions, regions.clone());
        }
        viewers.push(viewer.clone());
        self.count.store(viewers.len(), Ordering::Relaxed);
        Some(Place { hub: self.clone(), viewer })
    }

    /// Tells everybody, and everybody who comes from now on: how a demo is set, where a recording
    /// is.
    pub(crate) fn set_state(&self, text: String) {
        let message = Message::Text(text.into());
        let viewers = self.viewers();
        self.standing().state = Some(message.clone());
        for viewer in viewers.iter() {
            viewer.put_news(Topic::State, message.clone());
        }
    }

    /// A new tick is shown.
    pub(crate) fn show(&self, now: &Now<'_>, frames: &mut Frames) {
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
        self.show_desk(now);
    }

    /// The same tick still stands: those who lack a frame are given it, and questions an answer.
    pub(crate) fn show_again(&self, now: &Now<'_>, frames: &mut Frames) {
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
        self.show_desk(now);
    }

    fn show_desk(&self, now: &Now<'_>) {
        if self.desk.wants_scene() {
            self.desk.put_scene(Scene::of(now));
        }
    }

    fn show_regions(&self, view: &View, others: &Others) {
        let viewers = self.viewers();
        let mut standing = self.standing();
        // All views are numbered by one counter, so these numbers tell all groups apart.
        let others = others.views.values();
        let epochs: Vec<Epoch> = others.clone().chain([view]).map(|view| view.epoch).collect();
        if standing.regions.as_ref().is_some_and(|(known, _)| *known == epochs) {
            return;
        }
        let message = words::regions(view, others, &self.extent).message();
        for viewer in viewers.iter() {
            viewer.put_news(Topic::Regions, message.clone());
        }
        standing.regions = Some((epochs, message));
    }

    /// How the world is, made anew at most about once a second.
    pub(crate) fn status(&self, make: impl FnOnce() -> String) -> Message {
        let mut standing = self.standing();
        if let Some((made, message)) = &standing.status
            && made.elapsed() < STATUS_AGE
        {
            return message.clone();
        }
        let status = make();
        let status = if status.is_empty() { "null" } else { &status };
        let text = format!("{{\"type\":\"status\",\"status\":{status}}}");
        let message = Message::Text(text.into());
        standing.status = Some((Instant::now(), message.clone()));
        message
    }

    /// Somebody asks what a glance meets; nothing if it is none.
    pub(crate) fn pick(&self, viewer: &Arc<Viewer>, glance: Option<Glance>) {
        match glance {
            Some(glance) => self.desk.pick(viewer, glance),
            None => viewer.put_answer(words::nothing_picked().message()),
        }
    }

    /// Somebody asks for the world to stand still for them.
    pub(crate) fn hold(&self, viewer: &Arc<Viewer>) {
        self.desk.hold(viewer);
    }

    /// A viewer asks for contacts among immovable objects.
    pub(crate) fn find_static(&self, viewer: &Arc<Viewer>, clearance: Option<f64>) {
        self.desk.find_static(viewer, clearance);
    }

    /// Somebody asks about something else from now on.
    pub(crate) fn interest_changed(&self) {
        self.desk.interest_changed();
    }

    /// Somebody asks for something to be done.
    pub(crate) fn control(&self, viewer: &Arc<Viewer>, control: Control) {
        let refuse = |why: &str| viewer.put_answer(controlled(control, Err(why.into())));
        if !self.controls.words().contains(&control.word()) {
            return refuse("that cannot be asked for here");
        }
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = orders.as_ref().map(|orders| orders.try_send((viewer.clone(), control)));
        if !matches!(taken, Some(Ok(()))) {
            refuse("too much is being asked for");
        }
    }
}

/// What kind of world this is.
fn told(charter: &Charter, showing: &Showing) -> Message {
    words::world(charter, showing, showing.controls.words()).message()
}

fn controlled(control: Control, done: Result<(), String>) -> Message {
    Tells::Controlled { word: control.word(), error: done.err() }.message()
}

fn carry_out(controls: &Controls, to_do: &Receiver<Order>) {
    while let Ok((viewer, control)) = to_do.recv() {
        viewer.put_answer(controlled(control, controls.run(control)));
    }
}

/// A thread; without, there are no answers.
fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name.into()).spawn(run);
    thread.inspect_err(|error| tracing::error!("cannot start thread {name}: {error}")).ok()
}
