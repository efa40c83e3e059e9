//! Modules: who is called, in which order, and what becomes of what they ask for.

use glam::DVec3;
use jostle_geom::{Pose, Shape};
use jostle_world::{
    Body, BodyId, Change, ChangeFilter, ContactData, Event, GroupId, InterestTarget, Module,
    ModuleId, ModuleRequest, Modules, Next, QueryKind, Reply, Request, RequestError, Settings,
    Subject, Ticket, World, WorldError,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What was called, for callbacks to write and tests to read.
type Log<T> = Arc<Mutex<Vec<T>>>;

fn take<T>(log: &Log<T>) -> Vec<T> {
    std::mem::take(&mut log.lock().unwrap())
}

fn at(x: f64) -> Pose {
    Pose::from_translation(DVec3::X * x).unwrap()
}

/// Unit cubes at these places along x.
fn row(places: &[f64]) -> (World, Vec<BodyId>) {
    let mut world = World::new(Settings::default());
    let cube = Shape::cuboid(DVec3::ONE).unwrap();
    let insert = |&x: &f64| world.insert(Body::moving(cube.clone(), at(x))).unwrap();
    let ids = places.iter().map(insert).collect();
    (world, ids)
}

/// Writes its name and what it hears; answers always the same.
fn scribe(log: &Log<(&'static str, Event)>, name: &'static str, next: Next) -> Module {
    let log = Arc::clone(log);
    Module::new(move |call, _| {
        assert_eq!(call.contact.is_some(), call.event.change != Change::Ended);
        log.lock().unwrap().push((name, call.event));
        next
    })
}

fn names(log: &Log<(&'static str, Event)>) -> Vec<&'static str> {
    take(log).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn callbacks_come_pair_after_pair_in_the_given_order() {
    let (mut world, ids) = row(&[0.0, 0.5, 5.0, 5.5]);
    let log = Log::default();
    let mut modules = Modules::default();
    for (name, order) in [("late", 7), ("first of two", 0), ("second of two", 0), ("early", -7)] {
        modules.add(scribe(&log, name, Next::GoOn).with_order(order));
    }
    world.step();
    assert_eq!(modules.deliver(&mut world).calls, 8);
    let pairs = [[ids[0], ids[1]], [ids[2], ids[3]]];
    let order = ["early", "first of two", "second of two", "late"];
    let event = |[a, b]: [BodyId; 2]| Event { a, b, change: Change::Began };
    let expected = pairs.map(|pair| order.map(|name| (name, event(pair)))).concat();
    assert_eq!(take(&log), expected);
}

#[test]
fn a_module_can_end_the_turn_of_the_others() {
    for (next, expected) in [
        (Next::GoOn, vec!["judge", "clerk", "judge", "clerk"]),
        (Next::NextPair, vec!["judge", "judge"]),
        (Next::EndStep, vec!["judge"]),
    ] {
        let (mut world, _) = row(&[0.0, 0.5, 5.0, 5.5]);
        let log = Log::default();
        let mut modules = Modules::default();
        modules.add(scribe(&log, "judge", next));
        modules.add(scribe(&log, "clerk", Next::GoOn));
        world.step();
        modules.deliver(&mut world);
        assert_eq!(names(&log), expected);
    }
}

#[test]
fn modules_are_called_only_for_changes_that_they_want() {
    let (mut world, ids) = row(&[0.0, 0.5]);
    let log = Log::default();
    let mut modules = Modules::default();
    modules.add(scribe(&log, "changes", Next::GoOn));
    modules.add(scribe(&log, "all", Next::GoOn).with_changes(ChangeFilter::ALL));
    let ends = ChangeFilter { began: false, continued: false, ended: true };
    modules.add(scribe(&log, "ends", Next::GoOn).with_changes(ends));
    let mut step = |world: &mut World| {
        world.step();
        modules.deliver(world);
        names(&log)
    };
    assert_eq!(step(&mut world), ["changes", "all"]);
    assert_eq!(step(&mut world), ["all"]);
    // Nothing moved: no box was computed anew, no pair was looked at (Zachmann §3.11.2).
    assert_eq!(world.report().counts.changed, 0);
    assert_eq!(world.report().counts.box_tests, 0);
    assert_eq!(world.report().counts.tested, 0);
    world.set_pose(ids[0], at(9.0)).unwrap();
    assert_eq!(step(&mut world), ["changes", "all", "ends"]);
    assert_eq!(world.report().counts.changed, 1);
    assert!(step(&mut world).is_empty());
}

#[test]
fn suppression_lasts_until_released() {
    let (mut world, ids) = row(&[0.0, 0.5, 5.0, 5.5]);
    let log = Log::default();
    let mut modules = Modules::default();
    let seen = Arc::clone(&log);
    // Suppresses the others for the first body when it hears of it first, releases it when it hears
    // of it for the third time.
    let mut heard = 0;
    let first = ids[0];
    modules.add(
        Module::new(move |call, actions| {
            seen.lock().unwrap().push(("holder", call.event));
            heard += 1;
            match heard {
                1 => actions.suppress(first),
                3 => actions.release(first),
                _ => {}
            }
            Next::GoOn
        })
        .about(Subject::Body(first))
        .with_changes(ChangeFilter::ALL),
    );
    modules.add(scribe(&log, "other", Next::GoOn).with_changes(ChangeFilter::ALL));
    let mut step = || {
        world.step();
        assert_eq!(modules.deliver(&mut world).refused, []);
        names(&log)
    };
    assert_eq!(step(), ["holder", "other", "other"]);
    assert_eq!(step(), ["holder", "other"]); // the other pair is not concerned
    assert_eq!(step(), ["holder", "other"]); // released after this
    assert_eq!(step(), ["holder", "other", "other"]);
}

#[test]
fn suppression_goes_with_the_module_and_with_the_body() {
    let (mut world, ids) = row(&[0.0, 0.5]);
    let log = Log::default();
    let mut modules = Modules::default();
    let holder = modules.add(scribe(&log, "holder", Next::GoOn).with_changes(ChangeFilter::ALL));
    let other = modules.add(scribe(&log, "other", Next::GoOn).with_changes(ChangeFilter::ALL));
    let step = |world: &mut World, modules: &mut Modules| {
        world.step();
        modules.deliver(world);
        names(&log)
    };
    modules.suppress(&world, holder, ids[1]).unwrap();
    assert_eq!(step(&mut world, &mut modules), ["holder"]);
    modules.suppress(&world, other, ids[0]).unwrap();
    assert!(step(&mut world, &mut modules).is_empty(), "each suppresses the other");
    modules.remove(holder).unwrap();
    assert_eq!(step(&mut world, &mut modules), ["other"]);
    assert_eq!(modules.release(holder, ids[1]), Err(RequestError::UnknownModule(holder)));
    assert_eq!(modules.remove(holder), Err(RequestError::UnknownModule(holder)));

    let late = modules.add(scribe(&log, "late", Next::GoOn));
    world.remove(ids[0]).unwrap();
    assert_eq!(step(&mut world, &mut modules), ["other", "late"], "the held body is gone");
    let gone = RequestError::World(WorldError::UnknownBody(ids[0]));
    assert_eq!(modules.suppress(&world, late, ids[0]), Err(gone));
}

#[test]
fn a_module_disables_a_body_and_learns_whether_it_moved() {
    for moves in [false, true] {
        let (mut world, ids) = row(&[0.0, 0.5]);
        let mut modules = Modules::default();
        let tickets = Log::<Ticket>::default();
        let kept = Arc::clone(&tickets);
        let body = ids[0];
        modules.add(Module::new(move |call, actions| {
            match call.event.change {
                Change::Ended => kept.lock().unwrap().push(actions.ask(Request::Enable(body))),
                _ => actions.request(Request::Disable(body)),
            }
            Next::GoOn
        }));
        world.step();
        assert_eq!(modules.deliver(&mut world).refused, []);
        assert!(!world.is_enabled(body).unwrap());
        if moves {
            world.set_pose(body, at(20.0)).unwrap();
        }
        world.step();
        modules.deliver(&mut world);
        assert!(world.is_enabled(body).unwrap());
        let reply = take(&tickets)[0].reply().cloned();
        assert!(matches!(reply, Some(Ok(Reply::Enabled { moved })) if moved == moves));
        world.step();
        assert_eq!(world.is_touching(body, ids[1]), !moves);
    }
}

#[test]
fn requests_of_callbacks_are_applied_after_all_of_them_in_order() {
    let (mut world, ids) = row(&[0.0, 0.5]);
    let mut modules = Modules::default();
    let [a, b] = [ids[0], ids[1]];
    let asking = modules.add(Module::new(move |_, actions| {
        actions.request(Request::SetPose { id: a, pose: at(3.0) });
        actions.request(Request::SetPose { id: a, pose: at(0.2) });
        actions.request(Request::SetInterest {
            a: a.into(),
            b: b.into(),
            kind: QueryKind::AllPairs,
        });
        actions.request(Request::Remove(BodyId::from_parts([99, 0])));
        actions.request(jostle_world::Job::Step);
        Next::GoOn
    }));
    let looking = modules.add(Module::new(move |call, actions| {
        assert_eq!(call.world.pose(a).unwrap(), at(0.0), "nothing is applied yet");
        let id = call.module;
        actions.request(ModuleRequest::Remove(id));
        actions.request(ModuleRequest::Remove(id));
        Next::GoOn
    }));
    world.step();
    let delivery = modules.deliver(&mut world);
    let unknown = WorldError::UnknownBody(BodyId::from_parts([99, 0]));
    let expected =
        [(asking, RequestError::World(unknown)), (looking, RequestError::UnknownModule(looking))];
    assert_eq!(delivery.refused, expected);
    assert_eq!((delivery.calls, delivery.steps_wanted), (2, 1));
    assert!(modules.has(asking) && !modules.has(looking));
    assert_eq!(world.pose(a).unwrap(), at(0.2));

    world.step();
    let ContactData::Faces(faces) = &world.contacts()[0].data else {
        panic!("all pairs were asked for")
    };
    assert!(faces.len() > 1);
    let distance = Request::SetInterest { a: a.into(), b: b.into(), kind: QueryKind::Distance };
    world.apply(distance).unwrap();
    world.step();
    assert_eq!(world.distances().len(), 1);
}

#[test]
fn modules_can_be_added_and_bodies_inserted_by_callbacks() {
    let (mut world, _) = row(&[0.0, 0.5]);
    let cube = world.shape(world.ids().next().unwrap()).unwrap().clone();
    let log = Log::default();
    let child_log = Arc::clone(&log);
    let tickets = Log::default();
    let kept = Arc::clone(&tickets);
    let mut modules = Modules::default();
    modules.add(Module::new(move |_, actions| {
        let body = Box::new(Body::moving(cube.clone(), at(0.25)));
        let child = scribe(&child_log, "child", Next::GoOn);
        let mut kept = kept.lock().unwrap();
        kept.push(actions.ask(Request::Insert(body)));
        kept.push(actions.ask(ModuleRequest::Add(child)));
        Next::EndStep
    }));
    world.step();
    assert_eq!(modules.deliver(&mut world).refused, []);
    let tickets = take(&tickets);
    let inserted = tickets[0].body().unwrap();
    assert!(matches!(tickets[1].reply(), Some(Ok(Reply::ModuleAdded(_)))));
    assert_eq!(tickets[1].body(), None);
    modules.add(scribe(&log, "young", Next::GoOn).with_order(-1));
    world.step();
    modules.deliver(&mut world);
    // The old one ends the step at the first pair, before the child's turn.
    let heard = take(&log);
    assert_eq!(heard.len(), 1);
    assert_eq!((heard[0].0, heard[0].1.b), ("young", inserted));
}

#[test]
fn a_panicking_module_is_taken_out_and_disturbs_nobody() {
    let (mut world, ids) = row(&[0.0, 0.5, 5.0, 5.5]);
    let log = Log::default();
    let tickets = Log::default();
    let kept = Arc::clone(&tickets);
    let mut modules = Modules::default();
    modules.add(scribe(&log, "before", Next::GoOn).with_order(-1));
    let first = ids[0];
    let bad = modules.add(Module::new(move |_, actions| {
        kept.lock().unwrap().push(actions.ask(Request::Remove(first)));
        panic!("deliberate, in a test of panics")
    }));
    modules.add(scribe(&log, "after", Next::GoOn));
    modules.suppress(&world, bad, ids[3]).unwrap();
    world.step();
    let delivery = modules.deliver(&mut world);
    assert_eq!(delivery.panicked, [(bad, "deliberate, in a test of panics".to_string())]);
    assert_eq!(delivery.refused, []);
    // Its suppression goes with it, at once.
    assert_eq!(names(&log), ["before", "after", "before", "after"]);
    assert!(!modules.has(bad));
    assert!(world.has(first), "what it asked for in that call is forgotten");
    assert_eq!(take(&tickets)[0].reply().unwrap().as_ref().err(), Some(&RequestError::GivenUp));
    world.set_pose(first, at(50.0)).unwrap();
    world.step();
    assert_eq!(modules.deliver(&mut world).panicked, []);
    assert_eq!(names(&log), ["before", "after"]);
}

/// Also a panic with an odd value, and one when the callback is dropped.
#[test]
fn odd_panics_are_contained_too() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("deliberate, while dropping");
        }
    }
    let (mut world, _) = row(&[0.0, 0.5]);
    let mut modules = Modules::default();
    let bomb = Bomb;
    modules.add(Module::new(move |_, _| {
        let _owned = &bomb;
        std::panic::panic_any(17)
    }));
    world.step();
    let delivery = modules.deliver(&mut world);
    assert_eq!(delivery.panicked[0].1, "a panic without words");
    assert!(modules.is_empty());
}

/// Numbers that look random and are the same in each run (SplitMix64).
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        (jostle_dice::bits(&mut self.0) % n as u64) as usize
    }
}

/// A module as the obvious way sees it.
#[derive(Clone, Copy)]
struct Plan {
    id: ModuleId,
    order: i32,
    subject: Subject,
    changes: ChangeFilter,
}

/// Some modules end turns, depending on pair and module but not on how they are called.
fn next(module: ModuleId, event: Event, step: u64) -> Next {
    let [x, y] = [event.a, event.b].map(|id| u64::from(id.to_parts()[0]));
    let number: u64 = module.to_string().trim_start_matches("module ").parse().unwrap();
    match (number * 7 + x * 5 + y * 3 + step) % 61 {
        0 => Next::EndStep,
        1..=6 => Next::NextPair,
        _ => Next::GoOn,
    }
}

/// A world and modules that change at random, and a plain list of what is known about them.
struct Stage {
    world: World,
    cube: Shape,
    groups: [GroupId; 3],
    modules: Modules,
    log: Log<(ModuleId, Event)>,
    plans: Vec<Plan>,
    suppressed: Vec<(ModuleId, BodyId)>,
    /// Who was in which group at the last step, of the groups that were watched then.
    before: BTreeMap<BodyId, Vec<GroupId>>,
}

impl Stage {
    fn new() -> Stage {
        let mut world = World::new(Settings::default());
        let outer = world.new_group(None).unwrap();
        let inner = world.new_group(Some(outer)).unwrap();
        let groups = [outer, inner, world.new_group(None).unwrap()];
        Stage {
            world,
            cube: Shape::cuboid(DVec3::ONE).unwrap(),
            groups,
            modules: Modules::default(),
            log: Log::default(),
            plans: Vec::new(),
            suppressed: Vec::new(),
            before: BTreeMap::new(),
        }
    }

    fn any_body(&self, rng: &mut Rng) -> BodyId {
        let ids: Vec<BodyId> = self.world.ids().collect();
        ids[rng.below(ids.len())]
    }

    fn change_bodies(&mut self, rng: &mut Rng) {
        for _ in 0..4 {
            let count = self.world.len();
            let pose = at(rng.below(12) as f64 * 0.75);
            if count < 4 || rng.below(6) == 0 {
                self.world.insert(Body::moving(self.cube.clone(), pose)).unwrap();
                continue;
            }
            let id = self.any_body(rng);
            match rng.below(6) {
                0 if count > 6 => drop(self.world.remove(id).unwrap()),
                1 => self.world.set_group(id, Some(self.groups[rng.below(3)])).unwrap(),
                _ => self.world.set_pose(id, pose).unwrap(),
            }
        }
    }

    fn add_module(&mut self, rng: &mut Rng) {
        let subject = match rng.below(5) {
            0 => Subject::Everything,
            1 => Subject::Body(self.any_body(rng)),
            2 => Subject::Pair(self.any_body(rng), self.any_body(rng)),
            _ => Subject::Group(self.groups[rng.below(3)]),
        };
        let changes = [ChangeFilter::ALL, ChangeFilter::BEGAN_AND_ENDED][rng.below(2)];
        let order = rng.below(3) as i32 - 1;
        let log = Arc::clone(&self.log);
        let module = Module::new(move |call, _| {
            log.lock().unwrap().push((call.module, call.event));
            next(call.module, call.event, call.world.report().step)
        });
        let module = module.with_order(order).about(subject).with_changes(changes);
        self.plans.push(Plan { id: self.modules.add(module), order, subject, changes });
    }

    fn change_modules(&mut self, rng: &mut Rng) {
        if self.plans.len() < 3 || rng.below(4) == 0 {
            self.add_module(rng);
        }
        let by = self.plans[rng.below(self.plans.len())].id;
        match rng.below(12) {
            0 => {
                let body = self.any_body(rng);
                self.modules.suppress(&self.world, by, body).unwrap();
                self.suppressed.push((by, body));
            }
            1 => {
                for (by, body) in self.suppressed.drain(..) {
                    self.modules.release(by, body).unwrap();
                }
            }
            2 => {
                self.modules.remove(by).unwrap();
                self.plans.retain(|plan| plan.id != by);
                self.suppressed.retain(|&(other, _)| other != by);
            }
            _ => {}
        }
    }

    fn groups_of(&self, id: BodyId) -> Vec<GroupId> {
        let inside = |g: &GroupId| self.world.group_members(*g).unwrap().contains(&id);
        self.groups.into_iter().filter(inside).collect()
    }

    fn concerns(&self, plan: &Plan, event: Event) -> bool {
        let both = [event.a, event.b];
        let wanted = match event.change {
            Change::Began => plan.changes.began,
            Change::Continued => plan.changes.continued,
            Change::Ended => plan.changes.ended,
        };
        let silent = |(by, body): &(ModuleId, BodyId)| *by != plan.id && both.contains(body);
        let about = match plan.subject {
            Subject::Everything => true,
            Subject::Body(id) => both.contains(&id),
            Subject::Pair(a, b) => both == [a, b] || both == [b, a],
            Subject::Group(g) => both.iter().any(|id| {
                let was = self.before.get(id).is_some_and(|groups| groups.contains(&g));
                self.groups_of(*id).contains(&g) || (event.change == Change::Ended && was)
            }),
        };
        wanted && about && !self.suppressed.iter().any(silent)
    }

    /// Every event with every module, in the plainest way.
    fn expected_calls(&self) -> Vec<(ModuleId, Event)> {
        let mut plans = self.plans.clone();
        plans.sort_by_key(|plan| (plan.order, plan.id));
        let mut calls = Vec::new();
        for event in self.world.events() {
            for plan in plans.iter().filter(|plan| self.concerns(plan, event)) {
                calls.push((plan.id, event));
                match next(plan.id, event, self.world.report().step) {
                    Next::GoOn => {}
                    Next::NextPair => break,
                    Next::EndStep => return calls,
                }
            }
        }
        calls
    }

    fn remember_groups(&mut self) {
        let watched = |g: &GroupId| self.plans.iter().any(|p| p.subject == Subject::Group(*g));
        let groups = |id| self.groups_of(id).into_iter().filter(watched).collect();
        self.before = self.world.ids().map(|id| (id, groups(id))).collect();
    }
}

#[test]
fn the_same_calls_as_found_in_the_obvious_way() {
    let mut seen = [0; 3];
    for seed in 0..60 {
        let rng = &mut Rng(seed);
        let mut stage = Stage::new();
        for step in 0..30 {
            stage.change_bodies(rng);
            stage.change_modules(rng);
            stage.world.step();
            stage.suppressed.retain(|&(_, body)| stage.world.has(body));
            let expected = stage.expected_calls();
            let delivery = stage.modules.deliver(&mut stage.world);
            let calls = take(&stage.log);
            assert_eq!(calls, expected, "seed {seed}, step {step}");
            assert_eq!(delivery.calls, calls.len() as u64);
            calls.iter().for_each(|(_, event)| seen[event.change as usize] += 1);
            stage.remember_groups();
        }
    }
    assert!(seen.iter().all(|&n| n > 500), "lopsided: {seen:?}");
}

#[test]
fn a_group_hears_of_the_end_of_a_member_that_is_gone() {
    let (mut world, ids) = row(&[0.0, 0.5]);
    let outer = world.new_group(None).unwrap();
    let inner = world.new_group(Some(outer)).unwrap();
    world.set_group(ids[1], Some(inner)).unwrap();
    let log = Log::default();
    let mut modules = Modules::default();
    modules.add(scribe(&log, "group", Next::GoOn).about(Subject::Group(outer)));
    world.step();
    modules.deliver(&mut world);
    world.step();
    modules.deliver(&mut world);
    world.remove(ids[1]).unwrap();
    world.step();
    modules.deliver(&mut world);
    let changes: Vec<Change> = take(&log).into_iter().map(|(_, event)| event.change).collect();
    assert_eq!(changes, [Change::Began, Change::Ended]);
}

#[test]
fn every_request_does_what_its_method_does() {
    let (mut world, ids) = row(&[0.0, 5.0]);
    let [a, b] = [ids[0], ids[1]];
    let reply = world.apply(Request::NewGroup { parent: None }).unwrap();
    let Reply::NewGroup(group) = reply else { panic!("{reply:?}") };
    world.apply(Request::SetGroup { id: a, group: Some(group) }).unwrap();
    assert_eq!(world.group_members(group).unwrap(), [a]);
    let not_empty = world.apply(Request::RemoveGroup(group)).unwrap_err();
    assert_eq!(not_empty, WorldError::GroupNotEmpty(group));
    let (one, other) = (InterestTarget::Group(group), InterestTarget::Body(b));
    world.apply(Request::SetInterest { a: one, b: other, kind: QueryKind::Volume }).unwrap();
    assert_eq!(world.query_kind(a, b), Some(QueryKind::Volume));
    let reply = world.apply(Request::RemoveInterest { a: other, b: one }).unwrap();
    assert!(matches!(reply, Reply::InterestRemoved { was_there: true }));
    world.apply(Request::IgnorePair(a, b)).unwrap();
    assert_eq!(world.query_kind(a, b), None);
    world.apply(Request::UnignorePair(b, a)).unwrap();
    assert_eq!(world.query_kind(a, b), Some(QueryKind::Touch));
    let velocity = jostle_world::Velocity::straight(DVec3::Y);
    world.apply(Request::SetVelocity { id: a, velocity }).unwrap();
    assert_eq!(world.velocity(a).unwrap(), velocity);
    let groups = jostle_world::CollisionGroups { memberships: 1, filter: 0 };
    world.apply(Request::SetCollisionGroups { id: a, groups }).unwrap();
    assert_eq!(world.query_kind(a, b), None);
    world.apply(Request::SetResponse { id: a, response: None }).unwrap();
    let shape = Shape::cuboid(DVec3::splat(9.5)).unwrap();
    world
        .apply(Request::SetCollisionGroups { id: a, groups: jostle_world::CollisionGroups::ALL })
        .unwrap();
    world.apply(Request::SetShape { id: a, shape }).unwrap();
    world.step();
    assert!(world.is_touching(a, b));
    let deform = Request::Deform { id: a, vertices: Vec::new() };
    assert_eq!(world.apply(deform).unwrap_err(), WorldError::NotDeforming(a));
    assert!(matches!(world.apply(Request::Remove(a)), Ok(Reply::Removed(_))));
    assert_eq!(world.apply(Request::Remove(a)).unwrap_err(), WorldError::UnknownBody(a));
}
