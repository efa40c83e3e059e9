//! The contacts of two shapes: few points that say where and along which normals they are in each
//! other's way, how far apart they are there, or how deep in each other.
//!
//! Near pairs of triangles ([`Pair::near`]) are many and most say nothing new. `manifold.rs` in
//! this folder keeps those that matter.
//!
//! **Sides.** Where there is a gap, the closest points show on which side each shape is: that holds
//! for surfaces as for solids, and without knowing where the shapes come from. Where they touch, a
//! plane through one of the triangles, or through an edge of both, has them on different sides, by
//! exact signs; faces in one plane look at the insides of solids, exactly too (`side.rs`). What
//! none of these decides is an error and not a guess.
//!
//! **Depth.** Two solids that overlap have no closest points, and the depth of one pair of
//! triangles shrinks with the triangles. So they are taken apart first, by the same search as for
//! [`Pair::separation`], looked at there, where all sides are known, and put back: each gap then is
//! smaller by what the move opened it.

use super::depth::short_way;
use super::models::ModelPair;
use super::side::unit;
use super::{FacePair, Meeting, Pair, Relation, manifold, models_of, relation};
use crate::Side;
use crate::shape::round::PosedRound;
use crate::shape::sphere::{PosedSphere, PosedTriangles, SphereGap};
use glam::DVec3;

/// A move that is just long enough is lengthened by this part of all lengths involved, so that the
/// closest points then show directions, and by eight times as much until nothing touches. What it
/// is too long by is a gap there, which depths are measured from.
const MARGIN: f64 = 1e-9;

/// How often that is tried: up to a thousandth of all lengths.
const MARGINS: i32 = 7;

/// Where two shapes are in each other's way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    /// The contacts, the closest or deepest first.
    pub points: Vec<ContactPoint>,
    /// For meshes and cuboids that overlap: a move of the first shape after which the two do not
    /// overlap, and do not touch unless it leads along a surface of the other. The shortest one if
    /// both are convex; otherwise there may be shorter ones, which [`Pair::separation`] bounds.
    /// Depths are about this move. A sphere has none: each of its depths is about the closest point
    /// of the other alone.
    pub way_out: Option<DVec3>,
}

/// A point of each of two shapes, and the direction in which they cannot approach there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// The faces that the points lie on.
    pub faces: FacePair,
    /// From the second shape towards the first, of length 1.
    pub normal: DVec3,
    /// A point of each, in the world.
    pub points: [DVec3; 2],
    /// How far apart the two are here.
    pub spacing: Spacing,
}

/// How far apart two shapes are at a contact, along its normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spacing {
    /// They are this far apart.
    Gap(f64),
    /// They touch, exactly.
    Touching,
    /// They are this deep in each other: so much of [`Contacts::way_out`], measured along the
    /// normal, takes them apart here. For a sphere, how far it reaches beyond the closest point.
    Depth(f64),
}

/// Why there are no contacts.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContactsError {
    /// The reach is no distance.
    #[error("a reach must be a number from 0 on, found {0}")]
    Reach(f64),
    /// They pass through each other, and a surface has no depth.
    #[error(
        "the shapes pass through each other, and only solids have a depth: both meshes must have \
         passed Mesh::into_solid"
    )]
    NoDepth,
    /// Two faces lie in one plane, and nothing shows on which side of it the shapes are.
    #[error(
        "faces {} and {} lie in one plane, and nothing shows on which side each shape is: a mesh \
         that passed Mesh::into_solid would",
        .faces.a, .faces.b
    )]
    UnknownSide {
        /// The faces.
        faces: FacePair,
    },
    /// No move was found that takes them apart, at the end of the range of poses.
    #[error("the solids overlap, and no pose was found in which they do not")]
    NoWayOut,
    /// A capsule, a cylinder or a cone.
    #[error(
        "contacts are found for spheres and for what is made of triangles, not for capsules, \
         cylinders and cones: solids::capsule and others make meshes of these"
    )]
    Round,
}

impl Spacing {
    /// Along the normal; below 0 for a depth.
    #[must_use]
    pub fn along_normal(self) -> f64 {
        match self {
            Spacing::Gap(gap) => gap,
            Spacing::Touching => 0.0,
            Spacing::Depth(depth) => -depth,
        }
    }

    pub(super) fn of(along: f64) -> Spacing {
        if along > 0.0 { Spacing::Gap(along) } else { Spacing::Depth(-along) }
    }
}

impl Pair<'_> {
    /// Where the two are in each other's way, or closer than `reach`: few points that keep the
    /// nearest, and the extremes of what is nearly flat.
    ///
    /// Contacts are where no move along the surfaces leads closer, and of triangles that are
    /// parallel but for 5°, also the corners of what one of them covers of the other. Of contacts
    /// with the same normal and in one plane, each but for 5°, those are kept that lie furthest out
    /// in eight directions, and the nearest. The order depends on the meshes and poses alone.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, Pair, Pose, Quality, Spacing, solids};
    ///
    /// let cube = Model::build(solids::cuboid(DVec3::ONE)?.into_solid()?, Quality::Default);
    /// let plate = solids::cuboid(DVec3::new(9.0, 9.0, 1.0))?.into_solid()?;
    /// let plate = Model::build(plate, Quality::Default);
    /// let spacings = |z: f64| {
    ///     let pose = Pose::from_translation(DVec3::Z * z)?;
    ///     let contacts = Pair::new(&cube, &pose, &plate, &Pose::IDENTITY).contacts(0.5)?;
    ///     assert!(contacts.points.iter().all(|contact| contact.normal == DVec3::Z));
    ///     Ok::<_, Box<dyn std::error::Error>>(contacts.points.iter().map(|c| c.spacing).collect())
    /// };
    /// let at_four_corners = |spacing| -> Vec<Spacing> { vec![spacing; 4] };
    /// assert_eq!(spacings(1.25)?, at_four_corners(Spacing::Gap(0.25)));
    /// assert_eq!(spacings(1.0)?, at_four_corners(Spacing::Touching));
    /// let deep: Vec<Spacing> = spacings(0.75)?;
    /// assert!(deep.len() == 4 && deep.iter().all(|s| (s.along_normal() + 0.25).abs() < 1e-12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A reach below 0 or NaN; shapes that pass through each other of which one is a surface; faces
    /// in one plane of which nothing shows the sides; a capsule, cylinder or cone.
    pub fn contacts(&self, reach: f64) -> Result<Contacts, ContactsError> {
        if reach.is_nan() || reach < 0.0 {
            return Err(ContactsError::Reach(reach));
        }
        match &self.0 {
            Meeting::Models(models) => models.contacts(reach),
            Meeting::Cuboids(cuboids) if cuboids.are_beyond(reach) => Ok(Contacts::default()),
            Meeting::Cuboids(cuboids) => models_of(cuboids).contacts(reach),
            Meeting::RoundFirst(round, other) => {
                let points = contacts_of_sphere(&sphere(round)?, other, reach)?;
                Ok(Contacts { points, way_out: None })
            }
            Meeting::RoundSecond(other, round) => {
                let points = contacts_of_sphere(&sphere(round)?, other, reach)?.into_iter();
                let points = points.map(ContactPoint::exchanged).collect();
                Ok(Contacts { points, way_out: None })
            }
            Meeting::Rounds(a, b) => Ok(contacts_of_spheres(&sphere(a)?, &sphere(b)?, reach)),
        }
    }
}

impl ModelPair<'_> {
    fn contacts(&self, reach: f64) -> Result<Contacts, ContactsError> {
        if !self.pass_through()? {
            let near = self.near_triangles(reach);
            let points = manifold::contacts(self, &near, reach, DVec3::ZERO)?;
            return Ok(Contacts { points, way_out: None });
        }
        let (apart, way) = self.taken_apart().ok_or(ContactsError::NoWayOut)?;
        let near = apart.near_before(way, reach);
        let points = manifold::contacts(&apart, &near, reach, way)?;
        Ok(Contacts { points, way_out: Some(way) })
    }

    /// The pair with the first of two overlapping solids moved so that they do not overlap, and
    /// that move; `None` if none was found.
    fn taken_apart(&self) -> Option<(Self, DVec3)> {
        let way = -short_way(self)?;
        let direction = unit(way)?;
        let size = self.posed().map(|placed| placed.centre().length()).into_iter().sum::<f64>()
            + self.a.radius()
            + self.b.radius();
        let moved = |margin: f64| {
            let pose_a = self.pose_a.moved_by(direction * (way.length() + margin))?;
            let offset = pose_a.translation() - self.pose_a.translation();
            Some((ModelPair::new(self.a, &pose_a, self.b, &self.pose_b), offset))
        };
        let margins = (0..MARGINS).map(|i| MARGIN * size * 8f64.powi(i));
        let free = margins.clone().filter_map(moved).find(|(there, _)| !there.touches().0);
        // A move along a surface never leaves it.
        let is_free = |there: &Self| relation::overlaps(there) == Ok(false);
        free.or_else(|| margins.filter_map(moved).find(|(there, _)| is_free(there)))
    }

    /// Do the insides of two solids overlap? An error for shapes that pass through each other and
    /// are not both solid.
    fn pass_through(&self) -> Result<bool, ContactsError> {
        if !self.touches().0 {
            return Ok(false);
        }
        if self.a.mesh.is_solid() && self.b.mesh.is_solid() {
            return relation::overlaps(self).map_err(|_| ContactsError::NoDepth);
        }
        match relation::relation(self) {
            Relation::Apart | Relation::Touching | Relation::Identical => Ok(false),
            Relation::Crossing | Relation::AInsideB | Relation::BInsideA => {
                Err(ContactsError::NoDepth)
            }
        }
    }
}

/// Other round shapes have no contacts yet.
fn sphere(round: &PosedRound) -> Result<PosedSphere, ContactsError> {
    round.as_sphere().ok_or(ContactsError::Round)
}

/// Concentric spheres part in any direction; they get that of the z axis.
fn contacts_of_spheres(a: &PosedSphere, b: &PosedSphere, reach: f64) -> Contacts {
    let between = a.centre - b.centre;
    let normal = unit(between).unwrap_or(DVec3::Z);
    let along = between.length() - (a.radius + b.radius);
    let points = [a.centre - normal * a.radius, b.centre + normal * b.radius];
    let spacing = match a.gap(b).distance {
        gap if gap > 0.0 => Spacing::Gap(gap),
        _ if along < 0.0 => Spacing::Depth(-along),
        _ => Spacing::Touching,
    };
    if spacing.along_normal() > reach {
        return Contacts::default();
    }
    let contact = ContactPoint { faces: FacePair { a: 0, b: 0 }, normal, points, spacing };
    Contacts { points: vec![contact], way_out: None }
}

/// A sphere, which is the first shape, against triangles. Faces whose closest points are on an edge
/// to a closer face say nothing new, nor do those that lie in the same direction.
fn contacts_of_sphere(
    sphere: &PosedSphere,
    other: &PosedTriangles<'_>,
    reach: f64,
) -> Result<Vec<ContactPoint>, ContactsError> {
    let posed = other.posed();
    let centre = sphere.centre;
    if posed.contains(centre) == Ok(Side::Inside) {
        let closest = posed.closest_point(centre, f64::INFINITY);
        let normal = closest.and_then(|closest| unit(closest.point - centre));
        let (Some(closest), Some(normal)) = (closest, normal) else { return Ok(Vec::new()) };
        let depth = Spacing::Depth(closest.distance + sphere.radius);
        return Ok(vec![sphere_contact(sphere, normal, closest.point, closest.face, depth)]);
    }
    let far = |gap: &SphereGap| gap.on_other.distance(centre);
    let mut gaps = other.gaps(sphere, reach);
    gaps.sort_by(|p, q| far(p).total_cmp(&far(q)).then(p.face.cmp(&q.face)));
    let mut found: Vec<ContactPoint> = Vec::new();
    for gap in gaps {
        let away = far(&gap);
        let Some(normal) = unit(centre - gap.on_other) else {
            // The centre is on the surface: to either side it is as far.
            return Err(ContactsError::NoDepth);
        };
        let slack = 1e-12 * (away + gap.on_other.abs().max_element());
        let is_new = found.iter().all(|contact| contact.normal.dot(normal) < manifold::SAME_WAY);
        if is_new && !posed.leads_closer(gap.on_other, slack, centre, away - slack) {
            let spacing = match gap.distance {
                distance if distance > 0.0 => Spacing::Gap(distance),
                _ if away < sphere.radius => Spacing::Depth(sphere.radius - away),
                _ => Spacing::Touching,
            };
            found.push(sphere_contact(sphere, normal, gap.on_other, gap.face, spacing));
        }
    }
    Ok(found)
}

fn sphere_contact(
    sphere: &PosedSphere,
    normal: DVec3,
    on_other: DVec3,
    face: u32,
    spacing: Spacing,
) -> ContactPoint {
    let points = [sphere.centre - normal * sphere.radius, on_other];
    ContactPoint { faces: FacePair { a: 0, b: face }, normal, points, spacing }
}

impl ContactPoint {
    /// The same with the shapes exchanged.
    fn exchanged(self) -> ContactPoint {
        let ContactPoint { faces, normal, points: [p, q], spacing } = self;
        let faces = FacePair { a: faces.b, b: faces.a };
        ContactPoint { faces, normal: -normal, points: [q, p], spacing }
    }
}
