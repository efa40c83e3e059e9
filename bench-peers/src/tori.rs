//! Bumpy tori of 2,000, 20,000 and 200,000 triangles: the workload of PEERS.

use crate::contest::{Contest, Plan, Poses};
use crate::measure::{Engine, Query};
use crate::report::{Report, Row};
use crate::soup::Soup;
use crate::{builds, shapes, soup};
use anyhow::{Context, Result, bail};
use glam::DVec3;
use jostle_geom::Pose;
use std::path::Path;

struct Size {
    triangles: usize,
    name: &'static str,
    poses: usize,
    quick_poses: usize,
    /// Hits and pairs over the first poses of gen.py, by exact predicates.
    published: Published,
}

struct Published {
    poses: usize,
    hits: usize,
    pairs: usize,
}

const SIZES: [Size; 3] = [
    Size {
        triangles: 2_000,
        name: "2k",
        poses: 1000,
        quick_poses: 200,
        published: Published { poses: 1000, hits: 702, pairs: 156_094 },
    },
    Size {
        triangles: 20_000,
        name: "20k",
        poses: 1000,
        quick_poses: 200,
        published: Published { poses: 1000, hits: 716, pairs: 521_724 },
    },
    Size {
        triangles: 200_000,
        name: "200k",
        poses: 500,
        quick_poses: 50,
        published: Published { poses: 50, hits: 34, pairs: 76_668 },
    },
];

/// Distance is asked for the first poses only: parry takes up to seconds each, FCL milliseconds.
const DISTANCE_POSES: usize = 200;
const PARRY_DISTANCE_POSES: usize = 5;
/// The tolerance of `within`.
const NEAR: f64 = 0.05;

/// Runs all sizes; with `data`, on the files that gen.py of PEERS wrote there.
pub(crate) fn run(quick: bool, data: Option<&Path>, block: Option<usize>) -> Result<Report> {
    let mut report = Report::new("tori");
    for size in &SIZES {
        let count = if quick { size.quick_poses } else { size.poses };
        let ([a, b], poses) = match data {
            Some(folder) => read(folder, size.triangles, count)?,
            None => (shapes::bumpy_tori(size.triangles), shapes::poses(count, 1.3, 42)),
        };
        eprintln!("tori {}: {} poses", size.name, poses.len());
        let repeats = if quick { 2 } else { 5 };
        report.builds.extend(builds::measure(size.name, &a, repeats)?);
        let first = report.rows.len();
        let poses = Poses::new(poses);
        report.rows.extend(queries(size, &Contest::build(&a, &b)?, &poses, block));
        if data.is_some() {
            report.rows[first..].iter_mut().for_each(|row| check(row, &size.published));
        }
    }
    Ok(report)
}

fn queries(size: &Size, contest: &Contest, poses: &Poses, block: Option<usize>) -> Vec<Row> {
    let mut all = Plan::all(poses);
    all.block = block.unwrap_or(all.block);
    let touch = contest.row(size.name, Query::Touch, poses, all);
    let pairs = contest.row(size.name, Query::Pairs, poses, all);
    let parry = if size.triangles == 2_000 { PARRY_DISTANCE_POSES } else { 0 };
    let mut few = Plan { parry, ..Plan::first(DISTANCE_POSES, poses) };
    few.block = block.unwrap_or(few.block);
    let distance = contest.row(size.name, Query::Distance, poses, few);
    let mut within = contest.within_row(size.name, NEAR, poses, all);
    if let (Some(near), Some(exact)) = (within.of(Engine::Us), distance.of(Engine::Us)) {
        let answers = near.answers.iter().zip(&exact.answers);
        let wrong = answers.filter(|(near, d)| (**near > 0.0) != (**d <= NEAR)).count();
        if wrong > 0 {
            within.remarks.push(format!("DISAGREES with our distance in {wrong} poses"));
        }
    }
    vec![touch, pairs, distance, within]
}

/// Compares with the numbers that exact predicates give for gen.py's files.
fn check(row: &mut Row, published: &Published) {
    let expected = match row.query {
        Query::Touch => published.hits,
        Query::Pairs => published.pairs,
        Query::Distance | Query::Within(_) => return,
    };
    let mut remarks = Vec::new();
    for series in &row.series {
        if let Some(answers) = series.answers.get(..published.poses) {
            let found = answers.iter().sum::<f64>() as usize;
            let name = series.engine.name();
            remarks.push(if found == expected {
                format!("{name} = published {expected}")
            } else {
                format!("{name} {found} ≠ PUBLISHED {expected}")
            });
        }
    }
    row.remarks.extend(remarks);
}

fn read(folder: &Path, n: usize, count: usize) -> Result<([Soup; 2], Vec<Pose>)> {
    let load = |name: &str| {
        let path = folder.join(format!("{name}_{n}.obj"));
        soup::read(&path)?.with_context(|| format!("{} is not a mesh", path.display()))
    };
    let path = folder.join(format!("poses_{n}.txt"));
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let poses = text.lines().take(count).enumerate().map(|(i, line)| {
        parse_pose(line).with_context(|| format!("{} line {}", path.display(), i + 1))
    });
    Ok(([load("a")?, load("b")?], poses.collect::<Result<_>>()?))
}

/// Nine numbers of the rotation, row by row, then the translation.
fn parse_pose(line: &str) -> Result<Pose> {
    let numbers: Vec<f64> =
        line.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let Some((&x, [])) = numbers.split_first_chunk::<12>() else {
        bail!("expected 12 numbers, found {}", numbers.len());
    };
    let at = |i: usize| DVec3::new(x[i], x[i + 1], x[i + 2]);
    Ok(Pose::from_rows([at(0), at(3), at(6)], at(9))?)
}
