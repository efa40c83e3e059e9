//! `jostle lab convex`: separating planes, closest faces and GJK (Zachmann 2000, 3.4): how often
//! the search ends in vain, what it takes at which distance, speed and size, and what it does for a
//! crowd (3.8.7).

pub(crate) mod args;
mod tables;

use super::clock::Clock;
use super::{Results, check_writable};
use crate::bench::{Cones, Method, Orbit, OrbitMethod, Solid, oriented};
use crate::convex::{Crowd, CrowdCost, Filter, PlaneSettings, Stage, Start, Stop};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use args::ConvexArgs;
use glam::DQuat;
use serde::Serialize;
use std::io::Write;

/// What is printed as JSON: one kind of row for each kind of measurement.
#[derive(Debug, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
enum Row {
    Cones(ConeRow),
    Orbit(OrbitRow),
    Crowd(CrowdRow),
}

/// Two cones that bounce off each other.
#[derive(Debug, Serialize)]
struct ConeRow {
    planes_max: u32,
    eta: f64,
    annealing: f64,
    start: &'static str,
    stop: &'static str,
    kept: bool,
    feedback: bool,
    /// Steps without a contact.
    apart: u64,
    /// The share of them that was not shown.
    error: f64,
    /// Planes per step without a contact.
    planes: f64,
    micros: f64,
}

/// One object orbits another.
#[derive(Debug, Serialize)]
struct OrbitRow {
    vary: Vary,
    method: String,
    triangles: usize,
    distance: f64,
    degrees: f64,
    samples: u32,
    touching: u64,
    unproved: u64,
    micros: f64,
    corners: f64,
    steps: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Vary {
    Distance,
    Speed,
    Size,
}

/// Many objects.
#[derive(Debug, Serialize)]
struct CrowdRow {
    n: usize,
    triangles: usize,
    stage: &'static str,
    frames: u32,
    ms_per_frame: f64,
    filter_ms: f64,
    exact_ms: f64,
    tested: f64,
    touching: f64,
}

/// What does not vary in an orbit.
const DISTANCE: f64 = 2.2;
const DEGREES: f64 = 2.0;
const TRIANGLES: usize = 2000;
/// How much of the room the boxes of a crowd fill.
const DENSITY: f64 = 0.1;
/// Triangles of each object of a crowd.
const CROWD_TRIANGLES: usize = 500;

pub(crate) fn run(args: &ConvexArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let cone_settings = cone_settings();
    let orbits = args.distance.len() + args.degrees.len() + args.triangles.len();
    let total = cone_settings.len() + orbits + args.n.len() * Stage::ALL.len();
    let mut progress = Progress::new(total, true);
    let mut rows = Vec::new();
    let cones = Cones::new(args.steps, args.seed)?;
    for (settings, kept) in cone_settings {
        rows.push(Row::Cones(ConeRow::measure(&cones, settings, kept)));
        progress.done(rows.len());
    }
    let mut done = rows.len();
    for (vary, orbit, triangles) in orbits_of(args) {
        rows.extend(OrbitRow::measure(vary, orbit, triangles)?.into_iter().map(Row::Orbit));
        done += 1;
        progress.done(done);
    }
    for &n in &args.n {
        for row in CrowdRow::measure(n, args)? {
            rows.push(Row::Crowd(row));
            done += 1;
            progress.done(done);
        }
    }
    drop(progress);
    let cones: Vec<&ConeRow> = rows.iter().filter_map(Row::cones).collect();
    let orbits: Vec<&OrbitRow> = rows.iter().filter_map(Row::orbit).collect();
    let crowds: Vec<&CrowdRow> = rows.iter().filter_map(Row::crowd).collect();
    let (table, figure) = (tables::starts(&cones), tables::figure(&orbits, &crowds));
    Results { rows: &rows, table, figure }.show(&args.output, out)?;
    if !args.output.json {
        writeln!(out, "\n{}", tables::etas(&cones))?;
        writeln!(out, "{}", tables::variants(&cones))?;
        for vary in [Vary::Distance, Vary::Speed, Vary::Size] {
            writeln!(out, "{}", tables::orbits(&orbits, vary))?;
        }
        write!(out, "{}", tables::crowds(&crowds))?;
    }
    Ok(())
}

/// The thesis' best pairs of planes at most and eta.
const PATIENCE: [(u32, f64); 3] = [(10, 0.25), (100, 0.03), (1000, 0.007)];
const ETAS: [f64; 7] = [0.002, 0.007, 0.03, 0.1, 0.25, 0.5, 1.0];
const ANNEALINGS: [f64; 3] = [0.9, 0.97, 0.99];

/// All that cones are tried with: the table, figure 3.8, figure 3.9, and what the thesis has not.
fn cone_settings() -> Vec<(PlaneSettings, bool)> {
    let mut all = Vec::new();
    for (planes_max, eta) in PATIENCE {
        let base = PlaneSettings { planes_max, eta, ..PlaneSettings::default() };
        for start in [Start::Trivial, Start::Barycentres, Start::BoxCentres] {
            all.push((PlaneSettings { start, ..base }, false));
        }
        all.extend(ETAS.map(|eta| (PlaneSettings { eta, ..base }, false)));
        all.extend(ANNEALINGS.map(|annealing| (PlaneSettings { annealing, ..base }, false)));
        all.push((PlaneSettings { stop: Stop::Normal, ..base }, false));
        all.push((base, true));
        all.push((PlaneSettings { feedback: true, ..base }, true));
        all.push((PlaneSettings { stop: Stop::Normal, ..base }, true));
    }
    all
}

fn orbits_of(args: &ConvexArgs) -> Vec<(Vary, Orbit, usize)> {
    let samples = args.samples;
    let orbit = |distance, speed| Orbit { distance, speed, samples };
    let distances =
        args.distance.iter().map(|&distance| (Vary::Distance, orbit(distance, DEGREES), TRIANGLES));
    let speeds =
        args.degrees.iter().map(|&degrees| (Vary::Speed, orbit(DISTANCE, degrees), TRIANGLES));
    let sizes = args.triangles.iter().map(|&n| (Vary::Size, orbit(DISTANCE, DEGREES), n));
    distances.chain(speeds).chain(sizes).collect()
}

impl Row {
    fn cones(&self) -> Option<&ConeRow> {
        if let Row::Cones(row) = self { Some(row) } else { None }
    }

    fn orbit(&self) -> Option<&OrbitRow> {
        if let Row::Orbit(row) = self { Some(row) } else { None }
    }

    fn crowd(&self) -> Option<&CrowdRow> {
        if let Row::Crowd(row) = self { Some(row) } else { None }
    }
}

impl ConeRow {
    fn measure(cones: &Cones, settings: PlaneSettings, kept: bool) -> ConeRow {
        let row = cones.search(settings, kept, Clock::ThreadCpu.reader());
        let each = |total: f64| total / row.apart.max(1) as f64;
        ConeRow {
            planes_max: settings.planes_max,
            eta: settings.eta,
            annealing: settings.annealing,
            start: match settings.start {
                Start::Trivial => "trivial",
                Start::Barycentres => "barycentres",
                Start::BoxCentres => "box centres",
            },
            stop: match settings.stop {
                Stop::Plane => "plane",
                Stop::Normal => "normal",
            },
            kept,
            feedback: settings.feedback,
            apart: row.apart,
            error: row.error(),
            planes: each(row.planes as f64),
            micros: each(row.time.as_secs_f64() * 1e6),
        }
    }
}

impl OrbitRow {
    fn measure(vary: Vary, orbit: Orbit, triangles: usize) -> Result<Vec<OrbitRow>, LabError> {
        let mesh = oriented(&Solid::Sphere.mesh(triangles)?, DQuat::IDENTITY)?;
        let mut methods: Vec<OrbitMethod> =
            Filter::all().into_iter().map(OrbitMethod::Convex).collect();
        methods.extend([OrbitMethod::Exact(Method::Ours)]);
        let rows = orbit.run(&mesh, &methods, Clock::ThreadCpu.reader())?;
        let each = |total: f64| total / f64::from(orbit.samples);
        let row = |row: crate::bench::OrbitRow| OrbitRow {
            vary,
            method: row.name,
            triangles: mesh.triangle_count(),
            distance: orbit.distance,
            degrees: orbit.speed,
            samples: orbit.samples,
            touching: row.touching,
            unproved: row.unproved,
            micros: each(row.time.as_secs_f64() * 1e6),
            corners: each(row.effort.corners as f64),
            steps: each(row.effort.steps as f64),
        };
        Ok(rows.into_iter().map(row).collect())
    }
}

impl CrowdRow {
    /// All stages, frame by frame in turns.
    fn measure(n: usize, args: &ConvexArgs) -> Result<Vec<CrowdRow>, LabError> {
        let mesh = Solid::Torus.mesh(CROWD_TRIANGLES)?;
        let mut crowds = Vec::new();
        for stage in Stage::ALL {
            crowds.push((stage, Crowd::new(&mesh, n, DENSITY, stage, args.seed)?));
        }
        let mut total = [CrowdCost::default(); Stage::ALL.len()];
        for _ in 0..args.frames {
            for ((_, crowd), total) in crowds.iter_mut().zip(&mut total) {
                let cost = crowd.frame(Clock::ThreadCpu.reader());
                total.filter += cost.filter;
                total.exact += cost.exact;
                total.tested += cost.tested;
                total.touching += cost.touching;
            }
        }
        let each = |total: f64| total / f64::from(args.frames);
        let row = |(cost, (stage, _)): (&CrowdCost, &(Stage, Crowd))| {
            let filter_ms = each(cost.filter.as_secs_f64() * 1e3);
            let exact_ms = each(cost.exact.as_secs_f64() * 1e3);
            CrowdRow {
                n,
                triangles: mesh.triangle_count(),
                stage: stage.name(),
                frames: args.frames,
                ms_per_frame: filter_ms + exact_ms,
                filter_ms,
                exact_ms,
                tested: each(cost.tested as f64),
                touching: each(cost.touching as f64),
            }
        };
        Ok(total.iter().zip(&crowds).map(row).collect())
    }
}
