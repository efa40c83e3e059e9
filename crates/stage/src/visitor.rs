//! Who looks at the scene, and the visitor's body: "the radius around the avatar specified by the
//! currently bound NavigationInfo" (V-COLLIDE, section 4.1; row V6).

use crate::StageError;
use crate::follow::AVATAR_LAYERS;
use crate::stage::Stage;
use glam::{DQuat, DVec3};
use jostle_geom::Pose;
use jostle_scene::nodes::Kind;
use jostle_scene::{NodeId, Placement, Viewer};
use jostle_world::{Body, BodyId, Response, Shape, VelocityResponse};

/// Somebody at the bound viewpoint, or who has walked from there.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    /// A ball around the eyes.
    pub(crate) avatar: Option<BodyId>,
    /// What the scene wants it to be, which may be no radius.
    radius: f32,
    /// The viewpoint and the `NavigationInfo` that were bound when the visitor was last placed.
    bound: [Option<NodeId>; 2],
    /// Where the viewpoint is.
    viewpoint: DVec3,
    orientation: DQuat,
    /// How far the visitor has walked from there.
    walked: DVec3,
    /// The visitor wants to walk, and has not yet.
    pub(crate) restless: bool,
}

/// The first value of `avatarSize` when a file gives none.
const RADIUS: f32 = 0.25;

impl Default for Visitor {
    fn default() -> Visitor {
        let Viewer { position, orientation } = Viewer::default();
        Visitor {
            avatar: None,
            radius: RADIUS,
            bound: [None; 2],
            viewpoint: position,
            orientation,
            walked: DVec3::ZERO,
            restless: false,
        }
    }
}

impl Visitor {
    pub(crate) fn viewer(&self) -> Viewer {
        Viewer { position: self.viewpoint + self.walked, orientation: self.orientation }
    }
}

impl Stage {
    /// Lets the visitor walk by so much in the next step. The avatar does not walk through
    /// anything: if it would end in something, it stays where it is. Nor does it walk further than
    /// there are places.
    pub fn walk(&mut self, by: DVec3) {
        if Pose::from_translation(self.visitor.viewer().position + by).is_ok() {
            self.visitor.walked += by;
            self.visitor.restless = true;
        }
    }

    /// Where the visitor is, and where they look.
    #[must_use]
    pub fn viewer(&self) -> Viewer {
        self.visitor.viewer()
    }

    /// The avatar's body, if there is one.
    #[must_use]
    pub fn avatar(&self) -> Option<BodyId> {
        self.visitor.avatar
    }

    /// There is an avatar if the scene has a `NavigationInfo` and the caller wants one.
    pub(crate) fn enter_avatar(&mut self) -> Result<(), StageError> {
        if !self.staging.avatar || self.play.navigation().is_none() {
            return Ok(());
        }
        let stays = Response { velocity: VelocityResponse::Keep, set_back: true };
        let place = Pose::from_translation(self.visitor.viewpoint).map_err(no_place)?;
        let body = Body::moving(Shape::sphere(f64::from(RADIUS))?, place)
            .with_collision_groups(AVATAR_LAYERS)
            .with_response(stays);
        self.visitor.avatar = Some(self.world.insert(body)?);
        self.resize_avatar()
    }

    /// Was another viewpoint or `NavigationInfo` bound? No field tells.
    pub(crate) fn is_bound_anew(&self) -> bool {
        self.visitor.bound != [self.play.viewpoint(), self.play.navigation()]
    }

    /// Puts the visitor where the viewpoint and walking have brought them; resizes the avatar if
    /// another `NavigationInfo` was bound or its `avatarSize` has changed. `around` are the
    /// coordinates that the viewpoint is in. Says whether the viewer has moved.
    pub(crate) fn place_visitor(&mut self, around: Option<Placement>) -> Result<bool, StageError> {
        let before = self.visitor.viewer();
        let bound = [self.play.viewpoint(), self.play.navigation()];
        let other_view = self.visitor.bound[0] != bound[0];
        self.visitor.bound = bound;
        let view = bound[0].and_then(|id| match &self.play.scene().node(id).kind {
            Kind::Viewpoint(view) => Some(view),
            _ => None,
        });
        if let (Some(view), Some(around)) = (view, around) {
            self.visitor.viewpoint = around.place(view.position.as_dvec3());
            self.visitor.orientation = around.rotation * view.orientation.quaternion();
            // With `jump` the visitor is there at once, without it stays (6.53).
            if other_view {
                let stays = before.position - self.visitor.viewpoint;
                self.visitor.walked = if view.jump { DVec3::ZERO } else { stays };
            }
        }
        let moved = self.visitor.viewer() != before || self.visitor.restless;
        self.visitor.restless = false;
        self.resize_avatar()?;
        let Some(avatar) = self.visitor.avatar else { return Ok(moved) };
        let pose = Pose::from_translation(self.visitor.viewer().position).map_err(no_place)?;
        if self.world.pose(avatar)? != pose {
            self.world.set_pose(avatar, pose)?;
        }
        Ok(moved)
    }

    /// Takes over where the avatar was set back to, and tells the scene where its viewer is.
    pub(crate) fn settle_visitor(&mut self) -> Result<(), StageError> {
        if let Some(avatar) = self.visitor.avatar {
            let place = self.world.pose(avatar)?.translation();
            self.visitor.walked = place - self.visitor.viewpoint;
        }
        let Viewer { position, orientation } = self.visitor.viewer();
        self.play.view(position, orientation);
        Ok(())
    }

    /// The first value of `avatarSize`. A radius that is none is told, and the avatar stays as it
    /// is.
    fn resize_avatar(&mut self) -> Result<(), StageError> {
        let info = self.play.navigation().map(|id| self.play.scene().node(id));
        let size = info.and_then(|node| match &node.kind {
            Kind::NavigationInfo(info) => info.avatar_size.first().copied(),
            _ => None,
        });
        let radius = size.unwrap_or(RADIUS);
        let Some(avatar) = self.visitor.avatar.filter(|_| self.visitor.radius != radius) else {
            return Ok(());
        };
        self.visitor.radius = radius;
        match Shape::sphere(f64::from(radius)) {
            Ok(shape) => self.world.set_shape(avatar, shape)?,
            Err(error) => {
                let place = info.map_or(String::new(), |node| format!("{}: ", node.place));
                self.problems.push(format!("{place}avatarSize: {error}"));
            }
        }
        Ok(())
    }
}

fn no_place(source: jostle_geom::PoseError) -> StageError {
    StageError::Pose { name: "avatar".to_string(), source }
}
