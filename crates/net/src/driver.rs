//! The event loop of a role: it feeds a state machine with time and messages, and sends its output.
//! Each role has its own thread; messages to roles of the same process are passed without encoding.

use crate::clock::{Clock, stopwatch};
use crate::edge::EdgeServer;
use crate::event_log::EventLog;
use crate::links::{Links, Unpacked};
use crate::machine::Machine;
use crate::metrics::{LoadMeter, LoadReport, Metrics, NodeTimings, StallLog};
use crate::name;
use crate::replica_host::PeerFrame;
use crate::transport::{Transport, Urgency};
use jostle_directory::{Basis, Change, Refused};
use jostle_proto::wire::{Kind, WireError, kind_of};
use jostle_proto::{Address, ClientId, GatewayMessage, Message, Output, Span, Time};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel,
};
use std::sync::{Arc, OnceLock};

/// Items in the inbox of a role, at most; more are dropped, and senders resend.
const INBOX: usize = 16_384;

/// Bytes of frames that wait in all inboxes of a process; more are dropped, too.
const INBOX_BYTES: usize = 256 << 20;

/// Items that are handled before output is sent.
const AT_ONCE: usize = 64;

/// Interval of metrics updates and reports.
const SHOW: Span = Span::from_ms(200);

/// An item in the inbox of a role.
pub(crate) enum InboxItem {
    /// From another process.
    Frame { from: Address, frame: QueuedFrame },
    /// From a role of this process, or a client.
    Message { from: Address, message: Message },
    /// A membership change of the directory's replicas, and where its result goes.
    Change(Change, SyncSender<Result<(), Refused>>),
    /// The role stops.
    Stop,
}

/// The inboxes of all roles of a process.
#[derive(Clone)]
pub(crate) struct Inboxes {
    boxes: Arc<BTreeMap<Address, SyncSender<InboxItem>>>,
    /// The directory replica here: it receives messages to the directory.
    replica: Option<Address>,
    metrics: Arc<Metrics>,
    over: Arc<AtomicBool>,
    /// Bytes of all queued frames.
    bytes: Arc<AtomicUsize>,
}

/// A frame in an inbox. Its bytes are counted until it is dropped.
pub(crate) struct QueuedFrame {
    frame: Vec<u8>,
    bytes: Arc<AtomicUsize>,
}

impl QueuedFrame {
    /// Copies a frame, unless more than `most` bytes would be queued then.
    fn new(frame: &[u8], bytes: &Arc<AtomicUsize>, most: usize) -> Option<QueuedFrame> {
        let queued = bytes.fetch_add(frame.len(), Ordering::Relaxed) + frame.len();
        if queued > most {
            bytes.fetch_sub(frame.len(), Ordering::Relaxed);
            return None;
        }
        Some(QueuedFrame { frame: frame.to_vec(), bytes: bytes.clone() })
    }
}

impl Drop for QueuedFrame {
    fn drop(&mut self) {
        self.bytes.fetch_sub(self.frame.len(), Ordering::Relaxed);
    }
}

/// Creates inboxes for these roles.
pub(crate) fn inboxes(
    roles: impl IntoIterator<Item = Address>,
    metrics: &Arc<Metrics>,
) -> (Inboxes, BTreeMap<Address, Receiver<InboxItem>>) {
    let mut boxes = BTreeMap::new();
    let mut readers = BTreeMap::new();
    for role in roles {
        let (sender, reader) = sync_channel(INBOX);
        boxes.insert(role, sender);
        readers.insert(role, reader);
    }
    let (over, bytes) = (Arc::new(AtomicBool::new(false)), Arc::default());
    let is_replica = |role: &&Address| matches!(role, Address::Replica(_));
    let replica = boxes.keys().find(is_replica).copied();
    (Inboxes { boxes: Arc::new(boxes), replica, metrics: metrics.clone(), over, bytes }, readers)
}

impl Inboxes {
    /// Puts an item into the inbox of a role. Returns whether the role is here.
    pub(crate) fn put(&self, to: Address, item: InboxItem) -> bool {
        let Some(inbox) = self.boxes.get(&to) else { return false };
        // A role that has stopped drops nothing.
        if let Err(TrySendError::Full(_)) = inbox.try_send(item) {
            self.metrics.drops.overflow.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// The directory replica here, if there is one.
    pub(crate) fn replica(&self) -> Option<Address> {
        self.replica
    }

    pub(crate) fn roles(&self) -> impl Iterator<Item = &Address> {
        self.boxes.keys()
    }

    fn has(&self, role: Address) -> bool {
        self.boxes.contains_key(&role)
    }

    /// Handles a frame from the transport.
    pub(crate) fn arrived(&self, name: &str, bytes: &[u8]) {
        let to = name::read(name);
        let (Some(to), Some((from, frame))) = (to, name::decode_frame(bytes)) else {
            self.metrics.drops.malformed.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let to = if to == Address::Directory { self.replica.unwrap_or(to) } else { to };
        match QueuedFrame::new(frame, &self.bytes, INBOX_BYTES) {
            Some(frame) => {
                self.put(to, InboxItem::Frame { from, frame });
            }
            None => {
                self.metrics.drops.overflow.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Stops one role. Returns whether it was there.
    pub(crate) fn stop_one(&self, role: Address) -> bool {
        self.boxes.get(&role).is_some_and(|inbox| inbox.send(InboxItem::Stop).is_ok())
    }

    /// Stops all roles.
    pub(crate) fn stop(&self) {
        // A gateway discards the rest of its inbox: clients get no answer any more. Other roles
        // read theirs, so that what they write is complete.
        self.over.store(true, Ordering::Relaxed);
        for inbox in self.boxes.values() {
            // Blocks while the inbox is full; roles never wait for each other, so it is read.
            let _gone = inbox.send(InboxItem::Stop);
        }
    }
}

/// Clients within this program.
#[derive(Default)]
pub(crate) struct LocalClients(OnceLock<SyncSender<(ClientId, GatewayMessage)>>);

impl LocalClients {
    /// The connection number of local clients, which the edge server never assigns.
    pub(crate) const CONNECTION: u32 = u32::MAX;

    /// Sets the channel of messages to local clients, once.
    pub(crate) fn set(&self, sender: SyncSender<(ClientId, GatewayMessage)>) {
        let _first = self.0.set(sender);
    }

    /// A slow reader loses messages, as at the edge server.
    fn send(&self, client: ClientId, message: GatewayMessage) {
        if let Some(sender) = self.0.get() {
            let _lost = sender.try_send((client, message));
        }
    }
}

/// State that all roles of a process share.
pub(crate) struct ProcessContext {
    pub(crate) clock: Clock,
    pub(crate) inboxes: Inboxes,
    pub(crate) transport: Transport,
    pub(crate) edge: Option<EdgeServer>,
    pub(crate) local_clients: LocalClients,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) event_log: Option<EventLog>,
}

/// A running role.
pub(crate) struct Driver {
    machine: Machine,
    me: Address,
    links: Links,
    inbox: Receiver<InboxItem>,
    context: Arc<ProcessContext>,
    shown: Time,
    timings: NodeTimings,
    meter: LoadMeter,
    stall_log: StallLog,
}

impl Driver {
    pub(crate) fn new(
        machine: Machine,
        inbox: Receiver<InboxItem>,
        context: Arc<ProcessContext>,
        rate: u32,
    ) -> Driver {
        let me = machine.address();
        let (shown, timings, meter) = (Time(0), NodeTimings::default(), LoadMeter::default());
        let (links, stall_log) = (Links::new(rate), StallLog::default());
        Driver { machine, me, links, inbox, context, shown, timings, meter, stall_log }
    }

    /// Runs until the role is stopped. A node announces that it stops, so that others need not wait
    /// for its lease to expire.
    pub(crate) fn run(mut self) {
        self.run_loop();
        self.machine.finish();
        if let Some(member) = self.machine.member() {
            self.report(LoadReport::leaving(member));
        }
    }

    fn run_loop(&mut self) {
        let mut out = Vec::new();
        let is_gateway = matches!(self.machine, Machine::Gateway(_));
        while !(is_gateway && self.context.inboxes.over.load(Ordering::Relaxed)) {
            let wait = self.context.clock.until(self.machine.wake_at());
            match self.inbox.recv_timeout(wait) {
                Ok(InboxItem::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(item) => {
                    self.handle(item, &mut out);
                    for _ in 1..AT_ONCE {
                        match self.inbox.try_recv() {
                            Ok(InboxItem::Stop) | Err(TryRecvError::Disconnected) => return,
                            Ok(item) => self.handle(item, &mut out),
                            Err(TryRecvError::Empty) => break,
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = self.context.clock.now();
            if self.machine.wake_at() <= now {
                self.machine.wake(now, &mut out);
            }
            self.send(&mut out);
            self.show(now);
        }
    }

    fn handle(&mut self, item: InboxItem, out: &mut Vec<Output>) {
        let now = self.context.clock.now();
        match item {
            InboxItem::Message { from, message } => {
                self.context.metrics.input_received(now, from, &message);
                self.note_halt(now, &message);
                self.machine.receive(now, from, message, out);
            }
            InboxItem::Change(change, answer) => {
                if let Machine::Replica(replica) = &mut self.machine {
                    // The requester may be gone.
                    let _gone = answer.try_send(replica.change(now, change, out));
                }
            }
            InboxItem::Frame { from: Address::Replica(from), frame }
                if self.is_between(&frame.frame) =>
            {
                if let Machine::Replica(replica) = &mut self.machine
                    && let Err(error) = replica.receive_peer(now, from, &frame.frame, out)
                {
                    self.context.metrics.drops.malformed.fetch_add(1, Ordering::Relaxed);
                    tracing::debug!(?from, %error, "malformed frame from a replica");
                }
            }
            InboxItem::Frame { from, frame } => match self.unpack(from, &frame.frame) {
                Ok(unpacked) => {
                    for frame in unpacked.back {
                        self.send_frame(from, &frame, Urgency::Bulk);
                    }
                    if let Some(message) = unpacked.message {
                        self.note_halt(now, &message);
                        self.machine.receive(now, from, message, out);
                    }
                }
                Err(error) => {
                    self.context.metrics.drops.malformed.fetch_add(1, Ordering::Relaxed);
                    tracing::debug!(?from, %error, "malformed frame");
                }
            },
            InboxItem::Stop => {}
        }
        // Output of a step is sent before the next step.
        self.send(out);
    }

    /// Logs that the directory has reported a group as halted.
    fn note_halt(&self, now: Time, message: &Message) {
        if let Message::Halted { group, lost, for_good } = message {
            self.context.metrics.halted(now, *group, lost, *for_good);
        }
    }

    /// Returns true for a frame between directory replicas.
    fn is_between(&self, frame: &[u8]) -> bool {
        let replica = matches!(self.machine, Machine::Replica(_));
        replica && matches!(kind_of(frame), Ok((Kind::Replica, _)))
    }

    fn unpack(&mut self, from: Address, frame: &[u8]) -> Result<Unpacked, WireError> {
        let begin = stopwatch();
        let unpacked = self.links.unpack(from, frame);
        self.timings.unpacking += stopwatch() - begin;
        unpacked
    }

    fn send(&mut self, out: &mut Vec<Output>) {
        let item = match &mut self.machine {
            Machine::Replica(replica) => replica.take_peer_frames(),
            _ => Vec::new(),
        };
        for PeerFrame { to, frame, urgency } in item {
            self.send_frame(Address::Replica(to), &frame, urgency);
        }
        self.log_answers();
        if out.is_empty() {
            return;
        }
        let begin = stopwatch();
        for output in out.drain(..) {
            let now = self.context.clock.now();
            match output {
                Output::Send(to, message) => self.deliver(now, to, message),
                Output::Publish(commit) => {
                    self.context.metrics.published();
                    if let Some(event_log) = &self.context.event_log {
                        event_log.published(now, &commit);
                    }
                }
                Output::Event(event) => self.context.metrics.contact(event.certainty),
            }
        }
        self.timings.sending += stopwatch() - begin;
    }

    /// Logs on which log entries a replica's answers rest, for the checkers.
    fn log_answers(&mut self) {
        let Machine::Replica(replica) = &mut self.machine else { return };
        let (answers, now) = (replica.take_answers(), self.context.clock.now());
        if let Some(event_log) = &self.context.event_log {
            for Basis { index, asked } in answers {
                event_log.answered(now, asked, index);
            }
        }
    }

    fn deliver(&mut self, now: Time, to: Address, message: Message) {
        if let Some(event_log) = &self.context.event_log {
            event_log.sent(now, self.me, to, &message);
        }
        let message = match (to, message) {
            (Address::Client(client), Message::ToClient(message)) => {
                return self.send_to_client(now, client, message);
            }
            (_, message) => message,
        };
        if self.context.inboxes.has(to) {
            self.context.inboxes.put(to, InboxItem::Message { from: self.me, message });
            return;
        }
        let urgency = urgency(&message);
        match self.links.pack(to, &message) {
            Ok(frames) => {
                for frame in frames {
                    self.send_frame(to, &frame, urgency);
                }
            }
            Err(error) => tracing::error!(?to, %error, "cannot encode a message"),
        }
    }

    fn send_to_client(&self, now: Time, client: ClientId, message: GatewayMessage) {
        self.context.metrics.update_sent(now, client, &message);
        if client.connection == LocalClients::CONNECTION {
            self.context.local_clients.send(client, message);
        } else if let Some(edge) = &self.context.edge {
            edge.send(client, &message);
        }
    }

    fn send_frame(&self, to: Address, frame: &[u8], urgency: Urgency) {
        if let (Some(name), Some(bytes)) = (name::of(to), name::encode_frame(self.me, frame)) {
            self.context.transport.send(&name, &bytes, urgency);
        }
    }

    fn show(&mut self, now: Time) {
        // A tick is shown together with its objects.
        let first = match &self.machine {
            Machine::Gateway(gateway) => self.context.metrics.tick_updated(now, gateway),
            _ => false,
        };
        if first || now - self.shown >= SHOW {
            self.shown = now;
            self.context.metrics.update(now, &self.machine);
            if let Machine::Replica(replica) = &self.machine
                && let Some(report) = Metrics::encode_report(now, replica)
            {
                self.context.transport.send(name::STATUS_REPORTS, &report, Urgency::Bulk);
            }
            let load = match &self.machine {
                Machine::Node(node) => {
                    let timings = NodeTimings { stages: node.stages(), ..self.timings };
                    Some(self.meter.measure(now, node, timings))
                }
                Machine::FreeRunning(node) => Some(LoadReport::free_running(now, node)),
                machine => machine.member().map(LoadReport::idle),
            };
            if let Some(load) = load {
                self.stall_log.follow(now, &load);
                self.report(load);
            }
        }
    }

    /// Sends a load report to the metrics here and to all processes with an edge server.
    fn report(&self, load: LoadReport) {
        self.context.metrics.load(self.context.clock.now(), load.clone());
        if let Ok(bytes) = postcard::to_allocvec(&load) {
            self.context.transport.send(name::LOAD_REPORTS, &bytes, Urgency::Bulk);
        }
    }
}

/// The priority of a message.
fn urgency(message: &Message) -> Urgency {
    match message {
        Message::Bundle(_) => Urgency::Tick,
        Message::Share(_) | Message::Published(_) | Message::Resume(_) => Urgency::Bulk,
        _ => Urgency::Now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queued_bytes_are_bounded_and_free_again_when_frames_are_handled() {
        let bytes = Arc::new(AtomicUsize::new(0));
        let queue = |length: usize| QueuedFrame::new(&vec![0; length], &bytes, 100);
        let first = queue(60).expect("room");
        assert!(queue(41).is_none());
        let second = queue(40).expect("room");
        assert_eq!((bytes.load(Ordering::Relaxed), queue(1).is_none()), (100, true));
        drop(first);
        assert!(queue(60).is_some());
        drop(second);
        assert_eq!(bytes.load(Ordering::Relaxed), 0);
    }
}
