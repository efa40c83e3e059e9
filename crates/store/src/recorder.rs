//! Follows a group and writes down what happens: into a recording that the user asked for, or into
//! the store. A write that fails is counted and shown, and tried again until it works; from there
//! on the recording goes on with the whole world.

use crate::disk::{Disk, Readers};
use crate::notice::Notice;
use crate::recording::{Head, MAGIC};
use crate::records::{RecordError, RecordWriter};
use crate::store::{Store, StoreSettings};
use jostle_proto::{Follower, GatewayId, Message, Mutant, Output, Shapes, Tick, Time, Timing};
use serde::Serialize;
use std::path::Path;

/// How a store or a recording is, for status and metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecorderStatus {
    /// What is on the disk.
    pub tick: Option<u64>,
    /// Bytes of the newest file.
    pub bytes: u64,
    /// Writes that failed since the process began.
    pub failures: u64,
    /// Why it cannot be written now.
    pub trouble: Option<String>,
}

enum Target {
    File(RecordWriter),
    /// The store, and its newest file, once there is one that can be written.
    Store(Store, Option<RecordWriter>),
}

/// Follows a group and writes down what happens.
pub struct Recorder {
    me: GatewayId,
    follower: Follower,
    head: Head,
    target: Target,
    /// The last tick that was written; none if what comes next is the whole world.
    last: Option<Tick>,
    /// Objects advanced when what was written since the last whole world is played.
    work: u64,
    sync_at: Time,
    retry_at: Time,
    status: RecorderStatus,
    settings: StoreSettings,
    notices: Vec<Notice>,
}

impl Recorder {
    /// Begins a new recording.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn to_file(
        disk: &dyn Disk,
        me: GatewayId,
        (world, shapes): (&str, &Shapes),
        timing: Timing,
        file: &Path,
    ) -> Result<Recorder, RecordError> {
        let head = Head::new(world, shapes, timing.rate);
        let mut writer = RecordWriter::create(disk, file, MAGIC, Readers::Umask)?;
        writer.write_head(&head)?;
        writer.sync()?;
        let settings = StoreSettings::default();
        Ok(Recorder::new((me, timing), head, settings, Target::File(writer)))
    }

    /// Goes on with a store.
    #[must_use]
    pub fn to_store(
        me: GatewayId,
        (world, shapes): (&str, &Shapes),
        timing: Timing,
        store: Store,
    ) -> Recorder {
        let head = Head::new(world, shapes, timing.rate);
        let settings = store.settings;
        Recorder::new((me, timing), head, settings, Target::Store(store, None))
    }

    fn new(
        (me, timing): (GatewayId, Timing),
        head: Head,
        settings: StoreSettings,
        target: Target,
    ) -> Recorder {
        Recorder {
            me,
            follower: Follower::new(me, timing),
            head,
            target,
            last: None,
            work: 0,
            sync_at: Time(0),
            retry_at: Time(0),
            status: RecorderStatus::default(),
            settings,
            notices: Vec::new(),
        }
    }

    /// Under which number it follows.
    #[must_use]
    pub fn id(&self) -> GatewayId {
        self.me
    }

    /// What it writes, and how that is.
    #[must_use]
    pub fn status(&self) -> (&'static str, &RecorderStatus) {
        (self.name(), &self.status)
    }

    fn name(&self) -> &'static str {
        match self.target {
            Target::File(_) => "recording",
            Target::Store(..) => "store",
        }
    }

    /// What the operator is to know, since this was called last.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// When it wants to be woken if nothing comes.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        self.follower.wake_at()
    }

    /// To be called when due: follows the group and writes.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.follower.wake(now, out);
        self.write(now);
    }

    /// Handles a message of the group or of the directory.
    pub fn receive(&mut self, now: Time, message: Message) {
        self.follower.receive(now, message);
        self.write(now);
    }

    /// Nothing more will come: marks the end.
    pub fn finish(&mut self) {
        if self.status.trouble.is_some() {
            return;
        }
        let last = self.last;
        let written = match self.writer() {
            Some(writer) => writer.write_end(last),
            None => return,
        };
        if let Err(error) = written.and_then(|()| self.sync()) {
            let what = format!("cannot write the end of the {}: {error}", self.name());
            self.notices.push(Notice::error(what));
        }
    }

    fn writer(&mut self) -> Option<&mut RecordWriter> {
        match &mut self.target {
            Target::File(writer) => Some(writer),
            Target::Store(_, writer) => writer.as_mut(),
        }
    }

    fn write(&mut self, now: Time) {
        if self.status.trouble.is_some() && now < self.retry_at {
            // What is missed now is in the world that is written then.
            while self.follower.take().is_some() {}
            return;
        }
        match self.try_write(now) {
            Ok(()) => {
                // Trouble is over when the whole world is on the disk again.
                if self.last.is_some() && self.status.trouble.take().is_some() {
                    let tick = self.status.tick.unwrap_or(0);
                    let what =
                        format!("the {} can be written again, from tick {tick}", self.name());
                    self.notices.push(Notice::info(what));
                }
            }
            Err(error) => self.failed(now, &error),
        }
    }

    fn failed(&mut self, now: Time, error: &RecordError) {
        (self.last, self.retry_at) = (None, now + self.settings.retry);
        self.status.failures += 1;
        if let Target::Store(_, writer) = &mut self.target {
            // What is in its file stays there; the next file begins with the whole world.
            *writer = None;
        }
        if self.status.trouble.replace(error.to_string()).is_none() {
            let stored = match self.status.tick {
                Some(tick) => format!("tick {tick} is the last one on the disk"),
                None => "nothing of this process is on the disk".into(),
            };
            let what = self.name();
            self.notices.push(Notice::error(format!(
                "cannot write the {what}: {error}; {stored}; it is tried again every second"
            )));
        }
    }

    fn try_write(&mut self, now: Time) -> Result<(), RecordError> {
        while let Some(commit) = self.follower.take() {
            if self.last.is_some_and(|last| last.next() == commit.tick) {
                self.last = Some(commit.tick);
                self.work += self.follower.world().map_or(0, |(_, objects)| objects.len() as u64);
                if let Some(writer) = self.writer() {
                    writer.write_tick(&commit)?;
                }
            }
        }
        // The first one, or one after a gap: what it has now is all of it.
        let newest = self.follower.world().map(|(tick, _)| tick);
        if newest.is_some() && self.last != newest {
            self.write_world()?;
            self.sync_at = now + self.settings.sync;
            return self.sync();
        }
        if now >= self.sync_at {
            self.sync_at = now + self.settings.sync;
            self.sync()?;
            self.next_file()?;
        }
        Ok(())
    }

    /// The whole world: in a file of its own, if that can be.
    fn write_world(&mut self) -> Result<(), RecordError> {
        let Some((tick, objects)) = self.follower.world() else { return Ok(()) };
        let heard = self.follower.heard();
        match &mut self.target {
            Target::File(writer) => writer.write_world(tick, heard, objects)?,
            Target::Store(store, writer) => {
                *writer = Some(store.begin(&self.head, tick, heard, objects)?);
            }
        }
        (self.last, self.work) = (Some(tick), 0);
        Ok(())
    }

    /// A store begins another file when this one is long; what is older is removed.
    fn next_file(&mut self) -> Result<(), RecordError> {
        let Target::Store(store, Some(writer)) = &mut self.target else { return Ok(()) };
        if !store.is_long(writer.length(), self.work) {
            return Ok(());
        }
        writer.write_end(self.last)?;
        writer.sync()?;
        self.write_world()?;
        self.sync()
    }

    fn sync(&mut self) -> Result<(), RecordError> {
        let last = self.last;
        let late = self.settings.mutant == Some(Mutant::SyncLater);
        let Some(writer) = self.writer() else { return Ok(()) };
        if late {
            writer.flush()?
        } else {
            writer.sync()?
        }
        let bytes = writer.length();
        if let Target::Store(store, Some(_)) = &mut self.target {
            store.synced(bytes, last)?;
        }
        self.status.bytes = bytes;
        self.status.tick = last.map(|tick| tick.0).or(self.status.tick);
        Ok(())
    }
}

#[cfg(test)]
impl Recorder {
    /// As if so much work had been written.
    pub(crate) fn work_done(&mut self, work: u64) {
        self.work = work;
    }
}
