//! Which files a scene gets: those below its folder, regular ones, of a bounded size. The story: a
//! scene of a stranger named any file of the machine, and `serve` published it.

mod common;

use common::{Folder, stderr};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const SECRET: &str = "the-secret-of-the-house";

/// Three corners of a triangle, as glTF has them, with a secret behind them.
fn buffer() -> Vec<u8> {
    let corners = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let mut bytes: Vec<u8> = corners.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend(SECRET.as_bytes());
    bytes
}

/// A triangle whose corners are in this file.
fn triangle(uri: &str) -> String {
    format!(
        r#"{{ "asset": {{ "version": "2.0" }}, "scene": 0, "scenes": [ {{ "nodes": [0] }} ],
        "nodes": [ {{ "mesh": 0 }} ],
        "meshes": [ {{ "primitives": [ {{ "attributes": {{ "POSITION": 0 }} }} ] }} ],
        "accessors": [ {{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
        "min": [0, 0, 0], "max": [1, 1, 0] }} ],
        "bufferViews": [ {{ "buffer": 0, "byteLength": 36 }} ],
        "buffers": [ {{ "uri": "{uri}", "byteLength": 36 }} ] }}"#
    )
}

/// A folder with a scene in `scene/`, and beside it what is none of its business.
struct House(Folder);

impl House {
    fn new(name: &str) -> House {
        let folder = Folder::new(&format!("files-{name}"));
        std::fs::create_dir_all(folder.path().join("scene/parts")).unwrap();
        folder.write("secret.bin", buffer());
        folder.write("secret.wrl", format!("{SECRET} {SECRET}\n"));
        let part = "#VRML V2.0 utf8\nPROTO Part [] { Shape { geometry Box {} } }\nPart {}\n";
        folder.write("part.wrl", part);
        folder.write("scene/parts/part.wrl", part);
        folder.write("scene/inside.bin", buffer());
        folder.write("scene/cube.obj", common::CUBE);
        House(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn full(&self, name: &str) -> String {
        self.path(name).canonicalize().unwrap().display().to_string()
    }

    /// Runs a command that must end by itself, whatever it is asked to read.
    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jostle"));
        command.args(args).current_dir(self.0.path());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > until {
                child.kill().unwrap();
                panic!("{args:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output().unwrap()
    }

    /// It is refused with these words, and without the secret.
    fn refuses(&self, args: &[&str], words: &str) {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        self.message(&output, args, words);
    }

    /// It is left out with these words, and without the secret.
    fn leaves_out(&self, args: &[&str], words: &str) {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
        self.message(&output, args, words);
    }

    fn message(&self, output: &Output, args: &[&str], words: &str) {
        let message = stderr(output);
        assert!(message.contains(words), "{args:?}: {message}, expected {words}");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(
            !message.contains(SECRET) && !printed.contains(SECRET),
            "{args:?}: {message}{printed}"
        );
    }
}

const OUTSIDE: &str = "it is outside the folder of the scene (--allow-outside permits it)";

#[test]
fn no_command_reads_a_buffer_outside_the_folder_of_the_scene() {
    let house = House::new("buffers");
    let full = house.full("secret.bin");
    let file = format!("file://{full}");
    for uri in ["../secret.bin", "parts/../../secret.bin", "..%2fsecret.bin", &full, &file] {
        house.0.write("scene/a.gltf", triangle(uri));
        for args in [
            &["check", "scene/a.gltf"][..],
            &["check", "scene/cube.obj", "scene/a.gltf"],
            &["run", "scene/a.gltf", "--steps", "1"],
            &["mesh", "scene/a.gltf"],
            &["pair", "scene/a.gltf", "scene/cube.obj"],
            &["serve", "--scene", "scene/a.gltf", "--listen", "127.0.0.1:0", "--web", "none"],
        ] {
            house.refuses(args, OUTSIDE);
        }
        for args in [&["check", "scene/a.gltf"][..], &["mesh", "scene/a.gltf"]] {
            let output = house.run(&[args, &["--allow-outside"]].concat());
            assert_eq!(output.status.code(), Some(0), "{uri}: {output:?}");
        }
    }
    for uri in ["inside.bin", "./parts/../inside.bin", &house.full("scene/inside.bin")] {
        house.0.write("scene/a.gltf", triangle(uri));
        let output = house.run(&["mesh", "scene/a.gltf"]);
        assert_eq!(output.status.code(), Some(0), "{uri}: {output:?}");
    }
}

#[test]
fn what_vrml_brings_in_is_below_the_folder_of_the_scene() {
    let house = House::new("vrml");
    let check = ["check", "scene/a.wrl", "--json"];
    let full = house.full("part.wrl");
    for url in ["../part.wrl", &full, &format!("file://{full}"), "../none.wrl", "/etc/passwd"] {
        let inline = format!("#VRML V2.0 utf8\nInline {{ url \"{url}\" }}\n");
        house.0.write("scene/a.wrl", inline);
        house.leaves_out(&check, OUTSIDE);
        let proto = format!("#VRML V2.0 utf8\nEXTERNPROTO Part [] \"{url}\"\nPart {{}}\n");
        house.0.write("scene/a.wrl", proto);
        house.leaves_out(&check, OUTSIDE);
    }
    // What is below it may bring in what is beside it, but not more.
    let nested = "#VRML V2.0 utf8\nInline { url \"../../part.wrl\" }\n";
    house.0.write("scene/parts/nested.wrl", nested);
    house.0.write("scene/a.wrl", "#VRML V2.0 utf8\nInline { url \"parts/nested.wrl\" }\n");
    house.leaves_out(&check, OUTSIDE);
    let output = house.run(&[&check[..], &["--allow-outside"]].concat());
    assert!(!stderr(&output).contains("outside"), "{output:?}");
    house.0.write("scene/a.wrl", "#VRML V2.0 utf8\nInline { url \"parts/part.wrl\" }\n");
    let output = house.run(&check);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn errors_do_not_repeat_what_is_in_a_file_that_a_scene_names() {
    let house = House::new("quotes");
    for bring in ["Inline { url \"../secret.wrl\" }", "EXTERNPROTO P [] \"../secret.wrl\"\nP {}"] {
        house.0.write("scene/a.wrl", format!("#VRML V2.0 utf8\n{bring}\n"));
        let args = ["check", "scene/a.wrl", "--allow-outside"];
        house.refuses(&args, "secret.wrl\": line 1");
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_that_leads_out_of_the_folder_is_outside() {
        let house = House::new("links");
        symlink(house.path("secret.bin"), house.path("scene/linked.bin")).unwrap();
        symlink("..", house.path("scene/up")).unwrap();
        symlink("inside.bin", house.path("scene/alias.bin")).unwrap();
        for uri in ["linked.bin", "up/secret.bin"] {
            house.0.write("scene/a.gltf", triangle(uri));
            house.refuses(&["mesh", "scene/a.gltf"], OUTSIDE);
        }
        house.0.write("scene/a.gltf", triangle("alias.bin"));
        let output = house.run(&["mesh", "scene/a.gltf"]);
        assert!(output.status.success(), "{output:?}");
        // A link to a scene: its folder is that which the link leads to.
        symlink("scene/a.gltf", house.path("alias.gltf")).unwrap();
        let output = house.run(&["mesh", "alias.gltf"]);
        assert!(output.status.success(), "{output:?}");
    }

    /// The story: `/dev/zero` filled the memory, a pipe was waited for without end.
    #[test]
    fn pipes_and_devices_are_not_read() {
        let house = House::new("devices");
        let made = Command::new("mkfifo").arg(house.path("scene/pipe.bin")).status().unwrap();
        assert!(made.success());
        symlink("/dev/zero", house.path("scene/zero.bin")).unwrap();
        for uri in ["pipe.bin", "parts", "/dev/zero", "zero.bin"] {
            house.0.write("scene/a.gltf", triangle(uri));
            for more in [&[][..], &["--allow-outside"]] {
                let is_outside = uri.contains("zero") && more.is_empty();
                let words = if is_outside { OUTSIDE } else { "it is not a regular file" };
                house.refuses(&[&["mesh", "scene/a.gltf"], more].concat(), words);
            }
        }
        for device in ["/dev/zero", "/dev/null", "."] {
            house.refuses(&["mesh", device], "it is not a regular file");
            house.refuses(&["check", device], "it is not a regular file");
        }
    }

    #[test]
    fn what_has_no_end_is_not_read_to_it() {
        let house = House::new("endless");
        // Sparse: it takes no room.
        let endless = std::fs::File::create(house.path("scene/endless.bin")).unwrap();
        endless.set_len(5 << 30).unwrap();
        house.0.write("scene/a.gltf", triangle("endless.bin"));
        house.refuses(&["mesh", "scene/a.gltf"], "more than 4294967296 bytes");
        house.refuses(&["mesh", "scene/endless.bin"], "more than 4294967296 bytes");
    }

    #[test]
    fn an_assembly_names_files_below_its_folder_only() {
        let house = House::new("assembly");
        symlink(house.path("part.wrl"), house.path("scene/linked.wrl")).unwrap();
        let full = house.full("part.wrl");
        for file in ["../part.wrl", &full, "linked.wrl"] {
            house.0.write(
                "scene/all.json",
                format!(r#"{{ "parts": [ {{ "file": "cube.obj" }}, {{ "file": "{file}" }} ] }}"#),
            );
            house.refuses(&["check", "scene/all.json"], OUTSIDE);
            let output = house.run(&["check", "scene/all.json", "--allow-outside"]);
            assert_eq!(output.status.code(), Some(0), "{file}: {output:?}");
        }
        // A part may name what is elsewhere below the folder of the assembly, and nothing beyond.
        house.0.write("scene/all.json", r#"{ "parts": [ { "file": "parts/a.gltf" } ] }"#);
        house.0.write("scene/parts/a.gltf", triangle("../inside.bin"));
        let output = house.run(&["check", "scene/all.json"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        house.0.write("scene/parts/a.gltf", triangle("../../secret.bin"));
        house.refuses(&["check", "scene/all.json"], OUTSIDE);
    }

    /// The story: with `--hierarchies`, a scene wrote through links, and over what is no hierarchy.
    #[test]
    fn a_scene_writes_hierarchies_and_over_nothing_else() {
        let house = House::new("hierarchies");
        std::fs::create_dir(house.path("kept")).unwrap();
        let scene = |name: &str| {
            house.0.write(
                "scene/ball.wrl",
                format!(
                    "#VRML V2.0 utf8
                    DEF A Transform {{ children Shape {{ hierarchyFile \"{name}\"
                      geometry Sphere {{}} }} }}
                    DEF B Transform {{ translation 1 0 0 children Shape {{ geometry Box {{}} }} }}"
                ),
            );
            stderr(&house.run(&["check", "scene/ball.wrl", "--hierarchies", "kept"]))
        };
        symlink(house.path("secret.wrl"), house.path("kept/linked.tree")).unwrap();
        symlink(house.path("new.txt"), house.path("kept/dangling.tree")).unwrap();
        std::fs::write(house.path("kept/Makefile"), "all:\n").unwrap();
        for name in ["linked.tree", "dangling.tree", "Makefile"] {
            let message = scene(name);
            assert!(message.contains("warning: cannot be written"), "{name}: {message}");
        }
        assert!(scene(".bashrc").contains("not a plain name"));
        assert!(std::fs::read_to_string(house.path("secret.wrl")).unwrap().starts_with(SECRET));
        assert!(!house.path("new.txt").exists());
        assert_eq!(std::fs::read(house.path("kept/Makefile")).unwrap(), b"all:\n");
        assert_eq!(std::fs::read_dir(house.path("kept")).unwrap().count(), 3);
        assert!(!scene("good.tree").contains("good.tree"));
        assert!(std::fs::metadata(house.path("kept/good.tree")).unwrap().len() > 48);
    }
}
