//! Shapes (stand-in until the real ones are merged).
#![allow(missing_docs, dead_code, clippy::all)]
use crate::Aabb;
use glam::DVec3;
use jostle_geom::*;
use std::sync::Arc;
#[derive(Clone, Debug)]
pub struct Shape(Arc<Model>);
#[non_exhaustive]
pub enum ShapeKind<'a> {
    Mesh(&'a Arc<Model>),
    Sphere { radius: f64 },
}
impl Shape {
    pub fn mesh(m: impl Into<Arc<Model>>) -> Shape {
        Shape(m.into())
    }
    pub fn sphere(r: f64) -> Result<Shape, solids::SolidError> {
        Ok(Shape(Arc::new(Model::build(solids::sphere(r, r * 0.1)?, Quality::Fast))))
    }
    pub fn cuboid(s: DVec3) -> Result<Shape, solids::SolidError> {
        Ok(Shape(Arc::new(Model::build(solids::cuboid(s)?, Quality::Fast))))
    }
    pub fn kind(&self) -> ShapeKind<'_> {
        ShapeKind::Mesh(&self.0)
    }
    pub fn radius(&self) -> f64 {
        10.0
    }
    pub fn is_empty(&self) -> bool {
        false
    }
    pub fn bounds(&self, pose: &Pose) -> Option<Aabb> {
        let mut v = self
            .0
            .mesh()
            .vertices()
            .iter()
            .map(|&v| pose.place(v))
            .map(|p| Aabb::around_wide(p, p));
        let f = v.next()?;
        Some(v.fold(f, |a, b| a.union(&b)))
    }
}
pub struct ShapePair<'a>(Pair<'a>);
impl<'a> ShapePair<'a> {
    pub fn new(a: &'a Shape, pa: &Pose, b: &'a Shape, pb: &Pose) -> Self {
        ShapePair(Pair::new(&a.0, pa, &b.0, pb))
    }
    pub fn touches(&self) -> bool {
        self.0.touches()
    }
    pub fn witness(&self) -> Option<Witness> {
        self.0.witness()
    }
    pub fn all_pairs(&self) -> Vec<FacePair> {
        self.0.all_pairs()
    }
    pub fn distance(&self) -> Option<Distance> {
        self.0.distance()
    }
    pub fn within(&self, d: f64) -> bool {
        self.0.within(d)
    }
    pub fn distance_lower_bound(&self) -> f64 {
        self.0.distance_lower_bound()
    }
    pub fn model_pair(&self) -> Option<Pair<'a>> {
        Some(self.0)
    }
    pub fn contact_normal(&self, _w: &Witness) -> DVec3 {
        DVec3::X
    }
}
