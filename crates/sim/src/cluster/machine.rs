//! A machine of any role, and what is wrong with it.

use super::replicas::Replicas;
use jostle_directory::Replica;
use jostle_proto::{
    Address, Client, Directory, FreeRunningNode, Gateway, Member, Message, Node, Output, Time,
};
use jostle_store::{DirectoryStore, Recorder};
use std::collections::BTreeMap;

/// What a machine is for.
pub(super) enum Role {
    Directory(Box<Directory>),
    /// The same with a store.
    DirectoryStore(Box<DirectoryStore>),
    Recorder(Box<Recorder>),
    Replica(Box<Replica>),
    Node(Box<Node>),
    Gateway(Box<Gateway>),
    Client(Box<Client>),
    FreeRunning(Box<FreeRunningNode>),
}

impl Role {
    pub(super) fn receive(
        &mut self,
        now: Time,
        from: Address,
        message: Message,
        out: &mut Vec<Output>,
    ) {
        match self {
            Role::Directory(directory) => directory.receive(now, message, out),
            Role::DirectoryStore(directory_store) => directory_store.receive(now, message, out),
            Role::Recorder(recorder) => recorder.receive(now, message),
            // It wants other things done than the others, see `Cluster::step_replica`.
            Role::Replica(_) => {}
            Role::Node(node) => node.receive(now, message, out),
            Role::Gateway(gateway) => gateway.receive(now, from, message, out),
            Role::Client(client) => {
                if let Message::ToClient(message) = message {
                    client.receive(now, from, message, out);
                }
            }
            Role::FreeRunning(node) => node.receive(now, message, out),
        }
    }

    /// How far a node is, if this message belongs to an older view than it has seen.
    pub(super) fn progress_before(&self, message: &Message) -> Option<[u64; 7]> {
        let Role::Node(node) = self else { return None };
        message.epoch().filter(|epoch| *epoch < node.seen()).and_then(|_| self.progress())
    }

    pub(super) fn progress(&self) -> Option<[u64; 7]> {
        let Role::Node(node) = self else { return None };
        Some(node.progress())
    }

    pub(super) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        match self {
            Role::Directory(directory) => directory.wake(now, out),
            Role::DirectoryStore(directory_store) => directory_store.wake(now, out),
            Role::Recorder(recorder) => recorder.wake(now, out),
            Role::Replica(_) => {}
            Role::Node(node) => node.wake(now, out),
            Role::Gateway(gateway) => gateway.wake(now, out),
            Role::Client(client) => client.wake(now, out),
            Role::FreeRunning(node) => node.wake(now, out),
        }
    }

    fn wake_at(&self) -> Time {
        match self {
            Role::Directory(directory) => directory.wake_at(),
            Role::DirectoryStore(directory_store) => directory_store.wake_at(),
            Role::Recorder(recorder) => recorder.wake_at(),
            Role::Replica(replica) => replica.wake_at(),
            Role::Node(node) => node.wake_at(),
            Role::Gateway(gateway) => gateway.wake_at(),
            Role::Client(client) => client.wake_at(),
            Role::FreeRunning(node) => node.wake_at(),
        }
    }

    /// For a node: in which life it is, and whether it takes part.
    pub(super) fn member(&self) -> Option<(Member, bool)> {
        match self {
            Role::Directory(_) | Role::DirectoryStore(_) | Role::Recorder(_) => None,
            Role::Replica(_) | Role::Gateway(_) | Role::Client(_) => None,
            Role::Node(node) => Some((node.member(), node.tick().is_some())),
            Role::FreeRunning(node) => Some((node.member(), node.settled_in().is_some())),
        }
    }
}

/// A machine.
pub(super) struct Machine {
    /// Nothing while it is down.
    pub(super) role: Option<Role>,
    /// Until when it stands still.
    pub(super) paused: Time,
    /// Until when it cannot be reached.
    pub(super) parted: Time,
    /// Microseconds that it needs for a message.
    pub(super) slow: u64,
    /// Until when it is busy with one.
    pub(super) busy: Time,
    /// Of its clock, in parts of a million.
    pub(super) drift: i64,
    /// Numbers its alarms: only the newest counts.
    pub(super) alarm: u64,
    /// Its last life, which a machine must remember whatever else it forgets.
    pub(super) life: u32,
}

impl Machine {
    pub(super) fn new(role: Role, drift: i64) -> Machine {
        Machine {
            role: Some(role),
            paused: Time(0),
            parted: Time(0),
            slow: 0,
            busy: Time(0),
            drift,
            alarm: 0,
            life: 1,
        }
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

/// The directory, if it is up or its replicas know it.
pub(super) fn directory_of<'a>(
    machines: &'a BTreeMap<Address, Machine>,
    replicas: &'a Replicas,
) -> Option<&'a Directory> {
    if replicas.are_there() {
        return replicas.directory(machines);
    }
    match machines.get(&Address::Directory)?.role.as_ref()? {
        Role::Directory(directory) => Some(directory),
        Role::DirectoryStore(directory_store) => Some(directory_store.directory()),
        _ => None,
    }
}
