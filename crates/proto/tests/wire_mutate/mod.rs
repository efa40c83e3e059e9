//! Bytes as a hostile sender might make them.

use crate::wire_samples::Random;

/// How many messages a test tries.
pub(crate) fn mutations() -> usize {
    let number_of = std::env::var("JOSTLE_WIRE_MUTATIONS").ok();
    number_of.map_or(1_000_000, |number| number.parse().unwrap())
}

/// Bytes changed in a few places, most of them behind the spared ones.
pub(crate) fn mutate(source: &[u8], spared: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = source.to_vec();
    for _ in 0..1 + random.below(3) {
        let spared = if random.chance(90) { spared.min(bytes.len()) } else { 0 };
        let at = spared + random.below(bytes.len() - spared + 1);
        let end = (at + random.below(12)).min(bytes.len());
        match random.below(7) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            2 if at < bytes.len() => bytes[at] = [0, 1, 127, 128, 255][random.below(5)],
            3 => drop(bytes.drain(at..end)),
            4 => bytes.truncate(at),
            5 => drop(bytes.splice(at..at, [255; 9])),
            6 => drop(bytes.splice(at..end, jostle_dice::bits(&mut random.0).to_le_bytes())),
            _ => bytes.extend_from_within(at..end),
        }
    }
    bytes
}

/// The frame again with the length and the sum that its bytes have now, so that the mutation
/// reaches what is inside.
pub(crate) fn mend(frame: &mut [u8]) {
    if frame.len() >= 12 {
        let length = (frame.len() - 12) as u32;
        frame[4..8].copy_from_slice(&length.to_le_bytes());
        let sum = crc32c::crc32c_append(crc32c::crc32c(&frame[..8]), &frame[12..]);
        frame[8..12].copy_from_slice(&sum.to_le_bytes());
    }
}
