//! States for clients, in fewer bits: enough to draw them, not to decide about them.
//!
//! What arrives differs from what was sent by at most [`POSITION_ERROR`] along each axis,
//! [`ROTATION_ERROR`] radians, and a [`VELOCITY_SHARE`]th part of each part of velocity and spin.

use super::WireError;
use super::bits::{BitReader, BitWriter, Lengths, ORDER_BITS, fold, unfold};
use super::columns::{read_rising, write_rising};
use crate::object::ObjectId;
use crate::state::{Rotation, State};

/// Units of position per step: 1/256 of a metre, as from the viewer's place.
const STEP: i64 = 16;

/// The most that a position along an axis is wrong, in units of positions: half a step.
pub const POSITION_ERROR: i32 = 8;

/// The most that a rotation is wrong, in radians, if the part left out is the largest (as
/// [`Rotation::from_quaternion`] does it). A part of the quaternion is wrong by half of
/// 0.7072 / 511, three of them by e = 0.0012 together; the one left out, at least 1/2, is computed
/// from them and wrong by at most sqrt(3/4) / (1/2) times that; all by 2 e, and the angle by twice
/// that, 4 e < 0.0048.
pub const ROTATION_ERROR: f64 = 0.005;

/// Velocities below this many units are exact, others wrong by at most this part of them.
pub const VELOCITY_SHARE: i32 = 16;

/// Bits of the parts of a rotation: here and in a [`Rotation`].
const PART_BITS: u32 = 10;
const FINE_BITS: u32 = 20;

/// Appends states as a viewer at `origin` needs them; ids must rise.
///
/// ```
/// use jostle_proto::wire::light;
/// use jostle_proto::{ObjectId, State};
///
/// let state = State { position: [1000, 2000, 3005], velocity: [5, -1000, 0], ..State::default() };
/// let mut bytes = Vec::new();
/// light::encode([0; 3], &[(ObjectId(3), state)], &mut bytes)?;
/// assert_eq!(bytes.len(), 22);
/// let seen = light::decode(&bytes, 10)?;
/// assert_eq!(seen, [(ObjectId(3), light::seen([0; 3], &state))]);
/// assert_eq!(seen[0].1.position, [1008, 2000, 3008]);
/// # Ok::<(), jostle_proto::wire::WireError>(())
/// ```
///
/// # Errors
/// [`WireError::Malformed`] if ids do not rise.
pub fn encode(
    origin: [i32; 3],
    states: &[(ObjectId, State)],
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    if !states.is_sorted_by(|one, two| one.0 < two.0) {
        return Err(WireError::Malformed("ids must rise"));
    }
    let mut bits = BitWriter::new(out);
    write_rising(&mut bits, states.iter().map(|(id, _)| id.0));
    if states.is_empty() {
        bits.finish();
        return Ok(());
    }
    for along in origin {
        bits.bits(u64::from(along as u32), 32);
    }
    let mut lengths = Lengths::new();
    for (_, state) in states {
        for along in steps(origin, state) {
            lengths.count(u64::from(fold(along)));
        }
    }
    let order = lengths.order();
    bits.bits(u64::from(order), ORDER_BITS);
    let resting = State::default().rotation;
    for (_, state) in states {
        for along in steps(origin, state) {
            bits.number(u64::from(fold(along)), order);
        }
        for moves in [state.velocity, state.spin] {
            bits.bits(u64::from(moves != [0; 3]), 1);
            if moves != [0; 3] {
                for along in moves {
                    bits.bits(u64::from(shorten(along)), 8);
                }
            }
        }
        let turned = state.rotation != resting;
        bits.bits(u64::from(turned), 1);
        if turned {
            bits.bits(u64::from(coarse(state.rotation)), 3 * PART_BITS + 2);
        }
    }
    bits.finish();
    Ok(())
}

/// At most `most` states, as the viewer sees them.
///
/// # Errors
/// See [`WireError`]. Any bytes are safe; room is made for what the bytes can hold.
pub fn decode(bytes: &[u8], most: usize) -> Result<Vec<(ObjectId, State)>, WireError> {
    let mut bits = BitReader::new(bytes);
    let ids = read_rising(&mut bits, most, u64::MAX)?;
    if ids.is_empty() {
        bits.finish()?;
        return Ok(Vec::new());
    }
    let mut origin = [0; 3];
    for along in &mut origin {
        *along = bits.bits(32)? as i32;
    }
    let order = bits.bits(ORDER_BITS)?;
    let mut states = Vec::with_capacity(ids.len());
    for id in ids {
        let mut state = State::default();
        for (along, origin) in state.position.iter_mut().zip(origin) {
            let steps = unfold(bits.at_most(order, u64::from(u32::MAX))? as u32);
            *along = place(origin, steps);
        }
        for moves in [&mut state.velocity, &mut state.spin] {
            if bits.bits(1)? == 1 {
                for along in moves {
                    *along = lengthen(bits.bits(8)? as u8);
                }
            }
        }
        if bits.bits(1)? == 1 {
            state.rotation = fine(bits.bits(3 * PART_BITS + 2)?);
        }
        states.push((ObjectId(id), state));
    }
    bits.finish()?;
    Ok(states)
}

/// What a viewer at `origin` will see of this state.
#[must_use]
pub fn seen(origin: [i32; 3], state: &State) -> State {
    let [x, y, z] = steps(origin, state);
    let rotation = state.rotation;
    State {
        position: [place(origin[0], x), place(origin[1], y), place(origin[2], z)],
        rotation: if rotation == Rotation::default() { rotation } else { fine(coarse(rotation)) },
        velocity: state.velocity.map(|along| lengthen(shorten(along))),
        spin: state.spin.map(|along| lengthen(shorten(along))),
    }
}

/// Steps from the origin, to the closest.
fn steps(origin: [i32; 3], state: &State) -> [i32; 3] {
    [0, 1, 2].map(|axis: usize| {
        let way = i64::from(state.position[axis]) - i64::from(origin[axis]);
        // 33 bits divided by 16 fit.
        (way + STEP / 2).div_euclid(STEP) as i32
    })
}

fn place(origin: i32, steps: i32) -> i32 {
    let along = i64::from(origin) + i64::from(steps) * STEP;
    along.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// A sign, four bits of an exponent and three of the number behind its leading one.
fn shorten(velocity: i16) -> u8 {
    let sign = u8::from(velocity < 0) << 7;
    let size = u32::from(velocity.unsigned_abs());
    if size < 16 {
        return sign | size as u8;
    }
    let mut exponent = size.ilog2() - 3;
    let mut number = (size + (1 << exponent >> 1)) >> exponent;
    if number == 16 {
        (number, exponent) = (8, exponent + 1);
    }
    sign | ((exponent + 1) << 3 | (number - 8)) as u8
}

fn lengthen(short: u8) -> i16 {
    let (exponent, number) = (u32::from(short >> 3 & 15), i32::from(short & 7));
    let size = if exponent == 0 { number } else { (number + 8) << (exponent - 1) };
    let size = if short >> 7 == 1 { -size } else { size };
    size.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
}

/// The steps of a part between its ends.
const COARSE: u64 = (1 << PART_BITS) - 2;
const FINE: u64 = (1 << FINE_BITS) - 2;

fn coarse(rotation: Rotation) -> u32 {
    let bits = rotation.to_bits();
    let mut short = bits >> (3 * FINE_BITS);
    for place in [2, 1, 0] {
        let part = bits >> (place * FINE_BITS) & ((1 << FINE_BITS) - 1);
        short = (short << PART_BITS) | ((part * COARSE + FINE / 2) / FINE);
    }
    short as u32
}

fn fine(short: u32) -> Rotation {
    let short = u64::from(short);
    let mut bits = short >> (3 * PART_BITS);
    for place in [2, 1, 0] {
        let part = short >> (place * PART_BITS) & ((1 << PART_BITS) - 1);
        bits = (bits << FINE_BITS) | ((part * FINE + COARSE / 2) / COARSE).min(FINE);
    }
    Rotation::from_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_velocities_are_close() {
        for velocity in i16::MIN..=i16::MAX {
            let back = lengthen(shorten(velocity));
            let error = (i32::from(back) - i32::from(velocity)).abs();
            let size = i32::from(velocity).abs();
            let most = if size < VELOCITY_SHARE { 0 } else { size / VELOCITY_SHARE };
            assert!(error <= most, "{velocity} came back as {back}");
        }
    }
}
