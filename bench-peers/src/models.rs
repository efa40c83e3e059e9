//! Scanned and CAD models: each against itself, and some against others.

use crate::contest::{Contest, Plan, Poses};
use crate::measure::Query;
use crate::report::Report;
use crate::soup::Soup;
use crate::{builds, shapes, soup};
use anyhow::{Context, Result};
use std::path::Path;

const DISTANCE_POSES: usize = 100;

/// Runs on all OBJ, STL and PLY files of a folder; an empty report if it is missing.
pub(crate) fn run(quick: bool, folder: &Path) -> Result<Report> {
    let mut report = Report::new("models");
    if !folder.is_dir() {
        eprintln!("models skipped: no folder {}", folder.display());
        return Ok(report);
    }
    let models = read_all(folder)?;
    let poses = Poses::new(shapes::poses(if quick { 100 } else { 500 }, 1.0, 7));
    for (name, model) in &models {
        report.builds.extend(builds::measure(name, model, if quick { 2 } else { 5 })?);
    }
    // Each with itself, and with the next in the alphabet.
    let selves = models.iter().map(|m| (m, m));
    for ((name_a, a), (name_b, b)) in selves.chain(models.iter().zip(models.iter().skip(1))) {
        let case = if name_a == name_b { name_a.clone() } else { format!("{name_a} × {name_b}") };
        eprintln!("models {case}: {} poses", poses.len());
        let contest = Contest::build(a, b)?;
        let all = Plan::all(&poses);
        let few = Plan { parry: 0, ..Plan::first(DISTANCE_POSES, &poses) };
        report.rows.push(contest.row(&case, Query::Touch, &poses, all));
        report.rows.push(contest.row(&case, Query::Pairs, &poses, all));
        report.rows.push(contest.row(&case, Query::Distance, &poses, few));
    }
    Ok(report)
}

fn read_all(folder: &Path) -> Result<Vec<(String, Soup)>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    let mut models = Vec::new();
    for path in paths {
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        match soup::read(&path) {
            Ok(Some(soup)) => models.push((name, soup.in_unit_sphere())),
            Ok(None) => {}
            Err(why) => eprintln!("models: skipped: {why:#}"),
        }
    }
    Ok(models)
}
