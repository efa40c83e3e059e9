//! glTF 2.0, as JSON or binary. Source: Khronos, glTF 2.0 Specification 2.0.1.
//!
//! The JSON is read by `serde_json`, everything behind it by hand, not through the crate `gltf`
//! 1.4.1: in 3,000 mutations of single numbers in two public models, whose JSON that crate had
//! accepted and validated, its readers panicked 39 times (accessors that reach beyond their
//! buffer, indices that point nowhere, enumerations that are not known). For a list of empty nodes
//! it takes 196 bytes per byte of JSON; this reader takes 161 with the whole scene.

mod animation;
mod build;
mod container;
mod hierarchy;
mod json;
mod matrix;
mod numbers;
mod source;
mod spline;
mod surface;

use crate::error::{LoadError, found};
use crate::read::Reading;
use crate::scene::Scene;
use crate::warning::Warnings;
use build::Build;
use container::Container;
use json::{Asset, AssetOnly, Root};
use serde_json::error::Category;
use source::Source;

/// Required extensions that are accepted: those that do not change surfaces, and those that are
/// read. Full names, or prefixes of names.
const KNOWN: &[&str] = &[
    "KHR_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "MSFT_texture_",
    "KHR_lights_",
    "EXT_lights_",
    "KHR_technique",
    "KHR_xmp",
    "KHR_mesh_quantization",
    "EXT_mesh_gpu_instancing",
];

/// Recognises glTF by its first bytes or, if these are ambiguous, by its name.
pub(crate) fn is_gltf(name: &str, bytes: &[u8]) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    container::is_binary(bytes)
        || matches!(ending.as_deref(), Some("gltf" | "glb"))
        || is_json_with_asset(bytes)
}

fn is_json_with_asset(bytes: &[u8]) -> bool {
    let text = container::without_mark(bytes).trim_ascii_start();
    text.starts_with(b"{") && text.windows(7).any(|window| window == b"\"asset\"")
}

pub(crate) fn read(
    name: &str,
    bytes: &[u8],
    reading: &mut Reading<'_>,
) -> Result<(Scene, Warnings), LoadError> {
    let mut warnings = Warnings::default();
    let container = Container::open(bytes, &mut warnings)?;
    let root: Root<'_> = match serde_json::from_slice(container.json) {
        Ok(root) => root,
        Err(error) => {
            // glTF 1.0 has other types almost everywhere.
            if let Ok(only) = serde_json::from_slice::<AssetOnly<'_>>(container.json) {
                check_version(&only.asset)?;
            }
            return Err(json_error(&container, &error));
        }
    };
    check_version(&root.asset)?;
    check_extensions(&root, &mut warnings)?;
    let source = Source::open(root, &container, name, reading)?;
    let mut build = Build::new(&source);
    let json_end = container.json_at + container.json.len();
    let mut progress = |done: usize, all: usize| {
        if let Some(progress) = reading.progress.as_mut() {
            let left = (bytes.len().saturating_sub(json_end)) as u128;
            progress(json_end + (left * done as u128 / all.max(1) as u128) as usize);
        }
    };
    progress(0, 1);
    let placed = hierarchy::add(&mut build, &mut progress)?;
    animation::add(&mut build, &placed)?;
    progress(1, 1);
    let scene = build.finish(&mut warnings);
    Ok((scene, warnings))
}

/// The message of `serde_json` ends in line and column, which become the place.
fn json_error(container: &Container<'_>, error: &serde_json::Error) -> LoadError {
    let place = container.place(error.line(), error.column());
    let text = error.to_string();
    let end = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&end).unwrap_or(&text);
    let text = if text == "expected value" { "a value is expected here" } else { text };
    let text: String = text.chars().take(200).collect();
    let what = match error.classify() {
        _ if container.json.trim_ascii().is_empty() => "the JSON of the file is empty".to_string(),
        // The words of `serde_json` for text that is no JSON at all.
        Category::Syntax | Category::Io => format!("this is not JSON: {text}"),
        Category::Eof => format!("the JSON ends too early: {text}"),
        Category::Data => format!("this is not as glTF 2.0 wants it: {text}"),
    };
    LoadError::Refused { place, what }
}

/// Files of version 2.1 can be read by readers of 2.0 unless `minVersion` says otherwise (3.2).
fn check_version(asset: &Asset<'_>) -> Result<(), LoadError> {
    let (version, is_read) = match &asset.min_version {
        Some(least) => (&least.0, least.0 == "2.0"),
        None => (&asset.version.0, asset.version.0.split('.').next() == Some("2")),
    };
    if is_read {
        return Ok(());
    }
    let version = found(Some(version.as_bytes()));
    let what = format!("glTF of version {version}; only 2.0 is read here");
    Err(LoadError::NotReadable { what })
}

fn check_extensions(root: &Root<'_>, warnings: &mut Warnings) -> Result<(), LoadError> {
    let is_known = |name: &str| KNOWN.iter().any(|known| name.starts_with(known));
    let unknown: Vec<String> = (root.extensions_required.iter())
        .filter(|name| !is_known(&name.0))
        .map(|name| found(Some(name.0.as_bytes())))
        .take(4)
        .collect();
    if !unknown.is_empty() {
        let what = format!(
            "the file requires glTF extensions that are not read here: {}",
            unknown.join(", ")
        );
        return Err(LoadError::NotReadable { what });
    }
    for name in root.extensions_used.iter().filter(|name| !is_known(&name.0)) {
        let what = format!("the extension {}", found(Some(name.0.as_bytes())));
        warnings.ignored(&what, crate::Place::Byte(0));
    }
    Ok(())
}
