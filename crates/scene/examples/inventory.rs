//! What is in these scene files? One line of JSON for each: triangles and bounding box of what
//! stands in the scene as it is loaded, nodes by kind, warnings, or the error.
//!
//! ```text
//! cargo run --release -p jostle-scene --example inventory -- *.wrl
//! ```

use glam::DVec3;
use jostle_scene::nodes::Kind;
use jostle_scene::{
    Fetched, Geometry, LodRule, Reading, Scene, Tolerance, Viewer, Visit, read, surface, walk,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

fn main() {
    for file in std::env::args().skip(1) {
        let begin = Instant::now();
        let (ok, rest) = match inventory(&file) {
            Ok(inventory) => (true, inventory),
            Err(error) => (false, format!("\"error\":{error:?}")),
        };
        let ms = begin.elapsed().as_secs_f64() * 1e3;
        println!("{{\"file\":{file:?},\"ok\":{ok},\"ms\":{ms:.3},{rest}}}");
    }
}

fn inventory(file: &str) -> Result<String, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let mut fetch = |address: &str, from: &str| {
        let path = Path::new(from).parent().unwrap_or(Path::new("")).join(address);
        let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
        let name = path.canonicalize().unwrap_or(path).to_string_lossy().into_owned();
        Ok(Fetched { name, bytes })
    };
    let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
    let begin = Instant::now();
    let opened = read(file, &bytes, &mut reading).map_err(|error| error.to_string())?;
    let read_ms = begin.elapsed().as_secs_f64() * 1e3;
    let warnings: Vec<String> = opened.warnings.iter().map(ToString::to_string).collect();
    let Sum { triangles, min, max, kinds } = sum(&opened.scene)?;
    let kinds: Vec<String> =
        kinds.iter().map(|(kind, count)| format!("{kind:?}:{count}")).collect();
    let bounds = if triangles == 0 {
        "null,\"max\":null".to_string()
    } else {
        format!("{:?},\"max\":{:?}", min.to_array(), max.to_array())
    };
    Ok(format!(
        "\"bytes\":{},\"read_ms\":{read_ms:.3},\"nodes\":{},\"triangles\":{triangles},\
         \"min\":{bounds},\"geometry\":{{{}}},\"warnings\":{warnings:?}",
        bytes.len(),
        opened.scene.len(),
        kinds.join(",")
    ))
}

struct Sum {
    triangles: usize,
    min: DVec3,
    max: DVec3,
    /// Of the geometry that stands in the scene.
    kinds: BTreeMap<String, usize>,
}

fn sum(scene: &Scene) -> Result<Sum, String> {
    let mut sum = Sum {
        triangles: 0,
        min: DVec3::INFINITY,
        max: DVec3::NEG_INFINITY,
        kinds: BTreeMap::new(),
    };
    let mut failed = None;
    let walked = walk(scene, &Viewer::default(), LodRule::ByViewer, &mut |visit: &Visit<'_>| {
        let Kind::Shape(shape) = &scene.node(visit.node()).kind else { return };
        let Some(geometry) = shape.geometry.and_then(|id| scene.through_instances(id)) else {
            return;
        };
        if !visit.active || visit.in_proxy {
            return;
        }
        *sum.kinds.entry(scene.node(geometry).kind.name().to_string()).or_default() += 1;
        match surface(scene, geometry, Tolerance::default()) {
            Ok(Geometry::Surface(mesh)) => {
                sum.triangles += mesh.triangle_count();
                for corner in mesh.triangles().iter().flatten() {
                    let corner = mesh.vertices()[*corner as usize].as_dvec3();
                    let placed = visit.placement.transform_point(corner);
                    sum.min = sum.min.min(placed);
                    sum.max = sum.max.max(placed);
                }
            }
            Ok(_) => {}
            Err(error) => failed = Some(error.to_string()),
        }
    });
    walked.map_err(|error| error.to_string())?;
    failed.map_or(Ok(sum), Err)
}
