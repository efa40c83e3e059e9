//! Vertices that are almost at the same place become one, within a stated tolerance.
//!
//! Exporters that compute the two sides of a seam separately leave vertices apart by the rounding
//! of their last digits. The surface is then open, and nothing can lie inside it. Nothing is welded
//! unless the caller says so, because a weld moves vertices.
//!
//! Two vertices are linked if their distance is at most the tolerance; a cluster is what links
//! connect. So the clusters do not depend on the order of the vertices, and a larger tolerance only
//! joins clusters. The price: a chain of close vertices is one cluster, however long it is. The
//! report says how far a vertex moved, and how many clusters have a vertex that moved farther than
//! the tolerance.

use super::topology::{self, root_of};
use super::{Mesh, Vertices, report};
use glam::DVec3;
use std::collections::HashMap;

/// What a weld has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WeldReport {
    /// Places that are no longer there: each was joined to another one.
    pub joined: usize,
    /// The largest distance by which a vertex moved.
    pub largest_move: f64,
    /// Clusters in which a vertex moved farther than the tolerance, because the vertices between
    /// its old and its new place form a chain.
    pub chains: usize,
    /// Faces with a triangle of which two corners are now at one place, and were not before.
    pub collapsed_faces: usize,
    /// Faces that now have the same corners as another face, and had not before.
    pub new_duplicates: usize,
}

/// A tolerance that is no length.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a weld needs a tolerance that is finite and at least 0, found {0}")]
pub struct WeldError(pub f64);

/// How far a surface that is not closed is from being closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosingGap {
    /// The smallest power of ten that closes the surface as a tolerance of [`Mesh::weld`].
    pub tolerance: f64,
    /// The largest distance by which this weld moves a vertex.
    pub largest_move: f64,
}

/// The largest tolerance that [`Mesh::closing_gap`] tries, as a part of the diagonal of the box
/// around the mesh. What is wider is a hole, not a seam.
const GAP_MAX: f64 = 1e-3;

/// The smallest distance of two coordinates that are different: that of subnormal `f32`, which all
/// coordinates are multiples of.
const SPACING_MIN: f64 = 1.401_298_464_324_817e-45;

/// Up to this many vertices, comparing each with each is faster than a grid.
const FEW: usize = 32;

/// A bit more than the root of 3: two points in a cell whose side is the tolerance divided by this
/// are within the tolerance, also if the quotients that give the cell are rounded.
const SIDES_PER_TOLERANCE: f64 = 1.732_050_9;

impl Mesh {
    /// The mesh with all vertices that are within `tolerance` of each other at one place. Faces,
    /// triangles and vertices keep their numbers; a face may lose its area. A closed mesh stays
    /// closed and a solid stays solid.
    ///
    /// All vertices of a cluster move to one of them: the place that most corners of triangles
    /// have, and of several such places the lowest by x, then y, then z. So vertices that lie in a
    /// plane stay in it where their neighbours do. The result does not depend on the order of
    /// faces and vertices.
    ///
    /// ```
    /// use glam::Vec3;
    /// use jostle_geom::Mesh;
    ///
    /// let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::X * 1.000001];
    /// let faces = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [4, 2, 3]];
    /// let mesh = Mesh::from_triangles(vertices, faces)?;
    /// let (welded, report) = mesh.weld(1e-5)?;
    /// assert_eq!(report.joined, 1);
    /// assert!(mesh.into_solid().is_err() && welded.into_solid().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A tolerance that is negative or not finite.
    pub fn weld(&self, tolerance: f64) -> Result<(Mesh, WeldReport), WeldError> {
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            return Err(WeldError(tolerance));
        }
        let (place, _) = topology::places(&self.vertices);
        let mut report = WeldReport::default();
        let target = self.targets(&place, tolerance, &mut report);
        if report.joined == 0 {
            return Ok((self.clone(), report));
        }
        let mut welded = self.clone();
        welded.vertices = self.vertices.gather(|vertex| target[place[vertex] as usize]);
        let (new_place, seams) = topology::places(&welded.vertices);
        welded.component_vertices = topology::component_vertices(&new_place, &welded.triangles);
        welded.seams = seams;
        let mut faces: Vec<u32> = (0u32..)
            .zip(&self.triangles)
            .filter(|(_, corners)| {
                is_collapsed(&new_place, corners) && !is_collapsed(&place, corners)
            })
            .map(|(triangle, _)| self.face_of(triangle))
            .collect();
        faces.sort_unstable();
        faces.dedup();
        report.collapsed_faces = faces.len();
        let duplicates = |place: &[u32]| report::duplicate_faces(self, place).count;
        report.new_duplicates = duplicates(&new_place).saturating_sub(duplicates(&place));
        Ok((welded, report))
    }

    /// The smallest weld that closes a surface that is not closed, if its gaps are those of seams:
    /// none if the surface is closed, if a thousandth of its size does not close it, or if the weld
    /// would move a vertex farther than that or collapse more faces than there are open edges. The
    /// weld was tried.
    #[must_use]
    pub fn closing_gap(&self) -> Option<ClosingGap> {
        let (place, _) = topology::places(&self.vertices);
        let open_edges = self.check_closed(&place).err()?.edges;
        let [low, high] = self.bounds()?;
        let most = GAP_MAX * low.as_dvec3().distance(high.as_dvec3());
        // A larger tolerance only joins clusters, which keeps a closed mesh closed: so the
        // tolerances that close it are all from some point on, and half of the rest can be left
        // out at each try.
        let power = |exponent: i32| format!("1e{exponent}").parse::<f64>().unwrap_or(0.0);
        let closes = |exponent: i32| self.is_closed_by(&place, power(exponent));
        let (mut open, mut closed) = (-46, most.log10().floor().clamp(-46.0, 40.0) as i32);
        if closed <= open || !closes(closed) {
            return None;
        }
        while closed - open > 1 {
            let middle = open + (closed - open) / 2;
            if closes(middle) { closed = middle } else { open = middle }
        }
        let tolerance = power(closed);
        let (_, report) = self.weld(tolerance).ok()?;
        let largest_move = report.largest_move;
        let is_seam = largest_move <= most && report.collapsed_faces <= open_edges;
        is_seam.then_some(ClosingGap { tolerance, largest_move })
    }

    fn is_closed_by(&self, place: &[u32], tolerance: f64) -> bool {
        let target = self.targets(place, tolerance, &mut WeldReport::default());
        let joined: Vec<u32> = place.iter().map(|&first| target[first as usize]).collect();
        self.check_closed(&joined).is_ok()
    }

    /// For each vertex that is the first at its place, the vertex whose place it gets.
    fn targets(&self, place: &[u32], tolerance: f64, report: &mut WeldReport) -> Vec<u32> {
        let mut links = Links {
            vertices: &self.vertices,
            tolerance,
            parent: (0..self.vertices.len() as u32).collect(),
        };
        if tolerance >= SPACING_MIN {
            let is_first = |vertex: &u32| place[*vertex as usize] == *vertex;
            links.find((0..self.vertices.len() as u32).filter(is_first).collect());
        }
        let mut corners = vec![0u32; self.vertices.len()];
        for &vertex in self.triangles.iter().flatten() {
            corners[place[vertex as usize] as usize] += 1;
        }
        let mut target: Vec<u32> = (0..self.vertices.len() as u32).collect();
        let roots: Vec<u32> = target.iter().map(|&v| root_of(&mut links.parent, v)).collect();
        let at = |vertex: u32| self.vertices.at(vertex);
        for (vertex, &root) in (0u32..).zip(&roots) {
            let best = target[root as usize];
            let (mine, other) = (corners[vertex as usize], corners[best as usize]);
            let is_lower = || before(at(vertex), at(best));
            if place[vertex as usize] == vertex && (mine > other || mine == other && is_lower()) {
                target[root as usize] = vertex;
            }
        }
        let best_of_root = target.clone();
        let mut chained = vec![false; self.vertices.len()];
        for (vertex, &root) in (0u32..).zip(&roots) {
            let best = best_of_root[root as usize];
            target[vertex as usize] = best;
            if best != vertex && place[vertex as usize] == vertex {
                let moved = at(vertex).distance(at(best));
                report.joined += 1;
                report.largest_move = report.largest_move.max(moved);
                let chain = &mut chained[root as usize];
                report.chains += usize::from(moved > tolerance && !*chain);
                *chain |= moved > tolerance;
            }
        }
        target
    }
}

/// Two corners of a triangle are at one place.
fn is_collapsed(place: &[u32], corners: &[u32; 3]) -> bool {
    let [a, b, c] = corners.map(|vertex| place[vertex as usize]);
    a == b || b == c || c == a
}

/// The order of two places: by x, then y, then z.
fn before(a: DVec3, b: DVec3) -> bool {
    (a.x, a.y, a.z) < (b.x, b.y, b.z)
}

/// Finds out which vertices are linked.
struct Links<'a> {
    vertices: &'a Vertices,
    tolerance: f64,
    /// Union-find; the root of a set is its lowest vertex.
    parent: Vec<u32>,
}

impl Links<'_> {
    /// Takes the vertices apart along the axes wherever there is a gap that is wider than the
    /// tolerance. What is left together is compared.
    fn find(&mut self, all: Vec<u32>) {
        let mut all = all;
        // A stretch of the list, the axis to try next, and how many axes in a row had no gap.
        let mut left = vec![(0, all.len(), 0usize, 0)];
        while let Some((start, end, axis, without_gap)) = left.pop() {
            let stretch = &mut all[start..end];
            if stretch.len() < 2 {
                continue;
            }
            if without_gap == 3 || stretch.len() == 2 {
                self.compare(stretch);
                continue;
            }
            let along = |vertex: u32| self.vertices.at(vertex)[axis];
            stretch.sort_unstable_by(|&a, &b| along(a).total_cmp(&along(b)));
            let mut first = 0;
            for at in 1..=stretch.len() {
                let is_gap = at == stretch.len()
                    || along(stretch[at]) - along(stretch[at - 1]) > self.tolerance;
                if is_gap {
                    let whole = first == 0 && at == stretch.len();
                    let without_gap = if whole { without_gap + 1 } else { 0 };
                    left.push((start + first, start + at, (axis + 1) % 3, without_gap));
                    first = at;
                }
            }
        }
    }

    fn compare(&mut self, vertices: &[u32]) {
        if vertices.len() > FEW {
            return self.compare_in_grid(vertices);
        }
        for (at, &a) in vertices.iter().enumerate() {
            for &b in &vertices[at + 1..] {
                if self.are_close(a, b) {
                    self.link(a, b);
                }
            }
        }
    }

    /// All vertices of a cell are within the tolerance of each other. So cells are linked, and two
    /// of them are compared only while they are not linked already.
    fn compare_in_grid(&mut self, vertices: &[u32]) {
        let side = self.tolerance / SIDES_PER_TOLERANCE;
        let cell_of = |vertex: u32| {
            let DVec3 { x, y, z } = self.vertices.at(vertex);
            [x, y, z].map(|coordinate| (coordinate / side).floor() + 0.0)
        };
        let mut cells: HashMap<[u64; 3], Vec<u32>> = HashMap::new();
        let mut order: Vec<[f64; 3]> = Vec::new();
        for &vertex in vertices {
            let cell = cell_of(vertex);
            let members = cells.entry(cell.map(f64::to_bits)).or_default();
            match members.first() {
                Some(&first) => link(&mut self.parent, first, vertex),
                None => order.push(cell),
            }
            members.push(vertex);
        }
        for offset in half_of_neighbours() {
            for cell in &order {
                let other = [0, 1, 2].map(|axis| (cell[axis] + offset[axis] + 0.0).to_bits());
                let (Some(here), Some(there)) =
                    (cells.get(&cell.map(f64::to_bits)), cells.get(&other))
                else {
                    continue;
                };
                let roots = [here[0], there[0]].map(|vertex| root_of(&mut self.parent, vertex));
                let any = || here.iter().any(|&a| there.iter().any(|&b| self.are_close(a, b)));
                if roots[0] != roots[1] && any() {
                    self.link(here[0], there[0]);
                }
            }
        }
    }

    fn are_close(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|vertex| self.vertices.at(vertex));
        a.distance(b) <= self.tolerance
    }

    fn link(&mut self, a: u32, b: u32) {
        link(&mut self.parent, a, b);
    }
}

fn link(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root_of(parent, a), root_of(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}

/// One of each two opposite steps to a cell that may hold a vertex within the tolerance, the
/// nearest cells first: what is linked early need not be compared later.
fn half_of_neighbours() -> Vec<[f64; 3]> {
    let steps = [-2.0, -1.0, 0.0, 1.0, 2.0];
    let mut all: Vec<[f64; 3]> = Vec::new();
    for x in steps {
        for y in steps {
            all.extend(steps.map(|z| [x, y, z]));
        }
    }
    all.retain(|offset| *offset > [0.0; 3]);
    all.sort_by(|a, b| {
        let length = |offset: &[f64; 3]| offset.iter().map(|step| step * step).sum::<f64>();
        length(a).total_cmp(&length(b))
    });
    all
}

#[cfg(test)]
mod tests;
