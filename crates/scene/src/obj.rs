//! Wavefront OBJ: the vertices and faces of all objects together, and where each begins.
//!
//! Read by hand, not through `tobj` 4: that crate gives every object its own copy of the
//! vertices, which opens a surface that spans several objects; its errors have no
//! line; it takes NaN; colours must stand on all vertices or none; and in 200,000 random
//! mutations of one small file it overflowed seven times on large indices. It is the
//! reference in tests/twins.rs. Source: Wavefront, Advanced Visualizer manual, appendix B1.

use crate::error::{LoadError, Place, unexpected};
use crate::gather::{Gather, Loaded};
use crate::polygons::{Mark, Part, joined};
use crate::text::{Words, number};
use glam::Vec3;

/// Statements that carry no surface and are skipped without a warning.
const SILENT: &[&[u8]] = &[
    b"vt",
    b"vn",
    b"vp",
    b"s",
    b"mg",
    b"usemtl",
    b"mtllib",
    b"usemap",
    b"maplib",
    b"lod",
    b"bevel",
    b"c_interp",
    b"d_interp",
    b"shadow_obj",
    b"trace_obj",
];

/// Statements of curved geometry.
const CURVED: &[&[u8]] = &[
    b"cstype", b"deg", b"bmat", b"step", b"curv", b"curv2", b"surf", b"parm", b"trim", b"hole",
    b"scrv", b"sp", b"end", b"con", b"ctech", b"stech",
];

const UNKNOWN: &str = "statements that are not known";

/// `marked` is called at each beginning of an object or group.
pub(crate) fn read_parts(bytes: &[u8], marked: &mut dyn FnMut(Mark)) -> Result<Loaded, LoadError> {
    let mut gather = Gather::default();
    let mut words = Words::new(bytes, 1, true);
    let mut unknown: Option<(Place, &[u8])> = None;
    let mut faces = 0;
    loop {
        let place = words.place();
        match word(&mut words) {
            None => {}
            Some(b"v") => vertex(&mut words, place, &mut gather)?,
            Some(b"f" | b"fo") => {
                face(&mut words, place, &mut gather)?;
                faces += 1;
            }
            Some(part @ (b"o" | b"g")) => {
                let part = if part == b"o" { Part::Object } else { Part::Group };
                let name = joined(|| word(&mut words));
                marked(Mark::new(part, name, faces, place));
            }
            Some(b"p" | b"l") => gather.ignored("points and lines", place),
            Some(word) if SILENT.contains(&word) => {}
            Some(word) if CURVED.contains(&word) => {
                gather.ignored("statements of curves and curved surfaces", place);
            }
            Some(word) => {
                unknown.get_or_insert((place, word));
                gather.ignored(UNKNOWN, place);
            }
        }
        if !words.next_line() {
            break;
        }
    }
    // Odd statements are common in good files; a file of nothing else is another format.
    if let Some((place, word)) = unknown
        && gather.vertex_count() == 0
    {
        return Err(unexpected(Some(word), place, "an OBJ statement such as v or f"));
    }
    gather.finish()
}

/// The next word of this statement. A comment ends it, also one that ends in a backslash.
fn word<'a>(words: &mut Words<'a>) -> Option<&'a [u8]> {
    let word = words.word()?;
    if word[0] == b'#' {
        words.skip_to_line_end();
        return None;
    }
    Some(word)
}

/// `v x y z`, followed by a weight, or by a colour, or by both.
fn vertex(words: &mut Words<'_>, place: Place, gather: &mut Gather) -> Result<(), LoadError> {
    let xyz = [word(words), word(words), word(words)];
    let weight = word(words);
    let is_colour = weight.is_some() && word(words).is_some();
    let weight = if is_colour { None } else { weight };
    let mut vertex = [0.0; 3];
    let weight = weight.map_or(Ok(1.0), |word| number(Some(word), place, "a weight"))?;
    for (coordinate, word) in vertex.iter_mut().zip(xyz) {
        *coordinate = if weight == 1.0 {
            gather.coordinate(word, place)?
        } else {
            // Homogeneous coordinates, as other readers take them too (assimp, tobj).
            gather.coordinate_wide(number(word, place, "a coordinate")? / weight, place)?
        };
    }
    gather.vertex(Vec3::from_array(vertex), place)
}

/// `f 1 2 3`, `f 1/1 2/2 3/3`, `f 1/1/1 …`, `f 1//1 …`, or negative: counted back from here.
fn face(words: &mut Words<'_>, place: Place, gather: &mut Gather) -> Result<(), LoadError> {
    while let Some(word) = word(words) {
        let written = corner_index(word)
            .ok_or_else(|| unexpected(Some(word), place, "a face corner such as 7, 7/1 or 7//2"))?;
        let index = match written {
            0 => return Err(gather.bad_index(0, place)),
            1.. => written - 1,
            // At least 0 exactly if that many vertices stand above.
            _ => written.saturating_add(gather.vertex_count() as i64),
        };
        gather.corner(index, written, place)?;
    }
    gather.close_face(place)
}

/// The vertex index of a corner; `None` if the word is no corner.
fn corner_index(word: &[u8]) -> Option<i64> {
    let mut parts = std::str::from_utf8(word).ok()?.split('/');
    let index = parts.next()?.parse().ok()?;
    // Texture and normal are not used, but what is not a number there is damage.
    let rest_is_fine = parts.by_ref().take(2).all(|p| p.is_empty() || p.parse::<i64>().is_ok());
    (rest_is_fine && parts.next().is_none()).then_some(index)
}
