//! A tree of volumes of one kind over a mesh, and two of them as a [`Method`].

use super::shape::TreeShape;
use super::split::{Guide, Splitting, corners};
use super::stamps::Stamps;
use crate::Count;
use crate::dop::NormalSet;
use crate::traverse::{Method, Node, Relative, Side};
use glam::DVec3;
use jostle_geom::Mesh;
use std::fmt::Debug;

/// A kind of bounding volume that fits around triangles and can be turned.
///
/// **What it promises:** if two triangles share a point of the world, volumes around them overlap.
/// Fitting, turning and comparing may together be off by 384 · 2⁻⁵³ · [`Relative::length`], which
/// is part of [`Relative::slack`]; each kind says why it stays below that.
pub trait Volume: Copy + Debug {
    /// One word, for tables.
    const NAME: &'static str;

    /// A tag that distinguishes files of different kinds.
    const TAG: u8;

    /// How many bytes [`Volume::write`] appends.
    const BYTES: usize;

    /// The volume in the frame of the first mesh.
    type Aligned: Copy + Default + Debug;

    /// Around these triangles.
    fn around(triangles: &[[DVec3; 3]]) -> Self;

    /// Its volume.
    fn size(&self) -> f64;

    /// In its own frame.
    fn plain(&self) -> Self::Aligned;

    /// In the frame of the other mesh.
    fn turned(&self, relative: &Relative, count: &mut Count) -> Self::Aligned;

    /// Whether two of them overlap.
    fn overlap(a: &Self::Aligned, b: &Self::Aligned, slack: f64, count: &mut Count) -> bool;

    /// Whether a point of a mesh with this reach is inside, up to the rounding that fitting may
    /// have. Says no if the numbers are not a volume of this kind, or larger than such a mesh
    /// needs: then rounding could be larger than what is reckoned with.
    fn encloses(&self, point: DVec3, reach: f64) -> bool;

    /// Appends its numbers, little-endian.
    fn write(&self, bytes: &mut Vec<u8>);

    /// From [`Volume::BYTES`] bytes that [`Volume::write`] made; any bytes give some numbers.
    fn read(bytes: &[u8]) -> Self;
}

/// A tree of volumes over one mesh.
#[derive(Clone, Debug)]
pub struct VolumeTree<V> {
    pub(super) shape: TreeShape,
    pub(super) volumes: Vec<V>,
}

impl<V: Volume> VolumeTree<V> {
    /// Builds it.
    #[must_use]
    pub fn build(mesh: &Mesh, splitting: Splitting) -> VolumeTree<V> {
        let corners = corners(mesh);
        let some = |triangles: &[u32]| -> Vec<[DVec3; 3]> {
            triangles.iter().map(|&t| corners[t as usize]).collect()
        };
        let measure = |triangles: &[u32]| V::around(&some(triangles)).size();
        let guide = Guide { measure: &measure, normals: &NormalSet::axes() };
        let shape = TreeShape::build(mesh, splitting, &guide);
        let ordered = some(shape.triangles());
        let ranges = shape.ranges().into_iter();
        let volumes = ranges.map(|range| V::around(&ordered[range])).collect();
        VolumeTree { shape, volumes }
    }

    /// Which triangles are below which node.
    #[must_use]
    pub fn shape(&self) -> &TreeShape {
        &self.shape
    }

    /// The volumes of all nodes, node 0 first.
    #[must_use]
    pub fn volumes(&self) -> &[V] {
        &self.volumes
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shape.bytes() + size_of_val(&self.volumes[..])
    }
}

/// Trees of one kind over two meshes.
#[derive(Clone, Debug)]
pub struct VolumeTrees<V: Volume> {
    trees: [VolumeTree<V>; 2],
    relative: Relative,
    /// Volumes of the second tree that this question has turned already.
    turned: Stamps<V::Aligned>,
    name: String,
}

impl<V: Volume> VolumeTrees<V> {
    /// Builds both.
    #[must_use]
    pub fn new(a: &Mesh, b: &Mesh, splitting: Splitting) -> VolumeTrees<V> {
        let trees = [a, b].map(|mesh| VolumeTree::build(mesh, splitting));
        VolumeTrees { name: format!("{} {splitting}", V::NAME), ..VolumeTrees::of(trees) }
    }

    /// Of trees that are there.
    #[must_use]
    pub fn of(trees: [VolumeTree<V>; 2]) -> VolumeTrees<V> {
        let turned = Stamps::new(trees[1].volumes.len());
        VolumeTrees { trees, relative: Relative::SAME, turned, name: V::NAME.to_owned() }
    }

    /// The two trees.
    #[must_use]
    pub fn trees(&self) -> &[VolumeTree<V>; 2] {
        &self.trees
    }
}

impl<V: Volume> Method for VolumeTrees<V> {
    type Volume = V::Aligned;
    type Meeting = ();

    fn name(&self) -> String {
        self.name.clone()
    }

    fn bytes(&self) -> usize {
        self.trees.iter().map(VolumeTree::bytes).sum::<usize>() + self.turned.bytes()
    }

    fn begin(&mut self, relative: &Relative, _: &mut Count) {
        self.relative = *relative;
        self.turned.next_question();
    }

    fn node(&self, side: Side, node: u32) -> Node<'_> {
        self.trees[side as usize].shape.node(node)
    }

    fn volume(
        &mut self,
        side: Side,
        node: u32,
        _: Option<&V::Aligned>,
        count: &mut Count,
    ) -> V::Aligned {
        let volume = &self.trees[side as usize].volumes[node as usize];
        match side {
            Side::A => volume.plain(),
            Side::B => self.turned.get_or(node, || {
                count.alignments += 1;
                volume.turned(&self.relative, count)
            }),
        }
    }

    fn meet(
        &mut self,
        a: &V::Aligned,
        b: &V::Aligned,
        _: Option<&()>,
        count: &mut Count,
    ) -> Option<()> {
        V::overlap(a, b, self.relative.slack, count).then_some(())
    }
}

/// `N` numbers of four bytes.
pub(super) fn read_f32<const N: usize>(bytes: &[u8]) -> [f32; N] {
    let mut numbers = [0.0; N];
    for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
        *number = f32::from_le_bytes(*bytes);
    }
    numbers
}

/// `N` numbers of eight bytes.
pub(super) fn read_f64<const N: usize>(bytes: &[u8]) -> [f64; N] {
    let mut numbers = [0.0; N];
    for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
        *number = f64::from_le_bytes(*bytes);
    }
    numbers
}

/// The smallest `f32` that is not less.
pub(crate) fn up(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) < x { near.next_up() } else { near }
}
