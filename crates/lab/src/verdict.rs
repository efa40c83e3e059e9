//! What a test can say that need not come to an end.

/// Whether two surfaces share a point, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// They do.
    Touch,
    /// They do not.
    Apart,
    /// Not decided. A caller that must not miss a contact takes it as one.
    MayTouch,
}
