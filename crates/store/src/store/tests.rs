//! Stores that are written, broken in every place, and opened again.

use super::*;
use crate::memory::{DiskFault, MemoryDisk};
use crate::notice::Severity;
use crate::recorder::Recorder;
use jostle_geom::{Model, Quality, solids};
use jostle_proto::{
    Class, Commit, Epoch, GatewayId, Message, NodeId, Object, ObjectId, Rotation, ShapeId, Shapes,
    Share, Solid, State, Time, Timing, advance, apply, digest,
};
use std::collections::BTreeMap;
use std::sync::Arc;

const RATE: u32 = 30;
const FOLDER: &str = "store";

/// Numbers that look as if they were drawn (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        jostle_dice::below(&mut self.0, end)
    }
}

fn at(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

fn open(disk: &MemoryDisk) -> Result<StoredFound, StoreError> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Store::open(&disk, Path::new(FOLDER), StoreSettings::default())
}

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
fn stored(processes: u64) -> (MemoryDisk, World) {
    let (disk, mut world) = (MemoryDisk::default(), World::new());
    for process in 0..processes {
        let mut recorder = recorder(open(&disk).expect("opened").store);
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
    (disk, world)
}

/// What the store has is the world as it was at some tick.
fn opened(disk: &MemoryDisk, world: &World) -> Result<Option<u64>, StoreError> {
    Ok(open(disk)?.stored.map(|stored| {
        assert_eq!(stored.objects, world.was[&stored.tick.0], "{}", stored.tick.0);
        stored.tick.0
    }))
}

fn names(disk: &MemoryDisk) -> Vec<String> {
    let found = files(disk, Path::new(FOLDER)).expect("listed");
    found.iter().filter_map(|(_, path)| Some(path.file_name()?.to_str()?.to_owned())).collect()
}

/// Does something to a copy of a store.
fn harmed(from: &MemoryDisk, harm: impl FnOnce(&MemoryDisk)) -> MemoryDisk {
    let copy = from.copied();
    harm(&copy);
    copy
}

#[test]
fn the_last_two_files_stay_and_the_world_goes_on() {
    let (disk, world) = stored(4);
    assert_eq!(names(&disk), ["world-2.rec", "world-3.rec"]);
    assert_eq!(opened(&disk, &world).expect("whole"), Some(160));
    assert_eq!(opened(&MemoryDisk::default(), &world).expect("nothing"), None);
}

#[test]
fn a_long_file_is_followed_by_another_one_and_room_is_bounded() {
    let disk = MemoryDisk::default();
    let store = open(&disk).expect("opened").store;
    let StoreSettings { long, work, .. } = StoreSettings::default();
    assert!(!store.is_long(1 << 20, work - 1) && store.is_long(1 << 20, work));
    assert!(store.is_long(long, 0));
    // With what it began with being long, too.
    let store = Store { began: long, ..store };
    assert!(!store.is_long(2 * long, 0) && store.is_long(3 * long, 0));
    let mut recorder = recorder(store);
    let mut world = World::new();
    recorder.receive(Time(0), world.share());
    for tick in 1..=200 {
        if tick % 40 == 0 {
            recorder.work_done(work);
        }
        recorder.receive(Time(tick * 33_333), world.step());
    }
    recorder.finish();
    assert_eq!(names(&disk).len(), 2, "{:?}", names(&disk));
    assert_ne!(names(&disk)[0], "world-0.rec");
    assert_eq!(opened(&disk, &world).expect("whole"), Some(200));
}

#[test]
fn a_changed_bit_anywhere_gives_an_earlier_tick_and_never_another_world() {
    let (disk, world) = stored(2);
    let mut dice = Dice(7);
    for name in ["world-0.rec", "world-1.rec", MARK] {
        let bytes = disk.content(&at(name)).expect("read");
        for _ in 0..200 {
            let bit = dice.below(bytes.len() as u64 * 8) as usize;
            let broken = harmed(&disk, |disk| {
                let mut bytes = bytes.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                disk.put(&at(name), bytes);
            });
            let tick = opened(&broken, &world).expect("an older file is whole");
            match name {
                "world-1.rec" => assert!(tick.is_some_and(|it| (40..80).contains(&it)), "{tick:?}"),
                _ => assert_eq!(tick, Some(80), "{name}: bit {bit}"),
            }
        }
    }
}

#[test]
fn a_file_that_is_cut_off_gives_an_earlier_tick_and_that_is_reported() {
    let (disk, world) = stored(2);
    let bytes = disk.content(&at("world-1.rec")).expect("read");
    let (_, stand) = Mark::open(&disk, &at(MARK), &mut Vec::new()).expect("read");
    assert_eq!(stand, Some(Stand { file: 1, bytes: bytes.len() as u64, tick: 80 }));
    for part in 0..50 {
        let end = bytes.len() * part / 50;
        let broken = harmed(&disk, |disk| disk.put(&at("world-1.rec"), &bytes[..end]));
        let tick = opened(&broken, &world).expect("an older file is whole");
        assert!(tick.is_some_and(|tick| (40..80).contains(&tick)), "{end}: {tick:?}");
        let notices = open(&broken).expect("an older file is whole").notices;
        let named = |it: &Notice| it.severity == Severity::Error && it.text.contains("world-");
        assert!(notices.iter().any(named), "{end}: {notices:?}");
        let zeros = harmed(&disk, |disk| {
            let zeros = [&bytes[..end], &vec![0; bytes.len() - end + 5000]].concat();
            disk.put(&at("world-1.rec"), zeros);
        });
        assert_eq!(opened(&zeros, &world).expect("zeros"), tick, "{end}");
    }
}

#[test]
fn a_store_without_a_whole_file_is_never_a_new_world() {
    let (disk, world) = stored(2);
    let broken = harmed(&disk, |disk| {
        for name in ["world-0.rec", "world-1.rec"] {
            disk.put(&at(name), "nothing");
        }
    });
    let error = opened(&broken, &world).expect_err("nothing is left").to_string();
    assert!(error.contains("world-0.rec") && error.contains("world-1.rec"), "{error}");
    let gone = harmed(&disk, |disk| {
        for name in ["world-0.rec", "world-1.rec"] {
            disk.take(&at(name)).expect("there");
        }
    });
    let error = opened(&gone, &world).expect_err("nothing is left").to_string();
    assert!(error.contains("tick 80 was stored here"), "{error}");
}

#[test]
fn what_a_killed_process_was_writing_does_no_harm() {
    let (disk, world) = stored(2);
    disk.put(&at("world.new"), [7; 5000]);
    assert_eq!(opened(&disk, &world).expect("whole"), Some(80));
}

#[test]
fn a_store_that_cannot_be_written_is_tried_again_and_goes_on_with_the_whole_world() {
    for fault in [DiskFault::Full { short: 9 }, DiskFault::Write, DiskFault::Sync] {
        let disk = MemoryDisk::default();
        let mut recorder = recorder(open(&disk).expect("opened").store);
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
        disk.fail(fault);
        step(&mut recorder, &mut world, 90);
        let (_, status) = recorder.status();
        assert!(status.failures >= 2 && status.trouble.is_some(), "{status:?}");
        assert_eq!(status.tick, at, "what is on the disk is said");
        let tick = opened(&disk, &world).expect("whole").expect("a world");
        assert!(Some(tick) >= at, "{tick}");
        disk.heal();
        step(&mut recorder, &mut world, 60);
        let (_, status) = recorder.status();
        assert!(status.trouble.is_none(), "{status:?}");
        recorder.finish();
        assert_eq!(opened(&disk, &world).expect("whole"), Some(210));
    }
}

/// It was made, and its name never synced: after a power cut nothing said what had been stored.
#[test]
fn how_far_the_world_was_stored_is_known_after_the_machine_has_died() {
    let (disk, world) = stored(1);
    disk.crash(&mut |_| 0);
    assert_eq!(opened(&disk, &world).expect("whole"), Some(40));
    assert!(disk.content(&at(MARK)).is_some(), "{:?}", disk.paths());
    disk.take(&at("world-0.rec")).expect("there");
    opened(&disk, &world).expect_err("it is gone, and that is known");
}

/// The machine dies during each operation in turn, a few times in different ways.
#[test]
fn wherever_the_machine_dies_what_was_reported_as_stored_is_there() {
    let (disk, world) = stored(1);
    let mut torn = 0;
    for operation in 0..200 {
        for seed in 0..8 {
            let (disk, mut dice) = (disk.copied(), Dice(operation * 8 + seed));
            disk.die_in(operation);
            let mut recorder = recorder(open(&disk).expect("opened").store);
            let mut world =
                World { was: world.was.clone(), objects: world.objects.clone(), ..world };
            recorder.receive(Time(0), world.share());
            let mut tick = 0;
            while !disk.is_dead() && tick < 120 {
                tick += 1;
                if tick % 32 == 0 {
                    recorder.work_done(40_000_000);
                }
                recorder.receive(Time(tick * 33_333), world.step());
            }
            if !disk.is_dead() {
                assert!(operation > 40, "{operation} operations only");
                return assert!(torn > 10, "{torn}");
            }
            let reported = recorder.status().1.tick.unwrap_or(40);
            disk.crash(&mut |end| dice.below(end));
            let found = open(&disk).expect("something is whole");
            torn += u64::from(found.notices.iter().any(|it| it.text.contains("incomplete")));
            let damage = found.notices.iter().find(|it| it.severity == Severity::Error);
            assert_eq!(damage, None, "{operation}, {seed}");
            let tick = opened(&disk, &world).expect("whole").expect("a world");
            assert!(tick >= reported, "{operation}, {seed}: {tick}, {reported} was reported");
        }
    }
}
