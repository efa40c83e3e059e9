//! Contact normals: which way does the second shape push the first?
//!
//! All normals here are of length 1 and point from the second shape towards the first.

use super::side::unit;
use super::{FacePair, Meeting, Pair, Witness};
use crate::PosedModel;
use glam::DVec3;

/// Directions closer to the normal of a face than this (in radians) are that normal: between
/// parallel faces the closest points have lost digits sideways, the normal has not, and a velocity
/// that is mirrored at a wall along an axis must be exactly that.
const SNAP: f64 = 1e-3;

/// Below this part of all lengths involved, the direction between two points has too few digits.
pub(super) const DIRECTION_MIN: f64 = 1e-12;

/// Where two shapes that do not touch are closest, and the normal of the contact that they would
/// have there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestContact {
    /// From the second shape towards the first, of length 1.
    pub normal: DVec3,
    /// The closest point of each.
    pub points: [DVec3; 2],
}

impl Pair<'_> {
    /// A unit vector from the second shape towards the first: the normal of the face of the second
    /// shape that `witness` names, on the side where the centre of the first shape is (Ohlenburg
    /// 2003: the normal of the colliding polygon of the collidee). For a sphere, the direction from
    /// its centre to the point of contact, or to the centre of another round shape; for a capsule,
    /// a cylinder and a cone the normal of its surface next to the point of contact. For a face
    /// without area, the direction between the centres, and for equal centres the z axis.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Pair, Pose, Shape};
    ///
    /// let (ball, floor) = (Shape::sphere(1.0)?, Shape::cuboid(DVec3::new(9.0, 9.0, 1.0))?);
    /// let above = Pose::from_translation(DVec3::new(2.0, 0.0, 1.4))?;
    /// let pair = Pair::new(&ball, &above, &floor, &Pose::IDENTITY);
    /// let witness = pair.witness().unwrap();
    /// assert_eq!(pair.contact_normal(&witness), DVec3::Z);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn contact_normal(&self, witness: &Witness) -> DVec3 {
        self.normal_of(1, witness.faces.b, witness.point)
    }

    /// The normals of a face of the first and of a face of the second shape, each at a point of it:
    /// as [`Pair::contact_normal`], from both sides.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Pair, Pose, Shape};
    ///
    /// let (ball, block) = (Shape::sphere(1.0)?, Shape::cuboid(DVec3::splat(2.0))?);
    /// let above = Pose::from_translation(DVec3::new(0.25, 0.0, 3.0))?;
    /// let pair = Pair::new(&ball, &above, &block, &Pose::IDENTITY);
    /// let apart = pair.distance().unwrap();
    /// let normals = pair.face_normals(apart.faces, [apart.point_a, apart.point_b]);
    /// assert_eq!(normals, [DVec3::Z; 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn face_normals(&self, faces: FacePair, points: [DVec3; 2]) -> [DVec3; 2] {
        [-self.normal_of(0, faces.a, points[0]), self.normal_of(1, faces.b, points[1])]
    }

    /// Which of the two (0 or 1) is more likely flat where they meet: the one that is not
    /// round, and of two meshes or two round shapes the larger.
    #[must_use]
    pub fn flatter(&self) -> usize {
        let larger = |a: f64, b: f64| usize::from(b > a);
        match &self.0 {
            Meeting::Models(pair) => larger(pair.a.radius(), pair.b.radius()),
            Meeting::Cuboids(pair) => {
                let [a, b] = pair.triangles.map(|triangles| triangles.model.radius());
                larger(a, b)
            }
            Meeting::RoundFirst(..) => 1,
            Meeting::RoundSecond(..) => 0,
            Meeting::Rounds(a, b) => larger(a.reach(), b.reach()),
        }
    }

    /// The contact that two shapes are about to have where they are closest; `None` if they touch,
    /// or if one of them is empty.
    ///
    /// The normal is the direction between the closest points, and that of a face there if it is
    /// the same but for rounding. Two convex shapes that do not turn and are apart along a
    /// direction can only meet by approaching along it.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Pair, Pose, Shape};
    ///
    /// let block = Shape::cuboid(DVec3::ONE)?;
    /// let above = Pose::from_translation(DVec3::new(0.3, 0.2, 1.25))?;
    /// let pair = Pair::new(&block, &above, &block, &Pose::IDENTITY);
    /// let contact = pair.closest_contact().unwrap();
    /// assert_eq!(contact.normal, DVec3::Z);
    /// assert_eq!(contact.points[0].z - contact.points[1].z, 0.25);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn closest_contact(&self) -> Option<ClosestContact> {
        let apart = self.distance().filter(|apart| apart.distance > 0.0)?;
        let points = [apart.point_a, apart.point_b];
        let faces = self.face_normals(apart.faces, points);
        let first = self.flatter();
        let origins = self.origins();
        let arms = [0, 1].map(|i| points[i] - origins[i]);
        let lengths = points[0].length() + points[1].length() + arms[0].length() + arms[1].length();
        let between = (points[0] - points[1]).try_normalize();
        let between = between.filter(|_| apart.distance > DIRECTION_MIN * lengths);
        let candidates = [faces[first], faces[1 - first]];
        let normal = between.map_or(candidates[0], |between| snapped(between, &candidates));
        Some(ClosestContact { normal, points })
    }

    /// The normal of a face of the first (0) or second (1) shape, away from that shape and towards
    /// the other.
    fn normal_of(&self, side: usize, face: u32, point: DVec3) -> DVec3 {
        let centres = self.centres();
        let (own, other) = (centres[side], centres[1 - side]);
        let direction = match self.triangles(side) {
            Some(model) => model.face_normal(face, point).map(|normal| {
                let above = other - point;
                if normal.dot(above) < 0.0 { -normal } else { normal }
            }),
            None => self.round_normal(side, point),
        };
        direction.or_else(|| unit(other - own)).unwrap_or(DVec3::Z)
    }

    /// The outward normal of a round shape at a point. Two spheres push along the line of their
    /// centres.
    fn round_normal(&self, side: usize, point: DVec3) -> Option<DVec3> {
        let (round, with_triangles) = match (&self.0, side) {
            (Meeting::RoundFirst(round, _), 0) | (Meeting::RoundSecond(_, round), 1) => {
                (round, true)
            }
            (Meeting::Rounds(round, _), 0) | (Meeting::Rounds(_, round), 1) => (round, false),
            _ => return None,
        };
        match round.as_sphere() {
            Some(_) if !with_triangles => None,
            Some(sphere) => unit(point - sphere.centre),
            None => round.normal_at(point),
        }
    }

    /// The first (0) or second (1) shape, if it is made of triangles.
    fn triangles(&self, side: usize) -> Option<PosedModel<'_>> {
        match (&self.0, side) {
            (Meeting::Models(pair), 0) => Some(PosedModel::new(pair.a, &pair.pose_a)),
            (Meeting::Models(pair), _) => Some(PosedModel::new(pair.b, &pair.pose_b)),
            (Meeting::Cuboids(pair), _) => Some(pair.triangles[side].posed()),
            (Meeting::RoundFirst(_, triangles), 1) | (Meeting::RoundSecond(triangles, _), 0) => {
                Some(triangles.posed())
            }
            _ => None,
        }
    }

    /// The middle of each shape, in the world.
    fn centres(&self) -> [DVec3; 2] {
        // The middle of a cuboid is the zero of its mesh, so it is the translation of its pose.
        match &self.0 {
            Meeting::Rounds(a, b) => [a.centre, b.centre],
            Meeting::RoundFirst(a, b) => [a.centre, b.posed().centre()],
            Meeting::RoundSecond(a, b) => [a.posed().centre(), b.centre],
            Meeting::Cuboids(pair) => pair.triangles.map(|triangles| triangles.posed().centre()),
            Meeting::Models(pair) => pair.posed().map(|posed| posed.centre()),
        }
    }

    /// The translations of both poses.
    fn origins(&self) -> [DVec3; 2] {
        match &self.0 {
            Meeting::Rounds(a, b) => [a.centre, b.centre],
            Meeting::RoundFirst(a, b) => [a.centre, b.pose.translation()],
            Meeting::RoundSecond(a, b) => [a.pose.translation(), b.centre],
            Meeting::Cuboids(pair) => pair.triangles.map(|triangles| triangles.pose.translation()),
            Meeting::Models(pair) => [pair.pose_a.translation(), pair.pose_b.translation()],
        }
    }
}

/// One of the normals if the direction is close to it, or else the direction.
pub(super) fn snapped(direction: DVec3, normals: &[DVec3; 2]) -> DVec3 {
    let close = normals.iter().find(|normal| normal.cross(direction).length() < SNAP);
    // The side of the face that is outside follows from the points, not from the face.
    close.map_or(direction, |&n| if n.dot(direction) < 0.0 { -n } else { n })
}
