//! A recording in memory, to be looked at anywhere: every tick's commit, and the whole world every
//! few hundred ticks, from which the ticks after it are computed.

use super::scene::{NO_OTHERS, Now};
use crate::recording::{self, Ending, Replay, ReplayError, Step};
use jostle_proto::{Commit, ObjectId, Objects, Shapes, Tick, advance, apply};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Ticks from one whole world to the next, at first.
const EVERY: usize = 256;

/// Whole worlds that are kept, at most; with more, every second one is forgotten.
const WORLDS_MAX: usize = 256;

/// Ticks that are rather computed than that a whole world is copied.
const NEARER: usize = 64;

/// A tick of a recording.
struct Moment {
    tick: Tick,
    /// What happened in it; none where the recording has the world itself.
    commit: Option<Arc<Commit>>,
}

/// A recording.
pub(super) struct Film {
    pub(super) world: String,
    pub(super) rate: u32,
    pub(super) shapes: Shapes,
    moments: Vec<Moment>,
    /// By place among the moments. Those at which the recording has the world are all there.
    worlds: BTreeMap<usize, Objects>,
    every: usize,
    /// The places of ticks in which a contact begins.
    begins: Vec<usize>,
}

impl Film {
    /// Reads all of a recording and checks every digest.
    pub(super) fn read(file: &Path) -> Result<Film, ReplayError> {
        let mut replay = recording::open(file)?;
        let mut film = Film {
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
            film.add(&replay)?;
        }
        if let Ending::Missing { at, .. } = replay.ending() {
            let file = file.display();
            tracing::warn!("{file}: no end mark: a part may be missing behind byte {at}");
        }
        match film.moments.is_empty() {
            true => Err(ReplayError::Incomplete("has no world")),
            false => Ok(film),
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

    /// How many ticks it has; at least one.
    pub(super) fn len(&self) -> usize {
        self.moments.len()
    }

    pub(super) fn tick(&self, at: usize) -> Tick {
        self.moments.get(at).map_or(Tick(0), |moment| moment.tick)
    }

    /// The place of a tick, or of the last one before it.
    pub(super) fn place(&self, tick: Tick) -> usize {
        self.moments.partition_point(|moment| moment.tick <= tick).saturating_sub(1)
    }

    /// The ticks in which a contact begins.
    pub(super) fn collisions(&self) -> Vec<u64> {
        self.begins.iter().map(|&at| self.tick(at).0).collect()
    }

    /// So many contacts on, or back; none if there are not so many.
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

    /// The world that it begins with.
    pub(super) fn first_world(&self) -> Option<&Objects> {
        self.worlds.values().next()
    }
}

/// Does a pair touch that did not touch in the tick before? Both lists are sorted.
fn begins(before: &Commit, commit: &Commit) -> bool {
    let pair = |touch: &jostle_proto::Touch| -> (ObjectId, ObjectId) { (touch.a, touch.b) };
    let mut before = before.touches.iter().map(pair).peekable();
    commit.touches.iter().map(pair).any(|touch| {
        while before.next_if(|old| *old < touch).is_some() {}
        before.peek() != Some(&touch)
    })
}

/// A place in a recording, and the world there.
pub(super) struct Position {
    at: usize,
    objects: Objects,
}

impl Position {
    /// At the beginning.
    pub(super) fn new(film: &Film) -> Position {
        Position { at: 0, objects: film.first_world().cloned().unwrap_or_default() }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes to a place. Says whether it went straight on: then every tick in between was passed.
    pub(super) fn go(&mut self, film: &Film, to: usize) -> bool {
        let to = to.min(film.len().saturating_sub(1));
        let kept = film.worlds.range(..=to).next_back();
        // From a world that is kept, if that is much nearer than where it is now.
        let on = to >= self.at && kept.is_none_or(|(at, _)| *at <= self.at.saturating_add(NEARER));
        if !on && let Some((at, objects)) = kept {
            (self.at, self.objects) = (*at, objects.clone());
        }
        while self.at < to {
            self.next(film);
        }
        on
    }

    fn next(&mut self, film: &Film) {
        let from = film.tick(self.at);
        self.at += 1;
        match film.moments.get(self.at).and_then(|moment| moment.commit.as_ref()) {
            Some(commit) => {
                advance(&mut self.objects, from, film.rate);
                apply(&mut self.objects, commit, |_| true);
            }
            None => self.objects = film.worlds.get(&self.at).cloned().unwrap_or_default(),
        }
    }

    pub(super) fn now<'a>(&'a self, film: &'a Film) -> Now<'a> {
        let moment = film.moments.get(self.at);
        let commit = moment.and_then(|moment| moment.commit.as_deref());
        Now {
            tick: film.tick(self.at),
            dilation: commit.map_or(1000, |commit| commit.dilation),
            objects: &self.objects,
            touches: commit.map_or(&[], |commit| &commit.touches),
            view: None,
            others: &NO_OTHERS,
        }
    }
}
