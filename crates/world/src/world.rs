//! The world: the one door for bodies. Everything enters here and is checked here.
//!
//! Numbers that are not finite cannot get in: [`Pose`], [`Shape`] and meshes refuse them when they
//! are made, velocities and distances are checked below. Behind this door code relies on it.

mod activity;
mod groups;
mod interests;

use crate::body::{Body, CollisionGroups, Mobility, Velocity};
use crate::broad::{Broad, SlotPair, Structure};
use crate::contact::{Change, Contact, Event, PairDistance};
use crate::id::{BodyId, GroupId, Slots};
use crate::interest::{Interests, Policy};
use crate::report::{Report, Stopwatch};
use crate::respond::{Response, VelocityResponse};
use crate::shape::{Shape, ShapeKind};
use crate::step::budget::Budget;
use crate::{Aabb, Workers};
use glam::{DVec3, Vec3};
pub(crate) use groups::Group;
use jostle_geom::{MeshError, Pose};
use std::collections::BTreeSet;
use std::sync::Arc;
use thiserror::Error;

/// How a world works. The answers depend on `policy` only.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is asked about pairs without an interest of their own.
    pub policy: Policy,
    /// How overlapping boxes are found.
    pub structure: Structure,
    /// The threads that share the exact tests.
    pub workers: Workers,
    /// Reads a clock, for the times in the report and for [`World::step_within`]. There is no clock
    /// in a world; without this all times are zero.
    pub stopwatch: Option<Stopwatch>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            policy: Policy::Everything(crate::QueryKind::Touch),
            structure: Structure::default(),
            workers: Workers::ONE,
            stopwatch: None,
        }
    }
}

/// Why a world refuses something. It is then as it was.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WorldError {
    /// The body is not, or no longer, in this world.
    #[error("{0} is not in this world (removed, or never inserted)")]
    UnknownBody(BodyId),
    /// The group is not, or no longer, in this world.
    #[error("{0} is not in this world")]
    UnknownGroup(GroupId),
    /// A group that is still used cannot go.
    #[error("{0} still has members; remove or move them first")]
    GroupNotEmpty(GroupId),
    /// Fixed bodies stay where they are.
    #[error("{0} is fixed; insert it as a moving body to move it")]
    Fixed(BodyId),
    /// Only deforming meshes change their vertices.
    #[error("{0} is not a deforming mesh; insert it as one, or replace its shape")]
    NotDeforming(BodyId),
    /// A velocity with a number that is not finite.
    #[error("velocity {0:?} has a number that is not finite")]
    Velocity(Velocity),
    /// A gravity with a number that is not finite.
    #[error("gravity {0} has a number that is not finite")]
    Gravity(DVec3),
    /// A distance or time that is not a finite number from 0 on.
    #[error("{what} is {value}; expected a finite number from 0 on")]
    Number {
        /// What the number is.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A pair of one body with itself.
    #[error("{0} cannot be paired with itself")]
    SameBody(BodyId),
    /// Vertices that the mesh refuses.
    #[error("new vertices of {id}: {reason}")]
    Vertices {
        /// The body.
        id: BodyId,
        /// What the mesh says.
        reason: String,
    },
    /// A step within a budget needs a clock.
    #[error("a budget needs a stopwatch; the settings have none")]
    NoStopwatch,
}

/// A body and what the world knows of it.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) body: Body,
    /// The tight box at the last step; `None` before the first and for empty meshes.
    pub(crate) bounds: Option<Aabb>,
    /// How far beyond `bounds` the box reached that the broad phase got then.
    pub(crate) reach: f64,
    /// Where it was at the last step after which it touched nothing that it responds to. Kept only
    /// while somebody responds; a guess before the first step.
    pub(crate) free_pose: Pose,
    pub(crate) interests: Interests,
    /// Bodies that it is never compared with; sorted.
    pub(crate) ignored: Vec<BodyId>,
    pub(crate) state: State,
    /// Its pairs are wanted in the next step.
    pub(crate) changed: bool,
    /// The broad phase knows a box of it.
    pub(crate) in_broad: bool,
}

impl Member {
    /// The box for the broad phase.
    pub(crate) fn wide_bounds(&self) -> Option<Aabb> {
        self.bounds.map(|b| if self.reach > 0.0 { b.grown(self.reach) } else { b })
    }
}

/// Does a body take part?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Enabled,
    Disabled { moved: bool },
}

/// Bodies that share a space, and which of them touch.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::Pose;
/// use jostle_world::{Body, Settings, Shape, World};
///
/// let mut world = World::new(Settings::default());
/// let ball = world.insert(Body::moving(Shape::sphere(1.0)?, Pose::IDENTITY))?;
/// let wall = Shape::cuboid(DVec3::new(1.0, 10.0, 10.0))?;
/// let wall = world.insert(Body::fixed(wall, Pose::from_translation(DVec3::X * 5.0)?))?;
/// assert!(world.step().events.is_empty());
///
/// world.set_pose(ball, Pose::from_translation(DVec3::X * 3.5)?)?; // it just touches
/// world.step();
/// assert_eq!(world.contacts().len(), 1);
/// assert!(world.is_touching(ball, wall));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A world is plain data: a clone goes on by itself with the same answers, and shares meshes with
/// the original until one of them changes. So it is cheap enough to keep one for each of the last
/// steps and to go back to it (rollback): it copies a few hundred bytes for each body and what the
/// broad phase knows, and no mesh. [`World::save`] is for what leaves the process.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) settings: Settings,
    pub(crate) members: Slots<Member>,
    pub(crate) groups: Slots<Group>,
    pub(crate) broad: Broad,
    /// Slots of bodies whose pairs may be wanted in the next step: those whose member says
    /// `changed`. A slot may stand here twice, or be empty by then.
    pub(crate) changed: Vec<u32>,
    /// Removed or disabled since the last step: their contacts end.
    pub(crate) gone: bool,
    /// Sorted by pair.
    pub(crate) contacts: Vec<Contact>,
    /// Empty; room for the contacts of the next step.
    pub(crate) last_contacts: Vec<Contact>,
    /// Sorted by pair.
    pub(crate) measured: Vec<PairDistance>,
    /// Pairs whose distance is wanted, sorted.
    pub(crate) distance_pairs: Vec<[BodyId; 2]>,
    /// Pairs of groups whose joined boxes overlap, sorted.
    pub(crate) group_overlaps: Vec<[GroupId; 2]>,
    pub(crate) report: Report,
    pub(crate) budget: Budget,
    pub(crate) gravity: DVec3,
    /// Slots of bodies that [`World::advance`] moves.
    pub(crate) movers: BTreeSet<u32>,
    /// Slots of bodies that respond to what they touch.
    pub(crate) responders: BTreeSet<u32>,
    /// Room for the pairs of a step, kept to save allocations.
    pub(crate) candidates: Vec<SlotPair>,
}

impl World {
    /// Without bodies.
    ///
    /// # Panics
    /// If the policy asks about everything with a clearance that is not a finite number from 0 on.
    #[must_use]
    pub fn new(settings: Settings) -> World {
        if let Policy::Everything(ask) = settings.policy {
            let checked = check_number("clearance", ask.reach());
            assert!(checked.is_ok(), "the policy of a world: {checked:?}");
        }
        World {
            broad: Broad::new(settings.structure),
            settings,
            members: Slots::default(),
            groups: Slots::default(),
            changed: Vec::new(),
            gone: false,
            contacts: Vec::new(),
            last_contacts: Vec::new(),
            measured: Vec::new(),
            distance_pairs: Vec::new(),
            group_overlaps: Vec::new(),
            report: Report::default(),
            budget: Budget::default(),
            gravity: DVec3::ZERO,
            movers: BTreeSet::new(),
            responders: BTreeSet::new(),
            candidates: Vec::new(),
        }
    }

    /// Brings a body in. It is compared with the others from the next step on.
    ///
    /// # Errors
    /// A velocity or restitution that is not a good number, a group that is not there.
    pub fn insert(&mut self, body: Body) -> Result<BodyId, WorldError> {
        check_velocity(body.velocity)?;
        check_response(body.response)?;
        let group = body.group;
        if let Some(group) = group {
            self.known_group(group)?;
        }
        let member = Member {
            free_pose: body.pose,
            body,
            bounds: None,
            reach: 0.0,
            interests: Interests::default(),
            ignored: Vec::new(),
            state: State::Enabled,
            changed: false,
            in_broad: false,
        };
        let id = BodyId(self.members.insert(member));
        if let Some(group) = group {
            self.join_group(id, group);
            self.measure_newcomer(id);
        }
        self.mark(id);
        self.note_activity(id);
        Ok(id)
    }

    /// Takes a body out, with its interests. Its contacts end in the next step.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn remove(&mut self, id: BodyId) -> Result<Body, WorldError> {
        self.forget_interests(id)?;
        let member = self.members.remove(id.0).ok_or(WorldError::UnknownBody(id))?;
        if member.in_broad {
            self.broad.remove(id.slot());
        }
        if let Some(group) = member.body.group {
            self.leave_group(id, group);
        }
        self.movers.remove(&id.slot());
        self.responders.remove(&id.slot());
        self.gone = true;
        if self.changed.len() > 2 * self.len() + 64 {
            // Bodies that come and go without a step between.
            self.changed.retain(|&slot| self.members.is_taken(slot));
            self.changed.sort_unstable();
            self.changed.dedup();
        }
        Ok(member.body)
    }

    /// Moves a body.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::Fixed`].
    pub fn set_pose(&mut self, id: BodyId, pose: Pose) -> Result<(), WorldError> {
        let member = self.member_mut(id)?;
        if member.body.mobility == Mobility::Fixed {
            return Err(WorldError::Fixed(id));
        }
        member.body.pose = pose;
        self.mark(id);
        Ok(())
    }

    /// Where a body is.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn pose(&self, id: BodyId) -> Result<Pose, WorldError> {
        Ok(self.member(id)?.body.pose)
    }

    /// Gives a body another velocity.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::Velocity`].
    pub fn set_velocity(&mut self, id: BodyId, velocity: Velocity) -> Result<(), WorldError> {
        check_velocity(velocity)?;
        self.member_mut(id)?.body.velocity = velocity;
        self.note_activity(id);
        Ok(())
    }

    /// How a body moves by itself.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn velocity(&self, id: BodyId) -> Result<Velocity, WorldError> {
        Ok(self.member(id)?.body.velocity)
    }

    /// Replaces the geometry of a body, fixed or not.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn set_shape(&mut self, id: BodyId, shape: Shape) -> Result<(), WorldError> {
        self.member_mut(id)?.body.shape = shape;
        self.mark(id);
        Ok(())
    }

    /// The geometry of a body.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn shape(&self, id: BodyId) -> Result<&Shape, WorldError> {
        Ok(&self.member(id)?.body.shape)
    }

    /// Moves the vertices of a deforming mesh, in the order of the mesh, and refits its hierarchy.
    /// A mesh that other bodies share is copied first.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::NotDeforming`], [`WorldError::Vertices`].
    pub fn deform(&mut self, id: BodyId, vertices: &[Vec3]) -> Result<(), WorldError> {
        let member = self.member_mut(id)?;
        let ShapeKind::Mesh(model) = member.body.shape.kind() else {
            return Err(WorldError::NotDeforming(id));
        };
        if member.body.mobility != Mobility::Deforming {
            return Err(WorldError::NotDeforming(id));
        }
        let mut model = Arc::clone(model);
        let refused = |error: MeshError| WorldError::Vertices { id, reason: error.to_string() };
        Arc::make_mut(&mut model).refit(vertices).map_err(refused)?;
        member.body.shape = Shape::mesh(model);
        self.mark(id);
        Ok(())
    }

    /// Gives a body other layers.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn set_collision_groups(
        &mut self,
        id: BodyId,
        layers: CollisionGroups,
    ) -> Result<(), WorldError> {
        self.member_mut(id)?.body.layers = layers;
        self.mark(id);
        Ok(())
    }

    /// Gives a body another response, or none.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::Number`] for the restitution.
    pub fn set_response(
        &mut self,
        id: BodyId,
        response: Option<Response>,
    ) -> Result<(), WorldError> {
        check_response(response)?;
        self.member_mut(id)?.body.response = response;
        self.note_activity(id);
        Ok(())
    }

    /// Takes a body out of all comparisons; it can still be moved. Its contacts end in the next
    /// step.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn disable(&mut self, id: BodyId) -> Result<(), WorldError> {
        let member = self.member_mut(id)?;
        if member.state != State::Enabled {
            return Ok(());
        }
        member.state = State::Disabled { moved: member.changed };
        member.changed = false;
        if std::mem::take(&mut member.in_broad) {
            self.broad.remove(id.slot());
        }
        self.gone = true;
        Ok(())
    }

    /// Lets a body take part again. Says whether it changed while it was disabled (Zachmann
    /// §3.11.1); either way it is compared in the next step.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn enable(&mut self, id: BodyId) -> Result<bool, WorldError> {
        let member = self.member_mut(id)?;
        let State::Disabled { moved } = member.state else { return Ok(false) };
        member.state = State::Enabled;
        self.mark(id);
        Ok(moved)
    }

    /// Does a body take part in comparisons?
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn is_enabled(&self, id: BodyId) -> Result<bool, WorldError> {
        Ok(self.member(id)?.state == State::Enabled)
    }

    /// Is a body in this world?
    #[must_use]
    pub fn has(&self, id: BodyId) -> bool {
        self.members.get(id.0).is_some()
    }

    /// All bodies, in order.
    pub fn ids(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.members.iter().map(|(key, _)| BodyId(key))
    }

    /// How many bodies there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Is nobody there?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What held between bodies at the last step, sorted by pair.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// What held between two bodies at the last step, in any order.
    #[must_use]
    pub fn contact(&self, a: BodyId, b: BodyId) -> Option<&Contact> {
        let at = self.contacts.binary_search_by_key(&ordered(a, b), Contact::pair).ok()?;
        Some(&self.contacts[at])
    }

    /// Did two bodies touch at the last step?
    #[must_use]
    pub fn is_touching(&self, a: BodyId, b: BodyId) -> bool {
        self.contact(a, b).is_some_and(Contact::is_touching)
    }

    /// The distances that were asked for, as of the last step, sorted by pair.
    #[must_use]
    pub fn distances(&self) -> &[PairDistance] {
        &self.measured
    }

    /// What the last step did.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Everything that began, continued or ended in the last step, sorted by pair.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        let mut events = self.report.events.clone();
        let began = |pair| {
            let at = self.report.events.binary_search_by_key(&pair, Event::pair);
            at.is_ok_and(|at| self.report.events[at].change == Change::Began)
        };
        let contacts = self.contacts.iter().filter(|contact| !began(contact.pair()));
        events.extend(contacts.map(|&Contact { a, b, .. }| Event {
            a,
            b,
            change: Change::Continued,
        }));
        events.sort_unstable_by_key(Event::pair);
        events
    }

    /// The box of a body as of the last step; `None` before its first and for an empty mesh.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn bounds(&self, id: BodyId) -> Result<Option<Aabb>, WorldError> {
        Ok(self.member(id)?.bounds)
    }

    /// The settings it was made with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A body's pairs are wanted in the next step.
    pub(crate) fn mark(&mut self, id: BodyId) {
        let member = self.members.at_mut(id.slot());
        match &mut member.state {
            State::Disabled { moved } => *moved = true,
            State::Enabled if member.changed => {}
            State::Enabled => {
                member.changed = true;
                self.changed.push(id.slot());
            }
        }
    }

    pub(crate) fn member(&self, id: BodyId) -> Result<&Member, WorldError> {
        self.members.get(id.0).ok_or(WorldError::UnknownBody(id))
    }

    pub(crate) fn member_mut(&mut self, id: BodyId) -> Result<&mut Member, WorldError> {
        self.members.get_mut(id.0).ok_or(WorldError::UnknownBody(id))
    }
}

/// A pair with the smaller id first.
pub(crate) fn ordered(a: BodyId, b: BodyId) -> [BodyId; 2] {
    if a <= b { [a, b] } else { [b, a] }
}

fn check_velocity(velocity: Velocity) -> Result<(), WorldError> {
    if velocity.is_finite() { Ok(()) } else { Err(WorldError::Velocity(velocity)) }
}

fn check_response(response: Option<Response>) -> Result<(), WorldError> {
    match response.map(|response| response.velocity) {
        Some(VelocityResponse::Bounce { restitution }) => check_number("restitution", restitution),
        _ => Ok(()),
    }
}

/// A finite number from 0 on.
pub(crate) fn check_number(what: &'static str, value: f64) -> Result<(), WorldError> {
    let good = value.is_finite() && value >= 0.0;
    if good { Ok(()) } else { Err(WorldError::Number { what, value }) }
}
