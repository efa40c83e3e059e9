//! What a process has said, message by message, for those who judge afterwards: the referees of
//! the simulator read the files of all processes of a world.

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

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Seen {
    /// A message was sent.
    Sent {
        /// When.
        at: Time,
        /// Who.
        from: Address,
        /// To whom.
        to: Address,
        /// What.
        message: Message,
    },
    /// A tick was published.
    Published {
        /// When.
        at: Time,
        /// What.
        commit: Arc<Commit>,
    },
    /// A replica of the directory has answered something.
    Answered {
        /// When.
        at: Time,
        /// When it was asked.
        asked: Time,
        /// The entry of its log that the answer rests on.
        index: u64,
    },
}

impl Seen {
    /// When.
    #[must_use]
    pub fn at(&self) -> Time {
        match self {
            Seen::Sent { at, .. } | Seen::Published { at, .. } | Seen::Answered { at, .. } => *at,
        }
    }
}

/// Writes down what is said.
pub(crate) struct Witness {
    file: Mutex<RecordWriter>,
}

impl Witness {
    pub(crate) fn new(path: &Path) -> Result<Witness, RecordError> {
        let mut file = RecordWriter::create(&FileSystem, path, MAGIC, Readers::Umask)?;
        // Whoever says nothing has an empty log, not none.
        file.flush()?;
        Ok(Witness { file: Mutex::new(file) })
    }

    fn write(&self, record: &Record) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // A process that is killed loses nothing that it has said.
        if let Err(error) = file.write(record).and_then(|()| file.flush()) {
            tracing::error!(%error, "cannot write the event log (--events): it is incomplete");
        }
    }

    /// Letters to clients are left out: gateways answer for them.
    pub(crate) fn sent(&self, at: Time, from: Address, to: Address, message: &Message) {
        if let (Some(from), Some(to)) = (name::of(from), name::of(to)) {
            self.write(&Record::Sent { at, from, to, message: message.clone() });
        }
    }

    pub(crate) fn published(&self, at: Time, commit: &Arc<Commit>) {
        self.write(&Record::Published { at, commit: commit.clone() });
    }
}

impl Witness {
    pub(crate) fn answered(&self, at: Time, asked: Time, index: u64) {
        self.write(&Record::Answered { at, asked, index });
    }
}

/// All that the processes of a world have said, in the order of their clocks.
///
/// # Errors
/// If a file is no event log, or damaged before its end.
pub fn events(files: &[impl AsRef<Path>]) -> Result<Vec<Seen>, RecordError> {
    let mut seen = Vec::new();
    for path in files {
        let mut reader = RecordReader::open(&FileSystem, path.as_ref(), MAGIC, "event log")?;
        while let Some(record) = reader.next()? {
            match record {
                Record::Sent { at, from, to, message } => {
                    if let (Some(from), Some(to)) = (name::read(&from), name::read(&to)) {
                        seen.push(Seen::Sent { at, from, to, message });
                    }
                }
                Record::Published { at, commit } => seen.push(Seen::Published { at, commit }),
                Record::Answered { at, asked, index } => {
                    seen.push(Seen::Answered { at, asked, index });
                }
            }
        }
    }
    seen.sort_by_key(Seen::at);
    Ok(seen)
}
