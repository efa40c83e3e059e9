//! Overlap, class and depth: in a line of the table and in JSON. Where there is none by definition,
//! the reason stands in its place.

use super::contacts::{faces, parts};
use jostle_geom::{
    Class, Clearing, DepthError, Effort, Immersion, OverlapsError, Pair, Separation,
};
use serde::Serialize;
use std::fmt;

/// What [`Depth`] has about immersion is at most this wide, as a part of the separation.
const IMMERSION_WIDTH: f64 = 0.01;

/// How deep two solids are in each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth {
    separation: Separation,
    /// Of B in A, and of A in B, if they overlap.
    immersions: Option<[Immersion; 2]>,
}

impl Depth {
    /// `swapped` is the same pair, the other way round.
    pub(crate) fn of(pair: &Pair<'_>, swapped: &Pair<'_>) -> Result<Depth, DepthError> {
        let separation = pair.separation(Effort::default())?;
        let width = separation.at_most * IMMERSION_WIDTH;
        let immersions = if separation.at_most > 0.0 {
            Some([pair.immersion(width)?, swapped.immersion(width)?])
        } else {
            None
        };
        Ok(Depth { separation, immersions })
    }

    pub(super) fn is_hit(&self) -> bool {
        self.separation.at_most > 0.0
    }
}

/// Deeper than the tolerance?
pub(super) fn is_deep(class: Class) -> bool {
    !matches!(class, Class::Clear(_) | Class::Near(_) | Class::Touching | Class::Unsure)
}

/// The name, and the distance of what is apart.
fn class_parts(class: Class) -> (&'static str, Option<f64>) {
    match class {
        Class::Clear(distance) => ("clear", Some(distance)),
        Class::Near(distance) => ("near", Some(distance)),
        Class::Touching => ("touching", None),
        Class::Overlapping => ("overlapping", None),
        Class::AInsideB => ("a-inside-b", None),
        Class::BInsideA => ("b-inside-a", None),
        Class::Identical => ("identical", None),
        // The library may learn others.
        _ => ("unsure", None),
    }
}

#[derive(Serialize)]
pub(super) struct OverlapsShape {
    overlaps: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
pub(super) struct ClassShape {
    class: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
pub(super) struct ClearingShape {
    first: Option<f64>,
    last: Option<f64>,
    faces: Option<[u32; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
pub(super) struct DepthShape {
    separation: Option<SeparationShape>,
    /// Of B in A; null if they do not overlap.
    immersion_of_b: Option<ImmersionShape>,
    immersion_of_a: Option<ImmersionShape>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct SeparationShape {
    at_least: f64,
    at_most: f64,
    way: [f64; 3],
    points: [[f64; 3]; 2],
}

#[derive(Serialize)]
struct ImmersionShape {
    at_least: f64,
    at_most: f64,
    point: [f64; 3],
    face: u32,
}

impl From<&Result<bool, OverlapsError>> for OverlapsShape {
    fn from(found: &Result<bool, OverlapsError>) -> OverlapsShape {
        let (overlaps, error) = parts(found);
        OverlapsShape { overlaps: overlaps.copied(), error }
    }
}

impl From<&Result<Class, DepthError>> for ClassShape {
    fn from(found: &Result<Class, DepthError>) -> ClassShape {
        let (class, error) = parts(found);
        let (name, distance) = class.copied().map(class_parts).unzip();
        ClassShape { class: name, distance: distance.flatten(), error }
    }
}

impl From<&Result<Clearing, DepthError>> for ClearingShape {
    fn from(found: &Result<Clearing, DepthError>) -> ClearingShape {
        let (found, error) = parts(found);
        ClearingShape {
            first: found.map(|found| found.first),
            last: found.map(|found| found.last),
            faces: found.and_then(|found| found.faces).map(faces),
            error,
        }
    }
}

impl From<&Result<Depth, DepthError>> for DepthShape {
    fn from(found: &Result<Depth, DepthError>) -> DepthShape {
        let (found, error) = parts(found);
        let [of_b, of_a] = match found.and_then(|found| found.immersions) {
            Some(both) => both.map(|immersion| Some(ImmersionShape::from(immersion))),
            None => [None, None],
        };
        let separation = found.map(|found| found.separation.into());
        DepthShape { separation, immersion_of_b: of_b, immersion_of_a: of_a, error }
    }
}

impl From<Separation> for SeparationShape {
    fn from(Separation { at_least, at_most, way, points }: Separation) -> SeparationShape {
        let points = points.map(|point| point.to_array());
        SeparationShape { at_least, at_most, way: way.to_array(), points }
    }
}

impl From<Immersion> for ImmersionShape {
    fn from(Immersion { at_least, at_most, point, face }: Immersion) -> ImmersionShape {
        ImmersionShape { at_least, at_most, point: point.to_array(), face }
    }
}

pub(super) fn write_overlaps(
    f: &mut fmt::Formatter<'_>,
    found: &Result<bool, OverlapsError>,
) -> fmt::Result {
    match found {
        Ok(true) => f.write_str("overlap"),
        Ok(false) => f.write_str("no overlap"),
        Err(error) => write!(f, "none: {error}"),
    }
}

pub(super) fn write_class(
    f: &mut fmt::Formatter<'_>,
    found: &Result<Class, DepthError>,
) -> fmt::Result {
    match found.as_ref().map(|class| class_parts(*class)) {
        Ok((name, Some(distance))) => write!(f, "{name}  {distance}"),
        Ok((name, None)) => f.write_str(name),
        Err(error) => write!(f, "none: {error}"),
    }
}

pub(super) fn write_clearing(
    f: &mut fmt::Formatter<'_>,
    found: &Result<Clearing, DepthError>,
) -> fmt::Result {
    match found {
        Ok(Clearing { first, last, faces }) => {
            write!(f, "first {first}  last {last}")?;
            match faces {
                Some(faces) => write!(f, "  faces {} and {}", faces.a, faces.b),
                None => f.write_str("  never in the way"),
            }
        }
        Err(error) => write!(f, "none: {error}"),
    }
}

pub(super) fn write_depth(
    f: &mut fmt::Formatter<'_>,
    found: &Result<Depth, DepthError>,
) -> fmt::Result {
    let Depth { separation, immersions } = match found {
        Ok(found) => found,
        Err(error) => return write!(f, "none: {error}"),
    };
    let Some(immersions) = immersions else { return f.write_str("no overlap") };
    let Separation { at_least, at_most, way, .. } = separation;
    write!(f, "separation {at_least} to {at_most} by {way}")?;
    for (name, Immersion { at_least, at_most, point, .. }) in
        ["B in A", "A in B"].into_iter().zip(immersions)
    {
        write!(f, "  {name} {at_least} to {at_most} at {point}")?;
    }
    Ok(())
}
