//! Do two models touch, where, and how do they lie?
//!
//! `cargo run --example two_meshes -- a.stl b.obj`; without files, a ball in the corner of a box.

use jostle::glam::DVec3;
use jostle::{LoadMesh, Mesh, Model, Pair, Pose, Quality, solids};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let (a, b) = match files.as_slice() {
        [a, b] => (Mesh::load(a)?, Mesh::load(b)?),
        _ => (solids::cuboid(DVec3::ONE)?.into_solid()?, solids::sphere(0.4, 0.01)?.into_solid()?),
    };
    let a = Model::build(a, Quality::Default);
    let b = Model::build(b, Quality::Default);
    let corner = Pose::from_translation(DVec3::splat(0.5))?;

    let pair = Pair::new(&a, &Pose::IDENTITY, &b, &corner);
    println!("they touch: {}", pair.touches());
    if let Some(witness) = pair.witness() {
        println!("face {} meets face {} at {}", witness.faces.a, witness.faces.b, witness.point);
    }
    println!("pairs of faces: {}", pair.all_pairs().len());
    println!("relation: {:?}", pair.relation());
    Ok(())
}
