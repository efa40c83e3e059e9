//! The six interpolators against twins that follow ISO/IEC 14772-1, 4.6.8 word by word.

mod play_common;
mod samples;

use glam::{DQuat, DVec3, Vec3};
use jostle_scene::nodes::{
    ColorInterpolator, CoordinateInterpolator, Kind, NormalInterpolator, OrientationInterpolator,
    PositionInterpolator, ScalarInterpolator,
};
use jostle_scene::{List, Rgb, Rotation, Value};
use play_common::{alone, sent_by};
use samples::Random;
use std::f32::consts::PI;

fn at(kind: impl Into<Kind>, fraction: f32) -> Option<Value> {
    let (mut play, node) = alone(kind);
    play.send(node, "set_fraction", Value::Float(fraction)).unwrap();
    assert_eq!(play.problems(), []);
    let mut sent = sent_by(&play, node);
    assert!(sent.len() <= 1);
    sent.pop().map(|(name, value)| {
        assert_eq!(name, "value_changed");
        value
    })
}

fn list<T: Clone>(values: &[T]) -> List<T> {
    values.to_vec().into()
}

fn number(random: &mut Random) -> f32 {
    (random.bits() >> 40) as f32 / (1 << 24) as f32
}

/// Keys in order, with equal ones among them.
fn keys(random: &mut Random) -> Vec<f32> {
    let mut keys: Vec<f32> =
        (0..1 + random.below(6)).map(|_| random.below(9) as f32 / 8.0).collect();
    keys.sort_by(f32::total_cmp);
    keys
}

/// f(t) of 4.6.8: all values that the standard allows.
fn allowed(keys: &[f32], values: &[f32], t: f32) -> Vec<f64> {
    let last = keys.len() - 1;
    if t <= keys[0] {
        return vec![values[0].into()];
    }
    if t >= keys[last] {
        return vec![values[last].into()];
    }
    let mut found = Vec::new();
    for i in 0..last {
        let (low, high) = (f64::from(keys[i]), f64::from(keys[i + 1]));
        let t = f64::from(t);
        if low <= t && t <= high && low < high {
            let part = (t - low) / (high - low);
            found.push(f64::from(values[i]) * (1.0 - part) + f64::from(values[i + 1]) * part);
        }
    }
    found
}

#[test]
fn numbers_points_and_lists_of_points_go_straight_from_key_to_key() {
    let mut jumps = 0;
    for seed in 0..2000 {
        let mut random = Random(seed);
        let key = keys(&mut random);
        let points: Vec<Vec3> = key
            .iter()
            .map(|_| Vec3::from_array([0; 3].map(|_| number(&mut random) * 10.0 - 5.0)))
            .collect();
        let t = match random.below(3) {
            0 => random.below(9) as f32 / 8.0,
            _ => number(&mut random) * 1.5 - 0.25,
        };
        let coordinate = |at: usize| -> Vec<f32> { points.iter().map(|point| point[at]).collect() };
        let mut fits = |found: Vec3, offset: f32| {
            (0..3).all(|at| {
                let values: Vec<f32> = coordinate(at).iter().map(|value| value + offset).collect();
                let allowed = allowed(&key, &values, t);
                jumps += usize::from(allowed.len() > 1 && allowed[0] != allowed[1]);
                allowed.iter().any(|value| (value - f64::from(found[at])).abs() < 2e-6)
            })
        };
        let position = PositionInterpolator { key: list(&key), key_value: list(&points) };
        let Some(Value::Vec3(point)) = at(position, t) else { panic!("seed {seed}") };
        assert!(fits(point, 0.0), "seed {seed}: {point} at {t}");

        let scalar = ScalarInterpolator { key: list(&key), key_value: list(&coordinate(1)) };
        assert_eq!(at(scalar, t), Some(Value::Float(point.y)), "seed {seed}");

        let pairs: Vec<Vec3> =
            points.iter().flat_map(|&point| [point, point + Vec3::splat(1.0)]).collect();
        let coordinates = CoordinateInterpolator { key: list(&key), key_value: list(&pairs) };
        let Some(Value::Vec3s(found)) = at(coordinates, t) else { panic!("seed {seed}") };
        assert_eq!((found.len(), found[0]), (2, point), "seed {seed}");
        assert!(fits(found[1], 1.0), "seed {seed}");
    }
    assert!(jumps > 50, "{jumps}");
}

#[test]
fn keys_give_their_values_exactly() {
    let key = [0.0, 0.3, 0.3, 1.0];
    let key_value = [0.1, 0.2, 0.7, 0.9];
    let scalar =
        |t| at(ScalarInterpolator { key: list(&key), key_value: list(&key_value) }, t).unwrap();
    assert_eq!(scalar(-1.0), Value::Float(0.1));
    assert_eq!(scalar(0.3), Value::Float(0.7));
    assert_eq!(scalar(0.29999998), Value::Float(0.19999999));
    assert_eq!(scalar(1.0), Value::Float(0.9));
    assert_eq!(scalar(7.0), Value::Float(0.9));
    let full = Rotation { axis: Vec3::new(0.0, 3.0, 0.0), angle: 7.0 };
    let turns = OrientationInterpolator { key: list(&[0.0, 1.0]), key_value: list(&[full; 2]) };
    assert_eq!(at(turns, 1.0), Some(Value::Rotation(full)));
}

#[test]
fn interpolators_without_enough_values_say_nothing() {
    assert_eq!(at(ScalarInterpolator::default(), 0.5), None);
    let no_keys = ScalarInterpolator { key_value: list(&[1.0]), ..Default::default() };
    assert_eq!(at(no_keys, 0.5), None);
    let few = CoordinateInterpolator { key: list(&[0.0, 1.0]), key_value: list(&[Vec3::ZERO]) };
    assert_eq!(at(few, 0.5), None);
    let few = ScalarInterpolator { key: list(&[0.0, 1.0]), key_value: list(&[1.0]) };
    assert_eq!(at(few, 0.5), None);
    // The longest line that fits into f32.
    let far = ScalarInterpolator { key: list(&[0.0, 1.0]), key_value: list(&[f32::MIN, f32::MAX]) };
    assert_eq!(at(far, 0.5), Some(Value::Float(0.0)));
}

#[test]
fn orientations_take_the_shorter_way_at_constant_speed() {
    for seed in 0..2000 {
        let mut random = Random(seed);
        let turn = |random: &mut Random| Rotation {
            axis: Vec3::from_array([0; 3].map(|_| number(random) - 0.5)) * 4.0,
            angle: match random.below(4) {
                0 => 0.0,
                1 => PI * random.below(5) as f32 / 2.0,
                _ => number(random) * 14.0 - 7.0,
            },
        };
        let (from, to) = (turn(&mut random), turn(&mut random));
        let node = OrientationInterpolator { key: list(&[0.0, 1.0]), key_value: list(&[from, to]) };
        let t = number(&mut random);
        let Some(Value::Rotation(found)) = at(node, t) else { panic!("seed {seed}") };
        let (a, b, q) = (from.quaternion(), to.quaternion(), found.quaternion());
        if a.dot(b).abs() < 1e-4 {
            continue; // half a turn apart: there is no shorter way
        }
        let whole = a.angle_between(b);
        let t = f64::from(t);
        assert!((a.angle_between(q) - t * whole).abs() < 1e-5, "seed {seed}");
        assert!((b.angle_between(q) - (1.0 - t) * whole).abs() < 1e-5, "seed {seed}");
        assert!(q.dot(a.slerp(b, t)).abs() > 1.0 - 1e-9, "seed {seed}");
    }
}

#[test]
fn a_quarter_of_a_half_turn() {
    let half = |angle| Rotation { axis: Vec3::Y, angle };
    let node = OrientationInterpolator {
        key: list(&[0.0, 0.5, 1.0]),
        key_value: list(&[half(0.0), half(3.1), half(6.2)]),
    };
    for (t, expected) in [(0.25, 1.55_f64), (0.75, 4.65)] {
        let Some(Value::Rotation(found)) = at(node.clone(), t) else { panic!() };
        let by_hand = DQuat::from_rotation_y(expected);
        assert!((found.quaternion() * DVec3::X - by_hand * DVec3::X).length() < 1e-6, "{found:?}");
    }
}

#[test]
fn normals_stay_on_the_sphere() {
    let mut straight = 0;
    for seed in 0..1000 {
        let mut random = Random(seed);
        let normal =
            |random: &mut Random| Vec3::from_array([0; 3].map(|_| random.below(5) as f32 - 2.0));
        let (from, to) = (normal(&mut random), normal(&mut random));
        let node = NormalInterpolator { key: list(&[0.0, 1.0]), key_value: list(&[from, to]) };
        let t = number(&mut random);
        let Some(Value::Vec3s(found)) = at(node, t) else { panic!("seed {seed}") };
        let (a, b) = (from.as_dvec3(), to.as_dvec3());
        if a.length() == 0.0 || b.length() == 0.0 {
            continue;
        }
        let found = found[0].as_dvec3();
        assert!((found.length() - 1.0).abs() < 1e-6, "seed {seed}");
        let whole = a.angle_between(b);
        if whole > 3.1 {
            straight += 1;
            continue;
        }
        assert!((a.angle_between(found) - f64::from(t) * whole).abs() < 1e-3, "seed {seed}");
        assert!(found.dot(a.cross(b)).abs() < 1e-5, "seed {seed}");
    }
    assert!(straight > 0);
    let long = NormalInterpolator { key: list(&[0.0]), key_value: list(&[Vec3::X * 3.0]) };
    assert_eq!(at(long, 0.0), Some(Value::Vec3s(list(&[Vec3::X]))));
}

/// As in Foley, van Dam, Feiner and Hughes, figures 13.33 and 13.34: six sectors of 60 degrees.
fn hsv(c: [f64; 3]) -> (Option<f64>, f64, f64) {
    let (max, min) = (c[0].max(c[1]).max(c[2]), c[0].min(c[1]).min(c[2]));
    let delta = max - min;
    if max == 0.0 || delta == 0.0 {
        return (None, 0.0, max);
    }
    let h = if c[0] == max {
        (c[1] - c[2]) / delta
    } else if c[1] == max {
        2.0 + (c[2] - c[0]) / delta
    } else {
        4.0 + (c[0] - c[1]) / delta
    } * 60.0;
    (Some(if h < 0.0 { h + 360.0 } else { h }), delta / max, max)
}

fn rgb(h: f64, s: f64, v: f64) -> [f64; 3] {
    let h = if h >= 360.0 { 0.0 } else { h } / 60.0;
    let (i, f) = (h.floor(), h.fract());
    let (p, q, t) = (v * (1.0 - s), v * (1.0 - s * f), v * (1.0 - s * (1.0 - f)));
    match i as i32 {
        0 => [v, t, p],
        1 => [q, v, p],
        2 => [p, v, t],
        3 => [p, q, v],
        4 => [t, p, v],
        _ => [v, p, q],
    }
}

#[test]
fn colours_go_through_hue_saturation_and_value() {
    let mut wrapped = 0;
    for seed in 0..3000 {
        let mut random = Random(seed);
        let color = |random: &mut Random| -> [f32; 3] {
            match random.below(3) {
                0 => [0; 3].map(|_| random.below(3) as f32 / 2.0),
                1 => [number(random); 3],
                _ => [0; 3].map(|_| number(random)),
            }
        };
        let (from, to) = (color(&mut random), color(&mut random));
        let t = number(&mut random);
        let node = ColorInterpolator {
            key: list(&[0.0, 1.0]),
            key_value: list(&[Rgb(from.into()), Rgb(to.into())]),
        };
        let Some(Value::Color(Rgb(found))) = at(node, t) else { panic!("seed {seed}") };
        let (a, b) = (hsv(from.map(f64::from)), hsv(to.map(f64::from)));
        let a_hue = a.0.or(b.0).unwrap_or(0.0);
        let b_hue = b.0.or(a.0).unwrap_or(0.0);
        if ((a_hue - b_hue).abs() - 180.0).abs() < 1e-3 {
            continue; // complementary: the standard leaves it open
        }
        let near = [b_hue - 360.0, b_hue, b_hue + 360.0]
            .into_iter()
            .min_by(|x, y| (x - a_hue).abs().total_cmp(&(y - a_hue).abs()))
            .unwrap();
        wrapped += usize::from(near != b_hue);
        let t = f64::from(t);
        let mix = |a: f64, b: f64| a * (1.0 - t) + b * t;
        let expected =
            rgb((mix(a_hue, near) + 360.0) % 360.0, mix(a.1, b.1), mix(a.2, b.2)).map(|c| c as f32);
        assert!(found.distance(expected.into()) < 1e-5, "seed {seed}: {found} {expected:?}");
    }
    assert!(wrapped > 200, "{wrapped}");
}

#[test]
fn from_red_to_green_is_yellow_between() {
    let node = ColorInterpolator {
        key: list(&[0.0, 1.0]),
        key_value: list(&[Rgb(Vec3::X), Rgb(Vec3::Y)]),
    };
    assert_eq!(at(node, 0.5), Some(Value::Color(Rgb(Vec3::new(1.0, 1.0, 0.0)))));
}
