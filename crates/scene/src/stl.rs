//! STL, text and binary, distinguished by size first: exporters also write binary files whose
//! header begins with the word `solid`.
//!
//! Read by hand, not through `stl_io` 0.11: that crate goes by the first word, reads only the first
//! solid of a text, wants a blank after `solid`, and its errors have no position. It is the
//! reference in tests/twins.rs. Source: 3D Systems, StereoLithography Interface Specification,
//! 1989.

use crate::error::{LoadError, Place, unexpected};
use crate::gather::{Gather, Loaded, Polygons};
use crate::polygons::{Mark, Part, joined};
use crate::text::Words;
use glam::Vec3;

/// 80 bytes of anything, then the number of triangles.
const HEADER: usize = 84;
/// Normal and three vertices as `f32`, little-endian, and two bytes of attributes.
const RECORD: usize = 50;

/// `marked` is called at each beginning of a solid of a text.
pub(crate) fn read_parts(bytes: &[u8], marked: &mut dyn FnMut(Mark)) -> Result<Loaded, LoadError> {
    let mut loaded = if is_text(bytes) { read_text(bytes, marked)? } else { read_binary(bytes)? };
    weld(&mut loaded);
    Ok(loaded)
}

fn is_text(bytes: &[u8]) -> bool {
    if let Some(count) = declared_triangles(bytes)
        && bytes.len() as u64 == HEADER as u64 + RECORD as u64 * u64::from(count)
    {
        return false;
    }
    let words = bytes.trim_ascii_start();
    let has_keyword = words.get(..5).is_some_and(|w| w.eq_ignore_ascii_case(b"solid"));
    // A damaged binary file has NUL bytes in its header or its count; a text has none.
    has_keyword && !bytes[..bytes.len().min(HEADER)].contains(&0)
}

fn declared_triangles(bytes: &[u8]) -> Option<u32> {
    let count = bytes.get(80..HEADER)?;
    Some(u32::from_le_bytes(count.try_into().ok()?))
}

fn read_binary(bytes: &[u8]) -> Result<Loaded, LoadError> {
    let Some(count) = declared_triangles(bytes) else {
        let what = "an STL file (text that begins with solid, or a binary header)".to_string();
        let (needs, left) = (HEADER as u128, bytes.len());
        return Err(LoadError::Truncated { place: Place::Byte(0), what, needs, left });
    };
    let records = &bytes[HEADER..];
    let needs = u128::from(count) * RECORD as u128;
    if needs > records.len() as u128 {
        let place = Place::Byte(80);
        let what = format!("the list of {count} triangles");
        return Err(LoadError::Truncated { place, what, needs, left: records.len() });
    }
    let used = count as usize * RECORD;
    let mut gather = Gather::default();
    gather.reserve_vertices(3 * count as usize);
    for (record, bytes) in records[..used].chunks_exact(RECORD).enumerate() {
        let start = HEADER + record * RECORD;
        for corner in [12, 24, 36] {
            let mut vertex = [0.0; 3];
            for (axis, coordinate) in vertex.iter_mut().enumerate() {
                let at = corner + 4 * axis;
                let raw = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
                let wide = f64::from(f32::from_le_bytes(raw));
                *coordinate = gather.coordinate_wide(wide, Place::Byte(start + at))?;
            }
            gather.vertex(Vec3::from_array(vertex), Place::Byte(start + corner))?;
        }
    }
    if records.len() > used {
        gather.trailing(records.len() - used, Place::Byte(HEADER + used));
    }
    gather.finish()
}

fn read_text(bytes: &[u8], marked: &mut dyn FnMut(Mark)) -> Result<Loaded, LoadError> {
    let mut gather = Gather::default();
    let mut words = Words::new(bytes, 1, false);
    while let Some(word) = words.word_anywhere() {
        if !word.eq_ignore_ascii_case(b"solid") {
            return Err(unexpected(Some(word), words.place(), "solid or the end"));
        }
        let (place, first_face) = (words.place(), gather.vertex_count() / 3);
        let name = joined(|| words.word());
        marked(Mark::new(Part::Solid, name, first_face, place));
        words.next_line();
        solid(&mut words, &mut gather)?;
    }
    gather.finish()
}

/// The facets of one solid, up to and including `endsolid` and its name.
fn solid(words: &mut Words<'_>, gather: &mut Gather) -> Result<(), LoadError> {
    loop {
        match words.word_anywhere() {
            Some(word) if word.eq_ignore_ascii_case(b"facet") => facet(words, gather)?,
            Some(word) if word.eq_ignore_ascii_case(b"endsolid") => {
                words.next_line();
                return Ok(());
            }
            word => return Err(unexpected(word, words.place(), "facet or endsolid")),
        }
    }
}

fn facet(words: &mut Words<'_>, gather: &mut Gather) -> Result<(), LoadError> {
    expect(words, "normal")?;
    for _ in 0..3 {
        // The normal follows from the vertices; exporters write nonsense here (NaN for slivers).
        if words.word_anywhere().is_none() {
            return Err(unexpected(None, words.place(), "the three numbers of a normal"));
        }
    }
    for keyword in ["outer", "loop"] {
        expect(words, keyword)?;
    }
    for _ in 0..3 {
        expect(words, "vertex")?;
        let place = words.place();
        let mut vertex = [0.0; 3];
        for coordinate in &mut vertex {
            *coordinate = gather.coordinate(words.word(), place)?;
        }
        gather.vertex(Vec3::from_array(vertex), place)?;
    }
    for keyword in ["endloop", "endfacet"] {
        expect(words, keyword)?;
    }
    Ok(())
}

fn expect(words: &mut Words<'_>, keyword: &str) -> Result<(), LoadError> {
    match words.word_anywhere() {
        Some(word) if word.eq_ignore_ascii_case(keyword.as_bytes()) => Ok(()),
        word => Err(unexpected(word, words.place(), keyword)),
    }
}

/// Makes one vertex of all vertices at the same position, in order of first appearance.
///
/// Sorting needs no hash function, and 32 bytes per corner instead of a table's 50 and more.
fn weld(loaded: &mut Loaded) {
    let corners = &loaded.vertices;
    // Position in the high 96 bits, corner in the low 32: the first of equals sorts first.
    let mut order: Vec<u128> = Vec::with_capacity(corners.len());
    for (corner, vertex) in (0u32..).zip(corners) {
        // Adding zero turns -0 into +0, which is the same position.
        let [x, y, z] = (*vertex + Vec3::ZERO).to_array().map(|c| u128::from(c.to_bits()));
        order.push(x << 96 | y << 64 | z << 32 | u128::from(corner));
    }
    order.sort_unstable();
    let mut first_of = vec![0u32; corners.len()];
    let mut first = 0;
    for (i, &entry) in order.iter().enumerate() {
        if i == 0 || order[i - 1] >> 32 != entry >> 32 {
            first = entry as u32;
        }
        first_of[entry as u32 as usize] = first;
    }
    drop(order);
    let mut welded: Vec<Vec3> = Vec::new();
    for corner in 0..first_of.len() {
        let first = first_of[corner] as usize;
        if first == corner {
            // Replaced by its new number; later corners read it from here.
            first_of[corner] = welded.len() as u32;
            welded.push(loaded.vertices[corner]);
        } else {
            first_of[corner] = first_of[first];
        }
    }
    loaded.vertices = welded;
    loaded.faces = Polygons::from_triangles(first_of);
}
