//! Cells of several sizes: each box is in one cell, of a size that fits it.
//!
//! A hierarchical hash grid (Eitz and Gu 2007): a fat box lives in the cell that holds its low
//! corner, on the level whose cells are at least twice as wide as the box. Boxes near another one
//! have their low corners in two cells along each axis, so eight cells answer for its own level and
//! for each coarser one. On finer levels there are more; if they are more than the level has boxes,
//! all boxes of the level are looked at.
//!
//! Cells are found in bricks of 4³, and bricks by hashing: neighbours are mostly in one brick, and
//! what is near in space is near in memory.
//!
//! Eight boxes lie side by side in a block and are compared at a time; a cell is a chain of blocks.
//! A question about eight cells first finds the eight blocks, then compares, then collects: no
//! branch in between that the processor could guess wrong (measured: a step takes a third less
//! than cell by cell).

use super::index::{Fat, Visitor};
use super::span::Span;
use super::{NONE, WIDTH};
use glam::Vec3;
use jostle_geom::simd::{F32x8, Simd};

/// The block that stays empty: what is found where there is no cell.
const EMPTY: u32 = 0;
/// Cells are this many times as wide as the largest box of their level. More is more room for fat
/// boxes and more boxes to compare.
const CELL_WIDTH: f64 = 3.5;
/// Fat boxes are at most this share of a cell wide; just below a half, so that rounding in the
/// computation of cells cannot matter.
const ROOM: f64 = 0.498;

/// A level and integer coordinates of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    at: [i32; 3],
    level: i32,
}

/// Up to eight boxes of one cell. All blocks of a chain but the first are full.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Block {
    low: [[f32; WIDTH]; 3],
    high: [[f32; WIDTH]; 3],
    proxy_index: [u32; WIDTH],
    key: Key,
    count: u32,
    /// The next block of the cell, or of the list of free ones.
    next: u32,
}

impl Block {
    fn new(key: Key, next: u32) -> Block {
        Block {
            low: [[f32::INFINITY; WIDTH]; 3],
            high: [[f32::NEG_INFINITY; WIDTH]; 3],
            proxy_index: [NONE; WIDTH],
            key,
            count: 0,
            next,
        }
    }

    fn span(&self, lane: usize) -> Span {
        Span {
            low: Vec3::new(self.low[0][lane], self.low[1][lane], self.low[2][lane]),
            high: Vec3::new(self.high[0][lane], self.high[1][lane], self.high[2][lane]),
        }
    }

    fn set(&mut self, lane: usize, proxy_index: u32, span: Span) {
        self.proxy_index[lane] = proxy_index;
        for axis in 0..3 {
            self.low[axis][lane] = span.low[axis];
            self.high[axis][lane] = span.high[axis];
        }
    }
}

/// Cells along each side of a brick, as a power of two.
const BRICK_BITS: i32 = 2;
/// A brick: the first blocks of its cells.
type Brick = [u32; 1 << (3 * BRICK_BITS)];
/// The brick without boxes: what is found where there is none.
const NO_BRICK: u32 = 0;
/// The key of no brick.
const NO_KEY: Key = Key { at: [0; 3], level: i32::MAX };

/// A place in the hash table: a brick that is there, or [`NO_KEY`] and [`NO_BRICK`].
#[derive(Clone, Copy, Debug)]
struct Place {
    key: Key,
    brick: u32,
}

const NO_PLACE: Place = Place { key: NO_KEY, brick: NO_BRICK };

/// A level in use.
#[derive(Clone, Copy, Debug)]
struct Level {
    level: i32,
    boxes: u32,
    /// Cells per unit of length.
    scale: f64,
    /// The widest box there may be.
    room: f64,
}

/// All cells.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    /// Where the bricks are: open addressing; the length is a power of two. Bricks stay when they
    /// are empty, until the table is made anew.
    table: Vec<Place>,
    bricks: Vec<Brick>,
    blocks: Vec<Block>,
    /// First of the free blocks; [`EMPTY`] if there is none.
    free: u32,
    /// By proxy: block and lane, or [`NONE`].
    places: Vec<u32>,
    /// Sorted.
    levels: Vec<Level>,
    /// The largest box of level 0, as it is, not fat.
    size: f32,
    /// One divided by it, by the room for fat boxes on level 0, by the width of its cells.
    per_size: f64,
    per_room: f64,
    per_width: f64,
    /// The room for fat boxes on level 0.
    room: f64,
}

impl Cells {
    pub(super) fn new(size: f32) -> Cells {
        let width = CELL_WIDTH * f64::from(size);
        Cells {
            table: vec![NO_PLACE; 64],
            bricks: vec![[EMPTY; 64]],
            blocks: vec![Block::new(NO_KEY, EMPTY)],
            free: EMPTY,
            places: Vec::new(),
            levels: Vec::new(),
            size,
            per_size: 1.0 / f64::from(size),
            per_room: 1.0 / (ROOM * width),
            per_width: 1.0 / width,
            room: ROOM * width,
        }
    }

    /// Without boxes, for the same sizes.
    pub(super) fn clear(&mut self) {
        *self = Cells::new(self.size);
    }

    /// The level for a fat box around a box of this extent: the finest with boxes of that size, or
    /// a coarser one if the fat box would not fit.
    fn level(&self, fat: &Fat) -> i32 {
        let usual = fat.extent <= self.size && 2.0 * fat.extent > self.size;
        if usual && f64::from(fat.span.extent()) <= self.room {
            return 0; // nearly always
        }
        let by_room = exponent_above(f64::from(fat.span.extent()) * self.per_room);
        self.level_by_size(fat.extent).max(by_room)
    }

    fn level_by_size(&self, extent: f32) -> i32 {
        if extent <= self.size && 2.0 * extent > self.size {
            return 0; // nearly always
        }
        exponent_above(f64::from(extent) * self.per_size).max(LEVEL_MIN)
    }

    /// How wide a fat box may be around a box of this extent.
    pub(super) fn room_for(&self, extent: f32) -> f32 {
        (self.width(self.level_by_size(extent)) * ROOM) as f32
    }

    /// The width of the cells of a level.
    pub(super) fn width(&self, level: i32) -> f64 {
        CELL_WIDTH * f64::from(self.size) * power_of_two(level)
    }

    /// Cells per unit of length.
    fn scale(&self, level: i32) -> f64 {
        self.per_width * power_of_two(-level)
    }

    fn key(&self, fat: &Fat) -> Key {
        let level = self.level(fat);
        Key { at: cell_of(fat.span.low, 0.0, self.scale(level)), level }
    }

    pub(super) fn insert(&mut self, proxy_index: u32, fat: Fat) {
        let span = fat.span;
        if self.places.len() <= proxy_index as usize {
            self.places.resize(proxy_index as usize + 1, NONE);
        }
        debug_assert_eq!(self.places[proxy_index as usize], NONE);
        let key = self.key(&fat);
        let (brick, cell) = self.brick_for(key);
        let mut block = self.bricks[brick][cell];
        if block == EMPTY || self.blocks[block as usize].count as usize == WIDTH {
            block = self.new_block(key, block);
            self.bricks[brick][cell] = block;
        }
        let lane = self.blocks[block as usize].count as usize;
        self.blocks[block as usize].count += 1;
        self.blocks[block as usize].set(lane, proxy_index, span);
        self.places[proxy_index as usize] = block << 3 | lane as u32;
        match self.levels.binary_search_by_key(&key.level, |level| level.level) {
            Ok(at) => self.levels[at].boxes += 1,
            Err(at) => {
                let (level, scale) = (key.level, self.scale(key.level));
                let room = self.width(level) * ROOM;
                self.levels.insert(at, Level { level, boxes: 1, scale, room });
            }
        }
    }

    pub(super) fn remove(&mut self, proxy_index: u32) {
        let place = std::mem::replace(&mut self.places[proxy_index as usize], NONE);
        let (block, lane) = (place >> 3, (place & 7) as usize);
        let key = self.blocks[block as usize].key;
        let brick = self.table[self.find(brick_of(key))].brick as usize;
        let cell = cell_in_brick(key.at);
        let first = self.bricks[brick][cell];
        // The last box of the first block, which alone may be partly full, fills the hole.
        let last = self.blocks[first as usize].count as usize - 1;
        let moved = self.blocks[first as usize].proxy_index[last];
        if moved != proxy_index {
            let span = self.blocks[first as usize].span(last);
            self.blocks[block as usize].set(lane, moved, span);
            self.places[moved as usize] = place;
        }
        let from = &mut self.blocks[first as usize];
        from.set(last, NONE, Span::EMPTY);
        from.count -= 1;
        if from.count == 0 {
            self.bricks[brick][cell] = from.next;
            from.next = self.free;
            self.free = first;
        }
        let level = self.levels.binary_search_by_key(&key.level, |level| level.level);
        let level = level.expect("a box that is there has a level");
        self.levels[level].boxes -= 1;
        if self.levels[level].boxes == 0 {
            self.levels.remove(level);
        }
    }

    /// Moves a box within its cell, or else takes it out. Returns whether it is still in.
    pub(super) fn update_or_remove(&mut self, proxy_index: u32, fat: Fat) -> bool {
        let span = fat.span;
        let key = self.key(&fat);
        let place = self.places[proxy_index as usize];
        let block = &mut self.blocks[(place >> 3) as usize];
        let stays = block.key == key;
        if stays {
            block.set((place & 7) as usize, proxy_index, span);
        } else {
            self.remove(proxy_index);
        }
        stays
    }

    fn new_block(&mut self, key: Key, next: u32) -> u32 {
        if self.free != EMPTY {
            let block = self.free;
            self.free = self.blocks[block as usize].next;
            self.blocks[block as usize] = Block::new(key, next);
            return block;
        }
        let block = u32::try_from(self.blocks.len()).expect("blocks fit in memory");
        assert!(block < NONE >> 3, "more boxes than cells can name");
        self.blocks.push(Block::new(key, next));
        block
    }

    /// The brick of a cell, made if it is not there, and the cell's place in it.
    fn brick_for(&mut self, key: Key) -> (usize, usize) {
        if self.bricks.len() * 2 > self.table.len() {
            self.grow();
        }
        let at = self.find(brick_of(key));
        if self.table[at].brick == NO_BRICK {
            let brick = u32::try_from(self.bricks.len()).expect("bricks fit in memory");
            self.table[at] = Place { key: brick_of(key), brick };
            self.bricks.push([EMPTY; 64]);
        }
        (self.table[at].brick as usize, cell_in_brick(key.at))
    }

    /// Where a brick is in the table, or would be.
    #[inline(always)]
    fn find(&self, brick: Key) -> usize {
        let mask = self.table.len() - 1;
        let mut at = hash(brick) as usize & mask;
        while self.table[at].brick != NO_BRICK && self.table[at].key != brick {
            at = (at + 1) & mask;
        }
        at
    }

    /// Drops empty bricks and makes the table larger if there are still many.
    fn grow(&mut self) {
        let mut old = std::mem::take(&mut self.table);
        let bricks = std::mem::replace(&mut self.bricks, vec![[EMPTY; 64]]);
        old.retain(|place| bricks[place.brick as usize].iter().any(|&first| first != EMPTY));
        old.sort_unstable_by_key(|place| place.brick); // keeps neighbours together
        self.table = vec![NO_PLACE; (old.len() * 4).next_power_of_two().max(64)];
        for place in old {
            let at = self.find(place.key);
            self.table[at] = Place { key: place.key, brick: self.bricks.len() as u32 };
            self.bricks.push(bricks[place.brick as usize]);
        }
    }

    /// Visits the proxies of all boxes that overlap `span`. Returns how many blocks were looked at.
    #[inline(always)]
    pub(super) fn query<S: Simd>(&self, span: Span, found: &mut impl Visitor) -> u64 {
        let mut visited = 0;
        let around = Around::<S>::new(span);
        let widest = f64::from((span.high - span.low).max_element());
        for level in &self.levels {
            let from = cell_of(span.low, level.room, level.scale);
            visited += if widest <= level.room {
                self.eight_cells(from, level.level, &around, found)
            } else {
                let to = cell_of(span.high, 0.0, level.scale);
                self.many_cells(from, to, level, &around, found)
            };
        }
        visited
    }

    /// The boxes of all cells from `from` to `to`, or of the whole level if that is less.
    #[inline(always)]
    fn many_cells<S: Simd>(
        &self,
        from: [i32; 3],
        to: [i32; 3],
        level: &Level,
        around: &Around<S>,
        found: &mut impl Visitor,
    ) -> u64 {
        let mut visited = 0;
        let cells = |axis| f64::from(to[axis]) - f64::from(from[axis]) + 1.0;
        if cells(0) * cells(1) * cells(2) > f64::from(level.boxes) {
            for block in &self.blocks {
                visited += 1;
                if block.count > 0 && block.key.level == level.level {
                    collect(block, around.hits(block), found);
                }
            }
            return visited;
        }
        for z in from[2]..=to[2] {
            for y in from[1]..=to[1] {
                for x in from[0]..=to[0] {
                    let key = Key { at: [x, y, z], level: level.level };
                    let brick = self.table[self.find(brick_of(key))].brick;
                    let first = self.bricks[brick as usize][cell_in_brick(key.at)];
                    visited += self.chain(first, around, found);
                }
            }
        }
        visited
    }

    /// The boxes of two cells along each axis, from `from` on.
    #[inline(always)]
    fn eight_cells<S: Simd>(
        &self,
        from: [i32; 3],
        level: i32,
        around: &Around<S>,
        found: &mut impl Visitor,
    ) -> u64 {
        let bricks = self.bricks_of_eight(from, level);
        let mut blocks = [EMPTY; 8];
        for (k, block) in blocks.iter_mut().enumerate() {
            let at = [
                from[0].wrapping_add((k & 1) as i32),
                from[1].wrapping_add((k >> 1 & 1) as i32),
                from[2].wrapping_add((k >> 2) as i32),
            ];
            *block = self.bricks[bricks[k] as usize][cell_in_brick(at)];
        }
        let mut hits = 0u64;
        let mut more = 0;
        for (k, &block) in blocks.iter().enumerate() {
            let block = &self.blocks[block as usize];
            hits |= u64::from(around.hits(block)) << (8 * k);
            more |= block.next;
        }
        while hits != 0 {
            let bit = hits.trailing_zeros() as usize;
            found.visit(self.blocks[blocks[bit >> 3] as usize].proxy_index[bit & 7]);
            hits &= hits - 1;
        }
        let mut visited = 8;
        if more != EMPTY {
            for block in blocks {
                visited += self.chain(self.blocks[block as usize].next, around, found);
            }
        }
        visited
    }

    /// The boxes of a chain of blocks.
    #[inline(always)]
    fn chain<S: Simd>(&self, first: u32, around: &Around<S>, found: &mut impl Visitor) -> u64 {
        let mut visited = 0;
        let mut at = first;
        while at != EMPTY {
            let block = &self.blocks[at as usize];
            collect(block, around.hits(block), found);
            visited += 1;
            at = block.next;
        }
        visited
    }

    /// The bricks of two cells along each axis: bit 0 of the place is one further along x, bit 1
    /// along y, bit 2 along z. Mostly all in one brick.
    #[inline(always)]
    fn bricks_of_eight(&self, from: [i32; 3], level: i32) -> [u32; 8] {
        let low = brick_of(Key { at: from, level });
        let mut bricks = [self.table[self.find(low)].brick; 8];
        // Which axes pass from one brick to the next.
        let mut passes = 0;
        for (axis, &at) in from.iter().enumerate() {
            let last = (1 << BRICK_BITS) - 1;
            passes |= usize::from(at & last == last) << axis;
        }
        if passes != 0 {
            for k in 1..8 {
                let moved = k & passes;
                if moved == k {
                    let step = |axis: usize| (k >> axis & 1) as i32;
                    let at = [low.at[0] + step(0), low.at[1] + step(1), low.at[2] + step(2)];
                    bricks[k] = self.table[self.find(Key { at, level })].brick;
                } else {
                    bricks[k] = bricks[moved];
                }
            }
        }
        bricks
    }
}

/// The brick that a cell is in.
#[inline(always)]
fn brick_of(key: Key) -> Key {
    let [x, y, z] = key.at;
    Key { at: [x >> BRICK_BITS, y >> BRICK_BITS, z >> BRICK_BITS], level: key.level }
}

#[inline(always)]
fn cell_in_brick(at: [i32; 3]) -> usize {
    let mask = (1 << BRICK_BITS) - 1;
    ((at[2] & mask) << (2 * BRICK_BITS) | (at[1] & mask) << BRICK_BITS | (at[0] & mask)) as usize
}

/// The box of the query, in all lanes.
struct Around<S: Simd> {
    low: [S::F; 3],
    high: [S::F; 3],
}

impl<S: Simd> Around<S> {
    #[inline(always)]
    fn new(span: Span) -> Around<S> {
        Around {
            low: [S::F::splat(span.low.x), S::F::splat(span.low.y), S::F::splat(span.low.z)],
            high: [S::F::splat(span.high.x), S::F::splat(span.high.y), S::F::splat(span.high.z)],
        }
    }

    /// Which boxes of a block overlap it, as bits.
    #[inline(always)]
    fn hits(&self, block: &Block) -> u8 {
        let Around { low, high } = *self;
        let [x, y, z] =
            [S::F::load(&block.low[0]), S::F::load(&block.low[1]), S::F::load(&block.low[2])];
        let [u, v, w] =
            [S::F::load(&block.high[0]), S::F::load(&block.high[1]), S::F::load(&block.high[2])];
        !S::F::any_gt([x, y, z, low[0], low[1], low[2]], [high[0], high[1], high[2], u, v, w])
    }
}

#[inline(always)]
fn collect(block: &Block, mut hits: u8, found: &mut impl Visitor) {
    while hits != 0 {
        found.visit(block.proxy_index[hits.trailing_zeros() as usize]);
        hits &= hits - 1;
    }
}

/// Boxes smaller than an eighth of the usual size share cells: on finer levels, questions about
/// boxes of the usual size would visit hundreds of cells.
const LEVEL_MIN: i32 = -3;

/// The exponent of the smallest power of two that is larger.
fn exponent_above(x: f64) -> i32 {
    (x.to_bits() >> 52) as i32 - 1022
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Coordinates of the cell that holds a point, after going `back` towards low coordinates. Far
/// out all is one cell; the order is kept, so nothing is missed.
#[inline(always)]
fn cell_of(point: Vec3, back: f64, scale: f64) -> [i32; 3] {
    // Adding this rounds to a whole number, which is then in the low bits: half the instructions
    // of a conversion that checks its range. Cells have their borders at the halves.
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
    const FAR: f64 = (1 << 30) as f64;
    let mut cell = [0; 3];
    for axis in 0..3 {
        let x = (f64::from(point[axis]) - back) * scale;
        cell[axis] = (x.clamp(-FAR, FAR) + ROUND).to_bits() as i32;
    }
    cell
}

#[inline(always)]
fn hash(key: Key) -> u32 {
    let h = (key.at[0] as u32).wrapping_mul(0x8DA6_B343)
        ^ (key.at[1] as u32).wrapping_mul(0xD816_3841)
        ^ (key.at[2] as u32).wrapping_mul(0xCB1A_B31F)
        ^ (key.level as u32).wrapping_mul(0x9E37_79B9);
    h ^ h >> 15
}
