//! Addresses as names, for keys and envelopes: `d`, `r2` (a replica of the directory), `n3`,
//! `g5x1` (gateway 5 in its first life).

use jostle_proto::{Address, GatewayId, NodeId, ReplicaId};

/// The boards of all processes that show how the world is; no role has this name.
pub(crate) const BOARDS: &str = "b";

/// The same boards, for what nodes report of their load.
pub(crate) const LOADS: &str = "l";

/// The name of a role that can be reached between processes; clients cannot.
pub(crate) fn of(address: Address) -> Option<String> {
    match address {
        Address::Directory => Some("d".into()),
        Address::Replica(replica) => Some(format!("r{}", replica.0)),
        Address::Node(node) => Some(format!("n{}", node.0)),
        Address::Gateway(GatewayId { number, life }) => Some(format!("g{number}x{life}")),
        Address::Gate(_) | Address::Client(_) => None,
    }
}

/// The role of that name.
pub(crate) fn read(name: &str) -> Option<Address> {
    match name.split_at_checked(1)? {
        ("d", "") => Some(Address::Directory),
        ("r", number) => Some(Address::Replica(ReplicaId(digits(number)?.try_into().ok()?))),
        ("n", number) => Some(Address::Node(NodeId(digits(number)?))),
        ("g", rest) => {
            let (number, life) = rest.split_once('x')?;
            let (number, life) = (digits(number)?, digits(life)?);
            Some(Address::Gateway(GatewayId { number, life }))
        }
        _ => None,
    }
}

/// A number as it is written: no sign, no leading zero.
fn digits(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

/// A frame between processes: who it is from, and what it says.
pub(crate) fn envelope(from: Address, frame: &[u8]) -> Option<Vec<u8>> {
    let name = of(from)?;
    let length = u8::try_from(name.len()).ok()?;
    let mut bytes = Vec::with_capacity(1 + name.len() + frame.len());
    bytes.push(length);
    bytes.extend(name.as_bytes());
    bytes.extend(frame);
    Some(bytes)
}

/// From whom, and the frame.
pub(crate) fn open(bytes: &[u8]) -> Option<(Address, &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    let (name, frame) = rest.split_at_checked(usize::from(length))?;
    Some((read(std::str::from_utf8(name).ok()?)?, frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_the_same() {
        let gateway = Address::Gateway(GatewayId { number: 5, life: 1 });
        for (address, name) in [
            (Address::Directory, "d"),
            (Address::Node(NodeId(0)), "n0"),
            (Address::Node(NodeId(u32::MAX)), "n4294967295"),
            (gateway, "g5x1"),
        ] {
            assert_eq!(of(address).as_deref(), Some(name));
            assert_eq!(read(name), Some(address));
        }
        for wrong in ["", "d1", "n", "n-1", "n01", "n+1", "n4294967296", "g5", "gx", "x", "é"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_envelope_is_opened_or_refused() {
        let bytes = envelope(Address::Node(NodeId(12)), b"frame").expect("nodes have names");
        assert_eq!(open(&bytes), Some((Address::Node(NodeId(12)), &b"frame"[..])));
        for end in 0..4 {
            assert_eq!(open(&bytes[..end]), None);
        }
        assert_eq!(open(&[200, 1, 2]), None);
        assert_eq!(open(&[1, 0xff, 2]), None);
    }
}
