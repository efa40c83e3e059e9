//! `jostle check`: which parts of a scene touch, or come too close.

use crate::args::FailOn;
use crate::error::CliError;
use crate::scene::args::{CheckArgs, Pair};
use crate::scene::{open, tell_problems, with_hierarchies};
use crate::share::{CheckPage, show_checked};
use jostle_scene::{LodRule, Opened};
use jostle_stage::{Checked, Checking, Finding, Pieces, check_stage};
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct Output<'a> {
    scene: String,
    objects: usize,
    bodies: usize,
    triangles: usize,
    /// Pairs of bodies that were tested exactly.
    pairs_tested: usize,
    touching: usize,
    too_close: usize,
    clearance: Option<f64>,
    findings: Vec<FindingOutput<'a>>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct FindingOutput<'a> {
    a: &'a str,
    b: &'a str,
    kind: &'static str,
    touching: bool,
    distance: f64,
    /// The closest points, or a place of contact, on each of them.
    points: [[f64; 3]; 2],
    faces: Vec<FacesOutput>,
}

/// A face of each of two objects.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FacesOutput {
    pub(crate) shape_a: String,
    pub(crate) face_a: u32,
    pub(crate) shape_b: String,
    pub(crate) face_b: u32,
}

impl FacesOutput {
    pub(crate) fn of(pieces: &Pieces) -> FacesOutput {
        let Pieces { a: (shape_a, face_a), b: (shape_b, face_b) } = pieces.clone();
        FacesOutput { shape_a, face_a, shape_b, face_b }
    }
}

/// Says whether the answer is one to fail on.
pub(crate) fn run(args: &CheckArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    if args.fail_on == Some(FailOn::Clearance) && args.clearance.is_none() {
        return Err(CliError::NeedsClearance);
    }
    let Opened { scene, warnings } = open(&args.scene)?;
    let checking = Checking {
        clearance: args.clearance,
        all_pairs: args.all_pairs,
        ignore: args.ignore.iter().map(|Pair(names)| names.clone()).collect(),
        solid: args.scene.solid,
        tolerance: args.scene.tolerance.unwrap_or_default(),
        lod: if args.lod_by_view { LodRule::ByViewer } else { LodRule::Finest },
        ..Checking::default()
    };
    let (stage, checked) =
        with_hierarchies(&args.scene, |files| check_stage(scene, &checking, files))
            .map_err(|source| CliError::stage(&args.scene.scene, source))?;
    tell_problems(&args.scene, &checked.problems);
    let mut said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    said.extend(checked.problems.iter().cloned());
    if args.scene.json {
        let output = output(args, &checked, said);
        serde_json::to_writer(&mut *out, &output)?;
        writeln!(out)?;
    } else {
        print(&checked, args, out)?;
    }
    if args.view {
        let file = args.scene.scene.file_name().unwrap_or_default();
        let page = CheckPage {
            stage: &stage,
            findings: &checked.findings,
            clearance: args.clearance,
            unit: "",
            name: file.to_string_lossy().into_owned(),
            listen: args.listen,
            open: !args.no_open,
        };
        show_checked(page, out)?;
    }
    Ok(match args.fail_on {
        Some(FailOn::Touch) => checked.findings.iter().any(Finding::touches),
        Some(FailOn::Clearance) => !checked.findings.is_empty(),
        None => false,
    })
}

fn output<'a>(args: &CheckArgs, checked: &'a Checked, warnings: Vec<String>) -> Output<'a> {
    let touching = checked.findings.iter().filter(|finding| finding.touches()).count();
    Output {
        scene: args.scene.scene.display().to_string(),
        objects: checked.objects,
        bodies: checked.bodies,
        triangles: checked.triangles,
        pairs_tested: checked.tested,
        touching,
        too_close: checked.findings.len() - touching,
        clearance: args.clearance,
        findings: checked.findings.iter().map(finding_output).collect(),
        warnings,
    }
}

fn finding_output(finding: &Finding) -> FindingOutput<'_> {
    FindingOutput {
        a: &finding.a,
        b: &finding.b,
        kind: finding.kind.name(),
        touching: finding.touches(),
        distance: finding.distance,
        points: finding.points,
        faces: finding.faces.iter().map(FacesOutput::of).collect(),
    }
}

fn print(checked: &Checked, args: &CheckArgs, out: &mut dyn Write) -> Result<(), CliError> {
    for finding in &checked.findings {
        let Finding { a, b, distance, points: [[x, y, z], _], .. } = finding;
        if finding.touches() {
            writeln!(out, "touch      {a}  and  {b}  at ({x:.6}, {y:.6}, {z:.6})")?;
        } else {
            writeln!(out, "too close  {a}  and  {b}: {distance:.6} apart")?;
        }
        for pieces in &finding.faces {
            let ((shape_a, face_a), (shape_b, face_b)) = (&pieces.a, &pieces.b);
            writeln!(out, "           face {face_a} of {shape_a}, face {face_b} of {shape_b}")?;
        }
    }
    let touching = checked.findings.iter().filter(|finding| finding.touches()).count();
    write!(
        out,
        "{} objects ({} bodies, {} triangles): ",
        checked.objects, checked.bodies, checked.triangles
    )?;
    match touching {
        1 => write!(out, "1 pair touches")?,
        _ => write!(out, "{touching} pairs touch")?,
    }
    if let Some(clearance) = args.clearance {
        write!(out, ", {} closer than {clearance}", checked.findings.len() - touching)?;
    }
    writeln!(out)?;
    Ok(())
}
