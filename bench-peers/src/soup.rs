//! Triangles as all engines get them, and the files that they come from.

use anyhow::{Context, Result, bail};
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Vertices and triangles: the one thing that every engine is built from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Soup {
    pub(crate) vertices: Vec<[f32; 3]>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

impl Soup {
    /// Moves the middle of the bounding box to the origin.
    fn centred(mut self) -> Soup {
        let middle = std::array::from_fn(|k| {
            let axis = || self.vertices.iter().map(|v| v[k]);
            (axis().fold(f32::INFINITY, f32::min) + axis().fold(f32::NEG_INFINITY, f32::max)) / 2.0
        });
        self.map(|v| sub(v, middle));
        self
    }

    /// Centred and scaled so that the furthest vertex is at distance 1.
    pub(crate) fn in_unit_sphere(self) -> Soup {
        let mut soup = self.centred();
        let radius = soup.radius();
        soup.map(|v| v.map(|x| x / radius));
        soup
    }

    /// Centred and scaled uniformly into a cube of side 2.
    pub(crate) fn in_two_cube(self) -> Soup {
        let mut soup = self.centred();
        let half = soup.vertices.iter().flatten().fold(0.0_f32, |m, x| m.max(x.abs()));
        soup.map(|v| v.map(|x| x / half));
        soup
    }

    /// The largest distance of a vertex from the origin.
    pub(crate) fn radius(&self) -> f32 {
        self.vertices
            .iter()
            .map(|v| v.iter().map(|x| x * x).sum::<f32>().sqrt())
            .fold(0.0, f32::max)
    }

    /// Changes every vertex.
    pub(crate) fn map(&mut self, f: impl Fn([f32; 3]) -> [f32; 3]) {
        self.vertices.iter_mut().for_each(|v| *v = f(*v));
    }

    /// Splits a polygon into a fan. Good enough here: all engines get the same triangles.
    fn add_polygon(&mut self, corners: &[u32]) {
        for k in 2..corners.len() {
            self.triangles.push([corners[0], corners[k - 1], corners[k]]);
        }
    }
}

fn sub(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

/// Reads an OBJ, STL or PLY file; `None` for other endings.
pub(crate) fn read(path: &Path) -> Result<Option<Soup>> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    let soup = match ending.as_str() {
        "obj" => read_obj(path),
        "stl" => read_stl(path),
        "ply" => read_ply(path),
        _ => return Ok(None),
    }
    .with_context(|| format!("reading {}", path.display()))?;
    let vertices = soup.vertices.len();
    if let Some(face) = soup.triangles.iter().flatten().position(|&v| v as usize >= vertices) {
        bail!("{}: triangle {} names a missing vertex", path.display(), face / 3);
    }
    if soup.triangles.is_empty() {
        bail!("{}: no triangles", path.display());
    }
    Ok(Some(soup))
}

fn read_obj(path: &Path) -> Result<Soup> {
    let options = tobj::LoadOptions { triangulate: true, ..Default::default() };
    let (models, _) = tobj::load_obj(path, &options)?;
    let mut soup = Soup::default();
    for model in models {
        let first = soup.vertices.len() as u32;
        soup.vertices.extend(model.mesh.positions.as_chunks::<3>().0);
        let triangles = model.mesh.indices.as_chunks::<3>().0;
        soup.triangles.extend(triangles.iter().map(|t| t.map(|v| v + first)));
    }
    Ok(soup)
}

fn read_stl(path: &Path) -> Result<Soup> {
    let mesh = stl_io::read_stl(&mut BufReader::new(File::open(path)?))?;
    Ok(Soup {
        vertices: mesh.vertices.iter().map(|v| [v[0], v[1], v[2]]).collect(),
        triangles: mesh.faces.iter().map(|f| f.vertices.map(|v| v as u32)).collect(),
    })
}

fn read_ply(path: &Path) -> Result<Soup> {
    let ply = Parser::<DefaultElement>::new().read_ply(&mut BufReader::new(File::open(path)?))?;
    let mut soup = Soup::default();
    for vertex in ply.payload.get("vertex").context("no element `vertex`")? {
        let at = |name: &str| match vertex.get(name) {
            Some(Property::Float(x)) => Ok(*x),
            Some(Property::Double(x)) => Ok(*x as f32),
            other => bail!("coordinate {name} of a vertex is {other:?}, expected a number"),
        };
        soup.vertices.push([at("x")?, at("y")?, at("z")?]);
    }
    for face in ply.payload.get("face").context("no element `face`")? {
        let corners = match face.get("vertex_indices").or_else(|| face.get("vertex_index")) {
            Some(Property::ListInt(list)) => list.iter().map(|&v| v as u32).collect(),
            Some(Property::ListUInt(list)) => list.clone(),
            other => bail!("corners of a face are {other:?}, expected a list of integers"),
        };
        soup.add_polygon(&corners);
    }
    Ok(soup)
}
