//! `TimeSensor` against a twin that looks at every eighth of a second, in whole numbers, with the
//! rules of ISO/IEC 14772-1, 4.6.9 and 6.50 written down one by one.

mod play_common;
mod samples;

use jostle_scene::nodes::{ScalarInterpolator, TimeSensor, TouchSensor};
use jostle_scene::{NodeId, Play, Problem, Scene, Touch, Value};
use play_common::{alone, events, field, sent_by, stopped_clock};
use samples::Random;

/// All times in eighths of a second.
#[derive(Clone, Debug)]
struct Twin {
    enabled: bool,
    looping: bool,
    start: i64,
    stop: i64,
    interval: i64,
    running: bool,
    sent_cycle: i64,
    sent_time: Option<i64>,
    now: i64,
    out: Vec<(i64, &'static str, Value)>,
}

fn seconds(eighths: i64) -> f64 {
    eighths as f64 / 8.0
}

impl Twin {
    fn send(&mut self, name: &'static str, value: impl Into<Value>) {
        self.out.push((self.now, name, value.into()));
    }

    fn say_time(&mut self) {
        // The standard's own lines.
        let temp = (self.now - self.start) as f64 / self.interval as f64;
        let f = temp.fract();
        let fraction = if f == 0.0 && self.now > self.start { 1.0 } else { f };
        self.send("fraction_changed", fraction as f32);
        self.send("time", seconds(self.now));
        self.sent_time = Some(self.now);
    }

    fn say_cycle(&mut self, cycle: i64) {
        if cycle > self.sent_cycle {
            self.sent_cycle = cycle;
            self.send("cycleTime", seconds(self.start + cycle * self.interval));
        }
    }

    fn is_stop_reached(&self) -> bool {
        self.stop > self.start && self.now >= self.stop
    }

    fn begin(&mut self, loading: bool) {
        let is_over = !self.looping && self.now >= self.start + self.interval;
        if self.running
            || !self.enabled
            || self.now < self.start
            || self.is_stop_reached()
            || is_over
        {
            return;
        }
        self.running = true;
        self.send("isActive", true);
        let cycle = (self.now - self.start) / self.interval;
        self.sent_cycle =
            if loading && (self.now - self.start) % self.interval != 0 { cycle } else { cycle - 1 };
        self.say_cycle(cycle);
        self.say_time();
    }

    fn end(&mut self) {
        self.running = false;
        self.say_cycle((self.now - self.start - 1).max(0) / self.interval);
        self.say_time();
        self.send("isActive", false);
    }

    fn advance(&mut self, to: i64) {
        while self.now < to {
            self.now += 1;
            let is_cycle_over = (self.now - self.start) % self.interval == 0;
            if self.running && (self.is_stop_reached() || (!self.looping && is_cycle_over)) {
                self.end();
            } else {
                self.begin(false);
            }
        }
        if self.running && self.sent_time != Some(self.now) {
            self.say_cycle((self.now - self.start) / self.interval);
            self.say_time();
        }
    }

    fn set(&mut self, name: &'static str, eighths: i64, yes: bool) {
        match name {
            "enabled" => {
                if self.running && !yes {
                    self.end();
                }
                self.enabled = yes;
                self.send(name, yes);
            }
            "loop" => {
                self.looping = yes;
                self.send(name, yes);
            }
            "startTime" if !self.running => {
                self.start = eighths;
                self.send(name, seconds(eighths));
            }
            "cycleInterval" if !self.running && eighths > 0 => {
                self.interval = eighths;
                self.send(name, seconds(eighths));
            }
            "stopTime" if !self.running || eighths > self.start => {
                self.stop = eighths;
                self.send(name, seconds(eighths));
                if self.running && self.stop <= self.now {
                    self.end();
                }
            }
            _ => {}
        }
        self.begin(false);
    }
}

fn compare(play: &Play, twin: &mut Twin, what: &str) {
    let found: Vec<_> = events(play).into_iter().map(|event| (event.0, event.2, event.3)).collect();
    let expected: Vec<_> =
        twin.out.drain(..).map(|(time, name, value)| (seconds(time), name, value)).collect();
    assert_eq!(found, expected, "{what}, then {twin:?}");
}

#[test]
fn a_time_sensor_says_what_its_twin_says_under_random_orders() {
    let mut stops = 0;
    let mut restarts = 0;
    for seed in 0..3000 {
        let mut random = Random(seed);
        let now = random.below(40) as i64 - 20;
        let mut twin = Twin {
            enabled: random.below(4) > 0,
            looping: random.below(2) > 0,
            start: now + random.below(30) as i64 - 15,
            stop: now + random.below(40) as i64 - 20,
            interval: 1 + random.below(12) as i64,
            running: false,
            sent_cycle: 0,
            sent_time: None,
            now,
            out: Vec::new(),
        };
        let mut scene = Scene::default();
        let clock = scene.add(TimeSensor {
            cycle_interval: seconds(twin.interval),
            enabled: twin.enabled,
            looping: twin.looping,
            start_time: seconds(twin.start),
            stop_time: seconds(twin.stop),
        });
        let mut play = Play::new(scene, seconds(now)).unwrap();
        twin.begin(true);
        compare(&play, &mut twin, &format!("seed {seed}, loading"));
        for step in 0..20 {
            let was_running = twin.running;
            let what = if random.below(2) == 0 {
                let to = twin.now + random.below(20) as i64;
                play.advance(seconds(to)).unwrap();
                twin.advance(to);
                format!("seed {seed}, step {step}, advance to {to}")
            } else {
                let names = ["enabled", "loop", "startTime", "stopTime", "cycleInterval"];
                let name = names[random.below(5)];
                let yes = random.below(2) > 0;
                let eighths = match name {
                    "cycleInterval" => random.below(12) as i64,
                    _ => twin.now + random.below(24) as i64 - 12,
                };
                let value = match name {
                    "enabled" | "loop" => Value::Bool(yes),
                    _ => Value::Time(seconds(eighths)),
                };
                play.clear_events();
                play.send(clock, name, value).unwrap();
                twin.set(name, eighths, yes);
                format!("seed {seed}, step {step}, {name} {eighths} {yes}")
            };
            stops += usize::from(was_running && !twin.running);
            restarts += usize::from(!was_running && twin.running);
            compare(&play, &mut twin, &what);
        }
    }
    assert!(stops > 1000 && restarts > 1000, "{stops} {restarts}");
}

/// No eighths: whatever the numbers, the rules that hold for all of them hold.
#[test]
fn odd_numbers_keep_the_order_of_things() {
    let mut whole = 0;
    for seed in 0..2000 {
        let mut random = Random(seed);
        let mut number = |size: f64| (random.bits() >> 11) as f64 / (1_u64 << 53) as f64 * size;
        let interval = 0.05 + number(1.0);
        let start = number(2.0);
        let looping = seed % 2 == 0;
        let clock = TimeSensor {
            cycle_interval: interval,
            start_time: start,
            looping,
            ..TimeSensor::default()
        };
        let (mut play, clock) = alone(clock);
        let (mut to, mut last_time, mut cycles) = (0.0, f64::MIN, 0);
        for _ in 0..30 {
            // Often exactly onto the end of a cycle, as a computer computes it, or beside it.
            let end = start + f64::from(cycles) * interval;
            let next = [end, end.next_down(), end.next_up(), to + number(1.0)];
            to = to.max(next[number(4.0) as usize]);
            play.advance(to).unwrap();
            assert_eq!(play.problems(), [], "seed {seed}");
            for (time, _, name, value) in events(&play) {
                assert!(time >= last_time && time <= to, "seed {seed}");
                last_time = time;
                match (name, value) {
                    ("fraction_changed", Value::Float(fraction)) => {
                        assert!((0.0..=1.0).contains(&fraction), "seed {seed}: {fraction}");
                        assert!(fraction > 0.0 || time == start, "seed {seed}");
                        whole += usize::from(fraction == 1.0);
                    }
                    ("cycleTime", Value::Time(cycle)) => {
                        let number = ((cycle - start) / interval).round();
                        assert_eq!(cycle, start + number * interval, "seed {seed}");
                        assert!(number >= f64::from(cycles) && cycle <= time, "seed {seed}");
                        cycles = number as i32 + 1;
                    }
                    ("isActive", Value::Bool(false)) => {
                        assert!(!looping && time == start + interval, "seed {seed}");
                        let last = &sent_by(&play, clock);
                        assert!(last.contains(&("fraction_changed", Value::Float(1.0))));
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(whole > 2000, "{whole}");
}

/// So late that a cycle is shorter than the resolution of a time.
#[test]
fn fractions_stay_fractions_at_huge_times() {
    for (start, interval) in [(0.0, 0.1), (0.3, 0.07), (-1e300, 1e-300), (-1e308, 1e-3)] {
        let clock = TimeSensor {
            start_time: start,
            stop_time: -1.7e308,
            cycle_interval: interval,
            looping: true,
            ..TimeSensor::default()
        };
        let (mut play, clock) = alone(clock);
        for time in [1e14, 1e15, 1e16, 1e17, 1e300, 1.7e308] {
            for step in 0..20 {
                play.advance(play.now().max(time + f64::from(step) * 0.125)).unwrap();
                for (name, value) in sent_by(&play, clock) {
                    if let ("fraction_changed", Value::Float(part)) = (name, value) {
                        assert!((0.0..=1.0).contains(&part), "{part} at {time}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_one_shot_between_two_frames_is_not_missed() {
    let clock = TimeSensor { start_time: 1.0, cycle_interval: 0.5, ..TimeSensor::default() };
    let (mut play, clock) = alone(clock);
    play.advance(10.0).unwrap();
    let times: Vec<f64> = events(&play).iter().map(|event| event.0).collect();
    assert_eq!(times, [1.0, 1.0, 1.0, 1.0, 1.5, 1.5, 1.5]);
    assert_eq!(
        sent_by(&play, clock),
        [
            ("isActive", Value::Bool(true)),
            ("cycleTime", Value::Time(1.0)),
            ("fraction_changed", Value::Float(0.0)),
            ("time", Value::Time(1.0)),
            ("fraction_changed", Value::Float(1.0)),
            ("time", Value::Time(1.5)),
            ("isActive", Value::Bool(false)),
        ]
    );
    play.advance(11.0).unwrap();
    assert_eq!(sent_by(&play, clock), []);
}

#[test]
fn a_sensor_with_default_values_does_nothing() {
    let (mut play, clock) = alone(TimeSensor::default());
    let mut scene = Scene::default();
    scene.add(TimeSensor::default());
    // "Any node with default values is already inactive": at 0 it is not, but no clock shows 0.
    assert_eq!(sent_by(&play, clock).len(), 4);
    play.advance(5.0).unwrap();
    let late = Play::new(scene, 1e9).unwrap();
    assert_eq!(events(&late), []);
}

/// Two one-shots that start each other.
fn circle(seconds: f64) -> (Scene, NodeId, NodeId) {
    let mut scene = Scene::default();
    let first = scene.add(TimeSensor { cycle_interval: seconds, ..TimeSensor::default() });
    let second = scene.add(stopped_clock(seconds));
    for (from, to) in [(first, second), (second, first)] {
        scene.connect((from, "time"), (to, "startTime")).unwrap();
    }
    (scene, first, second)
}

/// Two one-shots that start each other run on, however long the frames are: the second starts with
/// the first; when both are over, the last word of the second starts the first again.
#[test]
fn sensors_start_each_other_at_the_exact_time() {
    let (scene, first, second) = circle(0.25);
    let mut play = Play::new(scene, 0.0).unwrap();
    play.advance(1.0).unwrap();
    let found: Vec<(f64, NodeId)> = events(&play)
        .into_iter()
        .filter(|event| event.3 == Value::Bool(true))
        .map(|event| (event.0, event.1))
        .collect();
    let expected = [0.25, 0.5, 0.75, 1.0].map(|time| [(time, first), (time, second)]);
    assert_eq!(found, expected.as_flattened());
}

/// A frame may be longer than a cycle; `loop` is taken back in the fourth of ten.
#[test]
fn a_loop_that_is_ended_between_frames_ends_with_its_cycle() {
    let mut scene = Scene::default();
    let wheel = scene.add(TimeSensor { looping: true, ..TimeSensor::default() });
    let brake = scene.add(TimeSensor { cycle_interval: 3.25, ..TimeSensor::default() });
    scene.connect((brake, "isActive"), (wheel, "loop")).unwrap();
    let mut play = Play::new(scene, 0.0).unwrap();
    play.advance(0.5).unwrap();
    play.advance(10.0).unwrap();
    assert_eq!(
        sent_by(&play, wheel),
        [
            ("loop", Value::Bool(false)),
            ("cycleTime", Value::Time(3.0)),
            ("fraction_changed", Value::Float(1.0)),
            ("time", Value::Time(4.0)),
            ("isActive", Value::Bool(false)),
        ]
    );
}

#[test]
fn sensors_that_start_each_other_without_end_are_cut_off_and_reported() {
    let (scene, ..) = circle(1e-9);
    let mut play = Play::new(scene, 0.0).unwrap();
    play.advance(1.0).unwrap();
    assert!(matches!(play.problems(), [Problem::TooOften { .. }]));
    assert_eq!(play.now(), 1.0);
}

/// 4.6.9: a restart is set_stopTime, then set_startTime, in whatever order they come.
#[test]
fn a_touch_restarts_a_running_sensor() {
    for names in [["stopTime", "startTime"], ["startTime", "stopTime"]] {
        let mut scene = Scene::default();
        let clock = scene.add(TimeSensor { cycle_interval: 8.0, ..TimeSensor::default() });
        let button = scene.add(TouchSensor::default());
        for name in names {
            scene.connect((button, "touchTime"), (clock, name)).unwrap();
        }
        let mut play = Play::new(scene, 0.0).unwrap();
        play.advance(3.0).unwrap();
        play.clear_events();
        let (point, texture) = (glam::Vec3::ZERO, glam::Vec2::ZERO);
        for touch in [Touch::Over { point, normal: point, texture }, Touch::Press, Touch::Release] {
            play.touch(button, touch).unwrap();
        }
        let active: Vec<Value> = sent_by(&play, clock)
            .into_iter()
            .filter(|(name, _)| *name == "isActive")
            .map(|(_, value)| value)
            .collect();
        assert_eq!(active, [Value::Bool(false), Value::Bool(true)], "{names:?}");
        assert_eq!(field(&play, clock, "startTime"), Value::Time(3.0));
        play.advance(5.0).unwrap();
        assert!(sent_by(&play, clock).contains(&("fraction_changed", Value::Float(0.25))));
    }
}

#[test]
fn a_start_time_that_was_ignored_is_forgotten() {
    let (mut play, clock) = alone(TimeSensor { cycle_interval: 8.0, ..TimeSensor::default() });
    play.advance(1.0).unwrap();
    play.send(clock, "set_startTime", Value::Time(1.0)).unwrap();
    play.send(clock, "set_stopTime", Value::Time(1.0)).unwrap();
    play.advance(2.0).unwrap();
    assert_eq!(field(&play, clock, "startTime"), Value::Time(0.0));
    assert_eq!(sent_by(&play, clock), []);
}

#[test]
fn times_that_no_clock_has_are_reported_and_nothing_runs() {
    for interval in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let bad = TimeSensor { cycle_interval: interval, looping: true, ..TimeSensor::default() };
        let (mut play, clock) = alone(bad);
        assert_eq!(play.problems(), [Problem::BadTimes { node: clock }]);
        play.advance(3.0).unwrap();
        assert_eq!(events(&play), []);
    }
    let (mut play, clock) = alone(stopped_clock(2.0));
    play.send(clock, "cycleInterval", Value::Time(0.0)).unwrap();
    assert_eq!(play.problems(), [Problem::BadTimes { node: clock }]);
    assert_eq!(field(&play, clock, "cycleInterval"), Value::Time(2.0));
}

/// The field numbers a route uses are those of the events, so a sensor can drive its own field.
#[test]
fn a_sensor_that_stops_itself_says_each_thing_once() {
    let mut scene = Scene::default();
    let clock = scene.add(TimeSensor { looping: true, ..TimeSensor::default() });
    let level = scene
        .add(ScalarInterpolator { key: vec![0.0, 1.0].into(), key_value: vec![0.0, 1.0].into() });
    scene.connect((clock, "time"), (clock, "stopTime")).unwrap();
    scene.connect((clock, "fraction_changed"), (level, "set_fraction")).unwrap();
    let mut play = Play::new(scene, 0.0).unwrap();
    play.advance(0.5).unwrap();
    assert_eq!(
        sent_by(&play, clock),
        [
            ("fraction_changed", Value::Float(0.5)),
            ("time", Value::Time(0.5)),
            ("stopTime", Value::Time(0.5)),
            ("isActive", Value::Bool(false)),
        ]
    );
    assert_eq!(sent_by(&play, level), [("value_changed", Value::Float(0.5))]);
    play.advance(0.75).unwrap();
    assert_eq!(events(&play), []);
}
