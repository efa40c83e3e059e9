//! Files and poses, from names and texts.

use crate::args::ModelArgs;
use crate::error::CliError;
use glam::{DQuat, DVec3};
use jostle_geom::{Mesh, Model, Pose};
use jostle_scene::{Format, load};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

/// A model as it came from its file.
pub(crate) struct Opened {
    pub(crate) model: Model,
    /// How long it took to build or load the hierarchy, by the clock on the wall.
    pub(crate) build_time: Duration,
    /// Whether the hierarchy came from a file.
    pub(crate) loaded: bool,
    pub(crate) warnings: Vec<String>,
}

/// Reads a model, and its hierarchy where a file with one is named; warnings go to stderr too.
pub(crate) fn open(
    path: &Path,
    hierarchy: Option<&Path>,
    args: &ModelArgs,
) -> Result<Opened, CliError> {
    let file = || path.display().to_string();
    let format = Format::from_name(&path.to_string_lossy())
        .ok_or_else(|| CliError::UnknownFormat { file: file() })?;
    let bytes = read(path)?;
    let loaded = load(&bytes, format).map_err(|source| CliError::Load { file: file(), source })?;
    drop(bytes);
    let mut warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let mesh = loaded.into_mesh().map_err(|source| CliError::Mesh { file: file(), source })?;
    let mesh = if args.solid { solid_if_closed(mesh, &mut warnings) } else { mesh };
    for warning in &warnings {
        eprintln!("jostle: {}: warning: {warning}", file());
    }
    let saved = hierarchy.map(read).transpose()?;
    let start = Instant::now();
    let (model, refused) = Model::load_or_build(mesh, saved.as_deref(), args.quality.into());
    let build_time = start.elapsed();
    let loaded = saved.is_some() && refused.is_none();
    if let (Some(hierarchy), Some(reason)) = (hierarchy, refused) {
        let warning = format!("built anew, because {reason}");
        eprintln!("jostle: {}: warning: {warning}", hierarchy.display());
        warnings.push(format!("{}: {warning}", hierarchy.display()));
    }
    Ok(Opened { model, build_time, loaded, warnings })
}

fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    std::fs::read(path)
        .map_err(|source| CliError::Read { file: path.display().to_string(), source })
}

fn solid_if_closed(mesh: Mesh, warnings: &mut Vec<String>) -> Mesh {
    match mesh.clone().into_solid() {
        Ok(solid) => solid,
        Err(error) => {
            warnings.push(format!("not solid, because {error}"));
            mesh
        }
    }
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
