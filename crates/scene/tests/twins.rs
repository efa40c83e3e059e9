//! Our readers against the public ones, on files that both can read.

mod samples;

use jostle_scene::{Format, load};
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};
use samples::{Random, mutate};
use std::io::Cursor;

/// Random polygons: enough vertices that many are shared, few enough that all are used.
fn random_scene(seed: u64) -> (Vec<[f32; 3]>, Vec<Vec<u32>>) {
    let mut random = Random(seed);
    let mut number = move |end| random.below(end);
    let count = 3 + number(40);
    let vertices = (0..count).map(|_| [0; 3].map(|_| number(1 << 20) as f32 / 999.0 - 500.0));
    let vertices = vertices.collect();
    let face = |number: &mut dyn FnMut(usize) -> usize| {
        (0..3 + number(6)).map(|_| number(count) as u32).collect()
    };
    let faces = (0..number(30)).map(|_| face(&mut number)).collect();
    (vertices, faces)
}

#[test]
fn obj_agrees_with_tobj() {
    for seed in 0..300 {
        let (vertices, faces) = random_scene(seed);
        let mut text = String::new();
        for [x, y, z] in &vertices {
            text += &format!("v {x} {y} {z}\n");
        }
        for (i, face) in faces.iter().enumerate() {
            text += "f";
            for &corner in face {
                let back = i64::from(corner) - vertices.len() as i64;
                let index = if i % 2 == 0 { i64::from(corner) + 1 } else { back };
                text += &format!(" {index}");
            }
            text += "\n";
        }
        let ours = load(text.as_bytes(), Format::Obj).unwrap();
        let options = tobj::LoadOptions::default();
        let (models, _) = tobj::load_obj_buf(&mut Cursor::new(&text), &options, |_| {
            Err(tobj::LoadError::GenericFailure)
        })
        .unwrap();
        // tobj numbers vertices as faces use them, so positions are compared, corner by corner.
        let ours: Vec<f32> = (ours.faces.corners().iter())
            .flat_map(|&corner| ours.vertices[corner as usize].to_array())
            .collect();
        let theirs: Vec<f32> = (models.iter())
            .flat_map(|model| model.mesh.indices.iter().map(move |&i| (&model.mesh, i as usize)))
            .flat_map(|(mesh, i)| mesh.positions[3 * i..][..3].to_vec())
            .collect();
        assert_eq!(ours, theirs, "seed {seed}");
        let given = faces.concat();
        let given: Vec<f32> = given.iter().flat_map(|&i| vertices[i as usize]).collect();
        assert_eq!(ours, given, "seed {seed}");
    }
}

#[test]
fn stl_agrees_with_stl_io() {
    let mut text = samples::STL_TEXT.to_ascii_lowercase();
    // What stl_io cannot read: NaN normals, more than one solid.
    text = String::from_utf8(text).unwrap().replace("nan", "0").into_bytes();
    let first_solid = text.windows(10).position(|w| w == b"endsolid f").unwrap() + 20;
    text.truncate(first_solid);
    let mut binary = samples::stl_binary();
    binary[..5].copy_from_slice(b"hello");
    let mut agreed = 0;
    for source in [text, binary] {
        for seed in 0..3000 {
            let bytes = if seed == 0 { source.clone() } else { mutate(&source, &mut Random(seed)) };
            let Ok(theirs) = stl_io::read_stl(&mut Cursor::new(&bytes)) else { continue };
            // Infinite vertices of binary files, and text after the first solid.
            let Ok(ours) = load(&bytes, Format::Stl) else { continue };
            let [ours, theirs] = [
                (ours.faces.corners().iter())
                    .map(|&i| ours.vertices[i as usize].to_array())
                    .collect(),
                (theirs.faces.iter().flat_map(|f| f.vertices))
                    .map(|i| theirs.vertices[i].into())
                    .collect::<Vec<[f32; 3]>>(),
            ];
            assert_eq!(ours, theirs, "seed {seed}");
            agreed += 1;
        }
    }
    assert!(agreed > 300, "only {agreed} files were read by both");
}

#[test]
fn ply_agrees_with_ply_rs() {
    let text = String::from_utf8_lossy(samples::PLY_TEXT);
    // What ply-rs-bw cannot read.
    let text = text.replace("1. ", "1 ").replace(" .0", " 0").replace("nan", "0").into_bytes();
    for source in [text, samples::ply_binary(false), samples::ply_binary(true)] {
        // 4 billion elements without properties keep ply-rs-bw busy for long.
        let source = replace(&source, b"element nothing 4000000000", b"element nothing 2");
        let mut agreed = 0;
        for seed in 0..3000 {
            let bytes = if seed == 0 { source.clone() } else { mutate(&source, &mut Random(seed)) };
            let Ok(ours) = load(&bytes, Format::Ply) else { continue };
            let parser = Parser::<DefaultElement>::new();
            let Ok(theirs) = parser.read_ply(&mut Cursor::new(&bytes)) else { continue };
            let vertices = theirs.payload.get("vertex").map_or(&[][..], Vec::as_slice);
            assert_eq!(ours.vertices.len(), vertices.len(), "seed {seed}");
            for (ours, theirs) in ours.vertices.iter().zip(vertices) {
                let theirs = ["x", "y", "z"].map(|axis| number(&theirs[axis]));
                assert_eq!(ours.to_array(), theirs, "seed {seed}");
            }
            let faces = theirs.payload.get("face").map_or(&[][..], Vec::as_slice);
            assert_eq!(ours.faces.len(), faces.len(), "seed {seed}");
            for (ours, theirs) in ours.faces.iter().zip(faces) {
                let list = theirs.get("vertex_indices").or(theirs.get("vertex_index"));
                assert_eq!(ours, indices(list.unwrap()), "seed {seed}");
            }
            agreed += 1;
        }
        assert!(agreed > 40, "only {agreed} files were read by both");
    }
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    match bytes.windows(from.len()).position(|window| window == from) {
        Some(at) => [&bytes[..at], to, &bytes[at + from.len()..]].concat(),
        None => bytes.to_vec(),
    }
}

fn number(property: &Property) -> f32 {
    match *property {
        Property::Char(v) => f32::from(v),
        Property::UChar(v) => f32::from(v),
        Property::Short(v) => f32::from(v),
        Property::UShort(v) => f32::from(v),
        Property::Int(v) => v as f32,
        Property::UInt(v) => v as f32,
        Property::Float(v) => v,
        Property::Double(v) => v as f32,
        _ => panic!("a list where a number was expected"),
    }
}

fn indices(property: &Property) -> Vec<u32> {
    match property {
        Property::ListChar(list) => list.iter().map(|&i| i as u32).collect(),
        Property::ListUChar(list) => list.iter().map(|&i| u32::from(i)).collect(),
        Property::ListShort(list) => list.iter().map(|&i| i as u32).collect(),
        Property::ListUShort(list) => list.iter().map(|&i| u32::from(i)).collect(),
        Property::ListInt(list) => list.iter().map(|&i| i as u32).collect(),
        Property::ListUInt(list) => list.clone(),
        _ => panic!("not a list of whole numbers"),
    }
}
