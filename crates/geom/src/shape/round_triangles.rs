//! A round solid against triangles, and against another: the questions of a pair. Spheres go their
//! own, exact way.

use super::round::{BOUND, PosedRound};
use super::sphere::{PosedTriangles, SphereGap};
use crate::Side;
use crate::pair::Relation;
use crate::posed_model::ClosestPoint;
use crate::triangle::Triangle;
use glam::DVec3;
use std::ops::ControlFlow;

/// Where a round solid and a triangle are closest.
struct TriangleGap {
    /// 0 if they touch.
    distance: f64,
    on_round: DVec3,
    on_triangle: DVec3,
}

impl PosedRound {
    fn gap_to(&self, t: &Triangle) -> TriangleGap {
        let found = self.triangle_gap(t);
        let [on_core, on_triangle] = found.points;
        if found.distance <= self.swept() {
            return TriangleGap { distance: 0.0, on_round: on_triangle, on_triangle };
        }
        let along = (on_triangle - on_core) / found.distance;
        TriangleGap {
            distance: (found.distance - self.swept()).max(f64::MIN_POSITIVE),
            on_round: on_core + along * self.swept(),
            on_triangle,
        }
    }

    pub(crate) fn touches(&self, other: &PosedRound) -> bool {
        match (self.as_sphere(), other.as_sphere()) {
            (Some(a), Some(b)) => a.touches(&b),
            _ => self.core_gap(other).distance <= self.swept() + other.swept(),
        }
    }

    /// Where they are closest; a point of both if they touch.
    pub(crate) fn gap(&self, other: &PosedRound) -> SphereGap {
        if let (Some(a), Some(b)) = (self.as_sphere(), other.as_sphere()) {
            return a.gap(&b);
        }
        let found = self.core_gap(other);
        let [p, q] = found.points;
        let (near, far) = (self.swept(), other.swept());
        let along = if found.distance > 0.0 { (q - p) / found.distance } else { DVec3::ZERO };
        if found.distance <= near + far {
            // The middle of what they share on the line between the cores.
            let first = (found.distance - far).max(0.0);
            let last = near.min(found.distance);
            let point = p + along * (first * 0.5 + last * 0.5);
            return SphereGap { distance: 0.0, on_sphere: point, on_other: point, face: 0 };
        }
        SphereGap {
            distance: (found.distance - (near + far)).max(f64::MIN_POSITIVE),
            on_sphere: p + along * near,
            on_other: q - along * far,
            face: 0,
        }
    }

    pub(crate) fn distance_at_least(&self, other: &PosedRound) -> f64 {
        match (self.as_sphere(), other.as_sphere()) {
            (Some(a), Some(b)) => a.distance_at_least(&b),
            _ => {
                let lengths = self.size([other.centre]) + other.reach();
                let gap = self.core_gap(other).distance - (self.swept() + other.swept());
                (gap - BOUND * lengths).max(0.0)
            }
        }
    }
}

impl PosedTriangles<'_> {
    pub(crate) fn touches_round(&self, round: &PosedRound) -> bool {
        if let Some(sphere) = round.as_sphere() {
            return self.touches(&sphere);
        }
        let posed = self.posed();
        let touched = posed.look_near_round(round, 0.0, &mut |triangle| match round
            .triangle_gap(&posed.triangle(triangle))
            .distance
            <= round.swept()
        {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        touched.is_break() || self.holds_middle(round)
    }

    /// Is the middle of a round solid inside of this one? Decides for all of it, where the
    /// surfaces do not touch.
    fn holds_middle(&self, round: &PosedRound) -> bool {
        self.posed().contains(round.centre) == Ok(Side::Inside)
    }

    /// As [`PosedTriangles::contact`].
    pub(crate) fn round_contact(&self, round: &PosedRound) -> Option<(u32, DVec3)> {
        if let Some(sphere) = round.as_sphere() {
            return self.contact(&sphere);
        }
        let found = self.nearest_to_round(round, 0.0).map(|(gap, face)| (face, gap.on_triangle));
        found.or_else(|| self.holds_middle(round).then_some((0, round.centre)))
    }

    /// The closest face at a distance of at most `within`.
    fn nearest_to_round(&self, round: &PosedRound, within: f64) -> Option<(TriangleGap, u32)> {
        let posed = self.posed();
        let gap = |triangle: usize| round.gap_to(&posed.triangle(triangle));
        let found = posed.nearest_to_round(round, within, |triangle| {
            let face = self.model.mesh().face_of(triangle as u32);
            let gap = gap(triangle);
            (gap.distance <= within).then_some(ClosestPoint {
                point: DVec3::splat(f64::from(triangle as u32)),
                face,
                distance: gap.distance,
            })
        })?;
        Some((gap(found.point.x as usize), found.face))
    }

    pub(crate) fn round_faces(&self, round: &PosedRound) -> Vec<u32> {
        if let Some(sphere) = round.as_sphere() {
            return self.faces(&sphere);
        }
        let posed = self.posed();
        let mut faces = Vec::new();
        let _ = posed.look_near_round(round, 0.0, &mut |triangle| {
            if round.triangle_gap(&posed.triangle(triangle)).distance <= round.swept() {
                faces.push(self.model.mesh().face_of(triangle as u32));
            }
            ControlFlow::Continue(())
        });
        faces.sort_unstable();
        faces.dedup();
        faces
    }

    /// As [`PosedTriangles::gaps`].
    pub(crate) fn round_gaps(&self, round: &PosedRound, reach: f64) -> Vec<SphereGap> {
        if let Some(sphere) = round.as_sphere() {
            return self.gaps(&sphere, reach);
        }
        let posed = self.posed();
        let mut found = Vec::new();
        let _ = posed.look_near_round(round, reach, &mut |triangle| {
            let gap = round.gap_to(&posed.triangle(triangle));
            if gap.distance <= reach {
                let face = self.model.mesh().face_of(triangle as u32);
                let TriangleGap { distance, on_round, on_triangle } = gap;
                let gap = SphereGap { distance, on_sphere: on_round, on_other: on_triangle, face };
                found.push((face, triangle, gap));
            }
            ControlFlow::Continue(())
        });
        found.sort_unstable_by_key(|&(face, triangle, _)| (face, triangle));
        found.into_iter().map(|(_, _, gap)| gap).collect()
    }

    /// As [`PosedTriangles::gap`].
    pub(crate) fn round_gap(&self, round: &PosedRound) -> Option<SphereGap> {
        if let Some(sphere) = round.as_sphere() {
            return self.gap(&sphere);
        }
        if let Some((face, point)) = self.round_contact(round) {
            return Some(SphereGap { distance: 0.0, on_sphere: point, on_other: point, face });
        }
        let (gap, face) = self.nearest_to_round(round, f64::INFINITY)?;
        let TriangleGap { distance, on_round, on_triangle } = gap;
        Some(SphereGap { distance, on_sphere: on_round, on_other: on_triangle, face })
    }

    /// Is the gap at most `distance`, which is not below 0?
    pub(crate) fn round_within(&self, round: &PosedRound, distance: f64) -> bool {
        match round.as_sphere() {
            Some(sphere) => self.within(&sphere, distance),
            None => self.nearest_to_round(round, distance).is_some() || self.holds_middle(round),
        }
    }

    pub(crate) fn round_distance_at_least(&self, round: &PosedRound) -> f64 {
        if let Some(sphere) = round.as_sphere() {
            return self.distance_at_least(&sphere);
        }
        let bound = self.posed().round_distance_at_least(round);
        // What is outside of the box around everything is not inside the solid.
        if bound == f64::INFINITY {
            return bound;
        }
        (bound - BOUND * round.size([self.pose.translation()])).max(0.0)
    }

    /// How a round solid lies to this: the round one is the first.
    ///
    /// Its inside is connected. So if no face passes through it, all of it is inside of this solid
    /// or none, and its middle decides. If one does, there are points of both sides of that face
    /// in it: the insides overlap.
    pub(crate) fn round_relation(&self, round: &PosedRound) -> Relation {
        if !self.touches_round(round) {
            return Relation::Apart;
        }
        let solid = self.model.mesh().is_solid();
        if !self.passes_through(round) {
            let inside = solid && self.holds_middle(round);
            return if inside { Relation::AInsideB } else { Relation::Touching };
        }
        if self.lies_within(round) { Relation::BInsideA } else { Relation::Crossing }
    }

    /// Do the insides overlap? For a solid mesh.
    pub(crate) fn round_overlaps(&self, round: &PosedRound) -> bool {
        round.reach() > 0.0 && (self.passes_through(round) || self.holds_middle(round))
    }

    /// Does a face that bounds something pass through the inside of a round solid?
    fn passes_through(&self, round: &PosedRound) -> bool {
        let posed = self.posed();
        let mut through = Vec::new();
        let doubled = self.model.mesh().is_solid();
        let found = posed.look_near_round(round, 0.0, &mut |triangle| {
            let t = posed.triangle(triangle);
            if !round.holds_part_of(&t) {
                return ControlFlow::Continue(());
            }
            let mut key = t.map(|p| p.to_array().map(|x| (x + 0.0).to_bits()));
            key.sort_unstable();
            // Faces that are there twice bound nothing, so all of them are needed.
            through.push(key);
            if doubled { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        through.sort_unstable();
        found.is_break() || through.chunk_by(|a, b| a == b).any(|same| same.len() % 2 == 1)
    }

    /// Are all corners in the round solid?
    fn lies_within(&self, round: &PosedRound) -> bool {
        let mesh = self.model.mesh();
        let corners = mesh.triangles().as_flattened().iter();
        let mut corners = corners.map(|&v| self.pose.transform_point(mesh.position(v)));
        corners.all(|p| round.height(p) <= BOUND * round.size([p]))
    }
}
