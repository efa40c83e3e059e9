//! A world that a program computes by itself, alone, and shows: `jostle run --view`, and
//! `jostle check --view`, whose world stands still.

use super::controls::{Control, Controls, Key, KeyBinding};
use super::findings::Findings;
use super::frames::Frames;
use super::hub::{Hub, Showing, WorldKind};
use super::scene::{NO_OTHERS, Now};
use super::words;
use crate::charter::{Charter, Operation, PROTOCOL};
use crate::door::{Door, DoorLimits, Lobby};
use crate::process::StartError;
use crate::serve::Guards;
use jostle_geom::Pose;
use jostle_proto::client::Limits;
use jostle_proto::{Block, Library, ObjectId, Objects, ShapeId, Shapes, Span, Tick, Touch};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Keys that wait for the next step, at most.
const KEYS_MAX: usize = 64;

/// What is shown, and where.
#[derive(Clone, Debug)]
pub struct ShowSettings {
    /// What the world is called.
    pub name: String,
    /// Steps per second.
    pub rate: u32,
    /// Where most of it is.
    pub extent: Block,
    /// All forms at the beginning.
    pub shapes: Shapes,
    /// What those objects are called that have a name.
    pub names: BTreeMap<ObjectId, String>,
    /// Exact poses of immovable objects: frames round them to 1/4096 m.
    pub poses: BTreeMap<ObjectId, Pose>,
    /// The keys that are wanted.
    pub keys: Vec<KeyBinding>,
    /// What a check has found; none if nothing was checked.
    pub findings: Option<Findings>,
    /// Where the page is.
    pub web: SocketAddr,
    /// Who may look.
    pub guards: Guards,
}

/// A world after a step.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// Counts the steps.
    pub tick: Tick,
    /// Everything.
    pub objects: &'a Objects,
    /// Pairs that touch, sorted.
    pub touches: &'a [Touch],
}

impl<'a> Picture<'a> {
    fn now(self) -> Now<'a> {
        let Picture { tick, objects, touches } = self;
        Now { tick, dilation: 1000, objects, touches, view: None, others: &NO_OTHERS }
    }
}

/// A world that is shown until this is dropped.
pub struct Show {
    door: Door,
    hub: Arc<Hub>,
    frames: Frames,
    charter: Charter,
    keys: Receiver<Key>,
    status: Arc<Mutex<String>>,
    threads: Vec<JoinHandle<()>>,
}

impl Show {
    /// Opens a door for those who want to look.
    ///
    /// # Errors
    /// If the door cannot be opened.
    pub fn open(settings: ShowSettings) -> Result<Show, StartError> {
        let ShowSettings { name, rate, extent, shapes, names, poses, keys, findings, .. } =
            settings;
        let door = settings.guards.door((None, Some(settings.web)), DoorLimits::default());
        let kind = if findings.is_some() { WorldKind::Check } else { WorldKind::Scene };
        let contents = Library::of(&shapes, Span(0));
        let charter = Charter {
            protocol: PROTOCOL,
            world: name,
            rate,
            operation: Operation::Synchronised,
            extent,
            forms: contents.forms().to_vec(),
            avatar: ShapeId(0),
            places: extent,
            limits: Limits { speed: 0, spin: 0, change: 0 },
            gate: 0,
        };
        let (pressed, keys_pressed) = sync_channel(KEYS_MAX);
        let words: &[&str] = if keys.is_empty() { &[] } else { &["key"] };
        let controls = Controls::new(words, move |control| match control {
            Control::Key(key) => {
                pressed.try_send(key).map_err(|_| "too many keys at once".to_string())
            }
            _ => Ok(()),
        });
        let showing = Showing { names, controls, keys, kind, poses, ..Showing::default() };
        let (hub, threads) = Hub::open(&charter, &shapes, showing);
        if let Some(found) = findings {
            hub.set_state(words::findings("check", &found.bounded()).text());
        }
        let status = Arc::new(Mutex::new(String::new()));
        let shown = status.clone();
        let lobby = Lobby {
            charter: charter.clone(),
            contents,
            shapes: shapes.clone(),
            status: Box::new(move || shown.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            metrics: Box::new(String::new),
            admit: Box::new(|_, _, _| Err("this is a scene on one machine".into())),
            letter: Box::new(|_, _| {}),
            view: Some(hub.clone()),
            replicas: None,
        };
        let frames = Frames::of_anything(rate, shapes);
        let door = Door::open(door, lobby)?;
        Ok(Show { door, hub, frames, charter, keys: keys_pressed, status, threads })
    }

    /// Where the page is.
    #[must_use]
    pub fn web_address(&self) -> Option<SocketAddr> {
        self.door.web_address()
    }

    /// Does anybody look?
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.hub.is_watched()
    }

    /// The keys that were pressed since it was last asked, in their order.
    pub fn keys(&self) -> Vec<Key> {
        self.keys.try_iter().collect()
    }

    /// There are more forms, or more that has a name. Forms keep their numbers.
    pub fn grow(&mut self, shapes: &Shapes, names: &BTreeMap<ObjectId, String>) {
        self.charter.forms = Library::of(shapes, Span(0)).forms().to_vec();
        self.hub.grow(&self.charter, shapes, names);
        self.frames = Frames::of_anything(self.charter.rate, shapes.clone());
    }

    /// Shows the world after a step, and how it is, as `/status` says it.
    pub fn show(&mut self, picture: Picture<'_>, status: String) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
        self.hub.show(&picture.now(), &mut self.frames);
    }

    /// The world of [`Show::show`] still stands: pages that lack a frame get one, and questions
    /// are answered.
    pub fn stand(&mut self, picture: Picture<'_>) {
        self.hub.show_again(&picture.now(), &mut self.frames);
    }
}

impl Drop for Show {
    fn drop(&mut self) {
        self.hub.close();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("internal error: a thread panicked");
            }
        }
    }
}
