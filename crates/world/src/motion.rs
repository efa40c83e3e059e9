//! Which bodies move by themselves and which respond to contacts, gravity, and where responding
//! bodies were free last.

use crate::bodies::Bodies;
use crate::body::{Body, Mobility, Velocity};
use crate::id::BodyId;
use glam::DVec3;
use jostle_geom::Pose;
use std::collections::BTreeSet;

/// The state of motion that is not part of a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    pub(crate) gravity: DVec3,
    /// Slots of bodies that [`World::advance`](crate::World::advance) moves.
    movers: BTreeSet<u32>,
    /// Slots of bodies that respond to contacts.
    responders: BTreeSet<u32>,
    /// By slot: the pose at the end of the last step after which the body touched nothing that it
    /// responds to. Kept only while there are responders; before the first step, the first pose.
    free_poses: Vec<Pose>,
}

impl Body {
    /// Whether it moves by itself.
    pub(crate) fn moves(&self) -> bool {
        let moves = self.velocity != Velocity::default() || self.gravity.is_some();
        moves && self.mobility != Mobility::Fixed
    }

    /// Whether it responds to contacts.
    pub(crate) fn responds(&self) -> bool {
        let responds = self.response.is_some() || self.gravity.is_some();
        responds && self.mobility != Mobility::Fixed
    }
}

impl Motion {
    /// That of a saved world, with the free poses by slot.
    pub(crate) fn restored(gravity: DVec3, bodies: &Bodies, free_poses: Vec<Pose>) -> Motion {
        let slots = |has: fn(&Body) -> bool| {
            let bodies = bodies.iter().filter(move |(_, body)| has(body));
            bodies.map(|(id, _)| id.slot()).collect()
        };
        Motion {
            gravity,
            movers: slots(Body::moves),
            responders: slots(Body::responds),
            free_poses,
        }
    }

    /// Takes a new body in.
    pub(crate) fn insert(&mut self, bodies: &Bodies, id: BodyId) {
        let (slot, pose) = (id.slot(), bodies.body(id.slot()).pose);
        if self.free_poses.len() <= slot as usize {
            self.free_poses.resize(slot as usize + 1, Pose::IDENTITY);
        }
        self.free_poses[slot as usize] = pose;
        self.update(bodies, slot);
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        self.movers.remove(&slot);
        self.responders.remove(&slot);
    }

    /// Notes whether a body moves by itself and whether it responds, so that steps need not look
    /// at those that do neither.
    pub(crate) fn update(&mut self, bodies: &Bodies, slot: u32) {
        let note = |slots: &mut BTreeSet<u32>, on: bool| {
            if on { slots.insert(slot) } else { slots.remove(&slot) }
        };
        let body = bodies.body(slot);
        note(&mut self.movers, body.moves());
        let first = self.responders.is_empty();
        if note(&mut self.responders, body.responds()) && body.responds() {
            self.set_free(slot, body.pose);
            if first {
                bodies.iter().for_each(|(id, body)| self.set_free(id.slot(), body.pose));
            }
        }
    }

    pub(crate) fn movers(&self) -> &BTreeSet<u32> {
        &self.movers
    }

    pub(crate) fn responders(&self) -> &BTreeSet<u32> {
        &self.responders
    }

    pub(crate) fn free_pose(&self, slot: u32) -> Pose {
        self.free_poses[slot as usize]
    }

    pub(crate) fn set_free(&mut self, slot: u32, pose: Pose) {
        self.free_poses[slot as usize] = pose;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Response;
    use jostle_geom::Shape;

    fn at(x: f64) -> Pose {
        Pose::from_translation(DVec3::X * x).expect("a finite number")
    }

    fn ball(x: f64) -> Body {
        Body::moving(Shape::sphere(1.0).expect("a radius"), at(x))
    }

    #[test]
    fn the_first_responder_makes_all_poses_free_and_a_later_one_its_own() {
        let (mut bodies, mut motion) = (Bodies::default(), Motion::default());
        let ids = [0.0, 1.0, 2.0].map(|x| {
            let id = bodies.insert(ball(x));
            motion.insert(&bodies, id);
            id
        });
        let mut respond = |bodies: &mut Bodies, at: usize| {
            bodies.body_mut(ids[at].slot()).response = Some(Response::INELASTIC);
            motion.update(bodies, ids[at].slot());
            [0, 1, 2].map(|slot| motion.free_pose(slot).translation().x)
        };
        ids.iter().for_each(|id| bodies.body_mut(id.slot()).pose = at(5.0));
        assert_eq!(respond(&mut bodies, 1), [5.0, 5.0, 5.0]);
        ids.iter().for_each(|id| bodies.body_mut(id.slot()).pose = at(6.0));
        assert_eq!(respond(&mut bodies, 2), [5.0, 5.0, 6.0]);
        assert_eq!(respond(&mut bodies, 2), [5.0, 5.0, 6.0], "it responded before");
        assert!(motion.responders().iter().eq(&[1, 2]));
        motion.remove(1);
        assert!(motion.responders().iter().eq(&[2]));
    }

    #[test]
    fn a_fixed_body_neither_moves_nor_responds() {
        let fast = Velocity::straight(DVec3::X);
        let body = Body { mobility: Mobility::Fixed, ..ball(0.0) };
        let body = body.with_velocity(fast).with_response(Response::INELASTIC);
        assert!(!body.moves() && !body.responds());
        let body = Body { mobility: Mobility::Deforming, ..body };
        assert!(body.moves() && body.responds());
    }
}
