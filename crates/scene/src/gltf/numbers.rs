//! The numbers behind an accessor (glTF 2.0, 3.6.2): any component type, stride and
//! normalisation, dense or sparse. Bounds are checked when it is opened.

use super::json::{Accessor, Sparse, Whole};
use super::source::{Allowance, Source};
use crate::error::LoadError;

/// What one component of an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn from_code(code: Whole) -> Option<Component> {
        Some(match code.get() {
            5120 => Component::I8,
            5121 => Component::U8,
            5122 => Component::I16,
            5123 => Component::U16,
            5125 => Component::U32,
            5126 => Component::F32,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Component::I8 | Component::U8 => 1,
            Component::I16 | Component::U16 => 2,
            Component::U32 | Component::F32 => 4,
        }
    }

    fn is_index(self) -> bool {
        matches!(self, Component::U8 | Component::U16 | Component::U32)
    }

    /// The number that begins `bytes`, as f32, which holds all of these except some `u32`.
    fn number(self, bytes: &[u8], normalized: bool) -> f32 {
        let (value, most) = match self {
            Component::I8 => (f32::from(i8::from_le_bytes(head(bytes))), 127.0),
            Component::U8 => (f32::from(u8::from_le_bytes(head(bytes))), 255.0),
            Component::I16 => (f32::from(i16::from_le_bytes(head(bytes))), 32767.0),
            Component::U16 => (f32::from(u16::from_le_bytes(head(bytes))), 65535.0),
            Component::U32 => (u32::from_le_bytes(head(bytes)) as f32, 1.0),
            Component::F32 => (f32::from_le_bytes(head(bytes)), 1.0),
        };
        if normalized { (value / most).max(-1.0) } else { value }
    }

    /// The whole number that begins `bytes`; for indices only.
    fn whole(self, bytes: &[u8]) -> u32 {
        match self {
            Component::I8 | Component::U8 => u32::from(u8::from_le_bytes(head(bytes))),
            Component::I16 | Component::U16 => u32::from(u16::from_le_bytes(head(bytes))),
            Component::U32 | Component::F32 => u32::from_le_bytes(head(bytes)),
        }
    }
}

/// The first bytes. The bounds have been checked; without them it would be zeros, not a panic.
fn head<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

/// Elements at equal distances.
#[derive(Clone, Copy)]
struct Row<'s> {
    bytes: &'s [u8],
    stride: usize,
    size: usize,
}

impl<'s> Row<'s> {
    fn get(&self, index: usize) -> &'s [u8] {
        let start = index.saturating_mul(self.stride);
        self.bytes.get(start..start.saturating_add(self.size)).unwrap_or_default()
    }
}

/// What replaces some of the elements.
struct Patch<'s> {
    indices: Row<'s>,
    index_kind: Component,
    values: Row<'s>,
    count: usize,
}

impl<'s> Patch<'s> {
    fn index(&self, at: usize) -> u32 {
        self.index_kind.whole(self.indices.get(at))
    }

    /// The bytes of the element that replaces element `index`.
    fn find(&self, index: usize) -> Option<&'s [u8]> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let here = self.index(middle) as usize;
            if here == index {
                return Some(self.values.get(middle));
            }
            if here < index {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        None
    }
}

/// An opened accessor.
pub(super) struct Numbers<'s> {
    /// None: all zero, except for the patch.
    base: Option<Row<'s>>,
    patch: Option<Patch<'s>>,
    component: Component,
    normalized: bool,
    /// The number of elements.
    pub(super) count: usize,
}

/// What an accessor is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Vertex numbers.
    Indices,
    /// Key times.
    Times,
    /// Positions, translations, scales.
    Vec3,
    /// Rotations.
    Vec4,
}

impl Use {
    fn shape(self) -> (&'static str, usize) {
        match self {
            Use::Indices | Use::Times => ("SCALAR", 1),
            Use::Vec3 => ("VEC3", 3),
            Use::Vec4 => ("VEC4", 4),
        }
    }

    fn takes(self, component: Component) -> bool {
        match self {
            Use::Indices => component.is_index(),
            Use::Times => component == Component::F32,
            Use::Vec3 | Use::Vec4 => component != Component::U32,
        }
    }
}

impl<'s> Numbers<'s> {
    /// Opens accessor `index`. `path` is where the JSON names it.
    pub(super) fn open(
        source: &'s Source<'_>,
        index: Whole,
        purpose: Use,
        path: &str,
        allowance: &mut Allowance,
    ) -> Result<Numbers<'s>, LoadError> {
        let accessor = source.item(&source.root.accessors, index, path, "accessors")?;
        let own_path = format!("accessors[{index}]");
        let (shape, parts) = purpose.shape();
        let component = Component::from_code(accessor.component_type);
        let component = component.filter(|&kind| accessor.shape.0 == shape && purpose.takes(kind));
        let Some(component) = component else {
            let kind = accessor.component_type;
            let type_found = crate::error::found(Some(accessor.shape.0.as_bytes()));
            let what = format!("{path} wants {shape}, but it has {type_found} of {kind}");
            return Err(source.refused(own_path, what));
        };
        let size = parts * component.size();
        let row = |view, offset, count| row(source, &own_path, view, offset, (size, count));
        let count = accessor.count.get();
        let base = match accessor.buffer_view {
            Some(view) => Some(row(view, accessor.byte_offset, count)?),
            None => None,
        };
        let patch = match &accessor.sparse {
            Some(sparse) => {
                allowance.take(source, sparse.count.get(), &own_path)?;
                let values = &sparse.values;
                let values = row(values.buffer_view, values.byte_offset, sparse.count.get())?;
                Some(open_patch(source, &own_path, accessor, sparse, values)?)
            }
            None => None,
        };
        Ok(Numbers { base, patch, component, normalized: accessor.normalized, count })
    }

    /// The bytes of an element; empty for zeros.
    fn bytes(&self, index: usize) -> &'s [u8] {
        let patched = self.patch.as_ref().and_then(|patch| patch.find(index));
        patched.or_else(|| Some(self.base?.get(index))).unwrap_or_default()
    }

    /// Element `index`; zeros if it is not there.
    pub(super) fn get<const N: usize>(&self, index: usize) -> [f32; N] {
        let bytes = self.bytes(index);
        let mut numbers = [0.0; N];
        for (number, part) in numbers.iter_mut().zip(bytes.chunks_exact(self.component.size())) {
            *number = self.component.number(part, self.normalized);
        }
        numbers
    }

    /// Element `index` as a vertex number; 0 if it is not there.
    pub(super) fn index(&self, index: usize) -> u32 {
        self.component.whole(self.bytes(index))
    }
}

/// `count` elements of `size` bytes in a buffer view. Those with a stride keep it.
fn row<'s>(
    source: &'s Source<'_>,
    path: &str,
    view: Whole,
    offset: Whole,
    (size, count): (usize, usize),
) -> Result<Row<'s>, LoadError> {
    let (bytes, stride) = source.view(view, path)?;
    let stride = stride.unwrap_or(size);
    if stride < size {
        let what = format!("a byteStride of {stride} for elements of {size} bytes");
        return Err(source.refused(path, what));
    }
    let before_last = (count as u128).saturating_sub(1) * stride as u128;
    let needs = if count == 0 { 0 } else { before_last + size as u128 };
    let start = offset.get();
    let left = bytes.len().saturating_sub(start);
    if needs > left as u128 {
        let what = format!("{path}: {count} elements");
        return Err(LoadError::Truncated { place: source.place, what, needs, left });
    }
    Ok(Row { bytes: bytes.get(start..).unwrap_or_default(), stride, size })
}

/// A patch whose indices have been checked: they must grow and name elements that are there.
fn open_patch<'s>(
    source: &'s Source<'_>,
    path: &str,
    accessor: &Accessor<'_>,
    sparse: &Sparse,
    values: Row<'s>,
) -> Result<Patch<'s>, LoadError> {
    let path = format!("{path}.sparse");
    let kind = sparse.indices.component_type;
    let index_kind = Component::from_code(kind).filter(|kind| kind.is_index());
    let Some(index_kind) = index_kind else {
        return Err(source.refused(path, format!("indices cannot have component type {kind}")));
    };
    let (view, offset) = (sparse.indices.buffer_view, sparse.indices.byte_offset);
    let (size, count) = (index_kind.size(), sparse.count.get());
    let indices = row(source, &path, view, offset, (size, count))?;
    let patch = Patch { indices, index_kind, values, count };
    let mut least = 0;
    for at in 0..count {
        let index = patch.index(at) as usize;
        if index < least || index >= accessor.count.get() {
            let most = accessor.count;
            let what = format!("index {at} is {index}; indices grow and stay below {most}");
            return Err(source.refused(path, what));
        }
        least = index + 1;
    }
    Ok(patch)
}
