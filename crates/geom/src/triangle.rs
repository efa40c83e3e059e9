//! Two placed triangles, or one and a point, a ray or a sphere: the exact decision and what follows
//! from it.
//!
//! Every function here takes coordinates as [`crate::Pose::transform_point`] makes them: finite,
//! multiples of 2^-261, smaller than 2^131 (see [`crate::limits`]).

use glam::DVec3;

mod common;
mod distance;
mod flat;
pub(crate) mod meet;
pub(crate) mod pieces;
mod relation;
pub(crate) mod shared;
mod sphere;
mod touch;
mod x_ray;

pub use common::{Common, common};
pub use distance::{TriangleDistance, closest_point, distance, distance_below};
pub use relation::{TriangleRelation, relation};
pub use sphere::sphere_meets_triangle;
pub(crate) use touch::{ends, sides};
pub use touch::{triangles_touch, triangles_touch_counted};
pub(crate) use x_ray::exact_x_ray_crosses;
pub use x_ray::{RayCross, x_ray_crosses};

/// Three corners in the world, in any position: they may lie on one line or in one point, and
/// then the triangle is that segment or point.
pub type Triangle = [DVec3; 3];
