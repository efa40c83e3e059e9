//! Whatever the bytes: an error or a result, never a panic, and memory in proportion to them.
//!
//! One test function, because the allocator that counts is one for the whole process.

mod samples;

use jostle_scene::{Format, Loaded, load};
use peak_alloc::PeakAlloc;
use samples::{Random, mutate};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MUTATIONS: usize = 10_000;

/// Loads, and checks what must hold for any bytes. Most memory per byte: a PLY face that is a
/// list of one `uchar`, two bytes for an index and a size, which take 8 bytes, 16 while their
/// lists grow, 24 while they are copied.
fn load_checked(bytes: &[u8], format: Format, case: &str) -> bool {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let result = load(bytes, format);
    let used = MEMORY.peak_usage().saturating_sub(before);
    assert!(used <= 16 * bytes.len() + 40_000, "{case}: {used} for {} bytes", bytes.len());
    match result {
        Ok(loaded) => {
            check_result(&loaded, case);
            assert!(loaded.into_mesh().is_ok(), "{case}");
            true
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.starts_with("line ") || text.starts_with("byte "), "{case}: {text}");
            assert!(text.len() < 400, "{case}: {text}");
            false
        }
    }
}

fn check_result(loaded: &Loaded, case: &str) {
    assert!(loaded.vertices.iter().all(|v| v.is_finite()), "{case}");
    let mut corners = 0;
    for polygon in loaded.faces.iter() {
        assert!(!polygon.is_empty(), "{case}");
        assert!(polygon.iter().all(|&i| (i as usize) < loaded.vertices.len()), "{case}");
        corners += polygon.len();
    }
    assert_eq!(corners, loaded.faces.corners().len(), "{case}");
}

#[test]
fn any_bytes_give_an_error_or_a_result() {
    for (name, format, bytes) in samples::all() {
        assert!(load_checked(&bytes, format, name));
        for end in 0..bytes.len() {
            load_checked(&bytes[..end], format, &format!("{name}, first {end} bytes"));
        }
        let mut good = 0;
        for seed in 0..MUTATIONS {
            let mutated = mutate(&bytes, &mut Random(seed as u64));
            good += usize::from(load_checked(&mutated, format, &format!("{name}, seed {seed}")));
        }
        // A mutator that never or always breaks the file tests half of the reader.
        assert!((100..MUTATIONS - 100).contains(&good), "{name}: {good} of {MUTATIONS} good");
        for other in [Format::Obj, Format::Stl, Format::Ply] {
            load_checked(&bytes, other, &format!("{name} as {other:?}"));
        }
    }
    let mut random = Random(1);
    for length in 0..2000 {
        let noise: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        for format in [Format::Obj, Format::Stl, Format::Ply] {
            load_checked(&noise, format, &format!("{length} random bytes as {format:?}"));
        }
    }
    large_files_stay_in_proportion();
}

/// The same bound where the constant part no longer counts.
fn large_files_stay_in_proportion() {
    let points = "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty char x\n\
property char y\nproperty char z\nelement face 500000\n\
property list uchar uchar vertex_index\nend_header\n";
    let mut ply = points.as_bytes().to_vec();
    ply.extend([0; 3]);
    ply.extend([1, 0].repeat(500_000));
    assert!(load_checked(&ply, Format::Ply, "one-corner faces"));
    let mut ply = "ply\nformat ascii 1.0\n".to_string();
    for i in 0..55_000 {
        ply += &format!("element e{i} 0\n");
    }
    assert!(load_checked((ply + "end_header\n").as_bytes(), Format::Ply, "a long header"));
    let mut obj = b"v 0 0 0\n".to_vec();
    obj.extend(b"f 1\n".repeat(300_000));
    assert!(load_checked(&obj, Format::Obj, "one-corner faces"));
    let mut stl = vec![0; 80];
    stl.extend(20_000u32.to_le_bytes());
    for triangle in 0..20_000u32 {
        stl.extend([0; 12]);
        stl.extend((0..9).flat_map(|i| ((9 * triangle + i) as f32).to_le_bytes()));
        stl.extend([0; 2]);
    }
    assert!(load_checked(&stl, Format::Stl, "vertices all different"));
}
