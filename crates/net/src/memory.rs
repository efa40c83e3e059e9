//! The folder in which a world survives its processes: its name and key, who has had which number,
//! what the directory must not forget, and the world itself as a recording.

use crate::charter::Place;
use crate::recording::{Replay, ReplayError};
use crate::records::{RecordError, RecordReader, replace};
use jostle_proto::{Objects, Shapes, Source, Tick};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const MAGIC: [u8; 8] = *b"JOMEM\0\0\x01";

/// What is the same for all processes of a world, for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The world's name, and something that no other world of that name has.
    pub(crate) world: String,
    /// The gateways'.
    pub(crate) key: [u64; 2],
}

/// Who has had which number: none is ever given twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Numbers {
    pub(crate) identity: Identity,
    next_node: u32,
    next_follower: u32,
}

/// Gives numbers to those who come.
pub(crate) struct Reception {
    numbers: Numbers,
    file: Option<PathBuf>,
    /// Who else gives numbers.
    givers: Givers,
    /// Who asks again is told the same again.
    places: BTreeMap<u64, Place>,
}

/// Who gives numbers to newcomers of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Givers {
    /// Only this process.
    One,
    /// All replicas of the directory; this is the one of that number. Each gives numbers that no
    /// other one gives, so they need not ask each other.
    Replica(u16),
}

/// Replicas have numbers below this.
pub(crate) const REPLICAS_END: u32 = 64;

/// Followers of one newcomer, at most.
const FOLLOWERS_MAX: u32 = 16;

/// Who came lately and may ask again.
const PLACES_MAX: usize = 1024;

impl Reception {
    /// Of a world that is new, or goes on from its folder.
    pub(crate) fn open(
        folder: Option<&Path>,
        identity: impl FnOnce() -> Identity,
    ) -> Result<Reception, RecordError> {
        let file = folder.map(|folder| folder.join("numbers"));
        let known = match file.as_deref().filter(|file| file.exists()) {
            Some(file) => RecordReader::open(file, MAGIC, "list of numbers")?.next()?,
            None => None,
        };
        let fresh = || Numbers { identity: identity(), next_node: 0, next_follower: 0 };
        let numbers = known.unwrap_or_else(fresh);
        Ok(Reception { numbers, file, givers: Givers::One, places: BTreeMap::new() })
    }

    /// One of several that give numbers.
    pub(crate) fn among(mut self, givers: Givers) -> Reception {
        self.givers = givers;
        // The node that the world began with has the first number.
        self.numbers.next_node = self.numbers.next_node.max(1);
        self
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.numbers.identity
    }

    /// A node, and the first of so many followers. On disk before anybody is told.
    pub(crate) fn number(&mut self, followers: u32) -> Result<(u32, u32), RecordError> {
        let (node, follower) = (self.numbers.next_node, self.numbers.next_follower);
        self.numbers.next_node = node.saturating_add(1);
        self.numbers.next_follower = follower.saturating_add(followers);
        if let Some(file) = &self.file {
            replace(file, MAGIC, &self.numbers)?;
        }
        Ok(match self.givers {
            Givers::One => (node, follower),
            Givers::Replica(replica) => {
                let number = node.saturating_mul(REPLICAS_END).saturating_add(replica.into());
                (number, number.saturating_mul(FOLLOWERS_MAX))
            }
        })
    }

    /// The same for who has a name; what it is told besides is always the same.
    pub(crate) fn admit(
        &mut self,
        name: u64,
        followers: u32,
        place: impl FnOnce(u32, u32) -> Place,
    ) -> Result<Place, String> {
        if let Some(place) = self.places.get(&name) {
            return Ok(place.clone());
        }
        let numbers = self.number(followers.min(FOLLOWERS_MAX));
        let (node, follower) =
            numbers.map_err(|error| format!("no number can be given: {error}"))?;
        let place = place(node, follower);
        if self.places.len() >= PLACES_MAX {
            self.places.pop_first();
        }
        self.places.insert(name, place.clone());
        Ok(place)
    }
}

/// A world as it was stored.
pub(crate) struct Stored {
    pub(crate) tick: Tick,
    pub(crate) heard: Vec<(Source, u64)>,
    pub(crate) rate: u32,
    pub(crate) objects: Objects,
    pub(crate) shapes: Shapes,
}

/// The recordings in a folder, oldest first, with their numbers.
fn journals(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| {
        let name = entry.file_name();
        let number = name.to_str()?.strip_prefix("world-")?.strip_suffix(".rec")?.parse().ok()?;
        Some((number, entry.path()))
    });
    let mut found: Vec<(u64, PathBuf)> = numbered.collect();
    found.sort_unstable();
    found
}

/// The newest world in a folder, and where the next recording goes. Older recordings are removed.
pub(crate) fn newest(folder: &Path) -> Result<(Option<Stored>, PathBuf), ReplayError> {
    let found = journals(folder);
    let next = found.last().map_or(0, |(number, _)| number + 1);
    let next = folder.join(format!("world-{next}.rec"));
    for (at, (_, path)) in found.iter().enumerate().rev() {
        let mut replay = Replay::open(path)?;
        replay.to_end()?;
        // One that was killed before it had the world has nothing.
        let Some(tick) = replay.tick() else { continue };
        for (_, old) in &found[..at] {
            // If it stays, it only takes room.
            let _stays = std::fs::remove_file(old);
        }
        let (rate, shapes) = (replay.rate(), replay.shapes().clone());
        let heard = replay.heard().to_vec();
        let stored = Stored { tick, heard, rate, objects: replay.objects().clone(), shapes };
        return Ok((Some(stored), next));
    }
    Ok((None, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity { world: "test-1".into(), key: [1, 2] }
    }

    #[test]
    fn no_number_is_given_twice_after_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut first = Reception::open(Some(folder.path()), identity).expect("opened");
        assert_eq!(first.number(2).expect("given"), (0, 0));
        assert_eq!(first.number(1).expect("given"), (1, 2));
        let other = || Identity { world: "other".into(), key: [0; 2] };
        let mut again = Reception::open(Some(folder.path()), other).expect("opened");
        assert_eq!(again.identity(), &identity());
        assert_eq!(again.number(1).expect("given"), (2, 3));
    }

    #[test]
    fn replicas_give_different_numbers_and_none_of_the_first_node() {
        let mut given = std::collections::BTreeSet::from([0]);
        let mut followers = std::collections::BTreeSet::from_iter(0..FOLLOWERS_MAX);
        for replica in 0..REPLICAS_END {
            let reception = Reception::open(None, identity).expect("opened");
            let mut reception = reception.among(Givers::Replica(replica as u16));
            for _ in 0..20 {
                let (node, follower) = reception.number(3).expect("given");
                assert!(given.insert(node));
                for number in 0..FOLLOWERS_MAX {
                    assert!(followers.insert(follower + number));
                }
            }
        }
    }

    #[test]
    fn who_asks_twice_is_told_the_same() {
        let mut reception = Reception::open(None, identity).expect("opened");
        let place = |node, follower| Place {
            node,
            life: 1,
            follower,
            plane: Vec::new(),
            scenery: jostle_proto::Content { sum: 0, length: 0 },
            key: [0; 2],
        };
        let first = reception.admit(7, 2, place).expect("admitted");
        assert_eq!(reception.admit(7, 2, place).expect("admitted"), first);
        assert_ne!(reception.admit(8, 2, place).expect("admitted").node, first.node);
    }
}
