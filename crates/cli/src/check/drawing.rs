//! A small picture of a finding: the triangles of both parts near the contact, as inline SVG.
//!
//! Parallel projection, drawn from back to front, shaded by direction. The number of triangles is
//! bounded, so that a report of large models stays small; those nearest to the contact are kept.

use glam::{DVec2, DVec3};
use jostle_geom::ShapeKind;
use jostle_stage::{Finding, Stage};
use jostle_world::BodyId;
use std::fmt::Write;

/// The size of a picture.
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 260.0;

/// Most triangles of each part in a picture.
const TRIANGLES_MAX: usize = 400;

/// Most pieces of triangles of each part: large triangles are cut.
const FACETS_MAX: usize = 1200;

/// Shades from dark to light.
const SHADES: usize = 6;

/// A triangle in the picture.
struct Facet {
    corners: [DVec2; 3],
    depth: f64,
    /// `a` or `b`, and the shade.
    class: (char, usize),
}

/// Where from, and how large.
struct View {
    centre: DVec3,
    right: DVec3,
    up: DVec3,
    towards: DVec3,
    /// Half of the height of what is seen.
    radius: f64,
}

/// The picture; empty if a body is not on the stage.
pub(super) fn svg(stage: &Stage, finding: &Finding) -> String {
    let [Some(a), Some(b)] = finding.bodies.map(|body| triangles(stage, body)) else {
        return String::new();
    };
    let points = finding.points.map(DVec3::from_array);
    let view = View::of(points, &[size(&a), size(&b)]);
    let mut facets = view.facets(&a, 'a');
    facets.extend(view.facets(&b, 'b'));
    facets.sort_by(|one, other| one.depth.total_cmp(&other.depth));
    let (low, high) = (DVec2::new(-WIDTH, -HEIGHT) * 0.5, DVec2::new(WIDTH, HEIGHT) * 0.5);
    let mut text = format!(
        "<svg viewBox=\"{} {} {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         role=\"img\">",
        low.x, low.y
    );
    for Facet { corners, class: (part, shade), .. } in &facets {
        // Far outside of the picture numbers would only be long.
        let [p, q, r] = corners.map(|corner| corner.clamp(low * 40.0, high * 40.0));
        let _ = write!(
            text,
            "<path class=\"{part}{shade}\" d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/>",
            p.x, p.y, q.x, q.y, r.x, r.y
        );
    }
    let [p, q] = points.map(|point| view.project(point));
    let _ = write!(
        text,
        "<path class=\"gap\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>\
         <circle class=\"mark\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"9\"/></svg>",
        p.x,
        p.y,
        q.x,
        q.y,
        (p.x + q.x) * 0.5,
        (p.y + q.y) * 0.5
    );
    text
}

/// The triangles of a body, in the world.
fn triangles(stage: &Stage, body: BodyId) -> Option<Vec<[DVec3; 3]>> {
    let world = stage.world();
    let (Ok(shape), Ok(pose)) = (world.shape(body), world.pose(body)) else { return None };
    let ShapeKind::Mesh(model) = shape.kind() else { return None };
    let mesh = model.mesh();
    let placed = |corner: u32| pose.transform_point(mesh.vertices()[corner as usize]);
    Some(mesh.triangles().iter().map(|corners| corners.map(placed)).collect())
}

/// The diagonal of the box around triangles.
fn size(triangles: &[[DVec3; 3]]) -> f64 {
    let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let corners = triangles.iter().flatten();
    let (low, high) = corners.fold(none, |(low, high), &p| (low.min(p), high.max(p)));
    if low.cmple(high).all() { (high - low).length() } else { 0.0 }
}

impl View {
    /// Seen from above at an angle; of two parts that do not touch, so that the gap is seen from
    /// the side.
    fn of([p, q]: [DVec3; 2], sizes: &[f64]) -> View {
        let smaller = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let gap = (q - p).length();
        let mut towards = DVec3::new(0.55, 0.6, 0.58).normalize();
        if gap > 0.0 {
            let along = (q - p) / gap;
            let across = towards - along * towards.dot(along);
            towards = across.try_normalize().unwrap_or_else(|| along.any_orthonormal_vector());
        }
        let upward = if towards.y.abs() > 0.99 { DVec3::Z } else { DVec3::Y };
        let right = upward.cross(towards).normalize_or(DVec3::X);
        let near = if gap > 0.0 { (gap * 4.0).max(smaller * 0.1) } else { smaller * 0.35 };
        let radius = if near.is_finite() && near > 0.0 { near } else { 1.0 };
        View { centre: (p + q) * 0.5, right, up: towards.cross(right), towards, radius }
    }

    fn project(&self, point: DVec3) -> DVec2 {
        let from = (point - self.centre) * (HEIGHT * 0.5 / self.radius);
        DVec2::new(from.dot(self.right), -from.dot(self.up))
    }

    /// The triangles in the picture, at most so many: the nearest to its centre.
    fn facets(&self, triangles: &[[DVec3; 3]], part: char) -> Vec<Facet> {
        let reach = self.radius * 2.0;
        let mut near: Vec<(f64, &[DVec3; 3])> = triangles
            .iter()
            .map(|corners| {
                let [low, high] = bounds(corners);
                ((self.centre.clamp(low, high) - self.centre).length(), corners)
            })
            .filter(|(distance, _)| *distance <= reach)
            .collect();
        near.sort_by(|one, other| one.0.total_cmp(&other.0));
        near.truncate(TRIANGLES_MAX);
        let mut left: Vec<[DVec3; 3]> = near.into_iter().map(|(_, corners)| *corners).collect();
        let mut facets = Vec::new();
        while let Some(corners) = left.pop() {
            let [p, q, r] = corners.map(|corner| self.project(corner));
            let (low, high) = (p.min(q).min(r), p.max(q).max(r));
            let half = DVec2::new(WIDTH, HEIGHT) * 0.5;
            if high.cmplt(-half).any() || low.cmpgt(half).any() {
                continue;
            }
            match halves(&corners, self.radius * 0.3) {
                Some(halves) if left.len() + facets.len() < FACETS_MAX => left.extend(halves),
                _ => facets.push(self.facet(&corners, part)),
            }
        }
        facets
    }

    fn facet(&self, corners: &[DVec3; 3], part: char) -> Facet {
        let [p, q, r] = *corners;
        let normal = (q - p).cross(r - p).normalize_or_zero();
        let light = (self.towards + self.up * 0.5 + self.right * 0.3).normalize_or_zero();
        let shade = (normal.dot(light).abs() * SHADES as f64) as usize;
        Facet {
            corners: corners.map(|corner| self.project(corner)),
            depth: (p + q + r).dot(self.towards),
            class: (part, shade.min(SHADES - 1)),
        }
    }
}

/// The halves of a triangle with a side that is longer than this: small ones can be drawn from back
/// to front, long ones may lie across each other.
fn halves(corners: &[DVec3; 3], longest: f64) -> Option<[[DVec3; 3]; 2]> {
    let length = |at: &usize| corners[*at].distance(corners[(at + 1) % 3]);
    let at = (0..3).max_by(|one, other| length(one).total_cmp(&length(other)))?;
    let [p, q, r] = [0, 1, 2].map(|step| corners[(at + step) % 3]);
    let middle = (p + q) * 0.5;
    (length(&at) > longest).then_some([[p, middle, r], [middle, q, r]])
}

fn bounds(corners: &[DVec3; 3]) -> [DVec3; 2] {
    let [p, q, r] = *corners;
    [p.min(q).min(r), p.max(q).max(r)]
}

/// The colours of both parts.
pub(super) fn style() -> String {
    let mut text = String::new();
    for (part, [r, g, b]) in [('a', [37, 99, 205]), ('b', [214, 110, 22])] {
        for shade in 0..SHADES {
            let light = 0.55 + 0.45 * shade as f64 / (SHADES - 1) as f64;
            let [r, g, b] = [r, g, b].map(|channel| (f64::from(channel) * light) as u8);
            let _ = write!(text, ".{part}{shade}{{fill:rgb({r},{g},{b});stroke:rgb({r},{g},{b})}}");
        }
    }
    text
}
