//! Testing, and reports of collisions.

use super::{Database, Placed, slot};
use crate::failure::Failure;
use crate::geometry::{Geometry, check_finite};
use crate::types::{
    col_clearing, col_collision, col_contact, col_face_pair, col_id, col_separation,
};
use jostle_geom::{DepthError, Pair, Pose};
use jostle_world::Contact;

impl Database {
    /// Finds all collisions, unless an object that takes part is unfinished: its answer would be
    /// about triangles that the caller has already changed.
    pub(crate) fn test(&mut self) -> Result<(), Failure> {
        if let Some(&id) = self.unfinished.iter().find(|&&id| self.takes_part(id)) {
            return Err(Failure::Unfinished(id));
        }
        self.world.step();
        for id in std::mem::take(&mut self.changed) {
            // It may be deleted by now.
            if let Ok(object) = self.object_mut(id) {
                object.tested = None;
            }
        }
        self.faces = None;
        let touching = self.world.contacts().iter().filter(|contact| contact.is_touching());
        let collision = |contact: &Contact| {
            let [id1, id2] = [contact.a, contact.b].map(|body| self.objects[slot(body)]);
            col_collision { id1, id2 }.ordered()
        };
        self.reported = touching.map(collision).collect();
        self.reported.sort_unstable();
        Ok(())
    }

    /// What the last test found, sorted.
    pub(crate) fn collisions(&self) -> &[col_collision] {
        &self.reported
    }

    /// The touching faces of a collision of the last test, as it saw them, sorted.
    pub(crate) fn faces(&mut self, pair: col_collision) -> Result<&[col_face_pair], Failure> {
        if self.reported.binary_search(&pair.ordered()).is_err() {
            // A wrong id is the more likely mistake, so it is named first.
            self.two_nodes(pair.id1, pair.id2)?;
            return Err(Failure::NotReported(pair.id1, pair.id2));
        }
        let [first, second] = [self.tested(pair.id1)?, self.tested(pair.id2)?];
        let known = self.faces.take().filter(|(of, _)| *of == pair);
        let known = known.unwrap_or_else(|| {
            let found = match (&first.geometry, &second.geometry) {
                (Some(a), Some(b)) => a.touching_faces(&first.pose, b, &second.pose),
                _ => Vec::new(),
            };
            (pair, found)
        });
        Ok(&self.faces.insert(known).1)
    }

    /// How an object was at the last test.
    fn tested(&self, id: col_id) -> Result<Placed, Failure> {
        let object = self.object(id)?;
        match &object.tested {
            Some(placed) => Ok(Placed::clone(placed)),
            None => {
                let pose = self.world.pose(object.body)?;
                Ok(Placed { geometry: object.geometry.clone(), pose })
            }
        }
    }

    /// A distance that two objects are not closer than where they are now; infinite if one has no
    /// triangles.
    pub(crate) fn distance_lower_bound(&self, a: col_id, b: col_id) -> Result<f64, Failure> {
        let Some([(one, pose_one), (other, pose_other)]) = self.finished(a, b)? else {
            return Ok(f64::INFINITY);
        };
        let pair = Pair::new(&one.model, &pose_one, &other.model, &pose_other);
        Ok(pair.distance_lower_bound())
    }

    /// Where two objects touch or are closer than `reach`, as they are now.
    pub(crate) fn contacts(
        &self,
        a: col_id,
        b: col_id,
        reach: f64,
    ) -> Result<Vec<col_contact>, Failure> {
        check_finite("the reach", &[reach])?;
        let Some([(one, pose_one), (other, pose_other)]) = self.finished(a, b)? else {
            return Ok(Vec::new());
        };
        let found = one.contacts(&pose_one, other, &pose_other, reach);
        found.map_err(|error| Failure::NoContacts(a, b, error))
    }

    /// Do the insides of two objects share a point, where they are now?
    pub(crate) fn overlaps(&self, a: col_id, b: col_id) -> Result<bool, Failure> {
        let ask = |[(one, pose), (other, other_pose)]: [(&Geometry, Pose); 2]| {
            one.overlaps(&pose, other, &other_pose)
        };
        self.depth(a, b, ask)
    }

    /// How far the second object must move so that they do not overlap.
    pub(crate) fn separation(&self, a: col_id, b: col_id) -> Result<col_separation, Failure> {
        let ask = |[(one, pose), (other, other_pose)]: [(&Geometry, Pose); 2]| {
            one.separation(&pose, other, &other_pose)
        };
        self.depth(a, b, ask)
    }

    /// How far the second object must move along a direction so that they do not overlap.
    pub(crate) fn clearing(
        &self,
        a: col_id,
        b: col_id,
        direction: [f64; 3],
    ) -> Result<col_clearing, Failure> {
        check_finite("the direction", &direction)?;
        let ask = |[(one, pose), (other, other_pose)]: [(&Geometry, Pose); 2]| {
            one.clearing(&pose, other, &other_pose, direction)
        };
        self.depth(a, b, ask)
    }

    /// Asks two finished objects. What has no triangles overlaps nothing, and all answers are 0.
    fn depth<T: Default>(
        &self,
        a: col_id,
        b: col_id,
        ask: impl Fn([(&Geometry, Pose); 2]) -> Result<T, DepthError>,
    ) -> Result<T, Failure> {
        let Some(objects) = self.finished(a, b)? else { return Ok(T::default()) };
        ask(objects).map_err(|error| Failure::NoDepth(a, b, error))
    }

    /// Two finished objects and where they are now; `None` if one has no triangles.
    fn finished(&self, a: col_id, b: col_id) -> Result<Option<[(&Geometry, Pose); 2]>, Failure> {
        let [first, second] = [self.object(a)?, self.object(b)?];
        if a == b {
            return Err(Failure::Same(a));
        }
        for (id, object) in [(a, first), (b, second)] {
            if !object.draft.is_empty() {
                return Err(Failure::Unfinished(id));
            }
        }
        let (Some(one), Some(other)) = (&first.geometry, &second.geometry) else {
            return Ok(None);
        };
        let [pose_one, pose_other] = [self.world.pose(first.body)?, self.world.pose(second.body)?];
        Ok(Some([(one, pose_one), (other, pose_other)]))
    }
}

impl col_collision {
    /// With the smaller id first, as in reports.
    fn ordered(self) -> col_collision {
        col_collision { id1: self.id1.min(self.id2), id2: self.id1.max(self.id2) }
    }
}
