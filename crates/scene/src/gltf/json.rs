//! The parts of the JSON that a scene needs (glTF 2.0 specification, chapter 5). Everything else
//! is passed over without being stored.

use serde::de::{Error, IgnoredAny, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;

/// Text that stays where it is in the file unless it has escapes.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Root<'a> {
    #[serde(borrow)]
    pub(super) asset: Asset<'a>,
    #[serde(borrow, default)]
    pub(super) extensions_used: Vec<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) extensions_required: Vec<Text<'a>>,
    pub(super) scene: Option<Whole>,
    #[serde(default)]
    pub(super) scenes: Vec<SceneList>,
    #[serde(borrow, default)]
    pub(super) nodes: Vec<Node<'a>>,
    #[serde(borrow, default)]
    pub(super) meshes: Vec<Mesh<'a>>,
    #[serde(borrow, default)]
    pub(super) cameras: Vec<Camera<'a>>,
    #[serde(borrow, default)]
    pub(super) animations: Vec<Animation<'a>>,
    #[serde(borrow, default)]
    pub(super) accessors: Vec<Accessor<'a>>,
    #[serde(default)]
    pub(super) buffer_views: Vec<BufferView>,
    #[serde(borrow, default)]
    pub(super) buffers: Vec<Buffer<'a>>,
}

/// The minimum that is needed to find the version of an otherwise invalid file.
#[derive(Deserialize)]
pub(super) struct AssetOnly<'a> {
    #[serde(borrow)]
    pub(super) asset: Asset<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset<'a> {
    #[serde(borrow)]
    pub(super) version: Text<'a>,
    #[serde(borrow)]
    pub(super) min_version: Option<Text<'a>>,
}

#[derive(Deserialize)]
pub(super) struct SceneList {
    #[serde(default)]
    pub(super) nodes: Vec<Whole>,
}

#[derive(Deserialize)]
pub(super) struct Node<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    #[serde(default)]
    pub(super) children: Vec<Whole>,
    /// Boxed, as most nodes have none.
    pub(super) matrix: Option<Box<[f32; 16]>>,
    pub(super) translation: Option<[f32; 3]>,
    pub(super) rotation: Option<[f32; 4]>,
    pub(super) scale: Option<[f32; 3]>,
    pub(super) mesh: Option<Whole>,
    pub(super) camera: Option<Whole>,
    pub(super) skin: Option<IgnoredAny>,
    pub(super) extensions: Option<Box<NodeExtensions>>,
}

#[derive(Deserialize)]
pub(super) struct NodeExtensions {
    #[serde(rename = "EXT_mesh_gpu_instancing")]
    pub(super) instancing: Option<Instancing>,
}

#[derive(Deserialize)]
pub(super) struct Instancing {
    #[serde(default)]
    pub(super) attributes: InstanceAttributes,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) struct InstanceAttributes {
    pub(super) translation: Option<Whole>,
    pub(super) rotation: Option<Whole>,
    pub(super) scale: Option<Whole>,
}

#[derive(Deserialize)]
pub(super) struct Mesh<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    #[serde(default)]
    pub(super) primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
pub(super) struct Primitive {
    #[serde(default)]
    pub(super) attributes: Attributes,
    pub(super) indices: Option<Whole>,
    pub(super) mode: Option<Whole>,
    pub(super) targets: Option<IgnoredAny>,
    pub(super) extensions: Option<PrimitiveExtensions>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) struct Attributes {
    pub(super) position: Option<Whole>,
}

#[derive(Deserialize)]
pub(super) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub(super) draco: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct Camera<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    pub(super) perspective: Option<Perspective>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Perspective {
    pub(super) yfov: Option<f32>,
    pub(super) aspect_ratio: Option<f32>,
}

#[derive(Deserialize)]
pub(super) struct Animation<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) channels: Vec<Channel<'a>>,
    #[serde(borrow, default)]
    pub(super) samplers: Vec<Sampler<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Channel<'a> {
    pub(super) sampler: Whole,
    #[serde(borrow)]
    pub(super) target: Target<'a>,
}

#[derive(Deserialize)]
pub(super) struct Target<'a> {
    pub(super) node: Option<Whole>,
    #[serde(borrow)]
    pub(super) path: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct Sampler<'a> {
    pub(super) input: Whole,
    pub(super) output: Whole,
    #[serde(borrow)]
    pub(super) interpolation: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor<'a> {
    pub(super) buffer_view: Option<Whole>,
    #[serde(default)]
    pub(super) byte_offset: Whole,
    pub(super) component_type: Whole,
    #[serde(default)]
    pub(super) normalized: bool,
    pub(super) count: Whole,
    #[serde(rename = "type", borrow)]
    pub(super) shape: Text<'a>,
    pub(super) sparse: Option<Box<Sparse>>,
}

#[derive(Deserialize)]
pub(super) struct Sparse {
    pub(super) count: Whole,
    pub(super) indices: SparseIndices,
    pub(super) values: SparseValues,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub(super) buffer_view: Whole,
    #[serde(default)]
    pub(super) byte_offset: Whole,
    pub(super) component_type: Whole,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub(super) buffer_view: Whole,
    #[serde(default)]
    pub(super) byte_offset: Whole,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: Whole,
    #[serde(default)]
    pub(super) byte_offset: Whole,
    pub(super) byte_length: Whole,
    pub(super) byte_stride: Option<Whole>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer<'a> {
    #[serde(borrow)]
    pub(super) uri: Option<Text<'a>>,
    pub(super) byte_length: Whole,
}

/// A whole number from 0 on: an index, a count, a number of bytes. Some exporters write `3.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Whole(u64);

impl Whole {
    /// As a number of bytes or elements. What does not fit cannot be in memory either, and is
    /// larger than everything it is compared with.
    pub(super) fn get(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Whole, D::Error> {
        deserializer.deserialize_u64(WholeVisitor)
    }
}

struct WholeVisitor;

impl Visitor<'_> for WholeVisitor {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 on")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Whole, E> {
        Ok(Whole(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Whole, E> {
        // 2^53: above, an f64 no longer distinguishes neighbours.
        if value.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&value) {
            return Ok(Whole(value as u64));
        }
        Err(E::invalid_value(Unexpected::Float(value), &self))
    }
}
