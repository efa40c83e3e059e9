//! Requests: everything that can be asked of a world from outside, as values that can be queued.
//!
//! Zachmann 2000 §3.11.1 asks for one single queue for all kinds of requests. A [`Request`] is for
//! the world and is plain data; a [`ModuleRequest`] is for its modules and may carry a callback; a
//! [`Job`] is either, or a step, and is what queues hold.

use crate::body::{Body, CollisionGroups, Velocity};
use crate::error::WorldError;
use crate::id::{BodyId, GroupId};
use crate::interest::{InterestTarget, QueryKind};
use crate::modules::{ModuleId, ModuleRequest};
use crate::respond::{GravityTarget, Response};
use crate::world::World;
use glam::{DVec3, Vec3};
use jostle_geom::{Pose, Shape};
use thiserror::Error;

/// Something asked of a [`World`]. Each kind is the method of the same name, as a value.
#[derive(Clone, Debug)]
pub enum Request {
    /// [`World::insert`]; boxed, because it is rare and much larger than the others.
    Insert(Box<Body>),
    /// [`World::remove`].
    Remove(BodyId),
    /// [`World::set_pose`].
    SetPose {
        /// The body.
        id: BodyId,
        /// Where it shall be.
        pose: Pose,
    },
    /// [`World::set_velocity`].
    SetVelocity {
        /// The body.
        id: BodyId,
        /// How it shall move by itself.
        velocity: Velocity,
    },
    /// [`World::set_shape`].
    SetShape {
        /// The body.
        id: BodyId,
        /// Its new geometry.
        shape: Shape,
    },
    /// [`World::deform`].
    Deform {
        /// A deforming body.
        id: BodyId,
        /// All vertices, in the order of the mesh.
        vertices: Vec<Vec3>,
    },
    /// [`World::set_collision_groups`].
    SetCollisionGroups {
        /// The body.
        id: BodyId,
        /// Its new collision groups.
        groups: CollisionGroups,
    },
    /// [`World::set_response`].
    SetResponse {
        /// The body.
        id: BodyId,
        /// Its new response, or none.
        response: Option<Response>,
    },
    /// [`World::set_gravity`].
    SetGravity(DVec3),
    /// [`World::set_gravity_target`].
    SetGravityTarget {
        /// The body.
        id: BodyId,
        /// What it falls onto, or nothing if it does not fall.
        target: Option<GravityTarget>,
    },
    /// [`World::set_continuous_motion`].
    SetContinuousMotion {
        /// The body.
        id: BodyId,
        /// Whether what is in its way stops it.
        on: bool,
    },
    /// [`World::advance`]; what was hit is not replied.
    Advance {
        /// For how long.
        seconds: f64,
    },
    /// [`World::disable`].
    Disable(BodyId),
    /// [`World::enable`].
    Enable(BodyId),
    /// [`World::ignore_pair`].
    IgnorePair(BodyId, BodyId),
    /// [`World::unignore_pair`].
    UnignorePair(BodyId, BodyId),
    /// [`World::set_interest`].
    SetInterest {
        /// One side.
        a: InterestTarget,
        /// The other side.
        b: InterestTarget,
        /// What is asked.
        kind: QueryKind,
    },
    /// [`World::remove_interest`].
    RemoveInterest {
        /// One side.
        a: InterestTarget,
        /// The other side.
        b: InterestTarget,
    },
    /// [`World::new_group`].
    NewGroup {
        /// The group around it.
        parent: Option<GroupId>,
    },
    /// [`World::remove_group`].
    RemoveGroup(GroupId),
    /// [`World::set_group`].
    SetGroup {
        /// The body.
        id: BodyId,
        /// Its group from now on.
        group: Option<GroupId>,
    },
}

/// What came of a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// It was done.
    Done,
    /// The new body.
    Inserted(BodyId),
    /// The body that was taken out.
    Removed(Box<Body>),
    /// The body takes part again.
    Enabled {
        /// Whether it changed while it was disabled.
        moved: bool,
    },
    /// There is no such interest any more.
    InterestRemoved {
        /// Whether there was one.
        was_there: bool,
    },
    /// The new group.
    NewGroup(GroupId),
    /// The new module.
    ModuleAdded(ModuleId),
}

/// Why a request came to nothing.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RequestError {
    /// The world refused it.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The module is not there.
    #[error("{0} is not there (removed, taken out after a panic, or never added)")]
    UnknownModule(ModuleId),
    /// It was dropped before it was applied.
    #[error("given up before it was applied: the detector stopped, or the asking module panicked")]
    GivenUp,
}

/// Anything that waits in a queue.
#[derive(Debug)]
pub enum Job {
    /// For [`World::apply`].
    World(Request),
    /// For [`Modules::apply`](crate::Modules::apply).
    Modules(ModuleRequest),
    /// One step, after what was asked for before it.
    Step,
}

impl From<Request> for Job {
    fn from(request: Request) -> Job {
        Job::World(request)
    }
}

impl From<ModuleRequest> for Job {
    fn from(request: ModuleRequest) -> Job {
        Job::Modules(request)
    }
}

impl World {
    /// Applies a request.
    ///
    /// ```
    /// use jostle_geom::{Pose, Shape};
    /// use jostle_world::{Body, Reply, Request, Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let ball = Body::moving(Shape::sphere(1.0)?, Pose::IDENTITY);
    /// let Reply::Inserted(id) = world.apply(Request::Insert(Box::new(ball)))? else { panic!() };
    /// world.apply(Request::Disable(id))?;
    /// assert!(!world.is_enabled(id)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of the method of the same name; the world is then as it was.
    pub fn apply(&mut self, request: Request) -> Result<Reply, WorldError> {
        match request {
            Request::Insert(body) => return self.insert(*body).map(Reply::Inserted),
            Request::Remove(id) => {
                return self.remove(id).map(|body| Reply::Removed(Box::new(body)));
            }
            Request::Enable(id) => return self.enable(id).map(|moved| Reply::Enabled { moved }),
            Request::RemoveInterest { a, b } => {
                let was_there = self.remove_interest(a, b)?;
                return Ok(Reply::InterestRemoved { was_there });
            }
            Request::NewGroup { parent } => return self.new_group(parent).map(Reply::NewGroup),
            Request::SetPose { id, pose } => self.set_pose(id, pose),
            Request::SetVelocity { id, velocity } => self.set_velocity(id, velocity),
            Request::SetShape { id, shape } => self.set_shape(id, shape),
            Request::Deform { id, vertices } => self.deform(id, &vertices),
            Request::SetCollisionGroups { id, groups } => self.set_collision_groups(id, groups),
            Request::SetResponse { id, response } => self.set_response(id, response),
            Request::SetGravity(gravity) => self.set_gravity(gravity),
            Request::SetGravityTarget { id, target } => self.set_gravity_target(id, target),
            Request::SetContinuousMotion { id, on } => self.set_continuous_motion(id, on),
            Request::Advance { seconds } => self.advance(seconds).map(drop),
            Request::Disable(id) => self.disable(id),
            Request::IgnorePair(a, b) => self.ignore_pair(a, b),
            Request::UnignorePair(a, b) => self.unignore_pair(a, b),
            Request::SetInterest { a, b, kind } => self.set_interest(a, b, kind),
            Request::RemoveGroup(id) => self.remove_group(id),
            Request::SetGroup { id, group } => self.set_group(id, group),
        }?;
        Ok(Reply::Done)
    }
}
