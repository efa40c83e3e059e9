//! How the serving process starts: with what is on its disk, as in earnest.

use super::super::machine::Role;
use super::super::{Cluster, What};
use super::{Moment, RECORDER, Serving};
use crate::checkers::Harm;
use jostle_proto::{Address, Member, Node, NodeId, Objects, Tick};
use jostle_store::{
    DirectoryError, DirectoryStart, DirectoryStore, Disk, Notice, Recorder, Store, StoreError,
    Stored, StoredFound, start_directory,
};
use std::path::Path;
use std::sync::Arc;

/// Where everything is.
pub(super) const FOLDER: &str = "store";

/// How the operator starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Start {
    Stored,
    /// The stored world is to count, whatever the directory remembers.
    Anyway,
}

/// What was begun with is tried again so much later.
const AGAIN: u64 = 300_000;

impl Serving {
    fn shared(&self) -> Arc<dyn Disk> {
        Arc::new(self.disk.clone())
    }

    fn open(&self) -> Result<StoredFound, StoreError> {
        Store::open(&self.shared(), Path::new(FOLDER), self.settings)
    }
}

impl Cluster {
    fn directory_start(&self, restore: bool) -> DirectoryStart {
        DirectoryStart {
            timing: self.timing,
            grouping: self.sites.grouping(),
            extent: self.start.extent,
            backups: self.options.backups,
            restore,
            mutant: self.options.mutant,
        }
    }

    /// The directory of a world that begins, and the recorder of its store.
    pub(in super::super) fn first_directory_store(
        &mut self,
        node: Member,
    ) -> Option<DirectoryStore> {
        let (start, objects) = (self.directory_start(false), self.start.objects.len());
        let serving = self.serving.as_ref()?;
        let (disk, path) = (serving.shared(), super::damage::path("directory"));
        let first = jostle_store::Serving { before: None, node, tick: Tick(0), objects };
        let started = start_directory(&disk, &path, &start, first, self.now);
        started.map(|started| started.directory_store).ok()
    }

    /// The recorder of a store that is open.
    pub(in super::super) fn add_recorder(&mut self, store: Option<Store>) {
        let (timing, now) = (self.timing, self.now);
        let Some(serving) = &mut self.serving else { return };
        let Some(store) = store.or_else(|| serving.open().ok().map(|found| found.store)) else {
            return;
        };
        serving.life += 1;
        let (id, world) = (serving.recorder(), ("simulated", &self.start.shapes));
        let recorder = Box::new(Recorder::to_store(id, world, timing, store));
        let address = Address::Gate(RECORDER);
        let (life, role) = (serving.life, Role::Recorder(recorder));
        if !self.machines.contains_key(&address) {
            return self.add_machine(address, role);
        }
        if let Some(machine) = self.machines.get_mut(&address) {
            (machine.role, machine.life, machine.paused) = (Some(role), life, now);
        }
        self.wake_up(address);
    }

    fn wake_up(&mut self, address: Address) {
        let Some(machine) = self.machines.get_mut(&address) else { return };
        machine.alarm += 1;
        let alarm = machine.alarm;
        self.after(0, What::Wake(address, alarm));
    }

    /// The serving process starts again.
    pub(super) fn start_serving(&mut self, start: Start) {
        let Some(serving) = self.serving.as_mut().filter(|serving| !serving.up) else { return };
        let opened = serving.open();
        let harmed = serving.damage.as_ref().map(|damage| &damage.harmed);
        self.checkers.store_opened(self.now, opened.as_ref(), harmed);
        let Ok(StoredFound { stored, store, notices }) = opened else {
            return self.put_copies_there(Start::Stored);
        };
        let stored = stored.unwrap_or_else(|| Stored {
            tick: Tick(0),
            heard: Vec::new(),
            rate: self.options.rate,
            objects: self.start.objects.iter().copied().collect::<Objects>(),
            shapes: self.start.shapes.clone(),
        });
        let stored = stored.all_at_home();
        let node = Member { node: NodeId(self.nodes), life: 1 };
        self.nodes += 1;
        let settings = self.directory_start(start == Start::Anyway);
        let local = self.machines.get(&Address::Directory).map(|it| it.local(self.now));
        let Some(serving) = &mut self.serving else { return };
        let (disk, path) = (serving.shared(), super::damage::path("directory"));
        let process = jostle_store::Serving {
            before: Some(serving.node),
            node,
            tick: stored.tick,
            objects: stored.objects.len(),
        };
        let now = local.unwrap_or(self.now);
        match start_directory(&disk, &path, &settings, process, now) {
            Ok(started) => {
                let found = [notices, started.notices].concat();
                self.judge_directory(&found);
                self.run_serving(started.directory_store, node, (stored, store), start);
            }
            Err(DirectoryError::MirroredFile(error, _)) => {
                self.judge_refusal(&error.to_string());
                self.put_copies_there(Start::Anyway);
            }
            Err(DirectoryError::Record(_)) => self.start_later(start),
        }
    }

    fn start_later(&mut self, start: Start) {
        if let Some(serving) = &mut self.serving {
            serving.disk.heal();
            serving.disk.start_again();
            serving.last_start = self.now.0 + AGAIN;
        }
        self.after(AGAIN, What::Serving(Moment::Start(start)));
    }

    /// What cannot be read is brought back, or given up.
    fn put_copies_there(&mut self, next: Start) {
        self.checkers.stored_counts().refused += 1;
        if let Some(serving) = &mut self.serving
            && next == Start::Stored
            && let Some(damage) = serving.damage.take()
        {
            damage.undo(&serving.disk);
        }
        self.start_later(next);
    }

    /// P4: damage of one copy is named.
    fn judge_directory(&mut self, notices: &[Notice]) {
        let Some(serving) = &self.serving else { return };
        let Some(damage) = &serving.damage else { return };
        let named = |file: &String| notices.iter().any(|notice| notice.text.contains(file));
        let missing = damage.harmed.files.iter().find(|file| !named(file));
        if let (Harm::Copy, Some(file)) = (damage.harmed.harm, missing) {
            let what = format!("{file} is damaged, and that is not reported: {notices:?}");
            return self.checkers.note(self.now, vec![("P4", what)]);
        }
        self.checkers.stored_counts().copies_used += u64::from(damage.harmed.harm == Harm::Copy);
    }

    /// P4: only if both copies are damaged a start is refused, and they are named.
    fn judge_refusal(&mut self, error: &str) {
        let Some(serving) = &self.serving else { return };
        let harmed = serving.damage.as_ref().map(|damage| &damage.harmed);
        let right = harmed.is_some_and(|harmed| {
            harmed.harm == Harm::BothCopies && harmed.files.iter().all(|it| error.contains(it))
        });
        if !right {
            let what = format!("the directory does not start: {error}; damaged: {harmed:?}");
            self.checkers.note(self.now, vec![("P4", what)]);
        }
    }

    /// All parts of the process begin.
    fn run_serving(
        &mut self,
        directory_store: DirectoryStore,
        node: Member,
        (stored, store): (Stored, Store),
        start: Start,
    ) {
        let (shapes, timing) = (self.start.shapes.clone(), self.timing);
        let founder = Node::founder(node, shapes, timing, stored.objects.values().copied());
        let founder = founder.going_on(stored.tick, stored.heard.clone());
        let founder = founder.with_mutant(self.options.mutant);
        self.add_machine(Address::Node(node.node), Role::Node(Box::new(founder)));
        let at_once = directory_store.directory().view().has(node);
        let restorations = directory_store.directory().restorations();
        if let Some(machine) = self.machines.get_mut(&Address::Directory) {
            machine.role = Some(Role::DirectoryStore(Box::new(directory_store)));
        }
        self.wake_up(Address::Directory);
        let Some(serving) = &mut self.serving else { return };
        serving.up = true;
        serving.damage = None;
        (serving.node, serving.started) = (node.node, self.now);
        serving.offered = Some((node, stored));
        serving.restorations = restorations;
        if start == Start::Anyway {
            serving.views.clear();
        }
        self.add_recorder(Some(store));
        if at_once {
            self.restored();
        }
    }
}
