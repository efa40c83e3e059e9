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
pub(super) struct StatusReplica {
    #[serde(flatten)]
    status: ReplicaStatus,
    /// How many entries it lacks, as the leader knows.
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

    pub(super) fn all(&self, now: Time) -> Vec<StatusReplica> {
        let leader = self.leader(now);
        let lag = |status: &ReplicaStatus| match leader {
            Some(leader) if leader.replica == status.replica => Some(0),
            leader => leader.and_then(|leader| leader.lags.get(&status.replica)).copied(),
        };
        // What a replica said before it fell silent is over: only one leads.
        let leads =
            |status: &ReplicaStatus| leader.is_some_and(|leader| leader.replica == status.replica);
        let shown = self.0.values().map(|(at, status)| StatusReplica {
            status: ReplicaStatus { leads: leads(status), ..status.clone() },
            lag: lag(status),
            silent_ms: (now - *at).0 as f64 / 1000.0,
        });
        shown.collect()
    }
}

impl Heard {
    /// Why the directory decides nothing, if it does not and is of several replicas.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time(0) + Span::from_ms(ms)
    }

    fn heard(replicas: &[(u16, bool, u64)]) -> Heard {
        let status = |&(replica, leads, at): &(u16, bool, u64)| {
            let voters = vec![1, 2, 3];
            (
                replica,
                (ms(at), ReplicaStatus { replica, leads, voters, ..ReplicaStatus::default() }),
            )
        };
        Heard(replicas.iter().map(status).collect())
    }

    /// Issue 19: a replica that was killed while it led was shown as the leader for a minute.
    #[test]
    fn a_dead_replica_does_not_lead() {
        let heard = heard(&[(1, true, 0), (2, false, 5000), (3, false, 5000)]);
        assert!(heard.all(ms(1000))[0].status.leads);
        assert!(heard.all(ms(5100)).iter().all(|it| !it.status.leads));
    }

    #[test]
    fn a_directory_without_a_majority_names_who_does_not_answer() {
        let all = heard(&[(1, true, 5000), (2, false, 5000), (3, false, 5000)]);
        assert_eq!(all.prevented(ms(5100)), None);
        let one = heard(&[(1, true, 0), (2, false, 9000), (3, false, 0)]);
        let why = one.prevented(ms(9100)).expect("a reason");
        assert_eq!(why, "waiting for a majority of the directory: replicas 1, 3 do not answer");
        assert_eq!(Heard::default().prevented(ms(0)), None);
    }
}
