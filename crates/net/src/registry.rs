//! The name of a world, the key of its gateways, and the numbers assigned to nodes, in the store.
//! The world itself and the state of the directory are in `jostle-store`.

use crate::files::{disk, log};
use crate::manifest::NodeAssignment;
use jostle_store::{MirroredError, MirroredFile, MirroredKind, RecordError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const KIND: MirroredKind = MirroredKind { magic: *b"JOMEM\0\0\x02", name: "list of numbers" };

/// What is the same for all processes of a world, for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The world's name, and something that no other world of that name has.
    pub(crate) world: String,
    /// The gateways'.
    pub(crate) key: [u64; 2],
}

/// The next free numbers: none is ever assigned twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Numbers {
    pub(crate) identity: Identity,
    next_node: u32,
    next_follower: u32,
    /// The node of the process that gives them, if it has one.
    own: Option<u32>,
}

/// Assigns numbers to joining nodes.
pub(crate) struct NodeRegistry {
    numbers: Numbers,
    file: Option<MirroredFile>,
    /// Whether other processes assign numbers too.
    allocator: Allocator,
    /// Assignments by request: a repeated request gets the same one.
    places: BTreeMap<u64, NodeAssignment>,
}

/// Which processes assign numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allocator {
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

fn file(folder: &Path) -> PathBuf {
    folder.join("numbers")
}

impl Numbers {
    fn new(identity: Identity) -> Numbers {
        Numbers { identity, next_node: 0, next_follower: 0, own: None }
    }
}

impl NodeRegistry {
    /// Of a world that is new, or goes on from its folder.
    pub(crate) fn open(
        folder: Option<&Path>,
        identity: impl FnOnce() -> Identity,
    ) -> Result<NodeRegistry, MirroredError> {
        let Some(path) = folder.map(file) else {
            return Ok(NodeRegistry::of(Numbers::new(identity()), None));
        };
        let known = MirroredFile::open(&disk(), &path, KIND)?;
        log(known.notices);
        let numbers = known.value.unwrap_or_else(|| Numbers::new(identity()));
        Ok(NodeRegistry::of(numbers, Some(known.file)))
    }

    /// Of a world that is new, in the place of what is in its folder.
    pub(crate) fn anew(folder: &Path, identity: Identity) -> NodeRegistry {
        NodeRegistry::of(
            Numbers::new(identity),
            Some(MirroredFile::anew(&disk(), &file(folder), KIND)),
        )
    }

    fn of(numbers: Numbers, file: Option<MirroredFile>) -> NodeRegistry {
        NodeRegistry { numbers, file, allocator: Allocator::One, places: BTreeMap::new() }
    }

    /// One of several that give numbers.
    pub(crate) fn among(mut self, allocator: Allocator) -> NodeRegistry {
        self.allocator = allocator;
        // The node that the world began with has the first number.
        self.numbers.next_node = self.numbers.next_node.max(1);
        self
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.numbers.identity
    }

    /// The node that this process had when it ran last.
    pub(crate) fn own(&self) -> Option<u32> {
        self.numbers.own
    }

    /// The number of this process's own node, and the first of its followers'.
    pub(crate) fn number_own(&mut self, followers: u32) -> Result<(u32, u32), RecordError> {
        self.numbers.own = Some(self.numbers.next_node);
        self.number(followers)
    }

    /// A node, and the first of so many followers. On disk before it is announced.
    pub(crate) fn number(&mut self, followers: u32) -> Result<(u32, u32), RecordError> {
        let (node, follower) = (self.numbers.next_node, self.numbers.next_follower);
        self.numbers.next_node = node.saturating_add(1);
        self.numbers.next_follower = follower.saturating_add(followers);
        if let Some(file) = &mut self.file {
            file.save(&self.numbers)?;
        }
        Ok(match self.allocator {
            Allocator::One => (node, follower),
            Allocator::Replica(replica) => {
                let number = node.saturating_mul(REPLICAS_END).saturating_add(replica.into());
                (number, number.saturating_mul(FOLLOWERS_MAX))
            }
        })
    }

    /// The same for a caller with a name; the rest of its answer is always the same.
    pub(crate) fn admit(
        &mut self,
        name: u64,
        followers: u32,
        place: impl FnOnce(u32, u32) -> NodeAssignment,
    ) -> Result<NodeAssignment, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity { world: "test-1".into(), key: [1, 2] }
    }

    #[test]
    fn no_number_is_given_twice_after_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut first = NodeRegistry::open(Some(folder.path()), identity).expect("opened");
        assert_eq!(first.number(2).expect("given"), (0, 0));
        assert_eq!(first.number(1).expect("given"), (1, 2));
        let other = || Identity { world: "other".into(), key: [0; 2] };
        let mut again = NodeRegistry::open(Some(folder.path()), other).expect("opened");
        assert_eq!(again.identity(), &identity());
        assert_eq!(again.number(1).expect("given"), (2, 3));
    }

    #[test]
    fn replicas_give_different_numbers_and_none_of_the_first_node() {
        let mut given = std::collections::BTreeSet::from([0]);
        let mut followers = std::collections::BTreeSet::from_iter(0..FOLLOWERS_MAX);
        for replica in 0..REPLICAS_END {
            let registry = NodeRegistry::open(None, identity).expect("opened");
            let mut registry = registry.among(Allocator::Replica(replica as u16));
            for _ in 0..20 {
                let (node, follower) = registry.number(3).expect("given");
                assert!(given.insert(node));
                for number in 0..FOLLOWERS_MAX {
                    assert!(followers.insert(follower + number));
                }
            }
        }
    }

    #[test]
    fn a_second_request_gets_the_same_answer() {
        let mut registry = NodeRegistry::open(None, identity).expect("opened");
        let place = |node, follower| NodeAssignment {
            node,
            life: 1,
            follower,
            transport: Vec::new(),
            static_objects: jostle_proto::Content { sum: 0, length: 0 },
            key: [0; 2],
        };
        let first = registry.admit(7, 2, place).expect("admitted");
        assert_eq!(registry.admit(7, 2, place).expect("admitted"), first);
        assert_ne!(registry.admit(8, 2, place).expect("admitted").node, first.node);
    }
}
