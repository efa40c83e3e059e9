//! `jostle check`: which parts of a scene or an assembly interfere, touch or come too close.

mod accept;
pub(crate) mod args;
mod assembly;
mod drawing;
mod report;
mod table;
mod text;

use crate::error::CliError;
use crate::progress::Working;
use crate::scene::{print_problems, with_hierarchies};
use crate::share::{CheckPage, show_checked};
use crate::units::{self, Lengths, Unit};
use accept::Accept;
use args::{CheckArgs, FailOn, Names};
use assembly::{Assembly, inputs};
use jostle_scene::LodRule;
use jostle_stage::{
    CheckOptions, CheckReport, Finding, FindingDepth, FindingKind, NamedFaces, Stage, check_stage,
};
use serde::{Serialize, Serializer};
use std::io::Write;
use std::path::Path;

/// The findings of a check, and which of them a reviewer has accepted.
pub(crate) struct Review<'a> {
    pub(crate) checked: &'a CheckReport,
    /// For each finding, whether it is accepted.
    pub(crate) accepted: Vec<bool>,
    /// Accepted findings that no longer occur.
    pub(crate) stale: Vec<String>,
    pub(crate) clearance: Option<f64>,
    pub(crate) lengths: Lengths,
    pub(crate) warnings: Vec<String>,
}

impl<'a> Review<'a> {
    /// All findings, and whether they were accepted.
    fn all(&self) -> impl Iterator<Item = (&'a Finding, bool)> {
        self.checked.findings.iter().zip(self.accepted.iter().copied())
    }

    /// The findings that were not accepted.
    fn open(&self) -> impl Iterator<Item = &'a Finding> {
        self.all().filter(|(_, accepted)| !accepted).map(|(finding, _)| finding)
    }

    /// The number of findings of a kind that are not accepted, listed or not. Accepted findings are
    /// always listed.
    fn open_count(&self, kind: FindingKind) -> usize {
        let accepted = self.all().filter(|(finding, accepted)| *accepted && finding.kind == kind);
        self.checked.count(kind) - accepted.count()
    }

    /// A note if not all findings are listed.
    fn limit_note(&self) -> Option<String> {
        let unlisted = self.checked.unlisted();
        let listed = units::thousands(self.checked.findings.len());
        (unlisted > 0).then(|| {
            format!(
                "{} findings: the first {listed} in order are listed, {} are not; \
                 --max-findings lists more",
                units::thousands(self.checked.total()),
                units::thousands(unlisted)
            )
        })
    }

    fn fails(&self, on: FailOn) -> bool {
        FindingKind::ALL.into_iter().any(|kind| {
            let meant = match on {
                FailOn::Overlap => kind.overlaps() || kind == FindingKind::Touch,
                FailOn::Touch => kind != FindingKind::TooClose,
                FailOn::Clearance => true,
            };
            meant && self.open_count(kind) > 0
        })
    }
}

#[derive(Serialize)]
struct Output<'a> {
    scene: String,
    files: Vec<String>,
    objects: usize,
    bodies: usize,
    triangles: usize,
    /// Pairs of bodies that were tested exactly.
    pairs_tested: usize,
    touching: usize,
    too_close: usize,
    accepted: usize,
    clearance: Option<f64>,
    /// The unit of all lengths here; null if the files have none.
    unit: Option<&'static str>,
    /// The number of findings that are counted above, but not listed below.
    not_listed: usize,
    findings: Listed<'a>,
    stale: &'a [String],
    warnings: &'a [String],
}

/// Serializes the findings one by one, so that their output is never in memory as a whole.
struct Listed<'a>(&'a Review<'a>);

impl Serialize for Listed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.all().map(|(finding, yes)| finding_output(finding, yes)))
    }
}

#[derive(Serialize)]
struct FindingOutput<'a> {
    a: &'a str,
    b: &'a str,
    kind: &'static str,
    touching: bool,
    accepted: bool,
    distance: f64,
    /// Of an interference; null if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<DepthOutput>,
    /// The closest points, or a point of contact, on each of them.
    points: [[f64; 3]; 2],
    faces: Vec<FacesOutput<'a>>,
    /// More faces touch than are listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more_faces: bool,
}

/// The shortest move of the second body that parts the two.
#[derive(Serialize)]
struct DepthOutput {
    at_least: f64,
    at_most: f64,
    way: [f64; 3],
}

/// A face of each of two objects.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FacesOutput<'a> {
    pub(crate) shape_a: &'a str,
    pub(crate) face_a: u32,
    pub(crate) shape_b: &'a str,
    pub(crate) face_b: u32,
}

impl FacesOutput<'_> {
    pub(crate) fn of(faces: &NamedFaces) -> FacesOutput<'_> {
        let NamedFaces { a: (shape_a, face_a), b: (shape_b, face_b) } = faces;
        FacesOutput { shape_a, face_a: *face_a, shape_b, face_b: *face_b }
    }
}

/// Runs the command. Returns whether there is a finding that `--fail-on` names.
pub(crate) fn run(args: &CheckArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    if args.fail_on == Some(FailOn::Clearance) && args.clearance.is_none() {
        return Err(CliError::NeedsClearance);
    }
    let Assembly { scene, mut warnings, without_unit, files } = Assembly::open(args)?;
    reject_overwriting(args, &files)?;
    let unit = shown_unit(args, without_unit)?;
    let before = match &args.accept {
        Some(path) if !args.write_accept || path.exists() => Accept::open(path)?,
        _ => Accept::default(),
    };
    let options = CheckOptions {
        clearance: args.clearance,
        all_pairs: args.all_pairs,
        max_findings: args.max_findings.get(),
        always_listed: before.names().cloned().collect(),
        ignore: args.ignore.iter().map(|Names(names)| names.clone()).collect(),
        solid: args.scene.solid,
        weld: args.weld,
        tolerance: args.scene.tolerance.unwrap_or_default(),
        lod: if args.lod_by_view { LodRule::ByViewer } else { LodRule::Finest },
        // A page shows all parts.
        skip_isolated: !args.view,
        ..CheckOptions::default()
    };
    let working = Working::new("testing parts against each other".to_string());
    let (stage, checked) =
        with_hierarchies(&args.scene, |files| check_stage(scene, &options, files))
            .map_err(|source| CliError::stage(&args.scene.scene, source))?;
    drop(working);
    print_problems(&args.scene, &checked.problems);
    warnings.extend(checked.problems.iter().cloned());
    let accept = match &args.accept {
        Some(_) if args.write_accept && checked.unlisted() > 0 => {
            let (found, listed) = (checked.total(), checked.findings.len());
            return Err(CliError::AcceptsUnlisted { found, listed });
        }
        Some(path) if args.write_accept => {
            let accept = Accept::of(&checked.findings, &before);
            write(path, &accept.text()?)?;
            accept
        }
        _ => before,
    };
    let (accepted, stale) = accept.review(&checked.findings);
    print_problems(&args.scene, &stale);
    let lengths = Lengths::new(unit, largest_coordinate(&checked));
    let clearance = args.clearance;
    let review = Review { checked: &checked, accepted, stale, clearance, lengths, warnings };
    write_results(args, &review, &stage, out)?;
    Ok(args.fail_on.is_some_and(|on| review.fails(on)))
}

/// Writes the reports and prints the answer.
fn write_results(
    args: &CheckArgs,
    review: &Review<'_>,
    stage: &Stage,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    if let Some(path) = &args.csv {
        write(path, &table::csv(review))?;
    }
    if let Some(path) = &args.report {
        let files: Vec<String> = inputs(args).map(|path| path.display().to_string()).collect();
        write(path, &report::html(review, stage, &files))?;
    }
    if args.scene.json {
        serde_json::to_writer(&mut *out, &output(args, review))?;
        writeln!(out)?;
    } else {
        text::print(review, out)?;
    }
    if args.view {
        show(args, review, stage, out)?;
    }
    Ok(())
}

/// Shows the findings that were not accepted on a page, until it is stopped.
fn show(
    args: &CheckArgs,
    review: &Review<'_>,
    stage: &Stage,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let file = args.scene.scene.file_name().unwrap_or_default();
    let findings: Vec<&Finding> = review.open().collect();
    let page = CheckPage {
        stage,
        findings: &findings,
        complete: review.checked.unlisted() == 0,
        clearance: review.clearance,
        lengths: review.lengths,
        name: file.to_string_lossy().into_owned(),
        listen: args.shown.listen,
        open: !args.shown.no_open,
        page: &args.shown.page,
    };
    show_checked(page, out)
}

/// The unit for printing; none if it is unknown.
fn shown_unit(args: &CheckArgs, without_unit: Option<String>) -> Result<Option<Unit>, CliError> {
    match (args.show, without_unit) {
        (Some(_), Some(file)) => Err(CliError::ShowNeedsUnit { file }),
        (None, Some(_)) => Ok(None),
        (show, None) => {
            let named = args.scene.unit.filter(|unit| unit.symbol.is_some());
            Ok(show.or(named).or(Some(Unit::METRE)))
        }
    }
}

/// The largest absolute coordinate of the findings, from which the rounding error follows.
fn largest_coordinate(checked: &CheckReport) -> f64 {
    let points = checked.findings.iter().flat_map(|finding| finding.points).flatten();
    points.fold(0.0, |most, coordinate| f64::max(most, coordinate.abs()))
}

/// Rejects outputs that would overwrite an input or another output.
fn reject_overwriting(args: &CheckArgs, files: &[std::path::PathBuf]) -> Result<(), CliError> {
    let accept = args.accept.as_ref().filter(|_| args.write_accept);
    let written =
        [("--csv", args.csv.as_ref()), ("--report", args.report.as_ref()), ("--accept", accept)];
    let same = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    };
    for (at, (option, path)) in written.iter().enumerate() {
        let Some(path) = path else { continue };
        let others = written[..at].iter().filter_map(|(_, other)| *other);
        let read = args.accept.iter().filter(|_| *option != "--accept");
        let mut taken = files.iter().chain(inputs(args)).chain(others).chain(read);
        if taken.any(|file| same(file, path)) {
            let file = path.display().to_string();
            return Err(CliError::OverwritesInput { option, file });
        }
    }
    Ok(())
}

/// Writes a file atomically: to a temporary file beside it, which is then renamed.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let beside = path.with_file_name(name);
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|source| {
        // The error that matters is the one above, not that of removing the temporary file.
        let _ = std::fs::remove_file(&beside);
        CliError::Write { file: path.display().to_string(), source }
    })
}

fn output<'a>(args: &CheckArgs, review: &'a Review<'_>) -> Output<'a> {
    let checked = review.checked;
    let too_close = checked.count(FindingKind::TooClose);
    Output {
        scene: args.scene.scene.display().to_string(),
        files: inputs(args).map(|path| path.display().to_string()).collect(),
        objects: checked.objects,
        bodies: checked.bodies,
        triangles: checked.triangles,
        pairs_tested: checked.tested,
        touching: checked.total() - too_close,
        too_close,
        accepted: review.accepted.iter().filter(|&&accepted| accepted).count(),
        clearance: args.clearance,
        unit: review.lengths.unit.map(|_| "m"),
        not_listed: checked.unlisted(),
        findings: Listed(review),
        stale: &review.stale,
        warnings: &review.warnings,
    }
}

fn finding_output(finding: &Finding, accepted: bool) -> FindingOutput<'_> {
    let depth = |depth: FindingDepth| {
        let FindingDepth { at_least, at_most, way } = depth;
        DepthOutput { at_least, at_most, way }
    };
    FindingOutput {
        a: &finding.a,
        b: &finding.b,
        kind: finding.kind.name(),
        touching: finding.touches(),
        accepted,
        distance: finding.distance,
        depth: finding.depth.map(depth),
        points: finding.points,
        faces: finding.faces.iter().map(FacesOutput::of).collect(),
        more_faces: finding.more_faces,
    }
}
