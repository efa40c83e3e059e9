//! P1 to P4: what was reported as stored is there after any stop; the restored world is the one of
//! a published tick; there is one of it; and damage is reported.

use super::Checkers;
use super::one_machine::OneMachine;
use super::one_owner::OneOwner;
use super::pace::Pace;
use jostle_proto::{
    Address, Commit, Epoch, GroupId, Message, NodeId, Object, Objects, Tick, Time, advance, apply,
};
use jostle_store::{DiskFault, Notice, Severity, StoreError, Stored as StoredWorld, StoredFound};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A leader of the world before may publish so many ticks for which all members had sent by then.
const LATE_TICKS: u64 = 2;

/// What was damaged while the serving process was down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harm {
    /// One copy of the directory's memory.
    Copy,
    /// One of two slots that say how far the world is on the disk.
    Slot,
    /// The older file of the world.
    Older,
    /// A bit of the newest file.
    Newest,
    /// The end of the newest file is cut off.
    NewestEnd,
    /// The length of a record of the newest file, and both slots are gone.
    Length,
    /// The first bytes of all files of the world.
    AllWorlds,
    /// Both copies of the directory's memory.
    BothCopies,
}

/// Which files were damaged, and what a start must make of it.
#[derive(Clone, Debug)]
pub(crate) struct Harmed {
    pub(crate) harm: Harm,
    pub(crate) files: Vec<String>,
    /// The last tick that could be read before.
    pub(crate) newest: Option<u64>,
    /// The same without the newest file.
    pub(crate) older: Option<u64>,
}

/// How often what is rare happened to stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreCounts {
    /// All machines died at once.
    pub power_cuts: u64,
    /// All processes were stopped in order.
    pub clean_stops: u64,
    /// The serving process started with what was stored.
    pub starts: u64,
    /// The world was restored.
    pub restored: u64,
    /// A node that was in the world before was reset after that.
    pub slow_reset: u64,
    /// A disk was full.
    pub full: u64,
    /// Writes failed.
    pub write_errors: u64,
    /// Syncs failed.
    pub sync_errors: u64,
    /// A machine died during an operation of its disk.
    pub deaths_in_a_write: u64,
    /// What was being written when a machine died was left out.
    pub torn: u64,
    /// Something was damaged, and everything could be read.
    pub harmless: u64,
    /// More was damaged.
    pub harmful: u64,
    /// An older file was used.
    pub older_used: u64,
    /// The second copy of a small file was used.
    pub copies_used: u64,
    /// A start was refused.
    pub refused: u64,
    /// The process was started again because the world was lost.
    pub operated: u64,
}

impl StoreCounts {
    pub(crate) fn outage(&mut self, power: bool) {
        let count = if power { &mut self.power_cuts } else { &mut self.clean_stops };
        *count += 1;
    }

    pub(crate) fn fault(&mut self, fault: DiskFault) {
        let count = match fault {
            DiskFault::Full { .. } => &mut self.full,
            DiskFault::Write => &mut self.write_errors,
            DiskFault::Sync => &mut self.sync_errors,
        };
        *count += 1;
    }

    pub(crate) fn damaged(&mut self, harm: Harm) {
        let harmless = matches!(harm, Harm::Copy | Harm::Slot | Harm::Older);
        let count = if harmless { &mut self.harmless } else { &mut self.harmful };
        *count += 1;
    }

    pub(super) fn named(&self) -> [(&'static str, u64); 16] {
        [
            ("power cuts", self.power_cuts),
            ("clean stops", self.clean_stops),
            ("starts with a store", self.starts),
            ("worlds restored", self.restored),
            ("slow nodes reset", self.slow_reset),
            ("store disk full", self.full),
            ("store write errors", self.write_errors),
            ("store sync errors", self.sync_errors),
            ("deaths in a write", self.deaths_in_a_write),
            ("store ends torn", self.torn),
            ("store damage borne", self.harmless),
            ("store damage beyond", self.harmful),
            ("older files used", self.older_used),
            ("second copies used", self.copies_used),
            ("starts refused", self.refused),
            ("restarts of a lost world", self.operated),
        ]
    }

    pub(super) fn plus(self, other: StoreCounts) -> StoreCounts {
        StoreCounts {
            power_cuts: self.power_cuts + other.power_cuts,
            clean_stops: self.clean_stops + other.clean_stops,
            starts: self.starts + other.starts,
            restored: self.restored + other.restored,
            slow_reset: self.slow_reset + other.slow_reset,
            full: self.full + other.full,
            write_errors: self.write_errors + other.write_errors,
            sync_errors: self.sync_errors + other.sync_errors,
            deaths_in_a_write: self.deaths_in_a_write + other.deaths_in_a_write,
            torn: self.torn + other.torn,
            harmless: self.harmless + other.harmless,
            harmful: self.harmful + other.harmful,
            older_used: self.older_used + other.older_used,
            copies_used: self.copies_used + other.copies_used,
            refused: self.refused + other.refused,
            operated: self.operated + other.operated,
        }
    }
}

type Violations = Vec<(&'static str, String)>;

/// What is known of a store from outside.
#[derive(Default)]
pub(super) struct Stored {
    /// The last tick that was reported as stored.
    reported: Option<u64>,
    /// The world after each published tick, of the present incarnation.
    worlds: BTreeMap<u64, Objects>,
    incarnation: u64,
    /// The views of a restored world are above this incarnation: that of the newest view that was
    /// sent before the last start, or of the world that was restored since. What a process
    /// restored that died before it could save that, and so sent nothing, does not count.
    taken: u64,
    /// The newest tick that a leader committed.
    committed: Option<Arc<Commit>>,
    /// Nodes that were reset in this incarnation.
    reset: BTreeSet<NodeId>,
    /// Files that were damaged at some time: what was not brought back stays so.
    damaged: BTreeSet<String>,
    /// The last tick of the incarnation before.
    before: u64,
    /// A start named a loss, and nothing was stored since: the next start names it again.
    loss_is_named: bool,
}

impl Stored {
    /// Is this a tick of the world before? If so, what is wrong with it.
    fn is_old(&self, commit: &Commit) -> Option<Option<String>> {
        if commit.epoch.incarnation() >= self.incarnation {
            return None;
        }
        let tick = commit.tick.0;
        let goes_on = tick > self.before + LATE_TICKS;
        Some(goes_on.then(|| format!("the world before goes on with tick {tick}")))
    }

    /// Is the world at this tick as it was published? One tick may have been followed that was
    /// committed, and not published.
    fn is_published(&self, tick: u64, objects: &Objects, rate: u32) -> bool {
        if let Some(world) = self.worlds.get(&tick) {
            return world == objects;
        }
        let (last, committed) = (self.worlds.last_key_value(), &self.committed);
        let (Some((&last, world)), Some(commit)) = (last, committed) else { return false };
        let mut next = world.clone();
        advance(&mut next, Tick(last), rate);
        apply(&mut next, commit, |_| true);
        last + 1 == tick && commit.tick.0 == tick && next == *objects
    }

    /// The store reports that this tick is on the disk. Is it a newer one?
    fn reports(&mut self, tick: Option<u64>) -> bool {
        let newer = self.reported < tick;
        if newer {
            self.reported = tick;
            self.loss_is_named = false;
        }
        newer
    }

    /// P1, P2 and P4: a start has read this.
    fn opened(
        &mut self,
        found: Result<&StoredFound, &StoreError>,
        harmed: Option<&Harmed>,
        rate: u32,
    ) -> Violations {
        let mut violations = Violations::new();
        let harm = harmed.map(|harmed| harmed.harm);
        self.damaged.extend(harmed.into_iter().flat_map(|harmed| harmed.files.iter().cloned()));
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                self.refused(&error.to_string(), harmed, &mut violations);
                return violations;
            }
        };
        let tick = found.stored.as_ref().map(|stored| stored.tick.0);
        let lossy = matches!(harm, Some(Harm::Newest | Harm::NewestEnd | Harm::Length));
        let least = match harmed.filter(|_| lossy) {
            Some(harmed) => harmed.older,
            None => self.reported,
        };
        if tick < least {
            violations
                .push(("P1", format!("tick {least:?} was stored, {tick:?} is there: {harmed:?}")));
        }
        if let Some(stored) = &found.stored
            && !self.is_published(stored.tick.0, &stored.objects, rate)
        {
            violations.push(("P2", format!("tick {} is stored otherwise", stored.tick.0)));
        }
        self.damage_is_named(tick, &found.notices, harmed, &mut violations);
        if lossy {
            // The operator knows.
            self.loss_is_named |= tick < self.reported;
            self.reported = tick;
        }
        violations
    }

    /// P4.
    fn damage_is_named(
        &self,
        tick: Option<u64>,
        notices: &[Notice],
        harmed: Option<&Harmed>,
        violations: &mut Violations,
    ) {
        let errors = || notices.iter().filter(|notice| notice.severity == Severity::Error);
        let Some(Harmed { harm, files, newest, .. }) = harmed else {
            let known = |text: &str| self.damaged.iter().any(|file| text.contains(file));
            // The one that is used instead of a damaged file is whole.
            let instead = errors().any(|notice| known(&notice.text));
            let again = |text: &str| self.loss_is_named && text.contains("is lost");
            let expected =
                |text: &str| known(text) || instead && text.contains("is used") || again(text);
            if let Some(error) = errors().find(|notice| !expected(&notice.text)) {
                violations.push(("P4", format!("nothing is damaged: {}", error.text)));
            }
            return;
        };
        let file = files.first().map_or("", String::as_str);
        let right = match harm {
            Harm::Newest | Harm::Length => {
                tick >= *newest || errors().any(|notice| notice.text.contains(file))
            }
            Harm::NewestEnd => {
                tick >= self.reported || errors().any(|notice| notice.text.contains(file))
            }
            Harm::Slot => notices.iter().any(|notice| notice.text.contains(file)),
            Harm::Copy | Harm::Older | Harm::AllWorlds | Harm::BothCopies => true,
        };
        if !right {
            violations.push(("P4", format!("{harm:?} of {file} is not reported: {notices:?}")));
        }
    }

    /// P4: a start is refused only if no file is whole, and all are named.
    fn refused(&self, error: &str, harmed: Option<&Harmed>, violations: &mut Violations) {
        let right = harmed.is_some_and(|harmed| {
            let none = match harmed.harm {
                Harm::AllWorlds => true,
                // There is no file before it, or that one was damaged earlier.
                Harm::Newest | Harm::NewestEnd | Harm::Length => harmed.older.is_none(),
                _ => false,
            };
            none && harmed.files.iter().all(|file| error.contains(file) || file.ends_with("stored"))
        });
        if !right {
            violations.push(("P4", format!("a start is refused: {error}; damaged: {harmed:?}")));
        }
    }
}

impl Checkers {
    /// From now on the store of the first group is judged.
    pub(crate) fn judge_stored(&mut self) {
        let objects: Objects = self.objects(GroupId(0)).copied().collect();
        self.stored = Some(Stored { worlds: BTreeMap::from([(0, objects)]), ..Stored::default() });
    }

    /// Was this view sent to any machine?
    pub(crate) fn was_sent(&self, epoch: Epoch) -> bool {
        self.views.view_of(epoch).is_some()
    }

    /// Counts of what happens to the store.
    pub(crate) fn stored_counts(&mut self) -> &mut StoreCounts {
        &mut self.watch.sometimes.store
    }

    /// The store reports that this tick is on the disk.
    pub(crate) fn store_reports(&mut self, now: Time, tick: Option<u64>) {
        let published = self.published_ticks();
        let news = self.stored.as_mut().is_some_and(|stored| stored.reports(tick));
        if news && tick.is_some_and(|tick| tick > published + 1) {
            let what = format!("tick {tick:?} is stored, {published} was published last");
            self.note(now, vec![("P2", what)]);
        }
    }

    /// A start has read the store.
    pub(crate) fn store_opened(
        &mut self,
        now: Time,
        found: Result<&StoredFound, &StoreError>,
        harmed: Option<&Harmed>,
    ) {
        let notices = found.map_or(&[][..], |found| &found.notices);
        let with = |text: &str| notices.iter().any(|notice| notice.text.contains(text));
        let counts = &mut self.watch.sometimes.store;
        counts.starts += u64::from(found.is_ok());
        counts.torn += u64::from(with("incomplete write"));
        counts.older_used += u64::from(with("an older file is used"));
        let Some(stored) = &mut self.stored else { return };
        stored.taken = self.views.newest().incarnation();
        let violations = stored.opened(found, harmed, self.rate);
        self.note(now, violations);
    }

    /// The world goes on from this, in views from this one on.
    pub(crate) fn world_restored(&mut self, now: Time, newest: Epoch, world: &StoredWorld) {
        let Some(stored) = &mut self.stored else { return };
        let taken = stored.taken;
        if newest.incarnation() <= taken {
            let what = format!("views from {} on are not above incarnation {taken}", newest.0);
            self.violations.push(super::Violation { rule: "P3", what, time: now });
        }
        let StoredWorld { tick, objects, .. } = world;
        stored.before =
            stored.before.max(self.worlds.get(&GroupId(0)).map_or(0, |it| it.one_machine.ticks()));
        stored.incarnation = newest.incarnation();
        stored.taken = stored.incarnation;
        stored.committed = None;
        stored.reset.clear();
        stored.worlds.retain(|known, _| *known < tick.0);
        stored.worlds.insert(tick.0, objects.clone());
        stored.reported = stored.reported.map(|reported| reported.min(tick.0));
        let (shapes, rate) = (&self.shapes, self.rate);
        let objects: Vec<Object> = objects.values().copied().collect();
        if let Some(judged) = self.worlds.get_mut(&GroupId(0)) {
            let before = judged.one_machine.published_ever();
            judged.one_machine = OneMachine::new(&objects, shapes, rate);
            judged.one_machine.begin_after(*tick, before);
            judged.one_owner = OneOwner::default();
            judged.pace = Pace::new(rate);
        }
        self.between.restored(&objects);
        self.watch.sometimes.store.restored += 1;
    }

    /// Is this of a world before the present one? It changes nothing.
    pub(super) fn is_of_world_before(&mut self, now: Time, commit: &Commit) -> bool {
        let Some(old) = self.stored.as_ref().and_then(|stored| stored.is_old(commit)) else {
            return false;
        };
        self.note(now, old.into_iter().map(|what| ("P3", what)).collect());
        true
    }

    /// A tick was published.
    pub(super) fn stored_published(&mut self, commit: &Commit) {
        if let (Some(stored), Some(judged)) = (&mut self.stored, self.worlds.get(&commit.group)) {
            stored.worlds.insert(commit.tick.0, judged.one_machine.objects().clone());
        }
    }

    /// A node hears that its life is over, or that a tick is committed.
    pub(super) fn stored_sent(&mut self, to: Address, message: &Message) {
        let Some(stored) = &mut self.stored else { return };
        match (message, to) {
            (Message::Reset { .. }, Address::Node(node)) if stored.incarnation > 0 => {
                let first = stored.reset.insert(node);
                self.watch.sometimes.store.slow_reset += u64::from(first);
            }
            (Message::Commit(commit), _) if commit.epoch.incarnation() == stored.incarnation => {
                stored.committed = Some(commit.clone());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_store::{Disk, MemoryDisk, Store, StoreSettings};
    use std::path::Path;

    fn found(error: Option<&str>) -> StoredFound {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
        let mut found = Store::open(&disk, Path::new("world"), StoreSettings::default()).unwrap();
        found
            .notices
            .extend(error.map(|text| Notice { severity: Severity::Error, text: text.into() }));
        found
    }

    /// Seed 4000016 of six nodes with 60 objects: a start named what was lost, and the power went
    /// before anything was stored. The next start named the same loss, with the file that it used.
    #[test]
    fn a_named_loss_may_be_named_again_until_something_is_stored() {
        let mut stored = Stored { reported: Some(48), ..Stored::default() };
        let harmed = Harmed {
            harm: Harm::Newest,
            files: vec!["world-2.rec".into()],
            newest: Some(48),
            older: None,
        };
        let named = found(Some("world-2.rec: damaged; it is left out"));
        assert_eq!(stored.opened(Ok(&named), Some(&harmed), 60), []);
        let again = found(Some(
            "tick 48 was stored, but the world is there up to tick 37 only, in \
                                world-1.rec: what happened in between is lost",
        ));
        assert_eq!(stored.opened(Ok(&again), None, 60), []);
        assert!(stored.reports(Some(50)));
        stored.reported = None;
        let unexpected = stored.opened(Ok(&again), None, 60);
        assert_eq!(unexpected.iter().map(|(rule, _)| *rule).collect::<Vec<_>>(), ["P4"]);
    }
}
