//! The papers' broad phases against a plain model, as those of worlds: in whatever way boxes come,
//! move and go, each reports exactly the pairs that comparing all with all finds, and each pair
//! once.

#[path = "../../world/tests/broad/judge.rs"]
mod judge;
#[path = "../../world/tests/broad/operations.rs"]
mod operations;
#[path = "../../world/tests/broad/random.rs"]
mod random;
#[path = "../../world/tests/broad/worlds.rs"]
mod worlds;

use jostle_lab::broad::{Broad, Structure};

const STRUCTURES: &[Structure] = &Structure::ALL;
