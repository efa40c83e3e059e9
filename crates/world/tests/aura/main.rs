//! Interest management against oracles that share nothing with it. The same tests of agreement ask
//! the methods of the papers in `crates/lab/tests/aura`.

mod agreement;
mod comparisons;
mod finders;
mod limits;
mod oracle;
mod recipients;
mod rng;
