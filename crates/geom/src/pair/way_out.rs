//! A short move that takes two overlapping solids apart.
//!
//! Candidates for its direction are the normals of faces that touch, the axes of both poses and the
//! line of the centres. Along each the first solid comes in from where a plane separates the two,
//! until it would touch ([`time_of_impact`]); the shortest move counts. That the solids are free
//! there is checked, that no shorter move does it is not: the shortest one of two bodies that are
//! not convex takes a search through O(n³m³) combinations (Zhang, Kim, Varadhan and Manocha 2007).

use super::models::ModelPair;
use super::walk::{Order, Touching, Walk};
use crate::{Model, Motion, Pose, TimeOfImpact, TimeOfImpactLimits, time_of_impact};
use glam::DVec3;
use std::ops::ControlFlow;

/// Directions closer than this to another one (the cosine of 5°) are not tried.
const SAME_WAY: f64 = 0.996;

/// Most normals of faces that are tried. Round things have one for each of their faces, and between
/// neighbours the move hardly changes.
const NORMALS_MAX: usize = 32;

/// A move that is just long enough is lengthened by this part of all lengths involved, so that the
/// closest points then show directions, and by eight times as much until nothing touches. What it
/// is too long by is a gap there, which depths are measured from.
const MARGIN: f64 = 1e-9;

/// How often that is tried: up to a thousandth of all lengths.
const MARGINS: i32 = 7;

/// The pair with the first model moved, and the move; `None` if nothing was found.
pub(super) fn way_out<'a>(pair: &ModelPair<'a>) -> Option<(ModelPair<'a>, DVec3)> {
    let ways = directions(pair);
    let lengths: Vec<f64> = ways.iter().map(|&way| length_by_plane(pair, way)).collect();
    let shortest = (0..ways.len()).min_by(|&i, &j| lengths[i].total_cmp(&lengths[j]))?;
    let mut best = freed(pair, ways[shortest], lengths[shortest])?;
    for &way in &ways {
        // Free already at a shorter distance than the best one known? Then the way in from there.
        let length = best.1.length();
        let Some(start) = moved(pair, way * length).filter(|there| !there.touches().0) else {
            continue;
        };
        if let Some(shorter) = shortened(pair, &start)
            && shorter.1.length() < length
        {
            best = shorter;
        }
    }
    Some(best)
}

/// Unit vectors, each of them and of their opposites.
fn directions(pair: &ModelPair<'_>) -> Vec<DVec3> {
    let mut ways: Vec<DVec3> = Vec::new();
    let is_new = |ways: &[DVec3], way: DVec3| ways.iter().all(|w| w.dot(way).abs() < SAME_WAY);
    let [placed_a, placed_b] = pair.posed();
    let columns = |pose: &Pose| [DVec3::X, DVec3::Y, DVec3::Z].map(|v| pose.transform_vector(v));
    let centres = (placed_a.centre() - placed_b.centre()).try_normalize();
    let axes = [columns(&pair.pose_a), columns(&pair.pose_b)];
    for way in centres.into_iter().chain(axes.into_iter().flatten()) {
        let way = way.normalize();
        if is_new(&ways, way) {
            ways.push(way);
        }
    }
    let most = ways.len() + NORMALS_MAX;
    // Sorted, since the walk may visit them in any order.
    let mut touching: Vec<(usize, usize)> = Vec::new();
    let mut collect = Touching(|a, b| {
        touching.push((a, b));
        ControlFlow::Continue(())
    });
    Walk::new(pair, Order::Any, 0.0).run(pair, u64::MAX, &mut collect);
    touching.sort_unstable();
    let normals = touching.into_iter().flat_map(|(a, b)| [placed_b.normal(b), placed_a.normal(a)]);
    for normal in normals.flatten() {
        if ways.len() < most && is_new(&ways, normal) {
            ways.push(normal);
        }
    }
    ways.into_iter().flat_map(|way| [way, -way]).collect()
}

/// How far along `way` the first model must go so that a plane across it separates the two.
fn length_by_plane(pair: &ModelPair<'_>, way: DVec3) -> f64 {
    let heights = |model: &'_ Model, pose: Pose| {
        let vertices = model.mesh.triangles.iter().flatten();
        let heights =
            vertices.map(move |&v| way.dot(pose.transform_point(model.mesh.vertices.at(v))));
        heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| (low.min(h), high.max(h)))
    };
    heights(pair.b, pair.pose_b).1 - heights(pair.a, pair.pose_a).0
}

/// The pair moved by about `length`, or as much more as it takes that nothing touches.
fn freed<'a>(pair: &ModelPair<'a>, way: DVec3, length: f64) -> Option<(ModelPair<'a>, DVec3)> {
    let size = pair.posed().map(|placed| placed.centre().length()).into_iter().sum::<f64>()
        + pair.a.radius()
        + pair.b.radius();
    (0..MARGINS).find_map(|i| {
        let margin = MARGIN * size * 8f64.powi(i);
        let there = moved(pair, way * (length.max(0.0) + margin))?;
        (!there.touches().0).then(|| (there, offset(pair, &there)))
    })
}

/// From a free place on the way back to where the pair is: as far as it goes.
fn shortened<'a>(pair: &ModelPair<'a>, start: &ModelPair<'a>) -> Option<(ModelPair<'a>, DVec3)> {
    let motion = Motion::linear(&start.pose_a, &pair.pose_a);
    let still = Motion::still(&pair.pose_b);
    let limits = TimeOfImpactLimits::default();
    let free = match time_of_impact(pair.a, &motion, pair.b, &still, &limits) {
        TimeOfImpact::During { free, .. } | TimeOfImpact::Unknown { free } => free,
        TimeOfImpact::Never | TimeOfImpact::AtStart => return None,
    };
    // Not all of it: poses of a motion are rounded in their own way.
    let back = pair.pose_a.translation() - start.pose_a.translation();
    (0..MARGINS).find_map(|i| {
        let there = moved(start, back * (free - MARGIN * 8f64.powi(i)).max(0.0))?;
        (!there.touches().0).then(|| (there, offset(pair, &there)))
    })
}

/// The pair with the first model moved, not turned.
fn moved<'a>(pair: &ModelPair<'a>, by: DVec3) -> Option<ModelPair<'a>> {
    let pose = pair.pose_a;
    let translation = Pose::from_translation(pose.translation() + by).ok()?.translation();
    let pose = Pose::from_parts(pose.rotation(), pose.rows(), translation).ok()?;
    Some(ModelPair::new(pair.a, &pose, pair.b, &pair.pose_b))
}

fn offset(from: &ModelPair<'_>, to: &ModelPair<'_>) -> DVec3 {
    to.pose_a.translation() - from.pose_a.translation()
}
