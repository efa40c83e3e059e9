//! `jostle lab zachmann`: every method of the laboratory and ours, side by side (Zachmann 2000,
//! 3.5.10), what it takes to build and to keep them (tables 3.2 to 3.6), and two polygons at a time
//! (table 3.1).

pub(crate) mod args;
mod tables;
mod thesis;

use super::clock::{Clock, milliseconds};
use super::table::Table;
use super::{Results, check_writable};
use crate::Count;
use crate::bench::{
    Approach, Method, PolygonKind, Polygons, Question, Solid, Spent, approach, builds,
};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use args::ZachmannArgs;
use serde::Serialize;
use std::io::Write;

/// What is printed as JSON: one kind of row for each kind of measurement.
#[derive(Debug, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
enum Row {
    Query(Query),
    Build(Build),
    Polygons(PolygonPair),
}

/// A method on a mesh, in the mean over the interesting range.
#[derive(Debug, Serialize)]
struct Query {
    solid: &'static str,
    triangles: usize,
    method: String,
    /// Whether nothing of the default hierarchy is in it.
    laboratory: bool,
    /// Of a DOP-tree with sums.
    k: Option<usize>,
    queries: u64,
    hits: u64,
    micros: f64,
    /// How many times ours: quartiles over blocks of poses that both were asked about.
    times_ours: [f64; 3],
    visits: f64,
    volume_tests: f64,
    triangle_tests: f64,
    operations: f64,
    build_ms: f64,
    bytes: usize,
}

#[derive(Debug, Serialize)]
struct Build {
    solid: &'static str,
    triangles: usize,
    method: String,
    build_ms: f64,
    bytes: usize,
}

#[derive(Debug, Serialize)]
struct PolygonPair {
    polygons: &'static str,
    way: &'static str,
    apart_us: f64,
    touching_us: f64,
    mixed_us: f64,
    touching: f64,
    wrong: u64,
}

pub(crate) fn run(args: &ZachmannArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let turns = args.solid.len() * args.triangles.len() * args.orientations as usize;
    let kinds = if args.polygons > 0 { PolygonKind::ALL.len() } else { 0 };
    let mut progress = Progress::new(turns + args.build_sizes().count() + kinds, true);
    let mut done = 0;
    let mut tick = || {
        done += 1;
        progress.done(done);
    };
    let mut rows = Vec::new();
    for &solid in &args.solid {
        for &triangles in &args.triangles {
            rows.extend(query(args, solid, triangles, &mut tick)?.into_iter().map(Row::Query));
        }
    }
    for triangles in args.build_sizes() {
        rows.extend(build(triangles)?.into_iter().map(Row::Build));
        tick();
    }
    if args.polygons > 0 {
        for kind in PolygonKind::ALL {
            rows.extend(polygons(args, kind)?.into_iter().map(Row::Polygons));
            tick();
        }
    }
    drop(progress);
    let (mut queries, mut built, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        match row {
            Row::Query(query) => queries.push(query),
            Row::Build(build) => built.push(build),
            Row::Polygons(pair) => pairs.push(pair),
        }
    }
    let table = tables::times(&queries);
    let results = Results { rows: &rows, table, figure: tables::figure(&queries) };
    results.show(&args.output, out)?;
    if !args.output.json {
        writeln!(out, "\n{}", tables::ratios(&queries))?;
        writeln!(out, "{}", tables::counts(&queries))?;
        if let Some(curve) = tables::curve(&queries) {
            writeln!(out, "{curve}")?;
        }
        if !built.is_empty() {
            writeln!(out, "{}\n{}", tables::builds(&built), thesis::builds())?;
            writeln!(out, "{}", tables::depths()?)?;
        }
        if !pairs.is_empty() {
            writeln!(out, "{}\n{}", tables::polygons(&pairs), thesis::polygons())?;
        }
        write!(out, "{}", tables::note(args))?;
    }
    Ok(())
}

fn query(
    args: &ZachmannArgs,
    solid: Solid,
    triangles: usize,
    tick: &mut dyn FnMut(),
) -> Result<Vec<Query>, LabError> {
    let mesh = solid.mesh(triangles)?;
    let question = if args.all_pairs { Question::AllPairs } else { Question::Touches };
    let asked =
        Approach { steps: args.steps, orientations: args.orientations, seed: args.seed, question };
    // Ours answers first: the others are compared with it.
    let mut methods = vec![Method::Ours];
    methods.extend(args.methods().into_iter().filter(|&method| method != Method::Ours));
    let spent = approach(&mesh, asked, &methods, Clock::ThreadCpu.reader(), tick)?;
    let ours = spent[0].clone();
    let row = |spent: &Spent| Query::new(solid, mesh.triangle_count(), spent, &ours);
    Ok(spent.iter().map(row).collect())
}

/// Those that the thesis has, and ours.
fn build(triangles: usize) -> Result<Vec<Build>, LabError> {
    let names = ["dop-6", "dop-8", "dop-14", "dop-24", "obb", "aabb", "ours"];
    let all = Method::all();
    let named = |name: &&str| all.iter().copied().find(|method| method.name() == **name);
    let methods: Vec<Method> = names.iter().filter_map(named).collect();
    let mut rows = Vec::new();
    for solid in [Solid::Torus, Solid::Sphere] {
        let mesh = solid.mesh(triangles)?;
        for built in builds(&mesh, &methods, 3, Clock::ThreadCpu.reader())? {
            rows.push(Build {
                solid: solid.name(),
                triangles: mesh.triangle_count(),
                method: built.method.name(),
                build_ms: milliseconds(built.time),
                bytes: built.bytes,
            });
        }
    }
    Ok(rows)
}

fn polygons(args: &ZachmannArgs, kind: PolygonKind) -> Result<Vec<PolygonPair>, LabError> {
    let asked = Polygons { pairs: args.polygons, seed: args.seed, grid: 1000 };
    let rows = asked.run(kind, Clock::ThreadCpu.reader())?;
    let row = |row: crate::bench::PolygonRow| PolygonPair {
        polygons: row.kind.name(),
        way: row.way,
        apart_us: row.micros[0],
        touching_us: row.micros[1],
        mixed_us: row.micros[2],
        touching: row.touching,
        wrong: row.wrong,
    };
    Ok(rows.into_iter().map(row).collect())
}

impl Query {
    fn new(solid: Solid, triangles: usize, spent: &Spent, ours: &Spent) -> Query {
        let mut ratios: Vec<f64> =
            spent.blocks.iter().zip(&ours.blocks).map(|(own, ours)| own / ours).collect();
        ratios.sort_by(f64::total_cmp);
        let quartile = |q: usize| ratios.get(ratios.len() * q / 4).copied().unwrap_or(f64::NAN);
        let each = |total: u64| total as f64 / spent.queries.max(1) as f64;
        let Count { visits, volume_tests, triangle_tests, operations, .. } = spent.count;
        Query {
            solid: solid.name(),
            triangles,
            method: spent.method.name(),
            laboratory: spent.method.is_laboratory(),
            k: if let Method::Dop(size) = spent.method { Some(size.k()) } else { None },
            queries: spent.queries,
            hits: spent.hits,
            micros: spent.micros(),
            times_ours: [1, 2, 3].map(quartile),
            visits: each(visits),
            volume_tests: each(volume_tests),
            triangle_tests: each(triangle_tests),
            operations: each(operations),
            build_ms: milliseconds(spent.build),
            bytes: spent.bytes,
        }
    }

    /// What columns are called.
    fn mesh(&self) -> String {
        match self.triangles {
            n if n >= 10_000 => format!("{} {}k", self.solid, (n + 500) / 1000),
            n if n >= 1_000 => format!("{} {:.1}k", self.solid, n as f64 / 1e3),
            n => format!("{} {n}", self.solid),
        }
    }
}
