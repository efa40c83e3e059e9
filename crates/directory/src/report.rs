//! What a replica reports to operators.

use jostle_proto::ReplicaId;

/// How a replica is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaReport {
    /// The replica.
    pub id: ReplicaId,
    /// Does it answer for the directory, as far as it knows?
    pub leads: bool,
    /// Whom it takes for the leader.
    pub leader: Option<ReplicaId>,
    /// In which term.
    pub term: u64,
    /// The last entry of its log.
    pub index: u64,
    /// The last entry that it knows to hold.
    pub commit: u64,
    /// The last entry that it has followed.
    pub applied: u64,
    /// What its log begins behind.
    pub snapshot: u64,
    /// Who the replicas are, as far as it knows.
    pub voters: Vec<ReplicaId>,
    /// The others, if it leads.
    pub peers: Vec<PeerReport>,
    /// Its log lacks what others say that it has acknowledged: its disk has forgotten something.
    /// It takes part in nothing any more.
    pub has_lost: bool,
}

/// How far another replica is, as the leader knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerReport {
    /// The replica.
    pub id: ReplicaId,
    /// How many entries it lacks.
    pub lag: u64,
    /// Was it heard lately?
    pub active: bool,
}

/// The same in a few numbers, for those who look after every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Which replica.
    pub id: ReplicaId,
    /// Was it elected in this term?
    pub elected: bool,
    /// See [`ReplicaReport::leads`]: it was elected and has followed everything before.
    pub leads: bool,
    /// See [`ReplicaReport::term`].
    pub term: u64,
    /// See [`ReplicaReport::index`].
    pub index: u64,
    /// See [`ReplicaReport::commit`].
    pub commit: u64,
    /// See [`ReplicaReport::applied`].
    pub applied: u64,
    /// See [`ReplicaReport::has_lost`].
    pub has_lost: bool,
}
