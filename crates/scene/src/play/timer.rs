//! `TimeSensor`: when it runs, and what it sends (ISO/IEC 14772-1, 4.6.9 and 6.50).

use super::{Play, Problem};
use crate::nodes::{FieldIndex, Kind};
use crate::scene::{NodeId, Value};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// How many starts and stops one call of the host may cause. Sensors that start each other with
/// tiny cycles could keep a frame busy for ever; a thousand sensors that each start and stop five
/// times in a frame still get through.
const MOMENTS: usize = 10_000;

/// A finite time, in order.
#[derive(Clone, Copy, Debug)]
struct Moment(f64);

impl PartialEq for Moment {
    fn eq(&self, other: &Moment) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Moment {}
impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Moment) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Moment {
    fn cmp(&self, other: &Moment) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// All `TimeSensor`s, with the queue of starts and stops.
#[derive(Debug, Default)]
pub(super) struct Timers {
    all: BTreeMap<NodeId, Timer>,
    running: BTreeSet<NodeId>,
    /// When a sensor starts or stops next.
    due: BTreeSet<(Moment, NodeId)>,
    /// While a scene starts, a cycle that began earlier is not sent (6.50, last paragraph).
    loading: bool,
}

/// The state of a `TimeSensor` beyond its fields.
#[derive(Debug, Default)]
struct Timer {
    running: bool,
    /// The last cycle that was sent.
    cycle: f64,
    /// The number of the cycle after which it stops, if it does not loop.
    last_cycle: f64,
    /// The last time that was sent.
    ticked: f64,
    due: Option<Moment>,
    /// A startTime that came while it ran, and the cascade in which it came.
    ignored_start: Option<(u64, f64)>,
}

/// The fields of a `TimeSensor`.
#[derive(Clone, Copy)]
struct Clock {
    enabled: bool,
    looping: bool,
    start: f64,
    stop: f64,
    interval: f64,
}

impl Clock {
    fn of(kind: &Kind) -> Option<Clock> {
        match kind {
            Kind::TimeSensor(node) => Some(Clock {
                enabled: node.enabled,
                looping: node.looping,
                start: node.start_time,
                stop: node.stop_time,
                interval: node.cycle_interval,
            }),
            _ => None,
        }
    }

    fn is_usable(self) -> bool {
        self.start.is_finite()
            && self.stop.is_finite()
            && self.interval.is_finite()
            && self.interval > 0.0
    }

    /// When a cycle begins; they count from 0.
    fn cycle_start(self, cycle: f64) -> f64 {
        self.start + cycle * self.interval
    }

    /// The cycle that a time from `start` on is in: the last that has begun by then. The division
    /// may be off by one where a cycle begins, so what [`Clock::cycle_start`] says decides.
    fn cycle_at(self, time: f64) -> f64 {
        let cycle = ((time - self.start) / self.interval).floor();
        if self.cycle_start(cycle) > time {
            (cycle - 1.0).max(0.0)
        } else if self.cycle_start(cycle + 1.0) <= time {
            cycle + 1.0
        } else {
            cycle
        }
    }

    /// How much of its cycle is over: 1 at the end of a cycle, which is also the beginning of
    /// the next; 0 only at `start`.
    fn fraction(self, time: f64) -> f32 {
        let cycle = self.cycle_at(time);
        let part = (time - self.start) / self.interval - cycle;
        // The standard's "f == 0.0 && now > startTime"; rounding may also put a time right after
        // the beginning of a cycle before it.
        let is_end = self.cycle_start(cycle) == time || part <= 0.0;
        if is_end && time > self.start { 1.0 } else { part.min(1.0) as f32 }
    }

    /// Returns true if an inactive sensor starts at this time; an active one waits for its end.
    fn runs_at(self, time: f64) -> bool {
        self.enabled
            && self.is_usable()
            && time >= self.start
            && !(self.stop > self.start && time >= self.stop)
            && (self.looping || self.cycle_at(time) < 1.0)
    }

    /// When it will stop, if it stops after this cycle unless it loops.
    fn end(self, last_cycle: f64) -> Option<f64> {
        let stop = (self.stop > self.start).then_some(self.stop);
        let last = (!self.looping).then(|| self.cycle_start(last_cycle + 1.0));
        match (stop, last) {
            (Some(stop), Some(last)) => Some(stop.min(last)),
            (stop, last) => stop.or(last),
        }
    }
}

impl Play {
    /// Finds the sensors, before the first event.
    pub(super) fn list_timers(&mut self) {
        let timers: Vec<(NodeId, Clock)> = self
            .scene
            .nodes()
            .filter_map(|(id, node)| Some((id, Clock::of(&node.kind)?)))
            .collect();
        for (id, clock) in timers {
            if !clock.is_usable() {
                self.problems.push(Problem::BadTimes { node: id });
            }
            self.timers.all.insert(id, Timer::default());
            self.schedule(id);
        }
    }

    /// Starts the sensors that would run if the scene had run before its start time.
    pub(super) fn start_timers(&mut self) {
        self.timers.loading = true;
        self.run_timers(self.now);
        self.timers.loading = false;
    }

    /// Starts and stops sensors in the order of time, up to this time.
    pub(super) fn run_timers(&mut self, until: f64) {
        let mut left = MOMENTS;
        while let Some(&(moment, id)) = self.timers.due.first()
            && moment.0 <= until
        {
            if left == 0 {
                self.problems.push(Problem::TooOften { time: self.now });
                return;
            }
            left -= 1;
            self.now = self.now.max(moment.0);
            self.begin_cascade();
            self.start_or_stop(id, moment.0);
            self.run_cascade();
        }
    }

    /// Sends the time of every running sensor, once.
    pub(super) fn tick_timers(&mut self) {
        let now = self.now;
        let running: Vec<NodeId> = self.timers.running.iter().copied().collect();
        for id in running {
            let Some(clock) = Clock::of(&self.scene.node(id).kind) else { continue };
            let Some(timer) = self.timers.all.get_mut(&id) else { continue };
            // A sensor that has sent this time, or that is due to stop and had to wait.
            if timer.ticked >= now || timer.due.is_some_and(|due| due.0 <= now) {
                continue;
            }
            let cycle = clock.cycle_at(now);
            let new_cycle = cycle > timer.cycle;
            timer.cycle = timer.cycle.max(cycle);
            timer.ticked = now;
            if new_cycle {
                self.give_named(id, "cycleTime", clock.cycle_start(cycle));
            }
            self.give_named(id, "fraction_changed", clock.fraction(now));
            self.give_named(id, "time", now);
        }
    }

    /// A field of a `TimeSensor` is to change.
    pub(super) fn set_timer(&mut self, id: NodeId, field: FieldIndex, value: Value) {
        let now = self.now;
        let number = self.cascade.number();
        let kind = &self.scene.node(id).kind;
        let (Some(clock), Some(timer)) = (Clock::of(kind), self.timers.all.get_mut(&id)) else {
            return;
        };
        let name = kind.fields().get(field).map_or("", |spec| spec.name);
        let mut stops = false;
        match (name, &value) {
            ("startTime", &Value::Time(start)) if timer.running => {
                timer.ignored_start = Some((number, start));
                return;
            }
            ("cycleInterval", _) if timer.running => return,
            ("cycleInterval", &Value::Time(interval)) if interval <= 0.0 => {
                self.problems.push(Problem::BadTimes { node: id });
                return;
            }
            ("stopTime", &Value::Time(stop)) if timer.running => {
                if stop <= clock.start {
                    return;
                }
                stops = stop <= now;
            }
            ("loop", Value::Bool(false)) if timer.running && clock.looping => {
                timer.last_cycle = clock.cycle_at(now).max(timer.cycle);
            }
            // Sends its final events before it is disabled (6.50).
            ("enabled", Value::Bool(false)) if timer.running => self.stop(id, clock, now),
            _ => {}
        }
        self.store_and_send(id, field, value);
        if stops {
            self.stop(id, clock, now);
            self.restart(id);
        }
        self.schedule(id);
    }

    /// "Should be processed as set_stopTime, then set_startTime" (4.6.9), in whatever order the
    /// routes have brought the two.
    fn restart(&mut self, id: NodeId) {
        let number = self.cascade.number();
        let ignored = self.timers.all.get_mut(&id).and_then(|timer| timer.ignored_start.take());
        let field = self.scene.node(id).kind.field("startTime");
        if let (Some((asked, start)), Some(field)) = (ignored, field)
            && asked == number
        {
            self.store_and_send(id, field, Value::Time(start));
        }
    }

    fn start_or_stop(&mut self, id: NodeId, due: f64) {
        let now = self.now;
        let Some(clock) = Clock::of(&self.scene.node(id).kind) else { return };
        match self.timers.all.get(&id) {
            Some(timer) if timer.running => self.stop(id, clock, due),
            _ if clock.runs_at(now) => self.start(id, clock),
            _ => {}
        }
        self.schedule(id);
    }

    fn start(&mut self, id: NodeId, clock: Clock) {
        let now = self.now;
        let Some(timer) = self.timers.all.get_mut(&id) else { return };
        let cycle = clock.cycle_at(now);
        (timer.running, timer.ticked) = (true, now);
        (timer.cycle, timer.last_cycle) = (cycle, cycle);
        self.timers.running.insert(id);
        self.give_named(id, "isActive", true);
        let cycle_start = clock.cycle_start(cycle);
        if cycle_start == now || !self.timers.loading {
            self.give_named(id, "cycleTime", cycle_start);
        }
        self.give_named(id, "fraction_changed", clock.fraction(now));
        self.give_named(id, "time", now);
    }

    /// The last events, as of the time `at`. No cycle begins at the end.
    fn stop(&mut self, id: NodeId, clock: Clock, at: f64) {
        let Some(timer) = self.timers.all.get_mut(&id) else { return };
        timer.running = false;
        let sent = timer.cycle;
        self.timers.running.remove(&id);
        let cycle = clock.cycle_at(at);
        if cycle > sent && clock.cycle_start(cycle) < at {
            self.give_named(id, "cycleTime", clock.cycle_start(cycle));
        } else if cycle - 1.0 > sent {
            self.give_named(id, "cycleTime", clock.cycle_start(cycle - 1.0));
        }
        self.give_named(id, "fraction_changed", clock.fraction(at));
        self.give_named(id, "time", at);
        self.give_named(id, "isActive", false);
    }

    /// Schedules the next start or stop of the sensor.
    fn schedule(&mut self, id: NodeId) {
        let now = self.now;
        let Some(clock) = Clock::of(&self.scene.node(id).kind) else { return };
        let Some(timer) = self.timers.all.get_mut(&id) else { return };
        let due = if timer.running {
            clock.end(timer.last_cycle)
        } else {
            let start = clock.start.max(now);
            clock.runs_at(start).then_some(start)
        };
        if let Some(old) = timer.due.take() {
            self.timers.due.remove(&(old, id));
        }
        if let Some(due) = due.filter(|due| due.is_finite()) {
            timer.due = Some(Moment(due));
            self.timers.due.insert((Moment(due), id));
        }
    }
}
