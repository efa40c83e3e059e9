//! Which machine computes what, in messages?
//!
//! Directory, node, leader, gateway and client are state machines: they are given the time and
//! one input, and give back outputs. There is no clock here, no socket, no thread and no dice;
//! the simulator and the network drive the same code and treat every transport as one that
//! loses, doubles and reorders. What machines must agree on is fixed-point and simulated as such.

pub mod client;
mod copies;
mod detect;
mod directory;
mod follow;
mod free_running;
mod gateway;
mod geometry;
mod groups;
mod held;
mod input;
mod links;
mod load;
mod message;
mod mutant;
mod node;
mod normal;
mod object;
mod objects;
pub mod reckon;
mod relay;
mod round;
mod solid;
mod space;
mod state;
mod time;
mod view;
pub mod wire;

pub use client::{Client, ClientId, ClientMessage, ClientSettings, GatewayMessage};
pub use copies::TURNS;
pub use detect::{Certainty, Detector, Shapes};
pub use directory::{
    Directory, GroupReport, GroupRules, Grouping, Halt, Holders, MemberReport, Saved,
};
pub use follow::Follower;
pub use free_running::{
    Backup, Contact, Edge, Entry, Episode, Event, FreeRunningMessage, FreeRunningNode, Ghost,
    Having, Nudge, Record, Shown, Sight, Token, Tuning,
};
pub use gateway::{
    AVATARS_FROM, Allowance, Gateway, GatewayCounters, GatewaySettings, Interest, Key, RateLimiter,
};
pub use geometry::{Content, FORMS_MAX, Form, GeometryMessage, Library, Mail};
pub use groups::{
    Formation, GROUP_NODES_MAX, GroupId, Kind, Matrix, Measured, Opinion, Opposing, Outcome,
    PingInput, PingOutput, PingRule, Pings, PollInput, PollOutput, PollSettings, Polls, Refusal,
    Report, SAMPLES, STRIKES, Settled, Sizes, Standing, Tally, Thresholds, Tolerance, TooManyNodes,
    Vote, VoteCall, VoteClosed, VoteRequest, Window, decider, form, passes, settle, standing,
    thresholds,
};
pub use held::{advance, apply};
pub use input::{ClientInput, GatewayId, INPUTS_MAX, Input, Inputs, Source, Stream};
pub use links::Links;
pub use load::{NodeLoad, PLACES_MAX};
pub use message::{
    Bundle, Commit, Delays, Done, Flush, Follow, Message, PEERS_MAX, Peers, RemoteKick, Resume,
    Share, Touch,
};
pub use mutant::Mutant;
pub use node::{Address, Awaits, Node, Output, Stages, Timing, Waiting};
pub use normal::Normal;
pub use object::{Class, Mobile, NodeId, Object, ObjectId, ReplicaId, ShapeId, digest};
pub use objects::Objects;
pub use relay::{decided_kick, is_home, touch_standing};
pub use solid::Solid;
pub use space::{
    Knot, NODES_MAX, Region, Rule, Splits, Tree, TreeError, VERTICES_MAX, VertexId, is_wide,
    reports,
};
pub use state::{Block, POSITION_UNIT, Rotation, State, VELOCITY_UNIT};
pub use time::{Span, Tick, Time};
pub use view::{BACKUPS, BACKUPS_MAX, Epoch, Member, View};
