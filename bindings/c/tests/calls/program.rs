//! `tests/scene.c`, built with the system's C compiler against the static and the shared library,
//! prints the same collisions as the Rust API; and valgrind has nothing to say about it. The
//! README's program is built and run by the README's commands.

use crate::twin::Twin;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn a_c_program_prints_the_same_collisions_as_the_rust_api() {
    let expected = Twin::run();
    // One answer only would prove little.
    assert!(expected.len() > 300, "{} collisions", expected.len());
    let pairs: BTreeSet<_> =
        expected.iter().filter_map(|line| line.split_whitespace().nth(2)).collect();
    assert!(pairs.len() > 40 && pairs.len() < 13 * 12 / 2, "{} different pairs", pairs.len());

    for (library, name) in [("libjostle_c.a", "scene-static"), ("libjostle_c.so", "scene-shared")] {
        let output = run(&mut Command::new(build(&scene(), library, name)));
        assert_eq!(lines(&output), expected, "linked with {library}");
    }
}

#[test]
fn the_c_program_is_clean_under_valgrind() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        let server = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(!server, "valgrind is missing; the server must not leave this test out");
        eprintln!("valgrind is not installed: memory was not checked");
        return;
    }
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=99", "--leak-check=full"]);
    valgrind.arg("--errors-for-leak-kinds=definite,indirect,possible");
    let output = run(valgrind.arg(build(&scene(), "libjostle_c.a", "scene-valgrind")));
    assert_eq!(lines(&output), Twin::run());
}

/// The shared library was linked without a path to find it when the program starts, so that the
/// README's program built and did not run.
#[test]
fn the_readmes_recipes_build_and_run_its_program_in_an_empty_folder() {
    let readme = std::fs::read_to_string(Path::new(ROOT).join("README.md")).expect("a README");
    let program = fenced(&readme, "c").pop().expect("a C program");
    let (cargo, recipes): (Vec<_>, Vec<_>) =
        fenced(&readme, "sh").into_iter().partition(|block| block.contains("cargo build"));
    assert_eq!((cargo.len(), recipes.len()), (1, 2), "build, link statically, link shared");
    let repository = repository();
    for (i, recipe) in recipes.into_iter().enumerate() {
        let folder = empty_folder(&format!("readme-{i}"));
        std::fs::write(folder.join("program.c"), program).expect("room for the program");
        let mut shell = Command::new("sh");
        shell.args(["-euc", recipe]).current_dir(&folder).env("JOSTLE", &repository);
        assert_eq!(run(shell.env_remove("LD_LIBRARY_PATH")), "1 collision\n", "{recipe}");
    }
}

/// The shared library had 17 MB, of which 15 were debug data.
#[test]
fn release_builds_have_no_debug_data() {
    let manifest = Path::new(ROOT).join("../../Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).expect("the workspace's manifest");
    let (_, profile) = manifest.split_once("[profile.release]\n").expect("a profile");
    let (profile, _) = profile.split_once("\n[").expect("another section");
    assert!(profile.contains("lto") && !profile.contains("debug ="), "{profile}");
}

/// The blocks of a document in one language.
fn fenced<'a>(document: &'a str, language: &str) -> Vec<&'a str> {
    let blocks = document.split("```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

/// A folder with header and libraries where a repository has them after `cargo build --release`:
/// those that this test was built with.
fn repository() -> PathBuf {
    let repository = empty_folder("repository");
    let link = |from: &Path, to: &str| {
        let to = repository.join(to);
        std::fs::create_dir_all(to.parent().expect("a path of several parts")).expect("a folder");
        std::os::unix::fs::symlink(from, to).expect("a link");
    };
    link(&Path::new(ROOT).join("include"), "bindings/c/include");
    link(&libraries(), "target/release");
    repository
}

fn empty_folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // It may not be there yet.
    let _old = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Cargo puts the libraries beside this test.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("a test is in a folder").to_owned()
}

fn scene() -> PathBuf {
    Path::new(ROOT).join("tests/scene.c")
}

/// Compiles and links a program.
fn build(source: &Path, library: &str, name: &str) -> PathBuf {
    let folder = libraries();
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-O1"]);
    // Both programs must round alike, and Rust never fuses.
    compiler.arg("-ffp-contract=off");
    compiler.arg("-I").arg(Path::new(ROOT).join("include")).arg(source);
    compiler.arg(folder.join(library)).arg(format!("-Wl,-rpath,{}", folder.display()));
    compiler.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program);
    run(&mut compiler);
    program
}

/// Runs a command to its end and gives what it printed.
fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(status.success(), "{command:?}: {status}\n{stdout}\n{stderr}");
    stdout
}

/// Sorted: C reports in the order of its ids, which are not those of the world.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    lines.sort_unstable();
    lines
}
