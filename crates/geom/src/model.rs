//! A mesh ready for queries: the mesh and its hierarchy.

mod bytes;
mod reach;

use crate::checksum::Checksum;
use crate::convex::{self, Hull};
use crate::mesh::{Mesh, MeshError, NotClosed};
use crate::pose::Pose;
use crate::posed_model::PosedModel;
use crate::tree::bytes::{self as tree_bytes, LoadHierarchyError, Loaded};
use crate::tree::{self, Tree};
pub use bytes::LoadModelError;
use glam::{DVec3, Vec3};
use reach::Reach;
use std::sync::OnceLock;

/// How much work goes into the hierarchy. The answers are the same for all three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// Quickest to build and refit: for geometry that changes often.
    Fast,
    /// Good for nearly everything.
    #[default]
    Default,
    /// The fastest queries, several times the build time.
    Tight,
}

/// A mesh with its hierarchy, ready for queries. Share it with `Arc<Model>`.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) mesh: Mesh,
    pub(crate) tree: Tree,
    quality: Quality,
    /// Computed at the first use, because many models never need it.
    reach: OnceLock<Reach>,
    /// Computed at the first use.
    hash: OnceLock<u64>,
    /// Decided at the first use.
    convex: OnceLock<bool>,
    /// Computed at the first use. Boxed, because hardly any model needs it.
    hull: OnceLock<Option<Box<Hull>>>,
    /// Decided at the first use.
    all_bound: OnceLock<bool>,
}

impl Model {
    fn new(mesh: Mesh, tree: Tree, quality: Quality) -> Model {
        Model {
            mesh,
            tree,
            quality,
            reach: OnceLock::new(),
            hash: OnceLock::new(),
            convex: OnceLock::new(),
            hull: OnceLock::new(),
            all_bound: OnceLock::new(),
        }
    }

    /// Builds the hierarchy of a mesh.
    #[must_use]
    pub fn build(mut mesh: Mesh, quality: Quality) -> Model {
        let (tree, order) = tree::build::build(&mesh.vertices, &mesh.triangles, quality);
        mesh.reorder(&order);
        Model::new(mesh, tree, quality)
    }

    /// The hierarchy as bytes, without the mesh. The format is described byte by byte in
    /// `docs/hierarchy-file.md`.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, Quality, solids};
    ///
    /// let mesh = solids::cuboid(DVec3::ONE)?;
    /// let bytes = Model::build(mesh.clone(), Quality::Default).hierarchy_to_bytes();
    /// let model = Model::hierarchy_from_bytes(mesh, &bytes)?;
    /// assert_eq!(model.hierarchy_to_bytes(), bytes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn hierarchy_to_bytes(&self) -> Vec<u8> {
        tree_bytes::write(&self.tree, &self.mesh, self.quality)
    }

    /// A mesh with the hierarchy that [`Model::hierarchy_to_bytes`] gave for it. The model is the
    /// same as the one that was saved.
    ///
    /// # Errors
    /// Bytes that are no saved hierarchy, damaged, cut short, of another mesh or of an earlier
    /// state of this one. Bytes are not trusted: every box is compared with the triangles that it
    /// must hold, so no bytes can lead to a wrong answer.
    pub fn hierarchy_from_bytes(mut mesh: Mesh, bytes: &[u8]) -> Result<Model, LoadHierarchyError> {
        let Loaded { tree, order, quality } = tree_bytes::read(&mesh, bytes)?;
        mesh.reorder(&order);
        Ok(Model::new(mesh, tree, quality))
    }

    /// Mesh and hierarchy as bytes: all that the model is, also after [`Model::refit`]. The format
    /// is described in `docs/model-file.md`.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, Quality, solids};
    ///
    /// let mesh = solids::cuboid(DVec3::ONE)?.into_solid()?;
    /// let model = Model::build(mesh, Quality::Default);
    /// let same = Model::from_bytes(&model.to_bytes())?;
    /// assert!(same.mesh().is_solid());
    /// assert_eq!(same.hash(), model.hash());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes::write(self)
    }

    /// The model that [`Model::to_bytes`] gave: the same to the bit, with the same answers now and
    /// after any change.
    ///
    /// # Errors
    /// Bytes that are no saved model, damaged or cut short. Bytes are not trusted: whatever they
    /// are, the memory that is asked for is a small multiple of their length, and a model that is
    /// accepted is one that could have been built.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, LoadModelError> {
        bytes::read(bytes)
    }

    /// A hash of all that the model is: of [`Model::to_bytes`]. The same on every platform;
    /// computed at the first use.
    #[must_use]
    pub fn hash(&self) -> u64 {
        *self.hash.get_or_init(|| Checksum::of(&self.to_bytes()))
    }

    /// As [`Model::hierarchy_from_bytes`], and where that fails, or without bytes, as
    /// [`Model::build`]. Also returns the error of the bytes. A hierarchy that was saved with
    /// another quality is taken as it is; [`Model::quality`] is then that one.
    #[must_use]
    pub fn hierarchy_from_bytes_or_build(
        mut mesh: Mesh,
        bytes: Option<&[u8]>,
        quality: Quality,
    ) -> (Model, Option<LoadHierarchyError>) {
        match bytes.map(|bytes| tree_bytes::read(&mesh, bytes)) {
            Some(Ok(Loaded { tree, order, quality })) => {
                mesh.reorder(&order);
                (Model::new(mesh, tree, quality), None)
            }
            Some(Err(error)) => (Model::build(mesh, quality), Some(error)),
            None => (Model::build(mesh, quality), None),
        }
    }

    /// Moves the vertices, given in the caller's order, and fits the boxes of the hierarchy to
    /// them. Many times faster than a new hierarchy, and as good while neighbours stay neighbours;
    /// after a large deformation [`Model::rebuild`] makes queries fast again.
    ///
    /// ```
    /// use glam::{DVec3, Vec3};
    /// use jostle_geom::{Mesh, Model, Pair, Pose, Quality};
    ///
    /// let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    /// let a = Model::build(Mesh::from_triangles(corners, vec![[0, 1, 2]])?, Quality::Fast);
    /// let mut b = a.clone();
    /// let touch = |b: &Model| Pair::new(&a, &Pose::IDENTITY, b, &Pose::IDENTITY).touches();
    /// assert!(touch(&b));
    /// b.refit(&[Vec3::Z, Vec3::X + Vec3::Z, Vec3::Y + Vec3::Z])?;
    /// assert!(!touch(&b));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Mesh::set_vertices`]. The model is then unchanged.
    pub fn refit(&mut self, vertices: &[Vec3]) -> Result<(), MeshError> {
        self.mesh.set_vertices(vertices)?;
        self.fit_boxes();
        Ok(())
    }

    /// As [`Model::refit`], with vertices in `f64`, see [`Mesh::from_triangles_f64`].
    ///
    /// # Errors
    /// As [`Mesh::set_vertices_f64`]. The model is then unchanged.
    pub fn refit_f64(&mut self, vertices: &[DVec3]) -> Result<(), MeshError> {
        self.mesh.set_vertices_f64(vertices)?;
        self.fit_boxes();
        Ok(())
    }

    fn fit_boxes(&mut self) {
        self.tree.refit(&self.mesh.vertices, &self.mesh.triangles);
        (self.reach, self.hash) = (OnceLock::new(), OnceLock::new());
        (self.convex, self.hull) = (OnceLock::new(), OnceLock::new());
        self.all_bound = OnceLock::new();
    }

    /// Builds the hierarchy anew. The result depends on the mesh and the quality only, not on
    /// earlier hierarchies.
    pub fn rebuild(&mut self, quality: Quality) {
        let order = tree_bytes::callers_order(&self.mesh);
        self.mesh.reorder(&order);
        let (tree, order) = tree::build::build(&self.mesh.vertices, &self.mesh.triangles, quality);
        self.mesh.reorder(&order);
        (self.tree, self.quality) = (tree, quality);
        self.hash = OnceLock::new();
    }

    /// The mesh. Its triangles stand in the order of the hierarchy; faces keep their numbers.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The same model with its mesh marked as solid, see [`Mesh::into_solid`]. The hierarchy stays.
    ///
    /// # Errors
    /// As [`Mesh::into_solid`].
    pub fn into_solid(self) -> Result<Model, NotClosed> {
        Ok(Model::new(self.mesh.into_solid()?, self.tree, self.quality))
    }

    /// The radius of a sphere around the zero of the mesh that holds all of it; 0 without
    /// triangles. Rounded up.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.reach().from_zero
    }

    /// Is the mesh solid, and what it encloses convex? Decided exactly, about the vertices of the
    /// mesh, at the first use. However the faces are cut and turned; but a face inside makes a
    /// mesh that is not convex, even if it bounds nothing, unless it is there twice.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, Quality, solids};
    ///
    /// let mesh = solids::cuboid(DVec3::ONE)?;
    /// assert!(!Model::build(mesh.clone(), Quality::Default).is_convex()); // a surface
    /// assert!(Model::build(mesh.into_solid()?, Quality::Default).is_convex());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_convex(&self) -> bool {
        *self.convex.get_or_init(|| convex::is_convex(self))
    }

    /// The convex polytope that the mesh is; `None` if it is not convex, or has more than
    /// [`Hull::CORNERS_MAX`] vertices.
    pub(crate) fn hull(&self) -> Option<&Hull> {
        let hull = || self.is_convex().then(|| Hull::of_mesh(&self.mesh)).flatten().map(Box::new);
        self.hull.get_or_init(hull).as_deref()
    }

    /// Does the surface change sides at every triangle, almost everywhere? Decided exactly, about
    /// the vertices of the mesh, at the first use.
    pub(crate) fn all_triangles_bound(&self) -> bool {
        let decide = || PosedModel::new(self, &Pose::IDENTITY).all_triangles_bound();
        *self.all_bound.get_or_init(decide)
    }

    pub(crate) fn reach(&self) -> &Reach {
        self.reach.get_or_init(|| Reach::of(&self.mesh, self.tree.origin))
    }

    /// What the hierarchy was built with.
    #[must_use]
    pub fn quality(&self) -> Quality {
        self.quality
    }

    /// Bytes of memory that mesh and hierarchy take together.
    #[must_use]
    pub fn memory_usage(&self) -> usize {
        self.mesh.memory_usage() + self.tree.memory_usage()
    }
}
