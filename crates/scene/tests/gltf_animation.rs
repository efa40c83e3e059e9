//! Animations: what the interpolators give against a direct evaluation of the file.

mod gltf_files;
mod samples;

use glam::{DQuat, DVec3, DVec4};
use gltf_files::{File, transform};
use jostle_scene::nodes::Kind;
use jostle_scene::{NodeId, Scene};
use samples::Random;
use serde_json::json;

/// The first value and the last, by the rules for interpolators (ISO/IEC 14772-1, 4.6.8).
fn stretch(keys: &[f32], fraction: f32) -> (usize, usize, f64) {
    let last = keys.len() - 1;
    if fraction < keys[0] {
        return (0, 0, 0.0);
    }
    match keys.iter().rposition(|&key| key <= fraction) {
        Some(at) if at < last => {
            let (from, to) = (f64::from(keys[at]), f64::from(keys[at + 1]));
            (at, at + 1, (f64::from(fraction) - from) / (to - from))
        }
        _ => (last, last, 0.0),
    }
}

/// What an interpolator gives, as four numbers.
fn interpolate(scene: &Scene, id: NodeId, fraction: f32) -> DVec4 {
    match &scene.node(id).kind {
        Kind::PositionInterpolator(node) => {
            let (from, to, part) = stretch(&node.key, fraction);
            let [from, to] = [from, to].map(|at| node.key_value[at].as_dvec3());
            from.lerp(to, part).extend(0.0)
        }
        Kind::OrientationInterpolator(node) => {
            let (from, to, part) = stretch(&node.key, fraction);
            let [from, to] = [from, to].map(|at| node.key_value[at].quaternion());
            DVec4::from(from.slerp(to, part))
        }
        other => panic!("{} does not interpolate", other.name()),
    }
}

/// What moves a field of the one node: sensor and interpolator.
fn source(scene: &Scene, field: &str) -> (NodeId, NodeId) {
    let node = scene.find("it").unwrap();
    let at = scene.node(node).kind.field(field).unwrap();
    let into = scene.routes().iter().find(|route| route.to == (node, at)).unwrap();
    let interpolator = into.from.0;
    let mut routes = scene.routes().iter();
    (routes.find(|route| route.to.0 == interpolator).unwrap().from.0, interpolator)
}

fn cycle(scene: &Scene, sensor: NodeId) -> f64 {
    let Kind::TimeSensor(sensor) = &scene.node(sensor).kind else { panic!("no TimeSensor") };
    assert!(sensor.looping && sensor.start_time == 0.0);
    sensor.cycle_interval
}

/// One track as the file has it.
struct Track {
    times: Vec<f32>,
    values: Vec<DVec4>,
    pace: &'static str,
    turns: bool,
}

impl Track {
    /// glTF 2.0, appendix C, word by word.
    fn at(&self, time: f64) -> DVec4 {
        let seconds = |at: usize| f64::from(self.times[at]);
        let last = self.times.len() - 1;
        let value = |at: usize| match self.pace {
            "CUBICSPLINE" => self.values[3 * at + 1],
            _ => self.values[at],
        };
        if time < seconds(0) || last == 0 {
            return value(0);
        }
        if time >= seconds(last) {
            return value(last);
        }
        let at = (0..last).find(|&at| time < seconds(at + 1)).unwrap();
        let length = seconds(at + 1) - seconds(at);
        let t = (time - seconds(at)) / length;
        match (self.pace, self.turns) {
            ("STEP", _) => value(at),
            ("LINEAR", false) => value(at) * (1.0 - t) + value(at + 1) * t,
            ("LINEAR", true) => {
                let [from, to] = [at, at + 1].map(|at| DQuat::from_vec4(value(at)).normalize());
                DVec4::from(from.slerp(to, t))
            }
            _ => {
                let (t2, t3) = (t * t, t * t * t);
                (2.0 * t3 - 3.0 * t2 + 1.0) * value(at)
                    + length * (t3 - 2.0 * t2 + t) * self.values[3 * at + 2]
                    + (-2.0 * t3 + 3.0 * t2) * value(at + 1)
                    + length * (t3 - t2) * self.values[3 * at + 3]
            }
        }
    }
}

fn random_track(random: &mut Random, property: &str) -> Track {
    let pace = ["STEP", "LINEAR", "CUBICSPLINE"][random.below(3)];
    let turns = property == "rotation";
    let mut time = if random.below(2) == 0 { 0.0 } else { random.below(100) as f32 / 77.0 };
    let mut times = vec![time];
    for _ in 0..random.below(6) {
        time += (10 + random.below(200)) as f32 / 100.0;
        times.push(time);
    }
    let mut number = || random.below(2001) as f64 / 1000.0 - 1.0;
    let count = times.len() * if pace == "CUBICSPLINE" { 3 } else { 1 };
    let mut before = DVec4::W;
    let values = (0..count)
        .map(|at| {
            let mut value = DVec4::new(number(), number(), number(), number());
            if !turns {
                value.w = 0.0;
            } else if pace == "CUBICSPLINE" && at % 3 != 1 {
                // Faster ones pass near zero, where the direction of a quaternion jumps.
                value *= 0.5;
            } else {
                // And neighbours on the same side of the sphere.
                value = (0.8 * value + before).normalize();
                before = value;
            }
            value.as_vec4().as_dvec4()
        })
        .collect();
    Track { times, values, pace, turns }
}

fn file_of(tracks: &[(&str, &Track)]) -> File {
    let mut file = File::new();
    file.push("nodes", json!({"name": "it"}));
    let (mut channels, mut samplers) = (Vec::new(), Vec::new());
    for (property, track) in tracks {
        let input = file.floats("SCALAR", &track.times);
        let (shape, parts) = if track.turns { ("VEC4", 4) } else { ("VEC3", 3) };
        let values: Vec<f32> = (track.values.iter())
            .flat_map(|value| value.as_vec4().to_array()[..parts].to_vec())
            .collect();
        let output = file.floats(shape, &values);
        channels.push(json!({"sampler": samplers.len(), "target": {"node": 0, "path": property}}));
        samplers.push(json!({"input": input, "output": output, "interpolation": track.pace}));
    }
    let animation = json!({"name": "all", "channels": channels, "samplers": samplers});
    file.push("animations", animation);
    file
}

/// How far two values are apart: as vectors, or as the angle between rotations.
fn apart(turns: bool, one: DVec4, other: DVec4) -> f64 {
    if !turns {
        return (one - other).length();
    }
    let [one, other] = [one, other].map(|value| DQuat::from_vec4(value).normalize());
    2.0 * (one.inverse() * other).xyz().length().min(1.0).asin()
}

/// The extent of a track: that of the points within which it stays.
fn extent(track: &Track) -> f64 {
    let samples = (0..=1000).map(|i| f64::from(*track.times.last().unwrap()) * f64::from(i) / 1e3);
    let mut low = DVec4::INFINITY;
    let mut high = DVec4::NEG_INFINITY;
    for value in samples.map(|time| track.at(time)) {
        (low, high) = (low.min(value), high.max(value));
    }
    (high - low).length()
}

#[test]
fn interpolators_give_what_the_file_says() {
    let (mut checked, mut wild) = ([0; 3], 0);
    for seed in 0..600 {
        let random = &mut Random(seed);
        let properties = ["translation", "rotation", "scale"];
        let tracks = properties.map(|property| (property, random_track(random, property)));
        let file = file_of(&[0, 1, 2].map(|i| (tracks[i].0, &tracks[i].1)));
        let opened = file.open();
        if !opened.warnings.is_empty() {
            let odd = opened.warnings[0].to_string();
            assert!(odd.starts_with("splines that 64 pieces"), "seed {seed}: {odd}");
            wild += 1;
            continue;
        }
        let scene = &opened.scene;
        let ends = tracks.iter().map(|(_, track)| f64::from(*track.times.last().unwrap()));
        let duration = ends.fold(0.0, f64::max);
        for (field, track) in &tracks {
            let (sensor, interpolator) = source(scene, field);
            assert_eq!(scene.node(sensor).name.as_deref(), Some("all"));
            let interval = cycle(scene, sensor);
            assert_eq!(interval, if duration > 0.0 { duration } else { 1.0 }, "seed {seed}");
            // Twice the sampled extent is a generous bound of the extent of the control points.
            let tolerance = match (track.pace, track.turns) {
                ("CUBICSPLINE", true) => 1e-3,
                ("CUBICSPLINE", false) => 2e-3 * extent(track),
                _ => 0.0,
            };
            for _ in 0..60 {
                let time = interval * random.below(1_000_001) as f64 / 1e6;
                let is_near_jump = track.times.iter().any(|&t| (f64::from(t) - time).abs() < 1e-5);
                if track.pace == "STEP" && is_near_jump {
                    continue;
                }
                let found = interpolate(scene, interpolator, (time / interval) as f32);
                let off = apart(track.turns, found, track.at(time));
                assert!(off <= tolerance + 5e-5, "seed {seed}: {field} {} {off}", track.pace);
                checked[["STEP", "LINEAR", "CUBICSPLINE"]
                    .iter()
                    .position(|pace| *pace == track.pace)
                    .unwrap()] += 1;
            }
        }
    }
    assert!(checked.iter().all(|&count| count > 10_000) && wild < 60, "{checked:?} {wild}");
}

#[test]
fn a_spline_that_is_straight_needs_no_more_keys_and_a_wild_one_has_a_most() {
    let line = Track {
        times: vec![0.0, 1.0, 3.0],
        values: [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 0.0]
            .map(|x| DVec3::new(x, 0.0, 0.0).extend(0.0))
            .to_vec(),
        pace: "CUBICSPLINE",
        turns: false,
    };
    let keys = |scene: &Scene, field: &str| match &scene.node(source(scene, field).1).kind {
        Kind::PositionInterpolator(node) => node.key.len(),
        Kind::OrientationInterpolator(node) => node.key.len(),
        other => panic!("{}", other.name()),
    };
    assert_eq!(keys(&file_of(&[("scale", &line)]).read(), "scale"), 3);
    let fast = 900.0 * DVec4::new(0.0, 1.0, 1.0, 0.0);
    let turning = vec![DVec4::ZERO, DVec4::W, fast, -fast, DVec4::X, DVec4::ZERO];
    let wild = Track { times: vec![0.0, 1.0], values: turning, pace: "CUBICSPLINE", turns: true };
    let opened = file_of(&[("rotation", &wild)]).open();
    assert!(opened.warnings[0].to_string().starts_with("splines that 64 pieces between keys do"));
    assert!(keys(&opened.scene, "rotation") <= 65);
}

#[test]
fn clips_of_the_same_thing_do_not_run_at_once() {
    let track = random_track(&mut Random(5), "scale");
    let mut file = file_of(&[("scale", &track)]);
    file.push("nodes", json!({"name": "other"}));
    let mut same = file.json["animations"][0].clone();
    same["name"] = json!("second");
    let mut other = same.clone();
    other["name"] = json!("third");
    other["channels"][0]["target"]["node"] = json!(1);
    file.push("animations", same);
    file.push("animations", other);
    let opened = file.open();
    let scene = &opened.scene;
    let enabled = |name: &str| match &scene.node(scene.find(name).unwrap()).kind {
        Kind::TimeSensor(sensor) => sensor.enabled,
        other => panic!("{}", other.name()),
    };
    assert_eq!(["all", "second", "third"].map(enabled), [true, false, true]);
    assert_eq!(opened.warnings.len(), 1);
}

#[test]
fn one_sampler_moves_many_and_what_cannot_move_is_said() {
    let track = random_track(&mut Random(7), "translation");
    let mut file = file_of(&[("translation", &track)]);
    file.push(
        "nodes",
        json!({"name": "second", "matrix":
        [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 3, 0, 0, 1]}),
    );
    file.json["animations"][0]["channels"] = json!([
        {"sampler": 0, "target": {"node": 0, "path": "translation"}},
        {"sampler": 0, "target": {"node": 1, "path": "translation"}},
        {"sampler": 0, "target": {"node": 1, "path": "scale"}},
        {"sampler": 0, "target": {"node": 1, "path": "scale"}},
        {"sampler": 0, "target": {"path": "scale"}},
        {"sampler": 0, "target": {"node": 1, "path": "weights"}},
        {"sampler": 0, "target": {"node": 1, "path": "pointer"}},
    ]);
    let opened = file.open();
    let scene = &opened.scene;
    assert_eq!(scene.routes().len(), 1 + 3);
    assert_eq!(transform(scene, scene.find("second").unwrap()).translation.x, 3.0);
    let odd: Vec<_> = opened.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(odd.len(), 4, "{odd:?}");
    assert!(odd[0].starts_with("animated nodes with a matrix"), "{odd:?}");
    assert!(odd[1].starts_with("channels that move what another one"), "{odd:?}");
    assert!(odd[2].starts_with("animations of morph targets"), "{odd:?}");
    assert!(odd[3].starts_with("animations of other things"), "{odd:?}");
}

#[test]
fn damaged_animations_are_named() {
    let track =
        Track { times: vec![0.0, 1.0], values: vec![DVec4::X; 2], pace: "LINEAR", turns: false };
    let good = file_of(&[("scale", &track)]);
    let mut file = good.clone();
    file.json["accessors"][1]["count"] = json!(1);
    let expected = "expected 1 for each of 2 keys, found 1";
    assert_eq!(file.error(), format!("byte 20: animations[0].samplers[0].output: {expected}"));
    file.json["animations"][0]["samplers"][0]["interpolation"] = json!("CUBIC");
    assert!(file.error().contains("expected LINEAR, STEP or CUBICSPLINE, found \"CUBIC\""));
    let mut file = good.clone();
    file.bin[..4].copy_from_slice(&2f32.to_le_bytes());
    let back = "key 1 is at 1; times begin at 0 and do not go back";
    assert_eq!(file.error(), format!("byte 20: animations[0].samplers[0].input: {back}"));
    let mut file = good.clone();
    file.bin[8..12].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert!(file.error().contains("samplers[0].output: element 0 is not finite"));
    let mut file = good;
    file.json["animations"][0]["channels"][0]["sampler"] = json!(4);
    assert!(file.error().contains("channels[0]: samplers[4] is not there; there are 1"));
}
