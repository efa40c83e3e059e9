//! What one member sends another for a tick, as a delta to what it sent for the tick before.
//!
//! An object is written once, with the lists that it is in: one that was a ghost and is handed over
//! now, or that is a ghost and a copy for the backup, costs a few bits. A delta carries the digest
//! of what it starts from and half of the digest of its outcome, lists included: it is applied to
//! nothing else, and no receiver goes on with what the sender did not send (invariant S2).

use super::WireError;
use super::bits::{BitReader, BitWriter, Lengths, ORDER_BITS};
use super::columns::{COUNT_ORDER, read_objects, write_objects};
use super::states::{Snapshot, mix};
use crate::message::Bundle;
use crate::object::{NodeId, Object, ObjectId};
use crate::time::Tick;
use crate::view::Epoch;

/// The lists that an object can be in.
const TRANSFER: u8 = 1;
const GHOST: u8 = 2;
const BACKUP: u8 = 4;
const ENTRUSTED: u8 = 8;
const LISTS_BITS: u32 = 4;

/// Which lists an object is in, and whom it is entrusted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lists {
    bits: u8,
    owner: Option<NodeId>,
}

/// The content of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BundleContent {
    pub(super) epoch: Epoch,
    objects: Snapshot,
    /// As many as there are objects.
    lists: Vec<Lists>,
    digest: u64,
}

impl BundleContent {
    /// None for lists that nodes do not make: with ids that do not rise, or with two versions of
    /// an object.
    pub(super) fn of(bundle: &Bundle) -> Option<BundleContent> {
        let Bundle { transfers, ghosts, backup, entrusted, .. } = bundle;
        let rises = |list: &[Object]| list.is_sorted_by(|one, two| one.id < two.id);
        let entrusted_rise = entrusted.is_sorted_by(|one, two| one.1.id < two.1.id);
        if ![transfers, ghosts, backup].iter().all(|list| rises(list)) || !entrusted_rise {
            return None;
        }
        let count = transfers.len() + ghosts.len() + backup.len() + entrusted.len();
        let mut all: Vec<(Object, Lists)> = Vec::with_capacity(count);
        for (bits, list) in [(TRANSFER, transfers), (GHOST, ghosts), (BACKUP, backup)] {
            all.extend(list.iter().map(|object| (*object, Lists { bits, owner: None })));
        }
        all.extend(
            entrusted
                .iter()
                .map(|(owner, object)| (*object, Lists { bits: ENTRUSTED, owner: Some(*owner) })),
        );
        // Four lists in order: nearly as fast as merging them.
        all.sort_by_key(|(object, _)| object.id);
        let mut objects: Vec<Object> = Vec::with_capacity(count);
        let mut lists: Vec<Lists> = Vec::with_capacity(count);
        for (object, of) in all {
            match (objects.last(), lists.last_mut()) {
                (Some(last), Some(known)) if last.id == object.id => {
                    if *last != object {
                        return None;
                    }
                    known.bits |= of.bits;
                    known.owner = known.owner.or(of.owner);
                }
                _ => {
                    objects.push(object);
                    lists.push(of);
                }
            }
        }
        Some(BundleContent::new(bundle.epoch, Snapshot::of_rising(bundle.tick, objects), lists))
    }

    fn new(epoch: Epoch, objects: Snapshot, lists: Vec<Lists>) -> BundleContent {
        let word =
            |of: &Lists| u64::from(of.bits) | of.owner.map_or(0, |owner| u64::from(owner.0) << 8);
        let digest = lists.iter().map(word).fold(mix(objects.digest(), epoch.0), mix);
        BundleContent { epoch, objects, lists, digest }
    }

    pub(super) fn tick(&self) -> Tick {
        self.objects.tick()
    }

    /// Is this of the tick before, in the same view?
    pub(super) fn precedes(&self, next: &BundleContent) -> bool {
        self.epoch == next.epoch && self.tick().0.checked_add(1) == Some(next.tick().0)
    }

    /// The bundle again.
    pub(super) fn bundle(&self, from: NodeId, answer: bool) -> Bundle {
        let list = |bit: u8| -> Vec<Object> {
            let both = self.objects.objects().iter().zip(&self.lists);
            both.filter(|(_, lists)| lists.bits & bit != 0).map(|(object, _)| *object).collect()
        };
        let both = self.objects.objects().iter().zip(&self.lists);
        let entrusted = both.filter_map(|(object, lists)| Some((lists.owner?, *object))).collect();
        Bundle {
            epoch: self.epoch,
            tick: self.tick(),
            from,
            answer,
            transfers: list(TRANSFER),
            ghosts: list(GHOST),
            backup: list(BACKUP),
            entrusted,
        }
    }

    /// Appends all of it.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let mut bits = BitWriter::new(out);
        write_objects(&mut bits, self.objects.objects());
        self.write_lists(None, &mut bits);
        bits.finish();
    }

    /// What [`BundleContent::encode`] wrote.
    pub(super) fn decode(
        (epoch, tick): (Epoch, Tick),
        bytes: &[u8],
        most: usize,
    ) -> Result<BundleContent, WireError> {
        let mut bits = BitReader::new(bytes);
        let objects = Snapshot::of_rising(tick, read_objects(&mut bits, most)?);
        let lists = read_lists(&objects, None, &mut bits)?;
        bits.finish()?;
        Ok(BundleContent::new(epoch, objects, lists))
    }

    /// Appends what is different from what was sent before.
    pub(super) fn encode_since(&self, base: &BundleContent, rate: u32, out: &mut Vec<u8>) {
        let mut bits = BitWriter::new(out);
        bits.bits(base.digest, 64);
        bits.bits(self.digest & u64::from(u32::MAX), 32);
        self.objects.write_since(&base.objects, rate, &mut bits);
        self.write_lists(Some(base), &mut bits);
        bits.finish();
    }

    /// What [`BundleContent::encode_since`] wrote; with `blind`, which is a defect for checkers to
    /// find, whatever the base.
    pub(super) fn decode_since(
        base: &BundleContent,
        tick: Tick,
        bytes: &[u8],
        most: usize,
        blind: bool,
    ) -> Result<BundleContent, WireError> {
        let mut bits = BitReader::new(bytes);
        let found = bits.word()?;
        if found != base.digest && !blind {
            return Err(WireError::OtherBase { have: base.digest, found });
        }
        let outcome = bits.bits(32)?;
        let objects = Snapshot::read_since(&base.objects, tick, &mut bits, most)?;
        let lists = read_lists(&objects, Some(base), &mut bits)?;
        bits.finish()?;
        let content = BundleContent::new(base.epoch, objects, lists);
        if content.digest as u32 != outcome && !blind {
            return Err(WireError::Diverged);
        }
        Ok(content)
    }

    /// Which lists objects are in, where it is not as expected.
    fn write_lists(&self, base: Option<&BundleContent>, bits: &mut BitWriter) {
        let known = known(&self.objects, base);
        let mut counts = [0usize; 1 << LISTS_BITS];
        for (_, of) in known.iter().zip(&self.lists).filter(|(known, _)| known.is_none()) {
            counts[usize::from(of.bits)] += 1;
        }
        let common = (0..counts.len()).max_by_key(|&of| counts[of]).unwrap_or(0) as u8;
        bits.bits(u64::from(common), LISTS_BITS);
        let mut entries = Vec::new();
        let (mut gap, mut lengths) = (0u64, Lengths::new());
        for (known, of) in known.iter().zip(&self.lists) {
            if known.unwrap_or(common) == of.bits {
                gap += 1;
                continue;
            }
            lengths.count(gap);
            entries.push((gap, of.bits));
            gap = 0;
        }
        bits.number(entries.len() as u64, COUNT_ORDER);
        if !entries.is_empty() {
            let order = lengths.order();
            bits.bits(u64::from(order), ORDER_BITS);
            for (gap, of) in entries {
                bits.number(gap, order);
                bits.bits(u64::from(of), LISTS_BITS);
            }
        }
        for owner in self.lists.iter().filter_map(|of| of.owner) {
            bits.number(u64::from(owner.0), OWNER_ORDER);
        }
    }
}

/// Nodes have small numbers.
const OWNER_ORDER: u32 = 3;

/// For every object: the lists that it was in before, if it was there.
fn known(objects: &Snapshot, base: Option<&BundleContent>) -> Vec<Option<u8>> {
    let before = base.map_or(&[][..], |base| base.objects.objects());
    let lists = base.map_or(&[][..], |base| &base.lists);
    let mut before = before.iter().zip(lists).peekable();
    let mut find = |id: ObjectId| {
        while before.next_if(|(old, _)| old.id < id).is_some() {}
        before.next_if(|(old, _)| old.id == id).map(|(_, of)| of.bits)
    };
    objects.objects().iter().map(|object| find(object.id)).collect()
}

fn read_lists(
    objects: &Snapshot,
    base: Option<&BundleContent>,
    bits: &mut BitReader,
) -> Result<Vec<Lists>, WireError> {
    let common = bits.bits(LISTS_BITS)? as u8;
    let known = known(objects, base).into_iter();
    let mut lists: Vec<Lists> =
        known.map(|of| Lists { bits: of.unwrap_or(common), owner: None }).collect();
    let count = bits.at_most(COUNT_ORDER, lists.len() as u64)?;
    if count > 0 {
        let order = bits.bits(ORDER_BITS)?;
        let mut rest = lists.iter_mut();
        for _ in 0..count {
            let gap = bits.at_most(order, rest.len() as u64)?;
            let of = bits.bits(LISTS_BITS)? as u8;
            let behind = WireError::Malformed("an entry behind the last object");
            rest.nth(gap as usize).ok_or(behind)?.bits = of;
        }
    }
    for of in &mut lists {
        if of.bits == 0 {
            return Err(WireError::Malformed("an object in no list"));
        }
        if of.bits & ENTRUSTED != 0 {
            of.owner = Some(NodeId(bits.at_most(OWNER_ORDER, u64::from(u32::MAX))? as u32));
        }
    }
    Ok(lists)
}
