//! Credentials that only gateways can make: an avatar and its home, sealed with a key that they
//! share.
//!
//! SipHash-2-4 (Aumasson and Bernstein, 2012) is made for this: short messages, a secret key, and
//! without it the seal of a message cannot be predicted.

use crate::client::Credential;
use crate::groups::GroupId;
use crate::object::ObjectId;
use crate::time::Tick;

/// What gateways share and clients do not know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key(pub [u64; 2]);

impl std::fmt::Debug for Key {
    /// Keys are not for logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// The credential for an avatar that is in the world of its home at a tick.
    #[must_use]
    pub fn credential(&self, avatar: ObjectId, home: GroupId, since: Tick) -> Credential {
        let words = [avatar.0, since.0, u64::from(home.0)];
        let message = words.map(u64::to_le_bytes).concat();
        Credential { avatar, since, home, seal: self.seal(&message) }
    }

    /// Was it made with this key?
    #[must_use]
    pub fn fits(&self, credential: &Credential) -> bool {
        self.credential(credential.avatar, credential.home, credential.since) == *credential
    }

    fn seal(&self, message: &[u8]) -> u64 {
        let Key([k0, k1]) = *self;
        let mut v = [
            k0 ^ 0x736f_6d65_7073_6575,
            k1 ^ 0x646f_7261_6e64_6f6d,
            k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ];
        let mut take = |word: u64| {
            v[3] ^= word;
            rounds(&mut v, 2);
            v[0] ^= word;
        };
        let mut words = message.chunks_exact(8);
        for word in words.by_ref() {
            take(word.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)));
        }
        let rest = words.remainder().iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        take(rest | (message.len() as u64) << 56);
        v[2] ^= 0xff;
        rounds(&mut v, 4);
        v[0] ^ v[1] ^ v[2] ^ v[3]
    }
}

fn rounds(v: &mut [u64; 4], count: u32) {
    for _ in 0..count {
        v[0] = v[0].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[2] = v[2].rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_paper() {
        // Appendix A: key and message are 00 01 02 ..; the message has 15 bytes.
        let key = Key([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
        let message: Vec<u8> = (0..15).collect();
        assert_eq!(key.seal(&message), 0xa129_ca61_49be_45e5);
    }

    #[test]
    fn one_credential_does_not_fit_another_avatar_or_key() {
        let (key, other) = (Key([1, 2]), Key([1, 3]));
        let credential = key.credential(ObjectId(7), GroupId(1), Tick(3));
        assert!(key.fits(&credential));
        assert!(!other.fits(&credential));
        assert!(!key.fits(&Credential { avatar: ObjectId(8), ..credential }));
        assert!(!key.fits(&Credential { since: Tick(4), ..credential }));
        assert!(!key.fits(&Credential { home: GroupId(0), ..credential }));
    }
}
