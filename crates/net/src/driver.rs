//! The loop that every role runs in: it gives a state machine time, frames and letters, and sends
//! what comes out. Each role has a thread of its own; what goes to a role of the same process is
//! handed over as it is.

use crate::board::{Board, Load, LoadMeter, Spent, Stall};
use crate::clock::{Clock, stopwatch};
use crate::door::Door;
use crate::links::{Brought, Links};
use crate::machine::Machine;
use crate::name;
use crate::plane::{Plane, Urgency};
use crate::seat::Letter;
use crate::witness::Witness;
use jostle_directory::{Basis, Change, Refused};
use jostle_proto::wire::{Kind, WireError, kind_of};
use jostle_proto::{Address, ClientId, GatewaySays, Message, Output, Span, Time};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel,
};
use std::sync::{Arc, OnceLock};

/// Mail that waits for a role; more is dropped, and sent again by whom it is from.
const INBOX: usize = 16_384;

/// Mail that is taken at once, before anything is sent.
const AT_ONCE: usize = 64;

/// How often the board is brought up to date.
const SHOW: Span = Span::from_ms(200);

/// Something for a role.
pub(crate) enum Mail {
    /// From another process.
    Frame { from: Address, frame: Vec<u8> },
    /// From a role of this process, or a client.
    Whole { from: Address, message: Message },
    /// The replicas are to be others; the answer goes there.
    Change(Change, SyncSender<Result<(), Refused>>),
    /// The end.
    Stop,
}

/// The inboxes of all roles of a process.
#[derive(Clone)]
pub(crate) struct Inboxes {
    boxes: Arc<BTreeMap<Address, SyncSender<Mail>>>,
    /// The replica here, which hears what is said to the directory.
    replica: Option<Address>,
    board: Arc<Board>,
    over: Arc<AtomicBool>,
}

/// Makes inboxes for these roles.
pub(crate) fn inboxes(
    roles: impl IntoIterator<Item = Address>,
    board: &Arc<Board>,
) -> (Inboxes, BTreeMap<Address, Receiver<Mail>>) {
    let mut boxes = BTreeMap::new();
    let mut readers = BTreeMap::new();
    for role in roles {
        let (sender, reader) = sync_channel(INBOX);
        boxes.insert(role, sender);
        readers.insert(role, reader);
    }
    let over = Arc::new(AtomicBool::new(false));
    let is_replica = |role: &&Address| matches!(role, Address::Replica(_));
    let replica = boxes.keys().find(is_replica).copied();
    (Inboxes { boxes: Arc::new(boxes), replica, board: board.clone(), over }, readers)
}

impl Inboxes {
    /// Puts mail into the inbox of a role. Says whether the role is here.
    pub(crate) fn put(&self, to: Address, mail: Mail) -> bool {
        let Some(inbox) = self.boxes.get(&to) else { return false };
        // A role that has ended loses nothing.
        if let Err(TrySendError::Full(_)) = inbox.try_send(mail) {
            self.board.losses.overflow.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// The replica of the directory that is here, if there is one.
    pub(crate) fn replica(&self) -> Option<Address> {
        self.replica
    }

    pub(crate) fn roles(&self) -> impl Iterator<Item = &Address> {
        self.boxes.keys()
    }

    fn has(&self, role: Address) -> bool {
        self.boxes.contains_key(&role)
    }

    /// Bytes have come over the plane.
    pub(crate) fn arrived(&self, name: &str, bytes: &[u8]) {
        let to = name::read(name);
        let (Some(to), Some((from, frame))) = (to, name::open(bytes)) else {
            self.board.losses.garbage.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let to = if to == Address::Directory { self.replica.unwrap_or(to) } else { to };
        self.put(to, Mail::Frame { from, frame: frame.to_vec() });
    }

    /// One role is to end. Says whether it was there.
    pub(crate) fn stop_one(&self, role: Address) -> bool {
        self.boxes.get(&role).is_some_and(|inbox| inbox.send(Mail::Stop).is_ok())
    }

    /// All roles are to end.
    pub(crate) fn stop(&self) {
        // A gateway need not read first what clients have said: nobody will answer them. Others
        // do, for what is written down is to be whole.
        self.over.store(true, Ordering::Relaxed);
        for inbox in self.boxes.values() {
            // A full inbox is read until it has room: roles never wait for each other.
            let _gone = inbox.send(Mail::Stop);
        }
    }
}

/// Clients within this program.
#[derive(Default)]
pub(crate) struct Insiders(OnceLock<SyncSender<(ClientId, GatewaySays)>>);

impl Insiders {
    /// Their connections have this number, which the door will never give.
    pub(crate) const CONNECTION: u32 = u32::MAX;

    /// Where what is told to them goes; the first that is said counts.
    pub(crate) fn set(&self, told: SyncSender<(ClientId, GatewaySays)>) {
        let _first = self.0.set(told);
    }

    /// Who does not keep up loses, as at the door.
    fn tell(&self, client: ClientId, says: GatewaySays) {
        if let Some(told) = self.0.get() {
            let _lost = told.try_send((client, says));
        }
    }
}

/// What all roles of a process share.
pub(crate) struct Means {
    pub(crate) clock: Clock,
    pub(crate) inboxes: Inboxes,
    pub(crate) plane: Plane,
    pub(crate) door: Option<Door>,
    pub(crate) insiders: Insiders,
    pub(crate) board: Arc<Board>,
    pub(crate) witness: Option<Witness>,
}

/// A role that runs.
pub(crate) struct Driver {
    machine: Machine,
    me: Address,
    links: Links,
    inbox: Receiver<Mail>,
    means: Arc<Means>,
    shown: Time,
    spent: Spent,
    meter: LoadMeter,
    stall: Stall,
}

impl Driver {
    pub(crate) fn new(
        machine: Machine,
        inbox: Receiver<Mail>,
        means: Arc<Means>,
        rate: u32,
    ) -> Driver {
        let me = machine.address();
        let (shown, spent, meter) = (Time(0), Spent::default(), LoadMeter::default());
        let (links, stall) = (Links::new(rate), Stall::default());
        Driver { machine, me, links, inbox, means, shown, spent, meter, stall }
    }

    /// Runs until it is stopped, and says so if it is a node: others need not guess why it is
    /// silent.
    pub(crate) fn run(mut self) {
        self.turn();
        self.machine.finish();
        if let Some(member) = self.machine.member() {
            self.report(Load::leaving(member));
        }
    }

    fn turn(&mut self) {
        let mut out = Vec::new();
        let is_gateway = matches!(self.machine, Machine::Gateway(_));
        while !(is_gateway && self.means.inboxes.over.load(Ordering::Relaxed)) {
            let wait = self.means.clock.until(self.machine.wake_at());
            match self.inbox.recv_timeout(wait) {
                Ok(Mail::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(mail) => {
                    self.take(mail, &mut out);
                    for _ in 1..AT_ONCE {
                        match self.inbox.try_recv() {
                            Ok(Mail::Stop) | Err(TryRecvError::Disconnected) => return,
                            Ok(mail) => self.take(mail, &mut out),
                            Err(TryRecvError::Empty) => break,
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = self.means.clock.now();
            if self.machine.wake_at() <= now {
                self.machine.wake(now, &mut out);
            }
            self.send(&mut out);
            self.show(now);
        }
    }

    fn take(&mut self, mail: Mail, out: &mut Vec<Output>) {
        let now = self.means.clock.now();
        match mail {
            Mail::Whole { from, message } => {
                self.means.board.asked(now, from, &message);
                self.note_halt(now, &message);
                self.machine.receive(now, from, message, out);
            }
            Mail::Change(change, answer) => {
                if let Machine::Replica(seat) = &mut self.machine {
                    // Who asked may have gone.
                    let _gone = answer.try_send(seat.change(now, change, out));
                }
            }
            Mail::Frame { from: Address::Replica(from), frame } if self.is_between(&frame) => {
                if let Machine::Replica(seat) = &mut self.machine
                    && let Err(error) = seat.hear(now, from, &frame, out)
                {
                    self.means.board.losses.garbage.fetch_add(1, Ordering::Relaxed);
                    tracing::debug!(?from, %error, "malformed frame from a replica");
                }
            }
            Mail::Frame { from, frame } => match self.unpack(from, &frame) {
                Ok(brought) => {
                    for frame in brought.back {
                        self.post(from, &frame, Urgency::Bulk);
                    }
                    if let Some(message) = brought.message {
                        self.note_halt(now, &message);
                        self.machine.receive(now, from, message, out);
                    }
                }
                Err(error) => {
                    self.means.board.losses.garbage.fetch_add(1, Ordering::Relaxed);
                    tracing::debug!(?from, %error, "malformed frame");
                }
            },
            Mail::Stop => {}
        }
        // What a step has to say goes out before the next step.
        self.send(out);
    }

    /// The directory may have told the node here that a group cannot go on.
    fn note_halt(&self, now: Time, message: &Message) {
        if let Message::Halted { group, lost, for_good } = message {
            self.means.board.halted(now, *group, lost, *for_good);
        }
    }

    /// Is this what one replica says to another?
    fn is_between(&self, frame: &[u8]) -> bool {
        let replica = matches!(self.machine, Machine::Replica(_));
        replica && matches!(kind_of(frame), Ok((Kind::Replica, _)))
    }

    fn unpack(&mut self, from: Address, frame: &[u8]) -> Result<Brought, WireError> {
        let begin = stopwatch();
        let brought = self.links.take(from, frame);
        self.spent.unpacking += stopwatch() - begin;
        brought
    }

    fn send(&mut self, out: &mut Vec<Output>) {
        let mail = match &mut self.machine {
            Machine::Replica(seat) => seat.take_mail(),
            _ => Vec::new(),
        };
        for Letter { to, frame, urgency } in mail {
            self.post(Address::Replica(to), &frame, urgency);
        }
        self.tell_witness();
        if out.is_empty() {
            return;
        }
        let begin = stopwatch();
        for output in out.drain(..) {
            let now = self.means.clock.now();
            match output {
                Output::Send(to, message) => self.deliver(now, to, message),
                Output::Publish(commit) => {
                    self.means.board.published();
                    if let Some(witness) = &self.means.witness {
                        witness.published(now, &commit);
                    }
                }
                Output::Happened(event) => self.means.board.contact(event.certainty),
            }
        }
        self.spent.sending += stopwatch() - begin;
    }

    /// What a replica's answers rest on, for those who judge.
    fn tell_witness(&mut self) {
        let Machine::Replica(seat) = &mut self.machine else { return };
        let (answers, now) = (seat.take_answers(), self.means.clock.now());
        if let Some(witness) = &self.means.witness {
            for Basis { index, asked } in answers {
                witness.answered(now, asked, index);
            }
        }
    }

    fn deliver(&mut self, now: Time, to: Address, message: Message) {
        if let Some(witness) = &self.means.witness {
            witness.sent(now, self.me, to, &message);
        }
        let message = match (to, message) {
            (Address::Client(client), Message::Told(says)) => {
                return self.tell(now, client, says);
            }
            (_, message) => message,
        };
        if self.means.inboxes.has(to) {
            self.means.inboxes.put(to, Mail::Whole { from: self.me, message });
            return;
        }
        let urgency = urgency(&message);
        match self.links.pack(to, &message) {
            Ok(frames) => {
                for frame in frames {
                    self.post(to, &frame, urgency);
                }
            }
            Err(error) => tracing::error!(?to, %error, "cannot encode a message"),
        }
    }

    fn tell(&self, now: Time, client: ClientId, says: GatewaySays) {
        self.means.board.told_client(now, client, &says);
        if client.connection == Insiders::CONNECTION {
            self.means.insiders.tell(client, says);
        } else if let Some(door) = &self.means.door {
            door.send(client, &says);
        }
    }

    fn post(&self, to: Address, frame: &[u8], urgency: Urgency) {
        if let (Some(name), Some(bytes)) = (name::of(to), name::envelope(self.me, frame)) {
            self.means.plane.send(&name, &bytes, urgency);
        }
    }

    fn show(&mut self, now: Time) {
        // Who sees a tick sees what is in the world.
        let first = match &self.machine {
            Machine::Gateway(gateway) => self.means.board.ticked(now, gateway),
            _ => false,
        };
        if first || now - self.shown >= SHOW {
            self.shown = now;
            self.means.board.see(now, &self.machine);
            if let Machine::Replica(seat) = &self.machine
                && let Some(told) = Board::told(now, seat)
            {
                self.means.plane.send(name::BOARDS, &told, Urgency::Bulk);
            }
            let load = match &self.machine {
                Machine::Node(node) => {
                    let spent = Spent { stages: node.stages(), ..self.spent };
                    Some(self.meter.measure(now, node, spent))
                }
                Machine::Loose(node) => Some(Load::free_running(now, node)),
                machine => machine.member().map(Load::idle),
            };
            if let Some(load) = load {
                self.stall.follow(now, &load);
                self.report(load);
            }
        }
    }

    /// Tells this board and those of all processes that have a door.
    fn report(&self, load: Load) {
        self.means.board.load(self.means.clock.now(), load.clone());
        if let Ok(bytes) = postcard::to_allocvec(&load) {
            self.means.plane.send(name::LOADS, &bytes, Urgency::Bulk);
        }
    }
}

/// What may wait for what.
fn urgency(message: &Message) -> Urgency {
    match message {
        Message::Bundle(_) => Urgency::Tick,
        Message::Share(_) | Message::Published(_) | Message::Resume(_) => Urgency::Bulk,
        _ => Urgency::Now,
    }
}
