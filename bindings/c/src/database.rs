//! V-COLLIDE's collision detection database: objects and switches by id, over a [`World`].
//!
//! An object is a body of the world from its creation on; without triangles its mesh is empty and
//! collides with nothing. Activation, pairs and switches are kept here as the caller
//! set them, and the world gets what follows from them.

mod report;
mod switches;

use crate::failure::Failure;
use crate::geometry::{Draft, Geometry, check_finite};
use crate::slots::Slots;
use crate::types::{col_collision, col_face_pair, col_id, col_round};
use glam::DVec3;
use jostle_geom::{Mesh, Model, Pose, Quality, Shape, solids};
use jostle_world::{Body, BodyId, Settings, World};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(crate) struct Database {
    world: World,
    nodes: Slots<Node>,
    /// By slot of the body: which object it is.
    objects: Vec<col_id>,
    /// Objects with triangles that are not part of their hierarchy yet.
    unfinished: BTreeSet<col_id>,
    /// For spheres, cylinders and cones.
    tolerance: Option<f64>,
    /// The shape of objects without triangles.
    empty: Shape,
    /// Found by the last test, sorted.
    reported: Vec<col_collision>,
    /// The faces that were asked for last, kept because C asks twice: for their number, then for
    /// them.
    faces: Option<(col_collision, Vec<col_face_pair>)>,
    /// Objects with [`Object::tested`], and some that are deleted since.
    changed: Vec<col_id>,
}

/// An object or a switch.
#[derive(Debug)]
struct Node {
    /// A switch.
    parent: Option<col_id>,
    /// Not deactivated by the caller.
    active: bool,
    /// Others that the caller does not want it to be tested with; they list this one too.
    ignored: BTreeSet<col_id>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Object(Object),
    Switch(Switch),
}

#[derive(Debug)]
struct Object {
    body: BodyId,
    geometry: Option<Geometry>,
    draft: Draft,
    /// The object in the last test, if it has changed since. Faces are reported for that test.
    tested: Option<Box<Placed>>,
}

#[derive(Clone, Debug)]
struct Placed {
    geometry: Option<Geometry>,
    pose: Pose,
}

#[derive(Debug, Default)]
struct Switch {
    children: Vec<col_id>,
    /// One of the children, or none.
    chosen: Option<col_id>,
}

impl Database {
    pub(crate) fn new() -> Result<Database, Failure> {
        let empty = Model::build(Mesh::from_triangles(Vec::new(), Vec::new())?, Quality::Fast);
        Ok(Database {
            world: World::new(Settings::default()),
            nodes: Slots::default(),
            objects: Vec::new(),
            unfinished: BTreeSet::new(),
            tolerance: None,
            empty: Shape::mesh(empty),
            reported: Vec::new(),
            faces: None,
            changed: Vec::new(),
        })
    }

    pub(crate) fn create_object(&mut self) -> Result<col_id, Failure> {
        let body = self.world.insert(Body::moving(self.empty.clone(), Pose::IDENTITY))?;
        let object = Object { body, geometry: None, draft: Draft::default(), tested: None };
        let id = self.insert(Kind::Object(object))?;
        let slot = slot(body);
        if self.objects.len() <= slot {
            self.objects.resize(slot + 1, 0);
        }
        self.objects[slot] = id;
        Ok(id)
    }

    fn insert(&mut self, kind: Kind) -> Result<col_id, Failure> {
        let ignored = BTreeSet::new();
        self.nodes.insert(Node { parent: None, active: true, ignored, kind })
    }

    pub(crate) fn add_triangle(
        &mut self,
        id: col_id,
        corners: &[f64; 9],
        face: u32,
    ) -> Result<(), Failure> {
        self.room_for(id, 1)?.push(corners, face)?;
        self.unfinished.insert(id);
        Ok(())
    }

    pub(crate) fn set_tolerance(&mut self, tolerance: f64) -> Result<(), Failure> {
        check_finite("the tolerance", &[tolerance])?;
        if tolerance <= 0.0 {
            return Err(Failure::BadTolerance(tolerance));
        }
        self.tolerance = Some(tolerance);
        Ok(())
    }

    pub(crate) fn add_sphere(
        &mut self,
        id: col_id,
        centre: [f64; 3],
        radius: f64,
        face: u32,
    ) -> Result<(), Failure> {
        self.object(id)?;
        let tolerance = self.tolerance.ok_or(Failure::NoTolerance)?;
        self.add(id, Draft::sphere(centre, radius, tolerance, face)?)
    }

    pub(crate) fn add_cylinder(&mut self, id: col_id, shape: &col_round) -> Result<(), Failure> {
        self.object(id)?;
        let tolerance = self.tolerance.ok_or(Failure::NoTolerance)?;
        self.add(id, Draft::round(shape, tolerance, solids::cylinder)?)
    }

    pub(crate) fn add_cone(&mut self, id: col_id, shape: &col_round) -> Result<(), Failure> {
        self.object(id)?;
        let tolerance = self.tolerance.ok_or(Failure::NoTolerance)?;
        self.add(id, Draft::round(shape, tolerance, solids::cone)?)
    }

    fn add(&mut self, id: col_id, draft: Draft) -> Result<(), Failure> {
        self.room_for(id, draft.len())?.join(draft);
        self.unfinished.insert(id);
        Ok(())
    }

    /// The draft of an object, if that many triangles more can be numbered.
    fn room_for(&mut self, id: col_id, triangles: usize) -> Result<&mut Draft, Failure> {
        let object = self.object_mut(id)?;
        let built = object.geometry.as_ref().map_or(0, Geometry::triangle_count);
        let most = Mesh::TRIANGLES_MAX;
        if built + object.draft.len() + triangles > most {
            return Err(Failure::TooMany { what: "triangles", most });
        }
        Ok(&mut object.draft)
    }

    pub(crate) fn finish_object(&mut self, id: col_id) -> Result<(), Failure> {
        let object = self.object(id)?;
        if object.draft.is_empty() {
            return Ok(());
        }
        let geometry = Geometry::build(object.geometry.as_ref(), &object.draft)?;
        self.replace_geometry(id, Some(geometry))
    }

    pub(crate) fn clear_object(&mut self, id: col_id) -> Result<(), Failure> {
        self.replace_geometry(id, None)
    }

    /// Gives an object other geometry. Its draft is then used up.
    fn replace_geometry(&mut self, id: col_id, geometry: Option<Geometry>) -> Result<(), Failure> {
        self.remember_tested(id)?;
        let shape = match &geometry {
            Some(geometry) => Shape::mesh(geometry.model.clone()),
            None => self.empty.clone(),
        };
        let object = self.object_mut(id)?;
        object.draft.clear();
        object.geometry = geometry;
        let body = object.body;
        self.unfinished.remove(&id);
        Ok(self.world.set_shape(body, shape)?)
    }

    pub(crate) fn update_transform(
        &mut self,
        id: col_id,
        transform: &[f64; 16],
    ) -> Result<(), Failure> {
        let body = self.object(id)?.body;
        check_finite("the transform", transform)?;
        let row = |at: usize| DVec3::from_slice(&transform[4 * at..]);
        let last = [transform[12], transform[13], transform[14], transform[15]];
        if last != [0.0, 0.0, 0.0, 1.0] {
            return Err(Failure::LastRow(last));
        }
        let translation = DVec3::new(transform[3], transform[7], transform[11]);
        let pose = Pose::from_rows([row(0), row(1), row(2)], translation)?;
        self.remember_tested(id)?;
        Ok(self.world.set_pose(body, pose)?)
    }

    /// Deletes an object or a switch. The children of a switch stay.
    pub(crate) fn delete(&mut self, id: col_id) -> Result<(), Failure> {
        let node = self.nodes.get(id)?;
        let others: Vec<col_id> = node.ignored.iter().copied().collect();
        if let Kind::Switch(switch) = &node.kind {
            for child in switch.children.clone() {
                self.set_parent(child, None)?;
            }
        }
        self.set_parent(id, None)?;
        for other in others {
            self.activate_pair(id, other)?;
        }
        if let Kind::Object(object) = self.nodes.remove(id)?.kind {
            self.world.remove(object.body)?;
        }
        self.unfinished.remove(&id);
        // Objects that are created and deleted without a test must not fill the memory.
        if self.changed.len() > 2 * self.nodes.len() {
            self.changed.retain(|&id| self.nodes.get(id).is_ok());
        }
        Ok(())
    }

    /// Keeps the object of the last test before it changes.
    fn remember_tested(&mut self, id: col_id) -> Result<(), Failure> {
        let Database { world, nodes, changed, .. } = self;
        let object = nodes.get_mut(id)?.object_mut(id)?;
        if object.tested.is_none() {
            let pose = world.pose(object.body)?;
            object.tested = Some(Box::new(Placed { geometry: object.geometry.clone(), pose }));
            changed.push(id);
        }
        Ok(())
    }

    fn object(&self, id: col_id) -> Result<&Object, Failure> {
        match &self.nodes.get(id)?.kind {
            Kind::Object(object) => Ok(object),
            Kind::Switch(_) => Err(Failure::NotAnObject(id)),
        }
    }

    fn object_mut(&mut self, id: col_id) -> Result<&mut Object, Failure> {
        self.nodes.get_mut(id)?.object_mut(id)
    }
}

impl Node {
    fn object_mut(&mut self, id: col_id) -> Result<&mut Object, Failure> {
        match &mut self.kind {
            Kind::Object(object) => Ok(object),
            Kind::Switch(_) => Err(Failure::NotAnObject(id)),
        }
    }
}

fn slot(body: BodyId) -> usize {
    body.to_parts()[0] as usize
}
