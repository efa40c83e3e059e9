//! `jostle mesh`: what is in a file, what is odd about it, what it takes.

use crate::args::MeshArgs;
use crate::error::CliError;
use crate::input::{Opened, open};
use jostle_geom::Quality;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// The report in JSON: counts only.
#[derive(Debug, Serialize)]
struct Output {
    triangles: usize,
    faces: usize,
    vertices: usize,
    unused_vertices: usize,
    degenerate_faces: usize,
    duplicate_faces: usize,
    non_planar_faces: usize,
    /// As part of the size of the face.
    largest_bend: f64,
    open_edges: usize,
    non_manifold_edges: usize,
    misoriented_edges: usize,
    parts: usize,
    closed: bool,
    solid: bool,
    /// Lowest and highest coordinates.
    bounds: Option<[[f32; 3]; 2]>,
    quality: &'static str,
    /// Built or loaded.
    hierarchy: &'static str,
    /// Building or loading the hierarchy, by the clock on the wall.
    build_ms: f64,
    /// Mesh and hierarchy together; null without triangles.
    bytes_per_triangle: Option<f64>,
    warnings: Vec<String>,
}

/// Never a failure: odd meshes are good input.
pub(crate) fn run(args: &MeshArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    if let Some(path) = &args.save_hierarchy {
        check_not_read(path, args)?;
    }
    let opened = open(&args.file, args.hierarchy.as_deref(), &args.model)?;
    let Opened { model, build_time, loaded, warnings } = opened;
    if let Some(path) = &args.save_hierarchy {
        let file = || path.display().to_string();
        std::fs::write(path, model.save())
            .map_err(|source| CliError::Write { file: file(), source })?;
    }
    let report = model.mesh().report();
    let build_ms = build_time.as_secs_f64() * 1e3;
    let bytes_per_triangle =
        (report.triangles > 0).then(|| model.bytes() as f64 / report.triangles as f64);
    if !args.model.json {
        writeln!(out, "{report}")?;
        let title = if loaded { "load time" } else { "build time" };
        writeln!(out, "{title:<17}  {build_ms:.2} ms")?;
        if let Some(bytes) = bytes_per_triangle {
            writeln!(out, "memory             {bytes:.1} bytes per triangle")?;
        }
        return Ok(false);
    }
    let output = Output {
        triangles: report.triangles,
        faces: report.faces,
        vertices: report.vertices,
        unused_vertices: report.unused_vertices,
        degenerate_faces: report.degenerate_faces.count,
        duplicate_faces: report.duplicate_faces.count,
        non_planar_faces: report.non_planar_faces.count,
        largest_bend: report.largest_bend,
        open_edges: report.open_edges.count,
        non_manifold_edges: report.non_manifold_edges.count,
        misoriented_edges: report.misoriented_edges.count,
        parts: report.components,
        closed: report.closed,
        solid: report.solid,
        bounds: report.bounds.map(|bounds| bounds.map(|corner| corner.to_array())),
        quality: quality_name(model.quality()),
        hierarchy: if loaded { "loaded" } else { "built" },
        build_ms,
        bytes_per_triangle,
        warnings,
    };
    serde_json::to_writer(&mut *out, &output)?;
    writeln!(out)?;
    Ok(false)
}

/// The model itself is easily named by mistake, and would be lost.
fn check_not_read(path: &Path, args: &MeshArgs) -> Result<(), CliError> {
    let Ok(written) = path.canonicalize() else { return Ok(()) };
    if args.file.canonicalize().is_ok_and(|read| read == written) {
        return Err(CliError::WouldOverwrite { file: path.display().to_string() });
    }
    Ok(())
}

fn quality_name(quality: Quality) -> &'static str {
    match quality {
        Quality::Fast => "fast",
        Quality::Default => "default",
        Quality::Tight => "tight",
    }
}
