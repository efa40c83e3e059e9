//! `jostle mesh`: size, contents and defects of a mesh, memory and build time of its hierarchy.

use crate::args::MeshArgs;
use crate::error::CliError;
use crate::input::{Named, Opened, open};
use glam::Vec3;
use jostle_geom::{ClosingGap, MeshReport, Pose, PosedModel, Quality, WeldReport};
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
    sliver_faces: usize,
    duplicate_faces: usize,
    non_planar_faces: usize,
    /// As part of the size of the face.
    largest_bend: f64,
    open_edges: usize,
    /// Connected lines of open edges.
    holes: usize,
    /// The weld that closes the surface, if one does.
    gap: Option<GapOutput>,
    non_manifold_edges: usize,
    misoriented_edges: usize,
    /// Pairs of faces that touch or cross without being neighbours.
    self_contacts: usize,
    parts: usize,
    closed: bool,
    solid: bool,
    /// Size, area and volume are in this unit, in its square and in its cube. Null: the unit of the
    /// file, which does not say it.
    unit: Option<&'static str>,
    size: Option<[f64; 3]>,
    area: f64,
    /// Null if the surface is not closed or faces look both ways.
    volume: Option<f64>,
    /// Lowest and highest coordinates, as they stand in the file.
    bounds: Option<[[f32; 3]; 2]>,
    quality: &'static str,
    /// Built or loaded.
    hierarchy: &'static str,
    /// Building or loading the hierarchy, in wall-clock time.
    build_ms: f64,
    /// Mesh and hierarchy together; null without triangles.
    bytes_per_triangle: Option<f64>,
    /// What `--weld` has changed.
    weld: Option<WeldOutput>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct GapOutput {
    weld: f64,
    largest_move: f64,
}

#[derive(Debug, Serialize)]
struct WeldOutput {
    tolerance: f64,
    joined: usize,
    largest_move: f64,
    chains: usize,
    collapsed_faces: usize,
    new_duplicates: usize,
}

impl From<(f64, WeldReport)> for WeldOutput {
    fn from((tolerance, report): (f64, WeldReport)) -> WeldOutput {
        let WeldReport { joined, largest_move, chains, collapsed_faces, new_duplicates } = report;
        WeldOutput { tolerance, joined, largest_move, chains, collapsed_faces, new_duplicates }
    }
}

/// A unit of length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LengthUnit {
    name: &'static str,
    metres: f64,
}

/// The units that lengths are printed in, and their metres.
const UNITS: [(&str, f64); 7] = [
    ("um", 1e-6),
    ("mm", 1e-3),
    ("cm", 1e-2),
    ("m", 1.0),
    ("km", 1e3),
    ("in", 0.0254),
    ("ft", 0.3048),
];

impl LengthUnit {
    pub(crate) fn parse(text: &str) -> Result<LengthUnit, String> {
        let known = UNITS.iter().find(|(name, _)| *name == text);
        let known = known.map(|&(name, metres)| LengthUnit { name, metres });
        known.ok_or_else(|| format!("expected um, mm, cm, m, km, in or ft, found {text:?}"))
    }

    /// The name of the unit that lengths are printed in, and how many of it a unit of the file is.
    fn shown(wanted: Option<LengthUnit>, is_in_metres: bool) -> (Option<&'static str>, f64) {
        match wanted {
            Some(unit) if is_in_metres => (Some(unit.name), 1.0 / unit.metres),
            Some(unit) => (Some(unit.name), 1.0),
            None => (is_in_metres.then_some("m"), 1.0),
        }
    }
}

/// Runs the command. Defects are reported, not failed on, so it never returns true.
pub(crate) fn run(args: &MeshArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    if let Some(path) = &args.save_hierarchy {
        check_not_read(path, args)?;
    }
    let (part, hierarchy) = (args.part.as_deref(), args.hierarchy.as_deref());
    let opened = open(Named { path: &args.file, part, hierarchy }, &args.model)?;
    let model = &opened.model;
    if let Some(path) = &args.save_hierarchy {
        let file = || path.display().to_string();
        std::fs::write(path, model.hierarchy_to_bytes())
            .map_err(|source| CliError::Write { file: file(), source })?;
    }
    let report = model.mesh().report();
    let (unit, scale) = LengthUnit::shown(args.unit, opened.is_in_metres);
    let looked = Looked {
        unit,
        scale,
        self_contacts: PosedModel::new(model, &Pose::IDENTITY).self_intersections().len(),
        build_ms: opened.build_time.as_secs_f64() * 1e3,
        bytes_per_triangle: (report.triangles > 0)
            .then(|| model.memory_usage() as f64 / report.triangles as f64),
        report,
    };
    if args.model.json {
        serde_json::to_writer(&mut *out, &looked.output(args, opened))?;
        writeln!(out)?;
    } else {
        looked.print(opened.loaded, out)?;
    }
    Ok(false)
}

/// What was found out about a model.
struct Looked {
    report: MeshReport,
    unit: Option<&'static str>,
    /// How many of this unit a unit of the file is.
    scale: f64,
    self_contacts: usize,
    build_ms: f64,
    bytes_per_triangle: Option<f64>,
}

impl Looked {
    fn print(&self, loaded: bool, out: &mut dyn Write) -> Result<(), CliError> {
        writeln!(out, "{}", self.report.in_unit(self.unit.unwrap_or_default(), self.scale))?;
        match self.self_contacts {
            0 => {}
            1 => writeln!(out, "self-contact       1 pair of faces touches or crosses")?,
            pairs => writeln!(out, "self-contact       {pairs} pairs of faces touch or cross")?,
        }
        let title = if loaded { "load time" } else { "build time" };
        writeln!(out, "{title:<17}  {:.2} ms", self.build_ms)?;
        if let Some(bytes) = self.bytes_per_triangle {
            writeln!(out, "memory             {bytes:.1} bytes per triangle")?;
        }
        Ok(())
    }

    fn output(&self, args: &MeshArgs, opened: Opened) -> Output {
        let (report, scale) = (&self.report, self.scale);
        let size = |[low, high]: [Vec3; 2]| (high.as_dvec3() - low.as_dvec3()) * scale;
        Output {
            triangles: report.triangles,
            faces: report.faces,
            vertices: report.vertices,
            unused_vertices: report.unused_vertices,
            degenerate_faces: report.degenerate_faces.count,
            sliver_faces: report.sliver_faces.count,
            duplicate_faces: report.duplicate_faces.count,
            non_planar_faces: report.non_planar_faces.count,
            largest_bend: report.largest_bend,
            open_edges: report.open_edges.count,
            holes: report.holes,
            gap: report.gap.map(|ClosingGap { tolerance, largest_move }| GapOutput {
                weld: tolerance,
                largest_move,
            }),
            non_manifold_edges: report.non_manifold_edges.count,
            misoriented_edges: report.misoriented_edges.count,
            self_contacts: self.self_contacts,
            parts: report.components,
            closed: report.closed,
            solid: report.solid,
            unit: self.unit,
            size: report.bounds.map(|bounds| size(bounds).to_array()),
            area: report.area * scale.powi(2),
            volume: report.volume.map(|volume| volume * scale.powi(3)),
            bounds: report.bounds.map(|bounds| bounds.map(|corner| corner.to_array())),
            quality: quality_name(opened.model.quality()),
            hierarchy: if opened.loaded { "loaded" } else { "built" },
            build_ms: self.build_ms,
            bytes_per_triangle: self.bytes_per_triangle,
            weld: args.model.weld.zip(opened.weld).map(WeldOutput::from),
            warnings: opened.warnings,
        }
    }
}

/// Rejects writing the hierarchy over the model, which would be lost.
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
