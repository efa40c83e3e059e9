//! A secret: compared in constant time, and never printed.

use std::fmt;

/// A token or a key.
///
/// ```
/// use jostle_net::Secret;
///
/// let secret = Secret::new("open sesame");
/// assert!(secret.is(b"open sesame") && !secret.is(b"open sesam"));
/// assert_eq!(format!("{secret:?}"), "Secret(…)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// From a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// Compares in constant time.
    #[must_use]
    pub fn is(&self, other: &[u8]) -> bool {
        let mine = self.0.as_bytes();
        let different =
            mine.iter().zip(other).fold(0u8, |different, (mine, other)| different | (mine ^ other));
        mine.len() == other.len() && std::hint::black_box(different) == 0
    }

    /// The text, to send it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}
