//! Velocities and responses of `Transform` nodes (Ohlenburg, appendix C.2 and C.5).
//!
//! The world moves bodies and applies responses; the results are written back into the fields of
//! the scene as events, so that routes see them. Translations are accumulated in `f64` beside the
//! `f32` fields: otherwise a slow body would stand still because its step is lost in rounding.

use crate::StageError;
use crate::plan::{BodyPlan, Driver};
use crate::stage::Stage;
use glam::{DMat3, DVec3, Vec3};
use jostle_geom::Pose;
use jostle_scene::nodes::{Kind, Transform};
use jostle_scene::{NodeId, Placement, Value};
use jostle_world::{BodyId, Response, Velocity, VelocityResponse};
use std::collections::BTreeMap;

/// The translations of drivers in `f64`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactTranslations(BTreeMap<NodeId, Exact>);

#[derive(Clone, Copy, Debug)]
struct Exact {
    translation: DVec3,
    /// The field as it was last written here. If the field differs, an event has moved the node and
    /// `translation` is out of date.
    written: Vec3,
}

/// The state of a driven body before the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrivenBody {
    driver: Driver,
    body: BodyId,
    pose: Pose,
    velocity: Velocity,
}

/// How a driver moved in the step.
#[derive(Clone, Copy, Debug)]
struct Displacement {
    driver: Driver,
    /// The displacement of its body and its new velocity, in world coordinates.
    by: DVec3,
    velocity: DVec3,
    /// A response has changed its motion: it did not just move by its velocity.
    responded: bool,
}

type Displacements = BTreeMap<NodeId, Displacement>;

impl Stage {
    /// Sets velocity and response of a body from its driver.
    pub(crate) fn apply_driver(&mut self, plan: &BodyPlan, id: BodyId) -> Result<(), StageError> {
        let Some(driver) = plan.driver else { return Ok(()) };
        let Some(node) = self.transform(driver.node) else { return Ok(()) };
        let linear = linear(&driver.parent) * node.velocity_vector.as_dvec3();
        let response = node.collision_response.and_then(|id| self.response(id));
        let velocity = Velocity::straight(linear);
        if self.world.velocity(id)? != velocity {
            self.world.set_velocity(id, velocity)?;
        }
        self.world.set_response(id, response)?;
        if self.options.continuous {
            self.world.set_continuous_motion(id, true)?;
        }
        Ok(())
    }

    /// The part of a body's position that the `f32` field of its driver has lost by rounding.
    pub(crate) fn rounding_offset(&self, driver: Driver) -> DVec3 {
        let field = self.transform(driver.node).map(|node| node.translation);
        let exact = self
            .exact_translations
            .0
            .get(&driver.node)
            .filter(|exact| field == Some(exact.written));
        exact.map_or(DVec3::ZERO, |exact| {
            linear(&driver.parent) * (exact.translation - exact.written.as_dvec3())
        })
    }

    /// The states of all driven bodies.
    pub(crate) fn driven_bodies(&self) -> Vec<DrivenBody> {
        let driven = self.bodies.iter().filter(|entry| entry.plan.active).filter_map(|entry| {
            let (driver, body) = (entry.plan.driver?, entry.body.as_ref()?.id);
            let pose = self.world.pose(body).ok()?;
            let velocity = self.world.velocity(body).ok()?;
            Some(DrivenBody { driver, body, pose, velocity })
        });
        driven.collect()
    }

    /// Writes the motion of the driven bodies back into the scene. If a driver has several bodies,
    /// the first one with a response determines the motion of all.
    pub(crate) fn write_back(
        &mut self,
        seconds: f64,
        before: &[DrivenBody],
    ) -> Result<(), StageError> {
        let mut moved: Displacements = BTreeMap::new();
        for driven in before {
            let (by, velocity) = self.displacement(driven)?;
            let straight = driven.velocity.linear * seconds;
            let responded = velocity != driven.velocity
                || (by - straight).length() > 1e-9 * (1.0 + straight.length());
            let displacement =
                Displacement { driver: driven.driver, by, velocity: velocity.linear, responded };
            let known = moved.entry(driven.driver.node).or_insert(displacement);
            if responded && !known.responded {
                *known = displacement;
            }
        }
        self.align_driven_bodies(before, &moved)?;
        // A node with a velocity and no body moves too.
        for &id in &self.roles.drivers {
            if let (Some(node), None) = (self.transform(id), moved.get(&id))
                && node.velocity_vector != Vec3::ZERO
            {
                let driver = Driver { node: id, parent: Placement::IDENTITY };
                let velocity = node.velocity_vector.as_dvec3();
                let by = velocity * seconds;
                moved.insert(id, Displacement { driver, by, velocity, responded: false });
            }
        }
        for (id, Displacement { driver, by, velocity, .. }) in moved {
            let back = linear(&driver.parent).inverse();
            let (by, velocity) = (back * by, (back * velocity).as_vec3());
            if by.is_finite() && velocity.is_finite() {
                self.move_node(id, by, velocity)?;
            }
        }
        Ok(())
    }

    /// The displacement of a body in this step, and its new velocity.
    fn displacement(&self, driven: &DrivenBody) -> Result<(DVec3, Velocity), StageError> {
        let by = self.world.pose(driven.body)?.translation() - driven.pose.translation();
        Ok((by, self.world.velocity(driven.body)?))
    }

    /// Gives all bodies of a driver the same motion: the world applies responses to each body
    /// separately, but these are parts of one rigid object.
    fn align_driven_bodies(
        &mut self,
        before: &[DrivenBody],
        moved: &Displacements,
    ) -> Result<(), StageError> {
        for driven in before {
            let Some(&Displacement { by, velocity, .. }) = moved.get(&driven.driver.node) else {
                continue;
            };
            let (own, own_velocity) = self.displacement(driven)?;
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
        let known = self.exact_translations.0.get(&id).filter(|exact| exact.written == field);
        let from = known.map_or(field.as_dvec3(), |exact| exact.translation);
        let translation = from + by;
        let written = translation.as_vec3();
        if !written.is_finite() {
            return Ok(());
        }
        self.exact_translations.0.insert(id, Exact { translation, written });
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
