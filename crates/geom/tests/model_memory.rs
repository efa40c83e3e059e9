//! The promise of V12: mesh and hierarchy together take at most 100 bytes per triangle.

mod soup;

use jostle_geom::{Mesh, Model, solids};
use soup::{QUALITIES, Random, soup};

fn bytes_per_triangle(mesh: &Mesh) -> Vec<f64> {
    let count = mesh.triangle_count() as f64;
    QUALITIES
        .map(|quality| Model::build(mesh.clone(), quality).memory_usage() as f64 / count)
        .to_vec()
}

#[test]
fn a_connected_surface_takes_at_most_100_bytes_per_triangle() {
    let torus = solids::BumpyTorus::plain(1.0, 0.3, [200, 50]).mesh().unwrap();
    for mesh in [solids::sphere(1.0, 0.0005).unwrap(), torus] {
        assert!(mesh.triangle_count() > 5000, "{}", mesh.triangle_count());
        let found = bytes_per_triangle(&mesh);
        assert!(found.iter().all(|&bytes| bytes > 20.0 && bytes <= 100.0), "{found:?}");
    }
}

#[test]
fn loose_triangles_take_little_more() {
    // Three vertices of their own each, and each a part of its own: 36 bytes of corners instead
    // of 6, and 16 bytes to find vertices and parts again.
    let found = bytes_per_triangle(&soup(&mut Random(3), 5000, 1.0, 0.02));
    assert!(found.iter().all(|&bytes| bytes <= 130.0), "{found:?}");
}
