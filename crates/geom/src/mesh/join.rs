//! One mesh of several, each put in its place.

use super::Vertices;
use super::{Mesh, MeshError, check_count};
use glam::{DAffine3, DVec3, Vec3};

impl Mesh {
    /// All faces of several meshes, each mapped by its affine map. Vertices are computed in `f64`
    /// and rounded to `f32` once, unless a part has vertices in `f64`: then they stay. A map that
    /// mirrors also turns the faces round, so that they look outward as before. Faces and vertices
    /// are counted through, in the order of the parts. The result is not solid.
    ///
    /// ```
    /// use glam::{DAffine3, DVec3};
    /// use jostle_geom::{Mesh, solids};
    ///
    /// let cube = solids::cuboid(DVec3::ONE)?;
    /// let above = DAffine3::from_translation(DVec3::Y * 2.0);
    /// let both = Mesh::join([(&cube, DAffine3::IDENTITY), (&cube, above)])?;
    /// assert_eq!(both.face_count(), 2 * cube.face_count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Coordinates that leave the range of `f32`, and more than a mesh can hold.
    pub fn join<'a>(
        parts: impl IntoIterator<Item = (&'a Mesh, DAffine3)>,
    ) -> Result<Mesh, MeshError> {
        let mut vertices: Vec<DVec3> = Vec::new();
        let mut wide = false;
        let mut triangles = Vec::new();
        let mut face_of_triangle = Vec::new();
        let mut face_count = 0;
        for (part, map) in parts {
            let first = vertices.len();
            check_count("vertices", first + part.vertices.len(), Mesh::VERTICES_MAX)?;
            let made = triangles.len() + part.triangles.len();
            check_count("triangles", made, Mesh::TRIANGLES_MAX)?;
            vertices.resize(first + part.vertices.len(), DVec3::ZERO);
            wide |= part.vertices.exact().is_some();
            let number = |vertex: u32| first as u32 + part.caller_vertex(vertex);
            for vertex in 0..part.vertices.len() as u32 {
                let placed = map.transform_point3(part.vertices.at(vertex));
                vertices[number(vertex) as usize] = placed;
            }
            let mirrors = map.matrix3.determinant() < 0.0;
            for (triangle, corners) in (0..).zip(&part.triangles) {
                let [a, b, c] = corners.map(number);
                triangles.push(if mirrors { [a, c, b] } else { [a, b, c] });
                face_of_triangle.push(face_count as u32 + part.face_of(triangle));
            }
            face_count += part.face_count;
        }
        if face_of_triangle.iter().copied().eq(0..face_count as u32) {
            face_of_triangle = Vec::new();
        }
        let vertices = if wide {
            Vertices::from_f64(vertices)?
        } else {
            vertices.iter().map(|v| v.as_vec3()).collect::<Vec<Vec3>>().into()
        };
        Mesh::assemble(vertices, triangles, face_of_triangle, face_count)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Mesh, Model, Quality, solids};
    use glam::{DAffine3, DMat3, DVec3, Vec3};

    #[test]
    fn faces_and_vertices_keep_their_numbers_also_after_a_model_renumbered_them() {
        let cube = solids::cuboid(DVec3::new(1.0, 2.0, 3.0)).unwrap();
        let model = Model::build(cube.clone(), Quality::default());
        let plain = Mesh::join([(&cube, DAffine3::IDENTITY)]).unwrap();
        let renumbered = Mesh::join([(model.mesh(), DAffine3::IDENTITY)]).unwrap();
        assert_eq!(plain.vertices(), cube.vertices());
        assert_eq!(renumbered.vertices(), cube.vertices());
        let sorted = |mesh: &Mesh| {
            let faces = (0..).zip(mesh.triangles());
            let mut faces: Vec<_> =
                faces.map(|(at, corners)| (mesh.face_of(at), *corners)).collect();
            faces.sort_unstable_by_key(|&(face, mut corners)| {
                corners.sort_unstable();
                (face, corners)
            });
            faces
        };
        let corners = |mesh: &Mesh| -> Vec<_> {
            let set = |mut corners: [u32; 3]| {
                corners.sort_unstable();
                corners
            };
            sorted(mesh).into_iter().map(|(face, corners)| (face, set(corners))).collect()
        };
        assert_eq!(corners(&plain), corners(&cube));
        assert_eq!(corners(&renumbered), corners(&cube));
    }

    #[test]
    fn a_mirrored_part_still_looks_outward_and_a_torn_number_is_refused() {
        let volume = |mesh: &Mesh| -> f64 {
            let corner = |vertex: u32| mesh.vertices()[vertex as usize].as_dvec3();
            let six =
                mesh.triangles().iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c))));
            six.sum::<f64>() / 6.0
        };
        let cube = solids::cuboid(DVec3::ONE).unwrap();
        let mirror = DAffine3::from_mat3(DMat3::from_diagonal(DVec3::new(-2.0, 1.0, 1.0)));
        let both = Mesh::join([(&cube, DAffine3::IDENTITY), (&cube, mirror)]).unwrap();
        assert_eq!(volume(&both), 3.0);
        assert!(!both.is_solid());
        let far = DAffine3::from_scale(DVec3::splat(1e39));
        assert!(Mesh::join([(&cube, far)]).is_err());
        let nothing: [(&Mesh, DAffine3); 0] = [];
        assert_eq!(Mesh::join(nothing).unwrap().vertices(), [Vec3::ZERO; 0]);
    }
}
