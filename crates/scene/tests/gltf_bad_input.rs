//! Whatever the bytes of a glTF file: an error or a scene, never a panic, and memory in
//! proportion to them.
//!
//! One test function, because the allocator that counts is one for the whole process.

mod gltf_files;
mod samples;

use gltf_files::{File, TETRAHEDRON, TETRAHEDRON_CORNERS, car, glb};
use jostle_scene::{Reading, read};
use peak_alloc::PeakAlloc;
use samples::{Random, mutate};
use serde_json::json;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MUTATIONS: u64 = 10_000;

/// The most memory per byte: `{},` in the list of nodes is a node with its `Transform`.
const PER_BYTE: usize = 200;
/// Hashes of routes, messages, and the 4096 elements that any file may have.
const ANYWAY: usize = 400_000;

fn read_checked(bytes: &[u8], case: &str) -> bool {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let result = read("some.glb", bytes, &mut Reading::default());
    let used = MEMORY.peak_usage().saturating_sub(before);
    let most = PER_BYTE * bytes.len() + ANYWAY;
    assert!(used <= most, "{case}: {used} for {} bytes", bytes.len());
    match result {
        Ok(opened) => {
            // Every node that a node holds is there.
            let scene = &opened.scene;
            for (id, _) in scene.nodes() {
                assert!(scene.children(id).iter().all(|child| child.index() < scene.len()));
            }
            true
        }
        Err(error) => {
            assert!(error.to_string().len() < 500, "{case}: {error}");
            false
        }
    }
}

/// The pieces of a JSON text: strings, numbers, words and single marks.
fn tokens(json: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_string = false;
    for character in json.chars() {
        let goes_on = is_string
            || (character.is_ascii_alphanumeric() || "+-.".contains(character))
                && (tokens.last()).is_some_and(|last| {
                    last.ends_with(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c))
                });
        match tokens.last_mut() {
            Some(last) if goes_on => last.push(character),
            _ => tokens.push(character.to_string()),
        }
        if character == '"' {
            is_string = !is_string;
        }
    }
    tokens
}

const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "-1",
    "1.5",
    "1e30",
    "1e400",
    "255",
    "65536",
    "4294967295",
    "18446744073709551615",
    "5120",
    "5126",
];

/// One to three changes: a number for a number, one piece for another, a piece gone or doubled.
fn mutate_tokens(source: &[String], random: &mut Random) -> String {
    let mut tokens = source.to_vec();
    for _ in 0..1 + random.below(3) {
        let numbers: Vec<usize> = (0..tokens.len())
            .filter(|&at| tokens[at].starts_with(|c: char| c.is_ascii_digit() || c == '-'))
            .collect();
        let at = random.below(tokens.len());
        match random.below(12) {
            0..9 if !numbers.is_empty() => {
                let at = numbers[random.below(numbers.len())];
                tokens[at] = NUMBERS[random.below(NUMBERS.len())].to_string();
            }
            9 => drop(tokens.remove(at)),
            10 => tokens[at] = tokens[random.below(tokens.len())].clone(),
            _ => tokens.insert(at, tokens[random.below(tokens.len())].clone()),
        }
    }
    tokens.concat()
}

#[test]
fn any_bytes_give_an_error_or_a_scene() {
    let file = car();
    for (name, bytes) in [("GLB", file.glb()), ("text", file.gltf())] {
        assert!(read_checked(&bytes, name));
        for end in 0..bytes.len() {
            read_checked(&bytes[..end], &format!("{name}, first {end} bytes"));
        }
        let mut good = 0;
        for seed in 0..MUTATIONS {
            let mutated = mutate(&bytes, &mut Random(seed));
            good += u64::from(read_checked(&mutated, &format!("{name}, seed {seed}")));
        }
        assert!((100..MUTATIONS - 100).contains(&good), "{name}: {good} of {MUTATIONS} good");
    }
    let mut json = file.json.clone();
    json["buffers"] = json!([{"byteLength": file.bin.len()}]);
    let tokens = tokens(&json.to_string());
    assert_eq!(tokens.concat(), json.to_string());
    let mut good = 0;
    for seed in 0..MUTATIONS {
        let random = &mut Random(seed);
        let text = mutate_tokens(&tokens, random);
        let mut bin = file.bin.clone();
        if random.below(3) == 0 {
            let at = random.below(bin.len());
            bin[at] = random.bits() as u8;
        }
        let case = format!("pieces, seed {seed}");
        good += u64::from(read_checked(&glb(&text, &bin), &case));
    }
    assert!((500..MUTATIONS - 500).contains(&good), "pieces: {good} of {MUTATIONS} good");
    large_files_stay_in_proportion();
}

/// The same bound where the constant part no longer counts.
fn large_files_stay_in_proportion() {
    let nodes = |node: &str| {
        let list = vec![node; 100_000].join(",");
        format!("{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{list}]}}")
    };
    assert!(read_checked(nodes("{}").as_bytes(), "empty nodes"));
    assert!(read_checked(nodes("{\"name\":\"\"}").as_bytes(), "nodes with names"));
    // Many nodes with a mesh of many primitives, which share one geometry.
    let mut file = File::new();
    file.mesh("a", &TETRAHEDRON, &TETRAHEDRON_CORNERS);
    let primitive = file.json["meshes"][0]["primitives"][0].clone();
    file.json["meshes"][0]["primitives"] = json!(vec![primitive.clone(); 5000]);
    file.json["nodes"] = json!(vec![json!({"mesh": 0}); 5000]);
    assert!(read_checked(&file.glb(), "many uses"));
    // Many primitives of a few vertices each out of one long list.
    let mut file = File::new();
    let vertices: Vec<[f32; 3]> = (0..30_000u16).map(|i| [f32::from(i), 0.0, 1.0]).collect();
    file.mesh("a", &vertices, &[]);
    let position = file.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].clone();
    let primitives: Vec<_> = (0..5000u16)
        .map(|i| {
            let indices = file.indices(&[i, 3 * i, 29_999 - i]);
            json!({"attributes": {"POSITION": position}, "indices": indices})
        })
        .collect();
    file.json["meshes"][0]["primitives"] = json!(primitives);
    file.push("nodes", json!({"mesh": 0}));
    assert!(read_checked(&file.glb(), "small pieces of a long list"));
    // Accessors of the same bytes, each from another byte on.
    let mut file = File::new();
    file.mesh("a", &TETRAHEDRON, &vec![0; 30_000]);
    let accessor = file.json["accessors"][1].clone();
    let primitives: Vec<_> = (0..1000)
        .map(|i| {
            let mut accessor = accessor.clone();
            accessor["byteOffset"] = json!(2 * i);
            accessor["count"] = json!(28_000);
            let indices = file.push("accessors", accessor);
            json!({"attributes": {"POSITION": 0}, "indices": indices})
        })
        .collect();
    file.json["meshes"][0]["primitives"] = json!(primitives);
    file.push("nodes", json!({"mesh": 0}));
    assert!(!read_checked(&file.glb(), "the same bytes again and again"));
}
