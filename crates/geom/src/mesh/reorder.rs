//! Storing triangles and vertices in another order, without changing what the mesh is.

use super::Mesh;

impl Mesh {
    /// Permutes the triangles, so that the new triangle i is the old triangle `order[i]`, and
    /// renumbers the vertices by their first use in that order, so that neighbours in the
    /// hierarchy are neighbours in memory. Unused vertices come last.
    ///
    /// `order` must name every triangle once.
    pub(crate) fn reorder(&mut self, order: &[u32]) {
        assert_eq!(order.len(), self.triangles.len(), "the order must name every triangle once");
        let faces: Vec<u32> = order.iter().map(|&old| self.face_of(old)).collect();
        let one_triangle_per_face = self.face_count == faces.len();
        let in_order = one_triangle_per_face && (0u32..).zip(&faces).all(|(i, &face)| i == face);
        self.face_of_triangle = if in_order { Vec::new() } else { faces };

        const UNSEEN: u32 = u32::MAX;
        let mut new_number = vec![UNSEEN; self.vertices.len()];
        let mut old_number: Vec<u32> = Vec::with_capacity(self.vertices.len());
        let mut number_of = |old: u32| {
            let new = &mut new_number[old as usize];
            if *new == UNSEEN {
                *new = old_number.len() as u32;
                old_number.push(old);
            }
            *new
        };
        self.triangles =
            order.iter().map(|&old| self.triangles[old as usize].map(&mut number_of)).collect();
        for old in 0..self.vertices.len() as u32 {
            number_of(old);
        }
        let source: Vec<u32> = old_number.iter().map(|&old| self.caller_vertex(old)).collect();
        self.vertices = self.vertices.gather(|new| old_number[new]);
        let in_order = (0u32..).zip(&source).all(|(i, &caller)| i == caller);
        self.vertex_source = if in_order { Vec::new() } else { source };
        for vertex in &mut self.component_vertices {
            *vertex = new_number[*vertex as usize];
        }
        self.component_vertices.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    /// A triangle, a quad, a point, a segment, half of the quad again; vertex 4 is not used.
    fn odd_mesh() -> Mesh {
        let vertices = (0..9).map(|i| Vec3::new(i as f32, (i * i) as f32, (i % 3) as f32));
        let faces: [&[u32]; 5] = [&[5, 6, 7], &[0, 1, 2, 3], &[8], &[8, 7], &[2, 3, 0]];
        Mesh::from_polygons(vertices.collect(), faces).unwrap()
    }

    /// Face, corners and where they are.
    type Placed = (u32, [u32; 3], [Vec3; 3]);

    /// What the mesh is, in the caller's numbers: per face, its triangles with coordinates.
    fn content(mesh: &Mesh) -> (Vec<Placed>, Vec<Vec3>, Vec<u32>) {
        let mut faces: Vec<_> = (0u32..)
            .zip(&mesh.triangles)
            .map(|(i, corners)| {
                let positions = corners.map(|v| mesh.vertices()[v as usize]);
                (mesh.face_of(i), corners.map(|v| mesh.caller_vertex(v)), positions)
            })
            .collect();
        faces.sort_by_key(|&(face, corners, _)| (face, corners));
        let mut vertices: Vec<_> = (0u32..)
            .zip(mesh.vertices())
            .map(|(i, &position)| (mesh.caller_vertex(i), position))
            .collect();
        vertices.sort_by_key(|&(caller, _)| caller);
        let mut parts: Vec<u32> =
            mesh.component_vertices.iter().map(|&v| mesh.caller_vertex(v)).collect();
        parts.sort_unstable();
        (faces, vertices.into_iter().map(|(_, position)| position).collect(), parts)
    }

    #[test]
    fn the_content_stays_and_the_order_changes() {
        let before = odd_mesh();
        let mut mesh = before.clone();
        let mut order: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
        // Several times in a row, so that renumbering a renumbered mesh is tested too.
        for turn in 0..7 {
            order.rotate_left(turn % 3);
            order.swap(0, turn % 5);
            let old = mesh.clone();
            mesh.reorder(&order);
            assert_eq!(content(&mesh), content(&before));
            assert_eq!(mesh.hash(), before.hash());
            assert_eq!(mesh.report(), before.report());
            for (new, &old_triangle) in (0u32..).zip(&order) {
                assert_eq!(mesh.face_of(new), old.face_of(old_triangle));
            }
            let mut seen = 0;
            for &vertex in mesh.triangles.iter().flatten() {
                assert!(vertex <= seen, "vertices are numbered by first use");
                seen = seen.max(vertex + 1);
            }
            assert_eq!(mesh.caller_vertex(8), 4, "the unused vertex is last");
        }
    }

    #[test]
    fn tables_that_say_nothing_are_empty() {
        let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let mut mesh = Mesh::from_triangles(vertices, vec![[0, 1, 2], [1, 2, 3]]).unwrap();
        mesh.reorder(&[0, 1]);
        assert!(mesh.face_of_triangle.is_empty() && mesh.vertex_source.is_empty());
        mesh.reorder(&[1, 0]);
        assert_eq!(mesh.face_of_triangle, [1, 0]);
        assert_eq!(mesh.vertex_source, [1, 2, 3, 0]);
        assert_eq!(mesh.triangles, [[0, 1, 2], [3, 0, 1]]);
        mesh.reorder(&[1, 0]);
        assert!(mesh.face_of_triangle.is_empty() && mesh.vertex_source.is_empty());
    }

    #[test]
    fn new_positions_are_in_the_callers_order() {
        let mut mesh = odd_mesh();
        let order: Vec<u32> = (0..mesh.triangles.len() as u32).rev().collect();
        mesh.reorder(&order);
        let moved: Vec<Vec3> = (0..9).map(|i| Vec3::splat(i as f32)).collect();
        mesh.set_vertices(&moved).unwrap();
        assert_eq!(content(&mesh).1, moved);
    }

    #[test]
    fn an_empty_mesh_can_be_reordered() {
        let mut mesh = Mesh::from_triangles(vec![Vec3::ONE], Vec::new()).unwrap();
        mesh.reorder(&[]);
        assert_eq!(mesh.vertices(), [Vec3::ONE]);
        assert!(mesh.component_vertices.is_empty());
    }
}
