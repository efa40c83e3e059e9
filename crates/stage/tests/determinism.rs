//! The same scene gives the same world on every machine and for any number of threads.

mod common;

use common::{send, stage_events};
use jostle_scene::{Fetched, Key, Reading, Value, read};
use jostle_stage::{HierarchyFiles, Stage, StageOptions};
use jostle_world::Workers;
use std::path::{Path, PathBuf};

fn scenes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

fn stage_of(file: &str, threads: usize) -> Stage {
    let bytes = std::fs::read(scenes().join(file)).unwrap();
    let mut fetch = |address: &str, _: &str| {
        let bytes = std::fs::read(scenes().join(address)).map_err(|error| error.to_string())?;
        Ok(Fetched { name: address.to_string(), bytes })
    };
    let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
    let scene = read(file, &bytes, &mut reading).unwrap().scene;
    let options =
        StageOptions { workers: Workers::new(threads).unwrap(), ..StageOptions::default() };
    Stage::new(scene, options, &mut HierarchyFiles::default()).unwrap()
}

/// Sends the events of a scene's script at its steps.
fn act(stage: &mut Stage, file: &str, step: usize) {
    let key = |value| Key { value, state: 0 };
    match (file, step) {
        ("steer.wrl", 1) => drop(stage.play_mut().key(key(4116))),
        ("steer.wrl", 90) => drop(stage.play_mut().key(key(4115))),
        ("switch-lod.wrl", 60) => send(stage, "GATE", "whichChoice", Value::Int(1)),
        _ => {}
    }
}

/// Runs a scene; the hash after each step and all stage events.
fn run(file: &str, steps: usize, threads: usize) -> (Vec<u64>, Vec<String>) {
    let mut stage = stage_of(file, threads);
    let (mut hashes, mut events) = (vec![stage.world().hash()], stage_events(&stage));
    for step in 1..=steps {
        act(&mut stage, file, step);
        stage.step(1.0 / 32.0).unwrap();
        hashes.push(stage.world().hash());
        events.extend(stage_events(&stage).into_iter().map(|line| format!("{step} {line}")));
    }
    (hashes, events)
}

/// The sample scenes: steps, the number of stage events, the hash at the end.
///
/// To renew: run `cargo test -p jostle-stage --test determinism`, which prints the table as it is
/// now. It changes when a scene, a hierarchy, a response or what is saved of a world changes; a
/// change that has another reason is a mistake. (What turns between two rotations needs arc
/// tangents and sines, whose last bit the platform decides.)
const GOLDEN: [(&str, usize, usize, u64); 7] = [
    ("car.wrl", 2, 0, 0x0b3b_ad0d_eb19_e8ae),
    ("ignore.wrl", 128, 8, 0x4056_c213_13f1_585a),
    ("steer.wrl", 160, 4, 0x4408_fe6b_6bf5_e4bc),
    ("switch-lod.wrl", 400, 10, 0xbcd5_81a3_70a1_631b),
    ("ten-objects-small.wrl", 200, 83, 0x9a5e_2867_6aaf_5ab1),
    ("ten-objects-medium.wrl", 200, 94, 0x269b_3171_4331_4292),
    ("ten-objects-large.wrl", 100, 50, 0xfefe_9a84_11b1_0274),
];

#[test]
fn scenes_end_as_they_always_did() {
    let found = GOLDEN.map(|(file, steps, ..)| {
        let (hashes, events) = run(file, steps, 1);
        (file, steps, events.len(), hashes[steps])
    });
    let table: Vec<String> =
        found.iter().map(|(f, s, t, h)| format!("    (\"{f}\", {s}, {t}, {h:#018x}),")).collect();
    assert_eq!(found, GOLDEN, "now it is\n{}", table.join("\n"));
}

#[test]
fn threads_change_nothing() {
    for (file, steps) in [("ten-objects-small.wrl", 100), ("ignore.wrl", 40), ("steer.wrl", 100)] {
        let alone = run(file, steps, 1);
        for threads in [2, 3] {
            assert!(run(file, steps, threads) == alone, "{file} with {threads} threads");
        }
    }
}

/// Every scene that a person may want to try has a line in the table.
#[test]
fn no_sample_is_forgotten() {
    for entry in std::fs::read_dir(scenes()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = GOLDEN.iter().any(|(file, ..)| *file == name);
        assert!(known || name == "collision-object.wrl", "{name}");
    }
}
