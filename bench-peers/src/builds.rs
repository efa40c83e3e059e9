//! How long building takes.

use crate::measure::{Engine, Figure, timed};
use crate::soup::Soup;
use crate::{fcl, parry, us};
use anyhow::Result;
use jostle_geom::{Model, Quality};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::time::Instant;

/// One way to build one model.
pub(crate) struct BuildRow {
    pub(crate) case: String,
    pub(crate) triangles: usize,
    pub(crate) engine: Engine,
    pub(crate) what: &'static str,
    /// Milliseconds, one per repetition.
    pub(crate) millis: Vec<f64>,
    pub(crate) remark: String,
}

impl BuildRow {
    /// The mean is the median here: a single late build says nothing.
    pub(crate) fn figure(&self) -> Figure {
        let figure = Figure::new(0.0, self.millis.clone());
        Figure { mean: figure.median, ..figure }
    }
}

const OURS: [(Quality, &str, &str); 3] = [
    (Quality::Fast, "fast, 1 thread", "fast, 2 threads (wall clock)"),
    (Quality::Default, "default, 1 thread", "default, 2 threads (wall clock)"),
    (Quality::Tight, "tight, 1 thread", "tight, 2 threads (wall clock)"),
];

/// Builds one model in every way, `repeats` times in turn.
pub(crate) fn measure(case: &str, soup: &Soup, repeats: usize) -> Result<Vec<BuildRow>> {
    let one = ThreadPoolBuilder::new().num_threads(1).build()?;
    let two = ThreadPoolBuilder::new().num_threads(2).build()?;
    let mut rows: Vec<BuildRow> = Vec::new();
    for _ in 0..repeats {
        for (engine, what, millis, remark) in once(soup, &one, &two)? {
            match rows.iter_mut().find(|r| r.engine == engine && r.what == what) {
                Some(row) => row.millis.push(millis),
                None => rows.push(BuildRow {
                    case: case.to_owned(),
                    triangles: soup.triangles.len(),
                    engine,
                    what,
                    millis: vec![millis],
                    remark,
                }),
            }
        }
    }
    Ok(rows)
}

type Sample = (Engine, &'static str, f64, String);

fn once(soup: &Soup, one: &ThreadPool, two: &ThreadPool) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    let (nanos, mesh) = one.install(|| timed(|| us::mesh(soup)));
    let mesh = mesh?;
    samples.push((Engine::Us, "check the mesh", nanos as f64 / 1e6, String::new()));
    for (quality, on_one, on_two) in OURS {
        let given = mesh.clone();
        let (nanos, model) = one.install(|| timed(|| Model::build(given, quality)));
        let bytes = model.memory_usage() as f64 / soup.triangles.len() as f64;
        let remark = format!("{bytes:.0} bytes per triangle");
        samples.push((Engine::Us, on_one, nanos as f64 / 1e6, remark));
        drop(model);
        let given = mesh.clone();
        let (millis, model) = two.install(|| {
            let start = Instant::now();
            let model = Model::build(given, quality);
            (start.elapsed().as_secs_f64() * 1e3, model)
        });
        samples.push((Engine::Us, on_two, millis, String::new()));
        drop(model);
    }
    let parts = parry::parts(soup);
    let (nanos, mesh) = timed(|| parry::mesh(parts));
    mesh?;
    samples.push((Engine::Parry, "TriMesh::new", nanos as f64 / 1e6, String::new()));
    if fcl::version().is_some() {
        let parts = fcl::Parts::new(soup)?;
        for (for_distance, what) in [(false, "OBB"), (true, "OBBRSS")] {
            let (nanos, tree) = timed(|| fcl::Tree::build(&parts, for_distance));
            tree?;
            samples.push((Engine::Fcl, what, nanos as f64 / 1e6, String::new()));
        }
    }
    Ok(samples)
}
