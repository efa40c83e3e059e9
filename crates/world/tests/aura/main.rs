//! Interest management against oracles that share nothing with it.

mod agreement;
mod comparisons;
mod figure_three;
mod limits;
mod oracle;
mod recipients;
mod rng;
mod workload;
