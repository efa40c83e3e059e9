//! Questions about two placed models, each against its slow obvious twin: every triangle with
//! every triangle. (`touches` and `all_pairs` are in `pair_brute.rs`.)

#[path = "../soup/mod.rs"]
mod soup;

mod batch;
mod cases;
mod contacts;
mod distance;
mod extremes;
mod near;
mod overlaps;
mod patches;
mod relation;
mod search;
mod solids;
mod threads;
mod twin;
mod within;
mod witness;
