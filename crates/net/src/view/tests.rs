//! View tests against slow and obvious twins.

use super::frames::FrameEncoder;
use super::loaded_recording::{LoadedRecording, Position};
use super::queries::{CONTACTS_MAX, RayQuery, all_near, contacts, near, pick};
use super::snapshot::{Forms, NO_OTHER_GROUPS, WorldRef, WorldSnapshot, is_moved};
use crate::files::FileSystem;
use glam::DVec3;
use jostle_geom::{Model, Pair, PosedModel, Quality, Ray, solids};
use jostle_proto::{
    Class, Commit, Detector, Epoch, GatewayId, GroupId, Input, Member, Message, NodeId, Object,
    ObjectId, Objects, Rotation, ShapeId, Shapes, Share, Solid, State, Tick, Time, Timing, Touch,
    Tree, View, advance, apply, digest,
};
use jostle_store::Recorder;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

#[path = "../../tests/view_page/decode.rs"]
mod decode;
mod findings;
mod groups;

const METRE: i32 = 4096;
const RATE: u32 = 30;

/// Seeded random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % end
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low) as u64) as i64
    }

    fn point(&mut self, reach: i64) -> [i32; 3] {
        [0; 3].map(|_| self.between(-reach, reach) as i32)
    }

    fn speed(&mut self) -> [i16; 3] {
        [0; 3].map(|_| self.between(-500, 500) as i16)
    }
}

/// Spheres, triangulated cubes, and cuboids.
fn shapes() -> Shapes {
    static ALL: OnceLock<Shapes> = OnceLock::new();
    ALL.get_or_init(make_shapes).clone()
}

fn make_shapes() -> Shapes {
    let model = |mesh| Arc::new(Model::build(mesh, Quality::Default));
    let ball = model(solids::sphere(0.5, 0.05).expect("a ball"));
    let cube = model(solids::cuboid(DVec3::splat(0.8)).expect("a cube"));
    Shapes::new(vec![
        Solid::mesh(ball),
        Solid::mesh(cube),
        Solid::cuboid([METRE / 4, METRE / 2, METRE / 3]),
    ])
}

fn object(dice: &mut Dice, id: u64, reach: i64) -> Object {
    let class = match dice.below(8) {
        0 => Class::Immovable,
        1 => Class::Absent,
        2 => Class::Avatar,
        3 => Class::Foreign(GroupId(9)),
        _ => Class::Dynamic,
    };
    let turned = DVec3::from_array(dice.point(100).map(f64::from)) / 40.0;
    let turned = jostle_geom::rotation_from_scaled_axis(turned).expect("finite");
    let state = State {
        position: dice.point(reach),
        rotation: Rotation::from_quaternion(turned),
        velocity: if dice.below(4) == 0 { [0; 3] } else { dice.speed() },
        spin: if dice.below(2) == 0 { [0; 3] } else { dice.speed() },
    };
    Object { id: ObjectId(id), class, shape: ShapeId(dice.below(3) as u32), state }
}

fn world(dice: &mut Dice, count: u64, reach: i64) -> Objects {
    (1..=count).map(|id| object(dice, id, reach)).collect()
}

fn touches(objects: &Objects) -> Vec<Touch> {
    let all: Vec<Object> = objects.values().copied().collect();
    Detector::new(shapes(), 30).touches(&all)
}

fn scene(objects: &Objects) -> WorldSnapshot {
    let touches = touches(objects);
    let (tick, touches, others) = (Tick(7), &touches[..], &NO_OTHER_GROUPS);
    WorldSnapshot::of(&WorldRef { tick, dilation: 1000, objects, touches, view: None, others })
}

fn view(epoch: u64, nodes: u32, dice: &mut Dice) -> View {
    let nodes: Vec<NodeId> = (1..=nodes).map(NodeId).collect();
    let crowd: Vec<[i32; 3]> = (0..100).map(|_| dice.point(i64::from(4 * METRE))).collect();
    let tree = Tree::shared_among(&nodes, &crowd).expect("a tree");
    let ring = nodes.iter().map(|&node| Member { node, life: 1 }).collect();
    View { epoch: Epoch(epoch), ring, tree, ..View::first(Member { node: NodeId(1), life: 1 }) }
}

/// Changes some objects.
fn disturb(dice: &mut Dice, objects: &mut Objects, next: &mut u64) {
    for _ in 0..dice.below(4) {
        let id = ObjectId(dice.below(*next) + 1);
        match dice.below(5) {
            0 => {
                objects.remove(&id);
            }
            1 => {
                *next += 1;
                objects.insert(object(dice, *next, i64::from(4 * METRE)));
            }
            2 => {
                let known = objects.get(&id).filter(|it| it.class.elsewhere().is_some()).copied();
                if let Some(mut object) = known {
                    // As by a correction from another group.
                    let jump = self::object(dice, 0, 1000).state;
                    object.state.position = jump.position;
                    object.state.rotation = jump.rotation;
                    objects.insert(object);
                }
            }
            3 => {
                if let Some(mut object) = objects.get(&id).copied() {
                    object.class = if dice.below(2) == 0 { Class::Absent } else { Class::Dynamic };
                    objects.insert(object);
                }
            }
            _ => {
                if let Some(mut object) = objects.get(&id).copied() {
                    object.state.velocity = dice.speed();
                    object.state.spin = dice.speed();
                    objects.insert(object);
                }
            }
        }
    }
}

#[test]
fn changes_alone_give_the_same_picture_as_whole_frames() {
    for seed in 1..=4 {
        println!("seed {seed}");
        let mut dice = Dice(seed);
        let mut objects = world(&mut dice, 80, i64::from(4 * METRE));
        let (mut tick, mut next) = (Tick(dice.below(1000)), 80);
        let mut frames = FrameEncoder::new(RATE, shapes());
        let mut picture = decode::Picture::new(RATE);
        let (mut listed, mut borders) = (0, 0);
        let mut owners = view(1, 3, &mut dice);
        for step in 0..700 {
            if step % 150 == 149 {
                let nodes = 1 + dice.below(5) as u32;
                owners = view(2 + step, nodes, &mut dice);
            }
            // Ticks are skipped if several arrive at once.
            for _ in 0..=dice.below(2) {
                advance(&mut objects, tick, RATE);
                tick = tick.next();
                disturb(&mut dice, &mut objects, &mut next);
            }
            let touches = touches(&objects);
            let now = WorldRef {
                tick,
                dilation: 1000 + step as u32,
                objects: &objects,
                touches: &touches,
                view: Some(&owners),
                others: &NO_OTHER_GROUPS,
            };
            let change = decode::frame(&frames.next(&now));
            assert_eq!(change.whole, step == 0);
            picture.take(&change);
            let whole = decode::frame(&frames.whole(&now));
            assert_eq!((whole.tick, u64::from(whole.dilation)), (tick.0, 1000 + step));
            picture.must_be(&whole);
            check(&objects, &owners, &whole);
            listed += change.objects.len();
            borders += whole.objects.values().filter(|it| it.border == 1).count();
        }
        let all = objects.len() * 700;
        assert!(listed > all / 300 && listed < all / 5, "{listed} of {all} were sent");
        assert!(borders > 0 && borders < all);
    }
}

/// A whole frame equals the world.
fn check(objects: &Objects, owners: &View, whole: &decode::Frame) {
    assert_eq!(objects.len(), whole.objects.len());
    for object in objects.values() {
        let shown = whole.objects[&object.id.0];
        assert_eq!(shown.position, object.state.position);
        assert_eq!((shown.form, shown.class), (object.shape.0 as u16, object.class.number()));
        let stands = matches!(object.class, Class::Immovable | Class::Absent);
        let velocity = if stands { [0; 3] } else { object.state.velocity };
        assert_eq!(shown.velocity, velocity);
        let reached = owners.owners_meeting(&shapes().block(object)).len();
        assert_eq!(shown.border, u8::from(reached > 1), "{object:?}");
    }
}

#[test]
fn a_ray_meets_what_trying_every_object_finds() {
    let (forms, mut met, mut missed) = (Forms::new(shapes(), Arc::default()), 0, 0);
    for seed in 1..=3 {
        println!("seed {seed}");
        let mut dice = Dice(seed);
        let scene = scene(&world(&mut dice, 60, i64::from(4 * METRE)));
        for _ in 0..300 {
            let mut point = |reach| DVec3::from_array(dice.point(reach).map(f64::from)) / 100.0;
            let (from, to) = (point(1500), point(500));
            let Ok(ray) = Ray::new(from, to - from, f64::INFINITY) else { continue };
            let through = dice.below(4) as u32;
            let mut first: Option<(f64, ObjectId)> = None;
            let seen = |it: &&Object| match it.class {
                Class::Absent => false,
                Class::Immovable => it.shape.0 != through,
                _ => true,
            };
            for object in scene.objects.iter().filter(seen) {
                let (model, pose) = forms.placed(object).expect("a form");
                if let Some(hit) = PosedModel::new(model, &pose).ray(&ray)
                    && first.is_none_or(|(distance, _)| hit.distance < distance)
                {
                    first = Some((hit.distance, object.id));
                }
            }
            let ray_query =
                RayQuery { ray, through: vec![through], hidden: Vec::new(), only: Vec::new() };
            let found = pick(&scene, &forms, &ray_query);
            assert_eq!(found.map(|it| (it.hit.distance, it.object.id)), first);
            *(if first.is_some() { &mut met } else { &mut missed }) += 1;
        }
    }
    assert!(met > 50 && missed > 50, "{met} {missed}");
}

#[test]
fn contacts_are_those_of_all_pairs_of_triangles() {
    let (forms, mut faces) = (Forms::new(shapes(), Arc::default()), 0);
    for seed in 1..=3 {
        println!("seed {seed}");
        let scene = scene(&world(&mut Dice(seed), 60, i64::from(2 * METRE)));
        for object in &scene.objects {
            let found = contacts(&scene, &forms, object.id);
            let others: Vec<ObjectId> = found.iter().map(|contact| contact.other).collect();
            let touching = |other: &&Object| scene.touch(object.id, other.id);
            let expected: Vec<ObjectId> =
                scene.objects.iter().filter(touching).map(|it| it.id).collect();
            let mut sorted = others.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, expected);
            let each = CONTACTS_MAX / found.len().max(1);
            for contact in &found {
                let (a, pose_a) = forms.placed(object).expect("a form");
                let other = scene.get(contact.other).expect("there");
                let (b, pose_b) = forms.placed(other).expect("a form");
                let (one, two) = (PosedModel::new(a, &pose_a), PosedModel::new(b, &pose_b));
                let mut slow = Vec::new();
                for i in 0..a.mesh().triangle_count() {
                    for j in 0..b.mesh().triangle_count() {
                        let triangles = (one.triangle(i), two.triangle(j));
                        if jostle_geom::triangle::triangles_touch(&triangles.0, &triangles.1) {
                            slow.push((a.mesh().face_of(i as u32), b.mesh().face_of(j as u32)));
                        }
                    }
                }
                slow.sort_unstable();
                assert_eq!(contact.segments.len(), slow.len().min(each));
                slow.dedup();
                slow.truncate(each);
                let found: Vec<_> = contact.faces.iter().map(|it| (it.a, it.b)).collect();
                assert_eq!(found, slow);
                faces += found.len();
            }
        }
    }
    assert!(faces > 100, "{faces}");
    let nothing = scene(&Objects::new());
    assert!(contacts(&nothing, &forms, ObjectId(5)).is_empty());
    assert!(near(&nothing, &forms, ObjectId(5), 1.0).is_empty());
}

#[test]
fn clearance_is_that_of_all_with_all() {
    let (forms, mut pairs) = (Forms::new(shapes(), Arc::default()), 0);
    for seed in 1..=4 {
        println!("seed {seed}");
        let scene = scene(&world(&mut Dice(seed), 70, i64::from(3 * METRE)));
        for clearance in [0.05, 0.3, 1.5] {
            let mut slow = BTreeMap::new();
            for (at, a) in scene.objects.iter().enumerate() {
                for b in &scene.objects[at + 1..] {
                    let absent = [a, b].iter().any(|it| it.class == Class::Absent);
                    if absent || !(is_moved(a) || is_moved(b)) || scene.touch(a.id, b.id) {
                        continue;
                    }
                    let ((one, pose_a), (two, pose_b)) =
                        (forms.placed(a).expect("a form"), forms.placed(b).expect("a form"));
                    let distance = Pair::new(one, &pose_a, two, &pose_b).distance();
                    let distance = distance.expect("not empty").distance;
                    if distance > 0.0 && distance <= clearance {
                        slow.insert([a.id, b.id], distance);
                    }
                }
            }
            let found = all_near(&scene, &forms, clearance, None);
            assert!(found.windows(2).all(|two| two[0].pair < two[1].pair));
            let found: BTreeMap<_, _> = found.iter().map(|it| (it.pair, it.distance)).collect();
            assert_eq!(found, slow);
            pairs += slow.len();
            for object in &scene.objects {
                let found = near(&scene, &forms, object.id, clearance);
                let mut of: Vec<(f64, ObjectId)> = slow
                    .iter()
                    .filter(|(pair, _)| pair.contains(&object.id))
                    .map(|(pair, far)| (*far, pair[usize::from(pair[0] == object.id)]))
                    .collect();
                of.sort_by(|a, b| a.0.total_cmp(&b.0));
                let others: Vec<ObjectId> = of.iter().map(|(_, other)| *other).collect();
                assert_eq!(found.iter().map(|it| it.pair[1]).collect::<Vec<_>>(), others);
                for (near, (far, _)) in found.iter().zip(&of) {
                    // With the pair in the other order, rounding may differ.
                    assert!((near.distance - far).abs() < 1e-9);
                    let apart = near.points[0].distance(near.points[1]);
                    assert!((apart - near.distance).abs() < 1e-9);
                }
            }
        }
    }
    assert!(pairs > 50, "{pairs}");
    let scene = scene(&world(&mut Dice(1), 70, i64::from(3 * METRE)));
    assert!(all_near(&scene, &forms, 1.5, Some(std::time::Duration::ZERO)).len() < pairs);
}

/// A recording of so many ticks, with a gap in it; and the world after every tick.
fn recorded(file: &std::path::Path, ticks: u64) -> BTreeMap<u64, Objects> {
    let mut dice = Dice(11);
    let mut objects = world(&mut dice, 40, i64::from(2 * METRE));
    let timing = Timing { rate: RATE, ..Timing::default() };
    let me = GatewayId { number: 0, life: 1 };
    let mut recorder =
        Recorder::to_file(&FileSystem, me, ("test", &shapes()), timing, file).expect("a file");
    let mut detector = Detector::new(shapes(), 30);
    let mut worlds = BTreeMap::new();
    let share = |tick: u64, objects: &Objects| {
        Message::Share(Share {
            epoch: Epoch(1),
            tick: Tick(tick),
            from: NodeId(0),
            members: 1,
            objects: objects.values().copied().collect(),
            heard: Vec::new(),
        })
    };
    recorder.receive(Time(0), share(0, &objects));
    worlds.insert(0, objects.clone());
    for tick in 1..=ticks {
        advance(&mut objects, Tick(tick - 1), RATE);
        let all: Vec<Object> = objects.values().copied().collect();
        let mut inputs = Vec::new();
        if tick % 50 == 0 {
            inputs.push(Input::Remove(ObjectId(dice.below(40) + 1)));
            inputs.push(Input::Enter(object(&mut dice, 1000 + tick, i64::from(METRE))));
        }
        let commit = Commit {
            tick: Tick(tick),
            touches: detector.touches(&all),
            inputs,
            digest: digest(all.iter()),
            dilation: 1000,
            ..Commit::default()
        };
        apply(&mut objects, &commit, |_| true);
        recorder.receive(Time(tick * 33_000), Message::Published(Arc::new(commit)));
        worlds.insert(tick, objects.clone());
    }
    recorder.finish();
    worlds
}

/// The same, and what is read of it.
fn recorded_and_read(ticks: u64) -> (BTreeMap<u64, Objects>, LoadedRecording) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("world.rec");
    let worlds = recorded(&file, ticks);
    (worlds, LoadedRecording::read(&file).expect("a recording"))
}

fn bytes(recording: &LoadedRecording, position: &Position) -> Vec<u8> {
    FrameEncoder::new(RATE, recording.shapes.clone()).next(&position.now(recording)).to_vec()
}

#[test]
fn a_recording_is_the_same_however_one_comes_to_a_tick() {
    let (worlds, recording) = recorded_and_read(700);
    assert_eq!(
        (recording.len(), recording.tick(0), recording.tick(700)),
        (701, Tick(0), Tick(700))
    );
    let mut through = Position::new(&recording);
    let mut seen = Vec::new();
    for at in 0..recording.len() {
        assert!(through.go(&recording, at), "straight on");
        let now = through.now(&recording);
        assert_eq!(now.objects, &worlds[&now.tick.0]);
        seen.push(bytes(&recording, &through));
    }
    let (mut dice, mut position) = (Dice(5), Position::new(&recording));
    for _ in 0..200 {
        let to = dice.below(701) as usize;
        position.go(&recording, to);
        assert_eq!(position.at(), to);
        assert!(bytes(&recording, &position) == seen[to], "tick {to}");
    }
    position.go(&recording, usize::MAX);
    assert_eq!(position.at(), 700);
    assert_eq!(
        (recording.place(Tick(0)), recording.place(Tick(40)), recording.place(Tick(9999))),
        (0, 40, 700)
    );
}

#[test]
fn collisions_are_ticks_in_which_a_pair_is_new() {
    let (worlds, recording) = recorded_and_read(300);
    let pairs = |tick: u64| -> Vec<[ObjectId; 2]> {
        // Touches are found after movement, before inputs and kicks.
        let mut objects = worlds[&(tick - 1)].clone();
        advance(&mut objects, Tick(tick - 1), RATE);
        touches(&objects).iter().map(|touch| [touch.a, touch.b]).collect()
    };
    let slow: Vec<u64> = (2..=300)
        .filter(|&tick| {
            let before = pairs(tick - 1);
            pairs(tick).iter().any(|pair| !before.contains(pair))
        })
        .collect();
    assert_eq!(recording.collisions(), slow);
    assert!(slow.len() > 10 && slow.len() < 290, "{}", slow.len());
    let first = slow[0] as usize;
    assert_eq!(recording.collision(0, 1), Some(first));
    assert_eq!(recording.collision(0, 3), Some(slow[2] as usize));
    assert_eq!(recording.collision(first, -1), None);
    assert_eq!(recording.collision(first, 1), Some(slow[1] as usize));
    assert_eq!(
        recording.collision(300, -1),
        Some(slow[slow.len() - 1 - usize::from(slow.last() == Some(&300))] as usize)
    );
    assert_eq!(recording.collision(300, 1), None);
    assert_eq!(recording.collision(5, i64::MIN), None);
    assert_eq!(recording.collision(5, i64::MAX), None);
}

#[test]
fn a_recording_that_is_another_one_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("world.rec");
    recorded(&file, 30);
    let bytes = std::fs::read(&file).expect("read");
    assert!(LoadedRecording::read(&folder.path().join("none")).is_err());
    for end in [0, 8, 20, bytes.len() / 4] {
        std::fs::write(&file, &bytes[..end]).expect("written");
        // Truncated before the first world.
        assert!(LoadedRecording::read(&file).is_err(), "{end}");
    }
    let mut other = bytes.clone();
    let middle = other.len() / 2;
    other[middle] ^= 1;
    std::fs::write(&file, &other).expect("written");
    assert!(LoadedRecording::read(&file).is_err());
}
