//! What the tests of the command share: a folder with files, and the command run in it.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

use glam::DVec3;
use jostle_geom::{Model, Pose, Quality};
use jostle_scene::{Format, load};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for each test, gone at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("jostle-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let folder = Folder(path);
        folder.write("cube.obj", CUBE);
        folder
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), content).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn jostle(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_jostle")).args(args).current_dir(&self.0).output().unwrap()
    }

    pub(crate) fn text(&self, args: &[&str]) -> String {
        let output = self.jostle(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.jostle(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// What the command says when it refuses.
    pub(crate) fn refusal(&self, args: &[&str]) -> String {
        let output = self.jostle(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        stderr(&output)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder left behind in the temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The unit cube, of squares.
pub(crate) const CUBE: &str = "\
v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/// The cube as the library has it.
pub(crate) fn cube_model() -> Model {
    let mesh = load(CUBE.as_bytes(), Format::Obj).unwrap().into_mesh().unwrap();
    Model::build(mesh, Quality::Default)
}

pub(crate) fn pose(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z)).unwrap()
}

/// What an experiment of the laboratory measured.
pub(crate) fn rows(json: &Value) -> &[Value] {
    json["rows"].as_array().expect("rows")
}

/// A number of a row. What is not finite is none in JSON, and panics.
pub(crate) fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("{field}: {row}"))
}

/// Experiments refuse each of these values of an option.
pub(crate) fn lab_refuses(folder: &Folder, values: &[(&str, &str, &str)]) {
    for (experiment, option, value) in values {
        folder.refusal(&["lab", experiment, option, value]);
    }
}

/// A plot that cannot be written is reported before anything is measured.
pub(crate) fn lab_refuses_plots(folder: &Folder, experiments: &[&str]) {
    for experiment in experiments {
        let refusal = folder.refusal(&["lab", experiment, "--svg", "missing/plot.svg"]);
        assert!(refusal.contains("missing/plot.svg: cannot be written"), "{refusal}");
    }
}

pub(crate) fn contains_all(text: &str, words: &[&str]) {
    words.iter().for_each(|word| assert!(text.contains(word), "{word}: {text}"));
}

/// Every one of the fields was measured. How long something takes is not asserted.
pub(crate) fn are_measured(row: &Value, fields: &[&str]) {
    fields.iter().for_each(|field| assert!(number(row, field).is_finite(), "{field}: {row}"));
}

/// The elements of a plot; panics if it is no well-formed XML.
pub(crate) fn count_in_svg(folder: &Folder, file: &str, class: &str) -> usize {
    let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    assert_eq!(document.root_element().tag_name().name(), "svg");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    let classes = document.descendants().filter_map(|node| node.attribute("class"));
    classes.filter(|classes| classes.split(' ').any(|word| word == class)).count()
}

pub(crate) fn lines_in_svg(folder: &Folder, file: &str) -> usize {
    count_in_svg(folder, file, "line")
}
