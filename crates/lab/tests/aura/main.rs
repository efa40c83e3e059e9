//! The papers' methods of interest management against an oracle that shares nothing with them.

#[path = "../../../world/tests/aura/agreement.rs"]
mod agreement;
mod comparisons;
mod figure_three;
mod finders;
mod limits;
#[path = "../../../world/tests/aura/oracle.rs"]
mod oracle;
mod recipients;
#[path = "../../../world/tests/aura/rng.rs"]
mod rng;
mod workload;
