//! Bits to bytes, and the code for small numbers that may be large.
//!
//! Numbers are written in exponential Golomb codes of order k (Teuhola 1978): the k lowest bits
//! as they are, and the rest, plus one, in Elias' gamma code. Other than with bit widths for a
//! whole column, one object that ran into something does not make all others longer.

use super::WireError;

/// A gamma code begins with fewer zeros than this; so many mean: 64 plain bits follow. It keeps
/// every code with its order's bits out of a second load.
const ESCAPE: u32 = 24;

/// Orders fit into 5 bits.
pub(super) const ORDER_BITS: u32 = 5;

pub(super) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    buffer: u64,
    filled: u32,
}

/// The lowest bits, up to all.
fn low(value: u64, count: u32) -> u64 {
    if count >= 64 { value } else { value & ((1 << count) - 1) }
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> BitWriter<'a> {
        BitWriter { out, buffer: 0, filled: 0 }
    }

    /// The lowest `count` bits, at most 64; the others must be zero.
    pub(super) fn bits(&mut self, value: u64, count: u32) {
        self.buffer |= value << self.filled;
        let filled = self.filled + count;
        if filled >= 64 {
            self.out.extend(self.buffer.to_le_bytes());
            self.buffer = if self.filled == 0 { 0 } else { value >> (64 - self.filled) };
            self.filled = filled - 64;
        } else {
            self.filled = filled;
        }
    }

    pub(super) fn number(&mut self, value: u64, order: u32) {
        let above = value >> order;
        if above >= (1 << ESCAPE) - 1 {
            self.bits(0, ESCAPE);
            self.bits(value, 64);
            return;
        }
        let above = above + 1;
        let zeros = above.ilog2();
        // The leading one comes first, so that the reader can count zeros.
        let gamma = 1 << zeros | low(above, zeros) << (zeros + 1);
        let length = 2 * zeros + 1;
        if length + order <= 64 {
            self.bits(gamma | low(value, order) << length, length + order);
        } else {
            self.bits(gamma, length);
            self.bits(low(value, order), order);
        }
    }

    /// Fills up the last byte with zeros.
    pub(super) fn finish(self) {
        let bytes = self.filled.div_ceil(8) as usize;
        self.out.extend(self.buffer.to_le_bytes().iter().take(bytes));
    }
}

pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0 }
    }

    /// Bits not yet read.
    pub(super) fn left(&self) -> usize {
        (self.bytes.len() * 8).saturating_sub(self.at)
    }

    /// At least the next 57 bits; behind the end there are zeros.
    fn window(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let word = match rest.first_chunk::<8>() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        };
        word >> (self.at % 8)
    }

    fn pass(&mut self, count: u32) -> Result<(), WireError> {
        self.at += count as usize;
        if self.at > self.bytes.len() * 8 { Err(WireError::Short) } else { Ok(()) }
    }

    /// At most 32 bits.
    pub(super) fn bits(&mut self, count: u32) -> Result<u32, WireError> {
        let value = low(self.window(), count.min(32));
        self.pass(count)?;
        Ok(value as u32)
    }

    pub(super) fn word(&mut self) -> Result<u64, WireError> {
        let lower = self.bits(32)?;
        Ok(u64::from(lower) | u64::from(self.bits(32)?) << 32)
    }

    pub(super) fn number(&mut self, order: u32) -> Result<u64, WireError> {
        let window = self.window();
        let zeros = window.trailing_zeros();
        if zeros >= ESCAPE {
            self.pass(ESCAPE)?;
            return self.word();
        }
        let length = 2 * zeros + 1;
        let above = (low(window >> (zeros + 1), zeros) | 1 << zeros) - 1;
        let rest = if length + order <= 57 {
            self.pass(length + order)?;
            low(window >> length, order)
        } else {
            self.pass(length)?;
            u64::from(self.bits(order)?)
        };
        Ok(above << order | rest)
    }

    /// A number that may not be larger than `most`.
    pub(super) fn at_most(&mut self, order: u32, most: u64) -> Result<u64, WireError> {
        let value = self.number(order)?;
        if value > most { Err(WireError::Malformed("a number out of range")) } else { Ok(value) }
    }

    /// Everything must have been read, but for the zeros that fill the last byte.
    pub(super) fn finish(mut self) -> Result<(), WireError> {
        let left = self.left();
        if left >= 8 {
            return Err(WireError::Trailing { extra: left / 8 });
        }
        match self.bits(left as u32)? {
            0 => Ok(()),
            _ => Err(WireError::Trailing { extra: 1 }),
        }
    }
}

/// Numbers of a column by their lengths in bits: enough to choose an order for it.
#[derive(Clone, Copy)]
pub(super) struct Lengths([u32; 65]);

impl Lengths {
    pub(super) fn new() -> Lengths {
        Lengths([0; 65])
    }

    pub(super) fn count(&mut self, value: u64) {
        self.0[(64 - value.leading_zeros()) as usize] += 1;
    }

    /// The order that makes the column shortest, as far as lengths show.
    pub(super) fn order(&self) -> u32 {
        // No number is longer, and no order needs to be.
        let longest = self.0.iter().rposition(|&count| count > 0).unwrap_or(0);
        let cost = |order: u32| -> u64 {
            let mut bits = 0;
            for (length, &count) in self.0.iter().enumerate().take(longest + 1) {
                let above = (length as u32).saturating_sub(order);
                // Gamma codes have 2 n - 1 bits; adding one to a number of `above` bits makes it
                // longer always (1), half of the time (2, 3), a quarter of the time.
                let gamma = match above {
                    0 => 1,
                    1 => 3,
                    2 => 4,
                    above if above < ESCAPE => 2 * above - 1,
                    _ => ESCAPE + 64 - order,
                };
                bits += u64::from(count) * u64::from(gamma + order);
            }
            bits
        };
        let orders = 0..=(longest as u32).min((1 << ORDER_BITS) - 1);
        orders.min_by_key(|&order| cost(order)).unwrap_or(0)
    }
}

/// Small numbers of either sign to small numbers: 0, -1, 1, -2, 2 to 0, 1, 2, 3, 4.
pub(super) fn fold(value: i32) -> u32 {
    (value << 1 ^ value >> 31) as u32
}

/// The way back.
pub(super) fn unfold(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn numbers_come_back(
            list in prop::collection::vec((any::<u64>(), 0..64u32, 0..32u32), 0..200),
        ) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            for &(value, shift, order) in &list {
                writer.number(value >> shift, order);
                writer.bits(low(value, order), order);
            }
            writer.finish();
            let mut reader = BitReader::new(&bytes);
            for &(value, shift, order) in &list {
                prop_assert_eq!(reader.number(order), Ok(value >> shift));
                prop_assert_eq!(reader.bits(order).map(u64::from), Ok(low(value, order)));
            }
            prop_assert_eq!(reader.finish(), Ok(()));
        }

        #[test]
        fn folding_comes_back(value: i32) {
            prop_assert_eq!(unfold(fold(value)), value);
        }

        #[test]
        fn the_order_is_close_to_the_best(
            list in prop::collection::vec(any::<u32>(), 1..100), shift in 0..32u32,
        ) {
            let mut lengths = Lengths::new();
            let size = |order: u32| {
                let mut bytes = Vec::new();
                let mut writer = BitWriter::new(&mut bytes);
                for value in &list {
                    writer.number(u64::from(value >> shift), order);
                }
                writer.finish();
                bytes.len()
            };
            for value in &list {
                lengths.count(u64::from(value >> shift));
            }
            let best = (0..32).map(size).min().unwrap();
            prop_assert!(size(lengths.order()) <= best + best / 8 + 2);
        }
    }

    #[test]
    fn nothing_is_read_behind_the_end_and_nothing_left_before_it() {
        let mut reader = BitReader::new(&[255]);
        assert_eq!(reader.bits(8), Ok(255));
        assert_eq!(reader.bits(1), Err(WireError::Short));
        for (bytes, extra) in [(&[3, 0][..], 1), (&[1, 0, 0], 2), (&[129], 1), (&[3], 1)] {
            let mut reader = BitReader::new(bytes);
            assert_eq!(reader.bits(1), Ok(1));
            assert_eq!(reader.finish(), Err(WireError::Trailing { extra }));
        }
        let mut reader = BitReader::new(&[1]);
        assert_eq!(reader.bits(1), Ok(1));
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn small_numbers_are_folded_small() {
        let folded = [0, -1, 1, -2, 2, i32::MIN].map(fold);
        assert_eq!(folded, [0, 1, 2, 3, 4, u32::MAX]);
    }
}
