//! Is a model inside, outside or across the border of a view frustum, or of any other convex set
//! that is given by planes?
//!
//! Boxes that are wholly outside of one plane, or inside of all, end the search early. At the
//! leaves triangles are really clipped, so a triangle that passes by a corner of the frustum
//! counts as outside although no single plane says so.

use super::{LaneBox, PosedModel, used_lanes};
use crate::tree::{Child, FramedNode};
use crate::triangle::Triangle;
use glam::{DMat4, DVec3, DVec4};

/// A half space: the points p with `normal · p + offset ≥ 0`.
///
/// The normal points inward and may have any length. If it is zero, the half space is everything
/// (`offset` ≥ 0) or nothing: so is the far plane of a projection without one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    normal: DVec3,
    offset: f64,
}

/// Why numbers are not a plane.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "a plane needs a finite offset and a normal that is zero or has a length between 1e-100 and \
     1e100, found normal {normal} offset {offset}"
)]
pub struct PlaneError {
    /// The normal found.
    pub normal: DVec3,
    /// The offset found.
    pub offset: f64,
}

impl Plane {
    /// The half space of points p with `normal · p + offset ≥ 0`.
    ///
    /// # Errors
    /// Numbers that are not finite, or a normal whose square would not fit into `f64`: it must be
    /// zero or have a length between 1e-100 and 1e100.
    pub fn new(normal: DVec3, offset: f64) -> Result<Plane, PlaneError> {
        let usable = normal == DVec3::ZERO || (1e-100..1e100).contains(&normal.length());
        if usable && offset.is_finite() {
            Ok(Plane { normal, offset })
        } else {
            Err(PlaneError { normal, offset })
        }
    }

    /// The normal, pointing inward.
    #[must_use]
    pub fn normal(&self) -> DVec3 {
        self.normal
    }

    /// The offset.
    #[must_use]
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// `normal · p + offset`: not negative inside.
    #[must_use]
    pub fn height(&self, p: DVec3) -> f64 {
        self.normal.dot(p) + self.offset
    }
}

/// Which depths a projection maps the view frustum to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClipDepth {
    /// 0 to 1 (or 1 to 0), as in Vulkan, Direct3D, Metal and WebGPU.
    ZeroToOne,
    /// −1 to 1, as in OpenGL.
    MinusOneToOne,
}

/// The planes left, right, bottom, top, and the two of depth, of a view frustum: of the points
/// that `view_projection` maps into clip space. (Gribb and Hartmann, *Fast Extraction of Viewing
/// Frustum Planes from the World-View-Projection Matrix*, 2001.)
///
/// ```
/// use glam::{DVec3, dcamera::rh::proj::directx};
/// use jostle_geom::{ClipDepth, FrustumSide, Model, PosedModel, Pose, Quality};
/// use jostle_geom::{frustum_planes, solids};
///
/// let view = directx::orthographic(-2.0, 2.0, -2.0, 2.0, 0.0, 10.0);
/// let planes = frustum_planes(&view, ClipDepth::ZeroToOne)?;
/// let cube = Model::build(solids::cuboid(DVec3::splat(2.0))?, Quality::Default);
/// let side = |z| {
///     let pose = Pose::from_translation(DVec3::new(0.0, 0.0, z))?;
///     Ok::<_, jostle_geom::PoseError>(PosedModel::new(&cube, &pose).frustum(&planes))
/// };
/// assert_eq!(side(-5.0)?, FrustumSide::Inside); // the camera looks along −z
/// assert_eq!(side(0.0)?, FrustumSide::Crossing);
/// assert_eq!(side(5.0)?, FrustumSide::Outside);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A matrix with numbers that are not finite.
pub fn frustum_planes(view_projection: &DMat4, depth: ClipDepth) -> Result<[Plane; 6], PlaneError> {
    let [x, y, z, w] = [0, 1, 2, 3].map(|i| view_projection.row(i));
    let near = match depth {
        ClipDepth::ZeroToOne => z,
        ClipDepth::MinusOneToOne => w + z,
    };
    let plane = |row: DVec4| Plane::new(row.truncate(), row.w);
    Ok([plane(w + x)?, plane(w - x)?, plane(w + y)?, plane(w - y)?, plane(near)?, plane(w - z)?])
}

/// Where a model is, seen from a convex set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrustumSide {
    /// Every corner of every face is inside of all planes.
    Inside,
    /// No face has a point inside of all planes. An empty model is outside.
    Outside,
    /// Some of it is inside, some outside.
    Crossing,
}

/// What is known so far.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// A triangle has a point inside of all planes.
    inside: bool,
    /// A triangle has a corner outside of a plane.
    outside: bool,
}

/// A box seen from the planes.
enum BoxSide {
    Inside,
    Outside,
    Unsure,
}

/// A plane in the frame of the tree: `normal · x + offset` is within `slack` of the height of
/// the placed point.
struct LocalPlane {
    normal: DVec3,
    length: f64,
    offset: f64,
    slack: f64,
}

impl PosedModel<'_> {
    /// Is the model inside, outside or across the border of the intersection of half spaces? No
    /// planes at all mean all of space.
    ///
    /// Heights over planes and points on them are computed in `f64`, so the answer is right for
    /// planes that are moved by a few roundings of the coordinates. The border itself is inside.
    #[must_use]
    pub fn frustum(&self, planes: &[Plane]) -> FrustumSide {
        let local: Vec<LocalPlane> = planes.iter().map(|plane| self.local_plane(plane)).collect();
        let mut seen = Seen::default();
        let mut open: Vec<Child> = Vec::with_capacity(64);
        let mut clip = Clip::default();
        if let Some((root, lane)) = self.root() {
            seen.look_at(&local, &root, lane, &mut open);
        }
        while let Some(child) = open.pop() {
            if seen.inside && seen.outside {
                break;
            }
            if child.is_leaf() {
                for triangle in child.triangles() {
                    let corners = self.triangle(triangle);
                    let out = |plane: &Plane| corners.iter().any(|&p| plane.height(p) < 0.0);
                    seen.outside = seen.outside || planes.iter().any(out);
                    seen.inside = seen.inside || clip.leaves_something(&corners, planes);
                }
                continue;
            }
            let node = self.node(child);
            for lane in used_lanes(node.node) {
                seen.look_at(&local, &node, lane, &mut open);
            }
        }
        match (seen.inside, seen.outside) {
            (true, false) => FrustumSide::Inside,
            (true, true) => FrustumSide::Crossing,
            (false, _) => FrustumSide::Outside,
        }
    }

    fn local_plane(&self, plane: &Plane) -> LocalPlane {
        let length = plane.normal.length();
        let origin = self.pose.transform_point(self.model.tree.origin.as_dvec3());
        LocalPlane {
            normal: self.pose.inverse_transform_vector(plane.normal),
            length,
            offset: plane.height(origin),
            slack: 2.0 * (self.slack * length + super::ROUNDING * plane.offset.abs()),
        }
    }
}

impl Seen {
    /// Draws what can be drawn from the box of a lane, or puts the lane on the list.
    fn look_at(
        &mut self,
        planes: &[LocalPlane],
        node: &FramedNode<'_>,
        lane: usize,
        open: &mut Vec<Child>,
    ) {
        match box_side(planes, node, lane) {
            BoxSide::Inside => self.inside = true,
            BoxSide::Outside => self.outside = true,
            BoxSide::Unsure => open.push(node.node.child[lane]),
        }
    }
}

fn box_side(planes: &[LocalPlane], node: &FramedNode<'_>, lane: usize) -> BoxSide {
    let bounds = LaneBox::of(node, lane);
    let mut inside = true;
    for plane in planes {
        let height = plane.normal.dot(bounds.center) + plane.offset;
        let reach = bounds.along(plane.normal).abs().dot(bounds.half);
        let reach = reach + bounds.axis_slack() * plane.length + plane.slack;
        if height < -reach {
            return BoxSide::Outside;
        }
        // Written so that NaN is not sure to be inside.
        inside &= height >= reach;
    }
    if inside { BoxSide::Inside } else { BoxSide::Unsure }
}

/// Room for a polygon that is cut by one plane after the other.
#[derive(Default)]
struct Clip {
    polygon: Vec<DVec3>,
    cut: Vec<DVec3>,
}

impl Clip {
    /// Has the triangle a point inside of all planes? (Sutherland and Hodgman, *Reentrant Polygon
    /// Clipping*, Communications of the ACM 17, 1974.)
    fn leaves_something(&mut self, t: &Triangle, planes: &[Plane]) -> bool {
        self.polygon.clear();
        self.polygon.extend(t);
        for plane in planes {
            self.cut.clear();
            for (i, &p) in self.polygon.iter().enumerate() {
                let q = self.polygon[(i + 1) % self.polygon.len()];
                let (height_p, height_q) = (plane.height(p), plane.height(q));
                if height_p >= 0.0 {
                    self.cut.push(p);
                }
                if (height_p > 0.0 && height_q < 0.0) || (height_p < 0.0 && height_q > 0.0) {
                    self.cut.push(passage([p, q], height_p.abs(), height_q.abs()));
                }
            }
            std::mem::swap(&mut self.polygon, &mut self.cut);
        }
        !self.polygon.is_empty()
    }
}

/// The point of `pq` whose distances to p and q are as `from_p` to `from_q`, computed from the
/// nearer end.
fn passage([p, q]: [DVec3; 2], from_p: f64, from_q: f64) -> DVec3 {
    let all = from_p + from_q;
    let point =
        if from_p <= from_q { p + (q - p) * (from_p / all) } else { q + (p - q) * (from_q / all) };
    point.clamp(p.min(q), p.max(q))
}
