//! The benchmark that all methods are asked in (Zachmann 2000, 3.5.10), and what belongs to it.
//!
//! Nothing here reads a clock: a stopwatch is handed in. What is compared takes turns, block by
//! block, so that whatever else the machine does hits all alike, and every answer is compared.

mod approach;
mod builds;
mod cones;
mod flight;
mod orbit;
mod polygons;
mod random;
mod roster;
mod solid;

pub use approach::{Approach, BenchError, Question, Spent, approach};
pub use builds::{Build, builds};
pub use cones::{ConeRow, Cones};
pub(crate) use flight::{Air, Flight};
pub use orbit::{Orbit, OrbitMethod, OrbitRow};
pub use polygons::{PolygonKind, PolygonRow, Polygons};
pub use random::Random;
pub use roster::{DopSize, Method};
pub use solid::{Solid, oriented};

use std::time::Duration;

/// Reads a clock: the time since a fixed moment.
pub type Stopwatch = fn() -> Duration;
