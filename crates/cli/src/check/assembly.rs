//! The files of a check with their names, poses and units: from the command line, or from an
//! assembly file (`docs/command-line.md`, decision 34).

use crate::check::args::CheckArgs;
use crate::error::CliError;
use crate::input;
use crate::scene::args::SceneArgs;
use crate::scene::files::{fetch_error, scene_files};
use crate::scene::{open_as, open_read};
use crate::units::Unit;
use glam::{DQuat, DVec3};
use jostle_geom::Pose;
use jostle_scene::nodes::Transform;
use jostle_scene::{Format, Opened, Rotation, Scene, UniqueNames};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The scene that is checked.
pub(crate) struct Assembly {
    pub(crate) scene: Scene,
    pub(crate) warnings: Vec<String>,
    /// The first file whose unit is not known.
    pub(crate) without_unit: Option<String>,
    /// Every file that was read for it.
    pub(crate) files: Vec<PathBuf>,
}

/// A file with its pose.
struct Part {
    path: PathBuf,
    /// The assembly file that lists it, and its path there; none for files of the command line.
    named_by: Option<(PathBuf, PathBuf)>,
    /// The name that the user gives; none: that of the file.
    name: Option<String>,
    pose: Pose,
    unit: Option<Unit>,
}

/// An assembly file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AssemblyFile {
    /// The unit of poses, and of files without a unit.
    unit: Option<String>,
    parts: Vec<PartEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartEntry {
    file: PathBuf,
    name: Option<String>,
    /// tx ty tz qx qy qz qw.
    pose: Option<Vec<f64>>,
    /// Three rows of four numbers: rotation and translation.
    matrix: Option<Vec<f64>>,
    unit: Option<String>,
}

impl Assembly {
    pub(crate) fn open(args: &CheckArgs) -> Result<Assembly, CliError> {
        let mut parts = Vec::new();
        for path in inputs(args) {
            if has_ending(path, "json") {
                read_assembly(path, args.scene.unit, &mut parts)?;
            } else {
                let (path, unit) = (path.clone(), args.scene.unit);
                parts.push(Part { path, named_by: None, name: None, pose: Pose::IDENTITY, unit });
            }
        }
        let mut with_unit = parts.iter().filter(|part| !lacks_unit(&part.path));
        if let (Some(_), Some(part)) = (args.scene.unit, with_unit.next())
            && !parts.iter().any(|part| lacks_unit(&part.path))
        {
            return Err(CliError::UnitKnown { file: part.path.display().to_string() });
        }
        let unknown = parts.iter().find(|part| lacks_unit(&part.path) && part.unit.is_none());
        let without_unit = unknown.map(|part| part.path.display().to_string());
        let (scene, mut warnings) = match &parts[..] {
            [part] if part.name.is_none() && args.pose.is_empty() => {
                let opened = open_part(part, &args.scene)?;
                (opened.scene, opened.warnings.iter().map(ToString::to_string).collect())
            }
            _ => merge_parts(&parts, args)?,
        };
        if let Some(file) = without_unit.as_ref().filter(|_| parts.iter().any(Part::has_unit)) {
            warnings.push(format!("{file} has no unit and is taken to be in metres; see --unit"));
            eprintln!(
                "jostle: warning: {file} has no unit and is taken to be in metres; see --unit"
            );
        }
        let files = parts.into_iter().map(|part| part.path).collect();
        Ok(Assembly { scene, warnings, without_unit, files })
    }
}

impl Part {
    fn has_unit(&self) -> bool {
        self.unit.is_some() || !lacks_unit(&self.path)
    }
}

/// The files of the command line.
pub(crate) fn inputs(args: &CheckArgs) -> impl Iterator<Item = &PathBuf> {
    std::iter::once(&args.scene.scene).chain(&args.more)
}

/// Formats without a unit of length; glTF and VRML are in metres.
pub(crate) fn lacks_unit(path: &Path) -> bool {
    Format::from_name(&path.to_string_lossy()).is_some()
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// Reads each file once, and adds its scene at the pose of each part.
fn merge_parts(parts: &[Part], args: &CheckArgs) -> Result<(Scene, Vec<String>), CliError> {
    let names = names(parts);
    let pose_of = poses_by_name(&names, args)?;
    let mut read: BTreeMap<(PathBuf, Option<u64>), Scene> = BTreeMap::new();
    let (mut scene, mut warnings) = (Scene::default(), Vec::new());
    for (part, name) in parts.iter().zip(&names) {
        let unit = part.unit.filter(|_| lacks_unit(&part.path));
        let key = (part.path.clone(), unit.map(|unit| unit.metres.to_bits()));
        let known = match read.get(&key) {
            Some(known) => known.clone(),
            None => {
                let opened = open_part(part, &args.scene)?;
                let file = part.path.display();
                warnings.extend(opened.warnings.iter().map(|what| format!("{file}: {what}")));
                read.insert(key, opened.scene.clone());
                opened.scene
            }
        };
        let pose = pose_of.get(&**name).unwrap_or(&part.pose);
        scene.add_part(name, transform(pose), known);
    }
    Ok((scene, warnings))
}

/// Reads a part. A file that an assembly file lists must be below its folder, and so must the files
/// that it includes.
fn open_part(part: &Part, args: &SceneArgs) -> Result<Opened, CliError> {
    let unit = part.unit.filter(|_| lacks_unit(&part.path));
    let Some((assembly, file)) = &part.named_by else { return open_as(&part.path, unit, args) };
    let mut files = scene_files(assembly, args.allow_outside);
    let fetched = files.read(file).map_err(|error| CliError::Assembly {
        file: assembly.display().to_string(),
        what: format!("{}: {}", file.display(), fetch_error(&error)),
    })?;
    let mut fetch =
        |address: &str, from: &str| files.fetch(address, from).map_err(|error| fetch_error(&error));
    open_read((&part.path, fetched), unit, (args, &mut fetch))
}

/// The unique names of parts: as given, or that of the file.
fn names(parts: &[Part]) -> Vec<String> {
    let mut unique = UniqueNames::default();
    for name in parts.iter().filter_map(|part| part.name.as_deref()) {
        unique.reserve(name);
    }
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let named = parts.iter().map(|part| match &part.name {
        Some(name) => unique.take(name).to_string(),
        None => unique.take(&stem(&part.path)).to_string(),
    });
    named.collect()
}

/// The poses of the command line.
fn poses_by_name<'a>(
    names: &[String],
    args: &'a CheckArgs,
) -> Result<BTreeMap<&'a str, Pose>, CliError> {
    let mut poses = BTreeMap::new();
    for (name, pose) in &args.pose {
        if !names.contains(name) {
            let known = names.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
            return Err(CliError::NoPart { name: name.clone(), known });
        }
        poses.insert(&name[..], *pose);
    }
    Ok(poses)
}

/// Fields of scenes have single precision, like coordinates of files.
fn transform(pose: &Pose) -> Transform {
    let (axis, angle) = pose.rotation().to_axis_angle();
    Transform {
        translation: pose.translation().as_vec3(),
        rotation: Rotation { axis: axis.as_vec3(), angle: angle as f32 },
        ..Transform::default()
    }
}

fn read_assembly(path: &Path, unit: Option<Unit>, parts: &mut Vec<Part>) -> Result<(), CliError> {
    let file = path.display().to_string();
    let wrong = |what: String| CliError::Assembly { file: file.clone(), what };
    let assembly: AssemblyFile =
        serde_json::from_slice(&input::read(path)?).map_err(|error| wrong(error.to_string()))?;
    let own = assembly.unit.as_deref().map(Unit::parse).transpose();
    let unit = own.map_err(|what| wrong(format!("unit: {what}")))?.or(unit);
    for (at, entry) in assembly.parts.into_iter().enumerate() {
        let part = part(entry, path, unit);
        parts.push(part.map_err(|what| wrong(format!("parts[{at}].{what}")))?);
    }
    Ok(())
}

/// An entry of an assembly file, or the field that is wrong and why.
fn part(entry: PartEntry, assembly: &Path, unit: Option<Unit>) -> Result<Part, String> {
    let PartEntry { file, name, pose, matrix, unit: own } = entry;
    if has_ending(&file, "json") {
        return Err("file: expected a model; an assembly cannot contain another one".to_string());
    }
    if name.as_ref().is_some_and(|name| name.trim().is_empty()) {
        return Err("name: expected at least one character".to_string());
    }
    if own.is_some() && !lacks_unit(&file) {
        return Err(format!("unit: {} is in metres by its format", file.display()));
    }
    let own =
        own.as_deref().map(Unit::parse).transpose().map_err(|what| format!("unit: {what}"))?;
    let metres = unit.map_or(1.0, |unit| unit.metres);
    let pose = match (pose, matrix) {
        (None, None) => Pose::IDENTITY,
        (Some(numbers), None) => {
            pose_of(&numbers, metres).map_err(|what| format!("pose: {what}"))?
        }
        (None, Some(numbers)) => {
            matrix_of(&numbers, metres).map_err(|what| format!("matrix: {what}"))?
        }
        (Some(_), Some(_)) => return Err("matrix: there is a pose too; give one".to_string()),
    };
    let path = assembly.parent().unwrap_or(Path::new("")).join(&file);
    let named_by = Some((assembly.to_path_buf(), file));
    Ok(Part { path, named_by, name, pose, unit: own.or(unit) })
}

fn pose_of(numbers: &[f64], metres: f64) -> Result<Pose, String> {
    let &[x, y, z, qx, qy, qz, qw] = numbers else {
        let count = numbers.len();
        return Err(format!("expected 7 numbers (tx ty tz qx qy qz qw), found {count}"));
    };
    let translation = DVec3::new(x, y, z) * metres;
    Pose::new(DQuat::from_xyzw(qx, qy, qz, qw), translation).map_err(|error| error.to_string())
}

fn matrix_of(numbers: &[f64], metres: f64) -> Result<Pose, String> {
    let rows: Vec<&[f64]> = numbers.chunks(4).collect();
    let (Some(rows @ [_, _, _]), 12 | 16) = (rows.get(..3), numbers.len()) else {
        let count = numbers.len();
        return Err(format!(
            "expected 12 numbers (3 rows of rotation and translation) or 16, found {count}"
        ));
    };
    if numbers.get(12..).is_some_and(|last| !last.is_empty() && last != [0.0, 0.0, 0.0, 1.0]) {
        return Err("expected 0 0 0 1 as the last row".to_string());
    }
    let turn = [0, 1, 2].map(|row: usize| DVec3::from_slice(rows[row]));
    let translation = DVec3::new(rows[0][3], rows[1][3], rows[2][3]) * metres;
    Pose::from_rows(turn, translation).map_err(|error| error.to_string())
}
