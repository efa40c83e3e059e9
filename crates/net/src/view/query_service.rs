//! The query service, on a thread of its own: it requests a snapshot of the world, answers queries
//! on it, and puts answers into the queues of viewers. Continuous queries take at most a quarter of
//! its time; it sleeps without queries.

use super::findings::static_contacts;
use super::frames::still;
use super::messages::{self, ViewMessage};
use super::queries::{NearPair, RayQuery, all_near, contacts, near, pick};
use super::snapshot::{Forms, WorldSnapshot};
use super::viewer::{Interest, Topic, Viewer};
use axum::extract::ws::Message;
use bytes::{BufMut, BytesMut};
use jostle_geom::Pose;
use jostle_proto::{Class, Object, ObjectId, Shapes};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval of continuous answers: contacts of the selection, and clearance.
const EVERY: Duration = Duration::from_millis(200);

/// Pause after continuous work, as a multiple of its duration.
const PAUSES: u32 = 3;

/// Time budget of the clearance query.
const BUDGET: Duration = Duration::from_millis(60);

/// Time budget of contacts among immovable objects: queried once, and cached.
const STATIC_BUDGET: Duration = Duration::from_secs(2);

/// Timeout of a snapshot request.
const PATIENCE: Duration = Duration::from_secs(2);

/// Ray queries that wait, at most; further ones are answered with nothing.
const PICKS_MAX: usize = 64;

/// Queries with a single answer.
#[derive(Default)]
struct OneShotQueries {
    picks: VecDeque<(Arc<Viewer>, RayQuery)>,
    /// Viewers that want to hold the world.
    holds: Vec<Arc<Viewer>>,
}

/// Held worlds, at most: each is a copy.
const HELD_MAX: usize = 8;

const TOO_MANY: &str = "this server cannot hold more ticks";
const NO_WORLD: &str = "there is no world to show";

/// A viewer's query for contacts among immovable objects, with an optional clearance.
type StaticQuery = (Arc<Viewer>, Option<f64>);

/// The cached answer to a [`StaticQuery`]: valid until an immovable object changes.
struct StaticAnswer {
    known: Arc<Catalog>,
    clearance: Option<f64>,
    objects: Vec<Object>,
    message: Message,
}

#[derive(Default)]
struct QueryQueue {
    one_shot: OneShotQueries,
    /// At most one for each viewer.
    statics: VecDeque<StaticQuery>,
    scene: Option<WorldSnapshot>,
    over: bool,
}

/// Shapes and names, which do not change from tick to tick.
struct Catalog {
    forms: Forms,
    names: BTreeMap<ObjectId, String>,
}

/// Answers the queries of all viewers.
pub(super) struct QueryService {
    known: Mutex<Arc<Catalog>>,
    poses: Arc<BTreeMap<ObjectId, Pose>>,
    queue: Mutex<QueryQueue>,
    changed: Condvar,
    wanted: AtomicBool,
}

impl QueryService {
    pub(super) fn new(
        shapes: Shapes,
        names: BTreeMap<ObjectId, String>,
        poses: BTreeMap<ObjectId, Pose>,
    ) -> QueryService {
        let poses = Arc::new(poses);
        let known = Catalog { forms: Forms::new(shapes, poses.clone()), names };
        QueryService {
            known: Mutex::new(Arc::new(known)),
            poses,
            queue: Mutex::default(),
            changed: Condvar::new(),
            wanted: AtomicBool::new(false),
        }
    }

    /// Replaces shapes and names.
    pub(super) fn renew(&self, shapes: Shapes, names: BTreeMap<ObjectId, String>) {
        let known = Arc::new(Catalog { forms: Forms::new(shapes, self.poses.clone()), names });
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }

    fn known(&self) -> Arc<Catalog> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn queue(&self) -> MutexGuard<'_, QueryQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn close(&self) {
        self.queue().over = true;
        self.changed.notify_all();
    }

    /// Returns true if it waits for a snapshot.
    pub(super) fn wants_scene(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    pub(super) fn put_scene(&self, scene: WorldSnapshot) {
        self.wanted.store(false, Ordering::Relaxed);
        self.queue().scene = Some(scene);
        self.changed.notify_all();
    }

    pub(super) fn pick(&self, viewer: &Arc<Viewer>, ray_query: RayQuery) {
        let mut queue = self.queue();
        if queue.one_shot.picks.len() < PICKS_MAX {
            queue.one_shot.picks.push_back((viewer.clone(), ray_query));
            drop(queue);
            self.changed.notify_all();
        } else {
            viewer.put_answer(messages::nothing_picked().message());
        }
    }

    pub(super) fn hold(&self, viewer: &Arc<Viewer>) {
        let mut queue = self.queue();
        if !queue.one_shot.holds.iter().any(|known| Arc::ptr_eq(known, viewer)) {
            queue.one_shot.holds.push(viewer.clone());
        }
        drop(queue);
        self.changed.notify_all();
    }

    pub(super) fn find_static(&self, viewer: &Arc<Viewer>, clearance: Option<f64>) {
        let mut queue = self.queue();
        queue.statics.retain(|(known, _)| !Arc::ptr_eq(known, viewer));
        queue.statics.push_back((viewer.clone(), clearance));
        drop(queue);
        self.changed.notify_all();
    }

    pub(super) fn interest_changed(&self) {
        drop(self.queue());
        self.changed.notify_all();
    }

    /// Answers queries until it is closed.
    pub(super) fn run(&self, viewers: impl Fn() -> Vec<Arc<Viewer>>) {
        let mut next = Instant::now();
        let mut found = None;
        loop {
            let interests = || {
                let all = viewers().into_iter().map(|viewer| (viewer.interest(), viewer));
                all.filter(|(interest, _)| *interest != Interest::default()).collect::<Vec<_>>()
            };
            let Some(OneShotQueries { picks, holds }) = self.wait(next, || !interests().is_empty())
            else {
                return;
            };
            let Some(scene) = self.scene() else {
                if self.queue().over {
                    return;
                }
                let nothing = messages::nothing_picked().message();
                picks.iter().for_each(|(viewer, _)| viewer.put_answer(nothing.clone()));
                holds.iter().for_each(|viewer| viewer.put_answer(not_held(NO_WORLD)));
                continue;
            };
            let known = self.known();
            let Catalog { forms, names } = &*known;
            if !holds.is_empty() {
                let held = viewers().iter().filter(|viewer| viewer.scene().is_some()).count();
                stand_still(&scene, forms.shapes(), &holds, held);
            }
            for (viewer, ray_query) in picks {
                let held = viewer.scene();
                let scene = held.as_deref().unwrap_or(&scene);
                let picked = pick(scene, forms, &ray_query);
                let answer = picked.map(|picked| messages::picked(&picked, scene, names));
                viewer.put_answer(answer.unwrap_or_else(messages::nothing_picked).message());
            }
            let begin = Instant::now();
            if begin >= next {
                answer_continuous(&scene, forms, &interests());
                let query = self.queue().statics.pop_front();
                if let Some((viewer, clearance)) = query {
                    viewer.put_answer(answer_static(&mut found, &known, &scene, clearance));
                }
                let took = begin.elapsed();
                next = (begin + EVERY).max(begin + took * (1 + PAUSES));
            }
        }
    }

    /// Waits for work; returns one-shot queries. `None` when it is closed.
    fn wait(&self, next: Instant, interests: impl Fn() -> bool) -> Option<OneShotQueries> {
        loop {
            // Before the queue is locked: both locks are never held together.
            let interests = interests();
            let mut queue = self.queue();
            let left = next.saturating_duration_since(Instant::now());
            if queue.over {
                return None;
            }
            let once = !queue.one_shot.picks.is_empty() || !queue.one_shot.holds.is_empty();
            let interests = interests || !queue.statics.is_empty();
            if once || (interests && left.is_zero()) {
                return Some(std::mem::take(&mut queue.one_shot));
            }
            // An interest that is set at this moment is noticed after this time.
            let wait = if interests { left } else { EVERY };
            let waited = self.changed.wait_timeout(queue, wait);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Requests a snapshot of the next tick.
    fn scene(&self) -> Option<WorldSnapshot> {
        let begin = Instant::now();
        let mut queue = self.queue();
        queue.scene = None;
        self.wanted.store(true, Ordering::Relaxed);
        while queue.scene.is_none() && !queue.over && begin.elapsed() < PATIENCE {
            let waited = self.changed.wait_timeout(queue, PATIENCE);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        queue.scene.take()
    }
}

/// Contacts among immovable objects, from the cache if it is valid.
fn answer_static(
    last: &mut Option<StaticAnswer>,
    known: &Arc<Catalog>,
    scene: &WorldSnapshot,
    clearance: Option<f64>,
) -> Message {
    let immovable = scene.objects.iter().filter(|object| object.class == Class::Immovable);
    let objects: Vec<Object> = immovable.copied().collect();
    if let Some(answer) = last
        && Arc::ptr_eq(&answer.known, known)
        && answer.clearance == clearance
        && answer.objects == objects
    {
        return answer.message.clone();
    }
    let found = static_contacts(scene, &known.forms, clearance, Some(STATIC_BUDGET));
    let message = messages::findings("static", &found).message();
    let known = known.clone();
    *last = Some(StaticAnswer { known, clearance, objects, message: message.clone() });
    message
}

/// Holds the world for these viewers, and sends them a frame of it.
fn stand_still(scene: &WorldSnapshot, shapes: &Shapes, holds: &[Arc<Viewer>], mut held: usize) {
    let shared = Arc::new(scene.clone());
    let mut frame = None;
    for viewer in holds {
        let had = viewer.scene().is_some();
        if !had && held >= HELD_MAX {
            viewer.put_answer(not_held(TOO_MANY));
            continue;
        }
        held += usize::from(!had);
        viewer.hold(Some(shared.clone()));
        let make = || Message::Binary(still(scene, shapes));
        viewer.put_answer(ViewMessage::Held { tick: Some(scene.tick.0), error: None }.message());
        viewer.put_answer(frame.get_or_insert_with(make).clone());
    }
}

/// Sends continuous answers; about a held world only once.
fn answer_continuous(scene: &WorldSnapshot, forms: &Forms, interests: &[(Interest, Arc<Viewer>)]) {
    let (still, moving): (Vec<_>, Vec<_>) =
        interests.iter().cloned().partition(|(_, viewer)| viewer.scene().is_some());
    send_answers(scene, forms, &moving);
    for (interest, viewer) in still {
        if let Some(scene) = viewer.scene()
            && viewer.is_untold(interest)
        {
            send_answers(&scene, forms, &[(interest, viewer)]);
        }
    }
}

fn send_answers(scene: &WorldSnapshot, forms: &Forms, interests: &[(Interest, Arc<Viewer>)]) {
    let clearances = interests.iter().filter_map(|(interest, _)| interest.clearance);
    // Computed once, for the largest clearance.
    let close = clearances.reduce(f64::max).map(|largest| {
        let close = all_near(scene, forms, largest, Some(BUDGET));
        (close, largest)
    });
    // Viewers with the same interest share an answer.
    let mut known: Vec<(Interest, Message)> = Vec::new();
    for (interest, viewer) in interests {
        if let (Some(clearance), Some((close, _))) = (interest.clearance, &close) {
            viewer.put_news(Topic::Near, near_message(scene, close, clearance));
        }
        let Some(id) = interest.selected else { continue };
        let answer = known.iter().find(|(known, _)| known == interest);
        let message = match answer.map(|(_, message)| message.clone()) {
            Some(message) => message,
            None => {
                let with = contacts(scene, forms, id);
                let near = |metres: f64| near(scene, forms, id, metres);
                let near = interest.clearance.map(near);
                let answer = messages::contacts(id, scene.tick, &with, near.as_deref()).message();
                known.push((*interest, answer.clone()));
                answer
            }
        };
        viewer.put_news(Topic::Contacts, message);
    }
}

fn not_held(why: &str) -> Message {
    ViewMessage::Held { tick: None, error: Some(why) }.message()
}

/// Encodes pairs within the clearance (docs/view-protocol.md).
fn near_message(scene: &WorldSnapshot, close: &[NearPair], clearance: f64) -> Message {
    let close: Vec<&NearPair> = close.iter().filter(|near| near.distance <= clearance).collect();
    let mut bytes = BytesMut::with_capacity(24 + 20 * close.len());
    bytes.put_u64_le(2);
    bytes.put_u64_le(scene.tick.0);
    bytes.put_f32_le(clearance as f32);
    bytes.put_u32_le(u32::try_from(close.len()).unwrap_or(u32::MAX));
    for near in close {
        bytes.put_u64_le(near.pair[0].0);
        bytes.put_u64_le(near.pair[1].0);
        bytes.put_f32_le(near.distance as f32);
    }
    Message::Binary(bytes.freeze())
}
