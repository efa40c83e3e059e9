//! Contacts in few bits: what a member found and what a group agreed on, in every tick.
//!
//! Contacts are sorted, so ids are the gaps between them; most push one of the two, or both by the
//! same amount, and many normals are along an axis, with the push. Whatever else a list of contacts
//! may hold is written too, in more bits.

use super::WireError;
use super::bits::{BitReader, BitWriter, Lengths, ORDER_BITS, fold, unfold};
use super::columns::COUNT_ORDER;
use crate::message::Touch;
use crate::normal::Normal;
use crate::object::ObjectId;

/// Bits of a normal: two for each axis, down and up, one for any other, which follows.
const NORMAL_BITS: u32 = 3;
const ANY_NORMAL: u32 = 6;

/// Bits of how a contact pushes, and of how it sets back.
const KICKS_BITS: u32 = 3;
const SHIFT_BITS: u32 = 2;

/// A contact has at least so many bits: two gaps, the normal, what stops, pushes and sets back.
const LEAST_BITS: usize = 11;

/// The axis of a normal that is along one.
fn axis(normal: Normal) -> Option<usize> {
    (0..3).find(|&axis| [false, true].iter().any(|&up| normal == Normal::along(axis, up)))
}

/// How a contact pushes; its number is on the wire.
#[derive(Clone, Copy)]
enum Kicks {
    None = 0,
    /// One of them, along the normal if that is along an axis.
    First = 1,
    Second = 2,
    /// Both, in opposite directions, otherwise like these.
    Both = 3,
    /// In any other way.
    Any = 4,
}

impl Kicks {
    fn of(touch: &Touch) -> Kicks {
        let Touch { normal, kick_a, kick_b, .. } = touch;
        let fits = |kick: &[i16; 3]| axis(*normal).is_none_or(|axis| is_along(*kick, axis));
        let opposite = || (0..3).all(|at| kick_a[at].checked_neg() == Some(kick_b[at]));
        match (*kick_a == [0; 3], *kick_b == [0; 3]) {
            (true, true) => Kicks::None,
            (false, true) if fits(kick_a) => Kicks::First,
            (true, false) if fits(kick_b) => Kicks::Second,
            (false, false) if fits(kick_a) && opposite() => Kicks::Both,
            _ => Kicks::Any,
        }
    }

    /// The vectors that are written.
    fn vectors(self, touch: &Touch) -> impl Iterator<Item = [i16; 3]> {
        let list = match self {
            Kicks::None => [None, None],
            Kicks::First | Kicks::Both => [Some(touch.kick_a), None],
            Kicks::Second => [Some(touch.kick_b), None],
            Kicks::Any => [Some(touch.kick_a), Some(touch.kick_b)],
        };
        list.into_iter().flatten()
    }

    /// The axis that they are along, if they are written so.
    fn axis(self, normal: Normal) -> Option<usize> {
        if matches!(self, Kicks::Any) { None } else { axis(normal) }
    }
}

/// How a contact sets back; its number is on the wire.
#[derive(Clone, Copy, PartialEq)]
enum Shift {
    None = 0,
    /// Along the axis of the normal.
    Along = 1,
    Any = 2,
}

impl Shift {
    fn of(touch: &Touch) -> Shift {
        match axis(touch.normal) {
            _ if touch.shift == [0; 3] => Shift::None,
            Some(axis) if is_along(touch.shift, axis) => Shift::Along,
            _ => Shift::Any,
        }
    }

    fn axis(self, normal: Normal) -> Option<usize> {
        if self == Shift::Along { axis(normal) } else { None }
    }
}

/// Is a vector along an axis?
fn is_along(vector: [i16; 3], axis: usize) -> bool {
    (0..3).all(|at| at == axis || vector[at] == 0)
}

/// The numbers of a vector: one if it is along an axis, or else three.
fn numbers(vector: [i16; 3], axis: Option<usize>) -> impl Iterator<Item = u64> {
    let parts = vector.into_iter().enumerate();
    let parts = parts.filter(move |(at, _)| axis.is_none_or(|axis| axis == *at));
    parts.map(|(_, part)| u64::from(fold(i32::from(part))))
}

fn read_vector(
    bits: &mut BitReader,
    axis: Option<usize>,
    order: u32,
) -> Result<[i16; 3], WireError> {
    let mut vector = [0; 3];
    for (at, part) in vector.iter_mut().enumerate() {
        if axis.is_none_or(|axis| axis == at) {
            *part = unfold(bits.at_most(order, u64::from(u16::MAX))? as u32) as i16;
        }
    }
    Ok(vector)
}

fn write_normal(normal: Normal, bits: &mut BitWriter) {
    match axis(normal) {
        Some(axis) => {
            let up = u64::from(normal == Normal::along(axis, true));
            bits.bits(axis as u64 * 2 + up, NORMAL_BITS);
        }
        None => {
            bits.bits(u64::from(ANY_NORMAL), NORMAL_BITS);
            for part in normal.0 {
                bits.bits(u64::from(part.cast_unsigned()), u8::BITS);
            }
        }
    }
}

fn read_normal(bits: &mut BitReader) -> Result<Normal, WireError> {
    let known = bits.bits(NORMAL_BITS)?;
    if known < ANY_NORMAL {
        return Ok(Normal::along(known as usize / 2, known % 2 == 1));
    }
    let mut normal = Normal::default();
    for part in &mut normal.0 {
        *part = (bits.bits(u8::BITS)? as u8).cast_signed();
    }
    // Each list of contacts has one form.
    if known > ANY_NORMAL || axis(normal).is_some() {
        return Err(WireError::Malformed("a normal"));
    }
    Ok(normal)
}

/// The two ids as gaps behind the pair before. They wrap around, so that any list can be written;
/// those that rise are short.
fn gaps(before: (u64, u64), touch: &Touch) -> (u64, u64) {
    let (a, b) = (touch.a.0, touch.b.0);
    let first = a.wrapping_sub(before.0);
    let second = if first == 0 { b.wrapping_sub(before.1) } else { b.wrapping_sub(a) };
    (first, second)
}

/// Appends contacts.
pub(super) fn write_touches(touches: &[Touch], out: &mut Vec<u8>) {
    let mut bits = BitWriter::new(out);
    bits.number(touches.len() as u64, COUNT_ORDER);
    if touches.is_empty() {
        return bits.finish();
    }
    let mut lengths = [Lengths::new(); 4];
    let mut before = (0, 0);
    for touch in touches {
        let (first, second) = gaps(before, touch);
        lengths[0].count(first);
        lengths[1].count(second);
        let kicks = Kicks::of(touch);
        for vector in kicks.vectors(touch) {
            numbers(vector, kicks.axis(touch.normal)).for_each(|number| lengths[2].count(number));
        }
        let shift = Shift::of(touch);
        if shift != Shift::None {
            let axis = shift.axis(touch.normal);
            numbers(touch.shift, axis).for_each(|number| lengths[3].count(number));
        }
        before = (touch.a.0, touch.b.0);
    }
    let orders = lengths.map(|lengths| lengths.order());
    let [first_order, second_order, kick_order, shift_order] = orders;
    for order in orders {
        bits.bits(u64::from(order), ORDER_BITS);
    }
    before = (0, 0);
    for touch in touches {
        let (first, second) = gaps(before, touch);
        bits.number(first, first_order);
        bits.number(second, second_order);
        write_normal(touch.normal, &mut bits);
        bits.bits(u64::from(touch.stops), 1);
        let (kicks, shift) = (Kicks::of(touch), Shift::of(touch));
        bits.bits(kicks as u64, KICKS_BITS);
        bits.bits(shift as u64, SHIFT_BITS);
        for vector in kicks.vectors(touch) {
            let axis = kicks.axis(touch.normal);
            numbers(vector, axis).for_each(|number| bits.number(number, kick_order));
        }
        if shift != Shift::None {
            let axis = shift.axis(touch.normal);
            numbers(touch.shift, axis).for_each(|number| bits.number(number, shift_order));
        }
        before = (touch.a.0, touch.b.0);
    }
    bits.finish();
}

/// The contacts that are all of these bytes.
pub(super) fn read_touches(bytes: &[u8]) -> Result<Vec<Touch>, WireError> {
    let mut bits = BitReader::new(bytes);
    let count = bits.number(COUNT_ORDER)?;
    // Nothing is made room for that cannot be there.
    if count > (bits.left() / LEAST_BITS) as u64 {
        return Err(WireError::Short);
    }
    let mut touches = Vec::with_capacity(count as usize);
    if count > 0 {
        let mut orders = [0; 4];
        for order in &mut orders {
            *order = bits.bits(ORDER_BITS)?;
        }
        let mut before = (0, 0);
        for _ in 0..count {
            let touch = read_touch(&mut bits, before, orders)?;
            before = (touch.a.0, touch.b.0);
            touches.push(touch);
        }
    }
    bits.finish()?;
    Ok(touches)
}

fn read_touch(
    bits: &mut BitReader,
    before: (u64, u64),
    [first_order, second_order, kick_order, shift_order]: [u32; 4],
) -> Result<Touch, WireError> {
    let (first, second) = (bits.number(first_order)?, bits.number(second_order)?);
    let a = before.0.wrapping_add(first);
    let b = if first == 0 { before.1 } else { a }.wrapping_add(second);
    let normal = read_normal(bits)?;
    let stops = bits.bits(1)? == 1;
    let kicks = match bits.bits(KICKS_BITS)? {
        0 => Kicks::None,
        1 => Kicks::First,
        2 => Kicks::Second,
        3 => Kicks::Both,
        4 => Kicks::Any,
        _ => return Err(WireError::Malformed("a kick")),
    };
    let shift = match bits.bits(SHIFT_BITS)? {
        0 => Shift::None,
        1 if axis(normal).is_some() => Shift::Along,
        2 => Shift::Any,
        _ => return Err(WireError::Malformed("a shift")),
    };
    let axis = kicks.axis(normal);
    let mut vector = || read_vector(bits, axis, kick_order);
    let (kick_a, kick_b) = match kicks {
        Kicks::None => ([0; 3], [0; 3]),
        Kicks::First => (vector()?, [0; 3]),
        Kicks::Second => ([0; 3], vector()?),
        Kicks::Both => {
            let kick = vector()?;
            if kick.contains(&i16::MIN) {
                return Err(WireError::Malformed("a kick"));
            }
            (kick, kick.map(|part| -part))
        }
        Kicks::Any => (vector()?, vector()?),
    };
    let shift = match shift {
        Shift::None => [0; 3],
        _ => read_vector(bits, shift.axis(normal), shift_order)?,
    };
    let (a, b) = (ObjectId(a), ObjectId(b));
    Ok(Touch { a, b, normal, stops, kick_a, kick_b, shift })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::narrow;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = [i16; 3]> {
        let part = || prop_oneof![2 => -900..900i16, 1 => any::<i16>(), 1 => Just(i16::MIN)];
        let along = (0..3usize, part()).prop_map(|(axis, part)| {
            let mut vector = [0; 3];
            vector[axis] = part;
            vector
        });
        prop_oneof![2 => Just([0; 3]), 3 => along, 2 => [part(), part(), part()]]
    }

    fn touch() -> impl Strategy<Value = Touch> {
        let id = || prop_oneof![8 => 0..50u64, 1 => any::<u64>(), 1 => Just(u64::MAX)];
        let normal = prop_oneof![
            2 => (0..3usize, any::<bool>()).prop_map(|(axis, up)| Normal::along(axis, up)),
            1 => any::<[i8; 3]>().prop_map(Normal),
            1 => Just(Normal::default()),
        ];
        let kicks = (vector(), vector(), any::<bool>())
            .prop_map(|(a, b, opposite)| (a, if opposite { a.map(i16::wrapping_neg) } else { b }));
        (id(), id(), normal, kicks, vector(), any::<bool>()).prop_map(
            |(a, b, normal, (kick_a, kick_b), shift, stops)| {
                let (a, b) = (ObjectId(a), ObjectId(b));
                Touch { a, b, normal, stops, kick_a, kick_b, shift }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_contacts_come_back(
            mut touches in prop::collection::vec(touch(), 0..40), sorted: bool,
        ) {
            if sorted {
                touches.sort_unstable();
            }
            let mut bytes = Vec::new();
            write_touches(&touches, &mut bytes);
            prop_assert_eq!(read_touches(&bytes), Ok(touches));
            for end in 0..bytes.len() {
                prop_assert!(read_touches(&bytes[..end]).is_err());
            }
        }
    }

    fn pushed(number: u64, normal: Normal) -> Touch {
        let kick = narrow(normal.unit() * (number as f64 * 40.0 - 2000.0));
        Touch {
            a: ObjectId(number * 7),
            b: ObjectId(number * 7 + 1 + number * 37 % 100),
            normal,
            stops: number.is_multiple_of(5),
            kick_a: kick,
            kick_b: kick.map(|part| -part),
            shift: [0; 3],
        }
    }

    fn size(touch: impl Fn(u64) -> Touch) -> usize {
        let touches: Vec<_> = (0..100).map(touch).collect();
        let mut bytes = Vec::new();
        write_touches(&touches, &mut bytes);
        bytes.len()
    }

    #[test]
    fn a_contact_costs_five_bytes_along_an_axis_and_eleven_in_other_directions() {
        let along = |number: u64| Normal::along(number as usize % 3, number.is_multiple_of(2));
        let bytes = size(|number| pushed(number, along(number)));
        assert!(bytes <= 500, "{bytes} bytes");
        let any = |number: u64| Normal([127, number as i8, 60 - number as i8]);
        let bytes = size(|number| pushed(number, any(number)));
        assert!(bytes <= 1100, "{bytes} bytes");
    }
}
