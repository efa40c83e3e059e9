//! An assembly of many parts, to measure `jostle check` with.
//!
//! ```text
//! cargo run --release -p jostle-stage --example many_parts -- write parts.obj 2000 500 10
//! cargo run --release -p jostle-stage --example many_parts -- time parts.obj
//! ```
//!
//! `write` makes an OBJ, or a glTF if the name ends in .glb: tori in a lattice, of which one in ten
//! (the last number) reaches into its neighbour. `time` prints the processor time of all threads,
//! stage by stage.

use glam::Vec3;
use jostle_geom::Mesh;
use jostle_geom::solids::BumpyTorus;
use jostle_scene::{Reading, read};
use jostle_stage::{CheckOptions, HierarchyFiles, check};
use std::error::Error;
use std::fmt::Write as _;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["write", name, parts, triangles, every] => {
            let (parts, triangles) = (places(parts.parse()?, every.parse()?), triangles.parse()?);
            let bytes = if name.ends_with(".glb") {
                glb(parts, triangles)?
            } else {
                obj(parts, triangles)?
            };
            std::fs::write(name, bytes)?;
            Ok(())
        }
        ["time", name] => time(name),
        _ => Err("expected: write FILE PARTS TRIANGLES EVERY, or time FILE".into()),
    }
}

/// Reads and checks a file.
fn time(name: &str) -> Result<(), Box<dyn Error>> {
    let mut clock = Clock(processor_seconds()?);
    let bytes = std::fs::read(name)?;
    clock.lap("read the file")?;
    let scene = read(name, &bytes, &mut Reading::default())?.scene;
    drop(bytes);
    clock.lap("parse")?;
    let options = CheckOptions { clearance: Some(0.01), ..CheckOptions::default() };
    let checked = check(scene, &options, &mut HierarchyFiles::default())?;
    clock.lap("check")?;
    println!(
        "{} objects, {} triangles, {} pairs tested, {} findings",
        checked.objects,
        checked.triangles,
        checked.tested,
        checked.findings.len()
    );
    Ok(())
}

struct Clock(f64);

impl Clock {
    fn lap(&mut self, what: &str) -> Result<(), Box<dyn Error>> {
        let now = processor_seconds()?;
        println!("{what}: {:.3} s", now - self.0);
        self.0 = now;
        Ok(())
    }
}

/// What all threads of this process have run, from Linux.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        nanoseconds += text.split(' ').next().unwrap_or("0").parse::<u64>()?;
    }
    Ok(nanoseconds as f64 * 1e-9)
}

/// The part, which all are but for their places.
fn part(triangles: usize) -> Result<Mesh, Box<dyn Error>> {
    let across = ((triangles / 4) as f64).sqrt().round().max(3.0) as u32;
    let around = (triangles as u32 / 2).div_ceil(across).max(3);
    Ok(BumpyTorus::plain(1.0, 0.35, [around, across]).mesh()?)
}

/// Where the parts are. One in `every` reaches into the one before it.
fn places(parts: usize, every: usize) -> Vec<Vec3> {
    let side = (parts as f64).cbrt().ceil() as usize;
    let place = |at: usize| {
        let cell = [at % side, at / side % side, at / side / side].map(|n| n as f32);
        let closer = if at % every == every - 1 { -0.3 } else { 0.0 };
        let place = Vec3::from_array(cell) * Vec3::new(2.75, 2.75, 1.0) + Vec3::X * closer;
        // With 1, the lattice is so narrow that all reach into each other.
        if every == 1 { place * Vec3::new(0.9, 0.9, 0.6) } else { place }
    };
    (0..parts).map(place).collect()
}

fn obj(places: Vec<Vec3>, triangles: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let part = part(triangles)?;
    let mut text = String::new();
    let mut first = 1;
    for (at, place) in places.iter().enumerate() {
        writeln!(text, "o part{at}")?;
        for vertex in part.vertices() {
            let [x, y, z] = (*vertex + *place).to_array();
            writeln!(text, "v {x:.6} {y:.6} {z:.6}")?;
        }
        for [a, b, c] in part.triangles() {
            writeln!(text, "f {} {} {}", a + first, b + first, c + first)?;
        }
        first += part.vertices().len() as u32;
    }
    Ok(text.into_bytes())
}

/// Each part has vertices of its own, so that none is an instance of another.
fn glb(places: Vec<Vec3>, triangles: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let part = part(triangles)?;
    let (vertices, corners) = (part.vertices().len(), 3 * part.triangle_count());
    let mut binary: Vec<u8> = Vec::new();
    for corner in part.triangles().iter().flatten() {
        binary.extend(corner.to_le_bytes());
    }
    let (mut nodes, mut meshes, mut accessors) = (Vec::new(), Vec::new(), Vec::new());
    accessors.push(format!(
        r#"{{"bufferView":0,"componentType":5125,"count":{corners},"type":"SCALAR"}}"#
    ));
    let first = binary.len();
    for (at, place) in places.iter().enumerate() {
        let offset = binary.len() - first;
        for vertex in part.vertices() {
            binary.extend((*vertex + *place).to_array().into_iter().flat_map(f32::to_le_bytes));
        }
        nodes.push(format!(r#"{{"name":"part{at}","mesh":{at}}}"#));
        let position = at + 1;
        meshes.push(format!(
            r#"{{"primitives":[{{"attributes":{{"POSITION":{position}}},"indices":0}}]}}"#
        ));
        accessors.push(format!(
            r#"{{"bufferView":1,"byteOffset":{offset},"componentType":5126,"count":{vertices},
               "type":"VEC3","min":[0,0,0],"max":[0,0,0]}}"#
        ));
    }
    let roots: Vec<String> = (0..places.len()).map(|at| at.to_string()).collect();
    let mut json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[{}]}}],"nodes":[{}],
           "meshes":[{}],"accessors":[{}],"bufferViews":[{{"buffer":0,"byteLength":{first}}},
           {{"buffer":0,"byteOffset":{first},"byteLength":{}}}],"buffers":[{{"byteLength":{}}}]}}"#,
        roots.join(","),
        nodes.join(","),
        meshes.join(","),
        accessors.join(","),
        binary.len() - first,
        binary.len()
    );
    while !json.len().is_multiple_of(4) {
        json.push(' ');
    }
    let mut file = b"glTF".to_vec();
    let total = 12 + 8 + json.len() + 8 + binary.len();
    for number in [2, total as u32, json.len() as u32] {
        file.extend(number.to_le_bytes());
    }
    file.extend(b"JSON");
    file.extend(json.as_bytes());
    file.extend((binary.len() as u32).to_le_bytes());
    file.extend(b"BIN\0");
    file.extend(binary);
    Ok(file)
}
