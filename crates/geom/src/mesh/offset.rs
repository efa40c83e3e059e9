//! A solid that is larger or smaller by a distance, and proved to hold the other.
//!
//! Every vertex moves by the vector u that minimises Σ(nᵢ·u − d)² over the planes of its faces: for
//! a corner of three planes each of them moves by d, for more it is the best that one point can do.
//! That alone promises nothing: thin walls turn inside out, and corners
//! of saddles leave the solid. So the result is checked with the exact decisions, and vertices of
//! faces that fail move half as far, then a quarter, and so on. What is given back was checked:
//!
//! * no triangle of one surface touches the other surface, every part of the inner one has a vertex
//!   inside of the outer solid, and every part of the outer one has a vertex outside of the inner.
//!   A surface can only pass from inside to outside through the other, so all of the inner surface
//!   is inside; and what an inner surface encloses cannot reach beyond it, because the space
//!   outside of the outer solid is in parts too, each of which borders on a part of its surface;
//! * no face turned round, and no two faces meet that did not before.

use super::topology;
use super::{Mesh, MeshError, NotClosed, Vertices};
use crate::{FacePair, Model, Pair, Pose, PosedModel, Quality, Side};
use glam::{DMat3, DVec3};

/// How far an offset went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OffsetReport {
    /// The smallest distance between the two surfaces, up to rounding.
    pub at_least: f64,
    /// No point of the new surface is further from where it was: the largest move of a vertex. At
    /// sharp edges it is larger than the distance asked for, so that the faces move that far.
    pub at_most: f64,
    /// Vertices that moved less than they should, because the surface would have met itself, turned
    /// round, or left the other solid.
    pub held_back: usize,
}

/// Why a mesh has no offset.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OffsetError {
    /// The distance is NaN or infinite.
    #[error("an offset needs a distance that is finite, found {0}")]
    NotFinite(f64),
    /// A surface that is open has no inside.
    #[error("only a closed surface has an offset, and this one is {0}")]
    NotClosed(NotClosed),
    /// Where faces look inward and outward, no direction is outward.
    #[error("an offset needs faces that all look outward or all look inward; make them so first")]
    MixedFaces,
    /// The new coordinates are no mesh.
    #[error("the offset leaves the range of coordinates: {0}")]
    OutOfRange(MeshError),
    /// Vertices moved by a part of the distance that is too small to be of use, and the surfaces
    /// still meet: the solid is too thin here, or its faces cross.
    #[error(
        "no offset in this direction keeps the surfaces apart at face {face}: the solid is too \
         thin there, has a corner that no move takes off all its faces, or crosses itself"
    )]
    Stuck {
        /// The first face that fails.
        face: u32,
    },
}

/// Vertices move at least by this part of the distance: 2^-10. Less is of no use.
const HALVINGS_MAX: u32 = 10;

/// The pull towards not moving, per plane: decides where the planes leave a direction open, as
/// those of a flat fan do, and shortens moves by less than this part.
const PULL: f64 = 1e-7;

/// A corner moves at most this many times as far as its faces; a sharper tip is cut off.
const STRETCH_MAX: f64 = 6.0;

impl Mesh {
    /// The solid whose faces are `distance` further out, or further in if that is below zero. Its
    /// vertices, triangles and faces have the numbers of this mesh, its vertices are `f64`, and it
    /// is marked as solid.
    ///
    /// The larger of the two solids surely contains the smaller one, and their surfaces do not
    /// touch. Where the solid is too thin for the whole distance, the surface moves less, see
    /// [`OffsetReport`]; edges stay edges and are not rounded.
    ///
    /// An inward offset is how a part is tested that may overlap others by `distance`, because
    /// nominal geometry touches: whether the offset part touches is again an exact yes or no.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::solids;
    ///
    /// let cube = solids::cuboid(DVec3::ONE)?;
    /// let (smaller, report) = cube.offset(-0.125)?;
    /// assert!((smaller.volume().unwrap() - 0.75f64.powi(3)).abs() < 1e-6);
    /// assert!((report.at_least - 0.125).abs() < 1e-6 && report.held_back == 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`OffsetError`].
    pub fn offset(&self, distance: f64) -> Result<(Mesh, OffsetReport), OffsetError> {
        if !distance.is_finite() {
            return Err(OffsetError::NotFinite(distance));
        }
        let (place, _) = topology::places(&self.vertices);
        self.check_closed(&place).map_err(OffsetError::NotClosed)?;
        let volume = self.volume().ok_or(OffsetError::MixedFaces)?;
        let solid = Mesh { solid: true, ..self.clone() };
        if distance == 0.0 || self.triangles.is_empty() {
            return Ok((solid, OffsetReport { at_least: 0.0, at_most: 0.0, held_back: 0 }));
        }
        let outward = if volume < 0.0 { -distance } else { distance };
        let moves = self.moves(&place, outward);
        let old = Checked::of(solid);
        let mut halvings = vec![0u32; self.vertices.len()];
        loop {
            let new = old.moved(&moves, &halvings).map_err(OffsetError::OutOfRange)?;
            let bad = old.faults(&new, distance < 0.0);
            if bad.is_empty() {
                return Ok(old.finish(new, &place, &moves, &halvings));
            }
            let mut held: Vec<u32> = bad
                .iter()
                .flat_map(|&triangle| self.triangles[triangle as usize])
                .map(|vertex| place[vertex as usize])
                .collect();
            held.sort_unstable();
            held.dedup();
            held.iter().for_each(|&first| halvings[first as usize] += 1);
            if let Some(&first) =
                held.iter().find(|&&first| halvings[first as usize] > HALVINGS_MAX)
            {
                let of_vertex =
                    |corners: &[u32; 3]| corners.iter().any(|&v| place[v as usize] == first);
                let triangle = self.triangles.iter().position(of_vertex).unwrap_or(0);
                return Err(OffsetError::Stuck { face: self.face_of(triangle as u32) });
            }
            for vertex in 0..halvings.len() {
                halvings[vertex] = halvings[place[vertex] as usize];
            }
        }
    }

    /// Where each vertex goes from its place if nothing holds it back; zero if it is in no face
    /// with area.
    fn moves(&self, place: &[u32], distance: f64) -> Vec<DVec3> {
        let mut planes = vec![(DMat3::ZERO, DVec3::ZERO, 0u32); self.vertices.len()];
        for (triangle, corners) in self.triangles.iter().enumerate() {
            let Some(normal) = self.normal_of(triangle).try_normalize() else { continue };
            let square = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
            for &vertex in corners {
                let sums = &mut planes[place[vertex as usize] as usize];
                *sums = (sums.0 + square, sums.1 + normal, sums.2 + 1);
            }
        }
        let best = |&(squares, sum, count): &(DMat3, DVec3, u32)| {
            if count == 0 {
                return DVec3::ZERO;
            }
            let pull = DMat3::from_diagonal(DVec3::splat(PULL * f64::from(count)));
            let best = (squares + pull).inverse() * sum;
            best.clamp_length_max(STRETCH_MAX) * distance
        };
        let by_place: Vec<DVec3> = planes.iter().map(best).collect();
        place.iter().map(|&first| by_place[first as usize]).collect()
    }

    /// Twice the area in the direction of the normal; relative to a corner, so that nothing is lost
    /// far from zero.
    fn normal_of(&self, triangle: usize) -> DVec3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(c - a)
    }
}

/// A solid and what is asked about it several times.
struct Checked {
    mesh: Mesh,
    solid: Model,
    /// The same without an inside.
    surface: Model,
    /// Where the surface meets itself.
    own: Vec<FacePair>,
}

impl Checked {
    /// Each triangle is a face, so that answers name triangles.
    fn of(mesh: Mesh) -> Checked {
        let count = mesh.triangles.len();
        let by_triangle = Mesh { face_of_triangle: Vec::new(), face_count: count, ..mesh.clone() };
        let solid = Model::build(by_triangle, Quality::Fast);
        let mut surface = solid.clone();
        surface.mesh.solid = false;
        let own = PosedModel::new(&surface, &Pose::IDENTITY).self_intersections();
        Checked { mesh, solid, surface, own }
    }

    fn moved(&self, moves: &[DVec3], halvings: &[u32]) -> Result<Checked, MeshError> {
        let position = |vertex: usize| {
            self.mesh.vertices.at(vertex as u32) + moves[vertex] * part(halvings[vertex])
        };
        let vertices = Vertices::from_f64((0..moves.len()).map(position).collect())?;
        let mut mesh = self.mesh.clone();
        mesh.move_to(vertices)?;
        Ok(Checked::of(mesh))
    }

    /// Triangles that are not where they should be. Both meshes have the same triangles.
    fn faults(&self, new: &Checked, inward: bool) -> Vec<u32> {
        let turned = (0..self.mesh.triangles.len()).filter(|&triangle| {
            let (before, after) = (self.mesh.normal_of(triangle), new.mesh.normal_of(triangle));
            before != DVec3::ZERO && before.dot(after) <= 0.0
        });
        let mut bad: Vec<u32> = turned.map(|triangle| triangle as u32).collect();
        let fresh = new.own.iter().filter(|&pair| self.own.binary_search(pair).is_err());
        bad.extend(fresh.flat_map(|pair| [pair.a, pair.b]));
        let still = &Pose::IDENTITY;
        let touching = Pair::new(&self.surface, still, &new.surface, still).all_pairs();
        bad.extend(touching.iter().map(|pair| pair.b));
        if bad.is_empty() {
            let (outer, inner) = if inward { (self, new) } else { (new, self) };
            bad = misplaced(outer, inner);
        }
        bad
    }

    fn finish(
        &self,
        new: Checked,
        place: &[u32],
        moves: &[DVec3],
        halvings: &[u32],
    ) -> (Mesh, OffsetReport) {
        let still = &Pose::IDENTITY;
        let apart = Pair::new(&self.surface, still, &new.surface, still).distance();
        let far = |vertex: usize| moves[vertex].length() * part(halvings[vertex]);
        let used = |vertex: &usize| place[*vertex] as usize == *vertex;
        let all = || (0..place.len()).filter(used);
        let report = OffsetReport {
            at_least: apart.map_or(0.0, |apart| apart.distance),
            at_most: all().map(far).fold(0.0, f64::max),
            held_back: all().filter(|&vertex| halvings[vertex] > 0).count(),
        };
        (new.mesh, report)
    }
}

fn part(halvings: u32) -> f64 {
    0.5f64.powi(halvings as i32)
}

/// Triangles of parts that lie on the wrong side, for surfaces that do not touch.
fn misplaced(outer: &Checked, inner: &Checked) -> Vec<u32> {
    let wrong = |of: &Checked, other: &Checked, expected: Side| -> Vec<u32> {
        let placed = PosedModel::new(&other.solid, &Pose::IDENTITY);
        let parts = of.mesh.component_vertices.iter().copied();
        parts.filter(|&v| placed.contains(of.mesh.vertices.at(v)) != Ok(expected)).collect()
    };
    let mut vertices = wrong(inner, outer, Side::Inside);
    vertices.extend(wrong(outer, inner, Side::Outside));
    let mesh = &inner.mesh;
    let numbers = (0u32..).zip(&mesh.triangles);
    numbers
        .filter(|(_, corners)| corners.iter().any(|corner| vertices.contains(corner)))
        .map(|(triangle, _)| triangle)
        .collect()
}
