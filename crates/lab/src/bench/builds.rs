//! How long each method takes to prepare a mesh, and what it keeps (Zachmann 2000, tables 3.3–3.6).

use super::{BenchError, Method, Stopwatch};
use jostle_geom::Mesh;
use std::time::Duration;

/// What preparing one mesh took.
#[derive(Clone, Debug)]
pub struct Build {
    /// By which method.
    pub method: Method,
    /// The median of the repetitions.
    pub time: Duration,
    /// What is kept, without the mesh.
    pub bytes: usize,
}

/// Prepares a mesh by each method, several times in turns. The methods prepare two meshes, so half
/// of time and memory is reported.
///
/// # Errors
/// A hull of a mesh without triangles.
pub fn builds(
    mesh: &Mesh,
    methods: &[Method],
    repetitions: usize,
    now: Stopwatch,
) -> Result<Vec<Build>, BenchError> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); methods.len()];
    let mut bytes = vec![0; methods.len()];
    methods.iter().for_each(|method| method.prepare());
    for _ in 0..repetitions.max(1) {
        for (i, method) in methods.iter().enumerate() {
            let start = now();
            let built = method.build(mesh, mesh)?;
            times[i].push((now() - start) / 2);
            bytes[i] = built.bytes() / 2;
        }
    }
    let of = |(i, &method): (usize, &Method)| {
        times[i].sort_unstable();
        Build { method, time: times[i][times[i].len() / 2], bytes: bytes[i] }
    };
    Ok(methods.iter().enumerate().map(of).collect())
}
