//! Triangles of shapes in the format of the page (docs/view-protocol.md), encoded on first use and
//! cached.

use crate::manifest::WorldManifest;
use bytes::{BufMut, Bytes, BytesMut};
use jostle_geom::{Mesh, Model};
use jostle_proto::{Content, Shapes};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// All shapes with triangles.
pub(crate) struct Meshes(BTreeMap<Content, (Arc<Model>, OnceLock<Bytes>)>);

impl Meshes {
    pub(crate) fn new(manifest: &WorldManifest, shapes: &Shapes) -> Meshes {
        let forms = manifest.forms.iter().zip(shapes.solids());
        let models = forms.filter_map(|(form, solid)| {
            Some((form.content?, (solid.model.clone()?, OnceLock::new())))
        });
        Meshes(models.collect())
    }

    pub(crate) fn get(&self, content: Content) -> Option<Bytes> {
        let (model, made) = self.0.get(&content)?;
        Some(made.get_or_init(|| bytes(model.mesh())).clone())
    }
}

fn bytes(mesh: &Mesh) -> Bytes {
    let (vertices, triangles) = (mesh.vertices(), mesh.triangles());
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mut bytes = BytesMut::with_capacity(16 + 12 * vertices.len() + 16 * triangles.len());
    for number in [vertices.len(), triangles.len(), mesh.face_count(), 0] {
        bytes.put_u32_le(count(number));
    }
    vertices.iter().flat_map(|vertex| vertex.to_array()).for_each(|it| bytes.put_f32_le(it));
    triangles.iter().flatten().for_each(|vertex| bytes.put_u32_le(*vertex));
    (0..count(triangles.len())).for_each(|triangle| bytes.put_u32_le(mesh.face_of(triangle)));
    bytes.freeze()
}
