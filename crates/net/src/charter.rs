//! What a newcomer is told at the door before anything else: what kind of world this is.

use jostle_proto::client::Limits;
use jostle_proto::{Block, Content, Form, ShapeId};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// The version of what is said at doors and between processes. Others are refused.
pub const PROTOCOL: u32 = 1;

/// What everybody must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charter {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The name of the world.
    pub world: String,
    /// Ticks per second.
    pub rate: u32,
    /// How nodes work together.
    pub operation: Operation,
    /// Where most of the world is.
    pub extent: Block,
    /// All forms, in their order; triangles are fetched by content.
    pub forms: Vec<Form>,
    /// The form of avatars.
    pub avatar: ShapeId,
    /// Where avatars come in.
    pub places: Block,
    /// What avatars may do.
    pub limits: Limits,
    /// The gateway at this door.
    pub gate: u32,
}

/// How nodes work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Tick by tick; results are those of one machine.
    Synchronised,
    /// The same, in several groups of nodes that are near each other.
    Grouped,
    /// Without waiting for each other.
    Unsynchronised {
        /// See [`jostle_proto::Tuning::operations`].
        operations: Option<u64>,
    },
}

impl Operation {
    /// Do all nodes of a group agree on every tick? If not, there is nothing that could be stored
    /// or recorded, and those who follow the world go by their own clocks.
    #[must_use]
    pub fn has_ticks(self) -> bool {
        !matches!(self, Operation::Unsynchronised { .. })
    }
}

/// What somebody wants at the door.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knock {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Shown by who has been given one; an empty one if not.
    pub token: String,
    /// What for.
    pub purpose: Purpose,
}

/// What somebody comes for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// To have an avatar.
    Play,
    /// To see how the world is: [`crate::charter::Answer::Status`].
    Status,
    /// To work as a node. Needs the token of nodes.
    Work {
        /// A number that the process has drawn: who comes back with it is the same.
        name: u64,
        /// How many of its roles want numbers as followers (gateways, recorders).
        followers: u32,
    },
    /// To know how the world began: [`Answer::Founding`]. Needs the token of nodes.
    Replicate {
        /// To begin as this replica, one of those that the world begins with. Each begins once.
        begin: Option<Begin>,
    },
    /// To add a replica to the directory, or to remove one. Needs the token of nodes.
    Change(ReplicaChange),
}

/// A replica begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// Which one.
    pub replica: u16,
    /// A number that the process has drawn: who comes back with it is the same.
    pub name: u64,
}

/// A change of the directory's replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplicaChange {
    /// One more, with this number.
    Add(u16),
    /// This one less.
    Remove(u16),
}

/// What is said at the door.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// No, and why.
    Refused(String),
    /// What kind of world this is.
    Charter(Charter),
    /// And for a node, where it is in it.
    Place(Box<Charter>, Place),
    /// How the world is, as JSON.
    Status(String),
    /// Something that was asked for by content; nothing if it is not there.
    Content(Option<Vec<u8>>),
    /// Ask at one of these doors instead.
    Elsewhere(Vec<SocketAddr>),
    /// What the world began with, for a replica of its directory: to be fetched by content.
    Founding(Content),
    /// The change of the replicas is under way.
    Changed,
}

/// What a new node is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its number.
    pub node: u32,
    /// Its life.
    pub life: u32,
    /// The first of its followers' numbers.
    pub follower: u32,
    /// Where the plane of nodes can be reached.
    pub plane: Vec<SocketAddr>,
    /// The immovable objects, as postcard writes a list of [`jostle_proto::Object`].
    pub scenery: Content,
    /// The gateways' key, so that avatars can come back at any of them.
    pub key: [u64; 2],
}
