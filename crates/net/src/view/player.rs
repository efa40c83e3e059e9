//! Plays a recording for viewers: forward, back, slowly, from contact to contact.

use super::controls::{Control, Controls};
use super::frames::FrameEncoder;
use super::hub::{ViewHub, ViewSettings, WorldKind};
use super::loaded_recording::{LoadedRecording, Position};
use super::messages::{RecordingInfo, ViewMessage};
use crate::edge::{EdgeLimits, EdgeServer, EdgeServices};
use crate::manifest::WorldManifest;
use crate::process::StartError;
use crate::serve::AccessControl;
use axum::extract::ws::Message;
use jostle_proto::{Block, Class, Library, Objects, Span, Tick};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Range of playback speeds.
const FACTORS: std::ops::RangeInclusive<f64> = 0.01..=64.0;

/// Interval of position messages while playing.
const STATE_INTERVAL: Duration = Duration::from_millis(100);

/// Controls of a recording.
const CONTROLS: [&str; 6] = ["play", "pause", "speed", "seek", "step", "collision"];

/// Settings of a player.
#[derive(Clone, Debug)]
pub struct PlayerSettings {
    /// Listen address of the page.
    pub web: SocketAddr,
    /// Access control.
    pub guards: AccessControl,
    /// Limits of the edge server.
    pub limits: EdgeLimits,
}

impl PlayerSettings {
    /// At this address, without access control: loopback only, see [`AccessControl::anyone`].
    #[must_use]
    pub fn at(web: SocketAddr) -> PlayerSettings {
        PlayerSettings { web, guards: AccessControl::default(), limits: EdgeLimits::default() }
    }
}

/// An order to the playing thread.
enum Command {
    Do(Control),
    Stop,
}

/// A recording that is shown until this is dropped.
pub struct Player {
    edge: EdgeServer,
    hub: Arc<ViewHub>,
    commands: SyncSender<Command>,
    threads: Vec<JoinHandle<()>>,
    ticks: [Tick; 2],
}

impl Player {
    /// Reads a recording and starts an edge server for viewers.
    ///
    /// # Errors
    /// If it cannot be read, a recomputed tick differs from the recording, or the edge
    /// server cannot start.
    pub fn open(file: &Path, settings: PlayerSettings) -> Result<Player, StartError> {
        let PlayerSettings { web, guards, limits } = settings;
        let edge = guards.edge((None, Some(web)), limits);
        edge.check()?;
        let loaded = LoadedRecording::read(file).map_err(StartError::Recording)?;
        let (commands, receiver) = sync_channel(16);
        let sender = commands.clone();
        let controls = Controls::new(&CONTROLS, move |control| {
            check(control)?;
            sender.send(Command::Do(control)).map_err(|_| "the recording is closed".to_string())
        });
        let last = loaded.tick(loaded.len() - 1);
        let ticks = [loaded.tick(0), last];
        let collisions = loaded.collisions();
        let recording = Some(RecordingInfo { first: ticks[0].0, last: last.0, collisions });
        let contents = Library::of(&loaded.shapes, Span(0));
        let manifest = manifest(&loaded, &contents);
        let showing = ViewSettings {
            controls,
            recording,
            kind: WorldKind::Recording,
            ..ViewSettings::default()
        };
        let (hub, mut threads) = ViewHub::open(&manifest, &loaded.shapes, showing);
        let status = Arc::new(Mutex::new(String::new()));
        let shown = status.clone();
        let services = EdgeServices {
            manifest,
            contents,
            shapes: loaded.shapes.clone(),
            status: Box::new(move || shown.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            metrics: Box::new(String::new),
            admit: Box::new(|_, _, _| Err("this is a recording".into())),
            deliver: Box::new(|_, _| {}),
            replicas: None,
            view: Some(hub.clone()),
        };
        let edge = EdgeServer::open(edge, services)?;
        let playing = Playing::new(loaded, hub.clone(), status);
        let thread = std::thread::Builder::new().name("player".into());
        let thread = thread.spawn(move || playing.run(&receiver));
        threads.push(thread.map_err(|error| StartError::Other(error.to_string()))?);
        Ok(Player { edge, hub, commands, threads, ticks })
    }

    /// The address of the page.
    #[must_use]
    pub fn web_address(&self) -> Option<SocketAddr> {
        self.edge.web_address()
    }

    /// Its first and last tick.
    #[must_use]
    pub fn ticks(&self) -> [Tick; 2] {
        self.ticks
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.hub.close();
        // Blocks until there is room: the thread reads until it stops.
        let _ended = self.commands.send(Command::Stop);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("internal error: a thread panicked");
            }
        }
    }
}

fn check(control: Control) -> Result<(), String> {
    match control {
        Control::Speed(factor) if !FACTORS.contains(&factor) => {
            Err(format!("a factor is from {} to {}", FACTORS.start(), FACTORS.end()))
        }
        _ => Ok(()),
    }
}

/// A manifest for the recorded world.
fn manifest(recording: &LoadedRecording, contents: &Library) -> WorldManifest {
    let objects = recording.first_world().into_iter().flat_map(Objects::values);
    let moving = objects.clone().filter(|object| object.class != Class::Immovable);
    let places = moving.map(|object| object.state.position);
    let point = |place| Block { min: place, max: place };
    let extent = places.map(point).reduce(Block::join);
    // Without moving objects: where its objects are.
    let extent =
        extent.or_else(|| objects.map(|object| recording.shapes.block(object)).reduce(Block::join));
    let extent = extent.unwrap_or(Block { min: [-40960; 3], max: [40960; 3] });
    WorldManifest::shown(recording.world.clone(), recording.rate, extent, contents)
}

/// Playback state.
struct Playing {
    recording: LoadedRecording,
    position: Position,
    frames: FrameEncoder,
    hub: Arc<ViewHub>,
    status: Arc<Mutex<String>>,
    playing: bool,
    factor: f64,
    /// Fraction of a tick that is still to be played.
    fraction: f64,
    last_sent: Option<(Instant, String)>,
}

impl Playing {
    fn new(recording: LoadedRecording, hub: Arc<ViewHub>, status: Arc<Mutex<String>>) -> Playing {
        Playing {
            position: Position::new(&recording),
            frames: FrameEncoder::new(recording.rate, recording.shapes.clone()),
            recording,
            hub,
            status,
            playing: true,
            factor: 1.0,
            fraction: 0.0,
            last_sent: None,
        }
    }

    /// Plays until it is stopped.
    fn run(mut self, receiver: &Receiver<Command>) {
        let tick = Duration::from_secs_f64(1.0 / f64::from(self.recording.rate.clamp(1, 240)));
        let mut last = Instant::now();
        self.send_state();
        loop {
            match receiver.recv_timeout(tick.saturating_sub(last.elapsed())) {
                Ok(Command::Do(control)) => {
                    self.control(control);
                    self.hub.show(&self.position.now(&self.recording), &mut self.frames);
                    self.send_state();
                }
                Err(RecvTimeoutError::Timeout) => {
                    let passed = last.elapsed();
                    last = Instant::now();
                    self.pass(passed);
                }
                Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn control(&mut self, control: Control) {
        let here = self.position.at();
        let end = self.recording.len() - 1;
        match control {
            Control::Play => {
                // At the end, play starts from the beginning.
                if here == end {
                    self.go(0);
                }
                self.playing = true;
            }
            Control::Pause => self.playing = false,
            Control::Speed(factor) => self.factor = factor,
            Control::Seek(tick) => self.go(self.recording.place(Tick(tick))),
            Control::Step(by) => {
                self.playing = false;
                let by = isize::try_from(by.clamp(-1 << 31, 1 << 31)).unwrap_or(0);
                self.go(here.saturating_add_signed(by).min(end));
            }
            Control::Collision(by) => {
                self.playing = false;
                if let Some(at) = self.recording.collision(here, by) {
                    self.go(at);
                }
            }
            Control::Kill(_)
            | Control::Add
            | Control::Network { .. }
            | Control::Bodies(_)
            | Control::Key(_) => {}
        }
        self.fraction = 0.0;
    }

    fn go(&mut self, to: usize) {
        if !self.position.go(&self.recording, to) {
            // After a step back changes cannot be sent, only whole frames.
            self.frames.forget();
        }
    }

    /// Advances by the elapsed time.
    fn pass(&mut self, passed: Duration) {
        // Pauses without viewers.
        if !self.playing || !self.hub.is_watched() {
            let now = self.position.now(&self.recording);
            return self.hub.show_again(&now, &mut self.frames);
        }
        self.fraction += passed.as_secs_f64() * f64::from(self.recording.rate) * self.factor;
        let steps = self.fraction.floor();
        self.fraction -= steps;
        let (here, end) = (self.position.at(), self.recording.len() - 1);
        let to = here.saturating_add(steps as usize).min(end);
        self.playing = to < end;
        if to == here {
            let now = self.position.now(&self.recording);
            self.hub.show_again(&now, &mut self.frames);
        } else {
            self.go(to);
            self.hub.show(&self.position.now(&self.recording), &mut self.frames);
        }
        if !self.playing
            || self
                .last_sent
                .as_ref()
                .is_none_or(|(last_sent, _)| last_sent.elapsed() >= STATE_INTERVAL)
        {
            self.send_state();
        }
    }

    /// Sends the position, if it has changed.
    fn send_state(&mut self) {
        let tick = self.recording.tick(self.position.at()).0;
        let replay = ViewMessage::Replay { tick, playing: self.playing, factor: self.factor };
        let Message::Text(text) = replay.message() else { return };
        let text = text.to_string();
        if self.last_sent.as_ref().is_some_and(|(_, last_sent)| *last_sent == text) {
            return;
        }
        let now = self.position.now(&self.recording);
        let ticks_per_second =
            if self.playing { f64::from(self.recording.rate) * self.factor } else { 0.0 };
        let status = serde_json::json!({
            "world": self.recording.world,
            "rate": self.recording.rate,
            "tick": tick,
            "ticks_per_second": ticks_per_second,
            "dilation": f64::from(now.dilation) / 1000.0,
            "objects": now.objects.len(),
            "collisions": now.touches.len(),
        });
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status.to_string();
        self.hub.set_state(text.clone());
        self.last_sent = Some((Instant::now(), text));
    }
}
