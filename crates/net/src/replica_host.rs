//! A replica of the directory with its write-ahead log: messages are sent after the log entries
//! that they depend on were written. A replica that cannot write is suspended, and resumes from
//! what is on the disk when there is room.

use crate::directory_role::HoldersLog;
use crate::metrics::{ReplicaStatus, StatusGroup};
use crate::peers::{PeerCodec, PeerCodecError, Versions};
use crate::transport::Urgency;
use crate::write_ahead_log::{WriteAheadLog, WriteAheadLogError, has_room};
use jostle_directory::{Basis, Change, Output, Refused, Replica, Settings};
use jostle_proto::{Message, Output as RoleOutput, ReplicaId, Span, Time};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// How often a suspended replica checks whether it can write.
const RETRY: Span = Span::from_ms(500);

/// A replica that takes part, or is suspended until it can write.
enum State {
    Active(Box<Replica>, WriteAheadLog),
    Suspended { until: Time, why: String },
}

/// A frame for another replica.
pub(crate) struct PeerFrame {
    pub(crate) to: ReplicaId,
    pub(crate) frame: Vec<u8>,
    pub(crate) urgency: Urgency,
}

/// One replica of the directory, with log, codec and outgoing messages.
pub(crate) struct ReplicaHost {
    settings: Settings,
    file: PathBuf,
    /// Its edge server, for joining nodes.
    address: Option<SocketAddr>,
    state: State,
    codec: PeerCodec,
    outgoing: Vec<PeerFrame>,
    answers: Vec<Basis>,
    has_lost: bool,
    holders: HoldersLog,
}

impl ReplicaHost {
    /// Opens the log and restores the replica.
    pub(crate) fn open(
        settings: Settings,
        file: &Path,
        versions: Versions,
    ) -> Result<ReplicaHost, ReplicaHostError> {
        let (log, records) = WriteAheadLog::open(file, settings.id)?;
        let replica = Replica::new(settings, records)
            .map_err(|error| ReplicaHostError::Restore(file.into(), error))?;
        Ok(ReplicaHost {
            settings,
            file: file.into(),
            address: None,
            state: State::Active(Box::new(replica), log),
            codec: PeerCodec::new(versions),
            outgoing: Vec::new(),
            answers: Vec::new(),
            has_lost: false,
            holders: HoldersLog::default(),
        })
    }

    pub(crate) fn id(&self) -> ReplicaId {
        self.settings.id
    }

    /// Sets the address of its edge server.
    pub(crate) fn set_address(&mut self, address: Option<SocketAddr>) {
        self.address = address;
    }

    pub(crate) fn wake_at(&self) -> Time {
        match &self.state {
            State::Active(replica, _) => replica.wake_at(),
            State::Suspended { until, .. } => *until,
        }
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<RoleOutput>) {
        if let State::Suspended { until, .. } = &self.state
            && now >= *until
        {
            self.resume(now);
        }
        self.step(now, out, |replica, done| replica.wake(now, done));
        if let State::Active(replica, _) = &self.state
            && let Some(directory) = replica.running()
        {
            self.holders.look(replica.directory_time(now), directory);
        }
    }

    /// Handles a message of a node or a gateway.
    pub(crate) fn receive(&mut self, now: Time, message: Message, out: &mut Vec<RoleOutput>) {
        self.step(now, out, |replica, done| replica.receive(now, message, done));
    }

    /// Handles a frame of another replica.
    pub(crate) fn receive_peer(
        &mut self,
        now: Time,
        from: ReplicaId,
        frame: &[u8],
        out: &mut Vec<RoleOutput>,
    ) -> Result<(), PeerCodecError> {
        match self.codec.read(from, frame) {
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

    /// Adds or removes a replica.
    pub(crate) fn change(
        &mut self,
        now: Time,
        change: Change,
        out: &mut Vec<RoleOutput>,
    ) -> Result<(), Refused> {
        let mut answer = Err(Refused::NotLeader);
        self.step(now, out, |replica, done| answer = replica.change(now, change, done));
        answer
    }

    /// Frames to send to other replicas.
    pub(crate) fn take_peer_frames(&mut self) -> Vec<PeerFrame> {
        std::mem::take(&mut self.outgoing)
    }

    /// The log positions that the answers to be sent depend on.
    pub(crate) fn take_answers(&mut self) -> Vec<Basis> {
        std::mem::take(&mut self.answers)
    }

    /// Runs one event of the replica, and carries out its outputs in order.
    fn step(
        &mut self,
        now: Time,
        out: &mut Vec<RoleOutput>,
        act: impl FnOnce(&mut Replica, &mut Vec<Output>),
    ) {
        let State::Active(replica, log) = &mut self.state else { return };
        let mut done = Vec::new();
        act(replica, &mut done);
        let mut written = Ok(());
        for output in done {
            match output {
                Output::Write(records) => written = log.append(&records),
                Output::Replace(records) => written = log.replace(&records),
                Output::SendPeer(to, message) => {
                    let frames = self.codec.write(to, &message);
                    let long = frames.len() > 1;
                    let urgency = if long { Urgency::Bulk } else { Urgency::Now };
                    let frame_to = |frame| PeerFrame { to, frame, urgency };
                    self.outgoing.extend(frames.into_iter().map(frame_to));
                }
                Output::Send { to, message, basis } => {
                    out.push(RoleOutput::Send(to, message));
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
            self.suspend(now, &error);
        }
    }

    fn suspend(&mut self, now: Time, error: &WriteAheadLogError) {
        let why = match error.is_full() {
            true => format!("no room: {error}"),
            false => error.to_string(),
        };
        tracing::error!("cannot write the log: the replica is silent until it can: {why}");
        self.state = State::Suspended { until: now + RETRY, why };
    }

    /// Restarts from what is on the disk, if it can be written.
    fn resume(&mut self, now: Time) {
        let State::Suspended { until, why } = &mut self.state else { return };
        *until = now + RETRY;
        if !has_room(&self.file) {
            return;
        }
        // As a new file: what the machine shows of the old one need not be what is on the disk.
        let opened = WriteAheadLog::open(&self.file, self.settings.id).and_then(|(_, records)| {
            Ok((WriteAheadLog::create(&self.file, self.settings.id, &records)?, records))
        });
        let begun = opened.map_err(ReplicaHostError::from).and_then(|(log, records)| {
            let replica = Replica::new(self.settings, records);
            let replica =
                replica.map_err(|error| ReplicaHostError::Restore(self.file.clone(), error))?;
            Ok(State::Active(Box::new(replica), log))
        });
        match begun {
            Ok(state) => {
                tracing::info!("the log can be written again: the replica continues");
                self.state = state;
            }
            Err(error) => *why = error.to_string(),
        }
    }

    /// Its status, and that of the groups if it leads.
    pub(crate) fn status(&self, now: Time) -> (ReplicaStatus, Option<Vec<StatusGroup>>) {
        let status = ReplicaStatus::new(self.settings.id, self.address)
            .with_incompatible(self.codec.incompatible());
        let (replica, log) = match &self.state {
            State::Active(replica, log) => (replica, log),
            State::Suspended { why, .. } => return (status.with_trouble(why), None),
        };
        let status = status.active(&replica.report(), log.bytes());
        let groups = replica.running().map(|directory| {
            let reports = directory.report(replica.directory_time(now));
            reports.iter().map(StatusGroup::from).collect()
        });
        (status, groups)
    }
}

/// Why a replica cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ReplicaHostError {
    /// Its log.
    #[error(transparent)]
    WriteAheadLog(#[from] WriteAheadLogError),
    /// What is in it.
    #[error("{path}: {1}; see \"A damaged log\" in docs/shared-worlds.md", path = .0.display())]
    Restore(PathBuf, jostle_directory::RestoreError),
}
