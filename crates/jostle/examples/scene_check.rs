//! Which parts of a scene touch, or come too close? What `jostle check` does, in a program.
//!
//! `cargo run --example scene_check -- assembly.glb`; without a file, a shaft beside a plate.

use jostle::SceneFiles;
use jostle::scene::{Reading, read};
use jostle::stage::{CheckOptions, HierarchyFiles, check};
use std::error::Error;
use std::path::Path;

const SHAFT: &[u8] = b"#VRML V2.0 utf8
    DEF SHAFT Transform { children Shape { geometry Cylinder { radius 0.5 } } }
    DEF PLATE Transform { translation 0.52 0 0
        children Shape { geometry Box { size 0.02 1 1 } } }";

fn main() -> Result<(), Box<dyn Error>> {
    let (name, bytes) = match std::env::args().nth(1) {
        Some(file) => (file.clone(), std::fs::read(file)?),
        None => ("shaft.wrl".to_string(), SHAFT.to_vec()),
    };
    // Other files that a scene names are read from its folder.
    let mut files = SceneFiles::beside(Path::new(&name));
    let mut fetch =
        |address: &str, from: &str| files.fetch(address, from).map_err(|error| error.to_string());
    let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
    let scene = read(&name, &bytes, &mut reading)?.scene;

    let options = CheckOptions { clearance: Some(0.05), ..CheckOptions::default() };
    let report = check(scene, &options, &mut HierarchyFiles::default())?;
    for found in &report.findings {
        println!("{} and {}: {:?}, {} apart", found.a, found.b, found.kind, found.distance);
    }
    println!("{} findings", report.findings.len());
    Ok(())
}
