//! What a node has to do, counted now and then for the directory.
//!
//! Pairs are counted in several ticks: what the triangles of a node take differs by a fifth and
//! more from one tick to the next, and regions that were cut by the pairs of one tick gave one of
//! eight nodes 1.4 times the mean of the next second.

use super::Node;
use crate::load::NodeLoad;
use crate::time::{Span, Tick, Time};
use crate::view::Epoch;

/// How often it is counted. (Each time that the directory is sent a report, ten times a second, was
/// a fourteenth of a member's work in a group of eight; regions are cut anew after one and a half
/// seconds at the earliest.)
const EVERY: Span = Span::from_ms(500);

/// Pairs of one in so many ticks are taken, and of so many ticks at most between two counts: half a
/// second has about as many at 60 ticks per second.
const STRIDE: u64 = 4;
const TICKS_MAX: u32 = 8;

/// What was counted, and what will be.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    load: NodeLoad,
    /// The view that it was counted in, and until when it will do.
    of: Epoch,
    until: Time,
    /// Pairs of some ticks since, and of how many.
    pairs: Vec<([i32; 3], u32)>,
    ticks: u32,
}

impl Node {
    /// A tick is over.
    pub(super) fn count_tick(&mut self, Tick(tick): Tick) {
        if tick.is_multiple_of(STRIDE) && self.count.ticks < TICKS_MAX {
            self.count.pairs.extend_from_slice(self.detector.took());
            self.count.ticks += 1;
        }
    }

    /// What it has to do; counted anew if that was long ago or in other regions.
    pub(super) fn load(&mut self, now: Time) -> NodeLoad {
        let Some(settled) = &self.settled else { return NodeLoad::default() };
        let Count { load, of, until, pairs, ticks } = &mut self.count;
        if *of == settled.view.epoch && now < *until {
            return load.clone();
        }
        if *ticks == 0 || *of != settled.view.epoch {
            // What was taken is of other regions.
            pairs.clear();
            pairs.extend_from_slice(self.detector.took());
            *ticks = 1;
        }
        let counted = NodeLoad::of(settled.held.mine.values(), pairs, *ticks);
        *load = match self.lead.leads() {
            true => counted.leading(settled.last.touches.len()),
            false => counted,
        };
        (*of, *until) = (settled.view.epoch, now + EVERY);
        pairs.clear();
        *ticks = 0;
        load.clone()
    }
}
