//! From a fraction to a value: the six interpolators (ISO/IEC 14772-1, 4.6.8 and clause 6).

use super::turn;
use crate::nodes::Kind;
use crate::scene::{Rgb, Value};
use glam::Vec3;
use std::sync::Arc;

/// Where a fraction stands among keys in increasing order.
enum At {
    Key(usize),
    /// After the key with this number, and how much of the way to the next.
    After(usize, f64),
}

/// The value that an interpolator gives for a fraction. None if it has no keys or not a value for
/// each, or if it is no interpolator.
pub(super) fn value(kind: &Kind, fraction: f32) -> Option<Value> {
    Some(match kind {
        Kind::ColorInterpolator(node) => {
            Value::Color(pick(&node.key, &node.key_value, fraction, mix_colors)?)
        }
        Kind::CoordinateInterpolator(node) => {
            Value::Vec3s(Arc::new(pick_lists(&node.key, &node.key_value, fraction, mix_points)?))
        }
        Kind::NormalInterpolator(node) => {
            let list = pick_lists(&node.key, &node.key_value, fraction, mix_normals)?;
            let unit = |normal: Vec3| normal.as_dvec3().normalize_or_zero().as_vec3();
            Value::Vec3s(Arc::new(list.into_iter().map(unit).collect()))
        }
        Kind::OrientationInterpolator(node) => {
            Value::Rotation(pick(&node.key, &node.key_value, fraction, turn::between_rotations)?)
        }
        Kind::PositionInterpolator(node) => {
            Value::Vec3(pick(&node.key, &node.key_value, fraction, mix_points)?)
        }
        Kind::ScalarInterpolator(node) => {
            Value::Float(pick(&node.key, &node.key_value, fraction, mix_numbers)?)
        }
        _ => return None,
    })
}

/// Before the first key and after the last, the value does not change. Where several keys are
/// equal the value jumps, and is the last of theirs; at the first key it is the first.
fn place(keys: &[f32], fraction: f32) -> Option<At> {
    let first = *keys.first()?;
    let passed = keys.partition_point(|&key| key <= fraction);
    if fraction <= first || passed == 0 {
        return Some(At::Key(0));
    }
    let before = *keys.get(passed - 1)?;
    Some(match keys.get(passed) {
        Some(&after) if before != fraction => {
            let way = f64::from(after) - f64::from(before);
            At::After(passed - 1, ((f64::from(fraction) - f64::from(before)) / way).clamp(0.0, 1.0))
        }
        _ => At::Key(passed - 1),
    })
}

fn pick<T: Copy>(
    keys: &[f32],
    values: &[T],
    fraction: f32,
    mix: impl Fn(T, T, f64) -> T,
) -> Option<T> {
    match place(keys, fraction)? {
        At::Key(at) => values.get(at).copied(),
        At::After(at, part) => Some(mix(*values.get(at)?, *values.get(at + 1)?, part)),
    }
}

/// The same for values of which as many belong to each key.
fn pick_lists<T: Copy>(
    keys: &[f32],
    values: &[T],
    fraction: f32,
    mix: impl Fn(T, T, f64) -> T,
) -> Option<Vec<T>> {
    let at = place(keys, fraction)?;
    let size = values.len() / keys.len();
    if size == 0 {
        return None;
    }
    let mut lists = values.chunks_exact(size);
    match at {
        At::Key(at) => Some(lists.nth(at)?.to_vec()),
        At::After(at, part) => {
            let (from, to) = (lists.nth(at)?, lists.next()?);
            Some(from.iter().zip(to).map(|(&from, &to)| mix(from, to, part)).collect())
        }
    }
}

fn mix_wide(from: f64, to: f64, part: f64) -> f64 {
    from + (to - from) * part
}

fn mix_numbers(from: f32, to: f32, part: f64) -> f32 {
    mix_wide(from.into(), to.into(), part) as f32
}

fn mix_points(from: Vec3, to: Vec3, part: f64) -> Vec3 {
    (from.as_dvec3() + (to.as_dvec3() - from.as_dvec3()) * part).as_vec3()
}

fn mix_normals(from: Vec3, to: Vec3, part: f64) -> Vec3 {
    turn::between_directions(from.as_dvec3(), to.as_dvec3(), part).as_vec3()
}

/// In hue, saturation and value, as 6.9 wants it, the hue by the shorter way round. Grey has no
/// hue of its own and takes that of the other colour.
fn mix_colors(from: Rgb, to: Rgb, part: f64) -> Rgb {
    let (a, b) = (Hsv::of(from), Hsv::of(to));
    let from_hue = a.hue.or(b.hue).unwrap_or(0.0);
    let to_hue = b.hue.or(a.hue).unwrap_or(0.0);
    let way = match to_hue - from_hue {
        way if way > 3.0 => way - 6.0,
        way if way < -3.0 => way + 6.0,
        way => way,
    };
    Hsv {
        hue: Some((from_hue + way * part).rem_euclid(6.0)),
        saturation: mix_wide(a.saturation, b.saturation, part),
        value: mix_wide(a.value, b.value, part),
    }
    .rgb()
}

/// A colour as hue (0 to 6: red, yellow, green, cyan, blue, magenta), saturation and value.
struct Hsv {
    hue: Option<f64>,
    saturation: f64,
    value: f64,
}

impl Hsv {
    fn of(rgb: Rgb) -> Hsv {
        let color = rgb.0.as_dvec3();
        let (most, least) = (color.max_element(), color.min_element());
        let range = most - least;
        let hue = if most <= 0.0 || range == 0.0 {
            None
        } else if color.x == most {
            Some(((color.y - color.z) / range).rem_euclid(6.0))
        } else if color.y == most {
            Some((color.z - color.x) / range + 2.0)
        } else {
            Some((color.x - color.y) / range + 4.0)
        };
        let saturation = if hue.is_some() { range / most } else { 0.0 };
        Hsv { hue, saturation, value: most }
    }

    fn rgb(&self) -> Rgb {
        let hue = self.hue.unwrap_or(0.0);
        // How strong a colour is: full near its hue, absent two steps and more away from it.
        let strength = |own: f64| {
            let away = (hue - own).rem_euclid(6.0);
            let away = away.min(6.0 - away);
            let lack = (away - 1.0).clamp(0.0, 1.0);
            (self.value * (1.0 - self.saturation * lack)) as f32
        };
        Rgb(Vec3::new(strength(0.0), strength(2.0), strength(4.0)))
    }
}
