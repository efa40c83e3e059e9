//! Every broad phase against a plain model: in whatever way boxes come, move and go, each reports
//! exactly the pairs that comparing all with all finds, and each pair once.
//! `crates/lab/tests/broad.rs` asks the papers' broad phases the same.

#[path = "broad/cliffs.rs"]
mod cliffs;
#[path = "broad/judge.rs"]
mod judge;
#[path = "broad/operations.rs"]
mod operations;
#[path = "broad/random.rs"]
mod random;
#[path = "broad/worlds.rs"]
mod worlds;

use jostle_world::broad::{Broad, Structure};

const STRUCTURES: &[Structure] = &Structure::ALL;
