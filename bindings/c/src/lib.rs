//! V-COLLIDE's interface to Jostle, for C: the thirteen calls of table 1 and the eight extensions
//! of table 2 of Hudson et al., V-COLLIDE: Accelerated Collision Detection for VRML (1997).
//!
//! The header `include/jostle.h` is made from this crate by `cargo xtask header`; what a C
//! programmer must know stands there. For Rust there is `jostle-world`.
//!
//! `unsafe` is needed where C's pointers come in and is confined to three modules: `border`
//! follows them, `calls` and `extensions` name the functions. Behind them, `database` is
//! ordinary safe code.
//!
//! # The contract of all calls
//!
//! A pointer is null, which is answered with a status, or it points to as many properly aligned
//! values as the function says: a `col_world` that `col_open` gave, is not closed yet and is in no
//! other call at the moment; numbers to read; room for results. Nothing else can be checked here.

// The contract above is the same for every function; the header states it once too.
#![allow(clippy::missing_safety_doc)]
// The comments are for the header; `[[corners;9]]` in them is for cbindgen.
#![allow(rustdoc::broken_intra_doc_links)]

#[allow(unsafe_code, reason = "follows the pointers that C hands over")]
mod border;
#[allow(unsafe_code, reason = "functions with C's names and C's pointers")]
mod calls;
mod database;
#[allow(unsafe_code, reason = "functions with C's names and C's pointers")]
mod extensions;
mod failure;
mod geometry;
mod slots;
mod types;

pub use border::col_world;
pub use calls::*;
pub use extensions::*;
pub use types::*;
