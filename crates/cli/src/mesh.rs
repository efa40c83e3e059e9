//! `jostle mesh`: what is in a file, what is odd about it, what it takes.

use crate::args::MeshArgs;
use crate::error::CliError;
use crate::input::{Opened, open};
use serde::Serialize;
use std::io::Write;

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
    /// By the clock on the wall.
    build_ms: f64,
    /// Mesh and hierarchy together; null without triangles.
    bytes_per_triangle: Option<f64>,
    warnings: Vec<String>,
}

/// Never a failure: odd meshes are good input.
pub(crate) fn run(args: &MeshArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    let Opened { model, build_time, warnings } = open(&args.file, &args.model)?;
    let report = model.mesh().report();
    let build_ms = build_time.as_secs_f64() * 1e3;
    let bytes_per_triangle =
        (report.triangles > 0).then(|| model.bytes() as f64 / report.triangles as f64);
    if !args.model.json {
        writeln!(out, "{report}")?;
        writeln!(out, "build time         {build_ms:.2} ms")?;
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
        build_ms,
        bytes_per_triangle,
        warnings,
    };
    serde_json::to_writer(&mut *out, &output)?;
    writeln!(out)?;
    Ok(false)
}
