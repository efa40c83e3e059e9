//! One step of a world, as a table of contents: each stage takes the parts that it works on.

pub(crate) mod budget;
mod events;
mod narrow;
mod visit;

use crate::bodies::{Bodies, Changed};
use crate::broad_phase::BroadPhase;
use crate::dynamics::update_bounds;
use crate::error::WorldError;
use crate::filters::Filters;
use crate::id::BodyId;
use crate::interest::QueryKind;
use crate::report::{Laps, Report};
use crate::world::World;
use narrow::{NarrowPhase, PairQuery};
use std::sync::Arc;
use std::time::Duration;

impl World {
    /// Compares what changed since the last step, and reports what began and what ended. What did
    /// not change is not looked at again.
    ///
    /// The report does not borrow the world, so the world can be changed while its events are read:
    ///
    /// ```
    /// use jostle_geom::{Pose, Shape};
    /// use jostle_world::{Body, Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let ball = Body::moving(Shape::sphere(1.0)?, Pose::IDENTITY);
    /// let (one, other) = (world.insert(ball.clone())?, world.insert(ball)?);
    /// for event in &world.step().events {
    ///     world.remove(event.b)?;
    /// }
    /// assert!(world.has(one) && !world.has(other));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step(&mut self) -> Arc<Report> {
        self.step_with(None)
    }

    /// [`World::step`] with about `budget` time for the exact tests (Storey 2006 §4.3.2.3).
    /// Hierarchies are opened less deep and fewer contacts are looked for when the last steps took
    /// too long; pairs that were cheap last time come first; what could not be looked at in time is
    /// assumed to touch. [`Limited`](crate::Limited) says which answers that concerns.
    ///
    /// # Errors
    /// [`WorldError::NoStopwatch`].
    pub fn step_within(&mut self, budget: Duration) -> Result<Arc<Report>, WorldError> {
        if self.settings.stopwatch.is_none() {
            return Err(WorldError::NoStopwatch);
        }
        Ok(self.step_with(Some(budget)))
    }

    fn step_with(&mut self, limit: Option<Duration>) -> Arc<Report> {
        let World { settings, bodies, broad_phase, filters, contacts, .. } = self;
        let mut report = Report { step: self.report.step + 1, ..Report::default() };
        let (counts, times) = (&mut report.counts, &mut report.times);
        let mut laps = Laps::start(settings.stopwatch);

        let changed = update_volumes(bodies, filters, broad_phase);
        counts.changed = changed.slots.len();
        times.volumes = laps.lap();
        let found = broad_phase.find_candidates(&settings.workers);
        (counts.box_tests, counts.structure_updates) = (found.box_tests, found.updates);
        counts.candidates = broad_phase.candidates().len();
        times.broad = laps.lap();
        let queries = select(bodies, filters, broad_phase, &changed);
        counts.tested = queries.len();
        times.filters = laps.lap();
        let narrow = NarrowPhase { bodies, broad_phase, workers: &settings.workers };
        let clock = limit.zip(settings.stopwatch);
        let (results, limited) = self.budget.run(&narrow, &queries, clock);
        report.limited = limited;
        times.narrow = laps.lap();
        let gone = bodies.take_gone();
        if !changed.slots.is_empty() || gone {
            let kept = events::Kept { bodies, changed: &changed, gone };
            report.events = events::merge(contacts, &kept, &queries, results);
            contacts.set_group_overlaps(events::group_overlaps(filters.groups(), broad_phase));
        }
        counts.contacts = contacts.all().len();
        times.events = laps.lap();
        let (mut dynamics, contacts) = self.dynamics();
        counts.responses = dynamics.respond(&changed, contacts.all());
        times.responses = laps.lap();

        self.report = Arc::new(report);
        Arc::clone(&self.report)
    }
}

/// Gives the broad phase the boxes of all changed bodies.
fn update_volumes(bodies: &mut Bodies, filters: &Filters, broad_phase: &mut BroadPhase) -> Changed {
    let changed = bodies.take_changed();
    for &slot in &changed.slots {
        update_bounds(bodies, filters, broad_phase, slot);
    }
    changed
}

/// The candidates of the broad phase that are asked about, and changed pairs whose distance is
/// wanted wherever they are; sorted by pair.
fn select(
    bodies: &Bodies,
    filters: &mut Filters,
    broad_phase: &BroadPhase,
    changed: &Changed,
) -> Vec<PairQuery> {
    filters.refresh_distance_pairs(bodies);
    let filters = &*filters;
    let query = |pair| pair_query(bodies, filters, pair);
    let near = broad_phase.candidates().iter().map(|pair| pair.map(|slot| bodies.id(slot)));
    let near = near.filter_map(query).filter(|query| query.kind != QueryKind::Distance);
    let mut queries: Vec<_> = near.collect();
    let pairs = filters.distance_pairs(bodies);
    if !pairs.is_empty() {
        let changed = pairs.iter().filter(|pair| pair.iter().any(|id| changed.has(id.slot())));
        queries.extend(changed.copied().filter_map(query));
        queries.sort_unstable_by_key(PairQuery::pair);
    }
    queries
}

/// What is asked about a pair, if anything.
fn pair_query(bodies: &Bodies, filters: &Filters, [a, b]: [BodyId; 2]) -> Option<PairQuery> {
    let kind = filters.query_kind(bodies, a, b)?;
    Some(PairQuery { a, b, kind })
}
