//! Boxes as the structures keep them: two corners, possibly empty.

use glam::Vec3;
use jostle_geom::Aabb;

/// Lowest and highest corner of a box, as a pair of points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) low: Vec3,
    pub(super) high: Vec3,
}

impl From<&Aabb> for Span {
    #[inline]
    fn from(bounds: &Aabb) -> Span {
        Span { low: bounds.min(), high: bounds.max() }
    }
}

impl Span {
    pub(super) const EMPTY: Span =
        Span { low: Vec3::splat(f32::INFINITY), high: Vec3::splat(f32::NEG_INFINITY) };

    /// The longest side, rounded up.
    pub(super) fn extent(self) -> f32 {
        (self.high - self.low).max_element().next_up()
    }

    /// The extent that a box counts as where cells are made for it: no less than this part of its
    /// coordinates. Boxes without extent would get cells of no width, whose numbers all end where
    /// integers do, so that all boxes would be in one cell.
    pub(super) fn cell_extent(self) -> f32 {
        self.extent().max(self.least_cell_extent())
    }

    /// What [`Span::cell_extent`] is at least.
    pub(super) fn least_cell_extent(self) -> f32 {
        const LEAST: f32 = 1.0 / (1 << 20) as f32;
        self.low.abs().max(self.high.abs()).max_element() * LEAST
    }

    /// A number that neighbours in space share, in an order that keeps neighbours together: the
    /// brick of 4³ cells of this width, then the cell.
    pub(super) fn cell_key(self, width: f64) -> ([i32; 3], [i32; 3]) {
        let cell = [2, 1, 0].map(|axis| (f64::from(self.low[axis]) / width).floor() as i32);
        (cell.map(|c| c >> 2), cell)
    }

    pub(super) fn overlaps(&self, other: &Span) -> bool {
        self.low.cmple(other.high).all() & other.low.cmple(self.high).all()
    }

    pub(super) fn union(self, other: Span) -> Span {
        Span { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Twice the centre, if it does not overflow; any order-preserving stand-in would do.
    pub(super) fn middle(self) -> Vec3 {
        self.low * 0.5 + self.high * 0.5
    }

    #[inline]
    pub(super) fn contains(&self, other: &Span) -> bool {
        self.low.cmple(other.low).all() & other.high.cmple(self.high).all()
    }

    pub(super) fn grown(self, share: f32) -> Span {
        let by = (self.high - self.low) * share;
        Span { low: self.low - by, high: self.high + by }
    }
}
