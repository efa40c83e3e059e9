//! Apart, touching or overlapping, up to a tolerance.

use super::super::{Pair, Relation};
use super::{DepthError, Effort};

/// How two solids lie to each other, up to a tolerance.
///
/// Exact answers about rounded input are often not what is asked: parts that are drawn flush are,
/// once their coordinates are rounded, a little apart or a little inside each other. Here
/// [`Class::Near`] and [`Class::Touching`] both mean contact within the tolerance, and everything
/// else is outside of it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Class {
    /// Further apart than the tolerance; the distance.
    Clear(f64),
    /// Apart, and not further than the tolerance; the distance.
    Near(f64),
    /// They share points, and a move no longer than the tolerance parts them.
    Touching,
    /// No move as short as the tolerance parts them, and each is partly outside of the other.
    Overlapping,
    /// No move as short as the tolerance parts them, and the first is inside the second.
    AInsideB,
    /// No move as short as the tolerance parts them, and the second is inside the first.
    BInsideA,
    /// They enclose the same points, and no move as short as the tolerance parts them.
    Identical,
    /// They overlap, and how deep they do is not known well enough for this tolerance.
    Unsure,
}

pub(super) fn classify(pair: &Pair<'_>, tolerance: f64) -> Result<Class, DepthError> {
    if tolerance.is_nan() || tolerance < 0.0 {
        return Err(DepthError::BadTolerance { what: "a tolerance", found: tolerance });
    }
    if pair.spheres().is_none() {
        pair.solid_models()?;
    }
    // Nothing is apart from what is empty by any number.
    let distance = pair.distance().map_or(f64::INFINITY, |found| found.distance);
    if distance > tolerance {
        return Ok(Class::Clear(distance));
    }
    if distance > 0.0 {
        return Ok(Class::Near(distance));
    }
    for effort in [Effort::default(), Effort::HIGH] {
        let depth = pair.separation(effort)?;
        if depth.at_most <= tolerance {
            return Ok(Class::Touching);
        }
        if depth.at_least > tolerance {
            return Ok(deep(pair));
        }
    }
    Ok(Class::Unsure)
}

/// Of two that overlap.
fn deep(pair: &Pair<'_>) -> Class {
    if let Some([a, b]) = pair.spheres() {
        let apart = a.centre.distance(b.centre);
        return match (apart + a.radius <= b.radius, apart + b.radius <= a.radius) {
            (true, true) => Class::Identical,
            (true, false) => Class::AInsideB,
            (false, true) => Class::BInsideA,
            (false, false) => Class::Overlapping,
        };
    }
    match pair.relation() {
        Some(Relation::AInsideB) => Class::AInsideB,
        Some(Relation::BInsideA) => Class::BInsideA,
        Some(Relation::Identical) => Class::Identical,
        _ => Class::Overlapping,
    }
}
