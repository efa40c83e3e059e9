//! The whole state of a world as bytes, and back; and its hash.
//!
//! A world that was loaded goes on like the one that was saved, to the bit. So everything that may
//! influence a later answer is inside: also the names of bodies that are gone, what is known of the
//! last step, and what the clock did to the limits of a budget. What the broad phase knows is not:
//! it is found again from the boxes, with the same pairs.
//!
//! * `record.rs`, `values.rs`: what is written of each thing, and how it is read back;
//! * `shared.rs`: shapes that bodies share;
//! * `write.rs`: what is written in which order;
//! * `read.rs`: bytes to records, with the place of what is wrong;
//! * `restore.rs`: records to a world, if they fit together.
//!
//! Each thing is taken apart and put together with all its fields named, so that a field that is
//! added later and forgotten here does not compile. `docs/world-file.md` has the format.

mod read;
mod record;
mod restore;
mod shared;
mod values;
mod write;

use crate::Workers;
use crate::report::Stopwatch;
use crate::world::World;
use jostle_geom::{Checksum, LoadModelError};
use thiserror::Error;

/// First bytes of a saved world. As in PNG, the first is not ASCII and the line ends are changed by
/// a transfer in text mode.
const MAGIC: [u8; 8] = *b"\x89JWD\r\n\x1a\n";

/// The only version there is.
const VERSION: u32 = 1;

const HEADER_BYTES: usize = 20;
const CHECKSUM_BYTES: usize = 8;

/// What a world needs to run and no file can have: as in [`Settings`](crate::Settings).
#[derive(Clone, Debug, Default)]
pub struct Runtime {
    /// The threads that share the exact tests.
    pub workers: Workers,
    /// Reads a clock.
    pub stopwatch: Option<Stopwatch>,
}

/// Why bytes are not a world.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LoadWorldError {
    /// The bytes do not begin like a saved world.
    #[error("not a saved world: it does not begin with the bytes {MAGIC:?}")]
    NotAWorld,
    /// Saved by a version that is not known here.
    #[error("the world has format version {found}, expected {VERSION}")]
    UnknownVersion {
        /// The version found.
        found: u32,
    },
    /// Cut short, or with something behind it.
    #[error("the world should have {expected} bytes, but there are {found}")]
    WrongLength {
        /// How many bytes there should be; at least, if the header itself is cut short.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// Bytes have changed since they were saved.
    #[error("the world is damaged: its checksum is {found:#018x}, expected {expected:#018x}")]
    Checksum {
        /// The checksum that is stored.
        expected: u64,
        /// The checksum of the bytes.
        found: u64,
    },
    /// Bytes that cannot be what should stand there.
    #[error("byte {at}: expected {what}")]
    Malformed {
        /// What should stand there.
        what: &'static str,
        /// Where it begins, in bytes from the start.
        at: u64,
    },
    /// A mesh that is none.
    #[error("shape {number}: {error}")]
    Model {
        /// Which of the shared shapes, counted from 0.
        number: usize,
        /// What is wrong with it.
        error: LoadModelError,
    },
    /// Something that can be read and that no world has.
    #[error("{what} {number}: {why}")]
    Refused {
        /// The kind of thing.
        what: &'static str,
        /// Which one, counted from 0; of bodies and groups, the slot.
        number: usize,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl World {
    /// The whole state as bytes, for [`World::load`]. The format is described in
    /// `docs/world-file.md`.
    ///
    /// Meshes that bodies share are written once. Not inside are threads and clock, how long the
    /// last step took, and callbacks (`Modules` of the feature `detector`).
    ///
    /// ```
    /// use jostle_geom::{Pose, Shape};
    /// use jostle_world::{Body, Runtime, Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let ball = world.insert(Body::moving(Shape::sphere(1.0)?, Pose::IDENTITY))?;
    /// world.step();
    /// let mut loaded = World::load(&world.save(), Runtime::default())?;
    /// assert!(loaded.has(ball));
    /// assert_eq!(loaded.step(), world.step());
    /// assert_eq!(loaded.hash(), world.hash());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 8]); // the length, when it is known
        let mut bytes = write::file(self, bytes);
        let length = (bytes.len() + CHECKSUM_BYTES) as u64;
        bytes[12..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
        bytes.extend(Checksum::of(&bytes).to_le_bytes());
        bytes
    }

    /// The world that [`World::save`] gave. It goes on like the one that was saved: the same
    /// contacts, events, names and counts, and the same bits, whatever the threads. Only how much
    /// work the broad phase does ([`Counts::box_tests`](crate::Counts::box_tests) and
    /// [`Counts::structure_updates`](crate::Counts::structure_updates)) may differ.
    ///
    /// # Errors
    /// Bytes that are no saved world, damaged or cut short. Bytes are not trusted: whatever they
    /// are, this does not panic, the memory that it asks for is bounded by their length (times the
    /// size of a body), and a world that is accepted is safe to use. That its contacts are those of
    /// its bodies is believed; they are compared when bodies move.
    pub fn load(bytes: &[u8], runtime: Runtime) -> Result<World, LoadWorldError> {
        check_frame(bytes)?;
        let content = &bytes[..bytes.len() - CHECKSUM_BYTES];
        restore::world(read::Reader::new(content, HEADER_BYTES), runtime)
    }

    /// A hash of the state: of all that [`World::save`] writes, but for the structure of the broad
    /// phase and how much it worked. Equal states have equal hashes on every machine, with any
    /// structure and any number of threads, whether meshes are shared or not.
    ///
    /// It looks at every body, for about a microsecond, and at a mesh only when it is new.
    #[must_use]
    pub fn hash(&self) -> u64 {
        write::hash(self)
    }
}

fn check_frame(bytes: &[u8]) -> Result<(), LoadWorldError> {
    let start = bytes.len().min(MAGIC.len());
    if bytes[..start] != MAGIC[..start] {
        return Err(LoadWorldError::NotAWorld);
    }
    let found = bytes.len() as u64;
    let least = (HEADER_BYTES + CHECKSUM_BYTES) as u64;
    let Some((header, _)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Err(LoadWorldError::WrongLength { expected: least, found });
    };
    let [_, _, _, _, _, _, _, _, a, b, c, d, length @ ..] = *header;
    let version = u32::from_le_bytes([a, b, c, d]);
    if version != VERSION {
        return Err(LoadWorldError::UnknownVersion { found: version });
    }
    let expected = u64::from_le_bytes(length);
    if found != expected || found < least {
        return Err(LoadWorldError::WrongLength { expected: expected.max(least), found });
    }
    let Some((content, stored)) = bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
        return Err(LoadWorldError::WrongLength { expected, found });
    };
    let (expected, found) = (u64::from_le_bytes(*stored), Checksum::of(content));
    if expected != found {
        return Err(LoadWorldError::Checksum { expected, found });
    }
    Ok(())
}
