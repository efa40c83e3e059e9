//! Zachmann's procedure: two copies of a solid come closer while one turns.
//!
//! G. Zachmann, "Virtual Reality in Assembly Simulation", thesis, TU Darmstadt 2000, §3.5.10.
//! Each copy is scaled uniformly into a cube of side 2. The distance is that of the centres of the
//! bounding boxes. For each distance, from out of reach downwards, one copy makes a full turn about
//! z in 2000 steps, with one query per step. This is repeated for several initial orientations
//! of both, applied before the trees are built. What counts is the mean over the interesting range:
//! from two distances before the first contact to two after it.

use crate::contest::{Contest, Plan, Poses};
use crate::measure::{Query, Series};
use crate::report::{Report, Row};
use crate::shapes::{Random, Solid};
use crate::soup::Soup;
use anyhow::Result;
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::Pose;
use std::f64::consts::TAU;

/// How much closer each distance is. The thesis does not say; a fortieth of the cube.
const DISTANCE_STEP: f64 = 0.05;
const AROUND_CONTACT: usize = 2;
/// Above this, parry takes minutes.
const PARRY_MOST: usize = 10_000;

/// Runs all solids at several complexities.
pub(crate) fn run(quick: bool) -> Result<Report> {
    let mut report = Report::new("zachmann");
    let sizes: &[usize] = if quick { &[1_000, 16_000] } else { &[1_000, 4_000, 16_000, 64_000] };
    let (steps, orientations) = if quick { (200, 2) } else { (2000, 5) };
    for solid in Solid::ALL {
        for &size in sizes {
            let soup = solid.soup(size);
            let triangles = soup.triangles.len();
            eprintln!("zachmann {} of {triangles} triangles", solid.name());
            let mut random = Random::new(2000);
            let mut total: Vec<Series> = Vec::new();
            for _ in 0..orientations {
                let a = oriented(&soup, random.rotation());
                let b = oriented(&soup, random.rotation());
                append(&mut total, approach(&a, &b, steps)?);
            }
            report.rows.push(Row::new(solid.name(), [triangles; 2], Query::Touch, total));
        }
    }
    Ok(report)
}

fn oriented(soup: &Soup, rotation: DQuat) -> Soup {
    let mut soup = soup.clone();
    soup.map(|v| (rotation * Vec3::from(v).as_dvec3()).as_vec3().to_array());
    soup.in_two_cube()
}

/// One approach: what was measured in the interesting range.
fn approach(a: &Soup, b: &Soup, steps: usize) -> Result<Vec<Series>> {
    let contest = Contest::build(a, b)?;
    let parry = if a.triangles.len() <= PARRY_MOST { steps } else { 0 };
    let plan = Plan { poses: steps, parry, block: (steps / 4).max(1) };
    let reach = f64::from(a.radius() + b.radius());
    let mut turns: Vec<Vec<Series>> = Vec::new();
    let mut contact = None;
    for k in 0.. {
        let distance = reach + (AROUND_CONTACT as f64 - k as f64) * DISTANCE_STEP;
        let turn = contest.ask(Query::Touch, &full_turn(distance, steps)?, plan);
        // The first contact of any engine counts: one that misses contacts must not stretch the
        // range.
        if contact.is_none() && turn.iter().any(|series| series.hits() > 0) {
            contact = Some(k);
        }
        turns.push(turn);
        if contact.is_some_and(|c| k == c + AROUND_CONTACT) || distance <= 0.0 {
            break;
        }
    }
    let mut total = Vec::new();
    let interesting = turns.len().saturating_sub(2 * AROUND_CONTACT + 1);
    turns.drain(interesting..).for_each(|turn| append(&mut total, turn));
    Ok(total)
}

/// B at a distance along x, turning about its own z axis.
fn full_turn(distance: f64, steps: usize) -> Result<Poses> {
    let pose = |step: usize| {
        let angle = TAU * step as f64 / steps as f64;
        Pose::new(DQuat::from_rotation_z(angle), DVec3::new(distance, 0.0, 0.0))
    };
    Ok(Poses::new((0..steps).map(pose).collect::<Result<_, _>>()?))
}

fn append(total: &mut Vec<Series>, more: Vec<Series>) {
    for series in more {
        match total.iter_mut().find(|s| s.engine == series.engine) {
            Some(same) => same.extend(series),
            None => total.push(series),
        }
    }
}
