//! The viewer of the scene, and the avatar's body: "the radius around the avatar specified by the
//! currently bound NavigationInfo" (V-COLLIDE, section 4.1; row V6).

use crate::StageError;
use crate::stage::Stage;
use crate::sync::AVATAR_LAYERS;
use glam::{DQuat, DVec3};
use jostle_geom::{Pose, Shape};
use jostle_scene::nodes::Kind;
use jostle_scene::{NodeId, Placement, Viewer};
use jostle_world::{Body, BodyId, Response, VelocityResponse};

/// The viewer: the bound viewpoint plus the distance walked since it was bound.
#[derive(Clone, Debug)]
pub(crate) struct Avatar {
    /// A sphere around the viewer's position.
    pub(crate) body: Option<BodyId>,
    /// The radius in the scene, which may be invalid.
    radius: f32,
    /// The viewpoint and the `NavigationInfo` that were bound when the avatar was last placed.
    bound: [Option<NodeId>; 2],
    /// The position of the viewpoint.
    viewpoint: DVec3,
    orientation: DQuat,
    /// The displacement from the viewpoint by walking.
    walked: DVec3,
    /// A call of [`Stage::walk`] has not been applied yet.
    pub(crate) walk_pending: bool,
}

/// The first value of `avatarSize` when a file gives none.
const RADIUS: f32 = 0.25;

impl Default for Avatar {
    fn default() -> Avatar {
        let Viewer { position, orientation } = Viewer::default();
        Avatar {
            body: None,
            radius: RADIUS,
            bound: [None; 2],
            viewpoint: position,
            orientation,
            walked: DVec3::ZERO,
            walk_pending: false,
        }
    }
}

impl Avatar {
    pub(crate) fn viewer(&self) -> Viewer {
        Viewer { position: self.viewpoint + self.walked, orientation: self.orientation }
    }
}

impl Stage {
    /// Moves the avatar by a displacement in the next step. If it would then collide, it stays
    /// where it is. A displacement to a position that is not valid is ignored.
    pub fn walk(&mut self, by: DVec3) {
        if Pose::from_translation(self.avatar.viewer().position + by).is_ok() {
            self.avatar.walked += by;
            self.avatar.walk_pending = true;
        }
    }

    /// The position and orientation of the viewer.
    #[must_use]
    pub fn viewer(&self) -> Viewer {
        self.avatar.viewer()
    }

    /// The avatar's body, if there is one.
    #[must_use]
    pub fn avatar(&self) -> Option<BodyId> {
        self.avatar.body
    }

    /// Inserts an avatar if the scene has a `NavigationInfo` and [`StageOptions::avatar`] is set.
    ///
    /// [`StageOptions::avatar`]: crate::StageOptions::avatar
    pub(crate) fn insert_avatar(&mut self) -> Result<(), StageError> {
        if !self.options.avatar || self.play.navigation().is_none() {
            return Ok(());
        }
        let stays = Response { velocity: VelocityResponse::Keep, set_back: true };
        let place = Pose::from_translation(self.avatar.viewpoint).map_err(no_place)?;
        let body = Body::moving(Shape::sphere(f64::from(RADIUS))?, place)
            .with_collision_groups(AVATAR_LAYERS)
            .with_response(stays);
        self.avatar.body = Some(self.world.insert(body)?);
        self.resize_avatar()
    }

    /// Returns true if another viewpoint or `NavigationInfo` was bound: that changes no field, so
    /// it is not among the changes of the scene.
    pub(crate) fn binding_changed(&self) -> bool {
        self.avatar.bound != [self.play.viewpoint(), self.play.navigation()]
    }

    /// Updates the avatar's pose from the viewpoint and the distance walked, and its size if
    /// another `NavigationInfo` was bound or its `avatarSize` has changed. `around` is the
    /// placement of the viewpoint's coordinates. Returns whether the viewer has moved.
    pub(crate) fn place_avatar(&mut self, around: Option<Placement>) -> Result<bool, StageError> {
        let before = self.avatar.viewer();
        let bound = [self.play.viewpoint(), self.play.navigation()];
        let other_view = self.avatar.bound[0] != bound[0];
        self.avatar.bound = bound;
        let view = bound[0].and_then(|id| match &self.play.scene().node(id).kind {
            Kind::Viewpoint(view) => Some(view),
            _ => None,
        });
        if let (Some(view), Some(around)) = (view, around) {
            self.avatar.viewpoint = around.transform_point(view.position.as_dvec3());
            self.avatar.orientation = around.rotation * view.orientation.quaternion();
            // With `jump` the avatar moves to the viewpoint, without it stays (6.53).
            if other_view {
                let stays = before.position - self.avatar.viewpoint;
                self.avatar.walked = if view.jump { DVec3::ZERO } else { stays };
            }
        }
        let moved = self.avatar.viewer() != before || self.avatar.walk_pending;
        self.avatar.walk_pending = false;
        self.resize_avatar()?;
        let Some(avatar) = self.avatar.body else { return Ok(moved) };
        let pose = Pose::from_translation(self.avatar.viewer().position).map_err(no_place)?;
        if self.world.pose(avatar)? != pose {
            self.world.set_pose(avatar, pose)?;
        }
        Ok(moved)
    }

    /// Reads the avatar's pose, which a response may have set back, and sets the viewer of the
    /// scene.
    pub(crate) fn read_back_avatar(&mut self) -> Result<(), StageError> {
        if let Some(avatar) = self.avatar.body {
            let place = self.world.pose(avatar)?.translation();
            self.avatar.walked = place - self.avatar.viewpoint;
        }
        let Viewer { position, orientation } = self.avatar.viewer();
        self.play.view(position, orientation);
        Ok(())
    }

    /// Sets the avatar's radius from the first value of `avatarSize`. An invalid radius is reported
    /// as a problem, and the avatar keeps its size.
    fn resize_avatar(&mut self) -> Result<(), StageError> {
        let info = self.play.navigation().map(|id| self.play.scene().node(id));
        let size = info.and_then(|node| match &node.kind {
            Kind::NavigationInfo(info) => info.avatar_size.first().copied(),
            _ => None,
        });
        let radius = size.unwrap_or(RADIUS);
        let Some(avatar) = self.avatar.body.filter(|_| self.avatar.radius != radius) else {
            return Ok(());
        };
        self.avatar.radius = radius;
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
