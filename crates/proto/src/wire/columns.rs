//! States as columns: what differs from a reference that both sides have.
//!
//! Velocities, spins, positions and rotations are four columns. A column lists which states
//! differ, by the gaps between them, and by how much. What is as expected costs nothing. How fast
//! comes before where, so that a reader who has the one can foresee the other.

use super::WireError;
use super::bits::{BitReader, BitWriter, Lengths, ORDER_BITS, fold, unfold};
use crate::groups::GroupId;
use crate::object::{Class, Mobile, Object, ObjectId, ShapeId};
use crate::state::{Rotation, State};

/// Order for how many entries a list has.
pub(super) const COUNT_ORDER: u32 = 6;

/// The parts of a rotation: three times so many bits, and two above them.
const PART_BITS: u32 = 20;

/// A column of up to four numbers per entry.
struct Column {
    numbers: usize,
    /// From a reference to a state; all zero if and only if they are the same.
    differences: fn(&State, &State) -> [u32; 4],
    /// From the reference and the numbers to the state.
    apply: fn(&mut State, [u32; 4]) -> Result<(), WireError>,
}

/// How fast.
const MOTIONS: [Column; 2] = [
    Column {
        numbers: 3,
        differences: |from, to| faster(from.velocity, to.velocity),
        apply: |state, by| accelerate(&mut state.velocity, by),
    },
    Column {
        numbers: 3,
        differences: |from, to| faster(from.spin, to.spin),
        apply: |state, by| accelerate(&mut state.spin, by),
    },
];

/// Positions.
const PLACES: [Column; 2] = [
    Column {
        numbers: 3,
        differences: |from, to| {
            let [x, y, z] = each(|axis| fold(to.position[axis].wrapping_sub(from.position[axis])));
            [x, y, z, 0]
        },
        apply: |state, by| {
            let old = state.position;
            state.position = each(|axis| old[axis].wrapping_add(unfold(by[axis])));
            Ok(())
        },
    },
    Column { numbers: 4, differences: turned, apply: turn },
];

fn each<Number>(of: impl FnMut(usize) -> Number) -> [Number; 3] {
    [0, 1, 2].map(of)
}

fn faster(from: [i16; 3], to: [i16; 3]) -> [u32; 4] {
    let [x, y, z] = each(|axis| fold(i32::from(to[axis].wrapping_sub(from[axis]))));
    [x, y, z, 0]
}

fn accelerate(velocity: &mut [i16; 3], by: [u32; 4]) -> Result<(), WireError> {
    for (along, by) in velocity.iter_mut().zip(by) {
        let by = i16::try_from(unfold(by)).map_err(|_| WireError::Malformed("a velocity"))?;
        *along = along.wrapping_add(by);
    }
    Ok(())
}

/// The three parts of a rotation and which one is left out.
fn parts(rotation: Rotation) -> [u32; 4] {
    let bits = rotation.to_bits();
    [2, 1, 0, 3].map(|place| {
        let width = if place == 3 { 2 } else { PART_BITS };
        (bits >> (place * PART_BITS)) as u32 & ((1 << width) - 1)
    })
}

fn turned(from: &State, to: &State) -> [u32; 4] {
    let (from, to) = (parts(from.rotation), parts(to.rotation));
    let [x, y, z] = each(|part| {
        // The difference in 20 bits, with its sign: up and down again moves the sign to the top.
        let up = u32::BITS - PART_BITS;
        fold((to[part].wrapping_sub(from[part]) << up) as i32 >> up)
    });
    [x, y, z, from[3] ^ to[3]]
}

fn turn(state: &mut State, by: [u32; 4]) -> Result<(), WireError> {
    if by[3] > 3 || by.iter().any(|&part| part >> PART_BITS != 0) {
        return Err(WireError::Malformed("a rotation"));
    }
    let old = parts(state.rotation);
    let mask = (1 << PART_BITS) - 1;
    let mut bits = u64::from(old[3] ^ by[3]);
    for (old, by) in old.into_iter().zip(by).take(3) {
        bits = bits << PART_BITS | u64::from(old.wrapping_add(unfold(by) as u32) & mask);
    }
    state.rotation = Rotation::from_bits(bits);
    Ok(())
}

/// How velocities and spins differ from as many others.
pub(super) fn write_motions<'a>(
    out: &mut BitWriter,
    pairs: impl Iterator<Item = (&'a State, &'a State)> + Clone,
) {
    write_columns(out, &MOTIONS, pairs);
}

/// The same with positions and rotations.
pub(super) fn write_places<'a>(
    out: &mut BitWriter,
    pairs: impl Iterator<Item = (&'a State, &'a State)> + Clone,
) {
    write_columns(out, &PLACES, pairs);
}

fn write_columns<'a>(
    out: &mut BitWriter,
    columns: &[Column],
    pairs: impl Iterator<Item = (&'a State, &'a State)> + Clone,
) {
    let mut entries = Vec::new();
    for column in columns {
        entries.clear();
        let mut lengths = [Lengths::new(); 5];
        let mut gap = 0u64;
        for (reference, state) in pairs.clone() {
            let differences = (column.differences)(reference, state);
            if differences == [0; 4] {
                gap += 1;
                continue;
            }
            lengths[4].count(gap);
            for (lengths, difference) in lengths.iter_mut().zip(differences).take(column.numbers) {
                lengths.count(u64::from(difference));
            }
            entries.push((gap, differences));
            gap = 0;
        }
        out.number(entries.len() as u64, COUNT_ORDER);
        if entries.is_empty() {
            continue;
        }
        let orders = lengths.map(|lengths| lengths.order());
        for &order in orders[..column.numbers].iter().chain(&orders[4..]) {
            out.bits(u64::from(order), ORDER_BITS);
        }
        for (gap, differences) in &entries {
            out.number(*gap, orders[4]);
            for (&difference, &order) in differences.iter().zip(&orders).take(column.numbers) {
                out.number(u64::from(difference), order);
            }
        }
    }
}

/// Gives references the velocities and spins that were written against them.
pub(super) fn read_motions(from: &mut BitReader, states: &mut [State]) -> Result<(), WireError> {
    read_columns(from, &MOTIONS, states)
}

/// The same with positions and rotations.
pub(super) fn read_places(from: &mut BitReader, states: &mut [State]) -> Result<(), WireError> {
    read_columns(from, &PLACES, states)
}

fn read_columns(
    from: &mut BitReader,
    columns: &[Column],
    states: &mut [State],
) -> Result<(), WireError> {
    for column in columns {
        let count = from.at_most(COUNT_ORDER, states.len() as u64)?;
        if count == 0 {
            continue;
        }
        let mut orders = [0; 5];
        for order in orders.iter_mut().take(column.numbers) {
            *order = from.bits(ORDER_BITS)?;
        }
        let gap_order = from.bits(ORDER_BITS)?;
        let mut rest = states.iter_mut();
        for _ in 0..count {
            let gap = from.at_most(gap_order, rest.len() as u64)?;
            let Some(state) = rest.nth(gap as usize) else {
                return Err(WireError::Malformed("an entry behind the last state"));
            };
            let mut numbers = [0; 4];
            for (number, &order) in numbers.iter_mut().zip(&orders).take(column.numbers) {
                *number = from.at_most(order, u64::from(u32::MAX))? as u32;
            }
            (column.apply)(state, numbers)?;
        }
    }
    Ok(())
}

/// Numbers that rise, each larger than the one before.
pub(super) fn write_rising(out: &mut BitWriter, numbers: impl Iterator<Item = u64> + Clone) {
    let gaps = numbers.scan(0u64, |next, number| {
        let gap = number - *next;
        // Behind the largest number there is no other.
        *next = number.wrapping_add(1);
        Some(gap)
    });
    let mut lengths = Lengths::new();
    let mut count = 0;
    for gap in gaps.clone() {
        lengths.count(gap);
        count += 1;
    }
    out.number(count, COUNT_ORDER);
    if count > 0 {
        let order = lengths.order();
        out.bits(u64::from(order), ORDER_BITS);
        gaps.for_each(|gap| out.number(gap, order));
    }
}

/// At most `most` numbers below or at `last`.
pub(super) fn read_rising(
    from: &mut BitReader,
    most: usize,
    last: u64,
) -> Result<Vec<u64>, WireError> {
    let count = from.number(COUNT_ORDER)?;
    if count > most as u64 {
        return Err(WireError::TooMany { count, most: most as u64 });
    }
    // A number takes a bit at least: nothing is made room for that cannot be there.
    if count > from.left() as u64 {
        return Err(WireError::Short);
    }
    let mut numbers = Vec::with_capacity(count as usize);
    if count == 0 {
        return Ok(numbers);
    }
    let order = from.bits(ORDER_BITS)?;
    let mut next = Some(0u64);
    for _ in 0..count {
        let gap = from.number(order)?;
        let number = next.and_then(|next| next.checked_add(gap)).filter(|&number| number <= last);
        let Some(number) = number else { return Err(WireError::Malformed("ids beyond the last")) };
        numbers.push(number);
        next = number.checked_add(1);
    }
    Ok(numbers)
}

/// The states of a full list are written against this one.
fn middle(of: &[Object]) -> State {
    let mut reference = State::default();
    for axis in 0..3 {
        let places = || of.iter().map(|object| i64::from(object.state.position[axis]));
        let (low, high) = (places().min().unwrap_or(0), places().max().unwrap_or(0));
        // Between two i32 there are only i32.
        reference.position[axis] = ((low + high) >> 1) as i32;
    }
    reference
}

/// Bits of a class.
const CLASS_BITS: u32 = 3;

/// Bits of the group that a class names.
const GROUP_BITS: u32 = 32;

/// Whole objects; ids must rise.
pub(super) fn write_objects(out: &mut BitWriter, objects: &[Object]) {
    write_rising(out, objects.iter().map(|object| object.id.0));
    if objects.is_empty() {
        return;
    }
    let mut lengths = Lengths::new();
    objects.iter().for_each(|object| lengths.count(u64::from(object.shape.0)));
    let order = lengths.order();
    out.bits(u64::from(order), ORDER_BITS);
    for object in objects {
        out.bits(u64::from(object.class.number()), CLASS_BITS);
        if let Some(group) = object.class.elsewhere() {
            out.bits(u64::from(group.0), GROUP_BITS);
        }
        out.number(u64::from(object.shape.0), order);
    }
    let reference = middle(objects);
    for along in reference.position {
        out.bits(u64::from(along as u32), 32);
    }
    let pairs = objects.iter().map(|object| (&reference, &object.state));
    write_motions(out, pairs.clone());
    write_places(out, pairs);
}

fn read_group(from: &mut BitReader) -> Result<GroupId, WireError> {
    Ok(GroupId(from.bits(GROUP_BITS)?))
}

/// At most `most` whole objects, with rising ids.
pub(super) fn read_objects(from: &mut BitReader, most: usize) -> Result<Vec<Object>, WireError> {
    let ids = read_rising(from, most, u64::MAX)?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let order = from.bits(ORDER_BITS)?;
    let mut kinds = Vec::with_capacity(ids.len());
    for _ in &ids {
        let class = match from.bits(CLASS_BITS)? {
            0 => Class::Immovable,
            1 => Class::Dynamic,
            2 => Class::Avatar,
            3 => Class::Absent,
            4 => Class::Foreign(read_group(from)?),
            5 => Class::Leaving(read_group(from)?, Mobile::Dynamic),
            6 => Class::Leaving(read_group(from)?, Mobile::Avatar),
            _ => Class::Leaving(read_group(from)?, Mobile::Absent),
        };
        kinds.push((class, ShapeId(from.at_most(order, u64::from(u32::MAX))? as u32)));
    }
    let mut reference = State::default();
    for along in &mut reference.position {
        *along = from.bits(32)? as i32;
    }
    let mut states = vec![reference; ids.len()];
    read_motions(from, &mut states)?;
    read_places(from, &mut states)?;
    let objects = ids.into_iter().zip(kinds).zip(states);
    Ok(objects
        .map(|((id, (class, shape)), state)| Object { id: ObjectId(id), class, shape, state })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_the_last_are_refused() {
        let mut bytes = Vec::new();
        let mut bits = BitWriter::new(&mut bytes);
        write_rising(&mut bits, [3, 7, u64::MAX].into_iter());
        bits.finish();
        let read = |most, last| read_rising(&mut BitReader::new(&bytes), most, last);
        assert_eq!(read(3, u64::MAX), Ok(vec![3, 7, u64::MAX]));
        let beyond = Err(WireError::Malformed("ids beyond the last"));
        assert_eq!(read(3, u64::MAX - 1), beyond);
        assert_eq!(read(2, u64::MAX), Err(WireError::TooMany { count: 3, most: 2 }));
        bytes.clear();
        let mut bits = BitWriter::new(&mut bytes);
        bits.number(2, COUNT_ORDER);
        bits.bits(0, ORDER_BITS);
        bits.number(u64::MAX, 0);
        bits.number(0, 0);
        bits.finish();
        assert_eq!(read_rising(&mut BitReader::new(&bytes), 2, u64::MAX), beyond);
    }

    #[test]
    fn differences_that_no_states_have_are_refused() {
        let mut state = State::default();
        assert!(turn(&mut state, [0, 0, 0, 4]).is_err());
        assert!(turn(&mut state, [0, 1 << PART_BITS, 0, 0]).is_err());
        assert!(accelerate(&mut state.spin, [0, 0, 1 << 16, 0]).is_err());
        assert_eq!(state, State::default());
    }
}
