//! R1: an object that the receiver was sent in the tick before costs a few bytes, unless another
//! group has corrected it since.
//!
//! S2 and R2 are checked where frames arrive (`cluster::wire`): only there both what was sent and
//! what came out are known.

use jostle_proto::{
    Address, Bundle, Class, Commit, Epoch, Input, Message, ObjectId, ShapeId, Tick,
};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes for an object that was sent before, for one that was not, for one that was and is not sent
/// any more, and for the bundle itself.
const KNOWN_BYTES: usize = 8;
const FRESH_BYTES: usize = 40;
const GONE_BYTES: usize = 2;
const BUNDLE_BYTES: usize = 64;

type Kinds = BTreeMap<ObjectId, (Class, ShapeId)>;

/// What was sent last on every link.
#[derive(Default)]
pub(super) struct Frames {
    bundles: BTreeMap<(Address, Address), (Epoch, Tick, Kinds)>,
    /// Copies of other groups' objects that are not where they would have gone, in the newest tick
    /// of each view.
    corrected: BTreeMap<Epoch, (Tick, BTreeSet<ObjectId>)>,
}

impl Frames {
    pub(super) fn packed(
        &mut self,
        link: (Address, Address),
        message: &Message,
        bytes: usize,
        violations: &mut Vec<(&'static str, String)>,
    ) {
        if let Message::Commit(commit) = message {
            self.committed(commit);
        }
        let Message::Bundle(bundle) = message else { return };
        let now = kinds(bundle);
        let before = self.bundles.get(&link);
        // Of repeated bundles only the first counts: a receiver that lacks the base is sent more.
        if before.is_some_and(|(epoch, tick, _)| (bundle.epoch, bundle.tick) <= (*epoch, *tick)) {
            return;
        }
        if let Some((epoch, tick, old)) = before
            && *epoch == bundle.epoch
            && tick.next() == bundle.tick
            && is_ordinary(bundle)
        {
            let corrected = self.corrected.get(&bundle.epoch).filter(|it| it.0 == bundle.tick);
            let goes_on = |id: &ObjectId| corrected.is_none_or(|(_, ids)| !ids.contains(id));
            let same = now.iter().filter(|(id, kind)| old.get(id) == Some(kind));
            let known = same.filter(|(id, _)| goes_on(id)).count();
            let each = known * KNOWN_BYTES + (now.len() - known) * FRESH_BYTES;
            let most = BUNDLE_BYTES + each + (old.len() - known) * GONE_BYTES;
            if bytes > most {
                let what = format!("{bytes} bytes for {known} known of {} objects", now.len());
                violations.push(("R1", format!("tick {}: {what}", bundle.tick.0)));
            }
        }
        self.bundles.insert(link, (bundle.epoch, bundle.tick, now));
    }

    fn committed(&mut self, commit: &Commit) {
        let corrected = commit.inputs.iter().filter_map(|input| match input {
            Input::Correct(id, ..) => Some(*id),
            _ => None,
        });
        self.corrected.insert(commit.epoch, (commit.tick.next(), corrected.collect()));
    }
}

fn kinds(bundle: &Bundle) -> Kinds {
    let copies = bundle.entrusted.iter().map(|(_, object)| object);
    let all = bundle.transfers.iter().chain(&bundle.ghosts).chain(&bundle.backup).chain(copies);
    all.map(|object| (object.id, (object.class, object.shape))).collect()
}

/// Only defective nodes send two versions of an object.
fn is_ordinary(bundle: &Bundle) -> bool {
    let whole: BTreeSet<_> = bundle.backup.iter().map(|object| object.id).collect();
    let both = bundle.ghosts.iter().filter(|object| whole.contains(&object.id));
    both.into_iter().all(|object| bundle.backup.contains(object))
}
