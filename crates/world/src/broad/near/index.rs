//! Where fat boxes are looked up, and how fat they are.

use super::cells::Cells;
use super::nodes::{Nodes, Open};
use super::span::Span;
use glam::Vec3;
use jostle_geom::simd::Simd;

/// How many steps ahead a fat box reaches, on average. More mean fewer questions and more near
/// pairs; the optimum is flat.
const AHEAD: f32 = 16.0;
/// Fat boxes are larger by this share of the box on all sides, for motion that changes.
const MARGIN: f32 = 0.02;
/// The same for boxes that were never seen moving: it may be in any direction.
const MARGIN_NEW: f32 = 0.25;

/// How fat boxes are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::broad) enum IndexKind {
    Cells,
    Nodes,
}

/// The fat boxes, by proxy.
#[derive(Clone, Debug)]
pub(super) enum Index {
    Cells(Cells),
    Nodes(Nodes),
}

/// What is called for each box that a query finds. Implementations must be `#[inline(always)]`, as
/// all that runs inside a kernel.
pub(super) trait Visitor {
    /// There is one in this proxy.
    fn visit(&mut self, proxy_index: u32);
}

impl Visitor for Vec<u32> {
    #[inline(always)]
    fn visit(&mut self, proxy_index: u32) {
        self.push(proxy_index);
    }
}

/// A fat box, and the extent of the box in it when it was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fat {
    pub(super) span: Span,
    /// (For cells, at least [`Span::least_cell_extent`].)
    pub(super) extent: f32,
}

/// A box that needs a new fat box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Escaped {
    pub(super) proxy_index: u32,
    /// How far it moved since the last step.
    pub(super) motion: Vec3,
}

impl Index {
    pub(super) fn new(kind: IndexKind) -> Index {
        match kind {
            IndexKind::Cells => Index::Cells(Cells::new(1.0)),
            IndexKind::Nodes => Index::Nodes(Nodes::new()),
        }
    }

    /// An empty index for boxes of these sizes.
    pub(super) fn anew(&self, mut sizes: Vec<f32>) -> Index {
        match self {
            Index::Nodes(_) => Index::Nodes(Nodes::new()),
            Index::Cells(_) if sizes.is_empty() => Index::Cells(Cells::new(1.0)),
            Index::Cells(_) => {
                let usual = sizes.len() * 19 / 20;
                let usual = sizes.select_nth_unstable_by(usual, f32::total_cmp).1;
                // A little more, so that boxes of one size are not on two levels by rounding.
                Index::Cells(Cells::new((*usual * 1.01).max(f32::MIN_POSITIVE)))
            }
        }
    }

    /// Puts in all of `boxes` and takes out all others.
    pub(super) fn rebuild(&mut self, boxes: &[(Fat, u32)]) {
        match self {
            Index::Nodes(nodes) => {
                let boxes = boxes.iter().map(|&(fat, proxy_index)| (fat.span, proxy_index));
                nodes.rebuild(&mut boxes.collect::<Vec<_>>());
            }
            Index::Cells(cells) => {
                cells.clear();
                boxes.iter().for_each(|&(fat, proxy_index)| cells.insert(proxy_index, fat));
            }
        }
    }

    /// Is an index that is made as a whole better than one made bit by bit?
    pub(super) fn gains_by_rebuilding(&self) -> bool {
        matches!(self, Index::Nodes(_))
    }

    pub(super) fn insert_all(&mut self, boxes: &[(Fat, u32)]) {
        match self {
            Index::Cells(cells) => {
                boxes.iter().for_each(|&(fat, proxy_index)| cells.insert(proxy_index, fat));
            }
            Index::Nodes(nodes) => {
                // Inserting looks for the leaf that grows least, so the leaves must be tight.
                nodes.refit();
                boxes.iter().for_each(|&(fat, proxy_index)| nodes.insert(proxy_index, fat.span));
                nodes.refit();
            }
        }
    }

    pub(super) fn remove(&mut self, proxy_index: u32) {
        match self {
            Index::Cells(cells) => cells.remove(proxy_index),
            Index::Nodes(nodes) => nodes.remove(proxy_index),
        }
    }

    /// Returns whether the box is still in.
    pub(super) fn update_or_remove(&mut self, proxy_index: u32, fat: Fat) -> bool {
        match self {
            Index::Cells(cells) => cells.update_or_remove(proxy_index, fat),
            Index::Nodes(nodes) => nodes.update_or_remove(proxy_index, fat.span),
        }
    }

    /// Visits the proxies of all fat boxes that overlap `span`; returns how much was looked at.
    #[inline(always)]
    pub(super) fn query<S: Simd>(
        &self,
        span: Span,
        open: &mut Open,
        found: &mut impl Visitor,
    ) -> u64 {
        match self {
            Index::Cells(cells) => cells.query::<S>(span, found),
            Index::Nodes(nodes) => nodes.query::<S>(span, open, found),
        }
    }

    /// Boxes this close to each other should have neighbouring proxies.
    pub(super) fn neighbourhood(&self) -> f64 {
        match self {
            Index::Cells(cells) => cells.width(0),
            Index::Nodes(_) => 1.0,
        }
    }

    /// The box with room for what the motion of the last step promises.
    pub(super) fn fatten(&self, span: Span, escaped_box: &Escaped) -> Fat {
        let motion = escaped_box.motion;
        let size = span.high - span.low;
        let extent = size.max_element().max(span.least_cell_extent());
        let room = match self {
            Index::Nodes(_) => f32::INFINITY,
            Index::Cells(cells) => cells.room_for(extent),
        };
        // Boxes that start together shall not leave together: some reach further than others.
        let spread =
            (escaped_box.proxy_index.wrapping_mul(0x9E37_79B9) >> 8) as f32 / (1 << 24) as f32;
        let margin = if motion == Vec3::ZERO { MARGIN_NEW } else { MARGIN };
        let margin = size * margin + motion.abs() * 0.25;
        // A box that moves far in a step would get a long fat box: it reaches no further than its
        // own size then, or two steps.
        let most = Vec3::splat(size.max_element()).max(motion.abs() * 2.0);
        let most = most.min(Vec3::splat(room * 0.999) - size - margin * 2.0).max(Vec3::ZERO);
        let ahead = (motion * (AHEAD * (0.5 + spread))).clamp(-most, most);
        let fat = Span {
            low: span.low + ahead.min(Vec3::ZERO) - margin,
            high: span.high + ahead.max(Vec3::ZERO) + margin,
        };
        // Sums near the end of the numbers may be infinite or NaN; margins may be too wide.
        let fits = fat.low.is_finite() && fat.high.is_finite() && fat.extent() <= room;
        Fat { span: if fits { fat } else { span }, extent }
    }
}
