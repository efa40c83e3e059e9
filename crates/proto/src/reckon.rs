//! Between two messages: where is what another machine moves, and who decides about it?
//!
//! J. Ohlenburg, *Collision Detection in Distributed Virtual Environments*, 2003, chapter 4 (rows
//! O12 to O19). A [`Sender`] sends where its object is only when others would be wrong about it; a
//! [`Receiver`] extrapolates between updates ([`track`], [`history`]) or follows a formula
//! ([`closed`]). What is extrapolated stays out of other objects ([`predict`]); to near objects of
//! others the sender sends more ([`adapt`]); which pair gets which of these depends on [`roles`];
//! and two hosts that see a collision differently agree on whose decision counts ([`decide`]).
//!
//! Everything here is given the time. Time stamps are of a clock that the hosts share: who
//! receives an update first turns its stamp into that clock's.

pub mod adapt;
pub mod closed;
pub mod decide;
pub mod history;
mod motion;
pub mod predict;
pub mod roles;
mod show;
pub mod track;

pub use motion::{BadNumber, LARGEST, Motion, Place, Rates, turn_of};
pub use show::{Convergence, Receiver};
pub use track::{Refused, Sender, Thresholds, Tracker, Tracking, Update, UpdateData};
