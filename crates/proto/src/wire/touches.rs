//! Contacts in few bits: what a member found and what a group agreed on, in every tick.
//!
//! Contacts are sorted, so ids are the gaps between them; and most contacts kick along the axis
//! that they are on, either one of the two or both by the same amount. Whatever else a list of
//! contacts may hold is written too, in more bits.

use super::WireError;
use super::bits::{BitReader, BitWriter, Lengths, ORDER_BITS, fold, unfold};
use super::columns::COUNT_ORDER;
use crate::message::{Touch, Toward};
use crate::object::ObjectId;

/// How a contact kicks; its number is on the wire.
#[derive(Clone, Copy)]
enum Kicks {
    None = 0,
    /// One of them, along the axis.
    First = 1,
    Second = 2,
    /// Both, along the axis, in opposite directions.
    Both = 3,
    /// In any other way.
    Any = 4,
}

const KICKS_BITS: u32 = 3;

/// Bits of an axis and a direction: an axis that is none is 3, and its number follows.
const AXIS_BITS: u32 = 2;
const NO_AXIS: u8 = 3;

/// A contact has at least so many bits: two gaps, the axis, the direction and the kicks.
const LEAST_BITS: usize = 8;

impl Kicks {
    fn of(touch: &Touch) -> Kicks {
        let Touch { toward, kick_a, kick_b, .. } = touch;
        let axis = usize::from(toward.axis);
        let along = |kick: &[i16; 3]| (0..3).all(|at| at == axis || kick[at] == 0);
        if axis >= 3 || !along(kick_a) || !along(kick_b) {
            return Kicks::Any;
        }
        match (kick_a[axis], kick_b[axis]) {
            (0, 0) => Kicks::None,
            (_, 0) => Kicks::First,
            (0, _) => Kicks::Second,
            (a, b) if a.checked_neg() == Some(b) => Kicks::Both,
            _ => Kicks::Any,
        }
    }

    /// The numbers that say how much.
    fn numbers(self, touch: &Touch) -> impl Iterator<Item = i16> {
        let Touch { toward, kick_a: [ax, ay, az], kick_b: [bx, by, bz], .. } = *touch;
        let axis = usize::from(toward.axis);
        let list = match self {
            Kicks::None => [0; 6],
            Kicks::First | Kicks::Both => [touch.kick_a.get(axis).map_or(0, |kick| *kick); 6],
            Kicks::Second => [touch.kick_b.get(axis).map_or(0, |kick| *kick); 6],
            Kicks::Any => [ax, ay, az, bx, by, bz],
        };
        list.into_iter().take(self.count())
    }

    fn count(self) -> usize {
        match self {
            Kicks::None => 0,
            Kicks::First | Kicks::Second | Kicks::Both => 1,
            Kicks::Any => 6,
        }
    }
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
    let mut lengths = [Lengths::new(); 3];
    let mut before = (0, 0);
    for touch in touches {
        let (first, second) = gaps(before, touch);
        lengths[0].count(first);
        lengths[1].count(second);
        for kick in Kicks::of(touch).numbers(touch) {
            lengths[2].count(u64::from(fold(i32::from(kick))));
        }
        before = (touch.a.0, touch.b.0);
    }
    let [first_order, second_order, kick_order] = lengths.map(|lengths| lengths.order());
    for order in [first_order, second_order, kick_order] {
        bits.bits(u64::from(order), ORDER_BITS);
    }
    before = (0, 0);
    for touch in touches {
        let (first, second) = gaps(before, touch);
        bits.number(first, first_order);
        bits.number(second, second_order);
        let Toward { axis, up } = touch.toward;
        bits.bits(u64::from(axis.min(NO_AXIS)), AXIS_BITS);
        if axis >= NO_AXIS {
            bits.bits(u64::from(axis), u8::BITS);
        }
        bits.bits(u64::from(up), 1);
        let kicks = Kicks::of(touch);
        bits.bits(kicks as u64, KICKS_BITS);
        for kick in kicks.numbers(touch) {
            bits.number(u64::from(fold(i32::from(kick))), kick_order);
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
        let mut orders = [0; 3];
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
    [first_order, second_order, kick_order]: [u32; 3],
) -> Result<Touch, WireError> {
    let (first, second) = (bits.number(first_order)?, bits.number(second_order)?);
    let a = before.0.wrapping_add(first);
    let b = if first == 0 { before.1 } else { a }.wrapping_add(second);
    let mut axis = bits.bits(AXIS_BITS)? as u8;
    if axis == NO_AXIS {
        axis = bits.bits(u8::BITS)? as u8;
        if axis < NO_AXIS {
            return Err(WireError::Malformed("an axis"));
        }
    }
    let up = bits.bits(1)? == 1;
    let kicks = match bits.bits(KICKS_BITS)? {
        0 => Kicks::None,
        1 => Kicks::First,
        2 => Kicks::Second,
        3 => Kicks::Both,
        4 => Kicks::Any,
        _ => return Err(WireError::Malformed("a kick")),
    };
    let mut numbers = [0i16; 6];
    for number in numbers.iter_mut().take(kicks.count()) {
        *number = unfold(bits.at_most(kick_order, u64::from(u16::MAX))? as u32) as i16;
    }
    let [ax, ay, az, bx, by, bz] = numbers;
    let (mut kick_a, mut kick_b) = ([0; 3], [0; 3]);
    let (along_a, along_b) = match kicks {
        Kicks::None => (0, 0),
        Kicks::First => (ax, 0),
        Kicks::Second => (0, ax),
        Kicks::Both => (ax, ax.checked_neg().ok_or(WireError::Malformed("a kick"))?),
        Kicks::Any => {
            (kick_a, kick_b) = ([ax, ay, az], [bx, by, bz]);
            (0, 0)
        }
    };
    if !matches!(kicks, Kicks::Any) {
        let none = WireError::Malformed("a kick along no axis");
        *kick_a.get_mut(usize::from(axis)).ok_or(none)? = along_a;
        *kick_b.get_mut(usize::from(axis)).ok_or(none)? = along_b;
    }
    let (a, b) = (ObjectId(a), ObjectId(b));
    Ok(Touch { a, b, toward: Toward { axis, up }, kick_a, kick_b })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn touch() -> impl Strategy<Value = Touch> {
        let id = || prop_oneof![8 => 0..50u64, 1 => any::<u64>(), 1 => Just(u64::MAX)];
        let kick = prop_oneof![Just(0i16), -900..900i16, any::<i16>(), Just(i16::MIN)];
        let along = (0..3usize, kick.clone(), prop_oneof![Just(0i32), Just(-1), Just(1)]).prop_map(
            |(axis, kick, sign)| {
                let mut kicks = ([0; 3], [0; 3]);
                kicks.0[axis] = kick;
                kicks.1[axis] = (i32::from(kick) * sign) as i16;
                (axis as u8, kicks)
            },
        );
        let wild = (any::<u8>(), (any::<[i16; 3]>(), any::<[i16; 3]>()));
        let second = (0..3usize, kick).prop_map(|(axis, kick)| {
            let mut kicks = ([0; 3], [0; 3]);
            kicks.1[axis] = kick;
            (axis as u8, kicks)
        });
        let kicks = prop_oneof![4 => along, 2 => second, 1 => wild];
        (id(), id(), kicks, any::<bool>()).prop_map(|(a, b, (axis, (kick_a, kick_b)), up)| Touch {
            a: ObjectId(a),
            b: ObjectId(b),
            toward: Toward { axis, up },
            kick_a,
            kick_b,
        })
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

    #[test]
    fn an_ordinary_contact_costs_five_bytes() {
        let touch = |number: u64| Touch {
            a: ObjectId(number * 7),
            b: ObjectId(number * 7 + 1 + number * 37 % 100),
            toward: Toward { axis: (number % 3) as u8, up: number.is_multiple_of(2) },
            kick_a: [0; 3],
            kick_b: [0; 3],
        };
        let mut touches: Vec<_> = (0..100).map(touch).collect();
        for (touch, kick) in touches.iter_mut().zip((-2000..2000i16).step_by(40)) {
            let axis = usize::from(touch.toward.axis);
            (touch.kick_a[axis], touch.kick_b[axis]) = (kick, -kick);
        }
        let mut bytes = Vec::new();
        write_touches(&touches, &mut bytes);
        assert!(bytes.len() <= 500, "{} bytes", bytes.len());
    }
}
