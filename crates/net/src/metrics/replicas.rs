//! Status of the directory's replicas: each reports to all processes with an edge server.

use super::{Lines, Metrics, MetricsState, StatusGroup};
use jostle_proto::{ReplicaId, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Bytes of a report, at most: the limit of the transport.
const REPORT_MAX: usize = crate::transport::LARGEST_MESSAGE;

/// Replicas that are shown, at most.
const REPLICAS_MAX: usize = 64;

/// A replica without a report for so long is no longer shown.
const FORGOTTEN: Span = Span::from_ms(60_000);

/// A replica without a report for so long does not count as leader.
const SILENT: Span = Span::from_ms(2000);

/// The report of a replica about itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReplicaStatus {
    replica: u16,
    address: Option<SocketAddr>,
    leads: bool,
    /// The leader that it follows.
    leader: Option<u16>,
    term: u64,
    /// Its last entry, the last committed entry, and the last entry in its snapshot.
    index: u64,
    commit: u64,
    snapshot: u64,
    log_bytes: u64,
    voters: Vec<u16>,
    /// Entries that each follower lacks, if it is the leader.
    lags: BTreeMap<u16, u64>,
    /// Replicas without a common protocol version.
    incompatible: Vec<u16>,
    /// Why it is unavailable, if it is.
    trouble: Option<String>,
}

impl ReplicaStatus {
    /// Of a replica that cannot work, unless [`ReplicaStatus::active`] says more.
    pub(crate) fn new(id: ReplicaId, address: Option<SocketAddr>) -> ReplicaStatus {
        ReplicaStatus { replica: id.0, address, ..ReplicaStatus::default() }
    }

    /// With the replicas that have no protocol version in common with it.
    pub(crate) fn with_incompatible(self, incompatible: Vec<u16>) -> ReplicaStatus {
        ReplicaStatus { incompatible, ..self }
    }

    pub(crate) fn with_trouble(self, why: &str) -> ReplicaStatus {
        ReplicaStatus { trouble: Some(why.to_owned()), ..self }
    }

    /// With what it reports about itself.
    pub(crate) fn active(
        self,
        report: &jostle_directory::ReplicaReport,
        log_bytes: u64,
    ) -> ReplicaStatus {
        let mut voters: Vec<u16> = report.voters.iter().map(|voter| voter.0).collect();
        voters.sort_unstable();
        let status = ReplicaStatus {
            leads: report.leads,
            leader: report.leader.map(|leader| leader.0),
            term: report.term,
            index: report.index,
            commit: report.commit,
            snapshot: report.snapshot,
            log_bytes,
            voters,
            lags: report.peers.iter().map(|peer| (peer.id.0, peer.lag)).collect(),
            ..self
        };
        match report.has_lost {
            true => status.with_trouble("its disk has lost what it had acknowledged"),
            false => status,
        }
    }
}

/// The same with what others know of it.
#[derive(Serialize)]
pub(super) struct StatusReplica {
    #[serde(flatten)]
    status: ReplicaStatus,
    /// Entries that it lacks, according to the leader.
    lag: Option<u64>,
    silent_ms: f64,
}

impl StatusReplica {
    pub(super) fn count(&self, lines: &mut Lines) {
        let status = &self.status;
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

/// The last report of each replica, and when it arrived.
#[derive(Debug, Default)]
pub(super) struct ReplicaReports(BTreeMap<u16, (Time, ReplicaStatus)>);

impl ReplicaReports {
    /// The current leader: of the replicas that have recently reported to lead, the one with the
    /// newest term.
    fn leader(&self, now: Time) -> Option<&ReplicaStatus> {
        let fresh = self.0.values().filter(|(at, _)| now - *at < SILENT);
        let leaders = fresh.map(|(_, status)| status).filter(|status| status.leads);
        leaders.max_by_key(|status| status.term)
    }

    pub(super) fn all(&self, now: Time) -> Vec<StatusReplica> {
        let leader = self.leader(now);
        let lag = |status: &ReplicaStatus| match leader {
            Some(leader) if leader.replica == status.replica => Some(0),
            leader => leader.and_then(|leader| leader.lags.get(&status.replica)).copied(),
        };
        // A silent replica may have been replaced: only the current leader is shown as one.
        let leads =
            |status: &ReplicaStatus| leader.is_some_and(|leader| leader.replica == status.replica);
        let state = self.0.values().map(|(at, status)| StatusReplica {
            status: ReplicaStatus { leads: leads(status), ..status.clone() },
            lag: lag(status),
            silent_ms: (now - *at).0 as f64 / 1000.0,
        });
        state.collect()
    }
}

impl ReplicaReports {
    /// Why a replicated directory cannot decide, if it cannot.
    pub(super) fn prevented(&self, now: Time) -> Option<String> {
        if self.0.is_empty() || self.leader(now).is_some() {
            return None;
        }
        let newest = self.0.values().max_by_key(|(_, status)| status.term);
        let voters = newest.map(|(_, status)| status.voters.clone()).unwrap_or_default();
        let answers = |voter: &u16| {
            self.0.get(voter).is_some_and(|(at, it)| now - *at < SILENT && it.trouble.is_none())
        };
        let silent: Vec<String> =
            voters.iter().filter(|it| !answers(it)).map(ToString::to_string).collect();
        Some(match &silent[..] {
            [] => "the directory has no leader: its replicas elect one".into(),
            [one] => format!("the directory has no leader: replica {one} does not answer"),
            _ => format!(
                "waiting for a majority of the directory: replicas {} do not answer",
                silent.join(", ")
            ),
        })
    }
}

impl MetricsState {
    /// Takes over the report of a replica, and the groups if it is the leader.
    pub(super) fn receive_report(
        &mut self,
        now: Time,
        status: ReplicaStatus,
        groups: Option<Vec<StatusGroup>>,
    ) {
        let reports = &mut self.replicas.0;
        reports.retain(|_, (at, _)| now - *at < FORGOTTEN);
        if reports.len() >= REPLICAS_MAX && !reports.contains_key(&status.replica) {
            return;
        }
        let (leads, replica) = (status.leads, status.replica);
        reports.insert(replica, (now, status));
        let newest = self.replicas.leader(now).is_some_and(|leader| leader.replica == replica);
        if let Some(groups) = groups.filter(|_| leads && newest) {
            self.follow(now, groups);
        }
    }
}

impl Metrics {
    /// The report of a replica here, for the metrics of other processes.
    pub(crate) fn encode_report(
        now: Time,
        replica: &crate::replica_host::ReplicaHost,
    ) -> Option<Vec<u8>> {
        let encoded = postcard::to_allocvec(&replica.status(now)).ok()?;
        if encoded.len() <= REPORT_MAX {
            return Some(encoded);
        }
        // Without the groups it fits.
        postcard::to_allocvec(&(replica.status(now).0, None::<Vec<StatusGroup>>)).ok()
    }

    /// Decodes the report of a replica elsewhere; returns false if it is malformed.
    pub(crate) fn receive_report(&self, now: Time, encoded: &[u8]) -> bool {
        let Ok((status, groups)) = postcard::from_bytes::<ReplicaReport>(encoded) else {
            return false;
        };
        self.state().receive_report(now, status, groups);
        true
    }

    /// The address of the leader, and those of all known replicas.
    pub(crate) fn replica_addresses(&self, now: Time) -> (Option<SocketAddr>, Vec<SocketAddr>) {
        let state = self.state();
        let leader = state.replicas.leader(now).and_then(|leader| leader.address);
        let all = state.replicas.0.values().filter_map(|(_, status)| status.address);
        (leader, all.collect())
    }
}

type ReplicaReport = (ReplicaStatus, Option<Vec<StatusGroup>>);

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time(0) + Span::from_ms(ms)
    }

    fn reports(replicas: &[(u16, bool, u64)]) -> ReplicaReports {
        let status = |&(replica, leads, at): &(u16, bool, u64)| {
            let voters = vec![1, 2, 3];
            (
                replica,
                (ms(at), ReplicaStatus { replica, leads, voters, ..ReplicaStatus::default() }),
            )
        };
        ReplicaReports(replicas.iter().map(status).collect())
    }

    /// Issue 19: a replica that was killed while it led was shown as the leader for a minute.
    #[test]
    fn a_dead_replica_does_not_lead() {
        let reports = reports(&[(1, true, 0), (2, false, 5000), (3, false, 5000)]);
        assert!(reports.all(ms(1000))[0].status.leads);
        assert!(reports.all(ms(5100)).iter().all(|it| !it.status.leads));
    }

    #[test]
    fn a_directory_without_a_majority_names_who_does_not_answer() {
        let all = reports(&[(1, true, 5000), (2, false, 5000), (3, false, 5000)]);
        assert_eq!(all.prevented(ms(5100)), None);
        let one = reports(&[(1, true, 0), (2, false, 9000), (3, false, 0)]);
        let why = one.prevented(ms(9100)).expect("a reason");
        assert_eq!(why, "waiting for a majority of the directory: replicas 1, 3 do not answer");
        assert_eq!(ReplicaReports::default().prevented(ms(0)), None);
    }
}
