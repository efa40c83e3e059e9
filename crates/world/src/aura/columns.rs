//! Ordered axis with columns: what overlaps on one axis, sorted into columns over the two others.
//! Not in the paper.
//!
//! Ordered axis alone (§3.3 of the paper, `crates/lab/src/aura/ordered_axis.rs`) cannot be linear:
//! at constant coverage, n auras in a cube overlap n^(2/3) others on any axis, so the comparisons
//! grow as n^(5/3), whatever relations dismiss. Here the auras that have begun and not ended are
//! entered into the columns that they cross, and an aura is compared only with those in its own
//! columns: a number that does not depend on n. A look into a column compares no numbers, so it is
//! no comparison; every sphere test is counted.
//!
//! The spheres of relations are not used here. Tried, they did not pay: who is left in a column is
//! so near that the sphere is met nearly always (20 % coverage: up to 6 % more comparisons).

use super::axis::{Active, Axis, spread};
use super::groups::{Full, RelationBuilder};
use super::{Aura, Completeness, Found};

/// Auras that cross more columns than this are not entered but compared with all: a few giants
/// shall not fill all columns.
const COLUMNS_MOST: i64 = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct OrderedColumns {
    axis: Axis,
    groups: RelationBuilder,
    columns: Columns,
}

impl OrderedColumns {
    pub(super) fn find(&mut self, auras: &[Aura], limit: usize) -> Result<Found, Full> {
        let OrderedColumns { axis, groups, columns } = self;
        groups.begin(auras.len(), limit);
        groups.comparisons.sort_steps = axis.update(auras);
        columns.begin(auras, axis.across());
        for point in axis.points() {
            let crossed = columns.crossed_by(&auras[point.object as usize]);
            if point.is_end {
                columns.leave(point.object, crossed);
                continue;
            }
            groups.consider(point.object);
            columns.for_each_near(crossed, |other| groups.compare(auras, other));
            groups.join()?;
            columns.enter(point.object, crossed);
        }
        Ok(Found {
            relations: groups.relations(),
            completeness: Completeness::Complete,
            comparisons: groups.comparisons,
        })
    }
}

/// The auras that have begun and not ended, by the columns that they cross.
#[derive(Clone, Debug, Default)]
struct Columns {
    across: [usize; 2],
    width: f64,
    /// Who crosses the columns of each slot. A column has one slot, by its hash; a slot may serve
    /// several columns, which costs comparisons that might have been saved and nothing else.
    slots: Vec<Vec<u32>>,
    /// Those that cross too many columns, and all.
    giants: Active,
    all: Active,
}

/// From which column to which an aura reaches, on both axes.
type Crossed = [[i64; 2]; 2];

impl Columns {
    /// No aura yet. Columns are as wide as most auras, which then cross two by two or so.
    fn begin(&mut self, auras: &[Aura], across: [usize; 2]) {
        self.across = across;
        let mut radii: Vec<f64> = auras.iter().map(|aura| aura.radius).collect();
        let middle = radii.len() / 2;
        let median = match radii.is_empty() {
            true => 0.0,
            false => *radii.select_nth_unstable_by(middle, f64::total_cmp).1,
        };
        // Points need no width, but then all would have a column, and a slot, of their own.
        let spread = spread(auras)[across[0]] / (auras.len().max(1) as f64).sqrt();
        self.width = (2.0 * median).max(spread).max(f64::MIN_POSITIVE);
        self.slots.iter_mut().for_each(Vec::clear);
        self.slots.resize_with(auras.len().next_power_of_two(), Vec::new);
        self.giants.begin(auras.len());
        self.all.begin(auras.len());
    }

    /// Rounding, and the ends of the range, keep the order: spans that overlap cross a common
    /// column.
    fn crossed_by(&self, aura: &Aura) -> Crossed {
        self.across.map(|axis| aura.span(axis).map(|at| (at / self.width).floor() as i64))
    }

    fn enter(&mut self, object: u32, crossed: Crossed) {
        self.all.push(object);
        if is_giant(crossed) {
            self.giants.push(object);
            return;
        }
        for slot in slots(self.slots.len(), crossed) {
            self.slots[slot].push(object);
        }
    }

    fn leave(&mut self, object: u32, crossed: Crossed) {
        self.all.remove(object);
        self.giants.remove(object);
        if is_giant(crossed) {
            return;
        }
        for slot in slots(self.slots.len(), crossed) {
            let slot = &mut self.slots[slot];
            if let Some(at) = slot.iter().position(|&other| other == object) {
                slot.swap_remove(at);
            }
        }
    }

    /// Everyone in a common column, some more than once.
    fn for_each_near(&self, crossed: Crossed, mut visit: impl FnMut(u32)) {
        if is_giant(crossed) {
            self.all.list().iter().for_each(|&other| visit(other));
            return;
        }
        self.giants.list().iter().for_each(|&other| visit(other));
        for slot in slots(self.slots.len(), crossed) {
            self.slots[slot].iter().for_each(|&other| visit(other));
        }
    }
}

fn is_giant(crossed: Crossed) -> bool {
    let [a, b] = crossed.map(|[low, high]| high.saturating_sub(low).saturating_add(1));
    a.saturating_mul(b) > COLUMNS_MOST
}

/// The slots of the columns crossed, of `count` slots, a power of two.
fn slots(count: usize, [first, second]: Crossed) -> impl Iterator<Item = usize> {
    (first[0]..=first[1]).flat_map(move |a| {
        (second[0]..=second[1]).map(move |b| {
            // The multipliers of SplitMix64, for their scattered bits.
            let hash = (a as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let hash = (hash ^ (hash >> 32)).wrapping_add(b as u64);
            let hash = hash.wrapping_mul(0x94d0_49bb_1331_11eb);
            (hash >> 32) as usize & (count - 1)
        })
    })
}
