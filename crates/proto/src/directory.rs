//! The directory: who is in, in which life, and which view holds.
//!
//! The only place where views are made. One replica here; what it decides depends on what it is
//! told and on the time alone, so that several can agree on it later.

use crate::message::Message;
use crate::mutant::Mutant;
use crate::node::{Address, Output, Timing};
use crate::object::NodeId;
use crate::space::{Tree, TreeError};
use crate::state::Block;
use crate::time::Time;
use crate::view::{Epoch, Member, View, buddy};
use std::collections::BTreeMap;

/// What the directory knows about a node.
#[derive(Clone, Copy, Debug)]
struct Known {
    life: u32,
    heard: Time,
}

/// The directory.
#[derive(Clone, Debug)]
pub struct Directory {
    timing: Timing,
    mutant: Option<Mutant>,
    /// Where most of the world is; regions are cut from it.
    extent: Block,
    stable: View,
    current: View,
    known: BTreeMap<NodeId, Known>,
    /// Lives that are over: a node that was left out of a stable view.
    over: BTreeMap<NodeId, u32>,
    changed: Time,
    wake_at: Time,
}

impl Directory {
    /// A directory that knows the node that the world begins with.
    #[must_use]
    pub fn new(founder: Member, extent: Block, timing: Timing) -> Directory {
        let view = View::first(founder);
        let known = Known { life: founder.life, heard: Time(0) };
        Directory {
            timing,
            mutant: None,
            extent,
            stable: view.clone(),
            current: view,
            known: BTreeMap::from([(founder.node, known)]),
            over: BTreeMap::new(),
            changed: Time(0),
            wake_at: Time(0),
        }
    }

    /// The same with a mistake in it, to try the referees.
    #[must_use]
    pub fn with_mutant(self, mutant: Option<Mutant>) -> Directory {
        Directory { mutant, ..self }
    }

    /// When it wants to be woken if nothing comes.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        self.wake_at
    }

    /// The newest view, stable or not.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.current
    }

    /// Is the newest view stable?
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.current.epoch == self.stable.epoch && self.stable.epoch > Epoch(0)
    }

    /// The clock says so.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.wake_at = now + self.timing.resend;
        self.reconsider(now, out);
    }

    /// A message has come.
    pub fn receive(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        match message {
            Message::Join(member) if self.hear(now, member, out) => {
                self.reconsider(now, out);
                self.remind(member, Epoch(0), out);
            }
            Message::Alive { member, epoch, sent } if self.hear(now, member, out) => {
                // One who is left out of the newest view may be replaced at any moment.
                if self.current.has(member) {
                    let lease = Message::Lease { sent, span: self.timing.lease };
                    out.push(Output::Send(Address::Node(member.node), lease));
                }
                self.remind(member, epoch, out);
            }
            Message::Stable { epoch, from } => self.record(epoch, from, out),
            // A gateway hears of stable views only: the others may come to nothing.
            Message::Follow(follow) if follow.epoch < self.stable.epoch => {
                let view = Message::View(self.stable.clone());
                out.push(Output::Send(Address::Gateway(follow.from), view));
            }
            _ => {}
        }
    }

    /// Is this a life that counts? If not, the node hears that it is over.
    fn hear(&mut self, now: Time, member: Member, out: &mut Vec<Output>) -> bool {
        let over = self.over.get(&member.node).copied();
        let known = self.known.get(&member.node).map(|known| known.life);
        let newest = known.into_iter().chain(over.map(|over| over + 1)).max().unwrap_or(0);
        if member.life < newest {
            let reset = Message::Reset { life: newest - 1 };
            out.push(Output::Send(Address::Node(member.node), reset));
            return false;
        }
        self.known.insert(member.node, Known { life: member.life, heard: now });
        true
    }

    /// Sends a member the newest view if it has not seen it.
    fn remind(&self, member: Member, seen: Epoch, out: &mut Vec<Output>) {
        if seen < self.current.epoch && self.current.has(member) {
            let view = Message::View(self.current.clone());
            out.push(Output::Send(Address::Node(member.node), view));
        }
    }

    fn record(&mut self, epoch: Epoch, from: Member, out: &mut Vec<Output>) {
        if epoch == self.current.epoch && self.current.leader() == Some(from) {
            if self.stable.epoch != epoch {
                for gone in self.stable.ring.iter().filter(|member| !self.current.has(**member)) {
                    let over = self.over.entry(gone.node).or_insert(gone.life);
                    *over = (*over).max(gone.life);
                }
                self.stable = self.current.clone();
            }
            let kept = Message::StableKept(epoch);
            out.push(Output::Send(Address::Node(from.node), kept));
        }
    }

    /// Makes a new view if the members that can be heard are others than those of the newest one,
    /// and if nothing is lost by it: whoever is left out of the stable view has a buddy who is not.
    fn reconsider(&mut self, now: Time, out: &mut Vec<Output>) {
        let first = self.current.epoch == Epoch(0);
        if !first && now - self.changed < self.timing.settle {
            return;
        }
        let alive = |member: &Member| {
            self.known.get(&member.node).is_some_and(|known| {
                known.life == member.life && now - known.heard <= self.timing.lease
            })
        };
        let stays: Vec<Member> = self.stable.ring.iter().copied().filter(|m| alive(m)).collect();
        let safe = self.stable.ring.iter().filter(|member| !stays.contains(member)).all(|gone| {
            let heir = buddy(&self.stable.ring, gone.node);
            heir.is_some_and(|heir| stays.iter().any(|member| member.node == heir))
        });
        let safe = safe || self.mutant == Some(Mutant::CarelessDirectory);
        if stays.is_empty() || !safe {
            return;
        }
        let mut ring = stays;
        let over =
            |member: &Member| self.over.get(&member.node).is_some_and(|&over| member.life <= over);
        for (&node, known) in &self.known {
            let member = Member { node, life: known.life };
            if !self.stable.ring.contains(&member) && alive(&member) && !over(&member) {
                ring.push(member);
            }
        }
        if !first && ring == self.current.ring {
            return;
        }
        let Ok(tree) = self.tree_for(&ring) else { return };
        self.current = View {
            group: self.stable.group,
            epoch: Epoch(self.current.epoch.0 + 1),
            base: self.stable.epoch,
            base_ring: self.stable.ring.clone(),
            ring,
            tree,
        };
        self.changed = now;
        for member in self.current.ring.clone() {
            self.remind(member, Epoch(0), out);
        }
    }

    /// The regions of the stable view, changed only where members come and go. Nobody tells the
    /// directory where objects are; it takes the world to be filled evenly.
    fn tree_for(&self, ring: &[Member]) -> Result<Tree, TreeError> {
        let mut tree = self.stable.tree.clone();
        let stays = |node: NodeId| ring.iter().any(|member| member.node == node);
        let points = lattice(&self.extent);
        for member in ring {
            if !self.stable.ring.iter().any(|known| known.node == member.node) {
                tree.join(member.node, &points)?;
            }
        }
        for gone in self.stable.ring.iter().filter(|member| !stays(member.node)) {
            tree.leave(gone.node)?;
        }
        Ok(tree)
    }
}

/// Points evenly spread over a block.
fn lattice(block: &Block) -> Vec<[i32; 3]> {
    const SIDE: i64 = 8;
    let at = |axis: usize, part: i64| {
        let (low, high) = (i64::from(block.min[axis]), i64::from(block.max[axis]));
        (low + (high - low) * (2 * part + 1) / (2 * SIDE)) as i32
    };
    let points = (0..SIDE * SIDE * SIDE).map(|number| {
        [at(0, number % SIDE), at(1, number / SIDE % SIDE), at(2, number / SIDE / SIDE)]
    });
    points.collect()
}
