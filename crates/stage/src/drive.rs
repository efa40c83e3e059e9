//! Velocities and responses of `Transform` nodes (Ohlenburg, appendix C.2 and C.5).
//!
//! The scene's fields say where everything is; the world moves bodies and lets them respond; what
//! became of them is written back into the fields, as events, so that routes see it. Translations
//! are summed up in `f64` beside the fields, which have `f32`: a slow thing must not stand still
//! because its step is lost in rounding.

use crate::StageError;
use crate::plan::{Driver, Piece};
use crate::stage::Stage;
use glam::{DMat3, DVec3, Vec3};
use jostle_geom::Pose;
use jostle_scene::nodes::{Kind, Transform};
use jostle_scene::{NodeId, Placement, Value};
use jostle_world::{BodyId, Response, Velocity, VelocityResponse};
use std::collections::BTreeMap;

/// The translations of driving nodes, with all their digits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drives(BTreeMap<NodeId, Exact>);

#[derive(Clone, Copy, Debug)]
struct Exact {
    translation: DVec3,
    /// The field as it was written. If it says something else now, somebody else has moved it.
    written: Vec3,
}

/// A body that a node drives, before it moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Driven {
    driver: Driver,
    body: BodyId,
    pose: Pose,
    velocity: Velocity,
}

/// What became of a node that drives.
#[derive(Clone, Copy, Debug)]
struct Way {
    driver: Driver,
    /// How far its body went, and its velocity now, in the world.
    by: DVec3,
    velocity: DVec3,
    /// It did not just go straight on.
    responded: bool,
}

type Moved = BTreeMap<NodeId, Way>;

impl Stage {
    /// Gives a body the velocity and the response of the node that drives it.
    pub(crate) fn set_drive(&mut self, piece: &Piece, id: BodyId) -> Result<(), StageError> {
        let Some(driver) = piece.driver else { return Ok(()) };
        let Some(node) = self.transform(driver.node) else { return Ok(()) };
        let linear = linear(&driver.parent) * node.velocity_vector.as_dvec3();
        let response = node.collision_response.and_then(|id| self.response(id));
        let velocity = Velocity::straight(linear);
        if self.world.velocity(id)? != velocity {
            self.world.set_velocity(id, velocity)?;
        }
        self.world.set_response(id, response)?;
        if self.staging.continuous {
            self.world.set_continuous_motion(id, true)?;
        }
        Ok(())
    }

    /// What the rounding of a driver's field has taken from a body's place.
    pub(crate) fn rounded_off(&self, driver: Driver) -> DVec3 {
        let field = self.transform(driver.node).map(|node| node.translation);
        let exact = self.drives.0.get(&driver.node).filter(|exact| field == Some(exact.written));
        exact.map_or(DVec3::ZERO, |exact| {
            linear(&driver.parent) * (exact.translation - exact.written.as_dvec3())
        })
    }

    /// Where the driven bodies are.
    pub(crate) fn where_driven(&self) -> Vec<Driven> {
        let driven = self.actors.iter().filter(|actor| actor.piece.active).filter_map(|actor| {
            let (driver, body) = (actor.piece.driver?, actor.body.as_ref()?.id);
            let pose = self.world.pose(body).ok()?;
            let velocity = self.world.velocity(body).ok()?;
            Some(Driven { driver, body, pose, velocity })
        });
        driven.collect()
    }

    /// Writes back into the scene what has become of those who moved. Of several bodies that one
    /// node drives, one that responded speaks for all.
    pub(crate) fn write_back(&mut self, seconds: f64, before: &[Driven]) -> Result<(), StageError> {
        let mut moved: Moved = BTreeMap::new();
        for driven in before {
            let (by, velocity) = self.way_of(driven)?;
            let straight = driven.velocity.linear * seconds;
            let responded = velocity != driven.velocity
                || (by - straight).length() > 1e-9 * (1.0 + straight.length());
            let way = Way { driver: driven.driver, by, velocity: velocity.linear, responded };
            let known = moved.entry(driven.driver.node).or_insert(way);
            if responded && !known.responded {
                *known = way;
            }
        }
        self.keep_together(before, &moved)?;
        // A node with a velocity and nothing to show for it moves all the same.
        for &id in &self.roles.drivers {
            if let (Some(node), None) = (self.transform(id), moved.get(&id))
                && node.velocity_vector != Vec3::ZERO
            {
                let driver = Driver { node: id, parent: Placement::IDENTITY };
                let velocity = node.velocity_vector.as_dvec3();
                let by = velocity * seconds;
                moved.insert(id, Way { driver, by, velocity, responded: false });
            }
        }
        for (id, Way { driver, by, velocity, .. }) in moved {
            let back = linear(&driver.parent).inverse();
            let (by, velocity) = (back * by, (back * velocity).as_vec3());
            if by.is_finite() && velocity.is_finite() {
                self.move_node(id, by, velocity)?;
            }
        }
        Ok(())
    }

    /// How far a body has come, and its velocity now.
    fn way_of(&self, driven: &Driven) -> Result<(DVec3, Velocity), StageError> {
        let by = self.world.pose(driven.body)?.translation() - driven.pose.translation();
        Ok((by, self.world.velocity(driven.body)?))
    }

    /// The world lets every body respond for itself. Those that one node drives do what the one
    /// did that speaks for them: they are parts of one thing.
    fn keep_together(&mut self, before: &[Driven], moved: &Moved) -> Result<(), StageError> {
        for driven in before {
            let Some(&Way { by, velocity, .. }) = moved.get(&driven.driver.node) else { continue };
            let (own, own_velocity) = self.way_of(driven)?;
            if own != by
                && let Ok(pose) = Pose::new(driven.pose.rotation(), driven.pose.translation() + by)
            {
                self.world.set_pose(driven.body, pose)?;
            }
            if own_velocity.linear != velocity {
                self.world.set_velocity(driven.body, Velocity::straight(velocity))?;
            }
        }
        Ok(())
    }

    fn move_node(&mut self, id: NodeId, by: DVec3, velocity: Vec3) -> Result<(), StageError> {
        let Some(node) = self.transform(id) else { return Ok(()) };
        let (field, speed) = (node.translation, node.velocity_vector);
        let known = self.drives.0.get(&id).filter(|exact| exact.written == field);
        let from = known.map_or(field.as_dvec3(), |exact| exact.translation);
        let translation = from + by;
        let written = translation.as_vec3();
        if !written.is_finite() {
            return Ok(());
        }
        self.drives.0.insert(id, Exact { translation, written });
        if written != field {
            self.play.send(id, "translation", Value::Vec3(written))?;
        }
        if velocity != speed {
            self.play.send(id, "velocityVector", Value::Vec3(velocity))?;
        }
        Ok(())
    }

    fn transform(&self, id: NodeId) -> Option<&Transform> {
        match &self.play.scene().node(id).kind {
            Kind::Transform(node) => Some(node),
            _ => None,
        }
    }

    fn response(&self, id: NodeId) -> Option<Response> {
        let Some(Kind::CollisionResponse(node)) = self.play.scene().kind(id) else { return None };
        let velocity = match node.response_type {
            0 => VelocityResponse::Bounce { restitution: 1.0 },
            1 => VelocityResponse::Stop,
            _ => VelocityResponse::Keep,
        };
        Some(Response { velocity, set_back: node.set_back })
    }
}

fn linear(placement: &Placement) -> DMat3 {
    DMat3::from_quat(placement.rotation) * placement.stretch
}
