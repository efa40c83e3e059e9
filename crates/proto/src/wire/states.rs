//! Lists of objects as they travel between machines: whole, or as what changed since a list that
//! the receiver is known to have.
//!
//! A delta first encodes which velocities and spins are others than before, and then lets the old
//! objects fly on with the new ones for the ticks between ([`State::moved`]), as nodes do: what a
//! tick has done to an object moves it in the next. What then is where the receiver expects it
//! costs nothing. A delta carries the digest of the list it starts from and half of the digest of
//! its outcome: it is never applied to another list, and no receiver goes on with an outcome that
//! the sender does not have (invariant S2).
//!
//! Measured, bytes for 1000 objects of which 700 move, in an ordinary tick and if all of them
//! accelerate all the time (worlds of `tests/wire_bytes.rs`): this 860 and 3144; without foresight
//! 6881 and 8251. (With the old velocities instead of the new ones it was 1457 and 6344, and
//! bitcode 0.6 over those columns 2936 and 13804, because one large number widens its whole
//! column.) bitcode's coding takes microseconds, this one's a hundred and more
//! (`examples/wire_speed.rs`).

use super::WireError;
use super::bits::{BitReader, BitWriter};
use super::columns::{
    read_motions, read_objects, read_places, read_rising, write_motions, write_objects,
    write_places, write_rising,
};
use super::predict::Forecast;
use crate::object::{Object, ObjectId};
use crate::state::{Rotation, State};
use crate::time::Tick;

/// Orders for ticks and rates, which are 0 or 1 and about 60.
const TICK_ORDER: u32 = 0;
const RATE_ORDER: u32 = 6;

/// Objects at the end of a tick, in the order of their ids, and their digest.
///
/// ```
/// use jostle_proto::wire::Snapshot;
/// use jostle_proto::{Class, Object, ObjectId, ShapeId, State, Tick};
///
/// let mut ball = Object {
///     id: ObjectId(7),
///     class: Class::Dynamic,
///     shape: ShapeId(0),
///     state: State { velocity: [256, 0, 0], ..State::default() },
/// };
/// let before = Snapshot::new(Tick(0), vec![ball])?;
/// ball.state = ball.state.moved(Tick(0), 60);
/// let after = Snapshot::new(Tick(1), vec![ball])?;
///
/// let mut bytes = Vec::new();
/// after.encode_since(&before, 60, &mut bytes);
/// assert_eq!(bytes.len(), 19);
/// assert_eq!(Snapshot::decode_since(&before, &bytes, 10)?, after);
/// # Ok::<(), jostle_proto::wire::WireError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    tick: Tick,
    objects: Vec<Object>,
    digest: u64,
}

impl Snapshot {
    /// Objects in any order at the end of a tick.
    ///
    /// # Errors
    /// [`WireError::Twice`] if two have the same id.
    pub fn new(tick: Tick, mut objects: Vec<Object>) -> Result<Snapshot, WireError> {
        for object in &mut objects {
            // Bits that a rotation does not have would not arrive.
            object.state.rotation = Rotation::from_bits(object.state.rotation.to_bits());
        }
        if !objects.is_sorted_by_key(|object| object.id) {
            objects.sort_unstable_by_key(|object| object.id);
        }
        if let Some(pair) = objects.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(WireError::Twice(pair[0].id));
        }
        Ok(Snapshot::of_rising(tick, objects))
    }

    /// When this was.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// All objects; ids rise.
    #[must_use]
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        let at = self.objects.binary_search_by_key(&id, |object| object.id).ok()?;
        self.objects.get(at)
    }

    /// The same for the same tick and objects on all machines; for others as good as never.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// The objects alone.
    #[must_use]
    pub fn into_objects(self) -> Vec<Object> {
        self.objects
    }

    /// Appends all of it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut bits = BitWriter::new(out);
        bits.bits(self.tick.0, 64);
        write_objects(&mut bits, &self.objects);
        bits.finish();
    }

    /// What [`Snapshot::encode`] wrote, if there are at most `most` objects.
    ///
    /// # Errors
    /// See [`WireError`]. Any bytes are safe; room is made for what the bytes can hold.
    pub fn decode(bytes: &[u8], most: usize) -> Result<Snapshot, WireError> {
        let mut bits = BitReader::new(bytes);
        let tick = Tick(bits.word()?);
        let objects = read_objects(&mut bits, most)?;
        bits.finish()?;
        Ok(Snapshot::of_rising(tick, objects))
    }

    /// Appends what is different from `base`, with `rate` ticks per second. The receiver must have
    /// said that it has `base`.
    pub fn encode_since(&self, base: &Snapshot, rate: u32, out: &mut Vec<u8>) {
        let mut bits = BitWriter::new(out);
        bits.bits(base.digest, 64);
        bits.bits(self.digest & u64::from(u32::MAX), 32);
        bits.number(self.tick.0.wrapping_sub(base.tick.0), TICK_ORDER);
        self.write_since(base, rate, &mut bits);
        bits.finish();
    }

    /// The objects as what is different from `base`; nothing in it says which base that is.
    pub(super) fn write_since(&self, base: &Snapshot, rate: u32, bits: &mut BitWriter) {
        bits.number(u64::from(rate), RATE_ORDER);
        let forecast = Forecast::new(base.tick, self.tick, rate);
        let (mut gone, mut fresh, mut stayed) = (Vec::new(), Vec::new(), Vec::new());
        let mut expected = Vec::with_capacity(base.objects.len());
        let mut rest = self.objects.iter().peekable();
        for (at, old) in base.objects.iter().enumerate() {
            while let Some(object) = rest.next_if(|object| object.id < old.id) {
                fresh.push(*object);
            }
            // What became something else under its id goes and comes.
            let same = rest.next_if(|object| {
                (object.id, object.class, object.shape) == (old.id, old.class, old.shape)
            });
            match same {
                Some(object) => {
                    let State { velocity, spin, .. } = object.state;
                    let known = State { velocity, spin, ..old.state };
                    expected.push(forecast.of(old.class, &known));
                    stayed.push((&old.state, &object.state));
                }
                None => gone.push(at as u64),
            }
        }
        fresh.extend(rest.copied());
        write_rising(bits, gone.iter().copied());
        write_objects(bits, &fresh);
        write_motions(bits, stayed.iter().copied());
        write_places(bits, expected.iter().zip(stayed.iter().map(|(_, state)| *state)));
    }

    /// What [`Snapshot::encode_since`] was called on, if the base is the same and there are at
    /// most `most` objects.
    ///
    /// # Errors
    /// See [`WireError`]. Any bytes are safe; room is made for the base and what the bytes can
    /// hold.
    pub fn decode_since(base: &Snapshot, bytes: &[u8], most: usize) -> Result<Snapshot, WireError> {
        let mut bits = BitReader::new(bytes);
        let found = bits.word()?;
        if found != base.digest {
            return Err(WireError::OtherBase { have: base.digest, found });
        }
        let outcome = bits.bits(32)?;
        let tick = Tick(base.tick.0.wrapping_add(bits.number(TICK_ORDER)?));
        let snapshot = Snapshot::read_since(base, tick, &mut bits, most)?;
        bits.finish()?;
        if snapshot.digest as u32 != outcome {
            return Err(WireError::Diverged);
        }
        Ok(snapshot)
    }

    /// What [`Snapshot::write_since`] wrote, if the base is the same: the caller must look.
    pub(super) fn read_since(
        base: &Snapshot,
        tick: Tick,
        bits: &mut BitReader,
        most: usize,
    ) -> Result<Snapshot, WireError> {
        let rate = bits.at_most(RATE_ORDER, u64::from(u32::MAX))? as u32;
        let forecast = Forecast::new(base.tick, tick, rate);
        let last = (base.objects.len() as u64).saturating_sub(1);
        let gone = read_rising(bits, base.objects.len(), last)?;
        let fresh = read_objects(bits, most)?;
        let count = base.objects.len() - gone.len() + fresh.len();
        if count > most {
            return Err(WireError::TooMany { count: count as u64, most: most as u64 });
        }
        let mut gone = gone.into_iter().peekable();
        let mut stays = |at: usize| gone.next_if_eq(&(at as u64)).is_none();
        let mut stayed = Vec::with_capacity(count - fresh.len());
        let mut states: Vec<State> = Vec::with_capacity(count - fresh.len());
        for (at, old) in base.objects.iter().enumerate() {
            if stays(at) {
                stayed.push(old);
                states.push(old.state);
            }
        }
        read_motions(bits, &mut states)?;
        for (state, old) in states.iter_mut().zip(&stayed) {
            *state = forecast.of(old.class, state);
        }
        read_places(bits, &mut states)?;
        let stayed = stayed.into_iter().zip(states);
        let objects = merge(stayed.map(|(old, state)| Object { state, ..*old }), fresh, count)?;
        Ok(Snapshot::of_rising(tick, objects))
    }

    /// Objects whose ids rise.
    pub(super) fn of_rising(tick: Tick, objects: Vec<Object>) -> Snapshot {
        let digest = digest(tick, &objects);
        Snapshot { tick, objects, digest }
    }
}

/// Two lists with rising ids into one.
fn merge(
    stayed: impl Iterator<Item = Object>,
    fresh: Vec<Object>,
    count: usize,
) -> Result<Vec<Object>, WireError> {
    let mut objects = Vec::with_capacity(count);
    let mut fresh = fresh.into_iter().peekable();
    for object in stayed {
        while let Some(new) = fresh.next_if(|new| new.id < object.id) {
            objects.push(new);
        }
        if fresh.peek().is_some_and(|new| new.id == object.id) {
            return Err(WireError::Twice(object.id));
        }
        objects.push(object);
    }
    objects.extend(fresh);
    Ok(objects)
}

/// A step of the digest. It can be undone, so that any change of a single word changes the
/// outcome. Word by word, because byte by byte (`Checksum`) takes longer than all the rest.
pub(super) fn mix(sum: u64, word: u64) -> u64 {
    // The factor of Knuth's multiplicative hash: 2^64 divided by the golden ratio, odd.
    let sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    sum ^ sum >> 32
}

fn digest(tick: Tick, objects: &[Object]) -> u64 {
    let half = |number: i32| u64::from(number as u32);
    let quarter = |number: i16| u64::from(number as u16);
    let mut sum = mix(mix(0, tick.0), objects.len() as u64);
    for Object { id, class, shape, state } in objects {
        let ([x, y, z], [vx, vy, vz], [sx, sy, sz]) = (state.position, state.velocity, state.spin);
        sum = mix(sum, id.0);
        let group = class.elsewhere().map_or(0, |group| u64::from(group.0) << 3);
        sum = mix(sum, (group | u64::from(class.number())) << 32 | u64::from(shape.0));
        sum = mix(sum, half(x) << 32 | half(y));
        sum = mix(sum, half(z) << 32 | quarter(vx) << 16 | quarter(vy));
        sum = mix(sum, quarter(vz) << 48 | quarter(sx) << 32 | quarter(sy) << 16 | quarter(sz));
        sum = mix(sum, state.rotation.to_bits());
    }
    sum
}
