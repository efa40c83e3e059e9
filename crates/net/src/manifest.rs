//! The handshake with an edge server, and the world manifest with which it is answered.

use jostle_proto::client::Limits;
use jostle_proto::{Block, Content, Form, Library, ShapeId};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// The protocol version between clients, nodes and edge servers. Other versions are rejected.
pub const PROTOCOL: u32 = 1;

/// What every participant needs to know about a world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldManifest {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The name of the world.
    pub world: String,
    /// Ticks per second.
    pub rate: u32,
    /// How nodes cooperate.
    pub operation: OperationMode,
    /// Where most of the world is.
    pub extent: Block,
    /// All shapes in order; triangles are fetched by their digest.
    pub forms: Vec<Form>,
    /// The shape of avatars.
    pub avatar: ShapeId,
    /// Where avatars enter the world.
    pub places: Block,
    /// Speed limits of avatars.
    pub limits: Limits,
    /// The number of the gateway behind this edge server.
    pub gate: u32,
}

impl WorldManifest {
    /// Of a world that is only looked at: nothing enters it.
    pub(crate) fn shown(
        world: String,
        rate: u32,
        extent: Block,
        contents: &Library,
    ) -> WorldManifest {
        WorldManifest {
            protocol: PROTOCOL,
            world,
            rate,
            operation: OperationMode::Lockstep,
            extent,
            forms: contents.forms().to_vec(),
            avatar: ShapeId(0),
            places: extent,
            limits: Limits { speed: 0, spin: 0, change: 0 },
            gate: 0,
        }
    }
}

/// How nodes cooperate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperationMode {
    /// Lockstep in one group: results equal those of one machine.
    Lockstep,
    /// Lockstep in several groups of nodes that are near each other.
    Grouped,
    /// Free-running: no node waits for another.
    FreeRunning {
        /// See [`jostle_proto::Tuning::operations`].
        operations: Option<u64>,
    },
}

impl OperationMode {
    /// Returns true if all nodes of a group agree on every tick. Otherwise the world cannot be
    /// stored or recorded, and followers use their own clocks.
    #[must_use]
    pub fn is_lockstep(self) -> bool {
        !matches!(self, OperationMode::FreeRunning { .. })
    }
}

/// The first message of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handshake {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Empty if none is required.
    pub token: String,
    /// What the connection is for.
    pub purpose: Purpose,
}

/// What a connection is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// To control an avatar.
    Play,
    /// To read the status: [`EdgeResponse::Status`].
    Status,
    /// To join as a node. Requires the node token.
    Join {
        /// A random number of the process: a repeated request gets the same answer.
        name: u64,
        /// How many followers it runs that need numbers (gateways, recorders).
        followers: u32,
    },
    /// To fetch the bootstrap record: [`EdgeResponse::Bootstrap`]. Requires the node token.
    Replicate {
        /// To start as one of the initial replicas. Each starts only once.
        begin: Option<ReplicaStart>,
    },
    /// To add or remove a directory replica. Requires the node token.
    Change(ReplicaChange),
}

/// A replica starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicaStart {
    /// Its number.
    pub replica: u16,
    /// A random number of the process: a repeated request gets the same answer.
    pub name: u64,
}

/// A membership change of the directory's replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplicaChange {
    /// Adds the replica with this number.
    Add(u16),
    /// Removes this replica.
    Remove(u16),
}

/// A response of an edge server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeResponse {
    /// The reason of a rejection.
    Rejected(String),
    /// The world manifest.
    Manifest(WorldManifest),
    /// The manifest, and what the new node is assigned.
    Assigned(Box<WorldManifest>, NodeAssignment),
    /// The status as JSON.
    Status(String),
    /// A content that was requested; `None` if it is not there.
    Content(Option<Vec<u8>>),
    /// Other addresses to try instead.
    Redirect(Vec<SocketAddr>),
    /// The digest of the bootstrap record for a directory replica.
    Bootstrap(Content),
    /// The membership change has been proposed.
    Changed,
}

/// What a new node is assigned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeAssignment {
    /// Its node number.
    pub node: u32,
    /// Its incarnation.
    pub life: u32,
    /// The first of its follower numbers.
    pub follower: u32,
    /// Addresses of the transport between nodes.
    pub transport: Vec<SocketAddr>,
    /// The immovable objects, as postcard encodes a list of [`jostle_proto::Object`].
    pub static_objects: Content,
    /// The gateways' key: credentials of clients are valid at all of them.
    pub key: [u64; 2],
}
