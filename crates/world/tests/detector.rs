//! The detector: no caller waits, nothing is lost, and it ends in order whatever happens.

use glam::DVec3;
use jostle_geom::{Pose, Shape};
use jostle_world::{
    Body, BodyId, ChangeFilter, Detector, DetectorError, DetectorSettings, Event, Handle, Job,
    Module, ModuleRequest, Modules, Next, Pace, PostError, Reply, Request, RequestError, Settings,
    ShutdownError, Subject, WaitError, World, WorldError,
};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// Numbers that look random and are the same in each run (SplitMix64).
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        jostle_dice::bits(&mut self.0) % n
    }

    /// Somewhere in a space in which some of our bodies touch and some do not.
    fn pose(&mut self) -> Pose {
        let [x, y, z] = [(); 3].map(|()| self.below(400) as f64 * 0.01);
        Pose::from_translation(DVec3::new(x, y, z)).unwrap()
    }
}

fn at(x: f64) -> Pose {
    Pose::from_translation(DVec3::X * x).unwrap()
}

/// Cubes far apart from each other.
fn cubes(count: usize) -> (World, Vec<BodyId>) {
    let mut world = World::new(Settings::default());
    let cube = Shape::cuboid(DVec3::ONE).unwrap();
    let mut insert = |n| world.insert(Body::moving(cube.clone(), at(10.0 * n as f64))).unwrap();
    let ids = (0..count).map(&mut insert).collect();
    (world, ids)
}

fn start(world: World, modules: Modules) -> Detector {
    Detector::start(world, modules, DetectorSettings::default()).unwrap()
}

fn set_pose(id: BodyId, pose: Pose) -> Request {
    Request::SetPose { id, pose }
}

/// Posts `count` moves of its own bodies. Returns where it left them.
fn produce(handle: &Handle, ids: &[BodyId], seed: u64, count: u64) -> Vec<(BodyId, Pose)> {
    let mut rng = Rng(seed);
    let mut last: Vec<_> = ids.iter().map(|&id| (id, Pose::IDENTITY)).collect();
    for n in 0..count {
        let body = &mut last[n as usize % ids.len()];
        body.1 = rng.pose();
        handle.post(set_pose(body.0, body.1)).expect("an unbounded queue takes everything");
    }
    last
}

/// The world that a plain caller gets who knows only where everything is at last.
fn plain_world(count: usize, last: &[(BodyId, Pose)]) -> World {
    let (mut world, _) = cubes(count);
    last.iter().for_each(|&(id, pose)| world.set_pose(id, pose).unwrap());
    world.step();
    world
}

fn assert_same(world: &World, plain: &World) {
    assert_eq!(world.contacts(), plain.contacts());
    for id in plain.ids() {
        assert_eq!(world.pose(id), plain.pose(id), "{id}");
    }
}

#[test]
fn a_million_posts_from_four_threads_all_arrive() {
    const THREADS: usize = 4;
    const EACH: u64 = 250_000;
    let (world, ids) = cubes(8 * THREADS);
    let detector = start(world, Modules::default());
    let handle = detector.handle();
    let done = AtomicBool::new(false);
    let last: Vec<_> = thread::scope(|scope| {
        // Meanwhile another thread reads: always a whole state, never an older one than before.
        scope.spawn(|| {
            let mut before = (0, 0);
            while !done.load(Ordering::Relaxed) {
                let latest = handle.latest();
                let now = (latest.report.step, latest.applied);
                assert!(now.0 >= before.0 && now.1 >= before.1, "{before:?} then {now:?}");
                assert_eq!(latest.report.counts.contacts, latest.contacts.len());
                before = now;
                thread::yield_now();
            }
        });
        let producer = |(n, ids): (usize, &[BodyId])| {
            let (handle, ids) = (handle.clone(), ids.to_vec());
            scope.spawn(move || produce(&handle, &ids, n as u64, EACH))
        };
        let producers: Vec<_> = ids.chunks(8).enumerate().map(producer).collect();
        let last = producers.into_iter().flat_map(|p| p.join().unwrap()).collect();
        done.store(true, Ordering::Relaxed);
        last
    });
    let published = handle.wait_until_applied(THREADS as u64 * EACH).unwrap();
    assert_eq!(published.applied, THREADS as u64 * EACH);
    assert_eq!(published.errors_total, 0);
    let (world, _) = detector.shutdown().unwrap();
    let plain = plain_world(ids.len(), &last);
    assert_same(&world, &plain);
    assert_eq!(published.contacts, plain.contacts());
    let count = plain.contacts().len();
    assert!(count > 10 && count < 200, "lopsided: {count} contacts");
}

/// A module that stays in its callback until it is sent on, and a way to know that it is in.
fn stopper() -> (Module, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel();
    let mut open = false;
    let module = Module::new(move |_, _| {
        if !open {
            entered.send(()).unwrap();
            gate.recv().unwrap();
            open = true;
        }
        Next::GoOn
    });
    (module, inside, go_on)
}

/// A detector that does nothing until it is sent on.
fn stuck(count: usize, settings: DetectorSettings) -> (Detector, Vec<BodyId>, mpsc::Sender<()>) {
    let (world, ids) = cubes(count);
    let (module, inside, go_on) = stopper();
    let mut modules = Modules::default();
    modules.add(module);
    let detector = Detector::start(world, modules, settings).unwrap();
    detector.handle().post(set_pose(ids[0], at(10.0))).unwrap();
    inside.recv().unwrap();
    (detector, ids, go_on)
}

#[test]
fn producers_do_not_wait_for_a_detector_that_is_stuck() {
    let (detector, ids, go_on) = stuck(8, DetectorSettings::default());
    let handle = detector.handle();
    // The detector does nothing at all until this thread says so: were a post or a look at the
    // results to wait for it, this test would not end.
    let before = handle.latest().applied;
    let last: Vec<_> = thread::scope(|scope| {
        let producer = |(n, ids): (usize, &[BodyId])| {
            let (handle, ids) = (handle.clone(), ids.to_vec());
            scope.spawn(move || produce(&handle, &ids, n as u64, 25_000))
        };
        let producers: Vec<_> = ids.chunks(2).enumerate().map(producer).collect();
        producers.into_iter().flat_map(|p| p.join().unwrap()).collect()
    });
    assert_eq!(handle.latest().applied, before);
    go_on.send(()).unwrap();
    let (world, modules) = detector.shutdown().unwrap();
    assert_eq!(modules.len(), 1);
    assert_eq!(handle.latest().applied, 100_001);
    assert_same(&world, &plain_world(ids.len(), &last));
}

#[test]
fn shutdown_applies_exactly_what_was_accepted() {
    for round in 0..20 {
        let (world, ids) = cubes(8);
        let detector = start(world, Modules::default());
        let handle = detector.handle();
        let (world, results) = thread::scope(|scope| {
            let (some, enough) = mpsc::channel();
            let producer = |(n, ids): (usize, &[BodyId])| {
                let (handle, id, some) = (handle.clone(), ids[0], some.clone());
                scope.spawn(move || post_until_stopped(&handle, id, n as u64, &some))
            };
            let producers: Vec<_> = ids.chunks(2).enumerate().map(producer).collect();
            (0..=round % 4).for_each(|_| enough.recv().unwrap());
            let (world, _) = detector.shutdown().unwrap();
            let results: Vec<_> = producers.into_iter().map(|p| p.join().unwrap()).collect();
            (world, results)
        });
        let accepted: u64 = results.iter().map(|result| result.0).sum();
        assert_eq!(handle.latest().applied, accepted, "round {round}");
        let last: Vec<_> = results.iter().filter_map(|result| result.1).collect();
        assert_same(&world, &plain_world(ids.len(), &last));
    }
}

/// Counts what was accepted, and remembers the last of it. Says when it has come some way.
fn post_until_stopped(
    handle: &Handle,
    id: BodyId,
    seed: u64,
    some: &mpsc::Sender<()>,
) -> (u64, Option<(BodyId, Pose)>) {
    let mut rng = Rng(seed);
    let mut last = None;
    for accepted in 0.. {
        if accepted == 500 {
            some.send(()).unwrap();
        }
        let pose = rng.pose();
        match handle.post(set_pose(id, pose)) {
            Ok(()) => last = Some((id, pose)),
            Err(PostError::Stopped(job)) => {
                let same =
                    matches!(*job, Job::World(Request::SetPose { pose: p, .. }) if p == pose);
                assert!(same, "the same request comes back");
                assert!(!handle.is_running());
                return (accepted, last);
            }
            Err(refused) => panic!("{refused}"),
        }
    }
    unreachable!("the loop has no end of its own")
}

#[test]
fn a_full_queue_hands_requests_back() {
    let capacity = NonZeroUsize::new(5);
    let settings = DetectorSettings { capacity, ..DetectorSettings::default() };
    let (detector, ids, go_on) = stuck(2, settings);
    let handle = detector.handle();
    for n in 0..5 {
        handle.post(set_pose(ids[0], at(f64::from(n)))).unwrap();
    }
    let Err(PostError::Full(job)) = handle.post(set_pose(ids[0], at(77.0))) else {
        panic!("there are five already")
    };
    assert!(matches!(handle.ask(Request::Remove(ids[0])), Err(PostError::Full(_))));
    go_on.send(()).unwrap();
    assert_eq!(handle.wait_until_applied(6).unwrap().applied, 6);
    let Job::World(request) = *job else { panic!("{job:?}") };
    handle.post(request).unwrap(); // it can simply be posted again
    let (world, _) = detector.shutdown().unwrap();
    assert_eq!(world.pose(ids[0]).unwrap(), at(77.0));
}

#[test]
fn tickets_bring_replies_and_the_others_become_errors() {
    let settings = DetectorSettings { errors_kept: 3, ..DetectorSettings::default() };
    let world = World::new(Settings::default());
    let detector = Detector::start(world, Modules::default(), settings).unwrap();
    let handle = detector.handle();
    let cube = Shape::cuboid(DVec3::ONE).unwrap();
    let body = Box::new(Body::fixed(cube, Pose::IDENTITY));
    let ticket = handle.ask(Request::Insert(body)).unwrap();
    handle.wait_until_applied(1).unwrap();
    let id = ticket.body().unwrap();
    let refused = handle.ask(set_pose(id, at(1.0))).unwrap();
    for _ in 0..5 {
        handle.post(set_pose(id, at(1.0))).unwrap();
    }
    let published = handle.wait_until_applied(7).unwrap();
    let fixed = RequestError::World(WorldError::Fixed(id));
    assert_eq!(refused.reply().unwrap().as_ref().err(), Some(&fixed));
    let trouble = |number| DetectorError::Request { number, error: fixed.clone() };
    assert_eq!(published.errors, [5, 6, 7].map(trouble));
    assert_eq!(published.errors_total, 5);
    assert_eq!(detector.shutdown().unwrap().0.len(), 1);
}

#[test]
fn on_demand_it_does_what_a_plain_world_does_step_by_step() {
    let (world, ids) = cubes(6);
    let mut plain = world.clone();
    let log: Arc<Mutex<Vec<Event>>> = Arc::default();
    let settings = DetectorSettings { pace: Pace::OnDemand, ..DetectorSettings::default() };
    let detector = Detector::start(world, Modules::default(), settings).unwrap();
    let handle = detector.handle();
    let heard = Arc::clone(&log);
    let module = Module::new(move |call, _| {
        heard.lock().unwrap().push(call.event);
        Next::GoOn
    });
    let added = handle.ask(ModuleRequest::Add(module.with_changes(ChangeFilter::ALL))).unwrap();
    let mut expected = Vec::new();
    let mut rng = Rng(1);
    let mut last = None;
    for _ in 0..200 {
        for _ in 0..3 {
            let request = set_pose(ids[rng.below(6) as usize], rng.pose());
            plain.apply(request.clone()).unwrap();
            handle.post(request).unwrap();
        }
        plain.step();
        expected.extend(plain.events());
        last = Some(handle.ask(Job::Step).unwrap());
    }
    handle.post(set_pose(ids[0], at(99.0))).unwrap(); // applied, but no step is requested
    let (world, modules) = detector.shutdown().unwrap();
    assert!(matches!(last.unwrap().reply(), Some(Ok(Reply::Done))));
    let Some(&Ok(Reply::ModuleAdded(id))) = added.reply() else { panic!("{added:?}") };
    assert!(modules.has(id));
    assert_eq!(*log.lock().unwrap(), expected);
    assert!(expected.len() > 200);
    assert_eq!(world.contacts(), plain.contacts());
    assert_eq!(world.report(), plain.report());
    assert_eq!(world.pose(ids[0]).unwrap(), at(99.0));
    assert_eq!(handle.latest().applied, 601);
}

#[test]
fn a_panic_in_a_callback_concerns_only_that_module() {
    let (world, ids) = cubes(2);
    let mut modules = Modules::default();
    let bad = modules.add(Module::new(|_, _| panic!("deliberate, in a test of panics")));
    let (sender, heard) = mpsc::channel();
    let good = modules.add(Module::new(move |call, _| {
        sender.send(call.event.change).unwrap();
        Next::GoOn
    }));
    let detector = start(world, modules);
    let handle = detector.handle();
    handle.post(set_pose(ids[0], at(10.0))).unwrap();
    heard.recv().unwrap();
    handle.post(set_pose(ids[0], at(-10.0))).unwrap();
    heard.recv().unwrap();
    let published = handle.wait_until_applied(2).unwrap();
    let message = "deliberate, in a test of panics".to_string();
    assert_eq!(published.errors, [DetectorError::ModulePanicked { module: bad, message }]);
    let (_, modules) = detector.shutdown().unwrap();
    assert!(modules.has(good) && !modules.has(bad));
}

/// A clock that panics as soon as one of the cases below says so.
fn broken_clock() -> Duration {
    assert!(!CLOCK_IS_BROKEN.load(Ordering::Relaxed), "deliberate, in the middle of a step");
    Duration::ZERO
}

static CLOCK_IS_BROKEN: AtomicBool = AtomicBool::new(false);

#[test]
fn a_panic_in_a_step_leaves_nobody_waiting() {
    let settings = Settings { stopwatch: Some(broken_clock), ..Settings::default() };
    let mut world = World::new(settings);
    let cube = Shape::cuboid(DVec3::ONE).unwrap();
    let id = world.insert(Body::moving(cube, Pose::IDENTITY)).unwrap();
    let settings = DetectorSettings { pace: Pace::OnDemand, ..DetectorSettings::default() };
    let detector = Detector::start(world, Modules::default(), settings).unwrap();
    let handle = detector.handle();
    handle.post(Job::Step).unwrap();
    handle.wait_until_applied(0).unwrap();
    let waiting = handle.clone();
    let waiter = thread::spawn(move || waiting.wait_until_applied(1_000_000).map(|_| ()));
    CLOCK_IS_BROKEN.store(true, Ordering::Relaxed);
    let last = handle.ask(Job::Step).unwrap();
    while let Ok(ticket) = handle.ask(Request::Disable(id)) {
        // Whatever is still accepted gets some answer in the end.
        while ticket.reply().is_none() {
            thread::yield_now();
        }
    }
    assert_eq!(waiter.join().unwrap(), Err(WaitError::Stopped));
    assert!(matches!(handle.post(Request::Disable(id)), Err(PostError::Stopped(_))));
    assert_eq!(handle.wait_until_applied(1_000_000).map(|_| ()), Err(WaitError::Stopped));
    assert!(!handle.is_running());
    let message = "deliberate, in the middle of a step".to_string();
    assert_eq!(detector.shutdown().map(|_| ()), Err(ShutdownError::Panicked(message)));
    assert_eq!(last.reply().unwrap().as_ref().err(), Some(&RequestError::GivenUp));
}

#[test]
fn dropping_it_stops_producers() {
    for _ in 0..20 {
        let (world, ids) = cubes(4);
        let detector = start(world, Modules::default());
        thread::scope(|scope| {
            let (some, enough) = mpsc::channel();
            for (n, &id) in ids.iter().enumerate() {
                let (handle, some) = (detector.handle(), some.clone());
                scope.spawn(move || post_until_stopped(&handle, id, n as u64, &some));
            }
            enough.recv().unwrap();
            drop(detector); // the scope ends only if all producers come to know of it
        });
    }
}

#[test]
fn callbacks_may_post_but_not_wait() {
    let (world, ids) = cubes(3);
    let detector = start(world, Modules::default());
    let handle = detector.handle();
    let (sender, heard) = mpsc::channel();
    let inner = handle.clone();
    let third = ids[2];
    let module = Module::new(move |_, _| {
        sender.send(inner.wait_until_applied(99).map(|_| ())).unwrap();
        inner.post(set_pose(third, at(-50.0))).unwrap();
        // Uses up the wake-up that came with the post; the detector must not rely on it.
        thread::park();
        Next::GoOn
    });
    handle.post(ModuleRequest::Add(module.about(Subject::Pair(ids[1], ids[0])))).unwrap();
    handle.post(set_pose(ids[0], at(10.0))).unwrap();
    assert_eq!(heard.recv().unwrap(), Err(WaitError::FromCallback));
    handle.wait_until_applied(3).unwrap();
    let (world, _) = detector.shutdown().unwrap();
    assert_eq!(world.pose(third).unwrap(), at(-50.0));
}

#[test]
fn a_callback_that_shuts_its_detector_down_does_not_wait_for_itself() {
    for dropped in [false, true] {
        let (world, ids) = cubes(2);
        let detector = start(world, Modules::default());
        let handle = detector.handle();
        let mut own = Some(detector);
        let (sender, heard) = mpsc::channel();
        let module = Module::new(move |_, _| {
            if dropped {
                drop(own.take());
            } else if let Some(own) = own.take() {
                sender.send(own.shutdown().map(|_| ())).unwrap();
            }
            Next::GoOn
        });
        handle.post(ModuleRequest::Add(module)).unwrap();
        handle.post(set_pose(ids[0], at(10.0))).unwrap();
        // The sender goes with the module, the module with the thread.
        let result = heard.iter().collect::<Vec<_>>();
        let expected = if dropped { vec![] } else { vec![Err(ShutdownError::FromCallback)] };
        assert_eq!(result, expected);
        assert!(!handle.is_running());
        assert_eq!(handle.latest().applied, 2);
    }
}

#[test]
fn modules_can_keep_it_going() {
    for pace in [Pace::Eager, Pace::OnDemand] {
        let (world, ids) = cubes(2);
        let (sender, heard) = mpsc::channel();
        let mut modules = Modules::default();
        let mut x = 10.0;
        let id = ids[0];
        // Pushes itself out of the other cube in small steps, without help from outside.
        modules.add(
            Module::new(move |call, actions| {
                sender.send(call.event.change).unwrap();
                x += 0.25;
                actions.request(set_pose(id, at(x)));
                actions.request(Job::Step);
                Next::GoOn
            })
            .with_changes(ChangeFilter { ended: false, ..ChangeFilter::ALL }),
        );
        let settings = DetectorSettings { pace, ..DetectorSettings::default() };
        let detector = Detector::start(world, modules, settings).unwrap();
        let handle = detector.handle();
        handle.post(set_pose(id, at(10.0))).unwrap();
        handle.post(Job::Step).unwrap();
        let calls = heard.iter().take(5).count();
        assert_eq!(calls, 5, "from 0 to 1.00, where they still touch");
        let (world, _) = detector.shutdown().unwrap();
        assert_eq!(world.pose(id).unwrap(), at(11.25));
    }
}
