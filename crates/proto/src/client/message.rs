//! Messages between clients and gateways.
//!
//! Clients are not trusted: their messages are a type of its own, so that nothing a client sends
//! can be taken for a message of a node. A message may be lost, duplicated and reordered; each
//! names the attempt (the connection, as its client counts them) that it belongs to, so that one of
//! an earlier attempt changes nothing.

use crate::groups::GroupId;
use crate::input::ClientInput;
use crate::object::{Class, ObjectId, ShapeId};
use crate::time::Tick;
use crate::wire::{Kind, WireError, kind_of, pack, unpack};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A connection of a client, as the transport knows it: a client cannot choose another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClientId {
    /// The machine that it comes from: what all of its connections share.
    pub host: u32,
    /// The number of the connection, per machine.
    pub connection: u32,
}

/// What a client shows to get its avatar back, at any gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Credential {
    /// Its avatar.
    pub avatar: ObjectId,
    /// A tick in which the avatar was in the world: a gateway that is not there yet does not know
    /// what became of it.
    pub since: Tick,
    /// The group that the avatar is at home in, whose tick that is.
    pub home: GroupId,
    /// Cannot be computed without the gateways' key.
    pub seal: u64,
}

/// A message of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientMessage {
    /// Let me in.
    Hello(Hello),
    /// What I have seen, and what I want.
    Report(Report),
    /// I am not coming back.
    Bye {
        /// Of this attempt.
        attempt: u32,
    },
}

/// A client comes, or comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// None if it has no avatar yet.
    pub credential: Option<Credential>,
    /// The version of the protocol that it speaks.
    pub protocol: u8,
    /// Counts its attempts to connect; rises.
    pub attempt: u32,
}

/// Sent all the time while connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The attempt that led to this connection.
    pub attempt: u32,
    /// The newest state update that it holds; none if it needs a complete one.
    pub ack: Option<Tick>,
    /// What it wants now, if that is new.
    pub input: Option<ClientInput>,
}

/// A message of a gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GatewayMessage {
    /// You are in, and your avatar is in the world.
    Welcome(Welcome),
    /// You are not in.
    Refused {
        /// The attempt that it answers.
        attempt: u32,
        /// The reason.
        why: Refusal,
    },
    /// You cannot have what you wanted; this is what you get instead.
    Correct {
        /// The attempt.
        attempt: u32,
        /// The input that is followed instead, with the number of the rejected one.
        input: ClientInput,
        /// The reason.
        reason: Reason,
    },
    /// You are out.
    Kicked {
        /// The attempt.
        attempt: u32,
        /// The reason.
        reason: Reason,
    },
    /// What you see.
    StateUpdate(StateUpdate),
}

/// A client is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The attempt that it answers.
    pub attempt: u32,
    /// To be shown when coming back; names the avatar.
    pub credential: Credential,
    /// What it may do.
    pub limits: Limits,
    /// The tick that the gateway has.
    pub tick: Tick,
    /// Ticks per second.
    pub rate: u32,
    /// What the client wants must have higher numbers than this.
    pub after: u64,
}

/// What an avatar may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The most speed, in units of velocities.
    pub speed: u16,
    /// The most spin, in units of velocities.
    pub spin: u16,
    /// The most change of velocity per second, in units of velocities; saved up as long as it is
    /// not more than turning round at full speed.
    pub change: u32,
}

/// Why a client is not in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Refusal {
    /// Another version of the protocol.
    Protocol,
    /// The credential is not one that a gateway has made.
    Credential,
    /// Too many are in already, or come at once. Later, or elsewhere.
    Full,
    /// There is no such connection (any more): say hello.
    Unknown,
    /// The avatar is no more.
    Gone,
    /// The avatar is served on another connection now.
    Replaced,
}

/// What a client did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reason {
    /// Too fast.
    Speed,
    /// Turns too fast.
    Spin,
    /// Changes its speed too fast. A client is not disconnected for that.
    Change,
    /// Wants something of an avatar that is not its own.
    Foreign,
    /// Says too much.
    Flood,
}

/// What a client sees of the world at a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateUpdate {
    /// The attempt that led to this connection.
    pub attempt: u32,
    /// The tick of the world that it shows.
    pub tick: Tick,
    /// How long ticks take now, see [`crate::Commit::dilation`].
    pub dilation: u32,
    /// The update that `near` is a delta to; none if it is complete.
    pub base: Option<Tick>,
    /// What is near, exactly: a [`crate::wire::Snapshot`].
    pub near: Vec<u8>,
    /// Some of what is farther away: see [`crate::wire::light`].
    pub far: Vec<u8>,
    /// What those are, in the same order.
    pub kinds: Vec<(Class, ShapeId)>,
    /// The number of the last input that the world has followed, at that tick.
    pub followed: u64,
    /// The tick in which it did.
    pub followed_at: Tick,
    /// Contacts that began or ended, oldest first; repeated until acknowledged.
    pub contacts: Vec<ContactChange>,
}

/// Two objects begin or cease to touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContactChange {
    /// Numbers the changes sent to this client in this attempt, from 1.
    pub number: u64,
    /// The tick in which it happened.
    pub tick: Tick,
    /// The one with the smaller id.
    pub a: ObjectId,
    /// The one with the larger id.
    pub b: ObjectId,
    /// Begin, or cease?
    pub begins: bool,
}

/// A message from a frame that says of itself that it is of the right kind.
fn read_as<T: DeserializeOwned>(frame: &[u8], kind: fn(&T) -> Kind) -> Result<T, WireError> {
    let (expected, _) = kind_of(frame)?;
    let message = unpack(expected, frame)?;
    if kind(&message) != expected {
        return Err(WireError::Malformed("a message of another kind"));
    }
    Ok(message)
}

impl ClientMessage {
    fn kind(&self) -> Kind {
        match self {
            ClientMessage::Hello(_) | ClientMessage::Bye { .. } => Kind::Hello,
            ClientMessage::Report(_) => Kind::Input,
        }
    }

    /// As a frame.
    ///
    /// # Errors
    /// None for what fits the types; see [`WireError`].
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        pack(self.kind(), self)
    }

    /// From a frame, whatever it is.
    ///
    /// ```
    /// use jostle_proto::client::Hello;
    /// use jostle_proto::ClientMessage;
    /// use jostle_proto::wire::PROTOCOL;
    ///
    /// let hello = Hello { credential: None, protocol: PROTOCOL, attempt: 1 };
    /// let mut frame = ClientMessage::Hello(hello).write()?;
    /// assert_eq!(ClientMessage::read(&frame), Ok(ClientMessage::Hello(hello)));
    /// frame[14] ^= 1;
    /// assert!(ClientMessage::read(&frame).is_err());
    /// # Ok::<(), jostle_proto::wire::WireError>(())
    /// ```
    ///
    /// # Errors
    /// See [`WireError`].
    pub fn read(frame: &[u8]) -> Result<ClientMessage, WireError> {
        read_as(frame, ClientMessage::kind)
    }

    /// The most bytes that it takes on the wire: what it costs its sender.
    #[must_use]
    pub fn cost(&self) -> u64 {
        match self {
            ClientMessage::Hello(_) => 64,
            ClientMessage::Report(_) => 80,
            ClientMessage::Bye { .. } => 32,
        }
    }
}

impl GatewayMessage {
    fn kind(&self) -> Kind {
        match self {
            GatewayMessage::Welcome(_) | GatewayMessage::Refused { .. } => Kind::Hello,
            GatewayMessage::Correct { .. } | GatewayMessage::Kicked { .. } => Kind::Correct,
            GatewayMessage::StateUpdate(_) => Kind::World,
        }
    }

    /// The attempt that it belongs to.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        match self {
            GatewayMessage::Welcome(Welcome { attempt, .. })
            | GatewayMessage::Refused { attempt, .. }
            | GatewayMessage::Correct { attempt, .. }
            | GatewayMessage::Kicked { attempt, .. }
            | GatewayMessage::StateUpdate(StateUpdate { attempt, .. }) => *attempt,
        }
    }

    /// As a frame.
    ///
    /// # Errors
    /// [`WireError::Oversize`] for more than a datagram holds.
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        pack(self.kind(), self)
    }

    /// From a frame, whatever it is.
    ///
    /// # Errors
    /// See [`WireError`].
    pub fn read(frame: &[u8]) -> Result<GatewayMessage, WireError> {
        read_as(frame, GatewayMessage::kind)
    }
}
