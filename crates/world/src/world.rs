//! The world: the one way in for bodies, and the table of contents of its parts.
//!
//! Everything that comes in is checked here. Numbers that are not finite stop at the gates:
//! [`Pose`], [`Shape`] and meshes refuse them when they are made, velocities and distances are
//! checked below. Behind this, code relies on it.

use crate::advance::{Advanced, Search};
use crate::bodies::Bodies;
use crate::body::{Body, CollisionGroups, Mobility, Velocity};
use crate::broad_phase::BroadPhase;
use crate::contact::{Contact, Event, PairDistance};
use crate::contacts::Contacts;
use crate::dynamics::Dynamics;
use crate::error::{WorldError, check_number, check_response, check_velocity};
use crate::filters::{Filters, Groups};
use crate::id::{BodyId, GroupId};
use crate::interest::{InterestTarget, Policy, QueryKind};
use crate::motion::Motion;
use crate::report::Report;
use crate::respond::{GravityTarget, Response};
use crate::settings::Settings;
use crate::step::budget::Budget;
use glam::{DVec3, Vec3};
use jostle_geom::{Aabb, MeshError, Pose, Shape, ShapeKind};
use std::sync::Arc;

/// Bodies that share a space, and which of them touch.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Pose, Shape};
/// use jostle_world::{Body, Settings, World};
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
    /// What was inserted, what takes part, what changed.
    pub(crate) bodies: Bodies,
    /// The boxes of the bodies, and which of them overlap.
    pub(crate) broad_phase: BroadPhase,
    /// Which pairs are compared, and what is asked: policy, interests, groups, ignored pairs.
    pub(crate) filters: Filters,
    /// What is known between bodies since the last step.
    pub(crate) contacts: Contacts,
    /// Gravity, which bodies move and respond, and where they were free.
    pub(crate) motion: Motion,
    /// How much of the exact tests fits into the time that they have.
    pub(crate) budget: Budget,
    /// What the last step did.
    pub(crate) report: Arc<Report>,
}

impl World {
    /// Without bodies.
    ///
    /// # Panics
    /// If the policy asks about everything with a clearance that is not a finite number from 0 on.
    #[must_use]
    pub fn new(settings: Settings) -> World {
        if let Policy::Everything(kind) = settings.policy {
            let checked = check_number("clearance", kind.reach());
            assert!(checked.is_ok(), "the policy of a world: {checked:?}");
        }
        World {
            bodies: Bodies::default(),
            broad_phase: BroadPhase::new(settings.structure),
            filters: Filters::new(settings.policy, Groups::default()),
            contacts: Contacts::default(),
            motion: Motion::default(),
            budget: Budget::default(),
            report: Arc::default(),
            settings,
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
            self.filters.groups().get(group)?;
        }
        let id = self.bodies.insert(body);
        self.broad_phase.insert(id.slot());
        self.filters.insert(id, group);
        self.motion.insert(&self.bodies, id);
        Ok(id)
    }

    /// Takes a body out, with its interests. Its contacts end in the next step.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn remove(&mut self, id: BodyId) -> Result<Body, WorldError> {
        let body = self.bodies.remove(id)?;
        self.broad_phase.remove(id.slot());
        self.filters.remove(id, body.group);
        self.motion.remove(id.slot());
        Ok(body)
    }

    /// Moves a body.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::Fixed`].
    pub fn set_pose(&mut self, id: BodyId, pose: Pose) -> Result<(), WorldError> {
        let body = self.bodies.get_mut(id)?;
        if body.mobility == Mobility::Fixed {
            return Err(WorldError::Fixed(id));
        }
        body.pose = pose;
        self.bodies.mark_changed(id.slot());
        Ok(())
    }

    /// Where a body is.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn pose(&self, id: BodyId) -> Result<Pose, WorldError> {
        Ok(self.bodies.get(id)?.pose)
    }

    /// Gives a body another velocity.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::Velocity`].
    pub fn set_velocity(&mut self, id: BodyId, velocity: Velocity) -> Result<(), WorldError> {
        check_velocity(velocity)?;
        self.bodies.get_mut(id)?.velocity = velocity;
        self.motion.update(&self.bodies, id.slot());
        Ok(())
    }

    /// How a body moves by itself.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn velocity(&self, id: BodyId) -> Result<Velocity, WorldError> {
        Ok(self.bodies.get(id)?.velocity)
    }

    /// Replaces the geometry of a body, fixed or not.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn set_shape(&mut self, id: BodyId, shape: Shape) -> Result<(), WorldError> {
        self.bodies.get_mut(id)?.shape = shape;
        self.bodies.mark_changed(id.slot());
        Ok(())
    }

    /// The geometry of a body.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn shape(&self, id: BodyId) -> Result<&Shape, WorldError> {
        Ok(&self.bodies.get(id)?.shape)
    }

    /// Moves the vertices of a deforming mesh, in the order of the mesh, and refits its hierarchy.
    /// A mesh that other bodies share is copied first.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::NotDeforming`], [`WorldError::Vertices`].
    pub fn deform(&mut self, id: BodyId, vertices: &[Vec3]) -> Result<(), WorldError> {
        let body = self.bodies.get_mut(id)?;
        let ShapeKind::Mesh(model) = body.shape.kind() else {
            return Err(WorldError::NotDeforming(id));
        };
        if body.mobility != Mobility::Deforming {
            return Err(WorldError::NotDeforming(id));
        }
        let mut model = Arc::clone(model);
        let refused = |error: MeshError| WorldError::Vertices { id, reason: error.to_string() };
        Arc::make_mut(&mut model).refit(vertices).map_err(refused)?;
        body.shape = Shape::mesh(model);
        self.bodies.mark_changed(id.slot());
        Ok(())
    }

    /// Gives a body other collision groups.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn set_collision_groups(
        &mut self,
        id: BodyId,
        groups: CollisionGroups,
    ) -> Result<(), WorldError> {
        self.bodies.get_mut(id)?.collision_groups = groups;
        self.bodies.mark_changed(id.slot());
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
        self.bodies.get_mut(id)?.response = response;
        self.motion.update(&self.bodies, id.slot());
        Ok(())
    }

    /// Puts a body under gravity, or takes it out.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn set_gravity_target(
        &mut self,
        id: BodyId,
        target: Option<GravityTarget>,
    ) -> Result<(), WorldError> {
        self.bodies.get_mut(id)?.gravity = target;
        self.motion.update(&self.bodies, id.slot());
        Ok(())
    }

    /// Lets what is in its way stop a body however fast it is, or not: see [`World::advance`].
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn set_continuous_motion(&mut self, id: BodyId, on: bool) -> Result<(), WorldError> {
        self.bodies.get_mut(id)?.continuous = on;
        Ok(())
    }

    /// Takes a body out of all comparisons; it can still be moved. Its contacts end in the next
    /// step.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn disable(&mut self, id: BodyId) -> Result<(), WorldError> {
        if self.bodies.disable(id)? {
            self.broad_phase.hide(id.slot());
        }
        Ok(())
    }

    /// Lets a body take part again. Returns whether it changed while it was disabled (Zachmann
    /// §3.11.1); either way it is compared in the next step.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn enable(&mut self, id: BodyId) -> Result<bool, WorldError> {
        self.bodies.enable(id)
    }

    /// Whether a body takes part in comparisons.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn is_enabled(&self, id: BodyId) -> Result<bool, WorldError> {
        self.bodies.get(id)?;
        Ok(self.bodies.is_enabled(id.slot()))
    }

    /// Whether a body is in this world.
    #[must_use]
    pub fn has(&self, id: BodyId) -> bool {
        self.bodies.has(id)
    }

    /// All bodies, in order.
    pub fn ids(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.bodies.iter().map(|(id, _)| id)
    }

    /// How many bodies there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Returns true if the world has no bodies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The box of a body as of the last step; `None` before its first and for an empty mesh.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn bounds(&self, id: BodyId) -> Result<Option<Aabb>, WorldError> {
        self.bodies.get(id)?;
        Ok(self.broad_phase.tight(id.slot()))
    }

    /// The settings it was made with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A new group, inside another or at the top. An interest of or in a group is one of or in all
    /// bodies inside it.
    ///
    /// # Errors
    /// [`WorldError::UnknownGroup`].
    pub fn new_group(&mut self, parent: Option<GroupId>) -> Result<GroupId, WorldError> {
        self.filters.new_group(parent)
    }

    /// Removes a group without members, with its interests.
    ///
    /// # Errors
    /// [`WorldError::UnknownGroup`], [`WorldError::GroupNotEmpty`].
    pub fn remove_group(&mut self, id: GroupId) -> Result<(), WorldError> {
        self.filters.remove_group(id)
    }

    /// Puts a body into a group, or takes it out of any.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::UnknownGroup`].
    pub fn set_group(&mut self, id: BodyId, group: Option<GroupId>) -> Result<(), WorldError> {
        if let Some(group) = group {
            self.filters.groups().get(group)?;
        }
        let before = std::mem::replace(&mut self.bodies.get_mut(id)?.group, group);
        self.filters.set_group(id, before, group);
        self.bodies.mark_changed(id.slot());
        Ok(())
    }

    /// The bodies in a group and in the groups inside it, sorted.
    ///
    /// # Errors
    /// [`WorldError::UnknownGroup`].
    pub fn group_members(&self, id: GroupId) -> Result<Vec<BodyId>, WorldError> {
        self.filters.groups().get(id)?;
        let mut members = self.filters.members(id.into());
        members.sort_unstable();
        Ok(members)
    }

    /// The joined box of all members as of the last step; `None` without any.
    ///
    /// # Errors
    /// [`WorldError::UnknownGroup`].
    pub fn group_bounds(&self, id: GroupId) -> Result<Option<Aabb>, WorldError> {
        self.filters.groups().get(id)?;
        Ok(self.broad_phase.joined(self.filters.groups().members(id).map(BodyId::slot)))
    }

    /// Asks about a pair of bodies, or about all pairs of two groups' members. Where several
    /// interests concern a pair of bodies, the nearest one counts: of the body before that of its
    /// group, of the group before that of the group around it. A second interest of the same two
    /// replaces the first.
    ///
    /// An interest makes a pair exist that collision groups, families or two fixed bodies would
    /// leave out; ignored pairs stay ignored.
    ///
    /// # Errors
    /// Targets that are not there, a body with itself, a clearance that is not a number from 0 on.
    pub fn set_interest(
        &mut self,
        a: impl Into<InterestTarget>,
        b: impl Into<InterestTarget>,
        kind: QueryKind,
    ) -> Result<(), WorldError> {
        let (a, b) = (a.into(), b.into());
        check_number("clearance", kind.reach())?;
        self.check_targets(a, b)?;
        self.filters.set_interest(a, b, Some(kind));
        self.mark_members([a, b]);
        Ok(())
    }

    /// Takes back an interest. Returns whether there was one.
    ///
    /// # Errors
    /// Targets that are not there.
    pub fn remove_interest(
        &mut self,
        a: impl Into<InterestTarget>,
        b: impl Into<InterestTarget>,
    ) -> Result<bool, WorldError> {
        let (a, b) = (a.into(), b.into());
        self.check_targets(a, b)?;
        let there = self.filters.set_interest(a, b, None);
        self.mark_members([a, b]);
        Ok(there)
    }

    /// Never compares two bodies (V-COLLIDE's deactivated pair).
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::SameBody`].
    pub fn ignore_pair(&mut self, a: BodyId, b: BodyId) -> Result<(), WorldError> {
        self.set_ignored(a, b, true)
    }

    /// Compares two bodies again that were ignored.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::SameBody`].
    pub fn unignore_pair(&mut self, a: BodyId, b: BodyId) -> Result<(), WorldError> {
        self.set_ignored(a, b, false)
    }

    /// What is asked about two bodies; `None` if they are not compared.
    #[must_use]
    pub fn query_kind(&self, a: BodyId, b: BodyId) -> Option<QueryKind> {
        self.filters.query_kind(&self.bodies, a, b)
    }

    /// What held between bodies at the last step, sorted by pair.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        self.contacts.all()
    }

    /// What held between two bodies at the last step, in any order.
    #[must_use]
    pub fn contact(&self, a: BodyId, b: BodyId) -> Option<&Contact> {
        self.contacts.get(a, b)
    }

    /// Whether two bodies touched at the last step.
    #[must_use]
    pub fn is_touching(&self, a: BodyId, b: BodyId) -> bool {
        self.contact(a, b).is_some_and(Contact::is_touching)
    }

    /// The distances that were asked for, as of the last step, sorted by pair.
    #[must_use]
    pub fn distances(&self) -> &[PairDistance] {
        self.contacts.distances()
    }

    /// Pairs of groups with interest [`QueryKind::Volume`] whose joined boxes overlapped at the
    /// last step, sorted.
    #[must_use]
    pub fn group_overlaps(&self) -> &[[GroupId; 2]] {
        self.contacts.group_overlaps()
    }

    /// What the last step did.
    #[must_use]
    pub fn report(&self) -> &Arc<Report> {
        &self.report
    }

    /// Everything that began, continued or ended in the last step, sorted by pair.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.contacts.events(&self.report.events)
    }

    /// The acceleration of bodies under gravity, in metres per second and second. Zero at first.
    ///
    /// # Errors
    /// [`WorldError::Gravity`].
    pub fn set_gravity(&mut self, gravity: DVec3) -> Result<(), WorldError> {
        if !gravity.is_finite() {
            return Err(WorldError::Gravity(gravity));
        }
        self.motion.gravity = gravity;
        Ok(())
    }

    /// The acceleration of bodies under gravity.
    #[must_use]
    pub fn gravity(&self) -> DVec3 {
        self.motion.gravity
    }

    /// Moves all bodies that have a velocity, or fall, for `seconds`. The next step compares them.
    ///
    /// Bodies [with continuous motion](crate::Body::with_continuous_motion) do not jump. When one
    /// of them and another body meet on the way, both are placed just before that, about a
    /// millionth of the size of the smaller one apart, and respond at once, at the time of their
    /// meeting: bodies that bounce use up the rest of the time, with up to 8 changes of their way,
    /// others stay where they are. So they do not overlap afterwards, and the next step does not
    /// find them touching; [`Advanced::hits`] lists what they met. What a body touches already
    /// does not stop it: it must be able to leave.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Pose, Shape, rotation_from_scaled_axis};
    /// use jostle_world::{Body, Response, Settings, Velocity, VelocityResponse, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let wall = Shape::cuboid(DVec3::new(0.01, 10.0, 10.0))?;
    /// world.insert(Body::fixed(wall, Pose::from_translation(DVec3::X * 5.0)?))?;
    /// let bounce = VelocityResponse::Bounce { restitution: 1.0 };
    /// let bullet = Body::moving(Shape::cuboid(DVec3::splat(0.01))?, Pose::IDENTITY)
    ///     .with_velocity(Velocity::straight(DVec3::X * 1000.0))
    ///     .with_response(Response { velocity: bounce, set_back: true })
    ///     .with_continuous_motion();
    /// let bullet = world.insert(bullet)?;
    ///
    /// let advanced = world.advance(1.0 / 30.0)?;
    /// assert_eq!(advanced.hits.len(), 1);
    /// assert_eq!(world.velocity(bullet)?.linear, DVec3::X * -1000.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::Number`] for a time that is not a finite number from 0 on.
    pub fn advance(&mut self, seconds: f64) -> Result<Advanced, WorldError> {
        check_number("the time to advance", seconds)?;
        let workers = self.settings.workers.clone();
        let search = Search { structure: self.settings.structure, workers: &workers };
        Ok(self.dynamics().0.advance(seconds, search))
    }

    /// The parts that moving and responding work on, and beside them the contacts.
    pub(crate) fn dynamics(&mut self) -> (Dynamics<'_>, &Contacts) {
        let World { bodies, broad_phase, filters, motion, contacts, .. } = self;
        (Dynamics { bodies, broad_phase, filters, motion }, contacts)
    }

    fn set_ignored(&mut self, a: BodyId, b: BodyId, on: bool) -> Result<(), WorldError> {
        self.check_targets(a.into(), b.into())?;
        self.filters.set_ignored(a, b, on);
        self.mark_members([a.into(), b.into()]);
        Ok(())
    }

    fn check_targets(&self, a: InterestTarget, b: InterestTarget) -> Result<(), WorldError> {
        for target in [a, b] {
            match target {
                InterestTarget::Body(id) => drop(self.bodies.get(id)?),
                InterestTarget::Group(id) => drop(self.filters.groups().get(id)?),
            }
        }
        match (a, b) {
            (InterestTarget::Body(id), InterestTarget::Body(other)) if id == other => {
                Err(WorldError::SameBody(id))
            }
            _ => Ok(()),
        }
    }

    /// Compares all pairs of two targets in the next step.
    fn mark_members(&mut self, targets: [InterestTarget; 2]) {
        for id in targets.into_iter().flat_map(|target| self.filters.members(target)) {
            self.bodies.mark_changed(id.slot());
        }
    }
}
