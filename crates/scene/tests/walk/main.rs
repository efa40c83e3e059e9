//! Placements against plain matrices, and the walk over a scene against a naive recursive twin.

mod limits;
mod placement;
mod viewer;
mod visits;

use glam::{DMat4, DVec3, Vec3};
use jostle_scene::nodes::Transform;
use jostle_scene::{Placement, Rotation};

/// Numbers from 0 to 1 that are the same on every run.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        jostle_dice::part(&mut self.0)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        let mut part = || ((self.unit() - 0.5) * 2.0 * size) as f32;
        Vec3::new(part(), part(), part())
    }

    fn rotation(&mut self) -> Rotation {
        match self.below(3) {
            0 => Rotation::NONE,
            1 => Rotation { axis: self.vector(3.0), angle: (self.unit() * 8.0 - 4.0) as f32 },
            _ => Rotation { axis: Vec3::ZERO, angle: 1.0 },
        }
    }

    /// A transform of one of the kinds that the rule of composition distinguishes.
    fn transform(&mut self) -> Transform {
        let scale = match self.below(5) {
            0 => Vec3::splat(self.unit() as f32 + 0.5),
            1 => Vec3::splat(-2.0),
            2 => self.vector(2.0) + Vec3::splat(3.0),
            _ => Vec3::ONE,
        };
        Transform {
            translation: self.vector(5.0),
            center: if self.below(2) == 0 { Vec3::ZERO } else { self.vector(5.0) },
            rotation: self.rotation(),
            scale,
            scale_orientation: self.rotation(),
            ..Transform::default()
        }
    }
}

/// T · C · R · SR · S · −SR · −C, one matrix after the other (ISO/IEC 14772-1, 6.52).
fn matrix_of(node: &Transform) -> DMat4 {
    let shift = |v: Vec3| DMat4::from_translation(v.as_dvec3());
    let turn = |r: Rotation| DMat4::from_quat(r.quaternion());
    let back = Rotation { angle: -node.scale_orientation.angle, ..node.scale_orientation };
    shift(node.translation)
        * shift(node.center)
        * turn(node.rotation)
        * turn(node.scale_orientation)
        * DMat4::from_scale(node.scale.as_dvec3())
        * turn(back)
        * shift(-node.center)
}

/// Returns true if both map the corners of a box to the same points.
fn agree(placement: &Placement, matrix: &DMat4) -> bool {
    [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(-3.0, 5.0, 7.0)].iter().all(|&p| {
        let expected = matrix.transform_point3(p);
        placement.transform_point(p).distance(expected) <= 1e-11 * (1.0 + expected.length())
    })
}
