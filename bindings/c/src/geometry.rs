//! The triangles of an object: collected one by one, then built into a hierarchy.

use crate::failure::Failure;
use crate::types::{col_clearing, col_contact, col_face_pair, col_round, col_separation};
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{
    ContactPoint, ContactsError, DepthError, Effort, Mesh, Model, Pair, Pose, Quality, solids,
};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Coordinates may be this large. Together with the largest translation they stay far below the
/// largest `f32`, so that boxes can be made of them.
pub(crate) const COORDINATE_MAX: f64 = solids::DIMENSION_MAX;

/// Triangles that were added and are not part of the hierarchy yet.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    triangles: Vec<[Vec3; 3]>,
    /// The caller's number for each triangle.
    faces: Vec<u32>,
}

/// What an object is made of. Shared, so that it is cheap to keep.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub(crate) model: Arc<Model>,
    /// The caller's number for each face of the model.
    faces: Arc<[u32]>,
    /// The model as a solid, if it is closed; made when it is first asked for.
    solid: Arc<OnceLock<Option<Model>>>,
}

impl Draft {
    pub(crate) fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.triangles.len()
    }

    pub(crate) fn clear(&mut self) {
        *self = Draft::default();
    }

    pub(crate) fn push(&mut self, corners: &[f64; 9], face: u32) -> Result<(), Failure> {
        check("the triangle", corners)?;
        let [ax, ay, az, bx, by, bz, cx, cy, cz] = corners.map(|x| x as f32);
        self.triangles.push([Vec3::new(ax, ay, az), Vec3::new(bx, by, bz), Vec3::new(cx, cy, cz)]);
        self.faces.push(face);
        Ok(())
    }

    /// The triangles of a mesh, turned and then moved to `centre`, as one face.
    fn append(&mut self, mesh: &Mesh, rotation: DQuat, centre: DVec3, face: u32) {
        let place = |vertex: u32| {
            (rotation * mesh.vertices()[vertex as usize].as_dvec3() + centre).as_vec3()
        };
        self.triangles.extend(mesh.triangles().iter().map(|corners| corners.map(place)));
        self.faces.resize(self.triangles.len(), face);
    }

    /// A draft of nothing but a sphere.
    pub(crate) fn sphere(
        centre: [f64; 3],
        radius: f64,
        tolerance: f64,
        face: u32,
    ) -> Result<Draft, Failure> {
        check("the centre", &centre)?;
        check("the radius", &[radius])?;
        let centre = DVec3::from_array(centre);
        let mesh = solids::sphere(radius, left_of(tolerance, centre, radius)?)?;
        let mut draft = Draft::default();
        draft.append(&mesh, DQuat::IDENTITY, centre, face);
        Ok(draft)
    }

    /// A draft of nothing but a cylinder or cone; `solid` makes it of radius, height and
    /// tolerance, along z around the origin.
    pub(crate) fn round(
        round: &col_round,
        tolerance: f64,
        solid: fn(f64, f64, f64) -> Result<Mesh, solids::SolidError>,
    ) -> Result<Draft, Failure> {
        check("the centre", &round.centre)?;
        check("the axis", &round.axis)?;
        check("the radius", &[round.radius])?;
        let [centre, axis] = [round.centre, round.axis].map(DVec3::from_array);
        let height = axis.length();
        let reach = round.radius.hypot(0.5 * height);
        let mesh = solid(round.radius, height, left_of(tolerance, centre, reach)?)?;
        // The solid was made, so the height is no less than `DIMENSION_MIN` and divides well.
        let rotation = DQuat::from_rotation_arc(DVec3::Z, axis / height);
        let mut draft = Draft::default();
        draft.append(&mesh, rotation, centre, round.face);
        Ok(draft)
    }

    pub(crate) fn join(&mut self, other: Draft) {
        self.triangles.extend(other.triangles);
        self.faces.extend(other.faces);
    }
}

impl Geometry {
    /// The triangles of `before` and those of a draft, with a new hierarchy.
    pub(crate) fn build(before: Option<&Geometry>, draft: &Draft) -> Result<Geometry, Failure> {
        let mut welder = Welder::default();
        let mut faces = Vec::new();
        if let Some(Geometry { model, faces: numbers, .. }) = before {
            let mesh = model.mesh();
            // The hierarchy changed the order; face numbers are the order in which they were added.
            let mut order = vec![[0; 3]; mesh.triangle_count()];
            for (at, &corners) in mesh.triangles().iter().enumerate() {
                order[mesh.face_of(at as u32) as usize] = corners;
            }
            let place = |vertex: u32| mesh.vertices()[vertex as usize];
            order.into_iter().for_each(|corners| welder.push(corners.map(place)));
            faces.extend_from_slice(numbers);
        }
        draft.triangles.iter().for_each(|&corners| welder.push(corners));
        faces.extend_from_slice(&draft.faces);
        let mesh = Mesh::from_triangles(welder.vertices, welder.triangles)?;
        let model = Arc::new(Model::build(mesh, Quality::Default));
        Ok(Geometry { model, faces: faces.into(), solid: Arc::default() })
    }

    pub(crate) fn triangle_count(&self) -> usize {
        self.model.mesh().triangle_count()
    }

    /// A solid if it is closed, as depths need it.
    fn solid(&self) -> &Model {
        let made = self.solid.get_or_init(|| Model::clone(&self.model).into_solid().ok());
        made.as_ref().unwrap_or(&self.model)
    }

    /// Where two objects touch or are closer than `reach`.
    pub(crate) fn contacts(
        &self,
        pose: &Pose,
        other: &Geometry,
        other_pose: &Pose,
        reach: f64,
    ) -> Result<Vec<col_contact>, ContactsError> {
        let found = self.solids(pose, other, other_pose).contacts(reach)?;
        let contact = |contact: &ContactPoint| col_contact {
            face1: self.faces[contact.faces.a as usize],
            face2: other.faces[contact.faces.b as usize],
            normal: contact.normal.to_array(),
            point1: contact.points[0].to_array(),
            point2: contact.points[1].to_array(),
            gap: contact.spacing.along_normal(),
        };
        Ok(found.points.iter().map(contact).collect())
    }

    /// Both as solids, as far as they are closed.
    fn solids<'a>(&'a self, pose: &Pose, other: &'a Geometry, other_pose: &Pose) -> Pair<'a> {
        Pair::new(self.solid(), pose, other.solid(), other_pose)
    }

    /// Do the insides of two objects share a point?
    pub(crate) fn overlaps(
        &self,
        pose: &Pose,
        other: &Geometry,
        other_pose: &Pose,
    ) -> Result<bool, DepthError> {
        Ok(self.solids(pose, other, other_pose).overlaps()?)
    }

    /// How far the other object must move so that they do not overlap.
    pub(crate) fn separation(
        &self,
        pose: &Pose,
        other: &Geometry,
        other_pose: &Pose,
    ) -> Result<col_separation, DepthError> {
        let found = self.solids(pose, other, other_pose).separation(Effort::default())?;
        let (at_least, at_most) = (found.at_least, found.at_most);
        Ok(col_separation { at_least, at_most, way: found.way.to_array() })
    }

    /// How far the other object must move along a direction so that they do not overlap.
    pub(crate) fn clearing(
        &self,
        pose: &Pose,
        other: &Geometry,
        other_pose: &Pose,
        direction: [f64; 3],
    ) -> Result<col_clearing, DepthError> {
        let pair = self.solids(pose, other, other_pose);
        let found = pair.clearing(DVec3::from_array(direction))?;
        Ok(col_clearing { first: found.first, last: found.last })
    }

    /// The touching faces of two objects, by the caller's numbers, sorted.
    pub(crate) fn touching_faces(
        &self,
        pose: &Pose,
        other: &Geometry,
        other_pose: &Pose,
    ) -> Vec<col_face_pair> {
        let found = Pair::new(&self.model, pose, &other.model, other_pose).all_pairs();
        let number = |pair: jostle_geom::FacePair| col_face_pair {
            face1: self.faces[pair.a as usize],
            face2: other.faces[pair.b as usize],
        };
        let mut pairs: Vec<_> = found.into_iter().map(number).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// Gives corners in the same place the same number. Loose triangles would take twice the memory.
#[derive(Default)]
struct Welder {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Only looked up; vertices are numbered in the order in which they come.
    known: HashMap<[u32; 3], u32>,
}

impl Welder {
    fn push(&mut self, corners: [Vec3; 3]) {
        let triangle = corners.map(|corner| {
            // Adding zero makes one zero of the two.
            let bits = (corner + Vec3::ZERO).to_array().map(f32::to_bits);
            *self.known.entry(bits).or_insert_with(|| {
                self.vertices.push(corner);
                (self.vertices.len() - 1) as u32
            })
        });
        self.triangles.push(triangle);
    }
}

/// Refuses numbers that are not finite or too large.
fn check(what: &'static str, numbers: &[f64]) -> Result<(), Failure> {
    check_finite(what, numbers)?;
    match numbers.iter().find(|x| x.abs() > COORDINATE_MAX) {
        Some(&value) => Err(Failure::TooLarge { what, value }),
        None => Ok(()),
    }
}

/// Refuses numbers that are not finite.
pub(crate) fn check_finite(what: &'static str, numbers: &[f64]) -> Result<(), Failure> {
    match numbers.iter().find(|x| !x.is_finite()) {
        Some(&value) => Err(Failure::NotFinite { what, value }),
        None => Ok(()),
    }
}

/// What is left of the tolerance when a solid is moved: rounding each coordinate to `f32` moves a
/// vertex by up to √3 half units in the last place. 2^-23 of the largest coordinate is 15 % more,
/// which is room for the far smaller errors of turning in `f64`.
fn left_of(tolerance: f64, centre: DVec3, reach: f64) -> Result<f64, Failure> {
    let least = (centre.abs().max_element() + reach.abs()) * f64::from(f32::EPSILON);
    if tolerance > least {
        Ok(tolerance - least)
    } else {
        Err(Failure::TooPrecise { tolerance, least })
    }
}

#[cfg(test)]
mod tests;
