//! The form of objects: bounds and triangles.

use crate::geometry::Form;
use crate::state::{Block, POSITION_UNIT, Rotation, State};
use glam::{DMat3, DVec3, Vec3};
use jostle_geom::{Mesh, Model};
use std::sync::Arc;

/// Added to every side of a turned box, in units of positions, before it is rounded outward: more
/// than all roundings of `f64` in placing a vertex, which stay below 1e-6 units for positions and
/// meshes of any size that fit in 32 bits.
const ROUNDING: f64 = 1e-3;

/// A form in the table that all machines share.
#[derive(Clone, Debug)]
pub struct Solid {
    /// In the frame of the form, in units of positions.
    bounds: Block,
    /// No point of it is farther from its origin. None for a box that is never turned.
    radius: Option<i32>,
    /// Its triangles enclose a volume and face outward.
    closed: bool,
    /// Its triangles; without them it is a box.
    pub model: Option<Arc<Model>>,
}

impl Solid {
    /// A box around its origin that is never turned, with half of its edges in units of positions.
    #[must_use]
    pub fn cuboid(half: [i32; 3]) -> Solid {
        Solid { bounds: around(half), radius: None, closed: false, model: None }
    }

    /// A form of triangles. Lengths beyond 32 bits are cut off.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, Quality, solids};
    /// use jostle_proto::{Block, Solid, State};
    ///
    /// let wall = solids::cuboid(DVec3::new(40.0, 40.0, 0.25))?;
    /// let wall = Solid::mesh(Model::build(wall, Quality::Fast).into());
    /// let half = [20 * 4096, 20 * 4096, 512];
    /// let block = Block { min: half.map(|along: i32| -along), max: half };
    /// assert_eq!(wall.block(&State::default()), block);
    /// # Ok::<(), jostle_geom::solids::SolidError>(())
    /// ```
    #[must_use]
    pub fn mesh(model: Arc<Model>) -> Solid {
        let mesh = model.mesh();
        let units = |vertex: &Vec3| vertex.as_dvec3() / POSITION_UNIT;
        let corners = mesh.vertices().iter().map(|vertex| (units(vertex), units(vertex)));
        let corners = corners.reduce(|(low, high), (point, _)| (low.min(point), high.max(point)));
        let (low, high) = corners.unwrap_or_default();
        let bounds = Block { min: whole(low.floor()), max: whole(high.ceil()) };
        let far = mesh.vertices().iter().map(|vertex| units(vertex).length()).fold(0.0, f64::max);
        let closed = faces_outward(mesh);
        Solid { bounds, radius: Some((far + 1.0).ceil() as i32), closed, model: Some(model) }
    }

    /// What is known of a form without its triangles.
    #[must_use]
    pub fn outline(form: &Form) -> Solid {
        let far = DVec3::from_array(form.half.map(f64::from)).length();
        let radius = form.content.map(|_| (far + 1.0).ceil() as i32);
        Solid { radius, ..Solid::cuboid(form.half) }
    }

    /// The same without triangles: it touches what its block touches.
    #[must_use]
    pub fn without_model(&self) -> Solid {
        Solid { model: None, closed: false, ..self.clone() }
    }

    /// Half the edges of the smallest box around its origin that holds it, in its own frame.
    #[must_use]
    pub fn half(&self) -> [i32; 3] {
        let Block { min, max } = self.bounds;
        [0, 1, 2].map(|axis: usize| max[axis].max(min[axis].saturating_neg()))
    }

    /// How far it reaches from its origin along any axis, however it is turned.
    #[must_use]
    pub fn reach(&self) -> i32 {
        let [x, y, z] = self.half();
        self.radius.unwrap_or(x.max(y).max(z))
    }

    /// Do its triangles enclose a volume, and face outward?
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// The block that an object with this form occupies: the box of the turned bounds, and no more
    /// than the ball around the origin, rounded outward. The same on every machine.
    #[must_use]
    pub fn block(&self, state: &State) -> Block {
        let Block { min, max } = match self.radius {
            Some(radius) if state.rotation != Rotation::default() => self.turned(state, radius),
            _ => self.bounds,
        };
        let at = state.position;
        Block {
            min: [0, 1, 2].map(|axis: usize| at[axis].saturating_add(min[axis])),
            max: [0, 1, 2].map(|axis: usize| at[axis].saturating_add(max[axis])),
        }
    }

    fn turned(&self, state: &State, radius: i32) -> Block {
        let wide = |corner: [i32; 3]| DVec3::from_array(corner.map(f64::from));
        let (low, high) = (wide(self.bounds.min), wide(self.bounds.max));
        let middle = (low + high) * 0.5;
        let turn = DMat3::from_quat(state.rotation.quaternion());
        let centre = turn * middle;
        let size = turn.abs() * (high - middle) + ROUNDING;
        let radius = DVec3::splat(f64::from(radius));
        let low = (centre - size).max(-radius).floor();
        Block { min: whole(low), max: whole((centre + size).min(radius).ceil()) }
    }
}

fn around(half: [i32; 3]) -> Block {
    Block { min: half.map(i32::saturating_neg), max: half }
}

/// Whole numbers; what does not fit is cut off.
fn whole(corner: DVec3) -> [i32; 3] {
    corner.to_array().map(|along| along as i32)
}

fn faces_outward(mesh: &Mesh) -> bool {
    let at = |vertex: u32| mesh.vertices()[vertex as usize].as_dvec3();
    let volume: f64 = mesh.triangles().iter().map(|t| at(t[0]).dot(at(t[1]).cross(at(t[2])))).sum();
    volume > 0.0 && (mesh.is_solid() || mesh.clone().into_solid().is_ok())
}
