//! What a body is made of, and how it is described to a world.

use crate::id::GroupId;
use crate::respond::{GravityTarget, Response};
use glam::DVec3;
use jostle_geom::{Pose, Shape};

/// Whether a body may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mobility {
    /// Never: a static body. Two fixed bodies are compared only on explicit interest.
    Fixed,
    /// By its pose.
    Moving,
    /// By its pose, and its mesh by [`World::deform`](crate::World::deform).
    Deforming,
}

/// How a body moves by itself: metres and radians per second, in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// Of the body's origin.
    pub linear: DVec3,
    /// Axis times angle per second, about the body's origin.
    pub angular: DVec3,
}

impl Velocity {
    /// Straight on, without turning.
    #[must_use]
    pub fn straight(linear: DVec3) -> Velocity {
        Velocity { linear, angular: DVec3::ZERO }
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.linear.is_finite() && self.angular.is_finite()
    }
}

/// Which bodies a body is compared with, as bits: two bodies are compared if each is a member of a
/// group that is in the filter of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollisionGroups {
    /// The groups that this body belongs to.
    pub memberships: u32,
    /// The groups that it is compared with.
    pub filter: u32,
}

impl CollisionGroups {
    /// Compared with everything.
    pub const ALL: CollisionGroups = CollisionGroups { memberships: u32::MAX, filter: u32::MAX };

    pub(crate) fn meets(self, other: CollisionGroups) -> bool {
        self.memberships & other.filter != 0 && other.memberships & self.filter != 0
    }
}

/// The description of a body, for [`World::insert`](crate::World::insert).
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Pose, Shape};
/// use jostle_world::{Body, Velocity};
///
/// let ball = Body::moving(Shape::sphere(0.5)?, Pose::IDENTITY)
///     .with_velocity(Velocity::straight(DVec3::X));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Body {
    pub(crate) shape: Shape,
    pub(crate) pose: Pose,
    pub(crate) mobility: Mobility,
    pub(crate) velocity: Velocity,
    pub(crate) collision_groups: CollisionGroups,
    pub(crate) family: Option<u32>,
    pub(crate) group: Option<GroupId>,
    pub(crate) response: Option<Response>,
    pub(crate) gravity: Option<GravityTarget>,
    pub(crate) continuous: bool,
}

impl Body {
    fn new(shape: Shape, pose: Pose, mobility: Mobility) -> Body {
        Body {
            shape,
            pose,
            mobility,
            velocity: Velocity::default(),
            collision_groups: CollisionGroups::ALL,
            family: None,
            group: None,
            response: None,
            gravity: None,
            continuous: false,
        }
    }

    /// A static body.
    #[must_use]
    pub fn fixed(shape: Shape, pose: Pose) -> Body {
        Body::new(shape, pose, Mobility::Fixed)
    }

    /// A rigid body that may move.
    #[must_use]
    pub fn moving(shape: Shape, pose: Pose) -> Body {
        Body::new(shape, pose, Mobility::Moving)
    }

    /// A body that may move and change its mesh.
    #[must_use]
    pub fn deforming(shape: Shape, pose: Pose) -> Body {
        Body::new(shape, pose, Mobility::Deforming)
    }

    /// With a velocity, by which [`World::advance`](crate::World::advance) moves it.
    #[must_use]
    pub fn with_velocity(self, velocity: Velocity) -> Body {
        Body { velocity, ..self }
    }

    /// With collision groups other than [`CollisionGroups::ALL`].
    #[must_use]
    pub fn with_collision_groups(self, collision_groups: CollisionGroups) -> Body {
        Body { collision_groups, ..self }
    }

    /// As a member of a family. Members of one family are never compared with each other: parts
    /// that a large static mesh was cut into (V-COLLIDE §4.4), links that are joined.
    #[must_use]
    pub fn with_family(self, family: u32) -> Body {
        Body { family: Some(family), ..self }
    }

    /// As a member of a group, see [`World::new_group`](crate::World::new_group).
    #[must_use]
    pub fn with_group(self, group: GroupId) -> Body {
        Body { group: Some(group), ..self }
    }

    /// With a response to touching.
    #[must_use]
    pub fn with_response(self, response: Response) -> Body {
        Body { response: Some(response), ..self }
    }

    /// Under gravity, see [`World::set_gravity`](crate::World::set_gravity).
    #[must_use]
    pub fn with_gravity(self, target: GravityTarget) -> Body {
        Body { gravity: Some(target), ..self }
    }

    /// Stopped by what is in its way when it moves by its velocity, however fast it is: see
    /// [`World::advance`](crate::World::advance).
    #[must_use]
    pub fn with_continuous_motion(self) -> Body {
        Body { continuous: true, ..self }
    }
}
