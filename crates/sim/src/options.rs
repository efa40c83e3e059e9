//! What is to be run, and what it came to.

use crate::checkers::{Sometimes, Verdict};
use crate::faults::FaultProfile;
use crate::world::{Layout, Matter};
use jostle_proto::{Mutant, Span};

/// How a group works together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operation {
    /// A tick waits for all members.
    #[default]
    Lockstep,
    /// No node waits for another.
    FreeRunning,
}

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Nodes at the beginning.
    pub nodes: u32,
    /// Objects, without the six walls.
    pub objects: u32,
    /// Clients; gateways for them if there are any.
    pub clients: u32,
    /// What they are made of.
    pub matter: Matter,
    /// Where they begin.
    pub layout: Layout,
    /// Seconds in which things go wrong; as many again in which they do not.
    pub seconds: f64,
    /// How much goes wrong.
    pub fault_profile: FaultProfile,
    /// A mistake to build in.
    pub mutant: Option<Mutant>,
    /// Ticks per second.
    pub rate: u32,
    /// Every message goes through its bytes; otherwise in one run of eight.
    pub wire: bool,
    /// Places that are far from each other; nodes of different ones form different groups.
    pub sites: u32,
    /// Machines that are the directory; more than one keep a log together.
    pub replicas: u32,
    /// See [`jostle_proto::View::backups`].
    pub backups: u8,
    /// Halfway, a node and all its backups die at once: the run is to end with a group that reports
    /// that it cannot go on.
    pub disaster: bool,
    /// The world has a store, whose disk fails, and all machines stop at once; otherwise in one
    /// fault campaign of four. Only in lockstep, at one site, with one directory and without
    /// clients.
    pub store: bool,
    /// How the group works together.
    pub operation: Operation,
    /// See [`jostle_proto::Tuning::operations`]; only a free-running group has such a limit.
    pub operations: Option<u64>,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What the judges say.
    pub verdict: Verdict,
    /// Ticks that were published.
    pub ticks: u64,
    /// Collisions in them.
    pub collisions: u64,
    /// Messages that were sent.
    pub messages: u64,
    /// Bytes of their frames; counted in runs in which messages go through their bytes.
    pub bytes: u64,
    /// Objects times published ticks, in those runs.
    pub object_ticks: u64,
    /// Nodes that died.
    pub crashes: u64,
    /// Groups that could not go on in the end, and said so.
    pub halted: u64,
    /// How long after each of those deaths the next tick was published that did without the dead.
    pub recoveries: Vec<Span>,
    /// Views that the directory made.
    pub views: u64,
    /// What must happen now and then.
    pub sometimes: Sometimes,
    /// Events that were worked through.
    pub events: u64,
    /// The same for the same seed, whatever machine it runs on.
    pub trace: u64,
}
