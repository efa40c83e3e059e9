//! Damage at rest: what is on the disk of the serving process changes while that one is down.

use super::super::Cluster;
use super::{Serving, start::FOLDER};
use crate::checkers::{Harm, Harmed};
use crate::dice::Dice;
use jostle_store::{Disk, MemoryDisk, Store, StoreSettings, copy};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes before the first record of a file, and of the head of each record.
const MAGIC: usize = 8;
const HEAD: usize = 16;

/// The two slots of the file that says how far the world is on the disk.
const SLOTS: [std::ops::Range<usize>; 2] = [0..44, 4096..4140];

/// Each as often as it stands here.
const HARMS: [Harm; 9] = [
    Harm::Copy,
    Harm::Slot,
    Harm::Older,
    Harm::Newest,
    Harm::Newest,
    Harm::NewestEnd,
    Harm::Length,
    Harm::AllWorlds,
    Harm::BothCopies,
];

/// What was damaged, and how it was before.
pub(super) struct Damage {
    pub(super) harmed: Harmed,
    whole: Vec<(PathBuf, Vec<u8>)>,
}

impl Damage {
    /// The operator puts copies of the files there.
    pub(super) fn undo(&self, disk: &MemoryDisk) {
        self.whole.iter().for_each(|(path, bytes)| disk.put(path, bytes));
    }
}

pub(super) fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// The files of the world, oldest first.
fn generations(disk: &MemoryDisk) -> Vec<(u64, PathBuf)> {
    let number = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix("world-")?.strip_suffix(".rec")?.parse().ok()
    };
    let paths = disk.paths().into_iter();
    let mut found: Vec<_> = paths.filter_map(|path| Some((number(&path)?, path))).collect();
    found.sort_unstable();
    found
}

fn flip(bytes: &mut [u8], bit: usize) {
    if let Some(byte) = bytes.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
}

/// Where the records of a file begin, as far as their lengths say.
fn heads(bytes: &[u8]) -> Vec<usize> {
    let (mut at, mut heads) = (MAGIC, Vec::new());
    while let Some(length) = bytes.get(at..at + 4) {
        heads.push(at);
        let length: [u8; 4] = length.try_into().unwrap_or_default();
        at += HEAD + u32::from_le_bytes(length) as usize + 1;
    }
    heads
}

/// The last tick of a store that has these files.
fn last_tick(disk: &MemoryDisk) -> Option<u64> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let found = Store::open(&disk, Path::new(FOLDER), StoreSettings::default()).ok()?;
    found.stored.map(|stored| stored.tick.0)
}

/// A damaged file: a bit, or its end.
fn damaged(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if dice.coin() {
        let bit = dice.below(bytes.len() as u64 * 8);
        flip(&mut bytes, bit as usize);
    } else {
        bytes.truncate(dice.below(bytes.len() as u64) as usize);
    }
    bytes
}

impl Serving {
    fn draw_damage(&mut self) -> Option<Damage> {
        let worlds = generations(&self.disk);
        let newest = worlds.last()?.1.clone();
        let older =
            worlds.len().checked_sub(2).and_then(|at| worlds.get(at)).map(|it| it.1.clone());
        let (directory, mark) = (path("directory"), path("stored"));
        let harm = HARMS[self.dice.below(HARMS.len() as u64) as usize];
        let paths = match harm {
            Harm::Copy if self.dice.coin() => vec![directory.clone()],
            Harm::Copy => vec![copy(&directory)],
            Harm::BothCopies => vec![directory.clone(), copy(&directory)],
            Harm::Slot => vec![mark],
            Harm::Older => vec![older.clone()?],
            Harm::Newest | Harm::NewestEnd => vec![newest.clone()],
            Harm::Length => vec![newest.clone(), mark],
            Harm::AllWorlds => worlds.iter().map(|(_, path)| path.clone()).collect(),
        };
        let content = |path: &PathBuf| Some((path.clone(), self.disk.content(path)?));
        let whole: Vec<_> = paths.iter().filter_map(content).collect();
        let both = self.disk.content(&copy(&directory)).is_some();
        if whole.len() != paths.len() || harm == Harm::Copy && !both {
            return None;
        }
        let newest_tick = last_tick(&self.disk);
        let without = self.disk.copied();
        without.take(&newest);
        let older_tick = last_tick(&without);
        for (path, bytes) in &whole {
            let dice = &mut self.dice;
            let mut bytes = bytes.clone();
            match harm {
                Harm::Slot => {
                    let slot = SLOTS[dice.below(2) as usize].clone();
                    flip(&mut bytes, slot.start * 8 + dice.below(slot.len() as u64 * 8) as usize);
                }
                Harm::Newest => {
                    // In the world that it begins with, or anywhere.
                    let world = heads(&bytes).get(2).copied().unwrap_or(bytes.len());
                    let end = if dice.coin() { world.min(bytes.len()) } else { bytes.len() };
                    let bit = dice.below(end as u64 * 8);
                    flip(&mut bytes, bit as usize);
                }
                Harm::NewestEnd => {
                    bytes.truncate(dice.below(bytes.len() as u64) as usize);
                }
                Harm::Length if *path == newest => {
                    let heads = heads(&bytes);
                    let head = heads[dice.below(heads.len() as u64) as usize];
                    flip(&mut bytes, head * 8 + 22 + dice.below(8) as usize);
                }
                Harm::Length => bytes.clear(),
                Harm::AllWorlds => flip(&mut bytes, dice.below(MAGIC as u64 * 8) as usize),
                Harm::Copy | Harm::Older | Harm::BothCopies => bytes = damaged(&bytes, dice),
            }
            self.disk.put(path, bytes);
        }
        let files = paths.iter().map(|path| path.display().to_string()).collect();
        let harmed = Harmed { harm, files, newest: newest_tick, older: older_tick };
        Some(Damage { harmed, whole })
    }
}

impl Cluster {
    /// Something becomes of the files.
    pub(super) fn damage_store(&mut self) {
        let Some(serving) = &mut self.serving else { return };
        // P4: whenever the newest file is damaged there is another one.
        let files = generations(&serving.disk);
        if files.len() == 1 && files.iter().any(|(number, _)| *number > 0) {
            let what = format!("the store has one file only: {files:?}");
            self.checkers.note(self.now, vec![("P4", what)]);
        }
        let Some(serving) = &mut self.serving else { return };
        serving.damage = None;
        if serving.damages && serving.dice.coin() {
            serving.damage = serving.draw_damage();
        }
        if let Some(damage) = &serving.damage {
            self.checkers.stored_counts().damaged(damage.harmed.harm);
        }
    }
}
