//! Events of a step: [`StageEvent`]s for the host, and events of the scene's nodes: `collideTime`
//! and `collideObjects` of V-COLLIDE's objects, `collideTime` of the standard's `Collision`,
//! `notColliding` of Ohlenburg's `Transform`.

use crate::stage::Stage;
use crate::{NamedFaces, StageError, names};
use jostle_scene::nodes::Kind;
use jostle_scene::{NodeId, Value};
use jostle_world::{BodyId, Change, ContactData, GroupId, Hit};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The last reported state, so that only changes are reported, and the events of the last step.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventState {
    /// The `Transform` nodes whose last `notColliding` was FALSE.
    colliding: BTreeSet<NodeId>,
    overlaps: BTreeSet<[GroupId; 2]>,
    events: Vec<StageEvent>,
}

/// A contact that began or ended in the last step.
#[derive(Clone, Debug, PartialEq)]
pub struct StageEvent {
    /// What happened.
    pub kind: StageEventKind,
    /// The name of the first object.
    pub a: Arc<str>,
    /// The name of the second object.
    pub b: Arc<str>,
    /// A touching face of each of them, if the query of the pair asks for faces.
    pub faces: Option<NamedFaces>,
}

impl StageEvent {
    /// Returns true if two bodies began to touch, or hit each other during the step.
    #[must_use]
    pub fn began(&self) -> bool {
        matches!(self.kind, StageEventKind::Began(_) | StageEventKind::Hit(..))
    }
}

/// The kinds of [`StageEvent`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StageEventKind {
    /// The query of two bodies is true from this step on.
    Began([BodyId; 2]),
    /// It is no longer true. The bodies may have been removed.
    Ended([BodyId; 2]),
    /// Two bodies hit each other during the step, at a time in seconds since it began.
    Hit([BodyId; 2], f64),
    /// The boxes of two groups overlap, for interests that ask for boxes only.
    BoxesOverlap,
    /// They no longer overlap.
    BoxesSeparate,
}

impl Stage {
    /// The events of the last step: first hits during the step, then pairs of bodies, then pairs of
    /// groups.
    #[must_use]
    pub fn events(&self) -> &[StageEvent] {
        &self.event_state.events
    }

    pub(crate) fn report_events(&mut self, hits: &[Hit]) -> Result<(), StageError> {
        self.event_state.events.clear();
        let mut touched: BTreeSet<[BodyId; 2]> = BTreeSet::new();
        for hit in hits {
            touched.insert([hit.a, hit.b]);
            self.push_event(StageEventKind::Hit([hit.a, hit.b], hit.time), [hit.a, hit.b]);
        }
        for event in self.world.report().events.clone() {
            let pair = [event.a, event.b];
            match event.change {
                Change::Began => {
                    touched.insert(pair);
                    self.push_event(StageEventKind::Began(pair), pair);
                }
                Change::Ended => self.push_event(StageEventKind::Ended(pair), pair),
                Change::Continued => {}
            }
        }
        self.removed_names.clear();
        self.push_group_events();
        self.emit_object_collisions(&touched)?;
        self.emit_avatar_collisions(&touched)?;
        self.emit_not_colliding()
    }

    fn push_event(&mut self, kind: StageEventKind, [a, b]: [BodyId; 2]) {
        let faces = self.world.contact(a, b).and_then(|contact| {
            let pair = match &contact.data {
                ContactData::Witness(witness) => witness.faces,
                ContactData::Faces(faces) => *faces.first()?,
                ContactData::Points(found) => found.points.first()?.faces,
                _ => return None,
            };
            Some(NamedFaces { a: self.face(a, pair.a)?, b: self.face(b, pair.b)? })
        });
        let (a, b) = (self.shared_name(a), self.shared_name(b));
        self.event_state.events.push(StageEvent { kind, a, b, faces });
    }

    fn push_group_events(&mut self) {
        let now: BTreeSet<[GroupId; 2]> = self.world.group_overlaps().iter().copied().collect();
        if now == self.event_state.overlaps {
            return;
        }
        let paths: BTreeMap<GroupId, &Vec<NodeId>> =
            self.groups.iter().map(|(path, &group)| (group, path)).collect();
        let name = |group: GroupId| {
            let name = paths.get(&group).map(|path| names::of(self.play.scene(), path));
            Arc::from(name.unwrap_or_default())
        };
        let events = |kind, pairs: Vec<[GroupId; 2]>| -> Vec<StageEvent> {
            let event =
                |[a, b]: [GroupId; 2]| StageEvent { kind, a: name(a), b: name(b), faces: None };
            pairs.into_iter().map(event).collect()
        };
        let began = events(
            StageEventKind::BoxesOverlap,
            now.difference(&self.event_state.overlaps).copied().collect(),
        );
        let ended = events(
            StageEventKind::BoxesSeparate,
            self.event_state.overlaps.difference(&now).copied().collect(),
        );
        self.event_state.events.extend(began);
        self.event_state.events.extend(ended);
        self.event_state.overlaps = now;
    }

    /// The node of a body's object.
    fn object_node(&self, body: BodyId) -> Option<NodeId> {
        let at = *self.by_body.get(&body)?;
        self.bodies[at].plan.object_path.last().copied()
    }

    fn emit_object_collisions(
        &mut self,
        touched: &BTreeSet<[BodyId; 2]>,
    ) -> Result<(), StageError> {
        let mut hit: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
        for &[a, b] in touched {
            for (one, other) in [(a, b), (b, a)] {
                if let (Some(object), Some(other)) =
                    (self.object_node(one), self.object_node(other))
                    && matches!(self.play.scene().node(object).kind, Kind::CollisionObject(_))
                {
                    hit.entry(object).or_default().insert(other);
                }
            }
        }
        let now = self.play.now();
        for (object, others) in hit {
            let others = Value::Nodes(Arc::new(others.into_iter().collect()));
            self.play.emit(object, "collideTime", Value::Time(now))?;
            self.play.emit(object, "collideObjects", others)?;
        }
        Ok(())
    }

    /// Sends `collideTime` of each `Collision` node above a body that the avatar has hit (ISO/IEC
    /// 14772-1, 6.8).
    fn emit_avatar_collisions(
        &mut self,
        touched: &BTreeSet<[BodyId; 2]>,
    ) -> Result<(), StageError> {
        let Some(avatar) = self.avatar.body else { return Ok(()) };
        let mut emitters: BTreeSet<NodeId> = BTreeSet::new();
        for &[a, b] in touched {
            let other = if a == avatar {
                b
            } else if b == avatar {
                a
            } else {
                continue;
            };
            let Some(&at) = self.by_body.get(&other) else { continue };
            let scene = self.play.scene();
            let has_event = |id: &NodeId| {
                matches!(scene.node(*id).kind, Kind::Collision(_) | Kind::CollisionObject(_))
            };
            emitters.extend(self.bodies[at].plan.key.path.iter().copied().filter(has_event));
        }
        let now = self.play.now();
        for id in emitters {
            self.play.emit(id, "collideTime", Value::Time(now))?;
        }
        Ok(())
    }

    /// Sends `notColliding` of the `Transform` nodes that have an interest, a velocity or a
    /// response, when they begin or cease to collide with something outside themselves.
    fn emit_not_colliding(&mut self) -> Result<(), StageError> {
        let mut colliding: BTreeSet<NodeId> = BTreeSet::new();
        for contact in self.world.contacts() {
            let path = |body| self.by_body.get(&body).map(|&at| &*self.bodies[at].plan.key.path);
            let (a, b) = (path(contact.a).unwrap_or(&[]), path(contact.b).unwrap_or(&[]));
            let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
            colliding.extend(a[shared..].iter().chain(&b[shared..]));
        }
        for (path, group) in &self.groups {
            if self.event_state.overlaps.iter().any(|pair| pair.contains(group)) {
                colliding.extend(path.last());
            }
        }
        let watched = self.roles.drivers.union(&self.roles.interest_targets).copied();
        let scene = self.play.scene();
        let watched: Vec<NodeId> =
            watched.filter(|&id| matches!(scene.node(id).kind, Kind::Transform(_))).collect();
        for id in watched {
            let now = colliding.contains(&id);
            let before = self.event_state.colliding.contains(&id);
            if now != before {
                self.play.emit(id, "notColliding", Value::Bool(!now))?;
                if now {
                    self.event_state.colliding.insert(id);
                } else {
                    self.event_state.colliding.remove(&id);
                }
            }
        }
        Ok(())
    }
}
