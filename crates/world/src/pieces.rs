//! Cutting large static meshes into pieces.
//!
//! A landscape in one body has one box, which everything is in. In pieces, only those near a body
//! are looked at (V-COLLIDE §4.4). Pieces never collide with each other: they are of one family.

use crate::{Body, BodyId, World, WorldError};
use jostle_geom::{Mesh, MeshError, Model, Pose, Quality, Shape};

/// A part of a mesh.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its triangles; triangle i is face i.
    pub mesh: Mesh,
    /// Which face of the whole each of them comes from.
    pub faces: Vec<u32>,
}

/// Cuts a mesh into pieces of at most `triangles_max` triangles (at least one), that are near each
/// other. Together they are the surface of the whole; a piece of a solid is not solid, so what lies
/// inside without touching the surface is not found by pieces.
///
/// ```
/// use glam::DVec2;
/// use jostle_geom::solids;
/// use jostle_world::pieces;
///
/// let ground = solids::grid(DVec2::splat(100.0), [100, 100], |_| 0.0)?;
/// let pieces = pieces::cut(&ground, 1000)?;
/// assert_eq!(pieces.iter().map(|piece| piece.faces.len()).sum::<usize>(), 20_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// None that a mesh could cause; what makes meshes may refuse numbers.
pub fn cut(whole: &Mesh, triangles_max: usize) -> Result<Vec<Piece>, MeshError> {
    let mut triangles: Vec<u32> = (0..whole.triangle_count() as u32).collect();
    let mut runs = Vec::new();
    divide(whole, &mut triangles, triangles_max.max(1), &mut runs);
    let mut pieces = Vec::with_capacity(runs.len());
    let mut new_number = vec![u32::MAX; whole.vertices().len()];
    let mut from = 0;
    for length in runs {
        let run = &triangles[from..from + length];
        from += length;
        pieces.push(piece(whole, run, &mut new_number)?);
    }
    Ok(pieces)
}

/// Inserts a large mesh into a world as fixed bodies of at most `triangles_max` triangles each, all
/// of the given family. Returns them with the faces of the whole that their faces are.
///
/// # Errors
/// As [`cut`] and [`World::insert`].
pub fn insert(
    world: &mut World,
    whole: &Mesh,
    pose: Pose,
    family: u32,
    triangles_max: usize,
) -> Result<Vec<(BodyId, Vec<u32>)>, PiecesError> {
    let mut bodies = Vec::new();
    for Piece { mesh, faces } in cut(whole, triangles_max)? {
        let shape = Shape::mesh(Model::build(mesh, Quality::Default));
        let id = world.insert(Body::fixed(shape, pose).with_family(family))?;
        bodies.push((id, faces));
    }
    Ok(bodies)
}

/// Why a mesh could not be inserted in pieces.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PiecesError {
    /// A piece is no mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The world refused a body.
    #[error(transparent)]
    World(#[from] WorldError),
}

/// Halves along the longest axis of the triangles' middles until runs are short enough.
fn divide(whole: &Mesh, triangles: &mut [u32], most: usize, runs: &mut Vec<usize>) {
    if triangles.len() <= most {
        if !triangles.is_empty() {
            runs.push(triangles.len());
        }
        return;
    }
    let middle = |&t: &u32| {
        let [a, b, c] = whole.triangles()[t as usize].map(|v| whole.vertices()[v as usize]);
        (a.as_dvec3() + b.as_dvec3() + c.as_dvec3()) / 3.0
    };
    let first = middle(&triangles[0]);
    let (low, high) = triangles
        .iter()
        .map(middle)
        .fold((first, first), |(low, high), m| (low.min(m), high.max(m)));
    let size = high - low;
    let axis = (0..3).fold(0, |best, axis| if size[axis] > size[best] { axis } else { best });
    let half = triangles.len() / 2;
    triangles.select_nth_unstable_by(half, |a, b| {
        middle(a)[axis].total_cmp(&middle(b)[axis]).then(a.cmp(b))
    });
    let (left, right) = triangles.split_at_mut(half);
    divide(whole, left, most, runs);
    divide(whole, right, most, runs);
}

/// `new_number` is all unset, and so again afterwards.
fn piece(whole: &Mesh, run: &[u32], new_number: &mut [u32]) -> Result<Piece, MeshError> {
    let mut vertices = Vec::new();
    let mut used = Vec::new();
    let mut triangles = Vec::with_capacity(run.len());
    for &t in run {
        triangles.push(whole.triangles()[t as usize].map(|v| {
            let number = &mut new_number[v as usize];
            if *number == u32::MAX {
                *number = vertices.len() as u32;
                vertices.push(whole.vertices()[v as usize]);
                used.push(v);
            }
            *number
        }));
    }
    used.iter().for_each(|&v| new_number[v as usize] = u32::MAX);
    let faces = run.iter().map(|&t| whole.face_of(t)).collect();
    Ok(Piece { mesh: Mesh::from_triangles(vertices, triangles)?, faces })
}
