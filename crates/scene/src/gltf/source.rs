//! A glTF file whose JSON has been read: its buffers, and errors that name a place in the JSON.

use super::container::Container;
use super::json::{Accessor, Root, Whole};
use crate::error::{LoadError, Place, found};
use crate::read::Reading;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::borrow::Cow;
use std::fmt::Display;

/// Exporters leave out the `=` at the end of data addresses now and then.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// How often, on average, a byte of the buffers may be read. A file in which no two accessors
/// share bytes needs 1; accessors that overlap without end would make a small file huge.
const READS_PER_BYTE: usize = 2;
/// Elements that any file may have, so that tiny files need not be exact.
const READS_ANYWAY: usize = 4096;

/// The JSON and the bytes that it describes.
pub(super) struct Source<'a> {
    pub(super) root: Root<'a>,
    /// The buffers that the scene needs.
    buffers: Vec<Option<Cow<'a, [u8]>>>,
    /// Where the JSON begins. Things in it are named by their path.
    pub(super) place: Place,
}

/// How many elements may still be read.
pub(super) struct Allowance {
    left: usize,
}

impl<'a> Source<'a> {
    /// Reads the buffers. `name` is that of the file, for `fetch`.
    pub(super) fn open(
        root: Root<'a>,
        container: &Container<'a>,
        name: &str,
        reading: &mut Reading<'_>,
    ) -> Result<Source<'a>, LoadError> {
        let place = Place::Byte(container.json_at);
        let mut source = Source { root, buffers: Vec::new(), place };
        for (index, needed) in source.needed_buffers().into_iter().enumerate() {
            let bytes = if needed {
                Some(source.bring(index, container.bin, name, reading)?)
            } else {
                None
            };
            source.buffers.push(bytes);
        }
        Ok(source)
    }

    /// An error in the JSON: the path there, and what is wrong.
    pub(super) fn refused(&self, path: impl Display, what: impl Display) -> LoadError {
        LoadError::Refused { place: self.place, what: format!("{path}: {what}") }
    }

    /// The member of a list that an index names.
    pub(super) fn item<'l, T>(
        &self,
        list: &'l [T],
        index: Whole,
        path: impl Display,
        what: &str,
    ) -> Result<&'l T, LoadError> {
        list.get(index.get()).ok_or_else(|| {
            self.refused(path, format!("{what}[{index}] is not there; there are {}", list.len()))
        })
    }

    pub(super) fn allowance(&self) -> Allowance {
        let bytes: usize = self.buffers.iter().flatten().map(|bytes| bytes.len()).sum();
        Allowance { left: bytes.saturating_mul(READS_PER_BYTE).saturating_add(READS_ANYWAY) }
    }

    /// The bytes of a buffer view, and its stride.
    pub(super) fn view(
        &self,
        index: Whole,
        path: impl Display,
    ) -> Result<(&[u8], Option<usize>), LoadError> {
        let view = self.item(&self.root.buffer_views, index, &path, "bufferViews")?;
        let own_path = format!("bufferViews[{index}]");
        self.item(&self.root.buffers, view.buffer, &own_path, "buffers")?;
        let bytes = self.buffers.get(view.buffer.get()).and_then(|bytes| bytes.as_deref());
        let bytes = bytes.unwrap_or_default();
        let (start, length) = (view.byte_offset.get(), view.byte_length.get());
        let inside = start.checked_add(length).and_then(|end| bytes.get(start..end));
        let inside = inside.ok_or_else(|| {
            let size = bytes.len();
            let what =
                format!("{length} bytes from {start} on are not in a buffer of {size} bytes");
            self.refused(&own_path, what)
        })?;
        Ok((inside, view.byte_stride.map(Whole::get)))
    }

    /// For each buffer: does anything that is read here lie in it? Buffers of textures alone are
    /// not fetched.
    fn needed_buffers(&self) -> Vec<bool> {
        let root = &self.root;
        let mut needed = vec![false; root.buffers.len()];
        let mut need_view = |index: Whole| {
            let view = root.buffer_views.get(index.get());
            if let Some(slot) = view.and_then(|view| needed.get_mut(view.buffer.get())) {
                *slot = true;
            }
        };
        let mut need = |accessor: &Accessor<'_>| {
            accessor.buffer_view.into_iter().for_each(&mut need_view);
            if let Some(sparse) = &accessor.sparse {
                need_view(sparse.indices.buffer_view);
                need_view(sparse.values.buffer_view);
            }
        };
        for index in used_accessors(root) {
            root.accessors.get(index.get()).into_iter().for_each(&mut need);
        }
        needed
    }

    /// The bytes of one buffer.
    fn bring(
        &self,
        index: usize,
        bin: Option<&'a [u8]>,
        name: &str,
        reading: &mut Reading<'_>,
    ) -> Result<Cow<'a, [u8]>, LoadError> {
        let path = format!("buffers[{index}]");
        let Some(buffer) = self.root.buffers.get(index) else { return Ok(Cow::default()) };
        let needs = buffer.byte_length.get();
        let (bytes, label) = match buffer.uri.as_ref().map(|uri| &*uri.0) {
            None => match bin {
                Some(bin) if index == 0 => (Cow::Borrowed(bin), "the BIN chunk".to_string()),
                _ => {
                    let what = "has no uri, and only the first buffer of a GLB file with a BIN \
                                chunk may have none";
                    return Err(self.refused(path, what));
                }
            },
            Some(uri) if is_data(uri) => {
                (Cow::Owned(self.decode(uri, &path)?), "a data address".to_string())
            }
            Some(uri) => {
                let label = found(Some(uri.as_bytes()));
                let missing = |why: &str| {
                    let why: String = why.chars().take(200).collect();
                    self.refused(
                        &path,
                        format!("needs the file {label} with {needs} bytes, but {why}"),
                    )
                };
                let Some(fetch) = reading.fetch.as_mut() else {
                    return Err(missing("nothing is fetched here"));
                };
                (Cow::Owned(fetch(uri, name).map_err(|why| missing(&why))?.bytes), label)
            }
        };
        if bytes.len() < needs {
            let what = format!("{path} in {label}");
            let (place, needs, left) = (self.place, needs as u128, bytes.len());
            return Err(LoadError::Truncated { place, what, needs, left });
        }
        Ok(bytes)
    }

    /// What stands in an address such as `data:application/octet-stream;base64,AAAA`.
    fn decode(&self, uri: &str, path: &str) -> Result<Vec<u8>, LoadError> {
        let (kind, data) = uri.split_once(',').unwrap_or((uri, ""));
        if !kind.to_ascii_lowercase().ends_with(";base64") {
            let what = format!("expected data:…;base64,…, found {}", found(Some(uri.as_bytes())));
            return Err(self.refused(path, what));
        }
        BASE64.decode(data).map_err(|error| self.refused(path, format!("no base64: {error}")))
    }
}

fn is_data(uri: &str) -> bool {
    uri.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:"))
}

/// The accessors that a scene is made of.
fn used_accessors<'r>(root: &'r Root<'_>) -> impl Iterator<Item = Whole> + 'r {
    let primitives = root.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let of_meshes = primitives.flat_map(|p| [p.attributes.position, p.indices]);
    let samplers = root.animations.iter().flat_map(|animation| &animation.samplers);
    let of_animations = samplers.flat_map(|s| [Some(s.input), Some(s.output)]);
    let extensions = root.nodes.iter().filter_map(|node| node.extensions.as_ref());
    let of_instances = extensions.filter_map(|e| e.instancing.as_ref()).flat_map(|instancing| {
        let attributes = &instancing.attributes;
        [attributes.translation, attributes.rotation, attributes.scale]
    });
    of_meshes.chain(of_animations).chain(of_instances).flatten()
}

impl Allowance {
    /// Before `count` elements are read.
    pub(super) fn take(
        &mut self,
        source: &Source<'_>,
        count: usize,
        path: impl Display,
    ) -> Result<(), LoadError> {
        match self.left.checked_sub(count) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let what = format!(
                    "{count} more elements, but only {} are left of {READS_PER_BYTE} for each \
                     byte of the buffers",
                    self.left
                );
                Err(source.refused(path, what))
            }
        }
    }
}
