//! The objects that methods are measured with, at any number of triangles.

use crate::Hyperboloid;
use glam::{DQuat, Vec3};
use jostle_geom::solids::{self, BumpyTorus, SolidError};
use jostle_geom::{Mesh, MeshError};

/// What a mesh is of. Sphere, torus and hyperboloid are the thesis' own (its car parts are not
/// public); the others are harder or flatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solid {
    /// A ball.
    Sphere,
    /// A ring, its tube four tenths of it.
    Torus,
    /// A tube with a waist, open at both ends.
    Hyperboloid,
    /// A ring in waves: many near contacts at a time.
    Bumpy,
    /// Sierpiński's tetrahedron: boxes overlap everywhere, triangles hardly anywhere.
    Flake,
    /// A cone of long thin triangles.
    Cone,
}

/// The finest tolerance of a cone of this size in 32-bit coordinates is 2.4e-7.
const CONE_SAG: f64 = 3e-7;

impl Solid {
    /// All of them.
    pub const ALL: [Solid; 6] =
        [Solid::Sphere, Solid::Torus, Solid::Hyperboloid, Solid::Bumpy, Solid::Flake, Solid::Cone];

    /// What tables call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Solid::Sphere => "sphere",
            Solid::Torus => "torus",
            Solid::Hyperboloid => "hyperboloid",
            Solid::Bumpy => "bumpy",
            Solid::Flake => "flake",
            Solid::Cone => "cone",
        }
    }

    /// About so many triangles; a flake has a power of four, and a cone at most some 8000, because
    /// 32-bit coordinates have no room for more corners on its rim.
    ///
    /// # Errors
    /// More triangles than [`solids::TRIANGLES_MAX`].
    pub fn mesh(self, triangles: usize) -> Result<Mesh, SolidError> {
        let n = triangles.max(16) as f64;
        match self {
            // A tolerance of 1/m² gives 8 m² triangles.
            Solid::Sphere => solids::sphere(1.0, 8.0 / n),
            Solid::Torus => {
                let across = (n / 5.0).sqrt().round().max(3.0);
                BumpyTorus::plain(1.0, 0.4, [(2.5 * across) as u32, across as u32]).mesh()
            }
            Solid::Hyperboloid => {
                let along = (n / 4.0).sqrt().round().max(2.0) as u32;
                let cells = [2 * along, along];
                Hyperboloid { waist: 1.0 / 3.0, rim: 1.0, height: 2.0, cells, capped: false }.mesh()
            }
            Solid::Bumpy => {
                let across = (n / 5.0).sqrt().round().max(3.0);
                let cells = [(2.5 * across) as u32, across as u32];
                let (amplitude, waves) = (0.3, 7.0);
                BumpyTorus { major: 1.0, minor: 0.3, cells, amplitude, waves, phase: 0.0 }.mesh()
            }
            Solid::Flake => solids::tetra_flake((n.log2() / 2.0 - 1.0).round().max(1.0) as u32),
            // Twice as many triangles as corners; a tolerance of s gives π / acos(1 − s).
            Solid::Cone => {
                let sag = 1.0 - (2.0 * std::f64::consts::PI / n).cos() + 1e-7;
                solids::cone(1.0, 2.0, sag.max(CONE_SAG))
            }
        }
    }
}

/// The mesh turned, and then scaled and moved uniformly into the cube from −1 to 1.
///
/// # Errors
/// A mesh that has numbers which cannot be turned in 32 bits.
pub fn oriented(mesh: &Mesh, rotation: DQuat) -> Result<Mesh, MeshError> {
    let turned: Vec<_> = mesh.vertices().iter().map(|v| rotation * v.as_dvec3()).collect();
    let first = turned.first().copied().unwrap_or_default();
    let (low, high) =
        turned.iter().fold((first, first), |(low, high), &v| (low.min(v), high.max(v)));
    let (centre, half) = ((low + high) * 0.5, ((high - low) * 0.5).max_element());
    let scale = if half > 0.0 { 1.0 / half } else { 1.0 };
    let vertices: Vec<Vec3> = turned.iter().map(|&v| ((v - centre) * scale).as_vec3()).collect();
    // The faces stay as they are, also those that are cut into triangles.
    let mut mesh = mesh.clone();
    mesh.set_vertices(&vertices)?;
    Ok(mesh)
}
