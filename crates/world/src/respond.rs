//! What a body does when it touches another.

/// The response of a body to touching (Ohlenburg 2003, appendix C.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// What becomes of its velocity.
    pub velocity: VelocityResponse,
    /// Whether it goes back to the last pose in which it touched nothing.
    pub set_back: bool,
}

/// What becomes of the velocity of a body that touches another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VelocityResponse {
    /// Stays.
    Keep,
    /// Mirrored at the face that was hit; 1 keeps all the speed along its normal, 0 none.
    Bounce {
        /// Share of the speed along the normal that is left.
        restitution: f64,
    },
    /// Becomes zero.
    Stop,
}

impl crate::World {
    /// Lets bodies respond to what they touch.
    pub(crate) fn respond(&mut self, changed: &crate::step::Changed) {
        let _ = changed;
    }
}
