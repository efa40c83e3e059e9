//! A recording in memory with random access: the commit of every tick, and the whole world every
//! few hundred ticks, from which later ticks are computed.

use super::snapshot::{NO_OTHER_GROUPS, WorldRef};
use crate::recording::{self, Ending, Replay, ReplayError, Step};
use jostle_proto::{Commit, ObjectId, Objects, Shapes, Tick, advance, apply};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Initial interval of whole worlds, in ticks.
const EVERY: usize = 256;

/// Whole worlds that are kept, at most; beyond that every second one is dropped.
const WORLDS_MAX: usize = 256;

/// So many ticks are recomputed rather than copying a whole world.
const NEARER: usize = 64;

/// A tick of a recording.
struct Moment {
    tick: Tick,
    /// Its commit; `None` where the recording has the whole world.
    commit: Option<Arc<Commit>>,
}

/// A recording in memory.
pub(super) struct LoadedRecording {
    pub(super) world: String,
    pub(super) rate: u32,
    pub(super) shapes: Shapes,
    moments: Vec<Moment>,
    /// By index of the moment. Worlds from the recording itself are all kept.
    worlds: BTreeMap<usize, Objects>,
    every: usize,
    /// Indices of ticks in which a contact begins.
    begins: Vec<usize>,
}

impl LoadedRecording {
    /// Reads a whole recording and verifies every digest.
    pub(super) fn read(file: &Path) -> Result<LoadedRecording, ReplayError> {
        let mut replay = recording::open(file)?;
        let mut recording = LoadedRecording {
            world: replay.world_name().into(),
            rate: replay.rate(),
            shapes: replay.shapes().clone(),
            moments: Vec::new(),
            worlds: BTreeMap::new(),
            every: EVERY,
            begins: Vec::new(),
        };
        while let Some(step) = replay.next(false)? {
            if let Step::Different(tick, what) = step {
                return Err(ReplayError::Different { tick, what });
            }
            recording.add(&replay)?;
        }
        if let Ending::Missing { at, .. } = replay.ending() {
            let file = file.display();
            tracing::warn!("{file}: no end mark: a part may be missing behind byte {at}");
        }
        match recording.moments.is_empty() {
            true => Err(ReplayError::Incomplete("has no world")),
            false => Ok(recording),
        }
    }

    fn add(&mut self, replay: &Replay) -> Result<(), ReplayError> {
        let tick = replay.tick().ok_or(ReplayError::Incomplete("has a tick of no world"))?;
        let at = self.moments.len();
        let commit = replay.commit().cloned();
        if self.moments.last().is_some_and(|last| last.tick >= tick) {
            return Err(ReplayError::Incomplete("goes back in time"));
        }
        let before = self.moments.last().and_then(|last| last.commit.as_ref());
        if let (Some(before), Some(commit)) = (before, &commit)
            && begins(before, commit)
        {
            self.begins.push(at);
        }
        if commit.is_none() || at.is_multiple_of(self.every) {
            self.worlds.insert(at, replay.objects().clone());
        }
        self.moments.push(Moment { tick, commit });
        if self.worlds.len() > WORLDS_MAX {
            self.every *= 2;
            let (every, moments) = (self.every, &self.moments);
            let recorded = |at: &usize| moments.get(*at).is_some_and(|it| it.commit.is_none());
            self.worlds.retain(|at, _| recorded(at) || at.is_multiple_of(every));
        }
        Ok(())
    }

    /// The number of ticks; at least one.
    pub(super) fn len(&self) -> usize {
        self.moments.len()
    }

    pub(super) fn tick(&self, at: usize) -> Tick {
        self.moments.get(at).map_or(Tick(0), |moment| moment.tick)
    }

    /// The index of a tick, or of the last one before it.
    pub(super) fn place(&self, tick: Tick) -> usize {
        self.moments.partition_point(|moment| moment.tick <= tick).saturating_sub(1)
    }

    /// Ticks in which a contact begins.
    pub(super) fn collisions(&self) -> Vec<u64> {
        self.begins.iter().map(|&at| self.tick(at).0).collect()
    }

    /// The index of the nth contact after, or before; `None` if there is none.
    pub(super) fn collision(&self, from: usize, by: i64) -> Option<usize> {
        let at = if by > 0 {
            let after = self.begins.partition_point(|&at| at <= from);
            after.checked_add(usize::try_from(by - 1).ok()?)?
        } else {
            let before = self.begins.partition_point(|&at| at < from);
            before.checked_sub(usize::try_from(by.unsigned_abs()).ok()?)?
        };
        self.begins.get(at).copied()
    }

    /// The world at its start.
    pub(super) fn first_world(&self) -> Option<&Objects> {
        self.worlds.values().next()
    }
}

/// Returns true if a pair touches that did not in the previous tick. Both lists are sorted.
fn begins(before: &Commit, commit: &Commit) -> bool {
    let pair = |touch: &jostle_proto::Touch| -> (ObjectId, ObjectId) { (touch.a, touch.b) };
    let mut before = before.touches.iter().map(pair).peekable();
    commit.touches.iter().map(pair).any(|touch| {
        while before.next_if(|old| *old < touch).is_some() {}
        before.peek() != Some(&touch)
    })
}

/// A position in a recording, with the world there.
pub(super) struct Position {
    at: usize,
    objects: Objects,
}

impl Position {
    /// At the start.
    pub(super) fn new(recording: &LoadedRecording) -> Position {
        Position { at: 0, objects: recording.first_world().cloned().unwrap_or_default() }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes to an index. Returns whether it went forward through every tick in between.
    pub(super) fn go(&mut self, recording: &LoadedRecording, to: usize) -> bool {
        let to = to.min(recording.len().saturating_sub(1));
        let kept = recording.worlds.range(..=to).next_back();
        // From a kept world, if that is much nearer than the current position.
        let on = to >= self.at && kept.is_none_or(|(at, _)| *at <= self.at.saturating_add(NEARER));
        if !on && let Some((at, objects)) = kept {
            (self.at, self.objects) = (*at, objects.clone());
        }
        while self.at < to {
            self.next(recording);
        }
        on
    }

    fn next(&mut self, recording: &LoadedRecording) {
        let from = recording.tick(self.at);
        self.at += 1;
        match recording.moments.get(self.at).and_then(|moment| moment.commit.as_ref()) {
            Some(commit) => {
                advance(&mut self.objects, from, recording.rate);
                apply(&mut self.objects, commit, |_| true);
            }
            None => self.objects = recording.worlds.get(&self.at).cloned().unwrap_or_default(),
        }
    }

    pub(super) fn now<'a>(&'a self, recording: &'a LoadedRecording) -> WorldRef<'a> {
        let moment = recording.moments.get(self.at);
        let commit = moment.and_then(|moment| moment.commit.as_deref());
        WorldRef {
            tick: recording.tick(self.at),
            dilation: commit.map_or(1000, |commit| commit.dilation),
            objects: &self.objects,
            touches: commit.map_or(&[], |commit| &commit.touches),
            view: None,
            others: &NO_OTHER_GROUPS,
        }
    }
}
