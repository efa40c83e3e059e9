//! What is shown of the directory's replicas: each tells it to all processes that have a door.

use super::{Board, Lines, Shown, StatusGroup};
use jostle_proto::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Bytes of what a replica tells of itself, at most; the plane takes no more.
const TOLD_MAX: usize = crate::plane::LARGEST_MESSAGE;

/// Replicas that are shown.
const REPLICAS_MAX: usize = 64;

/// One that was not heard for so long is not shown any more.
const FORGOTTEN: Span = Span::from_ms(60_000);

/// One that was not heard for so long leads nobody.
const SILENT: Span = Span::from_ms(2000);

/// How a replica is, as it says itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReplicaStatus {
    pub(crate) replica: u16,
    pub(crate) door: Option<SocketAddr>,
    pub(crate) leads: bool,
    /// Whom it follows.
    pub(crate) leader: Option<u16>,
    pub(crate) term: u64,
    /// Its last entry, the last that holds, and what its log begins behind.
    pub(crate) index: u64,
    pub(crate) commit: u64,
    pub(crate) snapshot: u64,
    pub(crate) log_bytes: u64,
    pub(crate) voters: Vec<u16>,
    /// How many entries the others lack, if it leads.
    pub(crate) lags: BTreeMap<u16, u64>,
    /// Those that speak another version.
    pub(crate) strangers: Vec<u16>,
    /// Why it takes part in nothing, if so.
    pub(crate) trouble: Option<String>,
}

/// The same with what others know of it.
#[derive(Serialize)]
pub(super) struct StatusReplica<'a> {
    #[serde(flatten)]
    status: &'a ReplicaStatus,
    /// How many entries it lacks, as the leader knows.
    lag: Option<u64>,
    silent_ms: f64,
}

impl StatusReplica<'_> {
    pub(super) fn count(&self, lines: &mut Lines) {
        let status = self.status;
        let label = format!("{{replica=\"{}\"}}", status.replica);
        lines.gauge("replica_leads", &label, f64::from(u8::from(status.leads)));
        lines.gauge("replica_term", &label, status.term as f64);
        lines.gauge("replica_index", &label, status.index as f64);
        lines.gauge("replica_commit", &label, status.commit as f64);
        lines.gauge("replica_log_bytes", &label, status.log_bytes as f64);
        lines.gauge("replica_troubled", &label, f64::from(u8::from(status.trouble.is_some())));
        lines.gauge("replica_silent_seconds", &label, self.silent_ms / 1000.0);
        if let Some(lag) = self.lag {
            lines.gauge("replica_lag", &label, lag as f64);
        }
    }
}

/// What was heard of replicas, and when.
#[derive(Debug, Default)]
pub(super) struct Heard(BTreeMap<u16, (Time, ReplicaStatus)>);

impl Heard {
    /// Who leads: of those that have said so lately, the one of the newest term.
    fn leader(&self, now: Time) -> Option<&ReplicaStatus> {
        let fresh = self.0.values().filter(|(at, _)| now - *at < SILENT);
        let leaders = fresh.map(|(_, status)| status).filter(|status| status.leads);
        leaders.max_by_key(|status| status.term)
    }

    pub(super) fn all(&self, now: Time) -> Vec<StatusReplica<'_>> {
        let leader = self.leader(now);
        let lag = |status: &ReplicaStatus| match leader {
            Some(leader) if leader.replica == status.replica => Some(0),
            leader => leader.and_then(|leader| leader.lags.get(&status.replica)).copied(),
        };
        let shown = self.0.values().map(|(at, status)| StatusReplica {
            status,
            lag: lag(status),
            silent_ms: (now - *at).0 as f64 / 1000.0,
        });
        shown.collect()
    }
}

impl Shown {
    /// A replica tells how it is, and how the groups are if it leads.
    pub(super) fn hear(
        &mut self,
        now: Time,
        status: ReplicaStatus,
        groups: Option<Vec<StatusGroup>>,
    ) {
        let heard = &mut self.replicas.0;
        heard.retain(|_, (at, _)| now - *at < FORGOTTEN);
        if heard.len() >= REPLICAS_MAX && !heard.contains_key(&status.replica) {
            return;
        }
        let (leads, replica) = (status.leads, status.replica);
        heard.insert(replica, (now, status));
        let newest = self.replicas.leader(now).is_some_and(|leader| leader.replica == replica);
        if let Some(groups) = groups.filter(|_| leads && newest) {
            self.follow(now, groups);
        }
    }
}

impl Board {
    /// What is told to the boards of other processes, if a replica is here.
    pub(crate) fn told(now: Time, seat: &crate::seat::Seat) -> Option<Vec<u8>> {
        let told = postcard::to_allocvec(&seat.status(now)).ok()?;
        if told.len() <= TOLD_MAX {
            return Some(told);
        }
        // Without groups it is short.
        postcard::to_allocvec(&(seat.status(now).0, None::<Vec<StatusGroup>>)).ok()
    }

    /// What a replica elsewhere tells. Says whether it can be understood.
    pub(crate) fn hear(&self, now: Time, told: &[u8]) -> bool {
        let Ok((status, groups)) = postcard::from_bytes::<Told>(told) else { return false };
        self.shown().hear(now, status, groups);
        true
    }

    /// Where the leader of the replicas can be asked, and all others, as far as is known.
    pub(crate) fn replica_doors(&self, now: Time) -> (Option<SocketAddr>, Vec<SocketAddr>) {
        let shown = self.shown();
        let leader = shown.replicas.leader(now).and_then(|leader| leader.door);
        let all = shown.replicas.0.values().filter_map(|(_, status)| status.door);
        (leader, all.collect())
    }
}

type Told = (ReplicaStatus, Option<Vec<StatusGroup>>);
