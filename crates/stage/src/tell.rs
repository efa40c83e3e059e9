//! What happened, for whoever watches and for the scene itself: `collideTime` and
//! `collideObjects` of V-COLLIDE's objects, `collideTime` of the standard's `Collision`,
//! `notColliding` of Ohlenburg's `Transform`.

use crate::stage::Stage;
use crate::{Pieces, StageError, names};
use jostle_scene::nodes::Kind;
use jostle_scene::{NodeId, Value};
use jostle_world::{BodyId, Change, Found, GroupId, Hit};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What was told before, so that only news is told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// `Transform` nodes that collide.
    colliding: BTreeSet<NodeId>,
    overlaps: BTreeSet<[GroupId; 2]>,
    happened: Vec<Happening>,
}

/// Something that began or ended in the last step.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// What.
    pub what: What,
    /// The name of the one.
    pub a: Arc<str>,
    /// The name of the other.
    pub b: Arc<str>,
    /// A face of each of them that touches, where that was asked for.
    pub faces: Option<Pieces>,
}

impl Happening {
    /// Did two bodies begin to touch, or meet on their way?
    #[must_use]
    pub fn began(&self) -> bool {
        matches!(self.what, What::Began(_) | What::Met(..))
    }
}

/// What may happen between two objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// What was asked about two bodies holds from now on.
    Began([BodyId; 2]),
    /// It does not hold any more. The bodies may be gone.
    Ended([BodyId; 2]),
    /// Two bodies met on their way, so many seconds after the step began.
    Met([BodyId; 2], f64),
    /// The boxes of two groups overlap, of which nothing else was asked.
    BoxesMet,
    /// They do not overlap any more.
    BoxesParted,
}

impl Stage {
    /// What happened in the last step: first what was met on the way, then pairs of bodies, then
    /// pairs of groups.
    #[must_use]
    pub fn happened(&self) -> &[Happening] {
        &self.told.happened
    }

    pub(crate) fn tell(&mut self, hits: &[Hit]) -> Result<(), StageError> {
        self.told.happened.clear();
        let mut touched: BTreeSet<[BodyId; 2]> = BTreeSet::new();
        for hit in hits {
            touched.insert([hit.a, hit.b]);
            self.add_happening(What::Met([hit.a, hit.b], hit.time), [hit.a, hit.b]);
        }
        for event in self.world.report().events.clone() {
            let pair = [event.a, event.b];
            match event.change {
                Change::Began => {
                    touched.insert(pair);
                    self.add_happening(What::Began(pair), pair);
                }
                Change::Ended => self.add_happening(What::Ended(pair), pair),
                Change::Continued => {}
            }
        }
        self.departed.clear();
        self.tell_boxes();
        self.tell_objects(&touched)?;
        self.tell_avatar(&touched)?;
        self.tell_transforms()
    }

    fn add_happening(&mut self, what: What, [a, b]: [BodyId; 2]) {
        let faces = self.world.contact(a, b).and_then(|contact| {
            let pair = match &contact.found {
                Found::Witness(witness) => witness.faces,
                Found::Faces(faces) => *faces.first()?,
                _ => return None,
            };
            Some(Pieces { a: self.face(a, pair.a)?, b: self.face(b, pair.b)? })
        });
        let (a, b) = (self.shared_name(a), self.shared_name(b));
        self.told.happened.push(Happening { what, a, b, faces });
    }

    fn tell_boxes(&mut self) {
        let now: BTreeSet<[GroupId; 2]> = self.world.group_overlaps().iter().copied().collect();
        if now == self.told.overlaps {
            return;
        }
        let paths: BTreeMap<GroupId, &Vec<NodeId>> =
            self.groups.iter().map(|(path, &group)| (group, path)).collect();
        let name = |group: GroupId| {
            let name = paths.get(&group).map(|path| names::of(self.play.scene(), path));
            Arc::from(name.unwrap_or_default())
        };
        let told = |what, pairs: Vec<[GroupId; 2]>| -> Vec<Happening> {
            let tell =
                |[a, b]: [GroupId; 2]| Happening { what, a: name(a), b: name(b), faces: None };
            pairs.into_iter().map(tell).collect()
        };
        let met = told(What::BoxesMet, now.difference(&self.told.overlaps).copied().collect());
        let parted =
            told(What::BoxesParted, self.told.overlaps.difference(&now).copied().collect());
        self.told.happened.extend(met);
        self.told.happened.extend(parted);
        self.told.overlaps = now;
    }

    /// The node of the object that a body belongs to.
    fn object(&self, body: BodyId) -> Option<NodeId> {
        let at = *self.by_body.get(&body)?;
        self.actors[at].piece.unit.last().copied()
    }

    fn tell_objects(&mut self, touched: &BTreeSet<[BodyId; 2]>) -> Result<(), StageError> {
        let mut hit: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
        for &[a, b] in touched {
            for (one, other) in [(a, b), (b, a)] {
                if let (Some(object), Some(other)) = (self.object(one), self.object(other))
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

    /// The avatar has run into something below a `Collision` node (ISO/IEC 14772-1, 6.8).
    fn tell_avatar(&mut self, touched: &BTreeSet<[BodyId; 2]>) -> Result<(), StageError> {
        let Some(avatar) = self.visitor.avatar else { return Ok(()) };
        let mut told: BTreeSet<NodeId> = BTreeSet::new();
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
            let hears = |id: &NodeId| {
                matches!(scene.node(*id).kind, Kind::Collision(_) | Kind::CollisionObject(_))
            };
            told.extend(self.actors[at].piece.key.path.iter().copied().filter(hears));
        }
        let now = self.play.now();
        for id in told {
            self.play.emit(id, "collideTime", Value::Time(now))?;
        }
        Ok(())
    }

    /// Tells the `Transform` nodes that somebody asked about or that move by themselves whether
    /// they collide with something outside themselves.
    fn tell_transforms(&mut self) -> Result<(), StageError> {
        let mut colliding: BTreeSet<NodeId> = BTreeSet::new();
        for contact in self.world.contacts() {
            let path = |body| self.by_body.get(&body).map(|&at| &*self.actors[at].piece.key.path);
            let (a, b) = (path(contact.a).unwrap_or(&[]), path(contact.b).unwrap_or(&[]));
            let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
            colliding.extend(a[shared..].iter().chain(&b[shared..]));
        }
        for (path, group) in &self.groups {
            if self.told.overlaps.iter().any(|pair| pair.contains(group)) {
                colliding.extend(path.last());
            }
        }
        let watched = self.roles.drivers.union(&self.roles.targets).copied();
        let scene = self.play.scene();
        let watched: Vec<NodeId> =
            watched.filter(|&id| matches!(scene.node(id).kind, Kind::Transform(_))).collect();
        for id in watched {
            let now = colliding.contains(&id);
            let before = self.told.colliding.contains(&id);
            if now != before {
                self.play.emit(id, "notColliding", Value::Bool(!now))?;
                if now {
                    self.told.colliding.insert(id);
                } else {
                    self.told.colliding.remove(&id);
                }
            }
        }
        Ok(())
    }
}
