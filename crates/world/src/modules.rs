//! Simulation modules: callbacks for the events of a step, in a prescribed order, and the requests
//! that they make.
//!
//! After Zachmann 2000 §3.11.1: callers prescribe the order of callbacks; a module can end the turn
//! of those after it, suppress the callbacks of others for a body while its own simulation is in
//! between two states, and ask for anything that can be asked from outside.

mod actions;
mod module;

use crate::contact::{Change, Event};
use crate::id::{BodyId, GroupId};
use crate::request::{Job, Reply, RequestError};
use crate::world::World;
pub use actions::Actions;
use actions::PendingJob;
pub use module::{Call, Callback, ChangeFilter, Module, Next, Subject};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The name of a module. Never given twice by the same [`Modules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(u64);

impl fmt::Display for ModuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "module {}", self.0)
    }
}

/// Something asked of [`Modules`].
#[derive(Debug)]
pub enum ModuleRequest {
    /// [`Modules::add`].
    Add(Module),
    /// [`Modules::remove`].
    Remove(ModuleId),
    /// [`Modules::suppress`].
    Suppress {
        /// The module that is still called for the body.
        by: ModuleId,
        /// The body that no other module is called for.
        body: BodyId,
    },
    /// [`Modules::release`].
    Release {
        /// The module that suppressed.
        by: ModuleId,
        /// The body.
        body: BodyId,
    },
}

/// The result of calling the modules for a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delivery {
    /// How often a module was called.
    pub calls: u64,
    /// Requests of modules that came to nothing, in the order of asking.
    pub refused: Vec<(ModuleId, RequestError)>,
    /// Modules that panicked, with what they said. They are out of service.
    pub panicked: Vec<(ModuleId, String)>,
    /// How many further steps modules asked for. They are left to the caller.
    pub steps_wanted: u64,
}

/// Turn first by order, then by age.
type Turn = (i32, ModuleId);

/// The modules that are called for the events of a world.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Pose, Shape};
/// use jostle_world::{Body, Module, Modules, Next, Request, Settings, World};
///
/// let mut world = World::new(Settings::default());
/// let cube = Shape::cuboid(DVec3::ONE)?;
/// let part = world.insert(Body::moving(cube.clone(), Pose::IDENTITY))?;
/// let near = Pose::from_translation(DVec3::X * 0.5)?;
/// let wall = world.insert(Body::fixed(cube, near))?;
///
/// let mut modules = Modules::default();
/// modules.add(Module::new(move |call, actions| {
///     assert_eq!([call.event.a, call.event.b], [part, wall]);
///     actions.request(Request::Disable(part)); // done after the last callback
///     Next::GoOn
/// }));
/// world.step();
/// let delivery = modules.deliver(&mut world);
/// assert_eq!((delivery.calls, delivery.refused.len()), (1, 0));
/// assert!(!world.is_enabled(part)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Modules {
    modules: BTreeMap<ModuleId, Module>,
    /// The next name.
    next: u64,
    /// Modules by subject, so that the cost of an event follows its modules and not all of them.
    by_subject: BTreeMap<Subject, BTreeSet<Turn>>,
    /// Bodies that only some modules are called for, and those modules.
    suppressed: BTreeSet<(BodyId, ModuleId)>,
    /// The groups in which bodies of contacts were when last seen, of those that modules watch.
    seen_in: BTreeMap<[BodyId; 2], Vec<GroupId>>,
    /// Groups are watched now that `seen_in` does not contain.
    seen_in_is_old: bool,
}

impl Modules {
    /// Adds a module. It is called from the next step on.
    pub fn add(&mut self, module: Module) -> ModuleId {
        let id = ModuleId(self.next);
        self.next += 1;
        self.by_subject.entry(module.subject).or_default().insert((module.order, id));
        self.seen_in_is_old |= matches!(module.subject, Subject::Group(_));
        self.modules.insert(id, module);
        id
    }

    /// Takes a module out, with its suppressions.
    ///
    /// # Errors
    /// [`RequestError::UnknownModule`].
    pub fn remove(&mut self, id: ModuleId) -> Result<(), RequestError> {
        let module = self.modules.remove(&id).ok_or(RequestError::UnknownModule(id))?;
        self.suppressed.retain(|&(_, by)| by != id);
        if let Some(turns) = self.by_subject.get_mut(&module.subject) {
            turns.remove(&(module.order, id));
            if turns.is_empty() {
                self.by_subject.remove(&module.subject);
            }
        }
        // What a callback owns may panic when it is dropped; the others go on.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(module)));
        Ok(())
    }

    /// Is this module there?
    #[must_use]
    pub fn has(&self, id: ModuleId) -> bool {
        self.modules.contains_key(&id)
    }

    /// How many modules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.modules.len()
    }

    /// Returns true if there are no modules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.modules.is_empty()
    }

    /// Only `by` is called for `body`, until it releases it or one of the two is removed. If
    /// several modules suppress a body, each suppresses the others: none is called for it.
    ///
    /// # Errors
    /// A module or a body that is not there.
    pub fn suppress(
        &mut self,
        world: &World,
        by: ModuleId,
        body: BodyId,
    ) -> Result<(), RequestError> {
        self.known(by)?;
        world.bodies.get(body)?;
        self.suppressed.insert((body, by));
        Ok(())
    }

    /// Takes a suppression back, if there is one.
    ///
    /// # Errors
    /// [`RequestError::UnknownModule`].
    pub fn release(&mut self, by: ModuleId, body: BodyId) -> Result<(), RequestError> {
        self.known(by)?;
        self.suppressed.remove(&(body, by));
        Ok(())
    }

    /// Does what a request says.
    ///
    /// # Errors
    /// Those of the method of the same name.
    pub fn apply(&mut self, world: &World, request: ModuleRequest) -> Result<Reply, RequestError> {
        match request {
            ModuleRequest::Add(module) => return Ok(Reply::ModuleAdded(self.add(module))),
            ModuleRequest::Remove(id) => self.remove(id),
            ModuleRequest::Suppress { by, body } => self.suppress(world, by, body),
            ModuleRequest::Release { by, body } => self.release(by, body),
        }?;
        Ok(Reply::Done)
    }

    /// Calls the modules for the events of the last step of `world`, pair after pair in the order
    /// of [`World::events`], and then applies their requests. To be called once after each step.
    ///
    /// A module that panics is taken out; what it asked for in that call is forgotten, and the
    /// others go on.
    pub fn deliver(&mut self, world: &mut World) -> Delivery {
        let mut delivery = Delivery::default();
        if self.modules.is_empty() {
            self.seen_in.clear();
            return delivery;
        }
        self.suppressed.retain(|&(body, _)| world.has(body));
        let pending = self.call_all(world, &mut delivery);
        self.remember_groups(world);
        for PendingJob { module, job, answer } in pending {
            let result = match job {
                Job::World(request) => world.apply(request).map_err(RequestError::World),
                Job::Modules(request) => self.apply(world, request),
                Job::Step => {
                    delivery.steps_wanted += 1;
                    Ok(Reply::Done)
                }
            };
            if let Err(error) = &result {
                delivery.refused.push((module, error.clone()));
            }
            if let Some(answer) = answer {
                answer.give(result);
            }
        }
        delivery
    }

    fn call_all(&mut self, world: &World, delivery: &mut Delivery) -> Vec<PendingJob> {
        let continued = self.modules.values().any(|module| module.changes.continued);
        let events = if continued { world.events() } else { world.report().events.clone() };
        let mut pending = Vec::new();
        let mut turns = Vec::new();
        for event in events {
            let contact = world.contact(event.a, event.b);
            self.find_concerned(world, event, &mut turns);
            for &(_, module) in &turns {
                let call = Call { module, event, contact, world };
                match self.call(&call, &mut pending, delivery) {
                    Next::GoOn => {}
                    Next::NextPair => break,
                    Next::EndStep => return pending,
                }
            }
        }
        pending
    }

    fn call(
        &mut self,
        call: &Call<'_>,
        pending: &mut Vec<PendingJob>,
        delivery: &mut Delivery,
    ) -> Next {
        let id = call.module;
        let wanted = self.modules.get(&id).is_some_and(|m| m.changes.has(call.event.change));
        if !wanted || self.is_suppressed(call) {
            return Next::GoOn;
        }
        let Some(module) = self.modules.get_mut(&id) else { return Next::GoOn };
        delivery.calls += 1;
        let mut actions = Actions::of(id);
        // Nothing half done is seen after a panic: the callback and its actions are thrown away,
        // and the world is only looked at.
        match catch_unwind(AssertUnwindSafe(|| (module.callback)(call, &mut actions))) {
            Ok(next) => {
                pending.extend(actions.into_pending());
                next
            }
            Err(payload) => {
                delivery.panicked.push((id, panic_message(payload)));
                // It is there: it was just called.
                let _ = self.remove(id);
                Next::GoOn
            }
        }
    }

    /// The modules of an event, in order.
    fn find_concerned(&self, world: &World, event: Event, turns: &mut Vec<Turn>) {
        turns.clear();
        let mut add = |subject| turns.extend(self.by_subject.get(&subject).into_iter().flatten());
        add(Subject::Everything);
        add(Subject::Pair(event.a, event.b));
        for id in [event.a, event.b] {
            add(Subject::Body(id));
            groups_of(world, id).for_each(|group| add(Subject::Group(group)));
        }
        if event.change == Change::Ended {
            let groups = self.seen_in.get(&event.pair()).into_iter().flatten();
            groups.for_each(|&group| add(Subject::Group(group)));
        }
        turns.sort_unstable();
        turns.dedup();
    }

    fn is_suppressed(&self, call: &Call<'_>) -> bool {
        let Event { a, b, .. } = call.event;
        [a, b].into_iter().any(|body| {
            let all = (body, ModuleId(0))..=(body, ModuleId(u64::MAX));
            self.suppressed.range(all).any(|&(_, by)| by != call.module)
        })
    }

    /// Notes in which watched groups the bodies of contacts are, as they may be gone when the
    /// contact ends. A step in which nothing changed has nothing new to note: bodies that change
    /// their group count as changed.
    fn remember_groups(&mut self, world: &World) {
        let report = world.report();
        let quiet = report.counts.changed == 0 && report.events.is_empty();
        if quiet && !self.seen_in_is_old {
            return;
        }
        self.seen_in_is_old = false;
        self.seen_in.clear();
        let watched = |subject: &Subject| matches!(subject, Subject::Group(_));
        if !self.by_subject.keys().any(watched) {
            return;
        }
        for contact in world.contacts() {
            let pair = contact.pair();
            let groups = pair.into_iter().flat_map(|id| groups_of(world, id));
            let watched = groups.filter(|&g| self.by_subject.contains_key(&Subject::Group(g)));
            let watched: Vec<GroupId> = watched.collect();
            if !watched.is_empty() {
                self.seen_in.insert(pair, watched);
            }
        }
    }

    fn known(&self, id: ModuleId) -> Result<(), RequestError> {
        if self.has(id) { Ok(()) } else { Err(RequestError::UnknownModule(id)) }
    }
}

/// The groups around a body, the nearest first; none for a body that is gone.
fn groups_of(world: &World, id: BodyId) -> impl Iterator<Item = GroupId> + '_ {
    let nearest = world.bodies.get(id).ok().and_then(|body| body.group);
    world.filters.groups().path(nearest)
}

/// What a panic said.
pub(crate) fn panic_message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => match payload.downcast::<&'static str>() {
            Ok(text) => (*text).to_string(),
            Err(other) => {
                // Dropping an unknown value could panic once more.
                std::mem::forget(other);
                "a panic without words".to_string()
            }
        },
    }
}
