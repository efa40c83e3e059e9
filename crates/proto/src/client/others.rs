//! What a client knows of everything but its own avatar, and where it shows it: by dead reckoning,
//! in the same present as its own, and kept out of what is around it (Ohlenburg 2003, 4.4.1).

use super::own::motion;
use crate::detect::Shapes;
use crate::object::{Class, Object, ObjectId, ShapeId};
use crate::reckon::adapt::{Sphere, nearness};
use crate::reckon::predict::{Body, Obstacle, Response, Surroundings};
use crate::reckon::roles::{Method, Role, method};
use crate::reckon::track::{Course, Path};
use crate::reckon::{Convergence, Motion, Place, Receiver, Update, UpdateData};
use crate::solid::Solid;
use crate::state::{Block, POSITION_UNIT, Rotation, State};
use crate::time::{Span, Tick, Time};
use glam::DVec3;
use std::collections::BTreeMap;

/// Objects that are known at a time.
pub(super) const OTHERS_MAX: usize = 2048;

/// An object that was in no update for so long is forgotten: it is gone, or not of interest to the
/// client.
const FORGET: Span = Span::from_ms(3000);

/// Obstacles of one object, the nearest.
const AROUND_MAX: usize = 8;

/// Obstacles farther away than this are none, in metres.
const AROUND: f64 = 8.0;

/// Where something is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// The object.
    pub id: ObjectId,
    /// How it moves.
    pub class: Class,
    /// Its form.
    pub shape: ShapeId,
    /// Its pose at the moment of the client's clock.
    pub place: Place,
}

#[derive(Clone, Debug)]
struct Other {
    object: Object,
    tick: Tick,
    heard: Time,
    receiver: Receiver,
    /// The tick of the last update that the receiver has.
    shown: Option<Tick>,
}

/// Everything but the own avatar.
#[derive(Clone, Debug, Default)]
pub(super) struct Others {
    known: BTreeMap<ObjectId, Other>,
}

impl Others {
    /// Takes an object of an update, exact or rough, unless something newer is known.
    pub(super) fn receive(&mut self, now: Time, tick: Tick, object: Object) {
        if self.known.len() >= OTHERS_MAX && !self.known.contains_key(&object.id) {
            return;
        }
        let receiver = || Receiver::new(Convergence::Line(Span::from_ms(150)));
        let other = self.known.entry(object.id).or_insert_with(|| Other {
            object,
            tick,
            heard: now,
            receiver: receiver(),
            shown: None,
        });
        if tick >= other.tick {
            (other.object, other.tick, other.heard) = (object, tick, now);
        }
    }

    pub(super) fn forget(&mut self, now: Time) {
        self.known.retain(|_, other| now - other.heard <= FORGET);
    }

    pub(super) fn clear(&mut self) {
        self.known.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// How near is the next contact of the own avatar with something that others move, in seconds?
    /// (Row O17; which pairs, row O15.)
    pub(super) fn nearest(&self, own: &Object, shapes: &Shapes) -> Option<f64> {
        let mine = sphere(own, shapes);
        let adaptive = |other: &&Other| {
            method(Role::Enslaved, role(&other.object)) == Method::AdaptiveTracking
        };
        let times = self
            .known
            .values()
            .filter(adaptive)
            .filter_map(|other| nearness(&mine, &sphere(&other.object, shapes)));
        times.min_by(f64::total_cmp)
    }

    /// All of them at a time. `present` gives the time at which a tick is present.
    pub(super) fn shown(
        &mut self,
        now: Time,
        own: Option<Object>,
        shapes: &Shapes,
        present: impl Fn(Tick) -> Option<Time>,
    ) -> Vec<Shown> {
        let scene: Vec<(Object, Path)> = self
            .known
            .values()
            .map(|other| (other.object, present(other.tick).unwrap_or(now)))
            .chain(own.map(|own| (own, now)))
            .filter(|(object, _)| object.class != Class::Absent)
            .map(|(object, since)| (object, path(&object.state, since)))
            .collect();
        let mut all = Vec::with_capacity(self.known.len());
        for other in self.known.values_mut() {
            let Object { id, class, shape, .. } = other.object;
            let around = surroundings(&other.object, &scene, shapes, now);
            if other.shown < Some(other.tick)
                && let Some(stamp) = present(other.tick)
            {
                let Motion { place, speed, .. } = motion(&other.object.state);
                let data = UpdateData::First(place, speed);
                let update = Update { seq: other.tick.0 + 1, stamp: stamp.min(now), data };
                // One that is not newer by the present clock changes nothing.
                let _ = other.receiver.receive(now, &update, &around);
                other.shown = Some(other.tick);
            }
            if let Some(place) = other.receiver.show(now, &around) {
                all.push(Shown { id, class, shape, place });
            }
        }
        all
    }
}

/// What something is to a client that moves its own avatar only.
fn role(object: &Object) -> Role {
    match object.class {
        Class::Immovable | Class::Absent | Class::Leaving(..) => Role::Scene,
        Class::Dynamic | Class::Avatar | Class::Foreign(_) => Role::Remote,
    }
}

fn path(state: &State, since: Time) -> Path {
    Path { since, course: Course::Even(motion(state)) }
}

/// Half the edges of its box, in its own frame.
fn half(object: &Object, shapes: &Shapes) -> DVec3 {
    let half = shapes.get(object.shape).map_or([0; 3], Solid::half);
    DVec3::from_array(half.map(f64::from)) * POSITION_UNIT
}

/// The box around it as it is turned: from its position to the middle, and half the edges.
fn extent(object: &Object, shapes: &Shapes) -> (DVec3, DVec3) {
    let at_zero = State { position: [0; 3], ..object.state };
    let Block { min, max } = shapes.block(&Object { state: at_zero, ..*object });
    let [min, max] = [min, max].map(|corner| DVec3::from_array(corner.map(f64::from)));
    ((min + max) * (0.5 * POSITION_UNIT), (max - min) * (0.5 * POSITION_UNIT))
}

fn sphere(object: &Object, shapes: &Shapes) -> Sphere {
    let Motion { place, speed, .. } = motion(&object.state);
    let radius = half(object, shapes).length();
    Sphere { centre: place.position, velocity: speed.linear, radius }
}

/// The nearest things that an object stays out of. A box counts as the sphere in it, so that
/// nothing is held up that goes past a corner; a large fixed one that is not turned as its nearest
/// face.
fn surroundings(
    object: &Object,
    scene: &[(Object, Path)],
    shapes: &Shapes,
    now: Time,
) -> Surroundings {
    let own = half(object, shapes);
    let model = shapes.get(object.shape).and_then(|solid| solid.model.clone());
    let body = Body { radius: own.min_element(), model };
    let Ok(mut around) = Surroundings::new(body, Response::Stop) else {
        return Surroundings::default();
    };
    if role(object) == Role::Scene {
        return around;
    }
    let centre = motion(&object.state).place.position;
    let mut near: Vec<(f64, &(Object, Path))> = scene
        .iter()
        .filter(|(other, _)| other.id != object.id)
        .filter(|(other, _)| method(role(object), role(other)) != Method::DetectOnly)
        .map(|entry| {
            let (middle, size) = extent(&entry.0, shapes);
            let away = (entry.1.at(now).place.position + middle - centre).abs() - size;
            (away.max(DVec3::ZERO).length(), entry)
        })
        .filter(|(away, _)| *away < AROUND)
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.0.id.cmp(&b.1.0.id)));
    for (_, (other, path)) in near.into_iter().take(AROUND_MAX) {
        let size = half(other, shapes);
        let fixed = role(other) == Role::Scene && other.state.rotation == Rotation::default();
        let obstacle = if fixed && size.max_element() > 2.0 * size.min_element() {
            let (middle, size) = extent(other, shapes);
            let middle = path.at(now).place.position + middle;
            face(centre - middle, size, middle)
        } else {
            let model = shapes.get(other.shape).and_then(|solid| solid.model.clone());
            Some(Obstacle::Thing { path: *path, radius: size.min_element(), model })
        };
        if let Some(obstacle) = obstacle {
            // Numbers of states are of a sensible size.
            let _ = around.add(obstacle);
        }
    }
    around
}

/// The face of a box that a point is before, if it is before one.
fn face(from: DVec3, half: DVec3, centre: DVec3) -> Option<Obstacle> {
    let beyond = from.abs() - half;
    let axis = (0..3).max_by(|&a, &b| beyond[a].total_cmp(&beyond[b]))?;
    let beside = (0..3).filter(|&other| other != axis).all(|other| beyond[other] <= 0.0);
    if !beside || beyond[axis] < 0.0 {
        return None;
    }
    let sign = if from[axis] < 0.0 { -1.0 } else { 1.0 };
    let mut normal = DVec3::ZERO;
    normal[axis] = sign;
    Some(Obstacle::Wall { normal, offset: sign * centre[axis] + half[axis] })
}
