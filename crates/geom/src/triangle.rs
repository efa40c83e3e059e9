//! Two placed triangles: the exact decision and what follows from it.

use glam::DVec3;

mod touch;

pub use touch::triangles_touch;

/// Three corners in the world, in any position: they may lie on one line or in one point, and
/// then the triangle is that segment or point.
pub type Triangle = [DVec3; 3];
