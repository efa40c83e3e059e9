//! Hosts with a network of their own: namespaces whose cables end in a [`Switch`].

use super::Host;
use super::switch::{MAC_FIRST, Switch};
use std::process::Command;

/// Some hosts, and what is between them. Needs root and `ip`.
pub(crate) struct Hosts {
    pub(crate) switch: Switch,
    namespaces: Namespaces,
}

/// Gone at the end, with the cables that are in them.
struct Namespaces(Vec<String>);

impl Hosts {
    /// So many; says why if they cannot be had here.
    pub(crate) fn new(count: usize) -> Result<Hosts, String> {
        let mut namespaces = Namespaces(Vec::new());
        let mut cables = Vec::new();
        for number in 0..count {
            let name = format!("jostle-{}-{number}", std::process::id());
            ip(&format!("netns add {name}"))?;
            namespaces.0.push(name.clone());
            let cable = format!("jo{}x{number}", std::process::id());
            let (mac, address) = (mac(number), Hosts::address(number));
            // Frames as they would be on a cable: what is to be cut later is not put together.
            ip(&format!("link add {cable} gso_max_segs 1 type veth peer name eth0 netns {name}"))?;
            ip(&format!("link set {cable} up"))?;
            ip(&format!("-n {name} link set lo up"))?;
            ip(&format!("-n {name} link set eth0 address {mac} gso_max_segs 1 up"))?;
            ip(&format!("-n {name} address add {address}/24 dev eth0"))?;
            cables.push(cable);
        }
        Ok(Hosts { switch: Switch::new(&cables), namespaces })
    }

    /// The same; none where it cannot be done, except on the server, which must be able to.
    pub(crate) fn if_possible(count: usize) -> Option<Hosts> {
        match Hosts::new(count) {
            Ok(hosts) => Some(hosts),
            Err(why) => {
                let server = std::env::var("CI").is_ok_and(|value| value == "true");
                assert!(!server, "{why}; the server must not leave this test out");
                eprintln!("no hosts can be made here, nothing was tried: {why}");
                None
            }
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.namespaces.0.len()
    }

    pub(crate) fn host(&self, number: usize) -> Host {
        Host::namespace(&self.namespaces.0[number])
    }

    pub(crate) fn address(number: usize) -> String {
        format!("10.77.0.{}", number + 1)
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.0 {
            if let Err(why) = ip(&format!("netns delete {name}")) {
                eprintln!("{why}");
            }
        }
    }
}

fn mac(number: usize) -> String {
    let mac = [&MAC_FIRST[..], &[number as u8]].concat();
    mac.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

fn ip(args: &str) -> Result<(), String> {
    let output = Command::new("ip").args(args.split(' ')).output();
    let output = output.map_err(|error| format!("ip (of iproute2): {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("ip {args}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}
