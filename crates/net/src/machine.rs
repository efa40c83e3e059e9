//! One interface to the state machines of all roles.

use crate::demo::BodySpawner;
use crate::directory_role::DirectoryRole;
use crate::files::log;
use crate::replica_host::ReplicaHost;
use crate::view::ViewFollower;
use jostle_proto::{Address, FreeRunningNode, Gateway, Member, Message, Node, Output, Time};
use jostle_store::Recorder;

/// The state machine of a role.
pub(crate) enum Machine {
    Directory(Box<DirectoryRole>),
    Replica(Box<ReplicaHost>),
    Node(Box<Node>),
    FreeRunning(Box<FreeRunningNode>),
    Gateway(Box<Gateway>),
    Recorder(Box<Recorder>),
    BodySpawner(Box<BodySpawner>),
    ViewFollower(Box<ViewFollower>),
}

impl Machine {
    pub(crate) fn address(&self) -> Address {
        match self {
            Machine::Directory(_) => Address::Directory,
            Machine::Replica(replica) => Address::Replica(replica.id()),
            Machine::Node(node) => Address::Node(node.member().node),
            Machine::FreeRunning(node) => Address::Node(node.member().node),
            Machine::Gateway(gateway) => Address::Gateway(gateway.id()),
            Machine::Recorder(recorder) => Address::Gateway(recorder.id()),
            Machine::BodySpawner(spawner) => Address::Gateway(spawner.id()),
            Machine::ViewFollower(follower) => Address::Gateway(follower.id()),
        }
    }

    /// Its member id, if it is a node.
    pub(crate) fn member(&self) -> Option<Member> {
        match self {
            Machine::Node(node) => Some(node.member()),
            Machine::FreeRunning(node) => Some(node.member()),
            _ => None,
        }
    }

    pub(crate) fn wake_at(&self) -> Time {
        match self {
            Machine::Directory(directory) => directory.directory_store().wake_at(),
            Machine::Replica(replica) => replica.wake_at(),
            Machine::Node(node) => node.wake_at(),
            Machine::FreeRunning(node) => node.wake_at(),
            Machine::Gateway(gateway) => gateway.wake_at(),
            Machine::Recorder(recorder) => recorder.wake_at(),
            Machine::BodySpawner(spawner) => spawner.wake_at(),
            Machine::ViewFollower(follower) => follower.wake_at(),
        }
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        match self {
            Machine::Directory(directory) => directory.wake(now, out),
            Machine::Replica(replica) => replica.wake(now, out),
            Machine::Node(node) => node.wake(now, out),
            Machine::FreeRunning(node) => node.wake(now, out),
            Machine::Gateway(gateway) => gateway.wake(now, out),
            Machine::Recorder(recorder) => {
                recorder.wake(now, out);
                log(recorder.take_notices());
            }
            Machine::BodySpawner(spawner) => spawner.wake(now, out),
            Machine::ViewFollower(follower) => follower.wake(now, out),
        }
    }

    pub(crate) fn receive(
        &mut self,
        now: Time,
        from: Address,
        message: Message,
        out: &mut Vec<Output>,
    ) {
        match self {
            Machine::Directory(directory) => directory.receive(now, message, out),
            Machine::Replica(replica) => replica.receive(now, message, out),
            Machine::Node(node) => node.receive(now, message, out),
            Machine::FreeRunning(node) => node.receive(now, message, out),
            Machine::Gateway(gateway) => gateway.receive(now, from, message, out),
            Machine::Recorder(recorder) => {
                recorder.receive(now, message);
                log(recorder.take_notices());
            }
            Machine::BodySpawner(spawner) => spawner.receive(now, message, out),
            Machine::ViewFollower(follower) => follower.receive(now, message),
        }
    }

    /// Called when no more input will come.
    pub(crate) fn finish(&mut self) {
        if let Machine::Recorder(recorder) = self {
            recorder.finish();
            log(recorder.take_notices());
        }
    }
}
