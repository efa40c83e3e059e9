//! Where questions are answered, on a thread of its own: it asks for the world at a tick, works on
//! that copy, and puts answers into the mailboxes. It takes at most a quarter of its time for what
//! is asked all the time, and sleeps while nobody asks.

use super::findings::static_contacts;
use super::frames::still;
use super::questions::{Glance, Near, all_near, contacts, near, pick};
use super::scene::{Forms, Scene};
use super::viewer::{Interest, Topic, Viewer};
use super::words::{self, Tells};
use axum::extract::ws::Message;
use bytes::{BufMut, BytesMut};
use jostle_geom::Pose;
use jostle_proto::{Class, Object, ObjectId, Shapes};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often those who have selected something, or asked for a clearance, are told.
const EVERY: Duration = Duration::from_millis(200);

/// After work that took so long, at least so many times as long is paused.
const PAUSES: u32 = 3;

/// Time for all pairs that are too close.
const BUDGET: Duration = Duration::from_millis(60);

/// Time for contacts among immovable objects: asked for once, and kept.
const STATIC_BUDGET: Duration = Duration::from_secs(2);

/// A world that does not come for so long is not there.
const PATIENCE: Duration = Duration::from_secs(2);

/// Glances that wait, at most; more are met by nothing.
const PICKS_MAX: usize = 64;

/// What is asked once.
#[derive(Default)]
struct Asked {
    picks: VecDeque<(Arc<Viewer>, Glance)>,
    /// Those for whom the world is to stand still.
    holds: Vec<Arc<Viewer>>,
}

/// Worlds that stand still for somebody, at most: each is a copy.
const HELD_MAX: usize = 8;

const TOO_MANY: &str = "this door keeps no more worlds that stand still";
const NO_WORLD: &str = "there is no world to be seen";

/// A viewer asks for contacts among immovable objects, and for pairs closer than a clearance.
type StaticQuery = (Arc<Viewer>, Option<f64>);

/// The last answer to a [`StaticQuery`]: it holds as long as nothing immovable changes.
struct StaticAnswer {
    known: Arc<Known>,
    clearance: Option<f64>,
    objects: Vec<Object>,
    message: Message,
}

#[derive(Default)]
struct Pile {
    asked: Asked,
    /// One for each viewer, at most.
    statics: VecDeque<StaticQuery>,
    scene: Option<Scene>,
    over: bool,
}

/// What does not change from tick to tick.
struct Known {
    forms: Forms,
    names: BTreeMap<ObjectId, String>,
}

/// The desk.
pub(super) struct Desk {
    known: Mutex<Arc<Known>>,
    poses: Arc<BTreeMap<ObjectId, Pose>>,
    pile: Mutex<Pile>,
    changed: Condvar,
    wanted: AtomicBool,
}

impl Desk {
    pub(super) fn new(
        shapes: Shapes,
        names: BTreeMap<ObjectId, String>,
        poses: BTreeMap<ObjectId, Pose>,
    ) -> Desk {
        let poses = Arc::new(poses);
        let known = Known { forms: Forms::new(shapes, poses.clone()), names };
        Desk {
            known: Mutex::new(Arc::new(known)),
            poses,
            pile: Mutex::default(),
            changed: Condvar::new(),
            wanted: AtomicBool::new(false),
        }
    }

    /// There are other forms and names from now on.
    pub(super) fn renew(&self, shapes: Shapes, names: BTreeMap<ObjectId, String>) {
        let known = Arc::new(Known { forms: Forms::new(shapes, self.poses.clone()), names });
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }

    fn known(&self) -> Arc<Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn pile(&self) -> MutexGuard<'_, Pile> {
        self.pile.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn close(&self) {
        self.pile().over = true;
        self.changed.notify_all();
    }

    /// Does it need the world as it is now?
    pub(super) fn wants_scene(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    pub(super) fn put_scene(&self, scene: Scene) {
        self.wanted.store(false, Ordering::Relaxed);
        self.pile().scene = Some(scene);
        self.changed.notify_all();
    }

    pub(super) fn pick(&self, viewer: &Arc<Viewer>, glance: Glance) {
        let mut pile = self.pile();
        if pile.asked.picks.len() < PICKS_MAX {
            pile.asked.picks.push_back((viewer.clone(), glance));
            drop(pile);
            self.changed.notify_all();
        } else {
            viewer.put_answer(words::nothing_picked().message());
        }
    }

    pub(super) fn hold(&self, viewer: &Arc<Viewer>) {
        let mut pile = self.pile();
        if !pile.asked.holds.iter().any(|known| Arc::ptr_eq(known, viewer)) {
            pile.asked.holds.push(viewer.clone());
        }
        drop(pile);
        self.changed.notify_all();
    }

    pub(super) fn find_static(&self, viewer: &Arc<Viewer>, clearance: Option<f64>) {
        let mut pile = self.pile();
        pile.statics.retain(|(known, _)| !Arc::ptr_eq(known, viewer));
        pile.statics.push_back((viewer.clone(), clearance));
        drop(pile);
        self.changed.notify_all();
    }

    pub(super) fn interest_changed(&self) {
        drop(self.pile());
        self.changed.notify_all();
    }

    /// Answers until it is over.
    pub(super) fn run(&self, viewers: impl Fn() -> Vec<Arc<Viewer>>) {
        let mut next = Instant::now();
        let mut found = None;
        loop {
            let asked = || {
                let all = viewers().into_iter().map(|viewer| (viewer.interest(), viewer));
                all.filter(|(interest, _)| *interest != Interest::default()).collect::<Vec<_>>()
            };
            let Some(Asked { picks, holds }) = self.wait(next, || !asked().is_empty()) else {
                return;
            };
            let Some(scene) = self.scene() else {
                if self.pile().over {
                    return;
                }
                let nothing = words::nothing_picked().message();
                picks.iter().for_each(|(viewer, _)| viewer.put_answer(nothing.clone()));
                holds.iter().for_each(|viewer| viewer.put_answer(not_held(NO_WORLD)));
                continue;
            };
            let known = self.known();
            let Known { forms, names } = &*known;
            if !holds.is_empty() {
                let held = viewers().iter().filter(|viewer| viewer.scene().is_some()).count();
                stand_still(&scene, forms.shapes(), &holds, held);
            }
            for (viewer, glance) in picks {
                let held = viewer.scene();
                let scene = held.as_deref().unwrap_or(&scene);
                let picked = pick(scene, forms, &glance);
                let told = picked.map(|picked| words::picked(&picked, scene, names));
                viewer.put_answer(told.unwrap_or_else(words::nothing_picked).message());
            }
            let begin = Instant::now();
            if begin >= next {
                tell(&scene, forms, &asked());
                let query = self.pile().statics.pop_front();
                if let Some((viewer, clearance)) = query {
                    viewer.put_answer(answer_static(&mut found, &known, &scene, clearance));
                }
                let took = begin.elapsed();
                next = (begin + EVERY).max(begin + took * (1 + PAUSES));
            }
        }
    }

    /// Waits until there is something to do; gives the glances. None when it is over.
    fn wait(&self, next: Instant, asked: impl Fn() -> bool) -> Option<Asked> {
        loop {
            // Not while the pile is locked: nobody ever holds both locks.
            let asked = asked();
            let mut pile = self.pile();
            let left = next.saturating_duration_since(Instant::now());
            if pile.over {
                return None;
            }
            let once = !pile.asked.picks.is_empty() || !pile.asked.holds.is_empty();
            let asked = asked || !pile.statics.is_empty();
            if once || (asked && left.is_zero()) {
                return Some(std::mem::take(&mut pile.asked));
            }
            // Who begins to ask in just this moment is seen after a while.
            let wait = if asked { left } else { EVERY };
            let waited = self.changed.wait_timeout(pile, wait);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// The world as it will be in a moment.
    fn scene(&self) -> Option<Scene> {
        let begin = Instant::now();
        let mut pile = self.pile();
        pile.scene = None;
        self.wanted.store(true, Ordering::Relaxed);
        while pile.scene.is_none() && !pile.over && begin.elapsed() < PATIENCE {
            let waited = self.changed.wait_timeout(pile, PATIENCE);
            pile = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        pile.scene.take()
    }
}

/// Contacts among immovable objects, from the last answer if that still holds.
fn answer_static(
    last: &mut Option<StaticAnswer>,
    known: &Arc<Known>,
    scene: &Scene,
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
    let message = words::findings("static", &found).message();
    let known = known.clone();
    *last = Some(StaticAnswer { known, clearance, objects, message: message.clone() });
    message
}

/// The world stands still for those who have asked for that, and they are shown it.
fn stand_still(scene: &Scene, shapes: &Shapes, holds: &[Arc<Viewer>], mut held: usize) {
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
        viewer.put_answer(Tells::Held { tick: Some(scene.tick.0), error: None }.message());
        viewer.put_answer(frame.get_or_insert_with(make).clone());
    }
}

/// Tells those who have asked to be told all the time; about a world that stands still, once.
fn tell(scene: &Scene, forms: &Forms, asked: &[(Interest, Arc<Viewer>)]) {
    let (still, moving): (Vec<_>, Vec<_>) =
        asked.iter().cloned().partition(|(_, viewer)| viewer.scene().is_some());
    tell_of(scene, forms, &moving);
    for (interest, viewer) in still {
        if let Some(scene) = viewer.scene()
            && viewer.is_untold(interest)
        {
            tell_of(&scene, forms, &[(interest, viewer)]);
        }
    }
}

fn tell_of(scene: &Scene, forms: &Forms, asked: &[(Interest, Arc<Viewer>)]) {
    let clearances = asked.iter().filter_map(|(interest, _)| interest.clearance);
    // Found once, for the largest.
    let close = clearances.reduce(f64::max).map(|largest| {
        let close = all_near(scene, forms, largest, Some(BUDGET));
        (close, largest)
    });
    // Many look at the same: each is looked at once.
    let mut known: Vec<(Interest, Message)> = Vec::new();
    for (interest, viewer) in asked {
        if let (Some(clearance), Some((close, _))) = (interest.clearance, &close) {
            viewer.put_news(Topic::Near, near_message(scene, close, clearance));
        }
        let Some(id) = interest.selected else { continue };
        let told = known.iter().find(|(known, _)| known == interest);
        let message = match told.map(|(_, message)| message.clone()) {
            Some(message) => message,
            None => {
                let with = contacts(scene, forms, id);
                let near = |metres: f64| near(scene, forms, id, metres);
                let near = interest.clearance.map(near);
                let told = words::contacts(id, scene.tick, &with, near.as_deref()).message();
                known.push((*interest, told.clone()));
                told
            }
        };
        viewer.put_news(Topic::Contacts, message);
    }
}

fn not_held(why: &str) -> Message {
    Tells::Held { tick: None, error: Some(why) }.message()
}

/// Pairs that are too close, as docs/view-protocol.md has them.
fn near_message(scene: &Scene, close: &[Near], clearance: f64) -> Message {
    let close: Vec<&Near> = close.iter().filter(|near| near.distance <= clearance).collect();
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
