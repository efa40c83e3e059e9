//! Interest by regions: the alternative to auras, coarse and cheap.
//!
//! Space is cut into cubes once and for all; a message reaches all objects in the region of its
//! sender or in one of the 26 around it (§2 of the paper). Auras play no part: two that overlap
//! across more than a region miss each other's messages, and many receive what does not concern
//! them.

use glam::DVec3;

/// Objects by region.
#[derive(Clone, Debug)]
pub struct RegionInterest {
    /// The region of each object.
    regions: Vec<Region>,
    /// All objects, in the order of their regions.
    order: Vec<(Region, u32)>,
}

type Region = [i64; 3];

/// Why objects cannot be sorted into regions.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RegionError {
    /// The size of regions is not a number above 0.
    #[error("the size {size} of regions must be finite and above 0")]
    Size {
        /// As given.
        size: f64,
    },
    /// An object is not finite, or so far out that neighbouring regions cannot be distinguished.
    #[error("object {object} at {place} must be within ±2^52 regions of size {size}")]
    TooFar {
        /// Its number.
        object: usize,
        /// Where it is.
        place: DVec3,
        /// As given.
        size: f64,
    },
}

/// Regions are numbered up to here, either way: whole numbers are exact in `f64` beyond it.
const REGIONS_MOST: f64 = (1u64 << 52) as f64;

impl RegionInterest {
    /// Sorts objects into cubes with sides of length `size`, one with a corner at the origin. Cubes
    /// are half open: a place on a border belongs to the higher one.
    ///
    /// # Errors
    /// If the size is not a number above 0, or a place too far out.
    pub fn new(places: &[DVec3], size: f64) -> Result<RegionInterest, RegionError> {
        if !(size > 0.0 && size.is_finite()) {
            return Err(RegionError::Size { size });
        }
        let region = |(object, &place): (usize, &DVec3)| {
            let region = (place / size).floor();
            match region.abs().cmplt(DVec3::splat(REGIONS_MOST)).all() {
                true => Ok(region.to_array().map(|number| number as i64)),
                false => Err(RegionError::TooFar { object, place, size }),
            }
        };
        let regions = places.iter().enumerate().map(region).collect::<Result<Vec<_>, _>>()?;
        let mut order: Vec<(Region, u32)> = regions.iter().copied().zip(0..).collect();
        order.sort_unstable();
        Ok(RegionInterest { regions, order })
    }

    /// Everyone in the sender's region or a neighbouring one, in order, the sender left out. `None`
    /// if there is no such object.
    #[must_use]
    pub fn of(&self, sender: u32) -> Option<Vec<u32>> {
        let [x, y, z] = *self.regions.get(sender as usize)?;
        let mut recipients = Vec::new();
        for x in x - 1..=x + 1 {
            for y in y - 1..=y + 1 {
                // Three regions in a row are neighbours in the order too.
                let begin = self.order.partition_point(|entry| entry.0 < [x, y, z - 1]);
                let row = self.order[begin..].iter().take_while(|entry| entry.0 <= [x, y, z + 1]);
                recipients.extend(row.map(|entry| entry.1).filter(|&other| other != sender));
            }
        }
        recipients.sort_unstable();
        Some(recipients)
    }
}
