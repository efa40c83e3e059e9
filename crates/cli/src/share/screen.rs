//! A running scene on a page: `jostle run --view`. Bodies become objects, and keys pressed on the
//! page go to the scene's `KeySensor`s.

use super::args::PageArgs;
use super::start::{Forms, clipped, position};
use super::{browser, failed};
use crate::error::CliError;
use crate::keys;
use jostle_geom::Pose;
use jostle_net::view::{Key, KeyBinding, Picture, SceneView, SceneViewSettings};
use jostle_proto::{
    Block, Class, Object, ObjectId, Objects, Rotation, ShapeId, Shapes, State, Tick, Touch,
};
use jostle_scene::nodes::Kind;
use jostle_stage::Stage;
use jostle_world::BodyId;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Smallest interval of new shapes for a body that deforms.
const REFORM: Duration = Duration::from_millis(500);

/// Shapes, at most: each one is kept by the page.
const FORMS_MAX: usize = 4096;

/// Pause without viewers.
const NAP: Duration = Duration::from_millis(20);

/// Settings of the page.
pub(crate) struct ViewPage<'a> {
    pub(crate) listen: SocketAddr,
    pub(crate) open: bool,
    /// Steps per second.
    pub(crate) rate: u32,
    /// Access control.
    pub(crate) page: &'a PageArgs,
}

/// A body as it is shown.
struct Shown {
    object: ObjectId,
    shape: ShapeId,
    since: Instant,
}

/// A scene that is shown while it runs.
pub(crate) struct Screen {
    show: SceneView,
    cast: Cast,
    due: Instant,
    step: Duration,
}

/// The bodies of a scene as objects.
#[derive(Default)]
pub(super) struct Cast {
    forms: Forms,
    shown: BTreeMap<BodyId, Shown>,
    names: BTreeMap<ObjectId, String>,
    objects: Objects,
    next: u64,
    /// There are new shapes or names.
    grown: bool,
}

impl Screen {
    /// Opens the page and prints its URL.
    pub(crate) fn open(
        stage: &Stage,
        name: &str,
        page_settings: &ViewPage<'_>,
        out: &mut dyn Write,
    ) -> Result<Screen, CliError> {
        super::begin_log();
        let mut cast = Cast::default();
        cast.follow(stage)?;
        cast.grown = false;
        let shapes = cast.shapes();
        let keys = bindings(stage);
        let heard = keys.len();
        let settings = SceneViewSettings {
            name: name.into(),
            rate: page_settings.rate,
            extent: cast.extent(),
            shapes,
            names: cast.names.clone(),
            poses: cast.poses(stage, |body| stage.is_static(body))?,
            keys,
            findings: None,
            web: page_settings.listen,
            guards: page_settings.page.guards(),
        };
        let show = SceneView::open(settings).map_err(failed)?;
        let page = page_settings.page.address(show.web_address().unwrap_or(page_settings.listen));
        writeln!(out, "{heard} keys are listened to; look at it at\n  {page}")?;
        out.flush()?;
        if page_settings.open {
            browser::open(&page);
        }
        let step = Duration::from_secs_f64(1.0 / f64::from(page_settings.rate.max(1)));
        Ok(Screen { show, cast, due: Instant::now(), step })
    }

    /// Waits for the next step; returns the keys that were pressed. `None` without viewers: then
    /// time stops.
    pub(crate) fn wait(&mut self) -> Option<Vec<jostle_scene::Key>> {
        if !self.show.is_watched() {
            std::thread::sleep(NAP);
            self.due = Instant::now();
            return None;
        }
        std::thread::sleep(self.due.saturating_duration_since(Instant::now()));
        // A machine that is too slow slows the scene down; it does not catch up afterwards.
        self.due = (self.due + self.step).max(Instant::now());
        let key = |key: Key| jostle_scene::Key { value: key.value, state: key.state };
        Some(self.show.keys().into_iter().map(key).collect())
    }

    /// Shows the scene after a step.
    pub(crate) fn show(&mut self, stage: &Stage, step: u64) -> Result<(), CliError> {
        self.cast.follow(stage)?;
        if std::mem::take(&mut self.cast.grown) {
            self.show.grow(&self.cast.shapes(), &self.cast.names);
        }
        let touches = self.cast.touches(stage);
        let rate = 1.0 / self.step.as_secs_f64();
        let status = serde_json::json!({
            "tick": step,
            "rate": rate.round(),
            "ticks_per_second": rate,
            "objects": self.cast.objects.len(),
            "collisions": touches.len(),
        });
        let picture = Picture { tick: Tick(step), objects: &self.cast.objects, touches: &touches };
        self.show.show(picture, status.to_string());
        Ok(())
    }
}

impl Cast {
    pub(super) fn names(&self) -> &BTreeMap<ObjectId, String> {
        &self.names
    }

    pub(super) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The objects of these bodies, as far as they are shown.
    pub(super) fn ids(&self, bodies: impl Iterator<Item = BodyId>) -> Vec<ObjectId> {
        bodies.filter_map(|body| Some(self.shown.get(&body)?.object)).collect()
    }

    /// Exact poses of the bodies that `wanted` accepts: an object's position is rounded.
    pub(super) fn poses(
        &self,
        stage: &Stage,
        wanted: impl Fn(BodyId) -> bool,
    ) -> Result<BTreeMap<ObjectId, Pose>, CliError> {
        let wanted = self.shown.iter().filter(|(body, _)| wanted(**body));
        wanted.map(|(body, shown)| Ok((shown.object, stage.world().pose(*body)?))).collect()
    }

    /// The bounding box of all objects except avatars.
    pub(super) fn extent(&self) -> Block {
        let shapes = self.shapes();
        let blocks = self.objects.values().filter(|object| object.class != Class::Avatar);
        let extent = blocks.map(|object| shapes.block(object)).reduce(Block::join);
        extent.unwrap_or(Block { min: [-40960; 3], max: [40960; 3] })
    }

    pub(super) fn shapes(&self) -> Shapes {
        Shapes::new(self.forms.solids().to_vec())
    }

    /// Updates every object from its body.
    pub(super) fn follow(&mut self, stage: &Stage) -> Result<(), CliError> {
        let world = stage.world();
        self.shown.retain(|id, _| world.has(*id));
        self.objects = Objects::new();
        for id in world.ids() {
            if !world.is_enabled(id)? {
                continue;
            }
            let shape = self.shape(stage, id)?;
            let Some(shown) = self.shown.get(&id) else { continue };
            let (pose, velocity) = (world.pose(id)?, world.velocity(id)?);
            let state = State {
                position: position(pose.translation())?,
                rotation: Rotation::from_quaternion(pose.rotation()),
                velocity: clipped(velocity.linear),
                spin: clipped(velocity.angular),
            };
            let class = match () {
                () if stage.is_avatar(id) => Class::Avatar,
                () if stage.is_static(id) => Class::Immovable,
                () => Class::Dynamic,
            };
            self.objects.insert(Object { id: shown.object, class, shape, state });
        }
        Ok(())
    }

    /// The shape of a body. One that deforms keeps an old shape for a while.
    fn shape(&mut self, stage: &Stage, id: BodyId) -> Result<ShapeId, CliError> {
        let known = self.shown.get(&id).map(|shown| (shown.shape, shown.since));
        let kind = stage.world().shape(id)?.kind();
        if let Some(shape) = self.forms.known(&kind) {
            self.note(stage, id, shape);
            return Ok(shape);
        }
        let full = self.forms.solids().len() >= FORMS_MAX;
        if let Some((shape, since)) = known
            && (full || since.elapsed() < REFORM)
        {
            return Ok(shape);
        }
        if full {
            return Err(failed(format!(
                "a scene with more than {FORMS_MAX} forms cannot be shown"
            )));
        }
        let shape = self.forms.of(&kind)?;
        self.grown = true;
        self.note(stage, id, shape);
        Ok(shape)
    }

    fn note(&mut self, stage: &Stage, id: BodyId, shape: ShapeId) {
        match self.shown.get_mut(&id) {
            Some(shown) if shown.shape == shape => {}
            Some(shown) => (shown.shape, shown.since) = (shape, Instant::now()),
            None => {
                self.next += 1;
                let object = ObjectId(self.next);
                self.names.insert(object, stage.name(id));
                self.shown.insert(id, Shown { object, shape, since: Instant::now() });
                self.grown = true;
            }
        }
    }

    /// Touching pairs, sorted. The scene has applied its responses itself.
    fn touches(&self, stage: &Stage) -> Vec<Touch> {
        let contacts = stage.world().contacts().iter().filter(|contact| contact.is_touching());
        let mut touches: Vec<Touch> = contacts
            .filter_map(|contact| {
                let (a, b) =
                    (self.shown.get(&contact.a)?.object, self.shown.get(&contact.b)?.object);
                Some(Touch { a: a.min(b), b: a.max(b), ..Touch::default() })
            })
            .collect();
        touches.sort_unstable();
        touches
    }
}

/// The keys of the scene's `KeySensor`s, each once.
fn bindings(stage: &Stage) -> Vec<KeyBinding> {
    let mut bindings: Vec<KeyBinding> = Vec::new();
    for (_, node) in stage.play().scene().nodes() {
        let Kind::KeySensor(sensor) = &node.kind else { continue };
        let key = Key { value: sensor.key_value, state: sensor.key_state };
        let does = match (&*sensor.recipient, sensor.absolute_value) {
            ("", _) => "is passed to the scene".to_string(),
            (recipient, absolute) => {
                let [x, y, z] = sensor.value.to_array();
                let how = if absolute { "moves at" } else { "is pushed by" };
                format!("{recipient} {how} {x} {y} {z} m/s")
            }
        };
        match bindings.iter_mut().find(|known| known.key == key) {
            Some(known) => known.does = format!("{}; {does}", known.does),
            None => bindings.push(KeyBinding { key, does }),
        }
    }
    bindings
}

/// The legend: keys, and what each does.
pub(crate) fn legend(stage: &Stage) -> Vec<String> {
    let line = |binding: KeyBinding| {
        format!("{:>12}: {}", keys::name(binding.key.value, binding.key.state), binding.does)
    };
    bindings(stage).into_iter().map(line).collect()
}
