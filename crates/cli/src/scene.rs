//! Scenes from files, for `jostle check` and `jostle run`.

pub(crate) mod args;
pub(crate) mod files;

use crate::error::CliError;
use crate::input;
use crate::progress::{Progress, Working};
use crate::units::Unit;
use args::SceneArgs;
use files::{Folder, fetcher};
use jostle::files::full_name;
use jostle_scene::{Extensions, Fetch, Fetched, Format, Frame, Opened, Reading, read};
use jostle_stage::{HierarchyFiles, LoadHierarchy, SaveHierarchy};
use std::path::Path;

/// Reads a scene; warnings go to stderr too.
pub(crate) fn open(args: &SceneArgs) -> Result<Opened, CliError> {
    if args.unit.is_some() && Format::from_name(&args.scene.to_string_lossy()).is_none() {
        return Err(CliError::UnitKnown { file: args.scene.display().to_string() });
    }
    open_as(&args.scene, args.unit, args)
}

/// As [`open`], for one of several files, in a given unit.
pub(crate) fn open_as(
    path: &Path,
    unit: Option<Unit>,
    args: &SceneArgs,
) -> Result<Opened, CliError> {
    let fetched = Fetched { name: full_name(path), bytes: input::read(path)? };
    open_read((path, fetched), unit, (args, &mut fetcher(path, args.allow_outside)))
}

/// As [`open_as`], for the bytes of a file. The files that it names are read with `fetch`.
pub(crate) fn open_read(
    (path, fetched): (&Path, Fetched),
    unit: Option<Unit>,
    (args, fetch): (&SceneArgs, &mut Fetch<'_>),
) -> Result<Opened, CliError> {
    let file = path.display().to_string();
    let Fetched { name, bytes } = fetched;
    // Readers of VRML and glTF report progress, readers of polygon files do not.
    let polygons = Format::from_name(&path.to_string_lossy()).is_some();
    let working = polygons.then(|| Working::new(format!("reading {file}")));
    let mut progress = Progress::new(bytes.len(), !polygons);
    let mut report = |done: usize| progress.done(done);
    let unit = unit.map_or(1.0, |unit| unit.metres as f32);
    let mut reading = Reading {
        fetch: Some(fetch),
        progress: Some(&mut report),
        frame: Frame { unit, up: args.up.into() },
        extensions: if args.standard_only { Extensions::None } else { Extensions::CollisionNodes },
    };
    let opened = read(&name, &bytes, &mut reading)
        .map_err(|source| CliError::Load { file: file.clone(), source })?;
    drop(working);
    for warning in &opened.warnings {
        eprintln!("jostle: {file}: warning: {warning}");
    }
    Ok(opened)
}

/// Calls `call` with access to the hierarchy files that the command line allows.
pub(crate) fn with_hierarchies<T>(
    args: &SceneArgs,
    call: impl FnOnce(&mut HierarchyFiles<'_>) -> T,
) -> T {
    let Some(folder) = &args.hierarchies else { return call(&mut HierarchyFiles::default()) };
    let folder = Folder(folder);
    let mut load = |name: &str| folder.load(name);
    let mut save = |name: &str, bytes: &[u8]| folder.save(name, bytes);
    let load: &mut LoadHierarchy<'_> = &mut load;
    let save: &mut SaveHierarchy<'_> = &mut save;
    call(&mut HierarchyFiles { load: Some(load), save: Some(save) })
}

/// Prints the problems of a scene to stderr.
pub(crate) fn print_problems(args: &SceneArgs, problems: &[String]) {
    for problem in problems {
        eprintln!("jostle: {}: warning: {problem}", args.scene.display());
    }
}
