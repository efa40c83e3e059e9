//! A machine of any role, and what is wrong with it.

use jostle_proto::{Address, Directory, LooseNode, Member, Message, Node, Output, Time};

/// What a machine is for.
pub(super) enum Role {
    Directory(Box<Directory>),
    Node(Box<Node>),
    Loose(Box<LooseNode>),
}

impl Role {
    pub(super) fn receive(
        &mut self,
        now: Time,
        _from: Address,
        message: Message,
        out: &mut Vec<Output>,
    ) {
        match self {
            Role::Directory(directory) => directory.receive(now, message, out),
            Role::Node(node) => node.receive(now, message, out),
            Role::Loose(node) => node.receive(now, message, out),
        }
    }

    pub(super) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        match self {
            Role::Directory(directory) => directory.wake(now, out),
            Role::Node(node) => node.wake(now, out),
            Role::Loose(node) => node.wake(now, out),
        }
    }

    fn wake_at(&self) -> Time {
        match self {
            Role::Directory(directory) => directory.wake_at(),
            Role::Node(node) => node.wake_at(),
            Role::Loose(node) => node.wake_at(),
        }
    }

    /// For a node: in which life it is, and whether it takes part.
    pub(super) fn member(&self) -> Option<(Member, bool)> {
        match self {
            Role::Directory(_) => None,
            Role::Node(node) => Some((node.member(), node.tick().is_some())),
            Role::Loose(node) => Some((node.member(), node.settled_in().is_some())),
        }
    }
}

/// A machine.
pub(super) struct Machine {
    /// Nothing while it is down.
    pub(super) role: Option<Role>,
    /// Until when it stands still.
    pub(super) paused: Time,
    /// Until when nobody reaches it.
    pub(super) parted: Time,
    /// Of its clock, in parts of a million.
    pub(super) drift: i64,
    /// Numbers its alarms: only the newest counts.
    pub(super) alarm: u64,
    /// Its last life, which a machine must remember whatever else it forgets.
    pub(super) life: u32,
}

impl Machine {
    pub(super) fn new(role: Role, drift: i64) -> Machine {
        Machine { role: Some(role), paused: Time(0), parted: Time(0), drift, alarm: 0, life: 1 }
    }

    /// Its own time: its clock may be too fast or too slow.
    pub(super) fn local(&self, now: Time) -> Time {
        Time((i128::from(now.0) * i128::from(1_000_000 + self.drift) / 1_000_000) as u64)
    }

    /// When it wants to be woken, by the true clock, after now.
    pub(super) fn wake_at(&self, now: Time) -> Option<Time> {
        let wait = (self.role.as_ref()?.wake_at() - self.local(now)).0;
        let real = i128::from(wait) * 1_000_000 / i128::from(1_000_000 + self.drift);
        Some(Time(now.0.saturating_add(real as u64).saturating_add(1)))
    }
}
