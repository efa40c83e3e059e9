//! Boxes that are kept larger than they are, and a list of the pairs that are near: the fastest
//! of the structures in most worlds.
//!
//! Each box has a fat box around it, which reaches ahead in the direction of its motion (as in
//! Box2D and Bullet). While a box stays inside its fat box, its overlaps can only be among the
//! pairs whose fat boxes overlap: the neighbour list of molecular dynamics (Verlet 1967), kept box
//! by box. A step has three parts:
//!
//! 1. boxes that left their fat boxes get new ones and go to their place in an index;
//! 2. these ask the index who is near, and the pairs join the list of near pairs;
//! 3. the list is gone through once: pairs of which one got a new fat box since are dropped (its
//!    own question found them again), the others are compared box by box.
//!
//! A box that has not moved for [`REST`] steps rests. Pairs of resting boxes leave the list, so a
//! quiet world costs nothing; a resting box that moves always asks anew.
//!
//! Boxes have seats, numbered so that neighbours in space are neighbours in memory; the caller's
//! slots are looked up at the border. At 100,000 boxes this saves a third of a step.

mod cells;
mod index;
mod kernels;
mod nodes;
mod span;

use super::{BroadCounters, SlotPair, slot_pair};
use crate::Workers;
use glam::Vec3;
pub(super) use index::IndexKind;
use index::{Fat, Index, Leaver};
use jostle_geom::Aabb;
use jostle_geom::simd::{Isa, prefetch};
use kernels::{Ask, Compare, Compared, Near, Now, Query};
use span::Span;
use std::sync::{Mutex, PoisonError};

/// Steps without motion after which a box rests.
const REST: u32 = 8;
/// Fewer boxes than this are done sooner by one thread than by waking a second (measured).
const WORTH_SHARING: usize = 30_000;
/// Pieces of work for threads. The same for any number of threads, so the order is too.
const CHUNK_LEAVERS: usize = 256;
const CHUNK_NEAR: usize = 8192;
/// Boxes compared at a time: the lanes of a vector of `f32`.
const WIDTH: usize = 8;
/// Seats are numbered anew when this many boxes per box changed their places. Boxes that drift
/// lose their neighbours in memory slowly.
const REPLACED_MAX: usize = 8;
/// How many updates ahead memory is fetched.
const FETCH_AHEAD: usize = 8;
/// No seat.
const NONE: u32 = u32::MAX;

/// What it took to find near pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    pub(super) questions: u64,
    /// Boxes that were looked at.
    pub(super) tests: u64,
    /// Near pairs that were found.
    pub(super) pairs: u64,
}

impl std::ops::AddAssign for Asked {
    fn add_assign(&mut self, more: Asked) {
        self.questions += more.questions;
        self.tests += more.tests;
        self.pairs += more.pairs;
    }
}

#[derive(Clone, Debug)]
pub(super) struct NearPairs {
    /// By slot.
    seats: Vec<u32>,
    /// By seat, as are the following.
    slots: Vec<u32>,
    now: Vec<Now>,
    fat: Vec<Span>,
    /// How far a box moved when it left its fat box.
    motion: Vec<Vec3>,
    /// Which boxes left their fat boxes since the last step: a bit each.
    leaves: Vec<u64>,
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
    empty_seats: Vec<u32>,
    /// Boxes that changed their place in the index since seats were numbered.
    replaced: usize,
    asked: Asked,
}

impl NearPairs {
    pub(super) fn new(kind: IndexKind) -> NearPairs {
        NearPairs {
            seats: Vec::new(),
            slots: Vec::new(),
            now: Vec::new(),
            fat: Vec::new(),
            motion: Vec::new(),
            leaves: Vec::new(),
            index: Index::new(kind),
            near: Vec::new(),
            room: Vec::new(),
            step: kernels::FIRST_STEP,
            movers: 0,
            boxes: 0,
            new: 0,
            empty_seats: Vec::new(),
            replaced: 0,
            asked: Asked::default(),
        }
    }

    pub(super) fn insert(&mut self, slot: u32, bounds: Aabb) {
        let at = slot as usize;
        if self.seats.len() <= at {
            self.seats.resize(at + 1, NONE);
        }
        assert!(self.seats[at] == NONE, "slot {slot} is taken");
        let seat = self.empty_seats.pop().unwrap_or_else(|| self.add_seat());
        self.seats[at] = seat;
        self.slots[seat as usize] = slot;
        self.now[seat as usize] = Now::new(Span::from(&bounds), self.step);
        self.fat[seat as usize] = Span::EMPTY;
        self.boxes += 1;
        self.new += 1;
        self.movers += 1;
        self.leave(seat, Vec3::ZERO);
    }

    fn add_seat(&mut self) -> u32 {
        let seat = u32::try_from(self.slots.len()).expect("seats are no more than slots");
        self.slots.push(NONE);
        self.now.push(Now::GONE);
        self.fat.push(Span::EMPTY);
        self.motion.push(Vec3::ZERO);
        if self.leaves.len() * 64 == seat as usize {
            self.leaves.push(0);
        }
        seat
    }

    fn leave(&mut self, seat: u32, motion: Vec3) {
        self.motion[seat as usize] = motion;
        self.leaves[seat as usize / 64] |= 1 << (seat % 64);
    }

    #[inline]
    pub(super) fn update(&mut self, slot: u32, bounds: Aabb) {
        let seat = self.seats[slot as usize];
        assert!(seat != NONE, "slot {slot} is empty");
        self.fetch_ahead(slot);
        let at = seat as usize;
        let before = self.now[at];
        let span = Span::from(&bounds);
        let stays = self.fat[at].contains(&span) & (self.step - before.moved() < REST);
        self.movers += usize::from(before.moved() != self.step);
        self.now[at] = Now::new(span, self.step);
        if !stays {
            let was = before.span();
            self.leave(seat, 0.5 * (span.low - was.low) + 0.5 * (span.high - was.high));
        }
    }

    /// Callers mostly go through their boxes in order; seats are in another one.
    #[inline(always)]
    fn fetch_ahead(&self, slot: u32) {
        let Some(&seat) = self.seats.get(slot as usize + FETCH_AHEAD) else { return };
        self.now.get(seat as usize).into_iter().for_each(prefetch);
        self.fat.get(seat as usize).into_iter().for_each(prefetch);
    }

    pub(super) fn remove(&mut self, slot: u32) {
        let seat = std::mem::replace(&mut self.seats[slot as usize], NONE);
        assert!(seat != NONE, "slot {slot} is empty");
        let at = seat as usize;
        self.movers -= usize::from(self.now[at].moved() == self.step);
        self.now[at] = Now::GONE;
        self.slots[at] = NONE;
        self.leaves[at / 64] &= !(1 << (at % 64));
        self.boxes -= 1;
        if std::mem::replace(&mut self.fat[at], Span::EMPTY) == Span::EMPTY {
            self.new -= 1;
        } else {
            self.index.remove(seat);
        }
        self.empty_seats.push(seat);
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
            self.number_seats();
        }
        let (leavers, asking) = self.take_leavers();
        self.place(&leavers);
        let known = self.near.len();
        let looked_at = self.ask_for_near_pairs(&leavers, &asking, workers);
        let compared = self.near.len() as u64;
        self.asked += Asked {
            questions: leavers.len() as u64,
            tests: looked_at,
            pairs: compared - known as u64,
        };
        self.compare_near_pairs(known, movers == self.boxes, workers, out);
        for leaver in &leavers {
            self.now[leaver.seat as usize].set_asking(false);
        }
        self.step += 1;
        if self.step > kernels::LAST_STEP {
            self.count_steps_anew(); // after half a year at 60 steps per second
        }
        BroadCounters { box_tests: looked_at + compared, updates: leavers.len() as u64 }
    }

    /// Adds the slots of all boxes that overlap `bounds` to `out`, sorted.
    pub(super) fn query(&self, bounds: &Aabb, out: &mut Vec<u32>) {
        let span = Span::from(bounds);
        let mut found = Vec::new();
        Isa::best().run(Query { index: &self.index, span, found: &mut found });
        // Boxes that left their fat boxes are elsewhere than the index believes.
        for_each_one(&self.leaves, |seat| found.push(seat));
        found.sort_unstable();
        found.dedup();
        found.retain(|&seat| self.now[seat as usize].span().overlaps(&span));
        out.extend(found.into_iter().map(|seat| self.slots[seat as usize]));
        out.sort_unstable();
    }

    fn is_new(&self, seat: u32) -> bool {
        self.fat[seat as usize] == Span::EMPTY
    }

    /// What was asked since this was last called.
    pub(super) fn take_asked(&mut self) -> Asked {
        std::mem::take(&mut self.asked)
    }

    /// All boxes.
    pub(super) fn all(&self) -> Vec<(u32, Aabb)> {
        let there = self.now.iter().zip(&self.slots).filter(|(now, _)| now.is_there());
        let boxes = there.map(|(now, &slot)| (slot, now.span()));
        boxes.map(|(slot, span)| (slot, Aabb::around(span.low, span.high))).collect()
    }

    /// The boxes that left their fat boxes, and the same as bits by seat.
    fn take_leavers(&mut self) -> (Vec<Leaver>, Vec<u64>) {
        let none = vec![0; self.leaves.len()];
        let asking = std::mem::replace(&mut self.leaves, none);
        let mut leavers = Vec::with_capacity(self.boxes / 8 + 8);
        for_each_one(&asking, |seat| {
            leavers.push(Leaver { seat, motion: self.motion[seat as usize] });
        });
        (leavers, asking)
    }

    /// New fat boxes for the leavers, and their new places in the index.
    fn place(&mut self, leavers: &[Leaver]) {
        let mut homeless = Vec::new();
        for leaver in leavers {
            let at = leaver.seat as usize;
            self.now[at].set_asking(true);
            let fat = self.index.fatten(self.now[at].span(), leaver);
            let before = std::mem::replace(&mut self.fat[at], fat.span);
            let new = before == Span::EMPTY;
            self.new -= usize::from(new);
            if new || !self.index.update_or_remove(leaver.seat, fat) {
                homeless.push((fat, leaver.seat));
            }
        }
        self.replaced += homeless.len();
        if homeless.len() * 4 > self.boxes && self.index.gains_by_rebuilding() {
            self.index.rebuild(&self.all_fat());
        } else {
            self.index.insert_all(&homeless);
        }
    }

    fn all_fat(&self) -> Vec<(Fat, u32)> {
        let seats = self.fat.iter().enumerate().filter(|(_, fat)| **fat != Span::EMPTY);
        let extent = |seat: usize| self.now[seat].span().cell_extent();
        seats.map(|(seat, &span)| (Fat { span, extent: extent(seat) }, seat as u32)).collect()
    }

    /// Each leaver's pairs join the list of near pairs. Returns how many boxes were looked at.
    fn ask_for_near_pairs(&mut self, leavers: &[Leaver], asking: &[u64], workers: &Workers) -> u64 {
        let isa = Isa::best();
        let (index, fat) = (&self.index, &self.fat[..]);
        if workers.threads() == 1 {
            let ask = Ask { index, asking, fat, leavers, near: &mut self.near };
            return isa.run(ask) * WIDTH as u64;
        }
        let pieces: Vec<_> = leavers.chunks(CHUNK_LEAVERS).collect();
        let answers = workers.share(pieces.len(), |piece| {
            let leavers = pieces[piece];
            let mut near = Vec::with_capacity(leavers.len() * 8);
            let visited = isa.run(Ask { index, asking, fat, leavers, near: &mut near });
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
        let (now, step) = (&self.now[..], self.step);
        let slots = &self.slots;
        let with_slots = |&[a, b]: &Near| slot_pair(slots[a as usize], slots[b as usize]);
        if workers.threads() == 1 {
            let (near, room) = (&mut self.near[..], &mut self.room[..]);
            let compare = Compare { now, step, all_moved, near, new_from: known, out: room };
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
            isa.run(Compare { now, step, all_moved, near, new_from, out })
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

    /// Makes everything anew: an index for boxes of the sizes that there are now, and all boxes ask
    /// anew.
    fn start_anew(&mut self) {
        self.near.clear();
        self.fat.fill(Span::EMPTY);
        self.new = self.boxes;
        let there = self.now.iter().filter(|now| now.is_there());
        self.index = self.index.anew(there.map(|now| now.span().cell_extent()).collect());
        self.number_seats();
        for seat in 0..self.now.len() as u32 {
            let motion = self.motion[seat as usize];
            self.leave(seat, motion);
        }
    }

    /// The numbers of steps are used up: everything rests, at the beginning of time.
    fn count_steps_anew(&mut self) {
        self.step = kernels::FIRST_STEP + REST;
        for now in self.now.iter_mut().filter(|now| now.is_there()) {
            now.set_moved(kernels::FIRST_STEP);
        }
        self.start_anew();
    }

    /// Gives neighbours in space neighbouring seats, and makes the index anew for them.
    fn number_seats(&mut self) {
        self.replaced = 0;
        let mut order: Vec<u32> = (0..self.now.len() as u32).collect();
        order.retain(|&seat| self.now[seat as usize].is_there());
        let width = self.index.neighbourhood();
        order.sort_by_cached_key(|&seat| self.now[seat as usize].span().district(width));
        let mut new_seat = vec![NONE; self.now.len()];
        for (new, &old) in order.iter().enumerate() {
            new_seat[old as usize] = new as u32;
        }
        // A pair of which one went, or went and came back in the same seat, is not known any more.
        let new = |seat: u32| if self.is_new(seat) { NONE } else { new_seat[seat as usize] };
        let near = self.near.iter().map(|&[a, b]| [new(a), new(b)]);
        self.near = near.filter(|pair| !pair.contains(&NONE)).collect();
        let mut leaves = vec![0; order.len().div_ceil(64)];
        for_each_one(&self.leaves, |seat| {
            let seat = new_seat[seat as usize];
            leaves[seat as usize / 64] |= 1 << (seat % 64);
        });
        self.leaves = leaves;
        self.now = order.iter().map(|&seat| self.now[seat as usize]).collect();
        self.fat = order.iter().map(|&seat| self.fat[seat as usize]).collect();
        self.motion = order.iter().map(|&seat| self.motion[seat as usize]).collect();
        self.slots = order.iter().map(|&seat| self.slots[seat as usize]).collect();
        for (seat, &slot) in self.slots.iter().enumerate() {
            self.seats[slot as usize] = seat as u32;
        }
        self.empty_seats.clear();
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
