//! Reads models and poses.

use crate::args::ModelArgs;
use crate::error::CliError;
use crate::scene::files::fetcher;
use glam::{DQuat, DVec3};
use jostle::files::{full_name, read_named};
use jostle_geom::{ClosingGap, Mesh, Model, NotClosed, Pose, WeldReport};
use jostle_scene::{MeshChoice, MeshFile, Reading, read_mesh};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

/// A model as it came from its file.
pub(crate) struct Opened {
    pub(crate) model: Model,
    /// How long it took to build or load the hierarchy, in wall-clock time.
    pub(crate) build_time: Duration,
    /// Whether the hierarchy came from a file.
    pub(crate) loaded: bool,
    /// What `--weld` has changed.
    pub(crate) weld: Option<WeldReport>,
    /// The format says that a unit is a metre.
    pub(crate) is_in_metres: bool,
    pub(crate) warnings: Vec<String>,
}

/// A model file, and which part of it.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) path: &'a Path,
    pub(crate) part: Option<&'a str>,
    /// A file with its hierarchy.
    pub(crate) hierarchy: Option<&'a Path>,
}

/// Reads a model, and its hierarchy where a file with one is named; warnings go to stderr too.
pub(crate) fn open(named: Named<'_>, args: &ModelArgs) -> Result<Opened, CliError> {
    let file = named.path.display().to_string();
    let bytes = read(named.path)?;
    let mut fetch = fetcher(named.path, args.allow_outside);
    let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
    let choice = MeshChoice { part: named.part, ..MeshChoice::default() };
    let read_mesh = read_mesh(&full_name(named.path), &bytes, &mut reading, choice)
        .map_err(|source| CliError::ReadMesh { file: file.clone(), source })?;
    drop(bytes);
    let MeshFile { mesh, warnings, is_in_metres } = read_mesh;
    let mut warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let (mesh, weld) = match args.weld {
        Some(tolerance) => {
            let (mesh, report) = mesh
                .weld(tolerance)
                .map_err(|error| CliError::Weld { file: file.clone(), source: error })?;
            eprintln!("jostle: {file}: {}", welded(&report, tolerance));
            (mesh, Some(report))
        }
        None => (mesh, None),
    };
    let mesh = if args.solid { solid_if_closed(mesh, &mut warnings) } else { mesh };
    for warning in &warnings {
        eprintln!("jostle: {file}: warning: {warning}");
    }
    let saved = named.hierarchy.map(read).transpose()?;
    let start = Instant::now();
    let (model, refused) =
        Model::hierarchy_from_bytes_or_build(mesh, saved.as_deref(), args.quality.into());
    let build_time = start.elapsed();
    let loaded = saved.is_some() && refused.is_none();
    if let (Some(hierarchy), Some(reason)) = (named.hierarchy, refused) {
        let warning = format!("built anew, because {reason}");
        eprintln!("jostle: {}: warning: {warning}", hierarchy.display());
        warnings.push(format!("{}: {warning}", hierarchy.display()));
    }
    Ok(Opened { model, build_time, loaded, weld, is_in_metres, warnings })
}

/// The bytes of a file of the command line: a regular file or a pipe.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    read_named(path).map_err(|source| CliError::Read { file: path.display().to_string(), source })
}

/// The text about a weld.
pub(crate) fn welded(report: &WeldReport, tolerance: f64) -> String {
    let WeldReport { joined, largest_move, chains, collapsed_faces, new_duplicates } = *report;
    if joined == 0 {
        return format!("nothing to weld: no two vertices are within {tolerance:e}");
    }
    let mut parts = vec![
        format!("welded {joined} vertices"),
        format!("the largest move is {largest_move:.1e}"),
    ];
    for (count, what) in [
        (collapsed_faces, "faces lost their area"),
        (new_duplicates, "faces became duplicates"),
        (chains, "chains of close vertices moved farther than the tolerance"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    parts.join("; ")
}

fn solid_if_closed(mesh: Mesh, warnings: &mut Vec<String>) -> Mesh {
    match mesh.clone().into_solid() {
        Ok(solid) => solid,
        Err(error) => {
            warnings.push(not_solid(&mesh, &error));
            mesh
        }
    }
}

/// The text about a mesh that is not solid, with what would make it solid.
pub(crate) fn not_solid(mesh: &Mesh, error: &NotClosed) -> String {
    let hint = match mesh.closing_gap() {
        Some(ClosingGap { tolerance, largest_move }) => format!(
            "the gaps are at most {largest_move:.1e}, --weld {tolerance:e} would close them"
        ),
        None => "these are holes, wider than a weld closes".to_string(),
    };
    format!("not solid: {error}; {hint}")
}

/// The poses of a file, one per line; with `first`, not more than that.
pub(crate) fn open_poses(path: &Path, first: Option<NonZeroUsize>) -> Result<Vec<Pose>, CliError> {
    let text = read(path)?;
    let most = first.map_or(usize::MAX, NonZeroUsize::get);
    let mut poses = Vec::new();
    for (line, words) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        if poses.len() == most {
            break;
        }
        let words = String::from_utf8_lossy(words);
        let words = words.split('#').next().unwrap_or_default().trim();
        if !words.is_empty() {
            let pose = parse_pose_line(words).map_err(|what| CliError::PoseLine {
                file: path.display().to_string(),
                line,
                what,
            })?;
            poses.push(pose);
        }
    }
    Ok(poses)
}

/// A pose from 7 numbers: translation, then quaternion with its real part last.
pub(crate) fn parse_pose(text: &str) -> Result<Pose, String> {
    match numbers(text)?[..] {
        [tx, ty, tz, qx, qy, qz, qw] => pose_of_seven([tx, ty, tz], [qx, qy, qz, qw]),
        ref found => {
            Err(format!("a pose is 7 numbers (tx ty tz qx qy qz qw), found {}", found.len()))
        }
    }
}

/// A pose from 7 numbers, or from 12: rotation matrix by rows, then translation.
fn parse_pose_line(text: &str) -> Result<Pose, String> {
    match numbers(text)?[..] {
        [tx, ty, tz, qx, qy, qz, qw] => pose_of_seven([tx, ty, tz], [qx, qy, qz, qw]),
        [a, b, c, d, e, f, g, h, i, x, y, z] => {
            let rows = [DVec3::new(a, b, c), DVec3::new(d, e, f), DVec3::new(g, h, i)];
            Pose::from_rows(rows, DVec3::new(x, y, z)).map_err(|error| error.to_string())
        }
        ref found => Err(format!(
            "a pose is 12 numbers (rotation by rows, translation) or 7 (tx ty tz qx qy qz qw), \
             found {}",
            found.len()
        )),
    }
}

fn pose_of_seven(translation: [f64; 3], quaternion: [f64; 4]) -> Result<Pose, String> {
    Pose::new(DQuat::from_array(quaternion), DVec3::from_array(translation))
        .map_err(|error| error.to_string())
}

fn numbers(text: &str) -> Result<Vec<f64>, String> {
    text.split_whitespace()
        .map(|word| word.parse().map_err(|_| format!("expected a number, found {word:?}")))
        .collect()
}
