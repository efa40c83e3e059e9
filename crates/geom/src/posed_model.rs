//! One model at a pose: the queries about it alone (rays, closest points, frusta, containment).
//!
//! What is decided is decided about the placed triangles ([`Pose::transform_point`]). The hierarchy
//! only leaves out triangles that cannot matter: its boxes are taken larger than every rounding on
//! the way from the mesh to the world and back, so each query gives, to the bit, what looking at
//! all triangles one by one would give.

mod bounds;
mod closest;
mod contains;
mod frustum;
mod locate;
mod normal;
mod one_side;
mod ray;
mod round;
mod self_intersections;
mod sphere;

pub use closest::ClosestPoint;
pub use contains::{ContainsError, Side};
pub use frustum::{ClipDepth, FrustumSide, Plane, PlaneError, frustum_planes};
pub(crate) use locate::Location;
pub(crate) use one_side::exact_normal;
pub use ray::{Ray, RayError, RayHit};

use crate::limits::TRANSLATION_MIN;
use crate::tree::{Child, FramedNode, Node};
use crate::triangle::Triangle;
use crate::{Model, Pose};
use glam::DVec3;

/// A model at a pose.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Model, PosedModel, Pose, Quality, Ray, solids};
///
/// let ball = Model::build(solids::sphere(1.0, 0.01)?, Quality::Default);
/// let pose = Pose::from_translation(DVec3::new(5.0, 0.0, 0.0))?;
/// let placed = PosedModel::new(&ball, &pose);
/// let ray = Ray::new(DVec3::ZERO, DVec3::X, f64::INFINITY)?;
/// let hit = placed.ray(&ray).unwrap();
/// assert!((hit.distance - 4.0).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PosedModel<'a> {
    model: &'a Model,
    pose: Pose,
    /// How far, in mesh units, a placed vertex may be outside of the boxes that hold it, when
    /// both are brought into the frame of the tree.
    slack: f64,
}

/// Bound on the roundings of `f64` per unit of length on the way between mesh and world.
///
/// With v = 2^-53: placing is off by 4v, its matrix is orthogonal up to 8v per entry (rigid up to
/// 24v), going back takes two additions and a product (9v), projecting on a box axis 4v. The sum
/// is below 64v; 2^-46 = 128v leaves room.
const ROUNDING: f64 = 1.0 / (1u64 << 46) as f64;

/// Boxes are fitted in `f32`: vertices relative to the tree's origin, projections, centre and
/// half extent are off by less than 16 · 2^-24 = 2^-20 of the radius of the mesh.
const BOX_ROUNDING: f64 = 1.0 / (1u64 << 18) as f64;

/// Box axes are orthonormal only up to 1.1e-4 (`tree/overlap.rs` has the count), so a length
/// measured along them is short by at most this part of the sum of the half extents.
const AXIS_SLACK: f64 = 1.0 / 2048.0;

impl<'a> PosedModel<'a> {
    /// `model` at `pose`.
    #[must_use]
    pub fn new(model: &'a Model, pose: &Pose) -> PosedModel<'a> {
        let radius = f64::from(model.tree.radius);
        let far = radius + model.tree.origin.as_dvec3().length() + pose.translation().length();
        // The last term is for numbers near the smallest `f32`, where rounding is not relative.
        let tiny = f64::from(f32::from_bits(64));
        // Boxes in frames of their nodes have their roundings from there.
        let whole = if model.tree.frames.is_empty() { radius } else { 0.0 };
        let slack = BOX_ROUNDING * whole + ROUNDING * far + tiny;
        PosedModel { model, pose: *pose, slack }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// The pose.
    #[must_use]
    pub fn pose(&self) -> Pose {
        self.pose
    }

    /// The corners of a triangle of [`crate::Mesh::triangles`] in the world.
    ///
    /// # Panics
    /// If the mesh has no such triangle.
    #[inline]
    #[must_use]
    pub fn triangle(&self, triangle: usize) -> Triangle {
        self.model.mesh.corners(triangle).map(|corner| self.pose.transform_point(corner))
    }

    /// The middle of the box around the mesh along its own axes, in the world; the pose's
    /// translation for a mesh without triangles.
    #[must_use]
    pub fn centre(&self) -> DVec3 {
        self.pose.transform_point(self.model.tree.origin)
    }

    /// A point of the world in the frame of the tree.
    fn in_tree_frame(&self, p: DVec3) -> DVec3 {
        self.pose.inverse_transform_point(p) - self.model.tree.origin.as_dvec3()
    }

    /// The slack of a box test against something at `p`.
    fn slack_at(&self, p: DVec3) -> f64 {
        self.slack + ROUNDING * p.length()
    }

    /// The lane that holds the whole mesh: its node and number.
    fn root(&self) -> Option<(FramedNode<'a>, usize)> {
        let tree = &self.model.tree;
        if tree.nodes.first()?.child[0].is_empty() {
            return None;
        }
        Some((tree.framed_node(0), 0))
    }

    /// The face that a triangle is part of.
    fn face(&self, triangle: usize) -> u32 {
        self.model.mesh.face_of(triangle as u32)
    }

    /// The node below a lane that is not a leaf.
    fn node(&self, child: Child) -> FramedNode<'a> {
        self.model.tree.framed_node(child.node_index())
    }
}

/// The lanes of a node that are in use.
fn used_lanes(node: &Node) -> impl Iterator<Item = usize> {
    (0..node.child.len()).take_while(|&lane| !node.child[lane].is_empty())
}

/// The box of a lane, in `f64`. Every point p of the lane's triangles has
/// |axis_k · (p − center)| ≤ half_k + slack, in the frame of the tree.
struct LaneBox {
    center: DVec3,
    half: DVec3,
    axes: [DVec3; 3],
}

impl LaneBox {
    #[inline]
    fn of(framed: &FramedNode<'_>, lane: usize) -> LaneBox {
        let obb = framed.node.obb(lane);
        LaneBox {
            center: framed.shift + obb.center.as_dvec3(),
            half: obb.half.as_dvec3() + BOX_ROUNDING * framed.radius,
            axes: obb.axes.map(|axis| axis.as_dvec3()),
        }
    }

    /// A vector in the coordinates of the box.
    #[inline]
    fn along(&self, v: DVec3) -> DVec3 {
        let [x, y, z] = self.axes;
        DVec3::new(x.dot(v), y.dot(v), z.dot(v))
    }

    /// What a length measured in the coordinates of the box may be off by, for a box of this size.
    #[inline]
    fn axis_slack(&self) -> f64 {
        AXIS_SLACK * (self.half.x + self.half.y + self.half.z)
    }
}

/// Components of points must be smaller than this: 2^129, more than twice the largest `f32`, and
/// with room below the 2^131 that exact predicates can take.
const POINT_MAX: f64 = f64::from_bits((1023 + 129) << 52);

/// A point that exact predicates can work with: finite, components below [`POINT_MAX`], and those
/// too small for the grid of [`crate::limits`] taken as zero.
fn usable(p: DVec3) -> Option<DVec3> {
    let flush = |x: f64| if x.abs() < TRANSLATION_MIN { 0.0 } else { x };
    // Written so that NaN is refused too.
    let fits = |x: f64| x.abs() < POINT_MAX;
    let all = fits(p.x) && fits(p.y) && fits(p.z);
    all.then(|| DVec3::new(flush(p.x), flush(p.y), flush(p.z)))
}
