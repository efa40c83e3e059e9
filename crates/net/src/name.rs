//! Names of roles on the transport: `d`, `r2` (a replica of the directory), `n3`, `g5x1` (gateway
//! 5, incarnation 1).

use jostle_proto::{Address, GatewayId, NodeId, ReplicaId};

/// The topic of status reports, for all processes with metrics; no role has this name.
pub(crate) const STATUS_REPORTS: &str = "b";

/// The topic of load reports.
pub(crate) const LOAD_REPORTS: &str = "l";

/// The name of a role; clients have none, because they are reached through their gateway.
pub(crate) fn of(address: Address) -> Option<String> {
    match address {
        Address::Directory => Some("d".into()),
        Address::Replica(replica) => Some(format!("r{}", replica.0)),
        Address::Node(node) => Some(format!("n{}", node.0)),
        Address::Gateway(GatewayId { number, life }) => Some(format!("g{number}x{life}")),
        Address::Gate(_) | Address::Client(_) => None,
    }
}

/// The role with that name.
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

/// A canonical number: no sign, no leading zero.
fn digits(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

/// Prefixes a frame with the name of its sender.
pub(crate) fn encode_frame(from: Address, frame: &[u8]) -> Option<Vec<u8>> {
    let name = of(from)?;
    let length = u8::try_from(name.len()).ok()?;
    let mut bytes = Vec::with_capacity(1 + name.len() + frame.len());
    bytes.push(length);
    bytes.extend(name.as_bytes());
    bytes.extend(frame);
    Some(bytes)
}

/// The sender and the frame.
pub(crate) fn decode_frame(bytes: &[u8]) -> Option<(Address, &[u8])> {
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
        let bytes = encode_frame(Address::Node(NodeId(12)), b"frame").expect("nodes have names");
        assert_eq!(decode_frame(&bytes), Some((Address::Node(NodeId(12)), &b"frame"[..])));
        for end in 0..4 {
            assert_eq!(decode_frame(&bytes[..end]), None);
        }
        assert_eq!(decode_frame(&[200, 1, 2]), None);
        assert_eq!(decode_frame(&[1, 0xff, 2]), None);
    }
}
