//! Messages through their bytes: every ordered pair of machines has a link with two real ends, and
//! frames are what is lost, doubled, held back and damaged.

use super::{Cluster, Operation, Options, What, place_of};
use crate::dice::Dice;
use crate::faults::{FaultProfile, Faults};
use jostle_proto::wire::{Limits, Receiver, Sender, is_reply};
use jostle_proto::{Address, Message, Mutant};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// One run of so many goes through bytes without being asked to.
const ONE_OF: u64 = 8;

/// At most so many of a million frames are damaged.
const CORRUPT_MAX: u64 = 50_000;

/// Messages of a link that may come in answer to a reply.
const LATELY: usize = 32;

/// A frame, and the messages that may be in it.
#[derive(Debug)]
pub(super) struct Packet {
    frame: Vec<u8>,
    sent: Vec<Arc<Message>>,
    damaged: bool,
}

/// The sending end of a link, and what it has sent lately.
struct Sending {
    end: Sender,
    lately: VecDeque<Arc<Message>>,
}

/// The ends of all links, by from whom and to whom.
pub(super) struct Wire {
    /// Its own, so that a run goes the same way with and without it.
    dice: Dice,
    rate: u32,
    mutant: Option<Mutant>,
    senders: BTreeMap<(Address, Address), Sending>,
    receivers: BTreeMap<(Address, Address), Receiver>,
}

impl Wire {
    /// None if the seed does not draw one, and the options do not ask for it.
    pub(super) fn draw(seed: u64, options: &Options, faults: &mut Faults) -> Option<Wire> {
        let mut dice = Dice::new(seed ^ 0x5749_5245_5749_5245);
        let drawn = dice.below(ONE_OF) == 0;
        let corrupt = dice.below(CORRUPT_MAX + 1) as u32;
        let coin = dice.coin();
        // How late news may be in a free-running group is defined for whole messages.
        let drawn = drawn && options.operation == Operation::Lockstep;
        if !drawn && !options.wire {
            return None;
        }
        if options.fault_profile == FaultProfile::Campaign && coin {
            faults.corrupt = corrupt;
        }
        let (rate, mutant) = (options.rate, options.mutant);
        let (senders, receivers) = (BTreeMap::new(), BTreeMap::new());
        Some(Wire { dice, rate, mutant, senders, receivers })
    }

    /// A machine has died, and with it what its ends of links knew.
    pub(super) fn crashed(&mut self, who: Address) {
        self.senders.retain(|(from, _), _| *from != who);
        self.receivers.retain(|(_, to), _| *to != who);
    }

    fn sender(&mut self, link: (Address, Address)) -> &mut Sending {
        let (rate, mutant) = (self.rate, self.mutant);
        self.senders.entry(link).or_insert_with(|| {
            let end = Sender::new(rate).with_mutant(mutant);
            Sending { end, lately: VecDeque::new() }
        })
    }

    fn receiver(&mut self, link: (Address, Address)) -> &mut Receiver {
        let mutant = self.mutant;
        let fresh = || Receiver::new(Limits::default()).with_mutant(mutant);
        self.receivers.entry(link).or_insert_with(fresh)
    }

    /// Flips one to three bits, of so many of a million frames.
    fn corrupt(&mut self, frame: &mut [u8], chance: u32) -> bool {
        if chance == 0 || !self.dice.once_in_million(chance) {
            return false;
        }
        for _ in 0..=self.dice.below(3) {
            let bit = self.dice.below(frame.len() as u64 * 8);
            if let Some(byte) = frame.get_mut(bit as usize / 8) {
                *byte ^= 1 << (bit % 8);
            }
        }
        true
    }
}

impl Cluster {
    /// Sends a message as its frames.
    pub(super) fn transmit_frames(&mut self, from: Address, to: Address, message: Message) {
        let Some(wire) = &mut self.wire else { return };
        let message = Arc::new(message);
        let sending = wire.sender((from, to));
        let frames = match sending.end.pack(&message) {
            Ok(frames) => frames,
            Err(error) => {
                let what = format!("{from:?} cannot write to {to:?}: {error}");
                return self.checkers.note(self.now, vec![("S2", what)]);
            }
        };
        if frames.len() > 1 || matches!(*message, Message::Bundle(_)) {
            sending.lately.push_back(message.clone());
            if sending.lately.len() > LATELY {
                sending.lately.pop_front();
            }
        }
        let bytes = frames.iter().map(Vec::len).sum();
        self.checkers.packed(self.now, (from, to), (&message, bytes));
        for frame in frames {
            self.travel(from, to, frame, vec![message.clone()]);
        }
    }

    fn travel(&mut self, from: Address, to: Address, frame: Vec<u8>, sent: Vec<Arc<Message>>) {
        self.outcome.bytes += frame.len() as u64;
        self.trace(frame.len() as u64);
        for later in self.journeys(from, to) {
            let (mut frame, sent) = (frame.clone(), sent.clone());
            let chance = self.faults.corrupt;
            let damaged = self.wire.as_mut().is_some_and(|wire| wire.corrupt(&mut frame, chance));
            self.after(later, What::Arrive(to, from, Packet { frame, sent, damaged }));
        }
    }

    /// A frame arrives: at the receiver of its link, or as a reply at the sender of the other one.
    pub(super) fn arrive(&mut self, to: Address, from: Address, packet: Packet) {
        let Some(machine) = self.machines.get(&place_of(to)) else { return };
        if machine.paused > self.now {
            let later = machine.paused.0 - self.now.0;
            return self.after(later, What::Arrive(to, from, packet));
        }
        if machine.role.is_none() {
            return;
        }
        let Some(wire) = &mut self.wire else { return };
        if is_reply(&packet.frame) {
            let sending = wire.sender((to, from));
            // What is no reply, or an old one, is answered by nothing.
            let frames = sending.end.reply(&packet.frame).unwrap_or_default();
            let sent: Vec<_> = sending.lately.iter().cloned().collect();
            for frame in frames {
                self.travel(to, from, frame, sent.clone());
            }
            return;
        }
        let receiver = wire.receiver((from, to));
        let before = packet.damaged.then(|| receiver.clone());
        let outcome = receiver.unpack(&packet.frame);
        let mut violations = Vec::new();
        if outcome.is_err() && before.is_some_and(|before| before != *receiver) {
            violations.push(("R2", format!("a damaged frame from {from:?} has changed {to:?}")));
        }
        let replies: Vec<_> = receiver.replies().collect();
        if let Ok(Some(message)) = &outcome
            && !packet.sent.iter().any(|sent| **sent == *message)
        {
            violations.push(("S2", format!("{from:?} did not send {to:?} what it received")));
        }
        self.checkers.note(self.now, violations);
        for reply in replies {
            self.travel(to, from, reply, Vec::new());
        }
        if let Ok(Some(message)) = outcome {
            self.deliver(to, from, message);
        }
    }
}
