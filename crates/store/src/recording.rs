//! Recordings: the world at a tick, then everything that came from outside with the digest of every
//! tick, then a mark at the end of the recording. A replay computes the same world again, and finds
//! the first tick that differs. The recorder of a process writes them.

use crate::disk::Disk;
use crate::records::{Magic, RecordError, RecordReader, RecordWriter};
use jostle_geom::LoadModelError;
use jostle_proto::{
    Commit, Detector, Form, Library, Mutant, Object, Objects, Shapes, Source, Span, Tick, advance,
    apply, digest,
};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

pub(crate) const MAGIC: Magic = *b"JOREC\0\0\x02";

/// What a recording begins with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    world: String,
    pub(crate) rate: u32,
    forms: Vec<Form>,
    /// The triangles of the forms, each once.
    contents: Vec<Vec<u8>>,
}

impl Head {
    pub(crate) fn new(world: &str, shapes: &Shapes, rate: u32) -> Head {
        let library = Library::of(shapes, Span(0));
        let forms = library.forms().to_vec();
        let mut named: Vec<_> = forms.iter().filter_map(|form| form.content).collect();
        named.sort_unstable();
        named.dedup();
        let contents = named.iter().filter_map(|content| library.get(*content));
        let contents = contents.map(|bytes| bytes.to_vec()).collect();
        Head { world: world.into(), rate, forms, contents }
    }
}

/// How far a group has come with its sources.
pub type Progress = Vec<(Source, u64)>;

#[derive(Debug, Serialize, Deserialize)]
enum Record {
    Head(Head),
    /// The world after a tick: at the beginning, and after a gap.
    World(Tick, Progress, Vec<Object>),
    Tick(Arc<Commit>),
    /// The recorder was stopped: nothing follows.
    End(Option<Tick>),
}

/// The same to write, without a copy of what is long.
#[derive(Serialize)]
enum RecordRef<'a> {
    Head(&'a Head),
    World(Tick, &'a [(Source, u64)], Vec<&'a Object>),
    Tick(&'a Commit),
    End(Option<Tick>),
}

/// Writes what recordings consist of.
impl RecordWriter {
    pub(crate) fn write_head(&mut self, head: &Head) -> Result<(), RecordError> {
        self.write(&RecordRef::Head(head))
    }

    pub(crate) fn write_world(
        &mut self,
        tick: Tick,
        heard: &[(Source, u64)],
        objects: &Objects,
    ) -> Result<(), RecordError> {
        self.write(&RecordRef::World(tick, heard, objects.values().collect()))
    }

    pub(crate) fn write_tick(&mut self, commit: &Commit) -> Result<(), RecordError> {
        self.write(&RecordRef::Tick(commit))
    }

    pub(crate) fn write_end(&mut self, tick: Option<Tick>) -> Result<(), RecordError> {
        self.write(&RecordRef::End(tick))
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
        /// The tick.
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
    ended: bool,
}

/// How a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the mark of a recorder that was stopped.
    Marked,
    /// Without: the recorder was killed, or a part of the file is missing. How many bytes of a
    /// record that was not written completely were left out, and where they begin.
    Missing {
        /// Bytes of the torn record; 0 if the file ends between two records.
        torn: u64,
        /// Where the whole records end.
        at: u64,
    },
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
    pub fn open(disk: &dyn Disk, file: &Path) -> Result<Replay, ReplayError> {
        Replay::open_with(disk, file, None)
    }

    /// The same with a mistake in it, to try the checkers.
    pub(crate) fn open_with(
        disk: &dyn Disk,
        file: &Path,
        mutant: Option<Mutant>,
    ) -> Result<Replay, ReplayError> {
        let reader = RecordReader::open(disk, file, MAGIC, "recording")?;
        let mut reader = reader.with_mutant(mutant);
        let Some(Record::Head(head)) = reader.next_record()? else {
            return Err(reader.damaged("the beginning of the recording is not complete").into());
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
            ended: false,
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
    #[must_use]
    pub fn commit(&self) -> Option<&Arc<Commit>> {
        self.commit.as_ref()
    }

    /// How it ends, once all of it was played.
    #[must_use]
    pub fn ending(&self) -> Ending {
        match self.ended {
            true => Ending::Marked,
            false => {
                let torn = self.reader.torn().unwrap_or(0);
                Ending::Missing { torn, at: self.reader.position() }
            }
        }
    }

    /// Bytes of what was played.
    pub(crate) fn position(&self) -> u64 {
        self.reader.position()
    }

    /// Computes the next tick and compares it; none at the end.
    ///
    /// # Errors
    /// If the recording is damaged here.
    pub fn step(&mut self) -> Result<Option<Step>, ReplayError> {
        self.next(true)
    }

    /// The next tick; with what touched computed again and compared, or as recorded.
    ///
    /// # Errors
    /// If the recording is damaged here.
    pub fn next(&mut self, compute: bool) -> Result<Option<Step>, ReplayError> {
        match self.reader.next_record()? {
            None => Ok(None),
            Some(_) if self.ended => Err(self.reader.damaged("it stands behind the end").into()),
            Some(Record::Head(_)) => Err(ReplayError::Incomplete("begins twice")),
            Some(Record::End(last)) if last == self.tick => {
                self.ended = true;
                // Nothing may follow but zeros.
                self.next(compute)
            }
            Some(Record::End(_)) => Err(ReplayError::Incomplete("ends with another tick")),
            Some(Record::World(tick, heard, objects)) => {
                self.objects = objects.into_iter().collect();
                self.tick = Some(tick);
                self.heard = heard;
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
