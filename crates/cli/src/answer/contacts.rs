//! Contacts and patches: in a line of the table and in JSON. Where there are none by definition,
//! the reason stands in their place.

use jostle_geom::{
    ContactPoint, Contacts, ContactsError, FacePair, Patch, PatchExtent, PatchesError, Spacing,
};
use serde::Serialize;
use std::fmt;

/// Patches that a line of the table shows; JSON has them all.
const PATCHES_SHOWN: usize = 5;

/// Do they touch? What has no contacts although it touches is a hit, too.
pub(super) fn is_hit(found: &Result<Contacts, ContactsError>) -> bool {
    let touches = |contact: &ContactPoint| !matches!(contact.spacing, Spacing::Gap(_));
    found.as_ref().map_or(true, |found| found.points.iter().any(touches))
}

#[derive(Serialize)]
pub(super) struct ContactsShape {
    contacts: Option<Vec<ContactShape>>,
    way_out: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct ContactShape {
    faces: [u32; 2],
    normal: [f64; 3],
    points: [[f64; 3]; 2],
    /// gap, touching or depth
    spacing: &'static str,
    distance: f64,
}

#[derive(Serialize)]
pub(super) struct PatchesShape {
    patches: Option<Vec<PatchShape>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct PatchShape {
    /// point, curve or area
    kind: &'static str,
    size: f64,
    centre: [f64; 3],
    normal: Option<[f64; 3]>,
    faces: Vec<[u32; 2]>,
}

pub(super) fn faces(pair: FacePair) -> [u32; 2] {
    [pair.a, pair.b]
}

fn spacing_parts(spacing: Spacing) -> (&'static str, f64) {
    match spacing {
        Spacing::Gap(gap) => ("gap", gap),
        Spacing::Touching => ("touching", 0.0),
        Spacing::Depth(depth) => ("depth", depth),
    }
}

/// Kind and size.
fn extent_parts(extent: PatchExtent) -> (&'static str, f64) {
    match extent {
        PatchExtent::Point => ("point", 0.0),
        PatchExtent::Curve { length } => ("curve", length),
        PatchExtent::Area { area } => ("area", area),
    }
}

impl From<&ContactPoint> for ContactShape {
    fn from(contact: &ContactPoint) -> ContactShape {
        let (spacing, distance) = spacing_parts(contact.spacing);
        ContactShape {
            faces: faces(contact.faces),
            normal: contact.normal.to_array(),
            points: contact.points.map(|point| point.to_array()),
            spacing,
            distance,
        }
    }
}

impl From<&Result<Contacts, ContactsError>> for ContactsShape {
    fn from(found: &Result<Contacts, ContactsError>) -> ContactsShape {
        let (found, error) = parts(found);
        ContactsShape {
            contacts: found.map(|found| found.points.iter().map(ContactShape::from).collect()),
            way_out: found.and_then(|found| found.way_out).map(|way| way.to_array()),
            error,
        }
    }
}

impl From<&Result<Vec<Patch>, PatchesError>> for PatchesShape {
    fn from(found: &Result<Vec<Patch>, PatchesError>) -> PatchesShape {
        let (found, error) = parts(found);
        let shape = |patch: &Patch| {
            let (kind, size) = extent_parts(patch.extent);
            PatchShape {
                kind,
                size,
                centre: patch.centre.to_array(),
                normal: patch.normal.map(|normal| normal.to_array()),
                faces: patch.faces.iter().copied().map(faces).collect(),
            }
        };
        PatchesShape { patches: found.map(|found| found.iter().map(shape).collect()), error }
    }
}

/// The answer, or the text of the error.
pub(super) fn parts<T, E: fmt::Display>(found: &Result<T, E>) -> (Option<&T>, Option<String>) {
    (found.as_ref().ok(), found.as_ref().err().map(ToString::to_string))
}

/// How many contacts, and the closest or deepest.
pub(super) fn write_contacts(
    f: &mut fmt::Formatter<'_>,
    found: &Result<Contacts, ContactsError>,
) -> fmt::Result {
    let found = match found {
        Ok(found) => found,
        Err(error) => return write!(f, "none: {error}"),
    };
    write!(f, "{} contacts", found.points.len())?;
    let Some(ContactPoint { faces, normal, points, spacing }) = found.points.first() else {
        return Ok(());
    };
    let (spacing, distance) = spacing_parts(*spacing);
    f.write_str("  ")?;
    f.write_str(spacing)?;
    if distance > 0.0 {
        write!(f, " {distance}")?;
    }
    let [on_a, on_b] = points;
    write!(f, " along {normal}  face {} at {on_a}, face {} at {on_b}", faces.a, faces.b)
}

pub(super) fn write_patches(
    f: &mut fmt::Formatter<'_>,
    found: &Result<Vec<Patch>, PatchesError>,
) -> fmt::Result {
    let patches = match found {
        Ok(patches) => patches,
        Err(error) => return write!(f, "none: {error}"),
    };
    write!(f, "{} patches", patches.len())?;
    for patch in patches.iter().take(PATCHES_SHOWN) {
        let (kind, size) = extent_parts(patch.extent);
        write!(f, "  {kind}")?;
        if size > 0.0 {
            write!(f, " {size}")?;
        }
        write!(f, " at {}", patch.centre)?;
        if let Some(normal) = patch.normal {
            write!(f, " along {normal}")?;
        }
    }
    f.write_str(if patches.len() > PATCHES_SHOWN { "  …" } else { "" })
}
