//! Boxes that are kept larger than they are, and a list of the pairs that are near: the fastest
//! of the structures in most worlds.
//!
//! Each box has a fat box around it, which reaches ahead in the direction of its motion (as in
//! Box2D and Bullet). While a box stays inside its fat box, its overlaps can only be among the
//! pairs whose fat boxes overlap: the neighbour list of molecular dynamics (Verlet 1967), kept box
//! by box. A step has three parts:
//!
//! 1. boxes that left their fat boxes get new ones and go to their place in an index;
//! 2. these query the index for what is near, and the pairs join the list of near pairs;
//! 3. the list is gone through once: pairs of which one got a new fat box since are dropped (its
//!    own query found them again), the others are compared box by box.
//!
//! A box that has not moved for [`REST`] steps rests. Pairs of resting boxes leave the list, so a
//! quiet world costs nothing; a resting box that moves is always queried again.
//!
//! Each box has a proxy, numbered so that neighbours in space are neighbours in memory; the
//! caller's slots are looked up at the border. At 100,000 boxes this saves a third of a step.

mod cells;
mod index;
mod kernels;
mod nodes;
mod span;

use super::{BroadCounters, SlotPair, slot_pair};
use crate::Workers;
use glam::Vec3;
pub(super) use index::IndexKind;
use index::{Escaped, Fat, Index};
use jostle_geom::Aabb;
use jostle_geom::simd::{Isa, prefetch};
use kernels::{Compare, Compared, FindNear, Near, Proxy, Query};
use span::Span;
use std::sync::{Mutex, PoisonError};

/// Steps without motion after which a box rests.
const REST: u32 = 8;
/// Fewer boxes than this are done sooner by one thread than by waking a second (measured).
const WORTH_SHARING: usize = 30_000;
/// Pieces of work for threads. The same for any number of threads, so the order is too.
const CHUNK_ESCAPED: usize = 256;
const CHUNK_NEAR: usize = 8192;
/// Boxes compared at a time: the lanes of a vector of `f32`.
const WIDTH: usize = 8;
/// Seats are numbered anew when this many boxes per box changed their places. Boxes that drift
/// lose their neighbours in memory slowly.
const REPLACED_MAX: usize = 8;
/// How many updates ahead memory is fetched.
const FETCH_AHEAD: usize = 8;
/// No proxy.
const NONE: u32 = u32::MAX;

/// What it took to find near pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QueryCounts {
    pub(super) queries: u64,
    /// Boxes that were looked at.
    pub(super) tests: u64,
    /// Near pairs that were found.
    pub(super) pairs: u64,
}

impl std::ops::AddAssign for QueryCounts {
    fn add_assign(&mut self, more: QueryCounts) {
        self.queries += more.queries;
        self.tests += more.tests;
        self.pairs += more.pairs;
    }
}

#[derive(Clone, Debug)]
pub(super) struct NearPairs {
    /// By slot.
    proxy_of_slot: Vec<u32>,
    /// By proxy, as are the following.
    slots: Vec<u32>,
    proxies: Vec<Proxy>,
    fat: Vec<Span>,
    /// How far a box moved when it left its fat box.
    motion: Vec<Vec3>,
    /// Which boxes left their fat boxes since the last step: a bit each.
    escaped: Vec<u64>,
    index: Index,
    near: Vec<Near>,
    /// Where the pairs of a step are put together; only room.
    room: Vec<Near>,
    step: u32,
    /// Boxes that moved since the last step.
    movers: usize,
    boxes: usize,
    /// Boxes that have no fat box yet.
    new: usize,
    /// Seats without a box.
    free_proxies: Vec<u32>,
    /// Boxes that changed their place in the index since proxies were numbered.
    replaced: usize,
    counts: QueryCounts,
}

impl NearPairs {
    pub(super) fn new(kind: IndexKind) -> NearPairs {
        NearPairs {
            proxy_of_slot: Vec::new(),
            slots: Vec::new(),
            proxies: Vec::new(),
            fat: Vec::new(),
            motion: Vec::new(),
            escaped: Vec::new(),
            index: Index::new(kind),
            near: Vec::new(),
            room: Vec::new(),
            step: kernels::FIRST_STEP,
            movers: 0,
            boxes: 0,
            new: 0,
            free_proxies: Vec::new(),
            replaced: 0,
            counts: QueryCounts::default(),
        }
    }

    pub(super) fn insert(&mut self, slot: u32, bounds: Aabb) {
        let at = slot as usize;
        if self.proxy_of_slot.len() <= at {
            self.proxy_of_slot.resize(at + 1, NONE);
        }
        assert!(self.proxy_of_slot[at] == NONE, "slot {slot} is taken");
        let proxy_index = self.free_proxies.pop().unwrap_or_else(|| self.add_proxy());
        self.proxy_of_slot[at] = proxy_index;
        self.slots[proxy_index as usize] = slot;
        self.proxies[proxy_index as usize] = Proxy::new(Span::from(&bounds), self.step);
        self.fat[proxy_index as usize] = Span::EMPTY;
        self.boxes += 1;
        self.new += 1;
        self.movers += 1;
        self.mark_escaped(proxy_index, Vec3::ZERO);
    }

    fn add_proxy(&mut self) -> u32 {
        let proxy_index = u32::try_from(self.slots.len()).expect("proxies are no more than slots");
        self.slots.push(NONE);
        self.proxies.push(Proxy::GONE);
        self.fat.push(Span::EMPTY);
        self.motion.push(Vec3::ZERO);
        if self.escaped.len() * 64 == proxy_index as usize {
            self.escaped.push(0);
        }
        proxy_index
    }

    fn mark_escaped(&mut self, proxy_index: u32, motion: Vec3) {
        self.motion[proxy_index as usize] = motion;
        self.escaped[proxy_index as usize / 64] |= 1 << (proxy_index % 64);
    }

    #[inline]
    pub(super) fn update(&mut self, slot: u32, bounds: Aabb) {
        let proxy_index = self.proxy_of_slot[slot as usize];
        assert!(proxy_index != NONE, "slot {slot} is empty");
        self.fetch_ahead(slot);
        let at = proxy_index as usize;
        let before = self.proxies[at];
        let span = Span::from(&bounds);
        let stays = self.fat[at].contains(&span) & (self.step - before.moved() < REST);
        self.movers += usize::from(before.moved() != self.step);
        self.proxies[at] = Proxy::new(span, self.step);
        if !stays {
            let was = before.span();
            self.mark_escaped(
                proxy_index,
                0.5 * (span.low - was.low) + 0.5 * (span.high - was.high),
            );
        }
    }

    /// Callers mostly go through their boxes in order; proxies are in another one.
    #[inline(always)]
    fn fetch_ahead(&self, slot: u32) {
        let Some(&proxy_index) = self.proxy_of_slot.get(slot as usize + FETCH_AHEAD) else {
            return;
        };
        self.proxies.get(proxy_index as usize).into_iter().for_each(prefetch);
        self.fat.get(proxy_index as usize).into_iter().for_each(prefetch);
    }

    pub(super) fn remove(&mut self, slot: u32) {
        let proxy_index = std::mem::replace(&mut self.proxy_of_slot[slot as usize], NONE);
        assert!(proxy_index != NONE, "slot {slot} is empty");
        let at = proxy_index as usize;
        self.movers -= usize::from(self.proxies[at].moved() == self.step);
        self.proxies[at] = Proxy::GONE;
        self.slots[at] = NONE;
        self.escaped[at / 64] &= !(1 << (at % 64));
        self.boxes -= 1;
        if std::mem::replace(&mut self.fat[at], Span::EMPTY) == Span::EMPTY {
            self.new -= 1;
        } else {
            self.index.remove(proxy_index);
        }
        self.free_proxies.push(proxy_index);
    }

    pub(super) fn find_pairs(
        &mut self,
        workers: &Workers,
        out: &mut Vec<SlotPair>,
    ) -> BroadCounters {
        let workers = if self.boxes >= WORTH_SHARING { workers } else { &Workers::ONE };
        let movers = std::mem::take(&mut self.movers);
        if movers == 0 {
            return BroadCounters::default(); // time stands still
        }
        if self.new * 2 > self.boxes {
            self.start_anew();
        } else if self.replaced > REPLACED_MAX * self.boxes {
            self.renumber_proxies();
        }
        let (escaped, querying) = self.take_escaped();
        self.place(&escaped);
        let known = self.near.len();
        let looked_at = self.find_near_pairs(&escaped, &querying, workers);
        let compared = self.near.len() as u64;
        self.counts += QueryCounts {
            queries: escaped.len() as u64,
            tests: looked_at,
            pairs: compared - known as u64,
        };
        self.compare_near_pairs(known, movers == self.boxes, workers, out);
        for escaped_box in &escaped {
            self.proxies[escaped_box.proxy_index as usize].set_querying(false);
        }
        self.step += 1;
        if self.step > kernels::LAST_STEP {
            self.count_steps_anew(); // after half a year at 60 steps per second
        }
        BroadCounters { box_tests: looked_at + compared, updates: escaped.len() as u64 }
    }

    /// Adds the slots of all boxes that overlap `bounds` to `out`, sorted.
    pub(super) fn query(&self, bounds: &Aabb, out: &mut Vec<u32>) {
        let span = Span::from(bounds);
        let mut found = Vec::new();
        Isa::best().run(Query { index: &self.index, span, found: &mut found });
        // Boxes that left their fat boxes are elsewhere than the index believes.
        for_each_one(&self.escaped, |proxy_index| found.push(proxy_index));
        found.sort_unstable();
        found.dedup();
        found.retain(|&proxy_index| self.proxies[proxy_index as usize].span().overlaps(&span));
        out.extend(found.into_iter().map(|proxy_index| self.slots[proxy_index as usize]));
        out.sort_unstable();
    }

    fn is_new(&self, proxy_index: u32) -> bool {
        self.fat[proxy_index as usize] == Span::EMPTY
    }

    /// What queries cost since this was last called.
    pub(super) fn take_counts(&mut self) -> QueryCounts {
        std::mem::take(&mut self.counts)
    }

    /// All boxes.
    pub(super) fn all(&self) -> Vec<(u32, Aabb)> {
        let there = self.proxies.iter().zip(&self.slots).filter(|(proxy, _)| proxy.is_there());
        let boxes = there.map(|(proxy, &slot)| (slot, proxy.span()));
        boxes.map(|(slot, span)| (slot, Aabb::around(span.low, span.high))).collect()
    }

    /// The boxes that left their fat boxes, and the same as bits by proxy.
    fn take_escaped(&mut self) -> (Vec<Escaped>, Vec<u64>) {
        let none = vec![0; self.escaped.len()];
        let querying = std::mem::replace(&mut self.escaped, none);
        let mut escaped = Vec::with_capacity(self.boxes / 8 + 8);
        for_each_one(&querying, |proxy_index| {
            escaped.push(Escaped { proxy_index, motion: self.motion[proxy_index as usize] });
        });
        (escaped, querying)
    }

    /// New fat boxes for the escaped, and their new places in the index.
    fn place(&mut self, escaped: &[Escaped]) {
        let mut to_reinsert = Vec::new();
        for escaped_box in escaped {
            let at = escaped_box.proxy_index as usize;
            self.proxies[at].set_querying(true);
            let fat = self.index.fatten(self.proxies[at].span(), escaped_box);
            let before = std::mem::replace(&mut self.fat[at], fat.span);
            let new = before == Span::EMPTY;
            self.new -= usize::from(new);
            if new || !self.index.update_or_remove(escaped_box.proxy_index, fat) {
                to_reinsert.push((fat, escaped_box.proxy_index));
            }
        }
        self.replaced += to_reinsert.len();
        if to_reinsert.len() * 4 > self.boxes && self.index.gains_by_rebuilding() {
            self.index.rebuild(&self.all_fat());
        } else {
            self.index.insert_all(&to_reinsert);
        }
    }

    fn all_fat(&self) -> Vec<(Fat, u32)> {
        let present = self.fat.iter().enumerate().filter(|(_, fat)| **fat != Span::EMPTY);
        let extent = |proxy_index: usize| self.proxies[proxy_index].span().cell_extent();
        present
            .map(|(proxy_index, &span)| {
                (Fat { span, extent: extent(proxy_index) }, proxy_index as u32)
            })
            .collect()
    }

    /// The pairs of each box that escaped join the list of near pairs. Returns how many boxes were
    /// looked at.
    fn find_near_pairs(&mut self, escaped: &[Escaped], querying: &[u64], workers: &Workers) -> u64 {
        let isa = Isa::best();
        let (index, fat) = (&self.index, &self.fat[..]);
        if workers.threads() == 1 {
            let find = FindNear { index, querying, fat, escaped, near: &mut self.near };
            return isa.run(find) * WIDTH as u64;
        }
        let pieces: Vec<_> = escaped.chunks(CHUNK_ESCAPED).collect();
        let answers = workers.share(pieces.len(), |piece| {
            let escaped = pieces[piece];
            let mut near = Vec::with_capacity(escaped.len() * 8);
            let visited = isa.run(FindNear { index, querying, fat, escaped, near: &mut near });
            (near, visited)
        });
        let mut visited = 0;
        for (near, looked_at) in answers {
            self.near.extend(near);
            visited += looked_at;
        }
        visited * WIDTH as u64
    }

    /// Goes once through the list of near pairs, of which the first `known` were there before.
    fn compare_near_pairs(
        &mut self,
        known: usize,
        all_moved: bool,
        workers: &Workers,
        out: &mut Vec<SlotPair>,
    ) {
        let isa = Isa::best();
        if self.room.len() < self.near.len() {
            self.room.resize(self.near.len().next_power_of_two(), [0; 2]);
        }
        let (proxies, step) = (&self.proxies[..], self.step);
        let slots = &self.slots;
        let with_slots = |&[a, b]: &Near| slot_pair(slots[a as usize], slots[b as usize]);
        if workers.threads() == 1 {
            let (near, room) = (&mut self.near[..], &mut self.room[..]);
            let compare = Compare { proxies, step, all_moved, near, new_from: known, out: room };
            let Compared { kept, found } = isa.run(compare);
            self.near.truncate(kept);
            out.extend(self.room[..found].iter().map(with_slots));
            return;
        }
        let chunks = self.near.chunks_mut(CHUNK_NEAR).zip(self.room.chunks_mut(CHUNK_NEAR));
        let pieces: Vec<_> = chunks.map(Mutex::new).collect();
        let parts = workers.share(pieces.len(), |piece| {
            let mut chunk = pieces[piece].lock().unwrap_or_else(PoisonError::into_inner);
            let (near, out) = &mut *chunk;
            let new_from = known.saturating_sub(piece * CHUNK_NEAR).min(near.len());
            isa.run(Compare { proxies, step, all_moved, near, new_from, out })
        });
        drop(pieces);
        let mut end = 0;
        for (chunk, Compared { kept, found }) in parts.into_iter().enumerate() {
            let from = chunk * CHUNK_NEAR;
            self.near.copy_within(from..from + kept, end);
            end += kept;
            out.extend(self.room[from..from + found].iter().map(with_slots));
        }
        self.near.truncate(end);
    }

    /// Makes everything anew: an index for boxes of the sizes that there are now, and all boxes
    /// are queried again.
    fn start_anew(&mut self) {
        self.near.clear();
        self.fat.fill(Span::EMPTY);
        self.new = self.boxes;
        let there = self.proxies.iter().filter(|proxy| proxy.is_there());
        self.index = self.index.anew(there.map(|proxy| proxy.span().cell_extent()).collect());
        self.renumber_proxies();
        for proxy_index in 0..self.proxies.len() as u32 {
            let motion = self.motion[proxy_index as usize];
            self.mark_escaped(proxy_index, motion);
        }
    }

    /// The numbers of steps are used up: everything rests, at the beginning of time.
    fn count_steps_anew(&mut self) {
        self.step = kernels::FIRST_STEP + REST;
        for proxy in self.proxies.iter_mut().filter(|proxy| proxy.is_there()) {
            proxy.set_moved(kernels::FIRST_STEP);
        }
        self.start_anew();
    }

    /// Gives neighbours in space neighbouring proxies, and makes the index anew for them.
    fn renumber_proxies(&mut self) {
        self.replaced = 0;
        let mut order: Vec<u32> = (0..self.proxies.len() as u32).collect();
        order.retain(|&proxy_index| self.proxies[proxy_index as usize].is_there());
        let width = self.index.neighbourhood();
        order.sort_by_cached_key(|&proxy_index| {
            self.proxies[proxy_index as usize].span().cell_key(width)
        });
        let mut new_index = vec![NONE; self.proxies.len()];
        for (new, &old) in order.iter().enumerate() {
            new_index[old as usize] = new as u32;
        }
        // A pair of which one box was removed, or replaced in the same proxy, is dropped.
        let new = |proxy_index: u32| {
            if self.is_new(proxy_index) { NONE } else { new_index[proxy_index as usize] }
        };
        let near = self.near.iter().map(|&[a, b]| [new(a), new(b)]);
        self.near = near.filter(|pair| !pair.contains(&NONE)).collect();
        let mut escaped = vec![0; order.len().div_ceil(64)];
        for_each_one(&self.escaped, |proxy_index| {
            let proxy_index = new_index[proxy_index as usize];
            escaped[proxy_index as usize / 64] |= 1 << (proxy_index % 64);
        });
        self.escaped = escaped;
        self.proxies =
            order.iter().map(|&proxy_index| self.proxies[proxy_index as usize]).collect();
        self.fat = order.iter().map(|&proxy_index| self.fat[proxy_index as usize]).collect();
        self.motion = order.iter().map(|&proxy_index| self.motion[proxy_index as usize]).collect();
        self.slots = order.iter().map(|&proxy_index| self.slots[proxy_index as usize]).collect();
        for (proxy_index, &slot) in self.slots.iter().enumerate() {
            self.proxy_of_slot[slot as usize] = proxy_index as u32;
        }
        self.free_proxies.clear();
        self.index.rebuild(&self.all_fat());
    }
}

/// Calls with the numbers of the bits that are set, in order.
#[inline]
fn for_each_one(bits: &[u64], mut call: impl FnMut(u32)) {
    for (at, &word) in bits.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            call(at as u32 * 64 + word.trailing_zeros());
            word &= word - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boxes in a row that move to and fro; some rest. Pairs of which one moved, by looking at all.
    fn row(step: u32) -> Vec<(Aabb, bool)> {
        let unit = |k: u32| {
            let rests = k.is_multiple_of(3);
            let moves = !rests && step % 4 != 3 || step == 0;
            let shift = if rests { 0.0 } else { (step / 4 * (k % 5)) as f32 * 0.3 };
            let low = Vec3::new(k as f32 * 0.8 + shift, 0.0, 0.0);
            (Aabb::around(low, low + Vec3::ONE), moves)
        };
        (0..40).map(unit).collect()
    }

    #[test]
    fn nothing_is_missed_when_the_steps_are_counted_anew() {
        for kind in [IndexKind::Cells, IndexKind::Nodes] {
            let mut near = NearPairs::new(kind);
            near.step = kernels::LAST_STEP - 20;
            let mut last: Vec<Aabb> = Vec::new();
            let mut found_any = 0;
            for step in 0..60 {
                let boxes = row(step);
                for (slot, &(bounds, moves)) in boxes.iter().enumerate() {
                    match (step, moves) {
                        (0, _) => near.insert(slot as u32, bounds),
                        (_, true) => near.update(slot as u32, bounds),
                        (_, false) => {}
                    }
                }
                last = (boxes.iter().enumerate())
                    .map(|(k, &(bounds, moves))| if moves { bounds } else { last[k] })
                    .collect();
                let mut found = Vec::new();
                near.find_pairs(&Workers::ONE, &mut found);
                found.sort_unstable();
                let mut expected = Vec::new();
                for a in 0..boxes.len() {
                    for b in a + 1..boxes.len() {
                        if (boxes[a].1 || boxes[b].1) && last[a].overlaps(&last[b]) {
                            expected.push([a as u32, b as u32]);
                        }
                    }
                }
                assert_eq!(found, expected, "{kind:?}, step {step}");
                found_any += found.len();
            }
            assert!(near.step < kernels::FIRST_STEP + 100, "the steps were not counted anew");
            assert!(found_any > 100);
        }
    }
}
