//! The same bytes and answers for any number of threads, and on every machine.
//!
//! The scenes use no library trigonometry, so that their coordinates are the same everywhere.
//! `PAIRS` changes only when poses place vertices elsewhere: answers are exact. `TREES` changes
//! when the way of building changes, and at no other time: then look whether that is meant, and
//! copy what the test prints.

mod soup;

use glam::{DQuat, DVec2, DVec3};
use jostle_geom::{Mesh, Model, Pair, Pose, solids};
use soup::{QUALITIES, Random, grid_soup, soup};

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Waves of whole numbers: every coordinate is an integer.
fn terrain() -> Mesh {
    let height = |at: DVec2| {
        let (x, y) = (at.x.round() as i64, at.y.round() as i64);
        ((x * x * 7 + y * y * 3 + x * y) % 11) as f64
    };
    solids::grid(DVec2::new(120.0, 80.0), [120, 80], height).unwrap()
}

#[test]
fn any_number_of_threads_builds_the_same() {
    let scenes = [
        solids::sphere(1.0, 0.000_5).unwrap(),
        terrain(),
        soup(&mut Random(1), 9000, 1.0, 0.05),
        grid_soup(&mut Random(2), 5000, 6, 1.0),
    ];
    for (index, mesh) in scenes.iter().enumerate() {
        for quality in QUALITIES {
            let build = |threads| {
                in_pool(threads, || Model::build(mesh.clone(), quality).hierarchy_to_bytes())
            };
            let expected = build(1);
            for threads in [2, 3, 8] {
                assert!(build(threads) == expected, "scene {index}, {quality:?}, {threads}");
            }
        }
    }
}

fn hash(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Number of touching pairs of a model with itself over some poses, and their hash.
fn pairs(model: &Model) -> (usize, u64) {
    let mut all = Vec::new();
    let vertices = model.mesh().vertices();
    let size = f64::from(vertices.iter().fold(0.0, |size: f32, v| size.max(v.abs().max_element())));
    for (turn, shift) in [
        ([0.0, 0.0, 0.0, 1.0], [0.5, 0.25, 0.125]),
        ([1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
        ([1.0, 2.0, 3.0, 4.0], [0.25, 0.75, 0.5]),
        ([1.0, 0.0, -1.0, 0.25], [0.0, 0.0, 0.0]),
    ] {
        let pose = Pose::new(DQuat::from_array(turn), DVec3::from(shift) * size).unwrap();
        all.extend(Pair::new(model, &Pose::IDENTITY, model, &pose).all_pairs());
    }
    (all.len(), hash(all.iter().map(|pair| u64::from(pair.a) << 32 | u64::from(pair.b))))
}

/// The last eight bytes of a saved hierarchy.
fn checksum(model: &Model) -> u64 {
    model.hierarchy_to_bytes().last_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[test]
fn every_machine_gives_the_same() {
    let scenes = [
        ("sphere", solids::sphere(1.0, 0.002).unwrap()),
        ("box", solids::cuboid(DVec3::new(1.0, 2.0, 3.0)).unwrap()),
        ("tetra flake", solids::tetra_flake(4).unwrap()),
        ("terrain", terrain()),
        ("integer soup", grid_soup(&mut Random(5), 700, 8, 0.5)),
        ("soup", soup(&mut Random(6), 700, 1.0, 0.1)),
    ];
    let (mut found_trees, mut found_pairs) = (String::new(), String::new());
    for (name, mesh) in &scenes {
        let models = QUALITIES.map(|quality| Model::build(mesh.clone(), quality));
        let [fast, default, tight] = models.each_ref().map(checksum);
        found_trees += &format!("{name}: {fast:016x} {default:016x} {tight:016x}\n");
        let [first, rest @ ..] = models.each_ref().map(pairs);
        assert!(rest.iter().all(|other| *other == first), "{name}: a quality changes the answer");
        found_pairs += &format!("{name}: {} {:016x}\n", first.0, first.1);
    }
    assert_eq!(found_pairs, PAIRS, "pairs:\n{found_pairs}");
    assert_eq!(found_trees, TREES, "trees:\n{found_trees}");
}

const PAIRS: &str = "\
sphere: 16586 54f38e3809421800
box: 28 432ae094d5bbe715
tetra flake: 4042 3924bf61b3f38c53
terrain: 22729 99169d0c49c3506e
integer soup: 45992 a6dc54498eee802d
soup: 103 47aaebc29bb28570
";

/// Checksums of fast, default and tight hierarchies.
const TREES: &str = "\
sphere: 4c0ea1a16bbcaa97 2c77dc01fa8cbcd5 28c2f979f27f0869
box: 2602ef83ca7a8b67 846e51c94310a27e beab1c29b8b2ff12
tetra flake: 6b336926c85fded1 c524f3c7a6eb9bc6 49cb7414d5d68c29
terrain: 9ea946a7f4bed3e1 4f61fe42a1564d44 44d65a7b7968a4ea
integer soup: 402f830d064d2899 882b369be6d68ab7 1f94f999dd7347a7
soup: df2f2c9fb65dd579 c84fd0eddba8f284 4575c42afdfea2d8
";
