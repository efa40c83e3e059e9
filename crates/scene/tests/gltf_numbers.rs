//! Accessors against a reader that is slow and obvious; matrices against their parts.

mod gltf_files;
mod samples;

use glam::{DMat3, DMat4, DQuat, DVec3};
use gltf_files::{F32, File, I8, I16, U8, U16, U32, matrix, named, world_triangles};
use jostle_scene::Rotation;
use samples::Random;
use serde_json::{Value, json};

/// Reads an accessor the long way: every element, then the sparse ones over it.
fn naive(file: &File, index: usize) -> Vec<Vec<f32>> {
    let accessor = &file.json["accessors"][index];
    let whole = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let code = accessor["componentType"].as_u64().unwrap();
    let parts = if accessor["type"] == "VEC3" { 3 } else { 1 };
    let size = component_size(code);
    let count = whole(&accessor["count"]);
    let normalized = accessor["normalized"] == true;
    let slice = |view: &Value, offset: usize| {
        let view = &file.json["bufferViews"][whole(view)];
        file.bin[whole(&view["byteOffset"]) + offset..].to_vec()
    };
    let element = |bytes: &[u8]| -> Vec<f32> {
        (0..parts).map(|part| component(&bytes[part * size..], code, normalized)).collect()
    };
    let mut all = vec![vec![0.0; parts]; count];
    if !accessor["bufferView"].is_null() {
        let bytes = slice(&accessor["bufferView"], whole(&accessor["byteOffset"]));
        let view = &file.json["bufferViews"][whole(&accessor["bufferView"])];
        let stride = view["byteStride"].as_u64().map_or(size * parts, |stride| stride as usize);
        for (i, slot) in all.iter_mut().enumerate() {
            *slot = element(&bytes[i * stride..]);
        }
    }
    let sparse = &accessor["sparse"];
    if !sparse.is_null() {
        let (at, new) = (&sparse["indices"], &sparse["values"]);
        let indices = slice(&at["bufferView"], whole(&at["byteOffset"]));
        let values = slice(&new["bufferView"], whole(&new["byteOffset"]));
        let kind = at["componentType"].as_u64().unwrap();
        for i in 0..whole(&sparse["count"]) {
            let index = component(&indices[i * component_size(kind)..], kind, false) as usize;
            all[index] = element(&values[i * size * parts..]);
        }
    }
    all
}

fn component_size(code: u64) -> usize {
    match code {
        I8 | U8 => 1,
        I16 | U16 => 2,
        _ => 4,
    }
}

fn component(bytes: &[u8], code: u64, normalized: bool) -> f32 {
    let two = [bytes[0], bytes.get(1).copied().unwrap_or(0)];
    let four = || [bytes[0], bytes[1], bytes[2], bytes[3]];
    match (code, normalized) {
        (I8, true) => (f32::from(bytes[0] as i8) / 127.0).max(-1.0),
        (I8, false) => f32::from(bytes[0] as i8),
        (U8, true) => f32::from(bytes[0]) / 255.0,
        (U8, false) => f32::from(bytes[0]),
        (I16, true) => (f32::from(i16::from_le_bytes(two)) / 32767.0).max(-1.0),
        (I16, false) => f32::from(i16::from_le_bytes(two)),
        (U16, true) => f32::from(u16::from_le_bytes(two)) / 65535.0,
        (U16, false) => f32::from(u16::from_le_bytes(two)),
        (U32, _) => u32::from_le_bytes(four()) as f32,
        _ => f32::from_le_bytes(four()),
    }
}

/// An accessor of random layout. `bytes` draws the bytes of one element.
fn random_accessor(
    file: &mut File,
    random: &mut Random,
    (code, shape, count): (u64, &str, usize),
    bytes: &dyn Fn(&mut Random) -> Vec<u8>,
) -> usize {
    let size = bytes(random).len();
    let mut accessor = json!({"componentType": code, "type": shape, "count": count});
    if random.below(5) > 0 {
        let offset = random.below(9);
        let stride = size + random.below(2) * random.below(9);
        let mut data = vec![0xaa; offset];
        for i in 0..count {
            data.extend(bytes(random));
            // The last element may end before the stride does.
            data.extend(vec![0xbb; if i + 1 < count { stride - size } else { 0 }]);
        }
        let view = file.view(&data);
        if stride != size || random.below(2) == 0 {
            file.json["bufferViews"][view]["byteStride"] = json!(stride);
        }
        accessor["bufferView"] = json!(view);
        accessor["byteOffset"] = json!(offset);
    }
    if random.below(2) == 0 {
        let mut chosen: Vec<usize> = (0..count).filter(|_| random.below(3) == 0).collect();
        chosen.sort_unstable();
        let kind = [U8, U16, U32][random.below(3)];
        let indices: Vec<u8> = (chosen.iter())
            .flat_map(|&i| (i as u32).to_le_bytes()[..component_size(kind)].to_vec())
            .collect();
        let values: Vec<u8> = chosen.iter().flat_map(|_| bytes(random)).collect();
        let (at, new) = (file.view(&indices), file.view(&values));
        accessor["sparse"] = json!({
            "count": chosen.len(),
            "indices": {"bufferView": at, "componentType": kind},
            "values": {"bufferView": new},
        });
    }
    file.push("accessors", accessor)
}

#[test]
fn accessors_agree_with_the_naive_reader() {
    let (mut triangles, mut from_sparse) = (0, 0);
    for seed in 0..2000 {
        let random = &mut Random(seed);
        let mut file = File::new();
        let code = [I8, U8, I16, U16, F32][random.below(5)];
        let count = 1 + random.below(40);
        let position = random_accessor(&mut file, random, (code, "VEC3", count), &|random| {
            let float = |random: &mut Random| random.below(2001) as f32 / 8.0 - 100.0;
            match code {
                F32 => (0..3).flat_map(|_| float(random).to_le_bytes()).collect(),
                _ => (0..3 * component_size(code)).map(|_| random.bits() as u8).collect(),
            }
        });
        if code != F32 && random.below(2) == 0 {
            file.json["accessors"][position]["normalized"] = json!(true);
        }
        let kind = [U8, U16, U32][random.below(3)];
        let corners = 3 * random.below(20);
        let indices = random_accessor(&mut file, random, (kind, "SCALAR", corners), &|random| {
            (random.below(count) as u32).to_le_bytes()[..component_size(kind)].to_vec()
        });
        let mut primitive = json!({"attributes": {"POSITION": position}});
        let places = naive(&file, position);
        let mut expected: Vec<usize> = (0..count / 3 * 3).collect();
        if random.below(4) > 0 {
            primitive["indices"] = json!(indices);
            expected = naive(&file, indices).iter().map(|index| index[0] as usize).collect();
        }
        file.push("meshes", json!({"primitives": [primitive]}));
        file.push("nodes", json!({"mesh": 0}));
        let expected: Vec<DVec3> = (expected.iter())
            .map(|&i| DVec3::from_array([0, 1, 2].map(|axis| f64::from(places[i][axis]))))
            .collect();
        let found = world_triangles(&file.read()).concat();
        assert_eq!(found, expected, "seed {seed}");
        triangles += found.len() / 3;
        from_sparse += usize::from(!file.json["accessors"][position]["sparse"].is_null());
    }
    assert!(triangles > 10_000, "{triangles}");
    assert!((500..1500).contains(&from_sparse), "{from_sparse}");
}

/// Matrices where the decomposition is weak: shear, mirrors, flat, tiny, huge, equal scales.
fn random_matrix(random: &mut Random) -> DMat3 {
    let mut number = |random: &mut Random| random.below(4001) as f64 / 1000.0 - 2.0;
    let axis = |random: &mut Random, number: &mut dyn FnMut(&mut Random) -> f64| {
        DVec3::new(number(random), number(random), number(random)).normalize_or(DVec3::X)
    };
    let mut turn = |random: &mut Random| {
        let angle =
            if random.below(3) == 0 { std::f64::consts::FRAC_PI_2 } else { 3.0 * number(random) };
        DMat3::from_quat(DQuat::from_axis_angle(axis(random, &mut number), angle))
    };
    let scales = [1.0, 1.0, 2.0, 0.5, -1.0, -3.0, 0.0, 1e-30, 1e30, 1e-6, 1.0000001];
    let scale = |random: &mut Random| scales[random.below(scales.len())];
    let diagonal = DVec3::new(scale(random), scale(random), scale(random));
    let first = DMat3::from_diagonal(diagonal);
    match random.below(4) {
        0 => first,
        1 => turn(random) * first,
        2 => turn(random) * first * turn(random),
        _ => {
            let second = DVec3::new(scale(random), scale(random), scale(random));
            turn(random) * first * turn(random) * DMat3::from_diagonal(second)
        }
    }
}

#[test]
fn matrices_are_the_product_of_their_parts() {
    let (mut sheared, mut straight, mut mirrored) = (0, 0, 0);
    for seed in 0..3000 {
        let random = &mut Random(seed);
        let wanted = random_matrix(random);
        let mut file = File::new();
        let columns = wanted.to_cols_array_2d().map(|column| column.map(|entry| entry as f32));
        let mut entries: Vec<f32> = columns.iter().flat_map(|&[x, y, z]| [x, y, z, 0.0]).collect();
        entries.extend([4.0, -5.0, 6.0, 1.0]);
        if !entries.iter().all(|entry| entry.is_finite()) {
            continue;
        }
        file.push("nodes", json!({"name": "it", "matrix": entries}));
        let scene = file.read();
        let node = named(&scene, "it");
        let found = matrix(node);
        let given = DMat4::from_cols_array(&<[f32; 16]>::try_from(entries).unwrap().map(f64::from));
        let size = columns.iter().flatten().fold(0.0f32, |most, entry| most.max(entry.abs()));
        let most = 2e-6 * f64::from(size) + 1e-37;
        for column in 0..3 {
            let off = (found.col(column) - given.col(column)).abs().max_element();
            assert!(off <= most, "seed {seed}: {off} in {given} {node:?}");
        }
        assert_eq!(found.col(3), given.col(3), "seed {seed}");
        if node.scale_orientation == Rotation::NONE {
            straight += 1
        } else {
            sheared += 1
        }
        mirrored += usize::from(node.scale.min_element() < 0.0);
        // The sign means something where the columns are far from one plane.
        let [x, y, z] = [0, 1, 2].map(|at| given.col(at).truncate().normalize_or_zero());
        let volume = x.cross(y).dot(z);
        if volume.abs() > 1e-3 {
            assert_eq!(volume < 0.0, node.scale.min_element() < 0.0, "seed {seed}");
        }
    }
    assert!(straight > 500 && sheared > 500 && mirrored > 300, "{straight} {sheared} {mirrored}");
}
