//! How a world works.

use crate::broad::Structure;
use crate::interest::{Policy, QueryKind};
use crate::report::Stopwatch;
use crate::workers::Workers;

/// How a world works. The answers depend on `policy` only.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is asked about pairs without an interest of their own.
    pub policy: Policy,
    /// How overlapping boxes are found.
    pub structure: Structure,
    /// The threads that share the exact tests.
    pub workers: Workers,
    /// Reads a clock, for the times in the report and for
    /// [`World::step_within`](crate::World::step_within). There is no clock in a world; without
    /// this all times are zero.
    pub stopwatch: Option<Stopwatch>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            policy: Policy::Everything(QueryKind::Touch),
            structure: Structure::default(),
            workers: Workers::ONE,
            stopwatch: None,
        }
    }
}
