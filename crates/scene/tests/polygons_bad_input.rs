//! Whatever the bytes of an OBJ, STL or PLY file: an error or a scene, never a panic, and memory
//! in proportion to them.
//!
//! One test function, because the allocator that counts is one for the whole process.

mod samples;

use jostle_scene::{Format, Reading, load, read};
use peak_alloc::PeakAlloc;
use samples::{Random, mutate};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MUTATIONS: u64 = 3000;

/// The most memory per byte: `o a` and `f 1` are a part with its `Transform`, `Shape` and mesh.
const PER_BYTE: usize = 150;

fn read_checked(format: Format, bytes: &[u8], case: &str) -> bool {
    let name = format!("x.{format:?}");
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let result = read(&name, bytes, &mut Reading::default());
    let used = MEMORY.peak_usage().saturating_sub(before);
    let most = PER_BYTE * bytes.len() + 40_000;
    assert!(used <= most, "{case}: {used} for {} bytes", bytes.len());
    // Whatever `load` reads is a scene, and the other way round.
    assert_eq!(result.is_ok(), load(bytes, format).is_ok(), "{case}");
    result.is_ok()
}

#[test]
fn any_bytes_give_an_error_or_a_scene() {
    for (name, format, bytes) in samples::all() {
        assert!(read_checked(format, &bytes, name));
        for end in 0..bytes.len() {
            // As JSON or VRML by their first bytes these samples never count.
            read_checked(format, &bytes[..end], &format!("{name}, first {end} bytes"));
        }
        for seed in 0..MUTATIONS {
            let mutated = mutate(&bytes, &mut Random(seed));
            read_checked(format, &mutated, &format!("{name}, seed {seed}"));
        }
    }
    let mut parts = b"v 0 0 0\n".to_vec();
    for i in 0..20_000 {
        parts.extend(format!("o {i}\nf 1\n").as_bytes());
    }
    assert!(read_checked(Format::Obj, &parts, "many parts"));
    let mut groups = b"v 0 0 0\n".to_vec();
    groups.extend(b"g a\nf 1\ng b\nf 1\n".repeat(20_000));
    assert!(read_checked(Format::Obj, &groups, "many stretches of two groups"));
    assert!(read_checked(Format::Obj, &b"o a\n".repeat(100_000), "marks without faces"));
    let solid = b"solid\nendsolid\n";
    assert!(read_checked(Format::Stl, &solid.repeat(50_000), "solids without faces"));
}
