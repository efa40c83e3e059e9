//! Follows a group and writes down what happens: into a recording that the user asked for, or into
//! the store. A write that fails is counted and shown, and tried again until it works; from there
//! on the recording goes on with the whole world.

use crate::recording::{Head, MAGIC};
use crate::records::{RecordError, RecordWriter};
use crate::store::Store;
use jostle_proto::{Follower, GatewayId, Message, Output, Shapes, Span, Tick, Time, Timing};
use serde::Serialize;
use std::path::Path;

/// What is not on disk after this is lost if the machine dies.
const SYNC: Span = Span::from_ms(1000);

/// After a write that failed it is tried again so much later.
const RETRY: Span = Span::from_ms(1000);

/// How a store or a recording is, for status and metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct RecorderStatus {
    /// What is on the disk.
    pub(crate) tick: Option<u64>,
    /// Bytes of the newest file.
    pub(crate) bytes: u64,
    /// Writes that failed since the process began.
    pub(crate) failures: u64,
    /// Why it cannot be written now.
    pub(crate) trouble: Option<String>,
}

enum Target {
    File(RecordWriter),
    /// The store, and its newest file, once there is one that can be written.
    Store(Store, Option<RecordWriter>),
}

/// Follows a group and writes down what happens.
pub(crate) struct Recorder {
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
}

impl Recorder {
    /// Begins a new recording.
    pub(crate) fn to_file(
        me: GatewayId,
        (world, shapes): (&str, &Shapes),
        timing: Timing,
        file: &Path,
    ) -> Result<Recorder, RecordError> {
        let head = Head::new(world, shapes, timing.rate);
        let mut writer = RecordWriter::create(file, MAGIC)?;
        writer.write_head(&head)?;
        writer.sync()?;
        Ok(Recorder::new(me, head, timing, Target::File(writer)))
    }

    /// Goes on with a store.
    pub(crate) fn to_store(
        me: GatewayId,
        (world, shapes): (&str, &Shapes),
        timing: Timing,
        store: Store,
    ) -> Recorder {
        let head = Head::new(world, shapes, timing.rate);
        Recorder::new(me, head, timing, Target::Store(store, None))
    }

    fn new(me: GatewayId, head: Head, timing: Timing, target: Target) -> Recorder {
        let (last, work, status) = (None, 0, RecorderStatus::default());
        let (sync_at, retry_at) = (Time(0), Time(0));
        let follower = Follower::new(me, timing);
        Recorder { me, follower, head, target, last, work, sync_at, retry_at, status }
    }

    pub(crate) fn id(&self) -> GatewayId {
        self.me
    }

    /// What it writes, and how that is.
    pub(crate) fn status(&self) -> (&'static str, &RecorderStatus) {
        (self.name(), &self.status)
    }

    fn name(&self) -> &'static str {
        match self.target {
            Target::File(_) => "recording",
            Target::Store(..) => "store",
        }
    }

    pub(crate) fn wake_at(&self) -> Time {
        self.follower.wake_at()
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.follower.wake(now, out);
        self.write(now);
    }

    pub(crate) fn receive(&mut self, now: Time, message: Message) {
        self.follower.receive(now, message);
        self.write(now);
    }

    /// Nothing more will come: marks the end.
    pub(crate) fn finish(&mut self) {
        if self.status.trouble.is_some() {
            return;
        }
        let last = self.last;
        let written = match self.writer() {
            Some(writer) => writer.write_end(last),
            None => return,
        };
        if let Err(error) = written.and_then(|()| self.sync()) {
            tracing::error!("cannot write the end of the {}: {error}", self.name());
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
                    tracing::info!("the {} can be written again, from tick {tick}", self.name());
                }
            }
            Err(error) => self.failed(now, &error),
        }
    }

    fn failed(&mut self, now: Time, error: &RecordError) {
        (self.last, self.retry_at) = (None, now + RETRY);
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
            tracing::error!(
                "cannot write the {}: {error}; {stored}; it is tried again every second",
                self.name()
            );
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
            self.sync_at = now + SYNC;
            return self.sync();
        }
        if now >= self.sync_at {
            self.sync_at = now + SYNC;
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
        let Some(writer) = self.writer() else { return Ok(()) };
        writer.sync()?;
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

    /// The newest file takes nothing more.
    pub(crate) fn break_file(&mut self) {
        if let Some(writer) = self.writer() {
            writer.fill();
        }
    }
}
