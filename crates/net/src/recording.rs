//! Recordings: the world at a tick, then everything that came from outside with the digest of
//! every tick. Whoever plays one computes the same world again, and finds the first tick that is
//! another one.

use crate::records::{RecordError, RecordReader, RecordWriter};
use jostle_geom::LoadModelError;
use jostle_proto::{
    Commit, Detector, Follower, Form, GatewayId, Library, Message, Object, Objects, Output, Shapes,
    Source, Span, Tick, Time, Timing, advance, apply, digest,
};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

const MAGIC: [u8; 8] = *b"JOREC\0\0\x01";

/// What is not on disk after this is lost if the machine dies.
const SYNC: Span = Span::from_ms(1000);

/// What a recording begins with.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Head {
    world: String,
    rate: u32,
    forms: Vec<Form>,
    /// The triangles of the forms, each once.
    contents: Vec<Vec<u8>>,
}

#[derive(Debug, Serialize, Deserialize)]
enum Record {
    Head(Head),
    /// The world after a tick: at the beginning, and after a gap.
    World(Tick, Vec<Object>),
    Tick(Arc<Commit>),
}

/// Follows a group and writes down what happens.
pub(crate) struct Recorder {
    me: GatewayId,
    follower: Follower,
    file: RecordWriter,
    /// The last tick that is in the file.
    last: Option<Tick>,
    sync_at: Time,
    failed: bool,
}

impl Recorder {
    /// Begins a new file.
    pub(crate) fn new(
        me: GatewayId,
        (world, shapes): (&str, &Shapes),
        timing: Timing,
        file: &Path,
    ) -> Result<Recorder, RecordError> {
        let library = Library::of(shapes, Span(0));
        let forms = library.forms().to_vec();
        let mut named: Vec<_> = forms.iter().filter_map(|form| form.content).collect();
        named.sort_unstable();
        named.dedup();
        let contents = named.iter().filter_map(|content| library.get(*content));
        let contents = contents.map(|bytes| bytes.to_vec()).collect();
        let mut writer = RecordWriter::create(file, MAGIC)?;
        let head = Head { world: world.into(), rate: timing.rate, forms, contents };
        writer.write(&Record::Head(head))?;
        let (last, sync_at, failed) = (None, Time(0), false);
        Ok(Recorder {
            me,
            follower: Follower::new(me, timing),
            file: writer,
            last,
            sync_at,
            failed,
        })
    }

    pub(crate) fn id(&self) -> GatewayId {
        self.me
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

    fn write(&mut self, now: Time) {
        if self.failed {
            return;
        }
        if let Err(error) = self.try_write(now) {
            tracing::error!(%error, "cannot write the recording: it ends here");
            self.failed = true;
        }
    }

    fn try_write(&mut self, now: Time) -> Result<(), RecordError> {
        while let Some(commit) = self.follower.take() {
            if self.last.is_some_and(|last| last.next() == commit.tick) {
                self.last = Some(commit.tick);
                self.file.write(&Record::Tick(commit))?;
            }
        }
        // The first one, or one after a gap: what it has now is all of it.
        if let Some((tick, objects)) = self.follower.world()
            && self.last != Some(tick)
        {
            self.file.write(&Record::World(tick, objects.values().copied().collect()))?;
            self.last = Some(tick);
        }
        if now >= self.sync_at {
            self.sync_at = now + SYNC;
            self.file.sync()?;
        }
        Ok(())
    }
}

/// Why a recording cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A form.
    #[error("the recording has a shape that cannot be read: {0}")]
    Model(#[from] LoadModelError),
    /// A tick is another one than was recorded.
    #[error("the recording differs in tick {}: {what}", tick.0)]
    Different {
        /// Which.
        tick: Tick,
        /// In what.
        what: String,
    },
    /// It does not begin as recordings do, or something is missing.
    #[error("the recording {0}")]
    Incomplete(&'static str),
}

/// A recording that is played.
pub struct Replay {
    reader: RecordReader,
    world: String,
    rate: u32,
    shapes: Shapes,
    objects: Objects,
    tick: Option<Tick>,
    heard: Vec<(Source, u64)>,
    /// What the last step did; none if it was the world as recorded.
    commit: Option<Arc<Commit>>,
    detector: Detector,
}

/// What became of a step of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The world as it was recorded, at the beginning or after a gap.
    World(Tick),
    /// A tick that was computed again and is the same.
    Same(Tick, usize),
    /// A tick that is not, and in what.
    Different(Tick, String),
}

impl Replay {
    /// Opens a recording.
    ///
    /// # Errors
    /// If it is none, or its forms are damaged.
    pub fn open(file: &Path) -> Result<Replay, ReplayError> {
        let mut reader = RecordReader::open(file, MAGIC, "recording")?;
        let Some(Record::Head(head)) = reader.next()? else {
            return Err(ReplayError::Incomplete("has no beginning"));
        };
        let mut library = Library::awaiting(head.forms, Span(0));
        for bytes in head.contents {
            library.put(bytes);
        }
        let shapes = library.shapes()?.ok_or(ReplayError::Incomplete("lacks a form"))?;
        Ok(Replay {
            reader,
            world: head.world,
            rate: head.rate,
            detector: Detector::new(shapes.clone(), head.rate),
            shapes,
            objects: Objects::new(),
            tick: None,
            heard: Vec::new(),
            commit: None,
        })
    }

    /// The name of its world.
    #[must_use]
    pub fn world_name(&self) -> &str {
        &self.world
    }

    /// Ticks per second.
    #[must_use]
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// All forms.
    #[must_use]
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// The world after the last step.
    #[must_use]
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The last tick.
    #[must_use]
    pub fn tick(&self) -> Option<Tick> {
        self.tick
    }

    /// How much of what came from outside it had heard, as far as the recording says.
    #[must_use]
    pub fn heard(&self) -> &[(Source, u64)] {
        &self.heard
    }

    /// What happened in the last step; none if that was the world as it was recorded.
    pub(crate) fn commit(&self) -> Option<&Arc<Commit>> {
        self.commit.as_ref()
    }

    /// Computes the next tick and compares it; none at the end.
    ///
    /// # Errors
    /// If the recording is damaged here.
    pub fn step(&mut self) -> Result<Option<Step>, ReplayError> {
        self.next(true)
    }

    /// Goes to the end as recorded, without computing what touched.
    ///
    /// # Errors
    /// If the recording is damaged, or a digest is another one.
    pub fn to_end(&mut self) -> Result<(), ReplayError> {
        while let Some(step) = self.next(false)? {
            if let Step::Different(tick, what) = step {
                return Err(ReplayError::Different { tick, what });
            }
        }
        Ok(())
    }

    /// The next tick; with what touched computed again and compared, or as recorded.
    pub(crate) fn next(&mut self, compute: bool) -> Result<Option<Step>, ReplayError> {
        match self.reader.next()? {
            None => Ok(None),
            Some(Record::Head(_)) => Err(ReplayError::Incomplete("begins twice")),
            Some(Record::World(tick, objects)) => {
                self.objects = objects.into_iter().collect();
                self.tick = Some(tick);
                self.commit = None;
                Ok(Some(Step::World(tick)))
            }
            Some(Record::Tick(commit)) => {
                let last = self.tick.ok_or(ReplayError::Incomplete("has a tick of no world"))?;
                let step = self.play(last, &commit, compute);
                self.commit = Some(commit);
                Ok(Some(step))
            }
        }
    }

    fn play(&mut self, last: Tick, commit: &Commit, compute: bool) -> Step {
        let tick = commit.tick;
        if last.next() != tick {
            return Step::Different(tick, format!("it comes after tick {}", last.0));
        }
        advance(&mut self.objects, last, self.rate);
        self.tick = Some(tick);
        self.heard.clone_from(&commit.heard);
        let found = digest(self.objects.values());
        let touches = compute.then(|| self.detector.touches(self.objects.as_slice()));
        apply(&mut self.objects, commit, |_| true);
        if found != commit.digest {
            let what = format!("digest {found:016x} instead of {:016x}", commit.digest);
            return Step::Different(tick, what);
        }
        match touches {
            Some(touches) if touches != commit.touches => {
                let (found, recorded) = (touches.len(), commit.touches.len());
                let what = format!("{found} pairs touch, {recorded} were recorded");
                Step::Different(tick, what)
            }
            _ => Step::Same(tick, commit.touches.len()),
        }
    }
}
