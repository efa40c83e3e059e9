//! And if the network and the machines fail?
//!
//! A whole cluster in one thread and in virtual time. The seed decides about the world, about
//! which faults exist and how strong they are, and about every single one of them; so a failure
//! is a number, and comes again whenever that number is run. Referees see only what machines say
//! and are told.

mod cluster;
mod court;
mod dice;
mod faults;
mod options;
mod referee;
pub mod scale;
mod world;

pub use cluster::run;
pub use court::Court;
pub use dice::Dice;
pub use faults::{Faults, Weather};
pub use options::{Operation, Options, Outcome};
pub use referee::{RULES, Sometimes, StoreCounts, Verdict, Violation};
pub use world::{Layout, Matter};
