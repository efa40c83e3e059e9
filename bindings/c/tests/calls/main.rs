//! The C library, called as C calls it.
#![allow(unsafe_code, reason = "the functions are C's and take its pointers")]

mod depth;
mod errors;
mod handle;
mod program;
mod reports;
mod switches;
mod twin;
