//! How long contacts and near pairs take, beside touch and separation of the same run, one thread.
//!
//! `cargo run --release -p jostle-geom --example contact_times`.

use glam::{DQuat, DVec3, Vec3};
use jostle_geom::solids::BumpyTorus;
use jostle_geom::{Effort, Mesh, Model, Pair, Pose, Quality};
use std::error::Error;
use std::time::Instant;

/// The unit cube, each face cut into so many squares along an edge.
fn cube(cells: u32) -> Result<Model, Box<dyn Error>> {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    let at = |i: u32| i as f32 / cells as f32;
    let mut known = std::collections::BTreeMap::new();
    let mut number = |v: Vec3| {
        let next = vertices.len() as u32;
        *known.entry(v.to_array().map(f32::to_bits)).or_insert_with(|| {
            vertices.push(v);
            next
        })
    };
    for axis in 0..3 {
        for (side, flip) in [(0.0, true), (1.0, false)] {
            let mut point = |i: u32, j: u32| {
                let mut v = [0.0; 3];
                (v[axis], v[(axis + 1) % 3], v[(axis + 2) % 3]) = (side, at(i), at(j));
                number(Vec3::from_array(v))
            };
            for (i, j) in (0..cells).flat_map(|i| (0..cells).map(move |j| (i, j))) {
                let [p, q, r, s] =
                    [point(i, j), point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)];
                let both = [[p, q, r], [p, r, s]];
                triangles.extend(both.map(|[a, b, c]| if flip { [a, c, b] } else { [a, b, c] }));
            }
        }
    }
    let mesh = Mesh::from_triangles(vertices, triangles)?.into_solid()?;
    Ok(Model::build(mesh, Quality::Default))
}

fn timed<T>(ask: impl Fn() -> T) -> (T, f64) {
    let _ = ask();
    let start = Instant::now();
    let found = ask();
    (found, start.elapsed().as_secs_f64() * 1e3)
}

fn main() -> Result<(), Box<dyn Error>> {
    let still = Pose::IDENTITY;
    let torus = BumpyTorus::plain(1.0, 0.3, [200, 50]).mesh()?.into_solid()?;
    let torus = Model::build(torus, Quality::Default);
    let crossing = Pose::new(DQuat::from_rotation_x(0.9), DVec3::new(1.2, 0.1, 0.25))?;
    let cube = cube(16)?;
    let beside = Pose::from_translation(DVec3::X * 0.5)?;
    let turned = Pose::new(DQuat::from_rotation_y(0.3), DVec3::new(0.5, 0.1, 0.2))?;
    let cases = [
        ("cubes, 3072 triangles each, along an axis", &cube, beside),
        ("cubes, turned", &cube, turned),
        ("tori, 20,000 triangles each", &torus, crossing),
    ];
    for (name, model, pose) in cases {
        let pair = Pair::new(model, &pose, model, &still);
        let touches = timed(|| pair.touches()).1;
        let (separation, of_separation) = timed(|| pair.separation(Effort::default()));
        let separation = separation?;
        let (contacts, of_contacts) = timed(|| pair.contacts(0.01));
        let contacts = contacts?;
        let (count, way) = (contacts.points.len(), contacts.way_out.unwrap_or_default().length());
        println!(
            "{name}: touch {touches:.3} ms; separation {of_separation:.1} ms, {:.4} to {:.4}; \
             contacts {of_contacts:.1} ms, {count}, way out {way:.4}",
            separation.at_least, separation.at_most
        );
        let reach = 0.05;
        let (near, of_near) = timed(|| pair.near(reach));
        println!("    near {reach}: {of_near:.1} ms, {} pairs", near.len());
    }
    Ok(())
}
