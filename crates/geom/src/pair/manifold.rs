//! From near pairs of triangles to few contacts.
//!
//! 1. **Normals.** The direction between the closest points, or what `side.rs` finds.
//! 2. **No ghosts.** A pair whose closest point is on an edge, beyond which the surface comes
//!    closer, is no contact: it would forbid moves along that surface. Nor is one behind another
//!    surface. What is left are the places where nothing nearby is closer.
//! 3. **Extents.** Of triangles that are parallel but for 5° where they are closest, the corners of
//!    what one covers of the other take part: a closest point of two parallel faces is any of them,
//!    and torque needs the extremes (Gottschalk's and others' manifolds keep four; a cluster here
//!    keeps what is furthest out in eight directions, so that a box keeps its corners).
//! 4. **Clusters.** Contacts with one normal, in one plane, each but for 5°, are one cluster.

use super::contacts::{ContactPoint, ContactsError, Spacing};
use super::models::ModelPair;
use super::near::NearTriangles;
use super::normal::{DIRECTION_MIN, snapped};
use crate::triangle::shared::{Shared, shared};
use crate::{PosedModel, Ray};
use glam::{DVec2, DVec3};

/// The cosine of 5°: normals closer than that are one.
pub(super) const SAME_WAY: f64 = 0.996_194_698_091_745_5;

/// The tangent of 5°: what rises less is flat.
const FLAT: f64 = 0.087_488_663_525_924;

/// Two numbers closer than this part of all lengths involved are the same place.
const SAME_PLACE: f64 = 1e-9;

/// A pair of triangles with its normal.
struct Facing {
    a: usize,
    b: usize,
    normal: DVec3,
    points: [DVec3; 2],
    /// 0 exactly if they touch.
    gap: f64,
}

/// A contact that may be kept.
struct Candidate {
    contact: ContactPoint,
    /// As [`Spacing::along_normal`].
    along: f64,
}

/// The contacts of a pair that is free, or touches, with these near triangles; then put back by
/// `way`, the move of the first model that freed it.
pub(super) fn contacts(
    pair: &ModelPair<'_>,
    near: &[NearTriangles],
    reach: f64,
    way: DVec3,
) -> Result<Vec<ContactPoint>, ContactsError> {
    let size = size(pair, near);
    let mut facing = with_normals(pair, near, size)?;
    facing.retain(|it| it.gap - way.dot(it.normal) <= reach);
    let placed = pair.posed();
    facing.retain(|it| it.gap == 0.0 || !is_ghost(&placed, it, size));
    let mut candidates = Vec::new();
    for it in &facing {
        add_candidates(pair, it, way, size, &mut candidates);
    }
    candidates.retain(|candidate| candidate.along <= reach);
    Ok(reduced(candidates, size))
}

/// The largest coordinate involved, without its sign, plus the largest gap.
fn size(pair: &ModelPair<'_>, near: &[NearTriangles]) -> f64 {
    let origins = [pair.pose_a.translation(), pair.pose_b.translation()];
    let points = near.iter().flat_map(|near| [near.apart.on_a, near.apart.on_b]);
    points.chain(origins).fold(0.0, |size, p| p.abs().max_element().max(size))
        + pair.a.radius().min(pair.b.radius())
}

/// Gives each near pair its normal. Pairs that touch where no plane has the surfaces on different
/// sides, or in one plane without sharing area, are left out if there are others: these say more.
fn with_normals(
    pair: &ModelPair<'_>,
    near: &[NearTriangles],
    size: f64,
) -> Result<Vec<Facing>, ContactsError> {
    let with = |it: &NearTriangles, normal| {
        let (points, gap) = ([it.apart.on_a, it.apart.on_b], it.apart.distance);
        Facing { a: it.a, b: it.b, normal, points, gap }
    };
    let (close, clear): (Vec<&NearTriangles>, Vec<&NearTriangles>) =
        near.iter().partition(|it| it.apart.distance <= DIRECTION_MIN * size);
    let mut facing: Vec<Facing> = Vec::with_capacity(near.len());
    let mut open = Vec::new();
    for it in close {
        match pair.separating_normals(it.a, it.b, it.apart.on_b).first() {
            Some(&normal) => facing.push(with(it, normal)),
            None => open.push(it),
        }
    }
    let known = facing.len();
    let mut doubtful = Vec::new();
    for it in open {
        let (a, b) = (it.a, it.b);
        let overlap = shared(&pair.triangle_a(a), &pair.triangle_b(b));
        if !matches!(overlap, Some(Shared::Polygon(_))) {
            doubtful.push(it);
            continue;
        }
        let by_inside = pair.normal_by_inside(a, b);
        let normal = by_inside.or_else(|| normal_beside(pair, it, &facing[..known], size));
        let normal = normal.ok_or(ContactsError::UnknownSide { faces: pair.faces(a, b) })?;
        facing.push(with(it, normal));
    }
    if facing.is_empty() {
        let between = |it: &&NearTriangles| {
            let normal = pair.normal_between(it.a, it.b).or_else(|| normal_of(pair, it))?;
            Some(with(it, normal))
        };
        facing.extend(doubtful.iter().filter_map(between));
    }
    if let (true, Some(it)) = (facing.is_empty(), doubtful.first()) {
        return Err(ContactsError::UnknownSide { faces: pair.faces(it.a, it.b) });
    }
    facing.extend(clear.into_iter().filter_map(|it| Some(with(it, normal_of(pair, it)?))));
    Ok(facing)
}

/// The direction between the closest points, or the normal of a face that is the same.
fn normal_of(pair: &ModelPair<'_>, near: &NearTriangles) -> Option<DVec3> {
    let between = (near.apart.on_a - near.apart.on_b).try_normalize()?;
    let [placed_a, placed_b] = pair.posed();
    let of_b = placed_b.normal(near.b).unwrap_or(between);
    Some(snapped(between, &[of_b, placed_a.normal(near.a).unwrap_or(of_b)]))
}

/// The normal of the plane that the triangles lie in, on the side that all touching pairs with a
/// known normal along it agree on.
fn normal_beside(
    pair: &ModelPair<'_>,
    flat: &NearTriangles,
    known: &[Facing],
    size: f64,
) -> Option<DVec3> {
    let [placed_a, placed_b] = pair.posed();
    let line = placed_b.normal(flat.b).or_else(|| placed_a.normal(flat.a))?;
    let in_plane = |it: &&Facing| {
        it.gap == 0.0
            && it.normal.dot(line).abs() > SAME_WAY
            && (it.points[1] - flat.apart.on_b).dot(line).abs() <= SAME_PLACE * size
    };
    let mut sides = known.iter().filter(in_plane).map(|it| it.normal.dot(line) > 0.0);
    let first = sides.next()?;
    sides.all(|side| side == first).then_some(if first { line } else { -line })
}

/// Comes one of the surfaces closer beside the points, or stands something between them?
fn is_ghost(placed: &[PosedModel<'_>; 2], it: &Facing, size: f64) -> bool {
    let slack = 1e-12 * size;
    let limit = it.gap * (1.0 - SAME_PLACE) - slack;
    let [on_a, on_b] = it.points;
    if placed[1].leads_closer(on_b, slack, on_a, limit)
        || placed[0].leads_closer(on_a, slack, on_b, limit)
    {
        return true;
    }
    // The part of the segment that surely starts and ends off the surfaces.
    let inset = (on_a - on_b) * 1e-3;
    if it.gap * 1e-3 <= slack {
        return false;
    }
    let hidden = |ray: Ray| placed.iter().any(|placed| placed.ray_any(&ray));
    Ray::between(on_b + inset, on_a - inset).is_ok_and(hidden)
}

/// Adds the extremes of what the two triangles have in common along the normal.
fn add_candidates(
    pair: &ModelPair<'_>,
    it: &Facing,
    way: DVec3,
    size: f64,
    candidates: &mut Vec<Candidate>,
) {
    let faces = pair.faces(it.a, it.b);
    let opened = way.dot(it.normal);
    let mut add = |points: [DVec3; 2], touching: bool| {
        let gap = if touching { 0.0 } else { (points[0] - points[1]).dot(it.normal) };
        let along = gap - opened;
        let spacing =
            if touching && opened == 0.0 { Spacing::Touching } else { Spacing::of(along) };
        let points = [points[0] - way, points[1]];
        let contact = ContactPoint { faces, normal: it.normal, points, spacing };
        candidates.push(Candidate { contact, along });
    };
    let (first, second) = (pair.triangle_a(it.a), pair.triangle_b(it.b));
    if it.gap == 0.0
        && let Some(shared) = shared(&first, &second)
    {
        shared.points().iter().for_each(|&point| add([point; 2], true));
        if let Shared::Polygon(_) = shared {
            return;
        }
    }
    let before = candidates_beyond(&first, &second, it, size);
    if it.gap > 0.0 && before.is_empty() {
        add(it.points, false);
    }
    before.into_iter().for_each(|points| add(points, false));
}

/// Points of both triangles opposite each other along the normal: the corners of what the flat
/// parts of both cover of each other. Empty where that is a point. Of triangles that touch, only
/// what does not touch.
fn candidates_beyond(
    first: &[DVec3; 3],
    second: &[DVec3; 3],
    it: &Facing,
    size: f64,
) -> Vec<[DVec3; 2]> {
    let origin = it.points[1];
    let (u, v) = it.normal.any_orthonormal_pair();
    let flat = |corners: &[DVec3; 3], up: DVec3| {
        let seen = corners.map(|p| p - origin).map(|p| (DVec2::new(p.dot(u), p.dot(v)), p.dot(up)));
        flat_part(seen, SAME_PLACE * size * 1e-3)
    };
    let (flat_a, flat_b) = (flat(first, it.normal), flat(second, -it.normal));
    let outline = |part: &[(DVec2, f64)]| part.iter().map(|p| p.0).collect::<Vec<_>>();
    let slack = 1e-12 * size;
    let cover = cover(outline(&flat_a), outline(&flat_b), slack);
    let opposite = |at: DVec2| {
        let [(p, above), (q, below)] = [place(&flat_a, at)?, place(&flat_b, at)?];
        let point = |at: DVec2, height: f64| origin + u * at.x + v * at.y + it.normal * height;
        Some([point(p, above), point(q, -below)])
    };
    let points = cover.into_iter().filter_map(opposite);
    let gap = |p: &[DVec3; 2]| (p[0] - p[1]).dot(it.normal);
    points.filter(|p| it.gap > 0.0 || gap(p) > SAME_PLACE * size).collect()
}

/// The corners of a triangle, seen from above, that are not higher than the lowest but for 5°.
fn flat_part(seen: [(DVec2, f64); 3], slack: f64) -> Vec<(DVec2, f64)> {
    let mut corners = seen.to_vec();
    corners.sort_by(|p, q| p.1.total_cmp(&q.1));
    let lowest = corners[0];
    corners.retain(|p| p.1 - lowest.1 <= FLAT * p.0.distance(lowest.0) + slack);
    if let [p, q, r] = corners[..] {
        // Two corners may be flat from the lowest and steep from each other.
        let [to_q, to_r] = [q, r].map(|c| (c.0 - p.0).extend(c.1 - p.1));
        let normal = to_q.cross(to_r);
        if normal.z.abs() < SAME_WAY * normal.length() {
            corners.pop();
        }
    }
    corners
}

/// The point of a flat part, and its height, opposite to a place that it covers.
fn place(part: &[(DVec2, f64)], at: DVec2) -> Option<(DVec2, f64)> {
    match *part {
        [(p, h), (q, i)] => {
            let along = q - p;
            let part = ((at - p).dot(along) / along.length_squared()).clamp(0.0, 1.0);
            Some((p + along * part, h + (i - h) * part))
        }
        [(p, h), (q, i), (r, j)] => {
            let area = (q - p).perp_dot(r - p);
            let (to_q, to_r) = ((at - p).perp_dot(r - p) / area, (q - p).perp_dot(at - p) / area);
            let height = h + (i - h) * to_q.clamp(0.0, 1.0) + (j - h) * to_r.clamp(0.0, 1.0);
            height.is_finite().then_some((at, height))
        }
        _ => None,
    }
}

/// The corners of what two segments or triangles in the plane cover of each other; empty if one of
/// them is a point, or if it is a point for two segments.
fn cover(first: Vec<DVec2>, second: Vec<DVec2>, slack: f64) -> Vec<DVec2> {
    match (first.len(), second.len()) {
        (2, 2) => along_each_other(&first, &second),
        (2 | 3, 3) => cut_by(first, &second, slack),
        (3, 2) => cut_by(second, &first, slack),
        _ => Vec::new(),
    }
}

/// The common part of two segments that meet at less than 5°.
fn along_each_other(first: &[DVec2], second: &[DVec2]) -> Vec<DVec2> {
    let Some(along) = (first[1] - first[0]).try_normalize() else { return Vec::new() };
    let Some(other) = (second[1] - second[0]).try_normalize() else { return Vec::new() };
    if along.perp_dot(other).abs() > FLAT {
        return Vec::new();
    }
    let part = |p: &DVec2| (*p - first[0]).dot(along);
    let [from, to] = [part(&second[0]), part(&second[1])];
    let low = from.min(to).max(0.0);
    let high = from.max(to).min(part(&first[1]));
    if low < high { [low, high].map(|x| first[0] + along * x).to_vec() } else { Vec::new() }
}

/// Sutherland and Hodgman (1974), with a triangle that is larger by the slack.
fn cut_by(mut outline: Vec<DVec2>, triangle: &[DVec2], slack: f64) -> Vec<DVec2> {
    let [p, q, r] = [triangle[0], triangle[1], triangle[2]];
    let turn = (q - p).perp_dot(r - p);
    for [from, to] in [[p, q], [q, r], [r, p]] {
        let Some(along) = (to - from).try_normalize() else { return Vec::new() };
        let inside = |x: DVec2| (along * turn.signum()).perp_dot(x - from) + slack;
        let mut kept = Vec::with_capacity(outline.len() + 1);
        for (i, &x) in outline.iter().enumerate() {
            let y = outline[(i + 1) % outline.len()];
            let (here, next) = (inside(x), inside(y));
            if here >= 0.0 {
                kept.push(x);
            }
            if (here > 0.0 && next < 0.0) || (here < 0.0 && next > 0.0) {
                kept.push(x + (y - x) * (here / (here - next)));
            }
        }
        outline = kept;
    }
    outline
}

/// One cluster of contacts: the first of it is the closest, or deepest.
struct Cluster {
    members: Vec<Candidate>,
}

impl Cluster {
    fn takes(&self, new: &ContactPoint, size: f64) -> bool {
        let first = &self.members[0].contact;
        first.normal.dot(new.normal) > SAME_WAY
            && (0..2).all(|i| {
                let between = new.points[i] - first.points[i];
                let rise = between.dot(first.normal);
                let aside = (between - first.normal * rise).length();
                rise.abs() <= FLAT * aside + SAME_PLACE * size
            })
    }

    /// What lies furthest out in eight directions, and the closest.
    fn extremes(self, size: f64) -> Vec<Candidate> {
        let slack = SAME_PLACE * size;
        let (u, v) = self.members[0].contact.normal.any_orthonormal_pair();
        let directions = [u, u + v, v, v - u, -u, -u - v, -v, u - v];
        let middle = |c: &Candidate| (c.contact.points[0] + c.contact.points[1]) * 0.5;
        let mut kept: Vec<usize> = Vec::new();
        for direction in directions {
            // Of those that are as far out, the one furthest aside: an end and not the middle.
            let aside = direction.cross(self.members[0].contact.normal);
            let mut best = 0;
            for (i, member) in self.members.iter().enumerate() {
                let beyond = middle(member) - middle(&self.members[best]);
                let further = beyond.dot(direction);
                if further > slack || further > -slack && beyond.dot(aside) > slack {
                    best = i;
                }
            }
            let same_place = |&k: &usize| {
                middle(&self.members[k]).distance(middle(&self.members[best])) <= slack
            };
            if !kept.iter().any(same_place) {
                kept.push(best);
            }
        }
        // The closest is the first; nothing new if one that is kept is as close.
        let closest = self.members[0].along;
        if kept.iter().all(|&k| self.members[k].along > closest + slack) {
            kept.push(0);
        }
        kept.sort_unstable();
        let is_kept = |i: usize| kept.binary_search(&i).is_ok();
        let members = self.members.into_iter().enumerate();
        members.filter(|(i, _)| is_kept(*i)).map(|(_, member)| member).collect()
    }
}

/// The contacts that are kept, the closest or deepest first.
fn reduced(mut candidates: Vec<Candidate>, size: f64) -> Vec<ContactPoint> {
    let place = |c: &Candidate| c.contact.points.map(|p| p.to_array());
    let order = |p: &Candidate, q: &Candidate| {
        let by_gap = p.along.total_cmp(&q.along).then(p.contact.faces.cmp(&q.contact.faces));
        let (p, q) = (place(p), place(q));
        let numbers = p.iter().flatten().zip(q.iter().flatten());
        numbers.fold(by_gap, |order, (x, y)| order.then(x.total_cmp(y)))
    };
    candidates.sort_by(order);
    let mut clusters: Vec<Cluster> = Vec::new();
    for candidate in candidates {
        match clusters.iter_mut().find(|cluster| cluster.takes(&candidate.contact, size)) {
            Some(cluster) => cluster.members.push(candidate),
            None => clusters.push(Cluster { members: vec![candidate] }),
        }
    }
    let mut kept: Vec<Candidate> =
        clusters.into_iter().flat_map(|cluster| cluster.extremes(size)).collect();
    kept.sort_by(order);
    kept.into_iter().map(|candidate| candidate.contact).collect()
}
