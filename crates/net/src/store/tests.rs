//! Stores that are written, broken in every place, and opened again.

use super::*;
use crate::dice::Dice;
use crate::recorder::Recorder;
use jostle_geom::{Model, Quality, solids};
use jostle_proto::{
    Class, Commit, Epoch, GatewayId, Message, NodeId, Object, ObjectId, Rotation, ShapeId, Shapes,
    Share, Solid, State, Time, Timing, advance, apply, digest,
};
use std::collections::BTreeMap;
use std::sync::Arc;

const RATE: u32 = 30;

fn shapes() -> Shapes {
    let mesh = solids::cuboid(glam::DVec3::splat(1.0)).expect("a mesh");
    Shapes::new(vec![Solid::mesh(Arc::new(Model::build(mesh, Quality::Default)))])
}

/// A world that is followed, and how it was after every tick.
struct World {
    objects: Objects,
    tick: u64,
    was: BTreeMap<u64, Objects>,
}

impl World {
    fn new() -> World {
        let object = |id: u64| {
            let velocity = [(id * 37 % 500) as i16, -(id as i16), 3];
            let rotation = Rotation::from_quaternion(glam::DQuat::IDENTITY);
            let state = State { position: [id as i32 * 9000; 3], rotation, velocity, spin: [0; 3] };
            Object { id: ObjectId(id), class: Class::Dynamic, shape: ShapeId(0), state }
        };
        let objects: Objects = (1..6).map(object).collect();
        World { was: BTreeMap::from([(0, objects.clone())]), objects, tick: 0 }
    }

    fn share(&self) -> Message {
        Message::Share(Share {
            epoch: Epoch(1),
            tick: Tick(self.tick),
            from: NodeId(0),
            members: 1,
            objects: self.objects.values().copied().collect(),
            heard: Vec::new(),
        })
    }

    fn step(&mut self) -> Message {
        advance(&mut self.objects, Tick(self.tick), RATE);
        self.tick += 1;
        let (tick, digest) = (Tick(self.tick), digest(self.objects.values()));
        let commit = Commit { tick, digest, dilation: 1000, ..Commit::default() };
        apply(&mut self.objects, &commit, |_| true);
        self.was.insert(self.tick, self.objects.clone());
        Message::Published(Arc::new(commit))
    }
}

fn recorder(store: Store) -> Recorder {
    let me = GatewayId { number: 0, life: 1 };
    let timing = Timing { rate: RATE, ..Timing::default() };
    Recorder::to_store(me, ("test", &shapes()), timing, store)
}

/// A store of so many processes that ran for 40 ticks each, the last one killed; and the world.
fn stored(folder: &Path, processes: u64) -> World {
    let mut world = World::new();
    for process in 0..processes {
        let (_, store) = open(folder).expect("opened");
        let mut recorder = recorder(store);
        recorder.receive(Time(0), world.share());
        for tick in 1..=40 {
            recorder.receive(Time(tick * 33_333), world.step());
        }
        // Everything is on the disk.
        recorder.receive(Time(99_000_000), Message::Published(Arc::default()));
        if process + 1 < processes {
            recorder.finish();
        }
    }
    world
}

/// What the store has is the world as it was at some tick.
fn opened(folder: &Path, world: &World) -> Result<Option<u64>, StoreError> {
    let (stored, _) = open(folder)?;
    Ok(stored.map(|stored| {
        assert_eq!(stored.objects, world.was[&stored.tick.0], "{}", stored.tick.0);
        stored.tick.0
    }))
}

fn names(folder: &Path) -> Vec<String> {
    let found = files(folder).expect("listed");
    found.iter().filter_map(|(_, path)| Some(path.file_name()?.to_str()?.to_owned())).collect()
}

/// Does something to a copy of a store.
fn harmed(from: &Path, harm: impl FnOnce(&Path)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(from).expect("listed") {
        let entry = entry.expect("an entry");
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("copied");
    }
    harm(folder.path());
    folder
}

#[test]
fn the_last_two_files_stay_and_the_world_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = stored(folder.path(), 4);
    assert_eq!(names(folder.path()), ["world-2.rec", "world-3.rec"]);
    assert_eq!(opened(folder.path(), &world).expect("whole"), Some(160));
    let empty = tempfile::tempdir().expect("a folder");
    assert_eq!(opened(empty.path(), &world).expect("nothing"), None);
}

#[test]
fn a_long_file_is_followed_by_another_one_and_room_is_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, store) = open(folder.path()).expect("opened");
    assert!(!store.is_long(1 << 20, WORK - 1) && store.is_long(1 << 20, WORK));
    assert!(store.is_long(LONG, 0));
    // With what it began with being long, too.
    let store = Store { began: LONG, ..store };
    assert!(!store.is_long(2 * LONG, 0) && store.is_long(3 * LONG, 0));
    let mut recorder = recorder(store);
    let mut world = World::new();
    recorder.receive(Time(0), world.share());
    for tick in 1..=200 {
        if tick % 40 == 0 {
            recorder.work_done(WORK);
        }
        recorder.receive(Time(tick * 33_333), world.step());
    }
    recorder.finish();
    assert_eq!(names(folder.path()).len(), 2, "{:?}", names(folder.path()));
    assert_ne!(names(folder.path())[0], "world-0.rec");
    assert_eq!(opened(folder.path(), &world).expect("whole"), Some(200));
}

#[test]
fn a_changed_bit_anywhere_gives_an_earlier_tick_and_never_another_world() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = stored(folder.path(), 2);
    let mut dice = Dice::new(7);
    for name in ["world-0.rec", "world-1.rec", MARK] {
        let bytes = std::fs::read(folder.path().join(name)).expect("read");
        for _ in 0..200 {
            let bit = dice.below(bytes.len() as u64 * 8) as usize;
            let broken = harmed(folder.path(), |folder| {
                let mut bytes = bytes.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                std::fs::write(folder.join(name), bytes).expect("written");
            });
            let tick = opened(broken.path(), &world).expect("an older file is whole");
            match name {
                "world-1.rec" => assert!(tick.is_some_and(|it| (40..80).contains(&it)), "{tick:?}"),
                _ => assert_eq!(tick, Some(80), "{name}: bit {bit}"),
            }
        }
    }
}

#[test]
fn a_file_that_is_cut_off_gives_an_earlier_tick_and_that_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = stored(folder.path(), 2);
    let (_, stand) = Mark::open(&folder.path().join(MARK)).expect("read");
    let path = folder.path().join("world-1.rec");
    let bytes = std::fs::read(&path).expect("read");
    assert_eq!(stand, Some(Stand { file: 1, bytes: bytes.len() as u64, tick: 80 }));
    for part in 0..50 {
        let end = bytes.len() * part / 50;
        let broken = harmed(folder.path(), |folder| {
            std::fs::write(folder.join("world-1.rec"), &bytes[..end]).expect("written");
        });
        let tick = opened(broken.path(), &world).expect("an older file is whole");
        assert!(tick.is_some_and(|tick| (40..80).contains(&tick)), "{end}: {tick:?}");
        let zeros = harmed(folder.path(), |folder| {
            let bytes = [&bytes[..end], &vec![0; bytes.len() - end + 5000]].concat();
            std::fs::write(folder.join("world-1.rec"), bytes).expect("written");
        });
        assert_eq!(opened(zeros.path(), &world).expect("zeros"), tick, "{end}");
    }
}

#[test]
fn a_store_without_a_whole_file_is_never_a_new_world() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = stored(folder.path(), 2);
    let broken = harmed(folder.path(), |folder| {
        for name in ["world-0.rec", "world-1.rec"] {
            std::fs::write(folder.join(name), "nothing").expect("written");
        }
    });
    let error = opened(broken.path(), &world).expect_err("nothing is left").to_string();
    assert!(error.contains("world-0.rec") && error.contains("world-1.rec"), "{error}");
    let gone = harmed(folder.path(), |folder| {
        for name in ["world-0.rec", "world-1.rec"] {
            std::fs::remove_file(folder.join(name)).expect("removed");
        }
    });
    let error = opened(gone.path(), &world).expect_err("nothing is left").to_string();
    assert!(error.contains("tick 80 was stored here"), "{error}");
}

#[test]
fn what_a_killed_process_was_writing_does_no_harm() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = stored(folder.path(), 2);
    std::fs::write(folder.path().join("world.new"), [7; 5000]).expect("written");
    assert_eq!(opened(folder.path(), &world).expect("whole"), Some(80));
}

#[test]
fn a_store_that_cannot_be_written_is_tried_again_and_goes_on_with_the_whole_world() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, store) = open(folder.path()).expect("opened");
    let mut recorder = recorder(store);
    let mut world = World::new();
    recorder.receive(Time(0), world.share());
    let step = |recorder: &mut Recorder, world: &mut World, ticks: u64| {
        for _ in 0..ticks {
            let message = world.step();
            recorder.receive(Time(world.tick * 33_333), message);
        }
    };
    step(&mut recorder, &mut world, 60);
    assert_eq!(recorder.status().1.failures, 0);
    let at = recorder.status().1.tick;
    // The newest file cannot be written any more, and no other one can begin.
    recorder.break_file();
    std::fs::create_dir(folder.path().join("world.new")).expect("made");
    step(&mut recorder, &mut world, 90);
    let (_, status) = recorder.status();
    assert!(status.failures >= 2 && status.trouble.is_some(), "{status:?}");
    assert_eq!(status.tick, at, "what is on the disk is said");
    let tick = opened(folder.path(), &world).expect("whole").expect("a world");
    assert!(Some(tick) >= at, "{tick}");
    std::fs::remove_dir(folder.path().join("world.new")).expect("removed");
    step(&mut recorder, &mut world, 60);
    let (_, status) = recorder.status();
    assert!(status.trouble.is_none(), "{status:?}");
    recorder.finish();
    assert_eq!(opened(folder.path(), &world).expect("whole"), Some(210));
}
