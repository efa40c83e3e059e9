//! Who moves by itself, who responds, who is near.

use super::{World, WorldError};
use crate::Aabb;
use crate::body::{Body, Mobility, Velocity};
use crate::id::BodyId;
use crate::respond::GravityTarget;
use glam::DVec3;
use std::collections::BTreeSet;

impl Body {
    /// Does it move by itself, and does it respond?
    pub(crate) fn activity(&self) -> [bool; 2] {
        let movable = self.mobility != Mobility::Fixed;
        let moves = movable && (self.velocity != Velocity::default() || self.fall.is_some());
        [moves, movable && (self.response.is_some() || self.fall.is_some())]
    }
}

impl World {
    /// The acceleration of bodies under gravity, in metres per second and second. Zero at first.
    ///
    /// # Errors
    /// [`WorldError::Gravity`].
    pub fn set_gravity(&mut self, gravity: DVec3) -> Result<(), WorldError> {
        if !gravity.is_finite() {
            return Err(WorldError::Gravity(gravity));
        }
        self.gravity = gravity;
        Ok(())
    }

    /// The acceleration of bodies under gravity.
    #[must_use]
    pub fn gravity(&self) -> DVec3 {
        self.gravity
    }

    /// Puts a body under gravity, or takes it out.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn set_gravity_target(
        &mut self,
        id: BodyId,
        fall: Option<GravityTarget>,
    ) -> Result<(), WorldError> {
        self.member_mut(id)?.body.fall = fall;
        self.note_activity(id);
        Ok(())
    }

    /// Lets what is in its way stop a body however fast it is, or not: see [`World::advance`].
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`].
    pub fn set_continuous_motion(&mut self, id: BodyId, on: bool) -> Result<(), WorldError> {
        self.member_mut(id)?.body.continuous = on;
        Ok(())
    }

    /// Notes whether a body moves by itself and whether it responds, so that steps need not look
    /// at those that do neither.
    pub(crate) fn note_activity(&mut self, id: BodyId) {
        let [moves, responds] = self.members.at(id.slot()).body.activity();
        let note = |slots: &mut BTreeSet<u32>, on: bool| {
            if on { slots.insert(id.slot()) } else { slots.remove(&id.slot()) }
        };
        note(&mut self.movers, moves);
        let nobody = self.responders.is_empty();
        if note(&mut self.responders, responds) && responds {
            let member = self.members.at_mut(id.slot());
            member.free_pose = member.body.pose;
            if nobody {
                self.note_all_poses();
            }
        }
    }

    /// Free poses are not kept while nobody responds.
    fn note_all_poses(&mut self) {
        let slots: Vec<u32> = self.members.iter().map(|(key, _)| key.slot).collect();
        for slot in slots {
            let member = self.members.at_mut(slot);
            member.free_pose = member.body.pose;
        }
    }

    /// Slots of all bodies whose boxes overlap a box, sorted. Boxes are as of the last step, or
    /// what [`World::advance`] and responses made of them since.
    pub(crate) fn bodies_in(&self, bounds: &Aabb) -> Vec<u32> {
        let mut found = Vec::new();
        self.broad.query(bounds, &mut found);
        // The broad phase may know larger boxes, for clearances.
        found.retain(|&slot| self.members.at(slot).bounds.is_some_and(|b| b.overlaps(bounds)));
        found
    }
}
