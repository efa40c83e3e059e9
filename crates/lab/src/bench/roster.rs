//! Every method that can be asked, by name.

use crate::bsp::BspTrees;
use crate::convex::{Filter, HullError, HullFilter};
use crate::dop::{BoundaryWay, DopTrees, NormalSet, Realignment};
use crate::traverse::ByTree;
use crate::tree::{Aabb, Obb, Sphere, SplitRule, Splitting, VolumeTrees};
use crate::{BoxPipeline, BoxTreeSettings, ClippedBoxTrees, Contender, Ours, RealignedBoxTrees};
use jostle_geom::{Mesh, Quality};
use std::sync::OnceLock;

/// A way of preparing two meshes. Trees are split as their papers split them, down to one triangle:
/// oriented boxes, boxes and spheres at the mean as RAPID does, DOPs from both ends in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The default hierarchy.
    Ours,
    /// Separating planes of hulls, then the default hierarchy.
    PlanesThenOurs,
    /// Boxes along the axes of the mesh.
    Aabb,
    /// Spheres.
    Sphere,
    /// Oriented boxes, 15 axes.
    Obb,
    /// DOPs, each offset a sum of three others.
    Dop(DopSize),
    /// The same, with a function for every correspondence: for k = 6, 8 and 10.
    DopCoded(DopSize),
    /// 18 directions, the vertices of each DOP's own boundary turned.
    DopBoundary,
    /// 18 directions, the boundary taken from the node above.
    DopBoundaryAbove,
    /// BoxTrees, re-aligned.
    BoxesAligned,
    /// BoxTrees, clipped.
    BoxesClipped,
    /// Boxes of all polygons, without a tree.
    Pipeline,
    /// Storey's BSP trees, walked to the end.
    Bsp,
}

/// How many directions a DOP has: even, from 6 to 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DopSize(usize);

impl DopSize {
    /// All of them.
    pub fn all() -> impl Iterator<Item = DopSize> {
        (6..=32).step_by(2).map(DopSize)
    }

    /// The number.
    #[must_use]
    pub fn k(self) -> usize {
        self.0
    }

    /// The directions. Those that repel each other take a while, so they are found once.
    fn normals(self) -> &'static NormalSet {
        static SETS: [OnceLock<NormalSet>; 33] = [const { OnceLock::new() }; 33];
        SETS[self.0].get_or_init(|| NormalSet::best(self.0).expect("k is even and from 6 to 32"))
    }
}

impl Method {
    /// All of them; the default comes first.
    #[must_use]
    pub fn all() -> Vec<Method> {
        let mut all = vec![
            Method::Ours,
            Method::PlanesThenOurs,
            Method::Aabb,
            Method::Sphere,
            Method::Obb,
            Method::DopCoded(DopSize(6)),
            Method::DopCoded(DopSize(8)),
            Method::DopCoded(DopSize(10)),
            Method::DopBoundary,
            Method::DopBoundaryAbove,
            Method::BoxesAligned,
            Method::BoxesClipped,
            Method::Pipeline,
            Method::Bsp,
        ];
        all.extend(DopSize::all().map(Method::Dop));
        all
    }

    /// Whether it is of the laboratory alone: then nothing of the default hierarchy is in it.
    #[must_use]
    pub fn is_laboratory(self) -> bool {
        !matches!(self, Method::Ours | Method::PlanesThenOurs)
    }

    /// What tables and the command line call it.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Method::Ours => "ours".to_owned(),
            Method::PlanesThenOurs => "planes+ours".to_owned(),
            Method::Aabb => "aabb".to_owned(),
            Method::Sphere => "sphere".to_owned(),
            Method::Obb => "obb".to_owned(),
            Method::Dop(size) => format!("dop-{}", size.0),
            Method::DopCoded(size) => format!("dop-{}-coded", size.0),
            Method::DopBoundary => "dop-18-own".to_owned(),
            Method::DopBoundaryAbove => "dop-18-above".to_owned(),
            Method::BoxesAligned => "boxtree-aligned".to_owned(),
            Method::BoxesClipped => "boxtree-clipped".to_owned(),
            Method::Pipeline => "pipeline".to_owned(),
            Method::Bsp => "bsp".to_owned(),
        }
    }

    /// What is the same for all meshes is made beforehand, so that building can be timed.
    pub fn prepare(self) {
        if let Method::Dop(size) | Method::DopCoded(size) = self {
            size.normals();
        }
    }

    /// Prepares both meshes.
    ///
    /// # Errors
    /// A hull of a mesh without triangles.
    pub fn build<'a>(self, a: &'a Mesh, b: &'a Mesh) -> Result<Box<dyn Contender + 'a>, HullError> {
        let ours = || Ours::new(a, b, Quality::Default);
        let boxes = BoxTreeSettings::default();
        let mean = Splitting::single(SplitRule::Mean);
        let dop = |normals: &NormalSet, way: Realignment| {
            let ends = Splitting::single(SplitRule::AlternatingEnds);
            Box::new(ByTree::new(a, b, DopTrees::new(a, b, normals, ends, way)))
        };
        Ok(match self {
            Method::Ours => Box::new(ours()),
            Method::PlanesThenOurs => {
                let planes = Filter::all().swap_remove(0);
                Box::new(HullFilter::new(a, b, planes, Box::new(ours()))?)
            }
            Method::Aabb => Box::new(ByTree::new(a, b, VolumeTrees::<Aabb>::new(a, b, mean))),
            Method::Sphere => Box::new(ByTree::new(a, b, VolumeTrees::<Sphere>::new(a, b, mean))),
            Method::Obb => Box::new(ByTree::new(a, b, VolumeTrees::<Obb>::new(a, b, mean))),
            Method::Dop(size) => dop(size.normals(), Realignment::Affine),
            Method::DopCoded(size) => dop(size.normals(), Realignment::Coded),
            Method::DopBoundary => {
                dop(&NormalSet::klosowski(), Realignment::Boundary(BoundaryWay::Own))
            }
            Method::DopBoundaryAbove => {
                dop(&NormalSet::klosowski(), Realignment::Boundary(BoundaryWay::FromAbove))
            }
            Method::BoxesAligned => Box::new(RealignedBoxTrees::new(a, b, &boxes)),
            Method::BoxesClipped => Box::new(ClippedBoxTrees::new(a, b, &boxes)),
            Method::Pipeline => Box::new(BoxPipeline::new(a, b)),
            Method::Bsp => Box::new(BspTrees::new(a, b)),
        })
    }
}
