//! Meshes from files, as a program that uses the crate loads them.

use jostle::{LoadMesh, Mesh};
use std::path::PathBuf;

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("jostle-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_format_becomes_one_mesh() {
    let folder = Folder::new("formats");
    let obj = folder.write("tile.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    let stl = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\
               vertex 0 1 0\nendloop\nendfacet\nendsolid s\n";
    let stl = folder.write("tile.stl", stl);
    let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
               property float z\nelement face 1\nproperty list uchar int vertex_indices\n\
               end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    let ply = folder.write("tile.ply", ply);
    let wrl = "#VRML V2.0 utf8\nShape { geometry Box {} }\nInline { url \"more%20boxes.wrl\" }\n";
    let wrl = folder.write("boxes.wrl", wrl);
    let more =
        "#VRML V2.0 utf8\nTransform { translation 5 0 0 children Shape { geometry Box {} } }";
    folder.write("more boxes.wrl", more);
    for (path, faces) in [(obj, 1), (stl, 1), (ply, 1), (wrl, 12)] {
        let mesh = Mesh::load(&path).unwrap();
        assert_eq!(mesh.face_count(), faces, "{}", path.display());
    }
}

#[test]
fn errors_name_the_file_and_the_place() {
    let folder = Folder::new("errors");
    let bad = folder.write("bad.obj", "v 0 0 0\nv 0 zero 0\n");
    let unknown = folder.write("notes.txt", "nothing to see");
    let missing = folder.0.join("missing.stl");
    for (path, place) in [(bad, "line 2"), (unknown, "OBJ"), (missing, "")] {
        let message = Mesh::load(&path).unwrap_err().to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
        assert!(message.contains(place), "{message}");
    }
}
