//! The parts of a world that moving and responding work on.
//!
//! `respond.rs` and `advance.rs` and the folders beside them have the rest of its methods.
//! Contacts, report and settings are not among the parts: what bodies do depends on bodies alone.

use crate::bodies::Bodies;
use crate::body::{Mobility, Velocity};
use crate::broad_phase::BroadPhase;
use crate::filters::Filters;
use crate::interest::QueryKind;
use crate::motion::Motion;
use crate::respond::Response;
use jostle_geom::{Pair, Pose};

/// Bodies, their boxes, which of them concern each other, and how they move.
#[derive(Debug)]
pub(crate) struct Dynamics<'w> {
    pub(crate) bodies: &'w mut Bodies,
    pub(crate) broad_phase: &'w mut BroadPhase,
    pub(crate) filters: &'w Filters,
    pub(crate) motion: &'w mut Motion,
}

impl Dynamics<'_> {
    /// Gives the broad phase the box that a body has now.
    pub(crate) fn update_bounds(&mut self, slot: u32) {
        update_bounds(self.bodies, self.filters, self.broad_phase, slot);
    }

    /// Moves a body. Its box in the broad phase stays.
    pub(crate) fn set_pose(&mut self, slot: u32, pose: &Pose) {
        let body = self.bodies.body_mut(slot);
        if body.pose != *pose {
            body.pose = *pose;
            self.bodies.mark_changed(slot);
        }
    }

    pub(crate) fn set_velocity(&mut self, slot: u32, velocity: Velocity) {
        self.bodies.body_mut(slot).velocity = velocity;
        self.motion.update(self.bodies, slot);
    }

    /// How a body responds to contacts.
    pub(crate) fn response(&self, slot: u32) -> Option<Response> {
        let body = self.bodies.body(slot);
        let falls = body.gravity.is_some().then_some(Response::INELASTIC);
        let response = body.response.or(falls);
        response.filter(|_| body.mobility != Mobility::Fixed)
    }

    /// Whether a body responds to contacts with another.
    pub(crate) fn responds(&self, slot: u32, other: u32) -> bool {
        self.motion.responders().contains(&slot) && self.is_stopped_by(slot, other)
    }

    /// Whether a body cannot pass through another.
    pub(crate) fn is_stopped_by(&self, slot: u32, other: u32) -> bool {
        let [id, other] = [slot, other].map(|slot| self.bodies.id(slot));
        let is_floor = match &self.bodies.body(slot).gravity {
            Some(target) if !target.floors.is_empty() => {
                let mut others = self.filters.targets(self.bodies, other);
                others.any(|other| target.floors.binary_search(&other).is_ok())
            }
            _ => true,
        };
        let kind = || self.filters.query_kind(self.bodies, id, other);
        is_floor && kind().is_some_and(|kind| kind != QueryKind::Volume)
    }

    /// Whether two bodies touch where they are now.
    pub(crate) fn touch(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.bodies.body(a), self.bodies.body(b));
        Pair::new(&a.shape, &a.pose, &b.shape, &b.pose).touches()
    }
}

/// Gives the broad phase the box that a body has now.
pub(crate) fn update_bounds(
    bodies: &Bodies,
    filters: &Filters,
    broad_phase: &mut BroadPhase,
    slot: u32,
) {
    let body = bodies.body(slot);
    broad_phase.update(slot, body.shape.bounds(&body.pose), filters.reach(bodies, slot));
}
