//! What an object is to a host, and what a pair of objects therefore needs (Ohlenburg 2003,
//! definition 5 and table 4.1; row O15).

use crate::object::NodeId;

/// What an object is to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Static: every host knows where it is.
    Scene,
    /// Moved by this host's user, and known exactly here alone.
    Enslaved,
    /// Moved by another host, and known here by old messages.
    Remote,
}

impl Role {
    /// By who moves it.
    #[must_use]
    pub fn of(mover: Option<NodeId>, here: NodeId) -> Role {
        match mover {
            None => Role::Scene,
            Some(mover) if mover == here => Role::Enslaved,
            Some(_) => Role::Remote,
        }
    }
}

/// What is done about a pair besides detecting its collisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Nothing: both places are exact.
    DetectOnly,
    /// [`super::predict`]: others decide about the pair, and this host shows what they probably
    /// will.
    RemotePrediction,
    /// [`super::adapt`]: no host knows both places, so each sends the other more.
    AdaptiveTracking,
}

/// Table 4.1.
///
/// ```
/// use jostle_proto::reckon::roles::{Method, Role, method};
///
/// assert_eq!(method(Role::Scene, Role::Remote), Method::RemotePrediction);
/// assert_eq!(method(Role::Enslaved, Role::Scene), Method::DetectOnly);
/// ```
#[must_use]
pub const fn method(a: Role, b: Role) -> Method {
    match (a, b) {
        (Role::Remote, Role::Enslaved) | (Role::Enslaved, Role::Remote) => Method::AdaptiveTracking,
        (Role::Remote, _) | (_, Role::Remote) => Method::RemotePrediction,
        (Role::Scene | Role::Enslaved, Role::Scene | Role::Enslaved) => Method::DetectOnly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_thesis() {
        let roles = [Role::Scene, Role::Remote, Role::Enslaved];
        let (none, remote, adaptive) =
            (Method::DetectOnly, Method::RemotePrediction, Method::AdaptiveTracking);
        let table = [[none, remote, none], [remote, remote, adaptive], [none, adaptive, none]];
        for (a, line) in roles.into_iter().zip(table) {
            for (b, expected) in roles.into_iter().zip(line) {
                assert_eq!(method(a, b), expected, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn roles_differ_from_host_to_host() {
        let (here, there) = (NodeId(1), NodeId(2));
        assert_eq!(Role::of(None, here), Role::Scene);
        assert_eq!(Role::of(Some(here), here), Role::Enslaved);
        assert_eq!(Role::of(Some(here), there), Role::Remote);
    }
}
