//! The checksum of saved bytes, and the hash of states: FNV-1a with 64 bits.

/// FNV-1a with 64 bits (Fowler, Noll, Vo), byte by byte. Every step can be undone, so any change of
/// a single byte changes the result. It finds damage; it does not resist an attacker who constructs
/// two texts to have the same sum.
///
/// ```
/// use jostle_geom::Checksum;
///
/// let mut sum = Checksum::new();
/// sum.extend(*b"foo");
/// sum.extend(*b"bar");
/// assert_eq!(sum.value(), Checksum::of(b"foobar"));
/// assert_eq!(sum.value(), 0x8594_4171_f739_67e8); // from the authors' test suite
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum(u64);

impl Checksum {
    /// Of no bytes.
    #[must_use]
    pub fn new() -> Checksum {
        Checksum(0xcbf2_9ce4_8422_2325)
    }

    /// Of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> u64 {
        let mut sum = Checksum::new();
        sum.extend(bytes.iter().copied());
        sum.value()
    }

    /// Of all bytes so far.
    #[must_use]
    pub fn value(self) -> u64 {
        self.0
    }
}

impl Default for Checksum {
    fn default() -> Checksum {
        Checksum::new()
    }
}

impl Extend<u8> for Checksum {
    fn extend<Bytes: IntoIterator<Item = u8>>(&mut self, bytes: Bytes) {
        self.0 = bytes
            .into_iter()
            .fold(self.0, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    }
}
