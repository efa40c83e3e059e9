//! OBJ, STL and PLY as scenes: a named `Transform` with a `Shape` for each part of a file.

use crate::error::{LoadError, Place, quote};
use crate::gather::{Loaded, Polygons};
use crate::nodes::{Kind, Shape, Transform};
use crate::read::{Frame, Up};
use crate::scene::{NodeId, Rotation, Scene};
use crate::warning::{Warning, Warnings};
use crate::{Format, UniqueNames, load_parts};
use glam::Vec3;
use jostle_geom::{Mesh, MeshError};
use std::collections::BTreeMap;
use std::f32::consts::FRAC_PI_2;
use std::sync::Arc;

/// The kind of a part in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// `o` of OBJ.
    Object,
    /// `g` of OBJ.
    Group,
    /// `solid` of STL.
    Solid,
}

/// The beginning of a part.
#[derive(Debug)]
pub(crate) struct Mark {
    part: Part,
    /// Empty if the file gives none.
    name: String,
    /// The number of faces that stand above.
    first_face: usize,
    place: Place,
}

impl Mark {
    pub(crate) fn new(part: Part, name: String, first_face: usize, place: Place) -> Mark {
        Mark { part, name, first_face, place }
    }
}

/// Faces that belong together.
struct Piece {
    name: Arc<str>,
    place: Place,
    /// Stretches of the faces of the file: first and end.
    faces: Vec<(usize, usize)>,
}

/// A `Transform` of each object or, if the file has no objects, group (OBJ) or solid (STL).
pub(crate) fn read(
    name: &str,
    bytes: &[u8],
    format: Format,
    frame: &Frame,
) -> Result<(Scene, Warnings), LoadError> {
    if !(frame.unit.is_finite() && frame.unit > 0.0) {
        let what = format!("a unit of {} metres; it must be finite and above 0", frame.unit);
        return Err(LoadError::NotReadable { what });
    }
    let mut marks = Marks::default();
    let mut loaded = load_parts(bytes, format, &mut |mark| marks.add(mark))?;
    let mut warnings = Warnings::default();
    for warning in std::mem::take(&mut loaded.warnings) {
        warnings.push(warning);
    }
    let file = stem(name);
    // Only needed where there are parts to be taken apart.
    let starts = if marks.list.is_empty() { Vec::new() } else { starts(&loaded.faces) };
    let groups = std::mem::take(&mut marks.groups);
    let mut pieces = marks.pieces(&loaded.faces, &starts, file);
    number(&mut pieces, &mut warnings);
    if let ([_], [_, (_, place)]) = (&pieces[..], &groups[..]) {
        warnings.mended("groups (g) inside the only object (o) are one part", *place);
    }
    let mut scene = Scene::default();
    let refused = |place, error: MeshError| LoadError::Refused { place, what: error.to_string() };
    let mut parts = Vec::with_capacity(pieces.len());
    if loaded.faces.is_empty() {
        loaded.no_faces(bytes.len()).into_iter().for_each(|warning| warnings.push(warning));
        parts.push(add(&mut scene, None, file.into(), Place::Byte(0)));
    } else if let [piece] = &pieces[..] {
        // All faces are in it: nothing to pick out, and vertices keep their numbers.
        let mesh = loaded.into_mesh().map_err(|error| refused(piece.place, error))?;
        parts.push(add(&mut scene, Some(mesh), Arc::clone(&piece.name), piece.place));
    } else {
        for piece in &pieces {
            let mesh = pick(&loaded, &starts, piece);
            let mesh = mesh.map_err(|error| refused(piece.place, error))?;
            parts.push(add(&mut scene, Some(mesh), Arc::clone(&piece.name), piece.place));
        }
    }
    add_roots(&mut scene, parts, frame);
    Ok((scene, warnings))
}

/// The marks of a file, of which objects count if there are any, and else groups or solids.
#[derive(Default)]
struct Marks {
    list: Vec<Mark>,
    has_objects: bool,
    /// The first group and the first with another name, below the first object.
    groups: Vec<(String, Place)>,
}

impl Marks {
    fn add(&mut self, mark: Mark) {
        if mark.part == Part::Object && !self.has_objects {
            self.has_objects = true;
            self.list.clear();
        }
        if self.has_objects && mark.part != Part::Object {
            if self.groups.len() < 2 && self.groups.iter().all(|(name, _)| *name != mark.name) {
                self.groups.push((mark.name, mark.place));
            }
            return;
        }
        // A mark without faces is no part.
        if self.list.last().is_some_and(|last| last.first_face == mark.first_face) {
            self.list.pop();
        }
        self.list.push(mark);
    }

    /// The parts with their faces, in the order in which they begin. What has no name, or stands
    /// above the first mark, is named after the file.
    ///
    /// Each object and each solid is a part, also those of the same name: `o Bolt` twice are two
    /// bolts, and one part of both would hide that they overlap. A group that is opened again
    /// continues its part if the two share a vertex, because exporters leave and reopen groups at
    /// every change of material; otherwise it is another part.
    fn pieces(self, faces: &Polygons, starts: &[usize], file: &str) -> Vec<Piece> {
        let first_mark = self.list.first().map_or(faces.len(), |mark| mark.first_face);
        let ends = self.list.iter().skip(1).map(|mark| mark.first_face).chain([faces.len()]);
        let ends: Vec<usize> = ends.collect();
        let above = || Mark::new(Part::Group, String::new(), 0, Place::Line(1));
        let above = (first_mark > 0).then(above);
        let marks = above.into_iter().zip([first_mark]).chain(self.list.into_iter().zip(ends));
        let mut pieces: Vec<Piece> = Vec::new();
        let mut groups: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        for (mark, end) in marks.filter(|(mark, end)| mark.first_face < *end) {
            let name: Arc<str> =
                if mark.name.is_empty() { Arc::from(file) } else { Arc::from(mark.name) };
            if mark.part == Part::Group {
                groups.entry(Arc::clone(&name)).or_default().push(pieces.len());
            }
            pieces.push(Piece { name, place: mark.place, faces: vec![(mark.first_face, end)] });
        }
        for stretches in groups.into_values().filter(|stretches| stretches.len() > 1) {
            join_connected(&mut pieces, &stretches, faces, starts);
        }
        pieces.retain(|piece| !piece.faces.is_empty());
        pieces
    }
}

/// Moves the faces of those of the `stretches` that share vertices, directly or through others of
/// them, to the first of these. The others are left without faces.
fn join_connected(pieces: &mut [Piece], stretches: &[usize], faces: &Polygons, starts: &[usize]) {
    let mut users: Vec<(u32, usize)> = Vec::new();
    for (at, &piece) in stretches.iter().enumerate() {
        for &(first, end) in &pieces[piece].faces {
            let corners = &faces.corners()[starts[first]..starts[end]];
            users.extend(corners.iter().map(|&vertex| (vertex, at)));
        }
    }
    users.sort_unstable();
    // The root of a set is its first stretch.
    let mut parent: Vec<usize> = (0..stretches.len()).collect();
    let mut root = |mut at: usize, joined: Option<usize>| {
        while parent[at] != at {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        if let Some(other) = joined {
            parent[at.max(other)] = at.min(other);
        }
        at
    };
    for pair in users.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let other = root(pair[0].1, None);
        root(pair[1].1, Some(other));
    }
    for at in 0..stretches.len() {
        let first = root(at, None);
        if first != at {
            let moved = std::mem::take(&mut pieces[stretches[at]].faces);
            pieces[stretches[first]].faces.extend(moved);
        }
    }
}

/// Numbers parts of the same name, with one warning.
fn number(pieces: &mut [Piece], warnings: &mut Warnings) {
    let mut names = UniqueNames::default();
    pieces.iter().for_each(|piece| names.reserve(&piece.name));
    let (mut count, mut first) = (0, None);
    for piece in pieces {
        let name = names.take(&piece.name);
        if name != piece.name {
            count += 1;
            first.get_or_insert((quote(piece.name.as_bytes()), piece.place));
            piece.name = name;
        }
    }
    if let Some((name, first)) = first {
        let what = format!("parts of the same name, as {name}, are numbered");
        warnings.push(Warning::Mended { what, count, first });
    }
}

/// The name of a file without folders and ending.
fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    match file.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => file,
    }
}

/// Where the corners of each face begin, and where they end.
fn starts(faces: &Polygons) -> Vec<usize> {
    let mut starts = Vec::with_capacity(faces.len() + 1);
    let mut at = 0;
    starts.push(at);
    for &size in faces.sizes() {
        at += size as usize;
        starts.push(at);
    }
    starts
}

/// The mesh of one part, with only the vertices that it uses.
fn pick(loaded: &Loaded, starts: &[usize], piece: &Piece) -> Result<Mesh, MeshError> {
    let (mut sizes, mut corners) = (Vec::new(), Vec::new());
    for &(first, end) in &piece.faces {
        sizes.extend_from_slice(&loaded.faces.sizes()[first..end]);
        corners.extend_from_slice(&loaded.faces.corners()[starts[first]..starts[end]]);
    }
    if u32::try_from(corners.len()).is_err() {
        let (count, most) = (corners.len(), u32::MAX as usize);
        return Err(MeshError::TooMany { what: "corners of one part", count, most });
    }
    let used = renumber(&mut corners);
    let vertices = used.into_iter().map(|vertex| loaded.vertices[vertex as usize]).collect();
    Mesh::from_face_sizes(vertices, &sizes, &corners)
}

/// Adds a part to a scene.
fn add(scene: &mut Scene, mesh: Option<Mesh>, name: Arc<str>, place: Place) -> NodeId {
    let mut children = Vec::new();
    if let Some(mesh) = mesh {
        let mesh = scene.add_at(Kind::Mesh(Arc::new(mesh)), None, place);
        let shape = Shape { geometry: Some(mesh), ..Shape::default() };
        children.push(scene.add_at(shape.into(), None, place));
    }
    let transform = Transform { children: Arc::new(children), ..Transform::default() };
    scene.add_at(transform.into(), Some(name), place)
}

/// Puts the parts into the world, below a `Transform` if the frame is not that of the world.
fn add_roots(scene: &mut Scene, parts: Vec<NodeId>, frame: &Frame) {
    if *frame == Frame::default() {
        for part in parts {
            scene.add_root(part);
        }
        return;
    }
    let rotation = match frame.up {
        Up::Y => Rotation::NONE,
        // (x, y, z) becomes (x, z, -y).
        Up::Z => Rotation { axis: Vec3::X, angle: -FRAC_PI_2 },
    };
    let scale = Vec3::splat(frame.unit);
    let frame = Transform { rotation, scale, children: Arc::new(parts), ..Transform::default() };
    let frame = scene.add(frame);
    scene.add_root(frame);
}

/// The words of a name with one blank between them.
pub(crate) fn joined<'a>(mut word: impl FnMut() -> Option<&'a [u8]>) -> String {
    let mut name = String::new();
    while let Some(word) = word() {
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(&String::from_utf8_lossy(word));
    }
    name
}

/// Numbers the vertices that the corners name anew, from 0 on without gaps, in their old order.
/// Gives the old number of each. There are fewer than 2^32 corners.
pub(crate) fn renumber(corners: &mut [u32]) -> Vec<u32> {
    // Vertex in the high half, corner in the low half. Time goes by the number of corners, not of
    // vertices: many small parts may share one long list.
    let mut order: Vec<u64> =
        (0u64..).zip(&*corners).map(|(at, &vertex)| u64::from(vertex) << 32 | at).collect();
    order.sort_unstable();
    let mut used: Vec<u32> = Vec::new();
    for entry in order {
        let (vertex, at) = ((entry >> 32) as u32, entry as u32 as usize);
        if used.last() != Some(&vertex) {
            used.push(vertex);
        }
        if let Some(corner) = corners.get_mut(at) {
            *corner = (used.len() - 1) as u32;
        }
    }
    used
}
