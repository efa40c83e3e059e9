//! Is this a hierarchy of that mesh? Everything that the queries rely on, checked again.
//!
//! A hierarchy that passes cannot make a query panic, loop or miss a contact, wherever it came
//! from; a bad one at most makes it slow. Checked are
//!
//! * the shape: every node but the first has exactly one parent, which comes before it; used lanes
//!   come first; the triangles of the lanes follow each other and are all triangles, once;
//! * the frame: origin and radius are those of the mesh (frames of nodes are not saved, but found
//!   again);
//! * each box: its axes are orthonormal as far as 16-bit integers allow, its numbers are no
//!   larger than the mesh, and it holds every corner of every triangle below it.
//!
//! **Slack.** A box holds a corner p if |axis · (p − centre)| ≤ half + slack, in `f64`, with the
//! axes as a query reads them and p = vertex − origin without rounding. The slack is what the box
//! test grants to the fit of one box (`Relative::margin`): 8·2^-24 radii, and a few times the
//! smallest `f32`.
//!
//! **Beyond `f32`.** Meshes that reach nearly to the largest `f32` get boxes with infinite or
//! undefined numbers, which count as touching everything. They are accepted for such meshes only.

use super::{AXIS_ONE, Frame, Node, Tree, WIDTH};
use crate::mesh::Vertices;
use crate::tree::Child;
use glam::{DVec3, Vec3};

/// What is wrong with a hierarchy, and with which node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) node: usize,
    pub(crate) what: &'static str,
}

/// A centre is no further from the origin, along each coordinate, than this many radii: the
/// projections of the mesh are at most a radius, and a centre is made of three of them (√3).
const CENTER_MAX: f64 = 1.75;

/// A half extent is no longer than this many radii.
const HALF_MAX: f64 = 1.01;

/// With a radius from here on, the numbers of a box may be too large for `f32`.
const HUGE_RADIUS: f32 = f32::from_bits((127 + 124) << 23);

/// How far |u|², |v|² and u·v of stored axes, as integers, may be from `AXIS_ONE`² and 0. Each of
/// three components is off by at most one half, which makes √3·`AXIS_ONE` = 56,754; the rest is
/// for the rounding of the axes before they were stored (2% of that, 1.1e-6).
const GRAM_OFF: i64 = 57_980;

/// Checks that `tree` is a hierarchy of these triangles, in this order.
pub(crate) fn validate(
    tree: &Tree,
    vertices: &Vertices,
    triangles: &[[u32; 3]],
) -> Result<(), Fault> {
    check_shape(&tree.nodes, triangles.len())?;
    let frame = Frame::around(vertices, triangles);
    let Frame { origin, radius } = frame.unwrap_or(Frame { origin: Vec3::ZERO, radius: 0.0 });
    let bits = |v: Vec3| v.to_array().map(f32::to_bits);
    if bits(origin) != bits(tree.origin) || radius.to_bits() != tree.radius.to_bits() {
        return Err(Fault { node: 0, what: "origin and radius are not those of the mesh" });
    }
    let local = |v: &u32, origin: Vec3| vertices.at(*v) - origin.as_dvec3();
    let all = triangles.as_flattened();
    let mut corners: Vec<DVec3> = all.iter().map(|v| local(v, origin)).collect();
    for (index, node) in tree.nodes.iter().enumerate() {
        let Frame { origin, radius } = tree.frame(index);
        if !tree.frames.is_empty() {
            let span = tree.triangles_of_node(index);
            let span = 3 * span.start..3 * span.end;
            let vertices = corners[span.clone()].iter_mut().zip(&all[span]);
            vertices.for_each(|(corner, v)| *corner = local(v, origin));
        }
        for lane in 0..used_lanes(node) {
            let below = tree.triangles_below(node.child[lane]);
            check_box(node, lane, radius, &corners[3 * below.start..3 * below.end])
                .map_err(|what| Fault { node: index, what })?;
        }
    }
    Ok(())
}

/// Lanes before the first empty one.
fn used_lanes(node: &Node) -> usize {
    node.child.iter().position(|child| child.is_empty()).unwrap_or(WIDTH)
}

/// Children come after their parents, so going backwards every child is known before its parent.
pub(super) fn check_shape(nodes: &[Node], triangle_count: usize) -> Result<(), Fault> {
    let mut has_parent = vec![false; nodes.len()];
    let mut spans = vec![0..0; nodes.len()];
    for (index, node) in nodes.iter().enumerate().rev() {
        let fault = |what| Err(Fault { node: index, what });
        let used = used_lanes(node);
        if (used..WIDTH).any(|lane| !is_unused(node, lane)) {
            return fault("an empty lane has a box or a used lane behind it");
        }
        if index == 0 && used != triangle_count.min(1) {
            return fault("the first node must have one lane, or none without triangles");
        }
        if index > 0 && used < 2 {
            return fault("a node has fewer than two lanes");
        }
        for (lane, &child) in node.child[..used].iter().enumerate() {
            let span = if child.is_leaf() {
                child.triangles()
            } else {
                let below = child.node_index();
                if below <= index || below >= nodes.len() {
                    return fault("a child is not behind its parent");
                }
                if std::mem::replace(&mut has_parent[below], true) {
                    return fault("a child has another parent too");
                }
                spans[below].clone()
            };
            if lane == 0 {
                spans[index] = span;
            } else if span.start == spans[index].end {
                spans[index].end = span.end;
            } else {
                return fault("the triangles of two lanes do not follow each other");
            }
        }
    }
    if spans.first() != Some(&(0..triangle_count)) {
        return Err(Fault { node: 0, what: "the leaves do not hold all triangles of the mesh" });
    }
    match (1..nodes.len()).find(|&node| !has_parent[node]) {
        Some(node) => Err(Fault { node, what: "the node has no parent" }),
        None => Ok(()),
    }
}

fn is_unused(node: &Node, lane: usize) -> bool {
    let unused = &Node::UNUSED;
    node.child[lane] == Child::EMPTY
        && (0..3).all(|k| node.center[k][lane] == unused.center[k][lane])
        && (0..3).all(|k| node.half[k][lane] == unused.half[k][lane])
        && (0..6).all(|k| node.axis[k][lane] == unused.axis[k][lane])
}

fn check_box(node: &Node, lane: usize, radius: f32, corners: &[DVec3]) -> Result<(), &'static str> {
    if !axes_are_orthonormal(node, lane) {
        return Err("the axes of a box are not orthonormal");
    }
    let obb = node.obb(lane);
    if radius >= HUGE_RADIUS && counts_as_everywhere(node, lane) {
        return Ok(());
    }
    let tiny = f64::from(f32::from_bits(16));
    let bound = f64::from(radius);
    let center = DVec3::from(obb.center.to_array().map(f64::from));
    let half = obb.half.to_array().map(f64::from);
    // Written so that NaN is refused too.
    if !center.to_array().iter().all(|x| x.abs() <= CENTER_MAX * bound + tiny) {
        return Err("the centre of a box is too far away");
    }
    if !half.iter().all(|h| (0.0..=HALF_MAX * bound + tiny).contains(h)) {
        return Err("a half extent is negative or larger than the mesh");
    }
    let slack = 8.0 * 2f64.powi(-24) * bound + tiny;
    for (axis, half) in obb.axes.iter().zip(half) {
        let axis = DVec3::from(axis.to_array().map(f64::from));
        let (middle, reach) = (axis.dot(center), half + slack);
        // All corners, without a branch for each.
        let furthest = corners
            .iter()
            .fold(0.0, |so_far: f64, &corner| so_far.max((axis.dot(corner) - middle).abs()));
        if furthest > reach {
            return Err("a box does not hold its triangles");
        }
    }
    Ok(())
}

fn axes_are_orthonormal(node: &Node, lane: usize) -> bool {
    let axis = |k: usize| i64::from(node.axis[k][lane]);
    let dot = |i: usize, j: usize| (0..3).map(|k| axis(i + k) * axis(j + k)).sum::<i64>();
    let one = AXIS_ONE as i64 * AXIS_ONE as i64;
    [dot(0, 0) - one, dot(3, 3) - one, dot(0, 3)].iter().all(|off| off.abs() <= GRAM_OFF)
}

/// A box that the box test never finds apart from anything: a coordinate of its centre that is NaN
/// makes every separation NaN, and extents that sum up to infinity or NaN make the slack so.
fn counts_as_everywhere(node: &Node, lane: usize) -> bool {
    let size: f32 = (0..3).map(|k| node.half[k][lane]).sum();
    (0..3).any(|k| node.center[k][lane].is_nan()) || size.is_nan() || size == f32::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mesh, Model, Quality};

    const QUALITIES: [Quality; 3] = [Quality::Fast, Quality::Default, Quality::Tight];

    /// Numbers in -1..1 without structure (splitmix64).
    fn random(seed: u64) -> impl FnMut() -> f32 {
        let mut state = seed;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 40) as f32 / (1u32 << 23) as f32 - 1.0
        }
    }

    /// Triangles of size `spread` in a cube of size `scale`; flat or in one point now and then.
    fn soup(count: usize, scale: f32, spread: f32, seed: u64) -> Mesh {
        let mut random = random(seed);
        let mut vertices = Vec::new();
        for triangle in 0..count {
            let mut point = || Vec3::new(random(), random(), random());
            let middle = point();
            let [a, b, c] = [point(), point(), point()].map(|p| (middle + p * spread) * scale);
            vertices.extend(match triangle % 11 {
                7 => [a, b, b],
                8 => [a, a, a],
                9 => [a, b, a * 0.5 + b * 0.5],
                _ => [a, b, c],
            });
        }
        let triangles = (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        Mesh::from_triangles(vertices, triangles).unwrap()
    }

    fn check(model: &Model) -> Result<(), Fault> {
        validate(&model.tree, &model.mesh.vertices, &model.mesh.triangles)
    }

    /// Built, saved and loaded, moved and rebuilt.
    fn check_life(mesh: Mesh, quality: Quality, name: &str) {
        let mut model = Model::build(mesh.clone(), quality);
        assert_eq!(check(&model), Ok(()), "built: {name}, {quality:?}");
        let saved = model.hierarchy_to_bytes();
        let loaded = Model::hierarchy_from_bytes(mesh.clone(), &saved).unwrap();
        assert_eq!(check(&loaded), Ok(()), "loaded: {name}, {quality:?}");
        assert!(loaded.hierarchy_to_bytes() == saved, "{name}, {quality:?}");
        let mut random = random(mesh.triangle_count() as u64);
        let moved: Vec<Vec3> = mesh
            .vertices()
            .iter()
            .map(|&v| (v * (1.0 + 0.25 * random())).clamp(Vec3::MIN, Vec3::MAX))
            .collect();
        model.refit(&moved).unwrap();
        assert_eq!(check(&model), Ok(()), "refitted: {name}, {quality:?}");
        model.rebuild(quality);
        assert_eq!(check(&model), Ok(()), "rebuilt: {name}, {quality:?}");
    }

    #[test]
    fn every_size_gives_a_hierarchy() {
        for quality in QUALITIES {
            for count in (0..=100).chain([128, 129, 1000, 5000]) {
                let spread = if count % 2 == 0 { 0.1 } else { 1.0 };
                check_life(soup(count, 1.0, spread, count as u64), quality, &count.to_string());
            }
        }
    }

    #[test]
    fn every_scale_gives_a_hierarchy() {
        for quality in QUALITIES {
            for scale in [1e-45, 1e-42, 1e-38, 1e-30, 1e-20, 1e-10, 1e10, 1e18, 1e30, 1e37, 3e38] {
                for count in [1, 2, 3, 17, 100] {
                    check_life(soup(count, scale, 0.1, 5), quality, &format!("{count} × {scale}"));
                }
            }
        }
    }

    #[test]
    fn triangles_that_are_all_the_same_give_a_hierarchy() {
        let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
        for quality in QUALITIES {
            for corner in [[0, 1, 2], [0, 1, 1], [2, 2, 2]] {
                let mesh = Mesh::from_triangles(corners.clone(), vec![corner; 300]).unwrap();
                check_life(mesh, quality, &format!("{corner:?}"));
            }
        }
    }

    #[test]
    fn far_from_zero_and_thin_gives_a_hierarchy() {
        for quality in QUALITIES {
            for (shift, squeeze) in [(1e6, 1.0), (1e9, 1.0), (0.0, 1e-6), (100.0, 0.0)] {
                let mesh = soup(60, 1.0, 0.2, 9);
                let squeezed = |&v: &Vec3| v * Vec3::new(1.0, squeeze, 1.0) + Vec3::splat(shift);
                let vertices = mesh.vertices().iter().map(squeezed).collect();
                let mesh = Mesh::from_triangles(vertices, mesh.triangles().to_vec()).unwrap();
                check_life(mesh, quality, &format!("{shift} {squeeze}"));
            }
        }
    }

    #[test]
    fn refit_without_motion_changes_nothing() {
        let mesh = soup(3000, 1.0, 0.1, 3);
        for quality in [Quality::Default, Quality::Tight] {
            let mut model = Model::build(mesh.clone(), quality);
            let before = model.tree.clone();
            model.refit(mesh.vertices()).unwrap();
            assert_eq!(model.tree, before, "{quality:?}");
        }
    }

    #[test]
    fn every_fault_is_found() {
        let model = Model::build(soup(200, 1.0, 0.1, 1), Quality::Default);
        let broken = |change: &dyn Fn(&mut Tree)| {
            let mut tree = model.tree.clone();
            change(&mut tree);
            validate(&tree, &model.mesh.vertices, &model.mesh.triangles).unwrap_err()
        };
        let faults = [
            broken(&|t| t.nodes.clear()),
            broken(&|t| t.origin.x += 1.0),
            broken(&|t| t.radius *= 2.0),
            broken(&|t| t.nodes[0].child[0] = Child::EMPTY),
            broken(&|t| t.nodes[1].child[0] = Child::node(1)),
            broken(&|t| t.nodes[1].child[0] = Child::node(t.nodes.len())),
            broken(&|t| t.nodes[1].child[1] = t.nodes[1].child[0]),
            broken(&|t| t.nodes[1].child.swap(0, 1)),
            broken(&|t| t.nodes.push(t.nodes[t.nodes.len() - 1].clone())),
            broken(&|t| t.nodes[1].child[1..].fill(Child::EMPTY)),
            broken(&|t| t.nodes[1].half[1][3] *= 0.99),
            broken(&|t| t.nodes[1].half[1][3] = f32::INFINITY),
            broken(&|t| t.nodes[1].half[1][3] = f32::NAN),
            broken(&|t| t.nodes[1].center[1][3] = f32::NAN),
            broken(&|t| t.nodes[1].center[2][0] += 0.1),
            broken(&|t| t.nodes[1].axis[2][0] ^= 1 << 12),
        ];
        let kinds: std::collections::BTreeSet<_> = faults.iter().map(|fault| fault.what).collect();
        assert!(kinds.len() >= 8, "{kinds:?}");
        assert_eq!(faults[15].node, 1);
    }
}
