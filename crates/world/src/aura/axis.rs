//! The start and end points of auras on one axis, kept in order from frame to frame.

use super::Aura;
use super::sort::insertion_sort;
use glam::DVec3;

/// How much wider the auras must be spread on another axis before it is taken instead: a change
/// costs the order of the last frame.
const CHANGE_AT: f64 = 1.25;

/// Where an aura begins or ends on the axis.
#[derive(Clone, Copy, Debug)]
pub struct EndPoint {
    at: f64,
    /// Whose point it is.
    pub object: u32,
    /// Its end, not its start.
    pub is_end: bool,
}

/// All end points in order; where an end meets a start, the start comes first, for touching counts.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    axis: usize,
    points: Vec<EndPoint>,
}

impl Axis {
    /// The end points of this frame. Returns by how many places points were moved to order them.
    pub fn update(&mut self, auras: &[Aura]) -> u64 {
        let spread = spread(auras);
        for axis in 0..3 {
            if spread[axis] > spread[self.axis] * CHANGE_AT {
                self.axis = axis;
            }
        }
        let known = self.points.len() as u32 / 2;
        let objects = auras.len() as u32;
        self.points.retain(|point| point.object < objects);
        let new_points = (known..objects)
            .flat_map(|object| [false, true].map(|is_end| EndPoint { at: 0.0, object, is_end }));
        self.points.extend(new_points);
        for point in &mut self.points {
            point.at = auras[point.object as usize].span(self.axis)[usize::from(point.is_end)];
        }
        insertion_sort(&mut self.points, |a, b| {
            a.at.total_cmp(&b.at).then((a.is_end, a.object).cmp(&(b.is_end, b.object)))
        })
    }

    /// In order along the axis.
    #[must_use]
    pub fn points(&self) -> &[EndPoint] {
        &self.points
    }

    /// The two other axes.
    pub(super) fn across(&self) -> [usize; 2] {
        [(self.axis + 1) % 3, (self.axis + 2) % 3]
    }
}

/// The auras that have begun and not ended along the axis.
#[derive(Clone, Debug, Default)]
pub struct Active {
    list: Vec<u32>,
    /// Where each object is in the list.
    places: Vec<Option<u32>>,
}

impl Active {
    /// None yet, of so many objects.
    pub fn begin(&mut self, objects: usize) {
        self.list.clear();
        self.places.clear();
        self.places.resize(objects, None);
    }

    /// All of them.
    #[must_use]
    pub fn list(&self) -> &[u32] {
        &self.list
    }

    /// Returns true if the object is among them.
    #[must_use]
    pub fn contains(&self, object: u32) -> bool {
        self.places[object as usize].is_some()
    }

    /// Adds at the end of the list.
    pub fn push(&mut self, object: u32) {
        self.places[object as usize] = Some(self.list.len() as u32);
        self.list.push(object);
    }

    /// Removes, if present; the last takes its place.
    pub fn remove(&mut self, object: u32) {
        if let Some(place) = self.places[object as usize].take() {
            self.list.swap_remove(place as usize);
            if let Some(&moved) = self.list.get(place as usize) {
                self.places[moved as usize] = Some(place);
            }
        }
    }
}

/// How far the centres lie from their mean on each axis, on average.
pub(super) fn spread(auras: &[Aura]) -> DVec3 {
    let count = auras.len().max(1) as f64;
    let mean = auras.iter().map(|aura| aura.centre).sum::<DVec3>() / count;
    auras.iter().map(|aura| (aura.centre - mean).abs()).sum::<DVec3>() / count
}
