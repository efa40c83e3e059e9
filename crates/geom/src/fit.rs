//! How much larger may a part be that fits, or how much smaller must it be?
//!
//! Nominal parts touch or overlap in their final place, so "touches" alone says nothing. The part
//! is made larger or smaller as [`Mesh::offset`] does it, and each size is tested: what comes out
//! is one size that was found free, and one that was found to touch.

use crate::mesh::OffsetError;
use crate::{Mesh, Model, Pair, Pose, Quality};

/// Between which offsets to look for the one that just fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitLimits {
    /// The largest offset that is tried, outward and inward. What is not above 0, or NaN, tries
    /// none.
    pub most: f64,
    /// The search ends when the two offsets are this close; at least a millionth of `most`.
    pub tolerance: f64,
}

/// The offset with which a part just fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// With its faces this far out (in, if below 0) the part was found not to touch. None if it
    /// touches with all that were tried.
    pub free: Option<f64>,
    /// With this offset it was found to touch. None if it touches with none.
    pub touching: Option<f64>,
}

/// How much larger can `part` be without touching `other`, or how much smaller must it be?
///
/// Both offsets were tested, exactly, for the offset part as [`Mesh::offset`] makes it; what lies
/// between them is not known. A part that lies inside a solid touches it.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{FitLimits, Model, Pose, Quality, fit, solids};
///
/// // A peg that is nominally as thick as the wall is far away.
/// let wall = Model::build(solids::cuboid(DVec3::ONE)?.into_solid()?, Quality::Default);
/// let peg = solids::cuboid(DVec3::ONE)?;
/// let beside = Pose::from_translation(DVec3::X)?;
/// let limits = FitLimits { most: 0.1, tolerance: 1e-6 };
/// let found = fit(&peg, &beside, &wall, &Pose::IDENTITY, &limits)?;
/// assert_eq!(found.touching, Some(0.0));
/// assert!((-2e-6..0.0).contains(&found.free.unwrap()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A part that is not closed or has faces of both orientations. An offset that cannot be made
/// because the part is too thin for it ends the search instead.
pub fn fit(
    part: &Mesh,
    pose: &Pose,
    other: &Model,
    other_pose: &Pose,
    limits: &FitLimits,
) -> Result<Fit, OffsetError> {
    let touches = |offset: f64| -> Result<bool, OffsetError> {
        let (mesh, _) = part.offset(offset)?;
        let model = Model::build(mesh, Quality::Fast);
        Ok(Pair::new(other, other_pose, &model, pose).touches())
    };
    let now = touches(0.0)?;
    let mut found = Fit { free: (!now).then_some(0.0), touching: now.then_some(0.0) };
    if limits.most.is_nan() || limits.most <= 0.0 {
        return Ok(found);
    }
    let far = if now { -limits.most } else { limits.most };
    match touches(far) {
        Ok(true) if now => return Ok(found),
        Ok(true) => found.touching = Some(far),
        Ok(false) => found.free = Some(far),
        Err(_) => {}
    }
    if found.touching.is_none() && found.free == Some(far) {
        return Ok(found);
    }
    let tolerance = limits.tolerance.max(1e-6 * limits.most);
    // Where the far end could not be made, the search goes on towards it all the same.
    let (mut near, mut end) = (0.0, far);
    while (end - near).abs() > tolerance {
        let middle = near + (end - near) * 0.5;
        match touches(middle) {
            Ok(touching) => {
                let slot = if touching { &mut found.touching } else { &mut found.free };
                let best = |old: f64| if touching { old.min(middle) } else { old.max(middle) };
                *slot = Some(slot.map_or(middle, best));
                if touching == now { near = middle } else { end = middle }
            }
            Err(_) => end = middle,
        }
    }
    Ok(found)
}
