//! The roles of a process: one face for all state machines.

use crate::demo::Stock;
use crate::files::log;
use crate::keeper::Remembered;
use crate::seat::Seat;
use crate::view::Watcher;
use jostle_proto::{Address, Gateway, LooseNode, Member, Message, Node, Output, Time};
use jostle_store::Recorder;

/// A role.
pub(crate) enum Machine {
    Directory(Box<Remembered>),
    Replica(Box<Seat>),
    Node(Box<Node>),
    Loose(Box<LooseNode>),
    Gateway(Box<Gateway>),
    Recorder(Box<Recorder>),
    Stock(Box<Stock>),
    Watcher(Box<Watcher>),
}

impl Machine {
    pub(crate) fn address(&self) -> Address {
        match self {
            Machine::Directory(_) => Address::Directory,
            Machine::Replica(seat) => Address::Replica(seat.id()),
            Machine::Node(node) => Address::Node(node.member().node),
            Machine::Loose(node) => Address::Node(node.member().node),
            Machine::Gateway(gateway) => Address::Gateway(gateway.id()),
            Machine::Recorder(recorder) => Address::Gateway(recorder.id()),
            Machine::Stock(stock) => Address::Gateway(stock.id()),
            Machine::Watcher(watcher) => Address::Gateway(watcher.id()),
        }
    }

    /// The member that it is, if it is a node.
    pub(crate) fn member(&self) -> Option<Member> {
        match self {
            Machine::Node(node) => Some(node.member()),
            Machine::Loose(node) => Some(node.member()),
            _ => None,
        }
    }

    pub(crate) fn wake_at(&self) -> Time {
        match self {
            Machine::Directory(directory) => directory.keeper().wake_at(),
            Machine::Replica(seat) => seat.wake_at(),
            Machine::Node(node) => node.wake_at(),
            Machine::Loose(node) => node.wake_at(),
            Machine::Gateway(gateway) => gateway.wake_at(),
            Machine::Recorder(recorder) => recorder.wake_at(),
            Machine::Stock(stock) => stock.wake_at(),
            Machine::Watcher(watcher) => watcher.wake_at(),
        }
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        match self {
            Machine::Directory(directory) => directory.wake(now, out),
            Machine::Replica(seat) => seat.wake(now, out),
            Machine::Node(node) => node.wake(now, out),
            Machine::Loose(node) => node.wake(now, out),
            Machine::Gateway(gateway) => gateway.wake(now, out),
            Machine::Recorder(recorder) => {
                recorder.wake(now, out);
                log(recorder.take_notices());
            }
            Machine::Stock(stock) => stock.wake(now, out),
            Machine::Watcher(watcher) => watcher.wake(now, out),
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
            Machine::Replica(seat) => seat.receive(now, message, out),
            Machine::Node(node) => node.receive(now, message, out),
            Machine::Loose(node) => node.receive(now, message, out),
            Machine::Gateway(gateway) => gateway.receive(now, from, message, out),
            Machine::Recorder(recorder) => {
                recorder.receive(now, message);
                log(recorder.take_notices());
            }
            Machine::Stock(stock) => stock.receive(now, message, out),
            Machine::Watcher(watcher) => watcher.receive(now, message),
        }
    }

    /// Nothing more will come.
    pub(crate) fn finish(&mut self) {
        if let Machine::Recorder(recorder) = self {
            recorder.finish();
            log(recorder.take_notices());
        }
    }
}
