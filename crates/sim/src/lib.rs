//! And if the network and the machines fail?
//!
//! A whole cluster in one thread and in virtual time. The seed decides about the world, about which
//! faults exist and how strong they are, and about every single one of them; so a failure is a
//! number, and comes again whenever that number is run. Checkers see only what machines send and
//! receive.

mod checkers;
mod cluster;
mod dice;
mod faults;
mod options;
mod recording_checker;
pub mod scale;
mod world;

pub use checkers::{RULES, Sometimes, StoreCounts, Verdict, Violation};
pub use cluster::run;
pub use dice::Dice;
pub use faults::{FaultProfile, Faults};
pub use options::{Operation, Options, Outcome};
pub use recording_checker::RecordingChecker;
pub use world::{Layout, Matter};
