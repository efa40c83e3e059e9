//! Which way does one body push another away?

use super::ShapePair;
use glam::DVec3;
use jostle_geom::{Placed, Witness};

impl ShapePair<'_> {
    /// A unit vector from the second body towards the first, for responses: the normal of the face
    /// of the second body that `witness` names, on the side where the centre of the first body is
    /// (Ohlenburg: the normal of the colliding polygon of the collidee). For a sphere, the
    /// direction from its centre to the point of contact, or to the centre of another sphere. For
    /// a face without area, the direction between the centres, and for equal centres the z axis.
    #[must_use]
    pub fn contact_normal(&self, witness: &Witness) -> DVec3 {
        let between = self.a.centre() - self.b.centre();
        let direction = match (self.a.shape.model(), self.b.shape.model()) {
            (None, None) => None,
            (Some(_), None) => unit(witness.point - self.b.centre()),
            (_, Some(model)) => {
                let normal = Placed::new(model, self.b.pose);
                let normal = normal.face_normal(witness.faces.b, witness.point);
                let above = self.a.centre() - witness.point;
                normal.map(|n| if n.dot(above) < 0.0 { -n } else { n })
            }
        };
        direction.or_else(|| unit(between)).unwrap_or(DVec3::Z)
    }
}

/// The direction of a vector of any finite length.
fn unit(v: DVec3) -> Option<DVec3> {
    // Largest component 1 first, so that squares are neither too large nor too small.
    let size = v.abs().max_element();
    (size > 0.0 && size.is_finite()).then(|| (v / size).normalize())
}
