//! Bounds, area and volume.

use super::Mesh;
use super::topology::{self, edges};
use glam::{DVec3, Vec3};

impl Mesh {
    /// The area of all triangles together, in the square of the mesh's unit.
    #[must_use]
    pub fn area(&self) -> f64 {
        let double = self.triangles.iter().map(|&corners| {
            let [a, b, c] = corners.map(|vertex| self.vertices.at(vertex));
            (b - a).cross(c - a).length()
        });
        sum(double) / 2.0
    }

    /// The volume that the surface encloses, in the cube of the mesh's unit: negative if the faces
    /// look inward. None if the surface is not closed, or if at some edge more faces look one way
    /// than the other, so that the sum means nothing.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::solids;
    ///
    /// let cuboid = solids::cuboid(DVec3::new(1.0, 2.0, 3.0))?;
    /// assert_eq!((cuboid.volume(), cuboid.area()), (Some(6.0), 22.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn volume(&self) -> Option<f64> {
        let (place, _) = topology::places(&self.vertices);
        let sides = topology::sorted_sides(&place, &self.triangles);
        let balanced = edges(&sides)
            .all(|edge| 2 * edge.iter().filter(|side| side.backward).count() == edge.len());
        balanced.then(|| self.signed_volume())
    }

    /// Lowest and highest coordinates of the vertices that faces use; none if there are no faces.
    /// Of [`Mesh::vertices`]: rounded, for a mesh with vertices in `f64`.
    #[must_use]
    pub fn bounds(&self) -> Option<[Vec3; 2]> {
        let vertices = self.vertices.rounded();
        let mut positions = self.triangles.iter().flatten().map(|&v| vertices[v as usize]);
        let first = positions.next()?;
        Some(positions.fold([first; 2], |[low, high], p| [low.min(p), high.max(p)]))
    }

    /// The sum over all triangles of the tetrahedra to the middle of the mesh: digits are lost to
    /// cancellation if this point is far away.
    fn signed_volume(&self) -> f64 {
        let Some([low, high]) = self.bounds() else { return 0.0 };
        let middle: DVec3 = (low.as_dvec3() + high.as_dvec3()) / 2.0;
        let six = self.triangles.iter().map(|&corners| {
            let [a, b, c] = corners.map(|vertex| self.vertices.at(vertex) - middle);
            a.dot(b.cross(c))
        });
        sum(six) / 6.0
    }
}

/// A sum that does not depend on the order in which triangles are stored.
fn sum(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.iter().sum()
}

#[cfg(test)]
mod tests {
    use crate::{Mesh, solids};
    use glam::{DAffine3, DQuat, DVec3, Vec3};

    #[test]
    fn a_cuboid_keeps_its_volume_wherever_it_is_and_a_hole_in_it_has_none() {
        let cuboid = solids::cuboid(DVec3::new(2.0, 3.0, 5.0)).unwrap();
        let turned = DAffine3::from_rotation_translation(
            DQuat::from_euler(glam::EulerRot::XYZ, 0.3, 0.7, -1.1),
            DVec3::new(1000.0, -500.0, 300.0),
        );
        let moved = Mesh::join([(&cuboid, turned)]).unwrap();
        let volume = moved.volume().unwrap();
        assert!((volume - 30.0).abs() < 0.01, "{volume}");
        assert!((moved.area() - 62.0).abs() < 0.01);
        let triangles = cuboid.triangles().to_vec();
        let open = Mesh::from_triangles(cuboid.vertices().to_vec(), triangles[1..].to_vec());
        assert_eq!(open.unwrap().volume(), None);
    }

    #[test]
    fn faces_that_look_inward_make_the_volume_negative_and_mixed_ones_make_it_unknown() {
        let cuboid = solids::cuboid(DVec3::ONE).unwrap();
        let turned = |some: usize| {
            let triangles = (0..).zip(cuboid.triangles());
            let triangles = triangles
                .map(|(at, &[a, b, c])| if at < some { [a, c, b] } else { [a, b, c] })
                .collect();
            Mesh::from_triangles(cuboid.vertices().to_vec(), triangles).unwrap().volume()
        };
        assert_eq!((turned(0), turned(1), turned(12)), (Some(1.0), None, Some(-1.0)));
        let empty = Mesh::from_triangles(vec![Vec3::ZERO], Vec::new()).unwrap();
        assert_eq!((empty.volume(), empty.area()), (Some(0.0), 0.0));
    }
}
