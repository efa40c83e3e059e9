//! A recording that is played for those who watch: forth, back, slowly, from collision to
//! collision.

use super::controls::{Control, Controls};
use super::film::{Film, Position};
use super::frames::Frames;
use super::hub::{Hub, Showing, WorldKind};
use super::words::{Recorded, Tells};
use crate::charter::{Charter, Operation, PROTOCOL};
use crate::door::{Door, DoorLimits, Lobby};
use crate::process::StartError;
use crate::serve::Guards;
use axum::extract::ws::Message;
use jostle_proto::client::Limits;
use jostle_proto::{Block, Class, Library, Objects, ShapeId, Span, Tick};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How fast and how slowly a recording can be played.
const FACTORS: std::ops::RangeInclusive<f64> = 0.01..=64.0;

/// How often it is told where the recording is, while it plays.
const TELL: Duration = Duration::from_millis(100);

/// What a page of a recording may ask for.
const WORDS: [&str; 6] = ["play", "pause", "speed", "seek", "step", "collision"];

/// Whom a recording is shown to.
#[derive(Clone, Debug)]
pub struct PlayerSettings {
    /// Where the page is.
    pub web: SocketAddr,
    /// Who may watch.
    pub guards: Guards,
    /// How the door is.
    pub limits: DoorLimits,
}

impl PlayerSettings {
    /// At this address, for everybody who can reach it: loopback only, see [`Guards::anyone`].
    #[must_use]
    pub fn at(web: SocketAddr) -> PlayerSettings {
        PlayerSettings { web, guards: Guards::default(), limits: DoorLimits::default() }
    }
}

/// Something to be done.
enum Order {
    Do(Control),
    Stop,
}

/// A recording that is shown; it ends when this is dropped.
pub struct Player {
    door: Door,
    hub: Arc<Hub>,
    orders: SyncSender<Order>,
    threads: Vec<JoinHandle<()>>,
    ticks: [Tick; 2],
}

impl Player {
    /// Reads a recording and opens a door for those who want to see it.
    ///
    /// # Errors
    /// If it cannot be read, a tick in it is another one than was recorded, or the door cannot be
    /// opened.
    pub fn open(file: &Path, settings: PlayerSettings) -> Result<Player, StartError> {
        let PlayerSettings { web, guards, limits } = settings;
        let door = guards.door((None, Some(web)), limits);
        door.check()?;
        let film = Film::read(file).map_err(StartError::Recording)?;
        let (orders, to_do) = sync_channel(16);
        let asked = orders.clone();
        let controls = Controls::new(&WORDS, move |control| {
            check(control)?;
            asked.send(Order::Do(control)).map_err(|_| "the recording is closed".to_string())
        });
        let last = film.tick(film.len() - 1);
        let ticks = [film.tick(0), last];
        let collisions = film.collisions();
        let recording = Some(Recorded { first: ticks[0].0, last: last.0, collisions });
        let contents = Library::of(&film.shapes, Span(0));
        let charter = charter(&film, &contents);
        let showing =
            Showing { controls, recording, kind: WorldKind::Recording, ..Showing::default() };
        let (hub, mut threads) = Hub::open(&charter, &film.shapes, showing);
        let status = Arc::new(Mutex::new(String::new()));
        let shown = status.clone();
        let lobby = Lobby {
            charter,
            contents,
            shapes: film.shapes.clone(),
            status: Box::new(move || shown.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            metrics: Box::new(String::new),
            admit: Box::new(|_, _, _| Err("this is a recording".into())),
            letter: Box::new(|_, _| {}),
            replicas: None,
            view: Some(hub.clone()),
        };
        let door = Door::open(door, lobby)?;
        let playing = Playing::new(film, hub.clone(), status);
        let thread = std::thread::Builder::new().name("player".into());
        let thread = thread.spawn(move || playing.run(&to_do));
        threads.push(thread.map_err(|error| StartError::Other(error.to_string()))?);
        Ok(Player { door, hub, orders, threads, ticks })
    }

    /// Where the page is.
    #[must_use]
    pub fn web_address(&self) -> Option<SocketAddr> {
        self.door.web_address()
    }

    /// Its first tick and its last.
    #[must_use]
    pub fn ticks(&self) -> [Tick; 2] {
        self.ticks
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.hub.close();
        // It reads until it ends.
        let _ended = self.orders.send(Order::Stop);
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

/// What is known of a world that was recorded.
fn charter(film: &Film, contents: &Library) -> Charter {
    let objects = film.first_world().into_iter().flat_map(Objects::values);
    let moving = objects.clone().filter(|object| object.class != Class::Immovable);
    let places = moving.map(|object| object.state.position);
    let point = |place| Block { min: place, max: place };
    let extent = places.map(point).reduce(Block::join);
    // Nothing moves: the world is where its objects are.
    let extent =
        extent.or_else(|| objects.map(|object| film.shapes.block(object)).reduce(Block::join));
    let extent = extent.unwrap_or(Block { min: [-40960; 3], max: [40960; 3] });
    Charter {
        protocol: PROTOCOL,
        world: film.world.clone(),
        rate: film.rate,
        operation: Operation::Synchronised,
        extent,
        forms: contents.forms().to_vec(),
        avatar: ShapeId(0),
        places: extent,
        limits: Limits { speed: 0, spin: 0, change: 0 },
        gate: 0,
    }
}

/// A recording under way.
struct Playing {
    film: Film,
    position: Position,
    frames: Frames,
    hub: Arc<Hub>,
    status: Arc<Mutex<String>>,
    playing: bool,
    factor: f64,
    /// Ticks that have passed and were not gone yet.
    owed: f64,
    told: Option<(Instant, String)>,
}

impl Playing {
    fn new(film: Film, hub: Arc<Hub>, status: Arc<Mutex<String>>) -> Playing {
        Playing {
            position: Position::new(&film),
            frames: Frames::new(film.rate, film.shapes.clone()),
            film,
            hub,
            status,
            playing: true,
            factor: 1.0,
            owed: 0.0,
            told: None,
        }
    }

    /// Plays until it is stopped.
    fn run(mut self, to_do: &Receiver<Order>) {
        let tick = Duration::from_secs_f64(1.0 / f64::from(self.film.rate.clamp(1, 240)));
        let mut last = Instant::now();
        self.tell();
        loop {
            match to_do.recv_timeout(tick.saturating_sub(last.elapsed())) {
                Ok(Order::Do(control)) => {
                    self.control(control);
                    self.hub.show(&self.position.now(&self.film), &mut self.frames);
                    self.tell();
                }
                Err(RecvTimeoutError::Timeout) => {
                    let passed = last.elapsed();
                    last = Instant::now();
                    self.pass(passed);
                }
                Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn control(&mut self, control: Control) {
        let here = self.position.at();
        let end = self.film.len() - 1;
        match control {
            Control::Play => {
                // At the end, from the beginning.
                if here == end {
                    self.go(0);
                }
                self.playing = true;
            }
            Control::Pause => self.playing = false,
            Control::Speed(factor) => self.factor = factor,
            Control::Seek(tick) => self.go(self.film.place(Tick(tick))),
            Control::Step(by) => {
                self.playing = false;
                let by = isize::try_from(by.clamp(-1 << 31, 1 << 31)).unwrap_or(0);
                self.go(here.saturating_add_signed(by).min(end));
            }
            Control::Collision(by) => {
                self.playing = false;
                if let Some(at) = self.film.collision(here, by) {
                    self.go(at);
                }
            }
            Control::Kill(_)
            | Control::Add
            | Control::Network { .. }
            | Control::Bodies(_)
            | Control::Key(_) => {}
        }
        self.owed = 0.0;
    }

    fn go(&mut self, to: usize) {
        if !self.position.go(&self.film, to) {
            // Who has seen the future cannot be told what changed.
            self.frames.forget();
        }
    }

    /// So much time has passed.
    fn pass(&mut self, passed: Duration) {
        // Nobody sees it: it waits.
        if !self.playing || !self.hub.is_watched() {
            let now = self.position.now(&self.film);
            return self.hub.show_again(&now, &mut self.frames);
        }
        self.owed += passed.as_secs_f64() * f64::from(self.film.rate) * self.factor;
        let steps = self.owed.floor();
        self.owed -= steps;
        let (here, end) = (self.position.at(), self.film.len() - 1);
        let to = here.saturating_add(steps as usize).min(end);
        self.playing = to < end;
        if to == here {
            let now = self.position.now(&self.film);
            self.hub.show_again(&now, &mut self.frames);
        } else {
            self.go(to);
            self.hub.show(&self.position.now(&self.film), &mut self.frames);
        }
        if !self.playing || self.told.as_ref().is_none_or(|(told, _)| told.elapsed() >= TELL) {
            self.tell();
        }
    }

    /// Says where it is, if that is news.
    fn tell(&mut self) {
        let tick = self.film.tick(self.position.at()).0;
        let replay = Tells::Replay { tick, playing: self.playing, factor: self.factor };
        let Message::Text(text) = replay.message() else { return };
        let text = text.to_string();
        if self.told.as_ref().is_some_and(|(_, told)| *told == text) {
            return;
        }
        let now = self.position.now(&self.film);
        let ticks_per_second =
            if self.playing { f64::from(self.film.rate) * self.factor } else { 0.0 };
        let status = serde_json::json!({
            "world": self.film.world,
            "rate": self.film.rate,
            "tick": tick,
            "ticks_per_second": ticks_per_second,
            "dilation": f64::from(now.dilation) / 1000.0,
            "objects": now.objects.len(),
            "collisions": now.touches.len(),
        });
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status.to_string();
        self.hub.set_state(text.clone());
        self.told = Some((Instant::now(), text));
    }
}
