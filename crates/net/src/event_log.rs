//! Event logs: every message that the roles of a process send, for the checkers of the simulator,
//! which read the logs of all processes of a world.

use crate::files::FileSystem;
use crate::name;
use jostle_proto::{Address, Commit, Message, Time};
use jostle_store::{Readers, RecordError, RecordReader, RecordWriter};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

const MAGIC: [u8; 8] = *b"JOEVT\0\0\x02";

#[derive(Serialize, Deserialize)]
enum Record {
    Sent { at: Time, from: String, to: String, message: Message },
    Published { at: Time, commit: Arc<Commit> },
    Answered { at: Time, asked: Time, index: u64 },
}

/// A logged event.
#[derive(Clone, Debug)]
pub enum LoggedEvent {
    /// A message was sent.
    Sent {
        /// When it was sent.
        at: Time,
        /// The sender.
        from: Address,
        /// The receiver.
        to: Address,
        /// The message.
        message: Message,
    },
    /// A tick was committed.
    Published {
        /// When it was published.
        at: Time,
        /// The commit.
        commit: Arc<Commit>,
    },
    /// A directory replica has answered a request.
    Answered {
        /// When it answered.
        at: Time,
        /// When it was asked.
        asked: Time,
        /// The log entry that the answer rests on.
        index: u64,
    },
}

impl LoggedEvent {
    /// The time of the event.
    #[must_use]
    pub fn at(&self) -> Time {
        match self {
            LoggedEvent::Sent { at, .. }
            | LoggedEvent::Published { at, .. }
            | LoggedEvent::Answered { at, .. } => *at,
        }
    }
}

/// Writes an event log.
pub(crate) struct EventLog {
    file: Mutex<RecordWriter>,
}

impl EventLog {
    pub(crate) fn new(path: &Path) -> Result<EventLog, RecordError> {
        let mut file = RecordWriter::create(&FileSystem, path, MAGIC, Readers::Umask)?;
        // A process that sends nothing has an empty log, not a missing one.
        file.flush()?;
        Ok(EventLog { file: Mutex::new(file) })
    }

    fn write(&self, record: &Record) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // Flushed after each event, so that a killed process loses none.
        if let Err(error) = file.write(record).and_then(|()| file.flush()) {
            tracing::error!(%error, "cannot write the event log (--events): it is incomplete");
        }
    }

    /// Messages to clients are not logged: their gateway is checked instead.
    pub(crate) fn sent(&self, at: Time, from: Address, to: Address, message: &Message) {
        if let (Some(from), Some(to)) = (name::of(from), name::of(to)) {
            self.write(&Record::Sent { at, from, to, message: message.clone() });
        }
    }

    pub(crate) fn published(&self, at: Time, commit: &Arc<Commit>) {
        self.write(&Record::Published { at, commit: commit.clone() });
    }
}

impl EventLog {
    pub(crate) fn answered(&self, at: Time, asked: Time, index: u64) {
        self.write(&Record::Answered { at, asked, index });
    }
}

/// Reads the event logs of all processes of a world, in the order of their clocks.
///
/// # Errors
/// If a file is no event log, or damaged before its end.
pub fn read_event_logs(files: &[impl AsRef<Path>]) -> Result<Vec<LoggedEvent>, RecordError> {
    let mut seen = Vec::new();
    for path in files {
        let mut reader = RecordReader::open(&FileSystem, path.as_ref(), MAGIC, "event log")?;
        while let Some(record) = reader.next_record()? {
            match record {
                Record::Sent { at, from, to, message } => {
                    if let (Some(from), Some(to)) = (name::read(&from), name::read(&to)) {
                        seen.push(LoggedEvent::Sent { at, from, to, message });
                    }
                }
                Record::Published { at, commit } => {
                    seen.push(LoggedEvent::Published { at, commit })
                }
                Record::Answered { at, asked, index } => {
                    seen.push(LoggedEvent::Answered { at, asked, index });
                }
            }
        }
    }
    seen.sort_by_key(LoggedEvent::at);
    Ok(seen)
}
