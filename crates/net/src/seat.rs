//! A replica of the directory with its disk: what it says goes out after what it rests on was
//! written. A replica that cannot write says nothing more and begins again, from what is on the
//! disk, when there is room.

use crate::keeper::HoldersLog;
use crate::ledger::{Ledger, LedgerError, has_room};
use crate::metrics::{ReplicaStatus, StatusGroup};
use crate::peers::{PeerCodec, PeerCodecError, Versions};
use crate::transport::Urgency;
use jostle_directory::{Basis, Change, Output, Refused, Replica, Settings};
use jostle_proto::{Message, Output as Said, ReplicaId, Span, Time};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// How often a replica that could not write looks whether it can.
const LOOK: Span = Span::from_ms(500);

/// A replica that takes part, or waits until it can write.
enum State {
    Works(Box<Replica>, Ledger),
    Waits { until: Time, why: String },
}

/// A frame for another replica.
pub(crate) struct Letter {
    pub(crate) to: ReplicaId,
    pub(crate) frame: Vec<u8>,
    pub(crate) urgency: Urgency,
}

/// One of the replicas, where it sits.
pub(crate) struct Seat {
    settings: Settings,
    file: PathBuf,
    /// Where newcomers can ask.
    door: Option<SocketAddr>,
    state: State,
    letters: PeerCodec,
    mail: Vec<Letter>,
    answers: Vec<Basis>,
    has_lost: bool,
    holders: HoldersLog,
}

impl Seat {
    /// The replica whose log this is.
    pub(crate) fn open(
        settings: Settings,
        file: &Path,
        versions: Versions,
    ) -> Result<Seat, SeatError> {
        let (ledger, records) = Ledger::open(file, settings.id)?;
        let replica = Replica::new(settings, records)
            .map_err(|error| SeatError::Restore(file.into(), error))?;
        Ok(Seat {
            settings,
            file: file.into(),
            door: None,
            state: State::Works(Box::new(replica), ledger),
            letters: PeerCodec::new(versions),
            mail: Vec::new(),
            answers: Vec::new(),
            has_lost: false,
            holders: HoldersLog::default(),
        })
    }

    pub(crate) fn id(&self) -> ReplicaId {
        self.settings.id
    }

    /// It is known to others by this door.
    pub(crate) fn set_door(&mut self, door: Option<SocketAddr>) {
        self.door = door;
    }

    pub(crate) fn wake_at(&self) -> Time {
        match &self.state {
            State::Works(replica, _) => replica.wake_at(),
            State::Waits { until, .. } => *until,
        }
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<Said>) {
        if let State::Waits { until, .. } = &self.state
            && now >= *until
        {
            self.begin_again(now);
        }
        self.step(now, out, |replica, done| replica.wake(now, done));
        if let State::Works(replica, _) = &self.state
            && let Some(directory) = replica.running()
        {
            self.holders.look(replica.directory_time(now), directory);
        }
    }

    /// A node or a gateway says something.
    pub(crate) fn receive(&mut self, now: Time, message: Message, out: &mut Vec<Said>) {
        self.step(now, out, |replica, done| replica.receive(now, message, done));
    }

    /// Another replica says something.
    pub(crate) fn hear(
        &mut self,
        now: Time,
        from: ReplicaId,
        frame: &[u8],
        out: &mut Vec<Said>,
    ) -> Result<(), PeerCodecError> {
        match self.letters.read(from, frame) {
            Ok(Some(message)) => {
                self.step(now, out, |replica, done| replica.hear(now, &message, done));
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) => {
                if matches!(error, PeerCodecError::Version { .. }) {
                    tracing::error!("{error}: upgrade the replicas one after the other");
                }
                Err(error)
            }
        }
    }

    /// A replica is to be added or removed.
    pub(crate) fn change(
        &mut self,
        now: Time,
        change: Change,
        out: &mut Vec<Said>,
    ) -> Result<(), Refused> {
        let mut answer = Err(Refused::NotLeader);
        self.step(now, out, |replica, done| answer = replica.change(now, change, done));
        answer
    }

    /// What is to be sent to other replicas.
    pub(crate) fn take_mail(&mut self) -> Vec<Letter> {
        std::mem::take(&mut self.mail)
    }

    /// What the answers rest on that are to be sent.
    pub(crate) fn take_answers(&mut self) -> Vec<Basis> {
        std::mem::take(&mut self.answers)
    }

    /// Lets the replica do something, and does what it wants in that order.
    fn step(
        &mut self,
        now: Time,
        out: &mut Vec<Said>,
        act: impl FnOnce(&mut Replica, &mut Vec<Output>),
    ) {
        let State::Works(replica, ledger) = &mut self.state else { return };
        let mut done = Vec::new();
        act(replica, &mut done);
        let mut written = Ok(());
        for output in done {
            match output {
                Output::Write(records) => written = ledger.append(&records),
                Output::Replace(records) => written = ledger.replace(&records),
                Output::SendPeer(to, message) => {
                    let frames = self.letters.write(to, &message);
                    let long = frames.len() > 1;
                    let urgency = if long { Urgency::Bulk } else { Urgency::Now };
                    let letter = |frame| Letter { to, frame, urgency };
                    self.mail.extend(frames.into_iter().map(letter));
                }
                Output::Send { to, message, basis } => {
                    out.push(Said::Send(to, message));
                    self.answers.push(basis);
                }
            }
            if written.is_err() {
                break;
            }
        }
        let lost = replica.position().has_lost;
        if lost && !self.has_lost {
            let id = self.settings.id.0;
            tracing::error!(
                id,
                "this replica lacks log entries that it has acknowledged: its disk has lost them. \
                 It takes no part any more; see \"A damaged log\" in docs/shared-worlds.md"
            );
        }
        self.has_lost = lost;
        if let Err(error) = written {
            self.put_away(now, &error);
        }
    }

    fn put_away(&mut self, now: Time, error: &LedgerError) {
        let why = match error.is_full() {
            true => format!("no room: {error}"),
            false => error.to_string(),
        };
        tracing::error!("cannot write the log: the replica is silent until it can: {why}");
        self.state = State::Waits { until: now + LOOK, why };
    }

    /// From what is on the disk, if it can be written to.
    fn begin_again(&mut self, now: Time) {
        let State::Waits { until, why } = &mut self.state else { return };
        *until = now + LOOK;
        if !has_room(&self.file) {
            return;
        }
        // As a new file: what the machine shows of the old one need not be what is on the disk.
        let opened = Ledger::open(&self.file, self.settings.id).and_then(|(_, records)| {
            Ok((Ledger::create(&self.file, self.settings.id, &records)?, records))
        });
        let begun = opened.map_err(SeatError::from).and_then(|(ledger, records)| {
            let replica = Replica::new(self.settings, records);
            let replica = replica.map_err(|error| SeatError::Restore(self.file.clone(), error))?;
            Ok(State::Works(Box::new(replica), ledger))
        });
        match begun {
            Ok(state) => {
                tracing::info!("the log can be written again: the replica continues");
                self.state = state;
            }
            Err(error) => *why = error.to_string(),
        }
    }

    /// How it is, and what the groups are like if it leads.
    pub(crate) fn status(&self, now: Time) -> (ReplicaStatus, Option<Vec<StatusGroup>>) {
        let mut status = ReplicaStatus {
            replica: self.settings.id.0,
            door: self.door,
            incompatible: self.letters.incompatible(),
            ..ReplicaStatus::default()
        };
        let (replica, ledger) = match &self.state {
            State::Works(replica, ledger) => (replica, ledger),
            State::Waits { why, .. } => {
                status.trouble = Some(why.clone());
                return (status, None);
            }
        };
        let report = replica.report();
        status.leads = report.leads;
        status.leader = report.leader.map(|leader| leader.0);
        (status.term, status.index) = (report.term, report.index);
        (status.commit, status.snapshot) = (report.commit, report.snapshot);
        status.voters = report.voters.iter().map(|voter| voter.0).collect();
        status.voters.sort_unstable();
        status.lags = report.peers.iter().map(|peer| (peer.id.0, peer.lag)).collect();
        status.log_bytes = ledger.bytes();
        if report.has_lost {
            status.trouble = Some("its disk has forgotten what it had told others".into());
        }
        let groups = replica.running().map(|directory| {
            let reports = directory.report(replica.directory_time(now));
            reports.iter().map(StatusGroup::from).collect()
        });
        (status, groups)
    }
}

/// Why a replica cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum SeatError {
    /// Its log.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// What is in it.
    #[error("{path}: {1}; see \"A damaged log\" in docs/shared-worlds.md", path = .0.display())]
    Restore(PathBuf, jostle_directory::RestoreError),
}
