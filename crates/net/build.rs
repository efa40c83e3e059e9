//! Embeds the files of `web/dist`, if there are any, as a table for `src/edge/page.rs`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let web = here.join("../../web");
    let dist = web.join("dist");
    println!("cargo::rerun-if-changed=build.rs");
    if web.is_dir() {
        // A missing folder counts as always changed, and would cause a rebuild every time. Failing
        // to create it is harmless.
        let _made = fs::create_dir_all(&dist);
        println!("cargo::rerun-if-changed={}", dist.display());
    }
    let mut files = Vec::new();
    if dist.join("index.html").is_file() {
        list(&dist, &mut files)?;
    }
    files.sort();
    let mut table = String::from("static FILES: &[File] = &[\n");
    for file in files {
        let path = file.strip_prefix(&dist).map_err(io::Error::other)?;
        let path = path.to_string_lossy().replace('\\', "/");
        // The file names of vite contain a digest.
        let for_ever = path.starts_with("assets/");
        let path = format!("/{path}");
        let (kind, file) = (kind(&path), file.to_string_lossy());
        let line = writeln!(
            table,
            "File {{ path: {path:?}, kind: {kind:?}, for_ever: {for_ever}, \
             bytes: include_bytes!({file:?}) }},"
        );
        line.map_err(io::Error::other)?;
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("page.rs"), table)
}

/// All files below a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" | "webmanifest" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}
