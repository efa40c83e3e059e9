//! The sample scenes, and the files that scenes name.

mod common;

use common::{Folder, stderr};

fn samples() -> String {
    format!("{}/../../scenes", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_ten_objects_are_as_the_command_writes_them() {
    let folder = Folder::new("scenes-ten");
    folder.text(&["lab", "ten-objects", "--write", "."]);
    for size in ["small", "medium", "large"] {
        let name = format!("ten-objects-{size}.wrl");
        let written = std::fs::read_to_string(folder.path().join(&name)).unwrap();
        let kept = std::fs::read_to_string(format!("{}/{name}", samples())).unwrap();
        assert!(written == kept, "{name} is another one; see its first lines");
    }
}

#[test]
fn every_sample_is_read_without_a_word() {
    let folder = Folder::new("scenes-read");
    let entries: Vec<_> = std::fs::read_dir(samples()).unwrap().collect();
    assert!(entries.len() > 5, "only {} samples", entries.len());
    for entry in entries {
        let path = entry.unwrap().path().display().to_string();
        for command in ["check", "run"] {
            let output = folder.jostle(&[command, &path]);
            assert_eq!(output.status.code(), Some(0), "{command} {path}");
            assert_eq!(stderr(&output), "", "{command} {path}");
        }
    }
}

/// A ball with a hierarchy in a file, and a cube.
fn with_file(name: &str) -> String {
    format!(
        "#VRML V2.0 utf8\nDEF A Transform {{ children Shape {{ hierarchyFile \"{name}\"
           geometry Sphere {{}} }} }}
         DEF B Transform {{ translation 1 0 0 children Shape {{ geometry Box {{}} }} }}"
    )
}

#[test]
fn hierarchies_are_written_and_read_where_the_user_says() {
    let folder = Folder::new("scenes-hierarchy");
    folder.write("ball.wrl", with_file("ball.tree"));
    std::fs::create_dir(folder.path().join("kept")).unwrap();
    let file = folder.path().join("kept/ball.tree");
    let plain = folder.text(&["check", "ball.wrl", "--json"]);
    assert!(!file.exists() && !folder.path().join("ball.tree").exists());
    let args = ["check", "ball.wrl", "--json", "--hierarchies", "kept"];
    assert_eq!(folder.text(&args), plain);
    let written = std::fs::read(&file).unwrap();
    assert!(!written.is_empty());
    // It is read: what is in the file stays as it is; what does not fit is written anew.
    let before = std::fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(folder.text(&args), plain);
    assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), before);
    for damaged in [&[][..], &written[..written.len() / 2]] {
        std::fs::write(&file, damaged).unwrap();
        assert_eq!(folder.text(&args), plain);
        assert_eq!(std::fs::read(&file).unwrap(), written);
    }
}

#[test]
fn a_scene_does_not_write_outside_the_folder() {
    let folder = Folder::new("scenes-outside");
    std::fs::create_dir(folder.path().join("kept")).unwrap();
    let outside = folder.path().join("outside.tree").display().to_string();
    for name in ["../outside.tree", &outside, "..", "./../outside.tree"] {
        folder.write("ball.wrl", with_file(name));
        let output = folder.jostle(&["check", "ball.wrl", "--hierarchies", "kept"]);
        assert_eq!(output.status.code(), Some(0), "{name}");
        assert!(stderr(&output).contains("not a plain name"), "{name}: {}", stderr(&output));
        assert!(!folder.path().join("outside.tree").exists(), "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path().join("kept")).unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_not_there_is_warned_about() {
    let folder = Folder::new("scenes-nowhere");
    folder.write("ball.wrl", with_file("ball.tree"));
    let output = folder.jostle(&["check", "ball.wrl", "--hierarchies", "nowhere"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("cannot be written"), "{}", stderr(&output));
}
