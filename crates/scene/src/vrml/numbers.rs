//! Numbers, bit by bit what `str::parse` of the standard library makes of them, and faster.
//!
//! A decimal number is a whole number times a power of ten. If the whole number has at most 53
//! bits and the power is at most 10^22, both are `f64` without error, and their product or
//! quotient is the `f64` nearest to the number (Clinger 1990). Rounding that again to `f32` can
//! go wrong only if the `f64` lies exactly half-way between two `f32`: then, and wherever the
//! premises do not hold, the standard library decides.

/// A decimal number as it stands in a text.
pub(super) struct Decimal {
    negative: bool,
    /// All digits as a whole number; of no use beyond [`DIGITS_MAX`] digits.
    mantissa: u64,
    /// The power of ten to multiply it with.
    power: i32,
    /// The number of digits, zeros in front as well.
    digits: usize,
    /// The number of bytes.
    pub(super) length: usize,
}

/// The most digits that certainly fit 64 bits.
const DIGITS_MAX: usize = 19;

/// Exponents beyond this are written as this: the number is zero or infinite long before.
const POWER_MAX: i32 = 1 << 20;

/// Powers of ten that are `f64` without error.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

fn digit(byte: Option<&u8>) -> Option<u8> {
    byte.map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
}

/// Adds the digits that begin at `at`, and returns where they end.
#[inline]
fn digits(bytes: &[u8], mut at: usize, mantissa: &mut u64) -> usize {
    while let Some(digit) = digit(bytes.get(at)) {
        *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

/// The decimal number at the beginning of `bytes`. What comes after it is not looked at.
#[inline]
pub(super) fn scan(bytes: &[u8]) -> Option<Decimal> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let mut mantissa = 0;
    let mut at = digits(bytes, start, &mut mantissa);
    let mut count = at - start;
    let mut power = 0;
    if bytes.get(at) == Some(&b'.') {
        let end = digits(bytes, at + 1, &mut mantissa);
        let fraction = end - at - 1;
        count += fraction;
        power = -i32::try_from(fraction).unwrap_or(POWER_MAX);
        at = end;
    }
    if count == 0 {
        return None;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let (exponent, end) = exponent(bytes, at + 1)?;
        power = power.saturating_add(exponent);
        at = end;
    }
    Some(Decimal { negative, mantissa, power, digits: count, length: at })
}

/// The exponent at `at`, and where it ends.
fn exponent(bytes: &[u8], at: usize) -> Option<(i32, usize)> {
    let negative = bytes.get(at) == Some(&b'-');
    let start = at + usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
    let mut size = 0i32;
    let mut end = start;
    while let Some(digit) = digit(bytes.get(end)) {
        size = (size * 10 + i32::from(digit)).min(POWER_MAX);
        end += 1;
    }
    (end > start).then_some((if negative { -size } else { size }, end))
}

impl Decimal {
    /// The nearest `f64`, where that takes one step.
    #[inline]
    fn quick(&self) -> Option<f64> {
        if self.digits > DIGITS_MAX || self.mantissa >> 53 != 0 {
            return None;
        }
        let scale = *POWERS.get(self.power.unsigned_abs() as usize)?;
        let whole = self.mantissa as f64;
        let size = if self.power < 0 { whole / scale } else { whole * scale };
        Some(if self.negative { -size } else { size })
    }

    /// The nearest `f32`. `word` is the text of the number.
    #[inline]
    pub(super) fn single(&self, word: &[u8]) -> f32 {
        match self.quick() {
            Some(wide) if rounds_safely(wide) => wide as f32,
            _ => parse(word).unwrap_or(f32::NAN),
        }
    }

    /// The nearest `f64`.
    pub(super) fn double(&self, word: &[u8]) -> f64 {
        self.quick().or_else(|| parse(word)).unwrap_or(f64::NAN)
    }

    /// Returns true if the number loses digits as the `f32` `narrow`. As
    /// [`crate::text::loses_digits`] says, with the usual cases decided in a few steps.
    #[inline]
    pub(super) fn loses_digits(&self, word: &[u8], narrow: f32) -> bool {
        // Six digits survive in every `f32` that has all its bits.
        let few = self.mantissa < 1_000_000 && self.digits <= DIGITS_MAX;
        if few && (narrow.is_normal() || self.mantissa == 0) {
            return false;
        }
        let wide = self.double(word);
        let off = (wide - f64::from(narrow)).abs();
        // The unit of the last digit is at least 10^power: padding zeros only make it larger.
        let scale = POWERS.get(self.power.unsigned_abs() as usize);
        if let Some(scale) = scale
            && off * 2.0 * scale <= 1.0
            && self.power <= 0
        {
            return false;
        }
        crate::text::loses_digits(word, wide, narrow)
    }
}

/// Returns true if the `f32` nearest to `wide` is also the nearest to every number whose nearest
/// `f64` is `wide`.
/// Not half-way between two of them, and where `f32` are as dense as usual.
#[inline]
fn rounds_safely(wide: f64) -> bool {
    const HALF: u64 = 1 << 28;
    const BELOW: u64 = (1 << 29) - 1;
    let size = wide.abs();
    wide.to_bits() & BELOW != HALF
        && (size == 0.0 || (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&size))
}

/// By the standard library.
fn parse<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A whole number of 32 bits, decimal or, as the standard has it (5.5), hexadecimal. A
/// hexadecimal number may use all bits.
pub(super) fn whole(word: &[u8]) -> Option<i64> {
    let (negative, size) = match word {
        [b'-', size @ ..] => (true, size),
        [b'+', size @ ..] => (false, size),
        size => (false, size),
    };
    let (radix, size) = match size {
        [b'0', b'x' | b'X', hex @ ..] => (16, hex),
        size => (10, size),
    };
    if size.is_empty() || size.len() > DIGITS_MAX {
        return None;
    }
    let mut value = 0i64;
    for &byte in size {
        let digit = char::from(byte).to_digit(radix)?;
        value = value.checked_mul(i64::from(radix))?.checked_add(i64::from(digit))?;
    }
    Some(if negative { -value } else { value })
}

/// A whole number as SFInt32: what has all 32 bits, as hexadecimal numbers may, is negative.
pub(super) fn int(word: &[u8]) -> Option<i32> {
    let value = whole(word)?;
    let hexadecimal = word.contains(&b'x') || word.contains(&b'X');
    match u32::try_from(value) {
        Ok(bits) if hexadecimal => Some(bits as i32),
        _ => i32::try_from(value).ok(),
    }
}

/// Returns true for a number, finite or not.
pub(super) fn is_number(word: &[u8]) -> bool {
    parse::<f64>(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::{int, scan, whole};

    /// xorshift64*, as in the tests of other formats.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
        }

        fn below(&mut self, end: u64) -> u64 {
            (self.next() >> 33) % end
        }
    }

    /// Numbers where parsing is hard: any digits, printed floats, half-way points between them,
    /// the smallest and largest, many digits, large exponents.
    fn draw(random: &mut Random) -> String {
        let single = f32::from_bits(random.next() as u32);
        let single = if single.is_finite() { single } else { 1.5 };
        let next = f32::from_bits(single.to_bits() + 1);
        let half = (f64::from(single) + f64::from(next)) / 2.0;
        let places = random.below(20) as usize;
        let digits = random.next() >> random.below(64);
        match random.below(8) {
            0 => format!("{single}"),
            1 => format!("{single:e}"),
            2 if half.is_finite() => format!("{half:e}"),
            3 => format!("{:.places$}", (digits as f64) / 1e6),
            4 => format!("{digits}E{}", random.below(100) as i64 - 50),
            5 => format!("{}.{digits:0places$}", random.below(1000)),
            6 => format!("-.{digits}e+{}", random.below(12)),
            _ => format!("+{}{digits}.e-{}", "0".repeat(places), random.below(400)),
        }
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let mut random = Random(7);
        let (mut quick, mut slow, mut lost, mut kept) = (0, 0, 0, 0);
        for turn in 0..1_000_000 {
            let text = draw(&mut random);
            let decimal = scan(text.as_bytes()).unwrap_or_else(|| panic!("{turn}: {text}"));
            assert_eq!(decimal.length, text.len(), "{turn}: {text}");
            let narrow = decimal.single(text.as_bytes());
            let wide = decimal.double(text.as_bytes());
            assert_eq!(narrow.to_bits(), text.parse::<f32>().unwrap().to_bits(), "{turn}: {text}");
            assert_eq!(wide.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{turn}: {text}");
            *(if decimal.quick().is_some() { &mut quick } else { &mut slow }) += 1;
            if narrow.is_finite() {
                let loses = decimal.loses_digits(text.as_bytes(), narrow);
                let twin = crate::text::loses_digits(text.as_bytes(), wide, narrow);
                assert_eq!(loses, twin, "{turn}: {text}");
                *(if loses { &mut lost } else { &mut kept }) += 1;
            }
        }
        assert!([quick, slow, lost, kept].iter().all(|&count| count > 50_000));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", ".", "+", "-.", "e5", "1e", "1e+", "x", "inf", "nan", "-e1"] {
            assert!(scan(text.as_bytes()).is_none(), "{text}");
        }
        for (text, length) in [("1.2.3", 3), ("1-2", 1), ("1e5e", 3), ("0x1", 1)] {
            assert_eq!(scan(text.as_bytes()).map(|decimal| decimal.length), Some(length), "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_those_of_the_standard_library() {
        let mut random = Random(8);
        for _ in 0..100_000 {
            let value = (random.next() as i64) >> random.below(64);
            let text = value.to_string();
            assert_eq!(int(text.as_bytes()), text.parse::<i32>().ok(), "{text}");
            let bits = value as u32;
            assert_eq!(int(format!("0x{bits:X}").as_bytes()), Some(bits as i32));
        }
        for text in ["", "-", "0x", "1.0", "1e3", "0xG", "99999999999999999999", "0x100000000"] {
            assert_eq!(int(text.as_bytes()), None, "{text}");
        }
        assert_eq!(whole(b"0xFFFFFFFF"), Some(0xFFFF_FFFF));
    }
}
