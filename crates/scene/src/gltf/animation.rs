//! Animations: a `TimeSensor` drives interpolators, and these drive `Transform` nodes.

use super::build::Build;
use super::hierarchy::Placed;
use super::json::{Animation, Sampler, Whole};
use super::matrix;
use super::numbers::{Numbers, Use};
use super::spline::{Sort, Stretch, TOLERANCE};
use crate::error::LoadError;
use crate::nodes::{Kind, OrientationInterpolator, PositionInterpolator, TimeSensor};
use crate::scene::NodeId;
use glam::{DQuat, DVec4, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A field of a `Transform` that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Property {
    Translation,
    Rotation,
    Scale,
}

impl Property {
    fn event(self) -> &'static str {
        match self {
            Property::Translation => "set_translation",
            Property::Rotation => "set_rotation",
            Property::Scale => "set_scale",
        }
    }

    fn sort(self) -> Sort {
        match self {
            Property::Translation | Property::Scale => Sort::Vector,
            Property::Rotation => Sort::Rotation,
        }
    }
}

/// What one channel moves.
struct Move {
    sampler: Whole,
    node: NodeId,
    property: Property,
}

/// Keys of one sampler: seconds and values.
struct Track {
    keys: Vec<(f64, DVec4)>,
    sort: Sort,
}

/// Adds all animations.
pub(super) fn add(build: &mut Build<'_, '_>, placed: &Placed) -> Result<(), LoadError> {
    let mut driven = BTreeSet::new();
    for (index, animation) in build.source.root.animations.iter().enumerate() {
        let path = format!("animations[{index}]");
        let moves = moves(build, animation, placed, &path)?;
        if moves.is_empty() {
            continue;
        }
        let tracks = tracks(build, animation, &moves, &path)?;
        // Two clips of one thing cannot run at once: a program chooses. Here the first runs.
        let is_free = moves.iter().all(|m| !driven.contains(&(m.node, m.property)));
        if is_free {
            driven.extend(moves.iter().map(|m| (m.node, m.property)));
        } else {
            build.mended(
                "animations of what another one moves already: their TimeSensor is not enabled",
                &path,
            );
        }
        let name = animation.name.as_ref().map(|name| &*name.0);
        connect(build, &tracks, &moves, is_free, name)?;
    }
    Ok(())
}

/// The channels that move something in the scene.
fn moves(
    build: &mut Build<'_, '_>,
    animation: &Animation<'_>,
    placed: &Placed,
    path: &str,
) -> Result<Vec<Move>, LoadError> {
    let source = build.source;
    let mut moves = Vec::new();
    let mut moved = BTreeSet::new();
    for (at, channel) in animation.channels.iter().enumerate() {
        let path = || format!("{path}.channels[{at}]");
        let property = match &*channel.target.path.0 {
            "translation" => Property::Translation,
            "rotation" => Property::Rotation,
            "scale" => Property::Scale,
            "weights" => {
                build.ignored("animations of morph targets", path());
                continue;
            }
            _ => {
                build.ignored("animations of other things than transformations", path());
                continue;
            }
        };
        // "When undefined, … the channel SHOULD be ignored" (5.8).
        let Some(index) = channel.target.node else { continue };
        let Some(node) = *source.item(placed, index, path(), "nodes")? else { continue };
        source.item(&animation.samplers, channel.sampler, path(), "samplers")?;
        if source.root.nodes.get(index.get()).is_some_and(|node| node.matrix.is_some()) {
            build.mended("animated nodes with a matrix: its parts are moved", path());
        }
        if moved.insert((node, property)) {
            moves.push(Move { sampler: channel.sampler, node, property });
        } else {
            build.ignored("channels that move what another one of the animation moves", path());
        }
    }
    Ok(moves)
}

/// The keys of each sampler that is used, by its number and what it is used for.
type Tracks = BTreeMap<(Whole, bool), Track>;

fn track_key(m: &Move) -> (Whole, bool) {
    (m.sampler, m.property == Property::Rotation)
}

fn tracks(
    build: &mut Build<'_, '_>,
    animation: &Animation<'_>,
    moves: &[Move],
    path: &str,
) -> Result<Tracks, LoadError> {
    let mut tracks = Tracks::new();
    for m in moves {
        if tracks.contains_key(&track_key(m)) {
            continue;
        }
        let path = format!("{path}.samplers[{}]", m.sampler);
        let sampler = build.source.item(&animation.samplers, m.sampler, &path, "samplers")?;
        tracks.insert(track_key(m), track(build, sampler, m.property.sort(), &path)?);
    }
    Ok(tracks)
}

/// How a sampler goes from key to key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Step,
    Linear,
    Spline,
}

fn track(
    build: &mut Build<'_, '_>,
    sampler: &Sampler<'_>,
    sort: Sort,
    path: &str,
) -> Result<Track, LoadError> {
    let source = build.source;
    let pace = match sampler.interpolation.as_ref().map(|text| &*text.0) {
        None | Some("LINEAR") => Pace::Linear,
        Some("STEP") => Pace::Step,
        Some("CUBICSPLINE") => Pace::Spline,
        Some(other) => {
            let other = crate::error::found(Some(other.as_bytes()));
            let what = format!("expected LINEAR, STEP or CUBICSPLINE, found {other}");
            return Err(source.refused(path, what));
        }
    };
    let values_use = if sort == Sort::Rotation { Use::Vec4 } else { Use::Vec3 };
    let (input, output) = (format!("{path}.input"), format!("{path}.output"));
    let allowance = &mut build.allowance;
    let times = Numbers::open(source, sampler.input, Use::Times, &input, allowance)?;
    let values = Numbers::open(source, sampler.output, values_use, &output, allowance)?;
    let per_key = if pace == Pace::Spline { 3 } else { 1 };
    if Some(values.count) != times.count.checked_mul(per_key) {
        let (keys, found) = (times.count, values.count);
        let what = format!("expected {per_key} for each of {keys} keys, found {found}");
        return Err(source.refused(output, what));
    }
    allowance.take(source, times.count, &input)?;
    allowance.take(source, values.count, &output)?;
    let seconds = seconds(build, &times, &input)?;
    let value = |at: usize| match sort {
        Sort::Vector => Vec3::from_array(values.get(at)).extend(0.0).as_dvec4(),
        Sort::Rotation => glam::Vec4::from_array(values.get(at)).as_dvec4(),
    };
    if let Some(at) = (0..values.count).find(|&at| !value(at).is_finite()) {
        return Err(source.refused(output, format!("element {at} is not finite")));
    }
    let mut keys = Vec::new();
    match pace {
        Pace::Linear => keys.extend(seconds.iter().enumerate().map(|(at, &t)| (t, value(at)))),
        Pace::Step => {
            for (at, &t) in seconds.iter().enumerate() {
                if at > 0 {
                    keys.push((t, value(at - 1)));
                }
                keys.push((t, value(at)));
            }
        }
        Pace::Spline => {
            if !spline_keys(&seconds, &value, sort, &mut keys) {
                build.mended("splines that 64 pieces between keys do not follow closely", path);
            }
        }
    }
    Ok(Track { keys, sort })
}

/// The times of the keys, which may not go back. Equal ones are a jump.
fn seconds(
    build: &mut Build<'_, '_>,
    times: &Numbers<'_>,
    path: &str,
) -> Result<Vec<f64>, LoadError> {
    let mut seconds = Vec::with_capacity(times.count);
    let mut before = 0.0;
    for at in 0..times.count {
        let [time] = times.get(at);
        if !(time.is_finite() && time >= before) {
            let what = format!("key {at} is at {time}; times begin at 0 and do not go back");
            return Err(build.source.refused(path, what));
        }
        before = time;
        seconds.push(f64::from(time));
    }
    if seconds.is_empty() {
        build.ignored("samplers without keys", path);
    }
    Ok(seconds)
}

/// Keys along a spline, three values for each key: the derivative before it, itself, the
/// derivative after it. False if somewhere more would be needed.
fn spline_keys(
    seconds: &[f64],
    value: &dyn Fn(usize) -> DVec4,
    sort: Sort,
    keys: &mut Vec<(f64, DVec4)>,
) -> bool {
    let stretch = |at: usize| {
        let length = seconds[at + 1] - seconds[at];
        Stretch {
            start: [value(3 * at + 1), value(3 * at + 2) * length],
            end: [value(3 * at + 4), value(3 * at + 3) * length],
        }
    };
    let stretches = seconds.len().saturating_sub(1);
    let tolerance = match sort {
        Sort::Rotation => TOLERANCE,
        Sort::Vector => {
            let points = (0..stretches).flat_map(|at| stretch(at).hull());
            let none = (DVec4::INFINITY, DVec4::NEG_INFINITY);
            let (low, high) = points.fold(none, |(low, high), p| (low.min(p), high.max(p)));
            TOLERANCE * (high - low).length()
        }
    };
    let mut is_close = true;
    keys.extend(seconds.first().map(|&t| (t, value(1))));
    for at in 0..stretches {
        let (from, length) = (seconds[at], seconds[at + 1] - seconds[at]);
        is_close &= stretch(at).cut(sort, tolerance, &mut |u, value| {
            keys.push((from + u * length, value));
        });
    }
    is_close
}

/// Adds the nodes of one animation and their routes.
fn connect(
    build: &mut Build<'_, '_>,
    tracks: &Tracks,
    moves: &[Move],
    enabled: bool,
    name: Option<&str>,
) -> Result<(), LoadError> {
    let last_keys = tracks.values().filter_map(|track| track.keys.last());
    let duration = last_keys.fold(0.0, |most: f64, key| most.max(key.0));
    // A cycle must take time (6.50); what has one key only stands still in any case.
    let cycle_interval = if duration > 0.0 { duration } else { 1.0 };
    let sensor = TimeSensor { cycle_interval, enabled, looping: true, ..TimeSensor::default() };
    let sensor = build.add(sensor, name)?;
    build.scene.add_root(sensor);
    let mut interpolators = BTreeMap::new();
    for (&key, track) in tracks {
        if track.keys.is_empty() {
            continue;
        }
        let interpolator = build.add(interpolator(build, track, cycle_interval)?, None)?;
        build.scene.add_root(interpolator);
        route(build, (sensor, "fraction_changed"), (interpolator, "set_fraction"))?;
        interpolators.insert(key, interpolator);
    }
    for m in moves {
        if let Some(&interpolator) = interpolators.get(&track_key(m)) {
            route(build, (interpolator, "value_changed"), (m.node, m.property.event()))?;
        }
    }
    Ok(())
}

fn interpolator(
    build: &Build<'_, '_>,
    track: &Track,
    cycle_interval: f64,
) -> Result<Kind, LoadError> {
    let key: Vec<f32> = track.keys.iter().map(|(t, _)| (t / cycle_interval) as f32).collect();
    let values = track.keys.iter().map(|&(_, value)| value);
    if !values.clone().all(|value| value.as_vec4().is_finite()) {
        return Err(build.source.refused("animations", "a spline is not finite"));
    }
    let key = Arc::new(key);
    Ok(match track.sort {
        Sort::Vector => {
            let values = values.map(|value| value.truncate().as_vec3()).collect();
            PositionInterpolator { key, key_value: Arc::new(values) }.into()
        }
        Sort::Rotation => {
            let values = values.map(|value| matrix::rotation(DQuat::from_vec4(value))).collect();
            OrientationInterpolator { key, key_value: Arc::new(values) }.into()
        }
    })
}

fn route(
    build: &mut Build<'_, '_>,
    from: (NodeId, &str),
    to: (NodeId, &str),
) -> Result<(), LoadError> {
    let place = build.source.place;
    let connected = build.scene.connect(from, to);
    connected.map_err(|error| LoadError::Refused { place, what: error.to_string() })
}
